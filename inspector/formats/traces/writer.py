"""The interface of trace writers: tracks, slices, instants and counters, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct

from inspector.formats.captures.trace_extras import CounterTrack

#: The process, above all tracks.
PROCESS: Final = 0
#: The frames that are shown.
FRAMES: Final = 1
#: Before the numbers of clocks, and of machines or the tracks of a capture.
CLOCKS: Final = 10
MACHINES: Final = 1_000_000


class Reach(StrEnum):
    """How much of a trace an instant concerns, in the letters of trace-event JSON."""

    TRACK = "t"
    PROCESS = "p"
    ALL = "g"


class FlowStep(Struct, frozen=True):
    """That a slice is part of a flow."""

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

    Slices of a track come with those around others first, and in the order of their beginnings.
    """

    nests: bool  # Whether slices of a track must be within each other or follow each other

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
