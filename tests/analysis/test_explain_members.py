"""Why a call of a scheduler, a component or a machine is not made."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.analysis.evidence import Explanation, Reason
from inspector.analysis.explain.blocker_reasons import ranked_blockers
from inspector.analysis.explain.explain import explain
from inspector.calls.blockers import Blocker, BlockerKind
from inspector.calls.call import CallId
from inspector.commands.clocks import PauseClock
from inspector.commands.members import PauseMember, SetTimeScale, UnscheduleMember
from inspector.engines.creator.versions import COMPONENT_DIALECTS, COMPONENTS_1_10
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.vocabulary import MEMBER_ADDED, MEMBER_REMOVED, MEMBER_SET

SCENE = """
    class Actor:
        def __init__(self, name):
            self.name = name
        def update(self, delta):
            pass
        def shoot(self, delta):
            pass
        def burst(self, delta):
            pass

    def build(stage):
        game = stage.root.child("game")
        scheduler = stage.scheduler(game, name="calls")
        one = Actor("one")
        scheduler.schedule_update(one)
        scheduler.schedule(one.shoot, 2)
        scheduler.schedule(one.burst, 0.5, repeat=1)
        stage.every_frame(lambda delta: None, phase="draw", name="paint")
"""


class Stand:
    """A hosted scene with a scheduler."""

    def __init__(self, folder: Path, more: str = "") -> None:
        self.session = virtual_session(scene_file(folder, SCENE + more))

    def run(self, seconds: float | Fraction) -> None:
        pass_seconds(self.session, seconds)
        self.session.refresh()

    def number(self, name: str) -> int:
        label = self.session.log.intern(name)
        return next(
            event[2]
            for event in self.session.log.read(0).events
            if event[1] == MEMBER_ADDED and event[4] == label
        )

    def explain(self, name: str) -> Explanation:
        at_ns = self.session.timeline.at_ns
        return explain(self.session.history, CallId(self.number(name), is_member=True), at_ns)

    def kinds(self, explanation: Explanation) -> list[int]:
        log = self.session.log
        return [
            log.slice(reason.cursor, reason.cursor + 1)[0][1]
            for reason in explanation.reasons
            if reason.cursor is not None
        ]


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    stand = Stand(tmp_path)
    yield stand
    stand.session.close()


def reason_with(explanation: Explanation, text: str) -> Reason:
    (found,) = [reason for reason in explanation.reasons if text in reason.text]
    return found


def texts(explanation: Explanation) -> str:
    return "\n".join(reason.text for reason in explanation.reasons)


def test_that_a_frame_timer_waits_for_a_time_of_its_scheduler(stand: Stand) -> None:
    stand.run(1)

    explanation = stand.explain("Actor.shoot")

    assert explanation.subject.startswith("Frame timer “Actor.shoot”")
    assert explanation.headline == (
        "It is due at 00:02.000 in the time of “calls”, which is at 00:01.000; 1.00 s remain. It "
        "is called in the first frame that reaches it."
    )
    assert reason_with(explanation, "It is due at").is_number


def test_that_an_update_is_called_in_every_frame(stand: Stand) -> None:
    stand.run(1)

    explanation = stand.explain("Actor.update")

    assert explanation.headline == "It is called in every frame."
    assert "It was called 60 times, the last time in frame 59; that took " in texts(explanation)


def test_that_a_paused_target_is_named_with_the_command(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(PauseMember(stand.number("one")))
    stand.run(1)

    explanation = stand.explain("Actor.update")

    assert explanation.headline.startswith("It is not called: its target “one” has been paused")
    assert explanation.headline.endswith("by command 1 (pause “one”).")
    assert stand.kinds(explanation)[0] == MEMBER_SET


def test_that_a_paused_call_and_a_paused_clock_are_both_told(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(PauseMember(stand.number("Actor.shoot")))
    game = next(c.id for c in stand.session.timeline.clocks.values() if c.name == "game")
    stand.session.submit(PauseClock(game))
    stand.run(1)

    explanation = stand.explain("Actor.shoot")

    assert "It has been paused since frame 60, by command 1" in texts(explanation)
    assert "You paused “game”." in texts(explanation)
    assert "1.00 s of its time remained when it was paused." in texts(explanation)


def test_that_what_decides_about_a_frame_timer_is_told_with_what_is_left_and_skipped(
    tmp_path: Path,
) -> None:
    stand = Stand(
        tmp_path,
        """
        few = stage.scheduler(game, name="few", max_calls_per_frame=1)
        few.schedule(one.burst, 0.01, name="skips")
        few.schedule(one.shoot, 5, name="skips none")
    """,
    )
    stand.run(Fraction(1, 4))
    assert "time scale" not in texts(stand.explain("Actor.burst"))
    stand.session.submit(SetTimeScale(stand.number("calls"), Fraction(1, 2)))
    stand.run(Fraction(1, 60))

    *_, due, scale, left = stand.explain("Actor.burst").reasons
    *_, skipped = stand.explain("skips").reasons

    assert due.text.startswith("It is due at 00:00.500 in the time of “calls”, which is at 00:00.2")
    assert scale.text == "The time scale of “calls” is 0.5."
    assert scale.member_id == stand.number("calls")
    assert left.text == "2 calls are left."
    assert skipped.text == "10 calls have been skipped so far."
    assert "left" not in texts(stand.explain("Actor.shoot"))
    assert "skipped so far" not in texts(stand.explain("skips none"))
    stand.run(Fraction(3, 4))
    assert stand.explain("Actor.burst").reasons[-1].text == "1 call is left."
    stand.session.close()


def test_that_a_time_scale_of_zero_is_told(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(SetTimeScale(stand.number("calls"), Fraction(0)))
    stand.run(1)

    explanation = stand.explain("Actor.shoot")

    assert explanation.headline == "It is not called: the time scale of “calls” is 0."
    reason = reason_with(explanation, "time scale")
    assert stand.kinds(explanation)[0] == MEMBER_SET
    assert stand.session.log.slice(reason.cursor or 0, stand.session.log.end)[0][0] == reason.at_ns


def test_that_calls_that_are_used_up_are_told_from_what_was_unscheduled(stand: Stand) -> None:
    stand.run(2)
    stand.session.submit(UnscheduleMember(stand.number("Actor.shoot")))
    stand.run(1)

    used, taken = stand.explain("Actor.burst"), stand.explain("Actor.shoot")

    assert used.headline == "It has no calls left."
    assert taken.headline.startswith("It was removed by command 1 (unschedule “Actor.shoot”)")
    assert stand.kinds(used) == stand.kinds(taken) == [MEMBER_REMOVED]


def test_that_a_timer_with_one_call_left_that_is_unscheduled_was_not_used_up(
    stand: Stand,
) -> None:
    stand.run(Fraction(3, 4))
    stand.session.submit(UnscheduleMember(stand.number("Actor.burst")))
    stand.run(1)

    # Its neighbours are called in the frame in which it is removed.
    assert stand.explain("Actor.burst").headline.startswith("It was removed by command 1")


def test_that_who_unscheduled_is_known_by_the_form_of_the_command_whatever_its_words(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UnscheduleMember, "sentence", lambda *_: "take it out")
    stand.run(1)
    stand.session.submit(UnscheduleMember(stand.number("Actor.shoot")))
    stand.run(1)

    headline = stand.explain("Actor.shoot").headline
    assert headline.startswith("It was removed by command 1 (take it out)")


def test_that_a_member_goes_with_its_target(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(UnscheduleMember(stand.number("one")))
    stand.run(1)

    explanation = stand.explain("Actor.update")

    assert "was removed" in texts(explanation)


@pytest.mark.parametrize("kind", [each for each in BlockerKind if each != BlockerKind.LIFE_CYCLE])
def test_that_a_headline_names_a_life_cycle_after_all_that_stops_it(kind: BlockerKind) -> None:
    life, other = Blocker(BlockerKind.LIFE_CYCLE, "Fox"), Blocker(kind, "game")
    call: Any = SimpleNamespace(blockers=(life, other))

    assert ranked_blockers(call) == [other, life]


def test_that_a_member_that_went_with_its_clock_names_the_clock(tmp_path: Path) -> None:
    more = """
        for at in (0.5, 0.6):
            stage.root.set_timeout(at, stage.root.child("other").remove)
        stage.root.set_timeout(1, game.remove)
    """
    stand = Stand(tmp_path, more)
    stand.run(2)

    explanation = stand.explain("Actor.shoot")

    assert explanation.headline == "It was removed with its clock."
    assert "It no longer exists because “game” was removed by the program" in texts(explanation)


def test_that_a_member_that_never_was_is_said_to_be_so(stand: Stand) -> None:
    stand.run(1)

    explanation = explain(
        stand.session.history, CallId(999, is_member=True), stand.session.timeline.at_ns
    )

    assert explanation.headline == "This session never had a member of this number."


def test_that_a_held_session_is_told(stand: Stand) -> None:
    stand.run(1)
    stand.session.hold()
    stand.session.refresh()

    assert "The session is held: nothing is called" in texts(stand.explain("Actor.update"))


def test_that_a_machine_says_its_state_and_an_edge_whether_it_leads_away(tmp_path: Path) -> None:
    session = virtual_session(
        scene_file(
            tmp_path,
            """
            from inspector.frames.state_machine import Edge

            def build(stage):
                edges = {"start": Edge("menu", "playing"), "stop": Edge("playing", "menu")}
                machine = stage.state_machine("menu", edges, name="flow")
                stage.root.set_timeout(1, machine.go, "start")
            """,
        )
    )
    pass_seconds(session, 2)
    session.refresh()
    numbers = {member.name: member.id for member in session.timeline.members.by_id.values()}

    machine, start, stop = (
        explain(session.history, CallId(numbers[name], is_member=True), session.timeline.at_ns)
        for name in ("flow", "start", "stop")
    )

    assert machine.reasons[0].text == "It is in the state “playing”, by “start”."
    assert start.headline == (
        "It is not possible: it leaves “menu”, and the machine is in “playing”."
    )
    assert stop.headline == "It is possible: the machine is in “playing”, which it leaves."
    assert stop.reasons[0].text == "The machine is in the state “playing”, by “start”."
    assert stop.reasons[0].cursor == machine.reasons[0].cursor
    session.close()


def test_that_what_is_called_in_every_frame_does_not_wait_for_the_root(stand: Stand) -> None:
    stand.session.submit(PauseClock(1))
    stand.run(1)

    explanation = stand.explain("paint")

    assert "It is called in every frame." in texts(explanation)
    assert "No time passes" not in texts(explanation)


VERSIONS = """
    from dataclasses import replace

    from inspector.engines.creator.components import Component
    from inspector.engines.creator.versions import COMPONENTS_1_10, COMPONENTS_2_4


    class Fox(Component):
        def start(self):
            pass

        def update(self, delta):
            pass


    class Den(Component):
        def update(self, delta):
            if len(self.node.components) == 1:
                self.node.add_component(Fox())


    def build(stage):
        fork = replace(COMPONENTS_1_10, name="fork-1", title="A fork")
        for dialect in (COMPONENTS_1_10, COMPONENTS_2_4, fork):
            director = stage.component_director(dialect=dialect)
            director.node(dialect.name).add_component(Den())
