"""Frame times as a report: graph, distribution, statistics with their definitions, interventions.

A :class:`Report` is written as HTML, which loads nothing, or as PDF; both can be mailed, and opened
years later.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from html import escape
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct, structs

import inspector
from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.metrics import metric_values
from inspector.display_text import one_line
from inspector.errors import ExportError
from inspector.formats.arrangement.pages import intervention_table
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.distribution_chart import ChartKind, Curve, chart_picture
from inspector.formats.drawing.display_list import DisplayList
from inspector.formats.file_formats import write_document
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.html_page import html_page, html_table, svg_element
from inspector.formats.options import ExportOptions, left_out_text
from inspector.formats.report.page_layout import A4, PageLayout, ReportTable, room_of
from inspector.formats.series import series_of
from inspector.timebase import format_duration
from inspector.tokens import ThemeName

_NO_REFRESH: Final = "The refresh rate is unknown: give it as a budget, such as 60fps."
SOFTWARE: Final = f"Timeline Inspector {inspector.__version__}"
#: Height of the graph on a page, as a share of its width.
_GRAPH_ASPECT: Final = 0.62
#: Characters that are markup in Markdown within a line.
_MARKDOWN: Final = re.compile(r"[\\`*_\[\]<>|~#@]")


class ReportSection(Struct, frozen=True):
    title: str
    note: str = ""
    pictures: tuple[DisplayList, ...] = ()
    table: ReportTable | None = None


class Report(Struct, frozen=True):
    title: str
    theme: ThemeName
    about: ReportTable
    sections: tuple[ReportSection, ...]


def check_report(path: Path, suffixes: Collection[str]) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    if path.suffix.lower() not in suffixes:
        *others, last = suffixes
        known = f"{', '.join(others)} or {last}"
        raise ExportError(f"{path} does not say what to write. Give it the suffix {known}.")
    check_target(path)


def write_report(report: Report, created: datetime, path: Path) -> None:
    """Write a report to a file: as HTML, PDF or Markdown, by its suffix."""
    kind = path.suffix.lower()
    if kind == ".pdf":
        first, *more = pages_of(report, created, SOFTWARE)
        with replacing(path) as stream:
            write_document(first, stream, more)
    else:
        write_text(markdown_of(report) if kind == ".md" else html_of(report), path)


def write_text(text: str, path: Path, errors: str = "replace") -> None:
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", errors))


def write_html(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    stream.write(html_of(report_of(frames, provenance, options)).encode())


def html_of(report: Report) -> str:
    parts = [html_of_table(report.about)]
    for section in report.sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        if section.note:
            parts.append(f'<p class="quiet">{escape(section.note)}</p>')
        parts += map(svg_element, section.pictures)
        if section.table is not None:
            parts.append(html_of_table(section.table))
    return html_page(report.title, report.theme, parts)


def markdown_of(report: Report) -> str:
    """Return a report as Markdown of GitHub's and GitLab's kind, without its pictures."""
    parts = [f"# {_in_markdown(report.title)}", _markdown_table(report.about)]
    for section in report.sections:
        if section.table is None:
            continue
        parts.append(f"## {_in_markdown(section.title)}")
        parts += [_in_markdown(section.note)] if section.note else []
        parts.append(_markdown_table(section.table))
    return "\n\n".join(parts) + "\n"


def _markdown_table(of: ReportTable) -> str:
    """Return a table; rows without a heading become paragraphs."""
    rows = [[_in_markdown(cell) for cell in row] for row in of.rows]
    if not of.heading:
        return "\n\n".join(": ".join(row) for row in rows)
    rule = ["---:" if each in of.numbers else "---" for each in range(len(of.heading))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (of.heading, rule, *rows))


def _in_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", one_line(text))


def write_pdf(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    """Write frame times as a PDF report, on pages of A4."""
    first, *more = report_pages(frames, provenance, options)
    write_document(first, stream, more)


def report_pages(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions
) -> tuple[DisplayList, ...]:
    room = room_of(A4)
    fitted = structs.replace(options, width_pt=room, height_pt=room * _GRAPH_ASPECT)
    report = report_of(frames, provenance, fitted)
    return pages_of(report, provenance.created, provenance.software)


def pages_of(report: Report, created: datetime | None, software: str) -> tuple[DisplayList, ...]:
    pages = PageLayout(A4, report.theme, report.title, created, software)
    pages.add_title(report.title)
    pages.add_table(report.about)
    for section in report.sections:
        pages.add_heading(section.title)
        if section.note:
            pages.add_paragraph(section.note)
        for picture in section.pictures:
            pages.add_picture(picture)
        if section.table is not None:
            pages.add_table(section.table)
    return pages.finished()


def html_of_table(table: ReportTable) -> str:
    return html_table(table.heading, table.rows, numbers=table.numbers)


def report_of(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> Report:
    software = provenance.software
    # The list of interventions that could follow the graph is a section of the report.
    graph = frame_graph(frames, provenance, options)
    sections = [
        ReportSection("Frame times", pictures=(graph,)),
        ReportSection(
            "Distribution", pictures=_distributions(frames, provenance, options, software)
        ),
        _statistics(frames, options),
    ]
    if options.interventions and frames.interventions:
        sections.append(
            ReportSection("Interventions", table=intervention_table(frames.interventions))
        )
    return Report(
        title=options.title or provenance.scene or "Frame times",
        theme=options.theme,
        about=_about(frames, provenance, options),
        sections=tuple(sections),
    )


def _about(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> ReportTable:
    rows = (
        ("Frames", f"{len(frames):,}, {format_duration(frames.length_ns)}"),
        ("Measure", options.measure),
        ("Time source", provenance.source),
        ("Target", provenance.target_text.removeprefix("target ")),
        ("Note", provenance.note),
        ("Captured", provenance.created_text),
        ("Written by", provenance.software),
        ("Samples", frames.samples),
    )
    return ReportTable((), tuple((name, value) for name, value in rows if value))


def _statistics(frames: FrameTimes, options: ExportOptions) -> ReportSection:
    knows_refresh = options.knows_refresh and options.budgets_ms
    refresh_ms = options.budgets_ms[0] if knows_refresh else None
    counted, left_out = options.counted(frames)
    series = series_of(counted, options.measure, refresh_ms)
    rows, former = [], None
    for value in metric_values(series):
        tool = value.metric.tool or "Timeline Inspector"
        lacks_refresh = value.metric.needs_refresh and refresh_ms is None
        formula = _NO_REFRESH if lacks_refresh else value.why_not or value.metric.formula
        rows.append((tool if tool != former else "", value.metric.name, value.text, formula))
        former = tool
    against = "" if refresh_ms is None else f" Hitches and jank are against {refresh_ms:.4g} ms."
    note = (
        "Each tool defines its statistics in its own way. In the formulas, f are "
        f"frame times in milliseconds and n is their number.{against}"
    )
    if left_out:
        note += f" They are {left_out_text(left_out)}."
    heading = ("Tool", "Statistic", "Value", "Definition")
    table = ReportTable(heading, tuple(rows), frozenset((2,)))
    return ReportSection("Statistics by tool", note, table=table)


def _distributions(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, software: str
) -> tuple[DisplayList, ...]:
    counted, _left_out = options.counted(frames)
    curves = (Curve("", Distribution(counted.measured(options.measure))),)
    return tuple(
        chart_picture(
            *(kind, curves, options.width_pt, options.theme),
            created=provenance.created,
            software=software,
            budgets_ms=options.budgets_ms,
        )
        for kind in ChartKind
    )
