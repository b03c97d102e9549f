"""Starts the window: the Qt application, the first paint, then the rest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

from inspector.window_loader import quick_imports

from ..kit.theme import Theme
from .main_window import MainWindow
from .settings import SettingsFile

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door
    from inspector.sessions.compared import FilesToCompare

    from .completion import Completion

#: A window that is never exposed is completed after this many milliseconds.
_LATEST_COMPLETION_MS: Final = 1_000


def main(scene: Path | Door | FilesToCompare | None = None) -> int:
    """Show the window until it is closed.

    Args:
        scene: The scene file or recording to open, the program to attach to, or what to compare;
            the first built-in scene if left out.

    Returns:
        The exit code.
    """
    application = make_application()
    settings_file = SettingsFile()
    settings = settings_file.load()
    window = MainWindow(Theme(settings.theme), settings_file, settings)
    first_paint = _FirstPaint(window, scene)
    window.show_first()
    code = application.exec()
    return first_paint.finish() or code


def make_application() -> QApplication:
    """Return the Qt application, named and with the style that the palettes are for."""
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        # The style is an argument, as the first call of setStyle takes PySide6 4 ms for the
        # enumerations of QStyle; the first paint may take 25 ms more than that of a bare window.
        name = sys.argv[0] if sys.argv else "timeline-inspector"
        application = QApplication([name, "-style", "Fusion"])
    else:
        application.setStyle("Fusion")
    application.setApplicationName("timeline-inspector")
    application.setApplicationDisplayName("Timeline Inspector")
    application.setDesktopFileName("timeline-inspector")
    return application


class _FirstPaint(QObject):
    """Completes the window in the turn after it was painted."""

    def __init__(self, window: MainWindow, scene: Path | Door | FilesToCompare | None) -> None:
        super().__init__(window)
        self._window = window
        self._scene = scene
        self._completion: Completion | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._complete)
        window.painted.connect(self._complete_soon)
        self._timer.start(_LATEST_COMPLETION_MS)

    @Slot()
    def _complete_soon(self) -> None:
        self._timer.start(0)

    @Slot()
    def _complete(self) -> None:
        self._timer.stop()
        self._window.painted.disconnect(self._complete_soon)
        with quick_imports():
            # This import brings in all that the first paint does not wait for: numpy, sessions,
            # and every feature of the window.
            from .completion import Completion  # noqa: PLC0415

            self._completion = Completion(self._window)
        self._completion.open(self._scene)

    def finish(self) -> int:
        """Stop; return the exit code if a signal has ended the window, else 0."""
        self._timer.stop()
        return 0 if self._completion is None else self._completion.finish()
