"""Statistics of files as a report, and as data: metrics, and columns beside the frame times."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from inspector.analysis.statistics.column_summary import ColumnSummary
from inspector.analysis.statistics.metrics import MetricValue
from inspector.display_text import counted
from inspector.formats.report.comparison import csv_of
from inspector.formats.report.page_layout import ReportTable
from inspector.formats.report.report import (
    SOFTWARE,
    Report,
    ReportSection,
    check_report,
    write_report,
    write_text,
)

STATISTICS_FORMATS: Final = (".csv", ".json", ".md", ".html", ".pdf")
#: The numbers shown of a column, and of each class of frame times.
_NUMBERS: Final = ("mean", "least", "p5", "median", "p95", "most", "frames_per_joule")
_OF_CLASSES: Final = ("mean", "p5", "median", "p95")
WEIGHTED: Final = "* weighted by time: each value counts as long as its frame lasts"
CLASSES: Final = "mean (P5 to P95) by class of frame time"


class FileStatistics(Struct, frozen=True):
    name: str  # How it was named
    frames: int  # How many frames they are of
    values: Sequence[MetricValue]
    columns: Sequence[ColumnSummary]  # The columns beside its frame times, if they were asked for


def write_statistics(files: Sequence[FileStatistics], results: object, path: Path) -> None:
    check_report(path, STATISTICS_FORMATS)
    created = datetime.now(UTC)
    match path.suffix.lower():
        case ".csv":
            write_text(csv_of(list(_rows(files))), path)
        case ".json":
            write_text(json.dumps(results, ensure_ascii=False, indent=2) + "\n", path)
        case _:
            write_report(_report(files, created), created, path)


def columns_table(columns: Sequence[ColumnSummary]) -> ReportTable:
    """Return columns in numbers; a mean by time has an asterisk."""
    titles = ("column", "unit", "mean", "min", "P5", "median", "P95", "max", "values")
    rows = tuple(
        (
            each.name,
            each.unit,
            f"{each.mean:,.4g}{'*' if each.is_weighted else ''}",
            *(f"{value:,.4g}" for value in (each.least, each.p5, each.median, each.p95, each.most)),
            f"{each.count:,}",
        )
        for each in columns
    )
    return ReportTable(titles, rows, frozenset(range(2, len(titles))))


def classes_table(columns: Sequence[ColumnSummary]) -> ReportTable | None:
    """Return columns by class of frame time; ``None`` if there are no classes."""
    names = list(dict.fromkeys(of.name for each in columns for of in each.classes))
    if not names:
        return None
    rows = []
    for each in columns:
        by_name = {
            of.name: f"{of.mean:,.4g} ({of.p5:,.4g} to {of.p95:,.4g})" for of in each.classes
        }
        rows.append((each.name, each.unit, *(by_name.get(name, "-") for name in names)))
    titles = ("column", "unit", *names)
    return ReportTable(titles, tuple(rows), frozenset(range(2, len(titles))))


def _report(files: Sequence[FileStatistics], created: datetime) -> Report:
    names = ", ".join(each.name for each in files)
    stamp = created.isoformat(sep=" ", timespec="seconds")
    return Report(
        title=f"Statistics: {names}",
        theme="light",
        about=ReportTable((), (("Read", stamp), ("Written by", SOFTWARE))),
        sections=tuple(section for each in files for section in _sections(each)),
    )


def _sections(file: FileStatistics) -> Iterator[ReportSection]:
    rows = tuple(
        (each.metric.tool or "Timeline Inspector", each.metric.name, each.text, each.metric.formula)
        for each in file.values
    )
    table = ReportTable(("Tool", "Statistic", "Value", "Definition"), rows, frozenset((2,)))
    yield ReportSection(file.name, counted(file.frames, "frame") + ".", table=table)
    if file.columns:
        note = f"{WEIGHTED}." if any(each.is_weighted for each in file.columns) else ""
        table = columns_table(file.columns)
        yield ReportSection(f"Columns beside the frame times of {file.name}", note, table=table)
    if (classes := classes_table(file.columns)) is not None:
        yield ReportSection(f"Columns of {file.name} by frame time", f"{CLASSES}.", table=classes)


def _rows(files: Sequence[FileStatistics]) -> Iterator[tuple[object, ...]]:
    yield "file", "of", "tool", "statistic", "frames", "unit", "value"
    for file in files:
        for each in file.values:
            tool = each.metric.tool or "Timeline Inspector"
            yield file.name, "Frames", tool, each.metric.id, "all", each.metric.unit, each.value
        for column in file.columns:
            numbers: list[tuple[str, object, str]] = [("all", column, name) for name in _NUMBERS]
            numbers += [(of.name, of, name) for of in column.classes for name in _OF_CLASSES]
            for frames, of, name in numbers:
                title = "mean by time" if name == "mean" and column.is_weighted else name
                unit = "" if name == "frames_per_joule" else column.unit
                value = getattr(of, name)
                if value is not None:
                    yield file.name, column.name, "", title, frames, unit, value
