"""The commands ``stats`` and ``compare``: their arguments and help."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from fractions import Fraction
from typing import Final

from inspector.cli.command import Subcommand
from inspector.cli.commands.export import add_overwrite
from inspector.cli.commands.values import (
    add_several,
    add_stream,
    add_without_inspector,
    output_file,
)
from inspector.cli.terminal import add_json
from inspector.foreign.numbers import number_in, refusal

#: CapFrameX's defaults, the same as in
#: :class:`~inspector.analysis.statistics.time_series.StutterLimits`; help does not import that.
_STUTTER: Final = 2.5
_LOW_FPS: Final = 25.0
STATS_EPILOG: Final = """\
what is read:
  Captures of other tools, frame times exported by the inspector, and recordings.
  FILE:COLUMN names a column. The same name means different things in different
  tools, so each statistic stands under its tool, with its formula (--formulas).

conditions:
  METRIC OP VALUE, such as “p99 < 16.7ms”, “fps >= 60”, “frameview.low-1 > 45fps”.
  OP is <, <=, > or >=. Names of metrics are in the column “id” of --formulas. Times are
  in us, ms or s. Fewer than 30 frames, rows that cannot be read, and what is undefined
  decide nothing: that is a failure of its own (8).

examples:
  timeline-inspector stats capture.csv
  timeline-inspector stats *.csv --metric fps --metric p99 --metric frameview.low-1
  timeline-inspector stats run.tlrec --assert "p99 < 16.7ms" --assert "fps > 59"
  timeline-inspector stats capture.json --refresh 60 --json

Exit code 0 if every condition holds; 1 if one does not; 8 if that cannot be told; 9 if a file
cannot be read, which of several does not stop the others; 2 if the arguments are not valid.
"""

COMPARE_EPILOG: Final = """\
what is said:
  Differences are relative to the first file. The 95 % intervals hold for all rows together
  and all files together. The verdict is by what --fail-if asks for, else by all rows:
  faster, slower, no evidence, or cannot tell. Of one run each it is about these runs:
  runs of the same version differ too. With --before and --after, several runs of a version
  are taken together, and it is about the versions. A run whose average is over 3 % from the
  median of its side is named as an outlier.
  Of recordings, clocks and timers are compared too: calls per second, lateness, duration.

conditions:
  METRIC OP CHANGE, such as “p99 > +5%” or “fps < -2%”. A condition holds if the whole
  interval does, so noise alone does not fail a build. Captures that are too short to tell,
  and rows that cannot be read, are a failure of their own (8).

examples:
  timeline-inspector compare before.csv after.csv
  timeline-inspector compare before.csv after-1.csv after-2.csv -o comparison.html
  timeline-inspector compare before.tlrec after.tlrec --fail-if "p99 > +5%" --json
  timeline-inspector compare --before a1.csv a2.csv a3.csv --after b1.csv b2.csv b3.csv
  timeline-inspector compare --before main/ --after branch/ --window
  timeline-inspector compare --before main/ --after "branch/*.csv" --fail-if "fps < -3%" \\
      -o summary.md --junit compare.xml

