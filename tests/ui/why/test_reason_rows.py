"""Why a timer has not fired, in the details: sentences with links, looked at now and then."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.calls.call import CallId
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.scene import RewindTo
from inspector.events.history import LogHistory
from inspector.testing import pass_seconds, scene_file, virtual_session
from tests.analysis.test_lateness import CRUNCH, HANDLE, LIBRARY, TIMER, Program
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SelectionKind, SessionBridge
from ui.why.labels import LinkedLabel
from ui.why.panel import WhyPanel
from ui.why.reason_rows import LOOK_EVERY_S, WhyRows
from ui.why.rows import RowKind

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        enemies = game.child("enemies")
        enemies.set_timeout(10, lambda: None, name="boss")
        set_late = lambda: stage.root.set_timeout(60, print, name="late")
        stage.root.set_timeout(1, set_late, name="bomb")
"""

BEAT = """
    def build(stage):
        stage.root.set_interval(1, lambda: None, name="beat")
"""


class Stand:
    """The panel over a hosted scene."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.session = virtual_session(scene_file(folder, SCENE))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = WhyPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(360, 700)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def run(self, seconds: float) -> None:
        pass_seconds(self.session, seconds)
        self.bridge.refresh_now()
        self.panel.refresh()

    def lines(self) -> list[str]:
        return self.panel.text().split("\n")


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    return Stand(qtbot, tmp_path)


@pytest.mark.parametrize(
    ("can_pause", "more"),
    [(True, " Pause and rate take effect when crunch() returns."), (False, "")],
)
def test_that_a_timer_whose_loop_is_blocked_says_what_helps(*, can_pause: bool, more: str) -> None:
    program = Program()
    for until_ms in range(10, 301, 10):
        program.sample(LIBRARY, HANDLE, CRUNCH, until_ms=until_ms, begins=until_ms == 10)
    history = LogHistory(program.log)
    timeline = history.state_before(history.end)

    told = WhyRows().rows(history, timeline, CallId(TIMER), is_live=True, can_pause=can_pause)

    title, text = told.chain[-2:]
    assert (title.text, title.kind) == ("What helps", RowKind.HEADING)
    assert text.text == f"Call it in a thread: await asyncio.to_thread(crunch).{more}"
    assert text.text not in [row.text for row in told.chain[:-1]]


def test_that_a_selected_timer_says_why_each_reason_with_its_instant_and_a_link(
    stand: Stand,
) -> None:
    stand.run(1)
    stand.session.submit(PauseClock(2))
    stand.run(1)

    stand.bridge.select(Selection.timer(1))

    assert "Its time stands still: you paused game 983 ms ago." in stand.lines()
    place = stand.lines().index("Why")
    assert stand.lines()[place + 1 : place + 4] == [
        "0:01.016\tYou paused game, above its clock.",
        "0:00.000\tIt was set at scene.py:5 in build, for 10.0 s of enemies.",
        "It fires 8.98 s after game is resumed.",
    ]
    labels = stand.panel.grid.findChildren(LinkedLabel)
    (paused,) = (label for label in labels if "You paused" in label.text())
    assert paused.addresses == ["AT:1016666667"]


def test_that_four_reasons_are_shown_and_the_others_when_they_are_asked_for(stand: Stand) -> None:
    for rate in (Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 5), Fraction(1)):
        stand.session.submit(SetRate(3, rate))
        stand.run(1)
    stand.bridge.select(Selection.timer(1))
    slowed = [line for line in stand.lines() if "slowed" in line]
    assert "Why so late" in stand.lines()
    assert "1 more ▸" in stand.lines()

    stand.panel.grid.link_activated.emit("DO:whole")

    assert len([line for line in stand.lines() if "slowed" in line]) == len(slowed) + 1
    assert "Fewer reasons ▾" in stand.lines()
    stand.bridge.select(Selection.timer(2))
    stand.bridge.select(Selection.timer(1))
    assert "1 more ▸" in stand.lines()


def test_that_the_instant_of_a_reason_leads_there_and_the_timer_stays_selected(
    stand: Stand,
) -> None:
    stand.run(1)
    stand.session.submit(PauseClock(2))
    stand.run(1)
    stand.bridge.select(Selection.timer(1))

    stand.panel.grid.link_activated.emit("AT:1000000000")

    assert stand.bridge.playhead_ns == 1_000_000_000
    assert stand.bridge.selection == Selection.timer(1)


def test_that_a_link_selects_what_it_names(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(PauseClock(2))
    stand.run(1)
    stand.bridge.select(Selection.timer(1))

    stand.panel.grid.link_activated.emit("FRAME:60")

    assert stand.bridge.selection == Selection(SelectionKind.FRAME, 60)


def test_that_a_timer_that_is_gone_is_explained(stand: Stand) -> None:
    stand.run(2)

    stand.bridge.select(Selection.timer(2))

    assert stand.lines()[:2] == ["Timer · root", "bomb"]
    assert "It has fired and is no longer pending." in stand.lines()


def test_that_a_timer_that_is_set_later_is_named_and_nothing_else_is_said_of_it(
    stand: Stand,
) -> None:
    stand.run(2)
    stand.bridge.select(Selection.timer(3))

    stand.bridge.set_playhead(500_000_000)
    stand.panel.refresh()

    assert stand.lines() == [
        "Timer late (3)",
        "At 0:00.500 this timer does not exist yet: it is set at 0:01.000.",
    ]


def test_that_a_member_that_is_not_there_is_explained(stand: Stand) -> None:
    stand.run(1)

    stand.bridge.select(Selection.member(77))

    assert "This session never had a member of this number." in stand.lines()


def test_that_a_running_session_is_looked_at_a_few_times_a_second_only(tmp_path: Path) -> None:
    now = [0.0]
    session = virtual_session(scene_file(tmp_path, SCENE))
    why = WhyRows(lambda: now[0])
    pass_seconds(session, 1)
    first = why.rows(session.history, session.timeline, CallId(1), is_live=True)

    pass_seconds(session, 1)
    soon = why.rows(session.history, session.timeline, CallId(1), is_live=True)
    now[0] += LOOK_EVERY_S
    later = why.rows(session.history, session.timeline, CallId(1), is_live=True)

    assert soon is first
    assert "Fires in 8.00 s" in later.answer
    session.close()


def test_that_a_held_session_and_another_timer_are_looked_at_at_once(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    why = WhyRows(lambda: 0.0)
    pass_seconds(session, 1)
    session.hold()
    session.refresh()

    first = why.rows(session.history, session.timeline, CallId(1), is_live=True)

    assert why.rows(session.history, session.timeline, CallId(2), is_live=True) is not first
    assert why.rows(session.history, session.timeline, CallId(1), is_live=True).answer.endswith(
        "the session is held."
    )
    session.close()


def test_that_the_past_can_be_explained_after_the_present(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    why = WhyRows(lambda: 0.0)
    pass_seconds(session, 3)
    session.refresh()
    assert (
        why.rows(session.history, session.timeline, CallId(2), is_live=True).answer
        == "It has fired and is no longer pending."
    )

    past = session.history.state_at(500_000_000)

    assert "Fires in 500 ms" in why.rows(session.history, past, CallId(2), is_live=False).answer
    session.close()


def test_that_what_is_shown_is_explained_by_its_own_past_until_a_rewind_is_shown(
    stand: Stand,
) -> None:
    stand.run(3)
    stand.session.submit(PauseClock(2))
    stand.run(1)
    stand.session.submit(RewindTo(500_000_000))
    pass_seconds(stand.session, 0.05)
    stand.session.refresh()
    assert stand.session.timeline.at_ns < 600_000_000

    stand.bridge.select(Selection.timer(1))
    assert "Its time stands still: you paused game 1.00 s ago." in stand.lines()
    stand.bridge.select(Selection.timer(2))
    assert "It has fired and is no longer pending." in stand.lines()

    stand.bridge.refresh_now()
    stand.panel.refresh()
    assert any("Fires in " in line for line in stand.lines())


def test_that_predictions_are_counted_while_a_timer_is_looked_at(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, BEAT))
    now = [0.0]
    why = WhyRows(lambda: now[0])
    pass_seconds(session, 0.5)

    def look() -> list[str]:
        session.refresh()
        now[0] += 2 * LOOK_EVERY_S
        rows = why.rows(session.history, session.timeline, CallId(1), is_live=True)
        return [row.text for row in rows.scores]

    assert "Predictions" not in look()
    for _ in range(3):
        pass_seconds(session, 1)
        texts = look()
    assert texts[-2:] == ["Predictions", "3 of 3 calls came exactly as predicted"]

    session.submit(PauseClock(1))
    pass_seconds(session, 2)
    session.submit(ResumeClock(1))
    pass_seconds(session, 1)
    texts = look()
    assert "3 of 4 calls came exactly as predicted" in texts
    assert "because root was paused at 0:03.5" in texts[-1]
    session.close()


def test_that_from_the_past_it_is_said_what_came_of_what_was_predicted(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, BEAT))
    pass_seconds(session, 2.5)
    session.submit(PauseClock(1))
    pass_seconds(session, 2)
    session.refresh()
    past = session.history.state_at(1_500_000_000)

    rows = WhyRows(lambda: 0.0).rows(session.history, past, CallId(1), is_live=False)

    title, first, second, _ = rows.scores
    assert title.text == "Predicted from here"
    assert first.text == "0:02.000  It fired at 0:02.000 as predicted."
    assert first.links[0].at_ns == 2_000_000_000
    assert "It has not fired at 0:03.000 as predicted, because root was paused" in second.text
    session.close()


def test_that_a_long_pause_is_named_before_many_short_changes(stand: Stand) -> None:
    stand.session.submit(PauseClock(3))
    stand.run(60)
    stand.session.submit(ResumeClock(3))
    for rate in (Fraction(1, 2), Fraction(1)) * 10:
        stand.session.submit(SetRate(3, rate))
        stand.run(0.1)

    stand.bridge.select(Selection.timer(1))
    # So long a past is read in turns.
    assert "Reading what happened …" in stand.lines()
    stand.qtbot.waitUntil(lambda: "Reading what happened …" not in stand.lines())

    lines = stand.lines()
    (paused,) = (
        place for place, line in enumerate(lines) if "\tYou paused enemies for 60.0 s." in line
    )
    (more,) = (place for place, line in enumerate(lines) if "more changes" in line)
    assert lines[more] == "There were 5 more changes of these clocks, none of greater effect."
    assert lines[paused + 1].endswith("You slowed enemies to ×½, 5 times, for 100 ms each time.")
    assert more == paused + 2
