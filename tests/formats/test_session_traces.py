"""A session as a trace: nested slices, every firing, the same in both formats when read back."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from inspector.commands.clocks import PauseClock, SetRate
from inspector.events.history import LogHistory
from inspector.formats.captures.capture import Slices
from inspector.formats.captures.json_trace import JsonTraceReader
from inspector.formats.captures.perfetto_trace import PerfettoReader
from inspector.formats.captures.trace_extras import OVERLAPPING
from inspector.formats.frame_times import Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.traces.perfetto import write_perfetto
from inspector.formats.traces.session_trace import Events
from inspector.formats.traces.trace_json import write_trace_json
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.scene import built_in_scenes, find_scene
from inspector.testing import fired, pass_seconds, scene_file, virtual_session
from inspector.timebase import NS_PER_SECOND
from tests.analysis.test_lateness import CRUNCH, LIBRARY, LOAD, MAIN, MS, REBUILD, Program
from tests.light_scenes import light_scene


def trace_of(session: HostedSession) -> list[dict[str, Any]]:
    stream = BytesIO()
    write_trace_json(Events(session.history), provenance_of(session), ExportOptions(), stream)
    events: list[dict[str, Any]] = json.loads(stream.getvalue())["traceEvents"]
    return events


def slices(events: list[dict[str, Any]], thread: int) -> list[tuple[str, float, float]]:
    return [
        (each["name"], each["ts"], each["ts"] + each["dur"])
        for each in events
        if each["ph"] == "X" and each["tid"] == thread
    ]


@pytest.fixture(
    scope="module", params=[each.path for each in built_in_scenes()], ids=lambda p: p.stem
)
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HostedSession]:
    """Return a built-in scene of which a clock was paused in the end."""
    session = virtual_session(light_scene(request.param, tmp_path_factory.mktemp("scene")))
    pass_seconds(session, 1)
    session.refresh()
    session.submit(PauseClock(max(session.timeline.clocks)))
    pass_seconds(session, 0.5)
    session.refresh()
    yield session
    session.close()


def test_that_slices_of_a_thread_nest(played: HostedSession) -> None:
    by_thread = defaultdict(list)
    for each in trace_of(played):
        if each["ph"] == "X":
            assert each["dur"] >= 0
            by_thread[each["tid"]].append((each["ts"], each["ts"] + each["dur"]))

    tiny = 1e-6
    for thread, spans in by_thread.items():
        inside: list[tuple[float, float]] = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while inside and inside[-1][1] <= begin + tiny:
                inside.pop()
            assert not inside or end <= inside[-1][1] + tiny, thread
            inside.append((begin, end))


def test_that_every_firing_is_there_on_its_clock() -> None:
    session = virtual_session(find_scene("small_game"))
    pass_seconds(session, 10)
    session.refresh()

    events = trace_of(session)

    names = {
        each["tid"]: each["args"]["name"]
        for each in events
        if each["ph"] == "M" and each["name"] == "thread_name"
    }
    beats = [each for each in events if each["ph"] == "i" and each["name"] == "beat"]
    assert len(beats) == fired(session)["beat"]
    assert {names[each["tid"]] for each in beats} == {"root / audio"}
    session.close()


def test_that_pauses_and_rates_are_there(tmp_path: Path) -> None:
    scene = scene_file(tmp_path, 'def build(stage):\n    stage.root.child("game")\n')
    session = virtual_session(scene)
    pass_seconds(session, 1)
    session.refresh()
    game = next(each.id for each in session.timeline.clocks.values() if each.name == "game")
    session.submit(SetRate(game, Fraction(2)))
    session.submit(PauseClock(game))
    pass_seconds(session, 1)
    session.refresh()

    events = trace_of(session)

    ((name, begin, end),) = slices(events, 10 + game)
    assert name == "paused"
    assert end - begin == pytest.approx(1e6, rel=0.05)
    rates = [each["args"]["value"] for each in events if each["name"] == "rate of root / game"]
    assert rates == [1, 2]
    commands = [each["name"] for each in events if "command" in each.get("args", {})]
    assert commands == ["set the rate of “game” to 2", "pause “game”"]
    session.close()


def read_back(path: Path, *, is_perfetto: bool) -> Slices:
    """Return the slices of a trace that one of our readers finds."""
    reader = PerfettoReader(path) if is_perfetto else JsonTraceReader(path)
    while reader.read_on():
        pass
    slices = reader.capture().slices
    assert slices is not None
    return slices


def row_name(track: str) -> str:
    """Return the name of a track without what only one of the formats has."""
    if track.endswith(OVERLAPPING):
        # In JSON there is one for each name, in Perfetto one for each clock.
        return OVERLAPPING
    # Threads are read with their numbers, which tracks do not have.
    return re.sub(r" \(\d+\)$", "", track)


def rows_of(slices: Slices) -> list[tuple[str, str, int, int]]:
    return sorted(
        (row_name(slices.tracks[track].name), slices.names[name], start, took)
        for track, name, start, took in zip(
            slices.track.tolist(),
            slices.name.tolist(),
            slices.start_ns.tolist(),
            slices.took_ns.tolist(),
            strict=True,
        )
    )


def test_that_both_formats_are_read_back_as_the_same_slices(
    played: HostedSession, tmp_path: Path
) -> None:
    events, about = Events(played.history), provenance_of(played)
    (as_json, as_perfetto) = tmp_path / "a.json", tmp_path / "a.pftrace"

    with as_json.open("wb") as stream:
        write_trace_json(events, about, ExportOptions(), stream)
    with as_perfetto.open("wb") as stream:
        write_perfetto(events, about, ExportOptions(), stream)

    found = rows_of(read_back(as_perfetto, is_perfetto=True))
    assert found == rows_of(read_back(as_json, is_perfetto=False))
    frames = sum(name == "frame" for _track, name, *_times in found)
    assert frames == len(played.timeline.frames) > 0


def test_that_a_part_of_a_session_begins_with_its_pauses_and_rates(tmp_path: Path) -> None:
    scene = scene_file(tmp_path, 'def build(stage):\n    stage.root.child("game")\n')
    session = virtual_session(scene)
    session.refresh()
    game = next(each.id for each in session.timeline.clocks.values() if each.name == "game")
    session.submit(SetRate(game, Fraction(2)))
    session.submit(PauseClock(game))
    pass_seconds(session, 3)
    session.refresh()
    path = tmp_path / "part.pftrace"
    part = Events(session.history, NS_PER_SECOND, 2 * NS_PER_SECOND - 1)

    with path.open("wb") as stream:
        write_perfetto(part, provenance_of(session), ExportOptions(), stream)

    found = rows_of(read_back(path, is_perfetto=True))
    assert sum(name == "frame" for _track, name, *_times in found) == 60
    ((_, _, _, paused_ns),) = (row for row in found if row[1] == "paused")
    assert paused_ns == pytest.approx(NS_PER_SECOND, rel=0.05)
    session.close()


def test_that_nested_tracks_of_a_trace_are_named_by_their_path(tmp_path: Path) -> None:
    session = virtual_session(find_scene("small_game"))
    pass_seconds(session, 1)
    session.refresh()
    path = tmp_path / "a.pftrace"

    with path.open("wb") as stream:
        write_perfetto(Events(session.history), provenance_of(session), ExportOptions(), stream)

    slices = read_back(path, is_perfetto=True)
    assert "root / audio" in {track.name for track in slices.tracks}
    session.close()


def sampled_program() -> Program:
    """Return a program whose loop was in one turn for 200 ms, then in another for 50 ms."""
    program = Program()
    for until_ms in range(10, 201, 10):
        leaf = CRUNCH if until_ms <= 150 else LOAD
        program.sample(MAIN, LIBRARY, REBUILD, leaf, until_ms=until_ms, begins=until_ms == 10)
    for until_ms in range(410, 451, 10):
        program.sample(MAIN, LIBRARY, LOAD, until_ms=until_ms, begins=until_ms == 410)
    return program


@pytest.mark.parametrize("is_perfetto", [False, True])
def test_that_functions_that_samples_have_seen_are_nested_slices(
    tmp_path: Path, *, is_perfetto: bool
) -> None:
    path, history = tmp_path / "a.trace", LogHistory(sampled_program().log)
    about = Provenance("server.py", datetime(2026, 1, 2, tzinfo=UTC), "0.1.0")
    with path.open("wb") as stream:
        write = write_perfetto if is_perfetto else write_trace_json
        write(Events(history), about, ExportOptions(), stream)

    found = [row for row in rows_of(read_back(path, is_perfetto=is_perfetto)) if "()" in row[1]]

    began_ns = min(row[2] for row in found)
    assert {track.rpartition(" / ")[2] for track, *_ in found} == {"functions, from samples"}
    assert [
        (name, (start_ns - began_ns) // MS, took_ns // MS) for _, name, start_ns, took_ns in found
    ] == [
        ("crunch()", 0, 150),
        ("load()", 150, 50),
        ("load()", 400, 50),
        ("rebuild()", 0, 200),
    ]
