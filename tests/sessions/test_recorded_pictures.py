"""Recordings keep the pictures of the scene, within a budget, and say what they take."""

from __future__ import annotations

import random
import re
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from inspector.commands.recording import SaveLast
from inspector.commands.scene import StepBack
from inspector.commands.transport import StepFrames
from inspector.events.blocks.packed_columns import pack, unpack
from inspector.events.recording import open_recording
from inspector.events.recording import pictures as pictures_module
from inspector.events.recording.layout import check_tables
from inspector.events.recording.writing import writer
from inspector.pictures.pictures import Picture, unpacked
from inspector.pictures.shapes import circle, polygon, text
from inspector.sessions.hosted import HostedSession
from inspector.sessions.recorded import RecordedSession
from inspector.testing import held_session, scene_file
from tests.fuzz import rounds

SCENE = """
from inspector.pictures.shapes import circle

def build(stage):
    frames = []
    stage.every_frame(frames.append)
    stage.picture(lambda: circle(len(frames), 0, 1, "#fff", clock=stage.root))
"""


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    return held_session(scene_file(tmp_path, SCENE))


def step(session: HostedSession, frames: int) -> None:
    session.submit(StepFrames(frames))
    session.refresh()


def recorded(session: HostedSession, path: Path, frames: int = 10) -> RecordedSession:
    """Return the recording of some frames."""
    session.recorder.start(path)
    step(session, frames)
    session.recorder.stop()
    assert not session.recorder.problem
    return RecordedSession(path)


def x_at(recording: RecordedSession, frame: int) -> float | None:
    """Return where the circle of a frame is, which tells how many frames had run."""
    picture = recording.pictures.at(frame)
    return None if picture is None else picture.shapes[0].numbers[0]


def test_that_each_frame_of_a_recording_has_its_picture(
    session: HostedSession, tmp_path: Path
) -> None:
    recording = recorded(session, tmp_path / "a.tlrec")

    assert x_at(recording, -1) is None
    assert [x_at(recording, frame) for frame in range(10)] == list(range(1, 11))
    newest = recording.pictures.newest
    assert newest is not None
    assert newest == session.pictures.at(9)
    # The last one is unpacked once.
    assert recording.pictures.newest is newest
    assert recording.pictures.is_described
    assert (recording.notes, recording.pictures.failure) == ((), "")


def test_that_pictures_in_memory_are_recorded_too(session: HostedSession, tmp_path: Path) -> None:
    session.pictures.is_watched = True
    step(session, 5)
    session.pictures.is_watched = False

    recording = recorded(session, tmp_path / "a.tlrec", 3)

    assert [x_at(recording, frame) for frame in range(8)] == list(range(1, 9))


def test_that_pictures_are_only_drawn_while_recorded(
    session: HostedSession, tmp_path: Path
) -> None:
    recorded(session, tmp_path / "a.tlrec", 4)
    step(session, 5)

    assert session.pictures.newest_frame == 3


def test_that_pictures_can_be_left_out(session: HostedSession, tmp_path: Path) -> None:
    session.recorder.keeps_pictures = False

    recording = recorded(session, tmp_path / "a.tlrec")

    assert session.pictures.drawn == 0
    assert not recording.pictures.is_described
    assert (recording.pictures.newest, recording.pictures.brief) == (None, "")


def test_that_the_last_seconds_have_their_pictures(session: HostedSession, tmp_path: Path) -> None:
    session.pictures.is_watched = True
    step(session, 120)
    session.submit(SaveLast(str(tmp_path / "a.tlrec"), 500_000_000))
    session.recorder.close()

    recording = RecordedSession(tmp_path / "a.tlrec")

    assert x_at(recording, 119) == 120
    assert x_at(recording, 95) == 96
    assert x_at(recording, 10) is None


def test_that_a_picture_drawn_again_replaces_the_former(
    session: HostedSession, tmp_path: Path
) -> None:
    scene = SCENE.replace("stage.picture(", 'stage.state = "#fff"\n    stage.picture(')
    session = held_session(scene_file(tmp_path, scene.replace('"#fff", ', "stage.state, ")))
    session.recorder.start(tmp_path / "a.tlrec")
    step(session, 3)
    vars(session._run.stage)["state"] = "#f00"
    session.draw_picture()
    session.recorder.stop()

    newest = RecordedSession(tmp_path / "a.tlrec").pictures.newest

    assert newest is not None
    assert newest.shapes[0].fill == "#ff0000"


def test_that_going_back_begins_a_file_with_its_own_pictures(
    session: HostedSession, tmp_path: Path
) -> None:
    session.recorder.start(tmp_path / "a.tlrec")
    step(session, 5)
    session.submit(StepBack(2))
    session.refresh()
    step(session, 4)
    session.recorder.close()

    second = RecordedSession(tmp_path / "a 2.tlrec")

    assert [x_at(second, frame) for frame in range(7)] == list(range(1, 8))


