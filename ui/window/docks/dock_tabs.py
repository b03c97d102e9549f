"""The tabs of stacked docks: no titles below them, counts in them, and the rest under *More*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Slot
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QTabBar, QWidget
from shiboken6 import isValid
from typing_extensions import override

from ...kit.guards import guarded
from ...kit.layouts import menu_button, open_menu
from ...kit.paced_refresh import single_shot

if TYPE_CHECKING:
    from collections.abc import Mapping

_ChildT = TypeVar("_ChildT", bound=QObject)

#: As wide as a digit, so that a tab keeps its width while its number changes.
_FIGURE_SPACE: Final = "\u2007"
_LEAST_DIGITS: Final = 2
_BESIDE_TABS: Final = 8
#: The greatest width of a widget, which is Qt's own limit.
_ENDLESS: Final = (1 << 24) - 1
_MOVES: Final = frozenset(
    {QEvent.Type.Paint, QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide}
)


@guarded
class DockTabs(QObject):
    """Cares for the tab bars that Qt makes for stacked docks.

    Attributes:
        more_button: At the end of the tabs, for the panels that are not among them.
        more_menu: Its menu; filled by its owner when it is about to open.
    """

    def __init__(
        self, window: QMainWindow, docks: Mapping[str, QDockWidget], below: tuple[str, ...]
    ) -> None:
        """Care for the tabs of a window.

        Args:
            docks: Its docks, by panel.
            below: The panels whose tabs *More* stands beside.
        """
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._below = below
        self._widest: dict[str, int] = {}
        self._watched: list[QTabBar] = []
        self.more_menu = QMenu(window)
        self.more_menu.setToolTipsVisible(True)
        self.more_button = menu_button("More", "Panels that are not among the tabs", self.more_menu)
        self.more_button.setParent(window)
        self.more_button.setAutoRaise(True)
        self.more_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more_button.hide()
        self._turn = single_shot(self, self.care)

    def add(self, dock: QDockWidget) -> None:
        for changed in (dock.topLevelChanged, dock.dockLocationChanged, dock.visibilityChanged):
            changed.connect(self.care_soon)

    # ---------------------------------------------------------------- arrangement

    @Slot()
    def care_soon(self) -> None:
        """See to tabs and titles in the next turn, when docks are where they go."""
        self._turn.start()

    @Slot()
    def care(self) -> None:
        """Hide the titles that tabs already say; name the tabs and keep them in order.

        Qt 6.11 crashes when a tab is dragged to another place in a bar that was
        rearranged before (in ``QTabBar::tabMoved``).
        """
        if not isValid(self._window):
            return
        for dock in self._docks.values():
            self._show_title_bar(dock, is_shown=not self.is_tabbed(dock))
        bars = self.bars()
        for bar in bars:
            bar.setAccessibleName("Stacked panels")
            bar.setMovable(False)
            if bar not in self._watched:
                bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
                bar.customContextMenuRequested.connect(self._open_menu)
                bar.installEventFilter(self)
        self._watched = bars
        self._place_more()

    def bars(self) -> list[QTabBar]:
        """Return the tab bars of the window; some may be out of use."""
        return _children_of(self._window, QTabBar)

    def is_tabbed(self, dock: QDockWidget) -> bool:
        """Whether a dock has a tab, because another one lies in the same place."""
        return (
            not dock.isFloating()
            and not dock.isHidden()
            and any(not other.isHidden() for other in self._window.tabifiedDockWidgets(dock))
        )

    @staticmethod
    def _show_title_bar(dock: QDockWidget, *, is_shown: bool) -> None:
        bar = dock.titleBarWidget()
        if is_shown == (bar is None):
            return
        if is_shown:
            dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # brings Qt's own back
            bar.deleteLater()
        else:
            nothing = QWidget(dock)
            nothing.setFixedHeight(0)
            dock.setTitleBarWidget(nothing)

    # ---------------------------------------------------------------- more

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep *More* at the end of the tabs."""
        if event.type() in _MOVES and isValid(self.more_button):
            bar = self._bar_below()
            is_elsewhere = (None if bar is None else self._place_in(bar)) != self._place_now()
            if is_elsewhere or (bar is not None and self._room_in(bar) != bar.maximumWidth()):
                self._turn.start()
        return False

    def _bar_below(self) -> QTabBar | None:
        titles = {self._docks[panel_id].windowTitle() for panel_id in self._below}
        for bar in filter(isValid, self._watched):
            shown = {bar.tabText(index) for index in range(bar.count())}
            if bar.isVisible() and bar.count() > 1 and shown & titles:
                return bar
        return None

    def _room_in(self, bar: QTabBar) -> int:
        """Return how wide the tabs may be, so that *More* has a place beside them."""
        dock = self._dock_titled(bar.tabText(bar.currentIndex()))
        if dock is None:
            return _ENDLESS
        return max(dock.width() - self.more_button.sizeHint().width(), 0)

    def _place_in(self, bar: QTabBar) -> QPoint:
        """Return where *More* belongs: behind the tabs, or behind all that is seen of them."""
        end = bar.tabRect(bar.count() - 1).right() + _BESIDE_TABS
        top = (bar.height() - self.more_button.sizeHint().height()) // 2
        return bar.pos() + QPoint(max(0, min(end, self._room_in(bar))), top)

    def _place_now(self) -> QPoint | None:
        return None if self.more_button.isHidden() else self.more_button.pos()

    def _place_more(self) -> None:
        bar = self._bar_below()
        self.more_button.setVisible(bar is not None)
        for each in filter(isValid, self._watched):
            each.setMaximumWidth(self._room_in(each) if each is bar else _ENDLESS)
        if bar is not None:
            self.more_button.resize(self.more_button.sizeHint())
            self.more_button.move(self._place_in(bar))
            self.more_button.raise_()

    # ---------------------------------------------------------------- one tab

    def dock_of(self, bar: QTabBar, place: QPoint) -> QDockWidget | None:
        return self._dock_titled(bar.tabText(bar.tabAt(place)))

    def _dock_titled(self, title: str) -> QDockWidget | None:
        found = (dock for dock in self._docks.values() if dock.windowTitle() == title)
        return next(found, None)

    def make_menu(self, dock: QDockWidget) -> QMenu:
        menu = QMenu(self._window)
        menu.addAction("Close", dock.hide)
        menu.addAction("Float", lambda: dock.setFloating(True))
        return menu

    @Slot(QPoint)
    def _open_menu(self, place: QPoint) -> None:
        bar = self.sender()
        if isinstance(bar, QTabBar) and (dock := self.dock_of(bar, place)) is not None:
            open_menu(self.make_menu(dock), bar.mapToGlobal(place))

    def show_badge(self, panel_id: str, badge: str) -> None:
        """Say a count behind the title of a panel; a tab never becomes narrower for it."""
        if badge:
            width = max(self._widest.get(panel_id, _LEAST_DIGITS), len(badge))
            self._widest[panel_id] = width
            badge = f" {badge.ljust(width, _FIGURE_SPACE)}"
        dock = self._docks[panel_id]
        dock.setWindowTitle(f"{dock.accessibleName()}{badge}")

    def forget_widths(self) -> None:
        self._widest.clear()


def _children_of(parent: QObject, kind: type[_ChildT]) -> list[_ChildT]:
    """Return the direct children of a kind.

    ``findChildren`` of PySide6 6.11 never gives up what it found: of every tab bar that Qt
    has deleted since, a wrapper would stay with the window.
    """
    return [child for child in parent.children() if isinstance(child, kind)]
