"""The command ``query``: SQL on the frames of files."""

from __future__ import annotations

import csv
from argparse import Namespace
from math import isfinite
from typing import TextIO

from inspector.cli.run_report import table
from inspector.cli.terminal import say, write_json
from inspector.display_text import one_line
from inspector.exit_codes import ExitCode
from inspector.formats.captures.capture import split_column
from inspector.formats.query import Query, cell_text
from inspector.sessions.frame_files import read_frame_file


def run_query(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Print the rows that a query selects.

    Raises:
        InspectorError: A file cannot be read, the query fails, or DuckDB is missing.
    """
    files = []
    for text in options.files:
        path, column = split_column(text)
        read = read_frame_file(path, column, stream=options.stream)
        say(err, *(f"{text}: {note}" for note in read.notes))
        files.append(read.queried(text))
    found = Query(options.sql, options.limit).run(files)
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
        say(err, f"Only the first {options.limit:,} rows are shown; --limit takes more.")
    return ExitCode.OK


def _plain(value: object) -> object:
    """Return a value that JSON has."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, int | str) else str(value)
