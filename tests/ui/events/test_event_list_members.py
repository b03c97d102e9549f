"""What happens to schedulers, components and machines, in the list of events."""

from __future__ import annotations

import pytest
from pytestqt.modeltest import ModelTester

from inspector.events.schema import QUIET_GROUPS, EventGroup, group_of, kinds_of
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    CALL_ENDED,
    MEMBER_MOVED,
    MEMBER_SET,
    STATE_ENTERED,
    TRANSITION_REFUSED,
    EventKind,
    Field,
    MemberKind,
)
from tests.ui.members_world import MembersSession
from ui.events import event_list_model
from ui.events.event_list_model import EventColumn, EventListModel
from ui.kit.theme import Theme
from ui.session.bridge import Selection


class Boss:
    """A target with a name."""

    name = "boss"

    def update(self, delta: float) -> None:
        """Be called in every frame."""

    def tick(self, seconds: float) -> None:
        """Be called now and then."""


class Listed(MembersSession):
    """A session with a scheduler, a machine and a model over its log."""

    def __init__(self) -> None:
        super().__init__()
        self.game = self.root.child("game")
        self.scheduler = Scheduler(self.game, name="fights")
        self.boss = Boss()
        self.scheduler.schedule_update(self.boss, -1)
        self.scheduler.schedule(self.boss.tick, 0.5, name="shoot")
        self.flow: StateMachine[str, str] = StateMachine(
            "menu", {"start": Edge("menu", "playing")}, clock=self.game, name="flow"
        )
        self.model = EventListModel(Theme("light"))
        self.fold()

    def show(self, *groups: EventGroup) -> EventListModel:
        self.fold()
        self.model.set_groups(frozenset(groups))
        self.model.set_log(self.log, self.timeline)
        return self.model

    def number(self, name: str) -> int:
        members = self.timeline.members.by_id.values()
        return next(member.id for member in members if member.name == name)

    def record(self, kind: int, subject: int, a: int = 0, b: int = 0) -> None:
        self.log.append((self.tree.now_ns, kind, subject, a, b))


@pytest.fixture
def listed() -> Listed:
    return Listed()


def _texts(model: EventListModel, column: EventColumn = EventColumn.WHAT) -> list[str]:
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_that_members_are_named_with_what_they_are(
    listed: Listed, qtmodeltester: ModelTester
) -> None:
    listed.tree.members.cause = 2
    listed.scheduler.pause_target(listed.boss)
    listed.tree.members.cause = 0
    listed.scheduler.time_scale = 0.5

    model = listed.show(EventGroup.MEMBERS)

    assert _texts(model)[:4] == [
        "scheduler fights added",
        "fights is a scheduler on clock game",
        "scheduler fights: follows the rules of sound",
        "scheduler fights: time scale 1",
    ]
    assert "target boss added under scheduler fights" in _texts(model)
    assert _texts(model)[-2:] == [
        "target boss: paused by command 2",
        "scheduler fights: time scale 0.5",
    ]
    assert set(_texts(model, EventColumn.GROUP)) == {"◇ member"}
    qtmodeltester.check(model)


def test_that_calls_are_named_with_their_target_and_hidden_at_first(listed: Listed) -> None:
    listed.run_to_ms(600)
    listed.scheduler.run_frame()

    quiet = _texts(listed.show(*QUIET_GROUPS))
    model = listed.show(EventGroup.CALLS)

    assert not [text for text in quiet if "was called" in text or "time 00" in text]
    called = [text for text in _texts(model) if "was called" in text]
    assert [text.partition(" was called, took ")[0] for text in called] == [
        "update Boss.update of boss",
        "frame timer shoot of boss",
    ]
    assert "frame timer shoot of boss added under target boss" in _texts(model)
    assert "scheduler fights: time 00:00.600" in _texts(model)
    assert "frame timer shoot of boss: due 00:01.000" in _texts(model)


def test_that_states_are_listed_with_the_name_of_their_machine(listed: Listed) -> None:
    flow = listed.number("flow")
    listed.flow.go("start")
    timer, reason = listed.log.intern("timer 3"), listed.log.intern("no way")
    listed.record(TRANSITION_REFUSED, flow, timer, reason)
    listed.record(STATE_ENTERED, 999, timer, timer)

    model = listed.show(EventGroup.STATES)

    assert _texts(model) == [
        "machine flow entered playing by start",
        "machine flow refused timer 3: no way",
        "machine 999 entered timer 3 by timer 3",
    ]
    assert model.selection_at(0) == Selection.member(flow)
    assert model.selection_at(2) is None


def test_that_a_component_is_named_with_its_node(listed: Listed) -> None:
    node = listed.member(900, "fox", MemberKind.NODE)
    listed.member(901, "Hunts", MemberKind.COMPONENT, node)
    listed.record(MEMBER_SET, 901, Field.LIFE, 3)

    model = listed.show(EventGroup.MEMBERS)

    assert _texts(model)[-1] == "component Hunts of fox: started"


def test_that_members_that_are_gone_keep_their_names_in_the_list(listed: Listed) -> None:
    listed.scheduler.unschedule_target(listed.boss)

    model = listed.show(EventGroup.MEMBERS)

    assert _texts(model)[-1] == "target boss removed with everything below it"
    assert model.selection_at(model.rowCount() - 1) is None


