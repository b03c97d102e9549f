"""Every command, and a new one: in words, applied, undone, previewed, journaled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from inspector.analysis.intervention_list import InterventionList
from inspector.analysis.predict.command_preview import preview
from inspector.clocks.failures import FailurePolicy
from inspector.commands.clocks import ClockCommand
from inspector.commands.command import (
    COMMANDS,
    Action,
    BadCommand,
    Capability,
    ClockEffect,
    Command,
    Target,
    command_in,
    usable,
)
from inspector.commands.scene import Reload, StepBack, Undo
from inspector.commands.transport import Step, StepFrames
from inspector.commands.values import VALUE_KINDS, ValueKind, value_kinds
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.events.timeline import Timeline
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import (
    AppliedCommand,
    CommandPlace,
    Journal,
    command_form,
    events_to_run_again,
)
from inspector.testing import held_session, scene_file
from inspector.vocabulary import CLOCK_RATE
from tests.fuzz import rounds

SCENE = """
    from inspector.frames.state_machine import Edge

    def build(stage):
        game = stage.root.child("game", rate="1/2")
        game.set_timeout(1, lambda: None, name="wave")
        scheduler = stage.scheduler(game, name="combat")
        scheduler.schedule(lambda delta: None, 0.5, name="shoot")
        stage.state_machine("calm", {"x": Edge("calm", "angry")}, clock=game, name="boss")
