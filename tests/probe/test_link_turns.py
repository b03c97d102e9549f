"""What a link does, turn by turn, with a connection and a time that the test plays."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import link as module
from inspector.probe import wire
from inspector.probe.adapters import Adapter
from inspector.probe.connection import LinkClosed
from inspector.probe.kinds import MARK, VOCABULARY_VERSION
from inspector.probe.link import Attachment, Link
from inspector.probe.wire import WireError
from tests.probe.adapters.played import Played
from tests.probe.receiver import TOKEN

MS = 1_000_000


class Line:
    """A connection whose other end is the test."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.batches = 0
        self.waiting: list[list[dict[str, Any]] | Exception] = []
        self.wants_to_send = self.is_closed = False
        self.wants_to_receive = True
        self.flushes = 0
        self.patience_ns = -1

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def send_events(self, data: bytes) -> None:
        self.batches += 1
        # What is said of events comes behind them.
        self.sent.append({"method": "events", "params": {"bytes": len(data)}})

    def receive(self) -> list[dict[str, Any]]:
        found = self.waiting.pop(0) if self.waiting else []
        if isinstance(found, Exception):
            raise found
        return found

    def flush(self) -> None:
        self.flushes += 1

    def end(self, *last: dict[str, Any], patience_ns: int = 0) -> None:
        self.sent += last
        self.patience_ns = patience_ns
        self.is_closed = True

    def close(self) -> None:
        self.is_closed = True


