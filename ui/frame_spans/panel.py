"""The frame panel: which calls of a frame took how long, as a flame row and as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct, structs
from PySide6.QtCore import QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QMenu, QScrollArea, QToolButton, QWidget
from typing_extensions import override

from inspector.analysis.frame_spans import (
    TIMER_KIND,
    FrameSpan,
    are_calls_kept,
    extent_of,
    heaviest_before,
    phases_of,
    spans_of,
)
from inspector.analysis.frame_sums import SLICE, FrameSums, SpanTotal
from inspector.analysis.interval_shares import named_shares, shares_text
from inspector.analysis.lateness.flame import sampled_spans
from inspector.display_text import counted
from inspector.sessions.session import AttachesPrograms, Session, unknown_of_frames
from inspector.timebase import NS_PER_MS, format_duration, format_instant
from inspector.vocabulary import MemberKind

from ..kit.fonts import text_scale
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import bar, fill, open_menu, splitter, tool_button
from ..kit.source_menu import add_source_actions
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_view import TableView
from ..kit.theme import Theme, phase_color
from ..kit.throttled_refresh import ThrottledRefresh, single_shot
from ..kit.tile import is_low
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .flame_row import FlameRow, span_text

_INDENT: Final = "    "
#: At most this many members and timers are listed.
MAX_ROWS: Final = 5_000


class SpanRow(Struct, frozen=True):
    total: SpanTotal  # What it took together
    # When it was first called, counted from the start of the frame; None when the row sums up
    # several frames.
    began_ns: int | None = None
    depth: int = 0  # How deep it lies, 0 for a phase
    late_ns: int = 0  # How late it fired at most
    share: float | None = None  # Its share of the frame time, None where that is not known
    number: int = 0  # Its place among the rows, by which rows without an instant are sorted

    @property
    def is_timer(self) -> bool:
        """Whether it is a timer, which is not measured."""
        return self.total.kind == TIMER_KIND


def _signed(ns: int) -> str:
    return f"{'−' if ns < 0 else ''}{format_duration(abs(ns))}"


def _who_text(row: SpanRow) -> str:
    # One step more than its depth: phases have a square in front of their names.
    return f"{_INDENT * (row.depth + 1) if row.depth else ''}{row.total.label}"


def _measured(duration: Callable[[SpanTotal], int]) -> Callable[[SpanRow], str]:
    return lambda row: "–" if row.is_timer else format_duration(duration(row.total))


def _late_text(row: SpanRow) -> str:
    is_known = row.is_timer and row.began_ns is not None
    return format_duration(row.late_ns) if is_known else ""


def _phase_text(row: SpanRow) -> str:
    is_in_phase = not row.total.is_phase and row.total.kind != MemberKind.SLICE.text
    return row.total.phase.text if is_in_phase else ""


def _tip(row: SpanRow) -> str | None:
    return "It fired before the frame; single timers are not measured." if row.is_timer else None


_column = Column[SpanRow]


class SpanColumn(ColumnEnum):
    # fmt: off
    WHO = _column(
        "Who", _who_text, "The phase, callback or timer", _tip, lambda row: row.total.label,
        "        a rather long name", least="    move player",
        mark=lambda row: phase_color(row.total.phase) if row.depth == 0 else None)
    TOOK = _column(
        "Took", _measured(lambda total: total.took_ns), "Measured total of its calls", _tip,
        lambda row: row.total.took_ns, "000.0 ms", is_number=True)
    SHARE = _column(
        "Share", lambda row: "–" if row.share is None else f"{100 * row.share:.1f} %",
        "Share of the frame time", _tip, lambda row: row.total.took_ns, "00.0 %", is_number=True,
        yields=6)
    CALLS = _column(
        "Calls", lambda row: "" if row.total.is_phase else f"{row.total.calls:,}",
        "How often it was called", _tip, lambda row: row.total.calls, "0,000", is_number=True,
        yields=5)
    BEGAN = _column(
        "Began", lambda row: "" if row.began_ns is None or row.is_timer else _signed(row.began_ns),
        "When it was first called, from the start of the frame", _tip,
        lambda row: row.number if row.began_ns is None else row.began_ns, "−00.0 ms",
        is_number=True, yields=7)
    LONGEST = _column(
        "Longest", _measured(lambda total: total.longest_ns), "Its longest call", _tip,
        lambda row: row.total.longest_ns, "00.0 ms", is_number=True, yields=3)
    LATE = _column(
        "Late", _late_text, "How late the timer fired; the maximum if it fired several times",
        _tip, lambda row: row.late_ns, "00.0 ms", is_number=True, yields=4)
    KIND = _column(
        "Kind", lambda row: row.total.kind, "Kind of callback", _tip, sample="frame callback",
        yields=2)
    PHASE = _column(
        "Phase", _phase_text,
        "Phase of the frame that called it", _tip, lambda row: int(row.total.phase),
        least="late update", yields=1)
    # fmt: on


def _key_of(span: FrameSpan | SpanTotal) -> tuple[int, int, int, str]:
    return span.member_id, span.timer_id, span.phase, span.label if span.is_phase else ""


class FrameSpanModel(ListTableModel[SpanRow]):
    """A row for each phase, member and timer, in the order in which they began."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(SpanColumn, theme, lambda row: _key_of(row.total), is_sortable=True)
        self.unlisted_count = 0  # How many have no row: those that took least

    def set_spans(self, spans: Sequence[FrameSpan], whole_ns: int) -> None:
        """Show the spans of one frame; shares are shares of ``whole_ns``, the frame time."""
        found: dict[tuple[int, int, int, str], SpanRow] = {}
        top = 0
        for span in spans:
            # Several threads of a trace are in the same phase, one below the other.
            top = span.depth if span.is_phase else top
            former = found.get(key := _key_of(span))
            took_ns = 0 if span.timer_id else span.took_ns
            if former is None:
                total = SpanTotal(
                    *(span.member_id, span.timer_id, span.label, span.kind, span.phase),
                    *(1, took_ns, took_ns),
                )
                found[key] = SpanRow(total, span.began_ns, span.depth - top, span.lateness_ns)
            else:
                total = structs.replace(
                    former.total,
                    calls=former.total.calls + 1,
                    took_ns=former.total.took_ns + took_ns,
                    longest_ns=max(former.total.longest_ns, took_ns),
                )
                late_ns = max(former.late_ns, span.lateness_ns)
                found[key] = structs.replace(former, total=total, late_ns=late_ns)
        self._set_numbered(list(found.values()), whole_ns)

    def set_totals(self, totals: Sequence[SpanTotal], whole_ns: int, unlisted: int = 0) -> None:
        """Show several frames together; shares are of ``whole_ns``, the time of all."""
        self._set_numbered([SpanRow(total) for total in totals], whole_ns, unlisted)

    def row_about(self, member_id: int, timer_id: int) -> int | None:
        for number, row in enumerate(self.rows):
            total = row.total
            if (member_id and total.member_id == member_id) or (
                timer_id and total.timer_id == timer_id
            ):
                return number
        return None

    def _set_numbered(self, rows: list[SpanRow], whole_ns: int, unlisted: int = 0) -> None:
        self.unlisted_count = unlisted
        self.set_rows(
            structs.replace(row, share=_share(row, whole_ns), number=number)
            for number, row in enumerate(rows)
        )


