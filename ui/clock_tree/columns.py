"""The rows of *Clocks*, all as of one instant, and what their columns say."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap, QPolygonF

from inspector.events.members import MemberState
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, Field, MemberKind, rate_text, ratio_text

from ..kit.table.columns import Column, ColumnEnum
from ..kit.texts.clock_texts import next_dues, path_text, rate_algebra
from ..kit.texts.member_texts import CALLS, member_run_state, next_call_text
from ..kit.texts.run_states import RunState, run_state_of
from ..kit.theme import ColorRole

#: Nodes of the tree from this number on are members; below it they are clocks, which programs
#: number from multiples of 2 to the power of 40.
_FIRST_MEMBER: Final = 1 << 60
#: Pixels by which each level is indented, and the size of the sign for what is folded.
_INDENT: Final = 14
#: The sign is drawn with so many pixels for each logical one, enough for any screen.
_SHARPNESS: Final = 3


def node_of(member_id: int) -> int:
    return _FIRST_MEMBER + member_id


def member_of(node: int) -> int:
    return node - _FIRST_MEMBER


def is_member(node: int) -> bool:
    return node >= _FIRST_MEMBER


class Known:
    """The state that rows show, and what is laborious to find out, kept until it may change.

    Attributes:
        sign_color: Of the signs in front of names.
    """

    def __init__(self, timeline: Timeline, sign_color: QColor) -> None:
        self.sign_color = sign_color
        self._versions: tuple[int, int, int, bool] | None = None
        self._run_states: dict[int, RunState] = {}
        self._counts: dict[int, int] = {}
        self.set_timeline(timeline)

    def set_timeline(self, timeline: Timeline) -> bool:
        """Show a state from now on; returns whether clocks or members may have come or gone."""
        self.timeline = timeline
        self._next_due: dict[int, int] | None = None
        self._at_ns, self._mapping_version = timeline.at_ns, timeline.mapping_version
        former, self._versions = self._versions, self._versions_of(timeline)
        if self._versions != former:
            self._run_states.clear()
            self._counts.clear()
        return former is None or self._versions[:2] != former[:2]

    @staticmethod
    def _versions_of(timeline: Timeline) -> tuple[int, int, int, bool]:
        structure = timeline.structure_version, timeline.members.structure_version
        return *structure, timeline.mapping_version, timeline.is_running

    def run_state(self, clock_id: int) -> RunState:
        run_state = self._run_states.get(clock_id)
        if run_state is None:
            run_state = self._run_states[clock_id] = run_state_of(self.timeline, clock_id)
        return run_state

    def local_ns(self, clock_id: int) -> int:
        """Return the local time at the last refresh, so that all rows show one instant."""
        timeline = self.timeline
        if timeline.mapping_version != self._mapping_version:
            return timeline.local_ns(clock_id)
        return timeline.local_ns(clock_id, self._at_ns)

    def next_due_text(self, clock_id: int) -> str:
        if self._next_due is None:
            self._next_due = next_dues(self.timeline)
        due_ns = self._next_due.get(clock_id, NEVER)
        if due_ns == NEVER:
            return "waiting"
        return format_duration(due_ns - self._at_ns) if due_ns > self._at_ns else "now"

    def calls_below(self, member: MemberState) -> int:
        if member.kind in CALLS or not member.children:
            return 0
        count = self._counts.get(member.id)
        if count is None:
            branch = self.timeline.members.branch(member.id)
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
    """A clock, or a scheduler, component, machine … of which many have neither time nor rate."""

    node: int  # Its number in the tree
    depth: int  # How many rows are above it in the tree
    is_open: bool | None  # Whether what hangs under it is shown, None where nothing does
    known: Known  # The state that is shown

    @property
    def timeline(self) -> Timeline:
        return self.known.timeline

    @property
    def clock(self) -> ClockState | None:
        return self.timeline.clocks.get(self.node)

    @property
    def member(self) -> MemberState | None:
        return self.timeline.members.by_id.get(member_of(self.node))

    @property
    def run_state(self) -> RunState:
        member = self.member
        if member is not None:
            return member_run_state(self.timeline, member)
        return self.known.run_state(self.node)


def _name(row: TreeRow) -> str:
    if row.member is not None:
        return row.member.name or row.member.kind.text
    return "" if row.clock is None else row.clock.name


def _name_tip(row: TreeRow) -> str:
    if row.member is None:
        return f"{path_text(row.timeline, row.node)}\n{row.run_state.text}"
    path = " / ".join(each.name for each in reversed(row.timeline.members.path(row.member.id)))
    return f"{row.member.kind.text} {path}\n{row.run_state.text}"


def _sign(row: TreeRow) -> QPixmap:
    return fold_sign(row.depth, row.is_open, row.known.sign_color.rgb())


def _local_time(row: TreeRow) -> str:
    if row.member is None:
        return format_instant(row.known.local_ns(row.node))
    time_ns = row.member.fields.get(Field.TIME)
    return "" if time_ns is None else format_instant(time_ns)


def _local_time_tip(row: TreeRow) -> str | None:
    if row.clock is None:
        return _tip(ClockColumn.LOCAL_TIME, row)
    return f"{row.known.local_ns(row.node):,} ns"


def _rate(row: TreeRow) -> str:
    if row.clock is not None:
        return rate_text(row.clock.rate_n)
    rate_n = None if row.member is None else row.member.fields.get(Field.RATE)
    return "" if rate_n is None else rate_text(rate_n)


def _effective_rate(row: TreeRow) -> str:
    return "" if row.clock is None else ratio_text(row.timeline.effective_rate(row.node))


def _pending(row: TreeRow) -> str:
    if row.member is not None:
        count = row.known.calls_below(row.member)
    else:
        count = 0 if row.clock is None else row.clock.pending
    return f"{count:,}" if count else ""


def _next_due(row: TreeRow) -> str:
    if row.member is not None:
        return next_call_text(row.timeline, row.member)
    if row.clock is None or not row.clock.pending:
        return ""
    return row.known.next_due_text(row.node)


def _muted(row: TreeRow) -> ColorRole | None:
    return None if row.run_state.kind.is_lively else ColorRole.MUTED


def _tip(column: ColumnEnum, row: TreeRow) -> str | None:
    text = column.spec.text(row)
    return f"{column.spec.title}: {text}" if text else None


_column = Column[TreeRow]


@cache
def fold_sign(depth: int, is_open: bool | None, rgb: int) -> QPixmap:  # noqa: FBT001 - of a row
    """Return what stands in front of a name: its indentation, and a triangle to fold it by."""
    left, size = depth * _INDENT, _INDENT
    pixmap = QPixmap((left + size) * _SHARPNESS, size * _SHARPNESS)
    pixmap.setDevicePixelRatio(_SHARPNESS)
    pixmap.fill(Qt.GlobalColor.transparent)
    if is_open is None:
        return pixmap
    points = ((3, 5), (11, 5), (7, 10)) if is_open else ((5, 3), (10, 7), (5, 11))
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(rgb))
        painter.drawPolygon(QPolygonF([QPointF(left + x, y) for x, y in points]))
    return pixmap


class ClockColumn(ColumnEnum):
    """The columns of *Clocks*."""

    # fmt: off
    NAME = _column(
        "Clock", _name, "Every clock below its parent, with what hangs under it", _name_tip,
        mark=_sign, sample="    a particle system", least="    player moves")
    LOCAL_TIME = _column(
        "Local (m:s)", _local_time, "Local time of this clock", _local_time_tip,
        sample="00:00.000", short_title="Local", is_number=True, yields=4, color=_muted)
    RATE = _column(
        "Rate (×)", _rate, "Local seconds per second of the parent",
        lambda row: _tip(ClockColumn.RATE, row), sample="0.25", short_title="Rate", is_number=True)
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
