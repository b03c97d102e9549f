"""Messages of a command while a scene runs: progress, and code that does not return."""

from __future__ import annotations

import sys
from threading import get_ident
from time import perf_counter_ns
from typing import Final, Self, TextIO

from inspector.cli.terminal import write_notes
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.running_code import EntryWatch, running_code
from inspector.sessions.scene import program_hint
from inspector.timebase import format_duration

#: Below this share done, the remaining time would be a guess.
_GUESS: Final = 0.01
#: Time in one frame after which the running code is named.
_ENDLESS_AFTER_S: Final = 5.0


class Progress:
    def __init__(self, err: TextIO) -> None:
        self._err = err
        self._is_shown = err.isatty()
        self._began_ns = perf_counter_ns()
        self._width = 0

    def update(self, done: float) -> None:
        if not self._is_shown:
            return
        took_ns = perf_counter_ns() - self._began_ns
        text = f"{done:4.0%}"
        if done > _GUESS:
            text += f"  {format_duration(round(took_ns * (1 - done) / done))} left"
        self._err.write(f"\r{text.ljust(self._width)}")
        self._err.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            self._err.write("\r" + " " * self._width + "\r")
            self._err.flush()
            self._width = 0


class EndlessCodeNote:
    """Prints which code of a scene does not return, once for each such frame."""

    def __init__(self, err: TextIO) -> None:
        self._session: HostedSession | None = None
        self._err = err
        self._is_said = False

    def __enter__(self) -> Self:
        self._thread = get_ident()
        self._watch = EntryWatch(
            self._entry, on_long=self._write_note, on_over=self._forget, after_s=_ENDLESS_AFTER_S
        )
        return self

    def watch(self, session: HostedSession) -> None:
        """Watch this session from now on for a frame that does not end."""
        self._session = session

    def __exit__(self, *_problem: object) -> None:
        self._watch.stop()

    def _entry(self) -> object:
        session = self._session
        return () if session is None else (session.frames_run, session.session_ns)

    def _write_note(self, seconds: float) -> None:
        if self._is_said:
            return
        code = running_code(sys._current_frames().get(self._thread))  # noqa: SLF001
        if code is not None:
            self._is_said = True
            twice = "" if code.is_python else ", if need be the second time"
            hint = f" {program_hint(code.module)}" if code.module is not None else ""
            write_notes(self._err, f"{code.text(seconds)}{hint} Ctrl+C ends it{twice}.")
            self._err.flush()

    def _forget(self) -> None:
        self._is_said = False
