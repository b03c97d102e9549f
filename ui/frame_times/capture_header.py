"""The row above the frames of a capture: what it is, which frames, and the four numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import fps_text
from inspector.display_text import as_plain, counted, one_line
from inspector.sessions.session import Session, ShowsCapture
from inspector.timebase import format_duration, format_instant
from inspector.tokens import SIZES

from ..kit.fonts import in_type, text_scale
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import menu_button, tool_button
from ..kit.theme import Theme
from ..kit.tile import Tile, is_low
from ..session.bridge import SessionBridge

if TYPE_CHECKING:
    from .frame_statistics import FoundStatistics

_LONGEST_STREAM: Final = 200
#: A box is as wide as the widest of its texts, or as so many characters of average width.
_MOST_CHARACTERS: Final = 38
#: Pixels beside the text in a box.
_MARGIN: Final = 2
_NO_STREAM: Final = "Choose what stands for a frame …"
#: Height of the row, and its height in a low window.
_HEIGHT, _LOW_HEIGHT = 76, 56
_LEAST_NAME: Final = 150
_DOT: Final = "  ·  "
_SIDE: Final = 16
#: In a narrower row, the tiles have no texts beside their values.
_LEAST_WITH_ASIDES: Final = 1160
#: How much of the width a second box of choices takes.
_WIDTH_OF_A_BOX: Final = 190
#: In a narrower row the choices are below the name, and in one narrower still numbers are smaller.
_LEAST_IN_A_ROW: Final = 1000
_LEAST_WITH_LARGE: Final = 900


@guarded
class CaptureHeader(QWidget):
    """Says what a capture is, with the numbers of its frames; replaces the headers beside them."""

    longest_wanted = Signal()  # The user wants to see the longest frame
    over_wanted = Signal()  # The user wants to see the next frame over budget

    def __init__(self, bridge: SessionBridge, theme: Theme, menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._names: list[str] = []
        self.name, self.label = ElidedLabel(), ElidedLabel(r"\s+· ")
        self.label.setAccessibleName("What is known of the capture")
        self.label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        in_type(self.name, "heading")
        self.stream_box = _Box("Stream of the capture")  # The streams, with their numbers of frames
        self.stream_box.activated.connect(self._choose_stream)
        self.column_box = _Box("Column of frame times")
        self.column_box.activated.connect(self._choose_column)
        self.budget_button = menu_button("", "", menu)
        # Opens the menu of columns beside the frame times, which the plot of columns sets
        self.columns_button = menu_button("Columns", "", QMenu(self))
        self.columns_button.setToolTip("Show columns of the capture below its frames")
        self.columns_button.hide()
        tip = "Compare other captures and recordings with this one"
        self.compare_button = tool_button("Compare …", tip)
        self.compare_button.clicked.connect(partial(bridge.action_wanted.emit, "compare"))
        # Offers all of these where there is no room for them
        self.options_button = menu_button("Options", "", QMenu(self))
        self.options_button.menu().aboutToShow.connect(self._offer_options)
        self.options_button.hide()
        self.p50, self.p99 = Tile("P50", theme), Tile("P99", theme)
        self.longest = Tile("Longest", theme, "Go to the longest frame")
        self.over = Tile("Over budget", theme, "Go to the next frame over budget (J)")
        self.longest.clicked.connect(self.longest_wanted)
        self.over.clicked.connect(self.over_wanted)
        self._choices = QWidget()
        self._tiles = (self.p50, self.p99, self.longest, self.over)
        self.setAccessibleName("Capture")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._lay_out()

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addStretch(1)
        texts.addWidget(self.name)
        texts.addWidget(self.label)
        texts.addStretch(1)
        choices = QHBoxLayout(self._choices)
        choices.setContentsMargins(0, 0, 0, 0)
        choices.setSpacing(8)
        for widget in (
            *(self.stream_box, self.column_box, self.budget_button, self.columns_button),
            self.compare_button,
        ):
            widget.setMinimumHeight(SIZES["control"])
            choices.addWidget(widget)
        choices.addStretch(1)
        texts.insertWidget(2, self.options_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._texts, self._row = texts, QHBoxLayout(self)
        row = self._row
        row.setContentsMargins(_SIDE, 8, 4, 8)
        row.setSpacing(8)
        row.addLayout(texts, 1)
        row.addWidget(self._choices)
        row.addSpacing(4)
        for tile in self._tiles:
            row.addWidget(tile, 0, Qt.AlignmentFlag.AlignVCenter)

    def set_session(self, session: Session | None) -> None:
        capture: object = session
        if not isinstance(capture, ShowsCapture) or session is None:
            return
        self._names = [name for name, _ in capture.streams]
        with QSignalBlocker(self.stream_box), QSignalBlocker(self.column_box):
            self.stream_box.clear()
            for name, count in capture.streams:
                shown = one_line(name or "(no name)")[:_LONGEST_STREAM]
                self.stream_box.addItem(f"{shown}{_DOT}{count:,}")
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
            box.update_tip()
        has_streams = len(self._names) > 1 or (bool(self._names) and not capture.stream)
        self.stream_box.setVisible(has_streams)
        self.column_box.setVisible(len(capture.columns) > 1)
        self._show_summary(session, capture, has_streams=has_streams)
        self._fit()

    def _show_summary(self, session: Session, capture: ShowsCapture, *, has_streams: bool) -> None:
        what = "sample" if capture.samples else "frame"
        count = counted(len(session.timeline.frames), what)
        has_column = bool(capture.column) and len(capture.columns) < 2  # noqa: PLR2004 - no choice
        parts = (
            # The program without its number and swap chain, which only tell streams apart.
            "" if has_streams else capture.stream.partition(" (")[0],
            capture.format,
            f"column {capture.column}" if has_column else "",
            f"{count} in {format_duration(session.history.last_ns)}",
            *session.notes,
        )
        said = tuple(filter(None, parts))
        self.label.set_text(_DOT.join(said), "\n".join(said))
        self.name.set_text(capture.path.name, "\n".join((str(capture.path), *said)))

    def set_budget(self, text: str, tip: str, _short: str = "") -> None:
        self.budget_button.setText(text)
        self.budget_button.setToolTip(tip)

    def set_statistics(self, found: FoundStatistics | None) -> None:
        """Show the numbers of all frames; of samples only those that need not every frame."""
        statistics = None if found is None else found.statistics
        if found is None or statistics is None:
            for tile in self._tiles:
                tile.set_value("")
            return
        are_samples, wanted = found.of.are_samples, found.of
        self.p50.set_value(
            format_duration(statistics.median_ns),
            "of samples" if are_samples else _rate(statistics.median_ns),
        )
        if are_samples:
            for tile in (self.p99, self.longest, self.over):
                tile.set_value("")
            return
        self.p99.set_value(format_duration(statistics.p99_ns), _rate(statistics.p99_ns))
        frames, series = wanted.frames, wanted.series
        slowest = series.slowest_within(wanted.measure, frames.start, frames.stop)
        at = format_instant(series.history.frame(slowest).at_ns)
        self.longest.set_value(format_duration(statistics.max_ns), f"at {at}", is_link=True)
        of = f"of {statistics.count:,}" if wanted.budgets_ns else ""
        over = f"{found.over:,}" if wanted.budgets_ns else ""
        self.over.set_value(over, of, is_link=found.over > 0)
        self._fit()

    @Slot()
    def _offer_options(self) -> None:
        menu = self.options_button.menu()
        menu.clear()
        for box in (self.stream_box, self.column_box):
            if not box.isHidden():
                choices = menu.addMenu(as_plain(box.accessibleName()))
                for place in range(box.count()):
                    action = choices.addAction(as_plain(box.itemText(place)))
                    action.setCheckable(True)
                    action.setChecked(place == box.currentIndex())
                    action.triggered.connect(partial(box.activated.emit, place))
        for button in (self.budget_button, self.columns_button):
            if not button.isHidden():
                button.menu().setTitle(as_plain(button.text()))
                menu.addMenu(button.menu())
        menu.addAction(self.compare_button.text(), self.compare_button.click)

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

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave out explanations, and make numbers smaller, before names are cut."""
        width = self.width() / text_scale(self)
        has_both = not (self.stream_box.isHidden() or self.column_box.isHidden())
        free = width - _WIDTH_OF_A_BOX if has_both else width
        for tile in self._tiles:
            tile.aside.setVisible(free >= _LEAST_WITH_ASIDES)
            tile.set_type("title" if free >= _LEAST_WITH_LARGE else "heading")
        height = _LOW_HEIGHT if is_low(self) else _HEIGHT
        self.setMinimumHeight(round(height * text_scale(self)))
        pad = (height - _LOW_HEIGHT) // 4 + 2
        self._row.setContentsMargins(_SIDE, pad, 4, pad)
        # Room that the name does not need is for the choices.
        first = (self.name, self.name.text()), (self.label, self.label.text().partition(_DOT)[0])
        named = max(each.fontMetrics().horizontalAdvance(text) for each, text in first)
        self.name.setMinimumWidth(min(named, round(_LEAST_NAME * text_scale(self))))
        parts = self._choices.minimumSizeHint(), *(tile.sizeHint() for tile in self._tiles)
        needed = sum(part.width() + self._row.spacing() for part in parts) + 2 * _SIDE
        is_narrow = width < _LEAST_IN_A_ROW or needed + self.name.minimumWidth() > self.width()
        has_room = not is_narrow or needed <= self.width()
        self._choices.setVisible(has_room)
        self.options_button.setVisible(not has_room)
        if is_narrow is self.label.isHidden():
            return
        # The choices go below the name, in place of the label: the name's tool tip has its text.
        self.label.setVisible(not is_narrow)
        if is_narrow:
            self._texts.insertWidget(2, self._choices)
        else:
            self._row.insertWidget(1, self._choices)


