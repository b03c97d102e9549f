"""Which file takes what of a session, with a stand-in for the files."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import platformdirs
import pytest

from inspector.errors import RecordingWriteError
from inspector.sessions import recorder as module
from inspector.sessions.recorder import Recorder, RecordingOutcome


class Writer:
    """Stands for a file that is written."""

    def __init__(self, path: Path, start: Any) -> None:  # noqa: ANN401 - a state and a cursor
        self.path, self.start_of = path, start
        self.done: list[Any] = []
        self.is_recording = self.is_writing = True
        self.problem, self.lost = "", 0
        self.picture_bytes = self.picture_frames = self.lost_pictures = 0
        self.pictures: list[tuple[int, bytes]] = []

    def start(self) -> None:
        if self.path.stem == "full":
            raise RecordingWriteError("the disk is full")
        self.done.append("start")

    def stop(self) -> None:
        self.done.append("stop")

    def finish(self) -> None:
        self.done.append("finish")

    def annotate(self, annotations: object) -> None:
        self.done.append(annotations)

    def pump(self, *, at_once: bool, is_patient: bool) -> None:
        self.done.append((at_once, is_patient))

    def add_picture(self, frame: int, packed: bytes) -> None:
        self.pictures.append((frame, packed))


class History:
    """The history of a session with an event each 10 ns, the first at 100 ns."""

    first, first_ns, last_ns = 3, 100, 500

    def cursor_at(self, at_ns: int) -> int:
        return at_ns // 10 + 4

    def state_before(self, cursor: int) -> Any:  # noqa: ANN401 - a state with frames
        return SimpleNamespace(cursor=cursor, frames=SimpleNamespace(end=cursor // 10))


class Session:
    """What a recorder reads of a session."""

    log, history, about = "a log", History(), "about"
    generation = frames_run = 0
    present_ns = 510
    frame_rate = Fraction(60)
    file_stem = "game"
    can_wait = False
    annotations = SimpleNamespace(within=lambda *between: between)


class Pictures:
    """The pictures of frames 0 to 5."""

    is_recorded = False
    keep: Any = None

    def since(self, frame: int) -> list[tuple[int, bytes]]:
        return [(number, b"x" * number) for number in range(frame + 1, 6)]


class Files(Recorder):
    """A recorder of stand-ins."""

    def __init__(self, pictures: Pictures | None = None) -> None:
        self.session = Session()
        session: Any = self.session
        kept: Any = pictures
        super().__init__(session, kept)
        self.files: list[Writer] = []

    def _writer_of(self, path: Path, start: Any = None) -> Any:  # noqa: ANN401 - a stand-in
        self.files.append(Writer(path, start))
        return self.files[-1]


@pytest.fixture
def pictures() -> Pictures:
    return Pictures()


@pytest.fixture
def recorder(pictures: Pictures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    recorder = Files(pictures)
    recorder.folder = tmp_path / "new" / "folder"
    monkeypatch.setattr(module, "is_there", lambda path: path in [e.path for e in recorder.files])
    return recorder


def test_that_a_recording_begins_with_all_there_is_and_ends_with_its_outcome(
    recorder: Files, pictures: Pictures, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    assert (recorder.path, recorder.is_recording, recorder.picture_cost) == (None, False, "")
    recorder.pump()
    recorder.start(path)

    (file,) = recorder.files
    assert (file.path, file.start_of, file.done) == (path, None, ["start", (100,)])
    assert [number for number, _ in file.pictures] == [0, 1, 2, 3, 4, 5]
    assert pictures.is_recorded
    pictures.keep(6, b"six")
    assert file.pictures[-1] == (6, b"six")
    assert (recorder.path, recorder.is_recording, recorder.is_writing) == (path, True, True)
    with pytest.raises(RecordingWriteError, match="recorded already"):
        recorder.start(path)

    recorder.pump()
    recorder.session.can_wait = True
    recorder.pump(at_once=True)
    assert file.done[2:] == [(False, False), (True, True)]
    file.picture_bytes, file.picture_frames, file.lost_pictures = 6_000, 60, 1_234
    recorder.stop()

    assert file.done[4:] == ["stop"]
    assert (pictures.is_recorded, pictures.keep, recorder.path) == (False, None, None)
    (outcome,) = recorder.outcomes_since(0)
    assert (outcome.path, outcome.problem) == (path, "")
    assert outcome.picture_cost == ("360 kB a minute, 1,234 left out because the disk is slow")
    recorder.stop()
    assert recorder.outcome_count == 1


def test_that_pictures_are_recorded_only_if_wanted(recorder: Files, pictures: Pictures) -> None:
    recorder.keeps_pictures = False
    recorder.start()

    assert (recorder.files[0].pictures, pictures.is_recorded, pictures.keep) == ([], False, None)
    assert recorder.picture_cost == ""
    recorder.close()
    without = Files()
    without.start(Path("a.tlrec"))
    assert (without.files[0].pictures, without.picture_cost) == ([], "")
    without.close()
    # What came last is written, too.
    assert without.files[0].done[2:] == [(False, False), "stop"]
    assert [each.picture_cost for each in without.outcomes_since(0)] == [""]


def test_that_pictures_are_said_to_take_what_they_take_or_will_take(
    recorder: Files, pictures: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.start()
    assert recorder.picture_cost == "7 kB a minute"
    file = recorder.files[0]
    file.picture_bytes, file.picture_frames = 100, 1
    assert recorder.picture_cost == "360 kB a minute"
    file.picture_bytes = 0
    monkeypatch.setattr(pictures, "since", lambda _frame: [])
    assert recorder.picture_cost == ""


@pytest.mark.parametrize(
    ("duration_ns", "first", "since_ns"),
    [(100, 44, 400), (390, 15, 110), (400, 14, 100), (499, 4, 100), (500, 3, 100), (900, 3, 100)],
)
def test_that_the_last_stretch_goes_to_a_file_of_its_own(
    recorder: Files, duration_ns: int, first: int, since_ns: int
) -> None:
    path = recorder.save_last(duration_ns)

    (file,) = recorder.files
    state, cursor = file.start_of
    assert (file.path, cursor, state.cursor) == (path, first, first)
    assert file.done == ["start", (since_ns, 510), "finish"]
    # Those of the frames that begin in it.
    assert [number for number, _ in file.pictures] == [*range(first // 10, 6)]
    assert (recorder.is_writing, recorder.is_recording) == (True, False)
    recorder.pump()
    assert recorder.outcome_count == 0
    file.is_writing = False
    recorder.pump()
    assert (recorder.saved, recorder.is_writing) == ([path], False)


def test_that_files_that_are_still_written_are_waited_for_at_the_end(recorder: Files) -> None:
    paths = [recorder.save_last(100), recorder.save_last(100)]
    recorder.start()
    recorder.session.log = "another log"

    recorder.close()

    assert [each.done[-1] for each in recorder.files] == ["stop"] * 3
    assert recorder.saved == [recorder.files[2].path, *paths]
    assert not recorder.is_writing


def test_that_after_a_reload_another_file_begins_at_once(recorder: Files, tmp_path: Path) -> None:
    recorder.start(tmp_path / "a.tlrec")
    recorder.session.log, recorder.session.generation = "another log", 1

    recorder.pump()
    recorder.pump()

    first, second = recorder.files
    assert first.done[-1] == "stop"
    assert (second.path.name, second.done) == ("a 2.tlrec", ["start", (100,), (False, False)])
    recorder.session.log, recorder.session.generation = "a third log", 2
    recorder.pump()
    assert [each.path.name for each in recorder.files] == ["a.tlrec", "a 2.tlrec", "a 3.tlrec"]
    recorder.close()
    assert len(recorder.saved) == 3


def test_that_after_going_back_another_file_begins_with_the_next_frame(
    recorder: Files, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    recorder.start(path)
    recorder.session.log, recorder.session.frames_run = "another log", 7
    for _ in range(2):
        recorder.pump()
        assert len(recorder.files) == recorder.outcome_count == 1
        assert (recorder.path, recorder.is_recording, recorder.is_writing) == (path, True, False)
    recorder.session.frames_run = 8

    recorder.pump()

    assert [each.path.name for each in recorder.files] == ["a.tlrec", "a 2.tlrec"]
    recorder.pump()
    assert recorder.files[1].done[2:] == [(False, False)]
    recorder.stop()
    recorder.start(path.with_name("b.tlrec"))
    assert recorder.path == path.with_name("b.tlrec")


def test_that_a_recording_that_cannot_go_on_ends_with_a_sentence(
    recorder: Files, pictures: Pictures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.start(tmp_path / "a.tlrec")
    recorder.files[0].problem = "the disk is gone"
    recorder.pump()
    assert (recorder.is_recording, recorder.problem) == (False, "the disk is gone")

    recorder.start(tmp_path / "b.tlrec")
    monkeypatch.setattr(module, "_free_name", lambda path: path.with_stem("full"))
    recorder.session.log, recorder.session.generation = "another log", 1
    recorder.pump()
    assert (recorder.is_recording, recorder.problem) == (False, "the disk is full")
    assert not pictures.is_recorded
    assert recorder.outcomes_since(2) == [RecordingOutcome(None, "the disk is full")]


def test_that_a_file_without_a_name_is_named_by_the_day_in_a_folder_that_is_made(
    recorder: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = recorder.save_last(100), recorder.save_last(100)

    assert first.parent == tmp_path / "new" / "folder"
    assert first.parent.is_dir()
    assert re.fullmatch(r"game \d{4}-\d\d-\d\d \d{6}\.tlrec", first.name)
    assert second != first
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path / "d"))
    recorder.folder = None
    assert recorder.save_last(100).parent == tmp_path / "d" / "recordings"
    (tmp_path / "file").write_text("")
    recorder.folder = tmp_path / "file"
    with pytest.raises(RecordingWriteError, match=r"file cannot be made: File exists\."):
        recorder.save_last(100)
