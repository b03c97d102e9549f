"""Stretches of time in which a function blocked a loop, read while events arrive."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct

from inspector.analysis.lateness.attribution import BLOCKING, Cause, Culprit, attribute, own_places
from inspector.analysis.lateness.late_calls import LateCall, late_firings, waiting_calls
from inspector.analysis.lateness.samples import AROUND_NS, Place, Sample, Samples
from inspector.events.history import History
from inspector.timebase import NS_PER_MS

#: Shorter stretches do not keep calls waiting for long.
_LEAST_NS: Final = 10 * NS_PER_MS
#: Samples of the same function with smaller gaps are one stretch.
_APART_NS: Final = NS_PER_MS
#: A function blocked a stretch if it had at least this share of it.
_MOST_OF: Final = 0.5
#: A turn that lasts is attributed again when it has grown by this share.
_GROWN: Final = 1 / 16
#: The most events to look through for calls that a stretch delayed.
_MOST_EVENTS: Final = 100_000

_Function = tuple[str, str, bool]
_at_ns: Final = attrgetter("at_ns")
_end_ns: Final = attrgetter("end_ns")


class Block(Struct, frozen=True):
    clock_id: int  # The clock of the loop
    begin_ns: int  # When the function was first seen to block it
    end_ns: int  # When it was last seen to
    cause: Cause  # How it blocked the loop
    culprit: Culprit  # The function, with its line, task or thread
    name: str  # The name of the callback that it was in, empty if that is not known
    ns: int  # The function's part, at least half of the stretch without starved_ns
    samples: int  # How many looks have seen the function
    looks: int  # How many looks there were in all
    stack: tuple[str, ...]  # The commonest stack, outermost first
    lasts: bool  # Whether the turn was not over yet
    starved_ns: int = 0  # How long the thread was ready, but had no processor
    left_out_ns: int = 0  # How much longer it took than session time, which leaves long stalls out

    @property
    def took_ns(self) -> int:
        return self.end_ns - self.begin_ns + self.left_out_ns


class DelayedCall(Struct, frozen=True):
    """A call that was due, but waited while a function blocked its loop."""

    call: LateCall  # The call; its lateness has no shares
    ns: int  # The part of its lateness during which the loop was blocked


class Blocks:
    """The stretches in which functions blocked the loops of a session.

    The samples of a turn are kept until the turn is over and no later event can add to them.
    """

    def __init__(self) -> None:
        self.samples = Samples([""])  # Handles the events, before settle() is called
        self.version = 0  # Changes whenever the stretches change
        self._settled: defaultdict[int, list[Block]] = defaultdict(list)
        self._latest: dict[int, list[Block]] = {}
        #: By loop: how many samples were attributed, whether their last turn was over, and how many
        #: turns had been shortened.
        self._seen: dict[int, tuple[int, bool, int]] = {}
        #: By loop: how many of the kept samples belong to settled turns.
        self._done: defaultdict[int, int] = defaultdict(int)

    def within(self, clock_id: int, low_ns: float, high_ns: float) -> list[Block]:
        """Return the stretches of a loop that overlap a stretch of session time, in order.

        They do not overlap one another. The cost depends on the stretches found, not on all.
        """
        settled = self._settled.get(clock_id, [])
        found: list[Block] = []
        for place in range(bisect_left(settled, low_ns, key=_end_ns), len(settled)):
            if settled[place].begin_ns >= high_ns:
                return found
            found.append(settled[place])
        latest = self._latest.get(clock_id, ())
        return found + [b for b in latest if b.begin_ns < high_ns and b.end_ns >= low_ns]

    @property
    def clocks(self) -> set[int]:
        found = {number for number, blocks in self._settled.items() if blocks}
        return found | {number for number, blocks in self._latest.items() if blocks}

    def settle(self, path_at: Callable[[int, int], Iterable[int]], read_ns: int) -> None:
        """Find stretches in the samples that were handled; events were read up to ``read_ns``.

        ``path_at`` returns a clock and its ancestors at an instant of session time.
        """
        needed_ns = read_ns
        for clock_id, samples in self.samples.by_clock.items():
            if not samples:
                continue
            last = samples[-1]
            is_over = (
                last.is_end
                or last.is_between_turns
                or last.is_told_later
                or last.at_ns + AROUND_NS < read_ns
            )
            known = len(samples), is_over, self.samples.shortened[clock_id]
            if self._seen.get(clock_id) != known:
                turns = turns_of(samples, self._done[clock_id])
                if is_over or self._has_grown(clock_id, turns[-1][0]):
                    path = path_at(clock_id, last.at_ns)
                    self._settle_loop(clock_id, turns, path, read_ns, is_over=is_over)
            if self._done[clock_id] < len(samples):
                needed_ns = min(needed_ns, samples[self._done[clock_id]].begin_ns)
        for spans in (*self.samples.collections.values(), *self.samples.stops.values()):
            del spans[: bisect_left(spans, needed_ns - AROUND_NS, key=_end_ns)]

    def _has_grown(self, clock_id: int, first: int) -> bool:
        """Return whether a lasting turn has grown enough for its cost to attribute it again."""
        samples = self.samples.by_clock[clock_id]
        count, *_ = self._seen.get(clock_id, (0,))
        if first >= count:
            return True
        grown_ns = samples[-1].at_ns - samples[count - 1].at_ns
        return grown_ns >= _GROWN * (samples[-1].at_ns - samples[first].begin_ns)

    def _settle_loop(
        self,
        clock_id: int,
        turns: list[tuple[int, int]],
        path: Iterable[int],
        read_ns: int,
        *,
        is_over: bool,
    ) -> None:
        samples = self.samples.by_clock[clock_id]
        last_ns = max(samples[-1].at_ns, read_ns)
        told = self.samples.collections.keys() | self.samples.stops.keys()
        program = next((number for number in path if number in told), 0)
        latest: list[Block] = []
        for begin, end in turns:
            is_last = end == len(samples)
            lasts = is_last and not is_over
            found = self._of_turn(clock_id, program, samples[begin:end], lasts=lasts)
            # A turn is settled once no later sample can show that its thread had no processor.
            if not latest and not lasts and samples[end - 1].at_ns + AROUND_NS < last_ns:
                self._settled[clock_id] += found
                self._done[clock_id] = end
                self.version += bool(found)
            else:
                latest += found
        self.version += latest != self._latest.get(clock_id, [])
        self._latest[clock_id] = latest
        done = self._done[clock_id]
        first_ns = samples[min(done, len(samples) - 1)].begin_ns
        spare = min(bisect_left(samples, first_ns - AROUND_NS, key=_at_ns), done)
        del samples[:spare]
        self._done[clock_id] -= spare
        self._seen[clock_id] = len(samples), is_over, self.samples.shortened[clock_id]

    def _of_turn(
        self, clock_id: int, program: int, mine: Sequence[Sample], *, lasts: bool
    ) -> list[Block]:
        begin_ns, end_ns = mine[0].begin_ns, mine[-1].at_ns
        if end_ns - begin_ns < _LEAST_NS:
            return []
        whole = attribute(self.samples, (clock_id,), program, begin_ns, end_ns)
        functions = {
            (share.culprit.place.file, share.culprit.place.function, share.cause is Cause.GIL)
            for share in whole.shares
            if share.culprit is not None and share.cause in BLOCKING
        }
        found = []
        for function, first_ns, last_ns in _stretches(mine, functions):
            if last_ns - first_ns < _LEAST_NS:
                continue
            lateness = attribute(self.samples, (clock_id,), program, first_ns, last_ns)
            share = lateness.main
            if share is None or share.culprit is None or share.cause not in BLOCKING:
                continue
            place = share.culprit.place
            if (place.file, place.function, share.cause is Cause.GIL) != function:
                continue
            # Time without a processor is not the function's fault, so it is subtracted.
            starved_ns = sum(s.ns for s in lateness.shares if s.cause is Cause.PROCESSOR)
            if share.ns < _MOST_OF * (last_ns - first_ns - starved_ns):
                continue
            block = Block(
                clock_id,
                first_ns,
                last_ns,
                share.cause,
                share.culprit,
                share.name,
                share.ns,
                share.samples,
                max(lateness.samples, share.samples),
                share.stack,
                lasts and last_ns == end_ns,
                starved_ns,
                sum(each.left_out_ns for each in mine if first_ns < each.at_ns <= last_ns),
            )
            found.append(block)
        return found


def turns_of(samples: Sequence[Sample], first: int = 0) -> list[tuple[int, int]]:
    """Return the turns of samples, each as the place of its first and the place after its last."""
    begins = [first]
    for place in range(first + 1, len(samples)):
        before, sample = samples[place - 1], samples[place]
        if (
            before.is_end
            or before.is_between_turns != sample.is_between_turns
            or (sample.is_look and not sample.form.number)
        ):
            begins.append(place)
    return list(zip(begins, [*begins[1:], len(samples)], strict=True))


def _stretches(
    samples: Sequence[Sample], functions: set[_Function]
) -> list[tuple[_Function, int, int]]:
    found: list[tuple[_Function, int, int]] = []
    reached_ns = samples[0].begin_ns
    seen: Sample | None = None
    for sample in samples:
        seen = sample if sample.is_look or seen is None else seen
        begin_ns = max(sample.begin_ns, reached_ns)
        reached_ns = max(sample.at_ns, reached_ns)
        function = _function_of(sample, seen, functions)
        if function is None or begin_ns >= reached_ns:
            continue
        if found and found[-1][0] == function and begin_ns - found[-1][2] <= _APART_NS:
            found[-1] = function, found[-1][1], reached_ns
        else:
            found.append((function, begin_ns, reached_ns))
    return found


def _function_of(sample: Sample, seen: Sample, functions: set[_Function]) -> _Function | None:
    other = Place.of(sample.other.partition(": ")[2])
    others = (other.file, other.function, True)
    is_own = 2 * sample.executed_ns >= sample.covers_ns or seen.waits
    if others in functions and not is_own:
        return others
    for place in reversed(own_places(seen.stack)):
        mine = (place.file, place.function, False)
        if mine in functions:
            return mine
    return None


def delayed_calls(history: History, block: Block) -> list[DelayedCall]:
    """Return the calls that waited while a function blocked their loop, the most delayed first.

    While the turn lasts, calls that still wait are included. Reads the events around the stretch,
    which is fast enough only for a single stretch.
    """
    start = history.cursor_at(block.begin_ns - AROUND_NS)
    end = history.cursor_at(block.end_ns + AROUND_NS)
    start = max(start, history.first, end - _MOST_EVENTS)
    timeline = history.state_before(start)
    timeline.skips_misfits = True
    cursors, events = history.numbered(start, end)
    late, folded = late_firings(timeline, cursors, events, _LEAST_NS)
    if block.lasts:
        timeline.apply_all(events[folded:])
        late += waiting_calls(timeline, history.end, block.end_ns - _LEAST_NS, block.end_ns)
    found = []
    for call, related in late:
        if block.clock_id not in {call.clock_id, *related}:
            continue
        begin_ns, end_ns = call.lateness.begin_ns, call.lateness.end_ns
        ns = min(end_ns, block.end_ns) - max(begin_ns, block.begin_ns)
        if ns > 0:
            found.append(DelayedCall(call, ns))
    return sorted(found, key=lambda each: -each.ns)
