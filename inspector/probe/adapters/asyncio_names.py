"""Names of asyncio's loops, and of its timers with the places that have set them."""

from __future__ import annotations

import re
import sys
from functools import partial
from threading import enumerate as enumerate_threads
from threading import get_ident, main_thread

from ..program import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any, Optional

    from ..program import Program

#: What callbacks of asyncio are for, in the words of its users.
_PURPOSES = {
    "_set_result_unless_cancelled": "sleep",
    "_release_waiter": "wait_for",
    "Timeout._on_timeout": "timeout",
    "_SelectorSocketTransport._on_timeout": "timeout",
}
_NUMBERED_TASK = re.compile(r"Task-\d+|QtTask|(Timer|set_timer|set_interval)#\d+")


class TimerNames:
    def __init__(self, program: Program, module: Any) -> None:
        """Read what is needed of ``asyncio.base_events``, here named ``module``."""
        self.program = program
        self.current_task = module.tasks.current_task
        self.sleep_file = module.tasks.sleep.__code__.co_filename
        self.sleep_callback = module.futures._set_result_unless_cancelled
        # The code by which loops call callbacks; frames outside of it run the loop.
        self.callers = {module.events.Handle._run.__code__}

    def name_and_site(self, handle: Any, frame: Optional[FrameType]) -> tuple[str, int]:
        """Return the name of a timer that is being set, and its call site, from a frame on.

        What a library does is named after the function of the program that has asked for it.
        """
        program, of_tornado = self.program, called_by_tornado(handle)
        name = name_of(of_tornado or handle._callback)
        purpose = _PURPOSES.get(name)
        if purpose is not None:
            task = self.current_task(handle._loop)
            if task is not None and (asker := self.asker_of(task)) is not None:
                return self._waiting_name_and_site(purpose, asker)
            name = purpose if task is None else f"{purpose} in {self.task_name(task, frame)}"
        while frame is not None and program.is_hidden(frame):
            frame = frame.f_back
        own = next(self._own_frames(frame), None)
        if own is None and of_tornado is not None:
            return name, self.program.function_site(of_tornado)
        own = own or frame
        if (task := self.current_task(handle._loop)) and (called := self.called_by(task)):
            return name, self.program.function_site(called)
        return name, 0 if own is None else program.code_site(own.f_code, own.f_lineno)

    def asker_of(self, task: Any) -> Any:
        """Return the task that waits for one that runs a coroutine of asyncio; ``None`` for others.

        ``gather(sleep(1))`` makes such a task, and before Python 3.12 ``wait_for(sleep(1), 2)``.
        """
        coroutine = task.get_coro()
        code = getattr(coroutine, "cr_code", None)
        if code is None or code.co_filename != self.sleep_file:
            return None
        for callback, _ in task._callbacks or ():
            waiter = _future_behind(callback)
            for wakes, _ in getattr(waiter, "_callbacks", None) or ((callback, None),):
                asker: Any = getattr(wakes, "__self__", None)
                if hasattr(asker, "get_coro"):
                    return asker
        return None

    @staticmethod
    def textual_timer(task: Any) -> Any:
        """Return the timer of Textual whose task it is; ``None`` for other tasks."""
        coroutine = task.get_coro()
        if getattr(coroutine, "__qualname__", "") != "Timer._run_timer":
            return None
        frame = getattr(coroutine, "cr_frame", None)
        timer: Any = None if frame is None else frame.f_locals.get("self")
        return timer if type(timer).__module__ == "textual.timer" else None

    def called_by(self, task: Any) -> Any:
        """Return what a timer of Textual calls, whose task it is; ``None`` for other tasks."""
        timer = self.textual_timer(task)
        if timer is None:
            return None
        called = timer._callback
        # What set_timer() calls is called with the next message.
        is_later = isinstance(called, partial) and name_of(called).endswith("call_next")
        return called.args[0] if is_later else called

    def _own_frames(self, frame: Optional[FrameType]) -> Iterator[FrameType]:
        """Yield the frames of the program itself on the way to what its loop has called."""
        while frame is not None and frame.f_code not in self.callers:
            if not self.program.is_library(frame.f_code) and not self.program.is_hidden(frame):
                yield frame
            frame = frame.f_back

    def task_name(self, task: Any, frame: Optional[FrameType]) -> str:
        """Return what a task does, with the name it was given, if that is another.

        The numbers that asyncio gives would make every timer of a server a text of its own.
        """
        coroutine = task.get_coro()
        name = str(getattr(coroutine, "__qualname__", type(coroutine).__qualname__))
        code = getattr(coroutine, "cr_code", None)
        if code is not None and self.program.is_library(code):
            # A coroutine of a server, which calls the program's functions.
            for own in self._own_frames(frame):
                name = str(getattr(own.f_code, "co_qualname", own.f_code.co_name))
        if called := self.called_by(task):
            name = name_of(called)
        given = task.get_name()
        says_no_more = given == name.rpartition(".")[2] or _NUMBERED_TASK.fullmatch(given)
        return name if says_no_more else f"{name} ({given})"

    def pending_name_and_site(self, handle: Any) -> tuple[str, int]:
        """Return the name of a timer that was set earlier, and where its task waits."""
        callback, args = called_by_tornado(handle) or handle._callback, handle._args or ()
        name = name_of(callback)
        purpose = _PURPOSES.get(name)
        awaited = args[0] if args and purpose is not None else None
        for each in getattr(awaited, "_callbacks", None) or ():
            task: Any = getattr(each[0], "__self__", None)
            if hasattr(task, "get_coro"):
                return self._waiting_name_and_site(purpose, self.asker_of(task) or task)
        return (name, self.program.function_site(callback)) if purpose is None else (purpose, 0)

    def _waiting_name_and_site(self, purpose: Optional[str], task: Any) -> tuple[str, int]:
        """Return the name of a timer that a task waits for, and the place where it does."""
        program, coroutine, own, inner = self.program, task.get_coro(), [], None
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
            if frame is None:
                break
            if not program.is_hidden(frame):
                inner = frame
                if not program.is_library(frame.f_code):
                    own.append(frame)
            coroutine = getattr(coroutine, "cr_await", None)
        shown = own[-1] if own else inner
        name = self.task_name(task, own[0] if own else None)
        site = 0 if shown is None else program.code_site(shown.f_code, shown.f_lineno)
        if called := self.called_by(task):
            site = self.program.function_site(called)
        return f"{purpose} in {name}", site


