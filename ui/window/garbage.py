"""When Python looks for garbage, so that no frame of a scene and no picture waits for it."""

from __future__ import annotations

import ctypes
import gc
import linecache
import sys
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Slot

from ..kit.throttled_refresh import single_shot
from ..session.bridge import SessionBridge

#: Third threshold of Python's collector with which it practically never searches all objects.
_SELDOM: Final = 1_000_000


class GarbageCollection(QObject):
    """Keeps Python's collector from what stays, and from moves of the playhead and the view."""

    def __init__(self, bridge: SessionBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._next_turn = single_shot(self, self._collect_garbage)
        self._third = 0  # The threshold of collections of all objects
        self._sessions = 0  # How many there were, with the present one
        bridge.session_changed.connect(self._note_session)
        bridge.loading_changed.connect(self._note_loading)
        bridge.refresh_timer.moving_changed.connect(self._put_off_collection)
        # Modules and widgets stay, so they are left out of garbage collections: they would take
        # 20 ms each, in which no frame of the scene could begin.
        gc.freeze()
        gc.enable()

    @Slot()
    def _note_session(self) -> None:
        self._sessions += 1
        self._next_turn.start()

    @Slot()
    def _collect_garbage(self) -> None:
        """Free the former session, log and all, when nothing shows it any more.

        It is full of reference cycles. Python searches for them depending on the number of new
        objects, of which a log of megabytes has few: it would keep several sessions long closed.
        """
        if self._sessions > 1:
            # This includes all of the new session: a quarter of a second with a million timers.
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        give_back_memory()

    @Slot(object)
    def _note_loading(self, scene: Path | None) -> None:
        if scene is None:
            # What a scene has built stays while it is shown, so it is left out, too: a million
            # timers would be searched three times.
            gc.freeze()

    @Slot(bool)
    def _put_off_collection(self, is_moving: bool) -> None:  # noqa: FBT001 - a slot
        """Put off the search of all objects for garbage while something is being moved.

        With thousands of timers, it takes as long as two pictures.
        """
        first, second, third = gc.get_threshold()
        if is_moving:
            self._third = third
            gc.set_threshold(first, second, _SELDOM)
        elif third == _SELDOM:
            # With another threshold, the scene has set its own, which stays.
            gc.set_threshold(first, second, self._third)

    def finish(self) -> None:
        gc.unfreeze()
        self._next_turn.stop()
        self._put_off_collection(False)


def give_back_memory() -> None:
    """Return unused memory to the system, where the C library can.

    The memory that a session leaves lies between objects in use, and the library would keep it
    for later: up to 60 MB, and 3 MB after a start. The source lines that the import of PySide6
    has cached are 3 MB more; a traceback reads again what it needs of them.
    """
    linecache.clearcache()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
