"""The timeline panel: clocks, timers and machines on lanes along session time."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, QRect, Qt, Slot
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.analysis.lanes.rows import OCCASIONAL, LaneRow
from inspector.analysis.lateness.blocks import Block, DelayedCall, delayed_calls
from inspector.commands.command import Command
from inspector.display_text import counted
from inspector.events.history import History
from inspector.formats.arrangement.frame_bars import budget_ns_of
from inspector.sessions.session import (
    AttachesPrograms,
    Session,
    ShowsCapture,
    time_name,
    why_no_clocks,
)
from inspector.timebase import format_instant

from ..kit.clipboard import add_copying, copy_text
from ..kit.guards import guarded
from ..kit.labels import EmptyNotice
from ..kit.layouts import fill, open_menu
from ..kit.source_menu import add_source_actions
from ..kit.texts.clock_texts import path_text
from ..kit.theme import Theme
from ..kit.throttled_refresh import ThrottledRefresh, single_shot
from ..plotting.shared_view import SharedView
from ..selected.commands import clock_toggle, rate_command, submit
from ..selected.menus import (
    MenuRequests,
    add_clock_actions,
    add_member_actions,
    add_rate_field,
    add_rates,
    add_timer_actions,
)
from ..selected.preview import Previewer
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .lane_canvas import LaneCanvas
from .lane_choices import LaneChoices, NoLanes
from .lane_rows import subject_of

#: Least milliseconds between pictures: less than between refreshes, so that each one is shown.
_LANES_MS: Final = 20
#: Milliseconds between two pieces of a long log, which leave others their turns.
_PAUSE_MS: Final = 2
#: While a log is read, there is a picture after this many more events.
_SHOWN_AT_ONCE: Final = 100_000
#: Settings key of the hidden kinds of lanes.
_HIDDEN = "timeline.hidden"
#: Entry of choices made since marks and the like have a row of their own; older choices lack it,
#: so their lanes are hidden at first.
_ROW_OF_MARKS: Final = "marks_row"


@guarded
class TimelinePanel(QWidget):
    """Lanes of everything in the session; hover, selection and following are shared."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self._bridge = bridge
        self._theme = theme
        self._drawn: tuple[float, ...] = ()
        self._said: tuple[int, int] | None = None  # Up to which event and instant texts are
        self._offered: tuple[object, ...] = ()  # What the offered names of clocks depend on
        self.view = SharedView.of(bridge)  # What is in view, shared with the frame times
        self.canvas = LaneCanvas(theme, view=self.view)
        self._copying = add_copying(self.canvas)
        self.notice = EmptyNotice(self.canvas)
        self._restore_choices()
        self._make_actions()
        actions = self.fit_action, self.follow_action
        # The choices about lanes, beside the ruler
        self.choices = LaneChoices(theme, self.canvas.choices.hidden, actions, self)
        self.no_lanes = NoLanes(self.choices, self.canvas.viewport())
        fill(self, self.choices, (self.canvas, 1), spacing=0)
        self.view.put_header(self.choices)
        self.previewer = Previewer(bridge, self)
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh, _LANES_MS)
        self._text_throttle = ThrottledRefresh(self, bridge.refresh_timer, self._refresh_texts)
        self._pause = single_shot(self, self._queue_turn, _PAUSE_MS)
        self._known = 0  # Up to which event lanes are arranged
        self._reads_on = False  # Whether a turn to read on is to come
        self._connect()
        self._on_budgets_changed(bridge.budgets_ms)
        self.set_session(bridge.session)

    # ---------------------------------------------------------------- the session

    @Slot(object)
    def set_session(self, session: Session | None) -> None:
        """Show another session from its start, as far as it is kept."""
        has_rates = not isinstance(session, ShowsCapture)
        store = LaneStore(has_rates=has_rates)
        store.set_annotations(self._bridge.annotations.items)
        strings = ("",) if session is None else session.history.strings
        # A hidden canvas is not painted for a long time, while its picture keeps lanes alive.
        self.canvas.picture.forget()
        self.canvas.is_live = session is not None and not session.is_recorded
        self.canvas.has_controls = has_rates
        is_attached = isinstance(session, AttachesPrograms)
        self.canvas.why_not = self._bridge.why_not if is_attached else None
        self.canvas.set_session(self._bridge.timeline, strings, store, self._delayed_by)
        self.canvas.on_selection_changed(self._bridge.selection)
        self._on_playhead_moved(self._bridge.playhead_ns)
        self._drawn = self._offered = ()
        self._said = None
        self._known = 0
        self.refresh()

    def _delayed_by(self, block: Block) -> list[DelayedCall]:
        session = self._bridge.session
        return [] if session is None else delayed_calls(session.history, block)

    @Slot(object)
    def _on_playhead_moved(self, at_ns: int | None) -> None:
        self.view.set_playhead_ns(at_ns)
        self._drawn = ()
        self._throttle.request()

    @Slot()
    def _on_annotations_changed(self) -> None:
        self.canvas.store.set_annotations(self._bridge.annotations.items)
        self.canvas.refresh()

    @Slot()
    def _refresh_texts(self) -> None:
        known = self._bridge.timeline.events_folded, self._bridge.timeline.at_ns
        if known == self._said:
            return
        self._said, is_due = known, self._throttle.is_waiting
        self.canvas.refresh_texts(are_painted=not is_due)
        if is_due:
            # The refresh that is due paints the texts, too.
            self._drawn = ()

    @Slot()
    def refresh(self) -> None:
        """Read and draw what is new; a hidden panel reads nothing."""
        session = self._bridge.session
        if session is None:
            self.notice.set_text("No scene is open.")
            self._refresh_ruler_clocks()
            return
        if not self.isVisible() or self._bridge.is_behind:
            return
        store = self.canvas.store
        history = session.history
        # A long log is being read: the turns in between do that.
        is_reading = self._reads_on and store.cursor
        left = (history.end - store.cursor) if is_reading else self._read(history)
        # With thousands of rows, they are not arranged anew for each piece.
        keeps_rows = left > 0 and 0 < self._known <= store.cursor < self._known + _SHOWN_AT_ONCE
        self.canvas.keeps_rows = keeps_rows
        if not keeps_rows:
            self._known = store.cursor
        shown = self.view.range
        drawn = (store.cursor, self._bridge.timeline.at_ns, shown.low, shown.high)
        if drawn != self._drawn:
            self._drawn = drawn
            # When looking back, predictions begin at the playhead, beside what really happened.
            is_past = self._bridge.playhead_ns is not None
            self.canvas.past = self._bridge.shown if is_past else None
            self.canvas.refresh(has_texts=not self._bridge.timeline.is_running)
            self._refresh_ruler_clocks()
        text = f"Reading the log: {counted(left, 'event')} left." if left else ""
        if not (left or self._bridge.timeline.clocks):
            text = f"No clocks: {why_no_clocks(session)}."
        if text:
            self._place(self.notice)
        self.notice.set_text(text)

    def _place(self, notice: QWidget) -> None:
        """Lay a notice over the lanes, beside their headers."""
        notice.setContentsMargins(self.view.left_edge, 0, 0, 0)

    @Slot()
    def _queue_turn(self) -> None:
        self._bridge.refresh_timer.queue_turn(self, self._read_on, can_wait=True)

    def _read_on(self) -> None:
        """Read the next events of a long log; show them when they are many, or all."""
        self._reads_on = False
        session, store = self._bridge.session, self.canvas.store
        if session is None or not self.isVisible() or self._bridge.is_behind:
            return
        left = self._read(session.history)
        if not left or store.cursor >= self._known + _SHOWN_AT_ONCE:
            self._throttle.request()

    def _read(self, history: History) -> int:
        left = self.canvas.store.read(history, self._bridge.timeline)
        self._reads_on = left > 0
        if left:
            self._pause.start()
        return left

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.view.make_room_for_lanes(are_shown=False)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.view.make_room_for_lanes(are_shown=True)
        # It passes on the request in the next turn, when the panel counts as visible.
        self._throttle.request()

    # ---------------------------------------------------------------- shared with others

    @Slot(object)
    def _share_hover(self, at_ns: int | None) -> None:
        self._bridge.set_hover(at_ns)

    @Slot(object)
    def _share_selection(self, selection: Selection) -> None:
        self._bridge.select(selection)

    @Slot(object)
    def _on_budgets_changed(self, budgets_ms: tuple[float, ...]) -> None:
        if budgets_ms:
            self.canvas.picture.late_ns = budget_ns_of(budgets_ms[0])
            self.canvas.viewport().update()

    # --------------------------------------------------------------- display

    @Slot()
    def fit(self) -> None:
        self.view.fit_chosen()

    def _refresh_ruler_clocks(self) -> None:
        timeline = self._bridge.timeline
        clocks, number = timeline.clocks, self.view.ruler_clock_id
        if number not in clocks:
            number = 0
        name = time_name(self._bridge.session)
        self.view.set_ruler(name, number, self.canvas.store.clocks)
        offered = (name, number, timeline.structure_version)
        if offered != self._offered:
            self._offered = offered
            known = tuple((clock.id, clock.name) for clock in clocks.values())
            self.choices.name_time(name, number, known)

    @Slot(int)
    def choose_ruler(self, clock_id: int) -> None:
        """Show the local time of a clock on the ruler; 0 for session time."""
        self.view.set_ruler(self.view.time_name, clock_id, self.canvas.store.clocks)
        self._refresh_ruler_clocks()

    @Slot(str)
    def _choose_words(self, words: str) -> None:
        self.canvas.choose_words(words)
        self._place(self.no_lanes)
        self.no_lanes.set_words(words if words and not self.canvas.has_rows else "")

    def show_filter(self) -> None:
        self.choices.show_filter()

    @Slot(object, bool)
    def _choose_kind(self, kind: LaneKind, is_shown: bool) -> None:  # noqa: FBT001 - a slot
        self.canvas.choose_kind(kind, is_shown=is_shown)
        self._keep_choices()

    def _restore_choices(self) -> None:
        kept = self._bridge.panel_choices.get(_HIDDEN, "").split(",")
        hidden = {kind for kind in LaneKind if kind.name.lower() in kept}
        if _ROW_OF_MARKS not in kept:
            hidden |= OCCASIONAL
        self.canvas.choices.hidden = hidden

    def _keep_choices(self) -> None:
        hidden = [kind.name.lower() for kind in sorted(self.canvas.choices.hidden)]
        self._bridge.panel_choices[_HIDDEN] = ",".join((_ROW_OF_MARKS, *hidden))

    # --------------------------------------------------------------- clocks

    @Slot(int)
    def _toggle_clock(self, clock_id: int) -> None:
        """Pause or resume a clock at present, also from the past.

        What that means is said at once, unless something else is looked at.
        """
        timeline = self._bridge.timeline
        if clock_id in timeline.clocks:
            if self._bridge.selection.kind is SelectionKind.NONE:
                self._bridge.select(Selection.clock(clock_id))
            self._submit(clock_toggle(timeline, timeline.clocks[clock_id]))

    def _submit(self, command: Command) -> None:
        if self._bridge.playhead_ns is not None:
            self._bridge.go_live()
        submit(self._bridge, command)

    @Slot(int, object)
    def _open_rates(self, clock_id: int, chip: QRect) -> None:
        clock = self._bridge.timeline.clocks.get(clock_id)
        if clock is None:
            return
        requests, menu = MenuRequests(self._submit, self._bridge.accepts), QMenu(self)
        add_rates(menu, clock, requests)
        add_rate_field(menu, clock, requests, self.previewer)
        self.previewer.watch(menu)
        open_menu(menu, self.canvas.viewport().mapToGlobal(chip.bottomLeft()))

    def _add_other_rate(self, menu: QMenu, clock_id: int) -> None:
        other = menu.addAction("Other …", partial(self._ask_for_rate, clock_id))
        other.setEnabled(self._bridge.accepts(rate_command(clock_id, Fraction(1))))

    @Slot(int)
    def _ask_for_rate(self, clock_id: int) -> None:
        self._bridge.select(Selection.clock(clock_id))
        self._bridge.action_wanted.emit("set-rate")

    def _set_branch(self, clock_id: int) -> None:
        self.canvas.choices.branch = clock_id
        self.canvas.arrange_rows()

    @Slot(object)
    def _open_source(self, row: LaneRow) -> None:
        timers, number = self._bridge.timeline.timers, subject_of(row).id
        site = timers.row(number).call_site if number in timers else ""
        if row.kind is LaneKind.TIMER and site:
            menu = QMenu(self)
            add_source_actions(menu, site)
            menu.actions()[-1].trigger()
            menu.deleteLater()

    def _add_commands(self, menu: QMenu, row: LaneRow) -> None:
        timeline = self._bridge.timeline
        requests = MenuRequests(self._submit, self._bridge.accepts)
        if row.kind is LaneKind.CLOCK and row.clock_id in timeline.clocks:
            rates = add_clock_actions(menu, timeline, row.clock_id, requests)
            rates.addSeparator()
            self._add_other_rate(rates, row.clock_id)
            path = path_text(timeline, row.clock_id)
            menu.addAction("Copy path", partial(copy_text, path))
            menu.addSeparator()
            whole = self.canvas.choices.branch == row.clock_id
            text = "Show all branches" if whole else "Show only this branch"
            menu.addAction(text, partial(self._set_branch, 0 if whole else row.clock_id))
            menu.addSeparator()
        elif row.kind is LaneKind.TIMER and subject_of(row).id in timeline.timers:
            number, select = subject_of(row).id, self._bridge.select
            add_timer_actions(menu, timeline, number, requests, select)
            menu.addAction("Show in Timers", partial(self._bridge.panel_wanted.emit, "timer_queue"))
            menu.addSeparator()
            if site := timeline.timers.row(number).call_site:
                add_source_actions(menu, site)
                menu.addSeparator()
        elif row.kind in {LaneKind.MACHINE, LaneKind.CALL} and (
            row.subject_id in timeline.members.by_id
        ):
            add_member_actions(menu, timeline, row.subject_id, requests, self)
            menu.addSeparator()

    @Slot(object, object)
    def _open_menu(self, row: LaneRow | None, place: QPoint) -> None:
        menu = QMenu(self)
        if row is not None:
            self._add_commands(menu, row)
            pin = menu.addAction("Unpin" if row.is_pinned else "Pin to the top")
            pin.setShortcut("T")
            pin.triggered.connect(self._toggle_pinned)
            if row.clock_id:
                fold = menu.addAction("Collapse or expand its clock")
                fold.setShortcut("C")
                fold.triggered.connect(self._toggle_folded)
                name = "Show its local time on the ruler"
                menu.addAction(name, partial(self.choose_ruler, row.clock_id))
            for text, key, slot in (
                ("Previous on this lane", "Left", self._go_back),
                ("Next on this lane", "Right", self._go_on),
            ):
                action = menu.addAction(text)
                action.setShortcut(key)
                action.triggered.connect(slot)
            menu.addSeparator()
        self._add_annotating(menu)
        menu.addAction("Collapse all clocks").triggered.connect(self._fold_all)
        menu.addAction("Expand all clocks").triggered.connect(self._unfold_all)
        menu.addSeparator()
        menu.addAction(self.fit_action)
        menu.addAction(self.follow_action)
        menu.addSeparator()
        wanted = self._bridge.action_wanted
        menu.addAction("Export the timeline …", partial(wanted.emit, "export-timeline"))
        menu.addActions(self._copying)
        self.previewer.watch(menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _add_annotating(self, menu: QMenu) -> None:
        annotations, at_ns = self._bridge.annotations, self.canvas.hover_ns
        if at_ns is not None and 0 <= at_ns <= self._bridge.timeline.at_ns:
            text = f"Bookmark at {format_instant(int(at_ns))}"
            menu.addAction(text, partial(annotations.add_bookmark, int(at_ns)))
        span_ns = self.view.chosen_span()
        if span_ns is not None:
            menu.addAction(
                "Name the selected range …", partial(annotations.range_wanted.emit, span_ns)
            )
        menu.addSeparator()

    # Slots of a QObject: for connections to anything else, PySide6 6.11 keeps a weak reference
    # forever.
    @Slot()
    def _toggle_pinned(self) -> None:
        self.canvas.gestures.toggle_pinned()

    @Slot()
    def _toggle_folded(self) -> None:
        self.canvas.gestures.toggle_folded()

    @Slot()
    def _go_back(self) -> None:
        self.canvas.gestures.jump(-1)

    @Slot()
    def _go_on(self) -> None:
        self.canvas.gestures.jump(1)

    @Slot()
    def _fold_all(self) -> None:
        self.canvas.gestures.fold_all(is_folded=True)

    @Slot()
    def _unfold_all(self) -> None:
        self.canvas.gestures.fold_all(is_folded=False)

    # ---------------------------------------------------------------- building

    def _make_actions(self) -> None:
        self.fit_action = QAction("Fit", self)
        self.fit_action.setToolTip("Show the selected range, then everything (F)")
        self.fit_action.triggered.connect(self.fit)
        # Whether the present is followed
        self.follow_action = QAction("Follow", self, checkable=True)
        self.follow_action.setToolTip("Keep the present in view (End)")
        self.follow_action.setChecked(self.view.is_following)
        self.follow_action.toggled.connect(self.view.set_following)

    def _connect(self) -> None:
        bridge, canvas = self._bridge, self.canvas
        bridge.session_changed.connect(self.set_session)
        # Texts first: the refresh takes long and ends with a paint, which serves both.
        self._text_throttle.follow()
        self._throttle.follow()
        bridge.selection_changed.connect(canvas.on_selection_changed)
        bridge.pointed_changed.connect(canvas.set_pointed)
        bridge.playhead_changed.connect(self._on_playhead_moved)
        bridge.budgets_changed.connect(self._on_budgets_changed)
        bridge.annotations.changed.connect(self._on_annotations_changed)
        bridge.rows_limited.connect(self.choices.filter_line.set_filter)
        self.choices.filter_line.filter_changed.connect(self._choose_words)
        self.choices.filter_line.left_downwards.connect(canvas.setFocus)
        self.choices.ruler_chosen.connect(self.choose_ruler)
        self.choices.kind_chosen.connect(self._choose_kind)
        canvas.instant_hovered.connect(self._share_hover)
        canvas.subject_pointed.connect(bridge.point_at)
        canvas.subject_chosen.connect(self._share_selection)
        self.view.moved.connect(self._throttle.request)
        self.view.following_changed.connect(self.follow_action.setChecked)
        canvas.playhead_moved.connect(bridge.set_playhead)
        canvas.menu_requested.connect(self._open_menu)
        canvas.pause_pressed.connect(self._toggle_clock)
        canvas.rate_pressed.connect(self._open_rates)
        canvas.other_rate_wanted.connect(self._ask_for_rate)
        canvas.source_wanted.connect(self._open_source)
