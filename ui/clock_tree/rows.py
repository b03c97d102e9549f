"""The rows of the clock tree, all as of one instant: clocks, and what runs on them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from inspector.events.members import MemberState
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, Field, MemberKind, rate_text, ratio_text

from ..kit.table.columns import Column, ColumnEnum
from ..kit.texts.clock_texts import next_dues, path_text, rate_algebra
from ..kit.texts.member_texts import CALLS, is_paused_itself, next_call_text
from ..kit.texts.run_states import RunState, run_state_of
from ..kit.theme import ColorRole
from ..previews.selected import is_clock_paused

#: Nodes of the tree from this number on are members; below it they are clocks, which programs
#: number from multiples of 2 to the power of 40.
_FIRST_MEMBER: Final = 1 << 60


def node_of(member_id: int) -> int:
    return _FIRST_MEMBER + member_id


def member_of(node: int) -> int:
    return node - _FIRST_MEMBER


def is_member(node: int) -> bool:
    return node >= _FIRST_MEMBER


class Known:
    """What is laborious to find out about rows, kept until it may have changed."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.run_states: dict[int, RunState] = {}
        self._next_due: dict[int, int] | None = None
        self._at_ns = 0
        self._mapping_version = -1
        self._counts: dict[int, int] = {}
        self._counted_at = (0, -1)

    def take_instant(self, timeline: Timeline) -> None:
        """Show the present of a timeline from now on, in all rows."""
        self._next_due = None
        self._at_ns = timeline.at_ns
        self._mapping_version = timeline.mapping_version

    def run_state(self, clock_id: int, timeline: Timeline) -> RunState:
        run_state = self.run_states.get(clock_id)
        if run_state is None:
            run_state = self.run_states[clock_id] = run_state_of(timeline, clock_id)
        return run_state

    def local_ns(self, clock_id: int, timeline: Timeline) -> int:
        """Return the local time at the last refresh, so that all rows show one instant."""
        if timeline.mapping_version != self._mapping_version:
            return timeline.local_ns(clock_id)
        return timeline.local_ns(clock_id, self._at_ns)

    def next_due_text(self, clock_id: int, timeline: Timeline) -> str:
        if self._next_due is None:
            self._next_due = next_dues(timeline)
        due_ns = self._next_due.get(clock_id, NEVER)
        if due_ns == NEVER:
            return "waiting"
        return format_duration(due_ns - self._at_ns) if due_ns > self._at_ns else "now"

    def calls_below(self, member: MemberState, timeline: Timeline) -> int:
        """Return how much is called below a member; counted when members come or go."""
        if member.kind in CALLS or not member.children:
            return 0
        key = id(timeline), timeline.members.structure_version
        if key != self._counted_at:
            self._counted_at = key
            self._counts.clear()
        count = self._counts.get(member.id)
        if count is None:
            branch = timeline.members.branch(member.id)
            count = self._counts[member.id] = sum(below.kind in CALLS for below in branch)
        return count


def order_below(timeline: Timeline, number: int) -> list[int]:
    """Return what hangs under a member; targets in the order of their update callbacks."""
    members = timeline.members
    member = members.by_id.get(number)
    if member is None:
        return []
    if member.kind is not MemberKind.SCHEDULER:
        return member.children
    called = dict.fromkeys(update.parent_id for update in members.updates_of(number))
    own = set(member.children)
    first = [target for target in called if target in own]
    return [*first, *(target for target in member.children if target not in called)]


class TreeRow(Struct, frozen=True):
    """A clock, or a scheduler, component, machine … of which many have neither time nor rate.

    Attributes:
        node: Its number in the tree.
        clock: The clock, ``None`` for a member.
        member: The member, ``None`` for a clock.
        run_state: What it does now, and why.
        timeline: The state that is shown.
        known: What is known of other rows.
    """

    node: int
    clock: ClockState | None
    member: MemberState | None
    run_state: RunState
    timeline: Timeline
    known: Known

    @property
    def has_numbers(self) -> bool:
        member = self.member
        return member is None or Field.TIME in member.fields or Field.RATE in member.fields


def _name(row: TreeRow) -> str:
    if row.member is not None:
        return row.member.name or row.member.kind.text
    return "" if row.clock is None else row.clock.name


