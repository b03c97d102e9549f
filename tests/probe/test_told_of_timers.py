"""What a program tells of its timers, frames and clocks, whatever library they are of."""

from __future__ import annotations

from functools import partial
from threading import Thread, current_thread, get_ident, main_thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import CAPABILITIES, Adapter, is_same
from inspector.probe.kinds import (
    CALLBACK_FAILED,
    CLOCK_PAUSED,
    DELTA_CUT,
    FRAME_ENDED,
    INTERVAL_DELAY,
    LOOP_ASKED,
    MARK,
    NEVER,
    PHASE_ENDED,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
)
from inspector.probe.program import PROBE_THREAD, name_of
from tests.probe.adapters.played import Played

MS = 1_000_000


@pytest.fixture
def played() -> Played:
    found = Played(10**15)
    found.now_ns += 5
    return found


def told(played: Played, *kinds: int) -> list[tuple[int, ...]]:
    """Return instants as nanoseconds from the start of the program."""
    return [(at - 10**15, *rest) for at, *rest in played.events if rest[0] in kinds]


# --------------------------------------------------------------------------------------- timers


def test_that_a_timer_keeps_its_period_unless_it_is_told_another(played: Played) -> None:
    clock = played.program.clock("loop")
    timer = played.program.timer(clock, "tick", 0, 10, 20, INTERVAL_DELAY)
    assert (timer.clock, timer.due_ns, timer.period_ns) == (clock, 10, 20)
    timer.armed(30)
    timer.armed(40, 50)
    # One that says when it was set.
    timer.armed(60, at_ns=10**15 + 2)

    assert told(played, TIMER_ARMED) == [
        (5, TIMER_ARMED, 1, 10, 20),
        (5, TIMER_ARMED, 1, 30, 20),
        (5, TIMER_ARMED, 1, 40, 50),
        (2, TIMER_ARMED, 1, 60, 50),
    ]
    assert (timer.due_ns, timer.period_ns) == (60, 50)


def test_that_a_timer_that_is_set_is_told_with_the_instant_at_which_it_was(played: Played) -> None:
    clock = played.program.clock("loop")
    played.program.timer(clock, "tick", 0, 10)
    played.program.timer(clock, "tick", 0, 10, at_ns=10**15 + 1)

    assert [at_ns for at_ns, *_ in told(played, TIMER_ADDED, TIMER_ARMED)] == [5, 5, 1, 1]


def test_that_a_timer_fires_until_it_is_not_due_again(played: Played) -> None:
    timer = played.program.timer(played.program.own_clock, "tick", 0, 10, 20, INTERVAL_DELAY)
    timer.missed(3)
    timer.fired(4, 30)
    assert timer.due_ns == 30
    timer.fired(5)
    assert (timer.due_ns, timer.period_ns) == (0, 0)
    for _ in range(2):
        timer.fired(6)
        timer.missed(1)
        timer.armed(40)
        timer.cleared()

    assert told(played, TICKS_MISSED) == [(5, TICKS_MISSED, 1, 3, INTERVAL_DELAY)]
    assert [b for *_, b in told(played, TIMER_FIRED)] == [30, NEVER]
    assert [a for *_, a, _ in told(played, TIMER_FIRED)] == [4, 5]
    assert told(played, TIMER_CLEARED) == []
    assert played.program.pending(1) is None


def test_that_a_timer_is_cleared_once_at_a_line_or_by_a_command(played: Played) -> None:
    for number, (site, cause) in enumerate([(0, 0), (7, 0), (0, 9)], 1):
        timer = played.program.timer(played.program.own_clock, "tick", 0, 10)
        for _ in range(2):
            timer.cleared(site, cause)
        assert told(played, TIMER_CLEARED)[-1] == (5, TIMER_CLEARED, number, site, cause)

    assert played.count(TIMER_CLEARED) == 3


def test_that_nothing_is_told_of_timers_without_an_inspector(played: Played) -> None:
    timer = played.program.timer(played.program.own_clock, "tick", 0, 10, 20, INTERVAL_DELAY)
    events = len(played.events)
    played.program.emit = None
    timer.armed(30)
    timer.missed(1)
    timer.fired(4, 30)
    assert timer.due_ns == 10
    timer.cleared()

    assert len(played.events) == events
    assert played.program.timers == {}


def test_that_a_timer_that_fires_while_all_are_described_is_gone(played: Played) -> None:
    for _ in range(2):
        played.program.timer(played.program.own_clock, "tick", 0, 10)
    slices = played.program.described_again()
    next(slices)
    played.program.forget(2)
    list(slices)
    assert played.count(TIMER_ADDED) == 3
    played.program.timer(played.program.own_clock, "tick", 0, 10)
    played.program.extend = lambda events: played.program.forget(events[0][2])
    list(played.program.described_again())

    assert [event[2:] for event in told(played, TIMER_CLEARED)] == [(1, 0, 0), (3, 0, 0)]


