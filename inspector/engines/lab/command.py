"""The command ``lab``: its arguments and help."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from inspector.cli.command import Subcommand
from inspector.cli.commands.values import add_several, add_stream, duration_ns

LAB_EPILOG: Final = """\
what is compared:
  Every timer runs on every subject (our clocks and schedulers, the originals and
  their repairs) under every display, in virtual time. A firing is right if it is
  within a frame of its expected instant: the first after the delay (or one interval),
  the others one interval apart. Lateness compares each firing with its expected
  instant; drift is the lateness of the last firing.

  With --scene, a scene runs under each display as in a program that reads its clocks
  once per frame. Expected is what its timers do at the scene's own frame rate when
  nothing is late.

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

Exit code 0 when the lab has run, whatever the result; 1 if a callback of the scene
failed, a file could not be written, or --check finds a wrong run; 2 if the arguments are
not valid; 4 if the scene could not be loaded; 9 if a file could not be read.
"""


def add_lab_arguments(lab: ArgumentParser) -> None:
    what = lab.add_argument_group("what to run (default: an interval of 1 second)")
    what.add_argument("--scene", metavar="FILE", help="a scene file, or a number or name")
    add_several(
        what, "--timers", metavar="FILE", type=Path, help="a CSV or JSON of timers; may be repeated"
    )
    add_several(
        what, "--timer", metavar="NAME=INTERVAL", help="one timer, see below; may be repeated"
    )
    add_several(
        what,
        "--subject",
        metavar="NAME",
        help="what timers run on: names as --list shows them, with commas; egret* for a "
        "family (default all)",
    )
    under = lab.add_argument_group("displays")
    add_several(
        under,
        "--display",
        metavar="HZ",
        help="rates, separated by commas; variable or variable:SEED (default 60,144,240)",
    )
    add_several(
        under,
        "--frame-times",
        metavar="FILE[:COLUMN]",
        help="use the frames of a capture as another display; may be repeated",
    )
    add_stream(under)
    under.add_argument(
        "--seconds",
        metavar="S",
        type=duration_ns,
        help="length of the runs (default 10; for a capture, its length)",
    )
    output = lab.add_argument_group("output")
    add_several(
        output,
        "--export",
        metavar="FILE",
        type=Path,
        help="write the table (.csv), every firing (.json) or a picture (.svg .png .pdf); "
        "may be repeated",
    )
    output.add_argument("--title", metavar="TEXT", default="", help="heading of a picture")
    output.add_argument("--theme", choices=("light", "dark"), default="light")
    output.add_argument("--json", action="store_true", help="print everything as JSON")
    output.add_argument(
        "--check", action="store_true", help="exit with code 1 if a run is more than a frame off"
    )
    output.add_argument("--list", action="store_true", help="list subjects and displays")


LAB: Final = Subcommand(
    add_lab_arguments, "inspector.engines.lab.command_line:run_lab_command", LAB_EPILOG
)
