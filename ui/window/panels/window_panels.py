"""The panels of the window: on the time axis, in the side column, in the tray, or afloat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from traceback import walk_tb
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QWidget
from typing_extensions import override

from inspector.extensions import ExtensionError, Panel, PanelArea, modules_of, report
from inspector.foreign.numbers import count_in
from inspector.tokens import SIZES, size_by_height, size_by_width

from ...actions.panels import PANELS
from ...kit.fonts import text_scale
from ...kit.guards import guarded
from ...kit.layouts import (
    REST,
    fill,
    fill_across,
    hairline,
    in_column,
    in_row,
    splitter,
    tool_button,
)
from ...kit.theme import Theme
from ...kit.throttled_refresh import is_in_sight, single_shot
from ..focus import enter, tab_through
from .foot_tabs import FootTabs
from .places import Arrangement, PanelPlace, Placeholder, Reveal

#: Heights and widths here are in px at 100 % text.
_LEAST_TRAY: Final = 120
_BESIDE_TRAY: Final = 8
_MOST_TRAY_PERCENT: Final = 60
#: In a narrower window the side column is closed.
_LEAST_WITH_COLUMN: Final = 960
#: Saved sizes are never larger.
_MOST_PIXELS: Final = 9_999
#: The parts that have a place beside the time axis, from the top; the rest are in the tray.
_COLUMN_AREAS: Final = (PanelArea.TOP_RIGHT, PanelArea.RIGHT)
#: The panels of the tray that have a tab at first, as far as there is room for it.
FIRST_TABS: Final = (
    "timer_queue",
    "event_list",
    "findings",
    "frame_spans",
    "statistics",
    "breakpoints",
    "interventions",
    "bookmarks",
)


def panels_in_tray() -> tuple[Panel, ...]:
    """Return the panels that the tray can show: first those that have tabs, in their order.

    Panels for the left, of which there is no column, are among them.
    """
    below = [each for each in PANELS if each.area in (PanelArea.BOTTOM, PanelArea.LEFT)]
    order = {panel_id: place for place, panel_id in enumerate(FIRST_TABS)}
    return tuple(sorted(below, key=lambda each: order.get(each.id, len(order))))


@guarded
class WindowPanels(QObject):
    """Every panel that can be shown and hidden, each in its place.

    A panel is made when it is seen for the first time; until then it costs next to nothing.
    """

    visibility_changed = Signal()  # A panel was shown or hidden
    keyboard_left = Signal()  # The tray or side column was closed while it had the keyboard

    def __init__(self, window: QMainWindow, middle: QWidget, theme: Theme) -> None:
        """Lay out the places around what is in the middle, each with a placeholder."""
        super().__init__(window)
        self._window, self._theme = window, theme
        self._make_panel: Callable[[Panel], QWidget] | None = None
        self._places: dict[str, PanelPlace] = {}
        self._arrangement: Arrangement | None = None
        self._above_foot: QWidget | None = None
        self._reasons: dict[str, str] = {}
        self._reason_turn = single_shot(self, self._put_placeholders)
        self._size_turn = single_shot(self, self._give_sizes)
        self._brought: tuple[str, ...] = ()
        self._unneeded: set[str] = set()
        self._open = ""
        self._tray_height = 0
        self._is_column_wanted = True
        # Whether the column lies over the rest, in a window too narrow for both.
        self._is_column_over = False
        # For a session that has little to show there: what the user has chosen since, or None.
        self._column_of_session: bool | None = None
        for panel in PANELS:
            if panel.area is not None:
                place = self._places[panel.id] = PanelPlace(panel.title)
                place.setObjectName(f"place_{panel.id}")
                place.visibility_changed.connect(self._apply_visibility)
                place.window_closed.connect(self._bring_back)
        below = panels_in_tray()
        self._in_tray = tuple(each.id for each in below)
        self.tray, self._stack = QWidget(), QStackedWidget()
        self.tray.setObjectName("tray")
        self.tray.hide()
        for panel_id in self._in_tray:
            self._stack.addWidget(self._places[panel_id])
        self.close_button = tool_button("", "Close (Esc)")
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.column = QWidget()
        self.column.setObjectName("side_column")
        self.column.setAutoFillBackground(True)
        self._in_column = tuple(
            each.id for area in _COLUMN_AREAS for each in PANELS if each.area is area
        )
        # The first is a picture, which has its own height; the others share what is left.
        parts = [(self._places[each], min(place, 1)) for place, each in enumerate(self._in_column)]
        self._column_parts = in_column(*parts, spacing=0)
        edge = hairline(Qt.Orientation.Vertical)
        fill_across(self.column, edge, (self._column_parts, 1), spacing=0)
        self.tabs = FootTabs([(each.id, each.title) for each in below], FIRST_TABS, theme)
        self.tabs.clicked.connect(self._on_tab_clicked)
        self.tabs.float_wanted.connect(self.float_panel)
        self.frame, self.foot = QWidget(), QWidget()
        self.reveal = Reveal(self.frame)
        self._lay_out(middle)

    @Slot()
    def _apply_theme(self) -> None:
        self.close_button.setIcon(self._theme.icon("close"))

    def _lay_out(self, middle: QWidget) -> None:
        self.close_button.setAccessibleName("Close the tray")
        self.close_button.setAutoRaise(True)
        self.close_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.close_button.clicked.connect(self.close_tray)
        margins = _BESIDE_TRAY, 0, _BESIDE_TRAY // 2, 0
        beside = in_column(5, self.close_button, REST, spacing=0)
        fill_across(self.tray, (self._stack, 1), beside, margins=margins)
        self._split = splitter(Qt.Orientation.Vertical, (middle, 1), (self.tray, 0))
        self._split.splitterMoved.connect(self._note_tray)
        self.foot.setObjectName("foot")
        self._foot_parts = in_row((self.tabs, 1), margins=(0, 0, 8, 0), spacing=6)
        fill(self.foot, hairline(), self._foot_parts, spacing=0)
        self._split.installEventFilter(self)
        self._across = in_row((self._split, 1), self.column, spacing=0)
        self._rows = fill(self.frame, (self._across, 1), self.foot, spacing=0)

    def add_below_column(self, widget: QWidget) -> None:
        """Put something at the foot of the side column."""
        self._column_parts.addWidget(widget)

    def add_to_foot(self, widget: QWidget) -> None:
        """Put something at the right of the tabs."""
        # Aligned, because the fixed height of a button would otherwise limit that of the foot.
        self._foot_parts.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def add_above_foot(self, widget: QWidget) -> None:
        self._above_foot = widget
        self._rows.insertWidget(self._rows.count() - 1, widget)

    def add_on_top(self, bar: QWidget) -> None:
        self._rows.insertWidget(0, bar)

    def arrange(self, frame_times: QWidget) -> Arrangement:
        """Return frame times with the lanes below them."""
        self._arrangement = Arrangement(frame_times, self.in_middle)
        return self._arrangement

    # ---------------------------------------------------------------- places

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._places)

    def __iter__(self) -> Iterator[PanelPlace]:
        return iter(self._places.values())

    def __getitem__(self, panel_id: str) -> PanelPlace:
        return self._places[panel_id]

    @cached_property
    def in_middle(self) -> PanelPlace:
        """The place below the frame times."""
        return next(self._places[each.id] for each in PANELS if each.area is PanelArea.MIDDLE)

    def make_panels(self, make: Callable[[Panel], QWidget]) -> None:
        """Make the panels that can be seen now, and the others when they are."""
        self._make_panel = make
        for panel_id in self.ids:
            if self.is_open(panel_id):
                self._fill(panel_id)
        self._order_tabs()

    def panel(self, panel_id: str) -> QWidget:
        """Return a panel, making it if it was not shown yet."""
        if self._fill(panel_id) and panel_id not in self._in_tray:
            self._order_tabs()
        return self._places[panel_id].widget()

    def _fill(self, panel_id: str) -> bool:
        """Make a panel if it was not shown yet; return whether it was not."""
        place = self._places[panel_id]
        widget = place.widget()
        if self._make_panel is None or not isinstance(widget, Placeholder) or widget.is_failure:
            return False
        description = next(panel for panel in PANELS if panel.id == panel_id)
        try:
            with PANELS.guarding(description):
                place.set_widget(self._make_panel(description))
        except ExtensionError as error:
            report(error)
            place.set_widget(Placeholder(str(error)))
        widget.deleteLater()
        return True

    def _order_tabs(self) -> None:
        if self._arrangement is not None:
            parts = map(self._arrangement.widget, range(self._arrangement.count()))
            tab_through(*parts, self.column, self._above_foot)

    def blame(self, error: BaseException) -> bool:
        """Replace the panel of a package by the reason for an error; returns whether it is its."""
        modules = modules_of(error)
        suspects = [
            (panel, extension)
            for panel in PANELS
            if (extension := PANELS.extension_of(panel)) is not None
            and panel.widget.partition(":")[0] in modules
        ]
        # Of several panels in one module, blame the one whose method raised.
        involved = [frame.f_locals.get("self") for frame, _line in walk_tb(error.__traceback__)]
        suspects.sort(key=lambda each: self._places[each[0].id].widget() not in involved)
        for panel, extension in suspects[:1]:
            if not extension.problem:
                failure = PANELS.blame(extension, error)
                report(failure)
                self._reasons[panel.id] = str(failure)
                # In the next turn, not inside a slot or an event of that very panel.
                self._reason_turn.start()
        return bool(suspects)

    @Slot()
    def _put_placeholders(self) -> None:
        for panel_id, reason in self._reasons.items():
            widget = self._places[panel_id].widget()
            self._places[panel_id].set_widget(Placeholder(reason))
            widget.deleteLater()
        self._reasons.clear()

    # ---------------------------------------------------------------- one panel

    def is_open(self, panel_id: str) -> bool:
        """Whether a panel is shown as far as its place is concerned."""
        place = self._places[panel_id]
        if panel_id in self._in_tray and not place.isWindow():
            return self._open == panel_id
        if panel_id in self._in_column and not self.is_column_shown:
            return False
        return not place.isHidden()

    def is_in_front(self, panel_id: str) -> bool:
        return is_in_sight(self._places[panel_id])

    def enter_panel(self, panel_id: str) -> None:
        """Show a panel in its place, and enter it."""
        self.open_panel(panel_id)
        panel = self.panel(panel_id)
        enter(panel)
        panel.activateWindow()

    def open_panel(self, panel_id: str) -> None:
        """Show a panel in its place; leave the keyboard where it is."""
        place = self._places[panel_id]
        if place.isWindow():
            place.raise_()
        elif panel_id in self._in_tray:
            self._open_tray(panel_id)
        else:
            if panel_id in self._in_column:
                self.show_column(is_shown=True)
            place.show()

    def hide_panel(self, panel_id: str) -> None:
        place = self._places[panel_id]
        if place.isWindow():
            self.float_panel(panel_id)
        if panel_id not in self._in_tray:
            place.hide()
        elif self._open == panel_id:
            self.close_tray()

    def toggle(self, panel_id: str) -> None:
        """Show and enter a panel; hide it if it has the keyboard already."""
        if self.panel_in_use() == panel_id:
            self.hide_panel(panel_id)
        else:
            self.enter_panel(panel_id)

    def panel_in_use(self) -> str:
        """Return the panel that has the keyboard, or an empty text."""
        focused = QApplication.focusWidget()
        for panel_id, place in self._places.items():
            if focused is not None and place.isAncestorOf(focused):
                return panel_id
        return ""

    @Slot(str)
    def float_panel(self, panel_id: str) -> None:
        """Make a panel of the tray a window of its own, or put it back."""
        place = self._places[panel_id]
        if panel_id not in self._in_tray:
            return
        if place.isWindow():
            self._stack.addWidget(place)
            self.open_panel(panel_id)
            return
        if self._open == panel_id:
            self.close_tray()
        size = place.size()
        place.setParent(self._window, Qt.WindowType.Window)
        # Its keys are those of the whole program.
        place.addActions(self._window.actions())
        place.resize(max(size.width(), 640), max(size.height(), 320))
        # By itself it would be in the corner of the screen, and its title bar above it.
        frame = QRect(QPoint(), place.size())
        frame.moveCenter(self._window.frameGeometry().center())
        place.move(frame.topLeft())
        self.panel(panel_id)
        place.show()

    @Slot()
    def _bring_back(self) -> None:
        place = self.sender()
        if isinstance(place, PanelPlace) and place.isWindow():
            self._stack.addWidget(place)
            self.visibility_changed.emit()

    def bring(self, panel_ids: Sequence[str]) -> None:
        """Open the first of some panels and give the others tabs.

        Without any, what was brought before is closed again if it is still open.
        """
        if self._open and self._open == next(iter(self._brought), ""):
            self.close_tray()
        self._brought = tuple(each for each in panel_ids if each in self._in_tray)
        for panel_id in self._brought:
            self.tabs.add(panel_id)
        for panel_id in reversed([each for each in panel_ids if each in self._places]):
            if panel_id not in self._in_column or not self.is_narrow:
                self.open_panel(panel_id)

    def need(self, panel_id: str, *, is_needed: bool) -> None:
        """Leave out a panel of which a session has nothing; show it again with one that has."""
        if is_needed and panel_id in self._unneeded:
            self._unneeded.discard(panel_id)
            self._places[panel_id].show()
        elif not is_needed and self._places[panel_id].is_wanted:
            self._unneeded.add(panel_id)
            self._places[panel_id].hide()

    @Slot(bool)
    def _apply_visibility(self, is_visible: bool) -> None:  # noqa: FBT001 - a slot
        place = self.sender()
        if is_visible:
            for panel_id in [each for each in self.ids if self._places[each] is place]:
                self.panel(panel_id)
                # The user wants it, whether or not the session has something for it.
                self._unneeded.discard(panel_id)
        self.visibility_changed.emit()

    # ---------------------------------------------------------------- tray and column

    @Slot(str)
    def _on_tab_clicked(self, panel_id: str) -> None:
        if self._open == panel_id:
            self.close_tray()
        else:
            self.open_panel(panel_id)

    def _open_tray(self, panel_id: str) -> None:
        place = self._places[panel_id]
        if self.tray.isHidden():
            rest = self._split.geometry()
            self.reveal.keep(QRect(rest).adjusted(0, rest.height() - self._wanted_tray, 0, 0))
        self.tabs.add(panel_id)
        self._open = panel_id
        self._stack.setCurrentWidget(place)
        place.show()
        self.tray.show()
        self.tabs.mark_open(panel_id)
        self._size_turn.start()
        self.visibility_changed.emit()

    @Slot()
    def close_tray(self) -> None:
        if _has_keyboard(self.tray):
            # Before it is hidden: Qt would give the keyboard to any widget, which would be read.
            self.keyboard_left.emit()
        self._open = ""
        self.reveal.end()
        self.tray.hide()
        self.tabs.mark_open("")
        self.visibility_changed.emit()

    @property
    def is_narrow(self) -> bool:
        """Whether the side column has no room beside the rest."""
        return self._window.width() / text_scale(self._window) < _LEAST_WITH_COLUMN

    @property
    def is_column_shown(self) -> bool:
        """Whether the side column is shown: in a narrow window, over the rest."""
        if self.is_narrow:
            return self._is_column_over
        chosen = self._column_of_session
        return self._is_column_wanted if chosen is None else chosen

    def leave_column_out(self, *, is_left_out: bool) -> None:
        """Close the side column for a session, until it is asked for; or show it as usual."""
        self._column_of_session = False if is_left_out else None
        self._fit_column()
        self.visibility_changed.emit()

    def show_column(self, *, is_shown: bool) -> None:
        place = self._split.geometry()
        place.setLeft(self.frame.width() - self.column.width())
        place.setRight(self.frame.width() - 1)
        if is_shown and self.column.isHidden():
            self.reveal.keep(place)
        if self.is_narrow:
            self._is_column_over = is_shown
        elif self._column_of_session is None:
            self._is_column_wanted = is_shown
        else:
            self._column_of_session = is_shown
        if is_shown and all(self._places[each].isHidden() for each in self._in_column):
            for panel_id in self._in_column:
                self._places[panel_id].setVisible(panel_id not in self._unneeded)
        self._fit_column()
        self.visibility_changed.emit()
        if is_shown:
            self.reveal.begin(place, Qt.Edge.LeftEdge)

    def _want_column(self, *, is_wanted: bool) -> None:
        """Show the column, or not, where it has room beside the rest."""
        self._is_column_wanted, self._is_column_over = is_wanted, False
        self._fit_column()
        self.visibility_changed.emit()

    def _fit_column(self) -> None:
        scale = text_scale(self._window)
        width = round(size_by_width("side_column", self._window.width() / scale) * scale)
        is_narrow, is_beside = self.is_narrow, self._across.indexOf(self.column) >= 0
        self._is_column_over = self._is_column_over and is_narrow
        self.column.setFixedWidth(width)
        if is_narrow and is_beside:
            self._across.removeWidget(self.column)
        elif not is_narrow and not is_beside:
            self._across.addWidget(self.column)
        shown = self.is_column_shown
        self._lay_over()
        if self.column.isHidden() is shown:
            had_keyboard = _has_keyboard(self.column)
            self.column.setVisible(shown)
            self.visibility_changed.emit()
            if had_keyboard and not shown:
                self.keyboard_left.emit()

    def _lay_over(self) -> None:
        """Lay the side column over the right part of the rest, where both have no room."""
        if self._is_column_over:
            place, width = self._split.geometry(), self.column.width()
            self.column.setGeometry(place.right() + 1 - width, place.y(), width, place.height())
            self.column.raise_()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._lay_over()
        return False

    def fit(self, _event: object = None) -> None:
        scale = text_scale(self._window)
        self._fit_column()
        least = round(_LEAST_TRAY * scale)
        self.tray.setMinimumHeight(least)
        self.tray.setMaximumHeight(max(self._window.height() * _MOST_TRAY_PERCENT // 100, least))
        self.foot.setFixedHeight(round(SIZES["foot"] * scale))

    @property
    def _wanted_tray(self) -> int:
        scale = text_scale(self._window)
        usual = round(size_by_height("tray", self._window.height() / scale) * scale)
        return self._tray_height or usual

    @Slot()
    def _give_sizes(self) -> None:
        tray = self._wanted_tray
        self._split.setSizes([max(self._split.height() - tray, 1), tray])
        place = QRect(self.tray.mapTo(self.frame, QPoint()), self.tray.size())
        self.reveal.begin(place, Qt.Edge.TopEdge)

    @Slot()
    def _note_tray(self) -> None:
        self._tray_height = self.tray.height()

    # ---------------------------------------------------------------- what is kept

    @property
    def is_settled(self) -> bool:
        """Whether everything has the size that it was given; in the turn after a change."""
        return self._make_panel is not None and not self._size_turn.isActive()

    def reset(self) -> None:
        for panel_id in self._in_tray:
            if self._places[panel_id].isWindow():
                self.float_panel(panel_id)
        self.close_tray()
        self._tray_height = 0
        self._brought = ()
        self.tabs.keep(FIRST_TABS)
        for panel_id in self._in_column:
            self._places[panel_id].setVisible(panel_id not in self._unneeded)
        self.in_middle.show()
        if self._arrangement is not None:
            self._arrangement.set_share(0)
        self._want_column(is_wanted=True)

    def save(self) -> str:
        hidden = [
            each
            for each in (*self._in_column, *(i for i in self.ids if i not in self._in_tray))
            if not self._places[each].is_wanted and each not in self._unneeded
        ]
        lanes = 0 if self._arrangement is None else self._arrangement.permille
        parts = {
            "open": self._open,
            "tray": f"{self._tray_height}",
            "tabs": ",".join(self.tabs.kept),
            "column": f"{int(self._is_column_wanted)}",
            "hidden": ",".join(dict.fromkeys(hidden)),
            "lanes": f"{lanes}",
        }
        return " ".join(f"{name}={value}" for name, value in parts.items())

    def restore(self, layout: str) -> None:
        """Put everything where :meth:`save` found it; what it does not say is as at first."""
        self.reset()
        self._size_turn.start()
        parts = dict(each.split("=", 1) for each in layout.split(" ") if "=" in each)
        if "tabs" in parts:
            self.tabs.keep(parts["tabs"].split(","))
        self._tray_height = min(count_in(parts.get("tray", "")) or 0, _MOST_PIXELS)
        lanes = count_in(parts.get("lanes", "")) or 0
        if self._arrangement is not None:
            self._arrangement.set_share(min(lanes, 900))
        for panel_id in parts.get("hidden", "").split(","):
            if panel_id in self._places and panel_id not in self._in_tray:
                self._places[panel_id].hide()
        if parts.get("column") == "0":
            self._want_column(is_wanted=False)
        if parts.get("open") in self._in_tray:
            self._open_tray(parts["open"])


def _has_keyboard(part: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and part.isAncestorOf(focused)
