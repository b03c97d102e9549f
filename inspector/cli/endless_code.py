"""A note about code of a scene that does not return, while a command runs it."""

from __future__ import annotations

import sys
from threading import get_ident
from typing import TYPE_CHECKING, Final, Self, TextIO

from inspector.cli.terminal import say
from inspector.sessions.runs.running_code import EntryWatch, running_code

if TYPE_CHECKING:
    from inspector.sessions.hosted import HostedSession

#: Time in one frame after which the code is named.
_ENDLESS_AFTER_S: Final = 5.0


class EndlessCodeNote:
    """Names code of a scene that does not return, once."""

    def __init__(self, err: TextIO) -> None:
        self._session: HostedSession | None = None
        self._err = err
        self._is_said = False

    def __enter__(self) -> Self:
        self._thread = get_ident()
        self._watch = EntryWatch(
            self._entry, on_long=self._say, on_over=self._forget, after_s=_ENDLESS_AFTER_S
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

    def _say(self, seconds: float) -> None:
        if self._is_said:
            return
        code = running_code(sys._current_frames().get(self._thread))  # noqa: SLF001
        if code is not None:
            self._is_said = True
            twice = "" if code.is_python else ", if need be the second time"
            say(self._err, f"{code.text(seconds)} Ctrl+C ends it{twice}.")
            self._err.flush()

    def _forget(self) -> None:
        self._is_said = False
