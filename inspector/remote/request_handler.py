"""Carries out requests: sessions, their worker threads, and which client holds what."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.command import Command
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
    Method,
    RemoteError,
    grant_of,
    is_granted,
    plain,
)
from inspector.remote.opened import ConnectedClient, OpenSession
from inspector.sessions.session import SessionPhase

logger = logging.getLogger(__name__)

#: Longer requests are refused without being parsed.
MOST_BYTES: Final = 1 << 20
_MOST_IN_BATCH: Final = 100
_MOST_WAITING: Final = 1_000
_MOST_SESSIONS: Final = 16
#: The interval at which sessions are refreshed while there are no requests.
_TURN_S: Final = 0.02
_TURN_NS: Final = 20_000_000

#: The phase that a command ends, and how long to wait for its end after the command.
_BEFORE: Final = {Hold: SessionPhase.RUNNING, Run: SessionPhase.HELD}
_FOLLOWS_S: Final = 1.0

#: A session whose state is not answered within this time is reported as busy.
_BUSY_S: Final = 0.5

_Respond: TypeAlias = "Callable[[dict[str, Any]], object]"

#: Returned while there is no answer yet.
NOT_YET: Final = object()


class Later(Struct, frozen=True):
    poll: Callable[[], object]  # Returns the answer, or NOT_YET
    timeout_s: float  # How long it may take
    late: str  # The error message when that time is over


def _run_host(host: SystemTimeSource | None) -> None:
    """Run a scene in real time for one turn."""
    if host is not None:
        host.run(host.now_ns() + _TURN_NS)


class Asked(Struct):
    handler: RequestHandler
    client: ConnectedClient  # The client that sent the request
    worker: Worker  # Carries it out
    shown: OpenSession | None = None  # The session whose state is in the answer
    state: dict[str, Any] | None = None  # The state to answer, of a session with another worker

    def session(self, number: int) -> OpenSession:
        """Return the session of the worker: that with the number, or the newest for 0."""
        found = self.worker.opened
        if found is None:
            raise RemoteError(REFUSED, self.handler.none_text(number))
        self.shown = found
        # A request has to see the effects of the one before.
        found.session.refresh()
        return found

    def in_session(self, number: int, job: Callable[[OpenSession], Any]) -> Any:  # noqa: ANN401 - what the job returns
        """Return the result of a job for another session, run by the worker of that session."""
        opened = self.handler.found(self.client, number)
        if opened is None:
            raise RemoteError(REFUSED, self.handler.none_text(number))

        def call() -> object:
            opened.session.refresh()
            result = job(opened)
            self.state = opened.state(self.client)
            return result

        return opened.worker.call(call)

    def check(self, needed: str, what: str) -> None:
        """Refuse a request that needs more than the server grants."""
        if not is_granted(needed, self.handler.grant):
            message = f"This server grants “{self.handler.grant}” only; {what} needs “{needed}”."
            raise RemoteError(NOT_GRANTED, message)


class _Waiting(Struct):
    """A request without an answer yet."""

    asked: Asked
    id: object
    later: Later
    until_s: float
    respond: _Respond


class Worker:
    """Carries out the requests to one session, in the thread to which the session belongs."""

    def __init__(self, handler: RequestHandler, *, is_of_session: bool) -> None:
        # The session; ``None`` before it is opened, and for the worker of a client
        self.opened: OpenSession | None = None
        self._handler = handler
        self._is_of_session = is_of_session
        self._mail: deque[Callable[[], None]] = deque()
        self._news = threading.Event()
        self._waiting: list[_Waiting] = []
        self._is_over = self._has_ended = False
        self._ending = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="remote: worker", daemon=True)
        self.thread.start()

    # ------------------------------------------------------ from any thread

    def post(self, job: Callable[[], None]) -> None:
        """Have the worker run a job soon; run it right here if the worker has ended."""
        with self._ending:
            is_late = self._has_ended
            if not is_late:
                self._mail.append(job)
        if is_late:
            job()
        else:
            self.wake()

    def wake(self) -> None:
        self._news.set()
        opened = self.opened
        if opened is not None and opened.host is not None:
            opened.host.stop()

    def call(self, job: Callable[[], object], timeout_s: float | None = None) -> Any:  # noqa: ANN401 - what the job returns
        """Return what a job returns; raises what it raises, and ``TimeoutError``."""
        result: Future[object] = Future()

        def run() -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(job())
                except BaseException as error:  # noqa: BLE001 - is raised where it was asked for
                    result.set_exception(error)

        self.post(run)
        try:
            return result.result(timeout_s)
        except TimeoutError:
            result.cancel()
            raise

    def close(self) -> None:
        def end() -> None:
            self._is_over = True

        self.post(end)

    # ------------------------------------------------------ in its own thread

    def remove(self) -> None:
        """Close the session; a program that was launched for it is ended."""
        opened, self.opened = self.opened, None
        self._is_over = True
        if opened is None:
            return
        self._handler.sessions.pop(opened.number, None)
        end = getattr(opened.session, "end_program", None)
        if end is not None:
            end()
        opened.session.close()

    def _run(self) -> None:
        try:
            while not self._is_over:
                self._turn()
        finally:
            self.remove()
            self._handler.forget(self)
            with self._ending:
                self._has_ended = True
            while self._mail:
                self._mail.popleft()()
            for each in self._waiting:
                message = "The session was closed meanwhile."
                each.respond(_error(each.id, REFUSED, message, self._handler.state(each.asked)))

    def _turn(self) -> None:
        opened = self.opened
        is_hosted = opened is not None and opened.host is not None
        if opened is not None and is_hosted:
            self._keep_going(partial(_run_host, opened.host))
        if not is_hosted and not self._mail:
            is_live = opened is not None and opened.session.expects_news
            self._news.wait(_TURN_S if is_live or self._waiting else None)
        self._news.clear()
        while self._mail:
            self._mail.popleft()()
        if self.opened is not None:
            self._keep_going(self.opened.session.refresh)
        waiting, self._waiting = self._waiting, []
        self._waiting = [
            each
            for each in waiting
            if not each.asked.client.is_gone and not self._has_answered(each)
        ]
        if self._is_of_session and self.opened is None and not self._waiting:
            self._is_over = True

    def _keep_going(self, step: Callable[[], object]) -> None:
        """Take a step with the session, and close the session if that fails."""
        try:
            step()
        except Exception:
            logger.exception("a session failed, and is closed")
            self.remove()

    def let_go(self, client: ConnectedClient) -> None:
        """Undo what a client that has left holds, and close the session if it is the client's."""
        opened = self.opened
        if opened is not None:
            self._keep_going(partial(opened.let_go, client))
            if opened.owner is client:
                self.remove()

    def wait_for(self, asked: Asked, number: object, later: Later, respond: _Respond) -> None:
        """Keep a request whose answer takes time until it has one."""
        if len(self._waiting) >= _MOST_WAITING:
            respond(_error(number, REFUSED, "Too many requests wait for their answers."))
            return
        each = _Waiting(asked, number, later, time.monotonic() + later.timeout_s, respond)
        if not self._has_answered(each):
            self._waiting.append(each)

    def _has_answered(self, each: _Waiting) -> bool:
        def poll() -> object:
            found = each.later.poll()
            if found is NOT_YET and time.monotonic() > each.until_s:
                raise RemoteError(TOOK_TOO_LONG, each.later.late)
            return found

        response = self._handler.response(each.asked, each.id, poll)
        if response is None:
            return False
        each.respond(response)
        return True


