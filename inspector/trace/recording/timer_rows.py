"""The rows of the table of timers, worked out from the columns of events."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from inspector.vocabulary import NEVER, EventKind, TimerKind

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from inspector.trace.recording.columns import Block
    from inspector.trace.timer_table import TimerRow

_KIND_TEXTS: Final = {kind.value: kind.text for kind in TimerKind}
_CLOCK_GONE: Final = "clock removed"
_UPSERT: Final = (
    "INSERT INTO timers VALUES {} ON CONFLICT(timer) DO UPDATE SET "
    "kind=excluded.kind, call_site=excluded.call_site, "
    "due_ns=excluded.due_ns, interval_ns=excluded.interval_ns, fired=excluded.fired, "
    "lateness_ns=excluded.lateness_ns, gone_ns=excluded.gone_ns, gone_by=excluded.gone_by"
)
_MARKS: Final = "(?,?,?,?,?,?,?,?,?,?,?,?)"
#: Many rows at once cost a quarter less.
AT_ONCE: Final = 16
# Places in a row of timers.
_CLOCK, _KIND, _SITE, _DUE, _INTERVAL, _FIRED, _LATE, _GONE, _BY = 2, 3, 4, 6, 7, 8, 9, 10, 11


class TimerRows:
    """Keeps the rows of pending timers, and of others until they are written."""

    def __init__(self, strings: Sequence[str]) -> None:
        """Begin with nothing.

        Args:
            strings: The texts of the events; may grow.
        """
        self._strings = strings
        self._pending: dict[int, list[Any]] = {}
        self._touched: set[int] = set()
        self._gone: list[Sequence[Any]] = []
        self._passed: list[tuple[Sequence[Any], ...]] = []

    def begin(self, rows: Sequence[TimerRow]) -> None:
        """Forget what was pending, and begin with what is pending instead."""
        self._touched.clear()
        self._pending = {
            row.id: [
                row.id,
                row.label,
                row.clock_id,
                row.kind.text,
                row.call_site,
                None,
                row.due_ns,
                row.interval_ns,
                row.fired,
                row.last_lateness_ns,
                None,
                None,
            ]
            for row in rows
        }
        self._touched.update(self._pending)

    def take(self, events: Block) -> None:
        """Note what a block of timers' events says."""
        timers, group = np.unique(events[2], return_inverse=True)
        found = _Groups(events, group, len(timers))
        is_new = found.of(EventKind.TIMER_ADDED, 0)[1]
        came_and_went = is_new & found.has_ended
        self._passed.append(tuple(self._columns(timers, found, np.flatnonzero(came_and_went))))
        pending = self._pending
        stays = np.flatnonzero(is_new & ~came_and_went)
        for row in zip(*self._columns(timers, found, stays), strict=True):
            pending[row[0]] = list(row)
            self._touched.add(row[0])
        self._bring_up_to_date(timers, found, np.flatnonzero(~is_new))

    def _columns(
        self, timers: Block, found: _Groups, places: NDArray[np.intp]
    ) -> list[Sequence[Any]]:
        """Return the rows of new timers as columns.

        Rows would be many objects that stay, and keep the garbage collector busy.
        """

        def of(kind: EventKind, row: int) -> list[int]:
            values: list[int] = found.of(kind, row)[0][places].tolist()
            return values

        strings = self._strings
        due, has_due = (column[places].tolist() for column in found.dues)
        kinds, has_kind = of(EventKind.TIMER_ORIGIN, 4), found.of(EventKind.TIMER_ORIGIN, 4)[1]
        pairs = zip(kinds, has_kind[places].tolist(), strict=True)
        has_gone = found.has_ended[places].tolist()
        gone_ns = zip(found.ended_ns[places].tolist(), has_gone, strict=True)
        gone_by = zip(found.was_cleared[places].tolist(), has_gone, strict=True)
        return [
            timers[places].tolist(),
            [strings[text] for text in of(EventKind.TIMER_ADDED, 4)],
            of(EventKind.TIMER_ADDED, 3),
            [_KIND_TEXTS.get(kind, str(kind)) if known else "" for kind, known in pairs],
            [strings[text] for text in of(EventKind.TIMER_ORIGIN, 3)],
            of(EventKind.TIMER_ADDED, 0),
            [at if known else None for at, known in zip(due, has_due, strict=True)],
            of(EventKind.TIMER_ARMED, 4),
            found.fired[places].tolist(),
            of(EventKind.TIMER_FIRED, 3),
            [at if is_gone else None for at, is_gone in gone_ns],
            [_by(cleared) if is_gone else None for cleared, is_gone in gone_by],
        ]

    def _bring_up_to_date(self, timers: Block, found: _Groups, places: NDArray[np.intp]) -> None:
        """Tell the rows of timers that were there before what has happened to them since."""
        pending = self._pending
        site, kind = (found.of(EventKind.TIMER_ORIGIN, row)[0] for row in (3, 4))
        has_origin = found.of(EventKind.TIMER_ORIGIN, 3)[1]
        interval, is_armed = found.of(EventKind.TIMER_ARMED, 4)
        late, is_fired = found.of(EventKind.TIMER_FIRED, 3)
        due, has_due = found.dues
        for at, timer in zip(places.tolist(), timers[places].tolist(), strict=True):
            row = pending.get(timer)
            if row is None:
                continue
            if has_origin[at]:
                row[_SITE] = self._strings[site[at]]
                row[_KIND] = _KIND_TEXTS.get(int(kind[at]), str(kind[at]))
            if is_armed[at]:
                row[_INTERVAL] = int(interval[at])
            if has_due[at]:
                row[_DUE] = int(due[at])
            if is_fired[at]:
                row[_FIRED] += int(found.fired[at])
                row[_LATE] = int(late[at])
            self._touched.add(timer)
            if found.has_ended[at]:
                self._end(row, int(found.ended_ns[at]), _by(bool(found.was_cleared[at])))

    def _end(self, row: list[Any], at_ns: int, by: str) -> None:
        row[_GONE], row[_BY] = at_ns, by
        self._gone.append(row)
        del self._pending[row[0]]
        self._touched.discard(row[0])

    def remove_of(self, clocks: set[int], at_ns: int) -> None:
        """Note that the timers of clocks have gone with them."""
        for row in [row for row in self._pending.values() if row[_CLOCK] in clocks]:
            self._end(row, at_ns, _CLOCK_GONE)

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write what has come since."""
        touched = (self._pending[timer] for timer in self._touched)
        passed = (row for columns in self._passed for row in zip(*columns, strict=True))
        rows = chain(self._gone, touched, passed)
        many = _UPSERT.format(",".join([_MARKS] * AT_ONCE))
        while len(some := list(islice(rows, AT_ONCE))) == AT_ONCE:
            connection.execute(many, list(chain.from_iterable(some)))
        connection.executemany(_UPSERT.format(_MARKS), some)
        self._passed.clear()
        self._gone.clear()
        self._touched.clear()


def _by(was_cleared: bool) -> str:  # noqa: FBT001 - the one of two ways
    return "cleared" if was_cleared else "fired"


class _Groups:
    """What happened to each of some timers, as columns.

    Attributes:
        fired: How often each has fired.
        dues: When each is due according to the last event that says so, and whether one does.
        has_ended: Whether each is gone.
        ended_ns: When it went.
        was_cleared: Whether it did not end by its last firing.
    """

    def __init__(self, events: Block, group: NDArray[np.intp], count: int) -> None:
        """Look through events of timers.

        Args:
            events: The events.
            group: The place of its timer, for each event.
            count: How many timers there are.
        """
        at_ns, kind, _, a, b = self._events = events
        self._group, self._count = group, count
        is_fired, is_armed = kind == EventKind.TIMER_FIRED, kind == EventKind.TIMER_ARMED
        is_cleared = kind == EventKind.TIMER_CLEARED
        is_last = is_fired & (b == NEVER)
        self.fired = np.bincount(group[is_fired], minlength=count)
        says_due = is_armed | (is_fired & ~is_last)
        self.dues = self._last(says_due, np.where(is_armed, a, b)[says_due])
        ended = is_last | is_cleared
        self.ended_ns, self.has_ended = self._last(ended, at_ns[ended])
        self.was_cleared = self._last(is_cleared, at_ns[is_cleared])[1]

    def of(self, kind: EventKind, row: int) -> tuple[Block, NDArray[np.bool_]]:
        """Return what the last event of a kind says of each timer, and whether there is one."""
        found = self._events[1] == kind
        return self._last(found, self._events[row, found])

    def _last(self, found: NDArray[np.bool_], values: Block) -> tuple[Block, NDArray[np.bool_]]:
        group = self._group[found]
        column, is_there = np.zeros(self._count, np.int64), np.zeros(self._count, bool)
        # Of several the last one stays.
        column[group] = values
        is_there[group] = True
        return column, is_there
