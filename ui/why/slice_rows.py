"""Rows about a single slice of a trace: its arguments, and what led to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from inspector.display_text import one_line
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant

from ..session.bridge import Selection
from .rows import MOST_LISTED, DetailRow, LinkedText, heading, instant, linked

if TYPE_CHECKING:
    from inspector.sessions.capture_history import SliceAbout

_MOST_ARGUMENTS: Final = 40
_LONGEST: Final = 400


@runtime_checkable
class KnowsSlices(Protocol):
    def slice_ended(self, member: int, at_ns: int) -> int | None:
        """Return the index of the slice with a member's name that ended at an instant."""

    def about_slice(self, place: int) -> SliceAbout:
        """Return what is known of a slice, by its index."""


def slice_rows(history: object, timeline: Timeline, selection: Selection) -> list[DetailRow]:
    """Return what is known of the one call that is selected; nothing for all calls."""
    if selection.at_ns is None or not isinstance(history, KnowsSlices):
        return []
    place = history.slice_ended(selection.id, selection.at_ns)
    if place is None:
        return []
    about = history.about_slice(place)
    member = timeline.members.by_id.get(selection.id)
    name = "slice" if member is None else member.name
    rows = [
        heading(name),
        instant("Began at", about.start_ns),
        DetailRow("Took", format_duration(about.took_ns)),
    ]
    if member is not None and member.calls > 1:
        rows.append(DetailRow("In all", f"{member.calls:,} slices of this name"))
    for title, others in (("Follows from", about.follows), ("Leads to", about.leads)):
        if others:
            rows.append(linked(title, _links(others, timeline)))
    if about.arguments:
        rows.append(heading("Arguments"))
        entries = list(_entries(about.arguments))
        rows += [DetailRow(key, text) for key, text in entries[:_MOST_ARGUMENTS]]
        if len(entries) > _MOST_ARGUMENTS:
            rows.append(DetailRow("", f"and {len(entries) - _MOST_ARGUMENTS:,} more"))
    return rows


def _links(slices: tuple[tuple[int, int], ...], timeline: Timeline) -> Iterator[LinkedText]:
    """Yield a link to each slice, known by its member and when it ended."""
    for number, (member_id, ended_ns) in enumerate(slices[:MOST_LISTED]):
        if number:
            yield LinkedText(", ")
        member = timeline.members.by_id.get(member_id)
        name = "slice" if member is None else member.name
        target = Selection.call(member_id, ended_ns)
        yield LinkedText(f"{name}, until {format_instant(ended_ns, 6)}", target)
    if len(slices) > MOST_LISTED:
        yield LinkedText(f" and {len(slices) - MOST_LISTED:,} more")


def _entries(values: object, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and values; those of an object within another one have its name before theirs."""
    if isinstance(values, dict):
        for key, value in values.items():
            name = one_line(f"{above}.{key}" if above else str(key))
            if isinstance(value, dict) and value:
                yield from _entries(value, name)
            else:
                yield name, _text(value)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
