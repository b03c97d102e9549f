"""The clocks of a program: local time as an exact function of the time above.

``local = (parent * n + off) // D`` in whole numbers. A change of rate at the parent's instant ``P``
is ``off += P * (n_old - n_new)``, a pause is ``n = 0``: local time never jumps, and the inspector,
which folds the events, arrives at the same nanosecond. The program's own clock is below
``time.monotonic_ns``, in which every instant on the wire is given.

Clocks are read on the program's threads and changed on the probe's. A reader takes no lock while
all rates are 1: a change first withdraws the shift that readers add to the present instant, and
only then reads the present, so a reader that still saw the shift was earlier.
"""

from __future__ import annotations

from itertools import count
from threading import RLock
from time import monotonic, monotonic_ns

from .kinds import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
)
from .kinds import RATE_DENOMINATOR as D

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Callable, Optional

    Emit = Callable[[tuple[int, int, int, int, int]], None]

#: 73 years; longer times count as this.
FAR_NS = 2**61
#: Shorter times need not be limited, which takes longer than converting them.
_NEAR_S = 2e9
#: Longest wait, after which a thread waits again: selectors, Qt and SDL take at most 2**31 ms.
LONGEST_WAIT_NS = 86_400_000_000_000


def whole_ns(seconds: float) -> int:
    """Return seconds in nanoseconds; :data:`FAR_NS` for infinity and NaN.

    Libraries accept such waits, and some use one to wait for ever.
    """
    if -_NEAR_S < seconds < _NEAR_S:
        return round(seconds * 1e9)
    # In this order, NaN gives FAR_NS, as comparisons with it are false.
    return round(max(-FAR_NS, min(FAR_NS, seconds * 1e9)))


class NothingDueError(BaseException):
    """Whatever could end the wait of a test waits itself.

    Not an ``Exception``, so that code of the program that catches those does not catch it.
    """


class InTurn(float):
    """A due time that sorts behind equal ones that were made before it.

    In real time, later timers are due later. Virtual time stands still while timers are set, and
    a heap does not keep the order of equals.
    """

    __slots__ = ("_place",)

    _next_place = count().__next__

    _place: int

    def __init__(self, _seconds: float) -> None:
        self._place = self._next_place()

    def __lt__(self, other: float) -> bool:
        if isinstance(other, InTurn) and float.__eq__(self, other):
            return self._place < other._place
        return float.__lt__(self, other)

    def __add__(self, other: float) -> float:
        # Twisted adds the time by which a call was postponed, mostly 0.
        return float.__add__(self, other) if other else self

    def __gt__(self, other: float) -> bool:
        if isinstance(other, InTurn) and float.__eq__(self, other):
            return self._place > other._place
        return float.__gt__(self, other)


