"""The inspector's own clocks, in a program that drives them by a time source of its own.

The tree reports its events anyway, in the same terms: they are repeated with clocks and timers of
the probe. Its time source follows the adapter of the library that it uses, such as asyncio's.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from fractions import Fraction
from threading import RLock
from typing import TYPE_CHECKING, Any, Callable
from weakref import ref

from ..kinds import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    MARK,
    MODE_RUNNING,
    NEVER,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TRANSPORT,
)
from ..kinds import RATE_DENOMINATOR as D
from . import Adapter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..clocks import Clock
    from ..program import Program, Timer
    from . import Capability


_OF_A_LOOP = "AsyncioTimeSource"
#: How often to try to read the timers of a clock, which its thread may be changing.
_TRIES = 20
_CHANGES = frozenset({CLOCK_RATE, CLOCK_PAUSED, CLOCK_RESUMED, CLOCK_REMOVED})


class ClockTreeAdapter(Adapter):
    """Trees of clocks that a transport drives."""

    library: str = "inspector"
    hides: tuple[str, ...] = ("inspector",)
    has_own_rates = True
    reads_anywhere = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._mirrors: dict[int, _Mirror] = {}
        self._is_attached = False

    def installed(self, module: ModuleType) -> None:
        transport_class: Any = module.Transport
        begin = transport_class.__init__

        def __init__(transport: Any, *args: Any, **options: Any) -> None:  # noqa: N807
            begin(transport, *args, **options)
            self._adopt(transport)

        transport_class.__init__ = __init__
        for each in gc.get_objects():
            if isinstance(each, transport_class):
                self._adopt(each)

    def _adopt(self, transport: Any) -> None:
        number = id(transport)
        mirror = _Mirror(self, transport, lambda: self._gone(number))
        self._mirrors[number] = mirror
        if self._is_attached:
            self.program.guarded(self, mirror.begin)

    def _gone(self, number: int) -> None:
        self.program.guarded(self, self._mirrors.pop(number).forget)

    def attached(self) -> None:
        self._is_attached = True
        for mirror in list(self._mirrors.values()):
            mirror.begin()

    def released(self) -> None:
        self._is_attached = False
        for mirror in list(self._mirrors.values()):
            mirror.end()

    def _mirror_of(self, clock: Clock) -> tuple[_Mirror, Any] | None:
        for mirror in list(self._mirrors.values()):
            own = mirror.own_clock(clock)
            if own is not None:
                return mirror, own
        return None

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        found = self._mirror_of(clock)
        if found is None:
            call()
        else:
            found[1].post(call)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        found = self._mirror_of(clock)
        return iter(()) if found is None else found[0].describe(clock, found[1])

    def was_read_elsewhere(self, clock: Clock) -> None:
        found = self._mirror_of(clock)
        if found is not None:
            # Again on its own thread, for timers that it had taken out and was about to put back.
            found[1].post(found[0].describe_all, clock, found[1])

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        found: dict[str, Capability] = {"clear_timer": "A tree of clocks clears its own timers."}
        if self._mirror_of(clock) is None:
            reason = "Pause the clock that its time source reads, or its root clock."
            found.update(pause=reason, rate=reason)
        return found

    def changed(self, clock: Clock) -> None:
        found = self._mirror_of(clock) if self._is_attached else None
        if found is not None:
            found[1].post(found[0].follow, clock, found[1])


class _Mirror:
    """A tree, repeated with clocks and timers of the probe while an inspector is attached."""

    def __init__(
        self, adapter: ClockTreeAdapter, transport: Any, gone: Callable[[], object]
    ) -> None:
        self._adapter = adapter
        self._program = adapter.program
        # The program may release it at any time, and the tree with it, which refers to it.
        self._transport = ref(transport, lambda _: gone())
        self._tree_if_any = ref(transport.tree)
        self._theirs: Any = None
        self._top: Clock | None = None
        self._clocks: dict[int, Clock] = {}
        self._numbers: dict[Clock, int] = {}
        self._added: dict[int, tuple[int, ...]] = {}
        self._timers: dict[int, Timer] = {}
        # Timers are described on the probe's thread while that of the tree is busy.
        self._lock = RLock()
        #: Pause and rate of clocks before the inspector has changed them.
        self._before: dict[Any, tuple[bool, Fraction]] = {}

    @property
    def _tree(self) -> Any:
        return self._tree_if_any()

    def own_clock(self, clock: Clock) -> Any:
        """Return the clock of the tree that a clock of the probe repeats."""
        number = self._numbers.get(clock)
        tree = self._tree
        clocks = () if tree is None else tree.root.walk()
        return next((each for each in clocks if each.id == number), None)

    def begin(self) -> None:
        """Repeat the clocks as they are, then what happens."""
        tree, transport = self._tree, self._transport()
        if transport is None or self._theirs is not None:
            return
        self._theirs = tree.record, tree._sink, tree.keeps_call_sites
        parent = _parent(self._program, transport.source)
        if parent is None and type(transport.source).__name__ == _OF_A_LOOP:
            # The clock of a loop is known only once the loop runs.
            tree.record_to(self._wait)
        else:
            self._go_on(transport, parent)

    def _wait(self, event: tuple[int, int, int, int, int]) -> None:
        transport = self._transport()
        if event[1] == TIMER_FIRED and transport is not None:
            parent = _parent(self._program, transport.source)
            self._program.guarded(self._adapter, self._go_on, transport, parent)
            for number, clock in list(self._clocks.items()):
                for own in self._tree.root.walk():
                    if own.id == number:
                        self.describe_all(clock, own)
            self._record(event)
        elif self._theirs is not None and self._theirs[0] is not None:
            self._theirs[0](event)

    def _go_on(self, transport: Any, parent: Clock | None) -> None:
        tree = self._tree
        self._top = self._clock("clock tree", parent)
        self._anchor(self._top, tree.reached_ns, D, is_paused=not transport.is_running)
        for clock in tree.root.walk():
            self._add(clock.id, clock.parent, clock.name)
            rate_n = round(clock.rate * D)
            # Not its time now: only its own thread may advance it to that.
            local_ns = clock.local_at(tree.reached_ns)
            self._anchor(self._clocks[clock.id], local_ns, rate_n, is_paused=clock.is_paused)
        if tree._sink is None:
            tree._sink, tree.keeps_call_sites = _Texts(self._program), True
        tree.record_to(self._record)

    def end(self) -> None:
        theirs, self._theirs = self._theirs, None
        if theirs is not None:
            record, self._tree._sink, self._tree.keeps_call_sites = theirs
            self._tree.record_to(record)
        for clock, state in self._before.items():
            clock.post(_set, clock, *state)
        self._before.clear()
        self.forget()

    def forget(self) -> None:
        """Take out what repeats the tree."""
        top, self._top = self._top, None
        if top is not None:
            self._program.remove_clock(top)
        for each in (self._clocks, self._numbers, self._added, self._timers):
            each.clear()

    def describe(self, clock: Clock, own: Any) -> Iterator[None]:
        """Describe the timers that wait on a clock; on any thread."""
        for timer in _pending(own):
            with self._lock:
                # A timer that fires or is cleared has lost its callback before that is reported.
                if timer.id not in self._timers and timer.callback is not None:
                    site = self._program.text(timer.call_site)
                    self._timers[timer.id] = self._program.timer(
                        clock, timer.label, site, timer.due_ns, timer.interval_ns, int(timer.kind)
                    )
            yield

    def describe_all(self, clock: Clock, own: Any) -> None:
        """Describe the timers that wait on a clock, as far as they are not known."""
        for _ in self.describe(clock, own):
            pass

    def follow(self, clock: Clock, own: Any) -> None:
        """Do with a clock of the tree what was done with the one of the probe; on its thread."""
        if (own.is_paused, own.rate) != (clock.is_paused, Fraction(clock.rate_n, D)):
            self._before.setdefault(own, (own.is_paused, own.rate))
            _set(own, clock.is_paused, Fraction(clock.rate_n, D))

    def _clock(self, name: str, parent: Clock | None) -> Clock:
        clocks = self._program.clocks
        with clocks.lock:
            emit, clocks.emit = clocks.emit, None
            try:
                return self._program.clock(name, parent, self._adapter)
            finally:
                clocks.emit = emit

    def _add(self, number: int, parent: Any, name: str) -> None:
        above = self._top if parent is None else self._clocks[parent.id]
        self._clocks[number] = clock = self._clock(name, above)
        self._numbers[clock] = number

    def _anchor(self, clock: Clock, local_ns: int, rate_n: int, *, is_paused: bool) -> None:
        """Set a new clock to a local time, and describe it."""
        clocks = self._program.clocks
        with clocks.lock:
            clocks.anchor(clock, local_ns, rate_n, is_paused=is_paused)

    def _record(self, event: tuple[int, int, int, int, int]) -> None:
        theirs = self._theirs
        if theirs is not None and theirs[0] is not None:
            theirs[0](event)
        if self._program.emit is not None:
            with self._lock:
                self._program.guarded(self._adapter, self._repeat, event)

    def _text(self, number: int) -> str:
        sink = self._tree._sink
        texts: list[str] = sink.texts if isinstance(sink, _Texts) else sink.strings
        return texts[number]

    def _repeat(self, event: tuple[int, int, int, int, int]) -> None:  # noqa: C901, PLR0912
        _, kind, subject, a, b = event
        if kind == TIMER_FIRED:
            timer = self._timers.get(subject)
            if timer is not None:
                timer.fired(a, None if b == NEVER else b)
                if b == NEVER:
                    del self._timers[subject]
        elif kind == TIMER_ADDED:
            self._added[subject] = (a, b)
        elif kind == TIMER_ORIGIN:
            self._added[subject] += (a, b)
        elif kind == TIMER_ARMED:
            self._arm(subject, a, b)
        elif kind == TIMER_CLEARED and subject in self._timers:
            self._timers.pop(subject).cleared(self._program.text(self._text(a)), b)
        elif kind == TICKS_MISSED and subject in self._timers:
            self._timers[subject].missed(a)
        elif kind == CLOCK_ADDED:
            self._added[-subject] = (a, b)
        elif kind == CLOCK_ANCHORED:
            above, name = self._added.pop(-subject)
            self._clocks[subject] = clock = self._clock(self._text(name), self._clocks[above])
            self._numbers[clock] = subject
            local_ns = self._clocks[above].local_ns() - a
            self._anchor(clock, local_ns * b // D, b, is_paused=False)
        elif kind == CLOCK_MOVED:
            self._program.clocks.move(self._clocks[subject], self._clocks[a])
        elif kind in _CHANGES:
            self._change(kind, self._clocks[subject], a)
        elif kind == MARK:
            self._program.mark(self._text(a))
        elif kind == TRANSPORT and self._top is not None:
            change = CLOCK_RESUMED if subject == MODE_RUNNING else CLOCK_PAUSED
            self._change(change, self._top, 0)

    def _arm(self, number: int, due_ns: int, interval_ns: int) -> None:
        added, timer = self._added.pop(number, ()), self._timers.get(number)
        if timer is not None:
            timer.armed(due_ns, interval_ns)
            return
        clock, label, site, kind = added
        text = self._program.text(self._text(site))
        self._timers[number] = self._program.timer(
            self._clocks[clock], self._text(label), text, due_ns, interval_ns, kind
        )

    def _change(self, kind: int, clock: Clock, a: int) -> None:
        clocks = self._program.clocks
        if kind == CLOCK_RATE:
            clocks.set_rate(clock, a)
        elif kind == CLOCK_PAUSED:
            clocks.pause(clock)
        elif kind == CLOCK_RESUMED:
            clocks.resume(clock)
        elif kind == CLOCK_REMOVED:
            self._program.remove_clock(clock)


def _pending(own: Any) -> list[Any]:
    """Return the timers that wait on a clock of a tree; on any thread."""
    for _ in range(_TRIES):
        # Its own thread may change it meanwhile.
        with suppress(RuntimeError):
            found: list[Any] = own.queue.timers()
            return found
    return []


class _Texts:
    """Takes the texts of a tree that has no other listener."""

    def __init__(self, program: Program) -> None:
        self.texts = program.texts
        self.intern = program.text

    def append(self, event: tuple[int, int, int, int, int]) -> None:
        """Take nothing: events come to :meth:`_Mirror._record`."""


def _set(clock: Any, is_paused: bool, rate: Fraction) -> None:  # noqa: FBT001 - posted
    (clock.pause if is_paused else clock.resume)()
    clock.set_rate(rate)


def _parent(program: Program, source: Any) -> Clock | None:
    """Return the clock that a time source reads, ``None`` for the program's own."""
    name = type(source).__name__
    wanted = {_OF_A_LOOP: ("asyncio", "uvloop"), "QtTimeSource": ("qt",)}
    adapters = [program.adapters.get(each) for each in wanted.get(name, ("python_time",))]
    return next((each for each in program.own_clock.children if each.adapter in adapters), None)