class Turned:
    """An attached inspector, with a sampler that does nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, grant: str = "full") -> None:
        self.played = Played(10**15)
        self.program = self.played.program
        self.line: Any = Line()
        self.most_ns: list[int] = []
        self.sampled = 0
        monkeypatch.setattr(module, "monotonic_ns", lambda: self.played.now_ns)
        monkeypatch.setattr(module, "Sampler", lambda _program: self)
        self.spent_ns = 0
        self.hooks_ns = 0.0
        self.asked: list[int] = []
        meter = SimpleNamespace(spent_ns=lambda _kinds: self.spent_ns, hooks_ns=0.0)
        self.meter = meter
        monkeypatch.setattr(module, "CostMeter", lambda _program: meter)
        self.is_sampling = False
        self.attachment = Attachment(self.program, self.line, grant, [])

    # It is the sampler, too.
    def begin(self) -> None:
        self.is_sampling = True

    def end(self) -> None:
        self.is_sampling = False

    def sample(self) -> None:
        self.sampled += 1

    def wait_ns(self, most_ns: int) -> int:
        return most_ns

    def said(self) -> list[str]:
        """What was sent since the last call, in short."""
        found = [
            message.get("method", "answer")
            + (f" {state}" if (state := message.get("params", {}).get("state")) else "")
            for message in self.line.sent
        ]
        self.line.sent.clear()
        return found

    def turn(self, after_ms: int = 0, *messages: dict[str, Any]) -> list[str]:
        self.played.now_ns += after_ms * MS
        if messages:
            self.line.waiting.append(list(messages))
        self.attachment.turn(has_news=bool(messages))
        return self.said()


@pytest.fixture
def turned(monkeypatch: pytest.MonkeyPatch) -> Turned:
    return Turned(monkeypatch)


def request(method: str, number: int | None = 5, **params: object) -> dict[str, Any]:
    message: dict[str, Any] = {"method": method, "params": params}
    return message if number is None else {**message, "id": number}


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
    said = [(ms, each) for ms in range(1, 2_001) for each in turned.turn(1, request("Link.pong", None))]

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
    adapter.thin_out = shares.append  # type: ignore[method-assign]
    turned.program.adapters["tried"] = adapter
    turned.turn()
    told = []
    for marks, dropped, hooks_ns in ((3, 0, 5e6), (2, 1, 1e7)):
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
    assert [each["events"] for each in told] == [sent - 2, 2]
    assert [each["dropped"] for each in told] == [0, 1]
    assert [each["cpu_ns"] for each in told] == [33, 22]
    assert [each["interval_ns"] for each in told] == [1_000 * MS] * 2
    assert told[1]["queued_bytes"] == sent * wire.BYTES_PER_EVENT
    assert shares == [0.005, 0.01]


def test_that_what_is_asked_is_answered_and_what_is_only_said_is_not(turned: Turned) -> None:
    turned.turn()
    clock = turned.program.own_clock
    answers = [
        turned.turn(0, request(*asked[:1], asked[1], **asked[2]))  # type: ignore[misc]
        for asked in (
            ("Clock.pause", 6, {"clock": clock.number}),
            ("Clock.pause", None, {"clock": clock.number}),
            ("No.such", None, {}),
            ("No.such", 7, {}),
        )
    ]

    assert [each for each in answers[0] if each != "events"] == ["answer", "Program.held"]
    assert answers[1:] == [[], [], ["answer"]]
    assert clock.is_held


def test_that_an_answer_says_what_it_answers_or_why_it_is_refused(turned: Turned) -> None:
    assert turned.attachment._answer(3, "Program.grant", {}) == wire.answer(3, {"grant": "full"})
    refused = turned.attachment._answer(4, "No.such", {})
    assert (refused["id"], refused["error"]["code"]) == (4, wire.UNKNOWN_METHOD)


def test_that_an_inspector_that_says_good_bye_has_gone(turned: Turned) -> None:
    with pytest.raises(LinkClosed, match="has ended the link"):
        turned.turn(0, request("Link.bye", None))


def test_that_requests_that_came_with_the_hello_are_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert not clock.is_paused
    turned.turn()

    assert clock.is_paused
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
    turned.attachment.keyframe = keyframe = SimpleNamespace(  # type: ignore[assignment]
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
        turned.attachment.keyframe = SimpleNamespace(  # type: ignore[assignment]
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


# ------------------------------------------------------------------------------------- its thread


class Linked:
    """A link without a thread, whose sockets the test plays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, address: str = "") -> None:
        self.turned = Turned(monkeypatch)
        self.program = self.turned.program
        self.program.detach()
        self.monkeypatch = monkeypatch
        self.lines: list[Any] = []
        self.ready: list[Any] = []
        self.waited: list[tuple[list[Any], list[Any], int]] = []
        self.is_same_user = True
        monkeypatch.setattr(module, "is_same_user", lambda _sock: self.is_same_user)
        monkeypatch.setattr(module, "Connection", lambda sock: sock)
        monkeypatch.setattr(module, "dialled", self._dialled)
        self.refused: Exception | None = None
        listener: Any = None if address else socket.socket()
        self.accepted: list[Any] = []
        self.link = Link(self.program, TOKEN, "full", address=address, listener=listener)
        if listener is not None:
            listener_of: Any = self.link._listener
            listener_of.sock = SimpleNamespace(
                accept=self._accept, detach=listener.detach, close=listener.close, fileno=int
            )
        self.link._waiting = SimpleNamespace(wait=self._wait)  # type: ignore[assignment]

    def _dialled(self, address: str) -> Any:
        if self.refused is not None:
            raise self.refused
        self.lines.append(Line())
        return self.lines[-1]

    def _accept(self) -> tuple[Any, str]:
        if not self.accepted:
            raise BlockingIOError
        return self.accepted.pop(0), ""

    def _wait(self, readers: list[Any], writers: list[Any], timeout_ns: int) -> list[Any]:
        self.waited.append((readers, writers, timeout_ns))
        if len(self.waited) > 50:
            pytest.fail("it waits for good")
        self.turned.played.now_ns += 500 * MS
        return self.ready

    def stranger(self, *messages: dict[str, Any] | Exception) -> Any:
        """Let somebody come who says something; an exception is the end of it."""
        line: Any = Line()
        line.waiting = [each if isinstance(each, Exception) else [each] for each in messages]
        self.accepted.append(line)
        self.link._meet_strangers()
        return line

    def close(self) -> None:
        self.link.close("")


HELLO = {"token": TOKEN, "protocol": wire.PROTOCOL, "role": "inspector"}


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Any:
    linked = Linked(monkeypatch)
    yield linked
    linked.close()


