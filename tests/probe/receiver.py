"""An inspector's end of the protocol for tests: records what a probe says."""

from __future__ import annotations

import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from inspector.events.timeline import Timeline
from inspector.probe import wire
from inspector.probe.kinds import CLOCK_ADDED, CLOCK_ANCHORED, TIMER_ADDED, TIMER_FIRED
from inspector.probe.wire import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from inspector.vocabulary import RawEvent

_T = TypeVar("_T")

PROJECT = Path(__file__).parents[2]
TOKEN = "0123456789abcdef" * 2
#: Nothing in a test takes so long unless it is broken; the machine may be busy.
PATIENCE_S = 30.0
#: As often as the inspector.
_ACKNOWLEDGE_S = 0.1


def unpacked_events(payload: bytes) -> list[RawEvent]:
    wire.counted_events(payload)
    return list(struct.iter_unpack("<5q", payload))


class Receiver:
    """One link, seen from the inspector.

    Attributes:
        hello: What the probe has said of itself.
        messages: All messages but pings, oldest first.
        events: All events.
        texts: The table of texts.
        acknowledges: Whether events are acknowledged.
        pings: Whether it shows that it is there.
        reads: Whether it receives.
        others: The links with other programs of the same inlet.
    """

    def __init__(self, sock: socket.socket, others: Sequence[Receiver] = ()) -> None:
        self.sock = sock
        self.others = others
        sock.setblocking(False)
        self._reader = FrameReader()
        self._out = bytearray()
        self._next = 1
        self.hello: dict[str, Any] = {}
        self.messages: list[dict[str, Any]] = []
        self.events: list[RawEvent] = []
        self.texts = [""]
        self.acknowledges = True
        self.pings = True
        self.heard_pings = 0
        self.reads = True
        self.is_closed = False
        self._pinged = self._acknowledged_s = 0.0
        self._acknowledged = 0

    # ------------------------------------------------------------------- talking

    def send(self, message: dict[str, Any]) -> None:
        self.send_bytes(wire.frame(wire.JSON, wire.packed_json(message)))

    def send_bytes(self, data: bytes) -> None:
        self._out += data
        self.turn(0)

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Ask and wait for the answer: its result, or its error."""
        number = self._next
        self._next += 1
        self.send(wire.request(number, method, params))
        answer = self.wait_for(lambda: self.answers(number))[0]
        result: dict[str, Any] = answer.get("result") or answer.get("error") or {}
        return result

    def answers(self, number: int) -> list[dict[str, Any]]:
        """Return the answer to a request, if it has come."""
        return [each for each in self.messages if each.get("id") == number and "method" not in each]

    def turn(self, seconds: float = 0.01) -> None:
        """Send and receive what can be, waiting at most so long for something."""
        if self.is_closed:
            return
        if (
            self.acknowledges
            and len(self.events) > self._acknowledged
            and time.monotonic() - self._acknowledged_s > _ACKNOWLEDGE_S
        ):
            self.acknowledge()
        if self.pings and time.monotonic() - self._pinged > 0.3:
            self._pinged = time.monotonic()
            self._out += wire.frame(
                wire.JSON, wire.packed_json(wire.notification("Link.ping", {"n": 1}))
            )
        readers, writers = [self.sock][: self.reads], [self.sock][: bool(self._out)]
        # Without a socket to wait for, this only waits.
        readable, writable, _ = select.select(readers, writers, [], seconds)
        try:
            if readable:
                data = self.sock.recv(1 << 20)
                if not data:
                    self.close()
                    return
                self._take(data)
            elif writable:
                self._write()
        except OSError:
            self.close()

    def _write(self) -> None:
        try:
            del self._out[: self.sock.send(self._out)]
        except OSError:
            # What the program has said before it closed is still to be read.
            self._out.clear()

    def _take(self, data: bytes) -> None:
        for kind, payload in self._reader.feed(data):
            if kind == wire.EVENTS:
                self.events += unpacked_events(payload)
                continue
            message = wire.unpacked_json(payload)
            method = message.get("method")
            if method == "Events.texts":
                assert message["params"]["first"] == len(self.texts)
                self.texts += message["params"]["texts"]
            elif method in ("Link.ping", "Link.pong"):
                self.heard_pings += method == "Link.ping"
                continue
            message["events_before"] = len(self.events)
            self.messages.append(message)
            if method == "Link.hello":
                self.hello = message["params"]

    def acknowledge(self) -> None:
        self._acknowledged, self._acknowledged_s = len(self.events), time.monotonic()
        self._out += wire.frame(
            wire.JSON,
            wire.packed_json(wire.notification("Events.ack", {"events": len(self.events)})),
        )

    def wait_for(self, found: Callable[[], _T], seconds: float = PATIENCE_S) -> _T:
        """Wait until a function finds something, and return it."""
        until = time.monotonic() + seconds
        while True:
            result = found()
            if result:
                return result
            assert time.monotonic() < until, f"waited in vain; heard {self.messages[-5:]}"
            assert not self.is_closed or found(), f"closed; heard {self.messages[-5:]}"
            self.turn()
            for other in self.others:
                # Programs let go of an inspector that is silent.
                other.turn(0)

    def listen(self, seconds: float) -> None:
        """Receive for a time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.turn()

    def close(self) -> None:
        self.is_closed = True
        self.sock.close()

    def wait_until_held(self, told: int = 0) -> None:
        """Wait until the program is held, by what it said after so many times."""
        self.wait_for(
            lambda: [each["held"] for each in self.said("Program.held")[told:]][-1:] == [True]
        )

    # ---------------------------------------------------------------- what was said

    def said(self, method: str) -> list[dict[str, Any]]:
        """Return the parameters of all notifications of a method."""
        return [each["params"] for each in self.messages if each.get("method") == method]

    def wait_until_complete(self) -> None:
        """Wait for the first keyframe."""
        self.wait_for(lambda: {"state": "complete"} in self.said("Events.keyframe"))

    def clocks(self) -> dict[str, int]:
        """Return the numbers of the clocks by their names."""
        return {
            self.texts[b]: subject for _, kind, subject, _, b in self.events if kind == CLOCK_ADDED
        }

    def parents(self) -> dict[int, int]:
        return {subject: a for _, kind, subject, a, _ in self.events if kind == CLOCK_ADDED}

    def timer_names(self) -> dict[int, str]:
        return {
            subject: self.texts[b] for _, kind, subject, _, b in self.events if kind == TIMER_ADDED
        }

    def firings(self) -> Counter[str]:
        """Return how often timers have fired, by name."""
        names = self.timer_names()
        return Counter(
            names.get(subject, "?") for _, kind, subject, _, _ in self.events if kind == TIMER_FIRED
        )

    def timeline(self) -> Timeline:
        """Fold all events below a root clock that is the machine's clock."""
        timeline = Timeline([*self.texts, "root"])
        shift = 1_000_000
        begin = [
            (0, CLOCK_ADDED, shift, 0, len(self.texts)),
            (0, CLOCK_ANCHORED, shift, 0, 720_720_000),
        ]
        timeline.apply_all(begin)
        timeline.apply_all(
            (at, kind, s, shift if kind == CLOCK_ADDED and a == 0 else a, b)
            for at, kind, s, a, b in self.events
        )
        return timeline


