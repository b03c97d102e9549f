"""Compares two runs of a scene event by event, and finds their first difference."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import count
from typing import Final, TypeAlias, cast, overload

from msgspec import Struct
from typing_extensions import override

from inspector.events.log import EventLog
from inspector.events.member_names import MemberNames
from inspector.events.schema import (
    ABOUT_FIELDS,
    ABOUT_TIMERS,
    ADDED,
    CALLS,
    FAILURES,
    FIRINGS,
    FRAME_ENDS,
    FRAME_STARTS,
    MEASURED,
    MEASURED_A,
    MEASURED_B,
    PHASE_ENDS,
    SCHEMA,
    TEXT_FIELDS,
    TEXT_IN_A,
    TEXT_IN_B,
    Unit,
)
from inspector.events.sentences import describe
from inspector.timebase import format_instant
from inspector.vocabulary import Phase, RawEvent, what_was_raised

#: An event as it is compared: with texts instead of their numbers, without measured values.
Row: TypeAlias = tuple[int, int, int, int | str, int | str]

#: Events to compare at once, in a few milliseconds.
_ROWS_IN_A_STEP: Final = 2_000

#: Kinds of events that have neither texts nor measured numbers.
_AS_THEY_ARE: Final = frozenset(map(int, SCHEMA)).difference(
    *(PHASE_ENDS, ABOUT_FIELDS, TEXT_IN_A, TEXT_IN_B, MEASURED_A, MEASURED_B)
)
#: The name of the error that Python raises when calls go too deep.
_DEEP: Final = RecursionError.__name__


def compared(event: RawEvent, strings: Sequence[str]) -> Row | None:
    """Return an event without measured values; ``None`` when all of it is measured."""
    at_ns, kind, subject, a, b = event
    if kind in _AS_THEY_ARE:
        return event
    if kind in MEASURED or (kind in PHASE_ENDS and subject == Phase.TIMERS):
        # Whether there is such an event depends on what was, or could be, measured.
        return None
    if kind in ABOUT_FIELDS:
        return (at_ns, kind, subject, a, strings[b] if a in TEXT_FIELDS else b)
    first: int | str = a
    second: int | str = b
    if kind in TEXT_IN_A:
        first = strings[a]
    elif kind in MEASURED_A:
        first = 0
    if kind in TEXT_IN_B:
        second = strings[b]
        if kind in FAILURES and _DEEP in second:
            # The depth of the stack, and so the text, also depends on the code that ran the scene.
            second = what_was_raised(second).partition(":")[0]
    elif kind in MEASURED_B:
        second = 0
    return (at_ns, kind, subject, first, second)


def digest_of(events: Iterable[RawEvent], strings: Sequence[str]) -> str:
    """Return a digest that is equal for equal runs."""
    from hashlib import blake2b  # noqa: PLC0415 - not in the window: OpenSSL comes with it

    digest = blake2b(digest_size=16)
    for event in events:
        row = compared(event, strings)
        if row is not None:
            digest.update(repr(row).encode())
    return digest.hexdigest()


class ReplayDifference(Struct, frozen=True):
    at_ns: int
    frame: int  # How many frames had begun
    expected: str
    found: str
    label: str  # The callback in which it happened, empty if unknown

    def __str__(self) -> str:
        where = f" in “{self.label}”" if self.label else ""
        text = (
            f"At {format_instant(self.at_ns)}, after {self.frame:,} "
            f"{'frame' if self.frame == 1 else 'frames'}{where}: expected “{self.expected}”, found "
            f"“{self.found}”."
        )
        if self.label:
            text += (
                f" Does “{self.label}” use the time of day, its own random numbers or state "
                "outside the scene? Use clocks for time and stage.random for random numbers."
            )
        return text


class RunEvents(Struct, frozen=True):
    events: Sequence[RawEvent]
    strings: Sequence[str]  # The texts of the events
    lost: int = 0  # How many older events are lost


class LogEvents(Sequence[RawEvent]):
    """The events of a log up to its present end, read a few thousand at a time."""

    def __init__(self, log: EventLog, end: int | None = None) -> None:
        self._log = log
        self._first, self._end = log.first, log.end if end is None else end

    @override
    def __len__(self) -> int:
        return self._end - self._first

    @override
    def __iter__(self) -> Iterator[RawEvent]:
        for at in range(self._first, self._end, _ROWS_IN_A_STEP):
            yield from self._log.slice(at, min(at + _ROWS_IN_A_STEP, self._end))

    @overload
    def __getitem__(self, index: int) -> RawEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[RawEvent]: ...
    @override
    def __getitem__(self, index: int | slice) -> RawEvent | list[RawEvent]:
        return self._log.slice(self._first, self._end)[index]


def first_difference(
    expected: RunEvents, found: RunEvents, *, may_go_on: RunEvents | None = None
) -> ReplayDifference | None:
    """Return where two runs first differ, ``None`` if they do not.

    If the oldest events of a run are lost, both are compared from the first frame that both have.

    Args:
        may_go_on: The run that may continue after the other one has ended, because that was
            interrupted; by default both must end together.
    """
    steps = difference_steps(expected, found, may_go_on=may_go_on)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return cast("ReplayDifference | None", done.value)


def difference_steps(
    expected: RunEvents, found: RunEvents, *, may_go_on: RunEvents | None
) -> Generator[None, None, ReplayDifference | None]:
    """Find the first difference, a few thousand events at a time."""
    start = _first_common_frame(expected, found) if expected.lost or found.lost else -1
    ours, theirs = _rows(expected, start), _rows(found, start)
    frame = 0
    for turn in count(1):
        if not turn % _ROWS_IN_A_STEP:
            yield
        one, other = next(ours, None), next(theirs, None)
        if one is None and (other is None or may_go_on is found):
            return None
        if other is None and may_go_on is expected:
            return None
        if one is not None and other is not None and one[1] == other[1]:
            if one[0][1] in FRAME_STARTS:
                frame = one[0][3] + 1
            continue
        known = one or other
        assert known is not None
        return ReplayDifference(
            at_ns=known[0][0],
            frame=frame,
            expected=_words(one, expected),
            found=_words(other, found),
            label=_label_at(found if one is None else expected, known[2]),
        )
    raise AssertionError


def _rows(run: RunEvents, first_frame: int) -> Iterator[tuple[RawEvent, Row, int]]:
    is_begun = first_frame < 0
    for index, event in enumerate(run.events):
        if not is_begun:
            is_begun = event[1] in FRAME_STARTS and event[3] >= first_frame
            if not is_begun:
                continue
        row = compared(event, run.strings)
        if row is not None:
            yield event, row, index


def _first_common_frame(expected: RunEvents, found: RunEvents) -> int:
    firsts = [
        next((event[3] for event in run.events if event[1] in FRAME_STARTS), 0)
        for run in (expected, found)
    ]
    return max(firsts)


def _words(one: tuple[RawEvent, Row, int] | None, run: RunEvents) -> str:
    if one is None:
        return "nothing"
    event = one[0]
    text = describe(event, run.strings)
    # The sentence on the addition of a timer has its name already.
    is_named = event[1] in ABOUT_TIMERS and event[1] != ADDED[Unit.TIMER]
    name = _timer_name(run, event[2]) if is_named else ""
    return f"{text} (“{name}”)" if name else text


def _label_at(run: RunEvents, index: int) -> str:
    """Return the name of the callback in which an event happened.

    In a frame, it is the callback whose call ends next; outside of frames, the timer that fired
    last; before any of them, ``build``.
    """
    events = run.events
    for event in reversed(events[:index]):
        if event[1] in FIRINGS:
            return _timer_name(run, event[2])
        if event[1] in FRAME_STARTS:
            break
        if event[1] in FRAME_ENDS:
            return ""
    else:
        # No callback has been called yet.
        return "" if run.lost else "build"
    for place, event in enumerate(events[index:], index):
        if event[1] in CALLS:
            return _member_name(run, event[2], place)
        if event[1] in FRAME_ENDS:
            break
    return ""


def _timer_name(run: RunEvents, number: int) -> str:
    found = (event for event in run.events if event[1] == ADDED[Unit.TIMER] and event[2] == number)
    event = next(found, None)
    return "" if event is None else run.strings[event[4]]


def _member_name(run: RunEvents, number: int, end: int) -> str:
    names = MemberNames(run.strings)
    for event in run.events[:end]:
        names.note(event)
    return names.name_of(number)