@pytest.fixture
def dialling(monkeypatch: pytest.MonkeyPatch) -> Any:
    linked = Linked(monkeypatch, "tcp:127.0.0.1:1")
    yield linked
    linked.close()


def test_that_who_says_hello_is_answered_with_what_the_program_is(
    listening: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "é" * 5_000, *"x" * 80])
    line = listening.stranger(request("Link.hello", 3, **HELLO))

    answer = line.sent[0]
    result = answer["result"]
    assert answer["id"] == 3
    assert {key: result[key] for key in ("protocol", "role", "vocabulary", "name", "grant")} == {
        "protocol": wire.PROTOCOL,
        "role": "probe",
        "vocabulary": VOCABULARY_VERSION,
        "name": "played",
        "grant": "full",
    }
    assert (result["pid"], result["parent_pid"]) == (os.getpid(), os.getppid())
    assert result["runtime"]["version"] == sys.version.split()[0]
    assert result["runtime"]["implementation"] == "cpython"
    assert len(result["argv"]) == 64
    assert len(result["argv"][1].encode()) <= 4_096
    assert result["clock_ns"] == listening.turned.played.now_ns
    assert listening.link._attachment is not None
    assert listening.link._strangers == []
    assert not listening.link.is_over


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("Link.hello", None, **HELLO), wire.MALFORMED),
        (request("Link.bye", **HELLO), wire.MALFORMED),
        (request("Link.hello", **{**HELLO, "token": TOKEN[1:]}), wire.WRONG_TOKEN),
        (request("Link.hello", **{**HELLO, "token": 5}), wire.WRONG_TOKEN),
        (request("Link.hello", **{**HELLO, "protocol": 2}), wire.WRONG_VERSION),
        (request("Link.hello", **{**HELLO, "role": "probe"}), wire.BAD_PARAMS),
        (WireError(wire.TOO_LARGE, "too large"), wire.TOO_LARGE),
        (LinkClosed("gone"), None),
    ],
)
def test_that_who_does_not_say_hello_is_sent_away(
    listening: Linked, message: Any, code: int | None
) -> None:
    line = listening.stranger(message)

    assert [each["error"]["code"] for each in line.sent] == ([] if code is None else [code])
    assert line.is_closed
    assert listening.link._strangers == []
    assert listening.link._attachment is None


def test_that_a_second_inspector_is_sent_away(listening: Linked) -> None:
    listening.stranger(request("Link.hello", **HELLO))
    first = listening.link._attachment
    second = listening.stranger(request("Link.hello", 4, **HELLO))

    assert (second.sent[0]["id"], second.sent[0]["error"]["code"]) == (4, wire.NOT_POSSIBLE)
    assert listening.link._attachment is first


def test_that_a_few_may_be_silent_for_a_while(listening: Linked) -> None:
    link, played = listening.link, listening.turned.played
    lines = [listening.stranger() for _ in range(9)]
    assert [line.is_closed for line in lines] == [False] * 8 + [True]
    played.now_ns += wire.HELLO_NS - 1
    link._meet_strangers()
    assert len(link._strangers) == 8
    played.now_ns += 1
    link._meet_strangers()
    assert link._strangers == []
    assert all(line.is_closed for line in lines)
    # There is room again, but not for others.
    assert not listening.stranger().is_closed
    listening.is_same_user = False
    assert listening.stranger().is_closed


