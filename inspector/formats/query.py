"""SQL on frames: one SELECT, answered by DuckDB, which reads nothing but the tables here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from threading import Event, Thread
from typing import Any, Final

import numpy as np
from msgspec import Struct

from inspector.analysis.statistics.metrics import metric_values
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode
from inspector.formats.frame_times import Beside, FrameTimes
from inspector.formats.series import series_of
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

NO_DUCKDB: Final = "Queries need the library duckdb: pip install 'timeline-inspector[query]'."
#: Longer messages of DuckDB are cut.
_LONGEST_REASON: Final = 400
#: Seconds between attempts to interrupt a query: one before it has begun has no effect.
_AGAIN_S: Final = 0.01
#: Name, type and meaning of the columns of ``frames`` that all files have.
_FRAMES: Final = (
    ("file", "VARCHAR", "the file, as it was named"),
    ("stream", "VARCHAR", "the program of a capture of several"),
    ("frame", "BIGINT", "the number of the frame"),
    ("at_s", "DOUBLE", "when the frame time ends, in seconds"),
    ("frame_time_ms", "DOUBLE", "the frame time in milliseconds"),
    ("busy_ms", "DOUBLE", "the time in callbacks; NULL where it is not known"),
)
_METRICS: Final = (
    ("file", "VARCHAR", "the file, as it was named"),
    ("id", "VARCHAR", "the id of the statistic, such as p99 or frameview.low-1"),
    ("tool", "VARCHAR", "whose definition it is"),
    ("name", "VARCHAR", "what the tool calls it"),
    ("unit", "VARCHAR", "fps, ms, %, s, frames or ms/s"),
    ("value", "DOUBLE", "its value; NULL where it is undefined"),
)


class QueryError(InspectorError):
    """A query cannot be answered."""


class NoDuckDbError(InspectorError):
    exit_code = ExitCode.BAD_ENVIRONMENT


class Queried(Struct, frozen=True):
    name: str  # The file, as the tables call it
    stream: str  # The stream, if the file has several
    frames: FrameTimes


class QueryColumn(Struct, frozen=True):
    table: str  # frames or metrics
    name: str  # Its name, in quotation marks where SQL needs them
    type: str  # Its type in SQL
    meaning: str  # What it holds


class Answer(Struct, frozen=True):
    titles: list[str]  # The names of its columns
    rows: list[tuple[Any, ...]]
    has_more: bool  # Whether there are more rows


def cell_text(value: object) -> str:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def is_duckdb_missing() -> bool:
    return find_spec("duckdb") is None


def query_columns(captures: Iterable[Beside | None]) -> list[QueryColumn]:
    beside: dict[str, QueryColumn] = {}
    for each in captures:
        for name, unit in _beside_names(each):
            text = f"of the capture, in {unit}" if unit else "of the capture"
            beside.setdefault(name, QueryColumn("frames", _identifier(name), "DOUBLE", text))
    return [
        *(QueryColumn("frames", *each) for each in _FRAMES),
        *beside.values(),
        *(QueryColumn("metrics", *each) for each in _METRICS),
    ]


class Query:
    """One SELECT, which any thread can stop."""

    def __init__(self, sql: str, most: int) -> None:
        self._sql = sql
        self._most = most
        self._is_stopped = False
        self._database: Any = None  # of DuckDB
        self._has_ended = Event()

    def run(self, files: Sequence[Queried]) -> Answer:
        """Return the answer; called once."""
        duckdb = _duckdb()
        # A query can read only the registered tables: no files, no network, no extensions.
        settings = {"enable_external_access": "false", "temp_directory": ""}
        database = duckdb.connect(":memory:", config=settings)
        try:
            statement = self._statement(duckdb)
            self._register(database, files)
            database.execute("SET lock_configuration = true")
            self._database = database
            if self._is_stopped:
                raise QueryError("The query was stopped.")
            answer = database.execute(statement)
            titles = [each[0] for each in answer.description]
            rows = answer.fetchmany(self._most + 1)
        except duckdb.Error as error:
            reason = re.sub(r"\n\s*\n", "\n", str(error).strip())
            raise QueryError(reason[:_LONGEST_REASON]) from None
        finally:
            self._database = None
            self._has_ended.set()
            database.close()
        return Answer(titles, rows[: self._most], len(rows) > self._most)

    def stop(self) -> None:
        """Make the query fail soon, however far it has come; returns at once."""
        self._is_stopped = True
        Thread(target=self._interrupt, name="query stop", daemon=True).start()

    def _interrupt(self) -> None:
        while not self._has_ended.wait(_AGAIN_S):
            database = self._database
            if database is not None:
                database.interrupt()

    def _statement(self, duckdb: Any) -> Any:  # noqa: ANN401 - a module that may be missing
        statements = duckdb.extract_statements(self._sql)
        kinds = [each.type.name for each in statements]
        if kinds != ["SELECT"]:
            message = f"A query is one SELECT; this is {' and '.join(kinds) or 'nothing'}."
            raise QueryError(message)
        return statements[0]

    def _register(self, database: Any, files: Sequence[Queried]) -> None:  # noqa: ANN401 - of DuckDB
        for number, each in enumerate(files):
            database.register(f"file_{number}", dict(_columns(each.frames)))
        parts = [
            f"SELECT {_literal(each.name)} AS file, {_literal(each.stream)} AS stream, * "  # noqa: S608
            f"FROM file_{number}"
            for number, each in enumerate(files)
        ]
        if not parts:
            nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind, _ in _FRAMES)
            parts = [f"SELECT {nothing} WHERE false"]
        database.execute(f"CREATE VIEW frames AS {' UNION ALL BY NAME '.join(parts)}")
        columns = ", ".join(f"{name} {kind}" for name, kind, _ in _METRICS)
        database.execute(f"CREATE TABLE metrics ({columns})")
        if not re.search(r"\bmetrics\b", self._sql, re.IGNORECASE):
            return
        rows = [
            (each.name, of.id, of.tool or "Timeline Inspector", of.name, of.unit, value.value)
            for each in files
            for value in metric_values(series_of(each.frames))
            for of in (value.metric,)
        ]
        if rows:
            database.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)


def _duckdb() -> Any:  # noqa: ANN401 - a module that may be missing
    try:
        return import_module("duckdb")
    except ImportError:
        raise NoDuckDbError(NO_DUCKDB) from None


def _columns(frames: FrameTimes) -> Iterator[tuple[str, Any]]:
    yield "frame", frames.index
    yield "at_s", frames.at_ns / NS_PER_SECOND
    yield "frame_time_ms", frames.interval_ns / NS_PER_MS
    busy_ns = frames.busy_ns
    # Most captures do not have it.
    yield "busy_ms", busy_ns / NS_PER_MS if busy_ns.any() else np.full(len(frames), np.nan)
    if frames.beside is not None:
        names = (name for name, _unit in _beside_names(frames.beside))
        places = [each.at for each in frames.beside.quantities]
        yield from zip(names, frames.beside.numbers(places), strict=True)


def _beside_names(beside: Beside | None) -> Iterator[tuple[str, str]]:
    """Yield names and units of the columns beside frame times; a repeated name ends in ``_2``."""
    known = {name for name, _type, _meaning in _FRAMES}
    for each in () if beside is None else beside.quantities:
        name, number = each.name, 2
        while name.casefold() in known:
            name, number = f"{each.name}_{number}", number + 1
        known.add(name.casefold())
        yield name, each.unit


def _identifier(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    quoted = name.replace('"', '""')
    return f'"{quoted}"'


def _literal(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"
