"""Where panels are: docks around the middle of the window, a place in it, and presets."""

from __future__ import annotations

from traceback import walk_tb
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtCore import QByteArray, QEvent, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLabel,
    QMainWindow,
    QTabWidget,
    QWidget,
)
from typing_extensions import override

from inspector.extensions import ExtensionError, PanelArea, modules_of, report
from inspector.foreign.numbers import count_in

from ...actions.panels import PANELS
from ...kit.guards import guarded
from ...kit.paced_refresh import is_in_sight, single_shot
from ..keyboard import enter
from ..settings import LAYOUT_VERSION
from .dock_tabs import DockTabs
from .middle import MiddlePlace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from inspector.extensions import Panel

_QT_AREAS: Final = {
    PanelArea.LEFT: Qt.DockWidgetArea.LeftDockWidgetArea,
    PanelArea.TOP_RIGHT: Qt.DockWidgetArea.RightDockWidgetArea,
    PanelArea.RIGHT: Qt.DockWidgetArea.RightDockWidgetArea,
    PanelArea.BOTTOM: Qt.DockWidgetArea.BottomDockWidgetArea,
}


_DOCK_PREFIX: Final = "dock_"

#: What a layout leaves for the middle at least, in percent of the window and in pixels.
_LEAST_MIDDLE_PERCENT: Final = 10
_LEAST_MIDDLE: Final = 80
#: No size that was saved is more.
_MOST_PIXELS: Final = 99_999
#: More tabs than these are under "More" until they are opened.
MOST_TABS: Final = 6
#: Width to height of the picture of a scene, and pixels around it: a title, a line below.
_PICTURE_SHAPE: Final = 16 / 9
_AROUND_PICTURE: Final = 52
_MOST_PICTURE_PERCENT: Final = 40


class Preset(Struct, frozen=True):
    """One way to arrange the panels.

    Attributes:
        id: Its name for the program.
        hidden: The panels at the sides that are not shown.
        front: The panel of a stack of tabs that lies in front; it always has a tab.
        left_percent: Width of the left docks, in percent of the window.
        right_percent: Width of the right docks, likewise.
        bottom_percent: Height of the bottom docks, likewise.
        lanes_percent: Height of the panel below the frame times, in percent of the middle.
    """

    id: str
    hidden: frozenset[str] = frozenset()
    front: str = "timer_queue"
    left_percent: int = 24
    right_percent: int = 24
    bottom_percent: int = 28
    lanes_percent: int = 46

    def shows(self, panel: Panel) -> bool:
        """Whether a panel is shown: at the sides all but the hidden, of tabs the first few."""
        if panel.area is not PanelArea.BOTTOM:
            return panel.id not in self.hidden
        return panel.id == self.front or panel.id in tabs_in_order()[:MOST_TABS]


PRESETS: Final = (
    Preset("live"),
    Preset(
        "analyse",
        hidden=frozenset({"clock_tree", "scene"}),
        front="event_list",
        right_percent=27,
        bottom_percent=28,
    ),
    Preset("look-back", front="event_list", bottom_percent=24, lanes_percent=66),
)


def tabs_in_order() -> tuple[str, ...]:
    """Return the panels that are tabs at the bottom at first."""
    return tuple(each.id for each in PANELS if each.area is PanelArea.BOTTOM)


