"""A preview as a table: what changes first, the rest counted, in words that line up."""

from fractions import Fraction
from pathlib import Path

from inspector.analysis.predict.command_preview import preview
from inspector.analysis.predict.preview_table import PreviewRow, PreviewTable, preview_table
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.events.timeline import Timeline
from inspector.testing import held_session, scene_file

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        still = game.child("still")
        still.pause()
        still.set_timeout(1, lambda: None, name="asleep")
        for number in range(4):
            game.set_timeout(1 + number, lambda: None, name=f"wave {number}")
"""


def table_of(timeline: Timeline, command: Command, most: int = 8) -> PreviewTable:
    foreseen = preview(timeline, command)
    assert foreseen is not None
    return preview_table(timeline, foreseen, most)


def test_that_a_pause_lists_what_would_wait_and_counts_the_rest(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    timeline = session.timeline

    table = table_of(timeline, PauseClock(2), most=2)

    assert table.sentence == "Pausing “game”: 4 timers would wait until that is undone."
    assert table.rows == (
        PreviewRow("wave 0", "0:01.000", "never", "waits"),
        PreviewRow("wave 1", "0:02.000", "never", "waits"),
    )
    assert table.rest == "and 2 more; 1 timer would fire at the same instant as now"
    session.close()


def test_that_a_rate_shows_how_much_later_each_would_fire(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    timeline = session.timeline

    table = table_of(timeline, SetRate(2, Fraction(1, 2)), most=4)

    assert [row.difference for row in table.rows] == [
        "1.00 s later",
        "2.00 s later",
        "3.00 s later",
        "4.00 s later",
    ]
    assert table.lines()[:3] == [
        "Setting the rate of “game” to 0.5: 4 timers would fire 1.00 s to 4.00 s later.",
        "  timer   fires at  would fire at",
        "  wave 0  0:01.000       0:02.000  1.00 s later",
    ]
    session.close()


def test_that_a_resume_says_what_resumes_and_nothing_else(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    timeline = session.timeline

    resumed = table_of(timeline, ResumeClock(3))
    nothing = table_of(timeline, ResumeClock(2))

    assert resumed.rows == (PreviewRow("asleep", "never", "0:01.000", "resumes"),)
    assert resumed.rest == ""
    assert nothing.rows == ()
    assert nothing.lines() == [nothing.sentence]
    session.close()