def _share(row: SpanRow, whole_ns: int) -> float | None:
    """Return which part of the time a row took; of calls at the same time it is not known."""
    took_ns = row.total.took_ns
    return took_ns / whole_ns if 0 <= took_ns <= whole_ns > 0 and not row.is_timer else None


def selection_of(subject: FrameSpan | SpanTotal) -> Selection:
    if subject.member_id:
        return Selection.member(subject.member_id)
    if subject.timer_id:
        return Selection.timer(subject.timer_id)
    return Selection.nothing()


#: Five refreshes a second: a table of names cannot be read faster.
_PERIOD_MS: Final = 200
#: Numbers of frames to choose from for the totals; 1 is the frame alone.
_RANGES: Final = (1, 60, 600)
#: A panel lower than this, and at least _WIDE wide, has the table beside the flame row.
_LOW: Final = 340
_FLAME_BESIDE: Final = 0.56
_FLAME_ABOVE: Final = 0.42
_WIDE: Final = 640

#: Height of the flame row beyond which it is scrolled, in pixels at 100 % text.
_MOST_FLAME: Final = 130
NOTHING_YET: Final = "No frame has ended yet – press Space to run, or . for one frame."
NOTHING_RECORDED: Final = "This recording holds no frames."
NOTHING_SEEN: Final = "No frame has ended yet in this program."
NO_SESSION: Final = "No scene is open."
_NO_CALLS: Final = "Nothing was called in this frame."
_ONLY_SAMPLES: Final = "Its calls were not measured; the flame has the functions that samples saw."
_CALLS_LOST: Final = "The events of this frame are no longer in the log; only its phases are known."


