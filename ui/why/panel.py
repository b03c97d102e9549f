"""*Why*: everything about what is selected, and the reasons for it."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from msgspec.structs import replace
from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QAccessible, QFont, QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QScrollArea, QWidget
from typing_extensions import override

from inspector.calls.call import CallId
from inspector.commands.command import Capability
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_bars import budget_ns_of
from inspector.sessions.session import Session, unknown_of_frames

from ..kit.fonts import large_size, small_size
from ..kit.guards import guarded
from ..kit.labels import announce, color_text, plain_label
from ..kit.layouts import REST, bar, fill, in_row, tool_button
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..session.bridge import Selection, SelectionKind, SessionBridge
from ..session.overruled_rates import OverruledRates
from ..session.stops import StopNotices
from .clock_rows import ClockHistory, clock_rows
from .frame_rows import Heaviest, frame_rows, range_rows
from .grid import RowGrid, ShownRow, shape_of
from .labels import LinesOfText, LinkedLabel, Piece, ValueLabel, breakable
from .member_rows import ended_rows, member_rows, timer_rows
from .reason_rows import Told, WhyRows
from .remedies import RemedyBar
from .rows import DO, LOOK_AT, LOOKING_BACK, ClockCounts, DetailRow, RowKind
from .session_rows import limit_rows, overview_rows
from .slice_rows import slice_rows

#: Pixels beside the text.
_SIDE: Final = 16


@guarded
class WhyPanel(QWidget):
    """Key-value rows for the selected clock, timer or frame; the session if nothing is."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._clock_counts = ClockCounts()
        self._clock_past = ClockHistory()
        self._heaviest = Heaviest()
        self._overruled = OverruledRates.of(bridge)
        self._why = WhyRows()
        self._reads_on = False
        self._shown: list[ShownRow] = []
        self._is_whole = False
        self._of_firing: Told | None = None
        self.title = ""
        self._head: list[DetailRow] = []
        # What is said above the answer, None to say it again
        self._named: tuple[DetailRow | None, DetailRow | None] | None = None
        # What kind of thing it is, and where; above its name
        self.about = LinkedLabel(caption="About")
        self.title_label = plain_label(wraps=True)
        self.answer = ValueLabel("", caption="Answer")  # The answer in one sentence; below its name
        self._answer_place = LinesOfText(self.answer, _SIDE)
        self.grid = RowGrid()
        # What ends the pauses that the selection waits for, below the answer
        self.remedies = RemedyBar(bridge)
        self._area = QScrollArea()
        self._lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self._apply_theme()

    def _lay_out(self) -> None:
        self._set_type()
        above = bar((self.about, 1), margins=(_SIDE, 12, _SIDE, 0))
        name = bar((self.title_label, 1), margins=(_SIDE, 0, _SIDE, 0))
        self._area.setWidget(self.grid)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setAccessibleName("Why")
        # The rows can be scrolled, so they give way to the rest.
        self._area.setMinimumHeight(1)
        stop = StopNote(self._bridge)
        fill(self, stop, above, name, self._answer_place, self.remedies, (self._area, 1), spacing=4)

    def _set_type(self) -> None:
        small, large, px = QFont(self.font()), QFont(self.font()), self.fontInfo().pixelSize()
        small.setPixelSize(small_size(px))
        large.setPixelSize(large_size(px))
        large.setWeight(QFont.Weight.DemiBold)
        self.about.setFont(small)
        self.title_label.setFont(large)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            # Labels with a size of their own do not follow the panel's font.
            self._set_type()

    def _connect(self) -> None:
        bridge = self._bridge
        self._throttle.follow()
        bridge.status_changed.connect(self._throttle.request)
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.playhead_changed.connect(self._throttle.request)
        bridge.frame_focus.changed.connect(self._throttle.request)
        self._theme.changed.connect(self._apply_theme)
        self.grid.link_activated.connect(self._follow_link)
        self.about.followed.connect(self._follow_link)
        self.grid.copy_all_requested.connect(self.copy_all)
        self.remedies.keyboard_left.connect(self._area.setFocus)

    @Slot(object)
    def set_session(self, _session: Session | None) -> None:
        self._of_firing = None
        self._area.verticalScrollBar().setValue(0)
        self.refresh()

    @Slot(object)
    def on_selection_changed(self, _selection: Selection) -> None:
        self._is_whole = False
        self._of_firing = None
        self._area.verticalScrollBar().setValue(0)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Bring the rows up to date: changed in place, or rebuilt if there are others."""
        head, rows = _split(self.current_rows())
        if self._why.is_reading and not self._reads_on:
            self._reads_on = True
            self._bridge.refresh_timer.queue_turn(self, self._read_on)
        if head != self._head:
            self._set_head(head)
        if [*map(shape_of, rows)] == [shape_of(shown.row) for shown in self._shown]:
            self._move_items(rows)
            for shown, row in zip(self._shown, rows, strict=True):
                if row != shown.row:
                    self.grid.change(shown, row)
        else:
            self._build(rows)
        self.remedies.refresh()

    def _move_items(self, rows: list[DetailRow]) -> None:
        """Let entries of a list keep their widgets where only their order has changed."""
        has_moved = False
        for is_item, run in groupby(range(len(rows)), lambda at: rows[at].kind is RowKind.ITEM):
            places = list(run) if is_item else []
            items = [self._shown[place] for place in places]
            if [each.row.links for each in items] == [rows[place].links for place in places]:
                continue
            if any(each.reached.hasFocus() for each in items):
                # The keyboard would move along, past entries that Tab has not come to yet.
                continue
            known = {each.row.links: each for each in items}
            kept = [known.pop(rows[place].links, None) for place in places]
            reached = {id(each) for each in kept}
            rest = (each for each in items if id(each) not in reached)
            order = [each or next(rest) for each in kept]
            self._shown[places[0] : places[-1] + 1] = order
            self.grid.put_in_order(order)
            has_moved = True
        if has_moved:
            self._order_tabs()

    def _set_head(self, head: list[DetailRow]) -> None:
        self._head = head
        of_kind = {row.kind: row for row in head}
        named = of_kind.get(RowKind.ABOUT), of_kind.get(RowKind.HEADING)
        # Not with each number in the answer.
        if named != self._named:
            self._named = named
            self._set_name(*named)
        said = of_kind.get(RowKind.ANSWER)
        self.answer.set_text("" if said is None else said.text)
        self._answer_place.fit()
        self._answer_place.setVisible(said is not None)
        if QAccessible.isActive() and not self._area.hasFocus():
            # What is read when the keyboard comes here, not with each change of a number.
            self._area.setAccessibleDescription(f"{self.title}. {self.answer.text()}")

    def _set_name(self, kind: DetailRow | None, name: DetailRow | None) -> None:
        self.title = "" if name is None else name.text
        self.title_label.setText(breakable(self.title))
        self.title_label.setVisible(bool(self.title))
        pieces = [] if kind is None else [Piece(_about_text(kind).removesuffix(kind.text))]
        pieces += [] if kind is None else self.grid.pieces(kind)
        self.about.set_pieces(pieces, self._theme.color(ColorRole.MUTED))
        self.about.setVisible(kind is not None)

    def _read_on(self) -> None:
        """Read what explains, a part in each turn, then show it."""
        self._reads_on = False
        if self._why.read_on():
            self.refresh()
        else:
            self._reads_on = True
            self._bridge.refresh_timer.queue_turn(self, self._read_on)

    def current_rows(self) -> list[DetailRow]:
        bridge, rows = self._bridge, self._rows_of_selection()
        if bridge.selection.kind is not SelectionKind.NONE:
            rows = [*rows, *self._rows_of_range()]
        session = bridge.session
        is_past = bridge.playhead_ns is not None and session is not None and not session.is_recorded
        if is_past and bridge.selection.kind is not SelectionKind.NONE:
            return [
                replace(row, key=f"{LOOKING_BACK} · {row.key}")
                if row.kind is RowKind.ABOUT
                else row
                for row in rows
            ]
        return rows

    def _rows_of_selection(self) -> list[DetailRow]:
        bridge = self._bridge
        session, selection, timeline = bridge.session, bridge.selection, bridge.shown
        is_live = timeline is bridge.timeline
        if session is None or selection.kind is SelectionKind.NONE:
            return self._rows_of_range() or overview_rows(
                session,
                bridge.capabilities,
                self._clock_counts,
                timeline,
                bridge.timeline,
                is_whole=self._is_whole,
            )
        # After a rewind that was not announced yet, session.history is already another one.
        history = bridge.playhead.history or session.history
        match selection.kind:
            case SelectionKind.CLOCK:
                overruled = self._overruled.by_clock.get(selection.id) if is_live else None
                known = self._clock_counts, self._clock_past, overruled
                rows = clock_rows(history, timeline, selection.id, *known)
                return [*rows, *limit_rows(session, selection.id)]
            case SelectionKind.TIMER:
                told = self._told_of_firing(history, timeline, selection)
                told = told or self._told(history, timeline, CallId(selection.id))
                return timer_rows(timeline, selection.id, told, self._why.subject)
            case SelectionKind.MEMBER:
                told = self._told(history, timeline, CallId(selection.id, is_member=True))
                if selection.id not in timeline.members.by_id:
                    return ended_rows(timeline, told, self._why.subject)
                rows = member_rows(timeline, selection.id, bridge.strings, told)
                about_slice = slice_rows(history, timeline, selection)
                return [rows[0], *about_slice] if about_slice else rows
            case _:
                unknown = unknown_of_frames(session)
                budget_ns = budget_ns_of(bridge.budgets_ms[0]) if bridge.budgets_ms else 0
                known_of = session.history, self._heaviest, unknown, budget_ns
                return frame_rows(bridge.timeline, selection.id, *known_of, waits=session.waits)

    def _rows_of_range(self) -> list[DetailRow]:
        bridge, timeline = self._bridge, self._bridge.shown
        chosen = bridge.frame_focus.chosen if timeline is bridge.timeline else None
        is_below = bridge.selection.kind is not SelectionKind.NONE
        return range_rows(timeline, chosen, is_below=is_below)

    def _told_of_firing(
        self, history: History, timeline: Timeline, selection: Selection
    ) -> Told | None:
        """Explain the one firing that is selected, from the state right after it."""
        at_ns = selection.at_ns
        if at_ns is None or at_ns > timeline.at_ns:
            return None
        if self._of_firing is None or self._why.is_reading:
            told = self._told(history, history.state_at(at_ns), CallId(selection.id))
            self._of_firing = replace(told, answer=told.fired or told.answer, scores=())
        return self._of_firing

    def _told(self, history: History, timeline: Timeline, call_id: CallId) -> Told:
        is_live = timeline is self._bridge.timeline
        return self._why.rows(
            history,
            timeline,
            call_id,
            is_live=is_live,
            is_whole=self._is_whole,
            can_pause=is_live and Capability.PAUSE in self._bridge.capabilities,
        )

    def _build(self, rows: list[DetailRow]) -> None:
        self.grid.setUpdatesEnabled(False)
        row, link = self._row_with_keyboard()
        self._shown = self.grid.replace(rows)
        self._order_tabs()
        self.grid.setUpdatesEnabled(True)
        if row is not None:
            self._give_keyboard(row, link)

    def _order_tabs(self) -> None:
        """Make Tab go from the path to buttons and rows; Qt puts new rows last in the window."""
        before: QWidget = self.about
        values = (shown.reached for shown in self._shown)
        reached = (each for each in values if isinstance(each, LinkedLabel | QPlainTextEdit))
        for widget in (*self.remedies.buttons, self._area, *reached):
            self.setTabOrder(before, widget)
            before = widget

    def _row_with_keyboard(self) -> tuple[int | None, int | None]:
        for number, shown in enumerate(self._shown):
            reached = shown.reached
            if reached.hasFocus():
                return number, reached.link if isinstance(reached, LinkedLabel) else None
        return None, None

    def _give_keyboard(self, row: int, link: int | None) -> None:
        """Put the keyboard where it was before the rows were rebuilt, as far as possible."""
        value = self._shown[row].reached if row < len(self._shown) else self._area
        if value.focusPolicy() == Qt.FocusPolicy.NoFocus:
            value = self._area
        value.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(value, LinkedLabel) and link is not None:
            value.focus_link(link)

    @Slot(str)
    def _follow_link(self, address: str) -> None:
        kind, number, *of_call = address.split(":")
        if kind == DO:
            self._is_whole = not self._is_whole
            self._of_firing = None
            self.refresh()
        elif of_call:
            # Go to its instant first, so that the slice is in view.
            self._bridge.set_playhead(int(of_call[0]))
            self._bridge.select(Selection.call(int(number), int(of_call[0])))
        elif kind == LOOK_AT:
            self._bridge.set_playhead(int(number))
        elif SelectionKind[kind] is SelectionKind.FRAME:
            self._bridge.reveal_frame(int(number))
        else:
            self._bridge.select(Selection(SelectionKind[kind], int(number)))

    @Slot()
    def copy_all(self) -> None:
        """Put all rows on the clipboard, key and value separated by a tabulator."""
        QGuiApplication.clipboard().setText(self.text())

    def text(self) -> str:
        head = [_about_text(row) if row.kind is RowKind.ABOUT else row.text for row in self._head]
        rows = (shown.row.said for shown in self._shown)
        # Only labels need no-break spaces.
        return "\n".join((*head, *rows)).replace("\N{NO-BREAK SPACE}", " ")

    @Slot()
    def _apply_theme(self) -> None:
        self.grid.set_theme(self._theme)
        color_text(self.about, self._theme.color(ColorRole.MUTED))
        self._named = None
        self._set_head(self._head)
        self._build([shown.row for shown in self._shown])
        self.refresh()

    def short_texts(self) -> tuple[str, str]:
        """Return the name of what is selected, and the answer in one sentence; seen or not."""
        head, _rows = _split(self.current_rows())
        of_kind = {row.kind: row.text for row in head}
        return of_kind.get(RowKind.HEADING, ""), of_kind.get(RowKind.ANSWER, "")


def _split(rows: list[DetailRow]) -> tuple[list[DetailRow], list[DetailRow]]:
    """Return kind, name and answer, which stay in view, and the rows below them."""
    count = 0
    for kind in (RowKind.ABOUT, RowKind.HEADING, RowKind.ANSWER):
        count += count < len(rows) and rows[count].kind is kind
    return rows[:count], rows[count:]


def _about_text(row: DetailRow) -> str:
    return f"{row.key} · {row.text}" if row.text else row.key


class StopNote(QWidget):
    """What stopped the session, with two buttons; hidden while nothing has."""

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._stops = StopNotices.of(bridge)
        self.label = plain_label(wraps=True)
        font = QFont(self.label.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.label.setFont(font)
        self.label.setAccessibleName("Stopped")
        # Selects the frame in which a breakpoint was hit
        self.frame_button = tool_button("Show frame", "Select the frame in which it stopped")
        self.disable_button = tool_button("Disable", "Turn this breakpoint off")
        self.events_button = tool_button("Show events")
        for button, act in (
            (self.frame_button, self._stops.reveal_frame),
            (self.disable_button, self._stops.disable_breakpoint),
            (self.events_button, self._open_events),
        ):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(act)
        buttons = (self.frame_button, self.disable_button, self.events_button)
        fill(self, self.label, in_row(*buttons, REST))
        self.setContentsMargins(_SIDE, 12, _SIDE, 4)
        self._stops.changed.connect(self._refresh)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        sentence, is_hit = self._stops.sentence, self._stops.hit is not None
        if sentence != self.label.text():
            self.label.setText(sentence)
            announce(self, sentence)
        for button in (self.frame_button, self.disable_button):
            button.setVisible(is_hit)
        self.events_button.setVisible(not is_hit)
        self.setVisible(bool(sentence))

    @Slot()
    def _open_events(self) -> None:
        self._bridge.panel_wanted.emit("event_list")
