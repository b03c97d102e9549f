"""A client of ``timeline-inspector serve``, for scripts, notebooks and tests.

>>> from inspector.client import Client
>>> with Client.start() as client:
...     server = client.launch("python3", "server.py")
...     server.wait(5)
...     for call in server.late(over_ms=50):
...         print(call.text)
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, Final, Self

import msgspec
from msgspec import Struct

from inspector.errors import InspectorError

_PAGE: Final = 1_000


class RequestError(InspectorError):
    """A request was refused; the message says why.

    Attributes:
        code: The code of the error.
        state: The session that it was about, ``None`` for none.
    """

    def __init__(self, code: int, message: str, state: State | None) -> None:
        super().__init__(message)
        self.code = code
        self.state = state


class Hold(Struct, frozen=True):
    """Something that is held or changed."""

    what: str  # What, in words
    by: str  # Who has done it: you, another client, a breakpoint, the program


class State(Struct, frozen=True):
    """A session at the time of an answer."""

    session: int
    title: str
    kind: str  # attached, scene, recording or capture
    phase: str  # What it does, such as running or held
    message: str  # The same in a sentence
    at_ns: int  # Session time
    held: tuple[Hold, ...]  # Who holds what, at most 20
    held_count: int  # How much is held


class LateCall(Struct, frozen=True):
    """A call that was late."""

    timer: str  # Name of the timer
    clock: str  # Name of its clock
    late_ns: int  # How late it was
    cause: str  # What made it late; unknown if that was not measured
    culprit: dict[str, Any] | None  # The function, file and line that did, None if there is none
    text: str  # All of that in a sentence


class Finding(Struct, frozen=True):
    """A problem."""

    kind: str  # One or two words
    text: str  # The evidence and the remedy
    at_ns: int  # When


class Clock(Struct, frozen=True):
    """A clock."""

    clock_id: int
    name: str
    parent_id: int  # The clock above, 0 for none
    rate: str  # Its rate, as a fraction
    local_ns: int  # Its own time
    effective_rate: float  # How fast it passes in session time
    pending: int  # How many timers wait on it


class Timer(Struct, frozen=True):
    """A call that waits."""

    name: str
    kind: str
    clock: str  # Name of its clock
    due_ns: int | None  # When it is due in session time, None if it is stopped
    interval_ns: int  # From one call to the next, 0 for once
    calls: int  # How often it was called
    call_site: str  # Where it was set
    timer_id: int = 0  # Its number, 0 for one of a scheduler
    member_id: int = 0  # That of a scheduler's, else 0


class Task(Struct, frozen=True):
    """A task of asyncio, uvloop or trio."""

    id: int
    depth: int  # 0, or one more than that of the task that waits for it, which stands before it
    name: str  # What it does
    waits_for: str  # What it waits for, such as blocked by crunch()
    waited_ns: int  # For how long it has waited, or at least so long
    is_exact: bool  # Whether it has for no longer
    line: str  # Where in the program it waits
    created: str  # Where it was created; empty if that is not known


class Explanation(Struct, frozen=True):
    """Why something was not called, or was called when it was."""

    subject: str  # What, in words
    headline: str  # The answer in a sentence
    lines: tuple[str, ...]  # The answer with its evidence


class Client:
    """A connection with a server; for one thread.

    Attributes:
        state: The session that the last answer was about, ``None`` for none.
    """

    def __init__(
        self, reader: IO[bytes], writer: IO[bytes], process: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.state: State | None = None
        self._reader = reader
        self._writer = writer
        self._process = process
        self._last_id = 0

    @classmethod
    def start(cls, *program: str, grant: str = "full") -> Self:
        """Start a server that ends with this client; it may launch ``program`` under any grant."""
        command = [sys.executable, "-P", "-m", "inspector", "serve", "--stdio", "--grant", grant]
        process = subprocess.Popen(  # noqa: S603 - this program
            [*command, *(["--", *program] if program else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        return cls(process.stdout, process.stdin, process)

    @classmethod
    def connect(cls, path: str) -> Self:
        """Connect to a server at a Unix socket.

        Raises:
            OSError: Nothing listens there.
        """
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(path)
        with connected:
            return cls(connected.makefile("rb"), connected.makefile("wb"))

    def request(self, method: str, **params: object) -> Any:  # noqa: ANN401 - any value of JSON
        """Ask for something, and return the value of the answer.

        Raises:
            RequestError: It was refused.
            EOFError: The server has ended.
        """
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        self._writer.write(json.dumps(message).encode() + b"\n")
        self._writer.flush()
        line = self._reader.readline()
        if not line:
            raise EOFError("The server has ended.")
        answer = json.loads(line)
        error = answer.get("error")
        found = error["data"]["state"] if error else answer["result"]["state"]
        self.state = None if found is None else msgspec.convert(found, State)
        if error:
            raise RequestError(error["code"], error["message"], self.state)
        return answer["result"]["value"]

    def launch(self, *argv: str, **options: object) -> Session:
        """Launch a program; without arguments that of the server."""
        return self._opened("session.launch", argv=list(argv), **options)

    def attach(self, pid: int = 0, **options: object) -> Session:
        """Attach to a running program, by its process or another way of ``session.attach``."""
        return self._opened("session.attach", pid=pid, **options)

    def open(self, path: str, **options: object) -> Session:
        """Open a recording, a capture or a scene."""
        return self._opened("session.open", path=path, **options)

    def _opened(self, method: str, **params: object) -> Session:
        return Session(self, self.request(method, **params)["session"])

    def compare(self, before: Session | str, after: Session | str, over_ms: float = 20) -> Any:  # noqa: ANN401 - any value of JSON
        """Compare two sessions or files: frame times, calls, and what was late in sessions."""
        sides = [each.number if isinstance(each, Session) else each for each in (before, after)]
        over_ns = round(over_ms * 1_000_000)
        return self.request("session.compare", before=sides[0], after=sides[1], over_ns=over_ns)

    def close(self) -> None:
        """Leave: what is held is let go, and what was launched is ended."""
        with suppress(OSError):
            self._writer.close()
        if self._process is not None:
            self._process.wait()
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """A session of a server.

    Attributes:
        number: Its number.
    """

    def __init__(self, client: Client, number: int) -> None:
        self.number = number
        self._client = client

    def request(self, method: str, **params: object) -> Any:  # noqa: ANN401 - any value of JSON
        """Ask for something of this session; see :meth:`Client.request`."""
        return self._client.request(method, session=self.number, **params)

    def pages(self, method: str, **params: object) -> Iterator[Any]:
        """Yield all items of a method that returns pages."""
        offset: int | None = 0
        while offset is not None:
            page = self.request(method, offset=offset, limit=_PAGE, **params)
            yield from page["items"]
            offset = page["next"]

    @property
    def state(self) -> State:
        """What it does now, and who holds what."""
        self.request("session.state")
        assert self._client.state is not None
        return self._client.state

    def wait(self, seconds: float) -> bool:
        """Let session time pass; returns whether it did, and the program has not ended."""
        found = self.request("session.wait", seconds=seconds, timeout_s=seconds + 600)
        return bool(found["is_complete"])

    def command(self, name: str, **values: object) -> str:
        """Give a command such as ``set_rate``; returns it in words once it is carried out."""
        return str(self.request(f"command.{name}", **values)["text"])

    def hold(self) -> None:
        """Stop time."""
        self.command("hold")

    def run(self) -> None:
        """Let time pass."""
        self.command("run")

    def change(self, text: str) -> None:
        """Make a change in words, such as ``pause enemies`` or ``rate game 1/2``."""
        self.request("session.change", change=text)

    def clocks(self) -> list[Clock]:
        """Return all clocks."""
        return msgspec.convert(list(self.pages("session.clocks")), list[Clock])

    def timers(self) -> list[Timer]:
        """Return all that waits to be called, the next due first."""
        return msgspec.convert(list(self.pages("session.timers")), list[Timer])

    def tasks(self) -> list[Task]:
        """Return all tasks; the program tells them from the first call on, soon after it."""
        return msgspec.convert(list(self.pages("session.tasks")), list[Task])

    def explain(self, timer: str | int, at_ns: int | None = None) -> Explanation:
        """Explain why a timer has not fired, or fired when it did."""
        found = self.request("session.explain", timer=str(timer), at_ns=at_ns)
        return msgspec.convert(found, Explanation)

    def late(self, over_ms: float = 20, limit: int = 100) -> list[LateCall]:
        """Return the calls that were late, the worst first."""
        over_ns = round(over_ms * 1_000_000)
        found = self.request("session.late", over_ns=over_ns, limit=limit)["items"]
        return msgspec.convert(found, list[LateCall])

    def findings(self) -> list[Finding]:
        """Return the problems found so far."""
        return msgspec.convert(self.request("session.findings"), list[Finding])

    def sql(self, query: str) -> Sequence[Sequence[Any]]:
        """Ask a recording in SQL; returns at most 1,000 rows."""
        rows: list[list[Any]] = self.request("session.sql", query=query, limit=_PAGE)["rows"]
        return rows

    def export(self, path: str, **options: object) -> None:
        """Write a graph, table, report, timeline or trace."""
        self.request("session.export", path=path, **options)

    def close(self) -> None:
        """Close it: a program that was launched ends, others are let go."""
        self.request("session.close")
