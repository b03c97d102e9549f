"""The pending timers of a timeline, as columns."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.vocabulary import NEVER, TimerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

#: Marks a session due time that must be computed again.
UNKNOWN: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class TimerRow:
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
        self._row_by_id: dict[int, int] = {}
        for name in COLUMNS:
            setattr(self, name, array("q"))

    def __len__(self) -> int:
        return len(self._row_by_id)

    def __contains__(self, timer_id: int) -> bool:
        return timer_id in self._row_by_id

    def ids(self) -> Iterator[int]:
        return iter(self._row_by_id)

    def index(self, timer_id: int) -> int:
        """Return the present row of a timer."""
        return self._row_by_id[timer_id]

    def row(self, timer_id: int) -> TimerRow:
        i = self._row_by_id[timer_id]
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

    # ---------------------------------------------------------- for the fold

    def add(self, timer_id: int, clock_id: int, label: int) -> None:
        """Add a timer that is not armed yet."""
        if timer_id in self._row_by_id:
            raise ValueError(f"timer {timer_id} exists")
        self._row_by_id[timer_id] = len(self.id)
        # One by one: programs set hundreds of thousands of timers, and looking up the columns by
        # name takes twice as long.
        self.id.append(timer_id)
        self.clock.append(clock_id)
        self.due.append(NEVER)
        self.session_due.append(UNKNOWN)
        self.interval.append(0)
        self.fired.append(0)
        self.lateness.append(0)
        self.order.append(timer_id)
        self.label.append(label)
        self.site.append(0)
        self.kind.append(0)

    def remove(self, timer_id: int) -> int:
        i = self._row_by_id.pop(timer_id)
        clock_id = self.clock[i]
        last = len(self.id) - 1
        if i != last:
            self._row_by_id[self.id[last]] = i
        for name in COLUMNS:
            column = getattr(self, name)
            column[i] = column[last]
            column.pop()
        return clock_id

    def copy(self, strings: Sequence[str]) -> TimerTable:
        twin = TimerTable(strings)
        twin._row_by_id = dict(self._row_by_id)
        for name in COLUMNS:
            getattr(twin, name).extend(getattr(self, name))
        return twin


#: The names of all columns.
COLUMNS: Final = tuple(TimerTable.__annotations__)
