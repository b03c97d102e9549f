"""The Qt event loop as host of a clock tree: what waiting costs, and how late it ends.

Deadlines are the same for everybody who is compared, and everybody takes turns within
one run. Lateness depends on the machine and its neighbours like nothing else here, so of
the percentiles of all rounds the median is held against the goal.
"""

from __future__ import annotations

import os
import random
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter_ns, sleep, thread_time_ns
from typing import TYPE_CHECKING

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QEventLoop, Qt, QTimer
from PySide6.QtGui import QGuiApplication

from inspector.clocks import ClockTree, Transport
from inspector.commands.transport import Hold
from inspector.resources import resource_path
from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, NS_PER_US
from tests.benchmarks.measuring import (
    Effort,
    empty_call_ns,
    say,
)
from tests.benchmarks.report import (
    FRAME_MS,
    Row,
    calls_row,
    ratio_row,
)
from ui.session.bridge import SessionBridge
from ui.session.qt_time_source import Precision, QtTimeSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DEADLINES_PER_SECOND = 20
_DUE_TIMERS = 10_000
_FRAME_NS = NS_PER_SECOND // 60


@dataclass
class Waiting:
    """What waiting for a row of deadlines took.

    Attributes:
        lateness_ns: How late each deadline was noticed; below 0 it was too early.
        cpu_ns: Processor time of this thread.
        wakes: How often the timer came.
    """

    lateness_ns: list[int] = field(default_factory=list)
    cpu_ns: int = 0
    wakes: int = 0


def _application() -> QCoreApplication:
    return QCoreApplication.instance() or QGuiApplication(["benchmark"])


def _deadlines_ns(seed: int, seconds: float) -> list[int]:
    """Return random instants, 20 a second; neither on a millisecond nor on a grid."""
    chance = random.Random(seed)
    count = round(seconds * _DEADLINES_PER_SECOND)
    return sorted(chance.randrange(round(seconds * NS_PER_SECOND)) for _ in range(count))


def _wait_on_source(precision: Precision, deadlines_ns: Sequence[int]) -> Waiting:
    """Wait for the deadlines with the Qt time source."""
    source = QtTimeSource(precision=precision)
    loop = QEventLoop()
    waiting = Waiting()
    begin_ns = source.now_ns()
    pending = [begin_ns + at_ns for at_ns in reversed(deadlines_ns)]

    def wake() -> None:
        now_ns = source.now_ns()
        waiting.lateness_ns.append(now_ns - pending.pop())
        while pending and pending[-1] <= now_ns:
            waiting.lateness_ns.append(now_ns - pending.pop())
        if pending:
            source.set_wake(pending[-1])
        else:
            loop.quit()

    source.attach(wake)
    source.set_wake(pending[-1])
    waiting.cpu_ns = _cpu_of(loop)
    waiting.wakes = source.wakes
    source.close()
    return waiting


