"""Tools for assistants, used as an assistant uses them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.exit_codes import ExitCode
from tests.forked.python import COMMAND_LINE, run_python

_BLOCKED = """
import asyncio, time
def report():
    until = time.monotonic() + {seconds}
    while time.monotonic() < until:
        sum(range(100))
async def reports():
    while True:
        await asyncio.sleep(0.3)
        report()
async def beat():
    while True:
        await asyncio.sleep(0.02)
async def main():
    await asyncio.gather(beat(), reports())
asyncio.run(main())
"""

Call = Callable[..., Awaitable[Any]]


def _assist(work: Callable[[Call], Awaitable[None]], *arguments: str) -> None:
    """Start the server as an assistant does, and have it worked with."""
    mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
    stdio = pytest.importorskip("mcp.client.stdio")

    async def connect() -> None:
        command = ["-m", "inspector", "mcp", *arguments]
        server = mcp.StdioServerParameters(command=sys.executable, args=command)
        async with (
            stdio.stdio_client(server) as streams,
            mcp.ClientSession(*streams) as session,
        ):
            await session.initialize()

            async def call(tool: str, **values: object) -> Any:  # noqa: ANN401 - any answer
                found = await session.call_tool(tool, values)
                text = found.content[0].text
                return text if found.is_error else json.loads(text)

            await work(call)

    asyncio.run(asyncio.wait_for(connect(), 100))


def _culprits(late: dict[str, Any]) -> set[str]:
    # On a busy machine, calls are late by the system too.
    return {each["culprit"]["function"] for each in late["items"] if each["culprit"]}


def test_that_an_assistant_finds_the_culprit_and_proves_the_repair(tmp_path: Path) -> None:
    for name, seconds in (("before", 0.2), ("after", 0.001)):
        (tmp_path / f"{name}.py").write_text(_BLOCKED.format(seconds=seconds))

    async def work(call: Call) -> None:
        sessions = []
        for name in ("before", "after"):
            command = [sys.executable, str(tmp_path / f"{name}.py")]
            opened = await call("open_session", command=command)
            sessions.append(opened["value"]["session"])
            await call("wait", seconds=2.5, session=sessions[-1])
        late = await call("find_culprits", over_ms=100, session=sessions[0])
        assert "report" in _culprits(late["value"])
        compared = await call("compare", before=sessions[0], after=sessions[1], over_ms=100)
        lates = compared["value"]["late"]
        assert "report" in _culprits(lates["before"])
        assert "report" not in _culprits(lates["after"])

    _assist(work)


def test_that_read_only_holds_and_says_so() -> None:
    async def work(call: Call) -> None:
        assert "grants “read-only” only" in await call("open_session", command=["true"])

    _assist(work, "--grant", "read-only")


def test_that_a_missing_library_is_said() -> None:
    hidden = "import sys; sys.modules['mcp'] = None; from inspector.launcher import main; "
    words = ["-c", hidden + "sys.exit(main(['mcp']))"]
    done = run_python(COMMAND_LINE, words, os.environ, Path.cwd())
    assert done.returncode == ExitCode.BAD_ENVIRONMENT
    assert "pip install 'timeline-inspector[mcp]'" in done.stderr