class Clock:
    __slots__ = (
        "__weakref__",
        "_clocks",
        "_n",
        "_now_ns",
        "_off",
        "_shift",
        "_stands",
        "adapter",
        "before_first_change",
        "cause",
        "children",
        "is_paused",
        "is_removed",
        "name",
        "number",
        "parent",
        "rate_n",
        "thread",
        "threads",
    )

    def __init__(
        self, clocks: Clocks, number: int, name: str, parent: Optional[Clock], adapter: Any
    ) -> None:
        self._clocks = clocks
        self._now_ns = clocks.now_ns
        # Its number, unique in the program; the program's own clock has the lowest
        self.number = number
        self.name = name  # Its name in the inspector
        # The clock above; None for the program's own, which is below real time
        self.parent = parent
        self.children: list[Clock] = []  # The clocks directly below
        self.adapter = adapter  # What controls it; None for the program's own
        self.rate_n = self._n = D  # Its rate over D, kept while paused
        self._off = 0
        self._shift: Optional[int] = None
        # How long it stood still before, and since when it does now; one value, as other
        # threads read it.
        self._stands: tuple[int, Optional[int]] = (0, None)
        self.is_paused = False  # Whether the clock itself is paused
        self.is_removed = False
        self.cause = 0  # Number of the command that paused it
        # Name of the thread that its timers are called on, empty if it is not known
        self.thread = ""
        # Called once, with the lock held, before local time first differs in pace from real time;
        # None afterwards
        self.before_first_change: Optional[Callable[[], None]] = None
        # Python's and the system's number of that thread; those of the main thread if it is not
        # known
        self.threads = (0, 0)

    def __repr__(self) -> str:
        return f"<Clock {self.number} {self.name!r} at {self.local_ns():,} ns>"

    def local_ns(self) -> int:
        """Return the local time; exact, never runs backwards, on any thread."""
        shift = self._shift
        if shift is not None:
            now_ns = self._now_ns()
            if self._shift is shift:
                return now_ns + shift
        clocks = self._clocks
        with clocks.lock:
            return self.local_at(clocks.present_ns())

    @property
    def now_s(self) -> float:
        """Local time in seconds."""
        return self.local_ns() / 1e9

    def reader_s(self, base_ns: int) -> Callable[[], float]:
        """Return the fastest function that reads local time plus ``base_ns`` in seconds."""
        local_ns = self.local_ns

        def reading() -> float:
            return (local_ns() + base_ns) / 1e9

        is_machine_time = self._now_ns is monotonic_ns and self._shift == -base_ns
        return monotonic if is_machine_time else reading

    def local_at(self, raw_ns: int) -> int:
        """Return the local time at an instant that is not before the last change."""
        parent = self.parent
        return ((raw_ns if parent is None else parent.local_at(raw_ns)) * self._n + self._off) // D

    @property
    def is_held(self) -> bool:
        """Whether local time stands still, for any reason."""
        clock: Optional[Clock] = self
        while clock is not None:
            if clock._n == 0:
                return True
            clock = clock.parent
        return False

    def stood_ns(self, raw_ns: int) -> int:
        """Return for how much of the real time up to an instant local time stood still."""
        (stood_ns, since_ns), limit_ns = self._stands, self._clocks.step_ends_ns
        if since_ns is None and limit_ns is not None and raw_ns > limit_ns:
            # The pause at the end of a step begins there, however late it is settled.
            since_ns = limit_ns
        return stood_ns if since_ns is None else stood_ns + raw_ns - since_ns

    def stands_still(self, raw_ns: int) -> bool:
        """Whether local time stands still at an instant, which may be after the end of a step."""
        limit_ns = self._clocks.step_ends_ns
        return self.is_held or (limit_ns is not None and raw_ns > limit_ns)

    @property
    def is_plain(self) -> bool:
        """Whether local time passes as fast as real time."""
        return self._shift is not None

    def raw_at(self, local_ns: int) -> Optional[int]:
        """Return the first instant at which local time has reached ``local_ns``.

        ``None``: never, because the clock is held. The instant may lie in the past.
        """
        return self.due_above(local_ns, None)

    def due_above(self, local_ns: int, above: Optional[Clock]) -> Optional[int]:
        """Return the first local instant of a clock above at which ``local_ns`` is reached.

        ``None`` if a clock in between is held; for ``above`` it stands for real time.
        """
        clock: Optional[Clock] = self
        while clock is not above and clock is not None:
            if clock._n == 0:
                return None
            local_ns = -((clock._off - local_ns * D) // clock._n)
            clock = clock.parent
        return local_ns

    def real_ns_until(self, local_ns: int) -> Optional[int]:
        """Return in how many real nanoseconds local time reaches ``local_ns``.

        0 if it has been reached, ``None`` while the clock is held before it; at most
        :data:`LONGEST_WAIT_NS`, so that no wait is longer than systems and libraries take.
        """
        clocks = self._clocks
        with clocks.lock:
            now_ns = clocks.present_ns()
            if self.local_at(now_ns) >= local_ns:
                return 0
            at_ns = self.raw_at(local_ns)
            return None if at_ns is None else min(max(at_ns - now_ns, 0), LONGEST_WAIT_NS)


class Clocks:
    # eventlet.monkey_patch() replaces locks that it finds in the variables of objects.
    __slots__ = ("__dict__", "__weakref__", "lock")

    def __init__(self, now_ns: Callable[[], int] = monotonic_ns) -> None:
        self.now_ns = now_ns  # Gives the present instant
        self.lock = RLock()  # Held while clocks change
        self.emit: Optional[Emit] = None  # Takes events while an inspector is attached, else None
        self.by_number: dict[int, Clock] = {}  # The clocks, in the order of their creation
        # Called with a clock whose rate or pause has changed, the lock held
        self.changed: Callable[[Clock], None] = lambda _clock: None
        self.text: Callable[[str], int] = lambda _text: 0
        self._last = 0
        # The end of a step: an instant, and the local time of the top clock.
        self._limit_ns: Optional[int] = None
        self._limit_local_ns = 0

    def present_ns(self) -> int:
        """Return the present instant; during a step no later than its end."""
        now_ns = self.now_ns()
        limit_ns = self._limit_ns
        return now_ns if limit_ns is None or now_ns < limit_ns else limit_ns

    def add(self, name: str, parent: Optional[Clock], adapter: Any = None) -> Clock:
        """Add a clock whose local time starts at 0, or for a child where its parent is."""
        with self.lock:
            at_ns = self.present_ns()
            self._last += 1
            clock = Clock(self, self._last, name, parent, adapter)
            if parent is None:
                clock._off = -at_ns * D
            else:
                parent.children.append(clock)
            self.by_number[clock.number] = clock
            self._note_stops(clock, at_ns)
            self._publish(clock)
            if self.emit is not None:
                for event in self._described(clock, at_ns):
                    self.emit(event)
        return clock

    def anchor(self, clock: Clock, local_ns: int, rate_n: int, *, is_paused: bool) -> None:
        """Set a new clock to a local time, with the rate and pause that the program gave it."""
        with self.lock:
            at_ns = self.present_ns()
            above_ns = at_ns if clock.parent is None else clock.parent.local_at(at_ns)
            clock.rate_n, clock.is_paused = rate_n, is_paused
            clock._n = 0 if is_paused else rate_n
            clock._off = local_ns * D - above_ns * clock._n
            self._note_stops(clock, at_ns)
            self._publish(clock)
            if self.emit is not None:
                for event in self._described(clock, at_ns):
                    self.emit(event)

    def move(self, clock: Clock, parent: Clock) -> None:
        """Put a branch below another clock; its local time goes on from where it is."""
        with self.lock:
            self._withdraw(clock)
            at_ns = self.present_ns()
            old = clock.parent
            above_ns = at_ns if old is None else old.local_at(at_ns)
            clock._off += (above_ns - parent.local_at(at_ns)) * clock._n
            if old is not None:
                old.children.remove(clock)
            clock.parent = parent
            parent.children.append(clock)
            self._note_stops(clock, at_ns)
            self._publish(clock)
            if self.emit is not None:
                self.emit((at_ns, CLOCK_MOVED, clock.number, parent.number, 0))

    def remove(self, clock: Clock) -> None:
        with self.lock:
            if clock.is_removed:
                return
            for child in list(clock.children):
                self.remove(child)
            clock.is_removed = True
            del self.by_number[clock.number]
            if clock.parent is not None:
                clock.parent.children.remove(clock)
            if self.emit is not None:
                self.emit((self.present_ns(), CLOCK_REMOVED, clock.number, 0, 0))

    def branch(self, clock: Clock) -> Iterator[Clock]:
        yield clock
        for child in clock.children:
            yield from self.branch(child)

    def pause(self, clock: Clock, cause: int = 0) -> bool:
        """Pause a clock; returns whether it ran."""
        with self.lock:
            if clock.is_paused:
                return False
            clock.is_paused = True
            clock.cause = cause
            self._change(clock, 0, CLOCK_PAUSED, cause)
        return True

    def resume(self, clock: Clock, cause: int = 0) -> bool:
        """Resume a clock; returns whether it was paused."""
        with self.lock:
            if not clock.is_paused:
                return False
            clock.is_paused = False
            self._change(clock, clock.rate_n, CLOCK_RESUMED, cause)
        return True

    def set_rate(self, clock: Clock, rate_n: int, cause: int = 0) -> bool:
        """Change a clock's rate, also while it is paused; returns whether it differed."""
        with self.lock:
            if clock.rate_n == rate_n:
                return False
            clock.rate_n = rate_n
            self._change(clock, 0 if clock.is_paused else rate_n, CLOCK_RATE, rate_n, cause)
        return True

    def release(self) -> None:
        """Let everything run at rate 1, from where it is."""
        with self.lock:
            self.end_step()
            for clock in list(self.by_number.values()):
                if not getattr(clock.adapter, "has_own_rates", False):
                    self.resume(clock)
                    self.set_rate(clock, D)

    def _withdraw(self, clock: Clock) -> None:
        """Let the readers of a branch wait for the lock from here on."""
        for below in self.branch(clock):
            below._shift = None
            call, below.before_first_change = below.before_first_change, None
            if call is not None:
                call()

    def _change(self, clock: Clock, n: int, kind: int, a: int, b: int = 0) -> None:
        self._withdraw(clock)
        at_ns = self.present_ns()
        above_ns = at_ns if clock.parent is None else clock.parent.local_at(at_ns)
        clock._off += above_ns * (clock._n - n)
        clock._n = n
        if self._limit_ns is not None and clock.parent is None:
            self._limit_ns = clock.raw_at(self._limit_local_ns)
        self._note_stops(clock, at_ns)
        self._publish(clock)
        if self.emit is not None:
            self.emit((at_ns, kind, clock.number, a, b))
        self.changed(clock)

    def _note_stops(self, clock: Clock, at_ns: int) -> None:
        for below in self.branch(clock):
            if not below.is_held:
                below._stands = (below.stood_ns(at_ns), None)
            elif below._stands[1] is None:
                below._stands = (below._stands[0], at_ns)

    def _publish(self, clock: Clock) -> None:
        """Compute what readers of a branch can add to the present instant to get local time."""
        above = 0 if clock.parent is None else clock.parent._shift
        if self._limit_ns is not None or above is None or clock._n != D:
            clock._shift = None
        else:
            # A new object each time, which tells readers that there was a change between.
            clock._shift = int(above + clock._off // D)
        for child in clock.children:
            self._publish(child)

    def step_to(self, clock: Clock, local_ns: int, cause: int = 0) -> bool:
        """Let a paused clock of the top run to a local instant, where :meth:`settle` pauses it.

        Local time does not pass that instant, however late it is settled. Returns whether it runs.
        """
        with self.lock:
            if not clock.is_paused or clock.rate_n == 0 or clock.parent is not None:
                return False
            self._limit_local_ns = local_ns
            # Resuming the clock computes the end; until then it is now. Readers wait for the lock.
            self._limit_ns = self.present_ns()
            clock.cause = cause
            self.resume(clock, cause)
        return True

    def jump(self, clock: Clock, local_ns: int, skip: Callable[[int], None]) -> None:
        """Let a paused clock of the top reach a local instant at once; nothing is woken.

        Args:
            skip: Advances the present instant by a number of nanoseconds.
        """
        with self.lock:
            at_ns, n = self.present_ns(), clock.rate_n
            clock._off -= at_ns * n
            clock._n = n
            self._note_stops(clock, at_ns)
            end_ns = clock.raw_at(local_ns)
            if end_ns is None or end_ns < at_ns:
                end_ns = at_ns
            skip(end_ns - at_ns)
            clock._off += end_ns * n
            clock._n = 0
            self._note_stops(clock, end_ns)
            if self.emit is not None:
                self.emit((at_ns, CLOCK_RESUMED, clock.number, clock.cause, 0))
                self.emit((end_ns, CLOCK_PAUSED, clock.number, clock.cause, 0))

    @property
    def step_ends_ns(self) -> Optional[int]:
        """The instant at which the present step ends, ``None`` without one."""
        return self._limit_ns

    def settle(self, clock: Clock) -> bool:
        """End a step whose instant has come: the clock is paused at exactly that instant."""
        with self.lock:
            limit_ns = self._limit_ns
            if limit_ns is None or self.now_ns() < limit_ns:
                return False
            self.pause(clock, clock.cause)
        return True

    def end_step(self) -> None:
        """Forget the end of a step: the clock runs on."""
        with self.lock:
            if self._limit_ns is not None:
                self._limit_ns = None
                for clock in self.by_number.values():
                    if clock.parent is None:
                        self._publish(clock)

    def described(self) -> list[tuple[int, int, int, int, int]]:
        """Return the events that describe all clocks as they are now.

        Offsets are rounded down to whole nanoseconds, which changes no reading, so that folding the
        events gives exactly these clocks.
        """
        with self.lock:
            at_ns = self.present_ns()
            return [
                event
                # A clock that was moved may be older than the one above it.
                for top in self.by_number.values()
                if top.parent is None
                for clock in self.branch(top)
                for event in self._described(clock, at_ns)
            ]

    def _described(self, clock: Clock, at_ns: int) -> list[tuple[int, int, int, int, int]]:
        parent = clock.parent
        above_ns = at_ns if parent is None else parent.local_at(at_ns)
        local_ns = clock.local_at(at_ns)
        clock._off = local_ns * D - above_ns * clock._n
        number, rate_n = clock.number, clock.rate_n
        name = self.text(clock.name)
        events = [
            (at_ns, CLOCK_ADDED, number, 0 if parent is None else parent.number, name),
            (at_ns, CLOCK_ANCHORED, number, above_ns - local_ns, D),
        ]
        if rate_n != D:
            events.append((at_ns, CLOCK_RATE, number, rate_n, 0))
        if clock.is_paused:
            events.append((at_ns, CLOCK_PAUSED, number, clock.cause, 0))
        return events
