"""The present stack of a thread: the innermost call of the program, and whether it waits.

Nothing of the program is kept: a frame is read in one go and released, because the thread that
releases the last reference to it has to destroy what it refers to.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from threading import Condition

from .program import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Optional

#: Deeper stacks lose their outermost frames.
MOST_FRAMES = 120
#: Where the beginning of a function ends, in bytes of its code.
_BEGINNING = 8
#: ``inspect.CO_COROUTINE``: the flag of a function that is defined with ``async``.
_OF_COROUTINE = 0x80

_HERE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__))

#: Functions by which libraries call one callback after another, with a part of their file and the
#: variable that has the callback. Reading variables may leave a copy of them in the frame, but
#: these frames are short-lived.
_RUNNERS = {
    "_run": ("asyncio", "self"),
    "runUntilCurrent": ("twisted", "call"),
    "call_scheduled_functions": ("pyglet", "item"),
}
#: Files of the standard library whose functions wait for something when they use no processor. A
#: program may have files of the same names.
WAITING_FILES = frozenset(
    os.path.join(os.path.dirname(Condition.notify.__code__.co_filename), name)
    for name in (
        "threading.py",
        "socket.py",
        "ssl.py",
        "subprocess.py",
        "selectors.py",
        "queue.py",
        os.path.join("multiprocessing", "connection.py"),
        os.path.join("multiprocessing", "popen_fork.py"),
        os.path.join("concurrent", "futures", "_base.py"),
        "fcntl.py",
    )
)
#: What programs call when they wait in a function of the probe.
_PROBE_WAITS = {"sleep": "time.sleep", "wait": "Condition.wait", "join": "Thread.join"}
#: Names of what waits, as programs call it.
_WAITING_NAMES = frozenset(
    (  # noqa: SIM905 - a list would be 40 lines
        "sleep acquire wait join recv recv_into recvfrom accept connect send sendall read readline "
        "readinto readlines write flush fsync select poll epoll waitpid wait4 system get put "
        "result communicate getaddrinfo gethostbyname run check_output check_call call urlopen "
        "flock lockf execute commit input pause sigwait usleep nanosleep msleep delay tick"
    ).split()
)

#: Instructions that enter what a ``with`` statement is for, before Python 3.14.
_ENTERING = ("SETUP_WITH", "BEFORE_WITH")


class Runner:
    """What a library's loop is calling, and where."""

    __slots__ = ("identity", "is_task", "name", "place", "probe_call")

    def __init__(self) -> None:
        self.identity: object = 0
        self.is_task = False
        self.name = ""
        # The innermost function and its instruction; None if it is not known what was called while
        # the sampled time passed
        self.place: Optional[tuple[CodeType, int]] = None
        self.probe_call = ""  # The function of the probe that it has called; empty for none


def stack_of(thread: int, *, is_after: bool) -> tuple[list[tuple[CodeType, int]], Runner]:
    """Return the stack of a thread, outermost first, without frames of the probe."""
    runner = Runner()
    found: list[tuple[CodeType, int]] = []
    at_beginning = is_after
    is_entered = False
    below = 0
    frame: Optional[FrameType] = sys._current_frames().get(thread)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_HERE):
            if all(inner.co_filename in WAITING_FILES for inner, _ in found):
                # The outermost frame of the probe is what the program has called.
                runner.probe_call = code.co_name
                found.clear()
        elif at_beginning and frame.f_lasti < _BEGINNING:
            # The interpreter's lock was released on entry: none of the time was spent here.
            is_entered = True
        else:
            at_beginning = False
            if not found and not is_entered:
                runner.place = code, frame.f_lasti
            found.append((code, frame.f_lineno))
        known = _RUNNERS.get(code.co_name)
        if known is not None and known[0] in code.co_filename and not runner.name:
            _read_runner(runner, frame.f_locals.get(known[1]))
        elif code.co_name == "unrolled_run" and len(found) > 1 and not runner.name:
            # trio's loop: a coroutine that it calls is a task. Its frame is long-lived, so reading
            # its variables would keep them.
            step = found[-2][0]
            if step.co_flags & _OF_COROUTINE:
                runner.name = getattr(step, "co_qualname", step.co_name)
                runner.is_task, runner.identity = True, below
        if not runner.name:
            runner.identity = below
        below = id(frame)
        frame = frame.f_back
    del found[MOST_FRAMES:]
    found.reverse()
    return found, runner


