"""Recording a hosted scene: by command, by breakpoint, one file for each run of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.command import Capability
from inspector.commands.recording import SaveLast, StartRecording, StopRecording
from inspector.commands.scene import AddMark, Reload, StepBack
from inspector.commands.transport import StepFrames
from inspector.errors import RecordingWriteError
from inspector.events.conditions.breakpoint import (
    DEFAULT_SAVED_NS,
    BreakAction,
    BreakKind,
    Breakpoint,
)
from inspector.events.recording import open_recording
from inspector.sessions import recorder as recorder_module
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.sessions.hosted import HostedSession
from inspector.sessions.recorder import Recorder, RecordingOutcome
from inspector.sessions.replay.rerun import rerun
from inspector.timebase import NS_PER_SECOND

SCENE = """
def build(stage):
    stage.root.set_interval(0.05, lambda: None, name="tick")
    stage.root.set_timeout(0.52, lambda: None, name="boss")
"""

MakeSession = Callable[[], HostedSession]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    scene = tmp_path / "scene.py"
    scene.write_text(SCENE)
    session = HostedSession(scene, VirtualTimeSource(), autorun=False)
    session.recorder.folder = tmp_path / "recordings"
    yield session
    session.close()


def test_that_a_recording_holds_everything_since_the_scene_was_loaded(
    session: HostedSession, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    session.submit(StepFrames(5))
    session.submit(StartRecording(str(path)))
    assert session.recorder.path == path
    session.submit(StepFrames(5))
    session.submit(StopRecording())
    session.submit(AddMark("not any more"))
    past = open_recording(path)

    assert session.recorder.saved == [path]
    assert not session.recorder.is_recording
    assert past.events(0, past.end) == session.log.slice(0, past.end)
    assert past.state_before(past.end).commands[-1].text == "stop recording"
    assert past.scene_path == str(session.scene_path)
    assert (past.meta["source"], past.meta["frame_rate"]) == ("virtual", "60")
    assert rerun(past, session.scene_path).is_same


def test_that_the_last_seconds_are_saved_beside(session: HostedSession, tmp_path: Path) -> None:
    path = tmp_path / "a.tlrec"
    session.submit(StepFrames(60))
    session.submit(SaveLast(str(path), NS_PER_SECOND // 4))
    session.submit(StepFrames(1))
    session.close()
    past = open_recording(path)

    assert session.recorder.saved == [path]
    assert past.first > 0
    assert past.first_ns == pytest.approx(NS_PER_SECOND * 3 // 4, abs=20_000_000)
    assert past.state_before(past.first).frames.end in range(44, 47)


def test_that_the_end_of_the_session_ends_the_recording(
    session: HostedSession, tmp_path: Path
) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StepFrames(3))
    session.close()
    assert open_recording(tmp_path / "a.tlrec").notes == ()


def test_that_what_came_last_before_a_scene_is_held_is_handed_over(
    session: HostedSession, tmp_path: Path
) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    for _ in range(3):
        session.submit(StepFrames(1))
        session.refresh()
        writer = session.recorder._writer
        assert writer is not None
        assert writer.events == session.log.end


def test_that_another_life_is_another_file(session: HostedSession, tmp_path: Path) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StepFrames(3))
    session.submit(Reload())
    session.submit(StepFrames(4))
    session.submit(StepBack(2))
    session.submit(StepFrames(7))
    session.close()

    paths = [tmp_path / name for name in ("a.tlrec", "a 2.tlrec", "a 3.tlrec")]
    assert session.recorder.saved == paths
    frames = [open_recording(path) for path in paths]
    assert [past.state_before(past.end).frames.end for past in frames] == [3, 4, 9]
    for path in paths:
        assert rerun(open_recording(path), session.scene_path).is_same


@pytest.mark.parametrize("path", ["no/such/folder/a.tlrec", "scene.py"])
def test_that_a_file_that_cannot_be_written_does_not_stop_the_scene(
    session: HostedSession, tmp_path: Path, path: str
) -> None:
    session.submit(StartRecording(str(tmp_path / path)))
    session.submit(StepFrames(3))
    assert session.frames_run == 3
    assert path in session.recorder.problem
    assert not session.recorder.is_recording
    assert (tmp_path / "scene.py").read_text() == SCENE


def test_that_each_reader_is_told_what_became_of_every_recording(
    session: HostedSession, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    for _ in range(2):
        session.submit(StartRecording(str(tmp_path / "no" / "folder.tlrec")))
    session.submit(StartRecording(str(path)))
    session.submit(StopRecording())
    recorder = session.recorder

    for _reader in range(2):
        *failed, saved = recorder.outcomes_since(0)
        assert [each.path for each in failed] == [None, None]
        assert all("folder.tlrec" in each.problem for each in failed)
        assert saved == RecordingOutcome(path)
    assert recorder.outcomes_since(2) == [saved]
    assert recorder.outcomes_since(recorder.outcome_count) == []
    assert "folder.tlrec" in recorder.problem


def test_that_of_very_many_outcomes_the_oldest_are_forgotten(
    session: HostedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_MOST_OUTCOMES", 3)
    recorder = Recorder(session)

    for number in range(5):
        recorder.note_problem(f"No. {number}.")

    assert recorder.outcome_count == 5
    assert [each.problem for each in recorder.outcomes_since(1)] == ["No. 2.", "No. 3.", "No. 4."]
    assert [each.problem for each in recorder.outcomes_since(4)] == ["No. 4."]


def test_that_two_recordings_at_once_are_refused(session: HostedSession, tmp_path: Path) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StartRecording(str(tmp_path / "b.tlrec")))
    assert "a.tlrec is being recorded already" in session.recorder.problem
    assert session.recorder.path == tmp_path / "a.tlrec"


def test_that_nothing_can_be_saved_of_no_time(session: HostedSession, tmp_path: Path) -> None:
    session.submit(SaveLast("a.tlrec", 0))
    session.refresh()
    assert session.timeline.commands[-1].refusal == "The time to save must be above 0, not 0 ns."

    session.submit(SaveLast(str(tmp_path / "a.tlrec"), 1))
    session.refresh()
    assert not session.timeline.commands[-1].refusal


def test_that_breakpoints_record(session: HostedSession, tmp_path: Path) -> None:
    for action, subject in (
        (BreakAction.START_RECORDING, "tick"),
        (BreakAction.SAVE, "boss"),
        (BreakAction.STOP_RECORDING, "boss"),
    ):
        what = Breakpoint(
            BreakKind.TIMER_FIRES, subject, action=action, is_once=True, saved_ns=10**8
        )
        session.submit(AddBreakpoint(what))
    session.submit(StepFrames(60))
    session.close()
    files = sorted((tmp_path / "recordings").iterdir())

    assert session.recorder.problem == ""
    assert len(files) == 2
    assert all(each.name.startswith("scene ") for each in files)
    pasts = [open_recording(path) for path in files]
    whole, part = sorted(pasts, key=lambda past: past.first)
    assert whole.first == 0
    assert len(whole.state_before(whole.end).hits) == 3
    assert part.first_ns == pytest.approx(520_000_000 - 10**8, abs=20_000_000)


def test_that_going_back_step_by_step_begins_one_file_with_the_next_new_frame(
    session: HostedSession, tmp_path: Path
) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StepFrames(6))
    for _ in range(3):
        session.submit(StepBack(1))
        session.refresh()
    assert session.recorder.is_recording
    assert session.recorder.saved == [tmp_path / "a.tlrec"]

    session.submit(StepFrames(1))
    session.submit(StepFrames(1))
    assert session.recorder.path == tmp_path / "a 2.tlrec"
    session.close()

    assert session.recorder.saved == [tmp_path / "a.tlrec", tmp_path / "a 2.tlrec"]
    again = open_recording(tmp_path / "a 2.tlrec")
    assert again.state_before(again.end).frames.end == 5


def test_that_a_recording_that_waits_for_a_new_frame_can_be_ended(
    session: HostedSession, tmp_path: Path
) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StepFrames(6))
    session.submit(StepBack(1))
    session.submit(StopRecording())
    session.submit(StepFrames(3))
    session.close()

    assert session.recorder.saved == [tmp_path / "a.tlrec"]


def test_that_going_back_writes_no_file_again(session: HostedSession, tmp_path: Path) -> None:
    session.submit(StepFrames(2))
    session.submit(SaveLast(str(tmp_path / "a.tlrec"), 10**8))
    session.submit(StartRecording(str(tmp_path / "b.tlrec")))
    session.submit(StopRecording())
    session.submit(StepFrames(4))
    session.submit(StepBack(1))
    session.refresh()

    assert session.timeline.commands[-1].refusal == ""
    assert session.recorder.problem == ""
    assert sorted(path.name for path in tmp_path.glob("*.tlrec")) == ["a.tlrec", "b.tlrec"]


def test_that_recording_is_a_capability() -> None:
    for command in (StartRecording("a"), StopRecording(), SaveLast("a", 1)):
        assert command.capability is Capability.RECORD


class _Noted(Recorder):
    """Notes what it is asked for instead of writing files."""

    is_recording: Any = False

    def __init__(self, done: list[object]) -> None:
        session: Any = SimpleNamespace(log="the log")
        super().__init__(session)
        self.done = done

    def save_last(self, duration_ns: int, _path: Path | None = None) -> Path:
        self.done.append(duration_ns)
        raise RecordingWriteError("the disk is full")

    def start(self, _path: Path | None = None) -> None:
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")


def test_that_a_hit_saves_starts_or_stops_a_recording() -> None:
    done: list[object] = []
    recorder = _Noted(done)
    saves = Breakpoint(BreakKind.CALLBACK_RAISED, action=BreakAction.SAVE, saved_ns=7)
    for is_recording in (False, True):
        recorder.is_recording = is_recording
        for action in (
            BreakAction.SAVE,
            BreakAction.START_RECORDING,
            BreakAction.STOP_RECORDING,
            BreakAction.MARK,
        ):
            recorder.record_hit(BreakpointHit(1, action, 0, 0, 0, 0, ""), saves)
    assert done == [7, "start", "stop", 7, "stop"]
    assert recorder.problem == "the disk is full"
    assert recorder.outcome_count == 2
    done.clear()
    recorder.record_hit(BreakpointHit(1, BreakAction.SAVE, 0, 0, 0, 0, ""), None)
    assert done == [DEFAULT_SAVED_NS]


def test_that_a_recorder_tells_what_it_writes_lost_and_saved(tmp_path: Path) -> None:
    recorder: Any = _Noted([])
    assert (recorder.is_writing, recorder.lost, recorder.saved) == (False, 0, [])
    recorder._ending = [1]
    assert recorder.is_writing
    annotated: list[object] = []
    recorder._ending, recorder._writer = [], SimpleNamespace(lost=3, annotate=annotated.append)
    assert (recorder.is_writing, recorder.lost) == (True, 3)
    for path, problem in ((tmp_path, ""), (tmp_path / "x", "bad"), (None, "worse")):
        recorder._note(RecordingOutcome(path, problem))
    assert (recorder.saved, recorder.problem) == ([tmp_path], "worse")
    # Another file is about to begin, with all annotations.
    changes = [5, SimpleNamespace(id=6)]
    assert recorder.record_annotations(changes) == [5, 6]
    assert annotated == []
    recorder._log = "the log"
    assert recorder.record_annotations(changes) == [5, 6]
    assert annotated == [changes]
    recorder._writer = None
    assert recorder.record_annotations(changes) == [5, 6]
