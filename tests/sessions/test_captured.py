"""A capture is a session like any other: folded, looked back at, read on while it is shown."""

from __future__ import annotations

import json
import sys
import tracemalloc
import weakref
from threading import current_thread, main_thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec import structs

from inspector.analysis.frame_spans import heaviest_in, spans_of
from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.commands.transport import Run
from inspector.errors import CaptureError, ColumnChoiceError
from inspector.events.annotations import Annotation
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_series import FrameSeries, longest_frame
from inspector.formats.captures import source as source_module
from inspector.formats.captures.capture import Stream
from inspector.formats.captures.json_trace import JsonTraceReader
from inspector.formats.export import export_frames
from inspector.formats.frame_times import CAPTURED, FrameTimes
from inspector.formats.options import ExportOptions
from inspector.sessions import capture_history, captured
from inspector.sessions.capture_history import CaptureHistory
from inspector.sessions.captured import CapturedSession
from inspector.sessions.frame_files import captured as captured_file
from inspector.sessions.provenance import provenance_of
from inspector.sessions.session import Session, SessionPhase, ShowsCapture, file_word, time_name
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, MEMBER_ADDED, PHASE_ENDED, Phase

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspector.formats.captures.capture import Slices
MS = 1_000_000


def table(folder: Path, rows: int = 600) -> Path:
    """Write a capture of two programs, the second with a third of the frames."""
    lines = ["Application,MsBetweenPresents,MsBetweenDisplayChange"]
    lines += [
        f"{'small' if row % 4 == 3 else 'large'}.exe,{16 + row % 3}.5,{33 - row % 3}"
        for row in range(rows)
    ]
    path = folder / "capture.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


def trace(folder: Path, frames: int = 30) -> Path:
    """Write a trace of frames with work in them, and of another thread."""
    events: list[dict[str, Any]] = []
    for number in range(frames):
        start = number * 16_000
        for name, tid, at, took in (
            ("frame", 1, 0, 10_000),
            ("update", 1, 500, 4_000),
            ("timers", 1, 600, 1_000),
            ("load", 2, 9_000, 12_000),
        ):
            events.append(
                {"ph": "X", "pid": 1, "tid": tid, "name": name, "ts": start + at, "dur": took}
            )
    path = folder / "trace.json"
    path.write_text(json.dumps(events))
    return path


def described(timeline: Timeline) -> object:
    frames, members = timeline.frames, timeline.members.by_id
    return (
        (timeline.at_ns, timeline.newest_ns, timeline.events_folded, timeline.is_running),
        [column.tolist() for column in (frames.at_ns, frames.interval_ns, frames.busy_ns)],
        [column.tolist() for column in frames.phases],
        [(each.id, each.name, each.parent_id) for each in timeline.clocks.values()],
        {
            number: (each.name, each.clock_id, each.calls, each.took_ns)
            for number, each in members.items()
        },
        timeline.members.values_version,
    )


