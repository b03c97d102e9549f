"""When the sampler looks, and what it takes a gap, a turn and its times for."""

from __future__ import annotations

import gc
from threading import get_ident
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import sampler as module
from inspector.probe.adapters import Adapter
from inspector.probe.kinds import (
    COLLECTED,
    OTHER_THREAD,
    PROCESS_STOPPED,
    RUNNING_CALL,
    RUNS_CALLBACK,
    RUNS_FRAME,
    RUNS_TASK,
    SAMPLE_TIMES,
    SAMPLED,
    SAW_AFTER_GAP,
    SAW_AFTERWARDS,
    SAW_BETWEEN_TURNS,
    SAW_NO_TIMES,
)
from inspector.probe.stacks import Runner
from tests.probe.looked import MS, Looked


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    return Looked(monkeypatch)


# ------------------------------------------------------------------------------- when it looks


def test_that_looks_come_the_later_the_longer_a_turn_lasts(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    ages_ms: dict[int, list[int]] = {}
    age_ms = 0
    while age_ms < 1_100:
        wait_ms = looked.sampler.wait_ns(30 * MS) // MS
        ages_ms.setdefault(wait_ms, []).append(age_ms)
        looked.look_after(wait_ms, used_ms=wait_ms)
        age_ms += wait_ms
    looked.program.frame_ended(loop)
    looked.look_after(20)

    assert ages_ms == {
        30: [0],
        5: [*range(30, 100, 5)],
        10: [*range(100, 1_000, 10)],
        20: [*range(1_000, 1_100, 20)],
    }
    assert looked.sampler.wait_ns(50 * MS) == 50 * MS
    assert not looked.sampler.is_busy


def test_that_no_times_are_read_for_a_while_while_all_turns_are_short(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.program.frame_began(loop)
    looked.look_after(1)
    read_at_ms, now_ms = [], 1
    for _ in range(62):
        looked.program.frame_ended(loop)
        looked.program.frame_began(loop)
        reads = looked.reads
        looked.look_after(5)
        now_ms += 5
        if looked.reads > reads:
            read_at_ms.append(now_ms)

    assert read_at_ms == [156, 311]


@pytest.mark.parametrize("what", ["a long turn", "a gap", "another loop", "a hidden loop"])
def test_that_times_are_read_at_once_where_they_may_matter(looked: Looked, what: str) -> None:
    loop = looked.program.clock("loop")
    looked.program.frame_began(loop)
    looked.look_after(1)
    looked.look_after(5)
    reads = looked.reads
    match what:
        case "a long turn":
            looked.look_after(4)
        case "a gap":
            looked.sampler.wait_ns(1 * MS)
            looked.program.frame_ended(loop)
            looked.look_after(10)
        case "another loop":
            other = looked.program.clock("other")
            looked.program.frame_began(other)
            looked.look_after(2)
        case "a hidden loop":
            looked.hidden_loop()
            looked.look_after(2)

    assert looked.reads > reads


@pytest.mark.parametrize("expect", ["wait_ns", "put_off"])
@pytest.mark.parametrize(
    ("is_busy", "wait_ms", "early_ns", "is_look"),
    [
        (False, 10, 7_499_999, False),
        (False, 10, 7_500_000, True),
        (False, 5, 4_999_999, False),
        (False, 5, 5_000_000, True),
        (True, 10, 3_749_999, False),
        (True, 10, 3_750_000, True),
    ],
)
def test_that_a_message_that_wakes_the_link_early_is_no_reason_to_look(  # noqa: PLR0913
    looked: Looked,
    monkeypatch: pytest.MonkeyPatch,
    expect: str,
    wait_ms: int,
    early_ns: int,
    *,
    is_busy: bool,
    is_look: bool,
) -> None:
    looked.hidden_loop()
    monkeypatch.setattr(looked.sampler, "_is_idle", lambda _watched: not is_busy)
    for _ in range(3):
        looked.look_after(20, used_ms=20 * is_busy)
    getattr(looked.sampler, expect)(wait_ms * MS)
    reads = looked.reads
    looked.now_ns += early_ns
    looked.sampler.sample()

    assert (looked.reads > reads) is is_look


def test_that_a_look_that_fails_is_the_last(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked.hidden_loop()
    for _ in range(3):
        looked.look_after(20, used_ms=20)
    busy = [looked.sampler.is_busy]
    monkeypatch.setattr(module, "other_times", lambda: 1 // 0)
    looked.look_after(20)
    monkeypatch.setattr(module, "other_times", dict)
    told = len(looked.events)
    for _ in range(3):
        looked.look_after(20, used_ms=20)
    looked.sampler.report_waits(lambda *_: False, 20 * MS)

    assert [*busy, looked.sampler.is_busy] == [True, False]
    assert len(looked.events) == told


def test_that_nothing_is_looked_at_without_an_inspector(looked: Looked) -> None:
    looked.hidden_loop()
    looked.program.emit = None
    looked.look_after(20, used_ms=20)
    looked.sampler.report_waits(lambda *_: False, 20 * MS)

    assert looked.reads == 0


def test_that_it_looks_once_more_before_its_thread_ends(looked: Looked) -> None:
    looked.hidden_loop()
    looked.look_after(0)
    looked.look_after(20, used_ms=20)
    looked.pass_ms(20, used_ms=20)
    looked.sampler.sample_last()

    assert looked.told == [(40, 40, 0)]


def test_that_it_follows_collections_and_keeps_nothing_open_afterwards(looked: Looked) -> None:
    looked.hidden_loop()
    looked.look_after(0)
    sampler = looked.sampler
    closed: list[str] = []
    looked.stops.close = lambda: closed.append("stops")
    sampler.begin()
    assert sampler._collected in gc.callbacks
    sampler.end()
    assert sampler._collected not in gc.callbacks
    # A child that was forked ends it again.
    sampler.end()

    assert looked.is_closed
    assert closed == ["stops"] * 2
    assert sampler._watched == {}


@pytest.mark.parametrize(("took_ns", "is_told"), [(500_000, True), (499_999, False)])
def test_that_a_collection_is_told_that_takes_half_a_millisecond(
    looked: Looked, took_ns: int, *, is_told: bool
) -> None:
    looked.now_ns += 7
    looked.sampler._collected("start", {})
    looked.now_ns += took_ns
    looked.sampler._collected("stop", {"generation": 2})

    found = [(a, b & 0xFFFF) for _, kind, _, a, b in looked.events if kind == COLLECTED]
    assert found == [(took_ns, 2)] * is_told
    looked.program.emit = None
    looked.sampler._collected("stop", {"generation": 2})


# ----------------------------------------------------------------------------------- which loops


def test_that_a_loop_that_is_gone_is_looked_at_for_the_last_time_after_a_gap(
    looked: Looked,
) -> None:
    adapter = Adapter(looked.program)
    loop = looked.program.clock("loop", adapter=adapter)
    looked.program.frame_began(loop)
    looked.look_after(1)
    looked.program.remove_clock(loop)
    frames = looked.sampler._watched[loop.number].frames
    assert frames is not None
    looked.look_late(20, used_ms=20)

    assert looked.sampler._watched == {}
    assert looked.is_closed
    # Its last turn has not ended, and is not long.
    assert frames.began_ns == 0
    assert looked.flags == [SAW_BETWEEN_TURNS]


def test_that_a_loop_is_watched_by_its_frames_unless_these_do_not_tell_all(looked: Looked) -> None:
    plain, hidden = looked.program.clock("plain"), looked.hidden_loop()
    removed = looked.program.clock("removed")
    for each in (plain, hidden, removed):
        looked.program.frame_began(each)
    looked.program.remove_clock(removed)
    looked.look_after(1)
    watched = looked.sampler._watched
    plain_watched = watched[plain.number]
    # What is watched already goes on.
    looked.program.mention_change()
    looked.look_after(1)

    assert {number: each.frames is None for number, each in watched.items()} == {
        plain.number: False,
        hidden.number: True,
    }
    assert watched[plain.number] is plain_watched


def test_that_a_held_loop_has_no_long_turn(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(1)
    looked.look_after(20, used_ms=20)
    told = len(looked.told)
    looked.program.pause(looked.program.own_clock)
    for _ in range(2):
        looked.look_after(20, used_ms=20)

    assert len(looked.told) == told == 1
    assert not looked.sampler.is_busy
    assert looked.sampler._watched[loop.number].number == 0


def test_that_a_stop_of_the_whole_process_is_told_and_no_turn(looked: Looked) -> None:
    looked.hidden_loop()
    looked.look_after(0)
    looked.stops.stopped_ns, looked.stops.read_ns = lambda *_: 300 * MS, 0
    looked.sampler._stuck_ns = 300 * MS
    looked.look_after(300)

    found = [event[2:] for event in looked.events if event[1] == PROCESS_STOPPED]
    assert found == [(looked.program.own_clock.number, 300 * MS, 0)]
    assert looked.told == []


class Frame(SimpleNamespace):
    """A frame of a thread, of a function in a file, at a place."""

    def __init__(self, name: str, file: str, place: int, back: Frame | None = None) -> None:
        code = SimpleNamespace(co_name=name, co_filename=file, co_names=())
        super().__init__(f_code=code, f_lasti=place, f_back=back)


@pytest.mark.parametrize(
    ("name", "file", "is_idle"),
    [
        ("select", "/usr/lib/selectors.py", True),
        ("select", "/home/me/select.py", False),
        ("doPoll", "/lib/twisted/internet/pollreactor.py", True),
        ("mainloop", "/usr/lib/tkinter/__init__.py", True),
        ("work", "/usr/lib/selectors.py", False),
        ("", "", True),
    ],
)
def test_that_a_loop_waits_where_libraries_poll(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, name: str, file: str, *, is_idle: bool
) -> None:
    loop = looked.hidden_loop()
    looked.look_after(0)
    watched = looked.sampler._watched[loop.number]
    # A thread that has no frame runs nothing of Python's.
    frames = {watched.thread: Frame(name, file, 0)} if name else {}
    monkeypatch.setattr(module, "sys", SimpleNamespace(_current_frames=lambda: frames))

    assert looked.sampler._is_idle(watched) is is_idle


def test_that_a_loop_in_c_waits_at_its_outermost_place(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = looked.hidden_loop()
    looked.look_after(0)
    watched = looked.sampler._watched[loop.number]
    frames: dict[int, Frame] = {}
    monkeypatch.setattr(module, "sys", SimpleNamespace(_current_frames=lambda: frames))
    outer = Frame("main", "app.py", 1)
    runs, elsewhere = Frame("run", "loop.py", 5, outer), Frame("run", "loop.py", 6, outer)
    calls = Frame("callback", "app.py", 3, runs)

    def idle(*seen: Frame) -> list[bool]:
        found = []
        for frames[watched.thread] in seen:
            found.append(looked.sampler._is_idle(watched))
        return found

    assert idle(runs) == [False]
    watched.clock.adapter.is_loop_in_c = True
    # The outermost place that was seen is taken for the one at which it waits.
    assert idle(calls, runs, calls, elsewhere, runs) == [True, True, False, False, True]


@pytest.mark.parametrize("is_all", [False, True])
def test_that_a_loop_in_c_is_not_blamed_for_what_it_has_called_before_or_only_just(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, *, is_all: bool
) -> None:
    loop = looked.hidden_loop()
    looked.look_after(0)
    loops: Any = SimpleNamespace(is_all=lambda _stack, _runner: is_all)
    looked.sampler._watched[loop.number].loops = loops
    monkeypatch.setattr(module, "stack_of", lambda *_, **__: ([(int, 1), (len, 2)], Runner()))
    monkeypatch.setattr(looked.program, "resumed_site", lambda _code, line: line)
    for _ in range(3):
        looked.look_after(20, used_ms=20)

    depths = {b >> 8 & 0xFF for _, kind, _, _, b in looked.events if kind == SAMPLED}
    assert depths == {0 if is_all else 2}


# ------------------------------------------------------------------------------ gaps, and times


@pytest.mark.parametrize(
    ("before_ms", "gap_ms", "used_ms", "ready_ms", "lacked_ms", "flags"),
    [
        # Half of the time or more was a gap.
        (20, 20, 0, 0, 0, SAW_AFTER_GAP),
        (21, 20, 0, 0, 0, 0),
        # The thread ran in the gap, so that what is seen is what came afterwards.
        (0, 40, 4, 16, 0, SAW_AFTER_GAP | SAW_AFTERWARDS),
        (0, 40, 3, 36, 0, SAW_AFTER_GAP),
        (0, 40, 4, 15, 0, SAW_AFTER_GAP),
        # Unless nothing of the process had a processor.
        (0, 40, 40, 0, 19, SAW_AFTER_GAP | SAW_AFTERWARDS),
        (0, 40, 40, 0, 20, SAW_AFTER_GAP),
        # A short gap is none.
        (0, 20, 20, 0, 0, SAW_AFTER_GAP | SAW_AFTERWARDS),
        (20, 7, 27, 0, 0, 0),
        (8, 8, 8, 0, 0, SAW_AFTER_GAP | SAW_AFTERWARDS),
    ],
)
def test_that_a_sample_says_whether_it_came_after_a_gap(  # noqa: PLR0913, PLR0917 - a table
    looked: Looked,
    before_ms: int,
    gap_ms: int,
    used_ms: int,
    ready_ms: int,
    lacked_ms: int,
    flags: int,
) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.pass_ms(before_ms, 0, ready_ms)
    looked.look_late(gap_ms, used_ms, lacked_ms)

    assert looked.flags == [flags]


def test_that_times_are_divided_between_a_turn_and_what_was_before(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.program.frame_ended(loop)
    looked.pass_ms(10)
    looked.program.frame_began(loop)
    looked.look_after(30, used_ms=26, ready_ms=9)

    # Of the 9 ms without a processor, 4 fit into the turn.
    assert looked.told == [(10, 0, 5), (30, 26, 4)]
    assert looked.flags == [SAW_BETWEEN_TURNS, 0]


@pytest.mark.parametrize(("ready_ms", "is_told"), [(4, True), (3, False)])
def test_that_a_loop_that_lacks_a_processor_between_turns_is_told(
    looked: Looked, ready_ms: int, *, is_told: bool
) -> None:
    loop = looked.program.clock("loop")
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.program.frame_ended(loop)
    looked.look_after(160)
    looked.look_after(160, ready_ms=ready_ms)

    assert looked.told == [(160, 0, ready_ms)] * is_told
    assert looked.flags == [SAW_BETWEEN_TURNS] * is_told


def test_that_a_turn_is_long_that_takes_longer_than_usual(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    for _ in range(80):
        looked.program.frame_began(loop)
        looked.pass_ms(40, used_ms=40)
        looked.program.frame_ended(loop)
        looked.look_after(150)
    assert looked.told == []
    for length_ms in (58, 62):
        looked.program.frame_began(loop)
        looked.look_after(0)
        looked.look_after(length_ms, used_ms=length_ms)
        looked.program.frame_ended(loop)
        looked.look_after(1)

    # Usual are 40 ms; half as much again is long.
    assert [covers for covers, _, _ in looked.told] == [62]


def test_that_times_that_cannot_be_read_are_said_to_be_missing(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    watched = looked.sampler._watched[loop.number]

    def unreadable() -> int:
        raise OSError

    watched.thread_times.cpu_ns = unreadable  # type: ignore[method-assign]
    looked.look_after(20, used_ms=20)
    looked.look_after(20, used_ms=20)
    looked.pass_ms(3)
    looked.program.frame_ended(loop)
    looked.look_after(4)

    assert looked.told == [(20, 0, 0), (20, 0, 0), (3, 0, 0)]
    assert all(flags & SAW_NO_TIMES for flags in looked.flags)


@pytest.mark.parametrize("used_ms", [26, 27])
def test_that_what_lacks_a_processor_is_not_read_for_a_thread_that_runs(
    looked: Looked, used_ms: int
) -> None:
    looked.hidden_loop()
    looked.look_after(0)
    reads = 0
    watched = next(iter(looked.sampler._watched.values()))

    def scheduled() -> tuple[int, int]:
        nonlocal reads
        reads += 1
        return 0, 1

    watched.thread_times.scheduled = scheduled  # type: ignore[method-assign]
    looked.look_after(30, used_ms=used_ms)

    # Nine tenths of the time are all of it.
    assert reads == (used_ms < 27)


def test_that_the_end_of_a_hidden_turn_is_estimated_by_its_times(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = looked.hidden_loop()
    for _ in range(3):
        looked.look_after(20, used_ms=20)
    del looked.events[:]
    monkeypatch.setattr(looked.sampler, "_is_idle", lambda _watched: True)
    looked.look_after(20, used_ms=3, ready_ms=4)

    assert looked.told == [(7, 3, 4)]
    assert looked.ends == [True]
    assert looked.events[-1][0] == looked.now_ns - 13 * MS
    assert looked.sampler._watched[loop.number].turn_ns == 0


@pytest.mark.parametrize(("other_ms", "is_told"), [(5, True), (4, False)])
def test_that_another_thread_is_told_that_ran_for_a_quarter_of_the_time(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, other_ms: int, *, is_told: bool
) -> None:
    times = SimpleNamespace(used=lambda *_: (get_ident(), other_ms * MS))
    monkeypatch.setattr(module, "OtherThreads", lambda: times)
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.runs += 1
    looked.look_after(20, used_ms=10)

    others = [(a, b) for _, kind, _, a, b in looked.events if kind == OTHER_THREAD]
    assert [a for a, _ in others] == [other_ms * MS] * is_told
    # Its name, and where it is.
    assert all(looked.program.texts[b].startswith("MainThread: ") for _, b in others)
    assert looked.sampler._place_of(-1) == 0


def test_that_parts_of_a_turn_are_counted_by_what_runs(looked: Looked) -> None:
    adapter: Any = Adapter(looked.program)
    running = ["one", 1]
    adapter.running_task = lambda _clock: tuple(running)
    loop = looked.program.clock("loop", adapter=adapter)
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    for identity in (1, 1, 2, 2, 3):
        running[1] = identity
        looked.look_after(20, used_ms=20)
    parts = [b >> 32 for _, kind, _, _, b in looked.events if kind == SAMPLED]
    calls = [b for _, kind, _, _, b in looked.events if kind == RUNNING_CALL]

    assert parts == [0, 0, 1, 1, 2]
    assert calls == [RUNS_TASK] * 3


@pytest.mark.parametrize(("waits_for_events", "kind"), [(False, RUNS_FRAME), (True, RUNS_CALLBACK)])
def test_that_a_turn_that_calls_one_thing_after_another_is_a_callback(
    looked: Looked, kind: int, *, waits_for_events: bool
) -> None:
    adapter = Adapter(looked.program)
    adapter.waits_for_events = waits_for_events
    loop = looked.program.clock("loop", adapter=adapter)
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.look_after(20, used_ms=20)

    assert [b for _, each, _, _, b in looked.events if each == RUNNING_CALL] == [kind]


def test_that_waits_of_virtual_time_are_told_of_turns_only(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter: Any = Adapter(looked.program)
    adapter.running_task = lambda _clock: ("play", 5)
    in_turn = looked.program.clock("turn", adapter=adapter)
    between, fresh = looked.program.clock("between"), looked.program.clock("fresh")
    hidden = looked.hidden_loop()
    looked.program.frames(fresh)
    read: list[bool] = []

    def stack(_thread: int, *, is_after: bool) -> tuple[list[Any], Runner]:
        read.append(is_after)
        return [], Runner()

    monkeypatch.setattr(module, "stack_of", stack)
    for each in (between, in_turn):
        looked.program.frame_began(each)
    looked.now_ns += 1
    looked.program.frame_ended(between)
    asked: list[int] = []

    def waiting(thread: int, number: int) -> bool:
        assert thread == get_ident()
        asked.append(number)
        return number == hidden.number

    for _ in range(2):
        looked.sampler.report_waits(waiting, 50 * MS)
        watched = looked.sampler._watched[in_turn.number]
        assert watched.number == 0
        # What has been seen of a turn before does not matter.
        watched.number = watched.part = 2

    assert looked.told == [(50, 0, 0)] * 2
    assert {subject for _, kind, subject, _, _ in looked.events if kind == SAMPLED} == {
        in_turn.number
    }
    assert sorted(asked) == [0, 0, hidden.number, hidden.number]
    # Each is a turn of its own, with all that there is to tell.
    name = looked.program.text("play")
    assert [event[3:] for event in looked.events if event[1] == RUNNING_CALL] == [
        (name, RUNS_TASK)
    ] * 2
    assert [event[3:] for event in looked.events if event[1] == SAMPLE_TIMES] == [(0, 0)] * 2
    assert [b for _, kind, *_, b in looked.events if kind == SAMPLED] == [0] * 2
    assert read == [False] * 2
