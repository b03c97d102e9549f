import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.errors import CaptureError, UnreadableFileError
from inspector.formats.captures.capture import split_column, stream_named
from inspector.sessions.frame_files import read_frame_file
from tests.formats.read_captures import read_frame_times

SampleFile = Callable[[str], Path]
MS = 1_000_000


def write(folder: Path, text: str, *, encoding: str = "utf-8") -> Path:
    path = folder / "capture.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_that_a_plain_column_of_milliseconds_is_read(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, "16.6\n17\n 16.700001 \n"))
    assert capture.frame_times_ns == (16_600_000, 17_000_000, 16_700_001)
    assert capture.column == "column 1"
    assert capture.stream == ""
    assert capture.skipped == 0


def test_that_a_column_with_a_name_and_a_mark_of_encoding_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffframetime\r\n16.6\r\n17.1\r\n")
    assert read_frame_times(path).frame_times_ns == (16_600_000, 17_100_000)


def test_that_one_column_with_a_decimal_comma_is_read_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "ms\n16,6\n17,1\n")
    assert read_frame_times(path).frame_times_ns == (16_600_000, 17_100_000)


def test_that_names_repeated_between_captures_are_no_frames(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, "frametime,x\n16.5,a\nframetime,x\n17.5,b\n"))
    assert capture.frame_times_ns == (16_500_000, 17_500_000)
    assert capture.skipped == 0


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_that_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, "Gerät,FrameTime\nä,16.5\n", encoding=encoding)
    assert read_frame_times(path).frame_times_ns == (16_500_000,)


PRESENTMON = """\
Application,ProcessID,SwapChainAddress,TimeInSeconds,MsBetweenPresents,MsInPresentAPI
game.exe,10,0xA,0.01,16.5,0.1
dwm.exe,4,0xB,0.02,33.25,0.1
game.exe,10,0xA,0.03,NA,0.1
game.exe,10,0xA,0.05,17.5,0.1
game.exe,10,0xC,0.05,99,0.1
"""


def test_that_the_stream_with_the_most_frames_is_read_and_named(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, PRESENTMON))
    assert capture.frame_times_ns == (16_500_000, 17_500_000)
    assert capture.stream == "game.exe (process 10, swap chain 0xA)"
    assert capture.skipped == 1
    assert capture.notes == (
        (
            "Read game.exe (process 10, swap chain 0xA) with 2 frames, one of 3 streams. Skipped: "
            "game.exe (process 10, swap chain 0xC) with 1 and dwm.exe (process 4, swap chain 0xB) "
            "with 1."
        ),
        "1 row has no value and was skipped; the first is in line 4.",
    )


def test_that_a_program_is_read_before_the_compositor_with_more_frames(tmp_path: Path) -> None:
    rows = ["Application,ProcessID,SwapChainAddress,MsBetweenPresents"]
    rows += ["DWM.exe,4,0xB,16.5"] * 9 + ["game.exe,10,0xA,17.5"] * 3 + ["tool.exe,11,0xC,99"]

    capture = read_frame_times(write(tmp_path, "\n".join(rows)))

    assert capture.stream == "game.exe (process 10, swap chain 0xA)"
    assert len(capture.frame_times_ns) == 3


def test_that_the_compositor_is_read_if_nothing_else_is_in_the_capture(tmp_path: Path) -> None:
    text = "Application,MsBetweenPresents\ndwm.exe,16.5\ndwm.exe,16.5\n"

    assert len(read_frame_times(write(tmp_path, text)).frame_times_ns) == 2


def test_that_what_is_called_so_comes_before_what_only_has_it_in_its_name(tmp_path: Path) -> None:
    names = ["frame (game, main)", "first frame (game, main)", "update (game, frames)"]
    assert stream_named("frame", names, tmp_path) == 0
    assert stream_named("FIRST", names, tmp_path) == 1
    with pytest.raises(CaptureError, match="more than one stream"):
        stream_named("game", names, tmp_path)


def test_that_a_slice_called_frame_is_one_though_others_last_longer(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "pid": 1, "tid": tid, "name": name, "ts": number * 100, "dur": took}
        for number in range(9)
        for tid, name, took in ((1, "Frame", 40), (2, "wait", 99))
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))

    assert read_frame_file(path).column == "Frame"


@pytest.mark.parametrize("wait", ["time.sleep", "sleep (time.py:3)", "epoll_wait()"])
def test_that_a_call_that_waits_is_no_frame(tmp_path: Path, wait: str) -> None:
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": number * 100 + at, "dur": took}
        for number in range(9)
        for name, at, took in (("step", 0, 30), (wait, 30, 60))
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))

    assert read_frame_file(path).column == "step"
    assert read_frame_file(path, stream=wait).column == wait