def _future_behind(callback: Any) -> Any:
    """Return the future that a callback of ``wait_for`` or ``gather`` sets; ``None`` for others."""
    if isinstance(callback, partial):
        return callback.args[0] if callback.args else None
    names = getattr(getattr(callback, "__code__", None), "co_freevars", ())
    return callback.__closure__[names.index("outer")].cell_contents if "outer" in names else None


def name_of_shot(program: Program, call: Any) -> str:
    """Return the name of a single shot of Qt, by which PySide6.QtAsyncio calls its handles."""
    name, names = name_of(call), getattr(program.adapters.get("asyncio"), "names", None)
    if names is None or not name.startswith("QAsyncioHandle."):
        return name
    (handle,) = [cell.cell_contents for cell in call.__closure__]
    return str(names.name_and_site(handle, sys._getframe())[0])


def called_by_tornado(handle: Any) -> Any:
    """Return what a timer of Tornado's loop calls; ``None`` for other timers."""
    if (
        getattr(handle, "_args", None)
        and getattr(handle._callback, "__qualname__", "") == "IOLoop._run_callback"
    ):
        periodic = periodic_of_tornado(handle)
        return handle._args[0] if periodic is None else periodic.callback
    return None


def periodic_of_tornado(handle: Any) -> Any:
    """Return the ``PeriodicCallback`` of Tornado that a timer is of; ``None`` for other timers."""
    called = handle._args[0] if handle._args else None
    owner = getattr(getattr(called, "func", None), "__self__", None)
    is_one = type(owner).__module__ == "tornado.ioloop" and hasattr(owner, "callback_time")
    return owner if is_one else None


def loop_name(loop: Any) -> str:
    """Return the name of a loop, with that of its thread unless it is the main thread."""
    number = getattr(loop, "_thread_id", None) or get_ident()
    names = {thread.ident: thread.name for thread in enumerate_threads()}
    name = names.get(number, "")
    is_main = number == main_thread().ident or not name
    return "asyncio loop" if is_main else f"asyncio loop ({name})"
