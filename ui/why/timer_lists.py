"""The timers that fire next, and those that wait for a pause, as rows."""

from __future__ import annotations

from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.display_text import shared_name
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration
from inspector.vocabulary import NEVER

from ..session.bridge import Selection
from .rows import DetailRow, LinkedText, item

_COLUMNS: Final = ("id", "clock", "order", "site", "label", "session_due")
#: At most this many waiting timers are listed; those of one call site count as one.
MOST_WAITING: Final = 3


def next_rows(
    timeline: Timeline, most: int, among: NDArray[np.bool_] | None = None
) -> list[DetailRow]:
    """Return the timers due first, ``most`` rows at most, of those rows of the table, or of all.

    Timers of one name, or set at one place under names that share words, are one row.
    """
    timeline.resolve_dues()
    strings = timeline.strings
    columns = [timeline.timers.numpy(name) for name in _COLUMNS]
    if among is not None and not among.all():
        columns = [column[among] for column in columns]
    numbers, clocks, orders, sites, labels, dues = columns
    dues = dues.copy()
    rows: list[DetailRow] = []
    while len(rows) < most and len(dues) and (due_ns := int(dues.min())) < NEVER:
        first = (dues == due_ns).nonzero()[0]
        place = int(first[orders[first].argmin()])
        label, clock_id = int(labels[place]), int(clocks[place])
        # Only the clock's pending timers, usually few of many, are searched below.
        others = (clocks == clock_id).nonzero()[0]
        others = others[dues[others] < NEVER]
        alike, shared = others[:0], ""
        if site := int(sites[place]):
            alike = others[sites[others] == site]
            present = np.bincount(labels[alike]).nonzero()[0].tolist()
            shared = _shared([strings[each] for each in present])
        if not shared:
            alike, shared = others[labels[others] == label], strings[label]
        count = len(alike)
        name = f"{shared} ×{count:,}" if count > 1 else strings[label]
        left_ns = due_ns - timeline.at_ns
        late = "late " if left_ns < 0 else ""
        link = LinkedText(name, Selection.timer(int(numbers[place])))
        clock = timeline.names_apart[clock_id]
        rows.append(item(link, clock, f"{late}{format_duration(abs(left_ns))}"))
        dues[alike] = NEVER
    return rows


def waiting_rows(timeline: Timeline, among: NDArray[np.bool_]) -> list[DetailRow]:
    """Return what is left for timers whose time stands still, the first due first.

    Timers that were set at the same place are one row.
    """
    table = timeline.timers
    places = np.flatnonzero(among)
    clocks = table.numpy("clock")[places]
    left = table.numpy("due")[places].copy()
    for clock_id in set(clocks.tolist()):
        left[clocks == clock_id] -= timeline.local_ns(clock_id)
    groups: dict[tuple[int, int, int], list[int]] = {}
    for each in np.lexsort((table.numpy("order")[places], left)).tolist():
        place = int(places[each])
        site = table.site[place]
        key = int(clocks[each]), site, 0 if site else table.label[place]
        groups.setdefault(key, []).append(each)
    rows = []
    for group in islice(groups.values(), MOST_WAITING):
        names = [timeline.strings[table.label[int(places[each])]] for each in group]
        link = LinkedText(
            _shared(names) or names[0], Selection.timer(table.id[int(places[group[0]])])
        )
        left_ns = int(left[group[0]])
        remaining = format_duration(left_ns) if left_ns > 0 else "due"
        value = f"{remaining} left" if left_ns > 0 else remaining
        value = value if len(group) == 1 else f"{len(group):,}, next {remaining}"
        rows.append(item(link, "", value))
    if len(groups) > MOST_WAITING:
        counts = [len(group) for group in islice(groups.values(), MOST_WAITING, None)]
        rows.append(item(LinkedText(f"and {sum(counts):,} more"), "", ""))
    return rows


def _shared(names: list[str]) -> str:
    """Return the words that names share, if they share any."""
    words = [name.split() for name in names]
    first = words[0] if words else ()
    return shared_name(word for word in first if all(word in each for each in words))
