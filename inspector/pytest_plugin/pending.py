"""The calls that a test in virtual time waits for, in words."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from inspector.probe.adapters import UNSEEN
from inspector.probe.program import Program, Timer
from inspector.probe.waits import Waits

#: The most lines of each list in a report.
_MOST_LINES = 20


def pending_lines(program: Program, waits: Waits) -> Iterator[str]:
    """Yield what is pending, where it was set and what stops it."""
    yield from _listed("Pending timers", [*_timer_lines(program)])
    yield from _listed("Waiting", [*_thread_lines(program, waits), *_task_lines(program)])
    yield from _listed(
        "Time has passed as on the machine",
        [f"{passed_ns / 1e9:.3g} s for {name}" for name, passed_ns in waits.passed_for.items()],
    )
    yield from _listed("Not controlled", uncontrolled(program))


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines[:_MOST_LINES])
        if len(lines) > _MOST_LINES:
            yield f"  and {len(lines) - _MOST_LINES} more"


def _timer_lines(program: Program) -> Iterator[str]:
    found = [Timer(program, number, None) for number in list(program.timers)]
    for timer in sorted(found, key=lambda each: each.due_ns - each.clock.local_ns()):
        clock = timer.clock
        seconds = (timer.due_ns - clock.local_ns()) / 1e9
        record = program.timers[timer.number]
        site = program.texts[record[2]]
        name = program.texts[record[1]]
        stopped = _stopped_by(program, timer)
        yield f"{name}, due in {seconds:.6g} s" + (f", set at {site}" if site else "") + stopped


def _stopped_by(program: Program, timer: Timer) -> str:
    clock = timer.clock
    while clock.parent is not None:
        if clock.is_paused or clock.rate_n == 0:
            return f"; the clock “{clock.name}” is paused"
        clock = clock.parent
    return "; the program's time is held" if program.own_clock.is_held else ""


def _thread_lines(program: Program, waits: Waits) -> Iterator[str]:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for thread, frame in sys._current_frames().items():
        if waits.follows(thread) and thread in names:
            yield f"thread {names[thread]}{_at(own_frame(program, frame))}"


def own_frame(program: Program, frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the program itself."""
    while frame is not None:
        if is_own(program, frame):
            return frame
        frame = frame.f_back
    return None


def is_own(program: Program, frame: FrameType) -> bool:
    """Return whether a frame is of the program itself, not of a library or of what looks at it."""
    return not program.is_library(frame.f_code) and not program.is_hidden(frame)


def _at(frame: FrameType | None) -> str:
    if frame is None:
        return ""
    code = frame.f_code
    return f" at {code.co_filename}:{frame.f_lineno} in {code.co_qualname}"


def _task_lines(program: Program) -> Iterator[str]:
    for adapter in list(program.adapters.values()):
        for _clock, loop in adapter.task_loops() if adapter.state == "active" else ():
            for name, coroutine in sorted(_tasks(loop), key=lambda each: (len(each[0]), each[0])):
                frames = [*_awaiting(coroutine)]
                own = [each for each in frames if not program.is_library(each.f_code)]
                yield f"task {name}{_at(next(reversed(own or frames), None))}"


def _tasks(loop: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(loop, "create_task"):
        for task in sys.modules["asyncio"].all_tasks(loop):
            yield task.get_name(), task.get_coro()
    else:
        for task in list(loop.tasks):
            yield task.name, task.coro


def _awaiting(coroutine: Any) -> Iterator[FrameType]:
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is None:
            return
        yield frame
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)


def unfollowed_text(frame: FrameType) -> str:
    """Return a warning about a wait by the machine's time, given the frame that waits."""
    text = "This waits by the machine's clock, which virtual time does not control."
    packages = {module.partition(".")[0]: (name, message) for module, name, message in UNSEEN}
    outer: FrameType | None = frame
    while outer is not None:
        known = packages.get(str(outer.f_globals.get("__name__", "")).partition(".")[0])
        if known is not None:
            return f"{text} {known[0]}: {known[1]}."
        outer = outer.f_back
    return text


def uncontrolled(program: Program) -> list[str]:
    """Return the loaded libraries that keep the machine's time, with the reasons."""
    return [
        f"{adapter.library}: {adapter.message}"
        for adapter in program.adapters.values()
        if adapter.message
    ]
