"""The command ``query``: SQL on the frames of files, answered by DuckDB."""

from __future__ import annotations

import csv
import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from typing import Any, Final, TextIO

import numpy as np

from inspector.analysis.statistics.metrics import metric_values
from inspector.cli.run_report import table
from inspector.cli.terminal import say, write_json
from inspector.display_text import one_line
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode
from inspector.formats.captures.capture import split_column
from inspector.formats.series import series_of
from inspector.sessions.frame_files import FrameFile, read_frame_file
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

#: What DuckDB says, without where in its own code.
_LONGEST_REASON: Final = 400
_OWN: Final = ("file", "stream", "frame", "at_s", "frame_time_ms", "busy_ms")


class QueryError(InspectorError):
    """A query cannot be answered."""


class NoDuckDbError(InspectorError):
    """The library that answers queries is not installed."""

    exit_code = ExitCode.BAD_ENVIRONMENT


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it was named, and what is in it."""

    name: str
    file: FrameFile

    @property
    def stream(self) -> str:
        """Which of several streams was read."""
        note = self.file.provenance.note
        return note.removeprefix(f"column {self.file.column}").removeprefix(", ")


def run_query(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Print the rows that a query selects.

    Raises:
        InspectorError: A file cannot be read, the query fails, or DuckDB is missing.
    """
    duckdb = _duckdb()
    files = []
    for text in options.files:
        path, column = split_column(text)
        read = read_frame_file(path, column, stream=options.stream)
        say(err, *(f"{text}: {note}" for note in read.notes))
        files.append(_File(text, read))
    # Nothing but what is registered: no files, no network, no extensions.
    database = duckdb.connect(":memory:", config={"enable_external_access": "false"})
    try:
        _register(database, files)
        database.execute("SET lock_configuration = true")
        titles, rows = _answer(duckdb, database, options.sql, options.limit + 1)
    finally:
        database.close()
    has_more, rows = len(rows) > options.limit, rows[: options.limit]
    if options.json:
        write_json(out, [dict(zip(titles, map(_plain, row), strict=True)) for row in rows])
    elif options.csv:
        writer = csv.writer(out)
        writer.writerows([titles, *rows])
    else:
        right = {
            at for at in range(len(titles)) if any(isinstance(row[at], int | float) for row in rows)
        }
        out.write(table(titles, [tuple(map(_text, row)) for row in rows], right=right) + "\n")
    if has_more:
        say(err, f"Only the first {options.limit:,} rows are shown; --limit takes more.")
    return ExitCode.OK


def _duckdb() -> Any:  # noqa: ANN401 - a module that may be missing
    try:
        return import_module("duckdb")
    except ImportError:
        message = "Queries need the library duckdb: pip install 'timeline-inspector[query]'."
        raise NoDuckDbError(message) from None


def _register(database: Any, files: Sequence[_File]) -> None:  # noqa: ANN401 - of DuckDB
    """Make the tables ``frames`` and ``metrics``."""
    for number, each in enumerate(files):
        database.register(f"file_{number}", dict(_columns(each)))
    parts = (
        f"SELECT {_literal(each.name)} AS file, {_literal(each.stream)} AS stream, * "  # noqa: S608
        f"FROM file_{number}"
        for number, each in enumerate(files)
    )
    database.execute(f"CREATE VIEW frames AS {' UNION ALL BY NAME '.join(parts)}")
    database.execute(
        "CREATE TABLE metrics (file VARCHAR, id VARCHAR, tool VARCHAR, name VARCHAR, "
        "unit VARCHAR, value DOUBLE)"
    )
    rows = [
        (each.name, of.id, of.tool or "Timeline Inspector", of.name, of.unit, value.value)
        for each in files
        for value in metric_values(series_of(each.file.frames))
        for of in (value.metric,)
    ]
    database.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)


def _columns(of: _File) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a file by their names."""
    frames, beside = of.file.frames, of.file.frames.beside
    own = {
        "frame": frames.index,
        "at_s": frames.at_ns / NS_PER_SECOND,
        "frame_time_ms": frames.interval_ns / NS_PER_MS,
        # Of most captures it is not known.
        "busy_ms": frames.busy_ns / NS_PER_MS
        if frames.busy_ns.any()
        else np.full(len(frames), np.nan),
    }
    yield from own.items()
    if beside is None:
        return
    known = set(_OWN)
    quantities = beside.quantities
    for each, values in zip(
        quantities, beside.numbers([each.at for each in quantities]), strict=True
    ):
        name, number = each.name, 2
        while name.casefold() in known:
            name, number = f"{each.name}_{number}", number + 1
        known.add(name.casefold())
        yield name, values


def _literal(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def _answer(
    duckdb: Any,  # noqa: ANN401 - a module that may be missing
    database: Any,  # noqa: ANN401 - of it
    sql: str,
    most: int,
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the titles and the first rows of an answer.

    Raises:
        QueryError: It is not one SELECT, or fails.
    """
    try:
        statements = duckdb.extract_statements(sql)
        kinds = [each.type.name for each in statements]
        if kinds != ["SELECT"]:
            what = " and ".join(kinds) or "nothing"
            message = f"A query is one SELECT; this is {what}."
            raise QueryError(message)
        answer = database.execute(statements[0])
        return [each[0] for each in answer.description], answer.fetchmany(most)
    except duckdb.Error as error:
        reason = re.sub(r"\n\s*\n", "\n", str(error).strip())
        raise QueryError(reason[:_LONGEST_REASON]) from None


def _plain(value: object) -> object:
    """Return a value that JSON has."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, int | str) else str(value)


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}" if isfinite(value) else "-"
    return one_line(str(value))
