"""The arguments of the command ``lab``; imports nothing heavy."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Final

LAB_EPILOG: Final = """\
what is compared:
  Every timer runs on every subject (our clocks and schedulers, the originals and
  their repairs) under every display, in virtual time: nothing is waited for. A
  firing is right if it comes within a frame of what was asked for: the first after
  the delay or else one interval, the others one interval apart. Lateness is that of
  each firing against what was asked of its number; drift is that of the last one.

  With --scene, a scene runs under each display as in a program that looks at its
  clocks once a frame. Expected is what its timers do where nothing is ever late, at
  the scene's own frame rate.

timers:
  NAME=INTERVAL or INTERVAL, then ,repeat=N (calls after the first) and ,delay=D.
  Durations are 1.5 (seconds), 250ms, 1/60, “3 min”. A file of timers is a CSV with
  the columns name, interval, repeat, delay, or a JSON array of such objects.

examples:
  timeline-inspector lab
  timeline-inspector lab --subject egret* --display 30,60,144,240,variable
  timeline-inspector lab --timer blink=500ms --timer shot=100ms,repeat=9,delay=2
  timeline-inspector lab --timers timers.csv --frame-times PresentMon.csv --seconds 60
  timeline-inspector lab --scene game.py --display 30,240 --export game.svg --check

Exit code 0 when it was run, whatever came out; 1 if a callback of the scene failed, a
file could not be read or written, or --check was given and a run is wrong; 2 if the
arguments make no sense; 4 if the scene could not be loaded.
"""


def add_lab_arguments(lab: ArgumentParser, duration_ns: Callable[[str], int]) -> None:
    """Add the arguments to the parser of the command.

    Args:
        lab: The parser.
        duration_ns: Reads a duration above 0, for argparse.
    """
    what = lab.add_argument_group("what is run (an interval of 1 second, if nothing is said)")
    what.add_argument("--scene", metavar="FILE", help="a scene file, or a number or name")
    what.add_argument(
        "--timers",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="a CSV or JSON of timers; may be repeated",
    )
    what.add_argument(
        "--timer",
        metavar="NAME=INTERVAL",
        action="append",
        default=[],
        help="one timer, see below; may be repeated",
    )
    what.add_argument(
        "--subject",
        metavar="NAME",
        action="append",
        default=[],
        help="what timers live on: names as --list shows them, with commas; egret* for a "
        "family (default all)",
    )
    under = lab.add_argument_group("under which displays")
    under.add_argument(
        "--display",
        metavar="HZ",
        action="append",
        default=[],
        help="rates with commas, or variable, or variable:SEED (default 60,144,240)",
    )
    under.add_argument(
        "--frame-times",
        metavar="FILE[:COLUMN]",
        action="append",
        default=[],
        help="the frames of a capture, as another display; may be repeated",
    )
    under.add_argument(
        "--seconds",
        metavar="S",
        type=duration_ns,
        help="how long (default 10; a capture: as long as it is)",
    )
    output = lab.add_argument_group("what comes out")
    output.add_argument(
        "--export",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="write the table (.csv), every firing (.json) or a picture (.svg .png .pdf); "
        "may be repeated",
    )
    output.add_argument("--title", metavar="TEXT", default="", help="heading of a picture")
    output.add_argument("--theme", choices=("light", "dark"), default="light")
    output.add_argument("--json", action="store_true", help="everything, as JSON")
    output.add_argument(
        "--check", action="store_true", help="exit with 1 if a run is more than a frame off"
    )
    output.add_argument("--list", action="store_true", help="list subjects and displays")
