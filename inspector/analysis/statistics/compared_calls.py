"""The calls of two sessions compared, by clock and by timer."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from inspector.analysis.statistics.comparison import Change, Samples, sample_changes
from inspector.events.history import History
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from inspector.vocabulary import CALL_ENDED, CLOCK_ADDED, TIMER_ADDED, TIMER_FIRED, RawEvent

if TYPE_CHECKING:
    #: Names of the clocks from the root, and of the timer or call; empty for all of the clock.
    Key = tuple[str, str]
    #: The samples of each run before, and of each run after.
    _Sides = tuple[list[Samples], list[Samples]]

_AT_ONCE: Final = 50_000
#: Calls are counted in stretches of this many seconds.
_STRETCH_S: Final = 0.25


class CallSamples(Struct):
    # When calls were made, in session time.
    at_ns: array[int] = field(default_factory=lambda: array("q"))
    late_ns: array[int] = field(default_factory=lambda: array("q"))
    # How long calls took, if it was measured.
    took_ns: array[int] = field(default_factory=lambda: array("q"))


class CallChange(Struct, frozen=True):
    """How a number about the calls of a clock or a timer has changed."""

    clock: str  # Names of the clocks from the root
    label: str  # Name of the timer or call; empty for all of the clock
    what: str  # The name of the number
    unit: str
    change: Change  # How it has changed

    @property
    def subject(self) -> str:
        return f"{self.clock}: {self.label}" if self.label else self.clock


class SessionCalls(Struct, frozen=True):
    samples: Mapping[Key, CallSamples]  # By clock and name
    seconds: float  # How long the session was


def calls_of(
    history: History, on_progress: Callable[[float], None] = lambda _done: None
) -> SessionCalls:
    """Return the calls of a session, as far back as its events are kept.

    ``on_progress`` is called with the share that was read; if it raises, reading ends.
    """
    first, end = history.first, history.end
    fold = CallFold(history.state_before(first), history.strings)
    for start in range(first, end, _AT_ONCE):
        on_progress((start - first) / max(end - first, 1))
        fold.fold(history.events(start, min(start + _AT_ONCE, end)))
    return fold.calls(history.last_ns - history.first_ns)


class CallFold:
    """Reads events, and keeps when calls were made, how late and how long they were."""

    def __init__(self, base: Timeline, strings: Sequence[str]) -> None:
        self._strings = strings
        self._clocks: dict[int, tuple[int, str]] = {
            each.id: (each.parent_id, each.name) for each in base.clocks.values()
        }
        rows = ((number, base.timers.row(number)) for number in base.timers.ids())
        self._timers = {number: (row.clock_id, row.label) for number, row in rows}
        self._members = MemberNames(strings, base.members.by_id.values())
        self._samples: dict[tuple[int, str], CallSamples] = {}

    def fold(self, events: Iterable[RawEvent]) -> None:
        members = self._members
        for event in events:
            at_ns, kind, subject, a, b = event
            if kind == TIMER_FIRED:
                found = self._samples_of(self._timers.get(subject))
                found.at_ns.append(at_ns)
                found.late_ns.append(a)
            elif kind == CALL_ENDED:
                known = members.get(subject)
                found = self._samples_of(None if known is None else (known.clock_id, known.name))
                found.at_ns.append(at_ns)
                found.took_ns.append(b)
            elif kind == TIMER_ADDED:
                self._timers[subject] = (a, self._strings[b])
            elif kind == CLOCK_ADDED:
                self._clocks[subject] = (a, self._strings[b])
            elif kind in MEMBER_NAMING_KINDS:
                members.note(event)

    def _samples_of(self, key: tuple[int, str] | None) -> CallSamples:
        return self._samples.setdefault(key or (0, ""), CallSamples())

    def calls(self, length_ns: int) -> SessionCalls:
        """Return the calls that were read; those with the same clock and timer names are joined."""
        found: dict[Key, CallSamples] = {}
        for (clock_id, label), samples in self._samples.items():
            path = self._path(clock_id)
            for key in {(path, label), (path, "")} if path else ():
                joined = found.setdefault(key, CallSamples())
                joined.at_ns.extend(samples.at_ns)
                joined.late_ns.extend(samples.late_ns)
                joined.took_ns.extend(samples.took_ns)
        return SessionCalls(found, length_ns / NS_PER_SECOND)

    def _path(self, clock_id: int) -> str:
        names: list[str] = []
        while clock_id in self._clocks and len(names) < len(self._clocks):
            clock_id, name = self._clocks[clock_id]
            names.append(name)
        return " › ".join(reversed(names))


def call_changes(
    before: Sequence[SessionCalls],
    after: Sequence[SessionCalls],
    on_progress: Callable[[float], None] = lambda _done: None,
    pairs: int = 1,
) -> list[CallChange]:
    """Return the changes of the calls that all sessions have, by clock, then by timer.

    Args:
        on_progress: Called with the share that is done; if it raises, the comparison ends.
        pairs: How many comparisons are interpreted together.
    """
    keys = sorted(set.intersection(*({*each.samples} for each in (*before, *after))))
    numbers = [each for key in keys for each in _numbers(key, before, after)]
    found: list[CallChange] = []
    for done, (key, what, unit, samples, statistic) in enumerate(numbers):
        on_progress(done / len(numbers))
        # More or fewer calls are neither better nor worse.
        is_more_better = False if unit == "ms" else None
        (change,) = sample_changes(
            *samples,
            partial(_listed, statistic),
            is_more_better=[is_more_better],
            tests=pairs * len(numbers),
        )
        found.append(CallChange(*key, what, unit, change))
    return found


def _listed(statistic: Callable[[Samples], float], samples: Samples) -> list[float]:
    return [statistic(samples)]


def _numbers(
    key: Key, before: Sequence[SessionCalls], after: Sequence[SessionCalls]
) -> Iterator[tuple[Key, str, str, _Sides, Callable[[Samples], float]]]:
    """Yield what is compared for a name: title, unit, samples and their statistic."""
    sides = (before, after)
    former, now = ([_rates(each.samples[key], each.seconds) for each in side] for side in sides)
    yield key, "Calls", "per s", (former, now), _mean
    for what, attribute, statistic in (
        ("Lateness, P95", "late_ns", _p95),
        ("Duration, mean", "took_ns", _mean),
    ):
        former, now = (
            [_in_ms(getattr(each.samples[key], attribute)) for each in side] for side in sides
        )
        if all(map(len, (*former, *now))):
            yield key, what, "ms", (former, now), statistic


def _rates(samples: CallSamples, seconds: float) -> NDArray[np.float64]:
    at_ns = np.array(samples.at_ns, dtype=np.int64)
    count = max(int(seconds / _STRETCH_S), 1)
    stretch_ns = _STRETCH_S * NS_PER_SECOND if seconds >= _STRETCH_S else seconds * NS_PER_SECOND
    places = (at_ns // max(stretch_ns, 1)).astype(np.int64)
    inside = places[(places >= 0) & (places < count)]
    return np.bincount(inside, minlength=count) / (max(stretch_ns, 1) / NS_PER_SECOND)


def _in_ms(values: array[int]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.int64) / NS_PER_MS


def _mean(samples: NDArray[np.float64]) -> float:
    return float(samples.mean())


def _p95(samples: NDArray[np.float64]) -> float:
    return float(np.quantile(samples, 0.95, method="inverted_cdf"))
