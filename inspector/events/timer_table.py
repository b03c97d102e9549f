"""The pending timers of a timeline, as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from struct import pack
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from inspector.vocabulary import NEVER, TimerKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.events.new_timers import NewTimers

#: Marks a session due time that must be computed again.
UNKNOWN: Final = -(2**63)


class TimerRow(Struct, frozen=True):
    id: int
    clock_id: int
    label: str
    call_site: str  # Where it was set, or an empty text
    kind: TimerKind  # One-shot or repeating, with its policy
    due_ns: int
    interval_ns: int  # From one due instant to the next; 0 for a one-shot
    fired: int
    last_lateness_ns: int  # Lateness of the last firing
    order: int  # Decides ties: smaller was scheduled earlier


#: Timers whose rows are kept in one page. Timers are numbered consecutively, so pages fill up.
_PAGE: Final = 64
_NO_ROWS: Final = array("i", (-1,)) * _PAGE


class RowByNumber:
    """The rows of timers by their numbers, in a tenth of a dictionary's memory."""

    __slots__ = ("_pages", "count")

    def __init__(self) -> None:
        self._pages: dict[int, array[int]] = {}
        self.count = 0

    def get(self, timer_id: int) -> int:
        """Return a row, -1 for none."""
        page = self._pages.get(timer_id // _PAGE)
        return -1 if page is None else page[timer_id % _PAGE]

    def rows_of(self, timer_ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the rows of many timers, -1 for none."""
        import numpy as np  # noqa: PLC0415 - the fold must not need numpy

        numbers, page_of = np.unique(timer_ids // _PAGE, return_inverse=True)
        pages = [*map(self._pages.get, numbers.tolist())]
        is_there = np.array([page is not None for page in pages], bool)
        place = np.cumsum(is_there) * is_there
        found = (page for page in pages if page is not None)
        rows = np.frombuffer(b"".join([_NO_ROWS, *found]), np.intc)
        places: NDArray[np.intp] = _PAGE * place[page_of] + timer_ids % _PAGE
        return rows[places].astype(np.intp)

    def __contains__(self, timer_id: int) -> bool:
        return self.get(timer_id) >= 0

    def __getitem__(self, timer_id: int) -> int:
        row = self._pages[timer_id // _PAGE][timer_id % _PAGE]
        if row < 0:
            raise KeyError(timer_id)
        return row

    def __setitem__(self, timer_id: int, row: int) -> None:
        page = self._pages.get(timer_id // _PAGE)
        if page is None:
            page = self._pages[timer_id // _PAGE] = _NO_ROWS[:]
        self.count += page[timer_id % _PAGE] < 0
        page[timer_id % _PAGE] = row

    def add_all(self, timer_ids: array[int], rows: array[int]) -> bool:
        """Add timers with their rows, of type "i", unless one exists."""
        count = len(timer_ids)
        if not count:
            return True
        first, last = timer_ids[0], timer_ids[-1]
        if last - first == count - 1 and timer_ids == numbers_from(first, count):
            return self._add_range(first, rows)
        if len(set(timer_ids)) < count or any(self.get(each) >= 0 for each in timer_ids):
            return False
        for timer_id, row in zip(timer_ids, rows, strict=True):
            self[timer_id] = row
        return True

    def _add_range(self, first: int, rows: array[int]) -> bool:
        pages, end = self._pages, first + len(rows)
        parts = []
        for number in range(first // _PAGE, (end - 1) // _PAGE + 1):
            begin = number * _PAGE
            part = slice(max(first - begin, 0), min(end - begin, _PAGE))
            if number in pages and pages[number][part] != _NO_ROWS[part]:
                return False
            parts.append((number, part))
        done = 0
        for number, part in parts:
            page = pages.setdefault(number, _NO_ROWS[:])
            size = part.stop - part.start
            page[part] = rows[done : done + size]
            done += size
        self.count += done
        return True

    def pop(self, timer_id: int) -> int:
        row = self[timer_id]
        page = self._pages[timer_id // _PAGE]
        page[timer_id % _PAGE] = -1
        if page == _NO_ROWS:
            del self._pages[timer_id // _PAGE]
        self.count -= 1
        return row

    def clear(self) -> None:
        self._pages.clear()
        self.count = 0

    def copy(self) -> RowByNumber:
        twin = RowByNumber()
        twin._pages = {number: page[:] for number, page in self._pages.items()}
        twin.count = self.count
        return twin


class _InOrder(NamedTuple):
    version: int
    places: dict[int, dict[int, int]]  # By clock and label: the index of their entry in begins
    begins: list[int]
    ids: list[int]  # Sorted by clock, label and due instant


class TimerTable:
    """All pending timers, one per row, rows 0 to ``len() - 1``, in no particular order.

    The columns are ``array('q')``. A removed row is replaced by the last one, so a row number
    is valid only until the next event; keep ids instead.
    """

    id: array[int]
    clock: array[int]
    due: array[int]
    session_due: array[int]
    interval: array[int]
    fired: array[int]
    lateness: array[int]
    order: array[int]
    label: array[int]
    site: array[int]
    kind: array[int]

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._rows = RowByNumber()
        self._in_order = _InOrder(-1, {}, [], [])
        for name in COLUMNS:
            setattr(self, name, array("q"))

    def __len__(self) -> int:
        return self._rows.count

    def __contains__(self, timer_id: int) -> bool:
        return timer_id in self._rows

    def ids(self) -> Iterator[int]:
        return iter(self.id)

    def index(self, timer_id: int) -> int:
        return self._rows[timer_id]

    def rows_of(self, timer_ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the present rows of timers, -1 for those that are not pending."""
        return self._rows.rows_of(timer_ids)

    def pending_rows(self, timer_ids: Iterable[int]) -> list[int]:
        return [row for row in map(self._rows.get, timer_ids) if row >= 0]

    def session_dues(self, timer_ids: Iterable[int]) -> list[int]:
        """Return the session due times of those of the timers that are pending."""
        dues = self.session_due
        return [dues[row] for row in self.pending_rows(timer_ids)]

    def row(self, timer_id: int) -> TimerRow:
        i = self._rows[timer_id]
        return TimerRow(
            id=timer_id,
            clock_id=self.clock[i],
            label=self._strings[self.label[i]],
            call_site=self._strings[self.site[i]],
            kind=TimerKind(self.kind[i]),
            due_ns=self.due[i],
            interval_ns=self.interval[i],
            fired=self.fired[i],
            last_lateness_ns=self.lateness[i],
            order=self.order[i],
        )

    def numpy(self, column: str) -> NDArray[np.int64]:
        """Return a column as a view, valid until the next event."""
        import numpy as np  # noqa: PLC0415 - the fold must not need numpy

        return np.frombuffer(getattr(self, column), dtype=np.int64)

    def named(self, version: int, clock_id: int, label: int, most: int) -> list[int]:
        """Return the timers of a clock with a label, the earliest due first.

        The order is cached until ``version`` differs; every change of a timer has to change it.
        """
        if self._in_order.version != version:
            self._in_order = self._ordered(version)
        found = self._in_order
        place = found.places.get(clock_id, {}).get(label)
        if place is None:
            return []
        begin, end = found.begins[place : place + 2]
        return found.ids[begin : min(end, begin + most)]

    def _ordered(self, version: int) -> _InOrder:
        import numpy as np  # noqa: PLC0415 - the fold must not need numpy

        clock, label, due = (self.numpy(name) for name in ("clock", "label", "due"))
        rows = np.lexsort((due, label, clock))
        clock, label, ids = clock[rows], label[rows], self.numpy("id")[rows].tolist()
        differs = (clock[1:] != clock[:-1]) | (label[1:] != label[:-1])
        begins = np.flatnonzero(np.concatenate(([bool(ids)], differs)))
        # No object per timer: many of them would be garbage after the next change.
        places: dict[int, dict[int, int]] = {}
        clocks, firsts = np.unique(clock[begins], return_index=True)
        lasts = [*firsts[1:].tolist(), len(begins)]
        labels = label[begins].tolist()
        for number, low, high in zip(clocks.tolist(), firsts.tolist(), lasts, strict=False):
            places[number] = dict(zip(labels[low:high], range(low, high), strict=True))
        return _InOrder(version, places, [*begins.tolist(), len(ids)], ids)

    def add(self, timer_id: int, clock_id: int, label: int) -> None:
        if timer_id in self:
            raise ValueError(f"timer {timer_id} exists")
        self._rows[timer_id] = len(self.id)
        # One by one: programs set hundreds of thousands of timers, and looking up the columns by
        # name takes twice as long.
        self.id.append(timer_id)
        self.clock.append(clock_id)
        self.due.append(NEVER)
        self.session_due.append(NEVER)
        self.interval.append(0)
        self.fired.append(0)
        self.lateness.append(0)
        self.order.append(timer_id)
        self.label.append(label)
        self.site.append(0)
        self.kind.append(0)

    def add_all(self, new: NewTimers, last_order: int) -> bool:
        """Add timers and arm them after the last order, unless one of them exists."""
        count = len(new)
        before = len(self.id)
        if not self._rows.add_all(new.id, numbers_from(before, count, "i")):
            return False
        nothing = array("q", bytes(8 * count))
        self.id.extend(new.id)
        self.clock.extend(new.clock)
        self.due.extend(new.due)
        self.session_due.extend(array("q", (UNKNOWN,)) * count)
        self.interval.extend(new.interval)
        self.fired.extend(nothing)
        self.lateness.extend(nothing)
        self.order.extend(numbers_from(last_order + 1, count))
        self.label.extend(new.label)
        self.site.extend(new.site)
        self.kind.extend(new.kind)
        return True

    def remove(self, timer_id: int) -> int:
        i = self._rows.pop(timer_id)
        clock_id = self.clock[i]
        last = len(self.id) - 1
        if i != last:
            self._rows[self.id[last]] = i
        for name in COLUMNS:
            column = getattr(self, name)
            column[i] = column[last]
            column.pop()
        return clock_id

    def find_rows(self) -> bool:
        """Find the rows of all timers from their ids; returns whether each id occurs once."""
        self._rows = RowByNumber()
        return self._rows.add_all(self.id, numbers_from(0, len(self.id), "i"))

    def copy(self, strings: Sequence[str]) -> TimerTable:
        twin = TimerTable(strings)
        twin._rows = self._rows.copy()
        for name in COLUMNS:
            getattr(twin, name).extend(getattr(self, name))
        return twin


def numbers_from(first: int, count: int, kind: str = "q") -> array[int]:
    """Return consecutive numbers, in half the time of filling an array from a range."""
    found = array(kind)
    found.frombytes(pack(f"{count}{kind}", *range(first, first + count)))
    return found


COLUMNS: Final = tuple(TimerTable.__annotations__)