@pytest.mark.parametrize(("name", "is_frame"), [("get_ident", False), ("Frame", True)])
def test_that_short_calls_are_frames_only_if_they_are_called_so(
    tmp_path: Path, name: str, *, is_frame: bool
) -> None:
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": number * 1_000, "dur": 1}
        for number in range(9)
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))

    if is_frame:
        assert read_frame_file(path).column == name
    else:
        with pytest.raises(CaptureError, match="none is taken for a frame"):
            read_frame_file(path)


def test_that_another_stream_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, PRESENTMON)
    assert read_frame_times(path, stream="DWM").frame_times_ns == (33_250_000,)
    assert read_frame_times(path, stream="0xc").frame_times_ns == (99 * MS,)
    with pytest.raises(CaptureError, match=r"more than one stream “game”\. They are game"):
        read_frame_times(path, stream="game")
    with pytest.raises(CaptureError, match="no stream “chrome”"):
        read_frame_times(path, stream="chrome")


def test_that_a_column_is_chosen_by_name_in_any_case_or_by_number(tmp_path: Path) -> None:
    path = write(tmp_path, PRESENTMON)
    assert read_frame_times(path, "msinpresentapi").column == "MsInPresentAPI"
    assert read_frame_times(path, "ms in present API").column == "MsInPresentAPI"
    assert read_frame_times(path, "6").column == "MsInPresentAPI"


def test_that_an_unknown_column_lists_those_there_are(tmp_path: Path) -> None:
    path = write(tmp_path, PRESENTMON)
    for wanted in ("nonsense", "7", "0"):
        with pytest.raises(
            CaptureError, match=rf"no column “{wanted}”\. Its columns are Application, ProcessID"
        ):
            read_frame_times(path, wanted)


def test_that_a_heading_that_ends_in_a_full_stop_gets_no_second_one(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"Its columns are Some\ \*words\*\.$"):
        read_frame_times(write(tmp_path, "Some *words*.\n1, 2\n"), "nonsense")


@pytest.mark.parametrize("name", ["fps", "Avg FPS", "refresh (Hz)", "frames per second"])
def test_that_frames_per_second_are_no_frame_times(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f"{name},FrameTime\n60,16.5\n")

    with pytest.raises(CaptureError, match=r"counts frames per second.*FrameTime"):
        read_frame_times(path, name)


def test_that_columns_of_instants_and_ticks_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "TimeInQPC,CPUStartTime,FrameTime\n1857900376640,5.1,16.5\n")
    with pytest.raises(CaptureError, match="counts ticks of the processor"):
        read_frame_times(path, "TimeInQPC")
    with pytest.raises(CaptureError, match="holds instants, not frame times"):
        read_frame_times(path, "CPUStartTime")
    assert read_frame_times(path).frame_times_ns == (16_500_000,)


def test_that_old_capframex_lines_are_passed_over(tmp_path: Path) -> None:
    comments = '//GameName=re2.exe\n//Comment="a, b\n\n'
    rows = "Application,MsBetweenPresents\nre2.exe,\nre2.exe,3.387\n"
    capture = read_frame_times(write(tmp_path, comments + rows))
    assert capture.frame_times_ns == (3_387_000,)
    assert capture.skipped == 1


MANGOHUD = "os,cpu,gpu,ram,kernel,driver,cpuscheduler\nDebian,Ryzen,RX,32,6.1,Mesa,performance\n"


def test_that_mangohud_logs_are_read_below_their_lines_about_the_machine(tmp_path: Path) -> None:
    text = MANGOHUD + "fps,frametime,cpu_load,elapsed\n60,16.6,30,16600000\n50,20,30,36600000\n"
    capture = read_frame_times(write(tmp_path, text))
    assert capture.frame_times_ns == (16_600_000, 20 * MS)
    assert capture.notes == ()


def test_that_mangohud_microseconds_of_2021_are_told_from_milliseconds(tmp_path: Path) -> None:
    text = MANGOHUD + "fps,frametime,elapsed\n60,16600,16600000\n50,20000,36600000\n"
    assert read_frame_times(write(tmp_path, text)).frame_times_ns == (16_600_000, 20 * MS)


def test_that_mangohud_samples_are_said_to_be_samples(tmp_path: Path) -> None:
    text = MANGOHUD + "fps,frametime,elapsed\n60,16.6,100000000\n50,20,200000000\n60,16,300000000\n"
    (note,) = read_frame_times(write(tmp_path, text)).notes
    assert "samples, not every frame" in note


def test_that_a_row_still_being_written_is_left_out(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, MANGOHUD + "fps,frametime\n60,16.6\n60,16.7\n6"))
    assert capture.frame_times_ns == (16_600_000, 16_700_000)
    assert capture.skipped == 1
    capture = read_frame_times(write(tmp_path, "frametime\n16.6\n1.2e"))
    assert (capture.frame_times_ns, capture.skipped) == ((16_600_000,), 1)


def test_that_frames_above_a_hundred_seconds_are_left_out_and_counted(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, "frametime\n16.6\n99700000\n"))
    assert capture.frame_times_ns == (16_600_000,)
    assert capture.skipped == 1
    (note,) = capture.notes
    assert note.startswith("Skipped 1 frame above 100 s, which capture programs write by mistake")
    assert note.endswith("; the first is in line 3.")


