"""The frame rate of a scene: measured, and read from text."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from inspector.clocks.rate import checked_frame_rate
from inspector.events.timeline import Timeline
from inspector.foreign.numbers import number_in, refusal

#: The frame rate is measured over this time or this many frames.
_MEASURED_NS: Final = 1_000_000_000
_MEASURED_FRAMES: Final = 240


def measured_frame_rate(timeline: Timeline) -> float | None:
    """Return frames per second of source time over the last second, if there were any."""
    intervals = timeline.frames.interval_ns
    passed_ns = count = 0
    for interval_ns in reversed(intervals[-_MEASURED_FRAMES:]):
        if interval_ns <= 0:
            continue
        passed_ns += interval_ns
        count += 1
        if passed_ns >= _MEASURED_NS:
            break
    return count * 1_000_000_000 / passed_ns if passed_ns else None


def parse_frame_rate(text: str) -> Fraction:
    """Parse ``60``, ``59.94`` or ``60000/1001``; raises ValueError, which says why not."""
    stripped = text.strip().lower().removesuffix("fps").removesuffix("hz").strip()
    try:
        rate = number_in(stripped)
    except ValueError:
        hint = "write 60, 59.94 or 60000/1001"
        raise ValueError(refusal("a frame rate", text.strip(), hint)) from None
    return checked_frame_rate(rate)


def frame_rate_to_text(frames_per_second: Fraction) -> str:
    decimal = f"{float(frames_per_second):.3f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == frames_per_second else str(frames_per_second)
