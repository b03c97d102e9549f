"""The timeline panel: what a picture of all lanes costs, with little and with much on them."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from contextlib import AbstractContextManager, nullcontext
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
    from collections.abc import Callable

_SIZE = (1280, 600)
_FRAME_NS = 16_666_667
_CLOCKS = 4
_TIMERS = 16
_MACHINES = 4
_PAINT_RATIO = 1.5


class Lanes:
    """A canvas with clocks, timers and machines on which about ``events`` things happened.

    Attributes:
        canvas: The canvas, showing everything.
        read_ns: What reading an event of the log took.
    """

    def __init__(self, events: int) -> None:
        _application()
        log = EventLog(budget_bytes=10**12)
        timeline = Timeline(log.strings)
        _add_subjects(log)
        _let_happen(log, events)
        timeline.apply_all(log.read(0).events)
        history, store = LogHistory(log), LaneStore()
        began_ns = perf_counter_ns()
        while store.read(history, timeline):
            pass
        self.read_ns = (perf_counter_ns() - began_ns) / len(log)
        self.canvas = LaneCanvas(Theme("light"))
        self.canvas.resize(*_SIZE)
        self.canvas.show_session(timeline, log.strings, store)
        self.canvas.fit()
        self.image = QImage(*_SIZE, QImage.Format.Format_RGB32)

    def paint(self) -> None:
        """Paint all of it, as a refresh does."""
        painter = QPainter(self.image)
        self.canvas.picture.paint(painter, self.canvas)
        painter.end()

    def pan_and_paint(self) -> None:
        """Move a tenth of a hundredth part of the session, and paint."""
        canvas = self.canvas
        present_ns = canvas.present_ns
        canvas.show_span(0.4 * present_ns, 0.41 * present_ns)
        canvas.pan(0.1)
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


def _fitted(shown: Lanes) -> Work:
    shown.canvas.fit()
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


def _let_happen(log: EventLog, events: int) -> None:
    """Let timers fire, machines change and clocks pause, in frames, so many things in all."""
    append, intern = log.append, log.intern
    states = [intern(text) for text in ("idle", "walking", "hurt")]
    step_ns, at_ns, turn = 1_000_000, 0, 0
    while len(log) < events:
        turn += 1
        at_ns += step_ns
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


def _application() -> QApplication:
    found = QApplication.instance()
    return found if isinstance(found, QApplication) else QApplication([])


BENCHMARKS = (lanes,)
