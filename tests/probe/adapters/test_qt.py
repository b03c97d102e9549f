"""What Qt programs do with their timers and animations that other libraries have not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from inspector.probe.kinds import MARK
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.libraries import python_with
from tests.probe.receiver import TOKEN, Receiver, attached, inlet, program

HEAD = """
import os
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from {binding}.QtCore import *
application = QCoreApplication([])
say = lambda *words: timeline_probe.mark(" ".join(map(str, words)))
"""
TAIL = """
timeline_probe.mark("begun")
application.exec()
"""
BINDINGS = ("PySide6", "PyQt6")


def marks(receiver: Receiver) -> list[str]:
    return [receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == MARK]


def last(receiver: Receiver, word: str) -> list[str]:
    """Return the words after the latest mark that begins with a word."""
    found = [mark.split()[1:] for mark in marks(receiver) if mark.startswith(word)]
    return found[-1] if found else []


def top(receiver: Receiver) -> int:
    return next(number for number, parent in receiver.parents().items() if parent == 0)


@pytest.mark.parametrize("binding", BINDINGS)
def test_that_a_single_shot_of_any_kind_fires_once(binding: str) -> None:
    code = """
late = QTimer()
late.start(30)
late.setSingleShot(True)
late.timeout.connect(lambda: say("late"))
QTimer.singleShot(30, lambda: say("shot"))
QTimer.singleShot(30, Qt.TimerType.PreciseTimer, lambda: say("precise"))
"""
    code = HEAD.format(binding=binding) + code + TAIL
    with attached(code, python=python_with(binding)) as (receiver, _):
        receiver.wait_for(lambda: {"late", "shot", "precise"} <= set(marks(receiver)))
        # A change of the clock sets all timers again: none may come back.
        receiver.ask("Clock.rate", clock=top(receiver), rate_n=8 * D)
        receiver.listen(0.2)
        receiver.ask("Clock.rate", clock=top(receiver), rate_n=D)
        receiver.listen(0.2)

        assert sorted(marks(receiver)) == ["begun", "late", "precise", "shot"]
        assert receiver.timeline().timers.row is not None
        assert [*receiver.timeline().timers.ids()] == []


def test_that_sleeps_on_the_loop_of_qt_are_named_after_the_tasks_that_sleep() -> None:
    code = """
import asyncio
from PySide6 import QtAsyncio
async def poll():
    while True:
        await asyncio.sleep(0.005)
QtAsyncio.run(poll())
"""
    python = python_with("PySide6.QtAsyncio")
    with attached(HEAD.format(binding="PySide6") + code, python=python) as (receiver, _):
        receiver.wait_for(lambda: receiver.firings()["sleep in poll"] >= 3)
        assert set(receiver.timer_names().values()) == {"sleep in poll"}


_LOOKED_AT = """
late = QTimer()
late.start(100_000)
late.setSingleShot(True)
class Beat(QTimer):
    def __init__(self):
        super().__init__()
        self.start(100_000)
kept = [Beat()]
Flag = Signal if "Signal" in globals() else pyqtSignal
class Button(QObject):
    clicked = Flag(bool)
button = Button()
timer = QTimer()
timer.setInterval(40)
timer.timeout.connect(lambda: say("interval", timer.interval()))
button.clicked.connect(timer.start)
button.clicked.emit(False)
program = timeline_probe.starting._program
adapter = program.adapters["qt"]
new = program.clock("new", adapter=adapter)
called = []
calls = (
    adapter.changed,
    lambda clock: list(adapter.keyframe(clock)),
    lambda clock: adapter.call_soon(clock, lambda: called.append(clock)),
)
for call in calls:
    program.guarded(adapter, call, new)