"""


def test_that_a_component_that_waits_is_told_by_which_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = replace(COMPONENTS_1_10, name="fork-1", title="A fork")
    monkeypatch.setattr(COMPONENT_DIALECTS, "own", (*COMPONENT_DIALECTS.own, added))
    session = virtual_session(scene_file(tmp_path, VERSIONS))
    pass_seconds(session, Fraction(1, 60))
    session.refresh()
    at_ns = session.timeline.at_ns
    members = session.timeline.members.by_id
    foxes = [number for number, member in members.items() if member.name == "Fox"]

    headlines = [
        explain(session.history, CallId(fox, is_member=True), at_ns).headline for fox in foxes
    ]

    assert headlines == [
        (
            "It is enabled and starts in the next frame: "
            "Cocos Creator 1.10 starts components only when a frame begins."
        ),
        "Nothing keeps it waiting.",
        (
            "It is enabled and starts in the next frame: "
            "A fork starts components only when a frame begins."
        ),
    ]
    session.close()


def test_that_a_component_that_is_disabled_does_not_wait_by_any_rule(tmp_path: Path) -> None:
    scene = """
        from inspector.engines.creator.components import Component
        from inspector.engines.creator.versions import COMPONENTS_1_10

        class Fox(Component):
            def update(self, delta):
                pass

        def build(stage):
            director = stage.component_director(dialect=COMPONENTS_1_10)
            den = director.node("den")
            den.add_component(Fox())
            stage.root.set_timeout(0.1, lambda: setattr(den, "active", False))
    """
    session = virtual_session(scene_file(tmp_path, scene))
    pass_seconds(session, 1)
    session.refresh()
    members = session.timeline.members.by_id
    (fox,) = [number for number, member in members.items() if member.name == "Fox"]

    explanation = explain(session.history, CallId(fox, is_member=True), session.timeline.at_ns)

    assert "It is disabled, or its node is not active." in texts(explanation).splitlines()
    session.close()


LOOP = """
    from inspector.frames.loop import start_loop

    def build(stage):
        game = stage.root.child("game", "1/2")
        start_loop(game, 0.25, lambda: None, name="physics")
        stage.root.set_timeout(2, lambda: start_loop(game, 1, lambda: None, name="late"))
