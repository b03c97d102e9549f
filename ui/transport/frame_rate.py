"""The frame rate of a scene: measured, read from text, and asked for."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal

from inspector.clocks.rate import checked_frame_rate
from inspector.foreign.numbers import number_in, refusal

from ..kit.prompts import Prompt

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.events.timeline import Timeline

    from ..kit.theme import Theme

#: The frame rate is measured over this time or this many frames.
_MEASURED_NS: Final = 1_000_000_000
_MEASURED_FRAMES: Final = 240


class FrameRatePrompt(Prompt):
    """Asks for any frame rate."""

    frame_rate_given = Signal(object)  # Fraction: frames per second

    def __init__(self, rate: Fraction, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            "Frame rate",
            "Frames per second of session time: 60, 59.94 or 60000/1001",
            self._take,
            theme,
            parent,
        )
        self.line.setText(frame_rate_to_text(rate))
        self.line.selectAll()

    def _take(self, text: str) -> None:
        self.frame_rate_given.emit(parse_frame_rate(text))


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
