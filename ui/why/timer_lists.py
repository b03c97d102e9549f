"""The timers that fire next, and those that wait for a pause, as rows."""

from __future__ import annotations

from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.events.blocks.packed_columns import grouped
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration
from inspector.vocabulary import NEVER

from ..session.bridge import Selection
from .rows import DetailRow, LinkedText, item

#: So many timers that wait are listed, those of a call site as one.
MOST_WAITING: Final = 3


def next_rows(
    timeline: Timeline, most: int, among: NDArray[np.bool_] | None = None
) -> list[DetailRow]:
    """Return the timers due first, ``most`` rows at most, of those rows of the table, or of all.

    Timers of one name, or set at one place under names that share words, are one row.
    """
    timeline.resolve_dues()
    table = timeline.timers
    clocks, dues = table.numpy("clock"), table.numpy("session_due")
    if among is None or among.all():
        places, dues = np.arange(len(table)), dues.copy()
    else:
        places = np.flatnonzero(among)
        clocks, dues = clocks[places], dues[places]
    rows: list[DetailRow] = []
    while len(rows) < most and len(dues) and (due_ns := int(dues.min())) < NEVER:
        first = places[np.flatnonzero(dues == due_ns)]
        place = int(first[table.numpy("order")[first].argmin()])
        site, label = table.site[place], table.label[place]
        # Few of many timers are on the same clock, and the others need no second look.
        others = np.flatnonzero(clocks == table.clock[place])
        others = others[dues[others] < NEVER]
        sites, labels = (table.numpy(column)[places[others]] for column in ("site", "label"))
        alike = (sites == site) & (site != 0)
        name = timeline.strings[label]
        shared = _shared([timeline.strings[each] for each in grouped(labels[alike])[0]])
        if not shared:
            alike, shared = labels == label, name
        count = int(np.count_nonzero(alike))
        name = f"{shared} ×{count:,}" if count > 1 else name
        left_ns = due_ns - timeline.at_ns
        late = "late " if left_ns < 0 else ""
        link = LinkedText(name, Selection.timer(table.id[place]))
        clock = timeline.clocks[table.clock[place]].name
        rows.append(item(link, clock, f"{late}{format_duration(abs(left_ns))}"))
        dues[others[alike]] = NEVER
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
        remaining = format_duration(max(0, int(left[group[0]])))
        value = f"{remaining} left" if len(group) == 1 else f"{len(group):,}, next {remaining}"
        rows.append(item(link, "", value))
    if len(groups) > MOST_WAITING:
        counts = [len(group) for group in islice(groups.values(), MOST_WAITING, None)]
        rows.append(item(LinkedText(f"and {sum(counts):,} more"), "", ""))
    return rows


def _shared(names: list[str]) -> str:
    """Return the words that names share, if they share any."""
    words = [name.split() for name in names]
    return (
        " ".join(word for word in words[0] if all(word in each for each in words)) if words else ""
    )
