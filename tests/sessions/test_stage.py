"""The stage by itself: titles, random numbers, work and marks, without a session."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import cast

import pytest

from inspector.clocks import ManualTimeSource
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.events import EventLog
from inspector.frames.director import Director
from inspector.sessions import stage as module
from inspector.sessions.stage import Stage
from inspector.vocabulary import MARK


class Stand:
    """A stage with what it works on."""

    def __init__(self, pass_work_ns: Callable[[int], bool] = lambda _: False) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.transport = Transport(self.tree, ManualTimeSource(5))
        self.director = Director(self.tree.root)
        self.stage = Stage(self.transport, self.director, pass_work_ns)


def test_that_a_title_is_one_line_of_limited_length() -> None:
    stage = Stand().stage
    assert (stage.title, repr(stage)) == ("", "<Stage ''>")

    stage.name("  A \n  game\t")
    assert (stage.title, repr(stage)) == ("A game", "<Stage 'A game'>")
    stage.name("x" * 120)
    assert stage.title == "x" * 120
    stage.name("x" * 121)
    assert stage.title == "x" * 119 + "…"
    with pytest.raises(TypeError, match="a title has to be a text: 3"):
        stage.name(cast("str", 3))


def test_that_random_numbers_are_those_of_recordings_made_before() -> None:
    assert Stand().stage.random.random() == Random(1).random()


def test_that_a_frame_rate_is_the_period_of_frames() -> None:
    stand = Stand()
    assert (stand.stage.frame_rate, stand.transport.frame_period_ns) == (Fraction(60), 16_666_667)

    stand.stage.frame_rate = 144
    assert (stand.stage.frame_rate, stand.transport.frame_period_ns) == (Fraction(144), 6_944_444)


def test_that_a_mark_is_at_the_present_instant_of_its_clock() -> None:
    stand = Stand()
    enemies = stand.tree.root.child("enemies")

    stand.stage.mark("here")
    stand.stage.mark("there", clock=enemies)

    marks = [event for event in stand.log.read().events if event[1] == MARK]
    assert [(at_ns, clock, stand.log.strings[text], b) for at_ns, _, clock, text, b in marks] == [
        (0, 0, "here", 0),
        (0, enemies.id, "there", 0),
    ]
    stand.tree.record_to(None)
    stand.stage.mark("unseen")


def test_that_work_takes_virtual_time_for_timers_or_for_the_callback_of_a_frame() -> None:
    passed: list[int] = []

    def pass_work_ns(duration_ns: int) -> bool:
        passed.append(duration_ns)
        return True

    stage = (stand := Stand(pass_work_ns)).stage

    stage.work(0.25)
    stage.work(0)
    assert (passed, stage.worked_ns) == ([250_000_000, 0], 250_000_000)
    stand.director.on("update", lambda _: stage.work(0.5))
    stand.director.run_frame(1_000_000_000, 0, 0, None)
    assert (passed[2:], stage.worked_ns) == ([500_000_000], 250_000_000)
    with pytest.raises(ValueError, match="work cannot take less than no time: -1"):
        stage.work(-1)


def test_that_work_keeps_the_thread_busy_in_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = iter(range(100, 100_000, 50))
    monkeypatch.setattr(module, "perf_counter_ns", lambda: next(now_ns))

    stage = Stand().stage
    stage.work(1e-6)

    # Until 1,000 ns have passed since the first look.
    assert (next(now_ns), stage.worked_ns) == (1_150, 0)
