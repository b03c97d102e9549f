"""Recordings of attached programs: read like those of scenes, and not run again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from inspector.cli.main import main
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.transport import Hold
from inspector.sessions.compared import run_of_file
from inspector.sessions.provenance import provenance_of
from inspector.sessions.recorded import RecordedSession
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, LOOP_ASKED, NEVER, TIMER_FIRED
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
    assert "You paused “server”." in said
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


@pytest.fixture
def two_loops(attachment: Attachment, tmp_path: Path) -> Path:
    """A recording of a loop with frames of 16 ms and another that asks for 33 and takes 4."""
    session, probe = attachment.session, attachment.join()
    probe.keyframe()
    probe.clock(2, "pump", parent=1)
    for _ in range(8):
        now_ns = attachment.hand.now_ns
        probe.events(
            (now_ns, FRAME_BEGAN, 1, 0, MS),
            (now_ns + 1, FRAME_BEGAN, 2, 0, MS),
            (now_ns + 2, FRAME_ENDED, 2, 4 * MS, 1),
            (now_ns + 3, FRAME_ENDED, 1, 16 * MS, 1),
        )
        attachment.hand.advance(16)
    attachment.settle(lambda: session.frames_run == 8)
    probe.events((attachment.hand.now_ns, LOOP_ASKED, 2, 33_333_333, 0))
    attachment.settle(lambda: any(loop.asked_ns for loop in session.timeline.loops.values()))
    session.recorder.save_last(10**12, tmp_path / "two.tlrec")
    session.recorder.close()
    return tmp_path / "two.tlrec"


@pytest.mark.parametrize(("stream", "ms"), [("server", 16), ("pump", 4)])
def test_that_frames_of_any_loop_are_exported_and_counted(
    two_loops: Path, capsys: pytest.CaptureFixture[str], stream: str, ms: int
) -> None:
    target = two_loops.with_name("frames.csv")
    wanted = () if stream == "server" else ("--stream", stream)
    code, said = run(capsys, "export", two_loops, "-o", target, *wanted)
    assert code == 0, said
    assert stream in said.split(" with 8 frames")[0]
    assert f"{ms * MS}" in target.read_text()
    code, said = run(capsys, "stats", two_loops, *wanted)
    assert code == 0, said
    assert f"{ms}" in said
    code, said = run(capsys, "lint", two_loops, *wanted)
    assert code in {0, 1}, said


def test_that_frames_are_compared_with_what_their_loop_asks_for(
    two_loops: Path, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, wanted, rate, first_ms in (
        (1, (), None, 1000 / 60),
        (2, ("--stream", "pump"), "30", 1000 / 30),
    ):
        target = two_loops.with_name(f"frames{number}.json")
        code, said = run(capsys, "export", two_loops, "-o", target, *wanted)
        assert code == 0, said
        about = json.loads(target.read_text())
        assert about["provenance"]["frame_rate"] == rate
        assert about["over_budget"]["budgets"][0]["budget_ns"] == round(first_ms * MS)
    page = two_loops.with_name("frames.html")
    assert run(capsys, "export", two_loops, "-o", page, "--stream", "pump")[0] == 0
    assert "Hitches and jank are against 33.33 ms." in page.read_text()
    with closing(RecordedSession(two_loops)) as recorded:
        for session in (recorded, attachment.session):
            session.choose_loop(session.loops[1].clock_id)
            assert provenance_of(session).frame_rate == 30


def test_that_a_loop_that_a_recording_has_not_is_refused_with_those_it_has(
    two_loops: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(capsys, "export", two_loops, "-o", tmp_path / "a.csv", "--stream", "physics")
    assert code != 0
    assert "has no stream “physics”. Its streams are server; server › pump." in said


def test_that_two_loops_of_a_recording_are_compared(two_loops: Path) -> None:
    runs = [run_of_file(two_loops, stream=name) for name in (None, "pump")]
    assert [list(each.times_ns) for each in runs] == [[16 * MS] * 8, [4 * MS] * 8]
    assert runs[1].name == "two.tlrec – server › pump"
    assert runs[1].streams == ("server", "server › pump")
    assert runs[1].stream == "server › pump"


def test_that_a_recording_of_one_loop_takes_its_name_and_no_other(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "frames.csv"
    code, said = run(capsys, "export", recording, "-o", target, "--stream", "server")
    assert code == 0, said
    assert "Skipped" not in said
