"""The command ``late``: its arguments and help."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, Namespace
from typing import Final

from inspector.cli.command import Subcommand
from inspector.cli.commands.attach import add_hosts
from inspector.cli.commands.values import add_stream, add_time_source, duration_ns
from inspector.cli.terminal import add_json

#: Default time for which a program is watched, in seconds.
DEFAULT_SECONDS: Final = 10
#: Calls later than this are listed, unless another time is given.
DEFAULT_OVER_NS: Final = 20_000_000

EPILOG: Final = f"""\
Lists the calls that were late, the worst first, each with what made it late: a function of
the program, a call that waits, garbage collection, another thread, the lack of a processor,
many short calls, a stopped process. What was not measured is called unknown. The help page
“Why late” says how each cause is measured, and when it is not claimed.

A recording is read; a scene is run in real time; a program is launched and watched until it
ends. Scenes and programs are watched for {DEFAULT_SECONDS} seconds unless --seconds is given.

examples:
  timeline-inspector late crash.tlrec
  timeline-inspector late --seconds 5 game.py
  timeline-inspector late --over 50ms --json -- python3 server.py
  timeline-inspector late --fail-over 100ms -- ./game.py --level 3
  timeline-inspector late --ssh web-1 -- python3 server.py

Exit code 0; 1 if a call was later than --fail-over; 2 if the arguments are not valid; 4 if
the scene could not be loaded; 7 if the program could not be attached to; 8 if events are
missing or no timer was called, so that --fail-over cannot be decided; 9 if the recording
cannot be read.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "target",
        metavar="RECORDING-or-SCENE | -- PROGRAM ARGS…",
        nargs=REMAINDER,
        help="a recording, a scene, or after -- the command line of a program",
    )
    parser.add_argument(
        "--over",
        metavar="T",
        type=duration_ns,
        default=DEFAULT_OVER_NS,
        help="list calls later than this (default 20ms)",
    )
    parser.add_argument(
        "--fail-over", metavar="T", type=duration_ns, help="exit with 1 if a call is later"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=duration_ns, help="how long to watch a scene or program"
    )
    add_json(parser)
    add_hosts(parser)
    add_stream(parser)
    add_time_source(parser.add_mutually_exclusive_group(), "run a scene in real time (default)")


def _check(options: Namespace) -> None:
    error = options.parser.error
    target = options.target
    options.past, options.program = None, []
    if target[:1] == ["--"]:
        options.program = target[1:]
        if not options.program:
            error("write a program after --")
        if options.stream is not None:
            error("--stream is for recordings")
        return
    if options.ssh or options.exec:
        error("write the program that runs on the other host after --")
    if not target:
        error("name a recording or a scene, or write a program after --")
    # What follows the file are our own options: there is no program to hand them to.
    options.parser.parse_args(target[1:], options)
    if options.target:
        error(f"unrecognized arguments: {' '.join(options.target)}; write a program after --")
    options.past = target[0]


LATE: Final = Subcommand(add_arguments, "inspector.cli.late:late", EPILOG, _check)
