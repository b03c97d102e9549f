"""Loops and open-flash's clocks say of themselves what they do."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.predict.command_preview import preview
from inspector.clocks import Clock
from inspector.commands.members import PauseMember, ResumeMember
from inspector.engines.open_flash import OpenFlashClock
from inspector.frames.loop import OPEN_FLASH, OPEN_FLASH_ARTICLE, start_loop, start_loop_by
from inspector.frames.scheduler.controls import Pausable, Unschedulable
from inspector.vocabulary import NEVER, EventKind, Field, MemberKind
from tests.frames.recorded import MS, Recorded


class World(Recorded):
    """A recorded tree driven by hand."""

    def advance(self, milliseconds: float) -> None:
        self.tree.run_to(self.tree.now_ns + int(milliseconds * MS))

    def field(self, name: str, field: Field) -> int | None:
        return self.called(name).fields.get(field)


@pytest.fixture
def world() -> World:
    return World()


def test_that_a_loop_is_one_member_however_often_it_ticks(world: World) -> None:
    start_loop(world.clock, 100, lambda: None, name="physics", missed="skip")

    world.advance(1000)

    member = world.called("physics")
    assert world.tree_text() == ["loop: physics"]
    assert member.calls == 100
    assert member.fields[Field.INTERVAL] == 10 * MS
    assert member.fields[Field.DUE] == 1010 * MS
    assert world.text("physics", Field.RULES) == "missed ticks: skip"
    assert not len(world.timeline.timers)
    assert not world.of_kind(EventKind.TIMER_ADDED)
    assert not world.of_kind(EventKind.TIMER_FIRED)


def test_that_a_loop_counts_what_it_left_out(world: World) -> None:
    start_loop(world.clock, 100, lambda: None, name="physics", missed="skip")

    world.tree.jump_to(55 * MS)
    world.advance(0)

    assert world.field("physics", Field.MISSED) == 4
    assert world.field("physics", Field.DUE) == 60 * MS


def test_that_a_loop_that_is_stopped_is_gone_and_one_that_starts_again_is_back(
    world: World,
) -> None:
    loop = start_loop(world.clock, 100, lambda: None, name="physics")
    assert isinstance(world.tree.members.find(loop.number), Unschedulable)

    assert loop.unschedule()
    assert world.tree_text() == []
    assert not loop.unschedule()
    loop.start()
    world.advance(10)

    assert world.called("physics").calls == 1


def test_that_a_tick_that_raises_is_a_call_and_a_failure_of_no_timer(world: World) -> None:
    def fail() -> None:
        raise ValueError

    world.tree.on_failure = lambda _failure: None
    start_loop(world.clock, 100, fail, name="physics")

    world.advance(10)

    assert world.called("physics").calls == 1
    (failed,) = world.of_kind(EventKind.CALLBACK_FAILED)
    assert failed[2] == 0
    assert world.log.strings[failed[3]] == "physics"


def test_that_a_child_clock_has_its_timeouts_loops_and_clocks_below_it(world: World) -> None:
    game = OpenFlashClock(world.clock, name="player")
    inner = OpenFlashClock(game, name="movie", is_corrected=True)
    game.set_timeout_ns(50 * MS, lambda: None, name="hint")
    inner.set_timeout_ns(30 * MS, lambda: None, name="fade")
    start_loop_by(inner, 10, lambda: None, OPEN_FLASH, name="frames")

    assert world.tree_text() == [
        "child clock: player",
        "  child clock: movie",
        "    timeout: fade",
        "    loop: frames",
        "  timeout: hint",
    ]
    assert world.text("player", Field.RULES) == "open-flash"
    assert world.text("movie", Field.RULES) == "open-flash, corrected"
    assert not len(world.timeline.timers)

    world.advance(60)

    assert world.tree_text() == ["child clock: player", "  child clock: movie", "    loop: frames"]
    assert len(world.of_kind(EventKind.CALL_ENDED)) == 2


def test_that_a_pause_of_a_child_clock_is_a_pause_and_nothing_is_cleared(world: World) -> None:
    game = OpenFlashClock(world.clock, name="player")
    inner = OpenFlashClock(game, name="movie")
    hint = game.set_timeout_ns(50 * MS, lambda: None, name="hint")
    inner.set_timeout_ns(30 * MS, lambda: None, name="fade")
    start_loop_by(inner, 10, lambda: None, OPEN_FLASH_ARTICLE, name="frames")
    world.advance(20)

    assert isinstance(world.tree.members.find(game.number), Pausable)
    assert game.pause()
    assert not game.pause()
    world.advance(500)

    assert world.called("player").is_paused
    assert not world.called("movie").is_paused
    assert [world.field(name, Field.REMAINING) for name in ("hint", "fade", "frames")] == [
        30 * MS,
        10 * MS,
        80 * MS,
    ]
    assert not world.of_kind(EventKind.TIMER_CLEARED)

    assert game.resume()
    assert not game.resume()

    assert not world.called("player").is_paused
    assert [world.field(name, Field.DUE) for name in ("hint", "fade", "frames")] == [
        550 * MS,
        530 * MS,
        600 * MS,
    ]
    assert game.clear(hint)
    assert "hint" not in world.names(MemberKind.TIMEOUT)


def test_that_a_timeout_set_while_paused_is_late_by_the_epoch_and_says_so(world: World) -> None:
    world.advance(100)
    game = OpenFlashClock(world.clock, name="player")
    game.pause()

    game.set_timeout_ns(50 * MS, lambda: None, name="hint")

    assert world.field("hint", Field.REMAINING) == 150 * MS
    game.resume()
    assert world.field("hint", Field.DUE) == 250 * MS


def test_that_pausing_a_child_clock_is_foreseen(world: World) -> None:
    game = OpenFlashClock(world.clock, name="player")
    game.set_timeout_ns(50 * MS, lambda: None, name="hint")
    world.advance(20)
    number = world.called("player").id
    world.timeline.set_present(world.tree.now_ns)

    paused = preview(world.timeline, PauseMember(number))
    assert paused is not None
    assert (list(paused.old_ns), list(paused.new_ns)) == ([50 * MS], [NEVER])

    game.pause()
    world.advance(100)
    world.called("player")
    world.timeline.set_present(world.tree.now_ns)
    resumed = preview(world.timeline, ResumeMember(number))
    assert resumed is not None
    assert (list(resumed.old_ns), list(resumed.new_ns)) == ([NEVER], [150 * MS])


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["pause", "resume", "set", "loop", "advance", "rate"]),
        st.integers(0, 2),
        st.integers(-5, 60),
    ),
    max_size=25,
)


class Player(World):
    """Three clocks, one below another, and when calls came and were said to come."""

    def __init__(self, *, is_corrected: bool) -> None:
        super().__init__()
        self.advance(7)
        self.came: list[tuple[str, int]] = []
        self.said: list[tuple[str, int]] = []
        self.clocks: list[OpenFlashClock] = []
        above: Clock | OpenFlashClock = self.clock
        for name in "abc":
            above = OpenFlashClock(above, name=name, is_corrected=is_corrected)
            self.clocks.append(above)

    def note(self, name: str) -> None:
        """Note a call, and its last reported due time."""
        added, dues = 0, [0]
        for _, kind, subject, a, b in self.events:
            if kind == EventKind.MEMBER_ADDED and self.log.strings[b] == name:
                added = subject
            elif kind == EventKind.MEMBER_SET and (subject, a) == (added, Field.DUE):
                dues.append(b)
        self.came.append((name, self.clock.time_ns))
        self.said.append((name, dues[-1]))

    def do(self, kind: str, number: int, value: int, name: str) -> None:
        clock, call = self.clocks[number], partial(self.note, name)
        match kind:
            case "pause":
                clock.pause()
            case "resume":
                clock.resume()
            case "set":
                clock.set_timeout_ns(max(0, value) * MS, call, name=name)
            case "loop":
                start_loop_by(clock, 20, call, OPEN_FLASH, name=name)
            case "advance":
                self.advance(max(0, value))
            case "rate":
                self.clock.rate = Fraction(1, 1 + number)


@given(OPERATIONS, st.booleans())
def test_that_every_call_comes_when_it_was_said_to(
    operations: list[tuple[str, int, int]], is_corrected: bool
) -> None:
    player = Player(is_corrected=is_corrected)

    for place, operation in enumerate(operations):
        player.do(*operation, name=str(place))
    for clock in player.clocks:
        clock.resume()
    player.advance(200)

    assert player.came == player.said
