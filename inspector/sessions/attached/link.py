"""The inspector's end of the connections with programs.

One thread listens, and one serves each program. The session takes what they received from a queue
of news, in order, and never waits for a program.
"""

from __future__ import annotations

import hmac
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Final, TypeAlias

from msgspec import Struct

from inspector import __version__
from inspector.display_text import foreign_line, foreign_lines
from inspector.errors import AttachError
from inspector.probe.wire import (
    EVENTS,
    HELLO_NS,
    JSON,
    NOT_POSSIBLE,
    PING_NS,
    PROTOCOL,
    UNKNOWN_METHOD,
    WINDOW_BYTES,
    WRONG_TOKEN,
    WRONG_VERSION,
    WireError,
    answer,
    counted_events,
    notification,
    packed_json,
    refusal,
    request,
    unpacked_json,
)
from inspector.sessions.attached.connections import (
    ConnectionClosedError,
    Listener,
    ProbeConnection,
    Waker,
    dialled,
)
from inspector.sessions.attached.messages import (
    ByeMessage,
    HelloMessage,
    TimeMessage,
    UnableMessage,
    decoded,
)
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import VOCABULARY_VERSION

logger = logging.getLogger(__name__)

#: Most bytes that wait for the session; with more, links stop reading and probes drop events.
_MOST_WAITING_BYTES: Final = 4 * WINDOW_BYTES
_MOST_PROGRAMS: Final = 256
_MOST_STRANGERS: Final = 16
#: How often the clocks of both sides are compared at first; the quickest comparison counts.
_COMPARISONS: Final = 5
_COMPARED_WITHIN_NS: Final = NS_PER_SECOND
#: Latest comparisons of which the quickest counts from then on, as clocks of hosts drift apart.
_FOLLOWED: Final = 8
_FOLLOWED_EVERY_NS: Final = NS_PER_SECOND // 2
#: A program that has sent nothing for this time is taken for busy or stopped.
_QUIET_NS: Final = NS_PER_SECOND
_ACK_NS: Final = 100_000_000
_TURN_S: Final = 0.1
#: In a longer turn this side did not run: the machine or this process was suspended.
_SUSPENDED_NS: Final = NS_PER_SECOND

#: Receives the answer of a program: the result, and the reason of a refusal or an empty text.
Done: TypeAlias = "Callable[[dict[str, Any], str], None]"


class Attached(Struct, frozen=True):
    link: ProbeLink
    hello: HelloMessage
    offset_ns: int  # What to add to its instants to get those of this process
    error_ns: int  # By how much the offset can be wrong; 0 on the same clock


class Unable(Struct, frozen=True):
    """A program that cannot have a probe inside."""

    pid: int  # Its process as this system numbers it
    name: str
    reason: str  # Why, as part of a sentence


class ClockCompared(Struct, frozen=True):
    """The offset between the clocks of both sides has changed; see :class:`Attached`."""

    link: ProbeLink
    offset_ns: int
    error_ns: int


class Batch(Struct, frozen=True):
    link: ProbeLink
    payload: bytes
    at_ns: int


class Notification(Struct, frozen=True):
    link: ProbeLink
    method: str
    params: dict[str, Any]


class Answered(Struct, frozen=True):
    link: ProbeLink
    done: Done
    result: dict[str, Any]
    refusal: str


class Ended(Struct, frozen=True):
    link: ProbeLink
    reason: str  # Why, as part of a sentence; empty if the program said nothing
    is_orderly: bool  # Whether the program said goodbye
    at_ns: int


News: TypeAlias = Attached | Unable | Batch | Notification | Answered | ClockCompared | Ended


def _own_hello() -> dict[str, Any]:
    return {
        "protocol": PROTOCOL,
        "role": "inspector",
        "name": "Timeline Inspector",
        "version": __version__,
        "vocabulary": VOCABULARY_VERSION,
    }


