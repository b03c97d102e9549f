"""Where requests are carried out: the sessions, their clients, and who holds what."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Final

import msgspec

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.command import Command
from inspector.commands.scene import Undo
from inspector.commands.transport import Hold, Run
from inspector.errors import InspectorError
from inspector.probe.requests import FULL
from inspector.remote.methods import (
    BAD_PARAMS,
    FAULT,
    METHODS,
    NO_SUCH_METHOD,
    NOT_A_REQUEST,
    NOT_GRANTED,
    NOT_JSON,
    REFUSED,
    TOOK_TOO_LONG,
    RemoteError,
    grant_of,
    is_granted,
    plain,
)
from inspector.sessions.session import Session, SessionPhase

logger = logging.getLogger(__name__)

#: A longer request is refused unread.
MOST_BYTES: Final = 1 << 20
_MOST_IN_BATCH: Final = 100
_MOST_WAITING: Final = 1_000
_MOST_SESSIONS: Final = 16
_MOST_LISTED: Final = 20
#: Sessions are looked at so often while nothing is asked.
_TURN_S: Final = 0.02
_TURN_NS: Final = 20_000_000

#: The phase that a command ends, and how long that may take at most once it is carried out.
_BEFORE: Final = {Hold: SessionPhase.RUNNING, Run: SessionPhase.HELD}
_FOLLOWS_S: Final = 1.0

#: Returned while there is no answer yet.
NOT_YET: Final = object()


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes time."""

    poll: Callable[[], object]  # Returns the answer, or NOT_YET
    timeout_s: float  # How long it may take
    late: str  # What is said when that is over


@dataclass(slots=True, eq=False)
class Client:
    """Who asks."""

    name: str  # What others are told of it
    send: Callable[[bytes], object]  # Sends an answer; called in the desk's thread
    is_gone: bool = False  # Whether it has left


@dataclass(slots=True)
class _Kept:
    """A change of a client that is undone when it goes."""

    client: Client
    number: int
    text: str
    inverse: Command


@dataclass(slots=True, eq=False)
class OpenSession:
    """A session, with what the desk knows of it."""

    number: int
    session: Session  # The session itself
    kind: str  # attached, scene, recording or capture
    owner: Client | None  # The client that has opened it; None if it stays
    host: SystemTimeSource | None = None  # What wakes a scene in real time
    path: str = ""  # The file of a recording or capture
    # The changes to undo when their clients go, by their subjects.
    kept: dict[Hashable, _Kept] = field(default_factory=dict)
    asked_by: dict[int, Client] = field(default_factory=dict)  # Who gave a command, by its number

    def note(self, client: Client, command: Command, number: int, *, was_running: bool) -> None:
        """Remember what undoes a command that was carried out."""
        session = self.session
        self.asked_by[number] = client
        if isinstance(command, Undo):
            of = {kept.number: place for place, kept in self.kept.items()}
            self.kept.pop(of.get(command.number), None)
            return
        if isinstance(command, Run):
            self.kept.pop("transport", None)
            return
        inverse = None if session.undoing is None else session.undoing.of(number)
        key: Hashable = "transport"
        if isinstance(command, Hold):
            inverse = Run() if was_running or "transport" in self.kept else None
        elif inverse is not None:
            key = _subject(command, inverse)
        if inverse is None:
            return
        former = self.kept.get(key)
        if former is not None:
            if former.inverse == command:
                del self.kept[key]
                return
            inverse = former.inverse
        self.kept[key] = _Kept(client, number, command.sentence(session.timeline), inverse)

    def note_hold(self, client: Client) -> None:
        """Remember that a client has had the program begin held."""
        self.kept["transport"] = _Kept(client, 0, "hold", Run())

    def let_go(self, client: Client) -> None:
        """Undo what a client holds, the newest first."""
        for key, kept in reversed(self.kept.copy().items()):
            if kept.client is client:
                del self.kept[key]
                self.session.submit(kept.inverse)
        self.session.refresh()

    def state(self, client: Client) -> dict[str, Any]:
        """Return what it does, and who holds what in it."""
        session, timeline = self.session, self.session.timeline
        status = session.status
        held = [
            {"what": kept.text, "by": "you" if kept.client is client else kept.client.name}
            for kept in self.kept.values()
        ]
        known = {kept.number for kept in self.kept.values()}
        for clock in timeline.clocks.values():
            if clock.paused and clock.pause_cause not in known:
                by = self._asker(clock.pause_cause, client)
                held.append({"what": f"pause “{clock.name}”", "by": by})
        if status.breakpoint:
            held.append({"what": "hold", "by": f"breakpoint {status.breakpoint}"})
        return {
            "session": self.number,
            "title": session.title,
            "kind": self.kind,
            "phase": status.phase.value,
            "message": status.message,
            "at_ns": timeline.at_ns,
            "held": held[:_MOST_LISTED],
            "held_count": len(held),
        }

    def _asker(self, number: int, client: Client) -> str:
        if not number:
            return "the program"
        asker = self.asked_by.get(number)
        if asker is not None:
            return "you" if asker is client else asker.name
        record = next((r for r in self.session.timeline.commands if r.number == number), None)
        return f"command {number}" if record is None or not record.by else record.by