Exit code 0 unless a condition of --fail-if holds; 1 if one holds; 8 if that cannot be told;
9 if a file cannot be read; 2 if the arguments are not valid.
"""


def refresh_rate(text: str) -> float:
    """Return the interval in milliseconds of a refresh rate: 60, 59.94, 144hz."""
    plain = text.strip().lower().removesuffix("fps").removesuffix("hz").strip()
    try:
        rate = number_in(plain)
    except ValueError:
        raise ArgumentTypeError(refusal("a refresh rate", text, "write 60")) from None
    if not Fraction(1, 60) <= rate <= 10_000:  # noqa: PLR2004 - as for frame rates
        raise ArgumentTypeError(f"a refresh rate must be between 1/60 and 10,000 Hz: {text}")
    return float(1000 / rate)


def _stutter_factor(text: str) -> float:
    return _number(text, "a stutter factor", 1, 100, "write 2.5")


def _low_rate(text: str) -> float:
    return _number(text, "a frame rate", 0, 10_000, "write 25")


def _number(text: str, what: str, above: int, most: int, hint: str) -> float:
    try:
        number = number_in(text)
    except ValueError:
        raise ArgumentTypeError(refusal(what, text, hint)) from None
    if not above < number <= most:
        raise ArgumentTypeError(f"{what} must be above {above}, up to {most:,}: {text}")
    return float(number)


def _add_outputs(parser: ArgumentParser, what: str) -> None:
    add_several(
        parser,
        "-o",
        "--output",
        dest="outputs",
        metavar="FILE",
        type=output_file,
        help=f"write {what}; may be repeated",
    )
    add_overwrite(parser)


def _add_stutter_limits(parser: ArgumentParser, note: str = "") -> None:
    parser.add_argument(
        "--stutter-factor",
        metavar="K",
        type=_stutter_factor,
        help="a frame stutters that takes over K times the usual, in CapFrameX' statistics "
        f"(default: {_STUTTER}){note}",
    )
    parser.add_argument(
        "--low-fps",
        metavar="FPS",
        type=_low_rate,
        help=f"the rate below which they count low FPS time (default: {_LOW_FPS}){note}",
    )


def _add_allow_missing(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="check conditions although rows or parts of a file cannot be read",
    )


def add_stats_arguments(stats: ArgumentParser) -> None:
    stats.set_defaults(parser=stats)
    stats.add_argument(
        "files", metavar="FILE[:COLUMN]", nargs="*", help="files with frame times, one row each"
    )
    add_stream(stats)
    stats.add_argument(
        "--refresh",
        metavar="HZ",
        type=refresh_rate,
        help="refresh rate of the display, for hitches and jank",
    )
    _add_stutter_limits(stats)
    stats.add_argument(
        "--without-outliers",
        action="store_true",
        help="leave out frames from the 99.9 %% quantile on, as CapFrameX does, and say which",
    )
    stats.add_argument(
        "--range",
        metavar="A:B",
        default="all",
        help="frames A up to, but not including, B, counted from 0; or time: 2s:5.5s (default all)",
    )
    which = stats.add_mutually_exclusive_group()
    add_several(
        which,
        "--metric",
        metavar="ID",
        help="only this one; may be repeated (default: a few; in JSON of one file all)",
    )
    which.add_argument("--all", action="store_true", help="every statistic, of all tools")
    add_several(
        stats,
        "--assert",
        dest="conditions",
        metavar="CONDITION",
        help="fail unless it holds, such as “p99 < 16.7ms”; may be repeated",
    )
    stats.add_argument(
        "--columns",
        action="store_true",
        help="also the columns of a capture beside its frame times: load, power, latencies …",
    )
    _add_outputs(stats, "the statistics to a file too: .csv, .json, .md, .html or .pdf")
    _add_allow_missing(stats)
    stats.add_argument("--quiet", action="store_true", help="no table, only what fails")
    add_without_inspector(stats)
    stats.add_argument("--formulas", action="store_true", help="list all metrics with formulas")
    add_json(stats)


def add_compare_arguments(compare: ArgumentParser) -> None:
    compare.set_defaults(parser=compare)
    compare.add_argument("before", metavar="BEFORE[:COLUMN]", nargs="?", help="the first file")
    compare.add_argument(
        "after", metavar="AFTER[:COLUMN]", nargs="*", help="what is compared with it"
    )
    for side, which in (("before", "the first version"), ("after", "the other")):
        compare.add_argument(
            f"--{side}",
            dest=f"runs_{side}",
            metavar="RUN[:COLUMN]",
            action="extend",
            nargs="+",
            default=[],
            help=f"runs of {which}: files, folders of nothing else, or patterns such as “*.csv”",
        )
    compare.add_argument(
        "--without-outliers",
        action="store_true",
        help="leave out runs over 3 %% from the median of their side, of three or more",
    )
    compare.add_argument(
        "--columns",
        action="store_true",
        help="also the columns of captures beside their frame times: load, power, latencies …",
    )
    add_stream(compare)
    _add_stutter_limits(compare, "; compares the time of either, too")
    add_several(
        compare,
        "--fail-if",
        dest="conditions",
        metavar="CONDITION",
        help="fail if it holds, such as “p99 > +5%%”; may be repeated",
    )
    _add_allow_missing(compare)
    _add_outputs(
        compare,
        "differences and verdicts to a file too: .html and .pdf with plots, .md for a "
        "pull request, .png or .svg for a slide, .csv or .json",
    )
    compare.add_argument(
        "--junit",
        metavar="FILE",
        type=output_file,
        help="write what became of each --fail-if as a test case, for CI",
    )
    add_json(compare)
    compare.add_argument(
        "--window", action="store_true", help="open the window on the comparison instead"
    )


def check_comparison(options: Namespace) -> None:
    """Refuse files named in both ways or in neither, and options that do not go together."""
    parser: ArgumentParser = options.parser
    given = [name for name in ("before", "after") if getattr(options, f"runs_{name}")]
    if given and options.before is not None:
        parser.error(f"argument --{given[0]}: not with files that follow no option")
    if len(given) == 1:
        missing = "after" if given == ["before"] else "before"
        parser.error(f"argument --{given[0]}: add --{missing} with the runs to compare with")
    if not given and options.before is None:
        parser.error("the following arguments are required: BEFORE and AFTER, or --before")
    if not given and not options.after:
        parser.error("the following arguments are required: AFTER[:COLUMN]")
    written = options.outputs or options.conditions or options.json or options.allow_missing
    if options.window and written:
        parser.error("argument --window: not with what is written or checked")
    if options.without_outliers and not given:
        parser.error("argument --without-outliers: needs --before and --after")
    if options.junit is not None and not options.conditions:
        parser.error("argument --junit: add a --fail-if, which becomes a test case")


STATS: Final = Subcommand(
    add_stats_arguments, "inspector.cli.statistics:print_statistics", STATS_EPILOG
)
COMPARE: Final = Subcommand(
    add_compare_arguments,
    "inspector.cli.comparison:compare_captures",
    COMPARE_EPILOG,
    check_comparison,
)
