"""Work that would make the window hang, done in a background thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache, partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, Slot
from shiboken6 import isValid

if TYPE_CHECKING:
    #: Reports the share of the work that is done; raises :exc:`Cancelled` once it is not wanted.
    Report = Callable[[float], None]


class Cancelled(Exception):  # noqa: N818 - not an error: ends work that is no longer wanted
    """The work has been cancelled."""


class Background(QObject):
    """Does one thing at a time in a thread of its own; what is started later replaces it.

    Errors of the work are raised in the window's thread.
    """

    # The share that is done, from 0 to 1; the newest where several are reported at once
    progressed = Signal(float)
    done = Signal(object)  # The result of the work
    failed = Signal(object)  # Exception: the work has raised one of the expected errors

    def __init__(
        self, parent: QObject | None = None, *, expected: type[Exception] = Cancelled
    ) -> None:
        """Do nothing at first; :attr:`failed` is for the ``expected`` errors."""
        super().__init__(parent)
        self._expected = expected
        self._number = 0
        self._thread: Thread | None = None
        self._inbox = _inbox()

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def start(self, work: Callable[[Report], object]) -> None:
        """Start some work, which replaces the work under way."""
        self._number += 1
        number = self._number
        untold: deque[float] = deque()

        def report(share: float) -> None:
            if number != self._number or not isValid(self):
                raise Cancelled
            untold.append(share)
            if len(untold) == 1:
                self._send(number, Background._progress, untold)

        def run() -> None:
            try:
                result = work(report)
            except Cancelled:
                return
            except self._expected as error:
                self._send(number, Background._fail, error)
            except BaseException as error:  # noqa: BLE001 - raised in the window's thread
                self._send(number, Background._raise, error)
            else:
                self._send(number, Background._finish, result)

        self._thread = Thread(target=run, name="background", daemon=True)
        self._thread.start()

    @Slot()
    def cancel(self) -> None:
        self._number += 1
        self._thread = None

    def wait(self) -> None:
        thread = self._thread
        if thread is not None:
            thread.join()
            QCoreApplication.sendPostedEvents(self._inbox)

    def _send(self, number: int, act: Callable[[Background, Any], None], value: object) -> None:
        """Call ``act`` in the window's thread, unless this object is gone by then."""
        self._inbox.arrived.emit(partial(self._deliver, number, act, value))

    def _deliver(self, number: int, act: Callable[[Background, Any], None], value: object) -> None:
        if number == self._number and isValid(self):
            act(self, value)

    def _progress(self, untold: deque[float]) -> None:
        newest = untold[-1]
        untold.clear()
        self.progressed.emit(newest)

    def _finish(self, result: object) -> None:
        self._thread = None
        self.done.emit(result)

    def _fail(self, error: Exception) -> None:
        self._thread = None
        self.failed.emit(error)

    def _raise(self, error: BaseException) -> None:
        self._thread = None
        raise error


class _Inbox(QObject):
    """Runs calls from other threads in the window's thread.

    It is never deleted: a thread that emits a signal of a deleted object ends the process.
    """

    arrived = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.arrived.connect(self._call, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def _call(self, act: Callable[[], None]) -> None:
        act()


@cache
def _inbox() -> _Inbox:
    return _Inbox()
