"""What the adapter of tkinter has a stand-in for Tcl do, in a time that the test sets."""

# ruff: noqa: ANN401 - as tkinter has it

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inspector.probe.adapters.tkinter import TclHooks, TkinterAdapter
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played
from tests.probe.adapters.tcl import Tcl

MS = 1_000_000


@pytest.fixture
def played() -> Played:
    return Played(500 * MS)


class Widget:
    def __init__(self, tcl: Tcl) -> None:
        self._tcl = tcl

    def deletecommand(self, script: str) -> None:
        self._tcl.told.append(("delete", script))


@pytest.fixture
def tcl() -> Tcl:
    return Tcl()


@pytest.fixture
def hooks(played: Played, tcl: Tcl) -> Iterator[Any]:
    adapter = TkinterAdapter(played.program)
    called: list[Callable[..., None]] = []

    def after(_widget: object, _ms: object, func: Callable[..., None], *_: object) -> str:
        called.append(func)
        tcl.pending[f"after#{len(called)}"] = f"{len(called)}tick"
        return f"after#{len(called)}"

    adapter.after = after
    adapter.after_cancel = lambda _widget, name: tcl.told.append(("cancelled", name))
    found: Any = TclHooks(adapter, tcl, played.program.clock("tkinter", adapter=adapter))
    adapter._interpreters[id(tcl)] = found
    found.called, found.turn = called, tcl.turn
    yield found
    found.close()


def tick() -> None: ...


def test_that_a_timer_of_tkinter_that_is_set_after_its_call_does_not_set_itself_again(
    played: Played, hooks: Any
) -> None:
    def tick() -> None: ...

    hooks.set(None, 20, tick, ())
    played.now_ns += 20 * MS
    hooks.called[0]()
    hooks.set(None, 20, tick, ())

    assert played.count(TIMER_ADDED) == 2
    (timer,) = hooks.timers.values()
    assert timer.period_ns == 0
    sites = [played.program.texts[a] for a, _ in events(played, TIMER_ORIGIN)]
    assert all(f"{__file__}:" in site for site in sites)


@pytest.mark.parametrize("ms", [0, -5, "idle"])
def test_that_what_is_due_at_once_waits_for_the_clock_as_well(
    played: Played, hooks: Any, ms: object
) -> None:
    hooks.set(None, ms, tick, ())

    assert events(played, TIMER_ARMED) == [(hooks.clock.local_ns() + 1, 0)]
    assert hooks.called[0].__name__ == "tick"
    hooks.set(None, ms, partial(tick), ())
    assert hooks.called[1].__name__ == "partial"


def test_that_a_timer_that_sets_itself_twice_is_one_interval_and_another_timer(
    played: Played, hooks: Any
) -> None:
    def again() -> None:
        for ms in (20, 30):
            hooks.set(None, ms, again, ())

    hooks.set(None, 20, again, ())
    played.now_ns += 20 * MS
    hooks.called[0]()

    assert [each.period_ns for each in hooks.timers.values()] == [20 * MS, 0]


@pytest.mark.parametrize(("is_own_loop", "began", "ended"), [(False, 0, 0), (True, 1, 2)])
def test_that_a_call_of_tkinter_is_a_frame_where_its_loop_was_not_seen_to_begin(
    played: Played, hooks: Any, began: int, ended: int, *, is_own_loop: bool
) -> None:
    hooks.begin_round()
    hooks.is_own_loop = is_own_loop
    played.events.clear()
    hooks.set(None, 20, lambda: None, ())
    played.now_ns += 20 * MS
    hooks.called[0]()

    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (began, ended)
    assert not hooks.is_own_loop


def test_that_timers_of_tkinter_from_before_the_inspector_came_are_counted(
    hooks: Any, tcl: Tcl
) -> None:
    tcl.pending = {"after#8": "140tick", "after#9": "1tock", "after#7": "::tk::blink"}
    changes = hooks.adapter.program.changes
    list(hooks.adapter.keyframe(hooks.clock))
    hooks.turn()

    assert hooks.adapter.message.endswith("once they are set again: 2 of them")
    assert hooks.adapter.program.changes == changes + 1
    # Another inspector may find none, and Tcl in a call.
    hooks.is_in_round = True
    hooks.adapter.attached()
    assert (hooks.adapter.message, hooks.is_in_round) == ("", False)


def events(played: Played, kind: int) -> list[tuple[int, int]]:
    """The last two numbers of each event of a kind."""
    return [each[3:] for each in played.events if each[1] == kind]


