"""The command ``attach``: its arguments and help."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser, ArgumentTypeError, Namespace
from typing import Final

from inspector.cli.command import Subcommand
from inspector.cli.commands.run import add_outputs
from inspector.cli.commands.values import add_several, count, duration_ns, instant_ns, port, rate

EPILOG: Final = """\
The program's own command line comes last; its options are left to it. It may be a
console script, a file that can be executed, any Python from 3.9 on, or Node:

  timeline-inspector attach python3 game.py --level 3
  timeline-inspector attach --hold ./game.py
  timeline-inspector attach -- python3 -m aiosmtpd -n

Without --seconds, the window opens. When it is closed, the program goes on.
A running program is named by its process; without any, those that can be attached
are listed. Python 3.14 and newer can be attached late, programs that have called
timeline_probe.serve() at any time, and Node.

without a window:
  timeline-inspector attach --seconds 10 --rate 1/4 python3 game.py
  timeline-inspector attach --seconds 10 --hold-at 3 --hold-for 2 --json ./game.py
  timeline-inspector attach --seconds 60 --record game.tlrec --export game.svg 4711

on another host:
  timeline-inspector attach --ssh web-1 -- python3 server.py
  timeline-inspector attach --exec "docker exec -i shop" -- python3 server.py
  timeline-inspector attach --ssh web-1             # lists programs that run there

A program that was launched is ended (SIGTERM) when the time is over, with everything
that it has started; what has not ended after --grace is killed, which is said. Its
output goes to standard error with --json, else where the report goes. Ctrl+C ends the
watching, and the report is about what was seen.

Exit code: that of the program, if it was launched and ended by itself (128 and the
signal, if one has ended it); 0 if the time was over; 7 if no program could be
attached; 126 and 127 if it may not be executed or was not found.
"""


def add_hosts(parser: ArgumentParser) -> None:
    hosts = parser.add_argument_group("on another host")
    add_several(
        hosts,
        "--ssh",
        metavar="[USER@]HOST",
        help="launch the program there, or attach to a process there, by the system's ssh, "
        "whose options may stand before the host in quotation marks; may be repeated",
    )
    add_several(
        hosts,
        "--exec",
        metavar="COMMAND",
        help="the same by a command that runs what stands after it, such as “docker exec -i NAME”",
    )


def add_ways(parser: ArgumentParser) -> None:
    doors = parser.add_argument_group("other ways in")
    ways = doors.add_mutually_exclusive_group()
    ways.add_argument(
        "--dial",
        metavar="ADDRESS",
        help="a program that listens at unix:/path or tcp:127.0.0.1:PORT; its token is read "
        "from TIMELINE_PROBE_TOKEN",
    )
    ways.add_argument(
        "--listen",
        choices=("unix", "tcp"),
        help="wait for programs started elsewhere, as in a container; says what they need",
    )
    ways.add_argument(
        "--browser",
        metavar="URL|PORT",
        help="a page in a browser of its own, or the pages of one that runs with "
        "--remote-debugging-port",
    )
    doors.add_argument(
        "--headless", action="store_true", help="show no window of the browser (--browser)"
    )
    ways.add_argument(
        "--listen-websocket",
        metavar="PORT",
        type=port,
        help="wait for pages that dial by themselves; 0 for any port",
    )
    add_several(
        doors,
        "--origin",
        metavar="ORIGIN",
        help="origin of pages that may dial besides those of this machine; may be repeated",
    )


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "program",
        metavar="PROGRAM ARGS… | PID",
        nargs=REMAINDER,
        help="command line to launch, or the process of a running program",
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the programs that run, and which can be attached to; as without PROGRAM or PID",
    )
    add_hosts(parser)
    add_ways(parser)
    program = parser.add_argument_group("the program")
    program.add_argument(
        "--hold", action="store_true", help="hold a launched program before its first frame"
    )
    program.add_argument(
        "--grant",
        choices=("read-only", "step", "full"),
        default="full",
        help="what may be done in it: nothing, pause and step, or everything (default)",
    )
    program.add_argument(
        "--grace",
        metavar="S",
        type=duration_ns,
        help="how long a launched program has to end by itself when it is asked to (SIGTERM), "
        "before it is killed (default: 10)",
    )
    time = parser.add_argument_group("without a window")
    time.add_argument(
        "--seconds", metavar="S", type=duration_ns, help="how long to watch: 10, 90s, “3 min”"
    )
    time.add_argument("--rate", metavar="R", type=rate, help="rate of the program: 0.25, 1/3, 2x")
    time.add_argument(
        "--hold-at",
        metavar="S",
        type=instant_ns,
        help="hold the program, with its children, after so long",
    )
    time.add_argument(
        "--hold-for", metavar="S", type=duration_ns, help="and let them go on after so long"
    )
    time.add_argument(
        "--stream",
        metavar="NAME",
        help="the loop whose frames to report and export, by a part of its name (default: the "
        "first that runs one); a recording has those of all",
    )
    add_outputs(parser)


#: Options that work only without a window, which ``--seconds`` asks for.
_HEADLESS: Final = ("rate", "hold_at", "hold_for", "stream", "export", "record", "quiet")


def _check_list(options: Namespace) -> None:
    other = options.program or options.dial or options.listen or options.browser
    if options.list and (other or options.listen_websocket is not None):
        options.parser.error("--list lists all programs: give none, and no way in but a host")


def _check(options: Namespace) -> None:
    error = options.parser.error
    _read_program(options)
    _check_list(options)
    ways = options.dial or options.listen or options.browser
    ways = bool(ways) or options.listen_websocket is not None
    hosts = [*options.ssh, *options.exec]
    if ways and (options.program or hosts):
        error("give either a program, or another way in")
    if len(hosts) > 1 and (not options.program or options.pid is not None):
        error("give one host, or a program to be launched on each")
    ways = ways or bool(options.program)
    if options.hold and not options.browser and (not options.program or options.pid is not None):
        error("--hold is for a program that is launched; use --hold-at")
    if options.grace is not None and (not options.program or options.pid is not None):
        error("--grace is for a program that is launched; others are left alone")
    if options.hold and options.hold_at is not None:
        error("--hold is the same as --hold-at 0: give one of them")
    if options.hold_for is not None and options.hold_at is None and not options.hold:
        error("--hold-for needs --hold-at, or --hold")
    if options.seconds is not None:
        if not ways:
            error("give a program to watch: its command line, or its process")
        return
    # Without a program to attach to, --json is for the list of programs.
    names = [*_HEADLESS, *(["json"] if ways else [])]
    given = next((name for name in names if getattr(options, name) not in (None, [], False)), None)
    if given is not None:
        error(f"--{given.replace('_', '-')} needs --seconds, which runs without a window")


def _read_program(options: Namespace) -> None:
    options.pid = None
    command = options.program
    if command[:1] == ["--"]:
        options.program = command[1:]
        if not options.program:
            options.parser.error("write a program after --")
    elif command and command[0].isascii() and command[0].isdecimal():
        try:
            pid = count(command[0])
        except ArgumentTypeError as error:
            options.parser.error(f"argument PID: {error}")
        # What follows a process are our own options: there is no program to hand them to.
        options.parser.parse_args(command[1:], options)
        if options.program:
            options.parser.error(f"unrecognized arguments: {' '.join(options.program)}")
        options.program, options.pid = command[:1], pid


ATTACH: Final = Subcommand(add_arguments, "inspector.cli.attach:attach", EPILOG, _check)