class Placeholder(QLabel):
    """Stands in place of a panel that was not shown yet, or that failed.

    Attributes:
        is_failure: The panel failed; a line says why.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.is_failure = bool(reason)
        if reason:
            # Of the others nothing is ever seen, and Qt lays out each such text several times.
            self.setTextFormat(Qt.TextFormat.PlainText)
            self.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            self.setWordWrap(True)
        # Before a layout is restored all of them are side by side for a moment.
        self.setMinimumSize(30, 40)


@guarded
class PanelDocks(QObject):
    """One dock for each panel that has an area, and a place for the one in the middle.

    A panel is made when it is seen for the first time; until then its dock costs
    next to nothing, and neither does a panel that is not in front.

    Signals:
        visibility_changed: A dock was shown or hidden.

    Attributes:
        tabs: Cares for the tabs of docks in the same place.
    """

    visibility_changed = Signal()

    def __init__(self, window: QMainWindow) -> None:
        """Add the docks to the window, each with a placeholder."""
        super().__init__(window)
        self._window = window
        self._docks: dict[str, QDockWidget] = {}
        self._middle: dict[str, MiddlePlace] = {}
        self._make_panel: Callable[[Panel], QWidget] | None = None
        self._preset = PRESETS[0]
        self._next_turn = single_shot(self, self._resize)
        self._sizes: list[str] = []
        self._size_turn = single_shot(self, self._settle)
        self._reasons: dict[str, str] = {}
        self._reason_turn = single_shot(self, self._show_reasons)
        window.setDockNestingEnabled(True)
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        # What is selected is explained at length, at the side; tables are wide.
        areas = Qt.DockWidgetArea
        window.setCorner(Qt.Corner.BottomRightCorner, areas.RightDockWidgetArea)
        #: By panel of which the session has nothing: the size that its dock had.
        self._unneeded: dict[str, str] = {}
        self._brought: tuple[str, ...] = ()
        self._brought_front = ""
        #: By dock at a side: the share of the width that it is to have.
        self._shares: dict[QDockWidget, float] = {}
        #: Their widths when the mouse was pressed.
        self._pressed: dict[QDockWidget, int] = {}
        self._share_turn = single_shot(self, self._give_shares)
        window.installEventFilter(self)
        self.tabs = DockTabs(window, self._docks, tabs_in_order())
        for panel in PANELS:
            if panel.area is PanelArea.MIDDLE:
                place = self._middle[panel.id] = MiddlePlace(Placeholder())
                place.visibility_changed.connect(self._tell_visibility)
            elif panel.area is not None:
                dock = self._docks[panel.id] = self._make_dock(panel, panel.area)
                self.tabs.add(dock)

    def __iter__(self) -> Iterator[QDockWidget]:
        return iter(self._docks.values())

    def __getitem__(self, panel_id: str) -> QDockWidget:
        return self._docks[panel_id]

    def place_of(self, panel_id: str) -> QDockWidget | MiddlePlace:
        """Return the dock of a panel, or its place in the middle."""
        return self._middle.get(panel_id) or self._docks[panel_id]

    @property
    def ids(self) -> tuple[str, ...]:
        """The panels that can be shown and hidden."""
        return tuple(panel.id for panel in PANELS if panel.area is not None)

    @property
    def in_middle(self) -> MiddlePlace:
        """The place below the frame times."""
        (place,) = self._middle.values()
        return place

    def make_panels(self, make: Callable[[Panel], QWidget]) -> None:
        """Make the panels that can be seen now, and the others when they are."""
        self._make_panel = make
        for panel_id in self.ids:
            place = self.place_of(panel_id)
            if not place.isHidden() and not self._is_behind(place):
                self.panel(panel_id)

    def panel(self, panel_id: str) -> QWidget:
        """Return a panel, making it if it was not shown yet."""
        dock = self.place_of(panel_id)
        widget = dock.widget()
        if (
            self._make_panel is not None
            and isinstance(widget, Placeholder)
            and not widget.is_failure
        ):
            description = next(panel for panel in PANELS if panel.id == panel_id)
            try:
                with PANELS.guarding(description):
                    dock.setWidget(self._make_panel(description))
            except ExtensionError as error:
                report(error)
                dock.setWidget(Placeholder(str(error)))
            widget.deleteLater()
        return dock.widget()

    def blame(self, error: BaseException) -> bool:
        """Replace the panel of a package by the reason if an error comes from it.

        Returns:
            Whether an error comes from a panel of a package.
        """
        modules = modules_of(error)
        suspects = [
            (panel, extension)
            for panel in PANELS
            if (extension := PANELS.extension_of(panel)) is not None
            and panel.widget.partition(":")[0] in modules
        ]
        # Of several in one module, the one whose method it was.
        involved = [frame.f_locals.get("self") for frame, _line in walk_tb(error.__traceback__)]
        suspects.sort(key=lambda each: self.place_of(each[0].id).widget() not in involved)
        for panel, extension in suspects[:1]:
            if not extension.problem:
                failure = PANELS.blame(extension, error)
                report(failure)
                self._reasons[panel.id] = str(failure)
                # Not inside a slot or an event of the very panel.
                self._reason_turn.start()
        return bool(suspects)

    @Slot()
    def _show_reasons(self) -> None:
        for panel_id, reason in self._reasons.items():
            widget = self.place_of(panel_id).widget()
            self.place_of(panel_id).setWidget(Placeholder(reason))
            widget.deleteLater()
        self._reasons.clear()

    def _is_behind(self, dock: QDockWidget | MiddlePlace) -> bool:
        """Whether another tab of the same stack lies in front of a dock."""
        title = dock.windowTitle()
        for bar in self.tabs.bars():
            titles = [bar.tabText(index) for index in range(bar.count())]
            if title in titles:
                return titles[bar.currentIndex()] != title
        return False

    # ---------------------------------------------------------------- arrangement

    def arrange(self, preset_id: str) -> None:
        preset = next(each for each in PRESETS if each.id == preset_id)
        # Never side by side, not even for a moment: the window would have to grow for it, and
        # would not shrink again.
        for dock in self:
            if dock.isFloating():
                # Else it would only be shown, which costs a layout of the window.
                dock.setFloating(False)
            self._window.removeDockWidget(dock)
        stacks: dict[PanelArea, QDockWidget] = {}
        for panel in PANELS:
            if panel.area is PanelArea.MIDDLE:
                self._middle[panel.id].setVisible(preset.shows(panel))
            if panel.area not in _QT_AREAS:
                continue
            dock = self._docks[panel.id]
            first = stacks.setdefault(panel.area, dock)
            above = stacks.get(PanelArea.TOP_RIGHT)
            if first is not dock:
                self._window.tabifyDockWidget(first, dock)
            elif panel.area is PanelArea.RIGHT and above is not None:
                self._window.splitDockWidget(above, dock, Qt.Orientation.Vertical)
            else:
                self._window.addDockWidget(_QT_AREAS[panel.area], dock)
            dock.setVisible(preset.shows(panel))
        self._docks[preset.front].raise_()
        self._preset = preset
        self._brought, self._brought_front = (), ""
        self.tabs.care()
        self._resize()
        # What was added in this turn has its proper size in the next one only.
        self._next_turn.start()

    @property
    def is_settled(self) -> bool:
        """Whether everything has the size that it was given; in the turn after a change."""
        is_pending = self._next_turn.isActive() or self._size_turn.isActive()
        return self._make_panel is not None and not is_pending

    def save(self) -> str:
        """Return where everything is, as text; only what :attr:`is_settled` is worth keeping."""
        # The next session may have something for them.
        unneeded = [self._docks[panel_id] for panel_id in self._unneeded]
        silent = [QSignalBlocker(dock) for dock in unneeded]
        for dock in unneeded:
            dock.show()
        state = bytes(self._window.saveState(LAYOUT_VERSION).toHex().data()).decode("ascii")
        for dock in unneeded:
            dock.hide()
        del silent
        sizes = [self._saved_size(panel_id) for panel_id in self._docks]
        sizes = [each for each in [*sizes, *self._unneeded.values()] if each]
        for panel_id, place in self._middle.items():
            if place.is_wanted:
                sizes.append(f"{panel_id}={place.permille}")
        return " ".join([state, *sizes])

    def _saved_size(self, panel_id: str) -> str:
        """Return the size of a dock that is shown, as text; empty for another."""
        dock = self._docks[panel_id]
        if not dock.isVisible() or dock.isFloating():
            return ""
        return f"{panel_id}={dock.width()}{self._saved_height(panel_id)}"

    def _saved_height(self, panel_id: str) -> str:
        """Return ``x`` and the height of a dock with its tabs, nothing if it lies behind one."""
        if not self.is_in_front(panel_id):
            return ""
        dock = self._docks[panel_id]
        tabs = 0
        if self._window.tabifiedDockWidgets(dock):
            tabs = max((bar.height() for bar in self.tabs.bars() if bar.isVisible()), default=0)
        return f"x{dock.height() + tabs}"

    def restore(self, layout: str) -> bool:
        """Put everything where :meth:`save` found it.

        Returns:
            Whether that was possible and makes sense: something is left for the middle.
        """
        state, *self._sizes = layout.split(" ")
        self._shares.clear()
        data = QByteArray.fromHex(QByteArray(state.encode("ascii", "replace")))
        for dock in self:
            # Said in so many words: Qt would show what was neither shown nor hidden before in the
            # next turn of the event loop. Each that is shown here costs a layout of the window.
            dock.hide()
        for panel_id, place in self._middle.items():
            place.setVisible(any(each.startswith(f"{panel_id}=") for each in self._sizes))
        is_restored = bool(state) and self._window.restoreState(data, LAYOUT_VERSION)
        is_restored = is_restored and self._has_room_for_sizes()
        if is_restored:
            self.tabs.care()
            self._restore_sizes()
            self._size_turn.start()
        return is_restored

    @Slot()
    def _settle(self) -> None:
        """Give docks their sizes, now that they are laid out; begin again if nothing is left."""
        self._restore_sizes()
        middle = self._window.centralWidget()
        if middle is not None and not self._is_room(middle.width(), middle.height()):
            self.arrange(PRESETS[0].id)

    def _has_room_for_sizes(self) -> bool:
        taken: dict[Qt.DockWidgetArea, tuple[int, int]] = {}
        for dock, width, height in self._saved_sizes():
            area = self._window.dockWidgetArea(dock)
            most_width, most_height = taken.get(area, (0, 0))
            taken[area] = max(most_width, width), max(most_height, height)
        areas = Qt.DockWidgetArea
        sides = (areas.LeftDockWidgetArea, areas.RightDockWidgetArea)
        ends = (areas.TopDockWidgetArea, areas.BottomDockWidgetArea)
        return self._is_room(
            self._window.width() - sum(taken.get(area, (0, 0))[0] for area in sides),
            self._window.height() - sum(taken.get(area, (0, 0))[1] for area in ends),
        )

    def _is_room(self, width: int, height: int) -> bool:
        """Whether a middle of that size makes sense in a window of the present size."""
        window = self._window.size()
        return width >= max(
            _LEAST_MIDDLE, window.width() * _LEAST_MIDDLE_PERCENT // 100
        ) and height >= max(_LEAST_MIDDLE, window.height() * _LEAST_MIDDLE_PERCENT // 100)

    def _saved_sizes(self) -> Iterator[tuple[QDockWidget, int, int]]:
        """Yield the docks that sizes were saved of: width and height, 0 for none."""
        for panel_id, width, height in self._parsed_sizes():
            if panel_id in self._docks:
                yield self._docks[panel_id], width, height

    def _parsed_sizes(self) -> Iterator[tuple[str, int, int]]:
        for entry in self._sizes:
            panel_id, _, size = entry.partition("=")
            width, _, height = size.partition("x")
            yield panel_id, _pixels(width), _pixels(height)

    def _restore_sizes(self) -> None:
        """Give docks their sizes again.

        Qt shares out among those at the sides what hidden ones had, and makes those above
        and below higher by the tabs that they are saved without.
        """
        areas, orientation = Qt.DockWidgetArea, Qt.Orientation
        for dock, width, height in self._saved_sizes():
            area = self._window.dockWidgetArea(dock)
            if area in (areas.LeftDockWidgetArea, areas.RightDockWidgetArea):
                if width:
                    self._window.resizeDocks([dock], [width], orientation.Horizontal)
                    # Once the window gets narrower it is too late: Qt has laid it out by then.
                    self._shares[dock] = width / max(self._window.width(), 1)
            elif height:
                self._window.resizeDocks([dock], [height], orientation.Vertical)
        for panel_id, permille, _height in self._parsed_sizes():
            if panel_id in self._middle:
                self._middle[panel_id].take_share(permille)

    @Slot()
    def _resize(self) -> None:
        preset = self._preset
        # Only docks that have been laid out can be given sizes.
        layout = self._window.layout()
        if layout is not None:
            layout.activate()
        width, height = self._window.width(), self._window.height()
        right = width * preset.right_percent // 100
        picture = round(right / _PICTURE_SHAPE) + _AROUND_PICTURE
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        picture = min(picture, height * _MOST_PICTURE_PERCENT // 100)
        for area, size, orientation in (
            (PanelArea.LEFT, width * preset.left_percent // 100, horizontal),
            (PanelArea.RIGHT, right, horizontal),
            (PanelArea.BOTTOM, height * preset.bottom_percent // 100, vertical),
            (PanelArea.TOP_RIGHT, picture, vertical),
            (PanelArea.RIGHT, height - picture, vertical),
        ):
            docks = [
                self._docks[panel.id]
                for panel in PANELS
                if panel.area is area and preset.shows(panel)
            ]
            if docks:
                self._window.resizeDocks(docks, [size] * len(docks), orientation)
            if orientation is horizontal:
                # What has no room for it gets it when the window grows.
                self._shares |= {dock: size / max(width, 1) for dock in docks}
        for place in self._middle.values():
            place.take_share(10 * preset.lanes_percent)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep what docks at the sides have of the width; Qt would give it all to the middle."""
        if event.type() == QEvent.Type.Resize and isinstance(event, QResizeEvent):
            before = event.oldSize().width()
            if self._window.isVisible() and before > 0 and before != event.size().width():
                self._note_shares(before)
                self._share_turn.start()
        elif event.type() == QEvent.Type.MouseButtonPress:
            self._pressed = {dock: dock.width() for dock in self._at_sides()}
        elif event.type() == QEvent.Type.MouseButtonRelease:
            # What lies between docks belongs to the window: it may have been dragged. Clicks that
            # nothing else takes come here too.
            for dock, width in self._pressed.items():
                if dock.width() != width:
                    self._shares[dock] = dock.width() / self._window.width()
            self._pressed = {}
        return False

    def _note_shares(self, window_width: int) -> None:
        """Note what docks at the sides have that nothing else was said of."""
        self._shares = {
            dock: self._shares.get(dock, dock.width() / window_width) for dock in self._at_sides()
        }

    def _at_sides(self) -> list[QDockWidget]:
        areas = Qt.DockWidgetArea
        sides = (areas.LeftDockWidgetArea, areas.RightDockWidgetArea)
        return [
            dock
            for dock in self
            if self._window.dockWidgetArea(dock) in sides
            and not dock.isFloating()
            and dock.isVisible()
        ]

    @Slot()
    def _give_shares(self) -> None:
        width = self._window.width()
        for dock, share in self._shares.items():
            self._window.resizeDocks([dock], [round(share * width)], Qt.Orientation.Horizontal)

    # ---------------------------------------------------------------- one panel

    def toggle(self, panel_id: str) -> None:
        """Show, raise and enter a panel; hide it if it has the keyboard already."""
        if self.panel_in_use() == panel_id:
            self.place_of(panel_id).hide()
        else:
            self.show_panel(panel_id)

    def bring(self, panel_ids: Sequence[str]) -> None:
        """Give panels a tab, the first in front; take those away that were brought before.

        Without any, what is in front at first comes back if one that was brought still is.
        """
        former = self._brought_front
        was_in_front = bool(former) and self.is_in_front(former)
        for panel_id in self._brought:
            self._docks[panel_id].hide()
        known = [panel_id for panel_id in panel_ids if panel_id in self._docks]
        self._brought = tuple(each for each in known if self._docks[each].isHidden())
        for panel_id in known:
            self._docks[panel_id].show()
        self._brought_front = known[0] if known else ""
        front = self._brought_front or (self._preset.front if was_in_front else "")
        if front:
            self._docks[front].raise_()

    def need(self, panel_id: str, *, is_needed: bool) -> None:
        """Hide a dock of which a new session has nothing; show it again with one that has."""
        dock = self._docks[panel_id]
        if is_needed and self._unneeded.pop(panel_id, None) is not None:
            dock.show()
        elif not is_needed and not dock.isHidden() and panel_id not in self._unneeded:
            self._unneeded[panel_id] = self._saved_size(panel_id)
            dock.hide()

    def show_panel(self, panel_id: str) -> None:
        """Show a panel, in front of what is in the same place, and enter it."""
        dock = self.place_of(panel_id)
        dock.show()
        dock.raise_()
        enter(self.panel(panel_id))

    def is_in_front(self, panel_id: str) -> bool:
        """Whether a panel can be seen: shown, and not behind another tab."""
        dock = self.place_of(panel_id)
        return is_in_sight(dock)

    def panel_in_use(self) -> str:
        """Return the panel that has the keyboard, or an empty text."""
        focused = QApplication.focusWidget()
        for panel_id in self.ids:
            if focused is not None and self.place_of(panel_id).isAncestorOf(focused):
                return panel_id
        return ""

    @Slot(bool)
    def _tell_visibility(self, is_visible: bool) -> None:  # noqa: FBT001 - a slot
        dock = self.sender()
        if is_visible:
            shown = (panel_id for panel_id in self.ids if self.place_of(panel_id) is dock)
            for panel_id in shown:
                self.panel(panel_id)
                # Wanted all the same.
                self._unneeded.pop(panel_id, None)
        self.visibility_changed.emit()

    def _make_dock(self, panel: Panel, area: PanelArea) -> QDockWidget:
        dock = QDockWidget(panel.title, self._window)
        dock.setObjectName(f"{_DOCK_PREFIX}{panel.id}")
        dock.setAccessibleName(panel.title)
        dock.setWidget(Placeholder())
        dock.visibilityChanged.connect(self._tell_visibility)
        self._window.addDockWidget(_QT_AREAS[area], dock)
        return dock


def _pixels(text: str) -> int:
    """Return a size that was saved, 0 for what is none."""
    return min(count_in(text) or 0, _MOST_PIXELS)