def test_that_a_removed_clock_takes_its_timers_along(played: Played) -> None:
    program = played.program
    above, other = program.clock("above"), program.clock("other")
    below = program.clock("below", above)
    for clock in (above, below, other):
        program.timer(clock, "tick", 0, 10)
    program.remove_clock(above)

    assert list(program.timers) == [3]
    assert above.is_removed
    assert below.is_removed
    assert program.first_due_ns(other) == 10
    assert program.first_due_ns(above) is None


# --------------------------------------------------------------------------------------- frames


@pytest.mark.parametrize("frames", [1, 3])
def test_that_a_step_of_frames_holds_the_program_where_the_last_ends(
    played: Played, frames: int
) -> None:
    program = played.program
    loop = program.clock("loop")
    program.pause(program.own_clock, 3)
    program.step_frames(frames, 8)
    for _ in range(frames):
        assert not program.own_clock.is_paused
        program.frame_began(loop)
        played.now_ns += 10
        program.frame_ended(loop)

    assert program.own_clock.is_paused
    assert told(played, CLOCK_PAUSED)[-1] == (5 + 10 * frames, CLOCK_PAUSED, 1, 8, 0)
    assert program.next_frame == frames
    # A run that follows has no end.
    program.resume(program.own_clock)
    for _ in range(frames + 1):
        program.frame_began(loop)
        program.frame_ended(loop)
    assert not program.own_clock.is_paused


@pytest.mark.parametrize(("work_ns", "is_held"), [(100, False), (101, True)])
def test_that_a_turn_that_takes_longer_than_allowed_is_the_last(
    played: Played, work_ns: int, *, is_held: bool
) -> None:
    program = played.program
    loop = program.clock("loop")
    program.hold_after_turn(100, 6)
    program.frame_began(loop)
    played.now_ns += work_ns
    program.frame_ended(loop)

    assert [a for *_, a, _ in told(played, CLOCK_PAUSED)] == [6] * is_held


def test_that_what_a_loop_asks_for_is_told_when_it_changes(played: Played) -> None:
    program = played.program
    loop = program.clock("loop")
    for frame_ns in (10, 10, 20, 0, 0):
        program.frame_began(loop)
        program.frames_asked(loop, frame_ns)
        program.delta_cut(loop, 3)
        program.phase_ended(loop, 2, 4)
        program.frame_ended(loop)

    assert [event[3:] for event in told(played, LOOP_ASKED)] == [(10, 0), (20, 0), (0, 0)]
    assert [rest for _, _, *rest in told(played, PHASE_ENDED)] == [[2, n, 4] for n in range(5)]
    assert [rest for _, _, *rest in told(played, DELTA_CUT)] == [[loop.number, 3, 0]] * 5


def test_that_nothing_is_told_of_frames_without_an_inspector(played: Played) -> None:
    program = played.program
    loop = program.clock("loop")
    events = len(played.events)
    program.emit = None
    program.frame_began(loop)
    program.frames_asked(loop, 10)
    program.delta_cut(loop, 3)
    program.phase_ended(loop, 2, 4)
    program.frame_ended(loop)
    program.mark("here")
    program.failed("tick", ValueError, ValueError("no"), None)

    assert len(played.events) == events


def test_that_a_frame_that_did_not_begin_does_not_end(played: Played) -> None:
    loop = played.program.clock("loop")
    for _ in range(2):
        played.program.frame_ended(loop)
    played.program.frame_began(loop)
    for _ in range(2):
        played.program.frame_ended(loop)

    assert played.count(FRAME_ENDED) == 1


def test_that_marks_and_failures_are_told_with_their_texts(played: Played) -> None:
    program = played.program
    program.mark("here")

    def inner(depth: int) -> None:
        if not depth:
            message = "too deep"
            raise ValueError(message)
        inner(depth - 1)

    try:
        inner(40)
    except ValueError as error:
        program.failed("tick", type(error), error, error.__traceback__)
    ((_, _, *marked),) = told(played, MARK)
    ((_, _, failed, name, trace),) = told(played, CALLBACK_FAILED)

    assert marked == [program.own_clock.number, program.text("here"), 0]
    assert failed == 0
    assert program.texts[name] == "tick"
    # The innermost calls say most.
    assert program.texts[trace].endswith("ValueError: too deep\n")
    assert "in test_that_marks" not in program.texts[trace]


# --------------------------------------------------------------------------------------- clocks


def test_that_a_clock_is_of_the_thread_that_adds_it_unless_that_is_the_probes(
    played: Played,
) -> None:
    found: list[Any] = []

    def add() -> None:
        found.append((played.program.clock("other"), get_ident()))

    for name in ("worker", PROBE_THREAD):
        thread = Thread(target=add, name=name)
        thread.start()
        thread.join()
    (of_worker, worker), (of_probe, _) = found
    own = played.program.clock("own")

    assert [each.thread for each in (of_worker, of_probe, own)] == [
        "worker",
        "",
        current_thread().name,
    ]
    assert of_worker.threads[0] == worker
    # What the probe finds is taken for a loop of the main thread.
    assert of_probe.threads == own.threads == (main_thread().ident, main_thread().native_id)


