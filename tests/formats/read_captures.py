"""Reads captures to their end, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.formats.captures.tool_tables import FrameTableReader

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.formats.captures.capture import Capture, CaptureReader


@dataclass(frozen=True)
class FrameTimesRead:
    """A stream of a table as plain values."""

    frame_times_ns: tuple[int, ...]
    column: str
    stream: str
    skipped: int
    notes: tuple[str, ...]


def whole(reader: CaptureReader) -> Capture:
    """Read a capture to its end."""
    while reader.read_on():
        pass
    return reader.capture()


def read_frame_times(
    path: Path, column: str | None = None, *, stream: str | None = None
) -> FrameTimesRead:
    """Read a stream of a table."""
    capture = whole(FrameTableReader(path, column))
    chosen = capture.stream(stream)
    return FrameTimesRead(
        tuple(chosen.interval_ns.tolist()),
        chosen.column,
        chosen.name,
        chosen.skipped,
        capture.notes_on(chosen),
    )
