"""The process of the window: faults go to the log, and signals end it in good order."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Final, NoReturn

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    QtMsgType,
    Slot,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication, QWidget

from inspector.commands.transport import Hold
from inspector.exit_codes import ExitCode
from inspector.sessions.scene import NeededFunctions
from inspector.stop_signals import StopSignals

if TYPE_CHECKING:
    from .main_window import MainWindow

logger = logging.getLogger(__name__)
qt_logger = logging.getLogger("qt")

_QT_LEVELS: Final = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


#: Part of Qt's last message if it ends the process because X server or Wayland compositor is gone.
_DISPLAY_LOST: Final = "connection broke"


class FaultReporter:
    """Sends what goes wrong, in Python or in Qt, to the log, and says so in the window."""

    def __init__(self, window: MainWindow) -> None:
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        self._window = window
        self._needed = NeededFunctions()
        self._former_hook = sys.excepthook
        sys.excepthook = self._report
        self._former_handler = qInstallMessageHandler(self._log_qt_message)

    def stop(self) -> None:
        sys.excepthook = self._former_hook
        qInstallMessageHandler(self._former_handler)

    def put_back_needed(self) -> bool:
        """Put back what a callback of the scene replaced, hold the scene, and say so.

        Returns whether there was something to put back.
        """
        replaced = self._needed.put_back()
        if not replaced:
            return False
        text = (
            f"The scene has replaced {replaced[0]}, which the inspector needs: it was put back, "
            "and the scene is held."
        )
        logger.warning(text)
        self._window.bridge.submit(Hold())
        self._window.notice.show_lasting(text)
        return True

    def _report(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        was_put_back = self.put_back_needed()
        if issubclass(kind, KeyboardInterrupt):
            self._window.close()
            return
        if was_put_back or self._window.blames_extension(error):
            return
        logger.critical("an internal error", exc_info=(kind, error, trace))
        self._window.report_fault(f"{kind.__name__}: {error}")
        # The variables of the failed call would live until the next fault: while one is a view
        # of a column of timers, no timer can be added.
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            vars(sys).pop(name, None)

    def _log_qt_message(
        self, kind: QtMsgType, context: QMessageLogContext, message: str | None
    ) -> None:
        if _DISPLAY_LOST in (message or ""):
            self._end_without_display()
        category = context.category or "default"
        qt_logger.log(_QT_LEVELS.get(kind, logging.WARNING), "%s: %s", category, message)

    def _end_without_display(self) -> NoReturn:
        """Complete the recording, and end before Qt destroys everything in any order."""
        print("timeline-inspector: The display was lost, so the window has ended.", file=sys.stderr)  # noqa: T201
        with suppress(Exception):
            session = self._window.bridge.session
            if session is not None:
                session.close()
        with suppress(Exception):
            sys.stdout.flush()
        os._exit(ExitCode.NO_DISPLAY)


class Interrupts(QObject):
    """Closes the window, and so saves the settings, on Ctrl+C in the terminal or a kill.

    Python runs signal handlers only between its own instructions, of which an idle
    event loop runs none; so a socket that Python writes to wakes the loop.
    """

    def __init__(self, window: QWidget, on_first: Callable[[], None] | None = None) -> None:
        """Handle signals from now on.

        Args:
            window: What is closed.
            on_first: Called between two instructions of whatever is running, which may be in
                the middle of a paint or of a scene's callback.
        """
        super().__init__(window)
        self._window = window
        self._on_first = on_first
        self._read_end, self._write_end = socket.socketpair()
        self._read_end.setblocking(False)
        self._write_end.setblocking(False)
        self._former_fd = signal.set_wakeup_fd(self._write_end.fileno(), warn_on_full_buffer=False)
        self._signals = StopSignals(self._on_signal)
        self._notifier = QSocketNotifier(self._read_end.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)

    @property
    def number(self) -> int:
        """The signal that has come, 0 for none."""
        return self._signals.number

    def stop(self) -> None:
        self._notifier.setEnabled(False)
        self._signals.stop()
        signal.set_wakeup_fd(self._former_fd)
        self._read_end.close()
        self._write_end.close()

    @Slot()
    def _read(self) -> None:
        # There may be nothing to read: other signals that Python handles wake the loop, too, and
        # a nested loop may have read the byte.
        with suppress(BlockingIOError):
            self._read_end.recv(64)
        if self.number:
            # An open menu would keep the program running.
            while (popup := QApplication.activePopupWidget()) is not None:
                popup.close()
            self._window.close()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Close nothing here: the window is closed from the event loop."""
        if self._on_first is not None:
            self._on_first()
