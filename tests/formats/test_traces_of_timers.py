"""Timers, counters and further loops of a session in a trace, as they are read back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from inspector.clocks.tree import ClockTree
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.formats.captures.capture import Slices
from inspector.formats.captures.json_trace import JsonTraceReader
from inspector.formats.captures.perfetto_trace import PerfettoReader
from inspector.formats.frame_times import Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.traces import timer_tracks
from inspector.formats.traces.perfetto import write_perfetto
from inspector.formats.traces.session_trace import Events
from inspector.formats.traces.trace_json import write_trace_json
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import (
    CLOCK_ADDED,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    LOOP_PHASE_ENDED,
    LoopKind,
    Phase,
    frame_and_phase,
)

ABOUT = Provenance("test", datetime(2026, 1, 2, tzinfo=UTC), "0.1.0")
FORMATS = pytest.mark.parametrize("is_perfetto", [False, True], ids=["json", "perfetto"])


class Engine:
    """A tree of clocks whose events are written as a trace and read back."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.root = self.tree.root

    def run_to_ms(self, milliseconds: int) -> None:
        self.tree.run_to(milliseconds * NS_PER_MS)

    def read_back(self, folder: Path, *, is_perfetto: bool, start_ms: int = 0) -> Slices:
        history = LogHistory(self.log)
        return read_back(Events(history, start_ms * NS_PER_MS), folder, is_perfetto=is_perfetto)


def read_back(events: Events, folder: Path, *, is_perfetto: bool) -> Slices:
    path = folder / "trace"
    with path.open("wb") as stream:
        (write_perfetto if is_perfetto else write_trace_json)(
            events, ABOUT, ExportOptions(), stream
        )
    reader = PerfettoReader(path) if is_perfetto else JsonTraceReader(path)
    while reader.read_on():
        pass
    capture = reader.capture()
    assert capture.slices is not None
    assert capture.notes == ()
    return capture.slices


def named(slices: Slices, name: str) -> list[int]:
    """Return the slices of a name by their beginnings."""
    found = [i for i, each in enumerate(slices.name.tolist()) if slices.names[each] == name]
    return sorted(found, key=lambda place: int(slices.start_ns[place]))


def spans_ms(slices: Slices, name: str) -> list[tuple[float, float]]:
    return [
        (slices.start_ns[place] / NS_PER_MS, slices.took_ns[place] / NS_PER_MS)
        for place in named(slices, name)
    ]


def arguments(slices: Slices, name: str) -> list[dict[str, object]]:
    return [slices.extras.arguments.of(place) for place in named(slices, name)]


def counted(slices: Slices, name: str) -> list[tuple[float, float]]:
    """Return instants in milliseconds and values of a counter of the process."""
    counters = slices.extras.counters
    (place,) = (i for i, track in enumerate(counters.tracks) if track.name == name)
    at_ns, values = counters.of(place)
    return list(zip((at_ns / NS_PER_MS).tolist(), values.tolist(), strict=True))


def waiting(slices: Slices) -> dict[str, list[tuple[float, float]]]:
    """Return how many timers wait on each clock, by its path, which each format has elsewhere."""
    found = {}
    for track in slices.extras.counters.tracks:
        clock = track.name.removeprefix("timers waiting of ").removesuffix(" / timers waiting")
        if clock != track.name:
            found[clock] = counted(slices, track.name)
    return found


@FORMATS
def test_that_a_firing_says_when_it_was_due(tmp_path: Path, *, is_perfetto: bool) -> None:
    engine = Engine()
    engine.root.set_interval(0.01, lambda: None, name="beat")
    engine.run_to_ms(25)

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto)

    *firings, life = sorted(arguments(slices, "beat"), key=len)
    assert [each["due_ms"] for each in firings] == [10, 20]
    assert {each["late_us"] for each in firings} == {0}
    (armed,) = arguments(slices, "beat armed")
    assert armed == {"timer": life["timer"], "due_ms": 10, "every_ms": 10}


