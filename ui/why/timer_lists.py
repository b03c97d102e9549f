"""The timers that fire next, and those that wait for a pause, as rows."""

from __future__ import annotations

from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
    """Return the timers due first, ``most`` at most, of those rows of the table, or of all."""
    timeline.resolve_dues()
    table = timeline.timers
    dues = table.numpy("session_due")
    if among is not None:
        dues = np.where(among, dues, NEVER)
    latest = NEVER - 1
    if len(dues) > most:
        # Finding the value takes a fifth of finding the places.
        latest = min(int(np.partition(dues, most - 1)[most - 1]), latest)
    places = np.flatnonzero(dues <= latest)
    order = np.lexsort((table.numpy("order")[places], dues[places]))
    rows = []
    for place in map(int, places[order[:most]]):
        link = LinkedText(timeline.strings[table.label[place]], Selection.timer(table.id[place]))
        clock = timeline.clocks[table.clock[place]].name
        left_ns = int(dues[place]) - timeline.at_ns
        late = "late " if left_ns < 0 else ""
        rows.append(item(link, clock, f"{late}{format_duration(abs(left_ns))}"))
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
        link = LinkedText(_shared(names), Selection.timer(table.id[int(places[group[0]])]))
        remaining = format_duration(max(0, int(left[group[0]])))
        value = f"{remaining} left" if len(group) == 1 else f"{len(group):,}, next {remaining}"
        rows.append(item(link, "", value))
    if len(groups) > MOST_WAITING:
        counts = [len(group) for group in islice(groups.values(), MOST_WAITING, None)]
        rows.append(item(LinkedText(f"and {sum(counts):,} more"), "", ""))
    return rows


def _shared(names: list[str]) -> str:
    """Return the words that names share, the first name if they share none."""
    alike = [word for word in names[0].split() if all(word in name.split() for name in names)]
    return " ".join(alike) or names[0]
