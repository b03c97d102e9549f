"""A fixed-rate loop on any clock, with a named policy for missed ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from inspector.clocks.callbacks import (
    CheckedCallback,
    checked_callable,
    label_of,
    refuse_unfinished,
)
from inspector.clocks.clock import Clock
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.timer import MissedTicks, Timer
from inspector.clocks.tree import ClockTree
from inspector.frames.reporting import Reporter
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import Field, MemberKind


class ChildTimeout(Protocol):
    """A call that waits on a :class:`ChildClock`."""

    def report_as(self, number: int) -> None:
        """Report its due time as that of the loop with this number."""


class ChildClock(Protocol):
    """A clock of another engine under one of the tree, such as open-flash's.

    Attributes:
        name: Display name.
        number: Its number in events; 0 while nothing records.
        tree_clock: The nearest clock of the tree above.
        is_removed: Whether its loops end.
    """

    name: str
    number: int
    tree_clock: Clock
    is_removed: bool

    @property
    def tree(self) -> ClockTree:
        """The tree of the clock at the top."""

    @property
    def time_ns(self) -> int:
        """Its time."""

    def local_at(self, session_ns: int) -> int:
        """Return its time at an instant of the tree."""

    def set_unlisted_timeout_ns(
        self, delay_ns: int, callback: Callable[[], object], *, name: str = ""
    ) -> ChildTimeout:
        """Call ``callback()`` once, for a loop that reports its calls itself."""

    def clear(self, timeout: Any) -> bool:  # noqa: ANN401 - each kind clears its own
        """Cancel a timeout; returns whether it was pending."""


LoopClock: TypeAlias = Clock | ChildClock


@dataclass(frozen=True, slots=True)
class LoopRules:
    """How a loop behaves; open-flash's loops differ from ours in these points.

    Attributes:
        missed: What to do about ticks that could not run on time.
        max_burst: With ``BURST``, how many late ticks run in a row before the rest is
            skipped; ``None`` for no limit.
        stops_inside_tick: Whether :meth:`FixedRateLoop.stop` works inside the loop's own
            tick. Not in open-flash, where the pending timeout has already fired and the
            next is set when the tick returns.
        bursts_in_one_call: With ``BURST``, whether late ticks run within the call that
            finds them late. Their number follows from its one reading of the clock, time
            spent in them counts from the next reading, and no tick is reported as missed.
    """

    missed: MissedTicks = MissedTicks.BURST
    max_burst: int | None = None
    stops_inside_tick: bool = True
    bursts_in_one_call: bool = False


#: open-flash's ``startLoop`` as it is: a missed tick shifts the whole schedule.
OPEN_FLASH: Final = LoopRules(missed=MissedTicks.DELAY, stops_inside_tick=False)

#: ``startLoop`` as the article about it proposes: missed ticks are run at once.
OPEN_FLASH_ARTICLE: Final = LoopRules(
    missed=MissedTicks.BURST, stops_inside_tick=False, bursts_in_one_call=True
)


class FixedRateLoop:
    """Calls ``on_tick()`` at a fixed rate; made by :func:`start_loop`.

    Tick *k* is due at start + k / rate, computed from the start each time, so a rate such as 60
    does not drift. The first tick comes one period after the start.

    Attributes:
        clock: The clock it runs on.
        rate: Ticks per local second.
        ticks: Ticks run so far.
        missed_ticks: Ticks skipped so far.
        is_running: ``False`` once stopped.
        number: Its number in events while it runs, otherwise 0.
        on_missed: Called with the local nanoseconds by which a tick was missed. A failure
            is reported like that of a tick, and the loop continues.
        on_reduced_precision: Called when two ticks are set at the same local time; likewise.
    """

    if TYPE_CHECKING:
        on_missed: Callable[[int], object] | None
        on_reduced_precision: Callable[[], object] | None
    else:
        on_missed = CheckedCallback()
        on_reduced_precision = CheckedCallback()

    def __init__(
        self,
        clock: LoopClock,
        rate: Fraction,
        on_tick: Callable[[], object],
        rules: LoopRules,
        name: str,
    ) -> None:
        self.clock = clock
        self.rate = rate
        self.rules = rules
        self.ticks = 0
        self.missed_ticks = 0
        self.is_running = False
        self.on_missed = self.on_reduced_precision = None
        self._on_tick = on_tick
        self._name = name
        self.number = 0
        self._reporter = Reporter(clock if isinstance(clock, Clock) else clock.tree_clock)
        self._timer: Timer | ChildTimeout | None = None
        self._start_ns = 0
        self._number = 0
        self._shift_ns = 0
        self._burst = 0
        self._set_at_ns: int | None = None
        # Whether the tick itself, or one of the two notifications, is being called.
        self._is_in_call = False

    def __repr__(self) -> str:
        state = "" if self.is_running else ", stopped"
        return f"<FixedRateLoop {self.rate}/s on {self.clock.name!r}, {self.ticks} ticks{state}>"

    def start(self) -> None:
        """Start or restart now; the first tick comes one period later.

        The counts are kept; late or shifted ticks no longer matter.
        """
        self._withdraw()
        self.is_running = True
        if not self.number:
            self._report_new()
        self._start_ns = self.clock.time_ns
        self._number = self._shift_ns = self._burst = 0
        self._set_at_ns = None
        if self._is_in_call:
            # Lateness is checked when that tick comes, not within this one.
            self._number = 1
            self._set_timer(self._start_ns)
        else:
            self._set_next()

    def stop(self) -> None:
        """Stop; harmless when stopped and inside the tick."""
        self.unschedule()

    def unschedule(self) -> bool:
        """Do what :meth:`stop` does; returns whether it was running."""
        if not self.is_running or (self._is_in_call and not self.rules.stops_inside_tick):
            return False
        self.is_running = False
        self._withdraw()
        self._reporter.remove(self.number)
        self.number = 0
        return True

    def _withdraw(self) -> None:
        if self._timer is not None:
            # The timer is of the kind that this clock makes.
            self.clock.clear(self._timer)  # type: ignore[arg-type]
            self._timer = None

    def _report_new(self) -> None:
        clock, reporter = self.clock, self._reporter
        above = 0 if isinstance(clock, Clock) else clock.number
        self.number = number = reporter.add(self, MemberKind.LOOP, self._name, above)
        reporter.set_text(number, Field.RULES, f"missed ticks: {self.rules.missed.value}")
        reporter.set_seconds(number, Field.INTERVAL, float(1 / self.rate))

    @property
    def _wants_timer(self) -> bool:
        """Whether the loop continues and the last call has not restarted it."""
        return self.is_running and self._timer is None and not self.clock.is_removed

    def _tick(self) -> None:
        self._timer = None
        try:
            self._call()
        finally:
            if self._wants_timer:
                self._set_next()

    def _call(self) -> None:
        self._is_in_call = True
        self.ticks += 1
        number = self.number
        began_ns = perf_counter_ns() if number else 0
        try:
            refuse_unfinished(self._on_tick())
        finally:
            self._is_in_call = False
            self._reporter.call_ended(number, began_ns)

    def _set_next(self) -> None:
        """Set the next tick from its number, after checking its lateness."""
        self._number += 1
        clock = self.clock
        now_ns = clock.time_ns
        if now_ns == self._set_at_ns and self.on_reduced_precision is not None:
            self._notify(self.on_reduced_precision)
            if not self._wants_timer:
                return
        self._set_at_ns = now_ns
        late_ns = clock.local_at(clock.tree.reached_ns) - self._due_ns(self._number)
        if late_ns > 0 and self.rules.bursts_in_one_call:
            self._catch_up(now_ns, late_ns)
            return
        if late_ns > 0 and self.on_missed is not None:
            self._notify(self.on_missed, late_ns)
            if not self._wants_timer:
                return
        if late_ns > 0:
            self._make_up(late_ns)
            self._report_missed()
        else:
            self._burst = 0
        self._set_timer(now_ns)

    def _set_timer(self, now_ns: int) -> None:
        delay_ns = self._due_ns(self._number) - now_ns
        self._timer = timer = self.clock.set_unlisted_timeout_ns(
            delay_ns, self._tick, name=self._name
        )
        if isinstance(timer, Timer):
            self._reporter.set(self.number, Field.DUE, timer.due_ns)
        else:
            timer.report_as(self.number)

    def _notify(self, told: Callable[..., object], *args: int) -> None:
        """Call a notification; the loop continues even if it fails."""
        self._is_in_call = True
        try:
            refuse_unfinished(told(*args))
        except CALLBACK_ERRORS as error:
            clock = self.clock
            owner = clock if isinstance(clock, Clock) else clock.tree_clock
            clock.tree.report_failure(owner, 0, label_of(told), error)
        finally:
            self._is_in_call = False

    def _catch_up(self, now_ns: int, late_ns: int) -> None:
        """Run the late ticks now, then set the next by the same reading."""
        reached_ns = self._due_ns(self._number) + late_ns
        limit = self.rules.max_burst
        count = 0
        try:
            while self._wants_timer and self._due_ns(self._number) < reached_ns:
                if count == limit:
                    self._skip(reached_ns - self._due_ns(self._number))
                    self._report_missed()
                    return
                count += 1
                self._number += 1
                self._call()
        finally:
            if self._wants_timer:
                self._set_timer(now_ns)

    def _due_ns(self, number: int) -> int:
        rate = self.rate
        elapsed = number * NS_PER_SECOND * rate.denominator // rate.numerator
        return self._start_ns + self._shift_ns + elapsed

    def _make_up(self, late_ns: int) -> None:
        """Apply the policy to a late tick."""
        match self.rules.missed:
            case MissedTicks.DELAY:
                self._shift_ns += late_ns
                self.missed_ticks += (
                    late_ns * self.rate.numerator // (NS_PER_SECOND * self.rate.denominator)
                )
            case MissedTicks.SKIP:
                self._skip(late_ns)
            case MissedTicks.BURST:
                self._burst += 1
                limit = self.rules.max_burst
                if limit is not None and self._burst > limit:
                    self._skip(late_ns)

    def _report_missed(self) -> None:
        if self.missed_ticks:
            self._reporter.set(self.number, Field.MISSED, self.missed_ticks)

    def _skip(self, late_ns: int) -> None:
        """Continue at the first tick that is not late."""
        reached_ns = self._due_ns(self._number) + late_ns
        elapsed_ns = reached_ns - self._start_ns - self._shift_ns
        per_tick = NS_PER_SECOND * self.rate.denominator
        number = -(-elapsed_ns * self.rate.numerator // per_tick)
        self.missed_ticks += number - self._number
        self._number = number


def start_loop(  # noqa: PLR0913 - every one of them is a user's choice
    clock: LoopClock,
    rate: float | Fraction,
    on_tick: Callable[[], object],
    *,
    missed: MissedTicks | str = MissedTicks.BURST,
    max_burst: int | None = None,
    name: str = "",
) -> FixedRateLoop:
    """Start a fixed-rate loop on a clock.

    Args:
        clock: Pausing it pauses the loop; the rest of the period follows the pause.
        rate: Ticks per local second, above 0.
        on_tick: Called with no arguments; may stop the loop.
        missed: ``"burst"`` runs late ticks in a row, ``"delay"`` runs one and shifts the
            schedule, ``"skip"`` continues at the next tick on time.
        max_burst: With ``"burst"``, how many late ticks run before the rest is skipped.
        name: Name of the loop.

    Raises:
        ValueError: The rate is not above 0, or the policy is unknown.
        TypeError: ``on_tick`` cannot be called.
    """
    if max_burst is not None and max_burst < 0:
        raise ValueError(f"max_burst cannot be negative: {max_burst}")
    return start_loop_by(clock, rate, on_tick, LoopRules(MissedTicks(missed), max_burst), name=name)


def start_loop_by(
    clock: LoopClock,
    rate: float | Fraction,
    on_tick: Callable[[], object],
    rules: LoopRules,
    *,
    name: str = "",
) -> FixedRateLoop:
    """Start a loop by explicit rules, such as :data:`OPEN_FLASH`; see :func:`start_loop`."""
    try:
        exact = Fraction(rate).limit_denominator(1_000_000)
    except (ValueError, OverflowError, TypeError):
        exact = Fraction(0)
    if not 0 < exact <= NS_PER_SECOND:
        message = f"a rate must be above 0 and at most one tick per nanosecond: {rate!r} per second"
        raise ValueError(message)
    checked_callable(on_tick)
    loop = FixedRateLoop(clock, exact, on_tick, rules, name or f"loop {label_of(on_tick)}")
    loop.start()
    return loop