@pytest.mark.parametrize("make", [table, trace])
@pytest.mark.parametrize("at_once", [7, capture_history._AT_ONCE])
def test_that_any_state_is_that_of_folding_the_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Path], at_once: int
) -> None:
    monkeypatch.setattr(capture_history, "_AT_ONCE", at_once)
    monkeypatch.setattr(capture_history, "_MOST_SUMS", 5)
    history = CapturedSession(make(tmp_path)).history
    whole = history.events(0, history.end)

    assert len(whole) == history.end
    assert history.missing == 0
    instants = [event[0] for event in whole]
    assert instants == sorted(instants)
    for cursor in (*range(0, history.end, 7), history.end):
        folded = Timeline(history.strings)
        folded.apply_all(whole[:cursor])
        assert described(history.state_before(cursor)) == described(folded), cursor
        assert history.events(cursor, cursor + 9) == whole[cursor : cursor + 9]
    assert history.events(-3, 2) == whole[:2]
    assert history.events(history.end - 2, history.end + 5) == whole[-2:]
    assert history.last_ns == instants[-1]
    assert described(history.state_before(history.end + 5)) == described(folded)
    for at_ns in (-1, 0, instants[len(instants) // 2], instants[-1], instants[-1] + 1):
        assert history.cursor_at(at_ns) == sum(each <= at_ns for each in instants)


def test_that_frames_are_events_from_their_beginnings_to_their_ends() -> None:
    phases = np.zeros((len(Phase), 2), dtype=np.int64)
    phases[Phase.UPDATE], phases[Phase.DRAW] = (1, 2), (0, 5)
    rows = ([4, 5], [10, 30], [8, 20], [7, 19], [3, 6])
    index, at_ns, interval_ns, delta_ns, busy_ns = map(np.array, rows)
    frames = FrameTimes.of_columns(index, at_ns, interval_ns, delta_ns, busy_ns, phases)

    history = CaptureHistory(frames, None)

    events = history.events(history.opened, history.end)
    assert events == [
        (10, FRAME_BEGAN, 0, 4, 7),
        (10, PHASE_ENDED, Phase.UPDATE, 4, 1),
        (10, PHASE_ENDED, Phase.DRAW, 4, 0),
        (10, FRAME_ENDED, 0, 8, 3),
        (30, FRAME_BEGAN, 0, 5, 19),
        (30, PHASE_ENDED, Phase.UPDATE, 5, 2),
        (30, PHASE_ENDED, Phase.DRAW, 5, 5),
        (30, FRAME_ENDED, 0, 20, 6),
    ]
    assert (history.first, history.first_ns, history.last_ns) == (0, 0, 30)
    assert [event[2] for event in history.events(0, history.opened)] == [1] * history.opened
    # Frames of which more is known than their times are no slices.
    assert (history.slices, history.slice_ended(1, 10)) == (None, None)
    bare = CaptureHistory(FrameTimes.of_columns(index, at_ns, interval_ns, delta_ns), None)
    assert bare.slices is not None
    assert bare.slices.took_ns.tolist() == [8, 20, 0]


def test_that_frames_that_take_no_time_begin_before_they_end(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "name": "frame", "ts": at, "dur": 0}
        for at in (0, 10, 20, 20, 30, 40, 50)
    ]
    path.write_text(json.dumps(events))
    history = CapturedSession(path, stream="frame").history
    folded = Timeline(history.strings)
    folded.apply_all(history.events(0, history.end))
    assert folded.frames.at_ns.tolist() == [0, 10_000, 20_000, 20_000, 30_000, 40_000, 50_000]
    assert described(folded) == described(history.state_before(history.end))


def test_that_a_capture_is_a_session(tmp_path: Path) -> None:
    session: Session = CapturedSession(table(tmp_path))

    assert session.refresh() == session.log.end == 902
    assert session.refresh() == 0
    assert session.capabilities == frozenset()
    assert (session.is_recorded, session.recorder, session.notes) == (True, None, ())
    assert (session.breakpoints, session.undoing, session.wake_errors) == (None, None, None)
    assert session.title == "capture.csv – large.exe"
    assert session.status.message == "Capture (PresentMon 1): 7.88 s, 450 frames."
    assert (time_name(session), file_word(session)) == ("capture time", "capture")
    assert (time_name(None), file_word(None)) == ("session time", "recording")
    assert provenance_of(session).note == "column MsBetweenPresents, large.exe"
    session.submit(Run())
    session.close()
    assert session.status.phase is SessionPhase.EMPTY


def test_that_another_stream_is_shown_in_another_log(tmp_path: Path) -> None:
    session = CapturedSession(table(tmp_path))
    former = session.log
    session.choose_stream("small.exe")
    assert session.log is not former
    assert len(session.timeline.frames) == 150
    session.choose_stream("small.exe")
    with pytest.raises(CaptureError, match="no stream"):
        session.choose_stream("medium.exe")
    assert session.stream == "small.exe"
    with pytest.raises(CaptureError, match="no stream"):
        CapturedSession(table(tmp_path), stream="medium.exe")


def test_that_another_column_can_be_opened(tmp_path: Path) -> None:
    session = CapturedSession(table(tmp_path), "MsBetweenDisplayChange")
    assert session.columns == ("MsBetweenDisplayChange", "MsBetweenPresents")
    assert session.timeline.frames.interval_ns[0] == 33 * MS


def test_that_a_table_without_a_known_column_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("game,render\n1,2\n3,4\n")
    with pytest.raises(ColumnChoiceError) as caught:
        CapturedSession(path)
    assert caught.value.columns == ("game", "render")
    assert len(CapturedSession(path, "render").timeline.frames) == 2


def test_that_threads_are_clocks_and_slices_members_below_them(tmp_path: Path) -> None:
    session = CapturedSession(trace(tmp_path))
    clocks, members = session.timeline.clocks, session.timeline.members.by_id
    assert [each.name for each in clocks.values()] == [
        *("capture", "process 1", "thread 1", "thread 2"),
    ]
    assert {(each.name, clocks[each.clock_id].name, each.calls) for each in members.values()} == {
        ("frame", "thread 1", 30),
        ("update", "thread 1", 30),
        ("timers", "thread 1", 30),
        ("load", "thread 2", 30),
    }
    assert session.stream == "frame (process 1, thread 1)"
    opening = session.history.events(0, session.history.opened)
    # Each begins with the capture, the members under no other member.
    assert {event[0] for event in opening} == {0}
    assert [event[2:4] for event in opening if event[1] == MEMBER_ADDED] == [
        *((1, 0), (2, 0), (3, 0), (4, 0)),
    ]


@pytest.mark.parametrize("at_once", [2, 100])
def test_that_rare_names_share_a_row_of_their_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(capture_history, "_AT_ONCE", at_once)
    monkeypatch.setattr(capture_history, "_MOST_NAMES", 3)
    called = [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 1), ("d", 1), ("b", 1), ("e", 2)]
    events = [
        {"ph": "X", "pid": 1, "tid": tid, "name": name, "ts": 10 * at, "dur": 5 + at}
        for at, (name, tid) in enumerate([*called, ("a", 2), ("a", 2), ("b", 1)])
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    history = CapturedSession(path).history
    state = history.state_before(history.end)
    members = state.members.by_id
    clocks = {number: clock.name for number, clock in state.clocks.items()}
    assert [
        (number, each.name, clocks[each.clock_id], each.calls, each.took_ns)
        for number, each in members.items()
    ] == [
        (1, "a", "thread 1", 2, 9_000),
        (2, "b", "thread 1", 3, 15_000),
        (3, "(others)", "thread 1", 2, 10_000),
        (4, "a", "thread 2", 3, 14_000),
        (5, "(others)", "thread 2", 1, 12_000),
    ]


def test_that_processes_and_their_threads_have_clocks_as_they_are_met(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        {"ph": "X", "pid": pid, "tid": tid, "name": "work", "ts": at, "dur": 5}
        for at, (pid, tid) in enumerate(((1, 1), (2, 1), (1, 2), (2, 2)))
    ]
    events.append({"ph": "C", "pid": 3, "name": "memory", "ts": 1, "args": {"MB": 2}})
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    history = CapturedSession(path).history
    clocks = history.state_before(history.end).clocks
    assert [(number, each.name, each.parent_id) for number, each in clocks.items()] == [
        (1, "capture", 0),
        (2, "process 1", 1),
        (3, "thread 1", 2),
        (4, "process 2", 1),
        (5, "thread 1", 4),
        (6, "thread 2", 2),
        (7, "thread 2", 4),
        (8, "process 3", 1),
    ]


def test_that_the_slices_of_a_frame_are_nested_on_their_threads(tmp_path: Path) -> None:
    session = CapturedSession(trace(tmp_path), stream="frame")
    spans = spans_of(session.history, session.timeline, 3)
    assert [
        (span.depth, span.kind, span.label, span.began_ns, span.took_ns, span.own_ns)
        for span in spans
    ] == [
        (0, "thread", "thread 1", 0, 10_000_000, 0),
        (1, "slice", "frame", 0, 10_000_000, 6_000_000),
        (2, "slice", "update", 500_000, 4_000_000, 3_000_000),
        (3, "slice", "timers", 600_000, 1_000_000, 1_000_000),
        (4, "thread", "thread 2", -7_000_000, 12_000_000, 0),
        (5, "slice", "load", -7_000_000, 12_000_000, 12_000_000),
    ]
    assert heaviest_in(session.history, session.timeline, 3) == "“load”"


def test_that_each_thread_has_a_lane_of_slices(tmp_path: Path) -> None:
    session = CapturedSession(trace(tmp_path))
    store = LaneStore()
    while store.read(session.history, session.timeline):
        pass
    lanes = [lane for lane in store.lanes.values() if lane.kind is LaneKind.SLICES]
    names = {lane.clock_id: session.timeline.clocks[lane.clock_id].name for lane in lanes}
    assert list(names.values()) == ["thread 1", "thread 2"]
    first = lanes[0].spans
    assert first is not None
    assert len(first) == 90
    # Frame 2 and what is in it: from 32 to 42 ms.
    found, count = first.overlapping(33e6, 33.1e6)
    assert first.of(found)[1].tolist() == [1_000_000, 4_000_000, 10_000_000]
    assert first.overlapping(43e6, 44e6)[1] == 0
    assert count == 3


def test_that_columns_of_slices_are_as_narrow_as_their_values(tmp_path: Path) -> None:
    session = CapturedSession(trace(tmp_path))
    read_to_the_end(session)
    slices = session.history.slices
    assert slices is not None
    narrow = (slices.took_ns, slices.track, slices.name)
    assert [column.dtype.itemsize for column in narrow] == [4, 2, 2]


def test_that_lanes_of_a_trace_take_no_memory_for_each_slice(tmp_path: Path) -> None:
    session = CapturedSession(trace(tmp_path, frames=5_000))
    read_to_the_end(session)
    store = LaneStore()
    tracemalloc.start()
    try:
        while store.read(session.history, session.timeline):
            pass
        kept, _most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert store.read_ns == session.history.last_ns
    assert kept < 20_000  # bytes, of 20,000 slices


def test_that_a_trace_without_frames_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('[{"ph": "X", "pid": 1, "tid": 1, "name": "work", "ts": 5, "dur": 3}]')
    session = CapturedSession(path)
    assert len(session.timeline.frames) == 0
    assert session.history.end == 9
    assert "none is taken for a frame" in session.notes[0]


class Clock:
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += 1_000_000_000
        return self.now_ns


def read_to_the_end(session: CapturedSession) -> list[str]:
    """Refresh until nothing more comes; returns what was said meanwhile."""
    messages = []
    while session.status.phase.goes_on:
        messages.append(session.status.message)
        work = session._work
        if work is not None:
            work._thread.join()
        session.refresh()
    return messages


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "PIECE_BYTES", 2_000)


