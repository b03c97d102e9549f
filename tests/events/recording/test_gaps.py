"""A recording with gaps has every event that is left, and knows where some are missing."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from itertools import takewhile
from pathlib import Path

import pytest

from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.recording import RecordingInfo, open_recording
from inspector.events.recording.reading import recording
from inspector.events.recording.writing import file
from inspector.events.recording.writing.file import RecordingFile
from inspector.vocabulary import MARK
from tests.events.recording.recorded_worlds import record
from tests.fuzz import rounds

EVENTS = 60
PORTION = 7


def marks_log() -> EventLog:
    """Return marks, some of them at the same instant."""
    log = EventLog()
    for number in range(EVENTS):
        log.append((10 * (number // 4), MARK, 0, log.intern("here"), number))
    return log


def with_gaps(path: Path, gone: set[int], damaged: set[int]) -> None:
    """Take chunks away and damage others, each by its first cursor."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for text, firsts in (
            ("DELETE FROM chunks WHERE first_cursor = ?", gone),
            ("UPDATE chunks SET crc = crc + 1 WHERE first_cursor = ?", damaged),
        ):
            connection.executemany(text, [(first,) for first in firsts])


def test_that_what_was_added_just_before_a_gap_stands_before_it(tmp_path: Path) -> None:
    log = marks_log()
    file = RecordingFile(tmp_path / "a.tlrec", RecordingInfo(), log.base.copy(), 0)
    file.add_strings(log.strings)
    file.add(log.slice(0, 5))

    lost = file.skip_to(LogHistory(log).state_before(20), 20)

    assert lost == 15
    file.add(log.slice(20, EVENTS))
    file.finish()
    past = open_recording(tmp_path / "a.tlrec")
    kept = [*range(5), *range(20, EVENTS)]
    cursors, events = past.numbered(0, EVENTS)
    assert list(cursors) == kept
    assert [event[4] for event in events] == kept


@pytest.mark.parametrize("kept_chunks", [1, 64])
@pytest.mark.parametrize("looked_through_bytes", [0, 1 << 30])
def test_that_what_is_left_is_there_and_what_is_missing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_chunks: int, looked_through_bytes: int
) -> None:
    monkeypatch.setattr(recording, "_KEPT_CHUNKS", kept_chunks)
    monkeypatch.setattr(recording, "_LOOKED_THROUGH_BYTES", looked_through_bytes)
    log = marks_log()
    events = log.slice(0, EVENTS)
    whole = record(log, tmp_path / "whole.tlrec", portion=PORTION).read_bytes()
    firsts = range(0, EVENTS, PORTION)
    for seed in rounds(16):
        chance = random.Random(seed)
        path = tmp_path / f"{seed}.tlrec"
        path.write_bytes(whole)
        gone, damaged = ({each for each in firsts if chance.random() < 0.2} for _ in range(2))
        with_gaps(path, gone, damaged)
        damaged -= gone
        there = [each for each in firsts if each not in gone]
        left = {
            each: events[each]
            for first in there
            if first not in damaged
            for each in range(first, min(first + PORTION, EVENTS))
        }
        past = open_recording(path)

        first = there[0] if there else 0
        end = min(there[-1] + PORTION, EVENTS) if there else 0
        assert (past.first, past.end) == (first, end)
        places = [(chance.randint(0, EVENTS + 5), chance.randint(0, EVENTS + 5)) for _ in range(20)]
        for start, stop in [(0, EVENTS), *places]:
            inside = [each for each in range(start, stop) if each in left]
            numbers, found = past.numbered(start, stop)
            assert (list(numbers), found) == (inside, [left[each] for each in inside])
            assert past.events(start, stop) == found
            until = start + len(list(takewhile(left.__contains__, range(start, stop))))
            assert past.whole_until(start, stop) == until
            assert past.columns(start, stop, is_whole=True).shape[1] == until - start
            since = end - len(list(takewhile(left.__contains__, range(end - 1, start - 1, -1))))
            assert past.whole_since(start) == max(since, start)
        if not damaged:
            for at_ns in range(-5, 10 * EVENTS // 4 + 20, 5):
                before = [each for each, event in left.items() if event[0] <= at_ns]
                assert past.cursor_at(at_ns) == max(before, default=first - 1) + 1
        # Behind the last event, a keyframe has the whole state.
        for cursor in {0, chance.randrange(EVENTS), min(end, EVENTS - 1)}:
            known = events[: past.whole_until(0, cursor)]
            marks = past.state_before(cursor).marks
            assert [mark.at_ns for mark in marks] == [event[0] for event in known]
        assert past.missing == EVENTS - len(left)
        assert past.is_partial == bool(gone or damaged)
        assert past.has_all_events == (len(left) == end - first and not damaged)
        past.close()


@pytest.mark.parametrize("is_damaged", [False, True])
@pytest.mark.parametrize(("first", "before_ns"), [(0, 0), (21, 200)])
def test_that_states_are_unknown_from_the_last_event_before_a_gap_to_the_next_keyframe(
    tmp_path: Path, first: int, before_ns: int, *, is_damaged: bool
) -> None:
    log = EventLog()
    for number in range(EVENTS):
        log.append((10 * number, MARK, 0, log.intern("here"), number))
    path = record(log, tmp_path / "a.tlrec", portion=PORTION)
    with_gaps(path, *((set(), {first}) if is_damaged else ({first}, set())))
    past = open_recording(path)

    known = [None] * (before_ns // 10 + 1) if first else []
    found = [past.unknown_around(10 * number) for number in range(EVENTS)]

    unknown = [(before_ns, 590)] * (EVENTS - len(known) - 1)
    assert found == [*known, *unknown, None]


@pytest.mark.parametrize("gone", [{21}, set()])
def test_that_states_are_unknown_up_to_the_next_keyframe_or_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: set[int]
) -> None:
    monkeypatch.setattr(file, "KEYFRAME_EVERY", 35)
    monkeypatch.setattr(file, "KEYFRAME_AT_MOST", 35)
    log = EventLog()
    for number in range(EVENTS):
        log.append((10 * number, MARK, 0, log.intern("here"), number))
    path = record(log, tmp_path / "a.tlrec", portion=PORTION)
    with_gaps(path, gone, {21, 49} - gone)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM keyframes WHERE cursor > 35")
    past = open_recording(path)

    found = [past.unknown_around(10 * number) for number in range(EVENTS)]

    assert found == [
        *[*[None] * 21, *[(200, 340)] * 13],
        *[*[None] * 15, *[(480, 590)] * 11],
    ]


@pytest.mark.parametrize("change", ["first_cursor = 18", "count = 0", "count = 'seven'"])
def test_that_chunks_out_of_place_are_left_out_and_said(tmp_path: Path, change: str) -> None:
    path = record(marks_log(), tmp_path / "a.tlrec", portion=PORTION)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE chunks SET {change} WHERE first_cursor = 21")  # noqa: S608

    past = open_recording(path)

    assert [event[4] for event in past.events(0, EVENTS)] == [*range(21), *range(28, EVENTS)]
    first = 18 if change == "first_cursor = 18" else 21
    assert f"(the events from {first} on are out of place)" in past.notes[0]
