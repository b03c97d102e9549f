"""Recordings of attached programs: read like those of scenes, and not run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.cli.main import main
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.transport import Hold
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, NEVER, TIMER_FIRED
from tests.sessions.attached.fake_probe import MS, Attachment


@pytest.fixture
def recording(attachment: Attachment, tmp_path: Path) -> Path:
    """A recording of a program with frames and timers, held at its end."""
    session = attachment.session
    path = tmp_path / "server.tlrec"
    probe = attachment.join()
    probe.keyframe((1, "beat", 100 * MS), (2, "end", 900 * MS))
    attachment.settle(lambda: session.is_running)
    session.submit(StartRecording(str(path)))
    for _ in range(8):
        attachment.hand.advance(16)
        now_ns = attachment.hand.now_ns
        probe.events(
            (now_ns, FRAME_BEGAN, 1, 0, 16 * MS), (now_ns, FRAME_ENDED, 1, 16 * MS, 2 * MS)
        )
    probe.events((attachment.hand.now_ns, TIMER_FIRED, 1, MS, NEVER))
    attachment.settle(lambda: session.frames_run == 8)
    session.submit(Hold())
    attachment.settle(lambda: not session.timeline.is_running)
    session.submit(StopRecording())
    assert session.recorder.problem == ""
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main([str(each) for each in arguments])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_that_a_recording_explains_why_a_timer_has_not_fired(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(capsys, "explain", recording, "end")
    assert code == 0
    assert "by command 2 “hold”" in said
    assert "server.py:7" in said


def test_that_its_frame_times_are_exported_with_where_they_come_from(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (("frames.json", "real time"), ("frames.svg", "real time")):
        target = tmp_path / name
        code, output = run(capsys, "export", recording, "-o", target)
        assert code == 0, output
        assert said in target.read_text()


@pytest.mark.parametrize("command", [("replay",), ("export", "--as", "pytest")])
def test_that_it_is_not_run_again_and_says_why(
    recording: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    code, said = run(capsys, command[0], recording, *command[1:])
    assert code != 0
    assert "was recorded from attached programs. They cannot be run again" in said
