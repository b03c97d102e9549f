"""A program played by a test: it speaks the protocol as a probe does."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from inspector.probe.wire import (
    EVENTS,
    JSON,
    FrameReader,
    answer,
    frame,
    notification,
    packed_events,
    packed_json,
    request,
    unpacked_json,
)
from inspector.sessions.attached.link import ProbeServer
from inspector.sessions.attached.session import AttachedSession
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_RESUMED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_ORIGIN,
    RawEvent,
)
from inspector.vocabulary import (
    RATE_DENOMINATOR as D,
)

#: The session's numbers of the clocks of a first program and of a second.
SERVER, SECOND = 2, 2 + (1 << 40)
MS = 1_000_000
_PATIENCE_S = 10.0


@dataclass
class Hand:
    """A clock that a test moves by hand."""

    now_ns: int = 1_000 * MS

    def __call__(self) -> int:
        return self.now_ns

    def advance(self, ms: float) -> None:
        self.now_ns += round(ms * MS)


@dataclass
class FakeOpened:
    """What a door of a test has opened."""

    title: str = "server"
    pid: int | None = 4_711
    exit_code: int | None = None
    why: str = ""
    note: str = ""
    brings_more: bool = False
    is_ended: bool = False

    def poll(self) -> int | None:
        return self.exit_code

    def problem(self) -> str:
        return self.why

    def may_bring_more(self) -> bool:
        return self.brings_more

    def end(self) -> None:
        self.is_ended = True


@dataclass(frozen=True)
class FakeDoor:
    """A door behind which the test itself is the program."""

    title: str = "server"
    opened: FakeOpened = field(default_factory=FakeOpened)

    def open(self, _acceptor: object) -> FakeOpened:
        return self.opened


class DryServer(ProbeServer):
    """The session's end of connections without sockets and threads."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self.token = "5e" * 16
        self.now_ns = now_ns
        self.on_news = lambda: None
        self._news = deque()
        self._waiting = 0
        self._lock = Lock()
        self._links = {}

    address = "unix:/none"
    is_reachable = True

    def close(self, reason: str = "") -> None:
        """Do nothing."""


def hello(token: str, **more: object) -> dict[str, Any]:
    """Return what a probe says first."""
    return {
        "protocol": 1,
        "token": token,
        "role": "probe",
        "vocabulary": 3,
        "pid": 4_711,
        "parent_pid": 1,
        "name": "server",
        "argv": ["server.py"],
        "runtime": {"language": "python", "version": "3.11", "implementation": "cpython"},
        "clock_ns": 0,
        "grant": "full",
        "adapters": [{"name": "asyncio", "library": "asyncio", "state": "active"}],
    } | more


