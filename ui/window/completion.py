"""Completes the window of the program: its contents, and what concerns the whole process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.resources import resource_path
from inspector.stop_signals import exit_code_of

from ..session.bridge import SessionBridge
from .contents import WindowContents
from .endless_code import EndlessCode
from .garbage import GarbageCollection, give_back_memory
from .preloading import Preloading
from .process import FaultReporter, Interrupts

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door
    from inspector.sessions.compared import FilesToCompare

    from .main_window import MainWindow


class Completion(QObject):
    """Everything that begins after the first paint and ends with the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._faults = FaultReporter(window)
        window.dress()
        bridge = SessionBridge()
        self._contents = WindowContents(window, bridge)
        bridge.facts_due.connect(self._faults.put_back_needed)
        self._preloading = Preloading(bridge, window)
        self._preloading.finished.connect(give_back_memory)
        self._endless_code = EndlessCode(window)
        self._interrupts = Interrupts(window, self._endless_code.end)
        self._garbage = GarbageCollection(bridge, self)

    def open(self, scene: Path | Door | FilesToCompare | None) -> None:
        """Open a file, attach to a program, compare files, or open the first built-in scene."""
        if isinstance(scene, Path):
            self._window.open_path(scene)
            return
        if scene is not None:
            # Imported late: it brings in captures and all about them, which no start waits for.
            from inspector.sessions.compared import FilesToCompare  # noqa: PLC0415

            if isinstance(scene, FilesToCompare):
                self._contents.window_states.compare_files(scene)
            else:
                self._window.bridge.open_door(scene)
            return
        # The first of built_in_scenes(), which is not called as it also reads every scene.
        first = min(resource_path("scenes").glob("*.py"), default=None)
        if first is not None:
            self._window.bridge.open_scene(first)

    def finish(self) -> int:
        """Stop; return the exit code if a signal has ended the window, else 0."""
        self._garbage.finish()
        self._endless_code.stop()
        self._faults.stop()
        self._interrupts.stop()
        return exit_code_of(self._interrupts.number) if self._interrupts.number else 0
