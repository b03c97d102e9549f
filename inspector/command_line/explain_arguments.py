"""The arguments of the commands ``explain`` and ``lint``; imports nothing heavy."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from typing import Final

from inspector.timebase import parse_duration_ns

#: So much session time a scene is run for if nothing else is said.
DEFAULT_SECONDS: Final = 60
#: So much in real time, for which somebody waits.
DEFAULT_REAL_SECONDS: Final = 10

EXPLAIN_EPILOG: Final = f"""\
A scene is run in virtual time first, for --seconds, or as far as --at. Each line says
when something was, what it was and, in brackets, which event of the log says so. In
virtual time a callback that blocks takes no time and makes nothing late; where one took
longer than a frame that is said. With --real-time it is seen what it does.

TIMER is a number, a name or the beginning of one. If several timers have the name, the
one that waits is taken, else the last one; if several wait, they are listed. Calls of
schedulers, components and state machines are found by their names as well, and by
number as in member:5.

At an instant before the end it is said as well what was predicted there for the next
calls of the timer, and what came of it. With --preview it is said when the timers of a
branch would fire after a pause or another rate, instead of why a timer has not fired:
“pause CLOCK”, “resume CLOCK”, “rate CLOCK R”. A clock is a name, a path or a number.
The same can be asked of schedulers, targets and tickers, whose timers are called in the
first frame from the instant on that is named: “pause TARGET”, “resume TARGET”,
“scale SCHEDULER R”, “pause SCHEDULER from PRIORITY”. Those are names, or member:5.

examples:
  timeline-inspector explain 1 "boss arrives"
  timeline-inspector explain game.py autosave --at 12.5 --seconds 30
  timeline-inspector explain crash.tlrec 1049 --at 02:10.5
  timeline-inspector explain crash.tlrec --at 40 --preview "pause enemies"
  timeline-inspector explain game.py --at 3 --preview "rate game 1/2"
  timeline-inspector explain 7 --at 3 --preview "scale ours 1/2"

Exit code 0 when it was explained; 2 if there is no such timer, or several; 4 if the
scene could not be loaded. A scene is run for {DEFAULT_SECONDS} seconds if nothing is said, for
{DEFAULT_REAL_SECONDS} in real time.
"""

LINT_EPILOG: Final = f"""\
what is looked for:
  leak                repeating timers of one place that become more and more, or
                      one-shots that pile up on a clock that stands still
  owner gone          timers and updates that a destroyed node or component has left
                      in a scheduler
  never fired         timers set on a clock that has stood still ever since
  storm               a timer that is called more than 20 times in one frame
  herd                30 timers of a clock or more in one frame, with a stagger
  sub-frame interval  an interval shorter than a frame
  beating             an interval of a few frames that is no whole number of them
  drift               a timer that sets itself again, or counts from its last call,
                      and comes later each time
  skipped ticks      ticks that were late and left out by the timer's policy
  wrong pace          a timer that comes much sooner or later than its interval says
  over budget         more than one frame in twenty longer than a frame at the scene's
                      rate by more than 15 % (at least 1 ms)
  blocks others       a callback that takes longer than a frame, and the timers that
                      had to wait for it

Timers of schedulers and tickers are looked at as well as those of clocks.

examples:
  timeline-inspector lint game.py --seconds 600
  timeline-inspector lint game.py --real-time --seconds 10
  timeline-inspector lint 3 --json

Exit code 0 when nothing was found; 1 when something was; 2 if the arguments make no
sense; 4 if the scene could not be loaded. A scene is run in virtual time, for
{DEFAULT_SECONDS} seconds if nothing is said. A callback that blocks takes no time there, so that
--real-time, for {DEFAULT_REAL_SECONDS} seconds if nothing is said, finds more.
"""


def add_explain_arguments(explain: ArgumentParser, duration_ns: Callable[[str], int]) -> None:
    """Add the arguments to the parser of the command ``explain``.

    Args:
        explain: The parser.
        duration_ns: Reads a duration above 0, for argparse.
    """
    _add_past(explain, duration_ns)
    explain.add_argument("timer", metavar="TIMER", nargs="?", help="its number, or its name")
    explain.add_argument(
        "--at",
        metavar="T",
        type=_instant_ns,
        help="session time to look from: 12.5, 02:10.5 (default: the end)",
    )
    explain.add_argument(
        "--preview",
        metavar="CHANGE",
        help="what a change would do: “pause CLOCK”, “resume CLOCK”, “rate CLOCK R”, "
        "“scale SCHEDULER R” and others, see below",
    )
    explain.add_argument("--json", action="store_true", help="as JSON, for programs")


def add_lint_arguments(lint: ArgumentParser, duration_ns: Callable[[str], int]) -> None:
    """Add the arguments to the parser of the command ``lint``."""
    _add_past(lint, duration_ns)
    lint.add_argument("--json", action="store_true", help="as JSON, for programs")


def _add_past(parser: ArgumentParser, duration_ns: Callable[[str], int]) -> None:
    parser.add_argument(
        "past",
        metavar="RECORDING-or-SCENE",
        help="a recording, a scene file, or the number or name of a scene",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=duration_ns,
        help=f"how long a scene is run (default {DEFAULT_SECONDS}, in real time "
        f"{DEFAULT_REAL_SECONDS})",
    )
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="run a scene on the computer's clock, where callbacks that block make others late",
    )


def _instant_ns(text: str) -> int:
    try:
        at_ns = parse_duration_ns(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if at_ns < 0:
        message = f"there is nothing before 0: {text!r}"
        raise ArgumentTypeError(message)
    return at_ns
