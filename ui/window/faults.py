"""Sends what goes wrong, in Python or in Qt, to the log, and says so in the window."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

if TYPE_CHECKING:
    from types import TracebackType

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


class FaultReporter:
    """Sends what goes wrong, in Python or in Qt, to the log, and says so in the window."""

    def __init__(self, window: MainWindow) -> None:
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        self._window = window
        self._former_hook = sys.excepthook
        sys.excepthook = self._report
        self._former_handler = qInstallMessageHandler(self._log_qt_message)

    def stop(self) -> None:
        """Put back what was there."""
        sys.excepthook = self._former_hook
        qInstallMessageHandler(self._former_handler)

    def _report(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._window.close()
            return
        if self._window.blames_extension(error):
            return
        logger.critical("an internal error", exc_info=(kind, error, trace))
        self._window.report_fault(f"{kind.__name__}: {error}")

    def _log_qt_message(
        self, kind: QtMsgType, context: QMessageLogContext, message: str | None
    ) -> None:
        category = context.category or "default"
        qt_logger.log(_QT_LEVELS.get(kind, logging.WARNING), "%s: %s", category, message)