def test_that_it_waits_for_the_sockets_that_may_say_something(listening: Linked) -> None:
    link = listening.link

    def waited() -> tuple[list[Any], list[Any], int]:
        link._wait()
        return listening.waited[-1]

    assert waited() == ([link._woken, link._listener], [], -1)
    stranger = listening.stranger()
    assert waited() == ([link._woken, link._listener, stranger], [], wire.PING_NS)
    link._strangers.clear()
    line = listening.stranger(request("Link.hello", **HELLO))
    assert link._attachment is not None
    assert waited() == ([link._woken, link._listener, line], [], link._attachment.wait_ns)
    line.wants_to_send, line.wants_to_receive = True, False
    assert waited()[:2] == ([link._woken, link._listener], [line])
    listening.ready = [line]
    assert link._wait()
    listening.ready = [link._woken]
    assert not link._wait()
    # Somebody comes.
    listening.ready = [link._listener]
    listening.accepted.append(Line())
    assert not link._wait()
    assert len(link._strangers) == 1


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (LinkClosed("gone"), wire.notification("Link.bye", {"reason": "gone"})),
        (WireError(5, "wrong"), wire.refusal(0, WireError(5, "wrong"))),
    ],
)
def test_that_the_end_of_an_inspector_is_said_and_the_program_goes_on(
    listening: Linked, error: Exception, last: dict[str, Any]
) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    line.waiting.append(error)
    link = listening.link
    assert link._attachment is not None
    link._attend(link._attachment, has_news=True)

    assert link.problem == ("gone" if isinstance(error, LinkClosed) else "wrong")
    assert line.sent[-1] == last
    assert (line.is_closed, link._attachment, link._connection) == (True, None, None)
    assert listening.program.emit is None


def test_that_an_inspector_that_is_dialled_is_attached_by_its_answer(dialling: Linked) -> None:
    link = dialling.link
    assert not link.is_over
    dialling.monkeypatch.setattr(
        module, "Attachment", lambda *given: SimpleNamespace(end=lambda *_, **__: None, behind=given[3])
    )

    def wait(*_: object) -> list[Any]:
        dialling.lines[0].waiting.append(
            [request("Link.pong", None), wire.answer(0, HELLO), request("Link.ping", None)]
        )
        return []

    link._waiting.wait = wait  # type: ignore[method-assign]
    link._dial()

    (line,) = dialling.lines
    hello = line.sent[0]
    assert (hello["id"], hello["method"], hello["params"]["token"]) == (0, "Link.hello", TOKEN)
    attachment: Any = link._attachment
    assert [each["method"] for each in attachment.behind] == ["Link.ping"]
    assert (link._dialled, link.problem, link.is_over) == (None, "", False)
    assert link._settled.is_set()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"id": 0, "error": {"code": 8, "message": "wrong token"}}, "wrong token"),
        (wire.answer(0, {**HELLO, "protocol": 9}), "This probe speaks protocol 1."),
        (WireError(1, "not a frame"), "not a frame"),
        (LinkClosed("gone"), "gone"),
        (None, "the inspector does not answer"),
    ],
)
def test_that_an_inspector_that_is_dialled_in_vain_is_hung_up_on(
    dialling: Linked, said: Any, problem: str
) -> None:
    def wait(readers: list[Any], writers: list[Any], timeout_ns: int) -> list[Any]:
        if said is not None:
            dialling.lines[0].waiting.append(said if isinstance(said, Exception) else [said])
        return dialling._wait(readers, writers, timeout_ns)

    link = dialling.link
    link._waiting.wait = wait  # type: ignore[method-assign]
    link._run()

    (line,) = dialling.lines
    assert (link.problem, line.is_closed, link.is_over) == (problem, True, True)
    assert dialling.waited[0] == ([line, link._woken], [], wire.PING_NS)
    # An inspector on a busy machine has ten seconds.
    assert len(dialling.waited) == (21 if said is None else 1)


def test_that_what_waits_to_be_sent_to_who_is_dialled_is_waited_for(dialling: Linked) -> None:
    link = dialling.link

    def wait(_readers: list[Any], writers: list[Any], _timeout_ns: int) -> list[Any]:
        assert writers == dialling.lines
        link._is_stopping = True
        return []

    dialling.monkeypatch.setattr(Line, "__init__", _wanting(Line.__init__))
    link._waiting.wait = wait  # type: ignore[method-assign]
    link._dial()
    assert dialling.lines[0].flushes == 1
    # The next start waits on for the answer.
    assert link._dialled is not None
    link._dial()
    assert len(dialling.lines) == 1