def _wait_on_ticks(period_ms: int, deadlines_ns: Sequence[int]) -> Waiting:
    """Wait for the deadlines with a QTimer that comes every ``period_ms``."""
    loop = QEventLoop()
    waiting = Waiting()
    begin_ns = perf_counter_ns()
    pending = [begin_ns + at_ns for at_ns in reversed(deadlines_ns)]

    def tick() -> None:
        waiting.wakes += 1
        now_ns = perf_counter_ns()
        while pending and pending[-1] <= now_ns:
            waiting.lateness_ns.append(now_ns - pending.pop())
        if not pending:
            loop.quit()

    timer = QTimer(timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start(period_ms)
    waiting.cpu_ns = _cpu_of(loop)
    timer.stop()
    return waiting


def _cpu_of(loop: QEventLoop) -> int:
    """Run an event loop until it quits; return its processor time."""
    began_ns = thread_time_ns()
    loop.exec()
    return thread_time_ns() - began_ns


def economical_cost(effort: Effort) -> list[Row]:
    """Economical mode at 20 deadlines a second, held against a tick of 1 ms.

    A tick finds deadlines after half its period on average, so it could be as late as
    economical is with a longer one. The ratio is to the tick that is exactly as late:
    its cost is that of the 1 ms tick, divided by how much longer its period is.
    """
    app = _application()
    ratios: list[float] = []
    ours_ns: list[int] = []
    ticks_ns: list[int] = []
    rounds = effort.repeats(9)
    for number in range(rounds):
        say(f"economical_cost, {number + 1} of {rounds}")
        deadlines_ns = _deadlines_ns(number, 0.5 if effort.is_quick else 2.0)
        ours = _wait_on_source(Precision.ECONOMICAL, deadlines_ns)
        ticks = _wait_on_ticks(1, deadlines_ns)
        ratios.append(ours.cpu_ns / ticks.cpu_ns)
        ours_ns += ours.lateness_ns
        ticks_ns += ticks.lateness_ns
    ours_ms, tick_ms = median(ours_ns) / NS_PER_MS, median(ticks_ns) / NS_PER_MS
    ratio = median(ratios) * (1 + 2 * (ours_ms - tick_ms))
    early = sum(late_ns < 0 for late_ns in ours_ns)
    detail = (
        f"late {ours_ms:.2f} ms, a 1 ms tick {tick_ms:.2f} ms; "
        f"to that tick itself {median(ratios):.3f}x"
    )
    del app
    return [
        Row("economical/CPU to a tick as late", ratio, 0.15, detail=detail, unit="x"),
        Row("economical/woken early", early, 0, detail=f"of {rounds} rounds"),
    ]


def fine_lateness(effort: Effort) -> list[Row]:
    """Fine mode at 20 deadlines a second."""
    app = _application()
    medians, p99s, ratios, shares, early = [], [], [], [], 0
    rounds = effort.repeats(9)
    for number in range(rounds):
        say(f"fine_lateness, {number + 1} of {rounds}")
        deadlines_ns = _deadlines_ns(100 + number, 0.5 if effort.is_quick else 2.0)
        fine = _wait_on_source(Precision.FINE, deadlines_ns)
        ticks = _wait_on_ticks(1, deadlines_ns)
        early += sum(late_ns < 0 for late_ns in fine.lateness_ns)
        medians.append(median(fine.lateness_ns) / NS_PER_US)
        p99s.append(_percentile(fine.lateness_ns, 99) / NS_PER_US)
        shares.append(100 * fine.cpu_ns / max(1, deadlines_ns[-1]))
        ratios.append(fine.cpu_ns / ticks.cpu_ns)
    detail = (
        f"p99 {median(p99s):.0f} µs, {median(shares):.1f} % of a processor, "
        f"{median(ratios):.2f} of a 1 ms tick"
    )
    del app
    return [
        calls_row(
            "fine/median lateness", median(medians) * NS_PER_US, empty_call_ns(), 400, detail
        ),
        Row("fine/woken early", early, 0, detail=f"of {rounds} rounds"),
    ]


def due_timers(effort: Effort) -> list[Row]:
    """10 000 timers that are due at once: on a clock tree, and as many QTimers."""
    app = _application()
    ours: list[int] = []
    theirs: list[int] = []
    rounds = effort.repeats(11)
    runs: list[tuple[Callable[[], int], list[int]]] = [(_tree_fires, ours), (_qtimers_fire, theirs)]
    for number in range(rounds):
        say(f"due_timers, {number + 1} of {rounds}")
        for run, times in runs if number % 2 else reversed(runs):
            times.append(run())
    ratio = median(their / our for our, their in zip(ours, theirs, strict=True))
    detail = (
        f"{median(ours) / _DUE_TIMERS:.0f} ns a timer, "
        f"{median(theirs) / _DUE_TIMERS:.0f} ns a QTimer"
    )
    del app
    return [ratio_row("due_timers/1e4 to QTimers", ratio, 5, detail)]


def _tree_fires() -> int:
    """Return the processor time in which 10 000 due timers of a clock tree are called."""
    source = QtTimeSource()
    tree = ClockTree()
    transport = Transport(tree, source)
    loop = QEventLoop()
    count = _Countdown(_DUE_TIMERS, loop)
    transport.run()
    for _ in range(_DUE_TIMERS):
        tree.root.set_timeout_ns(NS_PER_MS, count.down)
    sleep(0.05)
    cpu_ns = _cpu_of(loop)
    source.close()
    return cpu_ns


def _qtimers_fire() -> int:
    """Return the processor time in which 10 000 due QTimers call."""
    loop = QEventLoop()
    count = _Countdown(_DUE_TIMERS, loop)
    timers = []
    for _ in range(_DUE_TIMERS):
        timer = QTimer(singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        timer.timeout.connect(count.down)
        timer.start(1)
        timers.append(timer)
    sleep(0.05)
    return _cpu_of(loop)


class _Countdown:
    """Ends an event loop when it was called often enough."""

    def __init__(self, left: int, loop: QEventLoop) -> None:
        self._left = left
        self._loop = loop

    def down(self) -> None:
        self._left -= 1
        if not self._left:
            self._loop.quit()


def host_lateness(effort: Effort) -> list[Row]:
    """How much after its due instant a frame begins, at 60 Hz on the Qt time source.

    What counts is the lateness less the time in which this thread was ready to run and
    had no processor, as thread CPU time counts for what work costs; the kernel knows it
    (Linux). With it, a bare ``sleep`` is 4 ms late in one case of a hundred on a busy
    machine.
    """
    app = _application()
    rows: list[Row] = []
    seconds = 0.5 if effort.is_quick else 4.0
    lateness: dict[Precision, list[list[FrameLateness]]] = {each: [] for each in Precision}
    rounds = effort.repeats(5)
    for number in range(rounds):
        for precision in Precision:
            say(f"host_lateness {precision.value}, {number + 1} of {rounds}")
            lateness[precision].append(_frame_lateness(precision, round(60 * seconds)))
    for precision, by_round in lateness.items():
        own_ms = median(_p99_ms([frame.own_ns for frame in frames]) for frames in by_round)
        whole_ms = median(_p99_ms([frame.whole_ns for frame in frames]) for frames in by_round)
        all_ns = [frame.whole_ns for frames in by_round for frame in frames]
        detail = (
            f"{whole_ms:.2f} ms with the waiting for a processor; "
            f"median {median(all_ns) / NS_PER_MS:.3f} ms of {len(all_ns):,} frames"
        )
        rows.append(
            Row(f"host_lateness/p99 {precision.value}", own_ms, FRAME_MS, detail=detail, unit="ms")
        )
        early = sum(late_ns < 0 for late_ns in all_ns)
        rows.append(Row(f"host_lateness/early {precision.value}", early, 0))
    del app
    return rows


@dataclass(frozen=True, slots=True)
class FrameLateness:
    """How much after its due instant a frame began.

    Attributes:
        whole_ns: As the clock says; below 0 it was too early.
        own_ns: Less the time in which the thread was ready to run and had no processor.
    """

    whole_ns: int
    own_ns: int


def _frame_lateness(precision: Precision, frames: int) -> list[FrameLateness]:
    source = QtTimeSource(precision=precision)
    transport = Transport(ClockTree(), source)
    loop = QEventLoop()
    lateness: list[FrameLateness] = []
    queued = _QueuedTime()
    begin_ns = due_ns = 0

    def run_frame(_interval_ns: int, _cut_ns: int) -> None:
        nonlocal due_ns
        # Read from the source itself, so that the transport cannot embellish it.
        late_ns = source.now_ns() - begin_ns - due_ns
        # Inside a frame this is already the one after it.
        due_ns = transport.next_frame_ns or 0
        queued_ns = queued.since_mark_ns()
        lateness.append(FrameLateness(late_ns, late_ns - min(queued_ns, max(0, late_ns))))
        if len(lateness) == frames:
            loop.quit()
        queued.mark()

    transport.on_frame = run_frame
    transport.frame_period_ns = _FRAME_NS
    due_ns = transport.next_frame_ns or 0
    begin_ns = source.now_ns()
    transport.run()
    loop.exec()
    source.close()
    queued.close()
    return lateness


class _QueuedTime:
    """How long this thread was ready to run and had no processor; 0 where this is unknown."""

    def __init__(self) -> None:
        self._descriptor = -1
        with suppress(OSError):
            self._descriptor = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        self._mark_ns = self._read_ns()

    def mark(self) -> None:
        """Count from now on."""
        self._mark_ns = self._read_ns()

    def since_mark_ns(self) -> int:
        """Return how long since the mark."""
        return self._read_ns() - self._mark_ns

    def close(self) -> None:
        """Close the kernel's file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def _read_ns(self) -> int:
        if self._descriptor < 0:
            return 0
        # Fields: time on a processor, time waiting for one, number of time slices.
        return int(os.pread(self._descriptor, 128, 0).split()[1])


def idle_wakes(effort: Effort) -> list[Row]:
    """Wake-ups of the event loop with an open, held scene only."""
    app = _application()
    milliseconds = 1_000 if effort.is_quick else 3_000
    bare = _wakes_of_event_loop(milliseconds)
    bridge = SessionBridge()
    bridge.open_scene(resource_path("scenes", "01_small_game.py"))
    bridge.submit(Hold())
    deadline_ns = perf_counter_ns() + 10 * NS_PER_SECOND
    while bridge.status.phase is not SessionPhase.HELD and perf_counter_ns() < deadline_ns:
        app.processEvents()
    _wakes_of_event_loop(300)
    began_ns = thread_time_ns()
    held = _wakes_of_event_loop(milliseconds)
    computed_ns = thread_time_ns() - began_ns
    share = 100 * computed_ns / (milliseconds * NS_PER_MS)
    phase = bridge.status.phase.value
    bridge.close()
    detail = f"more than an empty event loop ({bare}) in {milliseconds / 1000:g} s, scene {phase}"
    return [
        Row("idle/wake-ups", held - bare, 0, detail=detail),
        calls_row(
            "idle/CPU",
            computed_ns * 1_000 / milliseconds,
            empty_call_ns(),
            20_000,
            f"a second, {share:.3f} % of a core",
        ),
    ]


def _wakes_of_event_loop(milliseconds: int) -> int:
    """Return how often the event loop woke up, its end included."""
    loop = QEventLoop()
    wakes = _Wakes()
    dispatcher = QAbstractEventDispatcher.instance()
    assert dispatcher is not None
    dispatcher.awake.connect(wakes.add)
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
    dispatcher.awake.disconnect(wakes.add)
    return wakes.count


class _Wakes:
    """Counts."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        self.count += 1


def _p99_ms(values_ns: Sequence[int]) -> float:
    return _percentile(values_ns, 99) / NS_PER_MS


def _percentile(values: Sequence[int], percent: int) -> int:
    """Return the smallest value that ``percent`` of them do not exceed."""
    return sorted(values)[-(-len(values) * percent // 100) - 1]


BENCHMARKS = (economical_cost, fine_lateness, due_timers, host_lateness, idle_wakes)