def dialled(address: str, **hello: object) -> Receiver:
    """Connect to a program that listens, and say hello."""
    receiver = connected(address)
    params = {"protocol": wire.PROTOCOL, "role": "inspector", "token": TOKEN, **hello}
    receiver.send(wire.request(0, "Link.hello", params))
    receiver.wait_for(lambda: receiver.answers(0) or receiver.is_closed)
    if receiver.answers(0) and "result" in receiver.answers(0)[0]:
        receiver.hello = receiver.answers(0)[0]["result"]
        receiver.pings = True
    return receiver


def connected(address: str) -> Receiver:
    """Connect to a program that listens, and say nothing."""
    kind, _, place = address.partition(":")
    if kind == "unix":
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(place)
    else:
        host, _, port = place.rpartition(":")
        sock = socket.create_connection((host, int(port)))
    receiver = Receiver(sock)
    receiver.pings = False
    return receiver


class Inlet:
    """Where programs dial.

    Attributes:
        address: The address for TIMELINE_PROBE_CONNECT.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "inlet"
        self._sock = socket.socket(socket.AF_UNIX)
        self._sock.bind(str(self._path))
        self._sock.listen(16)
        self._sock.setblocking(False)
        self._accepted: list[Receiver] = []
        self.address = f"unix:{self._path}"

    @property
    def is_dialled(self) -> bool:
        """Whether a program has dialled whose link was not asked for yet."""
        return bool(select.select([self._sock], [], [], 0)[0])

    def met(self) -> Receiver:
        """Return the next link, once the program has said hello."""
        until = time.monotonic() + PATIENCE_S
        while not self.is_dialled:
            assert time.monotonic() < until, "no program has dialled"
            for other in self._accepted:
                other.turn(0)
            time.sleep(0.01)
        receiver = Receiver(self._sock.accept()[0], self._accepted)
        self._accepted.append(receiver)
        receiver.wait_for(lambda: receiver.hello)
        return receiver

    def accepted(self) -> Receiver:
        """Return the next link, with the hello exchanged."""
        receiver = self.met()
        receiver.send(wire.answer(0, {"protocol": wire.PROTOCOL, "role": "inspector"}))
        return receiver

    def hang_up(self) -> None:
        for each in self._accepted:
            each.close()

    def close(self) -> None:
        self._sock.close()


@contextmanager
def inlet() -> Iterator[Inlet]:
    with TemporaryDirectory() as folder:
        opened = Inlet(Path(folder))
        try:
            yield opened
        finally:
            opened.close()


#: Loads the probe under the name that it has in other programs, as they do.
LOADER = f"""
import sys
sys.path.insert(0, {str(PROJECT / "inspector" / "probe" / "bootstrap")!r})
import timeline_probe_start
del sys.path[0]
timeline_probe = timeline_probe_start.load()
"""


@contextmanager
def program(
    code: str,
    address: str = "",
    *,
    python: str = sys.executable,
    options: str = "",
    silence_s: float = PATIENCE_S,
) -> Iterator[subprocess.Popen[str]]:
    """Run code in a process, with a probe that dials an address if there is one.

    A test that waits for something else says nothing meanwhile, which the probe bears for so long.
    """
    head = f"{LOADER}from timeline_probe import wire; wire.SILENCE_NS = int({silence_s} * 1e9)\n"
    if address:
        head += f"timeline_probe.start({address!r}, {TOKEN!r}{options})\n"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(
        [python, "-c", head + code],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def attached(
    code: str, *, python: str = sys.executable, options: str = "", silence_s: float = PATIENCE_S
) -> Iterator[tuple[Receiver, subprocess.Popen[str]]]:
    """Run code in a process to which a receiver is attached; see :func:`program`."""
    with (
        inlet() as opened,
        program(
            code, opened.address, python=python, options=options, silence_s=silence_s
        ) as process,
    ):
        receiver = opened.accepted()
        try:
            yield receiver, process
        finally:
            receiver.close()
