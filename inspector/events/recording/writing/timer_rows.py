"""The rows of the table of timers, computed from the columns of events."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inspector.events.blocks.packed_columns import Block
from inspector.events.blocks.timer_events import NO_EVENT, TimerEvents
from inspector.events.timer_table import TimerRow
from inspector.vocabulary import TimerKind

_KIND_TEXTS: Final = {kind.value: kind.text for kind in TimerKind}
_CLOCK_GONE: Final = "clock removed"
_ADD: Final = "INSERT OR REPLACE INTO timers VALUES {}"
_MARKS: Final = "(?,?,?,?,?,?,?,?,?,?,?,?)"
#: Rows inserted at once, which costs a quarter less.
AT_ONCE: Final = 32
_CLOCK, _KIND, _SITE, _ADDED, _DUE, _INTERVAL, _FIRED, _LATE, _GONE, _BY = range(2, 12)


class TimerRows:
    """Keeps the rows of pending timers, and those of ended timers until they are written."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._pending: dict[int, list[Any]] = {}
        self._touched: set[int] = set()
        self._gone: list[Sequence[Any]] = []
        self._passed: list[tuple[Sequence[Any], ...]] = []

    def begin(self, rows: Sequence[TimerRow]) -> None:
        self._touched.clear()
        known = self._pending
        self._pending = {
            row.id: [
                row.id,
                row.label,
                row.clock_id,
                row.kind.text,
                row.call_site,
                known[row.id][_ADDED] if row.id in known else None,
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

    def add(self, events: Block) -> None:
        found = TimerEvents(events)
        is_new = found.added != NO_EVENT
        came_and_went = is_new & (found.ended != NO_EVENT)
        self._passed.append(self._new_columns(found, np.flatnonzero(came_and_went)))
        stays = np.flatnonzero(is_new & ~came_and_went)
        for row in zip(*self._new_columns(found, stays), strict=True):
            self._pending[row[0]] = list(row)
            self._touched.add(row[0])
        self._bring_up_to_date(found, np.flatnonzero(~is_new))

    def _new_columns(
        self, found: TimerEvents, timers: NDArray[np.intp]
    ) -> tuple[Sequence[Any], ...]:
        """Return the rows of new timers as columns.

        As rows, they would be many long-lived objects for the garbage collector.
        """
        strings = self._strings
        at_ns, _, _, a, b = found.events
        added, origin, ended = found.added[timers], found.origin[timers], found.ended[timers]
        return (
            found.timers[timers].tolist(),
            [strings[text] for text in b[added].tolist()],
            a[added].tolist(),
            ["" if kind is None else _kind_text(kind) for kind in _values_at(b, origin)],
            [strings[text or 0] for text in _values_at(a, origin)],
            at_ns[added].tolist(),
            _values_at(found.dues, found.due[timers]),
            _values_at(b, found.armed[timers], 0),
            found.fires[timers].tolist(),
            _values_at(a, found.fired[timers], 0),
            _values_at(at_ns, ended),
            [_end_text(is_fired) for is_fired in _values_at(found.is_fired, ended)],
        )

    def _bring_up_to_date(self, found: TimerEvents, timers: NDArray[np.intp]) -> None:
        at_ns, _, _, a, b = found.events
        origin, ended = found.origin[timers], found.ended[timers]
        columns = (
            found.timers[timers].tolist(),
            zip(_values_at(a, origin), _values_at(b, origin), strict=True),
            _values_at(found.dues, found.due[timers]),
            _values_at(b, found.armed[timers]),
            zip(found.fires[timers].tolist(), _values_at(a, found.fired[timers]), strict=True),
            zip(_values_at(at_ns, ended), _values_at(found.is_fired, ended), strict=True),
        )
        for timer, (site, of_kind), due, interval, (fires, late), (end_ns, is_fired) in zip(
            *columns, strict=True
        ):
            row = self._pending.get(timer)
            if row is None:
                continue
            self._touched.add(timer)
            if site is not None:
                row[_SITE], row[_KIND] = self._strings[site], _kind_text(of_kind)
            if due is not None:
                row[_DUE] = due
            if interval is not None:
                row[_INTERVAL] = interval
            if fires:
                row[_FIRED] += fires
                row[_LATE] = late
            if end_ns is not None:
                self._end(row, end_ns, _end_text(is_fired))

    def _end(self, row: list[Any], at_ns: int, by: str | None) -> None:
        row[_GONE], row[_BY] = at_ns, by
        self._gone.append(row)
        del self._pending[row[0]]
        self._touched.discard(row[0])

    def remove_of(self, clocks: set[int], at_ns: int) -> None:
        for row in [row for row in self._pending.values() if row[_CLOCK] in clocks]:
            self._end(row, at_ns, _CLOCK_GONE)

    def flush(self, connection: sqlite3.Connection) -> None:
        touched = (self._pending[timer] for timer in self._touched)
        passed = (row for columns in self._passed for row in zip(*columns, strict=True))
        rows = chain(self._gone, touched, passed)
        many = _ADD.format(",".join([_MARKS] * AT_ONCE))
        while len(some := list(islice(rows, AT_ONCE))) == AT_ONCE:
            connection.execute(many, list(chain.from_iterable(some)))
        connection.executemany(_ADD.format(_MARKS), some)
        self._passed.clear()
        self._gone.clear()
        self._touched.clear()


def _kind_text(kind: int) -> str:
    return _KIND_TEXTS.get(kind, str(kind))


def _end_text(is_fired: bool | None) -> str | None:  # noqa: FBT001 - from a column
    return None if is_fired is None else "fired" if is_fired else "cleared"


def _values_at(
    values: NDArray[Any], places: NDArray[np.intp], otherwise: int | None = None
) -> list[Any]:
    found: list[Any] = values[places].tolist()
    if (places != NO_EVENT).all():
        return found
    told = zip(found, places.tolist(), strict=True)
    return [value if place != NO_EVENT else otherwise for value, place in told]