say("asked", adapter.state, len(called))
"""


@pytest.fixture(scope="module", params=BINDINGS)
def looked_at(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    """Return what a program says whose timers some tests look at."""
    binding: str = request.param
    code = HEAD.format(binding=binding) + _LOOKED_AT + TAIL
    with attached(code, python=python_with(binding)) as (receiver, _):
        receiver.wait_for(lambda: "begun" in marks(receiver))
        yield receiver


def test_that_a_timer_that_becomes_a_single_shot_has_no_period_any_more(
    looked_at: Receiver,
) -> None:
    looked_at.wait_for(lambda: "late" in looked_at.timer_names().values())
    timers = looked_at.timeline().timers
    (number,) = (number for number in timers.ids() if timers.row(number).label == "late")
    assert timers.interval[timers.index(number)] == 0


_MADE_OF_SEVERAL = """
from timeline_probe import clocks
clocks.LONGEST_WAIT_NS = 10_000_000
late = QTimer()
late.timeout.connect(lambda: say("late"))
late.start(50)
"""
_SET_EACH_TIME = """
def step():
    say("late")
    QTimer.singleShot(50, step)
step()
"""


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("code", [_MADE_OF_SEVERAL, _SET_EACH_TIME], ids=["parts", "each time"])
def test_that_each_wait_is_as_long_as_a_slow_clock_has_it(binding: str, code: str) -> None:
    code = HEAD.format(binding=binding) + code + TAIL
    with attached(code, python=python_with(binding)) as (receiver, _):
        receiver.wait_for(lambda: "late" in marks(receiver))
        receiver.ask("Clock.rate", clock=top(receiver), rate_n=D // 4)
        # Some may have come before the rate has changed.
        before = marks(receiver).count("late")
        receiver.wait_for(lambda: marks(receiver).count("late") > before + 2)
        seen = [at for at, kind, _, a, _ in receiver.events if kind == MARK]

        assert seen[-1] - seen[-2] > 150e6


def test_that_an_interval_may_have_a_fraction() -> None:
    code = """
class Board(QObject):
    def timerEvent(self, event): say("turn", event.timerId() == timer.timerId())
board = Board()
timer = QBasicTimer()
timer.start(1000 / 60, board)
"""
    python = python_with("PySide6")
    with attached(HEAD.format(binding="PySide6") + code + TAIL, python=python) as (receiver, _):
        receiver.wait_for(lambda: marks(receiver).count("turn True") > 3)
        receiver.ask("Clock.rate", clock=top(receiver), rate_n=4 * D)
        before = len(marks(receiver))
        receiver.wait_for(lambda: len(marks(receiver)) > before + 3)

        timeline = receiver.timeline()
        (row,) = (timeline.timers.row(number) for number in timeline.timers.ids())
        assert row.interval_ns == 16_000_000


def test_that_a_flag_of_a_signal_is_no_interval(looked_at: Receiver) -> None:
    looked_at.wait_for(lambda: last(looked_at, "interval") == ["40"])


@pytest.mark.parametrize("binding", BINDINGS)
def test_that_animations_and_elapsed_timers_follow_the_clock(binding: str) -> None:
    code = """
Value = Property if "Property" in globals() else pyqtProperty
class Ball(QObject):
    x = Value(float, lambda self: 0.0, lambda self, value: None)
ball = Ball()
animation = QPropertyAnimation(ball, b"x")
animation.setStartValue(0.0)
animation.setEndValue(1.0)
animation.setDuration(60_000)
animation.start()
elapsed = QElapsedTimer()
elapsed.start()
import threading, time
def report():
    while True:
        time.sleep(0.05)
        running = animation.state() == QAbstractAnimation.State.Running
        say("state", running, animation.currentTime(), elapsed.elapsed())
threading.Thread(target=report, daemon=True).start()
"""
    code = HEAD.format(binding=binding) + code + TAIL
    with attached(code, python=python_with(binding)) as (receiver, _):
        receiver.wait_for(lambda: int((last(receiver, "state") or ["", "0"])[1]) > 100)
        names = set(receiver.timer_names().values())
        assert "QPropertyAnimation x" in names
        receiver.ask("Clock.rate", clock=receiver.clocks()[binding], rate_n=100 * D)
        receiver.listen(0.1)
        # Reports go on, because they sleep by another clock.
        receiver.wait_for(lambda: int(last(receiver, "state")[1]) > 15_000)
        receiver.ask("Clock.pause", clock=receiver.clocks()[binding])
        receiver.listen(0.2)
        held = last(receiver, "state")
        receiver.listen(0.2)

        running, current_ms, elapsed_ms = last(receiver, "state")
        assert held == last(receiver, "state")
        assert running == "True"
        assert abs(int(elapsed_ms) - int(current_ms)) < 5_000


_AGAIN = """
class Ball(QObject):
    x = (Property if "Property" in globals() else pyqtProperty)(
        float, lambda self: 0.0, lambda self, value: None)
