"""The data of one lane in append-only columns: instants, and steps between states.

Queries use bisection, and count the records of each column of pixels, so their cost is the length
of the answer times the logarithm of the length of the column.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, Literal, Protocol, runtime_checkable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.lanes.spans import Spans
from inspector.analysis.statistics.pyramid import Pyramid
from inspector.events.timer_table import RowByNumber

#: Nanoseconds or numbers, one per record.
NsColumn = np.ndarray[tuple[int], np.dtype[np.int64]]


def view_of(column: array[int]) -> NDArray[np.int64]:
    """Return a view of a column; drop it before appending to the column."""
    return np.frombuffer(column, dtype=np.int64) if column else np.zeros(0, dtype=np.int64)


def found_in(
    column: array[int], instants_ns: NDArray[np.int64], side: Literal["left", "right"] = "left"
) -> NDArray[np.int64]:
    """Return the places of ascending instants in a column that has few values between them."""
    first = bisect_left(column, int(instants_ns[0]))
    last = bisect_right(column, int(instants_ns[-1]))
    between = view_of(column)[first:last]
    if len(between) > len(instants_ns) // 2:
        return first + between.searchsorted(instants_ns, side)
    # Finding each value among the instants takes less time than finding the instants.
    behind = instants_ns.searchsorted(between, "right" if side == "left" else "left")
    counts: NDArray[np.int64] = np.bincount(behind, minlength=len(instants_ns) + 1)
    return first + counts[:-1].cumsum()


class Instants:
    __slots__ = ("_pyramid", "at_ns", "highest", "subject", "value")

    def __init__(self) -> None:
        self.at_ns = array("q")
        self.value = array("q")  # The lateness or the duration of each, in nanoseconds
        self.subject = array("q")  # The subject of each: a timer, a member, an index in a list
        self.highest = 0  # The highest value
        self._pyramid: Pyramid | None = None

    def __len__(self) -> int:
        return len(self.at_ns)

    def append(self, at_ns: int, value: int, subject: int) -> None:
        self.at_ns.append(at_ns)
        self.value.append(value)
        self.subject.append(subject)
        if value > self.highest:  # noqa: PLR1730 - a call of max would take twice as long
            self.highest = value

    def within(self, low_ns: float, high_ns: float) -> tuple[int, int]:
        """Return the range of indices from ``low_ns`` up to, not including, ``high_ns``."""
        return bisect_left(self.at_ns, low_ns), bisect_left(self.at_ns, high_ns)

    def has_any(self, low_ns: float, high_ns: float) -> bool:
        at_ns = self.at_ns
        place = bisect_left(at_ns, low_ns)
        return place < len(at_ns) and at_ns[place] < high_ns

    def before(self, edges_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many events lie before each edge."""
        return found_in(self.at_ns, edges_ns)

    def maxima(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._pyramid is None:
            self._pyramid = Pyramid()
        known = len(self._pyramid)
        if known < len(self):
            self._pyramid.extend(view_of(self.value)[known:])
        found = self._pyramid.stretches(view_of(self.value), places)
        return np.where(found.counts > 0, found.maxima, 0)

    def nearest(self, at_ns: float, within_ns: float) -> int | None:
        """Return the index of the event nearest to an instant, if it is near enough."""
        place = bisect_left(self.at_ns, at_ns)
        near = [each for each in (place - 1, place) if 0 <= each < len(self)]
        best = min(near, key=lambda each: abs(self.at_ns[each] - at_ns), default=None)
        if best is None or abs(self.at_ns[best] - at_ns) > within_ns:
            return None
        return best


#: Ended timers are removed when they are this many more than the pending ones.
_MOST_ENDED = 64
#: The last answer of ``first``: the version, how many timers were wanted, and those found.
_NOTHING_FOUND: Final[tuple[int, int, list[int]]] = (-1, 0, [])


class PendingTimers:
    __slots__ = ("_first", "_found", "_lane_by_timer", "_lanes", "_numbers", "count", "version")

    def __init__(self, lane_by_timer: RowByNumber, *lanes: int) -> None:
        self._lane_by_timer = lane_by_timer  # The lane of each pending timer, by its number
        self._lanes = set(lanes)  # The lanes whose timers belong here
        self.count = 0
        self.version = 0  # Increases when a timer is added or ends
        # Ended timers stay here for a while, because finding each would take too long.
        self._numbers = array("q")
        self._first = 0  # All timers before this place have ended
        self._found = _NOTHING_FOUND

    def __len__(self) -> int:
        return self.count

    def __contains__(self, timer_id: int) -> bool:
        return self._lane_by_timer.get(timer_id) in self._lanes

    def first(self, most: int) -> list[int]:
        version, asked, found = self._found
        if version == self.version and (most <= asked or len(found) < asked):
            return found[:most]
        found = []
        numbers, place = self._numbers, self._first
        while place < len(numbers) and len(found) < most:
            if numbers[place] in self:
                found.append(numbers[place])
            place += 1
        # Move the timers found behind the ended ones, so that these are skipped only once.
        self._first = place - len(found)
        numbers[self._first : place] = array("q", found)
        self._found = self.version, most, found
        return found[:]

    def newest(self) -> int:
        """Return the timer added last, 0 for none."""
        numbers = self._numbers
        while len(numbers) > self._first:
            if numbers[-1] in self:
                return numbers[-1]
            numbers.pop()
        return 0

    def add(self, timer_id: int) -> None:
        self.count += 1
        self.version += 1
        self._numbers.append(timer_id)

    def add_all(self, timer_ids: NDArray[np.int64]) -> None:
        self.count += len(timer_ids)
        self.version += len(timer_ids)
        self._numbers.frombytes(timer_ids.tobytes())

    def note_end(self) -> None:
        self.count -= 1
        self.version += 1
        if len(self._numbers) > 2 * self.count + _MOST_ENDED:
            self._numbers = array("q", filter(self.__contains__, self._numbers))
            self._first = 0

    def join(self, other: PendingTimers) -> None:
        self._lanes |= other._lanes
        for timer_id in other._numbers[other._first :]:
            if timer_id in other:
                self.add(timer_id)

    def clear(self) -> None:
        self.count = self._first = 0
        self.version += 1
        self._numbers = array("q")


class Levels(Struct, frozen=True, eq=False):
    clock_id: int
    label: str  # The name of the counter
    unit: str
    at_ns: NDArray[np.int64]  # Instants, in order
    value: NDArray[np.float64]  # The value from then on

    @property
    def edges(self) -> tuple[float, float]:
        """The lowest and the highest value, and 0."""
        return min(0.0, float(self.value.min())), max(0.0, float(self.value.max()))

    def place_at(self, at_ns: float) -> int:
        return int(np.searchsorted(self.at_ns, at_ns, side="right")) - 1

    def highest(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the highest value from each instant to the next; NaN before the first value."""
        if not len(self.value):
            return np.full(len(edges_ns) - 1, np.nan)
        places = np.searchsorted(self.at_ns, edges_ns, side="right") - 1
        begins = np.maximum(places[:-1], 0)
        stretches = np.stack((begins, np.maximum(places[1:], begins) + 1), axis=1).ravel()
        # The last stretch may end after the last value.
        values = np.append(self.value, -np.inf)
        found = np.maximum.reduceat(values, stretches)[::2]
        found[places[1:] < 0] = np.nan
        return found

    def text_of(self, value: float) -> str:
        return f"{value:,.6g} {self.unit}".rstrip()


@runtime_checkable
class KnownPast(Protocol):
    """A past whose counters and slices are known as a whole."""

    @property
    def levels(self) -> Sequence[Levels]:
        """The values of each counter."""

    @property
    def spans(self) -> Sequence[Spans]:
        """The slices of each thread."""

    @property
    def opened(self) -> int:
        """The cursor after which all events are about frames and slices."""


class Steps:
    """States in order, each until the next begins."""

    __slots__ = ("at_ns", "cause", "value")

    def __init__(self) -> None:
        self.at_ns = array("q")  # Session time at which each began
        self.value = array("q")  # A state (sid) or a rate; below 0 after the end
        self.cause = array("q")  # The transition (sid) or command that led there; 0 for none

    def __len__(self) -> int:
        return len(self.at_ns)

    def append(self, at_ns: int, value: int, cause: int) -> None:
        self.at_ns.append(at_ns)
        self.value.append(value)
        self.cause.append(cause)

    def place_at(self, at_ns: float) -> int:
        return bisect_right(self.at_ns, at_ns) - 1

    def within(self, low_ns: float, high_ns: float) -> tuple[int, int]:
        """Return the range of indices of the steps that overlap a stretch of time."""
        return max(self.place_at(low_ns), 0), bisect_left(self.at_ns, high_ns)

    def end_of(self, place: int, present_ns: int) -> int:
        following = place + 1
        return self.at_ns[following] if following < len(self) else max(present_ns, self.at_ns[-1])

    def places(self, instants_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return found_in(self.at_ns, instants_ns, side="right") - 1
