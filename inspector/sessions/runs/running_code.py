"""User code that keeps a thread busy: where it is, and a watch that notices it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dis import get_instructions
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import CodeType, FrameType
from typing import Final

from msgspec import Struct

from inspector.clocks.callbacks import label_of
from inspector.resources import resource_path

_PACKAGE: Final = Path(__file__).resolve().parents[2]
#: Code that calls the engine; frames further out have nothing to do with the scene.
_HOSTS: Final = (
    str(_PACKAGE.parent / "ui") + os.sep,
    str(_PACKAGE / "cli") + os.sep,
    *(str(_PACKAGE / name) for name in ("launcher.py", "testing.py")),
)
_ENGINE: Final = str(_PACKAGE) + os.sep
_SCENES: Final = str(resource_path("scenes")) + os.sep
_STANDARD_LIBRARY: Final = str(Path(os.__file__).parent)
#: Names by which the engine calls callbacks of a user; of several, the last one.
_CALLBACK: Final = re.compile(r"_?(?:callback|call|function|listener|tick|told|on_\w+)")

#: Intervals of the watch's checks while no call takes long, and while one does.
_LOOK_S: Final = 0.25
_LOOK_CLOSELY_S: Final = 0.04


class RunningCode(Struct, frozen=True):
    """User code that a thread is in."""

    call: object  # Equal for the same call of the code, and for no other
    what: str  # What has been running, in words
    place: str  # Where, in words; for a library's function, what it is and where it was set
    # Whether the thread is in this code, or in a library that it has called. Otherwise it has
    # called the engine, which is better not interrupted.
    is_innermost: bool = True
    is_python: bool = True  # Whether it is Python code; other code may not react to signals
    module: Path | None = None  # The scene whose own code it is, outside of functions

    def text(self, seconds: float) -> str:
        return f"{self.what} for {seconds:.0f} s, {self.place}."


def running_code(frame: FrameType | None) -> RunningCode | None:
    """Return the user code that a thread is in, given its innermost frame."""
    innermost = called = None
    is_in_engine = False
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_HOSTS):
            break
        if name.startswith(_ENGINE) and not name.startswith(_SCENES):
            if called is not None:
                break
            if not is_in_engine and (callback := _callback_called(frame)) is not None:
                return _without_python(frame, callback)
            is_in_engine = True
        elif not _is_library(name):
            innermost = innermost or frame
            called = frame
        frame = frame.f_back
    if innermost is None or called is None:
        return None
    timer = None if frame is None else frame.f_locals.get("timer")
    return _in_python(called, innermost, timer, is_innermost=not is_in_engine)


def _in_python(
    called: FrameType, innermost: FrameType, timer: object, *, is_innermost: bool
) -> RunningCode:
    """Return the function that the engine has called, and the line that runs there or below.

    Args:
        called: The frame of that function.
        innermost: The innermost frame of user code, which may be the same.
        timer: The timer whose callback it is, ``None`` if there is none.
        is_innermost: Whether the user code has not called the engine.
    """
    path, module = Path(called.f_code.co_filename), None
    file = path.name
    innermost_file = Path(innermost.f_code.co_filename).name
    match getattr(timer, "name", "") or called.f_code.co_name:
        case "<module>":
            module = path
            what = f"{file} has been running its own code"
        case "build" if timer is None:
            what = f"build(stage) in {file} has been running"
        case name:
            what = f"“{name}” in {file} has been running"
    place = f"at line {innermost.f_lineno}"
    if innermost_file != file:
        place += f" of {innermost_file}"
    return RunningCode(called, what, place, is_innermost, module=module)


def _without_python(frame: FrameType, callback: Callable[..., object]) -> RunningCode:
    timer = frame.f_locals.get("timer")
    label = label_of(callback)
    place = f"in {label}"
    site = getattr(timer, "site", None)
    if site is not None:
        path, _, line = site.text.rpartition(" in ")[0].rpartition(":")
        place += f", set at line {line} of {Path(path).name}"
    what = f"“{getattr(timer, 'name', '') or label}” has been running"
    return RunningCode((frame, getattr(timer, "order", 0)), what, place, is_python=False)


def _callback_called(frame: FrameType) -> Callable[..., object] | None:
    """Return the callback that a frame is calling, ``None`` if it is not calling one."""
    names = _called_names(frame.f_code, frame.f_lasti)
    if not names or _CALLBACK.fullmatch(names[-1]) is None:
        return None
    thing = frame.f_locals.get(names[0])
    for name in names[1:]:
        thing = getattr(thing, name, None)
    return thing if callable(thing) else None


@lru_cache(maxsize=64)
def _called_names(code: CodeType, offset: int) -> tuple[str, ...]:
    """Return the names in the call at an offset, such as ``("self", "_call")``.

    They are found by position: a called expression begins where its call begins.
    """
    # There is one position for every two bytes, including caches between instructions.
    begin = next(islice(code.co_positions(), offset // 2, None))[0::2]
    return tuple(
        each.argval
        for each in get_instructions(code)
        if each.offset < offset
        and each.opname.startswith("LOAD_")
        and isinstance(each.argval, str)
        and each.positions is not None
        and each.positions[0::2] == begin
    )


def _is_library(name: str) -> bool:
    return name.startswith(("<", _STANDARD_LIBRARY)) or "site-packages" in name


class EntryWatch:
    """Notices, in its own thread, that a call does not return.

    It checks at intervals while there are calls, and rests while there are none.
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
            entry: Returns an object that differs from call to call, ``None`` while there is no
                call; then :meth:`wake` has to be called when the next begins.
            on_long: Called repeatedly during a long call, with its seconds.
            on_over: Called once after that. All three are called in the watch's own thread.
            after_s: How long a call may take before it is noticed.
        """
        self.after_s = after_s  # How long a call may take before it is noticed
        self.is_resting = False  # Whether it waits for wake()
        self._entry = entry
        self._on_long = on_long
        self._on_over = on_over
        self._stopped = Event()
        self._is_entered = Event()
        self._thread = Thread(target=self._watch, name="watch", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Check again, because a call has begun; from any thread, and at next to no cost."""
        if not self._is_entered.is_set():
            self._is_entered.set()

    def stop(self) -> None:
        self._stopped.set()
        self._is_entered.set()
        self._thread.join()

    def _watch(self) -> None:
        entry: object | None = None
        since_s = monotonic()
        is_long = False
        while not self._stopped.is_set():
            former, entry = entry, self._entry()
            if entry is None or entry != former:
                since_s = monotonic()
                if is_long:
                    is_long = False
                    self._on_over()
            elif (seconds := monotonic() - since_s) >= self.after_s:
                is_long = True
                self._on_long(seconds)
            if entry is None and not self._is_entered.is_set():
                # There was no call since the last check. One that begins now sets the event.
                self.is_resting = True
                self._is_entered.wait()
                self.is_resting = False
            else:
                self._is_entered.clear()
                self._stopped.wait(_LOOK_CLOSELY_S if is_long else _LOOK_S)
