"""The past of a log: any state in it is the fold of everything up to there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks.tree import ClockTree
from inspector.events import history
from inspector.events.frame_history import FrameHistory
from inspector.events.history import LogHistory, WholeHistory, without_gaps
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.timeline import Timeline
from inspector.vocabulary import CLOCK_ADDED, MARK, TIMER_ADDED, Phase, RawEvent


def busy_log(budget_bytes: int = 64 * 1024 * 1024) -> tuple[EventLog, list[RawEvent]]:
    """Return a log of a small scene, and all its events whatever the log has kept."""
    log = EventLog(budget_bytes)
    everything: list[RawEvent] = []
    tree = ClockTree(log)
    game = tree.root.child("game")
    game.set_interval(0.01, lambda: None, name="tick")
    tree.root.set_interval(0.07, lambda: game.resume() or game.pause() or None, name="toggle")
    seen = 0
    for step in range(1, 60):
        if step % 7 == 0:
            game.set_rate(step)
        game.resume()
        tree.run_to(step * 20_000_000)
        everything += log.slice(seen, log.end)
        seen = log.end
        log.settle()
    return log, everything


def described(timeline: Timeline) -> object:
    clocks = [(c.id, c.n, c.off, c.paused, c.pending) for c in timeline.clocks.values()]
    twin = timeline.copy()
    twin.resolve_dues()
    table, frames = twin.timers, twin.frames
    rows = sorted(
        (repr(table.row(each)), table.session_due[table.index(each)]) for each in table.id
    )
    ended = [frames.frame(each) for each in range(frames.first, frames.end)]
    return timeline.at_ns, timeline.events_folded, clocks, rows, ended, timeline.open_frame


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KEYFRAME_EVERY", 25)
    monkeypatch.setattr(history, "MAX_KEYFRAMES", 6)


@given(
    data=st.data(), kept=st.sampled_from([10**6, 120, 40]), many=st.sampled_from([10, 25, 2_000])
)
def test_that_a_state_is_the_fold_of_everything_before_it(
    data: st.DataObject, kept: int, many: int
) -> None:
    log, everything = busy_log(kept * BYTES_PER_EVENT)
    past = LogHistory(log)
    assert past.first == len(everything) - len(log)

    with pytest.MonkeyPatch.context() as patch:
        # Folded as columns, some at a time.
        patch.setattr(history, "_MANY", many)
        patch.setattr(history, "_MOST", 9)
        for _ in range(4):
            cursor = data.draw(st.integers(past.first, past.end))
            expected = Timeline(log.strings)
            expected.apply_all(everything[:cursor])
            assert described(past.state_before(cursor)) == described(expected)


def test_that_states_are_kept_on_the_way_and_known_again() -> None:
    log = EventLog()
    for number in range(60):
        log.append((number, MARK, 0, 0, 0))
    past = LogHistory(log)
    assert past.known_before(60)[0] == 0

    past.state_before(60)
    assert [past.known_before(cursor)[0] for cursor in (60, 50, 49, 25, 24)] == [50, 50, 25, 25, 0]
    at, state = past.known_before(55)
    assert (at, len(state.marks)) == (50, 50)
    # Keeping a large state takes as long as folding twice as many events as it has timers.
    for number in range(40):
        log.append((60, TIMER_ADDED, number + 1, 1, 0))
    base = Timeline([""])
    base.apply_all([(0, CLOCK_ADDED, 1, 0, 0)])
    larger = LogHistory(EventLog.holding([""], log.slice(0, 100), 0, base))
    timers = larger.state_before(100)
    assert larger._step(timers) == 80
    assert [at for at in range(101) if larger.known_before(at)[0] == at] == [0, 25, 50]


def test_that_events_are_had_with_their_cursors_and_in_blocks() -> None:
    log, everything = busy_log(40 * BYTES_PER_EVENT)
    past = LogHistory(log)

    for start, end in ((0, past.end), (past.first + 3, past.end - 2), (past.end, past.end)):
        cursors, events = past.numbered(start, end)
        assert list(cursors) == list(range(max(start, past.first), end))
        assert events == everything[max(start, past.first) : end]
        packed = [number for block in past.blocks(start, end) for number in block]
        assert packed == [number for event in events for number in event]
        assert past.whole_until(start, end) == end
    assert past.whole_until(9, 5) == 9
    assert past.first_ns == past.base.at_ns == past.state_before(0).at_ns > 0
    assert (past.has_all_events, past.missing) == (True, 0)


class Told(WholeHistory):
    """A past that has its events only."""

    first = 2

    def __init__(self, events: list[RawEvent]) -> None:
        self._events = events

    def events(self, start: int, end: int) -> list[RawEvent]:
        return self._events[max(start, self.first) : end]

    def cursor_at(self, at_ns: int) -> int:
        return sum(event[0] <= at_ns for event in self._events)

    def state_before(self, cursor: int) -> Timeline:
        timeline = Timeline([""])
        timeline.apply_all(self._events[: max(cursor, self.first)])
        return timeline


def test_that_a_past_is_told_by_its_events_and_the_states_before_them() -> None:
    told: Any = Told([(number, MARK, 0, 0, 0) for number in range(6)])

    assert told.numbered(0, 4) == (range(2, 4), told.events(2, 4))
    assert len(told.base.marks) == 2
    cursor, state = told.known_before(5)
    assert (cursor, len(state.marks)) == (5, 5)
    told.go_on(state, 5, 6)
    assert (len(state.marks), state.at_ns) == (6, 5)
    later = told.state_at(9)
    assert (len(later.marks), later.at_ns) == (6, 9)


@pytest.mark.parametrize(
    ("cursors", "parts"),
    [
        ([], []),
        (range(3, 6), [[3, 4, 5]]),
        ([3, 4, 5], [[3, 4, 5]]),
        ([3, 5, 6, 9], [[3], [5, 6], [9]]),
        ([1, 2, 4], [[1, 2], [4]]),
    ],
)
def test_that_events_are_split_where_some_are_missing(
    cursors: Sequence[int], parts: list[list[int]]
) -> None:
    events = [(cursor, MARK, 0, 0, 0) for cursor in cursors]

    found = list(without_gaps(cursors, events))

    assert [list(part) for part, _ in found] == parts
    assert [[event[0] for event in part] for _, part in found] == parts


@given(data=st.data())
def test_that_an_instant_includes_everything_that_happened_then(data: st.DataObject) -> None:
    log, everything = busy_log()
    past = LogHistory(log)
    at_ns = data.draw(st.sampled_from([event[0] for event in everything])) + data.draw(
        st.sampled_from([-1, 0, 1])
    )

    cursor = past.cursor_at(at_ns)
    state = past.state_at(at_ns)

    assert all(event[0] <= at_ns for event in everything[:cursor])
    assert all(event[0] > at_ns for event in everything[cursor:])
    assert state.events_folded == cursor
    assert state.at_ns == max(at_ns, everything[cursor - 1][0] if cursor else 0)


def test_that_what_is_outside_is_shown_as_it_is_at_the_edge() -> None:
    log, everything = busy_log(40 * BYTES_PER_EVENT)
    past = LogHistory(log)

    assert past.state_before(0).events_folded == past.first > 0
    assert past.state_before(10**9).events_folded == len(everything)
    assert past.events(0, past.first) == []
    assert past.first_ns <= past.last_ns == everything[-1][0]


def test_that_an_empty_log_has_a_past_without_events() -> None:
    past = LogHistory(EventLog())
    assert (past.first, past.end, past.first_ns, past.last_ns) == (0, 0, 0, 0)
    assert past.state_at(5).clocks == {}


def test_that_keyframes_are_bounded_and_forgotten_with_what_falls_off() -> None:
    log = EventLog(400 * BYTES_PER_EVENT)
    past = LogHistory(log)
    for number in range(3_000):
        log.append((number, MARK, 0, 0, 0))
        log.settle()
        if number % 100 == 99:
            past.state_before(log.end)
            assert len(past._keyframes) <= 6

    assert past._cursors[0] >= past.first
    assert len(past.state_at(2_950).marks) == 2_951


def test_that_a_state_may_be_changed_without_changing_the_past() -> None:
    log, _ = busy_log()
    past = LogHistory(log)
    state = past.state_before(log.end)
    before = described(past.state_before(log.end))

    state.apply_all([(10**12, MARK, 0, 0, 0)])
    state.clocks.clear()

    assert described(past.state_before(log.end)) == before


def test_that_copies_of_frames_share_them_until_they_part() -> None:
    frames = FrameHistory()
    for number in range(3):
        frames.append(number, 10 + number, 0, 0, 0, [0] * len(Phase))
    twin = frames.copy()

    frames.append(3, 13, 0, 0, 0, [0] * len(Phase))
    assert (len(frames), len(twin)) == (4, 3)
    assert list(twin.at_ns) == [0, 1, 2]
    twin.append(30, 99, 0, 0, 0, [0] * len(Phase))

    assert list(frames.at_ns) == [0, 1, 2, 3]
    assert list(twin.at_ns) == [0, 1, 2, 30]
    assert twin.frame(3).interval_ns == 99
    assert list(twin.numpy("interval_ns", 2, 9)) == [12, 99]
    with pytest.raises(IndexError):
        twin.frame(4)


def test_that_copies_that_go_on_with_the_same_frames_keep_sharing_them() -> None:
    frames = FrameHistory()
    frames.append(0, 10, 0, 0, 0, [0] * len(Phase))
    one, many = frames.copy(), frames.copy()
    for number in range(1, 4):
        frames.append(number, 10 + number, 0, 0, 0, [0] * len(Phase))

    one.append(1, 11, 0, 0, 0, [0] * len(Phase))
    zeros = [[0] * 4] * (2 + len(Phase))
    many.extend([[1, 2, 3, 4], [11, 12, 13, 14], [0] * 4, *zeros])

    assert one._columns is many._columns is frames._columns
    assert (len(one), len(many), len(frames)) == (2, 5, 4)
    assert list(many.at_ns) == [0, 1, 2, 3, 4]
    assert list(one.at_ns) == [0, 1]
    one.append(2, 12, 0, 0, 0, [7] * len(Phase))
    assert one._columns is not frames._columns
    assert list(one.phases[0]) == [0, 0, 7]
    assert list(frames.at_ns) == [0, 1, 2, 3]


def test_that_the_frame_at_an_instant_is_found() -> None:
    frames = FrameHistory()
    for number in range(5):
        frames.append(number * 10, 10, 0, 0, 0, [0] * len(Phase))

    assert [frames.index_at(at_ns) for at_ns in (-1, 0, 9, 10, 40, 99)] == [0, 1, 1, 2, 5, 5]


def test_that_many_frames_can_be_added_at_once() -> None:
    frames = FrameHistory()
    frames.append(0, 10, 0, 0, 0, [0] * len(Phase))
    twin = frames.copy()
    columns = [[1, 2], [11, 12], [0, 0], [0, 0], [0, 0], *[[0, 0]] * len(Phase)]

    twin.extend(columns)

    assert (list(twin.at_ns), list(frames.at_ns)) == ([0, 1, 2], [0])
    with pytest.raises(ValueError, match="needs 17 columns of equal lengths"):
        twin.extend(columns[:5])
    with pytest.raises(ValueError, match="equal lengths"):
        twin.extend([*columns[:-1], [0]])
