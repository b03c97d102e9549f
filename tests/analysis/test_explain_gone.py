"""Why a timer or a member no longer exists, with what took it away."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.analysis.explain.explain import explain
from inspector.calls.call import CallId
from inspector.commands.timers import ClearTimer
from inspector.vocabulary import CLOCK_REMOVED, MEMBER_ADDED, MEMBER_REMOVED
from tests.analysis.test_explain import Stand, reason_with, texts

REMOVED_ONE_BY_ONE = """
    def build(stage):
        for number in range(6):
            clock = stage.root.child(f"clock {number}")
            below = clock.child(f"below {number}")
            clock.set_timeout(100, lambda: None, name=f"on {number}")
            below.set_timeout(100, lambda: None, name=f"under {number}")
            stage.root.set_timeout(1 + number, clock.remove)
        stage.root.set_timeout(100, lambda: None, name="kept")
"""


def test_that_of_many_clocks_that_were_removed_its_own_is_named(tmp_path: Path) -> None:
    stand = Stand(tmp_path, REMOVED_ONE_BY_ONE)
    stand.run(10)

    for number in range(6):
        own, above = stand.explain(f"on {number}"), stand.explain(f"under {number}")
        assert own.headline == above.headline == "It was removed with its branch."
        because = f"It no longer exists because “clock {number}”"
        when = f"at 0:0{number + 1}.000 (frame {60 * (number + 1) - 1})."
        assert own.reasons[0].text == f"{because} was removed by the program, {when}"
        assert above.reasons[0].text == (
            f"{because}, above its clock, was removed by the program, {when}"
        )
        assert stand.kind_of(own.reasons[0]) == CLOCK_REMOVED
    assert stand.explain("kept").headline.startswith("Fires in 90.0 s")
    stand.session.close()


@pytest.mark.parametrize(
    ("again", "named"), [(0, False), (1, True), (2, False)], ids=["none", "one", "two"]
)
def test_that_the_only_timer_of_the_same_name_and_clock_goes_on(
    tmp_path: Path, again: int, *, named: bool
) -> None:
    stand = Stand(
        tmp_path,
        f"""
    def build(stage):
        game = stage.root.child("game")
        game.set_timeout(1, lambda: None, name="wave")
        for number in range({again}):
            game.set_timeout(5, lambda: None, name="wave")
        stage.root.set_timeout(5, lambda: None, name="wave")
        game.set_timeout(5, lambda: None, name="other")
    """,
    )
    stand.run(2)

    explanation = stand.explain("wave")

    assert explanation.headline == "It has fired and is no longer pending."
    second = stand.timers("wave")[1]
    text = f"Another timer of the same name is pending: {second}."
    assert (text in texts(explanation)) == named
    if named:
        assert reason_with(explanation, text).timer_id == second
    stand.session.close()


def test_that_a_timer_that_was_cleared_by_a_command_is_told_with_the_frame(tmp_path: Path) -> None:
    stand = Stand(tmp_path)
    stand.run(1)
    number = stand.timers("boss")[0]
    stand.session.submit(ClearTimer(number))
    stand.run(1)

    explanation = stand.explain("boss")

    assert explanation.headline == "It was cleared."
    assert explanation.reasons[0].text.startswith("It was cleared by command 1 (clear “boss”), at ")
    assert explanation.reasons[0].frame is not None
    stand.session.close()


MEMBERS = """
    class Actor:
        def __init__(self, name):
            self.name = name
        def shoot(self, delta):
            pass

    def build(stage):
        game = stage.root.child("game")
        scheduler = stage.scheduler(game, name="calls")
        one, two, three, four = (Actor(name) for name in ("one", "two", "three", "four"))
        four.shoot = lambda _delta: scheduler.unschedule(four.shoot, target=four)
        scheduler.schedule(four.shoot, 0.5, target=four)
        scheduler.schedule(one.shoot, 0.5, target=one)
        scheduler.schedule(two.shoot, 0.5, target=two, repeat=1)
        scheduler.schedule(three.shoot, 0.5, target=three)
        stage.root.set_timeout(1.25, lambda: scheduler.unschedule(one.shoot, target=one))
        stage.root.set_timeout(3, game.remove)
"""


def member_explained(stand: Stand, target: str) -> tuple[str, list[str], int]:
    """Return headline and reasons of the call of a target, and the kind of the first event."""
    log = stand.session.log
    added = [each for each in log.read(0).events if each[1] == MEMBER_ADDED]
    above = next(each[2] for each in added if log.strings[each[4]] == target)
    number = next(each[2] for each in added if each[3] == above)
    found = explain(
        stand.session.history, CallId(number, is_member=True), stand.session.timeline.at_ns
    )
    return found.headline, texts(found), stand.kind_of(found.reasons[0])


@pytest.mark.parametrize(
    ("target", "seconds", "headline", "text", "kind"),
    [
        (
            "one",
            2,
            "It was removed by the program.",
            "It was removed by the program, at 0:01.250",
            MEMBER_REMOVED,
        ),
        (
            "two",
            2,
            "It has no calls left.",
            "It made its last call and was removed, at 0:01.000",
            MEMBER_REMOVED,
        ),
        (
            "four",
            2,
            "It was removed by the program.",
            "It was removed by the program, at 0:00.500",
            MEMBER_REMOVED,
        ),
        (
            "three",
            4,
            "It was removed with its clock.",
            "It no longer exists because “game” was removed by the program, at 0:03.000",
            CLOCK_REMOVED,
        ),
    ],
)
def test_that_members_end_by_themselves_by_the_program_or_with_their_clock(  # noqa: PLR0913, PLR0917
    tmp_path: Path, target: str, seconds: int, headline: str, text: str, kind: int
) -> None:
    stand = Stand(tmp_path, MEMBERS)
    stand.run(seconds)

    found, said, of_kind = member_explained(stand, target)

    assert (found, of_kind) == (headline, kind)
    assert said[0].startswith(text)
    stand.session.close()