def _rate(duration_ns: int) -> str:
    return fps_text(duration_ns) if duration_ns > 0 else ""


@guarded
class _Box(QComboBox):
    """A box whose text is cut in its middle: what tells streams apart is often at their end."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.currentIndexChanged.connect(self.update_tip)
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToContents)

    @override
    def sizeHint(self) -> QSize:
        most = QSize(self._most(), super().sizeHint().height())
        return super().sizeHint().boundedTo(most).expandedTo(self.minimumSizeHint())

    @override
    def minimumSizeHint(self) -> QSize:
        # Room for a longer text than the current one gives way first.
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        text = QSize(self.fontMetrics().horizontalAdvance(self._shown()), 0)
        contents = QStyle.ContentsType.CT_ComboBox
        needed = self.style().sizeFromContents(contents, option, text, self).width()
        return QSize(min(needed, self._most()), super().minimumSizeHint().height())

    def shown_text(self, option: QStyleOptionComboBox) -> str:
        """Return as much of the text as there is room for."""
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
        middle = Qt.TextElideMode.ElideMiddle
        return self.fontMetrics().elidedText(self._shown(), middle, room.width() - _MARGIN)

    def _shown(self) -> str:
        return self.currentText() or self.placeholderText()

    def _most(self) -> int:
        return self.fontMetrics().averageCharWidth() * _MOST_CHARACTERS

    @Slot()
    def update_tip(self) -> None:
        self.setToolTip(as_plain(f"{self.accessibleName()}\n{self.currentText()}".strip()))
        self.updateGeometry()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self.shown_text(option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
