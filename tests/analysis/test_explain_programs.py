"""What explanations say of timers of attached programs, by the events that a program tells."""

from __future__ import annotations

from inspector.analysis.evidence import Explanation
from inspector.analysis.explain.explain import explain
from inspector.calls.call import CallId
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.states import detached_text
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    MARK,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TRANSPORT,
    Mode,
    TimerKind,
)

MS = 1_000_000
TICK = 1


class Told:
    """What a program without frames has told."""

    def __init__(self, *, is_running: bool = True) -> None:
        self.log = EventLog()
        self.program, tick = (self.log.intern(text) for text in ("server", "tick"))
        self.add(0, CLOCK_ADDED, 1, 0, self.program)
        self.add(0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR)
        if is_running:
            self.add(0, TRANSPORT, Mode.RUNNING, 0, 0)
        self.add(10, TIMER_ADDED, TICK, 1, tick)
        self.add(10, TIMER_ORIGIN, TICK, 0, TimerKind.INTERVAL_DELAY)
        self.add(10, TIMER_ARMED, TICK, 110 * MS, 100 * MS)

    def add(self, at_ms: int, kind: int, *numbers: int) -> None:
        subject, a, b = numbers
        self.log.append((at_ms * MS, kind, subject, a, b))

    def explained(self, at_ms: int) -> Explanation:
        return explain(LogHistory(self.log), CallId(TICK), at_ms * MS)


def texts(explanation: Explanation) -> list[str]:
    return [reason.text for reason in explanation.reasons]


def test_that_a_late_call_has_not_passed_more_time_on_its_clock() -> None:
    """A program tells when it called, not when the timer was due."""
    told = Told()
    told.add(150, TIMER_FIRED, TICK, 40 * MS, 250 * MS)

    assert not any("session time has passed" in text for text in texts(told.explained(160)))


def test_that_instants_in_a_program_without_frames_are_told_by_the_time() -> None:
    told = Told()
    told.add(110, TIMER_FIRED, TICK, 0, NEVER)
    gone = told.explained(120)
    assert gone.reasons[0].text == "It fired at 0:00.110: a timeout fires only once."

    told = Told()
    told.add(110, TIMER_FIRED, TICK, 0, 210 * MS)
    told.add(120, CLOCK_PAUSED, 1, 0, 0)
    said = texts(told.explained(130))
    assert "It has fired once, the last time at 0:00.110, on time." in said
    assert any("paused" in text for text in said)
    assert not any("frame" in text for text in said)


def test_that_a_timer_of_a_program_that_was_killed_is_not_about_to_fire() -> None:
    told = Told()
    text = told.log.intern(detached_text("server", "it was killed"))
    told.add(150, MARK, 1, text, 0)
    told.add(150, CLOCK_PAUSED, 1, 0, 0)

    found = told.explained(200)
    assert found.headline.startswith("Nothing more is known of it")
    (killed,) = (reason for reason in found.reasons if "killed" in reason.text)
    assert (killed.at_ns, killed.cursor) == (150 * MS, told.log.end - 1)
    assert not any("fires" in text and "wake-up" in text for text in texts(found))


def test_that_no_program_is_held_that_nobody_has_held() -> None:
    """The session tells that it runs only once the program is described."""
    found = Told(is_running=False).explained(50)

    assert "held" not in found.headline
    assert not any("held" in text for text in texts(found))
