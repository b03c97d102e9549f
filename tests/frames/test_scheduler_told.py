"""What a scheduler tells of its calls, value for value."""

from __future__ import annotations

from inspector.clocks import ClockTree
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.vocabulary import CALL_ENDED, MEMBER_ADDED, MEMBER_SET, EventKind, Field, RawEvent

SECOND = 1_000_000_000


class _Told:
    """A sink that keeps events until they are asked for."""

    def __init__(self) -> None:
        self.events: list[RawEvent] = []
        self.texts: list[str] = []
        self.append = self.events.append

    def intern(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def taken(self) -> list[str]:
        events = self.events[:]
        self.events.clear()
        return list(map(self._words, events))

    def _words(self, event: RawEvent) -> str:
        at_ns, kind, subject, a, b = event
        numbers: list[object] = [subject, a, b]
        if kind == CALL_ENDED:
            # The others are measured.
            numbers = [subject]
        elif kind == MEMBER_ADDED:
            numbers = [subject, a, self.texts[b]]
        elif kind == MEMBER_SET:
            value = self.texts[b] if Field(a) in {Field.RULES, Field.NAME} else b
            numbers = [subject, Field(a).name, value]
        return " ".join(map(str, [at_ns // SECOND, EventKind(kind).name, *numbers]))


class Ship:
    name = "ship"

    def update(self, delta: float) -> None: ...

    def blink(self, delta: float) -> None: ...

    def fire(self, delta: float) -> None: ...

    def fail(self, _delta: float) -> None:
        raise ValueError


def test_that_everything_about_a_call_is_told_when_it_happens() -> None:
    told = _Told()
    tree = ClockTree(told)
    tree.on_failure = lambda _failure: None
    game = tree.root.child("game")
    told.events.clear()
    ship = Ship()

    scheduler = Scheduler(game, name="calls", max_calls_per_frame=2)
    assert told.taken() == [
        "0 MEMBER_ADDED 1 0 calls",
        "0 MEMBER_ORIGIN 1 2 1",
        "0 MEMBER_SET 1 RULES sound",
        "0 MEMBER_SET 1 RATE 720720000",
        "0 MEMBER_SET 1 TIME 0",
    ]

    update = scheduler.schedule_update(ship, 3)
    blink = scheduler.schedule(ship.blink, 0.5, repeat=2)
    assert told.taken() == [
        "0 MEMBER_ADDED 2 1 ship",
        "0 MEMBER_ORIGIN 2 2 2",
        "0 MEMBER_ADDED 3 2 Ship.update",
        "0 MEMBER_ORIGIN 3 2 3",
        "0 MEMBER_SET 3 PRIORITY 3",
        "0 MEMBER_ADDED 4 2 Ship.blink",
        "0 MEMBER_ORIGIN 4 2 4",
        "0 MEMBER_SET 4 INTERVAL 500000000",
        "0 MEMBER_SET 4 CALLS_LEFT 3",
        "0 MEMBER_SET 4 DUE 500000000",
    ]

    gun = scheduler.schedule(ship.fire, 0.1, delay=0.25, paused=True, name="gun")
    fail = scheduler.schedule(ship.fail)
    assert told.taken() == [
        "0 MEMBER_ADDED 5 2 gun",
        "0 MEMBER_ORIGIN 5 2 4",
        "0 MEMBER_SET 5 PAUSED 1",
        "0 MEMBER_SET 5 INTERVAL 100000000",
        "0 MEMBER_SET 5 CALLS_LEFT -1",
        "0 MEMBER_SET 5 REMAINING 250000000",
        "0 MEMBER_ADDED 6 2 Ship.fail",
        "0 MEMBER_ORIGIN 6 2 4",
        "0 MEMBER_SET 6 INTERVAL 0",
        "0 MEMBER_SET 6 CALLS_LEFT -1",
        "0 MEMBER_SET 6 DUE 9223372036854775807",
    ]

    tree.run_to(SECOND)
    scheduler.update(0.25)
    assert told.taken() == [
        "1 MEMBER_SET 1 TIME 250000000",
        "1 CALL_ENDED 3",
        "1 CALL_ENDED 6",
        "1 CALLBACK_FAILED 0 8 9",
    ]

    gun.resume()
    scheduler.time_scale = "1/2"
    scheduler.update(0.5)
    assert told.taken() == [
        "1 MEMBER_SET 5 PAUSED 0",
        "1 MEMBER_SET 5 DUE 500000000",
        "1 MEMBER_SET 1 RATE 360360000",
        "1 MEMBER_SET 1 TIME 500000000",
        "1 CALL_ENDED 3",
        "1 MEMBER_SET 4 CALLS_LEFT 2",
        "1 MEMBER_SET 4 DUE 1000000000",
        "1 CALL_ENDED 4",
        "1 MEMBER_SET 5 DUE 600000000",
        "1 CALL_ENDED 5",
        "1 CALL_ENDED 6",
        "1 CALLBACK_FAILED 0 8 9",
    ]

    gun.pause()
    pause = scheduler.pause_target(ship)
    scheduler.update(1)
    assert told.taken() == [
        "1 MEMBER_SET 5 REMAINING 100000000",
        "1 MEMBER_SET 5 PAUSED 1",
        "1 MEMBER_SET 2 PAUSED 1",
        "1 MEMBER_SET 4 REMAINING 500000000",
        "1 MEMBER_SET 1 TIME 1000000000",
    ]

    pause.resume()
    gun.resume()
    assert told.taken() == [
        "1 MEMBER_SET 2 PAUSED 0",
        "1 MEMBER_SET 4 DUE 1500000000",
        "1 MEMBER_SET 5 PAUSED 0",
        "1 MEMBER_SET 5 DUE 1100000000",
    ]

    scheduler.schedule_update(ship, 5, callback=ship.blink, name="blinks")
    fail.unschedule()
    assert told.taken() == [
        "1 MEMBER_SET 3 NAME blinks",
        "1 MEMBER_SET 3 PRIORITY 5",
        "1 MEMBER_REMOVED 6 0 0",
    ]

    scheduler.update(2)
    assert told.taken() == [
        "1 MEMBER_SET 1 TIME 2000000000",
        "1 CALL_ENDED 3",
        "1 MEMBER_SET 5 MISSED 8",
        "1 MEMBER_SET 5 DUE 1900000000",
        "1 MEMBER_SET 4 CALLS_LEFT 1",
        "1 MEMBER_SET 4 DUE 2000000000",
        "1 CALL_ENDED 4",
        "1 MEMBER_SET 5 DUE 2000000000",
        "1 CALL_ENDED 5",
        "1 MEMBER_REMOVED 4 0 0",
        "1 CALL_ENDED 4",
        "1 MEMBER_SET 5 DUE 2100000000",
        "1 CALL_ENDED 5",
    ]

    update.pause()
    update.unschedule()
    update.resume()
    assert told.taken() == [
        "1 MEMBER_SET 3 PAUSED 1",
        "1 MEMBER_REMOVED 3 0 0",
    ]

    scheduler.unschedule_all()
    assert told.taken() == [
        "1 MEMBER_REMOVED 5 0 0",
        "1 MEMBER_REMOVED 2 0 0",
    ]
    assert (blink.calls, blink.calls_left, blink.repeat, blink.delay_ns) == (3, 0, 2, 0)
    assert (gun.calls, gun.calls_left, gun.repeat, gun.missed) == (3, None, None, 8)
    assert (gun.interval, gun.interval_ns, gun.delay_ns) == (0.1, SECOND // 10, SECOND // 4)
    assert scheduler.frame_index == 4
