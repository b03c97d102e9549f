"""Breakpoints in files, and what a hit does to a run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from inspector.clocks import ClockTree
from inspector.commands.clocks import PauseClock
from inspector.events import EventLog, Timeline
from inspector.events.conditions.breakpoint import (
    BreakAction,
    BreakKind,
    Breakpoint,
    BreakpointError,
)
from inspector.sessions.breakpoints.breakpoints import BreakpointHit, Breakpoints
from inspector.sessions.breakpoints.file import (
    breakpoints_from_json,
    breakpoints_to_json,
    read_breakpoints,
    write_breakpoints,
)
from inspector.sessions.breakpoints.stopping import act_on_hits
from inspector.sessions.replay.journal import HIT_ENTRY, CommandPlace
from inspector.vocabulary import BREAKPOINT_HIT

BREAKPOINTS = [
    Breakpoint(BreakKind.TIMER_FIRES, "boß", action=BreakAction.MARK),
    Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=7, is_enabled=False),
]
FORMAT = "timeline-inspector breakpoints"


def test_that_breakpoints_are_read_back_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"

    write_breakpoints(path, BREAKPOINTS)

    assert read_breakpoints(path) == BREAKPOINTS
    text = path.read_text(encoding="utf-8")
    assert "boß" in text
    assert text.startswith('{\n  "format": "timeline-inspector breakpoints",\n  "version": 1,\n')
    assert text.endswith("}\n")
    assert breakpoints_from_json(breakpoints_to_json([])) == []
    for content, said in ((b"{", "a.json: This is not JSON"), (b"\xff", "is not text in UTF-8")):
        path.write_bytes(content)
        with pytest.raises(BreakpointError, match=said):
            read_breakpoints(path)
    path.write_bytes(b" " * 1_000_001)
    with pytest.raises(BreakpointError, match="is too large for a file of breakpoints"):
        read_breakpoints(path)
    with pytest.raises(BreakpointError, match="There is no file"):
        read_breakpoints(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "This file holds no breakpoints of Timeline Inspector."),
        ({"format": "x", "version": 1, "breakpoints": []}, "This file holds no breakpoints of"),
        ({"format": FORMAT, "version": 2, "breakpoints": []}, "have version 2; this program reads"),
        ({"format": FORMAT, "version": 1, "breakpoints": {}}, "a list of at most 200 breakpoints"),
        ({"format": FORMAT, "version": 1, "breakpoints": [{}] * 201}, "a list of at most 200"),
        ({"format": FORMAT, "version": 1, "breakpoints": [{}]}, "Breakpoint 1 of the file: "),
    ],
)
def test_that_what_holds_no_breakpoints_is_refused(values: object, said: str) -> None:
    with pytest.raises(BreakpointError, match=said):
        breakpoints_from_json(json.dumps(values))


def test_that_as_many_breakpoints_are_read_as_a_session_has() -> None:
    assert len(breakpoints_from_json(breakpoints_to_json(BREAKPOINTS * 100))) == 200
    with pytest.raises(BreakpointError, match="This is not JSON: "):
        breakpoints_from_json("{")


def test_that_a_breakpoint_has_a_number_and_is_hit_by_the_next_event() -> None:
    log = EventLog()
    tree = ClockTree(log)
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)
    found = Breakpoints()
    assert (found.is_any_enabled, found.next_number, found.version) == (False, 1, 0)
    assert (found.longest_turn_ns, found.check(), found.hits(1)) == (0, [], 0)
    found.watch(log, timeline)
    pauses = Breakpoint(BreakKind.CLOCK_PAUSED)

    assert (found.add(pauses), found.next_number, found.version) == (1, 2, 1)
    assert found.is_any_enabled
    tree.root.pause()
    (first,) = found.check()
    assert (first.number, first.cursor, first.clock_id) == (1, log.end - 1, tree.root.id)
    assert (found.hits(1), found.version) == (1, 2)
    tree.root.resume()
    assert found.replace(1, structs.replace(pauses, from_hit=2))
    tree.root.pause()
    assert [each.cursor for each in found.check()] == [log.end - 1]
    assert (found.hits(1), found.version) == (2, 4)
    assert found.remove(1)
    assert (found.is_any_enabled, found.next_number, found.version) == (False, 2, 5)


class HitRun:
    """Stands for a run whose breakpoints were hit."""

    def __init__(self, *rounds: list[BreakpointHit]) -> None:
        self.done: list[Any] = []
        note = self.done.append
        self.loaded: object = "scene"
        self.frames_run, self.session_ns, self.command_number = 4, 90, 20
        self.broken_by: BreakpointHit | None = None
        self.checked: list[set[int]] = []
        waiting = list(rounds)

        def check(besides: set[int]) -> list[BreakpointHit]:
            self.checked.append(set(besides))
            return waiting.pop(0) if waiting else []

        self.breakpoints = SimpleNamespace(check=check, get=lambda number: f"breakpoint {number}")
        self.journal = SimpleNamespace(note=lambda *each: note(("journal", *each)))
        self.log = SimpleNamespace(append=note, intern=lambda text: f"number of {text}")
        self.tree = SimpleNamespace(halt=lambda: note("halt"), root=SimpleNamespace(id=1))
        self.stage = SimpleNamespace(mark=lambda text: note(f"mark {text}"))
        self.recorder: Any = SimpleNamespace(record_hit=lambda *each: note(("record", *each)))

    def apply(self, command: object, number: int, *, place: CommandPlace, by: str) -> None:
        self.done.append((command, number, place, by))


def hit(number: int, action: BreakAction, frame: int = 2, clock_id: int = 0) -> BreakpointHit:
    return BreakpointHit(number, action, 5, 0, frame, clock_id, "boss fired")


@pytest.mark.parametrize(
    ("action", "clock_id", "does"),
    [
        (BreakAction.HOLD, 0, ["halt"]),
        (BreakAction.MARK, 0, ["mark boss fired"]),
        (BreakAction.PAUSE_ROOT, 7, [(PauseClock(1), 21, CommandPlace.BREAKPOINT, "breakpoint 6")]),
        (
            BreakAction.PAUSE_BRANCH,
            7,
            [(PauseClock(7), 21, CommandPlace.BREAKPOINT, "breakpoint 6")],
        ),
        (
            BreakAction.PAUSE_BRANCH,
            0,
            [(PauseClock(1), 21, CommandPlace.BREAKPOINT, "breakpoint 6")],
        ),
        *(
            (action, 0, [("record", hit(6, action), "breakpoint 6")])
            for action in (
                *(BreakAction.SAVE, BreakAction.START_RECORDING, BreakAction.STOP_RECORDING),
            )
        ),
    ],
)
def test_that_a_hit_is_recorded_and_does_what_its_breakpoint_says(
    action: BreakAction, clock_id: int, does: list[object]
) -> None:
    found = hit(6, action, clock_id=clock_id)
    run: Any = HitRun([found])

    act_on_hits(run, after_frame=True)

    assert run.done == [
        ("journal", HIT_ENTRY, 4, 6, found),
        (90, BREAKPOINT_HIT, 6, "number of boss fired", 2),
        *does,
    ]
    assert run.broken_by == (found if action is BreakAction.HOLD else None)


@pytest.mark.parametrize(("after_frame", "frames"), [(True, [2, 3, 3]), (False, [2, 3, 4])])
def test_that_hits_by_effects_of_hits_belong_to_the_same_frame_and_are_checked_once(
    *, after_frame: bool, frames: list[int]
) -> None:
    hold = BreakAction.HOLD
    run: Any = HitRun([hit(6, hold, 2), hit(7, hold, 3)], [hit(8, hold, 9)])

    act_on_hits(run, after_frame=after_frame)

    noted = [each[4] for each in run.done if each[0] == "journal"]
    assert [each.frame for each in noted] == frames
    assert run.checked == [set(), {6, 7}, {6, 7, 8}]
    # The first holds it.
    assert run.broken_by == noted[0]


def test_that_hits_of_a_scene_without_a_recorder_or_without_a_scene_do_no_more() -> None:
    run: Any = HitRun([hit(6, BreakAction.SAVE)])
    run.recorder = None
    act_on_hits(run, after_frame=True)
    assert len(run.done) == 2

    gone: Any = HitRun([hit(6, BreakAction.SAVE)])
    gone.loaded = None
    act_on_hits(gone, after_frame=True)
    assert (gone.done, gone.checked) == ([], [])
