"""Work that would let the window stand, done beside its thread."""

from __future__ import annotations

from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, SignalInstance, Slot
from shiboken6 import isValid

if TYPE_CHECKING:
    from collections.abc import Callable

    #: Says which share of the work is done; raises :exc:`Cancelled` once it is not wanted.
    Report = Callable[[float], None]


class Cancelled(Exception):  # noqa: N818 - not an error: ends work that is no longer wanted
    """The work has been cancelled."""


class Background(QObject):
    """Does one thing at a time in a thread of its own; what is started later replaces it.

    What the work raises is raised in the window's thread.
    """

    progressed = Signal(float)  # The share that is done, from 0 to 1
    done = Signal(object)  # The result of the work
    failed = Signal(object)  # Exception: the work has raised one of the expected errors

    _arrived = Signal(object, object)  # the number of the work, what to call

    def __init__(
        self, parent: QObject | None = None, *, expected: type[Exception] = Cancelled
    ) -> None:
        """Do nothing at first; :attr:`failed` is for the ``expected`` errors."""
        super().__init__(parent)
        self._expected = expected
        self._number = 0
        self._thread: Thread | None = None
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def start(self, work: Callable[[Report], object]) -> None:
        """Do something, instead of what is being done."""
        self._number += 1
        number = self._number

        def report(share: float) -> None:
            if number != self._number or not isValid(self):
                raise Cancelled
            self._send(number, partial(self.progressed.emit, share))

        def run() -> None:
            try:
                result = work(report)
            except Cancelled:
                return
            except self._expected as error:
                self._send(number, partial(self._end, self.failed, error))
            except BaseException as error:  # noqa: BLE001 - raised in the window's thread
                self._send(number, partial(self._raise, error))
            else:
                self._send(number, partial(self._end, self.done, result))

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
            QCoreApplication.sendPostedEvents(self)

    def _send(self, number: int, act: Callable[[], None]) -> None:
        # The window may be gone.
        if isValid(self):
            self._arrived.emit(number, act)

    @Slot(object, object)
    def _deliver(self, number: int, act: Callable[[], None]) -> None:
        if number == self._number:
            act()

    def _end(self, signal: SignalInstance, value: object) -> None:
        self._thread = None
        signal.emit(value)

    def _raise(self, error: BaseException) -> None:
        self._thread = None
        raise error
