"""Changes of clocks while something waits on them, as values."""

from __future__ import annotations

from abc import ABC, abstractmethod

from msgspec import Struct
from typing_extensions import override

from inspector.events.handlers import handlers_of
from inspector.events.history import History
from inspector.vocabulary import RATE_DENOMINATOR, rate_chip


class ClockChange(Struct, frozen=True):
    """A change of how the time of a clock passes, or its end."""

    cursor: int
    at_ns: int
    clock_id: int
    kind: str  # pause, resumption, rate, move or removal
    text: str  # The change in words, such as "set to ×½"
    # Number of the command that made the change, 0 for the program; None if unknown.
    cause: int | None = None
    # Numerator of the rate that the change alone causes: 0 for a pause, RATE_DENOMINATOR if it
    # sets no rate.
    speed_n: int = RATE_DENOMINATOR


class ClockChangeReader(ABC):
    """Handles events, and calls :meth:`changed` with the changes of clocks among them."""

    place = 0  # Cursor of the present event, set before the event is handled

    @abstractmethod
    def changed(self, change: ClockChange) -> None:
        """Handle a change."""

    def _on_clock_rate(self, at_ns: int, clock_id: int, rate_n: int, cause: int) -> None:
        text = f"set to {rate_chip(rate_n)}"
        self.changed(ClockChange(self.place, at_ns, clock_id, "rate", text, cause, rate_n))

    def _on_clock_paused(self, at_ns: int, clock_id: int, cause: int, _b: int) -> None:
        self.changed(ClockChange(self.place, at_ns, clock_id, "pause", "paused", cause, 0))

    def _on_clock_resumed(self, at_ns: int, clock_id: int, cause: int, _b: int) -> None:
        self.changed(ClockChange(self.place, at_ns, clock_id, "resumption", "resumed", cause))

    def _on_clock_moved(self, at_ns: int, clock_id: int, _parent: int, _b: int) -> None:
        self.changed(ClockChange(self.place, at_ns, clock_id, "move", "moved"))

    def _on_clock_removed(self, at_ns: int, clock_id: int, _a: int, _b: int) -> None:
        self.changed(ClockChange(self.place, at_ns, clock_id, "removal", "removed"))


class _Changes(ClockChangeReader):
    def __init__(self) -> None:
        self.found: list[ClockChange] = []

    @override
    def changed(self, change: ClockChange) -> None:
        self.found.append(change)


def change_at(history: History, at_ns: int, clock_id: int, kind: str) -> int | None:
    """Return the cursor of the last change of a kind of a clock at an instant, if there is one."""
    reader, start = _Changes(), history.cursor_at(at_ns - 1)
    steps = handlers_of(reader)
    cursors, events = history.numbered(start, history.cursor_at(at_ns))
    for reader.place, (_, number, subject, a, b) in zip(cursors, events, strict=True):
        if subject == clock_id and number in steps:
            steps[number](at_ns, subject, a, b)
    cursors = [change.cursor for change in reader.found if change.kind == kind]
    return cursors[-1] if cursors else None
