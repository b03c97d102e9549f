"""The command ``run``: its arguments and help."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from inspector.analysis.statistics.frame_budget import OVER_RULE
from inspector.cli.command import Subcommand
from inspector.cli.commands.export import add_graph_options, add_overwrite, check_preset, suffixes
from inspector.cli.commands.values import (
    add_several,
    add_stream,
    add_time_source,
    count,
    duration_ns,
    failure_policy,
    output_file,
    rate,
    step_ns,
)
from inspector.clocks.failures import FailurePolicy

RUN_EPILOG: Final = f"""\
how time passes:
  --dt 1/60       virtual time, as fast as the processor allows: frames at this
                  distance, timers exactly when they are due (the default)
  --real-time     real time, at the scene's frame rate
  --source        time of an installed time source, likewise
  --frame-times   frames with the durations of a capture, as in a program that
                  reads its clocks once per frame: timers are as late as there

A frame is over budget when it is
{OVER_RULE}.
The report compares the plotted time (--measure) with --budget, or with a frame at the
scene's frame rate. Intervals of minutes are printed in seconds, so that milliseconds
given by mistake stand out. In real time it also says where the time between frames
went: to callbacks, the inspector, garbage collection, the host's lateness, or nothing
(idle); --json has the shares in nanoseconds.

examples:
  timeline-inspector run 1 --frames 600
  timeline-inspector run game.py --seconds "1 min" --export game.svg --export game.csv
  timeline-inspector run game.py --frame-times PresentMon.csv:MsBetweenPresents
  timeline-inspector run game.py --seconds 10 --real-time --budget 8.3 --export game.png
  timeline-inspector run game.py --seconds 60 --record game.tlrec

Exit code 1 if a callback or a thread of the scene failed; 4 if the scene could not
be loaded.
"""


def add_run_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(parser=parser)
    parser.add_argument("scene", metavar="SCENE", help="a scene file, or a number or name")
    length = parser.add_argument_group("length (required, unless --frame-times is given)")
    lengths = length.add_mutually_exclusive_group()
    lengths.add_argument("--frames", metavar="N", type=count, help="number of frames")
    lengths.add_argument(
        "--seconds",
        metavar="S",
        type=duration_ns,
        help="session time: 10, 1.5, 90s, “3 min”, 1:00:00",
    )
    time = parser.add_argument_group("how time passes")
    times = time.add_mutually_exclusive_group()
    times.add_argument(
        "--dt", metavar="T", type=step_ns, help="time between frames: 1/60 (default), 10ms"
    )
    add_time_source(times, "in real time; the same as --source system")
    times.add_argument(
        "--frame-times",
        metavar="FILE",
        help="frame times of a file, or of one column (FILE:COLUMN); repeated if too short",
    )
    add_stream(time)
    time.add_argument(
        "--rate", metavar="R", type=rate, help="rate of the root clock: 0.25, 1/3, 2x, 50%%"
    )
    parser.add_argument(
        "--failure-policy",
        type=failure_policy,
        default=FailurePolicy.CONTINUE,
        metavar="POLICY",
        help="after a callback raised: continue (default), pause-branch or stop",
    )
    parser.add_argument(
        "--no-pictures",
        action="store_true",
        help="record without the pictures that the scene draws of itself",
    )
    add_outputs(parser)


def add_outputs(parser: ArgumentParser) -> None:
    """Add the arguments for what a run leaves: exports, a recording and the report."""
    add_several(
        parser,
        "--export",
        metavar="FILE",
        type=output_file,
        help=f"write the frame times: {suffixes()}; may be repeated",
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        type=output_file,
        help="record everything to a new file (.tlrec)",
    )
    add_overwrite(parser)
    add_graph_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--timers",
        metavar="N",
        type=count,
        default=20,
        help="number of timers to list (default 20)",
    )
    output.add_argument(
        "--picture",
        metavar="FILE",
        type=output_file,
        help="the picture that the scene draws of its last frame: .png .svg .pdf",
    )
    outputs = output.add_mutually_exclusive_group()
    outputs.add_argument("--json", action="store_true", help="print everything as JSON")
    outputs.add_argument("--quiet", action="store_true", help="print errors only")


def _check_run(options: Namespace) -> None:
    if options.no_pictures and options.record is None:
        options.parser.error("argument --no-pictures: nothing is recorded without --record")
    check_preset(options)


RUN: Final = Subcommand(add_run_arguments, "inspector.cli.run:run_scene", RUN_EPILOG, _check_run)
