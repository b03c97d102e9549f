"""Completes the window of the program: its contents, and what concerns the whole process."""

from __future__ import annotations

import ctypes
import gc
import linecache
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Slot

from inspector.resources import resource_path
from inspector.stop_signals import exit_code_of

from ..kit.throttled_refresh import single_shot
from ..session.bridge import SessionBridge
from .contents import WindowContents
from .endless_code import EndlessCode
from .preloading import Preloading
from .process import FaultReporter, Interrupts

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door
    from inspector.sessions.compared import FilesToCompare

    from .main_window import MainWindow


#: As the third threshold of Python's collector: as good as never.
_SELDOM: Final = 1_000_000


class Completion(QObject):
    """Everything that begins after the first paint and ends with the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._next_turn = single_shot(self, self._collect_garbage)
        self._third = 0  # The threshold of collections of all objects
        self._sessions = 0  # How many there were, with the present one
        self._faults = FaultReporter(window)
        window.dress()
        bridge = SessionBridge()
        self._contents = WindowContents(window, bridge)
        bridge.session_changed.connect(self._note_session)
        bridge.loading_changed.connect(self._note_loading)
        bridge.facts_due.connect(self._faults.put_back_needed)
        self._preloading = Preloading(bridge, window)
        self._preloading.finished.connect(give_back_memory)
        self._endless_code = EndlessCode(window)
        self._interrupts = Interrupts(window, self._endless_code.end)
        bridge.refresh_timer.moving_changed.connect(self._put_off_collection)
        # Modules and widgets stay; going through all of them for garbage takes 20 ms each
        # time, in which no frame of the scene could begin.
        gc.freeze()
        gc.enable()

    def open(self, scene: Path | Door | FilesToCompare | None) -> None:
        """Open a file, attach to a program, compare files, or open the first built-in scene."""
        if isinstance(scene, Path):
            self._window.open_path(scene)
            return
        if scene is not None:
            # With it come captures and all that is known of them, which no start waits for.
            from inspector.sessions.compared import FilesToCompare  # noqa: PLC0415

            if isinstance(scene, FilesToCompare):
                self._contents.window_states.compare_files(scene)
            else:
                self._window.bridge.open_door(scene)
            return
        # In the order of built_in_scenes(), which also reads what is in them.
        first = min(resource_path("scenes").glob("*.py"), default=None)
        if first is not None:
            self._window.bridge.open_scene(first)

    @Slot()
    def _note_session(self) -> None:
        self._sessions += 1
        self._next_turn.start()

    @Slot()
    def _collect_garbage(self) -> None:
        """Free the former session, log and all, when nothing shows it any more.

        It is full of rings. Python looks for such by the number of objects, to which a log of
        megabytes counts little: several sessions would be kept that were closed long ago.
        """
        if self._sessions > 1:
            # Through all of the new session too: a quarter of a second with a million timers.
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        give_back_memory()

    @Slot(object)
    def _note_loading(self, scene: Path | None) -> None:
        if scene is None:
            # What a scene has built stays too, while it is shown: a million timers would be gone
            # through three times before they are.
            gc.freeze()

    @Slot(bool)
    def _put_off_collection(self, is_moving: bool) -> None:  # noqa: FBT001 - a slot
        """Go through all objects for garbage only when nothing is being moved.

        With thousands of timers that takes as long as two pictures.
        """
        first, second, third = gc.get_threshold()
        if is_moving:
            self._third = third
            gc.set_threshold(first, second, _SELDOM)
        elif third == _SELDOM:
            # Else the scene has set its own.
            gc.set_threshold(first, second, self._third)

    def finish(self) -> int:
        """Stop; return the exit code if a signal has ended the window, else 0."""
        gc.unfreeze()
        self._next_turn.stop()
        self._endless_code.stop()
        self._faults.stop()
        self._interrupts.stop()
        return exit_code_of(self._interrupts.number) if self._interrupts.number else 0


def give_back_memory() -> None:
    """Have memory that nothing uses returned to the system, where the C library can.

    What a session leaves behind lies between things that stay, and would be kept for later:
    up to 60 MB of it, and 3 MB after a start. The sources that PySide6 has read while it was
    imported itself are 3 MB more; what a traceback needs of them is read again.
    """
    linecache.clearcache()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