def _run_host(host: SystemTimeSource | None) -> None:
    """Let the time of a scene pass for a turn."""
    if host is not None:
        host.run(host.now_ns() + _TURN_NS)


def _subject(command: Command, inverse: Command) -> Hashable:
    """Return what a command changes: equal for those that overrule each other."""
    kinds = frozenset({type(command).__name__, type(inverse).__name__})
    numbers = {
        getattr(each, one.name)
        for each in (command, inverse)
        for one in fields(each)  # type: ignore[arg-type] # all commands are dataclasses
        if one.name.endswith("_id") or one.name == "number"
    }
    return kinds, frozenset(numbers)


@dataclass(slots=True)
class Asked:
    """A request that is carried out."""

    desk: Desk  # Where
    client: Client  # Who asks
    shown: OpenSession | None = None  # The session whose state is answered

    def session(self, number: int) -> OpenSession:
        """Return a session by its number; 0 is the newest of the client, or of all.

        Raises:
            RemoteError: There is no such session.
        """
        known = self.desk.sessions
        if number:
            found = known.get(number)
        else:
            own = [each for each in known.values() if each.owner is self.client]
            found = next(reversed(own or list(known.values())), None)
        if found is None:
            there = ", ".join(map(str, known)) or "none"
            what = f"session {number}" if number else "session"
            raise RemoteError(REFUSED, f"There is no {what}; open are: {there}.")
        self.shown = found
        # So that a request sees what the one before it has done.
        found.session.refresh()
        return found

    def check(self, needed: str, what: str) -> None:
        """Refuse what the server does not grant.

        Raises:
            RemoteError: It is not granted.
        """
        if not is_granted(needed, self.desk.grant):
            message = f"This server grants “{self.desk.grant}” only; {what} needs “{needed}”."
            raise RemoteError(NOT_GRANTED, message)


@dataclass(slots=True)
class _Waiting:
    """A request without an answer yet."""

    asked: Asked
    id: object
    later: Later
    until_s: float
    respond: Callable[[dict[str, Any]], None]