@pytest.mark.usefixtures("_small_pieces")
def test_that_a_long_capture_is_shown_before_it_is_read(tmp_path: Path) -> None:
    session = CapturedSession(table(tmp_path), clock=Clock())
    assert session.status.phase is SessionPhase.READING
    assert session.status.message.startswith("Reading capture.csv: ")
    assert 0 < len(session.timeline.frames) < 450
    first = session.log

    read_to_the_end(session)

    assert session.log is not first
    assert len(session.timeline.frames) == 450


@pytest.mark.usefixtures("_small_pieces")
def test_that_what_was_read_is_sorted_beside_the_thread_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = CapturedSession(table(tmp_path), clock=Clock())
    threads: list[bool] = []
    history = CaptureHistory

    def noting(frames: FrameTimes, slices: Slices | None) -> CaptureHistory:
        threads.append(current_thread() is main_thread())
        return history(frames, slices)

    monkeypatch.setattr(captured, "CaptureHistory", noting)
    messages = read_to_the_end(session)

    assert threads == [False]
    assert messages[-1] == "Sorting capture.csv: 0 s."


def test_that_what_drawing_a_capture_needs_is_computed_before_it_is_shown(tmp_path: Path) -> None:
    frames = CapturedSession(table(tmp_path)).timeline.frames

    assert FrameSeries(frames)._pyramids
    assert longest_frame(frames) == frames.interval_ns.tolist().index(max(frames.interval_ns))
    assert longest_frame(frames.until(1)) == 0


