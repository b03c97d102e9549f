"""Subjects of the lab: our clocks and schedulers, and those of other engines."""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.clocks.timer import MissedTicks
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.display_text import in_quotes
from inspector.engines.browser_timers import BrowserRules, BrowserTimers
from inspector.engines.cocos.dialects import CREATOR_3_8, DIALECTS, Dialect
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.engines.creator.pacer import FramePacer
from inspector.engines.egret.repairs import (
    ElapsedGuard,
    FactorMeasurement,
    longer_count,
    longer_delay,
)
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, BY_ELAPSED, Counting, TickerTimer
from inspector.engines.lab.display import Display
from inspector.engines.lab.timer import LabTimer
from inspector.frames.loop import OPEN_FLASH, OPEN_FLASH_ARTICLE, FixedRateLoop, LoopRules
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduling import Overshoot
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

#: A run in small steps, which returns the instants of the firings.
Steps: TypeAlias = Generator[None, None, list[int]]
BeginRun: TypeAlias = Callable[[LabTimer, Display], Steps]

_PACED_RATE: Final = 60
#: Egret assumes this rate of every display.
_EGRET_RATE: Final = 60
#: The tolerance of Egret's second repair, and how long the factor of the first is measured.
_TOLERANCE_MS: Final = 100
_MEASURED_MS: Final = 1_000
_FRAMES_PER_STEP: Final = 32
_FIRINGS_PER_STEP: Final = 200


@dataclass(frozen=True, slots=True)
class SubjectName:
    name: str  # Its name on the command line
    title: str
    summary: str  # How it works, in a sentence
    # What it does wrong, as the end of a sentence; empty for nothing.
    fault: str = field(default="", kw_only=True)

    @property
    def fault_sentence(self) -> str:
        return f"{self.fault[:1].upper()}{self.fault[1:]}"

    @property
    def description(self) -> str:
        return f"{self.summary} Fault: {self.fault}" if self.fault else self.summary


@dataclass(frozen=True, slots=True)
class Subject(SubjectName):
    """A clock, loop, scheduler or ticker that can run a timer."""

    # Begins to run a timer under a display, in steps of about a millisecond, so that the window
    # stays responsive.
    begin: BeginRun


class _Firings:
    """Collects the instants at which a timer fires, up to its count."""

    def __init__(self, timer: LabTimer) -> None:
        self.fired_ns: list[int] = []
        self._limit = timer.count

    def note(self, at_ns: int) -> None:
        if not self.is_done:
            self.fired_ns.append(at_ns)

    @property
    def is_done(self) -> bool:
        return len(self.fired_ns) == self._limit


def _run_clock(timer: LabTimer, display: Display) -> Steps:
    source = ManualTimeSource()
    tree = ClockTree()
    transport = Transport(tree, source)
    firings = _Firings(timer)

    def fire() -> None:
        firings.note(tree.root.time_ns)
        if firings.is_done:
            tree.root.clear(interval)

    interval = tree.root.set_interval_ns(timer.interval_ns, fire, delay_ns=timer.delay_ns or None)
    transport.run()
    for step_ns in _in_steps(display.end_ns, timer.interval_ns * _FIRINGS_PER_STEP):
        source.advance_ns(step_ns)
        yield
    return firings.fired_ns


class _FrameHost:
    """A clock tree in virtual time, in a program that reads its clocks once per frame."""

    def __init__(self) -> None:
        tree = ClockTree()
        self.root = tree.root
        self._source = VirtualTimeSource()
        # Stalls are not cut: the lab shows how they affect timers.
        Transport(tree, self._source, max_delta_ns=10**18).run()

    @property
    def now_ns(self) -> int:
        return self._source.now_ns()

    def pass_to(self, frame_ns: int) -> None:
        """Advance to the next frame; as in a busy program, the engine is woken only then."""
        self._source.jump_ns(frame_ns - self._source.now_ns())
        self._source.pass_ns(0)


def _run_clock_by_frames(timer: LabTimer, display: Display) -> Steps:
    host = _FrameHost()
    firings = _Firings(timer)

    def fire() -> None:
        firings.note(host.now_ns)
        if firings.is_done:
            host.root.clear(interval)

    interval = host.root.set_interval_ns(timer.interval_ns, fire, delay_ns=timer.delay_ns or None)
    for number, frame_ns in enumerate(display.frames_ns):
        if number % _FRAMES_PER_STEP == 0:
            yield
        host.pass_to(frame_ns)
    return firings.fired_ns