class FakeProbe:
    """A connection of a program to an inspector, driven by the test.

    Attributes:
        asked: Requests that have come, by method; :attr:`answers` says how they are answered.
    """

    def __init__(
        self,
        acceptor: ProbeServer,
        now_ns: Callable[[], int],
        greeting: dict[str, Any] | None = None,
    ) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refusals: dict[str, str] = {}
        self.notices: list[tuple[str, dict[str, Any]]] = []
        self._now_ns = now_ns
        self._frames = FrameReader()
        self._answered: list[dict[str, Any]] = []
        self._texts = [""]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(0.005)
        self.socket.connect(acceptor.address.removeprefix("unix:"))
        self.say(request(1, "Link.hello", greeting or hello(acceptor.token)))

    def say(self, message: dict[str, Any]) -> None:
        self.socket.sendall(frame(JSON, packed_json(message)))

    def tell(self, method: str, **params: object) -> None:
        self.say(notification(method, params))

    def events(self, *events: RawEvent) -> None:
        self.socket.sendall(frame(EVENTS, packed_events(events)))

    def text(self, text: str) -> int:
        """Return the number of a text, which is told when it is new."""
        if text not in self._texts:
            self._texts.append(text)
            self.tell("Events.texts", first=len(self._texts) - 1, texts=[text])
        return self._texts.index(text)

    def clock(self, number: int, name: str, parent: int = 0) -> None:
        """Report a clock that begins now."""
        now_ns = self._now_ns()
        above_ns = 0 if parent else now_ns
        self.events(
            (now_ns, CLOCK_ADDED, number, parent, self.text(name)),
            (now_ns, CLOCK_ANCHORED, number, above_ns, D),
        )

    def timer(self, number: int, name: str, due_ns: int, clock: int = 1) -> None:
        """Report a pending timer."""
        now_ns = self._now_ns()
        label, site = self.text(name), self.text("server.py:7")
        self.events(
            (now_ns, TIMER_ADDED, number, clock, label),
            (now_ns, TIMER_ORIGIN, number, site, 0),
            (now_ns, TIMER_ARMED, number, due_ns, 0),
        )

    def keyframe(self, *timers: tuple[int, str, int]) -> None:
        """Describe a program with one clock and some timers."""
        self.tell("Events.keyframe", state="begun")
        self.clock(1, "server")
        for timer in timers:
            self.timer(*timer)
        self.tell("Events.keyframe", state="complete")

    def pump(self) -> None:
        """Take what the inspector says, and answer its requests as a probe does."""
        try:
            data = self.socket.recv(1 << 16)
        except (TimeoutError, ConnectionError):
            return
        for _, payload in self._frames.feed(data):
            message = unpacked_json(payload)
            method, number = message.get("method"), message.get("id")
            if method is None:
                self._answered.append(message)
            elif number is None:
                self.notices.append((method, message["params"]))
            else:
                self._answer(number, method, message["params"])

    def _answer(self, number: int, method: str, params: dict[str, Any]) -> None:
        if method == "Program.time":
            self.say(answer(number, {"clock_ns": self._now_ns()}))
            return
        self.asked.append((method, params))
        if method in self.refusals:
            error = {"code": 5, "message": self.refusals[method]}
            self.say({"id": number, "error": error})
            return
        now_ns, cause = self._now_ns(), params.get("cause", 0)
        clock = params.get("clock", 0)
        match method:
            case "Clock.pause":
                self.events((now_ns, CLOCK_PAUSED, clock, cause, 0))
            case "Clock.resume":
                self.events((now_ns, CLOCK_RESUMED, clock, cause, 0))
            case "Clock.rate":
                self.events((now_ns, CLOCK_RATE, clock, params["rate_n"], cause))
            case "Timer.clear":
                self.events((now_ns, TIMER_CLEARED, params["timer"], 0, cause))
            case _:
                pass
        self.say(answer(number))

    def close(self) -> None:
        self.socket.close()


class Attachment:
    """A session with programs that the test plays, on a clock that it moves."""

    def __init__(self, door: FakeDoor | None = None) -> None:
        self.hand = Hand()
        self.door = door or FakeDoor()
        self.session = AttachedSession(self.door, self.hand)
        self.probes: list[FakeProbe] = []

    def join(self, **more: object) -> FakeProbe:
        """Have a program connect."""
        acceptor = self.session.acceptor
        probe = FakeProbe(acceptor, self.hand, hello(acceptor.token, **more))
        self.probes.append(probe)
        known = len(self.session.programs)
        self.until(lambda: len(self.session.programs) > known)
        return probe

    def until(self, is_true: Callable[[], object]) -> None:
        """Let both sides talk until something is so."""
        end_s = time.monotonic() + _PATIENCE_S
        while not is_true():
            assert time.monotonic() < end_s, "it never came to be"
            for probe in self.probes:
                if probe.socket.fileno() >= 0:
                    probe.pump()
            self.session.refresh()

    def settle(self, is_true: Callable[[], object]) -> None:
        """Wait for something, time passing meanwhile."""

        def turn() -> object:
            self.hand.advance(10)
            return is_true()

        self.until(turn)

    def close(self) -> None:
        self.session.close()
        for probe in self.probes:
            probe.close()


def running(attachment: Attachment, **more: object) -> FakeProbe:
    """Return a program with two timers that is attached and runs."""
    session = attachment.session
    known = len(session.timeline.clocks)
    probe = attachment.join(**more)
    probe.keyframe((1, "beat", 500 * MS), (2, "end", 900 * MS))
    attachment.settle(lambda: session.is_running and len(session.timeline.clocks) > known)
    return probe


def labels(session: AttachedSession) -> dict[int, str]:
    return {each: session.timeline.timers.row(each).label for each in session.timeline.timers.ids()}
