"""What the adapter of Qt does with loops, and with time that they only read."""

# ruff: noqa: ANN401 - as the library has it

from __future__ import annotations

from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.qt import QtAdapter
from inspector.probe.clocks import NothingDueError
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.qt_core import Qt

MS = 1_000_000


@pytest.fixture
def qt() -> Qt:
    return Qt()


def test_that_each_thread_with_timers_has_a_clock(qt: Qt) -> None:
    assert (qt.clock.name, qt.adapter.version) == ("PySide6", "6.8.0")
    assert qt.adapter.clock_here() is qt.clock
    seen: list[Any] = []

    def work() -> None:
        qt.core.QTimer().remainingTime()
        seen.append(qt.adapter.clock_here())
        elsewhere = QtAdapter(qt.program)
        elsewhere.installed(qt.core)
        seen.append(elsewhere._loops)
        seen.append(qt.adapter.loop())
        assert qt.adapter.loop() is seen[2]
        qt.adapter.call_soon(seen[2].clock, lambda: seen.append("called"))

    thread = Thread(target=work, name="worker")
    thread.start()
    thread.join()
    assert seen[:2] == [qt.program.own_clock, {}]
    assert seen[2].clock.name == "PySide6 worker"
    assert [receiver.loop for receiver, _ in qt.posted] == [seen[2]]
    qt.handle()

    assert seen[3:] == ["called"]


def test_that_what_is_asked_of_a_program_without_an_application_is_done_at_once(qt: Qt) -> None:
    called: list[str] = []
    qt.application = None
    qt.adapter.call_soon(qt.clock, lambda: called.append("called"))
    qt.adapter.changed(qt.clock)
    qt.adapter.run_again()
    beat = qt.core.QTimer()
    beat.start(50)
    qt.loop.is_stale, qt.dispatcher = True, None  # type: ignore[assignment]
    qt.loop.woken()

    assert called == ["called"]
    assert (qt.posted, qt.told) == ([], [])


def test_that_loops_run_again_after_all_were_ended(qt: Qt) -> None:
    qt.adapter.run_again()

    assert qt.told == ["exec", "exit"]


def test_that_events_are_handled_until_a_goal_is_reached(qt: Qt) -> None:
    goal: Any = SimpleNamespace(is_finished=False)

    def run() -> None:
        qt.told.append("exec")
        goal.is_finished = qt.told.count("exec") == 2
        goal.finish()
        qt.handle()

    qt.exec = run  # type: ignore[method-assign]
    qt.program.waits = Waits()  # type: ignore[assignment]
    qt.adapter.run_until(goal)

    assert qt.told == ["exec", "quit"] * 2
    assert len(qt.dispatcher.aboutToBlock._calls) == 1


class Waits:
    """Virtual time that a loop waits for."""

    spares_me = False

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.ended: list[Any] = []
        self.is_over = False

    def begin(self, wait: Any) -> bool:
        self.begun.append(wait)
        return self.is_over

    def end(self, wait: Any) -> None:
        self.ended.append(wait)
        if wait.error is not None:
            raise wait.error

    def deliver(self, *what: object) -> None:
        self.ended.append(what)


@pytest.fixture
def waits(qt: Qt) -> Waits:
    found = Waits()
    qt.adapter.attached()
    assert qt.dispatcher.aboutToBlock._calls == []
    qt.program.waits = found  # type: ignore[assignment]
    return found


def test_that_a_loop_says_what_it_waits_for_in_virtual_time(qt: Qt, waits: Waits) -> None:
    late, beat = qt.core.QTimer(), qt.core.QTimer()
    late.start(90)
    beat.start(50)
    block, wake = qt.dispatcher.aboutToBlock, qt.dispatcher.awake
    for _ in range(2):
        block.emit()
    (wait,) = waits.begun
    assert (wait.clock, wait.due_ns, wait.is_idle) == (qt.clock, 150 * MS, True)
    assert qt.posted == []
    wait.wake()
    assert len(qt.posted) == 1
    assert qt.loop.is_stale
    for _ in range(2):
        wake.emit()
    assert waits.ended == [wait]
    late.stop()
    beat.stop()
    waits.is_over = True
    block.emit()

    # It need not wait, so it is woken at once.
    assert waits.begun[1].due_ns is None
    assert len(qt.posted) == 2
    error = waits.begun[1].error = NothingDueError("nothing is due")
    wake.emit()
    assert waits.ended[2:] == [(error, qt.core.QCoreApplication.exit)]


def test_that_a_loop_that_has_more_to_do_does_not_wait(qt: Qt, waits: Waits) -> None:
    qt.adapter.attached()
    qt.dispatcher.has_more = True
    qt.dispatcher.aboutToBlock.emit()
    assert qt.dispatcher.told == [("wake up",)]
    qt.dispatcher.has_more = False
    waits.spares_me = True
    qt.dispatcher.aboutToBlock.emit()
    waits.spares_me = False
    qt.program.waits = None
    qt.dispatcher.aboutToBlock.emit()

    assert waits.begun == []


def test_that_a_loop_is_followed_once_it_has_a_dispatcher(qt: Qt, waits: Waits) -> None:
    qt.dispatcher, dispatcher = None, qt.dispatcher  # type: ignore[assignment]
    qt.adapter.attached()
    qt.dispatcher = dispatcher
    for _ in range(2):
        qt.adapter.attached()
    dispatcher.aboutToBlock.emit()
    dispatcher.awake.emit()

    assert (len(waits.begun), len(waits.ended)) == (1, 1)


def test_that_elapsed_timers_follow_the_clock_where_their_start_was_seen(qt: Qt) -> None:
    class Early(qt.core.QElapsedTimer):  # type: ignore[misc, name-defined]
        """One that was started before the probe came."""

        is_valid = True

    early, seen = Early(), qt.core.QElapsedTimer()
    assert [early.nsecsElapsed(), seen.nsecsElapsed()] == [7, 7]
    seen.start()
    qt.set_rate(D // 2)
    qt.now_ns += 30 * MS
    assert (seen.elapsed(), seen.nsecsElapsed(), seen.isValid()) == (15, 15 * MS, True)
    assert [seen.hasExpired(ms) for ms in (-1, 0, 14, 15)] == [False, True, True, False]
    assert (seen.restart(), seen.elapsed()) == (15, 0)
    seen.is_valid = False

    assert seen.nsecsElapsed() == 7
    assert qt.core.QElapsedTimer.elapsed.__name__ == "elapsed"
