"""Markers: bookmarks, notes, named ranges and marks of a session, by frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from inspector.events.annotations import Annotation
from inspector.events.timeline import Timeline

#: The kinds of markers: annotations of users first, then marks of the scene.
MARKER_KINDS: Final = ("bookmark", "note", "range", "mark")


@dataclass(frozen=True, slots=True)
class Marker:
    """A user's bookmark, note or named range, or a mark of the scene."""

    kind: str
    at_ns: int  # Session time; the beginning of a range
    frame: int
    name: str  # Its name in one line
    text: str = ""  # More text, possibly several lines
    end_ns: int | None = None  # Session time at which a range ends, else None
    last_frame: int = 0  # The last frame of a range, else frame

    def __post_init__(self) -> None:
        """End all other kinds in their own frame."""
        if self.end_ns is None or self.last_frame < self.frame:
            object.__setattr__(self, "last_frame", self.frame)


def markers_of(timeline: Timeline, annotations: Iterable[Annotation]) -> tuple[Marker, ...]:
    frames = timeline.frames
    if frames.end <= frames.first:
        return ()

    def frame_at(at_ns: int) -> int:
        return min(frames.frame_at(at_ns), frames.end - 1)

    found = [
        Marker(
            each.kind,
            each.at_ns,
            frame_at(each.at_ns),
            each.title,
            each.text,
            each.end_ns,
            frame_at(each.last_ns),
        )
        for each in annotations
    ]
    found += [
        Marker("mark", each.at_ns, frame_at(each.at_ns), each.text) for each in timeline.marks
    ]
    found.sort(key=lambda each: (each.at_ns, MARKER_KINDS.index(each.kind)))
    return markers_within(found, 0, frames.end)


def markers_within(found: Iterable[Marker], start: int, stop: int) -> tuple[Marker, ...]:
    return tuple(each for each in found if each.last_frame >= start and each.frame < stop)
