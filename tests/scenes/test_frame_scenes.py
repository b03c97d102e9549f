"""The scenes of schedulers, components, tickers and machines show what they promise."""

from __future__ import annotations

from inspector.commands.members import PauseMember
from inspector.events.members import MemberState
from inspector.sessions.hosted import HostedSession
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import EventKind, Field, LifeCycle, MemberKind


def run(name: str, seconds: float) -> HostedSession:
    session = virtual_session(find_scene(name))
    pass_seconds(session, seconds)
    return session


def of_kind(session: HostedSession, kind: MemberKind) -> list[MemberState]:
    return [member for member in session.timeline.members.by_id.values() if member.kind is kind]


def kinds_of_events(session: HostedSession) -> set[int]:
    return {event[1] for event in session.log.read(0).events}


def test_that_three_schedulers_differ_where_they_should() -> None:
    session = run("schedulers", 20.2)
    texts = [mark.text for mark in session.timeline.marks]

    assert [scheduler.name for scheduler in of_kind(session, MemberKind.SCHEDULER)] == [
        "ours",
        "Cocos Creator 2.4",
        "cocos2d-x 3.15",
    ]
    assert texts[-1] == (
        "shots of turrets and gunner: "
        "ours 547 and 89, Creator 2.4 468 and 6, cocos2d-x 3.15 544 and 89"
    )
    assert "the menu woke the stunned enemy: Creator 2.4, cocos2d-x 3.15" in texts
    session.close()


def test_that_components_are_seen_in_every_state_of_their_life() -> None:
    session = run("components", 17)
    lives = {
        event[4]
        for event in session.log.read(0).events
        if event[1] == EventKind.MEMBER_SET and event[3] == Field.LIFE
    }

    assert lives == set(LifeCycle)
    assert {EventKind.MEMBER_MOVED, EventKind.MEMBER_REMOVED} <= kinds_of_events(session)
    assert any("catches" in mark.text for mark in session.timeline.marks)
    assert 5 <= len(of_kind(session, MemberKind.COMPONENT)) <= 40
    session.close()


def test_that_the_versions_of_components_differ_where_they_should() -> None:
    session = run("component_versions", 10.2)
    texts = [mark.text for mark in session.timeline.marks]

    assert session.timeline.failures == []
    assert [director.name for director in of_kind(session, MemberKind.COMPONENT_DIRECTOR)] == [
        "director 1.10",
        "director 2.0.10",
        "director 2.1.4",
        "director 2.2",
        "director 2.4",
    ]
    assert texts[-5:-1] == [
        (
            "frames from a bird's hatching in update to its start: "
            "1.10 1, 2.0.10 1, 2.1.4 1, 2.2 1, 2.4 0"
        ),
        "starts first: 1.10 cuckoo, 2.0.10 cuckoo, 2.1.4 cuckoo, 2.2 cuckoo, 2.4 bird",
        "components come alive on destroyed nodes: 1.10 8, 2.0.10 0, 2.1.4 0, 2.2 0, 2.4 0",
        "first delta after a pause: 1.10 0 ms, 2.0.10 12 ms, 2.1.4 12 ms, 2.2 12 ms, 2.4 12 ms",
    ]
    phases = [phase.name for phase in of_kind(session, MemberKind.PHASE)]
    assert phases.count("visit") == 1
    session.close()


def test_that_a_director_of_1_10_still_visits_while_it_is_paused_by_command() -> None:
    session = run("component_versions", 0.5)
    director = of_kind(session, MemberKind.COMPONENT_DIRECTOR)[0]

    def calls() -> dict[str, int]:
        session.refresh()
        phases = of_kind(session, MemberKind.PHASE)
        return {each.name: each.calls for each in phases if each.parent_id == director.id}

    session.submit(PauseMember(director.id))
    pass_seconds(session, 0.1)
    before = calls()
    pass_seconds(session, 0.5)
    after = calls()

    more = {name: after[name] - before[name] for name in after}
    assert more == {
        **dict.fromkeys(("start", "update", "timers", "late update", "destroy"), 0),
        **dict.fromkeys(("visit", "draw"), 30),
    }
    session.close()


def test_that_only_the_original_is_too_fast_on_a_fast_screen_and_races_on_three() -> None:
    session = run("fast_screen", 10.2)

    (mark,) = session.timeline.marks
    assert mark.text == (
        "of 10: original 40, repair 1 10, repair 2 10, repair 4 10, elapsed time 10"
    )
    timers = {timer.name: timer.calls for timer in of_kind(session, MemberKind.TICKER_TIMER)}
    assert timers["original at 60 Hz"] == 10
    assert timers["original at 144 Hz"] == 24
    assert timers["original"] == 40
    session.close()


def test_that_the_machines_move_and_refuse() -> None:
    session = run("state_machines", 60)
    members = session.timeline.members
    machines = {member.name: member for member in of_kind(session, MemberKind.MACHINE)}

    assert list(machines) == ["flow", "door", "guard"]
    strings = session.log.strings
    flow = members.histories[machines["flow"].id]
    states = {strings[state] for state in flow.state}
    assert states == {"menu", "playing", "paused", "game over"}
    assert EventKind.TRANSITION_REFUSED in kinds_of_events(session)
    session.close()
