"""The command ``query``: SQL on the frames of files."""

from __future__ import annotations

import csv
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final, TextIO

from inspector.cli.command import Subcommand
from inspector.cli.commands.values import add_stream, count
from inspector.cli.terminal import add_json, write_json, write_notes
from inspector.display_text import counted, one_line
from inspector.exit_codes import ExitCode

if TYPE_CHECKING:
    from inspector.formats.query import Answer, Queried, Query

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


def _add_arguments(parser: ArgumentParser) -> None:
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
    add_json(form)
    form.add_argument("--csv", action="store_true", help="as CSV")


def _run(options: Namespace, out: TextIO, err: TextIO) -> int:
    from inspector.cli.run_report import table
    from inspector.formats.captures.capture import split_column
    from inspector.formats.query import Query, cell_text
    from inspector.formats.series import damage_in
    from inspector.sessions.frame_files import read_frame_file

    files = []
    for text in options.files:
        path, column = split_column(text)
        read = read_frame_file(path, column, stream=options.stream)
        write_notes(err, *(f"{text}: {note}" for note in read.notes))
        files.append(read.queried(text))
    found = _answer(Query(options.sql, options.limit), files)
    damage = ((each.name, damage_in(each.frames.beside)) for each in files)
    write_notes(err, *(f"{name}: {told}" for name, told in damage if told))
    titles, rows = found.titles, found.rows
    if options.json:
        write_json(out, [dict(zip(titles, map(_plain, row), strict=True)) for row in rows])
    elif options.csv:
        writer = csv.writer(out)
        writer.writerows([titles, *rows])
    else:
        right = {
            at for at in range(len(titles)) if any(isinstance(row[at], int | float) for row in rows)
        }
        out.write(
            table(
                titles,
                [tuple(one_line(cell_text(each)) for each in row) for row in rows],
                right=right,
            )
            + "\n"
        )
    if found.has_more:
        write_notes(
            err, f"Only {counted(options.limit, 'row is', 'rows are')} shown; --limit takes more."
        )
    return ExitCode.OK


def _answer(query: Query, files: Sequence[Queried]) -> Answer:
    """Run a query in another thread, so that the main thread can handle signals meanwhile."""
    from concurrent.futures import ThreadPoolExecutor  # not for the help of the command

    with ThreadPoolExecutor(1, "query") as executor:
        running = executor.submit(query.run, files)
        try:
            return running.result()
        except KeyboardInterrupt:
            query.stop()
            raise


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, int | str) else str(value)


QUERY: Final = Subcommand(_add_arguments, _run, _EPILOG)
