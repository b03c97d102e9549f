"""Every frame of a session, as columns.

A running session folds events into them; a recording has them in its file and reads each when it
is asked for; a capture or an exported file is read into complete ones. Exports and statistics take
some of their frames (:mod:`inspector.formats.frame_times`), plots place them along an axis.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from msgspec import Struct

from inspector.vocabulary import Phase, Share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS: Final = ("at_ns", "interval_ns", "delta_ns", "busy_ns", "cut_ns")
_PHASES_FROM: Final = len(_COLUMNS)
_SHARES_FROM: Final = _PHASES_FROM + len(Phase)
#: The measured times of a frame without phases, and the shares of one without.
NO_SHARES: Final = (0,) * len(Share)
NO_PHASES: Final = (0,) * len(Phase)
#: Most numbers that wait to be added to the columns, in a quarter of a megabyte.
_MOST_WAITING: Final = 4_096 * _PHASES_FROM


class Frame(Struct, frozen=True):
    index: int  # Number of the frame in its session, from 0
    at_ns: int  # Session time of its start
    interval_ns: int  # The source's time since the previous frame: the frame time
    delta_ns: int  # Local time of the root that passed, as passed to the callbacks
    busy_ns: int  # Measured time in callbacks for this frame
    cut_ns: int  # Time that max_delta cut from the delta
    phases: tuple[int, ...]  # Measured time of each phase, by its code
    # Where the interval went, by code of the share; all 0 if that was not measured.
    shares: tuple[int, ...] = NO_SHARES

    @property
    def unknown_ns(self) -> int:
        """The part of the interval that is in no share."""
        return max(self.interval_ns - sum(self.shares), 0)


class StoredColumns(Protocol):
    """The columns of frames in a file, each read when it is first used."""

    @property
    def first(self) -> int: ...

    @property
    def count(self) -> int: ...

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> array[int]:
        """Return a whole column, which is kept."""

    def __iter__(self) -> Iterator[array[int]]: ...

    def part(self, number: int, low: int, high: int) -> NDArray[np.int64]:
        """Return a column from one place up to another, which is not kept."""


class FrameHistory:
    """Append-only columns of whole nanoseconds, one entry per frame.

    A million frames (four and a half hours at 60 Hz) take 136 MB. Copies share their common
    frames with the original, also when both continue with the same frames, so keeping many of
    them is cheap.

    Frames without phases and shares, as those of most attached programs, wait in one list until
    the columns are read: adding one to all columns takes five times as long.
    """

    __slots__ = ("_kept", "_length", "_waiting", "computed", "first")

    def __init__(self) -> None:
        self.first = 0  # Index of the oldest frame kept
        # Results computed from whole columns, cached as these never change; ``None`` while frames
        # may be added
        self.computed: dict[object, Any] | None = None
        self._length = 0
        # Frames beyond the length belong to a copy that has continued.
        self._kept: list[array[int]] | StoredColumns = [
            array("q") for _ in range(_SHARES_FROM + len(Share))
        ]
        self._waiting: list[int] = []

    @property
    def _columns(self) -> list[array[int]] | StoredColumns:
        waiting = self._waiting
        if waiting:
            self._waiting = []
            count = len(waiting) // _PHASES_FROM
            self._length -= count
            columns = [array("q", waiting[each::_PHASES_FROM]) for each in range(_PHASES_FROM)]
            nothing = array("q", bytes(8 * count))
            self._extend(columns + [nothing] * (len(self._kept) - _PHASES_FROM), count)
        return self._kept

    def __len__(self) -> int:
        return self._length

    @property
    def is_stored(self) -> bool:
        """Whether the frames are in a file, so that parts of them can be read alone."""
        return not isinstance(self._kept, list)

    @property
    def end(self) -> int:
        return self.first + self._length

    @property
    def at_ns(self) -> array[int]:
        """Session time of the start of each frame."""
        return self._column(0)

    @property
    def interval_ns(self) -> array[int]:
        """The source's time since the previous frame."""
        return self._column(1)

    @property
    def delta_ns(self) -> array[int]:
        """Local time of the root that passed."""
        return self._column(2)

    @property
    def busy_ns(self) -> array[int]:
        """Measured time in callbacks."""
        return self._column(3)

    @property
    def cut_ns(self) -> array[int]:
        """Time that ``max_delta`` cut from the delta."""
        return self._column(4)

    @property
    def phases(self) -> list[array[int]]:
        """A column of measured times for each phase, by its code."""
        return [self._column(_PHASES_FROM + phase) for phase in Phase]

    @property
    def shares(self) -> list[array[int]]:
        """A column of measured times for each share of the interval, by its code."""
        return [self._column(_SHARES_FROM + share) for share in Share]

    def column(self, column: str | Phase | Share) -> array[int]:
        return self._column(_number_of(column))

    def _column(self, number: int) -> array[int]:
        """Return a column; one with frames beyond the length is cut, and so copied."""
        # Called dozens of times in each refresh.
        column = (self._columns if self._waiting else self._kept)[number]
        return column if len(column) == self._length else column[: self._length]

    def began_ns(self, index: int) -> int:
        """Return when a frame began; an ``IndexError`` if it is not kept."""
        return self._columns[0][self._place(index)]

    def before_ns(self, index: int) -> int:
        """Return when the interval of a frame began, which is when the frame before it began."""
        if index > self.first:
            return self.began_ns(index - 1)
        return self.began_ns(index) - self.interval_ns[self._place(index)]

    def _place(self, index: int) -> int:
        if not self.first <= index < self.end:
            raise IndexError(f"frame {index} is not kept, only {self.first} to {self.end - 1}")
        return index - self.first

    def frame(self, index: int) -> Frame:
        i = self._place(index)
        at_ns, interval_ns, delta_ns, busy_ns, cut_ns, *rest = (
            column[i] for column in self._columns
        )
        phases, shares = tuple(rest[: len(Phase)]), tuple(rest[len(Phase) :])
        return Frame(index, at_ns, interval_ns, delta_ns, busy_ns, cut_ns, phases, shares)

    def numpy(self, column: str | Phase | Share, start: int, stop: int) -> NDArray[np.int64]:
        """Return one column for the frames ``start`` to ``stop - 1``, copied unless complete.

        Args:
            column: ``"at_ns"``, ``"interval_ns"``, ``"delta_ns"``, ``"busy_ns"``,
                ``"cut_ns"``, a phase or a share.
        """
        import numpy as np  # noqa: PLC0415 - the fold must not need numpy

        low, high = self._places(start, stop)
        values = self._columns[_number_of(column)]
        found = np.frombuffer(values, dtype=np.int64, count=high)[low:]
        if self.computed is None:
            return found.copy()
        found.flags.writeable = False
        return found

    def part(self, column: str | Phase | Share, start: int, stop: int) -> NDArray[np.int64]:
        """Return one column as :meth:`numpy` does, but cache nothing that is read from a file."""
        stored = self._columns
        if isinstance(stored, list):
            return self.numpy(column, start, stop)
        return stored.part(_number_of(column), *self._places(start, stop))

    def _places(self, start: int, stop: int) -> tuple[int, int]:
        low = min(max(start - self.first, 0), self._length)
        return low, min(max(stop - self.first, low), self._length)

    def frame_at(self, at_ns: int) -> int:
        """Return the frame that an instant belongs to: the first that began then or later.

        Timers fire before their frame, so the instant may belong to the next frame to come.
        """
        return self.index_at(at_ns - 1)

    def index_at(self, at_ns: int) -> int:
        """Return the index after the last frame that had begun at an instant."""
        return self.first + bisect_right(self._columns[0], at_ns, 0, self._length)

    def index_from(self, at_ns: int) -> int | None:
        """Return the first frame at or after an instant, ``None`` without one."""
        index = self.frame_at(at_ns)
        return index if index < self.end else None

    def span(self, index: int) -> tuple[int, int] | None:
        """Return the starts of the previous frame and of a frame; ``None`` if it is not kept.

        Before the first frame kept, the start is -1.
        """
        if not self.first <= index < self.end:
            return None
        return self.began_ns(index - 1) if index > self.first else -1, self.began_ns(index)

    def append(  # noqa: PLR0913, PLR0917 - one value a column
        self,
        at_ns: int,
        interval_ns: int,
        delta_ns: int,
        busy_ns: int,
        cut_ns: int,
        phases: Sequence[int],
        shares: Sequence[int] = NO_SHARES,
    ) -> None:
        if phases is NO_PHASES and shares is NO_SHARES:
            self._waiting += (at_ns, interval_ns, delta_ns, busy_ns, cut_ns)
            self._length += 1
            if len(self._waiting) > _MOST_WAITING:
                _ = self._columns
            return
        values = (at_ns, interval_ns, delta_ns, busy_ns, cut_ns, *phases, *shares)
        is_known = len(self._columns[0]) > self._length
        # A copy has continued from here with the same frame.
        if is_known and values == tuple(column[self._length] for column in self._columns):
            self._length += 1
            return
        for column, value in zip(self._own_columns(), values, strict=True):
            column.append(value)
        self._length += 1

    def extend(self, columns: Sequence[Iterable[int]]) -> None:
        """Add many frames.

        Args:
            columns: Of equal lengths, in nanoseconds: starts, intervals, deltas, busy times,
                cuts, one per phase, and one per share, where those were measured.

        Raises:
            ValueError: Columns are missing or differ in length.
        """
        added = [array("q", column) for column in columns]
        if len(added) == _SHARES_FROM:
            added += [array("q", bytes(8 * len(added[0])))] * len(Share)
        if len(added) != len(self._columns) or len({len(column) for column in added}) != 1:
            raise ValueError(f"needs {len(self._columns)} columns of equal lengths")
        self._extend(added, len(added[0]))

    def _extend(self, added: list[array[int]], count: int) -> None:
        known = min(len(self._columns[0]) - self._length, count)
        if known and self._goes_on_with([column[:known] for column in added]):
            self._length += known
            added, count = [column[known:] for column in added], count - known
        if not count:
            return
        for column, values in zip(self._own_columns(), added, strict=True):
            column.extend(values)
        self._length += count

    def _goes_on_with(self, columns: Sequence[array[int]]) -> bool:
        """Return whether a copy has continued from here with the same frames."""
        start = self._length
        stop = start + len(columns[0])
        return all(
            column[start:stop] == values
            for column, values in zip(self._columns, columns, strict=True)
        )

    def _own_columns(self) -> list[array[int]]:
        """Return the columns to extend, copied if a copy has continued differently."""
        columns = self._columns
        if not isinstance(columns, list) or len(columns[0]) != self._length:
            columns = self._kept = [column[: self._length] for column in columns]
        return columns

    @classmethod
    def stored(cls, columns: StoredColumns) -> FrameHistory:
        found = cls()
        found.first, found._length, found._kept = columns.first, columns.count, columns
        return found

    @classmethod
    def holding(cls, first: int, columns: Sequence[NDArray[np.int64] | None]) -> FrameHistory:
        """Return frames that are known already, such as those of a capture; none can be added.

        Args:
            columns: As for :meth:`extend`, with those of shares, and ``None`` for zeros; not
                copied, as there may be ten million frames.
        """
        import numpy as np  # noqa: PLC0415 - the fold must not need numpy

        starts_ns = columns[0]
        assert starts_ns is not None, "frames begin"
        found = cls()
        found.first, found.computed, found._length = first, {}, len(starts_ns)
        # Zeros that are only read take no memory.
        zeros = np.zeros(found._length, dtype=np.int64)

        def column(values: NDArray[np.int64] | None) -> array[int]:
            is_zero = values is None or values.strides == (0,)
            held = zeros if is_zero else np.ascontiguousarray(values, dtype=np.int64)
            # A memory view is indexed and sliced like an array.
            return cast("array[int]", held.data.cast("B").cast("q"))

        found._kept = [column(each) for each in columns]
        return found

    def complete(self, start: int, stop: int) -> FrameHistory:
        """Return these frames if none can be added to them, otherwise a copy of a range."""
        if self.is_stored or self.computed is not None:
            return self
        twin = self.until(stop).since(start)
        twin.computed = {}
        return twin

    def until(self, end: int) -> FrameHistory:
        twin = self.copy()
        twin._length = min(max(end - self.first, 0), self._length)
        return twin

    def since(self, start: int) -> FrameHistory:
        """Return a copy without the frames before an index; it shares no memory with this one."""
        place = min(max(start - self.first, 0), self._length)
        twin = FrameHistory()
        twin.first, twin._length = self.first + place, self._length - place
        twin._kept = [column[place : self._length] for column in self._columns]
        return twin

    def copy(self) -> FrameHistory:
        twin = FrameHistory()
        twin.first = self.first
        twin._length = self._length
        twin._kept = self._columns
        twin.computed = self.computed
        return twin


def with_phase(phases: Sequence[int], phase: int, took_ns: int) -> tuple[int, ...]:
    """Return the measured times of a frame's phases after one more has ended."""
    times = list(phases)
    times[phase] += took_ns
    return tuple(times)


def _number_of(column: str | Phase | Share) -> int:
    if isinstance(column, Phase):
        return _PHASES_FROM + column
    if isinstance(column, Share):
        return _SHARES_FROM + column
    return _COLUMNS.index(column)