ball = Ball()
animation = QPropertyAnimation(ball, b"x")
animation.setStartValue(0.0)
animation.setEndValue(1.0)
animation.setDuration(60_000)
def again():
    passed = animation.currentTime()
    animation.stop()
    animation.start()
    say("passed", passed)
    print(passed, animation.currentTime(), flush=True)
timer = QTimer()
timer.timeout.connect(again)
timer.start(100)
"""


@pytest.mark.parametrize("binding", BINDINGS)
def test_that_an_animation_that_begins_on_a_slow_clock_follows_it_at_once(binding: str) -> None:
    code = HEAD.format(binding=binding) + _AGAIN + TAIL
    with attached(code, python=python_with(binding)) as (receiver, _):
        receiver.wait_for(lambda: last(receiver, "passed"))
        receiver.ask("Clock.rate", clock=receiver.clocks()[binding], rate_n=D // 4)
        # One may have begun before.
        before = len(marks(receiver)) + 2
        receiver.wait_for(lambda: len(marks(receiver)) > before + 2)

        passed_ms = [int(mark.split()[1]) for mark in marks(receiver)[before:]]
        # A fourth of what passes on the machine between two calls.
        assert max(passed_ms) < 250


@pytest.mark.parametrize("binding", BINDINGS)
def test_that_animations_begin_also_when_the_inspector_has_gone(binding: str) -> None:
    code = HEAD.format(binding=binding) + _AGAIN + TAIL
    with attached(code, python=python_with(binding)) as (receiver, process):
        receiver.wait_for(lambda: last(receiver, "passed"))
        receiver.close()
        assert process.stdout is not None
        # The first were begun before.
        lines = [process.stdout.readline().split() for _ in range(10)][-3:]
        assert all(int(passed_ms) > 50 for passed_ms, _ in lines)
        assert [begun_ms for _, begun_ms in lines] == ["0"] * 3


@pytest.mark.parametrize("binding", BINDINGS)
def test_that_the_thread_that_does_not_answer_is_named_with_since_when(binding: str) -> None:
    code = """
def block():
    start()
    os.read(0, 1)
shot, boss = QTimer(), QTimer()
shot.timeout.connect(block)
shot.setSingleShot(True)
shot.start(10)
boss.start(3600_000)
application.exec()
"""
    with inlet() as opened:
        start = f"def start(): timeline_probe.start({opened.address!r}, {TOKEN!r})\n"
        code = start + HEAD.format(binding=binding) + code
        python = python_with(binding)
        with program(code, python=python) as process, closing(opened.accepted()) as receiver:

            def busy() -> list[tuple[str, bool]]:
                said = receiver.said("Events.keyframe")
                told = [each for message in said for each in message.get("threads", ())]
                return [(each["thread"], each["since_ns"] > 0) for each in told]

            receiver.wait_for(lambda: busy() == [("MainThread", True)])
            assert {"state": "complete"} not in receiver.said("Events.keyframe")
            assert process.stdin is not None
            process.stdin.write("x")
            process.stdin.flush()
            receiver.wait_until_complete()
            assert len(receiver.timer_names()) == 1


def test_that_a_clock_may_be_asked_about_before_its_loop_is_known(looked_at: Receiver) -> None:
    assert marks(looked_at)[:2] == ["asked active 1", "begun"]


def test_that_a_timer_that_starts_itself_has_the_name_of_its_class(looked_at: Receiver) -> None:
    looked_at.wait_for(lambda: "Beat" in looked_at.timer_names().values())
