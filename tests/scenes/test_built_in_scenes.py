"""The scenes that come with the inspector run, are worth looking at, and are deterministic."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from inspector.cli.call_tally import CallTally
from inspector.formats.drawing.font_metrics import text_width
from inspector.pictures.shapes import Shape, ShapeKind
from inspector.sessions.scene import built_in_scenes, find_scene
from inspector.testing import fired, pass_seconds, virtual_session
from inspector.vocabulary import EventKind
from tests.fuzz import rounds
from tests.light_scenes import light_scene

SCENES = [scene.path for scene in built_in_scenes()]
TEXT = ShapeKind.TEXT
ON_NUMBER = re.compile(r"\d+ is on \d+")


@pytest.fixture(params=SCENES, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The path of each scene; of the one with thousands of timers, of a lighter one."""
    return light_scene(request.param, tmp_path)


def test_that_a_scene_runs_with_nothing_wrong_and_all_counts_exact(path: Path) -> None:
    session = virtual_session(path)
    tally = CallTally(session.log)

    run = pass_seconds(session, len(rounds(10)))
    tally.update()

    assert run.is_complete
    assert tally.lost == 0
    if "failing" not in path.stem:
        assert session.timeline.failures == []
    inexact = {count.label for count in tally.timers(session.timeline) if not count.is_exact}
    assert inexact <= {"delay"}
    session.close()


def test_that_a_scene_does_the_same_every_time(path: Path) -> None:
    def run() -> list[tuple[int, ...]]:
        session = virtual_session(path)
        pass_seconds(session, len(rounds(4)))
        measured = {EventKind.PHASE_ENDED, EventKind.FRAME_ENDED, EventKind.CALL_ENDED}
        # Strings get their numbers in order of use, so they compare as well.
        events = [event for event in session.log.read(0).events if event[1] not in measured]
        session.close()
        return [event for event in events if event[1] != EventKind.CALLBACK_FAILED]

    assert run() == run()


def test_that_texts_of_a_picture_are_whole_and_apart(path: Path) -> None:
    session = virtual_session(path)
    faults = set()

    for _ in rounds(20):
        pass_seconds(session, Fraction(59, 60))
        # Only the last frame is drawn.
        session.pictures.is_watched = True
        pass_seconds(session, Fraction(1, 60))
        session.pictures.is_watched = False
        picture = session.pictures.newest
        assert picture is not None
        places = [(each.text, place_of(each)) for each in picture.shapes if each.kind == TEXT]
        for text, (left, top, right, bottom) in places:
            if left < 0 or top < 0 or right > picture.width or bottom > picture.height:
                faults.add(f"{text} is cut")
        for (text, one), (other, two) in combinations(places, 2):
            is_apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
            if not is_apart:
                faults.add(f"{text} is on {other}")
    session.close()

    # Foxes meet.
    assert {each for each in faults if not ON_NUMBER.fullmatch(each)} == set()


def place_of(shape: Shape) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the letters of a text."""
    x, y, size = shape.numbers
    width = text_width(shape.text, size)
    left = x - (0, width / 2, width)[shape.anchor]
    return left, y - 0.75 * size, left + width, y + 0.05 * size


def test_that_the_small_game_shows_what_it_promises() -> None:
    session = virtual_session(find_scene("small_game"))
    pass_seconds(session, 60)
    timeline = session.timeline

    assert [clock.name for clock in timeline.clocks.values()] == [
        "root",
        "game",
        "enemies",
        "particles",
        "ui",
        "audio",
    ]
    texts = [mark.text for mark in timeline.marks]
    assert "menu opened: the game is paused" in texts
    assert "slow motion" in texts
    assert "the boss arrives" in texts
    spikes = [ns for ns in timeline.frames.interval_ns if ns > 19_000_000]
    assert len(spikes) == 8
    assert 6 <= len(timeline.timers) <= 60
    counts = fired(session)
    assert counts["cursor blinks"] == 113, "the ui continues while the game is paused"
    assert counts["player shoots"] < 170, "the game does not"
    session.close()


def test_that_thousands_of_timers_are_thousands() -> None:
    session = virtual_session(find_scene("2"))
    pass_seconds(session, 1)

    assert len(session.timeline.timers) > 5_000
    assert len(session.timeline.clocks) == 74
    assert len({clock.rate for clock in session.timeline.clocks.values()}) == 8
    assert session.timeline.failures == []
    session.close()


def test_that_six_ways_to_repeat_end_as_they_are_described() -> None:
    session = virtual_session(find_scene("drift_and_late"))
    pass_seconds(session, 60.2)

    last = session.timeline.marks[-1].text

    assert last.startswith("of 480: burst 480, ")
    assert "re-armed 480" in last
    assert "counted in frames 450" in last
    session.close()


def test_that_the_game_is_over_after_ten_seconds_of_its_own_time() -> None:
    session = virtual_session(find_scene("minimal"))
    pass_seconds(session, 30)

    game = next(c for c in session.timeline.clocks.values() if c.name == "game")

    assert game.paused
    assert session.timeline.local_ns(game.id) == 10_000_000_000
    assert fired(session)["blink"] == 30
    session.close()
