"""The command ``export``: its arguments and help, which ``run`` shares in part."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _ArgumentGroup
from pathlib import Path
from typing import Final

from inspector.cli.command import Subcommand
from inspector.cli.commands.recordings import add_scene
from inspector.cli.commands.values import (
    add_several,
    add_stream,
    add_without_inspector,
    budget_ms,
    dots_per_inch,
    output_file,
    size,
)
from inspector.formats.export import exporters
from inspector.formats.options import FIGURES, PRESETS

#: The format without an exporter: it makes a test program of a whole recording.
PYTEST: Final = "pytest"
#: The output ``-``, which is not a file.
STANDARD_OUTPUT: Final = Path("-")

EXPORT_EPILOG: Final = """\
FILE is a recording (.tlrec), an exported CSV or JSON, a capture of PresentMon, OCAT,
CapFrameX, FrameView, MangoHud, MSI Afterburner or FRAPS, a trace of Chrome, Perfetto,
viztracer, Tracy (as CSV) or OpenTelemetry (OTLP JSON), or any CSV with a column of frame
times; also in gzip or zip.

The end of a name selects the format: game.svg, game.presentmon.csv. --as selects it
where the name does not tell, as in “--as trace -o game.json”, or instead of a name. Where
the name tells another format, both are written: “--as report -o game.html” writes two
files.

examples:
  timeline-inspector export run.json -o run.svg -o run.pdf --stacked
  timeline-inspector export PresentMon.csv:MsBetweenPresents -o frames.png
  timeline-inspector export PresentMon.csv --stream game.exe -o frames.png
  timeline-inspector export run.csv -o start.svg --range :600 --theme dark
  timeline-inspector export run.csv -o boss.svg --range 1:00..1:30 --budget 60fps
  timeline-inspector export game.tlrec --as svg --as csv
  timeline-inspector export game.tlrec -o game.png --without interventions
  timeline-inspector export game.tlrec -o slide.png --preset slide --theme dark
  timeline-inspector export a.csv b.csv --figure distribution --preset card -o card.png
  timeline-inspector export game.tlrec --as pytest -o test_game.py
  timeline-inspector export game.tlrec --as trace --as pftrace
  timeline-inspector export game.tlrec --picture boss.svg --frame 3100
  timeline-inspector export *.csv --format png --out pictures/
  timeline-inspector export game.tlrec --as csv -o - | gzip > game.csv.gz

A file that exists is left alone without --overwrite, and one that cannot be written does
not stop the others. “-o -” writes to standard output in the one format that --as names.
With several files, or --out, a file that cannot be read does not stop the others either,
and each file is a row in the answer.

