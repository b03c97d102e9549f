"""The playhead: an instant whose state is shown while the session runs on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.scene import StepBack
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.events import history as history_module
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.recording import open_recording
from inspector.events.recording.writing import file as file_module
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS
from tests.events.recording.recorded_worlds import record, scene_log
from tests.events.test_history import busy_log, described
from tests.ui.looking_back import hold, settle
from tests.ui.shell import Shell
from tests.ui.world import PlayedSession
from ui.session import playhead as playhead_module
from ui.session.bridge import SessionBridge
from ui.session.playhead import Playhead


def played(bridge: SessionBridge, milliseconds: float = 1_000) -> PlayedSession:
    """Return a session in which a timer has fired every 100 ms."""
    session = PlayedSession()
    session.root.set_interval(0.1, lambda: None, name="tick")
    session.run_to_ms(milliseconds)
    bridge.set_session(session)
    return session


def test_that_the_state_at_the_playhead_is_shown_while_the_session_goes_on(
    bridge: SessionBridge,
) -> None:
    session = played(bridge)
    assert bridge.shown is bridge.timeline

    bridge.set_playhead(500 * NS_PER_MS)
    session.run_to_ms(2_000)
    bridge.refresh_now()

    assert bridge.playhead_ns == bridge.shown.at_ns == 500 * NS_PER_MS
    assert bridge.timeline.at_ns == 2_000 * NS_PER_MS
    assert bridge.shown.timers.row(1).fired == 5

    bridge.set_playhead(None)
    assert bridge.shown is bridge.timeline


def test_that_the_playhead_stays_within_what_is_known(bridge: SessionBridge) -> None:
    played(bridge)

    places = []
    for wanted_ns in (-5, 10**12):
        bridge.set_playhead(wanted_ns)
        places.append(bridge.playhead_ns)

    assert places == [0, 1_000 * NS_PER_MS]


def test_that_without_a_session_there_is_no_playhead(bridge: SessionBridge) -> None:
    bridge.set_playhead(5)
    bridge.playhead.play()

    assert bridge.playhead_ns is None
    assert not bridge.playhead.is_playing


def test_that_everybody_is_told_once_a_turn_however_often_it_moves(
    bridge: SessionBridge,
) -> None:
    played(bridge)
    told: list[int | None] = []
    bridge.playhead_changed.connect(told.append)

    for milliseconds in range(100, 900):
        bridge.set_playhead(milliseconds * NS_PER_MS)
    assert told == []
    settle()
    assert told == [899 * NS_PER_MS]

    bridge.set_playhead(899 * NS_PER_MS)
    settle()
    bridge.go_live()
    bridge.go_live()
    assert told == [899 * NS_PER_MS, None]


def test_that_a_move_that_is_taken_back_at_once_is_not_told(bridge: SessionBridge) -> None:
    played(bridge)
    told: list[int | None] = []
    bridge.playhead_changed.connect(told.append)

    bridge.set_playhead(5)
    bridge.go_live()
    settle()

    assert told == []


def test_that_another_session_is_shown_at_its_present(bridge: SessionBridge) -> None:
    played(bridge)
    bridge.set_playhead(5)
    settle()

    session = played(bridge)

    assert bridge.playhead_ns is None
    assert bridge.shown is session.timeline


def test_that_plots_stay_while_somebody_looks_back_and_follow_again(
    bridge: SessionBridge,
) -> None:
    played(bridge)

    seen = []
    for was_following in (True, False):
        bridge.set_following(was_following)
        bridge.set_playhead(5)
        seen.append(bridge.is_following)
        bridge.go_live()
        seen.append(bridge.is_following)

    assert seen == [False, True, False, False]


def test_that_a_command_about_what_panels_show_leads_back_to_the_present(
    bridge: SessionBridge,
) -> None:
    played(bridge)

    places = []
    for command in (PauseClock(1), SetRate(1, Fraction(2)), Run(), Hold(), StepFrames(1)):
        bridge.set_playhead(5)
        bridge.submit(command)
        places.append(bridge.playhead_ns)

    assert places == [None, None, 5, 5, 5]


def test_that_what_is_shown_stays_of_one_log_until_everybody_is_told(shell: Shell) -> None:
    hold(shell)
    bridge = shell.bridge
    session = bridge.session
    assert session is not None
    bridge.set_playhead(500 * NS_PER_MS)
    shown, strings = bridge.shown, bridge.strings

    # As when time passes and the window has not looked yet.
    session.submit(StepBack(40))
    session.refresh()

    assert session.log.strings is not strings
    assert bridge.strings is strings
    assert bridge.shown is shown
    bridge.set_playhead(900 * NS_PER_MS)
    assert bridge.shown.at_ns == 900 * NS_PER_MS
    bridge.refresh_now()
    assert bridge.playhead_ns is None
    assert bridge.strings is session.log.strings


@given(
    moves=st.lists(
        st.tuples(st.integers(0, 1_200 * NS_PER_MS), st.integers(0, 12)), min_size=1, max_size=30
    ),
    budget=st.sampled_from([64 * 1024 * 1024, 200 * BYTES_PER_EVENT]),
    most=st.sampled_from([0, 20, 100_000]),
    many=st.sampled_from([1, 2_000]),
)
def test_that_the_state_is_that_of_the_history_wherever_it_moves(
    moves: list[tuple[int, int]], budget: int, most: int, many: int
) -> None:
    log, _ = busy_log(budget)
    history = LogHistory(log)
    with pytest.MonkeyPatch.context() as patch:
        _in_short_steps(patch)
        patch.setattr(playhead_module, "_MOST_PARTS", most)
        patch.setattr(history_module, "_MANY", many)
        states = playhead_module._NearStates(history)
        for at_ns, pieces in moves:
            plain = log.base.copy()
            plain.apply_all(log.slice(log.first, log.cursor_at(at_ns)))
            plain.set_present(at_ns)
            assert described(states.state_at(at_ns)) == described(plain)
            for _ in range(pieces):
                states.work_ahead(at_ns, 3)


def _in_short_steps(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(playhead_module, "_STEP", 13)
    patch.setattr(playhead_module, "_PIECE", 5)
    patch.setattr(playhead_module, "_FARTHEST", 100)


def test_that_what_moves_back_need_is_worked_out_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    _in_short_steps(monkeypatch)
    log, _ = busy_log()
    history = LogHistory(log)
    states = playhead_module._NearStates(history)
    folded: list[int] = []

    def go_on(state: Timeline, start: int, end: int) -> None:
        folded.append(end - start)
        LogHistory.go_on(history, state, start, end)

    monkeypatch.setattr(history, "go_on", go_on)
    while states.work_ahead(history.last_ns, 3):
        assert max(folded) <= 5

    folded.clear()
    events = log.slice(log.end - 60, log.end)
    for event in reversed(events):
        states.state_at(event[0])

    assert max(folded) < 13


def test_that_states_are_worked_out_ahead_where_the_pointer_is_until_it_leaves(
    bridge: SessionBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playhead_module, "_STEP", 1)
    played(bridge)
    playhead = bridge.playhead

    def kept() -> int:
        return 0 if playhead._states is None else len(playhead._states._kept)

    def work() -> None:
        # A turn of the event loop ends early where the processor was with others.
        for _ in range(playhead_module._AHEAD):
            settle()

    playhead.expect_at(800 * NS_PER_MS)
    work()
    assert kept() == playhead_module._AHEAD

    playhead.expect_at(None)
    assert kept() == 0

    bridge.set_playhead(800 * NS_PER_MS)
    assert bridge.shown.at_ns == 800 * NS_PER_MS
    work()
    playhead.expect_at(None)
    assert kept() == playhead_module._AHEAD


def test_that_states_beyond_missing_events_are_those_of_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "KEYFRAME_EVERY", 800)
    monkeypatch.setattr(file_module, "KEYFRAME_AT_MOST", 800)
    monkeypatch.setattr(playhead_module, "_STEP", 50)
    path = record(scene_log("1", 2), tmp_path / "a.tlrec", portion=400)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM chunks WHERE first_cursor = 1200")
    past, other = open_recording(path), open_recording(path)
    instants = range(0, past.last_ns, past.last_ns // 60)

    states = playhead_module._NearStates(past)

    for at_ns in (*instants, *reversed(instants)):
        found, expected = states.state_at(at_ns), other.state_at(at_ns)
        while states.work_ahead(at_ns, 10):
            pass
        assert described(found) == described(expected), at_ns
        assert found.members.by_id.keys() == expected.members.by_id.keys()
    past.close()
    other.close()


def test_that_states_that_fell_off_the_log_are_given_up() -> None:
    log = EventLog(100 * BYTES_PER_EVENT)
    history = LogHistory(log)
    states = playhead_module._NearStates(history)
    for step in range(40):
        for number in range(10):
            log.append((step * 10 + number, 0, 0, 0, 0))
        states.state_at(step * 10)
        states.work_ahead(step * 10, 1)
        log.settle()

    assert states.state_at(398).events_folded == 399
    assert states.state_at(395).events_folded == 396
    assert all(cursor >= history.first for cursor in states._kept)


def test_that_it_plays_on_at_the_pace_of_time_and_stops_at_the_end(
    bridge: SessionBridge,
) -> None:
    session = played(bridge)
    now = [0]
    playhead = Playhead(clock=lambda: now[0])
    playhead.use(session)
    changes: list[bool] = []
    playhead.playing_changed.connect(changes.append)
    places: list[int | None] = []

    playhead.play()
    for milliseconds in (0, 16, 250, 999, 1_001):
        now[0] = milliseconds * NS_PER_MS
        playhead._play_on()
        places.append(playhead.at_ns)

    assert places == [0, 16 * NS_PER_MS, 250 * NS_PER_MS, 999 * NS_PER_MS, 1_000 * NS_PER_MS]
    assert changes == [True, False]


def test_that_it_is_moved_by_hand_unless_it_plays(bridge: SessionBridge) -> None:
    played(bridge)
    told: list[bool] = []
    bridge.refresh_timer.moving_changed.connect(told.append)

    bridge.playhead.play()
    settle()
    bridge.playhead._play_on()
    settle()
    bridge.go_live()
    settle()
    assert told == []

    bridge.set_playhead(500 * NS_PER_MS)
    settle()
    assert told == [True]


def test_that_moving_it_by_hand_while_it_plays_goes_on_from_there(bridge: SessionBridge) -> None:
    session = played(bridge)
    now = [0]
    playhead = Playhead(clock=lambda: now[0])
    playhead.use(session)
    playhead.play()

    playhead.move_to(600 * NS_PER_MS)
    now[0] = 100 * NS_PER_MS
    playhead._play_on()

    assert playhead.at_ns == 700 * NS_PER_MS
