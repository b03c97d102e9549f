"""Starts the window: the Qt application, where faults are reported, first paint, then the rest."""

from __future__ import annotations

import gc
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

from inspector.stop_signals import exit_code_of

from ..kit.lean_imports import plain_imports

with plain_imports():
    from ..kit.theme import Theme
    from .main_window import MainWindow
    from .settings import SettingsFile

if TYPE_CHECKING:
    from .endless_code import EndlessCode
    from .faults import FaultReporter
    from .interrupts import Interrupts

#: A window that is never exposed is completed all the same.
_LATEST_COMPLETION_MS: Final = 1_000


def main(scene: Path | None = None) -> int:
    """Show the window until it is closed.

    Args:
        scene: The scene file or recording to open; the first built-in scene if left out.

    Returns:
        The exit code.
    """
    # Until the window is complete there is nothing to save, and no way to end it in order.
    former = signal.signal(signal.SIGINT, signal.SIG_DFL)
    application = make_application()
    with plain_imports():
        settings_file = SettingsFile()
        settings = settings_file.load()
    theme = Theme(settings.theme)
    window = MainWindow(theme, settings_file, settings)
    completion = _Completion(window, scene)
    window.show()
    code = application.exec()
    code = completion.finish() or code
    signal.signal(signal.SIGINT, former)
    return code


def make_application() -> QApplication:
    """Return the Qt application, named and with the style that the palettes are for."""
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = QApplication([sys.argv[0] if sys.argv else "timeline-inspector"])
    application.setApplicationName("timeline-inspector")
    application.setApplicationDisplayName("Timeline Inspector")
    application.setDesktopFileName("timeline-inspector")
    application.setStyle("Fusion")
    return application


class _Completion(QObject):
    """Brings in panels and session in the turn after the first paint."""

    def __init__(self, window: MainWindow, scene: Path | None) -> None:
        super().__init__(window)
        self._window = window
        self._scene = scene
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.complete)
        window.painted.connect(self.complete_soon)
        self._timer.start(_LATEST_COMPLETION_MS)
        self._next_turn = QTimer(self)
        self._next_turn.setSingleShot(True)
        self._next_turn.setInterval(0)
        self._next_turn.timeout.connect(self._collect_garbage)
        self._interrupts: Interrupts | None = None
        self._faults: FaultReporter | None = None
        self._endless_code: EndlessCode | None = None

    @Slot()
    def complete_soon(self) -> None:
        """Complete in the next turn of the event loop."""
        self._timer.start(0)

    @Slot()
    def complete(self) -> None:
        """Import what is slow to import, and open the scene."""
        self._timer.stop()
        self._window.painted.disconnect(self.complete_soon)
        with plain_imports():
            self._complete_window()
            first_scene = _first_scene() if self._scene is None else None
            # Modules and widgets stay; going through all of them for garbage takes 20 ms
            # each time, in which no frame of the scene could begin.
            gc.freeze()
        gc.enable()
        # What a scene imports is imported as it would be anywhere else.
        if self._scene is not None:
            self._window.open_path(self._scene)
        elif first_scene is not None:
            self._window.bridge.open_scene(first_scene)

    def _complete_window(self) -> None:
        from ..session.bridge import SessionBridge  # noqa: PLC0415 - after the first paint
        from .endless_code import EndlessCode  # noqa: PLC0415 - after the first paint
        from .faults import FaultReporter  # noqa: PLC0415
        from .interrupts import Interrupts  # noqa: PLC0415

        self._faults = FaultReporter(self._window)
        bridge = SessionBridge()
        self._window.complete(bridge)
        bridge.session_changed.connect(self._next_turn.start)
        self._endless_code = EndlessCode(self._window)
        self._interrupts = Interrupts(self._window, self._endless_code.end)

    @Slot()
    def _collect_garbage(self) -> None:
        """Free the former session, log and all, when nobody shows it any more.

        It is full of rings. Python looks for such by the number of objects, to which a log of
        megabytes counts little: several sessions would be kept that were closed long ago.
        """
        gc.collect()

    def finish(self) -> int:
        """Do nothing any more; return the exit code if a signal has ended the window, else 0."""
        gc.unfreeze()
        self._timer.stop()
        self._next_turn.stop()
        if self._endless_code is not None:
            self._endless_code.stop()
        if self._faults is not None:
            self._faults.stop()
        if self._interrupts is None:
            return 0
        self._interrupts.stop()
        return exit_code_of(self._interrupts.number) if self._interrupts.number else 0


def _first_scene() -> Path | None:
    """Return the built-in scene that is opened when none is asked for."""
    from inspector.resources import resource_path  # noqa: PLC0415 - after the first paint

    # In the order of built_in_scenes(), which also reads what is in them.
    return min(resource_path("scenes").glob("*.py"), default=None)
