"""The names that a breakpoint can watch, and the warning about unknown names."""

import pytest

from inspector.clocks.tree import ClockTree
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from inspector.sessions.breakpoints.names import doubt_about, names_to_choose


def _nothing(*_: object) -> None:
    """Be called."""


@pytest.fixture
def scene() -> Timeline:
    """A clock, two timers, a scheduler's timer and a machine."""
    log = EventLog()
    tree = ClockTree(log)
    clock = tree.root.child("enemies")
    clock.set_interval(1, _nothing, name="boss")
    clock.set_timeout(0.01, _nothing, name="start")
    Scheduler(clock).schedule(_nothing, 0.5, name="spawn")
    StateMachine("closed", {"push": Edge("closed", "open")}, clock=clock, name="door")
    tree.run_to(20_000_000)
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    return timeline


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (BreakKind.TIMER_FIRES, ["boss", "spawn"]),
        (BreakKind.LATENESS_ABOVE, ["boss", "spawn"]),
        (BreakKind.CLOCK_PAUSED, ["enemies", "root"]),
        (BreakKind.RATE_CHANGED, ["enemies", "root"]),
        (BreakKind.STATE_ENTERED, ["closed", "open"]),
        (BreakKind.FRAME_ABOVE, []),
    ],
)
def test_that_each_kind_offers_what_it_can_look_out_for(
    scene: Timeline, kind: BreakKind, names: list[str]
) -> None:
    timeline = scene

    assert names_to_choose(kind, timeline) == names


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (BreakKind.TIMER_FIRES, "", ""),
        (BreakKind.TIMER_FIRES, "boss", ""),
        # It has fired and is gone, but somebody was called that.
        (BreakKind.TIMER_FIRES, "start", ""),
        (
            BreakKind.TIMER_FIRES,
            "Bos",
            (
                "No timer has had the name “Bos” so far; the breakpoint waits for it. Did you mean "
                "“boss”?"
            ),
        ),
        (
            BreakKind.STATE_ENTERED,
            "burning",
            "No state has had the name “burning” so far; the breakpoint waits for it.",
        ),
    ],
)
def test_that_a_never_used_name_causes_a_warning(
    scene: Timeline, kind: BreakKind, name: str, said: str
) -> None:
    timeline = scene

    assert doubt_about(Breakpoint(kind, name), timeline) == said