@guarded
class FrameSpansPanel(QWidget):
    """Shows the selected frame, or the newest while nothing else was asked for.

    A frame stays when something in it is selected, until another one is, or until the newest
    is wanted again.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("frame_spans")
        self._bridge = bridge
        self._frame: int | None = None
        self._shown: tuple[int, int] | None = None
        # The sums being computed for the table, and for which frame and number of frames.
        self._sums: FrameSums | None = None
        self._summed: tuple[int, int] | None = None
        self._next_turn = single_shot(self, self._go_on)
        self._note = ""
        self.flame = FlameRow(theme)
        self.model = FrameSpanModel(theme)
        self.view = TableView(self.model, "Calls of the frame", bridge.panel_choices)
        self.notice = self.view.notice
        self.title = ElidedLabel("   |[,:;] ")
        self.readout = ElidedLabel()
        self.previous_button = _button("‹", "The frame before (Page Up)", "Page Up")
        self.next_button = _button("›", "The frame after (Page Down)", "Page Down")
        # Whether the newest frame is shown
        self.newest_button = _button("Newest", "Follow the newest frame")
        self.newest_button.setCheckable(True)
        self.newest_button.setChecked(True)
        self.range_box = QComboBox()  # Of how many frames the table adds up the calls
        self.range_box.setAccessibleName("Frames summed up in the table")
        self.range_box.setToolTip("Number of frames, up to this one, whose calls the table sums up")
        for count in _RANGES:
            text = "this frame" if count == 1 else f"the last {count} frames"
            self.range_box.addItem(f"Table: {text}", count)
        self._lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh, _PERIOD_MS)
        self._connect()
        self.on_selection_changed(bridge.selection)
        self.refresh()

    # ---------------------------------------------------------------- what is shown

    @property
    def frame(self) -> int | None:
        """The frame that is shown, that at the playhead or the newest; ``None`` without one."""
        frames = self._bridge.timeline.frames
        if self._frame is not None:
            return self._frame
        playhead_ns = self._bridge.playhead_ns
        if playhead_ns is None:
            return frames.end - 1 if len(frames) else None
        frame = frames.index_at(playhead_ns) - 1
        return frame if frame >= frames.first else None

    @Slot(object)
    def set_session(self, _session: Session | None) -> None:
        self._frame = None
        self._shown = self._sums = None
        self.newest_button.setChecked(True)
        self.refresh()

    @Slot(object)
    def on_selection_changed(self, selection: Selection) -> None:
        if selection.kind is SelectionKind.FRAME:
            self._frame = selection.id
            self.newest_button.setChecked(False)
            self.refresh()
        self._mark_selection()

    @Slot()
    def refresh(self) -> None:
        session, frame = self._bridge.session, self.frame
        timeline = self._bridge.timeline
        frames = timeline.frames
        problem = ""
        if session is None:
            problem = NO_SESSION
        elif frame is None:
            problem = NOTHING_RECORDED if session.is_recorded else NOTHING_YET
            if isinstance(session, AttachesPrograms):
                problem = NOTHING_SEEN
        elif frame >= frames.end:
            problem = f"Frame {frame:,} has not ended yet."
        elif frame < frames.first:
            problem = f"Frame {frame:,} is no longer in the log."
        if problem or session is None or frame is None:
            self._clear(problem)
            return
        wanted = (frame, self.range_box.currentData())
        if wanted != self._shown:
            self._load_frame(session, frame)
            self._shown = wanted
        self.previous_button.setEnabled(frame > frames.first)
        self.next_button.setEnabled(frame + 1 < frames.end)

    def _clear(self, problem: str) -> None:
        self._shown = self._sums = None
        self.title.set_text("")
        self.readout.set_text("")
        self.flame.set_spans(())
        # Without a frame, half of the panel would be empty.
        self._upper.hide()
        self.model.set_totals((), 0)
        self.notice.set_text(problem)
        self.previous_button.setEnabled(False)
        self.next_button.setEnabled(False)

    def _load_frame(self, session: Session, index: int) -> None:
        timeline, history = self._bridge.timeline, session.history
        start, end = extent_of(history, timeline, index)
        is_drawn = end - start <= SLICE
        spans = spans_of(history, timeline, index) if is_drawn else phases_of(timeline, index)
        seen = sampled_spans(history, timeline, index, (start, end))
        self._upper.show()
        below = max((span.depth for span in spans), default=-1) + 1
        self.flame.set_spans((*spans, *(replace(s, depth=s.depth + below) for s in seen)))
        self.flame.set_words("" if spans else _NO_CALLS)
        # Room for all rows, unless it would leave the table too little.
        most = min(_MOST_FLAME * text_scale(self), _FLAME_ABOVE * self.height())
        height = min(self.flame.minimumSizeHint().height(), max(round(most), _MOST_FLAME))
        self._scroll.setMinimumHeight(max(height, self._scroll.minimumHeight()))
        count = self.range_box.currentData()
        if count == 1 and is_drawn:
            self._sums = None
            frame = timeline.frames.frame(index)
            # The calls come after the interval between frames and may take longer than it.
            self.model.set_spans(spans, max(frame.interval_ns, frame.busy_ns))
        elif self._sums is None or not self.newest_button.isChecked():
            # While following the newest, frames come faster than sums are done: the sum under
            # way is completed first.
            self._summed = (index, count)
            self._sums = FrameSums(history, timeline, index + 1 - count, index + 1, most=MAX_ROWS)
            self._add_up()
        self._mark_selection()
        is_kept = bool(spans) and (not is_drawn or are_calls_kept(history, timeline, index))
        gone = "" if is_kept or not spans else "   Its calls are no longer in the log."
        self._note = gone if is_drawn else "   It has too many calls to draw them one by one."
        if seen and (of := seen[0].seen) is not None:
            self._note += f"   Stacks: {counted(of.looks, 'sample')}."
        self._refresh_title(index)
        # If nothing was called, the flame row says so.
        is_lost = bool(spans) and not is_kept and not self.model.rowCount()
        if is_lost:
            self.notice.set_text(_CALLS_LOST)
        else:
            self.notice.set_text(_ONLY_SAMPLES if seen and not spans else "")

    def _refresh_title(self, index: int) -> None:
        frame = self._bridge.timeline.frames.frame(index)
        unlisted = self.model.unlisted_count
        shares = shares_text(named_shares(frame.shares, frame.interval_ns), most=2)
        if shares and frame.interval_ns >= NS_PER_MS and not self.newest_button.isChecked():
            shares += self._who_before(index)
        is_unknown = "busy" in unknown_of_frames(self._bridge.session)
        busy = "" if is_unknown else f", {format_duration(frame.busy_ns)} busy"
        self.title.set_text(
            f"Frame {index:,} at {format_instant(frame.at_ns)}   "
            f"{format_duration(frame.interval_ns)} frame time"
            + busy
            + (f"   Before it: {shares}." if shares else "")
            + self._note
            + (f"   {unlisted:,} shorter calls are not listed." if unlisted else "")
        )

    def _who_before(self, index: int) -> str:
        """Return what took most of the time before a frame; empty if callbacks did not."""
        session = self._bridge.session
        assert session is not None, "it has the frame"
        most = heaviest_before(session.history, self._bridge.timeline, index)
        if most is None:
            return ""
        return f" – {most[1]} in frame {most[0]:,}" if most[1] else f" – in frame {most[0]:,}"

    @Slot()
    def _go_on(self) -> None:
        self._add_up()
        if self._sums is None and self._shown is not None:
            if self._summed == self._shown:
                self._refresh_title(self._shown[0])
            else:
                self._shown = None
                self._throttle.request()

    def _add_up(self) -> None:
        """Add up frames for the table for a moment, and again in the next turn."""
        sums, touched = self._sums, 0
        while sums is not None and not sums.is_done:
            if touched >= SLICE:
                self._next_turn.start()
                return
            sums.read_on()
            touched += sums.touched
        self._sums = None
        if sums is None:
            return
        assert self._summed is not None, "set with the sums"
        index, count = self._summed
        frames = self._bridge.timeline.frames
        intervals_ns, busy_ns = (
            frames.numpy(name, index + 1 - count, index + 1) for name in ("interval_ns", "busy_ns")
        )
        whole_ns = int(np.maximum(intervals_ns, busy_ns).sum())
        with self.view.arranging():
            self.model.set_totals(sums.totals, whole_ns, sums.unlisted)
        self._mark_selection()

    def _mark_selection(self) -> None:
        selection = self._bridge.selection
        member_id = selection.id if selection.kind is SelectionKind.MEMBER else 0
        timer_id = selection.id if selection.kind is SelectionKind.TIMER else 0
        self.flame.choose(member_id, timer_id)
        row = self.model.row_about(member_id, timer_id)
        with self.view.arranging():
            if row is None:
                self.view.clearSelection()
            elif row != self.view.currentIndex().row() or not self.view.marked_rows():
                self.view.selectRow(row)

    # ---------------------------------------------------------------- what people do

    @Slot(object)
    def _choose_span(self, span: FrameSpan) -> None:
        self._stay()
        self.readout.set_text(_one_line(span))
        selection = selection_of(span)
        if selection.kind is not SelectionKind.NONE:
            self._bridge.select(selection)

    @Slot(object)
    def _read_span(self, span: FrameSpan | None) -> None:
        shown = self.flame.current if span is None else span
        self.readout.set_text("" if shown is None else _one_line(shown))

    @Slot(object, object)
    def _open_menu(self, span: FrameSpan, place: QPoint) -> None:
        if span.seen is not None:
            menu = QMenu(self)
            add_source_actions(menu, span.seen.site)
            open_menu(menu, place)

    @Slot(QModelIndex)
    def _choose_row(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if self.view.is_arranging or row is None:
            return
        selection = selection_of(row.total)
        if selection.kind is not SelectionKind.NONE:
            self._stay()
            self._bridge.select(selection)

    def _stay(self) -> None:
        if self._frame is None and self.frame is not None:
            self._frame = self._shown[0] if self._shown is not None else self.frame
            self.newest_button.setChecked(False)

    @Slot(bool)
    def _follow_newest(self, is_wanted: bool) -> None:  # noqa: FBT001 - a slot
        if is_wanted:
            self._frame = None
            if self._bridge.selection.kind is SelectionKind.FRAME:
                self._bridge.select(Selection.nothing())
        elif self._frame is None:
            self._frame = self.frame
        self.refresh()

    def _step(self, step: int) -> None:
        frames, frame = self._bridge.timeline.frames, self.frame
        if frame is not None and frames.first <= frame + step < frames.end:
            self._bridge.select(Selection.frame(frame + step))

    @Slot()
    def _change_range(self) -> None:
        self._shown = None
        self.refresh()

    # ---------------------------------------------------------------- building

    def _lay_out(self) -> None:
        steps = (self.previous_button, self.next_button, self.newest_button)
        top = bar(*steps, 8, (self.title, 1), self.range_box)
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self.flame)
        self._scroll = scroll
        self._upper = upper = QWidget()
        self.readout.setContentsMargins(8, 0, 8, 2)
        fill(upper, (scroll, 1), self.readout, spacing=2)
        self.splitter = splitter(Qt.Orientation.Vertical, (upper, 3), (self.view, 4))
        fill(self, top, (self.splitter, 1))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # In a low window there is no room for the readout; the tool tip of a call has it, too.
        self.readout.setVisible(not is_low(self))
        is_beside = self.height() < _LOW and self.width() >= _WIDE
        wanted = Qt.Orientation.Horizontal if is_beside else Qt.Orientation.Vertical
        if self.splitter.orientation() != wanted:
            self.splitter.setOrientation(wanted)
            whole = self.width() if is_beside else self.height()
            share = _FLAME_BESIDE if is_beside else _FLAME_ABOVE
            self.splitter.setSizes([round(whole * share), round(whole * (1 - share))])

    def _connect(self) -> None:
        bridge = self._bridge
        self._throttle.follow()
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.playhead_changed.connect(self._throttle.request)
        self.flame.span_chosen.connect(self._choose_span)
        self.flame.span_hovered.connect(self._read_span)
        self.flame.menu_requested.connect(self._open_menu)
        self.view.selectionModel().currentRowChanged.connect(self._choose_row)
        self.view.clicked.connect(self._choose_row)
        self.previous_button.clicked.connect(partial(self._step, -1))
        self.next_button.clicked.connect(partial(self._step, 1))
        self.newest_button.toggled.connect(self._follow_newest)
        self.range_box.currentIndexChanged.connect(self._change_range)


def _button(text: str, tip: str, key: str = "") -> QToolButton:
    button = tool_button(text, tip)
    button.setAccessibleName(tip.partition(" (")[0])
    button.setAutoRaise(True)
    if key:
        button.setShortcut(key)
    return button


def _one_line(span: FrameSpan) -> str:
    return span_text(span).replace("\n", "   ")