class ProbeLink:
    def __init__(self, connection: ProbeConnection, acceptor: ProbeServer) -> None:
        self.text = connection.text  # The kind of connection, for people
        self.host = connection.host  # The name of the host on which it runs, empty for this one
        # The process at the other end as its host numbers it, 0 if unknown
        self.peer_pid = connection.peer_pid
        self.is_open = True  # Whether the program is still connected
        self.is_silent = False  # Whether nothing was heard of it for a while
        self._connection = connection
        self._acceptor = acceptor
        self._now_ns = acceptor.now_ns
        self._outgoing: deque[tuple[str, dict[str, Any], Done | None]] = deque()
        self._pending: dict[int, Done] = {}
        self._last_id = 0
        self._wants_end = ""
        self._early: list[News] | None = []
        self._early_bytes = 0
        self._hello: HelloMessage | None = None
        self._comparisons: deque[tuple[int, int]] = deque(maxlen=_FOLLOWED)
        self._compared_ns = 0
        self._offset_ns = self._error_ns = 0
        self.received = self._acked = 0
        self._acked_ns = self._pinged_ns = self._heard_ns = self.began_ns = self._now_ns()
        self._bye: str | None = None

    @property
    def is_new(self) -> bool:
        return self._early is not None

    @property
    def is_known(self) -> bool:
        return self._hello is not None

    def request(self, method: str, params: dict[str, Any], done: Done | None = None) -> None:
        """Send a request to the program; the session calls ``done`` when it takes the answer."""
        self._outgoing.append((method, params, done))
        self._connection.wake()

    def end(self, reason: str) -> None:
        self._wants_end = reason
        self._connection.wake()

    # ------------------------------------------------------ in its own thread

    def run(self, *, dials: bool, token: str, is_shaken: bool = False) -> None:
        """Serve the connection until it ends; with ``dials``, this side speaks first."""
        reason, was_accepted = "", True
        try:
            if not is_shaken:
                self.shake_hands(token, dials=dials)
            self._compare()
            while True:
                self._turn()
        except ConnectionClosedError as error:
            reason = str(error)
        except _RefusedError as error:
            was_accepted = False
            reason = str(error)
        except WireError as error:
            reason = f"it does not follow the protocol: {error.message}"
            logger.info("a program does not follow the protocol: %s", error.message)
            self._send_goodbye(error.message)
        except _FinishedError as end:
            reason = str(end)
        finally:
            self.is_open = False
            self._connection.close()
            self._acceptor.forget(self)
        if was_accepted and self._hello is not None:
            self._introduce(self._now_ns() - self._hello.clock_ns, HELLO_NS)
            is_orderly = self._bye is not None
            self._put(Ended(self, self._bye or reason, is_orderly, self._now_ns()))
        for done in self._pending.values():
            done({}, "The program has ended.")

    def shake_hands(self, token: str, *, dials: bool) -> None:
        """Exchange the first messages.

        Raises:
            WireError: The other side is no probe, or refuses.
            ConnectionClosedError: The other side has closed the connection, or sends nothing.
        """
        if dials:
            self._send(request(0, "Link.hello", {**_own_hello(), "token": token}))
        until_ns = self._now_ns() + HELLO_NS
        while not self.is_known:
            if self._wants_end or self._now_ns() > until_ns:
                message = "it sent nothing"
                raise ConnectionClosedError(message)
            for kind, payload in self._connection.receive(_TURN_S):
                self._on_first_message(kind, payload, token, dials=dials)

    def _on_first_message(self, kind: int, payload: bytes, token: str, *, dials: bool) -> None:
        if self.is_known:
            self._on_message(kind, payload)
        elif kind != JSON:
            raise WireError(NOT_POSSIBLE, "the first message is not a hello")
        elif dials:
            self._on_hello_answer(_message(payload))
        else:
            self._on_hello(_message(payload), token)

    def _on_hello_answer(self, message: dict[str, Any]) -> None:
        if "error" in message:
            raise _RefusedError(message["error"]["message"])
        self._hello = self._checked(decoded(message.get("result", {}), HelloMessage))

    def _on_hello(self, message: dict[str, Any], token: str) -> None:
        number = message.get("id") or 0
        try:
            self._hello = self._hello_in(message, token)
        except WireError as error:
            self._send(refusal(number, error))
            raise _RefusedError(error.message) from None
        self._send(answer(number, _own_hello()))

    def _hello_in(self, message: dict[str, Any], token: str) -> HelloMessage:
        if message.get("method") != "Link.hello":
            raise WireError(NOT_POSSIBLE, "the first message is not a hello")
        given = message["params"].get("token")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), token.encode()):
            raise WireError(WRONG_TOKEN, "this is not the token of this inspector")
        if "unable" in message["params"]:
            unable = decoded(message["params"], UnableMessage)
            pid = self.peer_pid or unable.pid
            self._acceptor.put(Unable(pid, unable.name, unable.unable))
            raise WireError(NOT_POSSIBLE, unable.unable)
        return self._checked(decoded(message["params"], HelloMessage))

    @staticmethod
    def _checked(hello: HelloMessage) -> HelloMessage:
        if hello.protocol != PROTOCOL:
            raise WireError(
                WRONG_VERSION, f"this inspector speaks version {PROTOCOL}, not {hello.protocol}"
            )
        return hello

    def _compare(self) -> None:
        """Measure how the program's clock and ours differ, then report the program."""
        hello = self._hello
        assert hello is not None, "hands were shaken"
        until_ns = self._now_ns() + _COMPARED_WITHIN_NS
        self._ask_for_time()
        while len(self._comparisons) < _COMPARISONS and self._now_ns() < until_ns:
            self._turn()
            if self._early_bytes > _MOST_WAITING_BYTES:
                break
        if self._comparisons:
            error_ns, offset_ns = min(self._comparisons)
        else:
            error_ns, offset_ns = HELLO_NS, self._now_ns() - hello.clock_ns
        self._introduce(offset_ns, error_ns)

    def _introduce(self, offset_ns: int, error_ns: int) -> None:
        """Report the program to the session, with what it has sent meanwhile."""
        early = self._early
        if early is None or self._hello is None:
            return
        if self._connection.is_local and abs(offset_ns) <= error_ns:
            # No difference can be measured, so both read the monotonic clock of this host.
            error_ns = offset_ns = 0
        self._offset_ns, self._error_ns = offset_ns, error_ns
        self._acceptor.put(Attached(self, self._hello, offset_ns, error_ns))
        for news in early:
            self._acceptor.put(news)
        # Last, because this ends is_new: until then the session waits for earlier events.
        self._early = None

    def _ask_for_time(self) -> None:
        sent_ns = self._now_ns()

        def note(result: dict[str, Any], refusal: str) -> None:
            if refusal:
                return
            with suppress(WireError):
                clock_ns = decoded(result, TimeMessage).clock_ns
                now_ns = self._now_ns()
                half_ns = (now_ns - sent_ns + 1) // 2
                self._comparisons.append((half_ns, sent_ns + half_ns - clock_ns))
            if self._early is None:
                self._follow_clock()
            elif len(self._comparisons) < _COMPARISONS:
                self._ask_for_time()

        self._ask("Program.time", {}, note)

    def _follow_clock(self) -> None:
        error_ns, offset_ns = min(self._comparisons)
        if abs(offset_ns - self._offset_ns) > error_ns + self._error_ns:
            self._offset_ns, self._error_ns = offset_ns, error_ns
            self._put(ClockCompared(self, offset_ns, error_ns))

    def _turn(self) -> None:
        """Receive what comes within ``_TURN_S``, and send what is due."""
        if self._wants_end:
            self._send_goodbye(self._wants_end)
            raise _FinishedError(self._wants_end)
        before_ns = self._now_ns()
        if self._acceptor.waiting_bytes > _MOST_WAITING_BYTES:
            # The session takes too little, so let the probe wait, and in the end drop events.
            time.sleep(_TURN_S)
            messages = []
            self._heard_ns = self._now_ns()
        else:
            messages = self._connection.receive(_TURN_S)
        now_ns = self._now_ns()
        if now_ns - before_ns > _SUSPENDED_NS or messages:
            self._heard_ns = now_ns
        for kind, payload in messages:
            self._on_message(kind, payload)
        while self._outgoing:
            method, params, done = self._outgoing.popleft()
            self._ask(method, params, None if done is None else self._in_session(done))
        if self.received != self._acked and now_ns - self._acked_ns >= _ACK_NS:
            self._acked, self._acked_ns = self.received, now_ns
            self._send(notification("Events.ack", {"events": self.received}))
        if now_ns - self._pinged_ns >= PING_NS // 2:
            self._pinged_ns = now_ns
            self._send(notification("Link.ping", {"n": now_ns}))
        if self._error_ns and now_ns - self._compared_ns >= _FOLLOWED_EVERY_NS:
            self._compared_ns = now_ns
            self._ask_for_time()
        is_silent = now_ns - self._heard_ns > _QUIET_NS
        if is_silent is not self.is_silent:
            # The program is stopped or busy, but may return while the connection is open.
            self.is_silent = is_silent
            self._acceptor.on_news()

    def _in_session(self, done: Done) -> Done:
        return lambda result, refused: self._put(Answered(self, done, result, refused))

    def _on_message(self, kind: int, payload: bytes) -> None:
        if kind == EVENTS:
            self.received += counted_events(payload)
            self._put(Batch(self, payload, self._now_ns()))
            return
        message = _message(payload)
        method, number = message.get("method"), message.get("id")
        if method is None:
            done = self._pending.pop(number, None)  # type: ignore[arg-type] # checked by the wire
            if done is not None:
                done(message.get("result", {}), message.get("error", {}).get("message", ""))
        elif number is not None:
            unknown = WireError(UNKNOWN_METHOD, f"the inspector knows no {method}")
            self._send(refusal(number, unknown))
        elif method == "Link.ping":
            self._send(notification("Link.pong", message["params"]))
        elif method == "Link.bye":
            self._bye = decoded(message["params"], ByeMessage).reason
            raise _FinishedError(self._bye)
        elif method != "Link.pong":
            self._put(Notification(self, method, message["params"]), len(payload))

    def _ask(self, method: str, params: dict[str, Any], done: Done | None) -> None:
        self._last_id += 1
        if done is not None:
            self._pending[self._last_id] = done
        self._send(request(self._last_id, method, params))

    def _send(self, message: dict[str, Any]) -> None:
        self._connection.send(JSON, packed_json(message))

    def _send_goodbye(self, reason: str) -> None:
        with suppress(ConnectionClosedError):
            self._send(notification("Link.bye", {"reason": reason}))

    def _put(self, news: News, size: int = 0) -> None:
        if self._early is not None:
            self._early.append(news)
            self._early_bytes += len(news.payload) if isinstance(news, Batch) else size
        else:
            self._acceptor.put(news, size)


