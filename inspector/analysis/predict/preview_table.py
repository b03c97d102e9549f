"""A preview as a short table of timers, with the instants before and after."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct

from inspector.analysis.predict.preview_result import DuePreview, Preview
from inspector.display_text import counted
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant

#: Timers listed by default.
MOST_ROWS: Final = 8


class PreviewRow(Struct, frozen=True):
    name: str
    old: str
    new: str
    difference: str


class PreviewTable(Struct, frozen=True):
    """The first timers of a preview, and how many more there are."""

    sentence: str
    rows: tuple[PreviewRow, ...]
    rest: str

    def lines(self) -> list[str]:
        if not self.rows:
            return [self.sentence]
        titles = PreviewRow("timer", "fires at", "would fire at", "")
        shown = [titles, *self.rows]
        width = max(len(row.name) for row in shown)
        old, new = (max(len(getattr(row, what)) for row in shown) for what in ("old", "new"))
        lines = [
            f"  {row.name:<{width}}  {row.old:>{old}}  {row.new:>{new}}  {row.difference}".rstrip()
            for row in shown
        ]
        return [self.sentence, *lines, *([f"  {self.rest}"] if self.rest else [])]


def preview_table(timeline: Timeline, preview: Preview, most: int = MOST_ROWS) -> PreviewTable:
    """Return the first timers of a preview in words, at about the cost of counting them."""
    changed = np.flatnonzero(preview.old_ns != preview.new_ns)
    rows = tuple(_row(timeline, preview[int(place)]) for place in changed[:most])
    more, same = len(changed) - len(rows), len(preview) - len(changed)
    parts = []
    if more:
        parts.append(f"and {more:,} more")
    if same and len(changed):
        kept = counted(same, "timer")
        parts.append(f"{kept} would fire at the same instant as now")
    return PreviewTable(preview.sentence, rows, "; ".join(parts))


def _row(timeline: Timeline, due: DuePreview) -> PreviewRow:
    number = due.call.number
    if due.call.is_member:
        name = timeline.members.by_id[number].name or f"member {number}"
    else:
        name = timeline.timers.row(number).label or f"timer {number}"
    return PreviewRow(name, _at(due.old_ns), _at(due.new_ns), _difference(due))


def _at(at_ns: int | None) -> str:
    return "never" if at_ns is None else format_instant(at_ns)


def _difference(due: DuePreview) -> str:
    if due.new_ns is None:
        return "waits"
    if due.old_ns is None:
        return "resumes"
    shift_ns = due.new_ns - due.old_ns
    return f"{format_duration(abs(shift_ns))} {'later' if shift_ns > 0 else 'earlier'}"