def _run_loop(rules: LoopRules, timer: LabTimer, display: Display) -> Steps:
    host = _FrameHost()
    firings = _Firings(timer)
    rate = Fraction(NS_PER_SECOND, timer.interval_ns)
    loop = FixedRateLoop(host.root, rate, lambda: firings.note(host.now_ns), rules, "loop")

    def begin() -> None:
        firings.note(host.now_ns)
        loop.start()

    if timer.delay_ns:
        host.root.set_timeout_ns(timer.delay_ns, begin)
    else:
        loop.start()
    for number, frame_ns in enumerate(display.frames_ns):
        if number % _FRAMES_PER_STEP == 0:
            yield
        host.pass_to(frame_ns)
        # From outside: the original's loops cannot be stopped in their own tick.
        if firings.is_done:
            loop.stop()
            break
    return firings.fired_ns


def _run_scheduler(overshoot: Overshoot, timer: LabTimer, display: Display) -> Steps:
    scheduler = Scheduler(overshoot=overshoot, max_calls_per_frame=None)
    interval = Fraction(timer.interval_ns, NS_PER_SECOND)
    delay = Fraction(timer.delay_ns, NS_PER_SECOND)
    return _run_frames(
        partial(scheduler.schedule, interval=interval, delay=delay),
        scheduler.update_ns,
        display.frames_ns,
        timer,
    )


def _run_dialect(
    dialect: Dialect,
    frames_of: Callable[[Display], Iterable[int]],
    timer: LabTimer,
    display: Display,
) -> Steps:
    scheduler = DialectScheduler(dialect)
    interval, delay = timer.interval_ns / NS_PER_SECOND, timer.delay_ns / NS_PER_SECOND

    def schedule(callback: Callable[[float], None], repeat: int | None) -> None:
        scheduler.schedule(callback, interval, repeat=repeat, delay=delay)
        # The frame in which the timer was set only arms it.
        scheduler.update(0.0)

    return _run_frames(
        schedule, lambda ns: scheduler.update(ns / NS_PER_SECOND), frames_of(display), timer
    )


def _run_frames(
    schedule: Callable[..., object],
    update_ns: Callable[[int], object],
    frames_ns: Iterable[int],
    timer: LabTimer,
) -> Steps:
    firings = _Firings(timer)
    before_ns = now_ns = 0

    def fire(_seconds: float) -> None:
        firings.note(now_ns)

    schedule(fire, repeat=_repeat(timer))
    for number, frame_ns in enumerate(frames_ns):
        if number % _FRAMES_PER_STEP == 0:
            yield
        now_ns = frame_ns
        update_ns(now_ns - before_ns)
        before_ns = now_ns
    return firings.fired_ns


def _every_refresh(display: Display) -> Iterable[int]:
    return display.frames_ns


def _paced_refreshes(display: Display) -> Iterator[int]:
    """Yield the refreshes that Creator's limiter turns into frames, at 60 fps."""
    now_ns = 0
    pacer = FramePacer(lambda: None, lambda: now_ns / NS_PER_MS, rate=_PACED_RATE)
    pacer.start()
    # The timer is set in the program's first frame.
    pacer.refresh()
    for refresh_ns in display.frames_ns:
        now_ns = refresh_ns
        if pacer.refresh():
            yield refresh_ns


class _Check(Enum):
    """The check of the listener in Egret's second repair."""

    PUBLISHED = "as published"
    DESCRIBED = "as described"