"""


def test_that_a_loop_is_explained_like_a_timer(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, LOOP))
    pass_seconds(session, 1)
    session.refresh()
    numbers = {member.name: member.id for member in session.timeline.members.by_id.values()}
    physics = CallId(numbers["physics"], is_member=True)

    waiting = explain(session.history, physics, session.timeline.at_ns)
    session.submit(PauseClock(session.timeline.members.by_id[physics.number].clock_id))
    pass_seconds(session, 1)
    session.refresh()
    stopped = explain(session.history, physics, session.timeline.at_ns)

    assert waiting.headline == ("Is called in 7.00 s, at 0:08.000, if rates stay as they are.")
    assert "“game” runs at ×½ since it was created." in texts(waiting)
    assert stopped.headline == "Its time stands still: you paused game 983 ms ago."
    assert "It is called 6.98 s after “game” is resumed." in texts(stopped)
    session.close()


def test_that_a_call_that_is_scheduled_later_is_said_to_be_so(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, LOOP))
    pass_seconds(session, 3)
    session.refresh()
    late = next(each.id for each in session.timeline.members.by_id.values() if each.name == "late")

    explanation = explain(session.history, CallId(late, is_member=True), 1_000_000_000)

    assert explanation.subject == f"Loop “late” ({late})"
    assert explanation.headline == (
        "At 0:01.000 this member does not exist yet: it is set at 0:02.000."
    )
    session.close()
