"""What delayed a call, from measured frames: every nanosecond of the delay is blamed once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from inspector.analysis.explain.explain import explain
from inspector.calls.call import CallId
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.timebase import format_duration
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    NEVER,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    MemberKind,
    Phase,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MS = 1_000_000
ROOT, LATE, OTHER, QUICK = 1, 10, 11, 12
SLOW = 5


@dataclass
class Frames:
    """The events of a hosted scene with some timers and a frame callback, in milliseconds."""

    log: EventLog = field(default_factory=EventLog)
    at_ms: float = 0
    index: int = -1
    interval_ms: int = 0

    def __post_init__(self) -> None:
        text = self.log.intern
        self.log.append((0, CLOCK_ADDED, ROOT, 0, text("root")))
        self.log.append((0, CLOCK_ANCHORED, ROOT, 0, RATE_DENOMINATOR))
        self.log.append((0, MEMBER_ADDED, SLOW, 0, text("slow")))
        self.log.append((0, MEMBER_ORIGIN, SLOW, ROOT, MemberKind.FRAME_CALLBACK))
        for timer, name in ((LATE, "late"), (OTHER, "other"), (QUICK, "quick")):
            self.log.append((0, TIMER_ADDED, timer, ROOT, text(name)))
            self.log.append((0, TIMER_ARMED, timer, 120 * MS, self.interval_ms * MS))

    def frame(
        self,
        at_ms: float,
        *fired: tuple[int, float, float],
        timers_ms: float = 0,
        update_ms: float = 0,
        draw_ms: float = 0,
        slow_ms: float = 0,
    ) -> None:
        """Tell a frame and the timers before it: (timer, due, late)."""
        at_ns, self.index = int(at_ms * MS), self.index + 1
        for timer, due_ms, late_ms in fired:
            next_ns = NEVER if timer == LATE else 1_000 * MS
            self.log.append((int(due_ms * MS), TIMER_FIRED, timer, int(late_ms * MS), next_ns))
        self.log.append((at_ns, FRAME_BEGAN, 0, self.index, 0))
        self.log.append((at_ns, PHASE_ENDED, Phase.TIMERS, self.index, int(timers_ms * MS)))
        if slow_ms:
            self.log.append((at_ns, CALL_ENDED, SLOW, 0, int(slow_ms * MS)))
        self.log.append((at_ns, PHASE_ENDED, Phase.UPDATE, self.index, int(update_ms * MS)))
        self.log.append((at_ns, PHASE_ENDED, Phase.DRAW, self.index, int(draw_ms * MS)))
        busy_ms, interval_ms = timers_ms + update_ms + draw_ms, at_ms - self.at_ms
        self.log.append((at_ns, FRAME_ENDED, 0, int(interval_ms * MS), int(busy_ms * MS)))
        self.at_ms = at_ms

    def reasons(self) -> list[str]:
        """Return what is said about the last call of the late timer."""
        history = LogHistory(self.log)
        return [each.text for each in explain(history, CallId(LATE), history.last_ns).reasons]


RUNNING = (
    "Frame 0 was still running when it was due: its callbacks took 50.0 ms, 40.0 ms of that in "
    "update{}."
)
BEFORE = "The timers of frame 1 took {} together; called before this one: {}."


@pytest.mark.parametrize(
    ("late_ms", "slow_ms", "timers_ms", "said"),
    [
        (30, 0, 0, [RUNNING.format("")]),
        # A member is named from half of the time on.
        (30, 25, 0, [RUNNING.format(", mainly “slow” (25.0 ms)")]),
        (30, 24.9, 0, [RUNNING.format("")]),
        (50, 0, 20, [RUNNING.format(""), BEFORE.format("20.0 ms", "“other”")]),
        # Half of the delay or less is not worth a sentence of its own.
        (100, 0, 20, [RUNNING.format(""), BEFORE.format("20.0 ms", "“other”")]),
        (
            101,
            0,
            20,
            [
                RUNNING.format(""),
                BEFORE.format("20.0 ms", "“other”"),
                "For the remaining 51.0 ms, it is not known what kept the thread.",
            ],
        ),
        # The time of timers below a millisecond is not blamed.
        (30, 0, 0.999, [RUNNING.format("")]),
    ],
)
def test_that_a_delay_is_divided_between_a_frame_the_timers_before_and_the_rest(
    late_ms: float, slow_ms: float, timers_ms: float, said: Sequence[str]
) -> None:
    frames = Frames()
    frames.frame(100, update_ms=40, draw_ms=10, slow_ms=slow_ms)
    read_ms = 120 + late_ms
    others = ((OTHER, 119, read_ms - timers_ms - 119),) if timers_ms else ()
    frames.frame(read_ms, *others, (LATE, 120, late_ms), timers_ms=timers_ms)

    fired, late, *delayed, _set = frames.reasons()
    assert fired == "It fired at 0:00.120, in frame 1: a timeout fires only once."
    assert late == f"It was called {format_duration(int(late_ms * MS))} late."
    assert delayed == said


def test_that_timers_of_the_frame_before_are_blamed_for_what_they_took_since_it_was_due() -> None:
    frames = Frames()
    frames.frame(100, (QUICK, 95, 4.9), (OTHER, 100, 0), timers_ms=60)
    frames.frame(160, (LATE, 120, 40))

    _fired, _late, *delayed, _set = frames.reasons()

    assert delayed == [BEFORE.format("60.0 ms", "“other”").replace("frame 1", "frame 0")]


@pytest.mark.parametrize(
    ("without_ms", "said"),
    [
        (
            [3, 10],
            " “quick” is the likely cause: in frames without it, the others took at most 10.0 ms.",
        ),
        # They may have had more than half of the time.
        ([3, 10.001], ""),
        ([], ""),
    ],
)
def test_that_a_timer_without_which_the_others_are_fast_is_the_likely_cause(
    without_ms: list[float], said: str
) -> None:
    frames = Frames()
    for timers_ms in without_ms:
        frames.frame(frames.at_ms + 30, (OTHER, frames.at_ms + 30, 0), timers_ms=timers_ms)
    frames.frame(120, (QUICK, 120, 0), (OTHER, 120, 0), timers_ms=20)
    frames.frame(140, (LATE, 120, 20))

    _fired, _late, blamed, _set = frames.reasons()

    frame = f"frame {len(without_ms)}"
    before = BEFORE.format("20.0 ms", "“quick” and “other”").replace("frame 1", frame)
    assert blamed == before + said


@pytest.mark.parametrize(
    ("late_ms", "said"),
    [
        (1, "It was called twice in frame 1: it caught up on missed ticks, as the policy “burst”"),
        (0.999, "It was called twice in frame 1: its interval of 4.00 ms local time fits into"),
    ],
)
def test_that_calls_in_one_frame_are_catching_up_from_a_millisecond_on(
    late_ms: float, said: str
) -> None:
    frames = Frames(interval_ms=4)
    frames.frame(100)
    for due_ms in (120, 124):
        fired = (due_ms * MS, TIMER_FIRED, LATE, int(late_ms * MS), (due_ms + 4) * MS)
        frames.log.append(fired)
    frames.frame(125)

    assert [text.startswith(said) for text in frames.reasons()].count(True) == 1