def test_that_what_pictures_take_is_said(session: HostedSession, tmp_path: Path) -> None:
    assert session.recorder.picture_cost == ""
    session.pictures.is_watched = True
    step(session, 5)

    session.recorder.start(tmp_path / "a.tlrec")
    early = session.recorder.picture_cost
    session.recorder.stop()
    recording = RecordedSession(tmp_path / "a.tlrec")

    (outcome,) = session.recorder.outcomes_since(0)
    assert early.endswith(" kB a minute")
    assert re.fullmatch(r"[1-9]\d* kB a minute", outcome.picture_cost)
    assert recording.pictures.brief == f"5, {outcome.picture_cost}"


@pytest.mark.parametrize(
    ("size", "frames", "frame_rate", "text"),
    [
        (2_500, 10, 60, "900 kB a minute"),
        (5_000, 10, 60, "1.8 MB a minute"),
        (2_500, 10, 24, "360 kB a minute"),
        (0, 0, 60, "0 kB a minute"),
        (949, 1, 1_000 / 60, "949 kB a minute"),
        (951, 1, 1_000 / 60, "1.0 MB a minute"),
    ],
)
def test_that_pictures_take_what_their_frames_take_in_a_minute(
    size: float, frames: float, frame_rate: float, text: str
) -> None:
    assert pictures_module.cost_text(size, frames, frame_rate) == text


def test_that_pictures_lost_to_a_slow_disk_are_said(
    session: HostedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.pictures.is_watched = True
    step(session, 5)
    session.recorder.start(tmp_path / "a.tlrec")
    # Full for those who hand over, empty for those who wait.
    full = writer._PICTURES_WAITING
    monkeypatch.setattr(
        writer.RecordingWriter, "_are_pictures_behind", lambda _writer, size: size == full
    )

    step(session, 3)
    session.refresh()
    session.recorder.stop()

    (outcome,) = session.recorder.outcomes_since(0)
    assert outcome.picture_cost.endswith(" kB a minute, 3 left out because the disk is slow")


class Blocks:
    """Takes blocks in place of a file."""

    def __init__(self) -> None:
        self.frames: list[int] = []

    def execute(self, _text: str, values: tuple[int, int, int, bytes, bytes]) -> None:
        first, count, _, places, _ = values
        found = unpack(places, 2, count)[0]
        assert first == found[0]
        self.frames += found.tolist()


def test_that_expensive_pictures_are_thinned_out() -> None:
    chance = random.Random(1)
    blocks = Blocks()
    writer = pictures_module.PictureBlocks(blocks)  # type: ignore[arg-type]
    for frame in range(1_500):
        writer.add(frame, chance.randbytes(20_000))
    writer.flush()

    assert writer.bytes / writer.frames < 1.5 * pictures_module.BYTES_A_FRAME
    assert np.diff(blocks.frames).max() <= 8

    for frame in range(1_500, 2_500):
        writer.add(frame, b"the same")
    writer.flush()
    assert np.diff(blocks.frames)[-1] == 1


def test_that_pictures_span_the_frames_from_the_first_to_the_last() -> None:
    blocks = Blocks()
    writer = pictures_module.PictureBlocks(blocks)  # type: ignore[arg-type]
    assert writer.frames == 0
    for frame in range(100, 300, 5):
        writer.add(frame, b"small")
        if frame in {100, 250}:
            writer.flush()
            assert writer.frames == frame - 100 + 1
    writer.flush()

    assert (writer.frames, blocks.frames) == (196, list(range(100, 300, 5)))


def test_that_huge_pictures_and_full_files_leave_pictures_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocks = Blocks()
    writer = pictures_module.PictureBlocks(blocks)  # type: ignore[arg-type]
    writer.add(0, bytes(pictures_module.MOST_BYTES + 1))
    writer.flush()
    assert blocks.frames == []
    writer.add(0, bytes(pictures_module.MOST_BYTES))
    writer.flush()
    assert blocks.frames == [0]

    monkeypatch.setattr(pictures_module, "FILE_BYTES", writer.bytes)
    writer.add(1, b"one")
    writer.flush()
    writer.add(2, b"two")
    writer.flush()
    assert blocks.frames == [0, 1]


# ------------------------------------------------------------------ damage, other versions


@pytest.fixture
def file(session: HostedSession, tmp_path: Path) -> Path:
    recorded(session, tmp_path / "a.tlrec").close()
    return tmp_path / "a.tlrec"


def change(path: Path, text: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(text, values)


def test_that_a_damaged_picture_is_one_sentence(file: Path) -> None:
    change(file, "UPDATE pictures SET crc = crc + 1")
    recording = RecordedSession(file)

    assert recording.pictures.at(3) is None
    assert recording.pictures.failure.startswith("The file is damaged: this picture cannot be read")
    assert len(recording.notes) == 1
    assert "pictures" in recording.notes[0]
    # All else is there.
    assert recording.timeline.frames.end == 10


def test_that_recordings_of_older_inspectors_open(file: Path) -> None:
    change(file, "DROP TABLE pictures")
    recording = RecordedSession(file)

    assert (recording.notes, recording.pictures.newest) == ((), None)
    assert not recording.pictures.is_described


def test_that_the_pictures_are_a_table_that_other_readers_can_pass_over(file: Path) -> None:
    connection = sqlite3.connect(file)
    check_tables(connection, file)
    ((kind,),) = connection.execute(
        "SELECT type FROM sqlite_master WHERE name = 'pictures'"
    ).fetchall()
    connection.close()

    assert kind == "table"


GOOD = Picture(100.0, 100.0, "#000000", [circle(1, 2, 3, "#fff"), text(0, 0, "x", "#fff")])


def packed(**changes: object) -> bytes:
    """Return a picture whose first shape has been changed."""
    values = [list((GOOD.shapes[0]._asdict() | changes).values())]
    return msgspec.msgpack.encode([100.0, 100.0, "#000000", values])


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\xff",
        packed(kind=9),
        packed(numbers=(1.0,)),
        packed(numbers=(1.0, float("nan"), 1.0)),
        packed(numbers=(1.0, float("inf"), 1.0)),
        packed(fill='"/><script>'),
        packed(fill=""),
        packed(line="red"),
        packed(width=float("nan")),
        packed(text="x" * 10_000),
        packed(anchor=7),
        packed(clock=-1),
        msgspec.msgpack.encode([0.0, 100.0, "#000000", []]),
        msgspec.msgpack.encode([100.0, float("nan"), "#000000", []]),
        msgspec.msgpack.encode([100.0, 100.0, "", []]),
        msgspec.msgpack.encode([1.0, 1.0, "#000000", [list(GOOD.shapes[0])] * 10_001]),
    ],
)
def test_that_impossible_shapes_are_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpacked(damaged)