def test_that_another_stream_of_many_events_is_sorted_beside_the_thread_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = CapturedSession(table(tmp_path))
    monkeypatch.setattr(captured, "_MOST_AT_ONCE", 100)

    session.choose_stream("small.exe")
    assert session.status.phase is SessionPhase.READING
    read_to_the_end(session)

    assert session.stream == "small.exe"
    assert len(session.timeline.frames) == 150


@pytest.mark.usefixtures("_small_pieces")
def test_that_reading_can_be_cancelled(tmp_path: Path) -> None:
    session = CapturedSession(table(tmp_path), clock=Clock())
    session.break_off()
    read_to_the_end(session)
    assert 0 < len(session.timeline.frames) < 450
    assert "Reading was cancelled at " in session.status.message
    assert session.status.phase is SessionPhase.HELD


def test_that_our_own_exports_open_as_they_were(tmp_path: Path) -> None:
    scene = virtual_session(
        scene_file(tmp_path, "def build(stage):\n    stage.root.set_interval(0.1, lambda: None)")
    )
    pass_seconds(scene, 2)
    frames = FrameTimes.from_history(scene.timeline.frames)
    for name in ("run.json", "run.csv"):
        export_frames(frames, provenance_of(scene), ExportOptions(), tmp_path / name)
        session = CapturedSession(tmp_path / name)
        again = FrameTimes.from_history(session.timeline.frames)
        for column in ("index", "at_ns", "interval_ns", "delta_ns", "busy_ns"):
            assert (getattr(again, column) == getattr(frames, column)).all(), column
        for phase in Phase:
            assert (again.phase(phase) == frames.phase(phase)).all(), phase
        folded = Timeline(session.history.strings)
        folded.apply_all(session.history.events(0, session.history.end))
        assert described(folded) == described(session.timeline)
    assert isinstance(session, ShowsCapture)


