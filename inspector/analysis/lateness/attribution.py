"""Attribution of the shares of a lateness.

A sample stands for the time since the one before. Known exactly of that time are the collections
and stops, then the processor time of the thread, and the time for which it was ready without a
processor. In the rest it waited, or another thread ran instead. Time for which no sample stands is
unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from operator import attrgetter
from typing import Final

from msgspec import Struct, structs

from inspector.analysis.lateness.samples import AROUND_NS, Place, Sample, Samples, Span
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import CallKind

#: A function with at least this share of its caller's time is named instead of the caller.
_INNER_SHARE: Final = 0.8
#: Functions of a frame with at least this share are named separately.
_PART_SHARE: Final = 0.15
#: A smaller part of a sample is added to the rest of it.
_LEAST_PART: Final = 0.15
_LEAST_NS: Final = NS_PER_MS
#: Another thread had the interpreter if it ran for this share of the time in which the loop
#: did not run; for the rest it may have waited for a processor.
_OTHERS: Final = 0.25
#: A thread has mostly waited, or hardly run, if it ran for less than these shares of the time.
_MOSTLY: Final = 0.5
_HARDLY: Final = 0.1
#: Many short calls have at least this many samples, of at least this share of different calls, none
#: of which has more than the last share of the time.
_LEAST_SAMPLES: Final = 5
_DIFFERENT: Final = 0.5
_SHORT: Final = 0.3
#: The lack of a processor counts as the cause if it is this many times as long as anything else.
_STARVED: Final = 1.5
_at_ns: Final = attrgetter("at_ns")
#: Time in which a thread hardly ran, without other evidence of a wait, counts as a wait if it is at
#: least this share of the lateness and was seen by at least this many samples.
_LONG_WAIT: Final = 0.4
_WAIT_LOOKS: Final = 3
#: Files of loops: the functions that they call on a stack are the program's.
_LOOP_FILES: Final = (
    "/asyncio/base_events.py",
    "/asyncio/events.py",
    "/asyncio/runners.py",
    "/trio/_core/_run.py",
    "/twisted/internet/base.py",
    "/twisted/internet/defer.py",
    "/twisted/internet/task.py",
    "/tkinter/__init__.py",
    "/schedule/__init__.py",
    "/threading.py",
)
#: Files of our own that call the callbacks of a scene.
_ENGINE: Final = re.compile(r"/inspector/(clocks|frames|sessions)/")
_LIBRARIES: Final = (
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3",
    "/Lib/",
    "/node_modules/",
)
#: The innermost frame while V8 collects garbage.
_COLLECTION: Final = "<built-in>:0 in (garbage collector)"


class Cause(Enum):
    CALLBACK = "callback"
    TASK_STEP = "task-step"
    #: The loop's thread waited within a turn.
    BLOCKING_CALL = "blocking-call"
    GARBAGE_COLLECTION = "garbage-collection"
    #: Another thread had the interpreter.
    GIL = "gil"
    #: The thread was ready to run, but had no processor.
    PROCESSOR = "processor"
    #: Many calls, none of them long.
    MANY_SHORT = "many-short"
    FRAME_FUNCTION = "frame-function"
    #: The job waited for something before it set its next call.
    AWAITING = "awaiting"
    #: The job set its next call after its work, so each period is longer by the work.
    DRIFT = "drift"
    STOPPED = "stopped"
    HELD = "held"
    NOT_LATE = "not-late"
    UNKNOWN = "unknown"


#: The causes by which a function blocks a loop.
BLOCKING: Final = frozenset(
    {Cause.CALLBACK, Cause.TASK_STEP, Cause.FRAME_FUNCTION, Cause.BLOCKING_CALL, Cause.GIL}
)
_COMPUTING: Final = {
    CallKind.CALLBACK: Cause.CALLBACK,
    CallKind.TASK: Cause.TASK_STEP,
    CallKind.FRAME: Cause.FRAME_FUNCTION,
}


class Culprit(Struct, frozen=True):
    place: Place  # The function, with the line that most samples have seen
    task: str | None = None  # The task in whose step it was, if any
    thread: str | None = None  # The other thread that it ran on, if it was not the loop's
    what: str = ""  # What it waited for, if that is certain


class LatenessShare(Struct, frozen=True):
    cause: Cause
    culprit: Culprit | None  # The function to blame, None if there is no single one
    ns: int  # Its part of the lateness
    samples: int  # How many looks have seen it
    stack: tuple[str, ...] = ()  # The commonest stack, outermost first
    calls: int = 0  # Of many short calls, how many different ones were seen
    name: str = ""  # The name of the callback or of the family of calls
    # Whether it was only seen right afterwards, because code in C kept the interpreter until then.
    is_after: bool = False
    kind: CallKind = CallKind.FRAME  # What it was called as


def _weight(share: LatenessShare) -> float:
    return share.ns / _STARVED if share.cause is Cause.PROCESSOR else share.ns


class Lateness(Struct, frozen=True):
    """What a lateness is made of: its shares, which add up to it together with the unknown rest."""

    begin_ns: int  # Session instant at which the call was due
    end_ns: int  # Session instant at which it was made
    shares: tuple[LatenessShare, ...]  # The shares, the largest first
    families: tuple[LatenessShare, ...]  # For many short calls, the calls with the largest sums
    samples: int  # How many looks there were in all
    unknown_ns: int  # How much of it is not known

    @classmethod
    def unmeasured(cls, begin_ns: int, end_ns: int) -> Lateness:
        return cls(begin_ns, end_ns, (), (), 0, end_ns - begin_ns)

    @property
    def late_ns(self) -> int:
        return self.end_ns - self.begin_ns

    @property
    def main(self) -> LatenessShare | None:
        """The largest share, ``None`` if most is not known.

        The lack of a processor makes everything longer, so it comes first only if it is much more
        than what the program itself did.
        """
        first = max(self.shares, key=_weight, default=None)
        return None if first is None or first.ns < self.unknown_ns else first

    @property
    def cause(self) -> Cause:
        return Cause.UNKNOWN if self.main is None else self.main.cause


class _Piece(Struct):
    """The part of a sample that lies within the window, for one cause."""

    sample: Sample
    ns: float
    turn: int


def attribute(
    samples: Samples, clocks: Iterable[int], program: int, begin_ns: int, end_ns: int
) -> Lateness:
    """Return what the time between the due instant of a call and the call was spent on.

    The clocks are those of its loop; collections and stops are those of the program's clock.
    """
    window = _Window(samples, program, begin_ns, end_ns)
    turn = 0
    reached_ns = begin_ns
    mine = [each for n in clocks for each in _settled(samples.by_clock[n], begin_ns, end_ns)]
    mine.sort(key=lambda sample: sample.at_ns)
    seen: Sample | None = None
    for sample in mine:
        if sample.is_look:
            turn += sample.form.number == 0
            seen = sample
        first_ns = max(sample.begin_ns, reached_ns)
        last_ns = min(sample.at_ns, end_ns)
        if first_ns < last_ns:
            window.skip(reached_ns, first_ns)
            window.add(sample, seen, turn, first_ns, last_ns)
            reached_ns = last_ns
    window.skip(reached_ns, end_ns)
    return window.lateness()


def _settled(samples: Sequence[Sample], begin_ns: int, end_ns: int) -> list[Sample]:
    """Return the samples around a window, with times without a processor moved to where they were.

    The system counts such a time when it is over, so a sample may include time of earlier samples.
    """
    first = bisect_left(samples, begin_ns - AROUND_NS, key=_at_ns)
    last = bisect_left(samples, end_ns + AROUND_NS, key=_at_ns)
    found = list(samples[first:last])
    owed_ns, until_ns = 0, 0
    for place in range(len(found) - 1, -1, -1):
        sample = found[place]
        if abs(sample.at_ns - until_ns) > _LEAST_NS:
            owed_ns = 0
        until_ns = sample.begin_ns
        ready_ns = sample.ready_ns + owed_ns
        most_ns = max(sample.covers_ns - sample.executed_ns, 0)
        owed_ns = max(ready_ns - most_ns, 0)
        ready_ns = min(ready_ns, most_ns)
        if ready_ns != sample.ready_ns:
            found[place] = structs.replace(sample, ready_ns=ready_ns)
    return found


class _Window:
    def __init__(self, samples: Samples, program: int, begin_ns: int, end_ns: int) -> None:
        self.begin_ns, self.end_ns = begin_ns, end_ns
        self.looks = 0
        self.stops = _apart(samples.stops[program], ())
        self.collections = _apart(samples.collections[program], self.stops)
        # Collections that the program asked for, and the functions that were seen asking
        self.asked = [span for span in samples.collections[program] if span.line]
        self.askers: set[Culprit] = set()
        # How much of the collections each finalizer that was seen in them has had
        self.finalizers: defaultdict[Place, int] = defaultdict(int)
        self.unknown_ns = 0.0
        # For how much of the collections the thread had no processor
        self.starved_ns = 0.0
        self.collecting: list[_Piece] = []
        self.computing: list[_Piece] = []
        self.waiting: list[_Piece] = []
        self.others: dict[str, list[_Piece]] = defaultdict(list)
        self.ready: list[_Piece] = []
        self.idle: list[_Piece] = []

    def skip(self, first_ns: int, last_ns: int) -> None:
        """Count a stretch for which no sample stands as unknown."""
        spans = (*self.stops, *self.collections)
        self.unknown_ns += last_ns - first_ns - _overlap(spans, first_ns, last_ns)

    def add(
        self, sample: Sample, seen: Sample | None, turn: int, first_ns: int, last_ns: int
    ) -> None:
        """Attribute the part of a sample that lies within the window to causes."""
        self.looks += sample.is_look
        starved_ns = self._starved_collecting(sample, first_ns, last_ns)
        self.starved_ns += starved_ns
        _put(self.ready, sample, starved_ns, turn)
        if sample.is_look and sample.stack:
            self._note_asker(sample)
            self._note_finalizer(sample, first_ns, last_ns)
        part_ns, run_ns, ready_ns = self._times(sample, first_ns, last_ns)
        rest_ns = part_ns - run_ns - ready_ns
        if part_ns <= 0:
            return
        if sample.is_between_turns:
            # Between turns a loop has nothing to do, so if it is late, it was kept from running.
            _put(self.ready, sample, ready_ns, turn)
            if sample.other_ns >= _OTHERS * sample.covers_ns:
                _put(self.others[sample.other], sample, rest_ns, turn)
                rest_ns = 0
            self.unknown_ns += run_ns + rest_ns
            return
        told = sample if sample.is_look or seen is None else seen
        if told.stack[-1:] == (_COLLECTION,):
            # Time without running counts too: the thread may have waited for others that collect.
            _put(self.ready, told, ready_ns, turn)
            _put(self.collecting, told, part_ns - ready_ns, turn)
            return
        if not sample.has_times:
            _put(self.waiting if told.waits else self.computing, told, part_ns, turn)
            return
        least_ns = max(_LEAST_PART * part_ns, _LEAST_NS)
        if rest_ns < least_ns and run_ns >= ready_ns:
            run_ns, rest_ns = run_ns + rest_ns, 0
        if ready_ns < least_ns and run_ns > ready_ns:
            run_ns, ready_ns = run_ns + ready_ns, 0
        _put(self.computing, told, run_ns, turn)
        _put(self.ready, told, ready_ns, turn)
        pieces = self._rest_of(sample, told, rest_ns, run_ns / part_ns)
        if pieces is None:
            self.unknown_ns += rest_ns
        else:
            _put(pieces, sample if pieces is self.others.get(sample.other) else told, rest_ns, turn)

    def _note_asker(self, sample: Sample) -> None:
        """Note the function of a sample if it is at the line that asked for a collection."""
        for span in self.asked:
            place = Place.of(sample.stack[-1])
            is_around = sample.begin_ns < span.end_ns and span.begin_ns < sample.at_ns
            if is_around and span.line == place.line:
                self.askers.add(Culprit(place))

    def _note_finalizer(self, sample: Sample, first_ns: int, last_ns: int) -> None:
        """Note what a sample that was taken during a collection destroys."""
        called = [Place.of(text) for text in sample.stack]
        place = next((each for each in called if is_finalizer(each)), None)
        if place is not None and _overlap(self.collections, sample.at_ns - 1, sample.at_ns):
            self.finalizers[place] += _overlap(self.collections, first_ns, last_ns)

    def _collector(self, collected_ns: int) -> Culprit | None:
        """Return what asked for nearly all collections, or had most of their time."""
        if len(self.askers) == 1:
            asked_ns = _overlap(self.asked, self.begin_ns, self.end_ns)
            return next(iter(self.askers)) if asked_ns >= _INNER_SHARE * collected_ns else None
        by_function: defaultdict[tuple[str, str], int] = defaultdict(int)
        for each, ns in self.finalizers.items():
            by_function[each.file, each.function] += ns
        if max(by_function.values(), default=0) < _MOSTLY * collected_ns:
            return None
        return Culprit(max(self.finalizers, key=lambda each: self.finalizers[each]))

    def _rest_of(
        self, sample: Sample, told: Sample, rest_ns: float, ran: float
    ) -> list[_Piece] | None:
        """Return the list for time in which a thread in a turn neither ran nor was ready."""
        is_others = sample.other_ns > 0 and sample.other_ns >= _OTHERS * rest_ns
        if told.waits and is_others and sample.is_after_gap:
            # The thread may have waited for what it called, or for the interpreter.
            return None
        if told.waits and ran < _MOSTLY:
            return self.waiting
        if is_others:
            return self.others[sample.other]
        return self.idle if ran < _HARDLY and told.stack else None

    def _times(self, sample: Sample, first_ns: int, last_ns: int) -> tuple[float, float, float]:
        """Return the length of a part of a sample without stops, and its run and ready times."""
        spans = (*self.stops, *self.collections)
        covers_ns = sample.covers_ns - _overlap(spans, sample.begin_ns, sample.at_ns)
        part_ns = last_ns - first_ns - _overlap(spans, first_ns, last_ns)
        if covers_ns <= 0 or part_ns <= 0:
            return 0, 0, 0
        collected_ns = _overlap(self.collections, sample.begin_ns, sample.at_ns)
        scale = part_ns / covers_ns
        run_ns = max(sample.executed_ns - collected_ns, 0) * scale
        ready_ns = sample.ready_ns * scale
        less = min(1.0, part_ns / (run_ns + ready_ns)) if run_ns + ready_ns else 1.0
        return part_ns, run_ns * less, ready_ns * less

    def _starved_collecting(self, sample: Sample, first_ns: int, last_ns: int) -> float:
        """Return for how long a thread, while it collected, was ready without a processor.

        That is as much of such a time as the rest of the sample is too short for.
        """
        collected_ns = _overlap(self.collections, sample.begin_ns, sample.at_ns)
        spans_ns = collected_ns + _overlap(self.stops, sample.begin_ns, sample.at_ns)
        starved_ns = min(sample.ready_ns - (sample.covers_ns - spans_ns), collected_ns)
        if starved_ns <= 0:
            return 0
        return starved_ns * _overlap(self.collections, first_ns, last_ns) / collected_ns

    def lateness(self) -> Lateness:
        begin_ns, end_ns = self.begin_ns, self.end_ns
        shares: list[LatenessShare] = []
        if stopped_ns := _overlap(self.stops, begin_ns, end_ns):
            shares.append(LatenessShare(Cause.STOPPED, None, stopped_ns, 0))
        collected_ns = _overlap(self.collections, begin_ns, end_ns) + _sum(self.collecting)
        if collected_ns:
            looks = _looks(self.collecting)
            culprit = self._collector(collected_ns)
            ns = collected_ns - round(self.starved_ns)
            shares.append(LatenessShare(Cause.GARBAGE_COLLECTION, culprit, ns, looks))
        if self.ready:
            shares.append(
                LatenessShare(Cause.PROCESSOR, None, _sum(self.ready), _looks(self.ready))
            )
        families: list[LatenessShare] = []
        if _is_many_short(self.computing):
            parts = {(piece.turn, piece.sample.form.part) for piece in self.computing}
            families = [
                LatenessShare(
                    Cause.MANY_SHORT, share.culprit, share.ns, share.samples, name=share.name
                )
                for share in _shares(self.computing, are_waits=False)
                if share.cause is not Cause.UNKNOWN
            ]
            total_ns = _sum(self.computing)
            shares.append(
                LatenessShare(
                    Cause.MANY_SHORT, None, total_ns, _looks(self.computing), calls=len(parts)
                )
            )
        else:
            shares += _shares(self.computing, are_waits=False)
        is_wait = _sum(self.idle) >= _LONG_WAIT * (end_ns - begin_ns)
        if self.idle and is_wait and _looks(self.idle) >= _WAIT_LOOKS:
            self.waiting += self.idle
        else:
            self.unknown_ns += _sum(self.idle)
        shares += _shares(self.waiting, are_waits=True)
        for other, pieces in self.others.items():
            thread, _, place = other.partition(": ")
            culprit = Culprit(Place.of(place), thread=thread) if place else None
            shares.append(
                LatenessShare(Cause.GIL, culprit, _sum(pieces), _looks(pieces), name=thread)
            )
        unknown_ns = self.unknown_ns + sum(s.ns for s in shares if s.cause is Cause.UNKNOWN)
        shares = _merged([s for s in shares if s.ns > 0 and s.cause is not Cause.UNKNOWN])
        shares.sort(key=lambda share: -_weight(share))
        families.sort(key=lambda share: -share.ns)
        named = tuple(shares), tuple(families)
        return Lateness(begin_ns, end_ns, *named, self.looks, round(unknown_ns))


def _apart(spans: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """Return the parts of spans outside of others, without counting any time twice."""
    found: list[Span] = []
    reached_ns = 0
    for span in sorted(spans, key=attrgetter("begin_ns")):
        reached_ns = max(reached_ns, span.begin_ns)
        for other in others:
            if reached_ns < other.end_ns and other.begin_ns < span.end_ns:
                if reached_ns < other.begin_ns:
                    found.append(Span(reached_ns, other.begin_ns))
                reached_ns = other.end_ns
        if reached_ns < span.end_ns:
            found.append(Span(reached_ns, span.end_ns))
            reached_ns = span.end_ns
    return found


def _overlap(spans: Iterable[Span], begin_ns: int, end_ns: int) -> int:
    """Return how much of a stretch lies within spans, which do not overlap."""
    return sum(max(0, min(span.end_ns, end_ns) - max(span.begin_ns, begin_ns)) for span in spans)


def _put(pieces: list[_Piece], sample: Sample, ns: float, turn: int) -> None:
    if ns > 0:
        pieces.append(_Piece(sample, ns, turn))


def _sum(pieces: Iterable[_Piece]) -> int:
    return round(sum(piece.ns for piece in pieces))


def _looks(pieces: Iterable[_Piece]) -> int:
    return len({piece.sample.at_ns for piece in pieces if piece.sample.is_look})


def _merged(shares: list[LatenessShare]) -> list[LatenessShare]:
    found: dict[object, LatenessShare] = {}
    for share in shares:
        culprit = share.culprit
        key: object = (share.cause, None, None, share.name)
        if culprit is not None:
            place = culprit.place
            key = (share.cause, place.file, place.function, culprit.task, culprit.thread)
        former = found.get(key)
        if former is None:
            found[key] = share
            continue
        larger = share if share.ns > former.ns else former
        found[key] = LatenessShare(
            larger.cause,
            larger.culprit,
            share.ns + former.ns,
            share.samples + former.samples,
            larger.stack,
            larger.calls,
            larger.name,
            share.is_after and former.is_after,
            larger.kind,
        )
    return list(found.values())


# ------------------------------------------------------------------- computing


def _is_many_short(pieces: Sequence[_Piece]) -> bool:
    by_part: dict[tuple[int, int], float] = defaultdict(float)
    for piece in pieces:
        sample = piece.sample
        if sample.kind is CallKind.FRAME:
            return False
        # A gap may contain any number of calls, unless it is known that this call caused it by
        # running.
        has_kept = sample.is_afterwards and sample.executed_ns >= _MOSTLY * sample.covers_ns
        is_one = has_kept or not sample.is_after_gap
        by_part[piece.turn, sample.form.part] += piece.ns if is_one else 0
    looks = _looks(pieces)
    return (
        looks >= _LEAST_SAMPLES
        and len(by_part) >= _DIFFERENT * looks
        and max(by_part.values()) <= _SHORT * _sum(pieces)
    )


def _shares(pieces: Iterable[_Piece], *, are_waits: bool) -> list[LatenessShare]:
    by_call: dict[tuple[CallKind, str], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        by_call[piece.sample.kind, piece.sample.name].append(piece)
    shares = []
    for (kind, name), mine in by_call.items():
        for place, group, stack in _functions(mine, splits=are_waits or kind is CallKind.FRAME):
            ns, looks = _sum(group), _looks(group)
            if place is None:
                # Only its time is known: no sample has a stack.
                shares.append(LatenessShare(Cause.UNKNOWN, None, ns, looks))
                continue
            cause, what, is_after = _COMPUTING[kind], "", False
            if are_waits:
                cause, whats = Cause.BLOCKING_CALL, {_what(piece.sample.stack) for piece in group}
                what = whats.pop() if len(whats) == 1 else ""
            else:
                is_after = all(piece.sample.is_afterwards for piece in group)
            culprit = Culprit(place, _task(kind, name), what=what)
            shares.append(
                LatenessShare(
                    cause, culprit, ns, looks, stack, name=name, is_after=is_after, kind=kind
                )
            )
    return shares


def _task(kind: CallKind, name: str) -> str | None:
    return (name or None) if kind is CallKind.TASK else None


def _what(stack: Sequence[str]) -> str:
    """Return the innermost function of a library that a stack ends in, rather a public one."""
    called: list[str] = []
    for place in map(Place.of, reversed(stack)):
        if place.file != "<built-in>" and not is_library(place):
            break
        called.append(place.function)
        if not place.function.rpartition(".")[2].startswith("_") or place.file == "<built-in>":
            return place.function
    return called[0] if called else ""


def is_library(place: Place) -> bool:
    file = place.file.replace("\\", "/")
    is_builtin = file.startswith(("<", "node:")) and file not in {"<string>", "<stdin>"}
    return is_builtin or any(part in file for part in _LIBRARIES)


def is_finalizer(place: Place) -> bool:
    """Return whether a function destroys an object, as garbage collections call it."""
    return place.function.rpartition(".")[2] == "__del__"


def _is_engines(place: Place) -> bool:
    return _ENGINE.search(place.file.replace("\\", "/")) is not None


def own_places(stack: Sequence[str]) -> list[Place]:
    """Return the places that can be named: those of the program that its loop calls.

    If there are none, those of libraries; never our own code that calls the callbacks of a scene.
    """
    places = places_below_loop(stack)
    own = [place for place in places if not is_library(place)]
    named = [place for place in own or places if _is_named(place)]
    return named or own or places


def places_below_loop(stack: Sequence[str]) -> list[Place]:
    places = [Place.of(text) for text in stack]
    places = [place for place in places if place.file != "<built-in>"]
    is_engines = [_is_engines(place) for place in places]
    while is_engines and is_engines[-1]:
        is_engines.pop()
    if len(is_engines) < len(places):
        if not any(is_engines):
            return []
        del places[len(is_engines) :]
    for index in range(len(places) - 1, -1, -1):
        if _is_loops(places[index]) or is_engines[index]:
            below = places[index + 1 :]
            if below:
                places = below
            break
    return places


def _is_loops(place: Place) -> bool:
    return place.file.replace("\\", "/").endswith(_LOOP_FILES)


def loop_file(stack: Sequence[str]) -> str:
    """Return the file of the library whose loop made a call, empty if that is not known."""
    places = map(Place.of, reversed(stack))
    return next((each.file.replace("\\", "/") for each in places if _is_loops(each)), "")


def _is_named(place: Place) -> bool:
    """Return whether a place is a named function, not an anonymous part of one."""
    name = place.function.rpartition(".")[2]
    return name == "<module>" or not name.startswith("<")


class _Seen(Struct):
    piece: _Piece
    places: list[Place]


def _functions(
    pieces: Iterable[_Piece], *, splits: bool
) -> list[tuple[Place | None, list[_Piece], tuple[str, ...]]]:
    """Return the functions that account for pieces, each with its pieces and commonest stack.

    Several functions are named only if ``splits`` is true, and none has most of the time.
    """
    known, unknown = [], []
    for piece in pieces:
        if piece.sample.stack:
            known.append(_Seen(piece, own_places(piece.sample.stack)))
        else:
            unknown.append(piece)
    found: list[tuple[Place | None, list[_Piece], tuple[str, ...]]] = []
    if known:
        found += _descended(known, 0, splits=splits)
    if unknown:
        found.append((None, unknown, ()))
    return found


def _descended(
    seen: list[_Seen], depth: int, *, splits: bool
) -> list[tuple[Place | None, list[_Piece], tuple[str, ...]]]:
    """Follow the calls from a common depth down to the function with nearly all of the time."""
    total_ns = _time_of(seen)
    inner = seen
    while True:
        children: dict[tuple[str, str], list[_Seen]] = defaultdict(list)
        for each in inner:
            if len(each.places) > depth:
                place = each.places[depth]
                children[place.file, place.function].append(each)
        best = max(children.values(), key=_time_of, default=None)
        if best is None or _time_of(best) < _INNER_SHARE * total_ns:
            break
        inner = best
        depth += 1
    taken = {id(each) for each in inner}
    rest = [each for each in seen if id(each) not in taken]
    if rest and _time_of(rest) < (1 - _INNER_SHARE) / 2 * total_ns:
        inner, rest = seen, []
    parts = [mine for mine in children.values() if _time_of(mine) >= _PART_SHARE * total_ns]
    found = []
    if len(parts) > 1 and (splits or not depth):
        for mine in parts:
            found += _descended(mine, depth + 1, splits=splits)
            taken = {id(each) for each in mine}
            inner = [each for each in inner if id(each) not in taken]
    if inner:
        found.append(_named(inner, depth))
    if rest:
        found += _descended(rest, 0, splits=splits)
    return found


def _time_of(seen: Iterable[_Seen]) -> float:
    return sum(each.piece.ns for each in seen)


def _named(seen: list[_Seen], depth: int) -> tuple[Place | None, list[_Piece], tuple[str, ...]]:
    """Return the function at a depth that has most of the time, at its commonest line."""
    pieces = [each.piece for each in seen]
    lines: dict[Place, float] = defaultdict(float)
    stacks: dict[tuple[str, ...], float] = defaultdict(float)
    for each in seen:
        if len(each.places) >= depth > 0:
            lines[each.places[depth - 1]] += each.piece.ns
            stacks[each.piece.sample.stack] += each.piece.ns
    if not lines:
        return None, pieces, ()
    by_function: dict[tuple[str, str], float] = defaultdict(float)
    for place, ns in lines.items():
        by_function[place.file, place.function] += ns
    file, function = max(by_function, key=lambda key: by_function[key])
    mine = {p: ns for p, ns in lines.items() if (p.file, p.function) == (file, function)}
    return max(mine, key=lambda p: mine[p]), pieces, max(stacks, key=lambda s: stacks[s])
