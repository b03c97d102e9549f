"""The commands ``explain`` and ``lint``: their arguments and help."""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser, ArgumentTypeError
from typing import Final

from inspector.analysis.lint.rules import kinds
from inspector.cli.command import Subcommand
from inspector.cli.commands.values import add_stream, add_time_source, budget_ms, duration_ns
from inspector.cli.terminal import add_json
from inspector.timebase import parse_duration_ns

DEFAULT_SECONDS: Final = 60
#: Default duration in real time, which the user spends waiting.
DEFAULT_REAL_SECONDS: Final = 10

EXPLAIN_EPILOG: Final = f"""\
A scene is first run in virtual time, for --seconds or up to --at. Each line gives an
instant, what happened and, in brackets, the event of the log that proves it. In virtual
time a blocking callback takes no time and delays nothing; the answer mentions callbacks
that took longer than a frame. --real-time shows their effect.

TIMER is a number, a name or the beginning of a name. If several timers have the name,
the pending timer is taken, or the last one; if several are pending, they are listed.
Calls of schedulers, components and state machines are found by name, too, and by number
as in member:5.

At an instant before the end, the answer includes what was predicted there for the next
calls of the timer, and whether it came true. --preview tells when the timers of a branch
would fire after a pause or a change of rate: “pause CLOCK”, “resume CLOCK”, “rate CLOCK
R”. CLOCK is a name, a path or a number. The same works for schedulers, targets and
tickers, whose timers are called in the first frame at or after the given instant:
“pause TARGET”, “resume TARGET”, “scale SCHEDULER R”, “pause SCHEDULER from PRIORITY”.
TARGET and SCHEDULER are names, or numbers as in member:5.

examples:
  timeline-inspector explain 1 "boss arrives"
  timeline-inspector explain game.py autosave --at 12.5 --seconds 30
  timeline-inspector explain crash.tlrec 1049 --at 02:10.5
  timeline-inspector explain crash.tlrec --at 40 --preview "pause enemies"
  timeline-inspector explain game.py --at 3 --preview "rate game 1/2"
  timeline-inspector explain 7 --at 3 --preview "scale ours 1/2"

Exit code 0 when the timer was explained; 2 if there is no such timer, or several; 4 if
the scene could not be loaded. By default a scene runs for {DEFAULT_SECONDS} seconds, or for
{DEFAULT_REAL_SECONDS} in real time.
"""

_DETAIL_COLUMN: Final = 22


def _kinds_text() -> str:
    indent = " " * _DETAIL_COLUMN
    return "\n".join(
        textwrap.fill(
            kind.detail,
            88,
            initial_indent=f"  {kind.name} ".ljust(_DETAIL_COLUMN),
            subsequent_indent=indent,
        )
        for kind in kinds()
    )


LINT_EPILOG: Final = f"""\
findings:
{_kinds_text()}

Timers of schedulers and tickers are checked as well as timers of clocks.

examples:
  timeline-inspector lint game.py --seconds 600
  timeline-inspector lint game.py --real-time --seconds 10
  timeline-inspector lint 3 --json
  timeline-inspector lint game.tlrec --budget 60fps

Exit code 0 without findings, 1 with findings; 2 if the arguments are not valid; 4 if the
scene could not be loaded; 8 if there are none in a recording of which parts are missing; 9
if it cannot be read. A scene runs in virtual time, for {DEFAULT_SECONDS} seconds by
default. Blocking callbacks take no time there; --real-time finds them, and runs for
{DEFAULT_REAL_SECONDS} seconds by default.
"""


def add_explain_arguments(explain: ArgumentParser) -> None:
    _add_past(explain)
    explain.add_argument("timer", metavar="TIMER", nargs="?", help="number or name of the timer")
    explain.add_argument(
        "--at",
        metavar="T",
        type=_instant_ns,
        help="session time to explain from: 12.5, 02:10.5 (default: the end)",
    )
    explain.add_argument(
        "--preview",
        metavar="CHANGE",
        help="effect of a change: “pause CLOCK”, “resume CLOCK”, “rate CLOCK R”, "
        "“scale SCHEDULER R” and others, see below",
    )
    add_json(explain)


def add_lint_arguments(lint: ArgumentParser) -> None:
    _add_past(lint)
    lint.add_argument(
        "--budget",
        metavar="MS",
        type=budget_ms,
        help="what frames are held against: 60fps, 16.7 (default: the scene's rate; for a loop "
        "of a program, its usual frame)",
    )
    add_json(lint)


def _add_past(parser: ArgumentParser) -> None:
    parser.add_argument(
        "past",
        metavar="RECORDING-or-SCENE",
        help="a recording, a scene file, or the number or name of a scene",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=duration_ns,
        help=f"how long to run the scene (default {DEFAULT_SECONDS}, in real time "
        f"{DEFAULT_REAL_SECONDS})",
    )
    add_stream(parser)
    add_time_source(
        parser.add_mutually_exclusive_group(),
        "run the scene in real time, where blocking callbacks delay others",
    )


def _instant_ns(text: str) -> int:
    try:
        at_ns = parse_duration_ns(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if at_ns < 0:
        raise ArgumentTypeError(f"there is nothing before 0: {text!r}")
    return at_ns


EXPLAIN: Final = Subcommand(
    add_explain_arguments, "inspector.cli.explain:explain_command", EXPLAIN_EPILOG
)
LINT: Final = Subcommand(add_lint_arguments, "inspector.cli.explain:lint_command", LINT_EPILOG)
