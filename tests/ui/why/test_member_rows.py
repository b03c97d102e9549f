"""The details of schedulers, targets, calls and machines, and why they stand still."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from inspector.vocabulary import Field, MemberKind
from tests.ui.world import PlayedSession, Thing
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.why.panel import WhyPanel


class Stand:
    """The panel over a scheduler and a machine."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.scheduler = Scheduler(self.game, name="main")
        self.ship = Thing("ship")
        self.scheduler.schedule_update(self.ship, 4)
        self.scheduler.schedule(self.ship.tick, 0.5, repeat=2, name="shoot")
        self.machine: StateMachine[str, str] = StateMachine(
            "menu",
            {"start": Edge("menu", "playing"), "end": Edge("playing", "menu")},
            clock=self.game,
            name="flow",
        )
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = WhyPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)

    def frame(self, seconds: float) -> None:
        tree = self.session.tree
        tree.run_to(tree.now_ns + round(seconds * 1e9))
        self.scheduler.run_frame()
        self.refresh()

    def refresh(self) -> None:
        self.bridge.refresh_now()
        self.panel.refresh()

    def select(self, name: str) -> None:
        members = self.bridge.timeline.members.by_id.values()
        number = next(member.id for member in members if member.name == name)
        self.bridge.select(Selection.member(number))

    def lines(self) -> list[str]:
        return self.panel.text().split("\n")

    def value(self, key: str) -> str:
        found = [line.partition("\t")[2] for line in self.lines() if line.startswith(f"{key}\t")]
        assert len(found) == 1, f"{key} in {self.lines()}"
        return found[0]


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_a_timer_says_when_it_is_due_and_what_is_left(stand: Stand) -> None:
    stand.frame(0.75)
    stand.select("shoot")

    assert stand.lines()[:2] == ["Frame timer · root / game / main / ship", "shoot"]
    assert stand.value("State") == "every 500 ms, 2 calls left"
    assert stand.value("Due, own time") == "00:01.000  (1,000,000,000 ns)"
    assert stand.value("Remaining") == "250 ms of scheduler time"
    assert stand.value("Calls left") == "2"
    assert stand.value("Called") == "1 time"


def test_that_what_stops_it_is_named_with_links(stand: Stand) -> None:
    stand.session.tree.members.cause = 2
    stand.scheduler.pause_target(stand.ship)
    stand.session.tree.members.cause = 0
    stand.game.pause()
    stand.scheduler.time_scale = 0
    stand.refresh()
    stand.select("shoot")

    lines = stand.lines()
    assert "Why" in lines
    assert any("Its target ship has been paused since 0:" in line for line in lines)
    assert "The time scale of main is 0." in "\n".join(lines)
    assert any(line.endswith("\tThe program paused game.") for line in lines)


def test_that_a_scheduler_shows_its_time_its_rules_and_who_is_below(stand: Stand) -> None:
    stand.frame(0.25)
    stand.select("main")

    assert stand.value("Rules") == "sound"
    assert stand.value("Time scale") == "1 × its clock"
    assert "1 below it" in stand.lines()
    assert "ship" in stand.lines()


def test_that_a_machine_shows_what_it_can_do_and_what_it_did(stand: Stand) -> None:
    stand.refresh()
    stand.select("flow")
    assert stand.value("State") == "in “menu”"
    assert stand.value("start") == "possible now"
    assert stand.value("end") == "not from this state"

    stand.session.tree.run_to(1_500_000_000)
    stand.machine.go("start")
    stand.refresh()

    assert stand.value("State") == "in “playing”"
    assert stand.value("0:01.500") == "“playing” by “start”"
    assert stand.value("0:00.000") == "“menu”, at first"


def test_that_one_that_is_gone_is_said_to_be(stand: Stand) -> None:
    stand.refresh()
    stand.select("shoot")
    stand.scheduler.unschedule_target(stand.ship)
    stand.refresh()

    assert "It was removed by the program" in stand.panel.text()


def test_that_a_target_says_whose_it_is(stand: Stand) -> None:
    members = stand.session.tree.members
    owner = members.add(stand.ship, MemberKind.NODE, "hull", stand.game)
    stand.refresh()
    target = next(
        member.id
        for member in stand.bridge.timeline.members.by_id.values()
        if member.kind is MemberKind.TARGET
    )
    members.set(target, Field.OWNER, owner)
    stand.refresh()
    stand.select("ship")

    assert stand.value("Belongs to") == "hull"
    members.remove(owner)
    stand.refresh()
    assert stand.value("Belongs to") == f"member {owner}, which no longer exists"
