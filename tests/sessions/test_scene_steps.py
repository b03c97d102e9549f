"""Steps of a scene: which are refused, with which sentence, and where the others end."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from inspector.clocks import ManualTimeSource
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.commands.command import Action
from inspector.commands.transport import MAX_STEP_FRAMES
from inspector.errors import CommandError
from inspector.frames.director import Director
from inspector.sessions.stepping import SceneSteps
from inspector.timebase import MAX_NS

PERIOD_NS = 10


class Stand:
    """A held scene with a frame each 10 ns."""

    def __init__(self) -> None:
        self.tree = ClockTree()
        self.transport = Transport(self.tree, ManualTimeSource())
        self.transport.frame_period_ns = PERIOD_NS
        self.director = Director(self.tree.root)
        self.transport.on_frame = self.run_frame
        self.steps = SceneSteps(self.tree, self.transport, self.director)
        self.frames: list[int] = []

    def run_frame(self, interval_ns: int, cut_ns: int) -> None:
        self.frames.append(self.tree.now_ns)
        self.director.run_frame(interval_ns, cut_ns, 0, None)

    def take(self, action: Action) -> int:
        """Take a step to its end; returns its turns."""
        turns = action()
        assert isinstance(turns, Generator)
        return len(list(turns))


@pytest.fixture
def stand() -> Stand:
    return Stand()


def test_that_steps_end_at_frames_or_at_instants_between_them(stand: Stand) -> None:
    steps, tree = stand.steps, stand.tree
    assert stand.take(steps.frames(2)) == 2
    assert (stand.frames, tree.now_ns) == ([10, 20], 20)
    assert stand.take(steps.by(15)) == 1
    assert (stand.frames, tree.now_ns) == ([10, 20, 30], 35)
    assert stand.take(steps.to(35)) == 0
    assert stand.take(steps.to(60)) == 2
    assert (stand.frames, tree.now_ns) == ([10, 20, 30, 40, 50, 60], 60)

    tree.root.set_timeout_ns(25, lambda: None)
    stand.take(steps.to_next_timer())
    assert (stand.frames[6:], tree.now_ns) == ([70, 80], 85)


def test_that_a_step_ends_where_the_scene_is_halted(stand: Stand) -> None:
    stand.tree.root.set_timeout_ns(15, stand.tree.halt)
    assert stand.take(stand.steps.frames(5)) == 1
    assert stand.tree.now_ns == 15
    stand.tree.root.set_timeout_ns(15, stand.tree.halt)
    assert stand.take(stand.steps.to(100)) == 1
    assert stand.tree.now_ns == 30


def test_that_time_does_not_run_backwards(stand: Stand) -> None:
    stand.transport.frame_period_ns = None
    stand.take(stand.steps.by(2_000_000))
    stand.steps.to(2_000_000)
    with pytest.raises(CommandError) as refusal:
        stand.steps.to(1_999_999)
    assert str(refusal.value) == (
        "0:00.001 has passed (it is 0:00.002) and time does not run backwards. Reload the scene to "
        "start again."
    )


def test_that_steps_are_refused_that_take_too_long(stand: Stand) -> None:
    longest_ns = MAX_STEP_FRAMES * PERIOD_NS
    stand.steps.by(longest_ns)
    with pytest.raises(CommandError) as refusal:
        stand.steps.to(longest_ns + PERIOD_NS)
    assert str(refusal.value).startswith(
        f"That would take {MAX_STEP_FRAMES + 1:,} frames. A step is at most {MAX_STEP_FRAMES:,} "
        "frames, "
    )
    with pytest.raises(CommandError):
        stand.steps.by(longest_ns + 1)
    with pytest.raises(CommandError, match="beyond the 146 years that a session can last"):
        stand.steps.by(MAX_NS + 1)
    stand.transport.frame_period_ns = None
    stand.steps.by(MAX_NS)


def test_that_why_no_timer_is_next_names_what_is_paused(stand: Stand) -> None:
    def refused() -> str:
        with pytest.raises(CommandError) as refusal:
            stand.steps.to_next_timer()
        return str(refusal.value)

    assert refused() == "No timer is pending, so there is none to step to."
    clocks = [stand.tree.root.child(name) for name in ("a", "b", "c", "d", "e")]
    for clock in clocks[:-1]:
        clock.set_timeout(1, print)
        clock.pause()
        if clock is clocks[0]:
            assert refused() == (
                "1 timer waits, but none can fire because “a” is paused or at rate 0. Resume a "
                "branch first."
            )
    # Nothing waits on the last.
    clocks[-1].pause()
    assert refused() == (
        "4 timers wait, but none can fire because “a”, “b”, “c” and 1 more are paused or at rate "
        "0. Resume a branch first."
    )
