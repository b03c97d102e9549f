"""The probe's end of a link: a thread that sends and receives, until the inspector goes."""

from __future__ import annotations

import os
import select
import socket
import sys

# ``hmac`` offers this, but its import takes longer than everything else.
from _operator import _compare_digest as compare_digest
from threading import Event, Thread
from time import monotonic_ns

from . import wire
from .connection import Connection, LinkClosed, OwnSocket, dialled, is_same_user
from .cost import CostMeter
from .keyframe import Keyframe
from .kinds import VOCABULARY_VERSION
from .program import PROBE_THREAD
from .requests import Requests
from .sampler import Sampler
from .sink import Sink
from .wire import WireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

    from .program import Program
    from .tasks import TaskReporter

#: How often the thread looks for events, so that a batch goes out in time.
_TICK_NS = wire.BATCH_NS - 2_000_000
#: Longest wait for the system to forget a joined thread, which takes it microseconds.
_GONE_NS = 50_000_000
#: The same while slices of a keyframe are due.
_BUSY_TICK_NS = 1_000_000
_COST_NS = 1_000_000_000
#: Longest wait for an inspector that was dialled to answer, which may be on a busy machine.
_ANSWER_NS = 2 * wire.HELLO_NS
#: Most connections that have not said hello yet.
_MOST_STRANGERS = 8
#: Most characters of a thread's name that are sent.
_MOST_OF_NAME = 100


