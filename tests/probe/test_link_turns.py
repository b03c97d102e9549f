"""What a link does, turn by turn, with a connection and a time that the test plays."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import wire
from inspector.probe.adapters import Adapter
from inspector.probe.connection import LinkClosed
from inspector.probe.kinds import MARK
from tests.probe.turned import MS, Turned, request


@pytest.fixture
def turned(monkeypatch: pytest.MonkeyPatch) -> Turned:
    return Turned(monkeypatch)


# ------------------------------------------------------------------------------------- its turns


def test_that_an_inspector_that_comes_is_told_all_between_begun_and_complete(
    turned: Turned,
) -> None:
    assert turned.is_sampling
    assert turned.said() == ["Program.changed", "Events.keyframe begun"]
    # The events that describe the clocks, and the texts that they need.
    first = turned.turn()
    assert first == [
        "Events.texts",
        "events",
        "Events.keyframe complete",
        "Program.held",
    ]
    assert turned.attachment.keyframe is None
    assert turned.turn() == []
    assert turned.sampled == 2


def test_that_a_link_is_kept_alive_and_tells_its_cost_each_second(turned: Turned) -> None:
    turned.turn()
    said = [
        (ms, each) for ms in range(1, 2_001) for each in turned.turn(1, request("Link.pong", None))
    ]

    assert turned.attachment._pings == 5
    assert said == [
        (400, "Link.ping"),
        (800, "Link.ping"),
        (1_000, "Program.cost"),
        (1_200, "Link.ping"),
        (1_600, "Link.ping"),
        (2_000, "Link.ping"),
        (2_000, "Program.cost"),
    ]


def test_that_pings_are_counted_and_answered(turned: Turned) -> None:
    turned.turn()
    turned.attachment._pings = 7
    turned.attachment._pinged_ns = 0
    turned.attachment.turn(has_news=False)
    turned.line.waiting.append([request("Link.ping", None, n=4), request("Link.ping", None)])
    turned.attachment.turn(has_news=True)

    assert [each["params"] for each in turned.line.sent] == [{"n": 8}, {"n": 4}, {"n": 0}]


def test_that_the_cost_is_that_since_the_last_time(turned: Turned) -> None:
    shares: list[float] = []
    adapter = Adapter(turned.program)
    adapter.thin_out = shares.append  # type: ignore[assignment, method-assign]
    turned.program.adapters["tried"] = adapter
    turned.turn()
    told = []
    for marks, dropped, hooks_ns in ((3, 0, 5e6), (2, 1, 1e7), (0, 0, 0.0)):
        for number in range(marks):
            turned.program.mark(str(number))
        turned.attachment.sink.dropped += dropped
        turned.spent_ns, turned.meter.hooks_ns = 11 * marks, hooks_ns
        turned.turn(499, request("Link.pong", None))
        turned.played.now_ns += 501 * MS
        turned.attachment.turn(has_news=False)
        told += [each["params"] for each in turned.line.sent if each["method"] == "Program.cost"]
        turned.said()

    sent = turned.attachment.sink.sent
    assert [each["events"] for each in told] == [sent - 2, 2, 0]
    assert [each["dropped"] for each in told] == [0, 1, 0]
    assert [each["cpu_ns"] for each in told] == [33, 22, 0]
    assert [each["interval_ns"] for each in told] == [1_000 * MS] * 3
    assert told[1]["queued_bytes"] == sent * wire.BYTES_PER_EVENT
    assert shares == [0.005, 0.01, 0.0]


def test_that_what_is_asked_is_answered_and_what_is_only_said_is_not(turned: Turned) -> None:
    turned.turn()
    clock = turned.program.own_clock
    answers = [
        turned.turn(0, request(*asked[:1], asked[1], **asked[2]))
        for asked in (
            ("Clock.pause", 6, {"clock": clock.number}),
            ("Clock.resume", None, {"clock": clock.number}),
            ("No.such", None, {}),
            ("Link.pong", 8, {}),
            ("No.such", 7, {}),
        )
    ]

    assert [each for each in answers[0] if each != "events"] == ["answer", "Program.held"]
    assert answers[1:] == [["events", "Program.held"], [], [], ["answer"]]
    assert not clock.is_held
    # What answers something of ours.
    assert turned.turn(0, {"id": 3, "result": {}}) == []


def test_that_an_answer_says_what_it_answers_or_why_it_is_refused(turned: Turned) -> None:
    assert turned.attachment._answer(3, "Program.grant", {}) == wire.answer(3, {"grant": "full"})
    refused = turned.attachment._answer(4, "No.such", {})
    assert (refused["id"], refused["error"]["code"]) == (4, wire.UNKNOWN_METHOD)


def test_that_an_inspector_that_says_good_bye_has_gone(turned: Turned) -> None:
    with pytest.raises(LinkClosed, match="has ended the link"):
        turned.turn(0, request("Link.bye", None))


def test_that_requests_that_came_with_the_hello_are_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turned = Turned(monkeypatch)
    turned.attachment._unhandled.append(request("Program.grant"))

    assert "answer" in turned.turn()


@pytest.mark.parametrize(("silent_ms", "is_gone"), [(2_000, False), (2_001, True)])
def test_that_an_inspector_that_is_silent_for_two_seconds_is_gone(
    turned: Turned, silent_ms: int, *, is_gone: bool
) -> None:
    turned.turn()
    turned.turn(100, request("Link.pong", None))
    for _ in range(4):
        turned.turn(500)
    turned.played.now_ns += (silent_ms - 2_000) * MS
    if is_gone:
        with pytest.raises(LinkClosed):
            turned.attachment.turn(has_news=False)
    else:
        turned.attachment.turn(has_news=False)


def test_that_changes_are_told_once(turned: Turned) -> None:
    turned.turn()
    adapter = Adapter(turned.program)
    adapter.library = "lib"
    turned.program.clock("loop", adapter=adapter)
    turned.played.events.clear()
    said = turned.turn()
    assert said.count("Program.changed") == 1
    assert turned.turn() == []
    turned.program.mention_change()
    turned.attachment.turn(has_news=False)
    (changed,) = (each["params"] for each in turned.line.sent)

    assert changed["grant"] == "full"
    assert [(each["adapter"], each["title"]) for each in changed["clocks"]] == [
        ("", "played"),
        ("lib", "loop"),
    ]


def test_that_a_hold_is_told_behind_the_events_before_it(turned: Turned) -> None:
    turned.turn()
    turned.program.next_frame = 9
    turned.played.hold()
    turned.attachment.turn(has_news=False)

    assert turned.line.sent[-1]["params"] == {"held": True, "frame": 9}
    assert turned.said() == ["events", "Program.held"]
    turned.line.wants_to_send = True
    flushes = turned.line.flushes
    assert turned.turn() == []
    assert turned.line.flushes == flushes + 1


def test_that_a_step_is_settled_by_the_turn_at_its_end(turned: Turned) -> None:
    program, clock = turned.program, turned.program.own_clock
    turned.played.hold()
    turned.turn()
    program.clocks.step_to(clock, clock.local_ns() + 3 * MS)
    assert turned.attachment.wait_ns == 3 * MS
    turned.played.now_ns += 5 * MS
    assert turned.attachment.wait_ns == 0
    was_paused = clock.is_paused
    turned.turn()

    assert (was_paused, clock.is_paused) == (False, True)
    assert turned.attachment.wait_ns == wire.BATCH_NS - 2 * MS


def test_that_slices_of_a_keyframe_come_at_a_higher_pace_unless_they_are_stuck(
    turned: Turned,
) -> None:
    class Waiting(Adapter):
        def call_soon(self, _clock: object, call: Callable[[], None]) -> None:
            calls.append(call)

    calls: list[Callable[[], None]] = []
    turned.program.clock("loop", adapter=Waiting(turned.program))
    turned.turn()
    turned.turn(0, request("Events.keyframe"))
    attachment = turned.attachment
    keyframe: Any = SimpleNamespace(is_stuck=False, is_complete=False, busy=[], slices=0)
    attachment.keyframe = keyframe
    waits_ns = [attachment.wait_ns]
    keyframe.is_stuck = True
    waits_ns.append(attachment.wait_ns)

    assert waits_ns == [MS, wire.BATCH_NS - 2 * MS]


def test_that_a_keyframe_tells_how_far_it_has_come_and_who_is_busy(turned: Turned) -> None:
    turned.turn()
    rounds: list[bool] = []
    keyframe: Any = SimpleNamespace(
        is_stuck=False, is_complete=False, busy=[], slices=1, go_on=lambda: rounds.append(True)
    )
    turned.attachment.keyframe = keyframe
    assert turned.turn() == ["Events.keyframe partial"]
    assert turned.turn() == []
    keyframe.busy = [(3, "t" * 101, 77)]
    turned.attachment.turn(has_news=False)
    assert turned.line.sent[-1]["params"] == {
        "state": "partial",
        "waits_for": [3],
        "threads": [{"clock": 3, "thread": "t" * 100, "since_ns": 77}],
    }
    turned.said()
    # While events wait for the inspector, nothing more is described.
    turned.attachment.sink.sent += 10**6
    assert turned.turn() == []
    assert len(rounds) == 3
    turned.attachment.sink.sent -= 10**6
    keyframe.is_complete = True
    assert turned.turn() == ["Events.keyframe complete"]
    assert len(rounds) == 3
    assert turned.turn() == []


def test_that_a_keyframe_that_is_asked_for_begins_when_the_running_one_has_ended(
    turned: Turned,
) -> None:
    turned.turn()
    again: Any = SimpleNamespace(is_stuck=False, is_complete=False, busy=[], slices=0, go_on=int)
    turned.attachment.keyframe = again
    turned.turn(0, request("Events.keyframe"))
    assert turned.attachment.keyframe is again
    again.is_complete = True
    assert turned.turn() == ["Events.keyframe complete"]
    assert turned.turn() == ["Events.keyframe begun"]
    assert turned.turn() == ["events", "Events.keyframe complete"]
    assert not turned.attachment._requests.is_keyframe_wanted


def test_that_after_a_loss_all_is_described_again(turned: Turned) -> None:
    turned.turn()
    restarted: list[bool] = []
    tasks: Any = SimpleNamespace(
        restart=lambda: restarted.append(True), turn=int, wait_ns=lambda ns: ns, ask=int
    )
    turned.attachment._tasks = tasks
    turned.attachment.sink._lose(((0, MARK, 0, 0, 0),))

    assert turned.turn() == ["Events.lost", "Events.keyframe begun"]
    assert turned.turn() == ["events", "Events.keyframe complete"]
    assert restarted == [True]
    assert turned.turn() == []


def test_that_while_events_are_lost_no_keyframe_goes_on(turned: Turned) -> None:
    turned.turn()
    turned.attachment.sink.sent += 10**6
    turned.attachment.sink._lose(((0, MARK, 0, 0, 0),))
    rounds: list[bool] = []
    turned.attachment.keyframe = keyframe = SimpleNamespace(
        is_stuck=False, is_complete=True, busy=[], slices=5, go_on=lambda: rounds.append(True)
    )
    assert turned.turn() == []
    assert turned.attachment.keyframe is keyframe


@pytest.mark.parametrize("what", ["a keyframe", "no room", "nothing"])
def test_that_tasks_are_told_behind_all_else(turned: Turned, what: str) -> None:
    turned.turn()
    turns: list[bool] = []
    asked: list[int] = []
    tasks: Any = SimpleNamespace(
        turn=lambda: turns.append(True), wait_ns=lambda ns: ns // 7, ask=asked.append
    )
    turned.attachment._tasks = tasks
    if what == "a keyframe":
        turned.attachment.keyframe = SimpleNamespace(
            is_stuck=True, is_complete=False, busy=[], slices=0, go_on=int
        )
    elif what == "no room":
        turned.attachment.sink.sent += 10**6
    turned.attachment.turn(has_news=False)

    assert bool(turns) is (what == "nothing")
    assert turned.attachment.wait_ns == (wire.BATCH_NS - 2 * MS) // 7
    turned.turn(0, request("Program.tasks", every_ns=9))
    assert asked == [9]
    turned.attachment.end()
    assert asked == [9, 0]


def test_that_an_inspector_that_goes_is_sent_all_and_lets_the_program_run(turned: Turned) -> None:
    turned.turn()
    turned.played.hold()
    turned.attachment.sink._lose(((0, MARK, 0, 0, 0),))
    turned.attachment.sink.sent += 10**6
    turned.attachment.end({"method": "Link.bye", "params": {}}, patience_ns=3)

    assert turned.said() == ["Events.lost", "Link.bye"]
    assert turned.line.patience_ns == 3
    assert not turned.is_sampling
    assert not turned.program.own_clock.is_held
    assert turned.program.emit is None


def test_that_what_has_arrived_is_noted(turned: Turned) -> None:
    turned.turn()
    sink = turned.attachment.sink
    turned.turn(0, request("Events.ack", None, events=1))

    assert sink.acknowledged == 1


def test_that_tasks_are_reported_once_somebody_asks(turned: Turned) -> None:
    turned.turn()
    assert turned.turn(0, request("Program.tasks", every_ns=5 * MS)) == ["answer", "events"]
    tasks = turned.attachment._tasks
    assert turned.attachment.wait_ns == 5 * MS
    turned.turn(0, request("Program.tasks", every_ns=7 * MS))
    assert turned.attachment._tasks is tasks


@pytest.mark.parametrize("state", ["complete", "partial", "begun", "held"])
def test_that_all_before_it_is_sent_before_what_is_said_of_events(
    turned: Turned, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """Other threads go on while the link is at it."""
    turned.turn()

    class Keyframe:
        is_stuck = False
        slices = 1

        @property
        def is_complete(self) -> bool:
            if state == "complete":
                turned.program.mark("now")
            return state == "complete"

        @property
        def busy(self) -> list[tuple[int, str, int]]:
            if state == "partial":
                turned.program.mark("now")
            return []

        def go_on(self) -> None:
            if state == "held":
                turned.played.hold()

    attachment = turned.attachment
    attachment.keyframe = Keyframe()
    if state == "begun":

        def report(**_: bool) -> dict[str, int]:
            turned.program.mark("now")
            return {"1": 1}

        monkeypatch.setattr(attachment, "_report_loss", report)
    elif state == "held":
        attachment._slices = 1
    said = [each for each in turned.turn() if each != "Events.texts"]

    assert said == ["events", "Program.held" if state == "held" else f"Events.keyframe {state}"]


def test_that_the_last_events_are_sent_however_many_wait(turned: Turned) -> None:
    turned.turn()
    turned.attachment.sink.sent += 10**6
    turned.program.mark("last")
    turned.attachment.end()

    assert turned.said() == ["Events.texts", "events"]


def test_that_slices_are_counted_anew_after_a_loss(turned: Turned) -> None:
    turned.turn()
    turned.attachment._slices = 3
    turned.attachment.sink._lose(((0, MARK, 0, 0, 0),))

    assert turned.turn() == ["Events.lost", "Events.keyframe begun"]
    assert turned.attachment._slices == 0
