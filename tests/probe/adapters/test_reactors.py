"""What the adapter of Twisted does with reactors, of which only what it touches is there."""

# ruff: noqa: ANN401, N802, N815 - as the library has it

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.twisted import TwistedAdapter
from inspector.probe.clocks import NothingDueError
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000


@pytest.fixture
def played() -> Played:
    found = Played(400 * MS)
    # The library comes after the probe.
    found.now_ns = 500 * MS
    return found


class DelayedCall:
    """A call of a reactor."""

    def __init__(
        self, time: float, func: Callable[[], object], seconds: Callable[[], float]
    ) -> None:
        self.time, self.func, self.seconds = time, func, seconds
        self.called = self.cancelled = 0

    def getTime(self) -> float:
        return self.time

    def active(self) -> bool:
        return not (self.called or self.cancelled)

    def cancel(self) -> None:
        self.cancelled = 1

    def reset(self, delay_s: float) -> None:
        self.time = self.seconds() + delay_s

    def delay(self, delay_s: float) -> None:
        self.time += delay_s


@pytest.fixture
def reactor_type(played: Played) -> Any:  # noqa: C901 - a small class
    """Twisted's class of reactors, which is followed."""

    class ReactorBase:
        _pendingTimedCalls = ()
        _internalReaders = ()
        threadCallQueue = ()
        _started = False

        def __init__(self) -> None:
            self.calls: list[Any] = []
            self.waits: list[float | None] = []
            self.wakes = 0

        def seconds(self) -> float:
            return played.now_ns / 1e9

        def callLater(self, delay_s: float, func: Callable[[], object]) -> object:
            call = DelayedCall(self.seconds() + delay_s, func, self.seconds)
            self.calls.append(call)
            return call

        def getDelayedCalls(self) -> list[Any]:
            return [each for each in self.calls if each.active()]

        def wakeUp(self) -> None:
            self.wakes += 1

        def crash(self) -> None: ...

        def doIteration(self, delay_s: float | None) -> None:
            self.waits.append(delay_s)

        def turn(self, at_ms: int) -> None:
            """Make the calls that are due then, and wait for what is ready."""
            played.now_ns = at_ms * MS
            for each in self.getDelayedCalls():
                if each.getTime() <= self.seconds():
                    each.called = 1
                    each.func()
            self.doIteration(0)

    module: Any = SimpleNamespace(
        ReactorBase=ReactorBase,
        DelayedCall=DelayedCall,
        __spec__=SimpleNamespace(_initializing=True),
    )
    TwistedAdapter(played.program).installed(module)
    return ReactorBase


@pytest.fixture
def reactor(reactor_type: Any) -> Any:
    return reactor_type()


