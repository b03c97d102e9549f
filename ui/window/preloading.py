"""Loads what the first click on something needs, while the scene leaves time for that."""

from __future__ import annotations

from collections import deque
from importlib import import_module
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot

from inspector.window_loader import quick_imports

from ..kit.throttled_refresh import single_shot
from ..session.bridge import SessionBridge

#: Late enough not to delay the opening of a scene.
_AFTER_MS: Final = 1_500
#: Modules that others import come first, so that each takes only a few milliseconds.
_MODULES: Final = (
    "inspector.analysis.explain.call_past",
    "inspector.analysis.explain.blocker_reasons",
    "inspector.analysis.explain.lateness",
    "inspector.analysis.explain.last_call",
    "inspector.analysis.explain.gone",
    "inspector.analysis.predict.scores",
    "..why.reason_rows",
    "inspector.events.blocks.quick_fold",
    "inspector.analysis.lint.surveyed",
    "inspector.analysis.lint.survey",
    "inspector.analysis.lint.mistakes",
    "inspector.analysis.lint.over_budget",
    "inspector.analysis.lint.rules",
    "..findings",
)


class Preloading(QObject):
    finished = Signal()

    def __init__(self, bridge: SessionBridge, parent: QObject) -> None:
        """Begin some time after the first session was opened."""
        super().__init__(parent)
        self._bridge = bridge
        self._missing = deque(_MODULES)
        self._start = single_shot(self, self._queue_turn, _AFTER_MS)
        bridge.session_changed.connect(self._begin)

    @Slot()
    def _begin(self) -> None:
        if self._missing:
            self._start.start()

    @Slot()
    def _queue_turn(self) -> None:
        self._bridge.refresh_timer.queue_turn(self, self.load_next, can_wait=True)

    def load_next(self) -> None:
        """Import the next module, and ask for another turn; emit ``finished`` after the last."""
        if not self._missing:
            self.finished.emit()
            return
        with quick_imports():
            import_module(self._missing.popleft(), __package__)
        self._queue_turn()
