"""What a command says besides its answer: problems, notes, and how far it is."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, TextIO

from inspector.timebase import format_duration

if TYPE_CHECKING:
    from inspector.errors import InspectorError
    from inspector.exit_codes import ExitCode

PROGRAM: Final = "timeline-inspector"

#: Before this share is done, what is left is a guess.
_GUESS: Final = 0.01


def say(err: TextIO, *sentences: object) -> None:
    """Write sentences, a line each, that begin with the program's name."""
    err.writelines(f"{PROGRAM}: {sentence}\n" for sentence in sentences)


def say_error(error: InspectorError, err: TextIO) -> ExitCode:
    """Write what went wrong; returns what the command ends with."""
    say(err, error)
    if error.detail:
        err.write(f"\n{error.detail}\n")
    return error.exit_code


class Progress:
    """One line that says how far it is, if somebody is looking."""

    def __init__(self, err: TextIO) -> None:
        """Begin now, with nothing done."""
        self._err = err
        self._is_shown = err.isatty()
        self._began_ns = perf_counter_ns()
        self._width = 0

    def show(self, done: float) -> None:
        """Show how much is done, from 0 to 1."""
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
        """Leave the line as if nothing had been there."""
        if self._width:
            self._err.write("\r" + " " * self._width + "\r")
            self._err.flush()
            self._width = 0
