"""Ends the program in an orderly way when the terminal or the system asks for it."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Slot

if TYPE_CHECKING:
    from types import FrameType

    from PySide6.QtWidgets import QWidget


class Interrupts(QObject):
    """Closes the window, and so saves the settings, on Ctrl+C in the terminal or a kill.

    Python runs signal handlers only between its own instructions, of which an idle
    event loop runs none; so a socket that Python writes to wakes the loop.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._read_end, self._write_end = socket.socketpair()
        self._read_end.setblocking(False)
        self._write_end.setblocking(False)
        self._former_fd = signal.set_wakeup_fd(self._write_end.fileno(), warn_on_full_buffer=False)
        self._former = {
            number: signal.signal(number, self._take_note)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        self._notifier = QSocketNotifier(self._read_end.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)

    def stop(self) -> None:
        """Put back what was there."""
        self._notifier.setEnabled(False)
        for number, handler in self._former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._former_fd)
        self._read_end.close()
        self._write_end.close()

    @Slot()
    def _read(self) -> None:
        self._read_end.recv(64)
        self._window.close()

    def _take_note(self, _number: int, _frame: FrameType | None) -> None:
        """Do nothing here: Python may be in the middle of a paint.

        The number was written to the socket; the window is closed from the event loop.
        """
