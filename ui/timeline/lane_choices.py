"""Choices about lanes: the time of the ruler, kinds of lanes, and words to filter by."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QHideEvent, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.lanes.lanes import LaneKind
from inspector.display_text import as_plain, one_line

from ..kit.filter_line import FilterLine
from ..kit.fonts import in_type
from ..kit.guards import guarded
from ..kit.labels import LabelOverPlot
from ..kit.layouts import menu_button
from ..kit.theme import Theme

_PAD: Final = 6
#: At most this many clocks are listed for the ruler.
_MOST_CLOCKS: Final = 100


@guarded
class LaneChoices(QWidget):
    """Names the time of the ruler beside it; while lanes are filtered, a line for the filter."""

    # The clock whose local time the ruler should show; 0 for session time
    ruler_chosen = Signal(int)
    kind_chosen = Signal(object, bool)  # LaneKind: a kind of lanes, and whether to show it

    def __init__(
        self,
        theme: Theme,
        hidden: Collection[LaneKind],
        actions: Iterable[QAction],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.clocks: tuple[tuple[int, str], ...] = ()
        self._menu = QMenu(self)
        self.button = menu_button(
            "Session time", "Time on the ruler, and kinds of lanes", self._menu
        )
        self.button.setAutoRaise(True)
        in_type(self.button, "small", is_muted=True)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.filter_line = FilterLine("Filter lanes")
        in_type(self.filter_line, "small")
        self.filter_line.installEventFilter(self)
        self.filter_line.textChanged.connect(self._fit)
        self.filter_line.hide()
        self._ruler_menu = QMenu("Time on the ruler", self)
        self._ruler_group = QActionGroup(self)
        self._ruler_group.triggered.connect(self._choose_ruler)
        self.kinds: dict[LaneKind, QAction] = {}  # Whether each kind of lanes is shown
        kinds_menu = QMenu("Kinds of lanes", self)
        for kind in LaneKind:
            action = self.kinds[kind] = kinds_menu.addAction(kind.text.capitalize())
            action.setCheckable(True)
            action.setChecked(kind not in hidden)
            action.toggled.connect(partial(self.kind_chosen.emit, kind))
        find = self._menu.addAction("Filter lanes …", self.show_filter)
        find.setShortcut("Ctrl+F")
        find.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._menu.addMenu(self._ruler_menu)
        self._menu.addMenu(kinds_menu)
        self._menu.addSeparator()
        self._menu.addActions(list(actions))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_PAD, 0, _PAD, 0)
        layout.setSpacing(0)
        layout.addWidget(self.button)
        layout.addWidget(self.filter_line, 1)
        layout.addStretch(0)
        theme.changed.connect(self.apply_theme)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self.apply_theme()

    @Slot()
    def apply_theme(self) -> None:
        self.filter_line.set_icons(self._theme)

    @Slot(QPoint)
    def _open_menu(self, place: QPoint) -> None:
        self._menu.popup(self.mapToGlobal(place))

    @Slot()
    def show_filter(self) -> None:
        self.filter_line.show()
        self.button.hide()
        self.filter_line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter_line.selectAll()

    @Slot()
    def clear_filter(self) -> None:
        self.filter_line.clear()
        self.filter_line.left_downwards.emit()

    @Slot()
    def _fit(self) -> None:
        """Show the name of the time, unless lanes are filtered or a filter is being typed."""
        is_used = bool(self.filter_line.text()) or self.filter_line.hasFocus()
        self.filter_line.setVisible(is_used)
        self.button.setVisible(not is_used)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Give up the filter with Escape, and the keyboard with it."""
        if event.type() == QEvent.Type.FocusOut:
            self._fit()
        is_escape = (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Escape
        )
        if is_escape:
            self.clear_filter()
        return is_escape

    def name_time(
        self, session_time: str, chosen: int, clocks: tuple[tuple[int, str], ...]
    ) -> None:
        """Offer session time, as it is called, and the local times of clocks by number."""
        known = ((0, session_time), *clocks)
        name = next((name for number, name in known if number == chosen), session_time)
        text = one_line(name[:1].upper() + name[1:] if name == session_time else f"{name}’s time")
        if text != self.button.text().replace("&&", "&"):
            self.button.setText(text.replace("&", "&&"))
        if known == self.clocks:
            return
        self.clocks = known
        self._ruler_menu.clear()
        for number, each in known[: _MOST_CLOCKS + 1]:
            # The menu's own: clearing it deletes the actions, and so takes them out of the group.
            action = self._ruler_menu.addAction(one_line(each).replace("&", "&&"))
            self._ruler_group.addAction(action)
            # By default the tool tip is the action's text, which Qt would take for HTML.
            action.setToolTip(as_plain(each))
            action.setCheckable(True)
            action.setChecked(number == chosen)
            action.setData(number)

    @Slot(QAction)
    def _choose_ruler(self, action: QAction) -> None:
        self.ruler_chosen.emit(action.data())


@guarded
class NoLanes(QWidget):
    """Lies over the lanes when none matches the filter, with a button to clear it."""

    def __init__(self, choices: LaneChoices, parent: QWidget) -> None:
        super().__init__(parent)
        self._above = parent
        self.label = LabelOverPlot()
        self.label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.clear = QPushButton("Clear")
        self.clear.clicked.connect(choices.clear_filter)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(self.label)
        layout.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        self.hide()

    def set_words(self, words: str) -> None:
        """Say that no lane has these words; nothing for an empty text."""
        self.label.setText(f"No lane has “{words}” in its name." if words else "")
        self.setVisible(bool(words))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Filter events only while visible: the lanes are painted dozens of times a second.
        self._above.installEventFilter(self)
        self.setGeometry(self._above.rect())

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._above.removeEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.setGeometry(self._above.rect())
        return False
