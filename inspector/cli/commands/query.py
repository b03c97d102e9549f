"""The command ``query``: its arguments and help."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Final

from inspector.cli.command import Command
from inspector.cli.commands.values import add_stream, count

_LIMIT: Final = 1_000
_EPILOG: Final = """\
SQL, of DuckDB, on the frames of captures, exported frame times and recordings:

  frames    file, stream, frame, at_s, frame_time_ms, busy_ms, and what a capture has
            beside them, by the names in the file: "GPU Power(W)", "MsGPUBusy". at_s is when
            the frame time ends, in seconds. Columns that a file lacks are NULL, as are cells
            without a number. A name that is taken has _2 behind it.
  metrics   file, id, tool, name, unit, value: the statistics of each file, as stats has them;
            NULL where a statistic is undefined.

Only one SELECT, which reads nothing but these tables: no file, no network. Needs the library
“duckdb”: pip install 'timeline-inspector[query]'.

examples:
  timeline-inspector query "select file, max(frame_time_ms) from frames group by file" a.csv b.csv
  timeline-inspector query "select * from frames where frame_time_ms > 33.3 order by at_s" run.tlrec
  timeline-inspector query "select file, value from metrics where id = 'p99'" runs/*.csv --json

Exit code 1 if the query fails, 5 if the library is missing.
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("sql", metavar="SQL", help="one SELECT")
    parser.add_argument(
        "files", metavar="FILE[:COLUMN]", nargs="+", help="captures, frame times or recordings"
    )
    add_stream(parser)
    parser.add_argument(
        "--limit",
        metavar="ROWS",
        type=count,
        default=_LIMIT,
        help=f"print at most so many rows (default: {_LIMIT:,})",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, for programs")
    form.add_argument("--csv", action="store_true", help="as CSV")


QUERY: Final = Command(add_arguments, "inspector.cli.query:run_query", _EPILOG)
