"""What is shown of a capture: who wrote it, which of its streams, and which column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSignalBlocker, Qt, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolBar,
    QWidget,
)
from typing_extensions import override

from inspector.display_text import as_plain, one_line
from inspector.sessions.session import ShowsCapture

from ..kit.guards import guarded
from ..kit.labels import ElidedLabel

if TYPE_CHECKING:
    from inspector.sessions.session import Session

    from ..session.bridge import SessionBridge

_LONGEST_STREAM: Final = 200
#: A box is as wide as the widest of its texts, in these bounds of characters.
_LEAST_CHARACTERS: Final = 8
_MOST_CHARACTERS: Final = 34
#: Pixels beside the text in a box.
_MARGIN: Final = 4
_NO_STREAM: Final = "Choose what stands for a frame …"


@guarded
class CaptureBar(QToolBar):
    """Chooses among the streams and columns of a capture; hidden without one.

    Attributes:
        stream_box: The streams, with their numbers of frames.
        column_box: The columns of frame times.
        label: Who wrote the file, and what is missing.
    """

    def __init__(self, bridge: SessionBridge, parent: QWidget | None = None) -> None:
        super().__init__("Capture", parent)
        self.setObjectName("capture_bar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.toggleViewAction().setEnabled(False)
        self._bridge = bridge
        self._names: list[str] = []
        self._is_needed = False
        self.stream_box = _Box("Stream of the capture")
        self.stream_box.activated.connect(self._choose_stream)
        self.column_box = _Box("Column of frame times")
        self.column_box.activated.connect(self._choose_column)
        self._stream_label = _label("S&tream", self.stream_box)
        self._column_label = _label("Col&umn", self.column_box)
        self.label = ElidedLabel()
        self.label.setAccessibleName("What is known of the capture")
        inside = QWidget()
        layout = QHBoxLayout(inside)
        layout.setContentsMargins(6, 2, 6, 2)
        layout.setSpacing(6)
        for widget in (self._stream_label, self.stream_box, self._column_label, self.column_box):
            layout.addWidget(widget)
        layout.addWidget(self.label, 1)
        self.addWidget(inside)
        bridge.session_changed.connect(self.show_session)
        self.show_session(bridge.session)

    @Slot(object)
    def show_session(self, session: Session | None) -> None:
        capture: object = session
        if not isinstance(capture, ShowsCapture) or session is None:
            self._is_needed = False
            self.hide()
            return
        self._names = [name for name, _ in capture.streams]
        with QSignalBlocker(self.stream_box), QSignalBlocker(self.column_box):
            self.stream_box.clear()
            for name, count in capture.streams:
                shown = one_line(name or "(no name)")[:_LONGEST_STREAM]
                self.stream_box.addItem(f"{shown}  ·  {count:,}")
                last = self.stream_box.count() - 1
                self.stream_box.setItemData(last, as_plain(name), Qt.ItemDataRole.ToolTipRole)
            if capture.stream in self._names and len(session.timeline.frames):
                self.stream_box.setCurrentIndex(self._names.index(capture.stream))
            else:
                self.stream_box.setPlaceholderText(_NO_STREAM)
                self.stream_box.setCurrentIndex(-1)
            self.column_box.clear()
            self.column_box.addItems([one_line(column) for column in capture.columns])
            self.column_box.setCurrentIndex(
                capture.columns.index(capture.column) if capture.column in capture.columns else -1
            )
        for box in (self.stream_box, self.column_box):
            box.fit()
        has_streams = len(self._names) > 1 or (bool(self._names) and not capture.stream)
        has_columns = len(capture.columns) > 1
        for widget in (self._stream_label, self.stream_box):
            widget.setVisible(has_streams)
        for widget in (self._column_label, self.column_box):
            widget.setVisible(has_columns)
        named = f", column {capture.column}" if capture.column and not has_columns else ""
        said = (f"{capture.format}{named}", *session.notes)
        self.label.show_text("  ·  ".join(said), "\n".join(said))
        self._is_needed = True
        self.show()

    @override
    def setVisible(self, visible: bool) -> None:
        """Show it while a capture is open, whatever a layout says that is restored."""
        super().setVisible(self._is_needed)

    @Slot(int)
    def _choose_stream(self, place: int) -> None:
        capture: object = self._bridge.session
        if isinstance(capture, ShowsCapture):
            capture.choose_stream(self._names[place])
            self._bridge.refresh_now()

    @Slot(int)
    def _choose_column(self, place: int) -> None:
        capture: object = self._bridge.session
        if isinstance(capture, ShowsCapture) and capture.columns[place] != capture.column:
            self._bridge.open_capture(capture.path, capture.columns[place])


@guarded
class _Box(QComboBox):
    """A box whose text is cut in its middle: what tells streams apart is often at their end."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.currentIndexChanged.connect(self._tell)
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)

    def fit(self) -> None:
        longest = max((len(self.itemText(each)) for each in range(self.count())), default=0)
        self.setMinimumContentsLength(min(max(longest, _LEAST_CHARACTERS), _MOST_CHARACTERS))
        self._tell()

    @Slot()
    def _tell(self) -> None:
        self.setToolTip(as_plain(f"{self.accessibleName()}\n{self.currentText()}".strip()))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
        text = self.currentText() or self.placeholderText()
        middle = Qt.TextElideMode.ElideMiddle
        option.currentText = self.fontMetrics().elidedText(text, middle, room.width() - _MARGIN)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


def _label(text: str, buddy: QWidget) -> QLabel:
    label = QLabel(text)
    label.setBuddy(buddy)
    return label
