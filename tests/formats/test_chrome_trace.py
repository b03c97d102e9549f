"""A session as Chrome trace-event JSON: nested slices, every firing, and read back as frames."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from inspector.commands.clocks import PauseClock, SetRate
from inspector.formats.chrome_trace import write_chrome_trace
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.scene import built_in_scenes, find_scene
from inspector.testing import fired, pass_seconds, scene_file, virtual_session


def trace_of(session: HostedSession) -> list[dict[str, Any]]:
    stream = BytesIO()
    write_chrome_trace(session.history, provenance_of(session), stream)
    events: list[dict[str, Any]] = json.loads(stream.getvalue())["traceEvents"]
    return events


def slices(events: list[dict[str, Any]], thread: int) -> list[tuple[str, float, float]]:
    return [
        (each["name"], each["ts"], each["ts"] + each["dur"])
        for each in events
        if each["ph"] == "X" and each["tid"] == thread
    ]


@pytest.mark.parametrize("path", [each.path for each in built_in_scenes()], ids=lambda p: p.stem)
def test_that_slices_of_a_thread_nest(path: Path) -> None:
    session = virtual_session(path)
    pass_seconds(session, 5)
    session.refresh()

    by_thread = defaultdict(list)
    for each in trace_of(session):
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
    session.close()


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