def test_that_the_bookmarks_of_our_own_exports_are_there_again(tmp_path: Path) -> None:
    text = "def build(stage):\n    stage.root.set_timeout(0.5, stage.mark, 'half')"
    scene = virtual_session(scene_file(tmp_path, text))
    pass_seconds(scene, 2)
    scene.annotations.add(Annotation("range", 100 * MS, 900 * MS, "fight", "all of it"))
    frames = FrameTimes.from_timeline(scene.timeline, annotations=scene.annotations)
    export_frames(frames, provenance_of(scene), ExportOptions(), tmp_path / "run.json")

    session = CapturedSession(tmp_path / "run.json")

    assert [(each.kind, each.name, each.at_ns, each.end_ns) for each in session.annotations] == [
        ("range", "fight", 100 * MS, 900 * MS),
        ("bookmark", "half", 500 * MS, None),
    ]


def linked_trace(folder: Path) -> Path:
    """Write a trace with a counter, arguments, and a slice that leads to another."""
    events: list[dict[str, Any]] = []
    for number in range(30):
        start = number * 16_000
        args = {"layer": {"id": number, "name": "sky"}, "visible": True}
        about = {"pid": 1, "tid": 1, "ts": start}
        flow = {"pid": 1, "name": "go", "id": number, "ts": start + 1}
        events += [
            {**about, "ph": "X", "name": "frame", "dur": 10_000, "args": args},
            {**flow, "ph": "s", "tid": 1},
            {**about, "ph": "X", "tid": 2, "ts": start + 11_000, "name": "draw", "dur": 900},
            {**flow, "ph": "f", "tid": 2, "ts": start + 11_100, "bp": "e"},
            {**about, "ph": "C", "name": "memory", "args": {"MB": number % 7}},
        ]
    path = folder / "linked.json"
    path.write_text(json.dumps(events))
    return path