def test_that_semicolons_and_decimal_commas_are_understood(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, "Index;Frame Time (ms)\n1;16,6\n2;17,25\n"))
    assert capture.frame_times_ns == (16_600_000, 17_250_000)
    assert capture.column == "Frame Time (ms)"


def test_that_frameview_values_with_blanks_are_read(tmp_path: Path) -> None:
    text = "Application,MsBetweenPresents,MsPCLatency\ngame.exe, 16.5, 45998.1\ngame.exe, NA,NA\n"
    capture = read_frame_times(write(tmp_path, text))
    assert (capture.frame_times_ns, capture.skipped) == ((16_500_000,), 1)


@pytest.mark.parametrize(
    ("name", "cell", "expected_ns"),
    [
        ("work_ns", "1500", 1_500),
        ("work_us", "1.5", 1_500),
        ("work (µs)", "2", 2_000),
        ("work [ms]", "2", 2 * MS),
        ("work_s", "0.25", 250 * MS),
        ("work", "2", 2 * MS),
        ("thoughts", "2", 2 * MS),
    ],
)
def test_that_the_unit_in_a_name_is_heeded(
    tmp_path: Path, name: str, cell: str, expected_ns: int
) -> None:
    path = write(tmp_path, f"{name}\n{cell}\n")
    assert read_frame_times(path, name).frame_times_ns == (expected_ns,)


def test_that_milliseconds_become_nanoseconds_without_an_error_of_floats(tmp_path: Path) -> None:
    capture = read_frame_times(write(tmp_path, "ms\n100.06489999999999\n0.0000005\n1e1\n"))
    assert capture.frame_times_ns == (100_064_900, 0, 10 * MS)


def test_that_an_only_column_of_milliseconds_is_found_by_its_unit(tmp_path: Path) -> None:
    text = "step,temperature,render_ms,time_s\n1,50,4.5,0.1\n2,51,4.75,0.2\n"
    capture = read_frame_times(write(tmp_path, text))
    assert (capture.column, capture.frame_times_ns) == ("render_ms", (4_500_000, 4_750_000))


def test_that_several_possible_columns_are_listed_to_choose_from(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    with pytest.raises(CaptureError, match=r"Name the column as FILE:COLUMN\. .* are a, b\."):
        read_frame_times(path)
    path = write(tmp_path, "1,2\n3,4\n")
    with pytest.raises(CaptureError, match="2 columns without names; choose one by its number"):
        read_frame_times(path)
    assert read_frame_times(path, "2").frame_times_ns == (2 * MS, 4 * MS)


@pytest.mark.parametrize("cell", ["fast", "-1", "inf", "1.2.3", "."])
def test_that_a_damaged_row_is_counted_and_located(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path, f"//comment\nframe,frametime\n1,16.6\n2,{cell}\n3,{cell}\n4,16.6\n")
    capture = read_frame_times(path)
    assert (capture.frame_times_ns, capture.skipped) == ((16_600_000, 16_600_000), 2)
    (note,) = capture.notes
    assert note.startswith("2 rows are damaged and were skipped; the first is in line 4: ")
    assert f"“{cell}” is not a frame time" in note


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n//only=comments\n", "is empty"),
        (b",,\n,,\n", "only empty cells"),
        (b"frametime\n", "no rows below its names"),
        (b"frametime\nNA\n", "no column of numbers"),
        (b'{"traceEvents": []}', "holds JSON"),
        (b"[1, 2]", "holds JSON"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a picture"),
        (b"\x01\0\0\0\rab", "not a text file"),
        (b"name,kind\nx,y\n", "no column of numbers"),
    ],
)
def test_that_files_without_frame_times_are_refused(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "capture.csv"
    path.write_bytes(content)
    with pytest.raises(CaptureError, match=problem):
        read_frame_times(path)


def test_that_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="There is no file"):
        read_frame_times(tmp_path / "missing.csv")
    with pytest.raises(UnreadableFileError, match="is a folder"):
        read_frame_times(tmp_path)


def test_that_file_and_column_are_told_apart(tmp_path: Path) -> None:
    existing = tmp_path / "run:5.csv"
    existing.write_text("1\n")
    assert split_column("run.csv") == (Path("run.csv"), None)
    assert split_column("run.csv:FrameTime") == (Path("run.csv"), "FrameTime")
    with pytest.raises(CaptureError, match=r"“run\.csv:” names no column"):
        split_column("run.csv:")
    assert split_column(str(existing)) == (existing, None)
    assert split_column(f"{existing}:1") == (existing, "1")
    assert split_column(r"C:\runs\run.csv") == (Path(r"C:\runs\run.csv"), None)
    assert split_column(r"C:\runs\run.csv:ms") == (Path(r"C:\runs\run.csv"), "ms")
