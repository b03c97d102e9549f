"""Code of the user's that keeps a thread: where it is, and a watch that notices."""

from __future__ import annotations

import os
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from inspector.resources import resource_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_PACKAGE: Final = Path(__file__).resolve().parents[2]
#: Whatever calls the engine; what lies further out has nothing to do with the scene.
_HOSTS: Final = (
    str(_PACKAGE.parent / "ui") + os.sep,
    str(_PACKAGE / "cli") + os.sep,
    *(str(_PACKAGE / name) for name in ("launcher.py", "testing.py")),
)
_ENGINE: Final = str(_PACKAGE) + os.sep
_SCENES: Final = str(resource_path("scenes")) + os.sep
_STANDARD_LIBRARY: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})

#: How often the watch looks while nothing takes long, and while something does.
_LOOK_S: Final = 0.25
_LOOK_CLOSELY_S: Final = 0.04


@dataclass(frozen=True, slots=True)
class RunningCode:
    """Code of the user's that a thread is in.

    Attributes:
        frame: Of the function that the engine has called.
        path: The file that is being run.
        line: The line in it.
        is_innermost: Whether it runs itself, or in a library that it has called. Else it has
            called the engine, which is in the middle of something.
        timer: The name of the timer that it is the callback of, or empty.
    """

    frame: FrameType
    path: Path
    line: int
    is_innermost: bool
    timer: str = ""

    def text(self, seconds: float) -> str:
        """Return what is going on, as a sentence.

        Args:
            seconds: For how long.
        """
        code = self.frame.f_code
        file = Path(code.co_filename).name
        where = (
            f"line {self.line}"
            if file == self.path.name
            else f"line {self.line} of {self.path.name}"
        )
        if code.co_name == "<module>":
            return f"{file} has been running its own code for {seconds:.0f} s, at {where}."
        what = f"“{self.timer or code.co_name}”"
        if code.co_name == "build" and not self.timer:
            what = "build(stage)"
        return f"{what} in {file} has been running for {seconds:.0f} s, at {where}."


def running_code(frame: FrameType | None) -> RunningCode | None:
    """Return the code of the user's that a thread is in, ``None`` if it is in none.

    Args:
        frame: The innermost frame of the thread.
    """
    innermost = called = None
    is_in_engine = False
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_HOSTS):
            break
        if name.startswith(_ENGINE) and not name.startswith(_SCENES):
            if called is not None:
                break
            is_in_engine = True
        elif not _is_library(name):
            innermost = innermost or frame
            called = frame
        frame = frame.f_back
    if innermost is None or called is None:
        return None
    timer = frame.f_locals.get("timer") if frame is not None else None
    return RunningCode(
        called,
        Path(innermost.f_code.co_filename),
        innermost.f_lineno,
        not is_in_engine,
        str(getattr(timer, "name", "")),
    )


def _is_library(name: str) -> bool:
    """Whether a file belongs to whatever has called it."""
    return name.startswith(("<", *_STANDARD_LIBRARY)) or "site-packages" in name


class EntryWatch:
    """Notices, in a thread of its own, that somebody does not come back from somewhere.

    Attributes:
        after_s: For how long nobody has to come back before it is noticed.
    """

    def __init__(
        self,
        entry: Callable[[], object | None],
        *,
        on_long: Callable[[float], None],
        on_over: Callable[[], None],
        after_s: float,
    ) -> None:
        """Begin to watch.

        Args:
            entry: Returns what tells one stay from the next, ``None`` while there is none.
            on_long: Called again and again while a stay is long, with its seconds.
            on_over: Called once after that. All three are called in the watch's own thread.
            after_s: For how long nobody has to come back before it is noticed.
        """
        self.after_s = after_s
        self._entry = entry
        self._on_long = on_long
        self._on_over = on_over
        self._stopped = Event()
        self._thread = Thread(target=self._watch, name="watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        entry: object | None = None
        since_s = monotonic()
        is_long = False
        while not self._stopped.wait(_LOOK_CLOSELY_S if is_long else _LOOK_S):
            former, entry = entry, self._entry()
            if entry is None or entry != former:
                since_s = monotonic()
                if is_long:
                    is_long = False
                    self._on_over()
            elif (seconds := monotonic() - since_s) >= self.after_s:
                is_long = True
                self._on_long(seconds)
