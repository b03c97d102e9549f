"""The values of a timeline: the state of a clock, a failure, a mark, a command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final, Generic, TypeVar, overload

from msgspec import Struct, field
from typing_extensions import override

from inspector.clocks.rate import D
from inspector.vocabulary import what_was_raised

_MOST_ABOVE: Final = 3
#: What follows the name of a program in the mark that says that it was detached.
_DETACHED: Final = "” is no longer attached: "


class ClockState(Struct):
    id: int
    name: str
    parent_id: int  # The clock above, 0 for the root
    rate_n: int  # Its rate over the fixed denominator, kept while paused
    n: int
    off: int  # Offset of the mapping, see inspector.clocks.rate
    created_ns: int
    children: list[int] = field(default_factory=list)
    paused: bool = False  # Whether the clock itself is paused
    paused_since_ns: int = 0  # Session time since which it stands still itself
    pause_cause: int = 0  # Number of the command that paused it, 0 for the program
    pending: int = 0  # Number of timers that wait on it

    @property
    def rate(self) -> Fraction:
        """Local seconds per parent second, kept while paused."""
        return Fraction(self.rate_n, D)

    def copy(self) -> ClockState:
        return ClockState(
            self.id,
            self.name,
            self.parent_id,
            self.rate_n,
            self.n,
            self.off,
            self.created_ns,
            list(self.children),
            self.paused,
            self.paused_since_ns,
            self.pause_cause,
            self.pending,
        )


class ClockName(Struct, frozen=True):
    name: str
    parent_id: int  # The clock above, 0 for the root


def names_apart(clocks: Mapping[int, ClockState | ClockName]) -> dict[int, str]:
    """Return names that tell clocks apart: those that share one follow the names of clocks above.

    Of the workers of a server, each has a loop of the same name: ``server, child 2 › asyncio
    loop``. At most three names stand before it. Clocks of one name below the same clock keep it.
    """
    names = {number: clock.name for number, clock in clocks.items()}
    above = {number: clock.parent_id for number, clock in clocks.items()}
    for _ in range(_MOST_ABOVE):
        counts = Counter(name for name, _ in {(names[n], above[n]) for n in names})
        shared = [n for n, name in names.items() if counts[name] > 1 and above[n] in clocks]
        for number in shared:
            parent = clocks[above[number]]
            names[number] = f"{parent.name} › {names[number]}"
            above[number] = parent.parent_id
        if not shared:
            break
    return names


class SeenClocks:
    """The names of all clocks of a session, also of those that are gone."""

    def __init__(self, strings: Sequence[str], present: Iterable[ClockState]) -> None:
        self._strings = strings
        self._clocks = {each.id: ClockName(each.name, each.parent_id) for each in present}

    @property
    def names_apart(self) -> dict[int, str]:
        return names_apart(self._clocks)

    def _on_clock_added(self, _at_ns: int, clock_id: int, above: int, name: int) -> None:
        self._clocks[clock_id] = ClockName(self._strings[name], above)

    def _on_clock_moved(self, _at_ns: int, clock_id: int, above: int, _b: int) -> None:
        if clock_id in self._clocks:
            self._clocks[clock_id] = ClockName(self._clocks[clock_id].name, above)


class StoppedClock(Struct, frozen=True):
    """A clock that makes another stand still."""

    clock_id: int
    clock_name: str
    since_ns: int  # Session time at which it stopped
    is_own: bool  # Whether it is the requested clock itself
    is_rate_zero: bool  # The rate is 0; the clock is not paused
    cause: int  # Number of the command that paused it, 0 for the program
    is_detached: bool = False  # It stands still because its program is no longer attached

    @property
    def what(self) -> str:
        """What it is in a few words: paused, at another rate, or no longer attached."""
        if self.is_detached:
            return "no longer attached"
        return "rate 0" if self.is_rate_zero else "paused"


class Failure(Struct, frozen=True):
    at_ns: int
    frame: int  # Index of the running or next frame
    label: str
    traceback: str  # As Python prints it
    timer_id: int  # The timer, 0 for a frame callback

    @property
    def raised(self) -> str:
        """Type and message of what was raised, in a line."""
        return what_was_raised(self.traceback)


def detached_text(name: str, how: str) -> str:
    """Return the text of the mark on a program's clock that says that it was detached."""
    return f"“{name}{_DETACHED}{how}."


class Mark(Struct, frozen=True):
    """An instant marked by the program or the user; on no clock if ``clock_id`` is 0."""

    at_ns: int
    text: str
    clock_id: int

    @property
    def is_of_detached(self) -> bool:
        return _DETACHED in self.text


class CommandRecord(Struct, frozen=True):
    at_ns: int
    number: int  # Its number, the cause of its effects
    text: str  # The command in words
    refusal: str  # Reason of a refusal, otherwise empty
    clock_id: int = 0
    local_ns: int = 0  # Local time of that clock, or of the root clock
    host_ms: int = 0  # Time of day, milliseconds since 1970; 0 if unknown
    by: str = ""  # Where it came from
    frame: int = 0  # Index of the running or next frame
    form: str = ""  # The command as JSON, see inspector.commands; empty if unknown

    @property
    def line(self) -> str:
        """The command with where it came from, and why it was refused."""
        by = f"{self.by}: " if self.by else ""
        return f"{by}{self.text}{f' (refused: {self.refusal})' if self.refusal else ''}"


class Held(Struct, frozen=True):
    """An instant at which session time stopped."""

    at_ns: int  # Session time, which does not pass until time continues


class BreakHit(Struct, frozen=True):
    at_ns: int
    number: int  # Number of the breakpoint
    text: str  # The condition and what happened, in words
    frame: int  # Index of the frame that caused it


_T = TypeVar("_T")


class SharedList(Sequence[_T], Generic[_T]):
    """A list whose copies share what they have in common, as frames do.

    A copy costs nothing, and original and copy may continue differently. So hundreds of past
    states can be kept of a scene that makes a mark in every frame.
    """

    __slots__ = ("_is_own", "_items", "_length")

    def __init__(self) -> None:
        # Items beyond the length belong to a copy that has continued.
        self._items: list[_T] = []
        self._length = 0
        self._is_own = True

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> _T: ...
    @overload
    def __getitem__(self, place: slice) -> list[_T]: ...
    @override
    def __getitem__(self, place: int | slice) -> _T | list[_T]:
        if isinstance(place, slice):
            return self._items[slice(*place.indices(self._length))]
        return self._items[range(self._length)[place]]

    def __setitem__(self, place: int, value: _T) -> None:
        """Replace an item; copies keep theirs."""
        if not self._is_own:
            self._items, self._is_own = self._items[: self._length], True
        self._items[range(self._length)[place]] = value

    @override
    def __iter__(self) -> Iterator[_T]:
        return islice(self._items, self._length)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def append(self, value: _T) -> None:
        items, length = self._items, self._length
        if len(items) > length and items[length] != value:
            self._items, self._is_own = items[:length], True
            items = self._items
        if len(items) == length:
            items.append(value)
        self._length += 1

    def copy(self) -> SharedList[_T]:
        twin: SharedList[_T] = SharedList()
        twin._items, twin._length = self._items, self._length
        self._is_own = twin._is_own = False
        return twin
