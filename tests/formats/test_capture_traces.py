"""A capture as a trace: what is read back is what was captured."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from inspector.errors import ExportError
from inspector.formats.captures import trace, trace_extras
from inspector.formats.captures.capture import Capture, CaptureReader, Slices, Track
from inspector.formats.captures.trace import TraceBuilder
from inspector.formats.export import TRACE_EXPORTERS, export_frames, exporter_for
from inspector.formats.frame_times import FrameTimes
from inspector.formats.options import ExportOptions
from inspector.formats.traces.session_trace import Events
from inspector.sessions.capture_history import CaptureHistory
from inspector.sessions.frame_files import FrameFile, open_frame_file, read_frame_file
from tests.formats.read_captures import whole
from tests.formats.test_round_trips import CARRIED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspector.formats.frame_times import Provenance

    SampleFile = Callable[[str], Path]

Row = tuple[str, str, str, int, int]
#: Of the exporters of events, those whose files are read back.
SUFFIXES = [each.suffix for each in TRACE_EXPORTERS if "events" in CARRIED[each.key]]

#: A trace without counters, flows and arguments.
SLICES_ALONE = "viztracer/multithread.json"


def name_of(text: str) -> str:
    """Return a name without a number that the format has for every thread."""
    return re.sub(r"^(process|thread)( \d+)? \(\d+\)$", r"\1\2", re.sub(r" \(\d{7}\)$", "", text))


def rows(slices: Slices) -> list[Row]:
    """Return slices by process, thread, name, start and duration."""
    tracks = [slices.tracks[number] for number in slices.track.tolist()]
    return sorted(
        (name_of(track.process), name_of(track.name), slices.names[name], start, took)
        for track, name, start, took in zip(
            tracks,
            slices.name.tolist(),
            slices.start_ns.tolist(),
            slices.took_ns.tolist(),
            strict=True,
        )
    )


def read_back(path: Path) -> Capture:
    reader = open_frame_file(path)
    assert isinstance(reader, CaptureReader)
    return whole(reader)


def written(file: FrameFile, path: Path, part: tuple[int, int | None] = (0, None)) -> Capture:
    events = Events(CaptureHistory(file.frames, file.slices), *part)
    export_frames(file.frames, file.provenance, ExportOptions(), path, events=events)
    return read_back(path)


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[int, int, int, int]]:
    """Return slices by track, name, start and duration, nested within each track."""
    found: list[tuple[int, int, int, int]] = []

    def within(track: int, start: int, end: int, depth: int) -> None:
        at = start
        while depth and at < end and draw(st.booleans()):
            began = draw(st.integers(at, end))
            ended = draw(st.integers(began, end))
            found.append((track, draw(st.integers(0, 3)), began, ended - began))
            within(track, began, ended, depth - 1)
            at = ended + 1

    for track in range(3):
        within(track, 0, 10**6, 3)
    return [*found, (0, 0, 0, 10**6)]


def arguments_of(slices: Slices) -> list[str]:
    """Return the slices that have arguments, with them, in any order."""
    arguments = slices.extras.arguments
    return sorted(
        f"{slices.names[slices.name[place]]} {slices.span_ns(place)} {arguments.of(place)}"
        for place in arguments.place.tolist()
    )


def flows_of(slices: Slices) -> list[list[tuple[str, int]]]:
    """Return each flow as its slices by name and start, in any order."""
    flows = slices.extras.flows
    found: dict[int, list[tuple[str, int]]] = {}
    for flow, place in zip(flows.flow.tolist(), flows.place.tolist(), strict=True):
        name, start = slices.names[slices.name[place]], int(slices.start_ns[place])
        found.setdefault(flow, []).append((name, start))
    return sorted(found.values())


def counters_of(slices: Slices) -> dict[str, list[tuple[int, float]]]:
    """Return instants and values of each counter, by process and name."""
    counters = slices.extras.counters
    return {
        f"{name_of(track.process)}: {track.title}": list(
            zip(*(column.tolist() for column in counters.of(place)), strict=True)
        )
        for place, track in enumerate(counters.tracks)
    }


@cache
def read_sample(path: Path) -> FrameFile:
    return read_frame_file(path, needs_frames=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "name",
    [
        *("chrome_trace/big_trace.json", "chrome_trace/x_event_trace.json"),
        *("chrome_trace/simple_trace.json", "chrome_trace/instant_events.json"),
        *("chrome_trace/flow_simple.json", "chrome_trace/perfetto_flow_events_json_v1.json"),
        *("chrome_trace/instance_counters.json", "chrome_trace/async_begin_end.json"),
        *(SLICES_ALONE, "viztracer/function_args_return.json"),
    ],
)
def test_that_all_of_a_trace_is_exported_again(
    sample_file: SampleFile, tmp_path: Path, name: str, suffix: str
) -> None:
    file = read_sample(sample_file(name))
    assert file.slices is not None

    again = written(file, tmp_path / f"again{suffix}")

    assert again.slices is not None
    assert rows(again.slices) == rows(file.slices)
    assert counters_of(again.slices) == counters_of(file.slices)
    assert flows_of(again.slices) == flows_of(file.slices)
    assert arguments_of(again.slices) == arguments_of(file.slices)
    extras = file.slices.extras
    found = len(extras.counters.value) + len(extras.flows.place) + len(extras.arguments.place)
    assert bool(found) is (name != SLICES_ALONE)
    assert again.notes == ()
    if len(file.frames):
        assert again.stream().interval_ns.tolist() == file.frames.interval_ns.tolist()


_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_JSON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_ARGUMENTS: Final = st.dictionaries(_TEXT, _JSON, max_size=3)
_COUNTED: Final = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(["fps", "memory", "queue (3)"]),
        st.integers(0, 10**6),
        st.floats(-1e300, 1e300),
    ),
    max_size=9,
    unique_by=lambda each: each[:3],
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spans=nested(), data=st.data(), counted=_COUNTED)
def test_that_any_counters_flows_and_arguments_are_the_same_when_read_back(  # noqa: PLR0913, PLR0917
    tmp_path_factory: pytest.TempPathFactory,
    provenance: Provenance,
    make_frames: Callable[[list[int]], FrameTimes],
    suffix: str,
    spans: list[tuple[int, int, int, int]],
    data: st.DataObject,
    counted: list[tuple[int, str, int, float]],
) -> None:
    builder = TraceBuilder()
    for number in range(3):
        builder.name_process(number // 2, f"game {number // 2} ({1 + number // 2})")
        builder.track(number, number // 2, f"thread {number} ({7 + number})")
    by_start: dict[int, int] = {}
    for place, (track, name, start_ns, took_ns) in enumerate(spans):
        arguments = data.draw(_ARGUMENTS)
        text = json.dumps(arguments).encode() if arguments else b""
        builder.add(track, builder.text(f"slice {name}"), start_ns, took_ns, text)
        by_start[start_ns] = place
    places = [by_start[start] for start in sorted(by_start)]
    for flow in range(3 if len(places) > 1 else 0):
        chain = data.draw(st.sets(st.sampled_from(places), min_size=2, max_size=4))
        steps = [place for place in places if place in chain]
        for place in steps:
            is_last = place == steps[-1]
            number = builder.extras.flow(flow, "go", begins=place == steps[0], ends=is_last)
            builder.extras.add_step(number, place)
    for process, counter, at_ns, value in counted:
        builder.extras.add_counter(process, counter, "value", at_ns, value)
    path = tmp_path_factory.mktemp("extras") / f"a{suffix}"
    slices = builder.capture(path, "test").slices
    assert slices is not None
    file = FrameFile(make_frames([]), provenance, (), has_work=False, slices=slices)

    again = written(file, path).slices

    assert again is not None
    assert rows(again) == rows(slices)
    assert counters_of(again) == counters_of(slices)
    assert flows_of(again) == flows_of(slices)
    assert arguments_of(again) == arguments_of(slices)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_slices_that_overlap_keep_their_durations(
    tmp_path: Path,
    provenance: Provenance,
    make_frames: Callable[[list[int]], FrameTimes],
    suffix: str,
) -> None:
    builder = TraceBuilder()
    builder.name_process(1, "game (1)")
    builder.track(0, 1, "load (async)")
    for start_ns, took_ns in ((0, 100), (50, 100), (60, 20), (120, 80)):
        builder.add(0, builder.text("load"), start_ns, took_ns)
    path = tmp_path / f"a{suffix}"
    slices = builder.capture(path, "test").slices
    file = FrameFile(make_frames([]), provenance, (), has_work=False, slices=slices)

    again = written(file, path).slices

    assert slices is not None
    assert again is not None
    assert rows(again) == rows(slices)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spans=nested())
def test_that_any_slices_are_the_same_when_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    provenance: Provenance,
    make_frames: Callable[[list[int]], FrameTimes],
    suffix: str,
    spans: list[tuple[int, int, int, int]],
) -> None:
    builder = TraceBuilder()
    for number in range(3):
        builder.name_process(number // 2, f"game {number // 2} ({1 + number // 2})")
        builder.track(number, number // 2, f"thread {number} ({7 + number})")
    for track, name, start_ns, took_ns in spans:
        builder.add(track, builder.text(f"slice {name}"), start_ns, took_ns)
    path = tmp_path_factory.mktemp("spans") / f"a{suffix}"
    slices = builder.capture(path, "test").slices
    assert slices is not None
    file = FrameFile(make_frames([]), provenance, (), has_work=False, slices=slices)

    again = written(file, path).slices

    assert again is not None
    assert rows(again) == rows(slices)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_that_a_table_of_frames_becomes_a_trace_of_frames(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "mango.csv"
    path.write_text("ms\n" + "".join(f"{10 + number % 7}\n" for number in range(99)))
    file = read_frame_file(path, "ms")

    again = written(file, tmp_path / f"a{suffix}")

    assert again.stream().column == "frame"
    frames = again.stream().frames()
    assert frames.interval_ns.tolist() == [0, *file.frames.interval_ns.tolist()]
    assert frames.at_ns.tolist() == [0, *file.frames.at_ns.tolist()]


def test_that_only_slices_within_the_range_are_written(
    tmp_path: Path, provenance: Provenance, make_frames: Callable[[list[int]], FrameTimes]
) -> None:
    slices = Slices(
        (Track("game (3)", "main (4)"),),
        ("a", "b", "c"),
        start_ns=np.array([0, 100, 900], np.int64),
        took_ns=np.array([50, 500, 10], np.int64),
        track=np.zeros(3, np.int32),
        name=np.arange(3, dtype=np.int32),
    )
    file = FrameFile(make_frames([]), provenance, (), has_work=False, slices=slices)

    again = written(file, tmp_path / "a.trace.json", (400, 800)).slices

    assert again is not None
    assert rows(again) == [("game (3)", "main (4)", "b", 0, 500)]


def test_that_samples_are_no_trace(
    tmp_path: Path, provenance: Provenance, make_frames: Callable[[list[int]], FrameTimes]
) -> None:
    frames = make_frames([10] * 5)
    sampled = structs.replace(frames, samples="Every second.")
    path = tmp_path / "a.pftrace"

    with pytest.raises(ExportError, match="samples and not every frame"):
        export_frames(
            sampled,
            provenance,
            ExportOptions(),
            path,
            events=Events(CaptureHistory(sampled, None)),
            exporter=exporter_for(path),
        )
    assert not path.exists()


def test_that_what_is_too_much_to_keep_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "_MOST_SLICES", 20)
    monkeypatch.setattr(trace_extras, "MOST_TEXTS", 4)
    monkeypatch.setattr(trace_extras, "MOST_COUNTER_VALUES", 3)
    monkeypatch.setattr(trace_extras, "MOST_FLOW_STEPS", 2)
    path = tmp_path / "much.json"
    events: list[dict[str, object]] = []
    for number in range(30):
        about = {"pid": 1, "tid": 1, "ts": 10 * number}
        args = {"number": number}
        events += [
            {**about, "ph": "X", "name": "work", "dur": 5, "args": args},
            {**about, "ph": "C", "name": "left", "args": {"value": number}},
            {**about, "ph": "s", "name": "go", "id": 1},
        ]
    path.write_text(json.dumps(events))

    capture = read_back(path)

    assert capture.slices is not None
    assert len(capture.slices) == 20
    assert len(capture.slices.extras.arguments.place) == 4
    assert len(capture.slices.extras.counters.value) == 3
    (note,) = capture.notes
    assert note.startswith("Left out, as there are too many to keep: 28 flow events, 27 counter")
    assert note.endswith("16 slice arguments, 10 slices.")


def test_that_a_slice_leads_to_others(tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    about = {"pid": 1, "name": "go", "id": 7}
    events = [
        {"pid": 1, "tid": 1, "name": "send", "ph": "X", "ts": 0, "dur": 9},
        {**about, "tid": 1, "ph": "s", "ts": 3},
        {"pid": 1, "tid": 1, "name": "within", "ph": "X", "ts": 2, "dur": 2},
        {"pid": 1, "tid": 2, "name": "pass on", "ph": "X", "ts": 12, "dur": 9},
        {**about, "tid": 2, "ph": "t", "ts": 20},
        {**about, "tid": 2, "ph": "f", "ts": 30},
        {"pid": 1, "tid": 2, "name": "receive", "ph": "X", "ts": 40, "dur": 9},
    ]
    path.write_text(json.dumps(events))

    slices = read_back(path).slices

    assert slices is not None
    names = [slices.names[name] for name in slices.name.tolist()]
    flows = slices.extras.flows
    assert flows.of(names.index("within")) == ([], [names.index("pass on")])
    before, after = flows.of(names.index("pass on"))
    assert (before, after) == ([names.index("within")], [names.index("receive")])
    assert flows.of(names.index("send")) == ([], [])


def test_that_slices_beyond_the_limit_of_open_ones_are_said_to_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.formats.captures.trace._MOST_OPEN", 2)
    builder = TraceBuilder()
    builder.track(0, 1, "main")

    for start_ns in (10, 20, 30):
        builder.begin("main", 0, builder.text("load"), start_ns)

    notes = builder.capture(tmp_path / "a.json", "test").notes
    assert "Left out, as there are too many to keep: 1 slice." in notes
    assert not any("out of range" in note for note in notes)
