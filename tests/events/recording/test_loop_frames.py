"""The frames of several loops in one log and one recording."""

from __future__ import annotations

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.events import timeline as module
from inspector.events.blocks.packed_columns import events_of
from inspector.events.blocks.quick_fold import fold_block
from inspector.events.frame_history import FrameHistory
from inspector.events.log import EventLog
from inspector.events.loop_frames import LoopFrames, drop_oldest, exchange, of_other_loop
from inspector.events.recording import (
    RecordingError,
    as_far_as_it_goes,
    open_recording,
    save_last,
)
from inspector.events.recording.writing import file as writing
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CALLBACK_FAILED,
    CLOCK_ADDED,
    COMMAND,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_DELTA_CUT,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    LOOP_PHASE_ENDED,
    PHASE_ENDED,
    EventKind,
    LoopKind,
    Phase,
    RawEvent,
    frame_and_phase,
)
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import described, folded, record
from tests.fuzz import rounds

LOOPS = (2, 3, 4)
SHOWN = LOOPS[0]


def frame_part(clock_id: int, frame: int, at_ns: int, part: int, chance: random.Random) -> RawEvent:
    """Return an event of a frame: its beginning, a phase, a cut or its end."""
    is_shown = clock_id == SHOWN
    number = chance.randrange(1, 99)
    phase = chance.choice(list(Phase))
    if part == 1:
        if is_shown:
            return (at_ns, PHASE_ENDED, phase, frame, number)
        return (at_ns, LOOP_PHASE_ENDED, clock_id, frame_and_phase(frame, phase), number)
    kinds = {
        0: (FRAME_BEGAN, LOOP_FRAME_BEGAN),
        2: (DELTA_CUT, LOOP_DELTA_CUT),
        3: (FRAME_ENDED, LOOP_FRAME_ENDED),
    }
    values = {0: (frame, number), 2: (number, 0), 3: (number, number % 7)}
    return (at_ns, kinds[part][not is_shown], clock_id, *values[part])


def log_of_loops(events: int = 600, seed: int = 1, budget: int = 10**8) -> EventLog:
    """Return a log of three loops whose frames overlap at random, with commands and failures."""
    chance = random.Random(seed)
    log = EventLog(budget)
    names = {clock_id: log.intern(f"loop {clock_id}") for clock_id in LOOPS}
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("session")))
    for clock_id in LOOPS:
        log.append((0, CLOCK_ADDED, clock_id, 1, names[clock_id]))
    frames, parts = dict.fromkeys(LOOPS, 0), dict.fromkeys(LOOPS, -1)
    for at_ns in range(10, 10 + 10 * events, 10):
        clock_id = chance.choice(LOOPS) if at_ns > 10 else SHOWN
        if parts[clock_id] < 0:
            log.append((at_ns, LOOP_FOUND, clock_id, names[clock_id], clock_id % 2))
            parts[clock_id] = 0
        part = parts[clock_id]
        log.append(frame_part(clock_id, frames[clock_id], at_ns, part, chance))
        parts[clock_id] = (part + 1) % 4
        frames[clock_id] += part == 3
        if chance.random() < 0.05:
            log.append((at_ns, COMMAND, at_ns, names[2], 0))
            log.append((at_ns, CALLBACK_FAILED, 0, names[2], names[3]))
        log.settle()
    return log


def columns_of(frames: FrameHistory) -> list[list[int]]:
    rows = [frames.at_ns, frames.interval_ns, frames.delta_ns, frames.busy_ns, frames.cut_ns]
    return [[frames.first, frames.end], *map(list, (*rows, *frames.phases))]


def test_that_choosing_another_loop_and_back_changes_no_event() -> None:
    log = log_of_loops()
    events = log.read().events
    block = block_of(events)
    exchange(block, SHOWN, 3)
    assert events_of(block) != events
    for before, after in zip(events, events_of(block), strict=True):
        if before[1] in {FRAME_BEGAN, PHASE_ENDED, DELTA_CUT, FRAME_ENDED}:
            assert after == of_other_loop(before, SHOWN)
    shown = [each for each in events_of(block) if each[1] in {FRAME_BEGAN, FRAME_ENDED}]
    assert {each[2] for each in shown} == {3}
    exchange(block, 3, SHOWN)
    assert events_of(block) == events