class Desk:
    """Carries out requests in a thread of its own, which all sessions belong to.

    Attributes:
        grant: What clients may do.
        program: The command line that may be launched under any grant; empty for none.
        sessions: The open sessions by their numbers, for its thread.
    """

    def __init__(self, grant: str = FULL, program: tuple[str, ...] = ()) -> None:
        self.grant = grant
        self.program = program
        self.sessions: dict[int, OpenSession] = {}
        self._last_number = 0
        self._mail: deque[Callable[[], None]] = deque()
        self._news = threading.Event()
        self._waiting: list[_Waiting] = []
        self._clients = 0
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="remote: desk", daemon=True)
        self._thread.start()

    # ------------------------------------------------------ from any thread

    def connect(self, send: Callable[[bytes], object]) -> Client:
        """Take in a client, to whom answers are sent by ``send``."""
        self._clients += 1
        return Client(f"client {self._clients}", send)

    def take(self, client: Client, line: bytes) -> None:
        """Take a request as it came."""
        self._post(lambda: self._answer_line(client, line))

    def leave(self, client: Client) -> None:
        """Let go what a client holds."""
        self._post(lambda: self._leave(client))

    def ask(self, client: Client, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request, and return its answer: a result, or an error."""
        done = threading.Event()
        found: list[dict[str, Any]] = []

        def take(answer: dict[str, Any]) -> None:
            found.append(answer)
            done.set()

        request = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        self._post(lambda: self._answer(client, request, take))
        done.wait()
        return found[0]

    def wake(self) -> None:
        self._news.set()
        for each in list(self.sessions.values()):
            if each.host is not None:
                each.host.stop()

    def close(self) -> None:
        """Close all sessions; programs that were launched are ended."""

        def end() -> None:
            self._is_closing = True

        self._post(end)
        self._thread.join()

    def _post(self, job: Callable[[], None]) -> None:
        self._mail.append(job)
        self.wake()

    # ------------------------------------------------------ in its own thread

    def add(self, opened: OpenSession) -> OpenSession:
        self.sessions[opened.number] = opened
        return opened

    def next_number(self) -> int:
        """Return the number of a new session.

        Raises:
            RemoteError: There are too many.
        """
        if len(self.sessions) >= _MOST_SESSIONS:
            message = f"{_MOST_SESSIONS} sessions are open. Close one first."
            raise RemoteError(REFUSED, message)
        self._last_number += 1
        return self._last_number

    def remove(self, opened: OpenSession) -> None:
        """Close a session; a program that was launched for it is ended."""
        del self.sessions[opened.number]
        end = getattr(opened.session, "end_program", None)
        if end is not None:
            end()
        opened.session.close()

    def _run(self) -> None:
        try:
            while not self._is_closing:
                self._turn()
        finally:
            for each in list(self.sessions.values()):
                self.remove(each)

    def _turn(self) -> None:
        hosted = [each for each in self.sessions.values() if each.host is not None]
        for each in hosted:
            self._keep_going(each, partial(_run_host, each.host))
        if not hosted and not self._mail:
            is_live = any(each.session.expects_news for each in self.sessions.values())
            self._news.wait(_TURN_S if is_live or self._waiting else None)
        self._news.clear()
        while self._mail:
            self._mail.popleft()()
        for each in list(self.sessions.values()):
            self._keep_going(each, each.session.refresh)
        self._look_at_waiting()

    def _keep_going(self, opened: OpenSession, step: Callable[[], object]) -> None:
        """Do something with a session; one that fails is closed, and the others go on."""
        try:
            step()
        except Exception:
            logger.exception("session %d failed, and is closed", opened.number)
            self.remove(opened)

    def _look_at_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if each.asked.client.is_gone:
                continue
            if not self._has_answered(each):
                self._waiting.append(each)

    def _has_answered(self, each: _Waiting) -> bool:
        def poll() -> object:
            found = each.later.poll()
            if found is NOT_YET and time.monotonic() > each.until_s:
                raise RemoteError(TOOK_TOO_LONG, each.later.late)
            return found

        response = self._response(each.asked, each.id, poll)
        if response is None:
            return False
        each.respond(response)
        return True

    def _leave(self, client: Client) -> None:
        if client.is_gone:
            return
        client.is_gone = True
        for each in list(self.sessions.values()):
            self._keep_going(each, partial(each.let_go, client))
            if each.owner is client and each.number in self.sessions:
                self.remove(each)

    def _answer_line(self, client: Client, line: bytes) -> None:
        def send(answer: object) -> None:
            if not client.is_gone:
                try:
                    client.send(json.dumps(answer).encode() + b"\n")
                except OSError:
                    # What it has got is no whole line, and it would be waited for again.
                    self._leave(client)

        try:
            message = _message_in(line)
        except RemoteError as error:
            send(_error(None, error.code, str(error)))
            return
        if not isinstance(message, list):
            self._answer(client, message, send)
            return
        if not 0 < len(message) <= _MOST_IN_BATCH:
            text = f"A batch has 1 to {_MOST_IN_BATCH} requests, not {len(message)}."
            send(_error(None, NOT_A_REQUEST, text))
            return
        answers: list[dict[str, Any]] = []
        wanted = sum(bool(_problem(each)) or "id" in each for each in message)

        def collect(answer: dict[str, Any]) -> None:
            answers.append(answer)
            if len(answers) == wanted:
                send(answers)

        for each in message:
            self._answer(client, each, collect)

    def _answer(
        self, client: Client, message: object, respond: Callable[[dict[str, Any]], None]
    ) -> None:
        problem = _problem(message)
        if problem:
            number = message.get("id") if isinstance(message, dict) else None
            is_id = isinstance(number, str | int) and not isinstance(number, bool)
            respond(_error(number if is_id else None, NOT_A_REQUEST, problem))
            return
        assert isinstance(message, dict)
        asked, number = Asked(self, client), message.get("id")
        reply = respond if "id" in message else _no_answer

        def call() -> object:
            found = METHODS.get(message["method"])
            if found is None:
                name = message["method"][:80]
                text = f"There is no method “{name}”. “serve --schema” lists all."
                raise RemoteError(NO_SUCH_METHOD, text)
            try:
                params = msgspec.convert(message.get("params", {}), found.params)
            except (msgspec.ValidationError, RecursionError, ValueError) as error:
                raise RemoteError(BAD_PARAMS, f"{found.name}: {error}.") from None
            asked.check(found.grant, found.name)
            values = {name: getattr(params, name) for name in params.__struct_fields__}
            return found.call(asked, **values)

        result: object = None

        def first() -> object:
            nonlocal result
            result = call()
            return NOT_YET if isinstance(result, Later) else result

        response = self._response(asked, number, first)
        if response is not None:
            reply(response)
        elif isinstance(result, Later):
            if len(self._waiting) >= _MOST_WAITING:
                reply(_error(number, REFUSED, "Too many requests wait for their answers."))
                return
            until_s = time.monotonic() + result.timeout_s
            each = _Waiting(asked, number, result, until_s, reply)
            if not self._has_answered(each):
                self._waiting.append(each)

    def _response(
        self, asked: Asked, number: object, call: Callable[[], object]
    ) -> dict[str, Any] | None:
        """Return the response to a request, ``None`` if there is none yet."""
        try:
            value = call()
            if value is NOT_YET:
                return None
            result = {"value": plain(value), "state": self._state(asked)}
        except RemoteError as error:
            return _error(number, error.code, str(error), self._state(asked))
        except InspectorError as error:
            detail = f"\n{error.detail}" if error.detail else ""
            return _error(number, REFUSED, f"{error}{detail}", self._state(asked))
        except Exception as error:
            # A fault of the inspector ends neither the server nor other sessions.
            logger.exception("a request failed")
            text = f"The inspector failed: {type(error).__name__}: {error}"
            return _error(number, FAULT, text, self._state(asked))
        return {"jsonrpc": "2.0", "id": number, "result": result}

    @staticmethod
    def _state(asked: Asked) -> dict[str, Any] | None:
        shown = asked.shown
        if shown is None or shown.number not in asked.desk.sessions:
            return None
        return shown.state(asked.client)


def submit(asked: Asked, session: int, timeout_s: float, command: Command) -> Later:
    """Give a command to a session; the answer is what became of it.

    Raises:
        RemoteError: The session does not take it, or it is not granted.
    """
    opened = asked.session(session)
    of, timeline = opened.session, opened.session.timeline
    asked.check(grant_of(command), f"“{command.sentence(timeline)}”")
    if problem := command.problem():
        raise RemoteError(BAD_PARAMS, problem)
    if command.capability not in of.capabilities:
        why = of.why_not(command.capability) or f"a {opened.kind} cannot {command.capability.value}"
        raise RemoteError(REFUSED, f"Could not {command.sentence(timeline)}: {why}.")
    last = timeline.commands[-1].number if timeline.commands else 0
    was_running = of.status.phase is SessionPhase.RUNNING
    form = command.as_values()
    of.submit(command)
    noted_s = 0.0

    def poll() -> object:
        nonlocal noted_s
        records = [
            each
            for each in of.timeline.commands
            if each.number > last and form.items() <= json.loads(each.form or "{}").items()
        ]
        if not records:
            of.refresh()
            return NOT_YET
        record = records[0]
        if record.refusal:
            raise RemoteError(REFUSED, f"Could not {record.text}: {record.refusal}")
        if not noted_s:
            opened.note(asked.client, command, record.number, was_running=was_running)
            noted_s = time.monotonic()
        phase = of.status.phase
        if phase.goes_on:
            return NOT_YET
        # A program stops or goes on a moment after it has said that it will.
        is_still = phase is _BEFORE.get(type(command)) and not of.is_recorded
        if is_still and time.monotonic() - noted_s < _FOLLOWS_S:
            of.refresh()
            return NOT_YET
        return {"number": record.number, "text": record.text, "at_ns": record.at_ns}

    late = "It is not done yet, and goes on; session.state says how far it is."
    return Later(poll, timeout_s, late)


def _message_in(line: bytes) -> object:
    """Return what a line says.

    Raises:
        RemoteError: It is too long, or no JSON.
    """
    if len(line) > MOST_BYTES:
        raise RemoteError(NOT_A_REQUEST, f"A request has at most {MOST_BYTES:,} bytes.")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise RemoteError(NOT_JSON, f"This is not JSON: {reason}.") from None


def _problem(message: object) -> str:
    """Return why a message is no request; empty if it is one."""
    if not isinstance(message, dict):
        return "A request is an object with “jsonrpc”, “id”, “method” and “params”."
    if message.get("jsonrpc") != "2.0":
        return "“jsonrpc” must be “2.0”."
    number = message.get("id", 0)
    if isinstance(number, bool) or not isinstance(number, str | int | float | None):
        return "“id” must be a text or a number."
    if not isinstance(message.get("method"), str):
        return "“method” must be a text."
    if not isinstance(message.get("params", {}), dict):
        return "“params” must be an object: parameters have names."
    return ""


def _error(number: object, code: int, text: str, state: object = None) -> dict[str, Any]:
    error = {"code": code, "message": text, "data": {"state": state}}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def _no_answer(_response: dict[str, Any]) -> None:
    """Notifications get no answer."""


def lines_of(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield lines as they come; of one that is too long, as much as shows that."""
    kept, is_skipping = b"", False
    while data := read(1 << 16):
        *whole, rest = (kept + data).split(b"\n")
        for line in whole:
            if is_skipping:
                is_skipping = False
            elif line.strip():
                yield line
        kept = rest
        if len(kept) > MOST_BYTES:
            if not is_skipping:
                yield kept
            kept, is_skipping = b"", True
    if kept.strip() and not is_skipping:
        yield kept
