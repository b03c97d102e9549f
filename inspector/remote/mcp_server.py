"""The command ``mcp``: sessions as a few tools for assistants, by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final, Literal, TextIO

from inspector import __version__
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode
from inspector.remote.opened import ConnectedClient
from inspector.remote.request_handler import RequestHandler
from inspector.remote.serving import own_streams

_INSTRUCTIONS: Final = (
    "Shows and controls time in running programs: why timers fire late, who blocks a loop, what "
    "is paused. Open a session, wait some seconds, call find_culprits; after a repair, open "
    "another session, wait as long, and compare both. Every answer has “state”: whether the "
    "program is held, and by whom. A program that is held is not broken. What was not measured "
    "is called unknown: do not guess a culprit."
)
#: The lists that can be shown, each the name of the method that returns it.
Kind = Literal[
    "clocks",
    "timers",
    "tasks",
    "members",
    "frames",
    "events",
    "commands",
    "failures",
    "marks",
    "loops",
]


class NoLibraryError(InspectorError):
    """The library of the protocol is not installed."""

    exit_code = ExitCode.BAD_ENVIRONMENT


class Tools:
    """The tools; each docstring is what an assistant reads of it."""

    def __init__(self, handler: RequestHandler, refused: type[Exception]) -> None:
        """Begin as a client of a handler; what is refused raises ``refused``."""
        self._handler = handler
        self._refused = refused
        self._client: ConnectedClient = handler.connect(lambda _line: None)

    async def _ask(self, method: str, **params: object) -> dict[str, Any]:
        given = {name: value for name, value in params.items() if value is not None}
        answer = await asyncio.to_thread(self._handler.ask, self._client, method, given)
        if "error" in answer:
            state = answer["error"]["data"]["state"]
            told = f" State: {state['message']}" if state else ""
            raise self._refused(f"{answer['error']['message']}{told}")
        found: dict[str, Any] = answer["result"]
        return found

    async def list_programs(self) -> dict[str, Any]:
        """List the running programs that can be attached to, and why others cannot."""
        return await self._ask("programs.list")

    async def open_session(  # noqa: PLR0913, PLR0917 - the ways in
        self,
        command: list[str] | None = None,
        pid: int | None = None,
        file: str | None = None,
        folder: str | None = None,
        ssh: str | None = None,
        exec: str | None = None,  # noqa: A002 - the option is called so
        browser: str | None = None,
        dial: str | None = None,
        token: str | None = None,
    ) -> dict[str, Any]:
        """Open a session on one of: a command line to launch, a process, a page, a file.

        A file is a recording (.tlrec), a capture or a scene. A command or process on another host
        is reached by “ssh” ([USER@]HOST), or by a command in “exec” that runs what stands after it,
        such as docker exec -i NAME. A program that listens is named by “dial” and “token”. Without
        arguments, the program that this server was started for is launched. The answer has the
        number of the session.
        """
        hosts = {"ssh": [ssh] if ssh else None, "exec": [exec] if exec else None}
        if pid is not None or browser is not None or dial is not None:
            ways = {"pid": pid, "browser": browser, "dial": dial, "token": token}
            return await self._ask("session.attach", **ways, **hosts)
        if file is not None:
            return await self._ask("session.open", path=file)
        return await self._ask("session.launch", argv=command or [], folder=folder, **hosts)

    async def sessions(self) -> dict[str, Any]:
        """List the open sessions: what each does, and who holds what."""
        return await self._ask("session.list")

    async def wait(self, seconds: float, session: int = 0) -> dict[str, Any]:
        """Let a program run for some seconds, so that there is something to see."""
        return await self._ask("session.wait", seconds=seconds, session=session)

    async def find_culprits(self, over_ms: float = 20, session: int = 0) -> dict[str, Any]:
        """List calls later than a limit, the worst first, each with what made it late.

        The culprit is a function with its file and line, where one was seen.
        """
        over_ns = round(over_ms * 1_000_000)
        return await self._ask("session.late", over_ns=over_ns, session=session, limit=100)

    async def explain(
        self, timer: str, at_ns: int | None = None, session: int = 0
    ) -> dict[str, Any]:
        """Explain why a timer has not fired, or fired when it did, by its name or number."""
        return await self._ask("session.explain", timer=timer, at_ns=at_ns, session=session)

    async def findings(self, session: int = 0) -> dict[str, Any]:
        """List the problems that rules have found in timers and frames, each with a remedy."""
        return await self._ask("session.findings", session=session)

    async def show(
        self, kind: Kind, offset: int = 0, limit: int = 50, session: int = 0
    ) -> dict[str, Any]:
        """List clocks, timers, tasks, frames or others of a session, a page at a time."""
        page = {} if kind == "loops" else {"offset": offset, "limit": limit}
        return await self._ask(f"session.{kind}", session=session, **page)

    async def control(self, change: str, session: int = 0) -> dict[str, Any]:
        """Hold, run or step a program, or change a clock.

        Write “hold”, “run”, “step”, “pause NAME”, “resume NAME” or “rate NAME 1/2”. What is held
        is let go when this server ends.
        """
        commands = {"hold": "hold", "run": "run", "step": "step_frames"}
        name = commands.get(change.strip().lower())
        if name is not None:
            return await self._ask(f"command.{name}", session=session)
        return await self._ask("session.change", change=change, session=session)

    async def compare(
        self, before: int | str, after: int | str, over_ms: float = 20
    ) -> dict[str, Any]:
        """Compare two sessions, or two files, and say how certain a difference is.

        Of sessions it has what was late in each, so that a repair can be proved.
        """
        over_ns = round(over_ms * 1_000_000)
        return await self._ask("session.compare", before=before, after=after, over_ns=over_ns)

    async def query(self, sql: str, session: int = 0) -> dict[str, Any]:
        """Ask the tables of a recording in SQL, such as frames, timers, pauses and commands."""
        return await self._ask("session.sql", query=sql, session=session)

    async def close_session(self, session: int = 0) -> dict[str, Any]:
        """Close a session: a program that was launched ends, others go on."""
        return await self._ask("session.close", session=session)

    def all(self) -> list[Callable[..., Any]]:
        return [
            self.list_programs,
            self.open_session,
            self.sessions,
            self.wait,
            self.find_culprits,
            self.explain,
            self.findings,
            self.show,
            self.control,
            self.compare,
            self.query,
            self.close_session,
        ]


def serve_mcp(options: Namespace, _out: TextIO, _err: TextIO) -> int:
    """Serve tools on standard input and output until the input ends."""
    try:
        # An optional dependency, which only this command needs.
        from mcp.server import MCPServer  # noqa: PLC0415
        from mcp.server.mcpserver.exceptions import ToolError  # noqa: PLC0415
    except ImportError as error:
        message = (
            "The library “mcp” is missing or too old. "
            "Install it: pip install 'timeline-inspector[mcp]'."
        )
        raise NoLibraryError(message) from error
    read, write = own_streams()
    sys.stdin = os.fdopen(read, "r", encoding="utf-8")
    sys.stdout = os.fdopen(write, "w", encoding="utf-8")
    with closing(RequestHandler(options.grant, tuple(options.program))) as handler:
        server = MCPServer(
            "timeline-inspector", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR"
        )
        for tool in Tools(handler, ToolError).all():
            server.tool()(tool)
        server.run("stdio")
    return ExitCode.OK
