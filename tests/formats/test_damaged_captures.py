"""Captures cut, flipped and filled with nonsense: read as far as they go, or refused."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from math import nan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pytest

from inspector.analysis.statistics.column_summary import summary_of
from inspector.errors import InspectorError
from inspector.events.timeline import Timeline
from inspector.formats.captures.capture import CaptureReader
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.protobuf import bytes_field, double_field, fixed_field, number_field
from inspector.formats.tables.arrow_table import PACKAGE, write_arrow
from inspector.sessions.captured import CapturedSession
from inspector.sessions.frame_files import IMPORTERS, open_frame_file, read_frame_file
from tests.cli.damaged_captures import TABLES, damage, own_csv, own_json
from tests.events.recording.recorded_worlds import record, scene_log
from tests.formats.perfetto_bytes import begin, end, packet
from tests.fuzz import rounds

_LONGEST_MESSAGE = 8_000


def _trace_json() -> bytes:
    events: list[dict[str, object]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "game"}}
    ]
    for number in range(20):
        at = number * 16
        events += [
            {"ph": "X", "pid": 1, "tid": 2, "name": "frame", "ts": at, "dur": 10.5},
            {"ph": "B", "pid": 1, "tid": 3, "name": 'a "b" {', "ts": at},
            {"ph": "E", "pid": 1, "tid": 3, "ts": at + 4},
            {"ph": "b", "pid": 1, "name": "load", "id": "0x1", "ts": at},
            {"ph": "e", "pid": 1, "name": "load", "id": "0x1", "ts": at + 9},
            {"ph": "C", "pid": 1, "name": "left", "args": {"jobs": number, "MB": 1.5}, "ts": at},
            {"ph": "s", "pid": 1, "tid": 2, "name": "go", "id": number, "ts": at + 1},
            {"ph": "f", "pid": 1, "tid": 3, "name": "go", "id": number, "ts": at + 2, "bp": "e"},
            {"ph": "i", "pid": 1, "tid": 3, "name": "mark", "ts": at, "args": {"a": [1, {"b": 2}]}},
        ]
    return json.dumps({"traceEvents": events}, indent=None).encode()


def _perfetto() -> bytes:
    track = bytes_field(60, number_field(1, 8) + bytes_field(2, b"main"))
    found = packet(track)
    found += packet(bytes_field(60, number_field(1, 9) + bytes_field(8, bytes_field(6, b"MB"))))
    for number in range(30):
        at_ns = number * 16_000
        found += begin(at_ns, 8, name=b"update") + end(at_ns + 900, 8)
        counted = number_field(9, 4) + number_field(11, 9) + double_field(44, number / 3)
        inner = bytes_field(11, bytes_field(10, b"part") + number_field(4, number))
        about = number_field(9, 3) + number_field(11, 8) + fixed_field(47, number // 2)
        about += bytes_field(4, bytes_field(10, b"about") + inner)
        for event in (counted, about):
            found += packet(number_field(8, at_ns) + bytes_field(11, event))
    return found


def _capframex() -> bytes:
    columns = {"QPCTime": [1] * 18, "GpuActive": [9.5] * 18, "TimeInSeconds": list(range(18))}
    sensors = {
        "t": {"Name": "MeasureTime", "Type": "Time", "Values": [4, 8, 12]},
        "p": {"Name": "GPU Power", "Type": "Power", "Values": [200, 210.5, 190]},
        "l": {"Name": "GPU Core", "Type": "Load", "Values": [90, 91, 92]},
    }
    old = {"MeasureTime": [4, 8], "GpuUsage": [90, 91], "CpuTemp": [50, 51]}
    run = {"CaptureData": {"MsBetweenPresents": [16.5, 17.25] * 9, **columns}}
    runs = [{**run, "SensorData2": sensors}, {**run, "SensorData": old}]
    return json.dumps({"Info": {"GameName": "g"}, "Runs": runs}).encode()


def _generated() -> bytes:
    head = "Application,FrameType,TimeInMs,MsBetweenPresents,MsGPUBusy,GPU Power(W)\n"
    kinds = ("Application", "AMD AFMF")
    rows = (f"a.exe,{kinds[n % 2]},{n // 2 * 16},16,{n},200\n" for n in range(40))
    return (head + "".join(rows)).encode()


def _tracy() -> bytes:
    head = "name,src_file,src_line,ns_since_start,exec_time_ns,thread\n"
    return (head + "".join(f"f<a, b>,x.cpp,3,{n * 1000},500,7\n" for n in range(20))).encode()


def _afterburner() -> bytes:
    when = "08-01-2020 21:00:01"
    rows = "".join(f"80, {when}, 60.000 , 16.{n:03}  \n" for n in range(20))
    return f"00, {when}, log\n02, {when}, Framerate ,Frametime \n{rows}".encode()


def _zipped(data: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("capture", data)
    return archive.getvalue()


def _spans() -> bytes:
    spans = [
        {
            "traceId": "5b8e",
            "spanId": f"{number:04}",
            "name": f"part {number % 3}",
            "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 16_000),
            "endTimeUnixNano": str(1_700_000_000_000_000_000 + number * 16_000 + 9_000),
            "parentSpanId": f"{number - 1:04}" if number % 2 else "",
            "attributes": [{"key": "n", "value": {"intValue": str(number)}}],
        }
        for number in range(30)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


@cache
def _recording() -> bytes:
    with TemporaryDirectory() as folder:
        return record(scene_log("1", 1), Path(folder) / "damaged.tlrec").read_bytes()


@cache
def _arrow() -> bytes:
    frames = np.arange(1, 13, dtype=np.int64) * 16_000_000
    times = FrameTimes.of_columns(np.arange(12), np.cumsum(frames), frames, frames)
    stream = io.BytesIO()
    about = Provenance("game", datetime(2026, 1, 2, tzinfo=UTC), "0")
    write_arrow(times, about, ExportOptions(), stream)
    return stream.getvalue()


#: Files that each importer reads, by its name.
_MADE: Final[Mapping[str, tuple[Callable[[], bytes], ...]]] = {
    "table": (*TABLES, _generated, _afterburner),
    "recording": (_recording,),
    "JSON": (own_json,),
    "CSV": (own_csv,),
    "Arrow": (_arrow,),
    "CapFrameX": (_capframex,),
    "OpenTelemetry": (_spans,),
    "trace": (_trace_json,),
    "Perfetto": (_perfetto,),
    "Tracy": (_tracy,),
}
_PACKED = (lambda data: data, lambda data: data, gzip.compress, _zipped)


def _damaged(name: str, random: Random) -> bytes:
    """Return a capture that is damaged, or packed with damage inside or outside."""
    if name == "Arrow":
        pytest.importorskip(PACKAGE)
    data = random.choice(_MADE[name])()
    packed = random.choice(_PACKED)
    if random.random() < 1 / 4:
        return damage(packed(data), random)
    return bytes(packed(damage(data, random)))


def test_that_every_importer_is_tried() -> None:
    assert list(_MADE) == [each.name for each in IMPORTERS.own]


@pytest.mark.parametrize("name", _MADE)
def test_that_a_damaged_capture_opens_or_is_refused_with_a_sentence(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "capture"
    for seed in rounds(20):
        random = Random(seed)
        path.write_bytes(_damaged(name, random))
        try:
            session = CapturedSession(path)
        except InspectorError as error:
            said = str(error)
        else:
            said = " ".join((session.status.message, *session.notes))
            _check_fold(session, random)
        assert 0 < len(said) < _LONGEST_MESSAGE, f"seed {seed}: {said[:200]}"


def _check_fold(session: CapturedSession, random: Random) -> None:
    """Check that a state is that of folding the events, also of what was damaged."""
    history = session.history
    cursor = random.randint(0, history.end)
    folded = Timeline(history.strings)
    folded.apply_all(history.events(0, cursor))
    state = history.state_before(cursor)
    assert folded.at_ns == state.at_ns
    assert folded.frames.at_ns == state.frames.at_ns
    assert len(folded.members) == len(state.members)
    slices = session.history.slices
    if slices is not None:
        arguments, flows = slices.extras.arguments, slices.extras.flows
        for place in arguments.place[:9].tolist():
            assert 0 <= place < len(slices)
            arguments.of(place)
        assert set(flows.place.tolist()) <= set(range(len(slices)))
        for levels in session.history.levels:
            assert levels.text_of(levels.edges[1])


def _check_columns(frames: FrameTimes) -> None:
    """Check that each column beside the frame times has a value, or none, for each frame."""
    beside = frames.beside
    if beside is not None:
        read = beside.numbers([each.at for each in beside.quantities])
        assert {len(each) for each in read} <= {len(frames)}
        for each, values in zip(beside.quantities, read, strict=True):
            summary_of(each.name, each.unit, values, frames.interval_ns)


@pytest.mark.parametrize("name", _MADE)
def test_that_a_stream_of_a_damaged_capture_is_read_or_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "capture"
    for seed in rounds(5):
        random = Random(seed)
        path.write_bytes(_damaged(name, random))
        try:
            reader = open_frame_file(path)
            if isinstance(reader, CaptureReader):
                while reader.read_on():
                    assert 0 <= reader.done <= 1
            wanted = random.choice(["game", "0x", "frame", "", "run 1"])
            frames = read_frame_file(path, stream=wanted).frames
        except InspectorError as error:
            said, least_ns = str(error), 0
        else:
            said, least_ns = "", int(frames.interval_ns.min(initial=0))
            _check_columns(frames)
        assert len(said) < _LONGEST_MESSAGE, f"seed {seed}"
        assert least_ns >= 0, f"seed {seed}"


#: What is no frame time, with what becomes of it in a table.
_NO_TIMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("oops", "12#5", "-5", "0x10", "true", "é", "{}", "inf", "1e99e9"), "damaged"),
    **dict.fromkeys(("NA", "", "-", "nan", "N/A"), "no value"),
    **dict.fromkeys(("1e300", "4000000000000000000", "200000"), "above 100 s"),
}


def _rows_of(kind: str, times: list[str]) -> tuple[str, int]:
    """Return a table with these frame times, and the line of the first."""
    if kind == "MangoHud":
        lines = (f"60,{each},{n * 16_000_000}" for n, each in enumerate(times))
        return "\n".join(("os,cpu", "Linux,fast", "fps,frametime,elapsed", *lines, "")), 4
    if kind == "European":
        return "\n".join(
            ("Bild;ms;FPS", *(f"{n};{each};60" for n, each in enumerate(times)), "")
        ), 2
    lines = (f"a.exe,{each},{n}.5" for n, each in enumerate(times))
    return "\n".join(("Application,MsBetweenPresents,MsGPUBusy", *lines, "")), 2


@pytest.mark.parametrize("kind", ["PresentMon", "MangoHud", "European"])
def test_that_what_is_no_frame_time_is_counted_and_located_and_changes_no_other(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "capture.csv"
    for seed in rounds(20):
        random = Random(seed)
        times = [f"{random.uniform(5, 40):.4f}" for _ in range(60)]
        places = sorted(random.sample(range(2, 58), random.randint(1, 6)))
        cells = dict(zip(places, random.choices(list(_NO_TIMES), k=len(places)), strict=True))
        mark = "," if kind == "European" else "."
        text, line = _rows_of(
            kind, [cells.get(n, each.replace(".", mark)) for n, each in enumerate(times)]
        )
        path.write_text(text, encoding="utf-8")

        read = read_frame_file(path)

        wanted = [round(float(each) * 1e6) for n, each in enumerate(times) if n not in cells]
        assert read.frames.interval_ns.tolist() == wanted, f"seed {seed}: {cells}"
        for what in set(map(_NO_TIMES.__getitem__, cells.values())):
            of_kind = [place for place, cell in cells.items() if _NO_TIMES[cell] == what]
            (note,) = (each for each in read.notes if what in each)
            assert f"{len(of_kind)} " in note, f"seed {seed}: {note}"
            assert f"the first is in line {line + of_kind[0]}" in note, f"seed {seed}: {note}"
            assert note in read.missing


def test_that_damage_in_a_column_is_counted_and_located_and_changes_no_other(
    tmp_path: Path,
) -> None:
    path = tmp_path / "capture.csv"
    for seed in rounds(20):
        random = Random(seed)
        numbers = [f"{random.uniform(1, 9):.3f}" for _ in range(60)]
        odd = sorted(random.sample(range(60), random.randint(1, 6)))
        cells = {
            place: random.choice(("oops", "12#5", "0x10", "é", "inf", "1e300")) for place in odd
        }
        none = {place for place in random.sample(range(60), 9) if place not in cells}
        rows = [
            f"a.exe,16.{n:02},{cells.get(n, 'NA' if n in none else each)},2e{n % 3}"
            for n, each in enumerate(numbers)
        ]
        head = "Application,MsBetweenPresents,MsGPUBusy,GPU Power(W)"
        path.write_text("\n".join((head, *rows, "")), encoding="utf-8")

        beside = read_frame_file(path).frames.beside

        assert beside is not None
        busy, power = (each.at for each in beside.quantities)
        found, watts = beside.numbers([busy, power])
        wanted = [nan if n in cells or n in none else float(each) for n, each in enumerate(numbers)]
        np.testing.assert_array_equal(found, wanted, f"seed {seed}: {cells}")
        assert watts.tolist() == [2.0 * 10 ** (n % 3) for n in range(60)]
        assert list(beside.damage([busy, power])) == [busy]
        said = beside.damage([busy])[busy]
        are = "1 value is" if len(odd) == 1 else f"{len(odd)} values are"
        assert said.startswith(f"MsGPUBusy: {are} damaged"), f"seed {seed}: {said}"
        assert f"in line {odd[0] + 2}: “{cells[odd[0]]}”" in said, f"seed {seed}: {said}"


def test_that_damage_in_a_capture_of_capframex_is_counted_and_located(tmp_path: Path) -> None:
    path = tmp_path / "capture.json"
    odd: tuple[object, ...] = ("x", None, True, [], {"a": 1}, -1, 1e300)
    for seed in rounds(20):
        random = Random(seed)
        times: list[object] = [random.uniform(5, 40) for _ in range(60)]
        busy: list[object] = [random.uniform(1, 9) for _ in range(60)]
        cells = {place: random.choice(odd) for place in random.sample(range(60), 5)}
        broken = sorted(random.sample(range(60), 3))
        data = {
            "MsBetweenPresents": [cells.get(n, each) for n, each in enumerate(times)],
            "GpuActive": ["?" if n in broken else each for n, each in enumerate(busy)],
        }
        path.write_text(json.dumps({"Info": {}, "Runs": [{"CaptureData": data}]}))

        read = read_frame_file(path)

        kept = [n for n in range(60) if n not in cells]
        wanted = [round(float(str(times[n])) * 1e6) for n in kept]
        assert read.frames.interval_ns.tolist() == wanted, f"seed {seed}"
        note = "5 values are not a frame time and skipped; the first is number"
        assert f"{note} {min(cells) + 1} of the run." in read.missing, f"seed {seed}"
        beside = read.frames.beside
        assert beside is not None
        (found,) = beside.numbers([0])
        assert found.tolist() == pytest.approx(
            [nan if n in broken else busy[n] for n in kept], nan_ok=True
        )
        are = "GpuActive: 3 values are damaged and were left out; the first is number"
        assert beside.damage([0]) == {0: f"{are} {broken[0] + 1}."}, f"seed {seed}"