def test_that_whole_pictures_are_read_back() -> None:
    shapes = [*GOOD.shapes, polygon([(0, 0), (1, 0), (0, 1)], line="#123456", width=2)]
    whole = Picture(100.0, 50.0, "#123456", shapes)

    assert unpacked(msgspec.msgpack.encode(whole)) == whole


def test_that_a_block_cannot_unpack_to_more_than_it_may(file: Path) -> None:
    size = pictures_module.BLOCK_BYTES + pictures_module.MOST_BYTES + 1
    bomb = zlib.compress(bytes(size), 1)
    places = pack(np.array([[0], [size]], np.int64))
    crc = zlib.crc32(bomb, zlib.crc32(places))
    change(file, "UPDATE pictures SET count=1, crc=?, places=?, data=?", crc, places, bomb)
    recording = RecordedSession(file)

    assert recording.pictures.at(0) is None
    assert recording.pictures.failure


@pytest.mark.parametrize("sizes", [[9, -2], [3, 3], [4, 4]])
def test_that_pictures_are_apart_and_none_is_left_over(file: Path, sizes: list[int]) -> None:
    data = zlib.compress(b"seven b")

    def at(frame: int, sizes: list[int]) -> bytes | None:
        places = pack(np.array([[0, 1], sizes]))
        crc = zlib.crc32(data, zlib.crc32(places))
        change(file, "UPDATE pictures SET count=2, crc=?, places=?, data=?", crc, places, data)
        pictures = open_recording(file).pictures
        assert pictures is not None
        found = pictures.at(frame)
        return None if found is None else found[1]

    assert at(1, [4, 3]) == b"n b"
    with pytest.raises(ValueError, match="do not follow one another"):
        at(1, sizes)


def test_that_no_damage_of_pictures_makes_a_recording_fail(file: Path) -> None:
    whole = file.read_bytes()
    past = open_recording(file)
    good = past.pictures.at(0)
    past.close()
    assert good is not None
    connection = sqlite3.connect(file)
    ((first, count, _, places, data),) = connection.execute("SELECT * FROM pictures").fetchall()
    connection.close()
    odd = (None, "", "x", b"", b"\xff", -1, 0, 2**62, 1.5, 1e300)
    for number in rounds(100):
        chance = random.Random(number)
        file.write_bytes(whole)
        block = bytearray(chance.choice((places, data, zlib.decompress(data))))
        for _ in range(chance.randrange(4)):
            block[chance.randrange(len(block))] = chance.randrange(256)
        bytes_ = bytes(block)
        with_crc = (bytes_, zlib.crc32(zlib.compress(bytes_), zlib.crc32(places)))
        column = chance.choice(("first_frame", "count", "crc", "places", "data"))
        try:
            match chance.randrange(3):
                case 0:
                    change(file, f"UPDATE pictures SET {column}=?", chance.choice(odd))  # noqa: S608
                case 1:
                    change(file, f"UPDATE pictures SET {column}=?", bytes_)  # noqa: S608
                case _:
                    change(
                        *(file, "UPDATE pictures SET data=?, crc=?"),
                        *(zlib.compress(with_crc[0]), with_crc[1]),
                    )
        except sqlite3.IntegrityError:
            continue
        recording = RecordedSession(file)
        for frame in (-1, 0, first + count // 2, 9, 10**9):
            found = recording.pictures.at(frame)
            assert found is None or len(found.shapes) <= 10_000, number
            assert "\n" not in recording.pictures.failure, number
        assert isinstance(recording.pictures.brief, str)
        assert recording.timeline.frames.end == 10, number
        recording.close()