def _message(payload: bytes) -> dict[str, Any]:
    message = unpacked_json(payload)
    clean = foreign_lines if message.get("method") == "Events.texts" else foreign_line
    return {name: _cleaned(value, clean) for name, value in message.items()}


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:  # noqa: ANN401 - any value of JSON
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each, clean) for each in value]
    if isinstance(value, dict):
        return {name: _cleaned(each, clean) for name, each in value.items()}
    return value


class _RefusedError(Exception):
    """The handshake failed; the session is not told of the connection."""


class _FinishedError(Exception):
    """One side has said goodbye."""


class ProbeServer:
    """Accepts the connections of programs, and queues for the session what they send."""

    def __init__(self, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self.token = os.urandom(16).hex()  # What a probe has to send first, in hexadecimal digits
        self.on_news: Callable[[], None] = _nothing  # Called in any thread when there are news
        self.now_ns = now_ns  # The clock of this side
        self._news: deque[tuple[News, int]] = deque()
        self._waiting = 0
        self._lock = threading.Lock()
        self._links: dict[ProbeLink, threading.Thread] = {}
        self._listeners = [Listener()]
        self._selector = DefaultSelector()
        self._waker = Waker()
        self._is_closed = False
        self._selector.register(self._waker, EVENT_READ)
        self._selector.register(self._listeners[0], EVENT_READ, self._listeners[0])
        self._thread = threading.Thread(target=self._listen, name="attach: listen", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return self._listeners[0].address

    @property
    def tcp_address(self) -> str:
        found = next((each for each in self._listeners if each.address.startswith("tcp:")), None)
        if found is None:
            found = Listener(is_tcp=True)
            self._listeners.append(found)
            self._selector.register(found, EVENT_READ, found)
            self._waker.wake()
        return found.address

    @property
    def is_reachable(self) -> bool:
        return self._listeners[0].is_reachable

    @property
    def connecting_since_ns(self) -> int | None:
        """When the first of the programs that are connecting began to, ``None`` without any."""
        with self._lock:
            return min((each.began_ns for each in self._links if each.is_new), default=None)

    def processes(self) -> set[int]:
        with self._lock:
            return {each.peer_pid for each in self._links if each.is_known} - {0, os.getpid()}

    @property
    def waiting_bytes(self) -> int:
        return self._waiting

    def dial(self, address: str, token: str) -> None:
        self.adopt(dialled(address), dials=True, token=token)

    def adopt(self, connection: ProbeConnection, *, dials: bool, token: str = "") -> None:
        link = ProbeLink(connection, self)
        try:
            link.shake_hands(token or self.token, dials=dials)
        except (ConnectionClosedError, WireError, _RefusedError) as error:
            connection.close()
            told = str(error) or "it closed the connection"
            message = f"The program refuses: {told.removesuffix('.')}."
            raise AttachError(message) from None
        if not self._start(link, dials=dials, token=token, is_shaken=True):
            connection.close()

    def _start(self, link: ProbeLink, *, dials: bool, token: str, is_shaken: bool) -> bool:
        """Serve a connection in a new thread; returns ``False`` if the server was closed."""
        thread = threading.Thread(
            target=link.run,
            kwargs={"dials": dials, "token": token, "is_shaken": is_shaken},
            name="attach: program",
            daemon=True,
        )
        with self._lock:
            # Started under the lock, since close() joins all threads it finds here.
            if not self._is_closed:
                self._links[link] = thread
                thread.start()
            return not self._is_closed

    def _listen(self) -> None:
        while not self._is_closed:
            for key, _ in self._selector.select():
                if key.fileobj is self._waker:
                    self._waker.clear()
                elif key.data is not None and (connection := key.data.accept()) is not None:
                    self._accept(connection)

    def _accept(self, connection: ProbeConnection) -> None:
        with self._lock:
            strangers = sum(not link.is_known for link in self._links)
            is_full = len(self._links) >= _MOST_PROGRAMS or strangers >= _MOST_STRANGERS
        link = ProbeLink(connection, self)
        if is_full or not self._start(link, dials=False, token=self.token, is_shaken=False):
            connection.close()

    def forget(self, link: ProbeLink) -> None:
        with self._lock:
            self._links.pop(link, None)

    def put(self, news: News, size: int = 0) -> None:
        """Add news for the session; called by the links."""
        if isinstance(news, Batch):
            size = len(news.payload)
        with self._lock:
            self._waiting += size
        self._news.append((news, size))
        self.on_news()

    def pop_news(self, most_bytes: int) -> list[News]:
        """Return the oldest news, in order, until they have ``most_bytes``."""
        found, taken = [], 0
        while self._news and taken < most_bytes:
            news, size = self._news.popleft()
            found.append(news)
            taken += size
        with self._lock:
            self._waiting -= taken
        return found

    def next_batches(self) -> list[Batch]:
        found: dict[ProbeLink, Batch] = {}
        for news, _ in list(self._news):
            if isinstance(news, Batch):
                found.setdefault(news.link, news)
        return list(found.values())

    def close(self, reason: str = "the inspector was closed") -> None:
        """Say goodbye to all programs and stop listening; waits a second per thread at most."""
        if self._is_closed:
            return
        self._is_closed = True
        self.on_news = _nothing
        self._waker.wake()
        with self._lock:
            links = dict(self._links)
        for link in links:
            link.end(reason)
        for thread in (self._thread, *links.values()):
            thread.join(timeout=1.0)
        self._selector.close()
        for listener in self._listeners:
            listener.close()
        self._waker.close()


def _nothing() -> None:
    """Do nothing."""
