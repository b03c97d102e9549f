"""Captures of programs whose files are not at hand, as their descriptions say they look."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from inspector.errors import CaptureError, ColumnChoiceError
from inspector.formats.captures import source
from inspector.formats.captures.capture import Capture, CaptureReader
from inspector.formats.protobuf import bytes_field, number_field
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS
from inspector.sessions.frame_files import open_frame_file, read_frame_file
from tests.formats.perfetto_bytes import begin, end, packet
from tests.formats.read_captures import whole

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000


def opened(folder: Path, content: str | bytes, name: str = "capture") -> Capture:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    reader = open_frame_file(path)
    assert isinstance(reader, CaptureReader)
    return whole(reader)


# ---------------------------------------------------------------------- tables


def test_that_fraps_instants_become_frame_times(tmp_path: Path) -> None:
    text = "Frame, Time (ms)\n    1,     0.000\n    2,    16.500\n    3,    50.000\n"
    capture = opened(tmp_path, text)
    assert capture.format == "FRAPS"
    assert capture.stream().interval_ns.tolist() == [16_500_000, 33_500_000]


def test_that_fraps_instants_that_go_back_are_damage(tmp_path: Path) -> None:
    stream = opened(tmp_path, "Frame, Time (ms)\n1,0\n2,16\n3,8\n4,24\n").stream()
    assert stream.interval_ns.tolist() == [16 * MS, 16 * MS]
    assert stream.skipped == 1


AFTERBURNER = """\
00, 08-01-2020 21:00:00, Hardware monitoring log v1.5
01, 08-01-2020 21:00:00, Some GPU
02, 08-01-2020 21:00:00, GPU temperature     ,Framerate           ,Frametime
03, 08-01-2020 21:00:00, 0                   ,0.000               ,100.000
80, 08-01-2020 21:00:01, 45.000              ,60.000              ,16.667
80, 08-01-2020 21:00:02, 46.000              ,50.000              ,20.000
"""


def test_that_only_rows_of_data_of_afterburner_are_frames(tmp_path: Path) -> None:
    stream = opened(tmp_path, AFTERBURNER, "log.hml").stream()
    assert stream.interval_ns.tolist() == [16_667_000, 20 * MS]
    assert stream.skipped == 0
    assert "samples, not every frame" in stream.samples


def test_that_a_log_of_afterburner_without_frame_times_says_what_to_log(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="Add Frametime"):
        opened(tmp_path, AFTERBURNER.replace("Frametime", "Fan speed"), "log.hml")


def test_that_ocat_describes_the_machine_in_the_first_row_only(tmp_path: Path) -> None:
    head = "Application,ProcessID,SwapChainAddress,MsBetweenPresents,Motherboard,Comment"
    text = f'{head}\ngame.exe,7,0xA,16.5,"Board, large",a run\ngame.exe,7,0xA,17.5\n'
    capture = opened(tmp_path, text)
    assert capture.format == "OCAT"
    assert capture.stream().interval_ns.tolist() == [16_500_000, 17_500_000]


def test_that_frameview_is_recognised(tmp_path: Path) -> None:
    text = "Application,MsBetweenPresents,Render Queue Depth\ngame.exe, 16.5, 1\n"
    assert opened(tmp_path, text).format == "FrameView"


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("TimeStamp,Application,Log Name,GPU0,Avg FPS,1% Low FPS", "summary of FrameView"),
        ("Duration,Total Frames,Average FPS,Minimum FPS", "statistics of PresentMon"),
        ("0.1% Min FPS,1% Min FPS,97% Percentile FPS,Average FPS", "summary of MangoHud"),
        ("Frames, Time (ms), Min, Max, Avg", "summary of FRAPS"),
    ],
)
def test_that_summaries_are_refused_as_such(tmp_path: Path, header: str, what: str) -> None:
    with pytest.raises(CaptureError, match=what):
        opened(tmp_path, f"{header}\n1,2,3,4,5,6\n")


def test_that_rates_alone_are_no_frame_times(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="no column of numbers that could be frame times"):
        opened(tmp_path, "FPS\n60\n61\n")


def test_that_a_column_that_rises_from_row_to_row_holds_no_frame_times(tmp_path: Path) -> None:
    rows = "".join(f"{second},{60 - second % 3}\n" for second in range(30))

    with pytest.raises(CaptureError, match="no column of numbers that could be frame times"):
        opened(tmp_path, f"time,fps\n{rows}", "log.csv")
    with pytest.raises(CaptureError, match="time holds instants, not frame times"):
        open_frame_file(tmp_path / "log.csv", "time")


def test_that_the_columns_to_choose_from_are_named(tmp_path: Path) -> None:
    with pytest.raises(ColumnChoiceError) as caught:
        opened(tmp_path, "game,render,note\n1,2,x\n")
    assert caught.value.columns == ("game", "render")


def test_that_rows_of_too_many_streams_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"app{number},16.5\n" for number in range(1_100))
    capture = opened(tmp_path, f"Application,MsBetweenPresents\n{rows}")
    assert len(capture.streams) == 1_000
    assert capture.notes == ("Skipped 100 rows of streams beyond the first 1,000.",)


# ---------------------------------------------------------------------- CapFrameX


def capframex(*runs: list[Any], **info: str) -> str:
    return json.dumps(
        {
            "Hash": "x",
            "Info": {"GameName": "game", "ProcessName": "game.exe", **info},
            "Runs": [
                {"CaptureData": {"MsBetweenPresents": run, "PcLatency": None}, "SensorData2": {}}
                for run in runs
            ],
        }
    )


def test_that_several_runs_of_capframex_are_read_together_or_singly(tmp_path: Path) -> None:
    capture = opened(tmp_path, capframex([16.5, 17], [33.25]))
    assert [(each.name, each.stream().interval_ns.tolist()) for each in capture.streams] == [
        ("game, all 2 runs", [16_500_000, 17 * MS, 33_250_000]),
        ("game, run 1", [16_500_000, 17 * MS]),
        ("game, run 2", [33_250_000]),
    ]


def test_that_values_of_capframex_that_are_no_times_are_counted(tmp_path: Path) -> None:
    stream = opened(tmp_path, capframex([16.5, None, -1, "x", 1e300])).stream()
    assert (stream.interval_ns.tolist(), stream.skipped) == ([16_500_000], 4)


@pytest.mark.parametrize("content", [capframex(), capframex([]), capframex([1])[:-20]])
def test_that_a_capframex_file_without_frames_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(CaptureError, match=r"no run with frame times|damaged capture"):
        opened(tmp_path, content)


# ---------------------------------------------------------------------- Tracy


ZONES = "name,src_file,src_line,ns_since_start,exec_time_ns,thread"


@pytest.mark.parametrize(
    ("text", "slices"),
    [
        (
            f"{ZONES}\nf<a, b>,x.cpp,3,1000,500,7\ng,x.cpp,9,2000,250,8\n",
            [("f<a, b>,x.cpp,3", 0, 500, "thread 7"), ("g,x.cpp,9", 1_000, 250, "thread 8")],
        ),
        ("MessageName,total_ns\nhi, you,5\nbye,9\n", None),
        ("name;src_file;Time from start of program;GPU execution time\ndraw;x.cpp;10;4\n", None),
    ],
)
def test_that_tables_of_tracy_are_traces(
    tmp_path: Path, text: str, slices: list[tuple[str, int, int, str]] | None
) -> None:
    capture = opened(tmp_path, text)
    assert capture.format == "Tracy"
    assert capture.slices is not None
    found = [
        (capture.slices.names[name], start, took, capture.slices.tracks[track].name)
        for name, start, took, track in zip(
            capture.slices.name.tolist(),
            capture.slices.start_ns.tolist(),
            capture.slices.took_ns.tolist(),
            capture.slices.track.tolist(),
            strict=True,
        )
    ]
    if slices is None:
        assert len(found) == text.count("\n") - 1
    else:
        assert [(name.split(",x.cpp")[0], *rest) for name, *rest in found] == [
            (name.split(",x.cpp")[0], *rest) for name, *rest in slices
        ]


def test_that_the_sums_of_tracy_are_refused_with_what_to_export(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="export with -u for each zone, -g"):
        opened(tmp_path, "name,src_file,src_line,total_ns,total_perc,counts\nf,x.cpp,3,9,1,2\n")


# ---------------------------------------------------------------------- traces in JSON


def event(**values: object) -> dict[str, object]:
    return {"ph": "X", "pid": 1, "tid": 2, "name": "frame", "ts": 0, "dur": 5} | values


def frames_of(count: int) -> list[dict[str, object]]:
    return [event(ts=number * 16, dur=10) for number in range(count)]


def test_that_a_slice_is_a_frame_whose_time_counts_from_the_slice_before(tmp_path: Path) -> None:
    stream = opened(tmp_path, json.dumps(frames_of(6))).stream()
    assert stream.name == "frame (process 1, thread 2)"
    assert stream.interval_ns.tolist() == [0] + [16_000] * 5
    assert stream.busy_ns is not None
    assert stream.busy_ns.tolist() == [10_000] * 6
    assert stream.frames().at_ns.tolist() == list(range(0, 96_000, 16_000))


@pytest.mark.parametrize("cut", [1, 20, 40])
def test_that_a_trace_that_is_cut_off_is_read_up_to_there(tmp_path: Path, cut: int) -> None:
    capture = opened(tmp_path, json.dumps(frames_of(9))[:-cut])
    assert capture.slices is not None
    assert len(capture.slices) == (9 if cut == 1 else 8)
    assert bool(capture.notes) == (cut > 1)


@pytest.mark.parametrize("broken", ['{"ph": "X", "ts": "soon"}', '{"ph": "X", "ts": }', "{}"])
def test_that_a_damaged_event_is_counted_and_located(tmp_path: Path, broken: str) -> None:
    events = ",\n".join([*map(json.dumps, frames_of(3)), broken, *map(json.dumps, frames_of(2))])
    capture = opened(tmp_path, f"[{events}]")
    assert capture.slices is not None
    assert len(capture.slices) == 5
    assert capture.notes == ("1 event is damaged and skipped; the first is at event 4.",)


def test_that_brackets_and_quotes_in_texts_do_not_count(tmp_path: Path) -> None:
    names = ['a "quoted" {', "back\\slash\\", "]}", '\\"']
    capture = opened(tmp_path, json.dumps({"traceEvents": [event(name=name) for name in names]}))
    assert capture.slices is not None
    assert set(capture.slices.names) == set(names)


def test_that_what_stands_before_the_events_does_not_matter(tmp_path: Path) -> None:
    values = {"metadata": {"x": ["{" * 100_000]}, "traceEvents": frames_of(5), "after": {}}
    assert len(opened(tmp_path, json.dumps(values)).stream()) == 5


def test_that_begins_and_ends_make_slices(tmp_path: Path) -> None:
    events = [
        event(ph="E", ts=1),
        event(ph="B", name="outer", ts=2),
        event(ph="B", name="inner", ts=3),
        event(ph="E", ts=5),
        event(ph="b", name="load", id="0x1", ts=4),
        event(ph="e", name="load", id="0x1", ts=9),
        event(ph="i", name="now", ts=6),
    ]
    capture = opened(tmp_path, json.dumps(events))
    assert capture.slices is not None
    durations = {
        capture.slices.names[name]: took
        for name, took in zip(
            capture.slices.name.tolist(), capture.slices.took_ns.tolist(), strict=True
        )
    }
    assert durations == {"outer": 7_000, "inner": 2_000, "load": 5_000, "now": 0}
    assert capture.notes == (
        "1 slice has no end: shown up to the last event.",
        "1 slice ends without having begun: skipped.",
    )


def test_that_a_slice_is_chosen_as_frame_by_its_name(tmp_path: Path) -> None:
    events = [*frames_of(6), *(event(name="tick", ts=each) for each in (0, 1, 50))]
    (tmp_path / "t.json").write_text(json.dumps(events))
    assert len(read_frame_file(tmp_path / "t.json", stream="tick").frames) == 3


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"resourceSpans": []}', "OpenTelemetry"),
        ('{"meta": {}, "stackTable": []}', "Firefox"),
        ('{"log": {"version": "1.2"}}', "HAR"),
        ('{"a": 1}', "neither a capture nor a trace"),
    ],
)
def test_that_other_json_is_refused_with_what_it_looks_like(
    tmp_path: Path, content: str, what: str
) -> None:
    with pytest.raises(CaptureError, match=what):
        opened(tmp_path, content)


# ---------------------------------------------------------------------- Perfetto


def test_that_track_events_of_perfetto_are_slices(tmp_path: Path) -> None:
    process = number_field(1, 7) + bytes_field(3, number_field(1, 10) + bytes_field(6, b"game"))
    thread = number_field(1, 8) + bytes_field(
        4, number_field(1, 10) + number_field(2, 11) + bytes_field(5, b"main")
    )
    names = bytes_field(12, bytes_field(2, number_field(1, 1) + bytes_field(2, b"update")))
    content = packet(bytes_field(60, process)) + packet(bytes_field(60, thread))
    content += packet(number_field(10, 3) + number_field(13, 1) + names)
    for number in range(6):
        content += begin(number * 16_000, 8, name_iid=1) + end(number * 16_000 + 9_000, 8)
    capture = opened(tmp_path, content)
    assert capture.format == "Perfetto trace"
    stream = capture.stream()
    assert stream.name == "update (game (10), main (11))"
    assert stream.interval_ns.tolist() == [0] + [16_000] * 5


def test_that_texts_of_before_are_no_longer_valid_once_a_packet_says_so(tmp_path: Path) -> None:
    names = bytes_field(12, bytes_field(2, number_field(1, 1) + bytes_field(2, b"update")))
    content = packet(number_field(10, 3) + names) + begin(0, 8, name_iid=1) + end(9, 8)
    content += packet(number_field(10, 3) + number_field(13, 2))
    content += begin(20, 8, name_iid=1) + end(29, 8)
    content += packet(number_field(10, 3) + number_field(13, 1))
    content += begin(40, 8, name_iid=1) + end(49, 8)

    slices = opened(tmp_path, content).slices
    assert slices is not None
    assert [slices.names[each] for each in slices.name.tolist()] == [
        *("update", "update", "(no name)")
    ]


def test_that_packets_may_be_compressed_and_count_time_from_each_other(tmp_path: Path) -> None:
    clock = bytes_field(
        6,
        bytes_field(
            1,
            number_field(1, 64) + number_field(2, 5) + number_field(3, 1) + number_field(4, 1_000),
        ),
    )
    defaults = bytes_field(59, number_field(58, 64) + bytes_field(11, number_field(11, 8)))
    content = packet(number_field(10, 3) + clock + defaults)
    for _ in range(6):
        content += begin(10, None, name=b"tick") + end(5, None)
    capture = opened(tmp_path, packet(bytes_field(50, zlib.compress(content))))
    assert capture.stream().interval_ns.tolist() == [0] + [15_000] * 5


def test_that_the_frame_timeline_of_android_has_frames(tmp_path: Path) -> None:
    content = b""
    for number in range(6):
        start = number_field(1, number + 1) + number_field(4, 10) + bytes_field(5, b"layer")
        content += packet(number_field(8, number * 16_000) + bytes_field(76, bytes_field(4, start)))
        content += packet(
            number_field(8, number * 16_000 + 5_000)
            + bytes_field(76, bytes_field(5, number_field(1, number + 1)))
        )
    stream = opened(tmp_path, content).stream()
    assert stream.column == "actual frame"
    assert stream.interval_ns.tolist() == [0] + [16_000] * 5


def test_that_jank_types_of_the_frame_timeline_are_told(tmp_path: Path) -> None:
    content = b""
    for number, jank in enumerate((1, 64, 64 | 128, 1, 1, 0)):
        start = number_field(1, number + 1) + number_field(4, 10) + number_field(9, jank)
        content += packet(number_field(8, number * 16_000) + bytes_field(76, bytes_field(4, start)))
        content += packet(
            number_field(8, number * 16_000 + 5_000)
            + bytes_field(76, bytes_field(5, number_field(1, number + 1)))
        )

    (note,) = opened(tmp_path, content).notes
    assert note.startswith("Jank types of 6 actual frames (Android FrameTimeline): ")
    assert note.endswith(": AppDeadlineMissed 2, BufferStuffing 1.")


def test_that_a_damaged_packet_is_counted(tmp_path: Path) -> None:
    good = b"".join(begin(each, 8, name=b"x") + end(each + 5, 8) for each in range(0, 60, 10))
    capture = opened(tmp_path, good + bytes([0x0A, 3, 0xFF, 0xFF, 0xFF]) + good[:-2])
    assert "2 events are damaged" in capture.notes[0]


# ---------------------------------------------------------------------- archives


def test_that_gzip_and_zip_are_expanded(tmp_path: Path) -> None:
    text = b"frametime\n16.5\n17.5\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("readme.txt", "x")
        written.writestr("capture.csv", text)
    for content in (gzip.compress(text), gzip.compress(text[:12]) + gzip.compress(text[12:])):
        assert len(opened(tmp_path, content).stream()) == 2
    capture = opened(tmp_path, archive.getvalue())
    assert len(capture.stream()) == 2
    assert capture.notes == ("Read “capture.csv”, the largest of 2 files in it.",)


def test_that_a_cut_archive_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = b"frametime\n" + b"".join(b"%d.5\n" % (each * 7919 % 97) for each in range(50_000))
    packed = gzip.compress(text)
    capture = opened(tmp_path, packed[: len(packed) // 2])
    assert 10_000 < len(capture.stream()) < 50_000
    assert "cut off or damaged" in capture.notes[0]


@pytest.mark.parametrize("kind", ["gzip", "zip"])
def test_that_an_archive_that_expands_without_end_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_RATIO_FROM_BYTES", 1 << 20)
    text = b"frametime\n" + b"16.5\n" * (2 << 20)
    archive = io.BytesIO()
    if kind == "gzip":
        archive.write(gzip.compress(text))
    else:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
            written.writestr("capture.csv", text)
    with pytest.raises(CaptureError, match="expands to more than 300 times"):
        opened(tmp_path, archive.getvalue())


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04broken", "is an archive that cannot be read"),
        (b"\x28\xb5\x2f\xfd\0", "compressed with zstd"),
        (b"tracy\0\0", "tracy-csvexport -u"),
        (b"\x7fELF\x02", "is a program"),
    ],
)
def test_that_what_cannot_be_read_is_said_to_be_that(
    tmp_path: Path, content: bytes, what: str
) -> None:
    with pytest.raises(CaptureError, match=what):
        opened(tmp_path, content)


# ---------------------------------------------------------------------- dates


_CAPFRAMEX = json.dumps(
    {
        "Info": {"CreationDate": "DATE"},
        "Runs": [{"CaptureData": {"MsBetweenPresents": [16]}}],
    }
)
_COMMENTS = "//CreationDate=2019-03-30\n//CreationTime=12:01:36\n"


@pytest.mark.parametrize(
    ("content", "created"),
    [
        (AFTERBURNER, datetime(2020, 1, 8, 21)),  # noqa: DTZ001 - where it was captured
        (f"{_COMMENTS}MsBetweenPresents\n16\n", datetime(2019, 3, 30, 12, 1, 36)),  # noqa: DTZ001
        (
            _CAPFRAMEX.replace("DATE", "2021-02-03T04:05:06Z"),
            datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC),
        ),
        (
            _CAPFRAMEX.replace("DATE", "0001-01-01T00:00:00"),
            None,
        ),
        ("//CreationDate=yesterday\nMsBetweenPresents\n16\n", None),
        ("MsBetweenPresents\n16\n", None),
        (",".join(CSV_COLUMNS) + "\n" + ",".join(["0"] * len(CSV_COLUMNS)) + "\n", None),
    ],
)
def test_that_a_capture_is_as_old_as_it_says(
    tmp_path: Path, content: str, created: datetime | None
) -> None:
    path = tmp_path / "capture.txt"
    path.write_text(content)

    provenance = read_frame_file(path).provenance

    assert provenance.created == created
    assert bool(provenance.created_text) == (created is not None)