def test_that_a_reader_is_gone_when_nothing_needs_it(tmp_path: Path) -> None:
    reader = JsonTraceReader(linked_trace(tmp_path))
    while reader.read_on():
        pass
    finalizer = weakref.finalize(reader, str)
    del reader
    assert not finalizer.alive


def test_that_counters_of_a_trace_have_lanes(tmp_path: Path) -> None:
    session = CapturedSession(linked_trace(tmp_path))
    store = LaneStore()
    store.read(session.history, session.timeline)
    (lane,) = [each for each in store.lanes.values() if each.kind is LaneKind.COUNTER]
    assert (lane.label, session.timeline.clocks[lane.clock_id].name) == ("memory MB", "process 1")
    levels = lane.levels
    assert levels is not None
    assert levels.edges == (0.0, 6.0)
    assert levels.value[levels.place_at(33 * MS)] == 2
    edges = np.array([-5, -1, 0, 15, 40, 41]) * MS
    assert [str(each) for each in levels.highest(edges)] == ["nan", "0.0", "0.0", "2.0", "2.0"]


def test_that_a_slice_has_its_arguments_and_what_it_leads_to(tmp_path: Path) -> None:
    session = CapturedSession(linked_trace(tmp_path))
    history = session.history
    members = {each.name: each.id for each in session.timeline.members.by_id.values()}

    place = history.slice_ended(members["frame"], 26 * MS)

    assert place is not None
    about = history.about_slice(place)
    assert (about.start_ns, about.took_ns) == (16 * MS, 10 * MS)
    assert about.arguments == {"layer": {"id": 1, "name": "sky"}, "visible": True}
    assert (about.follows, about.leads) == ((), ((members["draw"], 27_900_000),))
    assert history.slice_ended(members["draw"], 26 * MS) is None


def test_that_the_frames_of_a_table_are_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("ms\n" + "16.5\n17\n" * 50)
    session = CapturedSession(path, "ms")
    frames = session.timeline.frames

    interval_ns, delta_ns = (
        np.frombuffer(each, dtype=np.int64) for each in (frames.interval_ns, frames.delta_ns)
    )
    assert np.shares_memory(interval_ns, delta_ns)
    assert not np.frombuffer(frames.busy_ns, dtype=np.int64).any()
    assert frames.frame(1).interval_ns == 17 * MS
    assert type(frames.frame(1).interval_ns) is int


@pytest.mark.parametrize(
    ("frame_ms", "rate"),
    [
        *((50, 30), (34, 30), (17.6, 30), (17.4, 60), (14.1, 60), (13.9, 75), (11.7, 75)),
        *((11.6, 90), (8.8, 90), (8.7, 120), (7.3, 120), (7.2, 144), (6.4, 144), (6.3, 165)),
        *((4.4, 165), (4.3, 240), (3, 240), (2.9, 360), (0.1, 360)),
    ],
)
def test_that_a_capture_has_the_highest_rate_that_half_of_its_frames_keep(
    tmp_path: Path, frame_ms: float, rate: int
) -> None:
    times_ns = [int(frame_ms * MS), 100 * MS, int(frame_ms * MS)]
    assert captured._usual_rate(captured_file(tmp_path, times_ns)) == rate
    assert captured._usual_rate(captured_file(tmp_path, [])) == 60


