"""Dragging the playhead: what a move costs in a window with a thousand timers.

A move is the state at another instant, and every panel in view that shows it, painted.
What is counted is the CPU time of the thread.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from time import thread_time_ns
from typing import TYPE_CHECKING, Final

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent

from inspector.clocks.manual_source import ManualTimeSource
from inspector.sessions.commands import Hold
from inspector.sessions.scene import find_scene
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from tests.benchmarks.report import Row
from ui.application import make_application
from ui.main_window import MainWindow
from ui.session_bridge import SessionBridge
from ui.settings import Settings, SettingsFile
from ui.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measuring import Effort

_SCENE: Final = "thousand_timers"
_SIZE: Final = (1_280, 720)
_FRAME_NS: Final = NS_PER_SECOND // 60
#: From one move to the next: a few pixels.
_MOVE_NS: Final = NS_PER_SECOND // 10
#: A redraw at 60 Hz.
_GOAL_MS: Final = 16.0


def drag(effort: Effort) -> Iterator[Row]:
    """Drag the playhead forward, then back, over a scene that is held."""
    application = make_application()
    source = ManualTimeSource()
    bridge = SessionBridge(make_source=lambda _precision: source)
    folder = Path(mkdtemp(prefix="bench-playhead-"))
    window = MainWindow(Theme("light"), SettingsFile(folder / "settings.json"), Settings())
    window.resize(*_SIZE)
    window.show()
    window.complete(bridge)
    bridge.open_path(find_scene(_SCENE))
    moves = 20 if effort.is_quick else 60
    for _ in range(120 + 6 * moves):
        source.advance_ns(_FRAME_NS)
    bridge.submit(Hold())
    source.advance_ns(_FRAME_NS)
    bridge.refresh_now()
    application.processEvents()
    begin_ns = NS_PER_SECOND
    for name, direction in (("forward", 1), ("back", -1)):
        costs_ms: list[float] = []
        for _ in range(effort.repeats(5)):
            at_ns = begin_ns if direction > 0 else begin_ns + moves * _MOVE_NS
            bridge.set_playhead(at_ns)
            application.processEvents()
            for move in range(1, moves + 1):
                began_ns = thread_time_ns()
                bridge.set_playhead(at_ns + direction * move * _MOVE_NS)
                application.processEvents()
                costs_ms.append((thread_time_ns() - began_ns) / NS_PER_MS)
        costs_ms.sort()
        slow_ms = costs_ms[len(costs_ms) * 95 // 100]
        detail = f"95 of 100 moves take at most {slow_ms:.1f} ms, the longest {costs_ms[-1]:.1f}"
        yield Row(f"playhead drag/{name}", median(costs_ms), _GOAL_MS, detail=detail, unit="ms")
    window.close()
    bridge.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


BENCHMARKS = (drag,)