class Attachment:
    def __init__(
        self, program: Program, connection: Connection, grant: str, behind: list[dict[str, Any]]
    ) -> None:
        self._program = program
        self._connection = connection
        self._unhandled = behind
        self._requests = Requests(program, grant)
        self.sink = Sink(program.texts)  # The events on their way to it
        self._requests.on_acknowledged = self.sink.acknowledge
        now_ns = monotonic_ns()
        self._heard_ns = self._turned_ns = self._pinged_ns = self._cost_ns = now_ns
        self._pings = 0
        self._cost = CostMeter(program)
        self._made = self._dropped = 0
        self._changes = self._holds = -1
        self._report_changes()
        self._send_notification("Events.keyframe", state="begun")
        program.attach(self.sink.emit, self.sink.extend)
        self.sampler = Sampler(program)
        self.sampler.begin()
        self.keyframe: Optional[Keyframe] = Keyframe(program, is_first=True)
        self._tasks: Optional[TaskReporter] = None
        self._requests.on_tasks_asked = self._ask_for_tasks
        self._slices = 0
        self._busy: list[tuple[int, str, int]] = []

    def _send_notification(self, method: str, **params: object) -> None:
        self._connection.send(wire.notification(method, params))

    @property
    def wait_ns(self) -> int:
        """How long to wait for the socket at most."""
        keyframe = self.keyframe
        wait_ns = _TICK_NS if keyframe is None or keyframe.is_stuck else _BUSY_TICK_NS
        ends_ns = self._program.clocks.step_ends_ns
        if ends_ns is not None:
            wait_ns = max(min(wait_ns, ends_ns - monotonic_ns()), 0)
        if self._tasks is not None:
            wait_ns = self._tasks.wait_ns(wait_ns)
        return self.sampler.wait_ns(wait_ns)

    def _ask_for_tasks(self, every_ns: int) -> None:
        if self._tasks is None:
            # Imported late, as most inspectors never ask.
            from .tasks import TaskReporter  # noqa: PLC0415

            self._tasks = TaskReporter(self._program)
        self._tasks.ask(every_ns)

    def turn(self, *, has_news: bool) -> None:
        """Do what is due.

        Raises:
            LinkClosed: The inspector has gone.
            WireError: It does not follow the protocol.
        """
        connection, program = self._connection, self._program
        self.sampler.sample()
        now_ns = monotonic_ns()
        if now_ns - self._turned_ns > wire.PING_NS:
            # This thread could not run meanwhile, which does not count as the inspector's silence.
            self._heard_ns += now_ns - self._turned_ns
        self._turned_ns = now_ns
        if has_news:
            self._unhandled += connection.receive()
            self._heard_ns = now_ns
        elif now_ns - self._heard_ns > wire.SILENCE_NS:
            raise LinkClosed("the inspector did not answer in time, so it goes on by itself")
        while self._unhandled:
            self._handle(self._unhandled.pop(0))
        if program.clocks.step_ends_ns is not None:
            program.clocks.settle(program.own_clock)
        if self._tasks is not None and self.keyframe is None and self.sink.has_room:
            self._tasks.turn()
        self._send_events()
        if self.keyframe is not None or self._requests.is_keyframe_wanted or self.sink.is_lossy:
            self._go_on_with_keyframe()
        self._send_updates(now_ns)
        if connection.wants_to_send:
            connection.flush()

    def _send_updates(self, now_ns: int) -> None:
        program = self._program
        if program.holds != self._holds:
            self._holds = program.holds
            self._send_events()
            self._send_notification(
                "Program.held", held=program.own_clock.is_held, frame=program.next_frame
            )
        if program.changes != self._changes:
            self._report_changes()
        if now_ns - self._pinged_ns >= wire.PING_NS * 4 // 5:
            self._pinged_ns = now_ns
            self._pings += 1
            self._send_notification("Link.ping", n=self._pings)
        if now_ns - self._cost_ns >= _COST_NS:
            self._report_cost(now_ns)

    def _handle(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None or method == "Link.pong":
            return
        params = message["params"]
        if method == "Link.ping":
            self._send_notification("Link.pong", n=params.get("n", 0))
        elif method == "Link.bye":
            raise LinkClosed("the inspector has ended the link")
        elif number is not None:
            self._connection.send(self._answer(number, method, params))
        elif self._requests.knows(method):
            self._answer(0, method, params)

    def _answer(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return wire.answer(number, self._requests.apply(method, params))
        except WireError as error:
            return wire.refusal(number, error)

    def _send_events(self, *, is_last: bool = False) -> None:
        messages, frames = self.sink.taken(is_last=is_last)
        for message in messages:
            self._connection.send(message)
        for data in frames:
            self._connection.send_events(data)

    def _go_on_with_keyframe(self) -> None:
        program, sink, requests = self._program, self.sink, self._requests
        counts = self._report_loss()
        if counts or (requests.is_keyframe_wanted and self.keyframe is None):
            requests.is_keyframe_wanted = False
            self._send_events()
            self._send_notification("Events.keyframe", state="begun")
            self._slices = 0
            program.describe_clocks()
            if self._tasks is not None:
                self._tasks.restart()
            self.keyframe = Keyframe(program, is_first=False)
        keyframe = self.keyframe
        if keyframe is None or sink.is_lossy:
            return
        if keyframe.is_complete:
            self._send_events()
            self._send_notification("Events.keyframe", state="complete")
            self.keyframe = None
            return
        busy = keyframe.busy
        if keyframe.slices != self._slices or busy != self._busy:
            self._slices, self._busy = keyframe.slices, busy
            self._send_events()
            self._send_notification(
                "Events.keyframe",
                state="partial",
                waits_for=[number for number, _, _ in busy],
                threads=[
                    {"clock": number, "thread": thread[:_MOST_OF_NAME], "since_ns": since_ns}
                    for number, thread, since_ns in busy
                ],
            )
        if sink.has_room:
            keyframe.go_on()

    def _report_loss(self, *, is_last: bool = False) -> dict[str, int] | None:
        counts = self.sink.loss_to_report(is_last=is_last)
        if counts:
            self._send_notification("Events.lost", counts=counts)
        return counts

    def _report_changes(self) -> None:
        program = self._program
        self._changes = program.changes
        self._send_notification(
            "Program.changed",
            clocks=[
                {
                    "clock": clock.number,
                    "adapter": "" if clock.adapter is None else clock.adapter.library,
                    "title": clock.name,
                    "capabilities": program.capabilities(clock),
                }
                for clock in list(program.clocks.by_number.values())
            ],
            adapters=program.described_adapters(),
            grant=self._requests.grant,
        )

    def _report_cost(self, now_ns: int) -> None:
        sink = self.sink
        made, dropped = sum(sink.by_kind.values()), sink.dropped
        spent_ns, interval_ns = self._cost.spent_ns(sink.by_kind), now_ns - self._cost_ns
        for adapter in list(self._program.adapters.values()):
            self._program.guarded(adapter, adapter.thin_out, self._cost.hooks_ns / interval_ns)
        self._send_notification(
            "Program.cost",
            cpu_ns=spent_ns,
            interval_ns=interval_ns,
            events=made - self._made,
            dropped=dropped - self._dropped,
            queued_bytes=sink.unacknowledged * wire.BYTES_PER_EVENT,
        )
        self._cost_ns, self._made, self._dropped = now_ns, made, dropped

    def end(self, *last: dict[str, Any], patience_ns: int = 0) -> None:
        """Let the program run, send the events that it has made until now, and close."""
        self.sampler.end()
        if self._tasks is not None:
            self._tasks.ask(0)
        self._program.detach()
        self._send_events(is_last=True)
        self._report_loss(is_last=True)
        self._connection.end(*last, patience_ns=patience_ns)


class _Stranger:
    def __init__(self, connection: Connection, patience_ns: int = wire.HELLO_NS) -> None:
        self.connection = connection
        self.until_ns = monotonic_ns() + patience_ns


class Link:
    """The thread of the probe: dials, or listens, and serves one inspector at a time."""

    def __init__(
        self,
        program: Program,
        token: str,
        grant: str,
        *,
        address: str = "",
        listener: Optional[socket.socket] = None,
    ) -> None:
        self._program = program
        self._token = token
        self._grant = grant
        self._address = address
        self._listener = None if listener is None else OwnSocket(listener)
        self._strangers: list[_Stranger] = []
        self._dialled: Optional[_Stranger] = None
        self._attachment: Optional[Attachment] = None
        self._connection: Optional[Connection] = None
        self._thread: Optional[Thread] = None
        self._is_stopping = False
        self._waiting = _Waiting()
        self._settled = Event()
        self._waker, self._woken = map(OwnSocket, socket.socketpair())
        self.problem = ""  # Why there is no inspector, for people

    @property
    def is_over(self) -> bool:
        """Whether there is no inspector any more, and none can come."""
        return self._listener is None and self._attachment is None and self._settled.is_set()

    # ----------------------------------------------------------------- its thread

    def start(self) -> None:
        """Begin, or continue after :meth:`stop`."""
        self._is_stopping = False
        try:
            # Discard what woke the thread before.
            self._woken.sock.recv(64)
        except OSError:
            pass
        self._thread = _ProbeThread(target=self._run, name=PROBE_THREAD, daemon=True)
        self._thread.start()

    def wait_until_settled(self) -> None:
        """Wait a while until the inspector has answered, or is known not to."""
        self._settled.wait(wire.HELLO_NS / 1e9)

    def stop(self) -> None:
        """End the thread and nothing else; it takes about a millisecond."""
        thread = self._thread
        if thread is None:
            return
        self._is_stopping = True
        try:
            if not self._waker.is_lost:
                self._waker.sock.send(b"x")
        except OSError:
            pass
        thread.join()
        self._thread = None
        _wait_until_gone(thread)

    def close(self, reason: str) -> None:
        """End the link in good order: send what waits, and let everything run."""
        self.stop()
        if self._attachment is not None:
            # An inspector that takes nothing for this long is gone.
            self._end(wire.notification("Link.bye", {"reason": reason}), wire.SILENCE_NS)
        self._close_sockets()
        self._settled.set()

    def abandon(self) -> None:
        """Close this process's copies of the sockets, in a child that was forked."""
        self._thread = None
        if self._attachment is not None:
            self._attachment.sampler.end()
        self._close_sockets()

    def _close_sockets(self) -> None:
        for stranger in self._strangers:
            stranger.connection.close()
        self._strangers.clear()
        self._hang_up()
        for each in (self._connection, self._listener, self._waker, self._woken):
            if each is not None:
                each.close()
        self._listener = None

    def _run(self) -> None:
        try:
            if self._listener is None and not self._settled.is_set():
                self._dial()
            while not self._is_stopping:
                if self._woken.is_lost:
                    self._begin_again()
                if self._attachment is None and self._listener is None:
                    return
                has_news = self._wait()
                if self._attachment is not None:
                    self._attend(self._attachment, has_news=has_news)
            if self._attachment is not None:
                self._attachment.sampler.sample_last()
        except Exception as error:  # noqa: BLE001 - whatever happens here, the program goes on
            self.problem = f"{type(error).__name__}: {error}"
            self._hang_up()
            self._end(wire.notification("Link.bye", {"reason": self.problem}))
        finally:
            # If it was stopped for a fork, the next start waits on for the inspector's answer.
            if self._dialled is None:
                self._settled.set()

    def _wait(self) -> bool:
        """Wait for sockets or time; returns whether the inspector may have sent something."""
        attachment, connection = self._attachment, self._connection
        readers: list[Any] = [self._woken]
        writers: list[Any] = []
        timeout_ns = -1
        if self._listener is not None:
            readers.append(self._listener)
        if self._strangers:
            readers += [stranger.connection for stranger in self._strangers]
            timeout_ns = wire.PING_NS
        if attachment is not None and connection is not None:
            timeout_ns = attachment.wait_ns
            if connection.wants_to_receive:
                readers.append(connection)
            if connection.wants_to_send:
                writers.append(connection)
        ready = self._waiting.wait(readers, writers, timeout_ns)
        if self._listener in ready or self._strangers:
            self._meet_strangers()
        return connection in ready

    def _dial(self) -> None:
        """Dial and say hello, or continue to wait for the answer after :meth:`stop`."""
        try:
            if self._dialled is None:
                self._dialled = _Stranger(dialled(self._address), _ANSWER_NS)
                hello = {**self._hello(), "token": self._token}
                self._dialled.connection.send(wire.request(0, "Link.hello", hello))
            self._await_answer(self._dialled)
        except (LinkClosed, ValueError) as error:
            self.problem = str(error)
            self._hang_up()
        except WireError as error:
            self.problem = error.message
            self._hang_up()

    def _begin_again(self) -> None:
        """Dial once more after the program has closed the probe's sockets, as daemons do."""
        self.problem = "the program has closed the sockets of its probe"
        if self._attachment is not None:
            self._end(wire.notification("Link.bye", {"reason": self.problem}))
        self._close_sockets()
        self._waker, self._woken = map(OwnSocket, socket.socketpair())
        if self._address:
            self._settled.clear()
            self._dial()

    def _hang_up(self) -> None:
        if self._dialled is not None:
            self._dialled.connection.close()
            self._dialled = None

    def _await_answer(self, inspector: _Stranger) -> None:
        connection = inspector.connection
        while not self._is_stopping:
            connection.flush()
            messages = connection.receive()
            while messages:
                message = messages.pop(0)
                if "error" in message:
                    raise LinkClosed(message["error"]["message"])
                if "result" in message:
                    _check_hello(message["result"])
                    self._dialled = None
                    self._attach(connection, messages)
                    return
            if monotonic_ns() > inspector.until_ns:
                raise LinkClosed("the inspector does not answer")
            writers = [connection] if connection.wants_to_send else []
            self._waiting.wait([connection, self._woken], writers, wire.PING_NS)

    def _attach(self, connection: Connection, behind: list[dict[str, Any]]) -> None:
        """Begin with an inspector, and with what has arrived together with its hello."""
        self._connection = connection
        self._attachment = Attachment(self._program, connection, self._grant, behind)
        self._settled.set()

    def _meet_strangers(self) -> None:
        listener = self._listener
        if listener is None:
            return
        try:
            sock, _ = listener.sock.accept()
        except OSError:
            pass
        else:
            if not is_same_user(sock) or len(self._strangers) >= _MOST_STRANGERS:
                sock.close()
            else:
                self._strangers.append(_Stranger(Connection(sock)))
        for stranger in list(self._strangers):
            if not self._is_still_strange(stranger):
                self._strangers.remove(stranger)

    def _is_still_strange(self, stranger: _Stranger) -> bool:
        """Listen to a connection; returns whether its hello is still awaited."""
        last: list[dict[str, Any]] = []
        try:
            messages = stranger.connection.receive()
            if messages:
                self._meet(stranger.connection, messages)
                return False
            if monotonic_ns() < stranger.until_ns:
                return True
        except LinkClosed:
            pass
        except WireError as error:
            last = [wire.refusal(0, error)]
        stranger.connection.end(*last)
        return False

    def _meet(self, connection: Connection, messages: list[dict[str, Any]]) -> None:
        """Take the first message of a connection, which has to be the inspector's hello."""
        first = messages.pop(0)
        number = first.get("id", 0)
        try:
            if first.get("method") != "Link.hello" or "id" not in first:
                raise WireError(wire.MALFORMED, "The first message is the hello.")
            params = first["params"]
            given = params.get("token")
            if not isinstance(given, str) or not compare_digest(
                given.encode(), self._token.encode()
            ):
                raise WireError(wire.WRONG_TOKEN, "The token is wrong.")
            _check_hello(params)
            if self._attachment is not None:
                raise WireError(wire.NOT_POSSIBLE, "Another inspector is attached.")
        except WireError as error:
            connection.end(wire.refusal(number, error))
            return
        connection.send(wire.answer(number, self._hello()))
        self._attach(connection, messages)

    def _hello(self) -> dict[str, Any]:
        return {
            "protocol": wire.PROTOCOL,
            "role": "probe",
            "vocabulary": VOCABULARY_VERSION,
            "pid": os.getpid(),
            "parent_pid": os.getppid(),
            "name": self._program.own_clock.name,
            "argv": [wire.cut_text(each, 4_096) for each in command_line()[:64]],
            "runtime": {
                "language": "python",
                "version": sys.version.split()[0],
                "implementation": sys.implementation.name,
            },
            "clock_ns": self._program.clocks.now_ns(),
            "grant": self._grant,
            "adapters": self._program.described_adapters(),
        }

    def _attend(self, attachment: Attachment, *, has_news: bool) -> None:
        try:
            attachment.turn(has_news=has_news)
        except LinkClosed as error:
            self.problem = str(error)
            self._end(wire.notification("Link.bye", {"reason": self.problem}))
        except WireError as error:
            self.problem = error.message
            self._end(wire.refusal(0, error))

    def _end(self, last: dict[str, Any], patience_ns: int = 0) -> None:
        attachment = self._attachment
        self._attachment = self._connection = None
        if attachment is not None:
            attachment.end(last, patience_ns=patience_ns)
        else:
            self._program.detach()


class _Waiting:
    """Waits for sockets; keeps its ``poll`` object while the sockets stay the same."""

    def __init__(self) -> None:
        self._key: tuple[list[Any], list[Any]] = ([], [])
        self._poll: Any = None
        self._by_number: dict[int, Any] = {}

    def wait(self, readers: list[Any], writers: list[Any], timeout_ns: int) -> list[Any]:
        """Return what is ready after a time at most; -1 waits for ever."""
        # select() knows no descriptor above 1 023, and servers have more.
        if not hasattr(select, "poll"):
            timeout_s = None if timeout_ns < 0 else timeout_ns / 1e9
            readable, writable, _ = select.select(readers, writers, [], timeout_s)
            return readable + writable
        if self._key != (readers, writers):
            self._key = (readers, writers)
            self._poll = select.poll()
            self._by_number = {each.fileno(): each for each in readers + writers}
            for each in {*readers, *writers}:
                is_read, is_written = each in readers, each in writers
                mask = select.POLLIN * is_read | select.POLLOUT * is_written
                self._poll.register(each, mask)
        ready = self._poll.poll(-1 if timeout_ns < 0 else -(-timeout_ns // 1_000_000))
        return [self._by_number[number] for number, _ in ready]


def _check_hello(hello: dict[str, Any]) -> None:
    if hello.get("protocol") != wire.PROTOCOL:
        raise WireError(wire.WRONG_VERSION, f"This probe speaks protocol {wire.PROTOCOL}.")
    if hello.get("role") != "inspector":
        raise WireError(wire.BAD_PARAMS, "A probe speaks with an inspector only.")


def command_line() -> list[str]:
    """Return the command line of this process; ``sys.argv`` is not complete at startup."""
    found: Optional[list[str]] = getattr(sys, "orig_argv", None)
    if found is not None:
        return found
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(each) for each in file.read().split(b"\0")[:-1]]
    except OSError:
        return list(getattr(sys, "argv", [""]))


class _ProbeThread(Thread):
    """A thread that ends without an error even if the numbers of threads have been replaced.

    gevent does that, after which Python does not find the thread among those that run.
    """

    def _delete(self) -> None:
        try:
            super()._delete()  # type: ignore[misc]
        except KeyError:
            pass


def _wait_until_gone(thread: Thread) -> None:
    """Wait until the system no longer counts a thread that Python has joined.

    Python 3.12 and newer warn of a fork if the system counts other threads.
    """
    place = f"/proc/self/task/{thread.native_id}"
    until_ns = monotonic_ns() + _GONE_NS
    while os.path.exists(place) and monotonic_ns() < until_ns:
        os.sched_yield()


def program_name() -> str:
    """Return what people call this program: its script, or its module."""
    words = iter(command_line()[1:])
    for word in words:
        if word == "-c":
            is_child = next(words, "").startswith("from multiprocessing.")
            return "child of multiprocessing" if is_child else "python -c"
        if word == "-m":
            return next(words, "python")
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            next(words, None)
        elif not word.startswith("-"):
            return os.path.basename(word) or word
    return "python"
