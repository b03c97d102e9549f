"""Bookmarks, notes, named ranges and marks of a session, by the frames they fall into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from inspector.events.annotations import Annotation
    from inspector.events.timeline import Timeline

#: What the kinds are called, those that people left before those that the scene made.
LANDMARK_KINDS: Final = ("bookmark", "note", "range", "mark")


@dataclass(frozen=True, slots=True)
class Landmark:
    """A bookmark, a note or a named range that a user left, or a mark of the scene.

    Attributes:
        kind: One of :data:`LANDMARK_KINDS`.
        at_ns: Session time; where a range begins.
        frame: The frame that had begun by then; the first there is, before that.
        name: What to call it in one line.
        text: What it says besides, maybe on several lines.
        end_ns: Session time at which a range ends, ``None`` for the others.
        last_frame: The last frame of a range; of the others, ``frame`` again.
    """

    kind: str
    at_ns: int
    frame: int
    name: str
    text: str = ""
    end_ns: int | None = None
    last_frame: int = 0

    def __post_init__(self) -> None:
        """Let what is no range end in the frame where it is."""
        if self.end_ns is None or self.last_frame < self.frame:
            object.__setattr__(self, "last_frame", self.frame)


def landmarks_between(
    timeline: Timeline,
    annotations: Iterable[Annotation] = (),
    start: int = 0,
    stop: int | None = None,
) -> tuple[Landmark, ...]:
    """Return what users left in some frames, and what the scene marked there.

    Args:
        timeline: The session.
        annotations: What people left in it.
        start: The first frame.
        stop: The frame behind the last, none for all that follow.

    Returns:
        The earliest first. What comes after the newest frame belongs to that.
    """
    frames = timeline.frames
    if frames.end <= frames.first:
        return ()
    starts_ns = frames.numpy("at_ns", frames.first, frames.end)

    def frame_at(at_ns: int) -> int:
        return frames.first + max(0, bisect_right(starts_ns, at_ns) - 1)

    found = [
        Landmark(
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
        Landmark("mark", each.at_ns, frame_at(each.at_ns), each.text) for each in timeline.marks
    ]
    found.sort(key=lambda each: (each.at_ns, LANDMARK_KINDS.index(each.kind)))
    return landmarks_within(found, start, frames.end if stop is None else stop)


def landmarks_within(found: Iterable[Landmark], start: int, stop: int) -> tuple[Landmark, ...]:
    """Return those any part of which is in frames ``start`` up to, not including, ``stop``."""
    return tuple(each for each in found if each.last_frame >= start and each.frame < stop)