def _name_tip(row: TreeRow) -> str:
    if row.member is None:
        return f"{path_text(row.timeline, row.node)}\n{row.run_state.text}"
    path = " / ".join(each.name for each in reversed(row.timeline.members.path(row.member.id)))
    return f"{row.member.kind.text} {path}\n{row.run_state.text}"


def _is_ticked(row: TreeRow) -> bool:
    if row.member is not None:
        return not is_paused_itself(row.member)
    return row.clock is not None and not is_clock_paused(row.timeline, row.clock)


def _local_time(row: TreeRow) -> str:
    if row.member is None:
        return format_instant(row.known.local_ns(row.node, row.timeline))
    time_ns = row.member.fields.get(Field.TIME)
    return "" if time_ns is None else format_instant(time_ns)


def _local_time_tip(row: TreeRow) -> str | None:
    if row.clock is None:
        return _tip(ClockColumn.LOCAL_TIME, row)
    return f"{row.known.local_ns(row.node, row.timeline):,} ns"


def _rate(row: TreeRow) -> str:
    if row.clock is not None:
        return rate_text(row.clock.rate_n)
    rate_n = None if row.member is None else row.member.fields.get(Field.RATE)
    return "" if rate_n is None else rate_text(rate_n)


def _effective_rate(row: TreeRow) -> str:
    return "" if row.clock is None else ratio_text(row.timeline.effective_rate(row.node))


def _pending(row: TreeRow) -> str:
    if row.member is not None:
        count = row.known.calls_below(row.member, row.timeline)
    else:
        count = 0 if row.clock is None else row.clock.pending
    return f"{count:,}" if count else ""


def _next_due(row: TreeRow) -> str:
    if row.member is not None:
        return next_call_text(row.timeline, row.member)
    if row.clock is None or not row.clock.pending:
        return ""
    return row.known.next_due_text(row.node, row.timeline)


def _muted(row: TreeRow) -> ColorRole | None:
    return None if row.run_state.kind.is_lively else ColorRole.MUTED


def _tip(column: ColumnEnum, row: TreeRow) -> str | None:
    text = column.spec.text(row)
    return f"{column.spec.title}: {text}" if text else None


_column = Column[TreeRow]


class ClockColumn(ColumnEnum):
    """The columns of the clock tree."""

    # fmt: off
    NAME = _column(
        "Clock", _name, "Click the sign in front of a clock to pause or resume it", _name_tip,
        tick=_is_ticked, sample="a particle system", least="player moves")
    LOCAL_TIME = _column(
        "Local (m:s)", _local_time, "Local time of this clock", _local_time_tip,
        sample="00:00.000", short_title="Local", is_number=True, yields=4, color=_muted)
    RATE = _column(
        "Rate (×)", _rate,
        "Local seconds per second of the parent; double-click or F2 to change it",
        lambda row: _tip(ClockColumn.RATE, row), sample="0.25", short_title="Rate", is_number=True,
        is_editable=True)
    STATE = _column(
        "State", lambda row: row.run_state.text, "Running, or what stopped it and since when",
        lambda row: row.run_state.text, least="in late update", yields=5)
    EFFECTIVE_RATE = _column(
        "Effective (×)", _effective_rate,
        "Local seconds per session second: all rates up to the root multiplied, 0 if one is paused",
        lambda row: None if row.clock is None else rate_algebra(row.timeline, row.node),
        sample="0.25", short_title="Eff.", is_number=True, yields=1, color=_muted)
    PENDING = _column(
        "Timers", _pending, "Pending timers on this clock, without those of its branch",
        lambda row: _tip(ClockColumn.PENDING, row), sample="000", short_title="Tim.",
        is_number=True, yields=3)
    NEXT_DUE = _column(
        "Next due in", _next_due, "Session time until the next timer on this clock fires",
        lambda row: _tip(ClockColumn.NEXT_DUE, row), sample="0000 ms", short_title="Next",
        is_number=True, yields=2, color=_muted)
    # fmt: on


#: What a narrow column says instead of its title.
SHORT_TITLES: Final = {each: each.spec.short_title for each in ClockColumn if each.spec.short_title}
#: Columns whose text changes while clocks, rates and pauses stay as they are.
LIVE_COLUMNS: Final = (ClockColumn.LOCAL_TIME, ClockColumn.PENDING, ClockColumn.NEXT_DUE)
#: Names of members that have neither time nor rate reach over this many columns behind them.
SPANNED: Final = ClockColumn.RATE - ClockColumn.NAME