@FORMATS
def test_that_arming_flows_to_each_firing(tmp_path: Path, *, is_perfetto: bool) -> None:
    engine = Engine()
    engine.root.set_interval(0.01, lambda: None, name="beat")
    engine.root.set_timeout(0.015, lambda: None, name="once")
    engine.run_to_ms(35)

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto)

    flows = slices.extras.flows
    steps = [
        (flow, slices.names[slices.name[place]], slices.start_ns[place] / NS_PER_MS)
        for flow, place in zip(flows.flow.tolist(), flows.place.tolist(), strict=True)
    ]
    beats = [("beat armed", 0), ("beat", 10), ("beat", 20), ("beat", 30)]
    once = [("once armed", 0), ("once", 15)]
    assert steps == [(0, *each) for each in beats] + [(1, *each) for each in once]


@FORMATS
def test_that_a_timer_lives_until_it_is_called_or_cleared(
    tmp_path: Path, *, is_perfetto: bool
) -> None:
    engine = Engine()
    child = engine.root.child("child")
    called = engine.root.set_timeout(0.01, lambda: None, name="called")
    cleared = engine.root.set_interval(0.004, lambda: None, name="cleared")
    child.child("below").set_timeout(1, lambda: None, name="below")
    engine.root.set_timeout(1, lambda: None, name="waits")
    engine.run_to_ms(5)
    engine.root.clear(cleared)
    engine.run_to_ms(20)
    child.remove()
    engine.run_to_ms(30)
    engine.root.set_timeout(1, lambda: None, name="new")
    assert called is not None

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto)

    lives = {name: spans_ms(slices, name)[0] for name in ("called", "cleared", "below", "waits")}
    assert lives == {"called": (0, 10), "cleared": (0, 5), "below": (0, 20), "waits": (0, 30)}
    told = {name: arguments(slices, name)[0] for name in lives}
    assert [each.get("ended") for each in told.values()] == [
        "fired for the last time",
        "cleared",
        "removed with its clock",
        None,
    ]
    assert [each["fired"] for each in told.values()] == [1, 1, 0, 0]
    assert told["cleared"]["kind"] == "interval"
    tracks = {slices.tracks[slices.track[named(slices, name)[0]]].name for name in lives}
    assert all(track.endswith("(async)") for track in tracks)


@FORMATS
def test_that_the_timers_waiting_on_each_clock_are_counted_at_each_instant(
    tmp_path: Path, *, is_perfetto: bool
) -> None:
    engine = Engine()
    child = engine.root.child("child")
    for delay_ms in (10, 10, 20):
        engine.root.set_timeout(delay_ms / 1000, lambda: None)
    child.set_timeout(1, lambda: None)
    engine.run_to_ms(30)
    child.remove()

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto)

    assert waiting(slices) == {
        "root": [(0, 3), (10, 1), (20, 0)],
        "root / child": [(0, 1), (30, 0)],
    }


@FORMATS
def test_that_paused_clocks_are_counted(tmp_path: Path, *, is_perfetto: bool) -> None:
    engine = Engine()
    one, other = engine.root.child("one"), engine.root.child("other")
    engine.run_to_ms(10)
    one.pause()
    engine.run_to_ms(20)
    other.child("below").pause()
    engine.run_to_ms(30)
    one.resume()
    engine.run_to_ms(40)
    other.remove()

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto)

    assert counted(slices, "paused clocks") == [(0, 0), (10, 1), (20, 2), (30, 1), (40, 0)]
    assert spans_ms(slices, "paused") == [(10, 20), (20, 20)]


@FORMATS
def test_that_a_part_begins_with_the_timers_that_wait_then(
    tmp_path: Path, *, is_perfetto: bool
) -> None:
    engine = Engine()
    engine.root.set_interval(0.01, lambda: None, name="beat")
    engine.run_to_ms(45)

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto, start_ms=30)

    *firings, life = sorted(arguments(slices, "beat"), key=len)
    assert [each["due_ms"] for each in firings] == [30, 40]
    assert life["fired"] == 4
    assert [value for _, value in waiting(slices)["root"]] == [1]
    assert not slices.extras.flows.names


