"""Any state in a recording is the fold of everything before it."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from inspector.events.blocks.quick_fold import fold_block
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.members import MemberTable
from inspector.events.recording import RecordingInfo, keyframes, open_recording
from inspector.events.recording.layout import TIMER_COLUMNS
from inspector.events.recording.reading.soundness import Soundness
from inspector.events.recording.writing import file
from inspector.events.recording.writing.file import RecordingFile
from inspector.events.tasks import TaskState
from inspector.events.timeline import Timeline
from inspector.sessions.scene import find_scene
from inspector.vocabulary import (
    CLOCK_ADDED,
    TIMER_ADDED,
    TIMER_CLEARED,
    TIMER_FIRED,
    RawEvent,
    TimerKind,
)
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import described, folded, record, scene_log
from tests.light_scenes import light_scene

SCENES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")


@pytest.fixture(scope="module", params=SCENES)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> EventLog:
    scene = light_scene(find_scene(request.param), tmp_path_factory.mktemp("scene"))
    return scene_log(str(scene), 2)


def test_that_folding_blocks_gives_the_same_state(log: EventLog) -> None:
    chance = random.Random(7)
    for _ in range(10):
        start, end = sorted(chance.randrange(log.end + 1) for _ in range(2))
        expected, timeline = folded(log, end), folded(log, start)
        ended = expected.frames
        fold_block(timeline, block_of(log.slice(start, end)), timeline.frames.end)
        timeline.frames = ended

        assert described(timeline) == described(expected)


@pytest.mark.parametrize(
    "events",
    [
        # Two that fire before they are armed, and are due at the same instant.
        [
            (1, TIMER_ADDED, 1, 1, 0),
            (1, TIMER_ADDED, 2, 1, 0),
            (2, TIMER_FIRED, 1, 0, 100),
            (2, TIMER_FIRED, 2, 0, 100),
        ],
        [(1, TIMER_ADDED, 1, 1, 0), (2, TIMER_CLEARED, 1, 0, 0)],
    ],
    ids=["unarmed", "gone"],
)
def test_that_folding_blocks_takes_timers_from_their_first_event_on(
    events: list[RawEvent],
) -> None:
    one_by_one, at_once = Timeline([""]), Timeline([""])
    for timeline in (one_by_one, at_once):
        timeline.apply_all([(0, CLOCK_ADDED, 1, 0, 0)])
    one_by_one.apply_all(events)
    fold_block(at_once, block_of(events), 0)

    assert described(at_once) == described(one_by_one)


def test_that_any_state_is_found_in_the_file(
    log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "KEYFRAME_EVERY", 300)
    monkeypatch.setattr(file, "KEYFRAME_AT_MOST", 300)
    chance = random.Random(8)
    path = record(log, tmp_path / "a.tlrec", portion=170)
    with_keyframes = open_recording(path)

    assert (with_keyframes.first, with_keyframes.end) == (0, log.end)
    assert with_keyframes.notes == ()
    assert with_keyframes.strings == log.strings
    assert with_keyframes.events(0, log.end) == log.slice(0, log.end)
    for cursor in [0, 1, log.end, *(chance.randrange(log.end) for _ in range(12))]:
        assert described(with_keyframes.state_before(cursor)) == described(folded(log, cursor))


def test_that_members_in_older_keyframes_do_not_tell_when_they_were_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values_of = keyframes._member_values
    monkeypatch.setattr(keyframes, "_member_values", lambda member: values_of(member)[:-1])
    monkeypatch.setattr(file, "KEYFRAME_EVERY", 300)
    monkeypatch.setattr(file, "KEYFRAME_AT_MOST", 300)
    log = scene_log("9")
    path = record(log, tmp_path / "a.tlrec", portion=170)

    older = open_recording(path)

    assert older.notes == ()
    expected, found = folded(log, log.end), older.state_before(log.end)
    assert found.members.by_id.keys() == expected.members.by_id.keys()
    for number, member in expected.members.by_id.items():
        member.timed_ns = found.members.by_id[number].timed_ns
    assert described(found) == described(expected)


def test_that_a_state_may_be_changed_without_changing_the_past(tmp_path: Path) -> None:
    log = scene_log("1", 1)
    past = open_recording(record(log, tmp_path / "a.tlrec"))
    state = past.state_before(log.end - 5)
    state.apply_all(log.slice(log.end - 5, log.end))
    state.clocks.clear()

    assert described(past.state_before(log.end - 5)) == described(folded(log, log.end - 5))
    assert described(past.state_before(log.end)) == described(folded(log, log.end))


def test_that_an_instant_includes_everything_that_happened_then(tmp_path: Path) -> None:
    log = scene_log("1", 2)
    past = open_recording(record(log, tmp_path / "a.tlrec", portion=100))
    for event in random.Random(9).sample(log.slice(0, log.end), 20):
        for at_ns in (event[0] - 1, event[0], event[0] + 1):
            assert past.cursor_at(at_ns) == log.cursor_at(at_ns)
    assert past.state_at(10**12).at_ns == 10**12
    assert past.last_ns == log.slice(log.end - 1, log.end)[0][0]


def test_that_a_recording_may_begin_in_the_middle(tmp_path: Path) -> None:
    log = scene_log("1", 4)
    whole = {cursor: described(folded(log, cursor)) for cursor in (3_000, 4_000, log.end)}
    log.budget_bytes = (log.end - 3_000) * BYTES_PER_EVENT * 4 // 3
    log.budget_bytes = 2_000 * BYTES_PER_EVENT
    log.settle()
    assert log.first > 0

    past = open_recording(record(log, tmp_path / "a.tlrec"))

    assert past.first == log.first
    for cursor, expected in whole.items():
        if cursor >= log.first:
            assert described(past.state_before(cursor)) == expected
    assert past.first_ns == log.base.at_ns


@pytest.mark.parametrize("kind", [min(TimerKind) - 1, max(TimerKind) + 1])
def test_that_timers_of_an_unknown_kind_are_refused(kind: int) -> None:
    log = scene_log("1", 1)
    block = keyframes.timer_block(folded(log, log.end))
    sound = Soundness(len(log.strings), int)
    block[TIMER_COLUMNS.index("kind"), -1] = kind

    with pytest.raises(ValueError, match="a timer has an unknown kind"):
        keyframes._fill_timers(Timeline(log.strings), block, sound)


@pytest.mark.parametrize("kind", TimerKind)
def test_that_timers_of_every_kind_are_read_back(kind: TimerKind) -> None:
    log = scene_log("1", 1)
    whole, timeline = folded(log, log.end), Timeline(log.strings)
    timeline.clocks = whole.copy().clocks
    for clock in timeline.clocks.values():
        clock.pending = 77
    block = keyframes.timer_block(whole)
    block[TIMER_COLUMNS.index("kind"), :] = kind

    keyframes._fill_timers(timeline, block, Soundness(len(log.strings), int))

    assert {timeline.timers.row(each).kind for each in timeline.timers.ids()} == {kind}
    # Timers are counted, whatever the state says.
    counts = {clock.id: clock.pending for clock in timeline.clocks.values()}
    assert counts == {clock.id: clock.pending for clock in whole.clocks.values()}


@pytest.mark.parametrize("field", ["name", "created", "defined", "line", "what"])
def test_that_a_task_of_a_text_that_is_not_there_is_refused(field: str) -> None:
    sound = Soundness(5, int)
    task = TaskState(id=1, clock_id=1, name=0)
    for number in (0, 4):
        known = structs.replace(task, **{field: number})
        assert keyframes._checked_task(known, sound) is known
    for number in (-1, 5):
        task = structs.replace(task, **{field: number})
        with pytest.raises(ValueError, match="a text that is not in the string table"):
            keyframes._checked_task(task, sound)


def test_that_states_that_take_much_are_kept_more_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "KEYFRAME_EVERY", 10)
    log = scene_log("2", 1)
    path = record(log, tmp_path / "a.tlrec", portion=200)
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT cursor, length(state) + length(timers) FROM keyframes ORDER BY cursor"
        kept = connection.execute(query).fetchall()

    # The next comes after as many events as take half of its room, at 16 bytes each.
    apart = [after - before for (before, _), (after, _) in pairwise(kept)]
    least = [size // 8 for _, size in kept]
    assert max(least) > 1_000
    assert len(apart) > 3
    assert all(gap >= some for gap, some in zip(apart[:-1], least, strict=False))


def test_that_an_empty_recording_has_a_past_without_events(tmp_path: Path) -> None:
    past = open_recording(record(EventLog(), tmp_path / "a.tlrec"))
    assert (past.first, past.end, past.first_ns, past.last_ns) == (0, 0, 0, 0)
    assert past.events(0, 5) == []
    assert described(past.state_at(0)) == described(Timeline([""]))


def test_that_what_came_before_a_recording_without_events_is_in_it(tmp_path: Path) -> None:
    log = scene_log("1", 2)
    past = LogHistory(log)
    writer = RecordingFile(
        tmp_path / "a.tlrec", RecordingInfo(), past.state_before(log.end), log.end
    )
    writer.add_strings(log.strings)
    writer.finish()
    found = open_recording(tmp_path / "a.tlrec")

    assert found.state_before(log.end).marks == past.state_before(log.end).marks != []


def test_that_nothing_a_timeline_knows_is_forgotten() -> None:
    """A new field of a timeline needs a representation in keyframes, and an entry here."""
    kept = {"at_ns", "events_folded", "is_running", "scene_path", "scene_generation", "root_id"}
    kept |= {"clocks", "timers", "members", "frames", "frames_of", "loops"}
    kept |= {"failures", "marks", "commands", "hits", "holds"}
    kept |= {"structure_version", "mapping_version", "timers_version"}
    kept |= {"_frame_at_ns", "_frame_delta_ns", "_frame_cut_ns", "_frame_phases"}
    kept |= {"_frame_shares", "_last_order", "tasks"}
    made_anew = {"strings", "newest_ns", "_fold", "_unknown", "_stale_clocks"}
    made_anew |= {"skips_misfits", "misfits", "_kept_of_loops", "_has_many_unknown", "_apart"}

    assert vars(Timeline([""])).keys() == kept | made_anew
    members = {"by_id", "of_clock", "histories", "_last_turn"}
    members |= {"structure_version", "values_version"}
    assert set(MemberTable.__slots__) == members | {"_strings"}
