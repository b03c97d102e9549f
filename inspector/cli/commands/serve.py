"""The commands ``serve`` and ``mcp``: their arguments and help."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from inspector.cli.command import Subcommand

_EPILOG: Final = """\
Requests are JSON-RPC 2.0, one on each line: everything that the window can do with a
session, for scripts, editors and other programs. The help page “By remote” has the
methods; inspector.client is a client for Python. A client that goes lets go what it held,
and its sessions are closed.

With --grant read-only, nothing is held, launched, run or written: programs that run are
attached to, and files are read. A program after -- may be launched all the same.

examples:
  timeline-inspector serve --stdio
  timeline-inspector serve --schema
  timeline-inspector serve --unix /tmp/inspector.sock --grant step
  timeline-inspector serve --stdio --grant read-only -- python3 server.py

Exit code 0 when the input ends, or with --schema.
"""


def add_arguments(parser: ArgumentParser) -> None:
    ways = parser.add_mutually_exclusive_group(required=True)
    ways.add_argument("--stdio", action="store_true", help="answer on standard output")
    ways.add_argument(
        "--unix", metavar="FILE", type=Path, help="listen at a Unix socket of this user"
    )
    ways.add_argument(
        "--schema", action="store_true", help="print all methods with their parameters (OpenRPC)"
    )
    add_common_arguments(parser)


def add_common_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "program",
        metavar="-- PROGRAM ARGS…",
        nargs=REMAINDER,
        help="a program that may be launched under any grant",
    )
    # Sends what scenes print to standard error: standard output is for answers.
    parser.set_defaults(json=True)
    parser.add_argument(
        "--grant",
        choices=("read-only", "step", "full"),
        default="full",
        help="what clients may do: only look, also hold and step, or everything (default)",
    )


def check(options: Namespace) -> None:
    if options.program[:1] == ["--"]:
        options.program = options.program[1:]
    elif options.program:
        options.parser.error(f"write a program after --, not {options.program[0]}")


SERVE: Final = Subcommand(add_arguments, "inspector.remote.serving:serve", _EPILOG, check)

_MCP_EPILOG: Final = """\
Serves tools for assistants on standard input and output, by the Model Context Protocol:
attach to a program, find what makes its calls late, ask why a timer has not fired, hold
and step it, and compare before and after a repair. The help page “By remote” lists them.
Needs the library “mcp”: pip install 'timeline-inspector[mcp]'.

Nothing is done that this command line could not do. With --grant read-only, an assistant
looks at programs that run and at files; it launches nothing but the program after --.

examples:
  timeline-inspector mcp --grant read-only -- python3 server.py

Exit code 0 when the input ends; 5 if the library is missing.
"""

MCP: Final = Subcommand(
    add_common_arguments, "inspector.remote.mcp_server:serve_mcp", _MCP_EPILOG, check
)
