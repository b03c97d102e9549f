"""Timers of asyncio's loops that are made and compared in less time."""

from __future__ import annotations

from contextvars import copy_context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What a timer of asyncio consists of.
_HANDLE = (  # noqa: SIM905 - a list would be ten lines
    "__weakref__ _args _callback _cancelled _context _loop _repr _scheduled _source_traceback _when"
).split()


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