def test_that_a_timer_is_set_again_for_what_is_left_at_another_rate(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    hooks.set(None, 20, tick, ())
    played.now_ns += 5 * MS
    played.set_rate(D * 2 // 5)
    hooks.turn()
    hooks.turn()

    # 15 ms are 37.5 there: not before it is due, and only once.
    assert tcl.told == [("cancel", "after#1"), (38, "1tick")]


def test_that_a_timer_that_is_set_while_time_is_slower_waits_longer(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    played.set_rate(D // 2)
    hooks.set(None, 20, tick, ())
    hooks.set(None, "idle", tick, ())

    # What is called once nothing else is to be done keeps its turn.
    assert tcl.told == [("cancel", "after#1"), (40, "1tick")]


def test_that_timers_wait_while_their_program_is_held(played: Played, hooks: Any, tcl: Tcl) -> None:
    hooks.set(None, 20, tick, ())
    hooks.set(None, "idle", tick, ())
    played.hold()
    hooks.turn()
    assert tcl.told == [("cancel", "after#1")]
    played.now_ns += 100 * MS
    played.resume()
    hooks.turn()

    assert tcl.told[1:] == [(20, "1tick")]


def test_that_an_idle_call_that_sets_itself_again_waits_while_its_program_is_held(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    def idle() -> None:
        hooks.set(None, "idle", idle, ())

    hooks.set(None, "idle", idle, ())
    played.hold()
    # Another that is set meanwhile has its turn.
    hooks.set(None, "idle", tick, ())
    assert tcl.told == []
    hooks.called[0]()
    assert tcl.told == [("cancel", "after#3")]
    assert [each.period_ns for each in hooks.timers.values()] == [0, 0]
    played.resume()
    hooks.turn()

    assert tcl.told[1:] == [("idle", "3tick")]


@pytest.mark.parametrize(("left_ns", "is_early"), [(1_000_001, True), (1_000_000, False)])
def test_that_a_call_that_is_too_early_by_its_clock_waits_on(
    played: Played, hooks: Any, tcl: Tcl, left_ns: int, *, is_early: bool
) -> None:
    calls: list[str] = []
    played.set_rate(D // 2)
    hooks.set(None, 20, calls.append, ("called",))
    played.now_ns += 40 * MS - left_ns
    hooks.called[0]("called")

    assert calls == ([] if is_early else ["called"])
    assert list(hooks.timers) == (["after#1"] if is_early else [])
    # A call that was not made is another in Tcl.
    again: list[tuple[object, ...]] = [("cancel", "after#2"), (2, "2tick")]
    assert tcl.told == [("cancel", "after#1"), (40, "1tick"), *again * is_early]
    assert events(played, TIMER_FIRED) == [(0, NEVER)] * (not is_early)


def test_that_an_interval_says_when_it_is_due_again_and_how_late_it_was(
    played: Played, hooks: Any
) -> None:
    def again() -> None:
        played.now_ns += 3 * MS
        hooks.set(None, 20, again, ())

    hooks.set(None, 20, again, ())
    begun_ns = hooks.clock.local_ns()
    for late_ms in (1, 2):
        played.now_ns += (20 + late_ms) * MS
        hooks.called[-1]()

    (timer,) = hooks.timers.values()
    assert timer.shown.handle == timer.identifier == "after#3"
    first, second = events(played, TIMER_FIRED)
    assert first == (MS, NEVER)
    # Unless it sets itself again, it would be cleared.
    assert second == (2 * MS, begun_ns + 66 * MS)
    assert [a - begun_ns for a, _ in events(played, TIMER_ARMED)] == [20 * MS, 44 * MS, 69 * MS]
    # Its first call was that of a timeout.
    assert played.count(TIMER_ADDED) == 2
    assert played.count(TIMER_CLEARED) == 0


def test_that_an_interval_that_no_longer_sets_itself_is_cleared(played: Played, hooks: Any) -> None:
    turns = [True, False]

    def again() -> None:
        if turns.pop(0):
            hooks.set(None, 20, again, ())

    hooks.set(None, 20, again, ())
    for _ in range(2):
        played.now_ns += 20 * MS
        hooks.called[-1]()

    assert played.count(TIMER_CLEARED) == 1
    assert hooks.timers == {}


def test_that_a_timer_that_was_set_before_the_inspector_came_has_its_kind(
    played: Played, hooks: Any
) -> None:
    hooks.set(None, 20, tick, ())
    for period_ns in (0, 20 * MS):
        (timer,) = hooks.timers.values()
        hooks.adapter.released()
        timer.period_ns = period_ns
        list(hooks.adapter.keyframe(hooks.clock))
        hooks.turn()

    kinds = [kind for _site, kind in events(played, TIMER_ORIGIN)]
    assert kinds == [TIMEOUT, TIMEOUT, INTERVAL_DELAY]


def test_that_a_timer_is_cancelled_by_the_program_and_from_outside(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    widget = Widget(tcl)
    for _ in range(2):
        hooks.set(widget, 20, tick, ())
    first, second = hooks.timers.values()
    hooks.adapter.clear_timer(hooks.clock, first.shown, 7)
    hooks.turn()
    assert tcl.told == [("cancelled", "after#1")]
    assert events(played, TIMER_CLEARED) == [(0, 7)]
    played.hold()
    hooks.turn()
    hooks.timers.pop("after#2").cancel()

    # Tcl no longer knows when, but still what.
    assert tcl.told[1:] == [("cancel", "after#2"), ("delete", "2tick")]
    assert second.shown.number
    assert played.count(TIMER_CLEARED) == 2


def test_that_what_a_failed_adapter_has_kept_waiting_is_called(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    hooks.set(None, 20, tick, ())
    played.hold()
    hooks.turn()
    hooks.adapter.fail("its version is not known")
    hooks.turn()

    assert tcl.told[-1] == (0, "1tick")


def test_that_a_loop_is_ended_on_its_own_thread(played: Played, hooks: Any, tcl: Tcl) -> None:
    assert hooks.adapter.end_loop(hooks.clock)
    assert tcl.told == []
    hooks.turn()

    assert tcl.told == [("quit",)]
    assert not hooks.adapter.end_loop(played.program.own_clock)


def test_that_a_turn_has_all_windows_do_what_is_to_be_done(hooks: Any, tcl: Tcl) -> None:
    assert hooks.adapter.turn() is None
    assert tcl.told == [("update",)]
    hooks.set(None, 20, tick, ())
    hooks.is_stale = True
    assert hooks.adapter.turn() == hooks.clock.local_ns() + 20 * MS
    # What the clock has changed is set first.
    assert tcl.told[1:] == [("cancel", "after#1"), (20, "1tick"), ("update",)]
    hooks.thread += 1

    assert hooks.adapter.turn() is None
    assert len(tcl.told) == 4


def test_that_a_process_that_was_forked_has_no_loop_of_tcl(hooks: Any) -> None:
    hooks.adapter.forked()

    assert hooks.clock.is_removed
    assert hooks.adapter.capabilities(hooks.clock) == {}
    assert not hooks.adapter.end_loop(hooks.clock)


def test_that_a_sleep_is_a_timer_and_one_that_is_broken_off_is_cleared(
    played: Played, hooks: Any
) -> None:
    begun_ns = hooks.clock.local_ns()
    hooks.sleep(20)
    assert hooks.clock.local_ns() - begun_ns == 20 * MS
    assert events(played, TIMER_FIRED) == [(0, NEVER)]

    def interrupt() -> None:
        raise KeyboardInterrupt

    played.asleep = interrupt
    hooks.is_own_loop, hooks.pump = True, lambda: None
    played.hold()
    with pytest.raises(KeyboardInterrupt):
        hooks.sleep(20)

    assert played.count(TIMER_CLEARED) == 1


def test_that_what_cannot_be_done_for_an_inspector_ends_no_loop(hooks: Any, tcl: Tcl) -> None:
    # So full that nothing more can be written, and woken though there is nothing to read.
    (reader,) = tcl.files
    os.write(hooks._pipe[1].number, bytes(1 << 16))
    hooks.wake()
    while tcl.files and select.select([reader], [], [], 0)[0]:
        hooks._woken()
    hooks._woken()
    assert hooks.adapter.state == "waiting"
    hooks.call(lambda: tcl.gone)  # type: ignore[attr-defined]
    hooks._woken()

    assert hooks.adapter.state == "failed"


def test_that_files_of_the_program_with_the_numbers_of_its_pipe_are_left_alone(
    hooks: Any, tcl: Tcl, tmp_path: Path
) -> None:
    numbers = [end.number for end in hooks._pipe]
    with (tmp_path / "log").open("w+") as log:
        for number in numbers:
            os.dup2(log.fileno(), number)
        hooks.wake()
        called: list[int] = []
        hooks._calls.append(lambda: called.append(1))
        hooks._woken()
        hooks.close()

        assert log.read() == ""
        assert (called, list(tcl.files)) == ([1], [])
        for number in numbers:
            os.close(number)


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_that_only_the_thread_of_an_interpreter_takes_its_pipe_from_it(
    hooks: Any, tcl: Tcl, *, is_elsewhere: bool
) -> None:
    ends = [end.number for end in hooks._pipe]
    hooks.thread += is_elsewhere
    for _ in range(2):
        hooks.close()
    hooks.wake()
    hooks._woken()

    assert list(tcl.files) == [ends[0]] * is_elsewhere
    if is_elsewhere:
        for end in ends:
            os.close(end)
    for end in ends:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(end)


def test_that_windows_answer_while_the_program_s_own_loop_sleeps(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    hooks.adapter._keep_alive()
    assert tcl.told == []
    hooks.is_own_loop = True
    hooks.adapter._keep_alive()
    assert tcl.told == [("update",)]
    hooks.thread += 1
    hooks.adapter._keep_alive()

    assert tcl.told == [("update",)]
    assert played.count(FRAME_BEGAN) == 0
