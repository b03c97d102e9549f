"""The timers of asyncio's loops: types for their handles, and the tasks that sleep by them."""

from __future__ import annotations

from contextvars import copy_context
from weakref import ref

from ..kinds import NEVER, TIMER_FIRED
from ..program import DUE, PERIOD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Callable, Optional, Union

    from ..clocks import Clock
    from ..program import Program

#: What a timer of asyncio consists of.
_HANDLE = (  # noqa: SIM905 - a list would be ten lines
    "__weakref__ _args _callback _cancelled _context _loop _repr _scheduled _source_traceback _when"
).split()


class Sleeper(ref):  # type: ignore[type-arg] # has none at run time before 3.9
    """A task that sleeps; its sleeps at the same place are one timer.

    Attributes:
        identity: Identity of the task.
        place: Where it sleeps: a place in the instructions of ``code``.
        delay: For how many seconds it has asked.
        number: Number of its timer, 0 if it has none.
        is_set: Whether it sleeps.
    """

    __slots__ = ("code", "delay", "identity", "is_set", "number", "place")

    identity: int
    place: int
    code: Optional[CodeType]
    delay: Optional[float]
    number: int
    is_set: bool


def quick_handle_type(handle_type: Any) -> Any:
    """Return asyncio's type of timers, made and compared in less time if they are as expected.

    A heap compares each timer ten times where there are many.
    """

    class TimerHandle(handle_type):  # type: ignore[misc] # known when asyncio is
        __slots__ = ()

        def __init__(
            self: Any, when: Any, callback: Any, args: Any, loop: Any, context: Any
        ) -> None:
            # What three calls of asyncio's do for a loop that is not debugged.
            self._context = copy_context() if context is None else context
            self._loop, self._callback, self._args = loop, callback, args
            self._when, self._cancelled, self._scheduled = when, False, False
            self._repr = self._source_traceback = None

        def __lt__(self, other: Any) -> Any:
            try:
                return self._when < other._when
            except AttributeError:
                return NotImplemented

    has = {name for each in handle_type.__mro__ for name in vars(each).get("__slots__", ())}
    return TimerHandle if has == set(_HANDLE) else handle_type


def followed_handle_type(  # noqa: PLR0913, PLR0917 - each is read in every call
    handle_type: Any,
    quick_type: Any,
    program: Program,
    clock: Clock,
    timers: dict[int, Union[int, Sleeper]],
    on_woken: Callable[[Sleeper], None],
) -> Any:
    """Return the type of the timers that a loop's clock follows.

    ``timers`` has the number of each, or the task that sleeps by it, by the identity of the handle.
    A task that may sleep again is handed to ``on_woken``.
    """
    records, monotonic_ns = program.timers, program.clocks.now_ns
    run, cancel = handle_type._run, handle_type.cancel

    class TimerHandle(quick_type):  # type: ignore[misc] # known when asyncio is
        __slots__ = ()

        def _run(self) -> Any:
            emit = program.emit
            if emit is not None:
                sleeper, number = None, timers.pop(id(self), 0)
                if isinstance(number, Sleeper):
                    sleeper, number = number, number.number
                    sleeper.is_set = False
                # A sleep cancels its timer afterwards too, which need not be seen.
                self.__class__ = handle_type
                record = records.get(number)
                if record is not None:
                    at_ns, shift_ns = monotonic_ns(), clock._shift
                    local_ns = clock.local_ns() if shift_ns is None else at_ns + shift_ns
                    next_ns = NEVER
                    if sleeper is not None and record[PERIOD]:
                        # If its task sleeps again; else it is cleared soon.
                        next_ns = local_ns + record[PERIOD]
                        on_woken(sleeper)
                    else:
                        del records[number]
                    emit((at_ns, TIMER_FIRED, number, local_ns - record[DUE], next_ns))
            return run(self)

        def cancel(self) -> Any:
            if program.emit is not None:
                number = timers.pop(id(self), 0)
                if isinstance(number, Sleeper):
                    number.is_set = False
                    number = number.number
                if number:
                    program.cleared(number, program.call_site())
            return cancel(self)

    return TimerHandle
