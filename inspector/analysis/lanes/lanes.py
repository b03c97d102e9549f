"""The lanes of a timeline: clocks, timers and machines over the whole session.

A timeline is a state; lanes are its past, as columns that grow with the log. They are read by
cursor, so a refresh only reads new events; events that left the log unread are counted. Timers
with the same label on the same clock share a lane, so a program that sets a one-shot again and
again has one lane for it, not thousands.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct, field

from inspector.analysis.lanes.clocks import ClockPasts
from inspector.analysis.lanes.lane_columns import Instants, KnownPast, Levels, PendingTimers, Steps
from inspector.analysis.lanes.spans import Spans
from inspector.analysis.lateness.blocks import Blocks
from inspector.calls.call import function_at
from inspector.display_text import shared_name
from inspector.events.blocks.packed_columns import grouped
from inspector.events.handlers import handlers_of
from inspector.events.history import History, LogHistory
from inspector.events.member_names import MEMBER_NAMING_KINDS, KnownMember, MemberNames
from inspector.events.members import TIMED_CALLS
from inspector.events.new_timers import WIDTH, NewTimers, events_of, new_timers_apart
from inspector.events.schema import ABOUT_FIELDS
from inspector.events.timeline import MISFIT, Timeline
from inspector.events.timer_table import RowByNumber
from inspector.vocabulary import NEVER, Field, MemberKind, RawEvent

if TYPE_CHECKING:
    from inspector.events.annotations import Annotation

_CALLED: Final = TIMED_CALLS | {MemberKind.HOOK}
#: The most new timers to add at once.
_MANY: Final = 4_096
#: Events are read in parts of this many; after each part the number of new lanes is checked.
_FEW: Final = 512
#: A read ends after this many new lanes, because a lane takes as long as ten events.
_MOST_NEW_LANES: Final = 256
#: Timers are added at once if there are at least this many for each lane; fewer are faster singly.
_FEW_LANES: Final = 16
#: The least number of lanes of a call site that form a family, if their labels share a word, and
#: if not.
_LEAST_FAMILY: Final = 2
_LEAST_STRANGERS: Final = 3
#: The key by which the lanes of a clock are sorted.
KIND_OF: Final = attrgetter("kind")
#: The state of a removed machine.
GONE_STATE: Final = -1
#: The steps and the timers of a lane that has none.
_NO_STEPS: Final = Steps()
_NO_TIMERS: Final = PendingTimers(RowByNumber())


class LaneKind(IntEnum):
    """The kinds of lanes, in the order of the lanes of a clock."""

    BOOKMARKS = 0
    MARKS = 1
    COMMANDS = 2
    FAILURES = 3
    HITS = 4
    CLOCK = 5
    TIMER = 6
    MACHINE = 7
    CALL = 8
    SLICES = 9
    COUNTER = 10

    @property
    def text(self) -> str:
        return _KIND_TEXTS[self]


_KIND_TEXTS: Final = {
    LaneKind.BOOKMARKS: "bookmarks",
    LaneKind.MARKS: "marks",
    LaneKind.COMMANDS: "commands",
    LaneKind.FAILURES: "failures",
    LaneKind.HITS: "breakpoint hits",
    LaneKind.CLOCK: "clock",
    LaneKind.TIMER: "timer",
    LaneKind.MACHINE: "state machine",
    LaneKind.CALL: "frame timer",
    LaneKind.SLICES: "slices",
    LaneKind.COUNTER: "counter",
}

LaneKey = tuple[LaneKind, int, str]


class Lane(Struct, eq=False):
    kind: LaneKind
    clock_id: int
    label: str
    subject_id: int = 0  # The clock or machine; the last timer or member
    # The events, except of clocks and machines.
    instants: Instants = field(default_factory=Instants)
    steps: Steps = _NO_STEPS  # Of a machine
    levels: Levels | None = None
    spans: Spans | None = None
    pending: PendingTimers = _NO_TIMERS
    number: int = -1  # The place of a lane of timers among these lanes
    sid: int = 0  # Number of a timer's label in the string table
    # Number of the text of the call site at which its timers were made, 0 if unknown.
    site: int = 0
    # The lane of all timers of the call site, once they are on several lanes; for a lane of calls,
    # the lane of all calls in frames.
    family: Lane | None = None
    members: list[Lane] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # The words that all labels of a family share

    @property
    def title(self) -> str:
        """Its name; that of a family is the words that its labels share, else its function."""
        if not self.members:
            return self.label
        if self.kind is LaneKind.CALL:
            return f"{len(self.members):,} calls in frames"
        return f"{shared_name(self.words) or function_at(self.label)} ×{len(self.members)}"

    @property
    def key(self) -> LaneKey:
        """Identifies the lane across sessions."""
        return self.kind, self.clock_id, self.label


class LaneStore:
    """All lanes of a session, read from its history by cursor."""

    # The most events to read at once (in 3 ms), so that a long log does not block the window
    most_at_once = 4_096

    def __init__(self, *, has_rates: bool = True) -> None:
        self.clocks = ClockPasts(has_rates=has_rates)
        self.blocks = Blocks()  # The stretches in which functions blocked the loops of clocks
        self.lanes: dict[LaneKey, Lane] = {}
        self.by_clock: dict[int, list[Lane]] = {}  # The same lanes by clock, in the order of kinds
        self.annotations: tuple[Annotation, ...] = ()
        # Refused transitions by machine, as instants whose value is the transition (sid) and whose
        # subject is the reason (sid)
        self.refusals: dict[int, Instants] = {}
        self.cursor = 0
        self.read_ns = 0
        self.lost = 0
        self.gaps: list[tuple[int, int]] = []
        self._version = 0
        self._history: History | None = None
        self._known: KnownPast | None = None
        self._strings: Sequence[str] = ("",)
        self.timer_lanes: list[Lane] = []
        # The place in timer_lanes of the lane of each pending timer, by its number
        self._lane_by_timer = RowByNumber()
        self._families: dict[tuple[int, int], Lane] = {}
        self._lane_of_member: dict[int, Lane] = {}
        self._names = MemberNames(("",))
        self._lists = {
            kind: self._lane(kind, 0, kind.text.capitalize())
            for kind in (LaneKind.MARKS, LaneKind.COMMANDS, LaneKind.FAILURES, LaneKind.HITS)
        }
        self._listed: tuple[int, ...] = ()  # The lengths of these lists when they were last read
        self._lane(LaneKind.BOOKMARKS, 0, "Bookmarks")
        samples = self.blocks.samples
        self._fold = handlers_of(self) | handlers_of(self.clocks) | handlers_of(samples)
        self._fold |= handlers_of(self.blocks)

    @property
    def version(self) -> int:
        """Increases when a lane is added, or a clock is added, removed or moved."""
        return self._version + self.clocks.version

    def lane(self, kind: LaneKind, subject_id: int) -> Lane | None:
        if kind is LaneKind.TIMER:
            number = self._lane_by_timer.get(subject_id)
            if number >= 0:
                return self.timer_lanes[number]
            return next((lane for lane in self.timer_lanes if lane.subject_id == subject_id), None)
        return self._lane_of_member.get(subject_id)

    def read(self, history: History, timeline: Timeline) -> int:
        """Read new events, at most :attr:`most_at_once`; return how many are left."""
        self._read_strings(history)
        if history is not self._history:
            self._history = history
            self._known = history if isinstance(history, KnownPast) else None
        known = self._known
        if known is not None and not self.cursor:
            self._add_known(known)
        if self.cursor < history.first:
            self.lost += history.first - self.cursor
            self.gaps.append((self.read_ns, self.go_on_at(history, history.first)))
        last = history.end if known is None else known.opened
        end = min(last, self.cursor + self.most_at_once)
        most_lanes = len(self.lanes) + _MOST_NEW_LANES
        for after, events in self._parts(history, end):
            self._read_events(events, skips_misfits=timeline.skips_misfits)
            self.cursor = after
            if len(self.lanes) > most_lanes:
                break
        self.blocks.settle(self.clocks.path_at, self.read_ns)
        if known is not None and self.cursor >= last:
            self.read_ns, self.cursor = history.last_ns, history.end
        self._add_lists(timeline)
        return history.end - self.cursor

    def _read_events(self, events: Iterable[RawEvent], *, skips_misfits: bool) -> None:
        fold, at_ns = self._fold, self.read_ns
        for event in events:
            at_ns, kind, subject, a, b = event
            step = fold.get(kind)
            try:
                if step is not None:
                    step(at_ns, subject, a, b)
                elif kind in MEMBER_NAMING_KINDS:
                    self._note_member(event)
            except MISFIT:
                if not skips_misfits:
                    raise
        self.read_ns = at_ns

    def _parts(self, history: History, end: int) -> Iterator[tuple[int, Iterable[RawEvent]]]:
        """Yield the events up to a cursor in parts, each with the cursor after it.

        New timers that are added at once are not among the events.
        """
        at = self.cursor
        if end - at <= _FEW or not isinstance(history, LogHistory):
            yield end, history.events(at, end)
            return
        for block in history.blocks(at, end):
            for part in new_timers_apart(block):
                if not isinstance(part, NewTimers):
                    events = part
                elif self._add_timers(part.id, part.clock, part.label, part.site):
                    at += len(part.events) // WIDTH
                    self.read_ns = part.at_ns[-1]
                    yield at, ()
                    continue
                else:
                    events = events_of(part.events)
                while few := [*islice(events, _FEW)]:
                    at += len(few)
                    yield at, few

    def _add_known(self, past: KnownPast) -> None:
        """Add counters and slices, which do not have to be read event by event."""
        for levels in past.levels:
            self._lane(LaneKind.COUNTER, levels.clock_id, levels.label).levels = levels
        for spans in past.spans:
            self._lane(LaneKind.SLICES, spans.clock_id, "Slices").spans = spans

    def _read_strings(self, history: History) -> None:
        self._strings = self._names.strings = self.clocks.strings = history.strings
        self.blocks.samples.strings = history.strings

    def go_on_at(self, history: History, cursor: int) -> int:
        self._read_strings(history)
        state = history.base if cursor == history.first else history.state_before(cursor)
        self.cursor = cursor
        self.clocks.go_on_from(state)
        self._lane_by_timer.clear()
        for lane in (*self.timer_lanes, *self._families.values()):
            lane.pending.clear()
        timers = state.timers
        for first in range(0, len(timers), _MANY):
            part = slice(first, first + _MANY)
            columns = timers.id[part], timers.clock[part], timers.label[part], timers.site[part]
            if self._add_timers(*columns):
                continue
            for timer_id, clock_id, label, site in zip(*columns, strict=True):
                self._on_timer_added(state.at_ns, timer_id, clock_id, label)
                self._on_timer_origin(state.at_ns, timer_id, site, 0)
        self._names = MemberNames(history.strings, state.members.by_id.values())
        for number in state.members.by_id:
            self._place_member(number)
        for number, entered in state.members.histories.items():
            machine = self._lane_of_member.get(number)
            if machine is not None:
                known = machine.steps.at_ns[-1] if len(machine.steps) else -1
                for step in zip(entered.at_ns, entered.state, entered.transition, strict=True):
                    if step[0] > known:
                        machine.steps.append(*step)
        return state.at_ns

    def _add_lists(self, timeline: Timeline) -> None:
        counts = (
            *(len(timeline.marks), len(timeline.commands)),
            *(len(timeline.failures), len(timeline.hits)),
        )
        if counts == self._listed:
            return
        self._listed = counts
        for kind, records in (
            (LaneKind.MARKS, timeline.marks),
            (LaneKind.COMMANDS, timeline.commands),
            (LaneKind.FAILURES, timeline.failures),
            (LaneKind.HITS, timeline.hits),
        ):
            instants = self._lists[kind].instants
            if not instants and records:
                self._version += 1
            for place in range(len(instants), len(records)):
                instants.append(records[place].at_ns, 0, place)

    def set_annotations(self, annotations: Sequence[Annotation]) -> None:
        """Replace the annotations, given the earliest first."""
        lane = self._lane(LaneKind.BOOKMARKS, 0, "Bookmarks")
        if bool(annotations) != bool(self.annotations):
            self._version += 1
        self.annotations = tuple(annotations)
        lane.instants = Instants()
        for place, each in enumerate(annotations):
            lane.instants.append(each.at_ns, 0, place)

    def _lane(self, kind: LaneKind, clock_id: int, label: str) -> Lane:
        key = (kind, clock_id, label)
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = Lane(kind, clock_id, label)
            self._version += 1
            beside = self.by_clock.setdefault(clock_id, [])
            if beside and beside[-1].kind > kind:
                insort(beside, lane, key=KIND_OF)
            else:
                beside.append(lane)
        return lane

    def _add_timers(
        self, ids: array[int], clocks: array[int], labels: array[int], sites: array[int]
    ) -> bool:
        """Add timers at once, unless one is pending or most of them have lanes of their own."""
        numbers = np.frombuffer(ids, np.int64)
        keys = np.zeros(len(ids), np.int64)
        for column in (clocks, labels, sites):
            different, group = grouped(np.frombuffer(column, np.int64))
            keys = keys * len(different) + group
        _, firsts, group = np.unique(keys, return_index=True, return_inverse=True)
        if _FEW_LANES * len(firsts) > len(ids):
            return False
        lane_numbers = np.empty(len(firsts), np.int32)
        for each in np.argsort(firsts):
            first = firsts[each]
            lane = self._timer_lane(ids[first], clocks[first], labels[first])
            self._note_site(lane, sites[first])
            lane_numbers[each] = lane.number
        rows = lane_numbers[group]
        if not self._lane_by_timer.add_all(ids, array("i", rows.tobytes())):
            return False
        of_family: dict[int, list[int]] = {}
        for number in np.unique(lane_numbers).tolist():
            lane = self.timer_lanes[number]
            those = numbers[rows == number]
            lane.pending.add_all(those)
            lane.subject_id = int(those[-1])
            if lane.family is not None:
                of_family.setdefault(id(lane.family), []).append(number)
        for among in of_family.values():
            family = self.timer_lanes[among[0]].family
            assert family is not None, "only lanes with one are listed"
            family.pending.add_all(numbers[np.isin(rows, among)])
        return True

    def _timer_lane(self, subject: int, clock_id: int, label: int) -> Lane:
        lane = self._lane(LaneKind.TIMER, clock_id, self._strings[label])
        lane.subject_id, lane.sid = subject, label
        if lane.number < 0:
            lane.number = len(self.timer_lanes)
            self.timer_lanes.append(lane)
            lane.pending = PendingTimers(self._lane_by_timer, lane.number)
        return lane

    def _on_timer_added(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        lane = self._timer_lane(subject, a, b)
        # If events are damaged, the timer may still be pending.
        if subject in self._lane_by_timer:
            self._end_timer(subject)
        self._lane_by_timer[subject] = lane.number
        lane.pending.add(subject)
        if lane.family is not None:
            lane.family.pending.add(subject)

    def _on_timer_origin(self, _at_ns: int, subject: int, a: int, _b: int) -> None:
        self._note_site(self.timer_lanes[self._lane_by_timer[subject]], a)

    def _note_site(self, lane: Lane, site: int) -> None:
        """Note the call site of the timers of a lane; lanes of one site form a family."""
        if not site or lane.site:
            return
        lane.site = site
        family = self._families.get((lane.clock_id, site))
        if family is None:
            pending = PendingTimers(self._lane_by_timer)
            text = self._strings[site]
            family = Lane(LaneKind.TIMER, lane.clock_id, text, pending=pending, site=site)
            self._families[lane.clock_id, site] = family
            family.words = lane.label.split()
        words = set(lane.label.split())
        family.words = [word for word in family.words if word in words]
        self._enlist(lane, family, _LEAST_FAMILY if family.words else _LEAST_STRANGERS)

    def _enlist(self, lane: Lane, family: Lane, least: int) -> None:
        family.members.append(lane)
        if len(family.members) >= least:
            for member in family.members if family.members[0].family is None else (lane,):
                self._join(member, family)

    def _join(self, lane: Lane, family: Lane) -> None:
        self._version += 1
        lane.family = family
        family.subject_id = lane.subject_id
        family.pending.join(lane.pending)
        if len(lane.instants):
            records = sorted(
                record
                for each in (family.instants, lane.instants)
                for record in zip(each.at_ns, each.value, each.subject, strict=True)
            )
            family.instants = Instants()
            for record in records:
                family.instants.append(*record)

    def _on_timer_fired(self, at_ns: int, subject: int, a: int, b: int) -> None:
        lane = self.timer_lanes[self._lane_by_timer[subject]]
        family = lane.family
        lane.instants.append(at_ns, a, subject)
        if family is not None:
            family.instants.append(at_ns, a, subject)
        if b == NEVER:
            self._end_timer(subject)

    def _on_timer_cleared(self, _at_ns: int, subject: int, _a: int, _b: int) -> None:
        self._end_timer(subject)

    def _end_timer(self, subject: int) -> None:
        lane = self.timer_lanes[self._lane_by_timer.pop(subject)]
        lane.pending.note_end()
        if lane.family is not None:
            lane.family.pending.note_end()

    def _note_member(self, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        if self._names.note(event) is not None:
            # A lane is named after a member and its parent.
            for number in (subject, *self._names.below(subject)):
                self._place_member(number)
        elif kind in ABOUT_FIELDS and a == Field.STATE:
            lane = self._lane_of_member.get(subject)
            if lane is not None:
                lane.steps.append(at_ns, b, 0)

    def _place_member(self, number: int) -> None:
        """Give a member the lane of its present name; older calls stay in the old lane."""
        member = self._names.get(number)
        if member is None or member.kind is None:
            return
        if member.kind is MemberKind.MACHINE:
            self._place_machine(number, member)
        elif member.kind is MemberKind.SLICE:
            self._lane_of_member[number] = self._lane(LaneKind.SLICES, member.clock_id, "Slices")
        elif member.kind in _CALLED:
            above = self._names.name_of(member.parent_id)
            label = f"{above}: {member.name}" if above else member.name
            lane = self._lane(LaneKind.CALL, member.clock_id, label)
            if not lane.subject_id:
                self._gather_call(lane)
            lane.subject_id = number
            self._lane_of_member[number] = lane

    def _gather_call(self, lane: Lane) -> None:
        """Add a new lane to the family of all calls of its clock, which has no call site."""
        family = self._families.get((lane.clock_id, 0))
        if family is None:
            family = self._families[lane.clock_id, 0] = Lane(LaneKind.CALL, lane.clock_id, "")
        self._enlist(lane, family, _LEAST_FAMILY)

    def _place_machine(self, number: int, machine: KnownMember) -> None:
        """Give a machine its own lane, with all of its past."""
        lane = self._lane_of_member.get(number)
        label, count = machine.name, 2
        while self.lanes.get((LaneKind.MACHINE, machine.clock_id, label), lane) is not lane:
            label = f"{machine.name} ({count})"
            count += 1
        if lane is None:
            lane = self._lane(LaneKind.MACHINE, machine.clock_id, label)
            lane.steps = Steps()
        elif label != lane.label:
            del self.lanes[lane.key]
            lane.label = label
            self.lanes[lane.key] = lane
            beside = self.by_clock[lane.clock_id]
            beside.remove(lane)
            insort(beside, lane, key=KIND_OF)
            self._version += 1
        lane.subject_id = number
        self._lane_of_member[number] = lane

    def _on_member_removed(self, at_ns: int, subject: int, _a: int, _b: int) -> None:
        lane = self._lane_of_member.get(subject)
        if lane is not None and lane.kind is LaneKind.MACHINE:
            lane.steps.append(at_ns, GONE_STATE, 0)
        self._names.forget(subject)

    def _on_call_ended(self, at_ns: int, subject: int, _a: int, b: int) -> None:
        lane = self._lane_of_member.get(subject)
        if lane is not None:
            lane.instants.append(at_ns, b, subject)
            if lane.family is not None:
                lane.family.instants.append(at_ns, b, subject)

    def _on_state_entered(self, at_ns: int, subject: int, a: int, b: int) -> None:
        lane = self._lane_of_member.get(subject)
        if lane is not None:
            lane.steps.append(at_ns, a, b)

    def _on_transition_refused(self, at_ns: int, subject: int, a: int, b: int) -> None:
        self.refusals.setdefault(subject, Instants()).append(at_ns, a, b)