def test_that_lives_beyond_a_number_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timer_tracks, "MOST_ROWS", 3)
    engine = Engine()
    for number in range(5):
        engine.root.set_timeout(0.01, lambda: None, name=f"timer {number}")
    engine.run_to_ms(20)
    engine.root.set_timeout(0.01, lambda: None, name="later")
    engine.run_to_ms(40)

    slices = engine.read_back(tmp_path, is_perfetto=True)

    assert sum(took == 10 * NS_PER_MS for took in slices.took_ns.tolist()) == 4
    (note,) = (name for name in slices.names if "omitted" in name)
    assert note == "2 timers are omitted, as more than 3 waited at a time."


@FORMATS
def test_that_calls_of_frame_timers_say_how_many_are_left(
    tmp_path: Path, *, is_perfetto: bool
) -> None:
    session = virtual_session(find_scene("schedulers"))
    pass_seconds(session, 2)
    session.refresh()

    slices = read_back(Events(session.history), tmp_path, is_perfetto=is_perfetto)

    told = [
        slices.extras.arguments.of(place)
        for place in slices.extras.arguments.place.tolist()
        if slices.tracks[slices.track[place]].name.startswith("frames")
    ]
    limited = [each for each in told if "calls_left" in each]
    mine = [each for each in limited if each["timer"] == limited[0]["timer"]]
    assert [each["calls_left"] for each in mine] == list(range(5, 5 - len(mine), -1))
    assert mine[0]["due_ms"] == pytest.approx(200, abs=17)
    assert mine[1]["due_ms"] == 400
    assert any("priority" in each for each in told)
    session.close()


@FORMATS
def test_that_frames_of_other_loops_have_a_track_below_their_clock(
    tmp_path: Path, *, is_perfetto: bool
) -> None:
    engine = Engine()
    log = engine.log
    log.append((0, CLOCK_ADDED, 7, engine.root.id, log.intern("worker")))
    log.append((0, LOOP_FOUND, 7, log.intern("asyncio"), LoopKind.WAITS_FOR_EVENTS))
    for index in range(3):
        at_ns = (10 + 10 * index) * NS_PER_MS
        log.append((at_ns, LOOP_FRAME_BEGAN, 7, index, 10 * NS_PER_MS))
        phase = frame_and_phase(index, Phase.UPDATE)
        log.append((at_ns, LOOP_PHASE_ENDED, 7, phase, 2 * NS_PER_MS))
        log.append((at_ns, LOOP_FRAME_ENDED, 7, 10 * NS_PER_MS, 3 * NS_PER_MS))

    slices = engine.read_back(tmp_path, is_perfetto=is_perfetto)

    assert [took for _, took in spans_ms(slices, "frame")] == [3, 3, 3]
    assert [took for _, took in spans_ms(slices, "update")] == [2, 2, 2]
    assert [each["index"] for each in arguments(slices, "frame")] == [0, 1, 2]
    (track,) = {slices.tracks[slices.track[place]].name for place in named(slices, "frame")}
    assert track.startswith("root / worker / frames of asyncio")


def test_that_the_first_state_of_a_machine_is_there(tmp_path: Path) -> None:
    session = virtual_session(find_scene("state_machines"))
    pass_seconds(session, 1)
    session.refresh()

    slices = read_back(Events(session.history), tmp_path, is_perfetto=True)

    states = [
        (int(slices.start_ns[place]), slices.tracks[track].name)
        for place, track in enumerate(slices.track.tolist())
        if slices.tracks[track].name.endswith("(states)")
    ]
    machines = {track for _, track in states}
    assert len(machines) == len(session.timeline.members.histories)
    assert {track for at_ns, track in states if at_ns == 0} == machines
    session.close()
