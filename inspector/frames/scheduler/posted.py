"""Functions posted to a scheduler: called at the end of one of its frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.failures import CALLBACK_ERRORS

ResultT = TypeVar("ResultT")


class PostedFunctions:
    """Holds functions until the end of a frame; any thread may add them.

    Attributes:
        waiting: Future, function and arguments of each, in the order in which they were
            added; read-only outside.
    """

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: deque[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = deque()

    def add(self, function: Callable[..., ResultT], args: tuple[Any, ...]) -> Future[ResultT]:
        """Call ``function(*args)`` at the end of a frame.

        Returns:
            A future: another thread may wait for the result or cancel the call.

        Raises:
            TypeError: ``function`` cannot be called.
        """
        checked_callable(function)
        future: Future[ResultT] = Future()
        self.waiting.append((future, function, args))
        return future

    def clear(self) -> None:
        """Cancel the functions that have not been called."""
        while self.waiting:
            self.waiting.popleft()[0].cancel()

    def run(self, report: Callable[[str, BaseException], object]) -> None:
        """Call the waiting functions; those added meanwhile wait for the next frame.

        Args:
            report: Called with the label and the exception of a function that fails.
        """
        for _ in range(len(self.waiting)):
            if not self.waiting:
                return
            future, function, args = self.waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = function(*args)
                refuse_unfinished(result)
            except CALLBACK_ERRORS as error:
                # Before an interrupt is raised again: a thread may wait for the result.
                future.set_exception(error)
                report(label_of(function), error)
            else:
                future.set_result(result)