class RequestHandler:
    """Passes requests to the worker of their session, or else to that of their client."""

    def __init__(self, grant: str = FULL, program: tuple[str, ...] = ()) -> None:
        self.grant = grant  # The grant of all clients
        # The command line that may be launched under any grant; empty for none
        self.program = program
        self.sessions: dict[int, OpenSession] = {}  # The open sessions by their numbers
        self.scenes = threading.Lock()  # Held while a scene is opened: there is only one scene
        self._numbers = threading.Lock()
        self._last_number = 0
        self._clients = 0
        self._workers: set[Worker] = set()
        #: The worker of the session that each client has opened last.
        self._newest: WeakKeyDictionary[ConnectedClient, Worker] = WeakKeyDictionary()
        #: The workers of clients, for requests that are not to a session.
        self._general: WeakKeyDictionary[ConnectedClient, Worker] = WeakKeyDictionary()

    # ------------------------------------------------------ from any thread

    def _worker(self, *, is_of_session: bool) -> Worker:
        worker = Worker(self, is_of_session=is_of_session)
        self._workers.add(worker)
        return worker

    def forget(self, worker: Worker) -> None:
        self._workers.discard(worker)

    def connect(self, send: Callable[[bytes], object]) -> ConnectedClient:
        """Add a client; ``send`` sends answers to it."""
        with self._numbers:
            self._clients += 1
            return ConnectedClient(f"client {self._clients}", send)

    def handle(self, client: ConnectedClient, line: bytes) -> None:
        """Handle a request or a batch, as received."""

        def send(answer: object) -> None:
            with client.sending:
                if client.is_gone:
                    return
                try:
                    client.send(json.dumps(answer).encode() + b"\n")
                except OSError:
                    # The client has got only part of a line, and another answer could block again.
                    self.leave(client)

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
        answers: dict[int, dict[str, Any]] = {}
        wanted = sum(bool(_problem(each)) or "id" in each for each in message)
        counting = threading.Lock()

        def collect(place: int, answer: dict[str, Any]) -> None:
            with counting:
                answers[place] = answer
                is_whole = len(answers) == wanted
            if is_whole:
                send([answers[each] for each in sorted(answers)])

        for place, each in enumerate(message):
            self._answer(client, each, partial(collect, place))

    def leave(self, client: ConnectedClient) -> None:
        """Remove a client, undo what it holds, and close its sessions."""
        with self._numbers:
            client.is_gone = True
            general = self._general.pop(client, None)
        for each in list(self._workers):
            each.post(partial(each.let_go, client))
        if general is not None:
            general.close()

    def ask(self, client: ConnectedClient, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request, and return its answer: a result, or an error."""
        answer: Future[dict[str, Any]] = Future()
        request = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        self._answer(client, request, answer.set_result)
        return answer.result()

    def close(self) -> None:
        """Close all sessions; programs that were launched are ended."""
        workers = list(self._workers)
        for each in workers:
            each.close()
        for each in workers:
            each.thread.join()

    def next_number(self) -> int:
        with self._numbers:
            if len(self.sessions) >= _MOST_SESSIONS:
                message = f"{_MOST_SESSIONS} sessions are open. Close one first."
                raise RemoteError(REFUSED, message)
            self._last_number += 1
            return self._last_number

    def found(self, client: ConnectedClient, number: int) -> OpenSession | None:
        """Return a session by its number; 0 is the newest of the client, or of all."""
        if number:
            return self.sessions.get(number)
        known = list(self.sessions.values())
        own = [each for each in known if each.owner is client]
        return next(reversed(own or known), None)

    def none_text(self, number: int) -> str:
        there = ", ".join(map(str, list(self.sessions))) or "none"
        what = f"session {number}" if number else "session"
        return f"There is no {what}; open are: {there}."

    def states(self, client: ConnectedClient) -> list[dict[str, Any]]:
        """Return the states of all sessions; that of a busy one says so."""
        known = [(each, self._state_of(each, client)) for each in list(self.sessions.values())]
        return [state for each, state in known if each.number in self.sessions]

    @staticmethod
    def _state_of(opened: OpenSession, client: ConnectedClient) -> dict[str, Any]:
        try:
            found: dict[str, Any] = opened.worker.call(partial(opened.state, client), _BUSY_S)
        except TimeoutError:
            return {
                "session": opened.number,
                "title": opened.session.title,
                "kind": opened.kind,
                "phase": "busy",
                "message": "It carries out another request.",
                "at_ns": opened.session.timeline.at_ns,
                "held": [],
                "held_count": 0,
            }
        return found

    def _answer(self, client: ConnectedClient, message: object, respond: _Respond) -> None:
        """Pass a request to the worker that has to carry it out."""
        problem = _problem(message)
        if problem:
            number = message.get("id") if isinstance(message, dict) else None
            is_id = isinstance(number, str | int) and not isinstance(number, bool)
            respond(_error(number if is_id else None, NOT_A_REQUEST, problem))
            return
        assert isinstance(message, dict)
        reply = respond if "id" in message else _no_answer
        try:
            found, params = _method_in(message)
            worker = self._worker_for(client, found, params)
        except RemoteError as error:
            reply(_error(message.get("id"), error.code, str(error), None))
            return
        asked = Asked(self, client, worker)
        worker.post(partial(self._carry_out, asked, message.get("id"), (found, params), reply))

    def _worker_for(self, client: ConnectedClient, found: Method, params: Any) -> Worker:  # noqa: ANN401 - of a method
        if found.opens:
            self._newest[client] = worker = self._worker(is_of_session=True)
            return worker
        number = getattr(params, "session", None)
        if number is None:
            return self._general_of(client)
        # A session that is being opened answers once it is open.
        newest = self._newest.get(client)
        if not number and newest is not None and newest in self._workers:
            return newest
        opened = self.found(client, number)
        if opened is None:
            return self._general_of(client)
        assert isinstance(opened.worker, Worker)
        return opened.worker

    def _general_of(self, client: ConnectedClient) -> Worker:
        """Return the client's own worker, so that its long requests do not delay other clients."""
        with self._numbers:
            found = self._general.get(client)
            if found is None:
                found = self._worker(is_of_session=False)
                if client.is_gone:
                    found.close()
                else:
                    self._general[client] = found
            return found

    def _carry_out(
        self, asked: Asked, number: object, what: tuple[Method, Any], reply: _Respond
    ) -> None:
        found, params = what
        result: object = None

        def call() -> object:
            nonlocal result
            asked.check(found.grant, found.name)
            values = {name: getattr(params, name) for name in params.__struct_fields__}
            result = found.call(asked, **values)
            return NOT_YET if isinstance(result, Later) else result

        response = self.response(asked, number, call)
        if response is not None:
            reply(response)
        elif isinstance(result, Later):
            asked.worker.wait_for(asked, number, result, reply)

    def response(
        self, asked: Asked, number: object, call: Callable[[], object]
    ) -> dict[str, Any] | None:
        """Return the response to a request, ``None`` if there is none yet."""
        try:
            value = call()
            if value is NOT_YET:
                return None
            result = {"value": plain(value), "state": self.state(asked)}
        except RemoteError as error:
            return _error(number, error.code, str(error), self.state(asked))
        except InspectorError as error:
            detail = f"\n{error.detail}" if error.detail else ""
            return _error(number, REFUSED, f"{error}{detail}", self.state(asked))
        except Exception as error:
            # A bug in the inspector must not end the server or other sessions.
            logger.exception("a request failed")
            text = f"The inspector failed: {type(error).__name__}: {error}"
            return _error(number, FAULT, text, self.state(asked))
        return {"jsonrpc": "2.0", "id": number, "result": result}

    @staticmethod
    def state(asked: Asked) -> dict[str, Any] | None:
        shown = asked.shown
        if shown is None or shown.number not in asked.handler.sessions:
            return asked.state
        return shown.state(asked.client)


def _method_in(message: dict[str, Any]) -> tuple[Method, Any]:
    """Return the method that a request names, and its parameters."""
    found = METHODS.get(message["method"])
    if found is None:
        name = message["method"][:80]
        text = f"There is no method “{name}”. “serve --schema” lists all."
        raise RemoteError(NO_SUCH_METHOD, text)
    try:
        return found, msgspec.convert(message.get("params", {}), found.params)
    except (msgspec.ValidationError, RecursionError, ValueError) as error:
        raise RemoteError(BAD_PARAMS, f"{found.name}: {error}.") from None


def submit(asked: Asked, session: int, timeout_s: float, command: Command) -> Later:
    """Submit a command to a session; the answer is its outcome."""
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
        # A program stops or continues a moment after it has confirmed the command.
        is_still = phase is _BEFORE.get(type(command)) and not of.is_recorded
        if is_still and time.monotonic() - noted_s < _FOLLOWS_S:
            of.refresh()
            return NOT_YET
        return {"number": record.number, "text": record.text, "at_ns": record.at_ns}

    late = "It is not done yet, and goes on; session.state says how far it is."
    return Later(poll, timeout_s, late)


def _message_in(line: bytes) -> object:
    """Return the message in a line."""
    if len(line) > MOST_BYTES:
        raise RemoteError(NOT_A_REQUEST, f"A request has at most {MOST_BYTES:,} bytes.")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise RemoteError(NOT_JSON, f"This is not JSON: {reason}.") from None


def _problem(message: object) -> str:
    """Return why a message is not a request; empty if it is one."""
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
    """Drop the answer to a notification."""


def lines_of(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield lines as they arrive; of a line that is too long, only enough to refuse it."""
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