def _wanting(init: Callable[[Line], None]) -> Callable[[Line], None]:
    def wanting(line: Line) -> None:
        init(line)
        line.wants_to_send = True

    return wanting


def test_that_a_link_that_is_stopped_while_it_dials_has_not_settled(dialling: Linked) -> None:
    link = dialling.link

    def wait(*_: object) -> list[Any]:
        link._is_stopping = True
        return []

    link._waiting.wait = wait  # type: ignore[method-assign]
    link._run()
    assert not link.is_over
    assert not link._settled.is_set()
    link.close("it is over")
    assert dialling.lines[0].is_closed
    assert link.is_over


def test_that_nobody_is_dialled_where_nothing_listens(dialling: Linked) -> None:
    dialling.refused = ValueError("not an address")
    dialling.link._run()

    assert (dialling.link.problem, dialling.link.is_over) == ("not an address", True)
    assert dialling.waited == []


def test_that_whatever_goes_wrong_ends_the_link_and_not_the_program(listening: Linked) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    line.waiting.append(LookupError("castle"))
    listening.ready = [line]
    listening.link._run()

    assert listening.link.problem == "LookupError: castle"
    assert line.sent[-1]["params"] == {"reason": "LookupError: castle"}
    assert line.is_closed
    assert listening.program.emit is None
    assert listening.link._settled.is_set()


def test_that_a_program_that_closes_all_it_does_not_know_is_dialled_from_again(
    dialling: Linked,
) -> None:
    link = dialling.link
    link._settled.set()
    lost = link._woken
    lost._file = None
    assert lost.is_lost
    dialling.refused = LinkClosed("gone")
    link._begin_again()

    assert link.problem == "gone"
    assert not link._woken.is_lost
    assert not link._settled.is_set()
    assert lost.sock.fileno() == -1


def test_that_a_program_that_listens_ends_when_it_closes_what_it_does_not_know(
    listening: Linked,
) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    waits = [listening.stranger()]
    listening.link._woken._file = None
    listening.link._run()

    assert "closed the sockets" in line.sent[-1]["params"]["reason"]
    assert listening.link.is_over
    assert [each.is_closed for each in (line, *waits)] == [True, True]
    assert listening.lines == []


def test_that_a_child_lets_go_of_what_is_its_parents(listening: Linked) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    line.sent.clear()
    other = listening.stranger()
    link = listening.link
    link.abandon()

    assert [each.is_closed for each in (line, other)] == [True, True]
    assert line.sent == []
    assert not listening.turned.is_sampling
    assert link._strangers == []
    assert link._listener is None
    # It has no thread to end.
    link.stop()


def test_that_an_inspector_is_told_why_the_program_leaves(listening: Linked) -> None:
    line = listening.stranger(request("Link.hello", **HELLO))
    listening.link.close("over")

    assert line.sent[-1] == wire.notification("Link.bye", {"reason": "over"})
    assert line.patience_ns == wire.SILENCE_NS
    assert listening.link.is_over


# ------------------------------------------------------------------------------- its surroundings


def test_that_the_command_line_is_that_of_the_system_where_python_does_not_keep_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(sys, "orig_argv")
    if sys.platform == "linux":
        assert module.command_line()[0].endswith(("python", "python3", os.path.basename(sys.executable)))
        assert "" not in module.command_line()[-1:]

    def refused(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr(sys, "argv", ["game.py"])
    assert module.command_line() == ["game.py"]


def test_that_a_thread_is_gone_once_the_system_does_not_know_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_ns, yields = [0], [0]

    def yielded() -> None:
        yields[0] += 1
        now_ns[0] += 10 * MS

    monkeypatch.setattr(module, "monotonic_ns", lambda: now_ns[0])
    monkeypatch.setattr(os, "sched_yield", yielded)
    monkeypatch.setattr(os.path, "exists", lambda place: yields[0] < gone_after)
    for gone_after, expected in ((2, 2), (9, 5)):
        yields[0] = now_ns[0] = 0
        module._wait_until_gone(SimpleNamespace(native_id=1))  # type: ignore[arg-type]
        assert yields[0] == expected