def _run_ticker(
    counting_for: Callable[[Display], Counting],
    timer: LabTimer,
    display: Display,
    check: _Check | None = None,
) -> Steps:
    now_ns = 0
    counting = counting_for(display)
    if counting is BY_ELAPSED:
        ticker = Ticker(lambda: now_ns / NS_PER_MS)
    else:
        # The original's clock has whole milliseconds, and its decisions depend on that.
        ticker = Ticker(lambda: now_ns // NS_PER_MS)
    firings = _Firings(timer)
    left = 0 if timer.count is None else timer.count - bool(timer.delay_ns)
    interval_ms = timer.interval_ns / NS_PER_MS
    ticker_timer = TickerTimer(ticker, interval_ms, left, counting=counting)

    def fire() -> None:
        firings.note(now_ns)

    tolerance_ms = _TOLERANCE_MS if check is _Check.PUBLISHED else None
    guard = ElapsedGuard(ticker.now_ms, fire, interval_ms, tolerance_ms)
    ticker_timer.on_timer = fire if check is None else guard

    def start() -> None:
        guard.stamp()
        ticker_timer.start()

    def begin() -> None:
        fire()
        if timer.count is None or left:
            start()

    if timer.delay_ns:
        ticker.set_timeout(begin, timer.delay_ns / NS_PER_MS)
    else:
        start()
    for number, frame_ns in enumerate(display.frames_ns):
        if number % _FRAMES_PER_STEP == 0:
            yield
        now_ns = frame_ns
        ticker.update()
    return firings.fired_ns


def _run_browser(rules: BrowserRules, timer: LabTimer, display: Display) -> Steps:
    source = ManualTimeSource()
    tree = ClockTree()
    transport = Transport(tree, source)
    timers = BrowserTimers(tree.root, rules)
    firings = _Firings(timer)
    interval = 0

    def fire() -> None:
        firings.note(tree.root.time_ns)
        if firings.is_done:
            timers.clear(interval)

    def begin() -> None:
        nonlocal interval
        interval = timers.set_interval(fire, timer.interval_ns / NS_PER_MS)
        if timer.delay_ns:
            fire()

    if timer.delay_ns:
        timers.set_timeout(begin, timer.delay_ns / NS_PER_MS)
    else:
        begin()
    transport.run()
    for step_ns in _in_steps(display.end_ns, timer.interval_ns * _FIRINGS_PER_STEP):
        source.advance_ns(step_ns)
        yield
    return firings.fired_ns


def _in_steps(whole_ns: int, step_ns: int) -> Iterator[int]:
    while whole_ns > 0:
        yield min(step_ns, whole_ns)
        whole_ns -= step_ns


def _repeat(timer: LabTimer) -> int | None:
    return None if timer.count is None else timer.count - 1


def _by_calls(_display: Display) -> Counting:
    return BY_CALLS


def _by_elapsed(_display: Display) -> Counting:
    return BY_ELAPSED


def _factor(display: Display) -> float:
    return display.mean_rate / _EGRET_RATE


def _measured_factor(frame_rate: float, display: Display) -> float:
    """Return the factor that is measured during the display's first second.

    Not a number when the run is shorter, as in a program that has not measured yet.
    """
    now_ns = 0
    ticker = Ticker(lambda: now_ns // NS_PER_MS)
    ticker.set_frame_rate(frame_rate)
    found: list[object] = []
    measurement = FactorMeasurement(ticker, lambda: found.append(None), _MEASURED_MS)
    for frame_ns in display.frames_ns:
        now_ns = frame_ns
        ticker.update()
        if measurement.factor is not None:
            return measurement.factor
    return math.nan


_DRIFTS: Final = "the lateness of each call is lost, so it drifts."

_DIALECT_TEXTS: Final = {
    Overshoot.DROP: ("Adds up the delta of the frames.", _DRIFTS),
    Overshoot.CARRY: (
        "Adds up the delta of the frames, in single precision; makes up for lateness.",
        "after a slow frame it catches up with several calls in the next frame.",
    ),
}

_EGRET: Final = (
    Subject(
        "egret",
        "Egret, by calls",
        "Counts calls as if every display ran at 60 Hz, or elapsed time if that is reached first.",
        partial(_run_ticker, _by_calls),
        fault="above 60 Hz it is too fast: four times at 240 Hz.",
    ),
    Subject(
        "egret-repair-1",
        "Egret, repair 1",
        "Multiplies every delay by the display's rate over 60.",
        partial(_run_ticker, lambda display: longer_delay(_factor(display))),
        fault="below 60 Hz it is too fast; where frames are slower than the display, too slow.",
    ),
    Subject(
        "egret-repair-1-measured",
        "Egret, repair 1 measured",
        "The same with a factor measured for one second beforehand, at 60 frames per second.",
        partial(_run_ticker, lambda display: longer_delay(_measured_factor(60, display))),
        fault="measured in whole milliseconds, the factor is slightly too large at 60 Hz: one "
        "frame per call.",
    ),
    Subject(
        "egret-repair-1-measured-30",
        "Egret, repair 1 measured at 30",
        "The same at Egret's default of 30 frames per second.",
        partial(_run_ticker, lambda display: longer_delay(_measured_factor(30, display))),
        fault="it measures the program's frames instead of the display's, and is at least twice "
        "too fast.",
    ),
    Subject(
        "egret-repair-2",
        "Egret, repair 2 as published",
        "Its listener accepts a firing whose time differs from the delay by less than 100 ms.",
        partial(_run_ticker, _by_calls, check=_Check.PUBLISHED),
        fault="once a firing is 100 ms late, as at 72, 75, 90, 100 and 144 Hz, it stops for good.",
    ),
    Subject(
        "egret-repair-2-described",
        "Egret, repair 2 as described",
        "Its listener accepts a firing when the delay has passed.",
        partial(_run_ticker, _by_calls, check=_Check.DESCRIBED),
        fault="it waits for the next firing of a timer that is too fast: 1.25 s at 144 Hz.",
    ),
    Subject(
        "egret-repair-3",
        "Egret, repair 3 (HTML standard)",
        "Uses the browser's setInterval, rearmed when its callback returns.",
        partial(_run_browser, BrowserRules.STANDARD),
        fault="a late call shifts all later calls, and pausing the ticker does not stop it.",
    ),
    Subject(
        "egret-repair-3-chromium",
        "Egret, repair 3 (Chromium)",
        "Uses the browser's setInterval, which keeps its phase.",
        partial(_run_browser, BrowserRules.CHROMIUM),
        fault="missed calls are merged into one late call, and pausing the ticker does not stop "
        "it.",
    ),
    Subject(
        "egret-repair-4",
        "Egret, repair 4",
        "Multiplies the count of calls by the display's rate over 60.",
        partial(_run_ticker, lambda display: longer_count(_factor(display))),
        fault="it still counts calls, so it drifts if a delay is not a whole number of frames.",
    ),
    Subject(
        "egret-repair-4-measured",
        "Egret, repair 4 measured",
        "The same with a factor measured for one second beforehand, at 60 frames per second.",
        partial(_run_ticker, lambda display: longer_count(_measured_factor(60, display))),
        fault="it is correct only at the measured rate, and wrong if the rate of the display "
        "changes.",
    ),
    Subject(
        "egret-elapsed",
        "Egret, elapsed time",
        "Counts elapsed time and keeps the phase, as our ticker does by default.",
        partial(_run_ticker, _by_elapsed),
    ),
)

_LOOPS: Final = (
    Subject(
        "loop-shift",
        "open-flash loop, shift",
        "The original; reads its clock once per frame.",
        partial(_run_loop, OPEN_FLASH),
        fault="a late tick shifts all later ticks, and missed ticks are lost.",
    ),
    Subject(
        "loop-burst",
        "open-flash loop, burst",
        "The article's repair: late ticks run one after another.",
        partial(_run_loop, OPEN_FLASH_ARTICLE),
        fault="after a stall all of them run in one call, without reading the clock in between.",
    ),
    Subject(
        "loop-skip",
        "Our loop, skip",
        "Late ticks are skipped; the next tick is the first that is on time.",
        partial(_run_loop, LoopRules(missed=MissedTicks.SKIP)),
    ),
)

#: Every subject: ours first, then the originals.
SUBJECTS: Final[Sequence[Subject]] = (
    Subject("clock", "Our clock", "An interval on a clock: fires when it is due.", _run_clock),
    Subject(
        "clock-frames",
        "Our clock, once a frame",
        "The same in a program that reads its clocks once per frame.",
        _run_clock_by_frames,
    ),
    Subject(
        "scheduler",
        "Our scheduler, carry",
        "Fires in the frame in which it is due; lateness counts towards the next call.",
        partial(_run_scheduler, Overshoot.CARRY),
    ),
    Subject(
        "scheduler-drop",
        "Our scheduler, drop",
        "Fires once a frame at most.",
        partial(_run_scheduler, Overshoot.DROP),
        fault=_DRIFTS,
    ),
    *(
        Subject(
            dialect.name,
            dialect.title,
            _DIALECT_TEXTS[dialect.overshoot][0],
            partial(_run_dialect, dialect, _every_refresh),
            fault=_DIALECT_TEXTS[dialect.overshoot][1],
        )
        for dialect in DIALECTS
    ),
    Subject(
        "creator-3.8-paced",
        f"{CREATOR_3_8.title}, paced",
        f"Behind the frame-rate limiter, at {_PACED_RATE} frames per second.",
        partial(_run_dialect, CREATOR_3_8, _paced_refreshes),
        fault=_DRIFTS,
    ),
    *_EGRET,
    *_LOOPS,
)


def subjects_named(words: Iterable[str]) -> tuple[Subject, ...]:
    """Return the subjects of names, ``egret*`` or ``all``, each once in the order of the table.

    A ``ValueError`` for an unknown name lists the known ones.
    """
    chosen: set[str] = set()
    for word in words:
        wanted = word.strip().lower()
        matching = {
            each.name
            for each in SUBJECTS
            if wanted in (each.name, "all")
            or (wanted.endswith("*") and each.name.startswith(wanted[:-1]))
        }
        if not matching:
            known = ", ".join(each.name for each in SUBJECTS)
            raise ValueError(
                f"there is no subject {in_quotes(word.strip())}; there are {known}, and all"
            )
        chosen |= matching
    return tuple(each for each in SUBJECTS if each.name in chosen)
