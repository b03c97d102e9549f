"""The slices in which what is pending is described, in time that the test passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from inspector.probe import keyframe as module
from inspector.probe.adapters import Adapter
from inspector.probe.clocks import Clock
from inspector.probe.keyframe import Keyframe
from inspector.probe.kinds import TIMER_ADDED
from tests.probe.adapters.played import Played

MS = 1_000_000


class Slow(Adapter):
    """An adapter that takes a millisecond for each step, on another thread if it is asked to."""

    library = "Slow"

    def __init__(self, played: Played) -> None:
        super().__init__(played.program)
        self.played = played
        self.steps = 4
        self.described: list[str] = []
        self.calls: list[Callable[[], None]] | None = None
        self.error: Exception | None = None
        self.elsewhere: list[str] = []

    def call_soon(self, _clock: Clock, call: Callable[[], None]) -> None:
        if self.calls is None:
            call()
        else:
            self.calls.append(call)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for _ in range(self.steps):
            self.described.append(clock.name)
            self.played.now_ns += MS
            if self.error is not None:
                raise self.error
            yield

    def was_read_elsewhere(self, clock: Clock) -> None:
        self.elsewhere.append(clock.name)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    found = Played(10**15)
    monkeypatch.setattr(module, "monotonic_ns", lambda: found.now_ns)
    return found


@pytest.fixture
def slow(played: Played) -> Slow:
    return Slow(played)


def test_that_slices_end_after_two_milliseconds_and_take_turns(played: Played, slow: Slow) -> None:
    for name in ("a", "b"):
        played.program.clock(name, adapter=slow)
    made = Keyframe(played.program, is_first=True)
    described = []
    while not made.is_complete:
        before = len(slow.described)
        made.go_on()
        described.append("".join(slow.described[before:]))

    assert described == ["aa", "bb", "aa", "bb", ""]
    assert made.slices == 6


def test_that_a_slice_that_is_asked_for_is_run_once(played: Played, slow: Slow) -> None:
    slow.calls = []
    slow.steps = 1
    played.program.clock("loop", adapter=slow)
    made = Keyframe(played.program, is_first=True)
    made.go_on()
    made.go_on()
    (call,) = slow.calls
    call()
    call()

    assert (slow.described, made.slices, made.is_complete) == (["loop"], 1, True)
    assert slow.elsewhere == []


@pytest.mark.parametrize(
    ("passed_ms", "is_stuck", "is_busy"),
    [(50, False, False), (51, True, False), (250, True, False), (251, True, True)],
)
def test_that_a_thread_is_stuck_before_it_is_busy(
    played: Played, slow: Slow, passed_ms: int, *, is_stuck: bool, is_busy: bool
) -> None:
    slow.calls = []
    clock = played.program.clock("loop", adapter=slow)
    clock.thread = "worker"
    made = Keyframe(played.program, is_first=True)
    assert not made.is_stuck
    made.go_on()
    asked_ns = played.now_ns
    played.now_ns += passed_ms * MS

    assert made.is_stuck is is_stuck
    assert made.busy == [(clock.number, "worker", asked_ns)] * is_busy
    # With another that answers, all do not wait.
    made.add(played.program.clock("other", adapter=slow))
    assert not made.is_stuck


def test_that_what_an_adapter_cannot_describe_ends_its_description(
    played: Played, slow: Slow
) -> None:
    slow.error = LookupError("no queue")
    played.program.clock("loop", adapter=slow)
    made = Keyframe(played.program, is_first=True)
    made.go_on()

    assert made.is_complete
    assert slow.state == "failed"
    assert "no queue" in slow.message
    # One that has failed is not asked.
    assert Keyframe(played.program, is_first=True).is_complete


def test_that_a_loop_that_cannot_be_called_is_waited_for_no_longer(
    played: Played, slow: Slow
) -> None:
    def call_soon(_clock: Clock, _call: Callable[[], None]) -> None:
        raise RuntimeError("the loop is closed")

    slow.call_soon = call_soon  # type: ignore[assignment, method-assign]
    played.program.clock("loop", adapter=slow)
    made = Keyframe(played.program, is_first=True)
    made.go_on()

    assert made.is_complete
    assert slow.state == "failed"


def test_that_a_clock_that_is_removed_meanwhile_is_not_described(
    played: Played, slow: Slow
) -> None:
    slow.calls = []
    clock = played.program.clock("loop", adapter=slow)
    made = Keyframe(played.program, is_first=True)
    made.go_on()
    played.program.remove_clock(clock)
    made.go_on()
    assert not made.is_complete
    # Its thread does not come to it any more.
    played.now_ns += 251 * MS
    made.go_on()
    assert (made.is_complete, slow.described, slow.elsewhere) == (True, [], [])
    # One that is gone before it was asked.
    made = Keyframe(played.program, is_first=True)
    made.add(clock)
    made.go_on()
    assert (made.is_complete, len(slow.calls)) == (True, 1)


def test_that_a_busy_thread_is_told_what_was_read_for_it(played: Played, slow: Slow) -> None:
    slow.calls = []
    slow.reads_anywhere = True
    played.program.clock("loop", adapter=slow)
    made = Keyframe(played.program, is_first=True)
    made.go_on()
    played.now_ns += 251 * MS
    while not made.is_complete:
        assert slow.elsewhere == []
        made.go_on()

    assert slow.described == ["loop"] * 4
    assert slow.elsewhere == ["loop"]
    assert len(slow.calls) == 1


def test_that_after_a_loss_what_is_known_is_described_without_adapters(
    played: Played, slow: Slow
) -> None:
    program = played.program
    loop = program.clock("loop", adapter=slow)
    for number in range(3):
        program.timer(loop, str(number), 0, number)
    played.events.clear()
    made = Keyframe(program, is_first=False)
    made.go_on()

    assert made.is_complete
    assert sum(event[1] == TIMER_ADDED for event in played.events) == 3
    assert slow.described == []
    # Whatever is wrong with that is no adapter's.
    program.timers[9] = ()  # type: ignore[assignment]
    made = Keyframe(program, is_first=False)
    made.go_on()
    assert made.is_complete
    assert slow.state != "failed"
