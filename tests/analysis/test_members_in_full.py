"""Every sentence about members and suspects of a scene with its instant, event and subject."""

from __future__ import annotations

import pytest

from inspector.calls.call import CallId
from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind, Phase
from tests.analysis.test_explained_in_full import MS, Scene


def test_that_what_calls_of_members_wait_for_is_told_in_full() -> None:
    scene = Scene()
    game, members = scene.root.child("game"), scene.tree.members

    def member(kind: MemberKind, name: str, above: CallId | None = None) -> CallId:
        parent = 0 if above is None else above.number
        return CallId(members.add(name, kind, name, game, parent), is_member=True)

    calls = member(MemberKind.SCHEDULER, "calls")
    ship = member(MemberKind.TARGET, "ship", calls)
    shoot = member(MemberKind.FRAME_TIMER, "shoot", ship)
    move = member(MemberKind.UPDATE, "move", ship)
    machine = member(MemberKind.MACHINE, "boss")
    edge = member(MemberKind.EDGE, "wake up", machine)
    for of, field, value in (
        (calls, Field.RATE, RATE_DENOMINATOR // 2),
        (calls, Field.TIME, 2_000 * MS),
        (shoot, Field.INTERVAL, 500 * MS),
        (shoot, Field.CALLS_LEFT, 2),
        (shoot, Field.DUE, 3_000 * MS),
        (shoot, Field.MISSED, 1),
    ):
        members.set(of.number, field, value)
    members.set_text(edge.number, Field.SOURCE, "idle")
    members.state_entered(machine.number, "idle", "start")
    scene.wake(10, {Phase.UPDATE: 5}, calls=((shoot.number, 1, 2), (move.number, 3, 1)))
    scene.wake(20, {Phase.UPDATE: 5}, calls=((move.number, 3, 1),))

    assert [*scene.told(shoot)] == [
        (
            "Frame timer “shoot” (3), clock 2: It is due at 00:03.000 in the time of "
            "“calls”, which is at 00:02.000; 1.00 s remain. It is called in the first frame "
            "that reaches it."
        ),
        (
            "10: It was called once, the last time in frame 0; that took 2.00 ms. [event 27, "
            "frame 0]"
        ),
        (
            "20: It is due at 00:03.000 in the time of “calls”, which is at 00:02.000; 1.00 "
            "s remain. It is called in the first frame that reaches it. [member 1, number "
            "True]"
        ),
        "20: The time scale of “calls” is 0.5. [member 1]",
        "20: 2 calls are left. []",
        "20: 1 call has been skipped so far. []",
    ]
    assert [*scene.told(move)] == [
        "Update “move” (4), clock 2: It is called in every frame.",
        (
            "20: It was called twice, the last time in frame 1; that took 1.00 ms. [event "
            "32, frame 1]"
        ),
        "20: It is called in every frame. []",
    ]
    assert [*scene.told(calls)] == [
        "Scheduler “calls” (1), clock 2: The time scale of “calls” is 0.5.",
        "20: The time scale of “calls” is 0.5. [member 1]",
    ]
    assert [*scene.told(machine)] == [
        "Machine “boss” (5), clock 2: Nothing keeps it waiting.",
        "0: It is in the state “idle”, by “start”. [event 25, frame 0, member 5]",
    ]
    assert [*scene.told(edge)] == [
        ("Edge “wake up” (6), clock 2: It is possible: the machine is in “idle”, which it leaves."),
        "0: The machine is in the state “idle”, by “start”. [event 25, frame 0, member 5]",
    ]

    members.cause = 7
    members.set_paused(ship.number, paused=True)
    members.state_entered(machine.number, "up", "")
    scene.run_to(30)

    assert [*scene.told(shoot)] == [
        (
            "Frame timer “shoot” (3), clock 2: It is not called: its target “ship” has been "
            "paused since frame 1, by command 7."
        ),
        (
            "20: Its target “ship” has been paused since frame 1, by command 7. [event 35, "
            "frame 1, member 2]"
        ),
        (
            "10: It was called once, the last time in frame 0; that took 2.00 ms. [event 27, "
            "frame 0]"
        ),
        "30: 1.00 s of its time remained when it was paused. []",
        "30: The time scale of “calls” is 0.5. [member 1]",
        "30: 2 calls are left. []",
        "30: 1 call has been skipped so far. []",
    ]
    assert [*scene.told(move)] == [
        (
            "Update “move” (4), clock 2: It is not called: its target “ship” has been paused "
            "since frame 1, by command 7."
        ),
        (
            "20: Its target “ship” has been paused since frame 1, by command 7. [event 35, "
            "frame 1, member 2]"
        ),
        (
            "20: It was called twice, the last time in frame 1; that took 1.00 ms. [event "
            "32, frame 1]"
        ),
    ]
    assert [*scene.told(ship)] == [
        (
            "Target “ship” (2), clock 2: None of its calls run: it has been paused since "
            "frame 1, by command 7."
        ),
        "20: It has been paused since frame 1, by command 7. [event 35, frame 1, member 2]",
        "30: The time scale of “calls” is 0.5. [member 1]",
    ]
    assert [*scene.told(machine)] == [
        "Machine “boss” (5), clock 2: Nothing keeps it waiting.",
        "20: It is in the state “up”. [event 36, frame 1, member 5]",
    ]
    assert [*scene.told(edge)] == [
        (
            "Edge “wake up” (6), clock 2: It is not possible: it leaves “idle”, and the "
            "machine is in “up”."
        ),
        "20: The machine is in the state “up”. [event 36, frame 1, member 5]",
    ]

    members.cause = 0
    members.set(shoot.number, Field.REMAINING, 400 * MS)
    members.set_paused(move.number, paused=True)
    members.set(calls.number, Field.RATE, 0)
    game.pause()
    scene.run_to(40)

    assert [*scene.told(shoot)] == [
        (
            "Frame timer “shoot” (3), clock 2: It is not called: its target “ship” has been "
            "paused since frame 1, by command 7."
        ),
        (
            "20: Its target “ship” has been paused since frame 1, by command 7. [event 35, "
            "frame 1, member 2]"
        ),
        "30: The time scale of “calls” is 0. [event 39, member 1]",
        "30: The program paused “game”. [event 40, frame 2, clock 2]",
        "40: Its time does not pass until “game” is resumed. []",
        "40: 400 ms of its time remained when it was paused. []",
        "40: 2 calls are left. []",
        "40: 1 call has been skipped so far. []",
        (
            "10: It was called once, the last time in frame 0; that took 2.00 ms. [event 27, "
            "frame 0]"
        ),
    ]
    assert [*scene.told(move)] == [
        (
            "Update “move” (4), clock 2: It is not called: it has been paused since frame 2, "
            "by the program."
        ),
        "30: It has been paused since frame 2, by the program. [event 38, frame 2, member 4]",
        (
            "20: Its target “ship” has been paused since frame 1, by command 7. [event 35, "
            "frame 1, member 2]"
        ),
        "30: The time scale of “calls” is 0. [event 39, member 1]",
        "30: The program paused “game”. [event 40, frame 2, clock 2]",
        "40: Its time does not pass until “game” is resumed. []",
        (
            "20: It was called twice, the last time in frame 1; that took 1.00 ms. [event "
            "32, frame 1]"
        ),
    ]
    assert [*scene.told(calls)] == [
        "Scheduler “calls” (1), clock 2: None of its calls run: the time scale of “calls” is 0.",
        "30: The time scale of “calls” is 0. [event 39, member 1]",
        "30: The program paused “game”. [event 40, frame 2, clock 2]",
        "40: Its time does not pass until “game” is resumed. []",
    ]
    assert [*scene.told(edge)] == [
        (
            "Edge “wake up” (6), clock 2: Its time stands still: the program paused game "
            "10.0 ms ago."
        ),
        "30: The program paused “game”. [event 40, frame 2, clock 2]",
        "40: Its time does not pass until “game” is resumed. []",
        "20: The machine is in the state “up”. [event 36, frame 1, member 5]",
    ]


@pytest.mark.parametrize(
    ("names", "likely"),
    [
        (("path", "heavy"), True),
        # Neither was ever called without the other.
        (("path", "heavy", "ghost"), False),
        (("path",), False),
        (("new", "newer"), False),
    ],
)
def test_that_a_timer_is_suspected_if_the_others_were_quick_without_it(
    names: tuple[str, ...], *, likely: bool
) -> None:
    scene = Scene()
    root = scene.root
    root.set_timeout_ns(5 * MS, int, name="path")
    scene.wake(10, {Phase.TIMERS: 3})
    for name in names:
        root.set_timeout_ns(2 * MS, int, name=name)
    scene.wake(20, {Phase.TIMERS: 10})
    victim = root.set_timeout_ns(3 * MS, int, name="victim")
    scene.wake(36, {})

    (said,) = [text for text in scene.told(victim) if "The timers of frame 1" in text]

    cause = " “heavy” is the likely cause: in frames without it, the others took at most 3.00 ms."
    assert (cause in said) == likely
    assert ("likely cause" in said) == likely