def _read_runner(runner: Runner, called: Any) -> None:
    callback = getattr(called, "_callback", None) or getattr(called, "func", None)
    task: Any = getattr(callback, "__self__", None)
    if hasattr(task, "get_coro"):
        runner.name, runner.is_task = name_of(task.get_coro()), True
    elif callback is not None:
        runner.name = name_of(callback)
    runner.identity = id(called)


def wait_of(runner: Runner) -> tuple[bool, str]:
    """Return whether the innermost frame calls a function that waits, and its name if certain."""
    if runner.place is None:
        return False, ""
    code, place = runner.place
    if code.co_filename in WAITING_FILES:
        return True, ""
    if runner.probe_call in _PROBE_WAITS:
        return True, _PROBE_WAITS[runner.probe_call]
    if runner.probe_call:
        # Other hooks are about to call what they replace, which has their name.
        return runner.probe_call in _WAITING_NAMES, runner.probe_call
    enters = _enters(code, place)
    names = frozenset(code.co_names) if enters else _WAITING_NAMES.intersection(code.co_names)
    if names:
        names &= called_names(code, place)
    name = next(iter(names)) if len(names) == 1 else ""
    return enters or bool(names), f"{name}.__enter__" if enters and name else name


def _enters(code: CodeType, place: int) -> bool:
    """Return whether a ``with`` statement is entering something made in C, such as a lock."""
    # Imported late, as healthy programs never need it.
    from opcode import opmap  # noqa: PLC0415

    instructions = code.co_code
    is_special = place > 1 and instructions[place - 2] == opmap.get("LOAD_SPECIAL")
    return is_special or instructions[place] in [opmap.get(name) for name in _ENTERING]


@lru_cache(maxsize=256)
def called_names(code: CodeType, place: int) -> frozenset[str]:
    """Return the names of what a function calls, or enters by ``with``, at an instruction.

    Just one if the columns of instructions are known, as from Python 3.11 on; before, all names of
    the statement so far.
    """
    # Imported late, as healthy programs never need it.
    from dis import get_instructions  # noqa: PLC0415

    found: list[tuple[Any, Any, str]] = []
    latest: Optional[str] = None
    for each in get_instructions(code):
        at: Any = getattr(each, "positions", None)
        is_known = at is not None and at.col_offset is not None
        if not is_known and each.starts_line:
            found.clear()
        begin = (at.lineno, at.col_offset) if is_known else None
        end = (at.end_lineno, at.end_col_offset) if is_known else None
        if each.offset >= place:
            if each.opname in _ENTERING:
                # Its columns are those of the whole statement.
                return frozenset() if latest is None else frozenset((latest,))
            mine = [load for load in found if load[0] == begin]
            last = max((load[1] for load in mine if load[1]), default=None)
            return frozenset(name for _, until, name in mine if until == last)
        latest = None
        if each.opname.startswith("LOAD_") and isinstance(each.argval, str):
            latest = each.argval
            found.append((begin, end, latest))
    return frozenset()


def is_own(file: str) -> bool:
    return not (file.startswith((_LIBRARY, "<")) or "site-packages" in file)


def own_place(stack: list[tuple[CodeType, int]]) -> tuple[CodeType, int]:
    """Return the innermost place of a stack in a function of the program, rather in a named one."""
    own = [each for each in stack if is_own(each[0].co_filename)] or stack
    named = [each for each in own if not each[0].co_name.startswith("<")]
    modules = [each for each in own if each[0].co_name == "<module>"]
    return (named or modules or own)[-1]