def _fired(played: Played) -> list[tuple[int, int]]:
    """Return how late timers have fired and when they are due next, in milliseconds."""
    return [
        (a // MS, b if b == NEVER else b // MS)
        for _, kind, _, a, b in played.events
        if kind == TIMER_FIRED
    ]


def test_that_a_call_of_a_reactor_is_told_until_it_is_made(played: Played, reactor: Any) -> None:
    reactor.callLater(0.1, int)
    reactor.turn(590)
    assert _fired(played) == []
    reactor.turn(630)
    reactor.turn(700)

    assert _fired(played) == [(29, NEVER)]
    assert played.program.timers == {}


def test_that_a_call_of_a_reactor_that_sets_itself_again_is_one_timer_from_then_on(
    played: Played, reactor: Any
) -> None:
    def beat() -> None:
        reactor.callLater(0.1, beat)

    beat()
    for at_ms in (601, 702, 803):
        reactor.turn(at_ms)

    assert played.count(TIMER_ADDED) == 2
    assert _fired(played) == [(0, NEVER), (0, 402), (0, 503)]
    (timer,) = map(played.program.pending, played.program.timers)
    kinds = [b for _, kind, _, _, b in played.events if kind == TIMER_ORIGIN]
    assert kinds == [TIMEOUT, INTERVAL_DELAY]
    assert timer is not None
    assert (timer.period_ns, timer.due_ns // MS) == (100 * MS, 503)


def test_that_a_call_of_a_reactor_may_be_moved_and_cancelled(played: Played, reactor: Any) -> None:
    moved, gone = reactor.callLater(0.1, int), reactor.callLater(0.1, int)
    (number, _) = played.program.timers
    played.now_ns += 50 * MS
    gone.cancel()
    dues_ms = []
    for move in (moved.reset, moved.delay):
        move(0.1)
        timer = played.program.pending(number)
        assert timer is not None
        dues_ms.append(timer.due_ns // MS)

    assert dues_ms == [250, 350]
    assert list(played.program.timers) == [number]
    assert played.count(TIMER_CLEARED) == 1


def test_that_a_call_of_a_reactor_is_cleared_from_outside_and_seen_when_an_inspector_comes(
    played: Played, reactor: Any
) -> None:
    played.program.detach()
    call = reactor.callLater(0.1, int)
    played.attach()
    (clock,) = (each for each in played.program.clocks.by_number.values() if each.adapter)
    adapter: Any = clock.adapter
    for _ in range(2):
        list(adapter.keyframe(clock))
    (timer,) = map(played.program.pending, played.program.timers)
    adapter.clear_timer(clock, timer, 1)

    assert call.cancelled
    assert played.program.timers == {}
    assert [b for _, kind, _, _, b in played.events if kind == TIMER_CLEARED] == [1]


def test_that_a_reactor_waits_as_long_as_local_time_says_and_is_woken_by_changes(
    played: Played, reactor: Any
) -> None:
    reactor.doIteration(0.5)
    played.set_rate(D // 2)
    reactor.doIteration(0.5)
    played.hold()
    reactor.doIteration(0.5)
    played.program.detach()
    reactor.doIteration(0.5)

    assert reactor.waits == [0.5, 1.0, None, 0.5]
    assert reactor.wakes >= 2


def test_that_a_reactor_with_a_time_of_its_own_cannot_be_held(
    played: Played, reactor_type: Any
) -> None:
    class OwnReactor(reactor_type):  # type: ignore[misc]
        def seconds(self) -> float:
            return 7.0

    found: list[Any] = [reactor_type(), OwnReactor()]
    clocks = [each for each in played.program.clocks.by_number.values() if each.adapter]
    can_hold = [each.adapter.capabilities(each).get("pause", True) for each in clocks]
    played.hold()
    played.now_ns += 100 * MS

    assert [each.name for each in clocks] == ["Twisted", "Twisted OwnReactor"]
    assert can_hold == [True, "This reactor has a time of its own."]
    assert [each.seconds() for each in found] == [0.5, 7.0]


def test_that_a_turn_of_a_reactor_is_a_frame_unless_it_is_held(
    played: Played, reactor: Any
) -> None:
    for _ in range(3):
        reactor.doIteration(0)
    played.hold()
    for _ in range(3):
        reactor.doIteration(0)

    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (3, 3)


def test_that_a_reactor_waits_for_the_same_files_from_wait_to_wait(
    played: Played, reactor: Any
) -> None:
    waited: list[Any] = []
    waits: Any = SimpleNamespace(wait_for_files=lambda *found: waited.append((found[1], found[3])))
    played.program.waits = waits
    reactor.doIteration(None)
    reactor._pendingTimedCalls = [DelayedCall(0.75, int, reactor.seconds)]
    reactor.doIteration(0.25)
    # What is ready is looked at without a wait.
    reactor.doIteration(0)

    (no_due_ns, first), (due_ns, second) = waited
    assert (no_due_ns, due_ns) == (None, 350 * MS + 250)
    assert first is second
    assert (first.number, first.numbers()) == (-1, [])
    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (3, 2)


@pytest.mark.parametrize("is_virtual", [False, True])
def test_that_calls_of_a_reactor_for_one_instant_keep_their_order_in_virtual_time(
    played: Played, reactor: Any, *, is_virtual: bool
) -> None:
    virtual: Any = SimpleNamespace()
    played.program.waits = virtual if is_virtual else None
    first, second = (reactor.callLater(0.1, int) for _ in range(2))

    assert first.time == second.time
    assert (first.time < second.time) is is_virtual


@pytest.mark.parametrize("is_loading", [False, True])
def test_that_a_reactor_that_was_there_before_the_probe_is_found(
    played: Played, reactor_type: Any, *, is_loading: bool
) -> None:
    class Earlier(reactor_type):  # type: ignore[misc]
        def __init__(self) -> None:
            """Nothing follows it yet."""

    earlier = Earlier()
    adapter = TwistedAdapter(played.program)
    module: Any = SimpleNamespace(
        ReactorBase=Earlier,
        DelayedCall=DelayedCall,
        # While Twisted is still being imported, there is none.
        __spec__=SimpleNamespace(_initializing=is_loading),
    )
    adapter.installed(module)

    assert list(adapter._reactors) == ([] if is_loading else [earlier])


@pytest.mark.parametrize("name", ["doIteration", "wakeUp", "getDelayedCalls", "active", "reset"])
def test_that_what_has_changed_in_twisted_is_noticed_at_once(
    played: Played, reactor_type: Any, name: str
) -> None:
    types: list[Any] = [reactor_type.__mro__[0], DelayedCall]
    parts: list[Any] = [
        SimpleNamespace(**{key: value for key, value in vars(each).items() if key != name})
        for each in types
    ]
    module: Any = SimpleNamespace(ReactorBase=parts[0], DelayedCall=parts[1], __spec__=None)

    with pytest.raises(AttributeError, match=name):
        TwistedAdapter(played.program).installed(module)


class Deferred:
    """What a function of the program waits for."""

    def callback(self) -> None: ...


def test_that_a_deferred_call_is_named_after_the_function_that_waits_for_it(
    played: Played, reactor: Any
) -> None:
    reactor.callLater(0.1, Deferred().callback)
    reactor.callLater(0.1, int)
    played.program.detach()
    played.attach()
    (clock,) = (each for each in played.program.clocks.by_number.values() if each.adapter)
    adapter: Any = clock.adapter
    list(adapter.keyframe(clock))

    names = [played.program.texts[event[4]] for event in played.events if event[1] == TIMER_ADDED]
    here = "test_that_a_deferred_call_is_named_after_the_function_that_waits_for_it"
    # Where it was set before an inspector came is not known.
    assert names == [f"Deferred.callback in {here}", "int", "Deferred.callback", "int"]
    sites = [event[3] for event in played.events if event[1] == TIMER_ORIGIN]
    assert [site > 0 for site in sites] == [True, True, False, False]


def test_that_an_interval_that_another_inspector_saw_begins_anew(
    played: Played, reactor: Any
) -> None:
    def beat() -> None:
        reactor.callLater(0.1, beat)

    def leave() -> None:
        adapter.released()
        beat()

    beat()
    (clock,) = (each for each in played.program.clocks.by_number.values() if each.adapter)
    adapter: Any = clock.adapter
    reactor.turn(601)
    reactor.calls[-1].func = leave
    reactor.turn(702)
    reactor.turn(803)
    assert played.count(TIMER_ADDED) == 4
    # What it is in Twisted now is what is cleared from outside.
    reactor.turn(904)
    *_, number = played.program.timers
    timer = played.program.pending(number)
    assert timer is not None
    assert timer.handle is reactor.calls[-1]
    reactor.calls[-1].cancel()
    assert played.program.pending(number) is None
    sites = [
        event[3] for event in played.events if event[1] == TIMER_CLEARED and event[2] == number
    ]
    assert f"{__file__}:" in played.program.texts[sites[0]]


def test_that_a_reactor_with_a_time_of_its_own_waits_by_that(
    played: Played, reactor_type: Any
) -> None:
    class OwnReactor(reactor_type):  # type: ignore[misc]
        def seconds(self) -> float:
            return 7.0

    own = OwnReactor()
    played.set_rate(D // 2)
    for delay_s in (None, 0, 0.5):
        own.doIteration(delay_s)
    virtual: Any = SimpleNamespace()
    played.program.waits = virtual
    own.doIteration(0.5)

    assert own.waits == [None, 0, 0.5, 0.5]


def test_that_what_is_asked_of_a_reactor_that_runs_is_done_in_its_turn(
    played: Played, reactor: Any
) -> None:
    (clock,) = (each for each in played.program.clocks.by_number.values() if each.adapter)
    adapter: Any = clock.adapter
    called: list[str] = []
    later: list[Callable[[], None]] = []
    reactor.callFromThread = later.append
    adapter.call_soon(clock, lambda: called.append("at once"))
    reactor._started = True
    adapter.call_soon(clock, lambda: called.append("in its turn"))
    assert called == ["at once"]
    later[0]()
    assert called == ["at once", "in its turn"]
    # A clock of which the reactor is not known yet.
    adapter.call_soon(played.program.own_clock, lambda: called.append("at once"))
    assert called[2:] == ["at once"]


def test_that_a_reactor_without_anything_due_is_told_to_end(played: Played, reactor: Any) -> None:
    delivered: list[tuple[str, object]] = []

    def wait_for_files(*_: object) -> None:
        reason = "nothing is due"
        raise NothingDueError(reason)

    waits: Any = SimpleNamespace(
        wait_for_files=wait_for_files,
        deliver=lambda error, end: delivered.append((str(error), end)),
    )
    played.program.waits = waits
    reactor.doIteration(None)

    assert delivered == [("nothing is due", reactor.crash)]


def test_that_an_interval_that_ends_in_its_call_is_cleared(played: Played, reactor: Any) -> None:
    calls = 0

    def beat() -> None:
        nonlocal calls
        calls += 1
        if calls < 3:
            reactor.callLater(0.1, beat)

    reactor.callLater(0.1, beat)
    for at_ms in (601, 702, 803):
        reactor.turn(at_ms)

    assert played.program.timers == {}
    assert played.count(TIMER_FIRED) == 3
    assert played.count(TIMER_CLEARED) == 1