def test_that_new_names_and_places_are_taken(listed: Listed) -> None:
    boss, crowd = listed.number("boss"), listed.member(900, "crowd", MemberKind.TARGET)
    model = listed.show(EventGroup.STATES)
    listed.set_text(boss, Field.NAME, "dragon")
    shoot = listed.number("shoot")
    listed.record(MEMBER_MOVED, shoot, crowd)
    listed.fold()
    model.refresh()

    model = listed.model
    listed.record(CALL_ENDED, shoot, 0, 5_000)
    listed.record(MEMBER_SET, boss, Field.PAUSED, 1)
    model.set_groups(frozenset({EventGroup.CALLS, EventGroup.MEMBERS}))

    assert _texts(model)[-4:] == [
        "target dragon: name dragon",
        "frame timer shoot of crowd moved under target crowd",
        "frame timer shoot of crowd was called, took 5.00 µs",
        "target dragon: paused",
    ]


def test_that_calls_are_named_with_the_new_name_of_what_they_hang_under(listed: Listed) -> None:
    model = listed.show(EventGroup.CALLS)
    shoot = listed.number("shoot")
    listed.record(CALL_ENDED, shoot, 0, 5_000)
    listed.fold()
    model.refresh()
    before = _texts(model)[-1]

    listed.set_text(listed.number("boss"), Field.NAME, "dragon")
    listed.record(CALL_ENDED, shoot, 0, 5_000)
    listed.fold()
    model.refresh()

    assert before == "frame timer shoot of boss was called, took 5.00 µs"
    assert _texts(model)[-1] == "frame timer shoot of dragon was called, took 5.00 µs"


def test_that_a_member_can_be_followed_with_all_below_it(listed: Listed) -> None:
    listed.run_to_ms(600)
    listed.scheduler.run_frame()
    model = listed.show(*EventGroup)

    model.set_subject(Selection.member(listed.number("boss")))
    texts = _texts(model)
    listed.scheduler.schedule(listed.boss.tick, 0.1, target=listed.boss, name="jump")
    listed.scheduler.pause_target(listed.boss)
    listed.fold()
    model.refresh()

    assert all("boss" in text or "shoot" in text for text in texts)
    assert sum("was called" in text for text in texts) == 2
    assert [text for text in _texts(model) if "jump" in text]
    assert "target boss: paused" in _texts(model)
    model.set_subject(Selection.member(12345))
    assert _texts(model) == []


def test_that_following_a_clock_shows_which_members_came_to_it(listed: Listed) -> None:
    model = listed.show(EventGroup.MEMBERS)

    model.set_subject(Selection.clock(listed.game.id))

    assert _texts(model)[0] == "fights is a scheduler on clock game"
    assert all("on clock game" in text for text in _texts(model))


def test_that_the_words_of_the_filter_find_names_of_members(listed: Listed) -> None:
    listed.run_to_ms(600)
    listed.scheduler.run_frame()
    model = listed.show(*EventGroup)

    model.set_filter("BOSS shoot called")

    assert [text.partition(",")[0] for text in _texts(model)] == [
        "frame timer shoot of boss was called"
    ]


def test_that_hidden_calls_do_not_push_others_out_of_the_list(
    listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_list_model, "_MOST_SENTENCES", event_list_model.MAX_ROWS)
    shoot = listed.number("shoot")
    listed.scheduler.pause_target(listed.boss)
    for _ in range(30_000):
        listed.record(CALL_ENDED, shoot, 0, 100)

    model = listed.show(*QUIET_GROUPS)

    assert _texts(model)[-1] == "target boss: paused"
    assert model.hidden_count >= 30_000


def test_that_breakpoints_lead_to_their_frame(listed: Listed) -> None:
    listed.run_frame()
    listed.record(BREAKPOINT_HIT, 1, listed.log.intern("a timer fires"), 0)
    listed.record(BREAKPOINT_HIT, 1, listed.log.intern("a timer fires"), 77)

    model = listed.show(EventGroup.BREAKPOINTS)

    assert _texts(model)[0] == "breakpoint 1 hit in frame 0: a timer fires"
    assert model.selection_at(0) == Selection.frame(0)
    assert model.selection_at(1) is None


def test_that_every_kind_of_event_is_in_a_group() -> None:
    assert kinds_of(frozenset(EventGroup)) == frozenset(map(int, EventKind))
    for kind in EventKind:
        assert kind in kinds_of(frozenset({group_of((0, kind, 1, 0, 0))}))
    for group in EventGroup:
        assert group.title
        assert group.explanation
        assert group.word[1] == " "


def test_that_names_of_members_that_are_gone_are_forgotten_in_the_end(
    listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_list_model, "_SPARE_NAMES", 3)
    model = listed.show(EventGroup.MEMBERS)
    for number in range(30):
        star = listed.member(1_000 + number, f"star {number}", MemberKind.TARGET)
        listed.record(EventKind.MEMBER_REMOVED, star)
        listed.fold()
        model.refresh()

    names = model._names._members
    assert len(names) <= 2 * len(listed.timeline.members) + 3
    assert _texts(model)[-1] == "target star 29 removed with everything below it"
