"""Progress of a command on a terminal."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Final, TextIO

from inspector.timebase import format_duration

#: Below this share done, the remaining time is a guess.
_GUESS: Final = 0.01


class Progress:
    """A line of progress, on a terminal."""

    def __init__(self, err: TextIO) -> None:
        self._err = err
        self._is_shown = err.isatty()
        self._began_ns = perf_counter_ns()
        self._width = 0

    def show(self, done: float) -> None:
        """Show the share done, from 0 to 1."""
        if not self._is_shown:
            return
        took_ns = perf_counter_ns() - self._began_ns
        text = f"{done:4.0%}"
        if done > _GUESS:
            text += f"  {format_duration(round(took_ns * (1 - done) / done))} left"
        self._err.write(f"\r{text.ljust(self._width)}")
        self._err.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            self._err.write("\r" + " " * self._width + "\r")
            self._err.flush()
            self._width = 0
