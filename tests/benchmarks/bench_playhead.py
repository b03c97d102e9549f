"""Dragging the playhead, scrolling and zooming: what a move costs.

A move is the state at another instant, or another part of the session in view, and every panel
that shows it, painted: over a thousand timers and in a long recording.
What is counted is the CPU time of the thread.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, mkdtemp
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Final

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.commands.transport import Hold
from inspector.sessions.scene import find_scene
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from tests.benchmarks.bench_recording import record_scene
from tests.benchmarks.measuring import powers_of_ten
from tests.benchmarks.report import FRAME_MS, Row
from ui import findings
from ui.kit.theme import Theme
from ui.plotting.shared_view import SharedView
from ui.session.bridge import SessionBridge
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.garbage import GarbageCollection
from ui.window.main_window import MainWindow
from ui.window.settings import Settings, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.benchmarks.measuring import Effort

#: Loaded ahead in the program too.
_LOADED: Final = findings
_SCENE: Final = "thousand_timers"
_SIZE: Final = (1_280, 720)
_FRAME_NS: Final = NS_PER_SECOND // 60
#: From one move to the next: a few pixels.
_MOVE_NS: Final = NS_PER_SECOND // 10
_MOVES: Final = 60
#: From when the pointer comes to the ruler until the button is pressed.
_APPROACH_NS: Final = 500 * NS_PER_MS


def drag(effort: Effort) -> Iterator[Row]:
    """Drag the playhead forward, then back, over a scene that is held."""
    window = _held()
    yield from _drag("a thousand timers", window.bridge, NS_PER_SECOND, effort)
    _close(window)


def drag_first(effort: Effort) -> Iterator[Row]:
    """Drag the playhead once over a scene that was just held, of which no past is known yet."""
    end_ns = NS_PER_SECOND + _MOVES * _MOVE_NS
    for way, begin_ns, move_ns in (
        ("forward", NS_PER_SECOND, _MOVE_NS),
        ("back", end_ns, -_MOVE_NS),
    ):
        costs_ms: list[float] = []
        for _ in range(effort.repeats(5)):
            window = _held()
            # The pointer comes to the ruler before the button is pressed.
            window.bridge.playhead.expect_at(begin_ns)
            until_ns = perf_counter_ns() + _APPROACH_NS
            while perf_counter_ns() < until_ns:
                QCoreApplication.processEvents()
            moves = (begin_ns + move * move_ns for move in range(_MOVES))
            costs_ms += _costs_ms(window.bridge.set_playhead, moves)
            _close(window)
        yield from _judged(f"playhead drag/a thousand timers, {way} for the first time", costs_ms)


def _held() -> MainWindow:
    """Return a window with a scene that has run for some seconds and is held."""
    source = ManualTimeSource()
    bridge = SessionBridge(make_source=lambda _precision: source)
    window = _shown(bridge)
    bridge.open_path(find_scene(_SCENE))
    for _ in range(120 + 6 * _MOVES):
        source.advance_ns(_FRAME_NS)
    bridge.submit(Hold())
    source.advance_ns(_FRAME_NS)
    bridge.refresh_now()
    QCoreApplication.processEvents()
    return window


def drag_recording(effort: Effort) -> Iterator[Row]:
    """Drag the playhead in the midst of a long recording, scroll and zoom."""
    events = 50_000 if effort.is_quick else 1_000_000
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.tlrec"
        record_scene(path, events)
        bridge = SessionBridge()
        window = _shown(bridge)
        bridge.open_path(path)
        bridge.refresh_now()
        QCoreApplication.processEvents()
        middle_ns = bridge.timeline.at_ns // 2
        name = f"a recording of {powers_of_ten(events)}"
        yield from _drag(name, bridge, middle_ns, effort)
        yield from _look_around(name, bridge, effort)
        _close(window)


def _shown(bridge: SessionBridge) -> MainWindow:
    """Return a complete window."""
    # Only here: it sets the style, and every widget is laid out and painted again after that.
    make_application()
    folder = Path(mkdtemp(prefix="bench-playhead-"))
    window = MainWindow(Theme("light"), SettingsFile(folder / "settings.json"), Settings())
    window.resize(*_SIZE)
    window.show()
    WindowContents(window, bridge)
    # As the program does when it is complete.
    gc.collect()
    GarbageCollection(bridge, window)
    return window


def _close(window: MainWindow) -> None:
    garbage = window.findChild(GarbageCollection)
    assert garbage is not None
    garbage.finish()
    window.close()
    window.bridge.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _drag(name: str, bridge: SessionBridge, begin_ns: int, effort: Effort) -> Iterator[Row]:
    end_ns = begin_ns + _MOVES * _MOVE_NS

    def forward(move: int) -> None:
        bridge.set_playhead(begin_ns + move * _MOVE_NS)

    def back(move: int) -> None:
        bridge.set_playhead(end_ns - move * _MOVE_NS)

    for act in (forward, back):
        yield from _rows(f"playhead drag/{name}, {act.__name__}", act, effort)


def _look_around(name: str, bridge: SessionBridge, effort: Effort) -> Iterator[Row]:
    """Scroll by a fiftieth of a hundredth in view, and zoom from everything to the middle."""
    view, whole_ns = SharedView.of(bridge), bridge.timeline.at_ns

    def scroll(move: int) -> None:
        low = 0.3 + move * 0.01 / 50
        view.set_span_ns(low * whole_ns, (low + 0.01) * whole_ns)

    def zoom(move: int) -> None:
        half = 0.9**move / 2
        view.set_span_ns((0.5 - half) * whole_ns, (0.5 + half) * whole_ns)

    for act in (scroll, zoom):
        yield from _rows(f"view/{name}, {act.__name__}", act, effort)


def _rows(what: str, act: Callable[[int], None], effort: Effort) -> Iterator[Row]:
    costs_ms: list[float] = []
    for _ in range(effort.repeats(5)):
        act(0)
        QCoreApplication.processEvents()
        costs_ms += _costs_ms(act, range(1, _MOVES + 1))
    yield from _judged(what, costs_ms)


def _costs_ms(act: Callable[[int], None], moves: Iterable[int]) -> list[float]:
    costs_ms: list[float] = []
    for move in moves:
        began_ns = thread_time_ns()
        act(move)
        QCoreApplication.processEvents()
        costs_ms.append((thread_time_ns() - began_ns) / NS_PER_MS)
    return costs_ms


def _judged(what: str, costs_ms: list[float]) -> Iterator[Row]:
    costs_ms.sort()
    detail = f"median {median(costs_ms):.1f} ms, the longest {costs_ms[-1]:.1f}"
    for percent, goal in ((95, 1), (99, 1.5)):
        slow_ms = costs_ms[len(costs_ms) * percent // 100]
        row = f"{what}, p{percent} of a frame"
        yield Row(row, slow_ms / FRAME_MS, goal, detail=detail, unit="x")


BENCHMARKS = (drag, drag_first, drag_recording)
