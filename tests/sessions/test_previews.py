"""What a command would do to the timers of its branch: said before, and true afterwards."""

from fractions import Fraction
from pathlib import Path

from inspector.analysis.predict.command_preview import preview
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.transport import Hold
from inspector.testing import held_session, scene_file

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        game.child("enemies", rate="1/2").set_timeout(1, lambda: None, name="attack")
        game.set_timeout(1, lambda: None, name="wave")
"""


def test_that_what_is_previewed_is_what_comes_of_the_command(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    commands: list[Command] = [
        SetRate(2, Fraction(1, 3)),
        PauseClock(2),
        ResumeClock(2),
        SetRate(3, Fraction(0)),
    ]
    for command in commands:
        foreseen = preview(session.timeline, command)
        assert foreseen is not None
        assert len(foreseen) == (1 if command == commands[-1] else 2)

        session.submit(command)
        session.refresh()

        for each in foreseen:
            assert session.timeline.session_due_ns(each.call.number) == each.new_ns
    session.close()


def test_that_commands_that_change_no_due_time_have_no_preview(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    timeline = session.timeline

    assert preview(timeline, Hold()) is None
    assert preview(timeline, PauseClock(99)) is None
    assert preview(timeline, SetRate(2, Fraction(-1))) is None
    session.close()
