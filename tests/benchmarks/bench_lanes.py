"""The timeline panel: what a picture of all lanes costs, with little and with much on them."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from inspector.analysis.lanes.lanes import LaneStore
from inspector.events import EventLog, Timeline
from inspector.events.history import LogHistory
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RESUMED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    MemberKind,
    Phase,
    TimerKind,
)
from tests.benchmarks.measuring import Case, Effort, Work, measure, powers_of_ten
from tests.benchmarks.report import FRAME_MS, Row
from ui.kit.theme import Theme
from ui.timeline.lane_canvas import LaneCanvas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIZE = (1280, 600)
_FRAME_NS = 16_666_667
_CLOCKS = 4
_TIMERS = 16
_MACHINES = 4
_PAINT_RATIO = 1.5
#: Events of a thirtieth of a second.
_NEWS = 45
_UNCHANGED_SHARE = 1 / 3


class Lanes:
    """A canvas with clocks, timers and machines on which about ``events`` things happened.

    Attributes:
        canvas: The canvas, showing everything.
        read_ns: What reading an event of the log took.
    """

    def __init__(self, events: int) -> None:
        _application()
        log = EventLog(budget_bytes=10**12)
        self._log, self._timeline = log, Timeline(log.strings)
        _add_subjects(log)
        self._turn = _let_happen(log, events, 0)
        self._history, self._store = LogHistory(log), LaneStore()
        self._timeline.apply_all(log.read(0).events)
        began_ns = perf_counter_ns()
        self._read()
        self.read_ns = (perf_counter_ns() - began_ns) / len(log)
        self.canvas = LaneCanvas(Theme("light"))
        self.canvas.resize(*_SIZE)
        self.canvas.show()
        QApplication.processEvents()
        self.canvas.set_session(self._timeline, log.strings, self._store)
        self.canvas.view.fit()
        self.image = QImage(*_SIZE, QImage.Format.Format_RGB32)

    def play(self) -> None:
        """Let a thirtieth of a second pass."""
        self._turn = _let_happen(self._log, len(self._log) + _NEWS, self._turn)
        self._read()

    def refresh(self) -> None:
        """Show what is new, between two turns of the texts."""
        self.canvas.refresh(has_texts=False)
        QApplication.processEvents()

    def paint(self) -> None:
        """Paint all of it."""
        self.canvas.picture.apply_theme()
        self._paint_changed()

    def _read(self) -> None:
        self._timeline.apply_all(self._log.read(self._timeline.events_folded).events)
        while self._store.read(self._history, self._timeline):
            pass

    def _paint_changed(self) -> None:
        painter = QPainter(self.image)
        self.canvas.picture.paint(painter, self.canvas)
        painter.end()

    def pan_and_paint(self) -> None:
        """Move a tenth of a hundredth part of the session, and paint."""
        canvas = self.canvas
        present_ns = canvas.present_ns
        canvas.view.set_span_ns(0.4 * present_ns, 0.41 * present_ns)
        canvas.view.pan(0.1)
        self.paint()


def lanes(effort: Effort) -> list[Row]:
    """Goal: a million events are painted within a frame, and within 1.5 times ten thousand."""
    sizes = effort.sizes(10_000, 1_000_000)
    views: dict[str, Callable[[Lanes], Work]] = {
        "all": _fitted,
        "a hundredth": lambda shown: shown.pan_and_paint,
    }
    rows = []
    for name, make in views.items():
        worlds = {size: Lanes(size) for size in sizes}
        found = measure(
            [
                Case(f"{name} {powers_of_ten(size)}", _ready(make(world)))
                for size, world in worlds.items()
            ],
            effort.repeats(25),
        )
        for size, world in worlds.items():
            label = f"{name} {powers_of_ten(size)}"
            rows.append(
                Row(
                    f"lanes/{label}, ms to paint",
                    found.median_ns(label) / 1e6,
                    FRAME_MS if size == sizes[-1] else None,
                    unit="ms",
                    detail=f"reading the log {world.read_ns:,.0f} ns an event",
                )
            )
            world.canvas.close()
        if len(sizes) > 1:
            small, large = (f"{name} {powers_of_ten(size)}" for size in sizes)
            rows.append(
                Row(
                    f"lanes/{name}, 1e6 to 1e4 events",
                    found.ratio(large, small),
                    _PAINT_RATIO,
                )
            )
    return rows


def refreshes(effort: Effort) -> list[Row]:
    """Goal: while the program runs, a view of its past costs a third of following it at most."""
    views: dict[str, Callable[[Lanes], None]] = {
        "following": lambda shown: shown.canvas.view.set_following(True),
        "past in view": _look_back,
    }
    sizes = effort.sizes(1_000, 100_000)
    worlds = {f"{name} {powers_of_ten(size)}": Lanes(size) for name in views for size in sizes}
    for label, world in worlds.items():
        views[label.rpartition(" ")[0]](world)
    found = measure(
        [Case(label, partial(_playing, world)) for label, world in worlds.items()],
        effort.repeats(60),
    )
    rows = []
    for label, world in worlds.items():
        rows.append(Row(f"lanes/{label}, ms a refresh", found.median_ns(label) / 1e6, unit="ms"))
        world.canvas.close()
    following, past = (f"{name} {powers_of_ten(sizes[-1])}" for name in views)
    rows.append(Row(f"lanes/{past} to following", found.ratio(past, following), _UNCHANGED_SHARE))
    return rows


def _look_back(shown: Lanes) -> None:
    present_ns = shown.canvas.present_ns
    shown.canvas.view.set_span_ns(0.3 * present_ns, 0.6 * present_ns)


@contextmanager
def _playing(shown: Lanes) -> Iterator[Work]:
    shown.play()
    yield shown.refresh


def _fitted(shown: Lanes) -> Work:
    shown.canvas.view.fit()
    return shown.paint


def _ready(work: Work) -> Callable[[], AbstractContextManager[Work]]:
    return lambda: nullcontext(work)


def _add_subjects(log: EventLog) -> None:
    append, intern = log.append, log.intern
    for number in range(1, _CLOCKS + 1):
        append((0, CLOCK_ADDED, number, number - 1, intern(f"clock {number}")))
        append((0, CLOCK_ANCHORED, number, 0, RATE_DENOMINATOR))
    for number in range(1, _TIMERS + 1):
        append((0, TIMER_ADDED, number, 1 + number % _CLOCKS, intern(f"timer {number}")))
        append((0, TIMER_ORIGIN, number, 0, TimerKind.INTERVAL_BURST))
        append((0, TIMER_ARMED, number, _FRAME_NS, _FRAME_NS))
    for number in range(1, _MACHINES + 1):
        append((0, MEMBER_ADDED, number, 0, intern(f"machine {number}")))
        append((0, MEMBER_ORIGIN, number, 1 + number % _CLOCKS, MemberKind.MACHINE))


def _let_happen(log: EventLog, events: int, turn: int) -> int:
    """Let timers fire, machines change and clocks pause, in frames, so many things in all.

    Returns:
        The turn that was reached from ``turn``.
    """
    append, intern = log.append, log.intern
    states = [intern(text) for text in ("idle", "walking", "hurt")]
    step_ns = 1_000_000
    while len(log) < events:
        turn += 1
        at_ns = turn * step_ns
        append((at_ns, TIMER_FIRED, 1 + turn % _TIMERS, turn % 900_000, at_ns + _FRAME_NS))
        if turn % 5 == 0:
            append((at_ns, STATE_ENTERED, 1 + turn % _MACHINES, states[turn % 3], states[0]))
        if turn % 16 == 0:
            number = turn // 16
            append((at_ns, FRAME_BEGAN, 1, number, _FRAME_NS))
            append((at_ns, PHASE_ENDED, Phase.UPDATE, number, 2_000_000 + turn % 1_000_000))
            append((at_ns, FRAME_ENDED, 1, _FRAME_NS, 3_000_000 + turn % 1_000_000))
        if turn % 64 == 0:
            clock = 1 + turn // 64 % _CLOCKS
            append((at_ns, CLOCK_PAUSED, clock, 0, 0))
            append((at_ns + step_ns // 2, CLOCK_RESUMED, clock, 0, 0))
    return turn


def _application() -> QApplication:
    found = QApplication.instance()
    return found if isinstance(found, QApplication) else QApplication([])


BENCHMARKS = (lanes, refreshes)
