"""The number of an event in evidence leads to that event, also behind damaged events."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from inspector.analysis.explain.explain import explain
from inspector.analysis.frame_events import frames_in
from inspector.analysis.lint.rules import findings
from inspector.calls.call import CallId
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.recording import Recording, open_recording
from inspector.events.recording.writing import file as file_module
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.vocabulary import MARK
from tests.events.recording.recorded_worlds import record

if TYPE_CHECKING:
    from inspector.analysis.evidence import Explanation

_PORTION = 200
_DAMAGED = range(2 * _PORTION, 3 * _PORTION)

_SCENE = """
def build(stage):
    game = stage.root.child("game")
    tick = game.set_interval(0.1, lambda: None, name="tick")
    stage.root.set_timeout(6, game.pause, name="menu")
    stage.root.set_timeout(7, game.resume, name="close")
    stage.root.set_timeout(8, lambda: game.clear(tick), name="stop")
    stage.root.set_timeout(8.5, game.pause, name="the end")
    def load():
        raise KeyError("castle")
    game.set_timeout(6.5, load, name="load")
    game.set_timeout(60, load, name="waits")
    scheduler = stage.scheduler()
    @scheduler.every_frame(name="move")
    def move(delta):
        pass
    stage.root.set_timeout(8, lambda: scheduler.unschedule_update(move), name="part")
    stage.root.set_timeout(9, lambda: game.set_timeout(1, load, name="later"), name="adds")
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EventLog:
    path = scene_file(tmp_path_factory.mktemp("scene"), _SCENE)
    session = virtual_session(path)
    pass_seconds(session, 10)
    session.close()
    return session.log


@pytest.fixture(scope="module")
def past(log: EventLog, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Return a recording with a damaged chunk, and with keyframes before and behind it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(file_module, "KEYFRAME_EVERY", 2 * _PORTION)
        patched.setattr(file_module, "KEYFRAME_AT_MOST", 2 * _PORTION)
        path = record(log, tmp_path_factory.mktemp("past") / "a.tlrec", portion=_PORTION)
    with closing(sqlite3.connect(path)) as connection, connection:
        text = "UPDATE chunks SET crc = 0 WHERE first_cursor = ?"
        assert connection.execute(text, [_DAMAGED.start]).rowcount == 1
    return open_recording(path)


def proven(explanation: Explanation) -> set[tuple[int, int]]:
    """Return instant and number of the events that an explanation names."""
    reasons = explanation.reasons
    return {(each.at_ns, each.cursor) for each in reasons if each.cursor is not None}


@pytest.mark.parametrize(
    ("number", "is_member"),
    [(number, False) for number in range(1, 10)] + [(number, True) for number in range(2, 5)],
)
def test_that_reasons_behind_a_gap_name_the_events_they_are_about(
    past: Recording, log: EventLog, number: int, is_member: bool
) -> None:
    whole = LogHistory(log)
    call = CallId(number, is_member)

    found = proven(explain(past, call, past.last_ns))

    assert any(cursor >= _DAMAGED.stop for _, cursor in found)
    assert found <= proven(explain(whole, call, whole.last_ns))


def test_that_a_call_that_is_set_behind_a_gap_is_named_with_its_event(
    past: Recording, log: EventLog
) -> None:
    whole, before_ns = LogHistory(log), log.slice(_PORTION, _DAMAGED.start)[0][0]
    later = CallId(max(past.state_at(past.last_ns).timers.ids()))

    found = proven(explain(past, later, before_ns))

    assert found == proven(explain(whole, later, before_ns)) != set()


def test_that_findings_behind_a_gap_name_their_events_and_frames(
    past: Recording, log: EventLog
) -> None:
    (found,) = findings(past)

    (expected,) = findings(LogHistory(log))
    assert found == expected
    assert found.cursor is not None
    assert log.slice(found.cursor, found.cursor + 1)[0][0] == found.at_ns


def test_that_frames_behind_a_gap_have_the_numbers_of_their_events(
    past: Recording, log: EventLog
) -> None:
    start, end = _DAMAGED.start - _PORTION, _DAMAGED.stop + _PORTION
    whole = {frame.index: frame for frame in frames_in(*LogHistory(log).numbered(start, end))}

    found = [frame for frame in frames_in(*past.numbered(start, end)) if frame.cursor >= 0]

    assert found[-1].cursor > _DAMAGED.stop
    for frame in found:
        expected = whole[frame.index]
        assert (frame.cursor, frame.end) == (expected.cursor, expected.end)
        assert frame.calls.keys() == expected.calls.keys()


def test_that_two_frames_around_a_gap_are_not_taken_for_one(log: EventLog) -> None:
    history = LogHistory(log)
    frames = list(frames_in(*history.numbered(0, log.end)))
    cut, last = frames[10], frames[20]
    cursors, events = history.numbered(0, frames[30].end + 1)
    kept = [each for each in cursors if not cut.cursor < each <= last.cursor]

    found = list(frames_in(kept, [events[each] for each in kept]))

    assert [frame.index for frame in found if frame.cursor < 0] == [0]
    indexes = [frame.index for frame in found if frame.cursor >= 0]
    assert indexes == [frame.index for frame in (*frames[:10], *frames[21:31])]


def test_that_events_around_a_gap_come_with_their_numbers(past: Recording, log: EventLog) -> None:
    start, end = _DAMAGED.start - 10, _DAMAGED.stop + 10

    cursors, events = past.numbered(start, end)

    assert list(cursors) == [each for each in range(start, end) if each not in _DAMAGED]
    assert events == [log.slice(cursor, cursor + 1)[0] for cursor in cursors]
    assert past.numbered(_DAMAGED.start, _DAMAGED.stop) == ([], [])


def test_that_events_come_with_their_numbers_when_older_ones_are_dropped() -> None:
    log = EventLog(budget_bytes=10 * BYTES_PER_EVENT)
    for number in range(100):
        log.append((number, MARK, 0, 0, 0))
        log.settle()

    cursors, events = LogHistory(log).numbered(0, log.end)

    assert log.first > 0
    assert list(cursors) == [at_ns for at_ns, *_ in events] == list(range(log.first, log.end))