def test_that_what_is_possible_with_a_clock_is_said_or_why_not(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = played.program
    adapter = Adapter(program)
    adapter.library = "Games"
    clock = program.clock("games", adapter=adapter)
    own = program.capabilities(program.own_clock)
    assert own.pop("step_frame") == "No frames have been seen in this program."
    assert set(own.values()) == {True}
    assert program.capabilities(clock) == {
        **dict.fromkeys(CAPABILITIES, True),
        "step_frame": "Frames are stepped with the clock of the program.",
    }
    program.frame_began(clock)
    assert set(program.capabilities(program.own_clock).values()) == {True}
    monkeypatch.setattr(adapter, "capabilities", lambda _clock: {"rate": "It is fixed."})
    assert program.capabilities(clock)["rate"] == "It is fixed."
    adapter.fail("gone")

    assert program.capabilities(clock) == dict.fromkeys(CAPABILITIES, "Games: gone")


# ---------------------------------------------------------------------------------------- names


class Owner:
    def method(self) -> None: ...

    def __call__(self) -> None: ...

    @classmethod
    def made(cls) -> None: ...


def function() -> None: ...


@pytest.mark.parametrize(
    ("callback", "name"),
    [
        (function, "function"),
        (partial(partial(function)), "function"),
        (Owner().method, "Owner.method"),
        (Owner.made, "Owner.made"),
        (Owner(), "Owner"),
        ([].append, "list.append"),
        (len, "len"),
        (SimpleNamespace(__name__="plain"), "plain"),
    ],
)
def test_that_a_callback_is_named_after_what_it_calls(callback: object, name: str) -> None:
    assert name_of(callback) == name


def _made() -> Any:  # noqa: ANN401 - a function
    return lambda: None


_owner, _other = Owner(), Owner()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (function, function, True),
        (_made(), _made(), True),
        (function, _made(), False),
        (_owner.method, _owner.method, True),
        # What belongs to two objects is not the same.
        (_owner.method, _other.method, False),
        (partial(_made()), partial(_made()), True),
        (partial(function), function, False),
        (partial(function), partial(_made()), False),
        (_owner, _other, False),
        (len, max, False),
    ],
)
def test_that_callbacks_are_the_same_that_one_line_has_made(
    one: object, other: object, *, same: bool
) -> None:
    assert is_same(one, other) is same
    assert is_same(other, one) is same


# ------------------------------------------------------------------------------- what is due next


def test_that_what_is_due_is_a_timer_of_a_clock_that_is_there(played: Played) -> None:
    program = played.program
    loop, gone = program.clock("loop"), program.clock("gone")
    program.remove_clock(gone)
    program.timer(gone, "late", 0, 1)
    assert program.next_due_ns() is None
    program.timer(gone, "late", 0, 900)
    assert program.next_due_ns() is None
    # What is due now is called by the next step, if nothing else is pending.
    timer = program.timer(loop, "now", 0, loop.local_ns())
    assert program.next_due_ns() == loop.local_ns() + 1
    timer.cleared()
    for due_ns in (70, 60, 80):
        program.timer(loop, "next", 0, due_ns)
    assert program.next_due_ns() == 60
    assert program.first_due_ns(loop) == 60
    assert program.first_due_ns(program.own_clock) is None


@pytest.mark.parametrize(
    ("due_ns", "in_frames", "is_paused", "is_due"),
    [
        (5, True, False, True),
        (6, True, False, False),
        (5, False, False, False),
        (5, True, True, False),
    ],
)
def test_that_a_call_of_the_next_frame_is_one_that_is_due(
    played: Played, due_ns: int, *, in_frames: bool, is_paused: bool, is_due: bool
) -> None:
    program = played.program
    adapter = Adapter(program)
    adapter.calls_in_frames = in_frames
    loop = program.clock("loop", adapter=adapter)
    plain, gone = program.clock("plain"), program.clock("gone", adapter=adapter)
    program.remove_clock(gone)
    for clock in (plain, gone):
        program.timer(clock, "other", 0, 0)
    program.timer(loop, "update", 0, due_ns)
    if is_paused:
        program.pause(loop)

    assert program.is_call_due is is_due


def test_that_a_timer_is_cleared_by_its_adapter_where_it_has_one(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = played.program
    adapter = Adapter(program)
    cleared: list[tuple[object, int]] = []

    def clear(_clock: object, timer: object, cause: int) -> None:
        cleared.append((timer, cause))

    monkeypatch.setattr(adapter, "clear_timer", clear)
    plain = program.timer(program.clock("plain"), "tick", 0, 5)
    timer = program.timer(program.clock("loop", adapter=adapter), "tick", 0, 5)
    for each in (plain, timer):
        program.clear_timer(each, 3)

    assert cleared == [(timer, 3)]