"""
GAME = 2
#: Small numbers that are something's number, and such as nothing has.
NUMBERS = st.sampled_from([-(2**63), -1, 0, 1, 2, 3, 7, 2**62])
VALUES: dict[ValueKind, st.SearchStrategy[Any]] = {
    VALUE_KINDS[int]: NUMBERS,
    VALUE_KINDS[bool]: st.booleans(),
    VALUE_KINDS[str]: st.sampled_from(["", "x", "a “b” & ç\n"]),
    VALUE_KINDS[Fraction]: st.fractions(-1, 4),
    VALUE_KINDS[FailurePolicy]: st.sampled_from(FailurePolicy),
    VALUE_KINDS[Breakpoint]: st.builds(
        Breakpoint,
        kind=st.just(BreakKind.TIMER_FIRES),
        subject=st.sampled_from(["", "wave"]),
        action=st.sampled_from(BreakAction),
        is_once=st.booleans(),
    ),
}
KINDS = sorted(COMMANDS.values(), key=lambda kind: kind.__name__)


def commands(kind: type[Command], path: str = "") -> st.SearchStrategy[Command]:
    values = {name: VALUES[of] for name, of in value_kinds(kind).items()}
    if "path" in values:
        values["path"] = st.just(path)
    return st.builds(kind, **values)


def last_of(session: HostedSession, command: Command) -> tuple[str, str, int, str]:
    session.submit(command)
    session.refresh()
    record = session.timeline.commands[-1]
    return record.text, record.refusal, record.clock_id, record.form


@given(st.data())
def test_that_every_command_comes_back_from_a_journal(data: st.DataObject) -> None:
    command = data.draw(st.sampled_from(KINDS).flatmap(commands))

    form = command_form(AppliedCommand(command, CommandPlace.AT_ONCE))

    assert usable(command) is command
    assert command_in(form) == command
    assert command_form(AppliedCommand(command_in(form) or Reload(), CommandPlace.AT_ONCE)) == form


@given(st.data())
def test_that_every_command_refuses_every_value_of_another_kind(data: st.DataObject) -> None:
    command = data.draw(st.sampled_from(KINDS).flatmap(commands))
    kind: Any = type(command)
    for name, of in value_kinds(kind).items():
        good = {each: getattr(command, each) for each in value_kinds(kind)}
        refused = usable(kind(**good | {name: [1]}))

        assert isinstance(refused, BadCommand)
        assert refused.refusal == f"“{name.replace('_', ' ')}” must be {of.text}, not [1]."
        assert refused.as_values() == {"command": kind.__name__, "is_bad": True}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=len(rounds(10)))
@given(data=st.data())
def test_that_every_command_is_done_or_refused_in_words_and_can_be_undone_if_it_says_so(
    kind: type[Command], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("scene")
    session = held_session(scene_file(folder, SCENE))
    session.submit(StepFrames(2))
    session.refresh()
    command = data.draw(commands(kind, str(folder / "a.tlrec")))
    timeline = session.timeline
    assert timeline.clocks
    sentence = command.sentence(timeline)
    clock_id = command.clock_about(timeline)

    text, refusal, about, form = last_of(session, command)

    assert command.capability in session.capabilities
    assert (text, about) == (sentence, clock_id)
    assert about == 0 or about in timeline.clocks
    assert refusal == "" or refusal.endswith((".", "?"))
    assert isinstance(command, Reload) or command_in(form) == command
    number = session.timeline.commands[-1].number
    assert session.undoing is not None
    if session.undoing.of(number) is not None:
        assert last_of(session, Undo(number))[1] == ""
    session.close()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=len(rounds(10)))
@given(data=st.data())
def test_that_what_every_command_would_do_to_timers_is_what_it_does(
    kind: type[Command], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("scene")
    session = held_session(scene_file(folder, SCENE))
    session.refresh()
    command = data.draw(commands(kind, str(folder / "a.tlrec")))

    foreseen = preview(session.timeline, command)
    refusal = last_of(session, command)[1]

    if foreseen is not None:
        assert refusal == ""
        assert foreseen.sentence
        for each in foreseen:
            if not each.call.is_member:
                due_ns = session.timeline.session_due_ns(each.call.number)
                assert due_ns == each.new_ns
    session.close()


@pytest.fixture
def scale_rate() -> Iterator[Callable[..., Command]]:
    """Return a command that nothing knows but this test."""

    class ScaleRate(ClockCommand, frozen=True):
        words: ClassVar = "make {subject} {factor} times as fast"
        capability: ClassVar = Capability.RATE

        factor: Fraction = Fraction(2)

        @override
        def prepare(self, target: Target, number: int) -> Action:
            clock = self.clock(target)
            return lambda: clock.set_rate(Fraction(clock.rate) * self.factor, cause=number)

        @override
        def inverse(self, target: Target) -> Command:
            return ScaleRate(self.clock_id, 1 / self.factor)

        @override
        def effect(self, timeline: Timeline) -> ClockEffect:
            clock = timeline.clocks[self.clock_id]
            rate_n = int(clock.rate_n * self.factor)
            event = timeline.at_ns, CLOCK_RATE, self.clock_id, rate_n, 0
            return ClockEffect(f"Scaling “{clock.name}”", self.clock_id, event)

    yield ScaleRate
    del COMMANDS["ScaleRate"]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    session = held_session(scene_file(tmp_path, SCENE))
    session.submit(StepFrames(2))
    session.refresh()
    yield session
    session.close()


def test_that_a_new_command_is_done_undone_and_listed(
    session: HostedSession, scale_rate: Callable[..., Command]
) -> None:
    text, refusal, about, form = last_of(session, scale_rate(GAME))

    assert (text, refusal, about) == ("make “game” 2 times as fast", "", GAME)
    assert form == '{"command": "ScaleRate", "clock_id": 2, "factor": "2"}'
    assert session.timeline.clocks[GAME].rate == 1
    session.submit(Undo(2))
    session.refresh()
    assert session.timeline.clocks[GAME].rate == Fraction(1, 2)
    entries = InterventionList(session.timeline)
    entries.add_new()
    assert entries.entries[1].outcome == "undone by 3"
    assert entries.entries[1].command == scale_rate(GAME)


def test_that_a_new_command_is_previewed(
    session: HostedSession, scale_rate: Callable[..., Command]
) -> None:
    foreseen = preview(session.timeline, scale_rate(GAME))
    last_of(session, scale_rate(GAME))

    assert foreseen is not None
    assert foreseen.sentence.startswith("Scaling “game”: 2 timers would fire ")
    (wave,) = (each for each in foreseen if not each.call.is_member)
    assert session.timeline.session_due_ns(wave.call.number) == wave.new_ns


def test_that_a_new_command_is_done_again_when_the_scene_goes_back(
    session: HostedSession, scale_rate: Callable[..., Command]
) -> None:
    session.submit(scale_rate(GAME))
    session.submit(StepFrames(3))
    assert last_of(session, StepBack(2))[1] == ""

    assert session.timeline.frames.end == 3
    assert session.timeline.clocks[GAME].rate == 1
    events = events_to_run_again(session.history)
    journal = Journal.from_events(events, session.log.strings)
    applied = [journal.entry(place).applied for place in range(len(journal))]
    assert scale_rate(GAME) in [each.command for each in applied if each is not None]


def test_that_a_new_command_is_checked_like_every_other(
    session: HostedSession, scale_rate: Callable[..., Command]
) -> None:
    assert last_of(session, scale_rate(99))[1] == "There is no clock 99 any more."
    refusal = last_of(session, scale_rate(GAME, "fast"))[1]
    assert refusal == "“factor” must be a usable number, not 'fast'."


def test_that_a_command_that_lacks_what_it_does_is_refused_where_it_is_defined() -> None:
    with pytest.raises(TypeError, match=r"^The command Skip has no action\(\)\.$"):

        class Skip(Step, frozen=True):
            words: ClassVar = "skip"

    assert "Skip" not in COMMANDS
