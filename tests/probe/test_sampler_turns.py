"""Whether turns are long, and what is then looked at, in time that the test passes."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.probe import sampler as module
from inspector.probe.adapters import Adapter
from inspector.probe.kinds import (
    PROCESS_STOPPED,
    SAMPLE_TIMES,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SAW_END,
    SAW_WAIT,
    STACK_FRAME,
)
from inspector.probe.sampler import Watched
from inspector.probe.stacks import Runner
from tests.probe.looked import MS, Looked


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    return Looked(monkeypatch)


@pytest.mark.parametrize(
    ("number", "sampled_ms", "began_ms", "ended_ms", "is_quiet"),
    [
        (0, 850, 0, 0, True),
        (1, 850, 0, 0, False),
        (0, 849, 0, 0, False),
        (0, 999, 995, 994, True),
        # It has begun since, or just then.
        (0, 995, 995, 994, False),
        (0, 994, 995, 994, False),
        (0, 995, 991, 980, True),
        (0, 995, 990, 980, False),
        (0, 995, 990, 991, True),
    ],
)
def test_that_a_loop_is_quiet_whose_turn_is_short_and_was_seen(  # noqa: PLR0913 - a table
    looked: Looked, number: int, sampled_ms: int, began_ms: int, ended_ms: int, *, is_quiet: bool
) -> None:
    clock = looked.program.clock("loop")
    frames = looked.program.frames(clock)
    watched = Watched(clock, (0, 0), frames)
    watched.number, watched.sampled_ns = number, sampled_ms * MS
    frames.began_ns, frames.ended_ns = began_ms * MS, ended_ms * MS

    assert watched.is_quiet(1_000 * MS) is is_quiet
    assert not Watched(clock, (0, 0), None).is_quiet(1_000 * MS)


@pytest.mark.parametrize(("begun_ms", "is_read"), [(9, False), (10, True)])
def test_that_while_all_is_quiet_only_frames_are_read(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, begun_ms: int, *, is_read: bool
) -> None:
    looks: list[int] = []
    sampled = looked.sampler._sample_loops

    def sample(now_ns: int) -> None:
        looks.append(now_ns)
        sampled(now_ns)

    monkeypatch.setattr(looked.sampler, "_sample_loops", sample)
    loop = looked.program.clock("loop")
    for _ in range(4):
        looked.program.frame_began(loop)
        looked.turn(2)
        looked.program.frame_ended(loop)
        looked.turn(3)
    assert len(looks) == 1
    # The next turns out to be long, or not.
    looked.program.frame_began(loop)
    looked.turn(begun_ms, used_ms=begun_ms)
    assert len(looks) == 1 + is_read


@pytest.mark.parametrize("what", ["a change", "a late look", "a stuck link", "a rest"])
def test_that_more_is_read_where_all_may_no_longer_be_quiet(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    looks: list[int] = []
    loop = looked.program.clock("loop")
    looked.program.frames(loop)
    looked.turn(5)
    monkeypatch.setattr(looked.sampler, "_sample_loops", looks.append)
    for _ in range(3):
        looked.turn(5)
    assert looks == []
    match what:
        case "a change":
            looked.program.mention_change()
        case "a late look":
            looked.sampler.wait_ns(5 * MS)
            looked.look_after(14)
            return
        case "a stuck link":
            # It could send for so long only after the look.
            looked.now_ns += 8 * MS
        case "a rest":
            for _ in range(26):
                looked.turn(5)
    looked.turn(5)

    assert looks == [looked.now_ns]


def test_that_the_link_is_stuck_for_as_long_as_it_takes_to_send(looked: Looked) -> None:
    sampler = looked.sampler
    slept: list[int] = []
    looked.stops.sleeps = lambda: slept.append(1)
    sampler.wait_ns(5 * MS)
    assert sampler._stuck_ns == 0
    looked.look_after(5)
    looked.pass_ms(9)
    sampler.wait_ns(5 * MS)

    assert sampler._stuck_ns == 9 * MS
    assert len(slept) == 2


@pytest.mark.parametrize(("early_ns", "is_look"), [(1_999_999, False), (2_000_000, True)])
def test_that_a_look_is_not_early_that_comes_when_it_was_asked_for(
    looked: Looked, early_ns: int, *, is_look: bool
) -> None:
    looked.hidden_loop()
    looked.look_after(20)
    looked.sampler.wait_ns(2 * MS)
    reads = looked.reads
    looked.now_ns += early_ns
    looked.sampler.sample()

    assert (looked.reads > reads) is is_look


@pytest.mark.parametrize(("early_ns", "is_look"), [(7_499_999, False), (7_500_000, True)])
def test_that_a_quiet_look_is_as_little_hurried_by_messages(
    looked: Looked, early_ns: int, *, is_look: bool
) -> None:
    looked.program.frames(looked.program.clock("loop"))
    for _ in range(3):
        looked.turn(10)
    looked.sampler.wait_ns(10 * MS)
    looked.now_ns += early_ns
    looked.sampler.sample()

    assert (looked.sampler._asked_ns == 0) is is_look


def test_that_the_last_look_is_not_too_early(looked: Looked) -> None:
    looked.hidden_loop()
    for _ in range(3):
        looked.look_after(20, used_ms=20)
    looked.sampler.wait_ns(30 * MS)
    del looked.events[:]
    looked.pass_ms(3, used_ms=3)
    looked.sampler.sample_last()

    assert looked.told == [(3, 3, 0)]


def test_that_a_program_without_loops_is_not_said_to_be_stopped(looked: Looked) -> None:
    looked.stops.stopped_ns, looked.stops.read_ns = lambda *_: 300 * MS, 0
    looked.sampler._stuck_ns = 300 * MS
    looked.look_after(300)

    assert not any(kind == PROCESS_STOPPED for _, kind, *_ in looked.events)


@pytest.mark.parametrize(
    ("late_ms", "read_ms", "is_read"),
    [(50, 0, True), (49, 0, False), (20, 150, True), (20, 149, False)],
)
def test_that_stops_are_looked_for_after_gaps_and_now_and_then(
    looked: Looked, late_ms: int, read_ms: int, *, is_read: bool
) -> None:
    asked: list[tuple[int, ...]] = []
    looked.hidden_loop()
    looked.look_after(0)

    def stopped(*given: int) -> int:
        asked.append(given)
        return 0

    looked.stops.stopped_ns = stopped
    looked.sampler._stuck_ns = late_ms * MS
    looked.pass_ms(late_ms)
    looked.stops.read_ns = looked.now_ns - read_ms * MS
    looked.stops.lacked_ns = 7
    looked.sampler.sample()

    assert asked == [(looked.now_ns, late_ms * MS)] * is_read
    assert looked.stops.lacked_ns == 0


@pytest.mark.parametrize(
    ("age_ns", "late_ms", "is_after"),
    [(9_999_999, 0, None), (10_000_000, 0, False), (10_000_000, 7, False), (10_000_000, 8, True)],
)
def test_that_the_stack_of_a_long_turn_is_read(
    looked: Looked,
    monkeypatch: pytest.MonkeyPatch,
    age_ns: int,
    late_ms: int,
    *,
    is_after: bool | None,
) -> None:
    read: list[bool] = []

    def stack(_thread: int, *, is_after: bool) -> tuple[list[Any], Runner]:
        read.append(is_after)
        return [], Runner()

    monkeypatch.setattr(module, "stack_of", stack)
    loop = looked.program.clock("loop")
    looked.look_after(1)
    looked.program.frame_began(loop)
    looked.now_ns += age_ns
    looked.sampler._stuck_ns = late_ms * MS
    looked.sampler.sample()
    looked.program.frame_ended(loop)
    looked.look_after(200)

    assert read == ([] if is_after is None else [is_after])


def test_that_a_hidden_loop_is_looked_at_again_soon_that_may_be_busy(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked.hidden_loop()
    is_idle = [True]
    monkeypatch.setattr(looked.sampler, "_is_idle", lambda _watched: is_idle[0])
    looked.look_after(0)
    looked.look_after(20)
    busy = [looked.sampler.is_busy]
    assert looked.sampler.wait_ns(30 * MS) == 30 * MS
    is_idle[0] = False
    looked.look_after(20, used_ms=5, ready_ms=3)
    # It may have been a short turn.
    busy.append(looked.sampler.is_busy)
    assert busy == [False, True]
    assert looked.told == []
    assert looked.sampler.wait_ns(30 * MS) == 5 * MS
    looked.look_after(20, used_ms=20)

    assert looked.told == [(28, 28, 0)]
    assert any(kind == STACK_FRAME for _, kind, *_ in looked.events)
    looked.program.pause(looked.program.own_clock)
    looked.look_after(20)
    looked.program.resume(looked.program.own_clock)
    looked.look_after(20, used_ms=20)
    # What was before the hold is no longer certain.
    assert len(looked.told) == 1
    looked.look_after(20, used_ms=20)
    assert looked.told[1:] == [(40, 40, 0)]


def test_that_a_hidden_turn_began_no_earlier_than_the_look_before(looked: Looked) -> None:
    looked.hidden_loop()
    looked.look_after(0)
    looked.look_after(20, used_ms=15, ready_ms=15)
    looked.look_after(20, used_ms=20)

    assert looked.told == [(20, 15, 15), (40, 40, 0)]


def test_that_the_samples_of_each_turn_are_counted_from_its_first(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    for _ in range(2):
        looked.program.frame_began(loop)
        looked.look_after(0)
        for _ in range(3):
            looked.look_after(20, used_ms=20)
        looked.program.frame_ended(loop)
        looked.pass_ms(1)

    counted = [
        b >> 16 & 0xFFFF
        for _, kind, _, _, b in looked.events
        if kind == SAMPLED and not b & SAW_END
    ]
    assert counted == [0, 1, 2] * 2


@pytest.mark.parametrize(("is_same", "covers_ns"), [(True, 40 * MS), (False, 10 * MS)])
def test_that_in_a_gap_something_else_may_have_been_called(
    looked: Looked, covers_ns: int, *, is_same: bool
) -> None:
    adapter: Any = Adapter(looked.program)
    running = ["one", 1]
    adapter.running_task = lambda _clock: tuple(running)
    loop = looked.program.clock("loop", adapter=adapter)
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.look_after(20, used_ms=20)
    running[1] = 1 if is_same else 2
    looked.look_late(40, lacked_ms=30)

    assert [a for _, kind, _, a, _ in looked.events if kind == SAMPLED][1:] == [covers_ns]


def test_that_what_was_called_in_another_turn_is_not_the_same(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.look_after(20, used_ms=20)
    looked.program.frame_ended(loop)
    looked.pass_ms(1)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.look_late(40, lacked_ms=30)

    assert looked.told[-1][0] == 10


def test_that_a_sample_covers_something(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.look_late(40, lacked_ms=40)

    assert [a for _, kind, _, a, _ in looked.events if kind == SAMPLED] == [1]


def test_that_a_loop_that_could_not_be_looked_at_between_turns_is_told(looked: Looked) -> None:
    looked.program.frames(looked.program.clock("loop"))
    looked.look_after(1)
    looked.look_late(8)

    assert looked.told == [(8, 0, 0)]
    assert looked.flags == [SAW_BETWEEN_TURNS]
    looked.look_late(7)
    assert len(looked.told) == 1


@pytest.mark.parametrize(("ready_ms", "told"), [(2, [(1, 0, 1)]), (1, []), (40, [(10, 0, 10)])])
def test_that_a_wait_for_a_processor_is_told_that_a_turn_followed(
    looked: Looked, ready_ms: int, told: list[tuple[int, int, int]]
) -> None:
    loop = looked.program.clock("loop")
    looked.program.frames(loop)
    looked.look_after(0)
    wait_ms = max(told[0][0] if told else 1, 1)
    looked.pass_ms(wait_ms)
    looked.program.frame_began(loop)
    looked.look_after(10, used_ms=9, ready_ms=ready_ms)

    assert looked.told[:-1] == told
    assert looked.told[-1] == (10, 9, 1)
    times = [(a, b) for _, kind, _, a, b in looked.events if kind == SAMPLE_TIMES]
    assert times[0] == ((0, told[0][2] * MS) if told else (9 * MS, MS))


def test_that_usual_turns_are_learned_from_those_that_were_short(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.program.frames(loop)
    learned = []

    def learn() -> None:
        learned.append(looked.sampler._watched[loop.number].usual_ns)

    looked.look_after(1)
    for _ in range(2):
        looked.program.frame_began(loop)
        looked.pass_ms(40)
        looked.program.frame_ended(loop)
        looked.look_after(150)
        learn()
    # Several since the last look, and one that runs.
    for _ in range(3):
        looked.program.frame_began(loop)
        looked.pass_ms(1)
        looked.program.frame_ended(loop)
    looked.pass_ms(1)
    looked.program.frame_began(loop)
    looked.look_after(0)
    learn()

    first = MS // 8
    second = first + (4 * first + MS - first) // 8
    third = second + (4 * MS // 3 - second) // 8
    assert learned == [first, second, third]


@pytest.mark.parametrize(
    ("before_ms", "late_ms", "used_ms", "wakes", "asks"),
    [
        (0, 40, 10, 3, True),
        (0, 40, 9, 3, False),
        (12, 8, 0, 2, True),
        (13, 7, 0, 2, False),
        (12, 8, 12, 2, False),
        (12, 8, 11, 2, True),
    ],
)
def test_that_a_thread_asks_for_the_interpreter_that_wakes_again_and_again(  # noqa: PLR0913, PLR0917
    looked: Looked,
    monkeypatch: pytest.MonkeyPatch,
    before_ms: int,
    late_ms: int,
    used_ms: int,
    wakes: int,
    *,
    asks: bool,
) -> None:
    monkeypatch.setattr(module, "wait_of", lambda _runner: (True, ""))
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.runs += wakes
    looked.pass_ms(before_ms)
    looked.look_late(late_ms, used_ms)

    assert bool(looked.flags[0] & SAW_WAIT) is not asks
