"""The interface of trace writers: tracks, slices, instants and counters, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct

from inspector.formats.captures.trace_extras import CounterTrack

#: The track of the process, above all others.
PROCESS: Final = 0
#: The track of the frames that are shown.
FRAMES: Final = 1
#: Added to the numbers of clocks, and to those of machines or the tracks of a capture.
CLOCKS: Final = 10
MACHINES: Final = 1_000_000


class Reach(StrEnum):
    """The scope of an instant, with the letters of trace-event JSON."""

    TRACK = "t"
    PROCESS = "p"
    ALL = "g"


class FlowStep(Struct, frozen=True):
    """A step of a flow, to which a slice belongs."""

    flow: int
    name: str  # Its name; empty where it has none
    begins: bool
    ends: bool


class SliceDetails(Struct, frozen=True):
    arguments: Mapping[str, object]  # Values by name, such as JSON has
    flows: Sequence[FlowStep] = ()  # The flows that it is part of


NOTHING: Final = SliceDetails({})


class TraceWriter(Protocol):
    """Writes one format of a trace.

    Slices of a track come in the order of their beginnings, enclosing slices before nested ones.
    """

    nests: bool  # Whether slices of a track have to nest or follow each other

    def track(
        self,
        track: int,
        name: str,
        parent: int,
        *,
        is_process: bool = False,
        number: int | None = None,
    ) -> None:
        """Name a track before its first event.

        Args:
            track: Its number, and its place among its siblings.
            number: The system's number of the process or thread, ``None`` without one.
        """

    def slice(
        self, track: int, name: str, at_ns: int, took_ns: int, about: SliceDetails = NOTHING
    ) -> None:
        """Add a stretch of time."""

    def instant(
        self, track: int, name: str, at_ns: int, reach: Reach, about: SliceDetails = NOTHING
    ) -> None:
        """Add an instant."""

    def counter(self, track: int, counted: CounterTrack, at_ns: int, value: float) -> None:
        """Set a counter of a track, or of the process."""