@pytest.mark.parametrize("chosen", LOOPS)
def test_that_folding_exchanged_events_gives_the_state_with_the_frames_chosen(chosen: int) -> None:
    log = log_of_loops()
    events = log.read().events
    for count in range(0, len(events), 37):
        timeline = Timeline(log.strings)
        timeline.apply_all(events[:count])
        timeline.choose_frames(chosen)
        block = block_of(events[:count])
        exchange(block, SHOWN, chosen)
        other = Timeline(log.strings)
        other.choose_frames(chosen)
        other.apply_all(events_of(block))
        told, expected = described(other), described(timeline)
        # In which frame a failure came is told by the frames, not by the order of events.
        told.pop("lists"), expected.pop("lists")
        assert told == expected


def test_that_the_older_half_of_the_most_frames_is_dropped() -> None:
    loops = {number: LoopFrames("", LoopKind.DRAWS_FRAMES) for number in LOOPS}
    for number, count in zip(LOOPS, (2, 7, 3), strict=True):
        for at_ns in range(count):
            loops[number].begin(at_ns, 0)
            loops[number].end(1, 1)

    assert drop_oldest(loops) == 2 + 3 + 3
    assert [(each.frames.first, each.frames.end) for each in loops.values()] == [
        *((0, 2), (4, 7), (0, 3))
    ]


def test_that_a_phase_that_there_is_not_means_nothing_once_it_is_exchanged() -> None:
    phases = [frame_and_phase(7, phase) for phase in (0, len(Phase) - 1, len(Phase))]
    block = block_of([(1, LOOP_PHASE_ENDED, 3, phase, 0) for phase in phases])

    exchange(block, SHOWN, 3)

    kinds = [event[1] for event in events_of(block)]
    assert kinds[:2] == [PHASE_ENDED, PHASE_ENDED]
    assert kinds[2] not in list(EventKind)


def test_that_many_events_are_folded_at_once_to_the_same_loops() -> None:
    log = log_of_loops()
    events = log.read().events
    for first, last in ((0, 200), (151, 452), (300, 301)):
        timeline, other = (folded(log, first) for _ in range(2))
        timeline.apply_all(events[first:last])
        fold_block(other, block_of(events[first:last]), other.frames.end)
        found = {clock_id: loop.open_frame for clock_id, loop in timeline.loops.items()}
        assert {clock_id: loop.open_frame for clock_id, loop in other.loops.items()} == found


@pytest.mark.parametrize("portion", [7, 10**9])
def test_that_a_recording_has_the_frames_of_every_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(writing, "KEYFRAME_EVERY", 100)
    monkeypatch.setattr(writing, "ADDED_AT_ONCE", 50)
    log = log_of_loops()
    past = open_recording(record(log, tmp_path / "a.tlrec", portion=portion))
    assert (past.notes, past.frames_of) == ((), SHOWN)
    for cursor in range(0, past.end + 1, 41):
        assert described(past.state_before(cursor)) == described(folded(log, cursor))
    for chosen in (3, 4, SHOWN):
        past.choose_frames(chosen)
        for cursor in range(0, past.end + 1, 83):
            expected = folded(log, cursor)
            if chosen != SHOWN:
                expected.choose_frames(chosen)
            assert described(past.state_before(cursor)) == described(expected)
        began = [each for each in past.events(0, past.end) if each[1] == FRAME_BEGAN]
        assert {each[2] for each in began} == {chosen}
        assert [each[3] for each in began] == list(range(len(began)))
    past.close()


def test_that_a_recording_that_begins_late_has_the_frames_before(tmp_path: Path) -> None:
    whole, log = log_of_loops(), log_of_loops(budget=40 * 200)
    assert log.first > 100
    past = open_recording(record(log, tmp_path / "a.tlrec"))
    for chosen in LOOPS:
        past.choose_frames(chosen)
        expected = folded(whole, whole.end)
        expected.choose_frames(chosen)
        assert columns_of(past.state_before(past.end).frames) == columns_of(expected.frames)
    past.close()