Exit code 1 if something could not be written, 9 if the file could not be read; with
several files 1 if any was not exported.
"""


def add_export_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(parser=parser)
    parser.add_argument("files", metavar="FILE[:COLUMN]", nargs="+", help="files with frame times")
    add_stream(parser)
    add_several(
        parser,
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help=f"what to write: {suffixes()}; - for standard output; may be repeated",
    )
    keys = list(dict.fromkeys(each.key for each in exporters()))
    add_several(
        parser,
        "--as",
        "--format",
        dest="formats",
        metavar="FORMAT",
        choices=(*keys, PYTEST),
        help=f"write it beside FILE: {', '.join(keys)}; of a recording also pytest: a test that "
        "runs its scene again; may be repeated",
    )
    parser.add_argument(
        "--picture",
        metavar="FILE",
        type=output_file,
        help="of a recording, the picture that its scene drew of itself: .png .svg .pdf",
    )
    parser.add_argument(
        "--frame", metavar="N", type=int, help="frame of --picture (default: the last)"
    )
    batch = parser.add_argument_group("several files")
    batch.add_argument(
        "--side-by-side",
        action="store_true",
        help="with --figure and -o, which draws all files in one picture: each in a column with "
        "the same axes, not over each other",
    )
    batch.add_argument(
        "--out", metavar="DIR", type=Path, help="folder for what --as writes, made if missing"
    )
    add_overwrite(parser)
    add_scene(parser)
    add_graph_options(parser)


def add_overwrite(parser: ArgumentParser | _ArgumentGroup) -> None:
    """Add ``--overwrite``; without it, no file is replaced."""
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")


def suffixes() -> str:
    return " ".join(each.suffix for each in exporters())


def check_export_arguments(options: Namespace) -> None:
    error = options.parser.error
    if options.frame is not None and options.picture is None:
        error("argument --frame: add --picture, the file to write")
    others = options.output or options.formats or options.out or len(options.files) > 1
    if options.picture is not None and others:
        error("argument --picture: takes one recording, and nothing else to write")
    if PYTEST in options.formats and (len(options.formats) > 1 or len(options.files) > 1):
        error("--as pytest takes one recording, and no other formats")
    if STANDARD_OUTPUT in options.output and (len(options.output), len(options.formats)) != (1, 1):
        error("-o - is the only output, in the one format that --as names, such as --as csv")
    _check_several(options)
    check_preset(options)
    for each in options.files if options.formats else ():
        if not Path(each).name:
            error(f"--as writes beside FILE, and {each} is not a file")


def _check_several(options: Namespace) -> None:
    error, are_several = options.parser.error, len(options.files) > 1
    if options.output and (options.out or (are_several and options.figure is None)):
        error(
            "-o/--output takes one file, or --figure for a picture of all; choose formats with "
            "--as, and a folder with --out"
        )
    if options.side_by_side and not (are_several and options.output):
        error("argument --side-by-side: add --figure, -o and several files")


def check_preset(options: Namespace) -> None:
    """Refuse a size or resolution beside a preset, which has its own."""
    if options.preset is not None and (options.size is not None or options.dpi is not None):
        options.parser.error("argument --preset: it has a size; omit --size and --dpi")


def add_graph_options(parser: ArgumentParser) -> None:
    graph = parser.add_argument_group("export options")
    graph.add_argument("--title", metavar="TEXT", default="", help="heading of the graph")
    graph.add_argument(
        "--measure",
        choices=("interval", "busy", "delta"),
        help="time from frame to frame, time spent in callbacks, or local time given to "
        "them (default: interval, or busy when all intervals are alike)",
    )
    graph.add_argument(
        "--budget",
        metavar="TIME",
        type=budget_ms,
        action="append",
        help="budget line: 60fps, or milliseconds; may be repeated (default: first the frame "
        "rate that the scene has or the loop of a program asks for, else its usual frame; then "
        "60, 120 and 30 fps)",
    )
    graph.add_argument(
        "--stacked", action="store_true", help="stack the phases of each frame as areas"
    )
    graph.add_argument("--theme", choices=("light", "dark"), default="light")
    graph.add_argument(
        "--figure",
        choices=FIGURES,
        help="what the graph shows: each frame (default), the share of frames up to each time, how "
        "many took how long, or the times of the upper percentiles",
    )
    graph.add_argument(
        "--preset",
        choices=tuple(PRESETS),
        help="size for a use, with text that can be read there: "
        + ", ".join(f"{key} {each.width}x{each.height} pixels" for key, each in PRESETS.items()),
    )
    graph.add_argument("--size", metavar="WxH", type=size, help="in points (720x405)")
    graph.add_argument("--dpi", metavar="N", type=dots_per_inch, help="resolution of a PNG (144)")
    graph.add_argument(
        "--range",
        metavar="A:B",
        default="all",
        help="frames A up to, but not including, B, counted from 0; or time: 2s:5.5s, 1:00..1:30 "
        "(default all)",
    )
    add_several(
        graph,
        "--without",
        metavar="WHAT",
        choices=("interventions", "bookmarks"),
        help="omit interventions, or bookmarks (with notes, ranges and marks); may be repeated",
    )
    add_without_inspector(graph)


EXPORT: Final = Subcommand(
    add_export_arguments, "inspector.cli.export:export", EXPORT_EPILOG, check_export_arguments
)
