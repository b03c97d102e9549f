"""The bridge: what it says is new, and what all panels share."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from inspector.commands.command import Capability
from inspector.commands.transport import Hold
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.testing import scene_file
from inspector.vocabulary import COMMAND
from tests.ui.bridge_stand import MS, Noted, PlayedSession, is_refreshing
from ui.session.bridge import (
    Selection,
    SelectionKind,
    SessionBridge,
)

# ---------------------------------------------------------------- what is new


def test_that_without_a_session_the_timeline_is_empty(bridge: SessionBridge) -> None:
    assert bridge.session is None
    assert bridge.timeline.clocks == {}
    assert bridge.status == SessionStatus(SessionPhase.EMPTY, "No scene is open.")


def test_that_a_session_is_announced_before_its_first_refresh(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    clocks: list[int] = []

    def count(shown: PlayedSession | None) -> None:
        # At the end of the test the bridge is closed, and shows none.
        if shown is not None:
            clocks.append(len(shown.timeline.clocks))

    bridge.session_changed.connect(count)

    bridge.set_session(session)

    assert noted.sessions == [session]
    assert clocks == [2]
    assert noted.events == [4]
    assert bridge.timeline is session.timeline


def test_that_only_what_the_session_is_capable_of_is_accepted(bridge: SessionBridge) -> None:
    assert not bridge.accepts(Hold())
    session = PlayedSession()
    bridge.set_session(session)
    assert bridge.accepts(Hold())

    session.capabilities = frozenset({Capability.PAUSE})
    bridge.refresh_now()

    assert bridge.accepts(PauseClock(2))
    assert not bridge.accepts(Hold())


def test_that_what_is_shown_is_the_present_or_where_the_playhead_is(bridge: SessionBridge) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    session.tree.run_to(9 * MS)
    session.clock.pause()
    bridge.refresh_now()
    assert bridge.shown_ns == 9 * MS

    bridge.set_playhead(5 * MS)

    assert bridge.shown_ns == 5 * MS


def test_that_a_refresh_with_nothing_new_says_so(bridge: SessionBridge, noted: Noted) -> None:
    bridge.set_session(PlayedSession())

    bridge.refresh_now()

    assert noted.events == [4, 0]


def test_that_a_refresh_says_how_many_events_are_new(bridge: SessionBridge, noted: Noted) -> None:
    session = PlayedSession()
    session.add_frames(3)
    bridge.set_session(session)
    session.add_frames(2)

    bridge.refresh_now()

    assert noted.events == [4 + 3 * 2, 2 * 2]


def test_that_facts_are_looked_at_five_times_a_second_and_at_once_after_a_command() -> None:
    now_ns = 0
    bridge = SessionBridge(clock=lambda: now_ns)
    session, looks = PlayedSession(SessionPhase.RUNNING), 0

    def count() -> None:
        nonlocal looks
        looks += 1

    bridge.facts_due.connect(count)
    bridge.set_session(session)
    for _ in range(50):
        now_ns += 20 * MS
        session.add_frames(1)
        bridge.refresh_timer.due.emit()
    assert looks == 1 + 5

    session.log.append((0, COMMAND, 1, session.log.intern("paused"), 0))
    bridge.refresh_timer.due.emit()
    assert looks == 1 + 5 + 1

    session.phase = SessionPhase.HELD
    bridge.refresh_timer.due.emit()
    bridge.refresh_timer.due.emit()
    assert looks == 1 + 5 + 1 + 1
    bridge.close()


def test_that_after_a_reload_everything_is_announced_anew(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    session.add_frames(9)
    bridge.set_session(session)
    session.begin("enemies")
    session.add_frames(4)

    bridge.refresh_now()

    assert noted.sessions == [session, session]
    assert noted.events[-1] == 12


def test_that_a_timeline_folded_anew_is_announced_and_keeps_what_is_selected(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    session.add_frames(9)
    bridge.set_session(session)
    bridge.select(Selection.frame(3))
    session.replace_timeline()
    session.add_frames(1)

    bridge.refresh_now()

    assert noted.sessions == [session, session]
    assert bridge.selection == Selection.frame(3)


def test_that_the_status_is_announced_only_when_it_changes(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    bridge.refresh_now()
    session.message = "Held at 0:01.000."

    bridge.refresh_now()
    bridge.refresh_now()

    assert noted.statuses == [
        SessionStatus(SessionPhase.HELD),
        SessionStatus(SessionPhase.HELD, "Held at 0:01.000."),
    ]
    assert bridge.status is noted.statuses[-1]


def test_that_the_former_session_is_closed(bridge: SessionBridge, noted: Noted) -> None:
    first, second = PlayedSession(), PlayedSession()
    bridge.set_session(first)

    bridge.set_session(second)

    assert first.is_closed
    assert not second.is_closed
    assert noted.sessions == [first, second]


def test_that_setting_the_same_session_again_does_not_close_it(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    bridge.set_session(session)

    bridge.set_session(session)

    assert not session.is_closed
    assert noted.sessions == [session]


def test_that_closing_ends_with_no_session_and_nothing_running(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)

    bridge.close()

    assert session.is_closed
    assert noted.sessions == [session, None]
    assert noted.statuses[-1].phase is SessionPhase.EMPTY
    assert bridge.timeline.clocks == {}
    assert not is_refreshing(bridge)


# ---------------------------------------------------- what all panels share


def test_that_a_selection_is_announced_once(bridge: SessionBridge, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bridge.selection_changed) as blocker:
        bridge.select(Selection.clock(2))

    assert blocker.args == [Selection.clock(2)]
    with qtbot.assertNotEmitted(bridge.selection_changed):
        bridge.select(Selection.clock(2))
    assert bridge.selection.kind is SelectionKind.CLOCK


def test_that_selections_are_equal_by_kind_and_number() -> None:
    assert Selection.timer(3) != Selection.frame(3)
    assert Selection.nothing() == Selection()


def test_that_a_hover_instant_is_announced_once(bridge: SessionBridge, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bridge.hover_changed) as blocker:
        bridge.set_hover(5 * MS)

    assert blocker.args == [5 * MS]
    assert bridge.hover_ns == 5 * MS
    with qtbot.assertNotEmitted(bridge.hover_changed):
        bridge.set_hover(5 * MS)


def test_that_a_hover_instant_beyond_32_bits_arrives_whole(bridge: SessionBridge) -> None:
    heard: list[object] = []
    bridge.hover_changed.connect(heard.append)

    bridge.set_hover(2**40 + 1)
    bridge.set_hover(None)

    assert heard == [2**40 + 1, None]


def test_that_following_is_announced_once(bridge: SessionBridge, qtbot: QtBot) -> None:
    assert bridge.is_following

    with qtbot.waitSignal(bridge.following_changed) as blocker:
        bridge.set_following(False)

    assert blocker.args == [False]
    with qtbot.assertNotEmitted(bridge.following_changed):
        bridge.set_following(False)


def test_that_budgets_keep_their_order_and_lose_repetitions(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(bridge.budgets_changed) as blocker:
        bridge.set_budgets_ms([16.7, 8.3, 16.7])

    assert blocker.args == [(16.7, 8.3)]
    assert bridge.budgets_ms == (16.7, 8.3)


def test_that_another_session_clears_selection_and_hover(bridge: SessionBridge) -> None:
    bridge.set_session(PlayedSession())
    bridge.select(Selection.timer(1))
    bridge.set_hover(3)

    bridge.set_session(PlayedSession())

    assert bridge.selection == Selection.nothing()
    assert bridge.hover_ns is None


@pytest.mark.parametrize(("name", "is_kept"), [("enemies", True), ("audio", False)])
def test_that_after_a_reload_a_clock_stays_selected_if_it_is_back(
    bridge: SessionBridge, name: str, *, is_kept: bool
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    bridge.select(Selection.clock(session.clock.id))
    session.begin(name)

    bridge.refresh_now()

    assert (bridge.selection == Selection.clock(session.clock.id)) is is_kept


def test_that_every_entry_of_the_session_is_told(
    bridge: SessionBridge, tmp_path: Path, qtbot: QtBot
) -> None:
    entries: list[int | None] = []
    bridge.notify_of_entries(lambda: entries.append(bridge.scene_entry()))

    bridge.open_path(scene_file(tmp_path, "def build(stage): ..."))
    assert None not in entries
    assert entries
    opened = len(entries)
    qtbot.waitUntil(lambda: any(entry is not None and entry < 0 for entry in entries[opened:]))
    bridge.submit(Hold())

    assert None not in entries
    assert entries[-1] is not None
    assert entries[-1] > 0