def test_that_anyone_can_query_the_frames_of_loops(tmp_path: Path) -> None:
    log = log_of_loops()
    path = record(log, tmp_path / "a.tlrec")
    connection = sqlite3.connect(path)
    loops = connection.execute("SELECT clock, name, kind FROM loops ORDER BY clock").fetchall()
    text = "SELECT frame, at_ns, interval_ns FROM loop_frames WHERE clock = 3 ORDER BY frame"
    rows = connection.execute(text).fetchall()
    connection.close()
    assert loops == [
        (2, "loop 2", LoopKind.DRAWS_FRAMES.text),
        (3, "loop 3", LoopKind.WAITS_FOR_EVENTS.text),
        (4, "loop 4", LoopKind.DRAWS_FRAMES.text),
    ]
    frames = folded(log, log.end).loops[3].frames
    assert [each[0] for each in rows] == list(range(len(frames)))
    assert [each[1] for each in rows] == list(frames.at_ns)
    assert [each[2] for each in rows] == list(frames.interval_ns)


def test_that_damage_to_the_frames_of_a_loop_is_said_and_leaves_the_others(tmp_path: Path) -> None:
    log = log_of_loops()
    path = record(log, tmp_path / "a.tlrec")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE loop_frame_chunks SET crc = crc + 1 WHERE clock = 3")
    connection.commit()
    connection.close()
    past = open_recording(path)
    state = past.state_before(past.end)
    assert len(state.loops[4].frames) == len(folded(log, log.end).loops[4].frames)
    assert any("frames of other loops" in each for each in past.notes)
    past.close()


def test_that_the_oldest_frames_of_hidden_loops_go_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = folded(log_of_loops(), 10**6)
    monkeypatch.setattr(module, "MOST_KEPT", 50)
    timeline = folded(log_of_loops(), 10**6)
    kept = {clock_id: loop.frames for clock_id, loop in timeline.loops.items()}
    assert sum(map(len, kept.values())) <= 50
    assert len(timeline.frames) == len(whole.frames)
    for clock_id in LOOPS[1:]:
        frames = whole.loops[clock_id].frames
        assert kept[clock_id].end == frames.end
        assert list(kept[clock_id].at_ns) == list(frames.at_ns)[kept[clock_id].first :]


@pytest.fixture(scope="module")
def recorded_loops(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a recording with some keyframes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "KEYFRAME_EVERY", 100)
        patched.setattr(writing, "ADDED_AT_ONCE", 50)
        folder = tmp_path_factory.mktemp("loops")
        return record(log_of_loops(), folder / "a.tlrec", portion=70).read_bytes()


@pytest.mark.parametrize("seed", rounds(20))
def test_that_damaged_recordings_of_loops_are_read_as_far_as_they_go(
    tmp_path: Path, recorded_loops: bytes, seed: int
) -> None:
    path = tmp_path / "a.tlrec"
    path.write_bytes(recorded_loops)
    chance = random.Random(seed)
    connection = sqlite3.connect(path)
    for _ in range(3):
        table = chance.choice(["loops", "loop_frame_chunks", "chunks", "keyframes"])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        value = chance.choice([0, 1, -1, 3, 2**62, "x", bytes(40), 1.5])
        first = f"{table} SET {chance.choice(columns)} = ? WHERE rowid < 4"
        with suppress(sqlite3.IntegrityError):
            connection.execute(f"UPDATE {first}", (value,))
    connection.commit()
    connection.close()
    past = open_recording(path)
    with suppress(RecordingError), as_far_as_it_goes(past):
        for chosen in (3, SHOWN, 99):
            past.choose_frames(chosen)
            for cursor in (past.first, past.end // 2, past.end):
                state = past.state_before(cursor)
                assert len(columns_of(state.frames)[0]) == 2
    past.close()


@pytest.mark.parametrize("chosen", LOOPS)
def test_that_a_part_of_a_recording_is_saved_with_the_loop_that_is_shown(
    tmp_path: Path, chosen: int
) -> None:
    past = open_recording(record(log_of_loops(), tmp_path / "a.tlrec"))
    past.choose_frames(chosen)
    for seconds in (2e-6, 1.0):
        path = tmp_path / f"{seconds}.tlrec"
        save_last(past, path, seconds)
        saved = open_recording(path)
        assert saved.frames_of == chosen
        whole, part = (each.state_before(each.end) for each in (past, saved))
        assert columns_of(part.frames) == columns_of(whole.frames)
        saved.choose_frames(LOOPS[LOOPS.index(chosen) - 1])
        past.choose_frames(saved.frames_of)
        whole, part = (each.state_before(each.end) for each in (past, saved))
        assert columns_of(part.frames) == columns_of(whole.frames)
        past.choose_frames(chosen)
        saved.close()
    past.close()
