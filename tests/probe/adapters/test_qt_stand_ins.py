"""What the adapter of Qt does with timers of which only what it touches is there."""

# ruff: noqa: ANN401 - as the library has it

from __future__ import annotations

import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.kinds import (
    INTERVAL_SKIP,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.qt_core import Qt

MS = 1_000_000
GONE = NEVER / MS


@pytest.fixture
def qt() -> Qt:
    return Qt()


def _of_an_object(core: Any) -> Any:
    class Program:
        def __init__(self) -> None:
            self.other, self.ticking = 1, core.QTimer()
            self.ticking.start(50)

    return Program()


def _of_itself(core: Any) -> Any:
    class Beat(core.QTimer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.start(50)

    return Beat()


def _of_a_function(core: Any) -> Any:
    beat = core.QTimer()
    beat.start(50)
    return beat


def _with_a_name(core: Any) -> Any:
    core.QTimer.objectName = lambda _: "named"
    found = [core.QTimer()]
    found[0].setInterval(50)
    found[0].start()
    return found


def _by_number(core: Any) -> Any:
    class Board(core.QObject):  # type: ignore[misc]
        pass

    board = Board()
    assert board.startTimer(50) == 1
    return board


def _basic(core: Any) -> Any:
    beat, board = core.QBasicTimer(), core.QObject()
    beat.start(50, board)
    return beat, board


def _basic_without_a_name(core: Any) -> Any:
    kept, board = [core.QBasicTimer()], core.QObject()
    kept[0].start(50.9, core.Qt.TimerType.PreciseTimer, board)
    return kept, board


def _once(core: Any) -> Any:
    late = core.QTimer()
    late.setSingleShot(True)
    late.start(50)
    return late


def tick() -> None: ...


def _shot(core: Any) -> None:
    core.QTimer.singleShot(50, tick)


@pytest.mark.parametrize(
    ("start", "name", "kind"),
    [
        (_of_an_object, "Program.ticking", INTERVAL_SKIP),
        (_of_itself, "Beat", INTERVAL_SKIP),
        (_of_a_function, "beat", INTERVAL_SKIP),
        (_with_a_name, "named", INTERVAL_SKIP),
        (_by_number, "Board.timerEvent", INTERVAL_SKIP),
        (_basic, "beat", INTERVAL_SKIP),
        (_basic_without_a_name, "QObject.timerEvent", INTERVAL_SKIP),
        (_once, "late", TIMEOUT),
        (_shot, "tick", TIMEOUT),
    ],
)
def test_that_a_timer_is_told_when_it_is_started(
    qt: Qt, start: Callable[[Any], Any], name: str, kind: int
) -> None:
    kept = start(qt.core)

    assert qt.named(TIMER_ADDED, 4) == [name]
    (site,) = qt.named(TIMER_ORIGIN, 3)
    assert site.partition(" in ")[0].startswith(f"{__file__}:")
    assert [event[4] for event in qt.events if event[1] == TIMER_ORIGIN] == [kind]
    period_ms = 50 * (kind == INTERVAL_SKIP)
    assert qt.of(TIMER_ARMED) == [(1, 150, period_ms)]
    qt.turn(553)
    assert qt.of(TIMER_FIRED) == [(1, 3, 200 if period_ms else GONE)]
    qt.turn(600)
    assert qt.of(TIMER_FIRED)[1:] == [(1, 0, 250)] * bool(period_ms)
    del kept


@pytest.mark.parametrize(
    ("served_ms", "at_ms", "fired", "asked"),
    [
        (600, 600, (1, 0, 300), 0),
        (600, 690, (1, 90, 300), 0),
        # Late by an interval, which Qt skips, and by more.
        (600, 700, (1, 100, 400), 1),
        (600, 710, (1, 110, 410), 1),
        # Coarse timers are early, and stay as early as they are.
        (597, 597, (1, 0, 297), 1),
        (549, 549, (1, 0, 249), 1),
    ],
)
def test_that_a_timer_that_qt_serves_late_or_early_is_due_when_qt_serves_it_next(
    qt: Qt, served_ms: int, at_ms: int, fired: tuple[int, int, int], asked: int
) -> None:
    beat = qt.core.QTimer()
    beat.start(100)
    qt.dispatcher.registered[1][3] = served_ms
    qt.turn(at_ms)

    assert qt.of(TIMER_FIRED) == [fired]
    # While all is in time, Qt need not be asked.
    assert qt.dispatcher.asked == asked


@pytest.mark.parametrize(("rate_n", "next_ms"), [(D, 110), (2 * D, 121)])
def test_that_a_timer_without_an_interval_is_due_in_each_turn(
    qt: Qt, rate_n: int, next_ms: int
) -> None:
    beat = qt.core.QTimer()
    qt.set_rate(rate_n)
    beat.start(0)
    qt.turn(510)

    # A clock of its own cannot have it more often than each millisecond.
    assert qt.of(TIMER_FIRED) == [(1, next_ms - 100 - (rate_n > D), next_ms)]


def test_that_a_timer_that_is_due_again_at_once_is_due_now(
    qt: Qt, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = qt.core.QTimer()
    beat.start(50)
    monkeypatch.setattr(qt.dispatcher, "remainingTime", lambda _: 0)
    qt.turn(720)

    assert qt.of(TIMER_FIRED) == [(1, 170, 320)]


def test_that_an_interval_waits_as_long_as_the_clock_has_it(qt: Qt) -> None:
    beat = qt.core.QTimer()
    beat.setTimerType("fine")
    beat.start(50)
    qt.turn(510.3)
    qt.set_rate(D // 4)
    qt.turn(510.3)
    # What is left is rounded up, and not to be served early by Qt.
    assert qt.dispatcher.told == [(1, 159, "precise")]
    assert beat.remainingTime() == 40
    qt.turn(669.3, early_ms=1)
    assert beat.handled == 1
    assert qt.of(TIMER_FIRED) == [(1, 0.05, 200)]
    assert qt.dispatcher.told[1:] == [(1, 200, "precise")]
    qt.turn(840, early_ms=50)
    assert (beat.handled, qt.dispatcher.told[2:]) == (1, [(1, 30, "precise")])
    # It skips what it has missed.
    qt.turn(1300)
    assert qt.of(TIMER_FIRED)[1:] == [(1, 107.725, 350)]
    qt.set_rate(D)
    qt.turn(1300)
    told = len(qt.dispatcher.told)
    qt.turn(1350)
    # Once what is left of its interval has passed, it is Qt's again.
    assert qt.dispatcher.told[told:] == [(1, 50, "fine")]
    assert beat.handled == 3
    qt.turn(1400)
    assert len(qt.dispatcher.told) == told + 1


def test_that_timers_wait_while_their_program_is_held(qt: Qt) -> None:
    beat, late = qt.core.QTimer(), qt.core.QTimer()
    beat.start(50)
    qt.turn(510)
    qt.hold()
    qt.turn(510)
    assert qt.dispatcher.registered == {}
    late.setSingleShot(True)
    late.start(20)
    qt.turn(700)
    assert qt.dispatcher.registered == {}
    assert (beat.remainingTime(), late.remainingTime()) == (40, 20)
    qt.resume()
    qt.turn(700)
    qt.adapter.call_soon(qt.clock, tick)
    qt.turn(700)
    # Timers are set again when the clock has changed, and only then.
    assert qt.dispatcher.told == [(1, 40, "precise"), (2, 20, "precise")]
    qt.now_ns = 750 * MS
    assert beat.remainingTime() == 0
    qt.turn(725)
    assert late.remainingTime() == -1
    qt.turn(740)

    assert qt.of(TIMER_FIRED) == [(2, 5, GONE), (1, 0, 200)]
    assert qt.loop.timers.keys() == {1}


def _start_again(beat: Any) -> None:
    beat.start(70)


def _set_interval(beat: Any) -> None:
    beat.setInterval(70)


@pytest.mark.parametrize("is_once", [False, True])
@pytest.mark.parametrize("change", [_start_again, _set_interval])
def test_that_a_timer_that_is_started_again_is_the_same_timer(
    qt: Qt, change: Callable[[Any], None], *, is_once: bool
) -> None:
    beat = qt.core.QTimer()
    beat.setSingleShot(is_once)
    beat.start(50)
    qt.turn(530)
    change(beat)
    assert qt.of(TIMER_ARMED) == [(1, 150, 50 * (not is_once)), (1, 200, 70 * (not is_once))]
    assert qt.count(TIMER_ADDED) == 1
    # What it is in Qt now can be cleared.
    timer = qt.program.pending(1)
    assert timer is not None
    qt.adapter.clear_timer(qt.clock, timer, 7)
    assert beat.isActive()
    qt.turn(540)

    assert not beat.isActive()
    assert [(event[2], event[4]) for event in qt.events if event[1] == TIMER_CLEARED] == [(1, 7)]
    assert qt.dispatcher.told == []
    # Its events are seen once.
    assert len(beat._filters) == 1


@pytest.mark.parametrize("flag", [True, False, None])
def test_that_a_flag_of_a_signal_is_no_interval(qt: Qt, *, flag: bool | None) -> None:
    beat = qt.core.QTimer()
    beat.setInterval(40)
    beat.start(flag)

    assert (qt.of(TIMER_ARMED), beat.interval()) == ([(1, 140, 40)], 40)


def test_that_a_timer_that_does_not_start_is_none(qt: Qt) -> None:
    beat, board = qt.core.QTimer(), qt.core.QObject()
    beat.setInterval(50)
    beat.start(-1)
    assert qt.events == []
    beat.start(50)
    beat.start(-1)
    qt.loop.add(board, 0, 50, "coarse")
    qt.loop.add(board, -1, 50, "coarse")

    assert (qt.count(TIMER_ADDED), qt.count(TIMER_CLEARED)) == (1, 1)
    assert "test_qt_stand_ins.py" in qt.named(TIMER_CLEARED, 3)[0]
    assert qt.loop.timers == {}


def test_that_timers_that_are_stopped_are_cleared(qt: Qt) -> None:
    beat, basic, board = qt.core.QTimer(), qt.core.QBasicTimer(), qt.core.QObject()
    beat.start(50)
    basic.start(50, board)
    basic.start(60, "fine", board)
    number = board.startTimer(50, timerType="fine")
    precisions = [timer.precision for timer in qt.loop.timers.values()]
    assert precisions == ["coarse", "fine", "fine"]
    assert qt.count(TIMER_ADDED) == 3
    beat.stop()
    basic.stop()
    board.killTimer(number)
    basic.stop()

    assert [n for n, *_ in qt.of(TIMER_CLEARED)] == [1, 2, 3]
    assert all("test_qt_stand_ins.py" in site for site in qt.named(TIMER_CLEARED, 3))
    assert (qt.loop.timers, qt.dispatcher.registered) == ({}, {})
    number = board.startTimer(50, "fine")
    assert qt.loop.timers[number].precision == "fine"
    # What the adapter does not know is stopped all the same.
    qt.program.emit = None
    unknown = board.startTimer(50)
    qt.attach()
    board.killTimer(unknown)
    assert qt.dispatcher.registered.keys() == {number}
    assert qt.adapter.state == "active"


@pytest.mark.parametrize("is_once", [True, False])
def test_that_a_timer_that_becomes_a_single_shot_or_not_has_another_period(
    qt: Qt, *, is_once: bool
) -> None:
    beat = qt.core.QTimer()
    beat.setSingleShot(not is_once)
    beat.start(50)
    beat.setSingleShot(is_once)

    assert qt.of(TIMER_ARMED) == [(1, 150, 50 * is_once), (1, 150, 50 * (not is_once))]
    qt.turn(550)
    assert bool(qt.loop.timers) is not is_once
    # An inspector that has gone is told nothing.
    qt.adapter.released()
    beat.setSingleShot(not is_once)
    assert len(qt.of(TIMER_ARMED)) == 2


def test_that_what_is_cleared_from_outside_is_stopped_and_may_have_ended(qt: Qt) -> None:
    board, late = qt.core.QObject(), qt.core.QTimer()
    number = board.startTimer(50)
    late.setSingleShot(True)
    late.start(10)
    clears = [qt.program.pending(n) for n in (1, 2)]
    for timer in clears:
        assert timer is not None
        qt.adapter.clear_timer(qt.clock, timer, 7)
    # What has its number now is another timer.
    late.stop()
    qt.numbers = iter([2])
    late.start(20)
    qt.handle()

    assert qt.dispatcher.registered.keys() == {2}
    assert number not in qt.loop.timers
    assert [event[4] for event in qt.events if event[1] == TIMER_CLEARED] == [0, 7]
    qt.adapter.clear_timer(qt.program.own_clock, clears[0], 7)  # type: ignore[arg-type]
    assert qt.posted == []


def test_that_the_timers_of_an_object_go_with_it(qt: Qt) -> None:
    boards, beat = [qt.core.QObject() for _ in range(2)], qt.core.QTimer()
    for number in range(2):
        boards[number].startTimer(50)
    beat.start(50)
    del boards[0]
    assert qt.of(TIMER_CLEARED) == [(1, 0, 0)]
    # Of those that Qt has deleted, the objects of Python are still there.
    boards[0].is_deleted = beat.is_deleted = True
    qt.set_rate(D // 2)
    qt.handle()

    assert [n for n, *_ in qt.of(TIMER_CLEARED)] == [1, 2, 3]
    assert qt.dispatcher.told == []
    assert qt.adapter.state == "active"


def test_that_a_timer_that_was_stopped_unseen_is_cleared_when_the_clock_changes(qt: Qt) -> None:
    board, beat = qt.core.QObject(), qt.core.QTimer()
    board.startTimer(50)
    beat.start(50)
    qt.dispatcher.registered.pop(1)
    beat._start()
    qt.set_rate(D // 2)
    qt.handle()

    assert [n for n, *_ in qt.of(TIMER_CLEARED)] == [1, 2]
    assert qt.loop.timers == {}


def _find(qt: Qt, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [each() for each in qt.objects]
    monkeypatch.setattr(gc, "get_objects", lambda: [*found, *[None] * 2001])
    # In slices, a timer each at the end.
    assert len(list(qt.adapter.keyframe(qt.clock))) == 3 + len(qt.loop.timers)


def test_that_timers_from_before_the_inspector_came_are_found(
    qt: Qt, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = qt.core
    qt.program.detach()
    program, elsewhere, deleted, own = core.QObject(), core.QObject(), core.QObject(), core.QTimer()
    program.ticking, late = core.QTimer(program), core.QTimer(program)
    program.ticking.start(50)
    late.setSingleShot(True)
    late.start(50)
    for each in (program, elsewhere, deleted):
        each.startTimer(50)
    own.start(50)
    elsewhere.home, deleted.is_deleted = "elsewhere", True
    qt.adapter.own_timers.append(own)
    qt.turn(520)
    qt.attach()
    for _ in range(2):
        _find(qt, monkeypatch)

    names = ["QObject.timerEvent", "QObject.ticking", "QTimer.timerEvent"]
    assert qt.named(TIMER_ADDED, 4) == names
    kinds = [event[4] for event in qt.events if event[1] == TIMER_ORIGIN]
    assert kinds == [INTERVAL_SKIP, INTERVAL_SKIP, TIMEOUT]
    assert qt.of(TIMER_ARMED) == [(1, 150, 50), (2, 150, 50), (3, 150, 0)]
    assert qt.named(TIMER_ORIGIN, 3) == [""] * 3
    assert qt.dispatcher.told == []
    qt.turn(550)
    assert qt.of(TIMER_FIRED) == [(2, 0, 200), (3, 0, GONE), (1, 0, 200)]


def test_that_timers_that_are_found_on_a_slow_clock_follow_it(
    qt: Qt, monkeypatch: pytest.MonkeyPatch
) -> None:
    qt.program.detach()
    board = qt.core.QObject()
    board.startTimer(50)
    qt.attach()
    qt.now_ns += 60 * MS
    qt.set_rate(D // 2)
    _find(qt, monkeypatch)

    # Qt has not come to it yet.
    assert qt.dispatcher.told == [(1, 0, "precise")]


def test_that_timers_that_were_stopped_without_an_inspector_are_given_up(
    qt: Qt, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat, held = qt.core.QTimer(), qt.core.QTimer()
    beat.start(50)
    qt.hold()
    held.start(50)
    qt.program.emit = None
    beat.stop()
    qt.attach()
    _find(qt, monkeypatch)

    # Qt does not know of one that waits with its program.
    assert qt.loop.timers.keys() == {2}


def test_that_an_inspector_that_comes_is_told_of_the_timers_of_before(qt: Qt) -> None:
    beats = [qt.core.QTimer() for _ in range(2)]
    for beat, ms in zip(beats, (50, 60), strict=True):
        beat.start(ms)
    qt.adapter.released()
    qt.application = None
    keyframe = qt.adapter.keyframe(qt.clock)
    next(keyframe)
    beats[1].stop()
    assert list(keyframe) == [None]
    list(qt.adapter.keyframe(qt.clock))

    assert qt.of(TIMER_ARMED) == [(1, 150, 50), (2, 160, 60), (3, 150, 50)]
    assert list(qt.adapter.keyframe(qt.program.own_clock)) == []


def test_that_without_an_inspector_timers_are_qts_own(qt: Qt) -> None:
    core = qt.core
    qt.program.emit = None
    beat, basic, board = core.QTimer(), core.QBasicTimer(), core.QObject()
    beat.start(50)
    beat.setInterval(60)
    basic.start(50, board)
    number = board.startTimer(50)
    assert len(qt.dispatcher.registered) == 3
    core.QTimer.singleShot(50, tick)
    assert qt.told == [(50, tick)]
    assert beat.remainingTime() == 60
    beat.stop()
    basic.stop()
    board.killTimer(number)

    assert qt.dispatcher.registered == {}
    assert qt.loop.timers == {}
    assert (beat._filters, board._filters) == ([], [])


@pytest.mark.parametrize(
    "args", [(0, tick), (-1, tick), (50, object(), "slot"), (50, object(), tick), (50, "text")]
)
def test_that_single_shots_that_are_no_plain_calls_are_qts_own(
    qt: Qt, args: tuple[Any, ...]
) -> None:
    qt.core.QTimer.singleShot(*args)

    assert qt.told == [args]
    assert qt.loop.timers == {}


def test_that_a_single_shot_is_called_once_and_kept_until_then(qt: Qt) -> None:
    called: list[str] = []
    core = qt.core
    core.QTimer.singleShot(1, lambda: called.append("shot"))
    core.QTimer.singleShot(60, core.Qt.TimerType.PreciseTimer, lambda: called.append("precise"))
    assert [timer.precision for timer in qt.loop.timers.values()] == ["coarse", "precise"]
    gc.collect()
    qt.turn(560)
    qt.turn(700)

    assert called == ["shot", "precise"]
    gc.collect()
    assert not any(each() for each in qt.objects[1:])
    assert qt.told == []
    assert qt.count(TIMER_FIRED) == 2


def test_that_an_adapter_that_failed_gives_its_timers_back_to_qt(qt: Qt) -> None:
    beat, plain = qt.core.QTimer(), qt.core.QTimer()
    qt.set_rate(D // 2)
    beat.start(50)
    plain.start(50)
    qt.loop.timers[plain.number].is_plain = True
    qt.handle()
    qt.dispatcher.told.clear()
    qt.loop.timers[plain.number].is_plain = True
    qt.adapter.fail("its version is not known")
    qt.handle()

    assert qt.dispatcher.told == [(1, 50, "coarse")]
    assert qt.loop.timers == {}
    assert qt.adapter.state == "failed"


def test_that_an_error_while_a_timer_is_served_does_not_keep_it_from_its_program(
    qt: Qt, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = qt.core.QTimer()
    beat.start(50)
    monkeypatch.setattr(qt.loop, "fired", lambda timer: timer.gone)
    qt.turn(550)

    assert beat.handled == 1
    assert qt.adapter.state == "failed"
    assert "gone" in qt.adapter.message


def test_that_events_of_others_are_left_to_them(qt: Qt) -> None:
    board = qt.core.QObject()
    board.startTimer(50)
    board.handle(qt.core.QEvent("paint"))
    unknown = qt.core.QTimerEvent(9)
    board.handle(unknown)
    unknown.number = SimpleNamespace(value=1)
    board.handle(unknown)

    assert board.handled == 3
    assert qt.count(TIMER_FIRED) == 1
    watcher = qt.loop.watcher
    assert [watcher.event(qt.core.QEvent(each)) for each in ("known", "else")] == [True, False]