@pytest.mark.parametrize(
    ("streams", "has_slices", "notes"),
    [(1, False, ("choice", "more")), (2, False, ("more",)), (2, True, ("choice", "more"))],
)
def test_that_the_choice_of_a_table_is_not_said_beside_its_chooser(
    tmp_path: Path, streams: int, notes: tuple[str, ...], *, has_slices: bool
) -> None:
    capture: Any = SimpleNamespace(
        path=tmp_path / "a.csv",
        slices="slices" if has_slices else None,
        streams=range(streams),
        created=None,
        notes_on=lambda _stream: ("choice", "more"),
        missing_of=lambda _stream: "",
    )
    stream = Stream("game", "ms", np.array([1, 2]))
    assert captured._file_shown(capture, stream).notes == notes
    session: Any = SimpleNamespace(
        streams=(("game", 2),) * streams, stream="game", path=capture.path
    )
    title = "a.csv" if streams == 1 else "a.csv – game"
    assert CapturedSession.title.__get__(session) == title


def test_that_a_refresh_reads_for_two_frames_and_the_beginning_for_longer() -> None:
    asked: list[int] = []

    def read_for(_reader: object, most_ns: int) -> bool:
        asked.append(most_ns)
        return True

    def capture() -> str:
        if len(asked) < 3:
            raise CaptureError("nothing yet")
        return "a capture"

    adopted: list[object] = []
    session: Any = SimpleNamespace(
        _reader="a reader",
        _work=None,
        _unreported=3,
        _read_for=read_for,
        _arranged=lambda of, *, is_complete: (of, is_complete),
        _adopt=adopted.append,
    )
    assert [CapturedSession.refresh(session) for _ in range(2)] == [3, 0]
    assert asked == [40 * MS] * 2
    asked.clear()
    reader: Any = SimpleNamespace(capture=capture)
    CapturedSession._begin(session, reader)
    assert (asked, adopted) == ([400 * MS] * 3, [("a capture", False)])


def test_that_a_stream_that_may_still_come_is_waited_for_with_another() -> None:
    def stream(name: str | None = None) -> str:
        if name == "late":
            raise CaptureError("there is no late")
        return name or "the first"

    capture: Any = SimpleNamespace(no_frames="", stream=stream)
    no_frames: Any = SimpleNamespace(no_frames="no slice is a frame", stream=stream)

    def stream_of(wanted: str | None, of: Any, *, is_complete: bool = True) -> object:  # noqa: ANN401
        session: Any = SimpleNamespace(_wanted=wanted)
        return CapturedSession._stream_of(session, of, is_complete=is_complete)

    assert stream_of(None, capture) == "the first"
    assert stream_of(None, no_frames) is None
    assert stream_of("sound", no_frames) == "sound"
    assert stream_of("late", capture, is_complete=False) == "the first"
    assert stream_of("late", no_frames, is_complete=False) is None
    with pytest.raises(CaptureError, match="there is no late"):
        stream_of("late", capture)


@pytest.mark.parametrize(
    ("busy_ns", "source", "unknown"),
    [
        ([0, 0], CAPTURED, {"delta", "busy"}),
        ([0, 5], CAPTURED, {"delta"}),
        ([0, 0], "virtual", {"busy"}),
        ([5, 0], "virtual", set()),
    ],
)
def test_that_what_a_file_does_not_have_of_its_frames_is_known(
    tmp_path: Path, busy_ns: list[int], source: str, unknown: set[str]
) -> None:
    file = captured_file(tmp_path / "a.csv", [16 * MS, 17 * MS])
    times_ns = np.array([16 * MS, 17 * MS])
    frames = FrameTimes.of_columns(
        np.arange(2), times_ns.cumsum(), times_ns, times_ns, np.array(busy_ns)
    )
    file = structs.replace(
        file, frames=frames, provenance=structs.replace(file.provenance, source=source)
    )

    found = captured._arranged(file, None)

    assert found.unknown == unknown
    assert len(found.log) == found.history.end == found.log.end


def test_that_of_a_class_one_instance_is_asked_what_its_sessions_can_do() -> None:
    asked = []

    class Other:
        def __getattr__(self, name: str) -> object:
            asked.append(name)
            raise AttributeError(name)

    assert not isinstance(Other(), ShowsCapture)
    # From Python 3.12 on, it is the class that is asked.
    assert asked or sys.version_info >= (3, 12)
    asked.clear()

    assert not isinstance(Other(), ShowsCapture)
    assert asked == []
