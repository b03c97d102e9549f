"""What a repeating timer can live on: our clocks and schedulers, and the originals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias

from inspector.analysis.lab_display import Display
from inspector.clocks.manual_source import ManualTimeSource
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.frames.dialect_scheduler import DialectScheduler
from inspector.frames.dialects import DIALECTS, Dialect
from inspector.frames.scheduler import Scheduler
from inspector.frames.scheduling import Overshoot
from inspector.frames.ticker import (
    BY_CALLS,
    BY_ELAPSED,
    Counting,
    Ticker,
    TickerTimer,
    repaired,
)
from inspector.timebase import NS_PER_MS, NS_PER_SECOND


@dataclass(frozen=True, slots=True)
class LabTimer:
    """One repeating timer, set when the program begins.

    Attributes:
        interval_ns: What was asked for, from firing to firing.
        count: How often it is to fire; ``None`` for as long as the run lasts.
    """

    interval_ns: int
    count: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no timer can be.

        Raises:
            ValueError: The interval or the count is not above 0.
        """
        if self.interval_ns <= 0:
            message = f"an interval is above 0, not {self.interval_ns} ns"
            raise ValueError(message)
        if self.count is not None and self.count < 1:
            message = f"a timer fires at least once, not {self.count} times"
            raise ValueError(message)


#: Runs a timer under a display; returns the instants of its firings.
RunTimer: TypeAlias = Callable[[LabTimer, Display], list[int]]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that timers live on.

    Attributes:
        name: As a command line takes it.
        title: What people call it.
        summary: What it goes by, in a sentence.
        run: Runs a timer under a display.
    """

    name: str
    title: str
    summary: str
    run: RunTimer


def _run_clock(timer: LabTimer, display: Display) -> list[int]:
    source = ManualTimeSource()
    tree = ClockTree()
    transport = Transport(tree, source)
    fired_ns: list[int] = []

    def fire() -> None:
        fired_ns.append(tree.root.time_ns)
        if len(fired_ns) == timer.count:
            tree.root.clear(firing)

    firing = tree.root.set_interval_ns(timer.interval_ns, fire)
    transport.run()
    source.advance_ns(display.end_ns)
    return fired_ns


def _run_scheduler(overshoot: Overshoot, timer: LabTimer, display: Display) -> list[int]:
    scheduler = Scheduler(overshoot=overshoot, max_calls_per_frame=None)
    fired_ns: list[int] = []
    before_ns = now_ns = 0

    def fire(_seconds: float) -> None:
        fired_ns.append(now_ns)

    repeat = None if timer.count is None else timer.count - 1
    scheduler.schedule(fire, _exact_seconds(timer), repeat=repeat)
    for now_ns in display.frames_ns:
        scheduler.update_ns(now_ns - before_ns)
        before_ns = now_ns
    return fired_ns


def _run_dialect(dialect: Dialect, timer: LabTimer, display: Display) -> list[int]:
    scheduler = DialectScheduler(dialect)
    fired_ns: list[int] = []
    before_ns = now_ns = 0

    def fire(_seconds: float) -> None:
        fired_ns.append(now_ns)

    repeat = None if timer.count is None else timer.count - 1
    scheduler.schedule(fire, timer.interval_ns / NS_PER_SECOND, repeat=repeat)
    # The frame in which the timer was set; all it does is to arm it.
    scheduler.update(0.0)
    for now_ns in display.frames_ns:
        scheduler.update((now_ns - before_ns) / NS_PER_SECOND)
        before_ns = now_ns
    return fired_ns


def _run_ticker(
    counting_for: Callable[[Display], Counting], timer: LabTimer, display: Display
) -> list[int]:
    now_ns = 0
    ticker = Ticker(lambda: now_ns / NS_PER_MS)
    fired_ns: list[int] = []

    def fire() -> None:
        fired_ns.append(now_ns)

    ticker_timer = TickerTimer(
        ticker,
        timer.interval_ns / NS_PER_MS,
        timer.count or 0,
        counting=counting_for(display),
    )
    ticker_timer.on_timer = fire
    ticker_timer.start()
    for now_ns in display.frames_ns:
        ticker.update()
    return fired_ns


def _exact_seconds(timer: LabTimer) -> Fraction:
    return Fraction(timer.interval_ns, NS_PER_SECOND)


def _by_calls(_display: Display) -> Counting:
    return BY_CALLS


def _by_elapsed(_display: Display) -> Counting:
    return BY_ELAPSED


def _repaired_for(number: int, display: Display) -> Counting:
    return repaired(number, display.mean_rate)


_DIALECT_SUMMARIES: Final = {
    Overshoot.DROP: "Goes by the delta of the frames; what a call is late is forgotten.",
    Overshoot.CARRY: "Goes by the delta of the frames, in single precision; makes up for lateness.",
}

_REPAIRS: Final = (
    "Multiplies every delay by the display's rate over 60.",
    "Asks for the real time in the callback, within 100 ms.",
    "Goes by the system's timers instead, from firing to firing.",
    "Multiplies the count of calls by the display's rate over 60.",
)

#: Every subject: ours first, then the originals.
SUBJECTS: Final[Sequence[Subject]] = (
    Subject("clock", "Our clock", "An interval on a clock: fires when it is due.", _run_clock),
    Subject(
        "scheduler",
        "Our scheduler, carry",
        "Fires in the frame in which it is due; lateness counts towards the next call.",
        partial(_run_scheduler, Overshoot.CARRY),
    ),
    Subject(
        "scheduler-drop",
        "Our scheduler, drop",
        "Fires once a frame at most; lateness is forgotten.",
        partial(_run_scheduler, Overshoot.DROP),
    ),
    *(
        Subject(
            dialect.name,
            dialect.title,
            _DIALECT_SUMMARIES[dialect.overshoot],
            partial(_run_dialect, dialect),
        )
        for dialect in DIALECTS
    ),
    Subject(
        "egret",
        "Egret, by calls",
        "Counts calls as if every display had 60 Hz; elapsed time if that comes first.",
        partial(_run_ticker, _by_calls),
    ),
    *(
        Subject(
            f"egret-repair-{number}",
            f"Egret, repair {number}",
            summary,
            partial(_run_ticker, partial(_repaired_for, number)),
        )
        for number, summary in enumerate(_REPAIRS, 1)
    ),
    Subject(
        "egret-elapsed",
        "Egret, elapsed time",
        "Goes by elapsed time and keeps the phase, as our ticker does by default.",
        partial(_run_ticker, _by_elapsed),
    ),
)
