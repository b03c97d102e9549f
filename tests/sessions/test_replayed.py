"""A recording as a test: what it says of a run, and how that run is repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.events import EventLog, Timeline
from inspector.events.history import LogHistory
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import Beginning, Journal, JournalError
from inspector.sessions.replay.replayed import (
    Replayed,
    _events_in,
    outside_text,
    pytest_text,
    replayed,
    what_happened,
)
from inspector.sessions.replay.rerun import ChangedSceneError, rerun, run_again
from inspector.sessions.scene import SceneProblem
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    COMMAND,
    COMMAND_CONTEXT,
    COMMAND_FORM,
    FRAME_BEGAN,
    MARK,
    READING,
    TIMER_ADDED,
    TIMER_FIRED,
    TRANSPORT,
    Mode,
    RawEvent,
    Reading,
)

TICK = "def build(stage):\n    stage.root.set_interval(0.1, print, name='tick')\n"
STRINGS = ["", "boss", "pausé", '{"command": "Run"}', "tick", "often"]


def reading(value: int, frame: int) -> RawEvent:
    return (value, READING, Reading.WOKEN, value, frame)


EVENTS: list[RawEvent] = [
    *(reading(at_ns, 0) for at_ns in range(6)),
    (6, COMMAND, 1, 2, 0),
    (6, COMMAND_CONTEXT, 3, 90, 1),
    (6, FRAME_BEGAN, 1, 0, 16),
    (6, BREAKPOINT_HIT, 5, 1, 0),
    (6, FRAME_BEGAN, 1, 1, 16),
    reading(7, 2),
    (8, COMMAND_FORM, 1, 3, 2),
    reading(9, 2),
    (9, BREAKPOINT_HIT, 4, 1, 0),
    (9, MARK, 0, 1, 0),
]


def test_that_what_came_from_outside_is_a_few_lines_of_text() -> None:
    woken = int(Reading.WOKEN)

    lines = outside_text(EVENTS, STRINGS).split("\n")

    assert lines == [
        " ".join(f"{woken}:{at_ns}:0" for at_ns in range(5)),
        f"{woken}:5:0",
        '[6, "command", 1, "pausé", ""]',
        '[6, "command_context", 3, 0, "boss"]',
        '[6, "frame_began", 0, 0, 0]',
        '[6, "breakpoint_hit", 5, "boss", 0]',
        f"{woken}:7:2",
        '[8, "frame_began", 0, 1, 0]',
        '[8, "command_form", 1, "{\\"command\\": \\"Run\\"}", 2]',
        f"{woken}:9:2",
        '[9, "breakpoint_hit", 4, "boss", 0]',
    ]
    strings = [""]
    assert list(_events_in("\n".join(lines), strings)) == [
        *((0, READING, woken, at_ns, 0) for at_ns in range(6)),
        (6, COMMAND, 1, 1, 0),
        (6, COMMAND_CONTEXT, 3, 0, 2),
        (6, FRAME_BEGAN, 0, 0, 0),
        (6, BREAKPOINT_HIT, 5, 2, 0),
        (0, READING, woken, 7, 2),
        (8, FRAME_BEGAN, 0, 1, 0),
        (8, COMMAND_FORM, 1, 3, 2),
        (0, READING, woken, 9, 2),
        (9, BREAKPOINT_HIT, 4, 2, 0),
    ]
    assert strings == ["", "pausé", "boss", '{"command": "Run"}']
    assert outside_text([reading(1, 0)] * 6, STRINGS).split("\n") == [
        " ".join([f"{woken}:1:0"] * 5),
        f"{woken}:1:0",
    ]


def test_that_timers_are_told_by_their_names_and_marks_by_their_texts() -> None:
    events: list[RawEvent] = [
        (0, TIMER_ADDED, 7, 1, 4),
        (3, TIMER_FIRED, 7, 0, 0),
        (4, MARK, 2, 1, 0),
        (5, TIMER_FIRED, 8, 0, 0),
        (6, TIMER_FIRED, 7, 0, 0),
        (7, FRAME_BEGAN, 1, 2, 3),
    ]

    # A timer of which the beginning is lost has its number only.
    assert what_happened(events, STRINGS) == Replayed(
        firings={"tick": [3, 6], "timer 8": [5]}, marks=[(4, "boss")]
    )


def past(events: list[RawEvent], strings: list[str]) -> LogHistory:
    return LogHistory(EventLog.holding(strings, events, 0, Timeline(strings)))


def test_that_timers_that_fired_more_than_fifty_times_are_counted_in_a_test(
    tmp_path: Path,
) -> None:
    strings = [*STRINGS, Beginning().as_json()]
    events: list[RawEvent] = [
        (0, COMMAND_FORM, 0, len(STRINGS), 0),
        (0, TIMER_ADDED, 7, 1, 4),
        (0, TIMER_ADDED, 8, 1, 5),
        *((at_ns, TIMER_FIRED, 7, 0, 0) for at_ns in range(1, 51)),
        *((at_ns, TIMER_FIRED, 8, 0, 0) for at_ns in range(1, 52)),
        (52, MARK, 0, 1, 0),
    ]
    title = 'Game "one"\n of\u2028two\\three'

    text = pytest_text(
        past(events, strings), title, tmp_path / "scenes" / "game.py", tmp_path / "t" / "test.py"
    )

    written: dict[str, Any] = {"__file__": str(tmp_path / "t" / "test.py")}
    exec(text, written)  # noqa: S102 - the test that it is
    assert written["__doc__"].startswith("Runs “Game 'one' of two/three” again")
    assert written["FIRINGS"] == {"tick": [*range(1, 51)]}
    assert written["COUNTS"] == {"often": (51, 1, 51)}
    assert written["MARKS"] == [(52, "boss")]
    assert written["SCENE"].resolve() == tmp_path / "scenes" / "game.py"
    with pytest.raises(JournalError, match="start of the scene is missing"):
        pytest_text(past(events[1:], strings), "", tmp_path, tmp_path)


def recorded(scene: Path, *, is_manual: bool = False) -> tuple[list[RawEvent], list[str]]:
    """Return the events of thirty frames of a scene, and their texts."""
    source = ManualTimeSource() if is_manual else VirtualTimeSource()
    session = HostedSession(scene, source)
    source.advance(0.51) if isinstance(source, ManualTimeSource) else source.pass_ns(510_000_000)
    session.refresh()
    events, strings = session.log.read(0).events, session.log.strings
    session.close()
    return events, strings


@pytest.mark.parametrize("is_manual", [False, True])
def test_that_a_scene_is_run_again_from_what_came_from_outside(
    tmp_path: Path, *, is_manual: bool
) -> None:
    scene = tmp_path / "tick.py"
    scene.write_text(TICK)
    events, strings = recorded(scene, is_manual=is_manual)
    built: list[tuple[int, bool]] = []

    found = rerun(
        past(events, strings),
        scene,
        on_built=lambda session: built.append((session.frames_run, session.is_running)),
    )

    assert (found.is_same, found.difference, found.notes) == (True, None, ())
    assert (found.events, found.frames) == (len(events), 30)
    assert built == [(0, False)]
    again = replayed(scene, outside_text(events, strings))
    assert again == what_happened(events, strings)
    assert again.firings == {"tick": [100_000_000 * count for count in range(1, 6)]}


def test_that_a_scene_that_changed_is_run_again_only_if_asked_to(tmp_path: Path) -> None:
    scene = tmp_path / "tick.py"
    scene.write_text(TICK)
    events, strings = recorded(scene)
    scene.write_text(TICK.replace("0.1", "0.2"))

    with pytest.raises(
        ChangedSceneError, match=r"tick\.py has changed since this was recorded, so"
    ):
        rerun(past(events, strings), scene)

    found = rerun(past(events, strings), scene, anyway=True)
    assert not found.is_same
    assert found.notes == ("tick.py has changed since this was recorded.",)
    journal = Journal.from_events(events, strings)
    digestless = structs.replace(journal.beginning, digest="")
    strings[strings.index(journal.beginning.as_json())] = digestless.as_json()
    # Nothing is known of the file that was recorded.
    assert rerun(past(events, strings), scene).notes == ()
    scene.write_text("no python")
    with pytest.raises(SceneProblem, match="could not be imported"):
        rerun(past(events, strings), scene)


def test_that_only_a_final_hold_is_no_part_of_what_is_compared(tmp_path: Path) -> None:
    scene = tmp_path / "tick.py"
    scene.write_text(TICK)
    events, strings = recorded(scene)
    at_ns = events[-1][0]
    held: RawEvent = (at_ns, TRANSPORT, Mode.HELD, 0, 0)
    running: RawEvent = (at_ns, TRANSPORT, Mode.RUNNING, 0, 0)

    assert rerun(past([*events, held], strings), scene).is_same
    for ending in ([running], [held, held], [(at_ns, MARK, Mode.HELD, 0, 0)]):
        assert not rerun(past([*events, *ending], strings), scene).is_same


def test_that_a_run_from_a_journal_keeps_its_whole_log(tmp_path: Path) -> None:
    scene = tmp_path / "tick.py"
    scene.write_text(TICK)
    events, strings = recorded(scene)
    journal = Journal.from_events(events, strings)

    with run_again(scene, journal) as session:
        assert session.log.budget_bytes > 2**60
        assert isinstance(session.source, VirtualTimeSource)
    assert session.status.message == "No scene is open."
