import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS, write_csv
from inspector.formats.tables.frame_times_json import write_json
from inspector.formats.tables.number_cells import number_rows
from inspector.vocabulary import Phase
from tests.formats.read_captures import read_frame_times

MakeFrames = Callable[[Sequence[int]], FrameTimes]


def csv_of(frames: FrameTimes, provenance: Provenance) -> bytes:
    stream = io.BytesIO()
    write_csv(frames, provenance, ExportOptions(), stream)
    return stream.getvalue()


def test_that_the_columns_have_names_with_units() -> None:
    assert (
        *("frame", "at_ns", "interval_ns", "delta_ns", "busy_ns"),
        *("timers_ns", "before_update_ns", "start_ns", "update_ns"),
        *("late_update_ns", "after_update_ns", "draw_ns"),
        *("at_ms", "interval_ms", "delta_ms", "busy_ms"),
    ) == CSV_COLUMNS


def test_that_every_row_has_every_column_and_ends_in_crlf(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    data = csv_of(make_frames([16_666_667, 33_333_333]), provenance)
    assert data.count(b"\r\n") == data.count(b"\n") == 3
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert rows[1]["frame"] == "1"
    assert rows[1]["at_ns"] == "50000000"
    assert rows[1]["at_ms"] == "50.000000"
    assert rows[1]["interval_ns"] == "33333333"
    assert rows[1]["interval_ms"] == "33.333333"
    assert int(rows[1]["update_ns"]) + int(rows[1]["draw_ns"]) == int(rows[1]["busy_ns"])


def test_that_no_frames_are_a_line_of_names(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    assert csv_of(make_frames([]), provenance).decode() == ",".join(CSV_COLUMNS) + "\r\n"


@given(
    st.lists(st.integers(min_value=0, max_value=10**18), min_size=1),
    st.integers(0, 18),
    st.binary(),
)
def test_that_cells_have_all_digits(numbers: list[int], decimals: int, constant: bytes) -> None:
    column = np.array(numbers, dtype=np.int64)

    ((rows, text),) = number_rows([(column, 0), constant, (column, decimals)], len(numbers))

    def shifted(number: int) -> str:
        digits = str(number).zfill(decimals + 1)
        return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits

    assert rows == slice(0, len(numbers))
    assert text == b"".join(
        b"%d,%b,%b\r\n" % (each, constant, shifted(each).encode()) for each in numbers
    )


@given(
    intervals=st.lists(st.integers(min_value=0, max_value=10**10), min_size=1, max_size=60),
    start_ns=st.integers(min_value=0, max_value=10**15),
)
def test_that_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    intervals: list[int],
    start_ns: int,
) -> None:
    column = np.array(intervals, dtype=np.int64)
    frames = FrameTimes.of_columns(
        np.arange(len(column)), start_ns + np.cumsum(column), column, column[::-1], column // 2
    )
    path = tmp_path_factory.getbasetemp() / "again.csv"
    with path.open("wb") as stream:
        write_csv(frames, None, ExportOptions(), stream)  # type: ignore[arg-type]

    capture = read_frame_times(path)

    assert capture.frame_times_ns == tuple(intervals)
    assert capture.column == "interval_ns"
    assert read_frame_times(path, "delta_ms").frame_times_ns == tuple(intervals[::-1])
    assert read_frame_times(path, "busy_ns").frame_times_ns == tuple(frames.busy_ns.tolist())


def test_that_json_says_what_it_is_and_holds_every_column(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    frames = make_frames([16_666_667, 33_333_333, 16_666_667])
    stream = io.BytesIO()
    write_json(frames, provenance, ExportOptions(title="A title"), stream)
    content = json.loads(stream.getvalue())
    assert content["format"] == "timeline-inspector frame times"
    assert content["version"] == 1
    assert content["provenance"] == {
        "title": "A title",
        "scene": "arcade.py",
        "created": "2026-11-21T02:10:05+00:00",
        "inspector_version": "0.1.0",
        "source": "virtual time",
        "frame_rate": "60",
        "note": "for a test",
    }
    assert content["frame_count"] == 3
    assert content["summary"]["interval_ns"] == {
        "median": 16_666_667,
        "p99": 33_333_333,
        "max": 33_333_333,
    }
    assert list(content["columns"]) == [
        name for name in CSV_COLUMNS if name == "frame" or name.endswith("_ns")
    ]
    assert content["columns"]["interval_ns"] == frames.interval_ns.tolist()
    assert content["columns"]["draw_ns"] == frames.phase(Phase.DRAW).tolist()


def test_that_json_of_no_frames_and_odd_names_is_json(
    make_frames: MakeFrames, provenance: Provenance
) -> None:
    stream = io.BytesIO()
    odd = structs.replace(provenance, scene='a "name" \udc80 ü', frame_rate=None)
    write_json(make_frames([]), odd, ExportOptions(), stream)
    content = json.loads(stream.getvalue().decode("utf-8"))
    assert content["provenance"]["scene"] == 'a "name" \udc80 ü'
    assert content["summary"]["busy_ns"] is None
    assert content["columns"]["frame"] == []


def test_that_a_large_table_is_written_in_parts_without_a_seam(
    make_frames: MakeFrames, provenance: Provenance, tmp_path: Path
) -> None:
    intervals = [16_000_000 + number for number in range(45_000)]
    path = tmp_path / "large.csv"
    path.write_bytes(csv_of(make_frames(intervals), provenance))
    assert read_frame_times(path).frame_times_ns == tuple(intervals)
