"""A comparison as a report: plots, differences and the verdict, as HTML, PDF or Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from msgspec import structs

import inspector
from inspector.analysis.statistics.comparison import COMPARED, CONFIDENCE, Change
from inspector.analysis.statistics.metrics import MetricValue, metric_values
from inspector.analysis.statistics.runs import ComparedRun, RunDifference
from inspector.formats.aligned_chart import AlignedRun, aligned_chart
from inspector.formats.arrangement.figures import FIGURE_FORMATS, FigureData, Shown
from inspector.formats.csv_cells import quoted, text_cell
from inspector.formats.distribution_chart import ChartKind, Curve, chart_picture
from inspector.formats.drawing.display_list import Box, DisplayList
from inspector.formats.file_formats import write_file
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import GRAPH_COLORS, PRESETS, ExportOptions, FigureName
from inspector.formats.page.comparison_page import FRAME_TIMES, comparison_html
from inspector.formats.report.page_layout import A4, ReportTable, room_of
from inspector.formats.report.report import (
    SOFTWARE,
    Report,
    ReportSection,
    check_report,
    write_report,
    write_text,
)
from inspector.timebase import format_duration
from inspector.tokens import THEMES, ThemeName

#: What a comparison can be written as, by the suffix of the file.
COMPARISON_FORMATS: Final = {
    ".html": "HTML: verdict, differences, and frames to explore in a browser",
    ".pdf": "PDF: the same, on pages",
    ".md": "Markdown: differences and verdict, for a pull request",
    ".png": "PNG: the distributions on a slide",
    ".svg": "SVG: the same, for web pages",
    ".csv": "CSV: a row for each difference",
    ".json": "JSON: everything, as data",
}
_WIDTH: Final = 720.0
_ASPECT: Final = 1 / 3
_DEFINITION: Final = (
    "Changes are relative to the first run. Their 95 % intervals come from resampling blocks of "
    "consecutive frames or calls, several times as long as these depend on each other, and hold "
    "for all frames' statistics together, as for all calls' together. A verdict needs the whole "
    "interval on one side of 0."
)
_OF_VERSIONS: Final = (
    "Changes are relative to the runs before, of all frames of each side. Their 95 % intervals "
    "come from how much the runs differ (leaving out each in turn, Student's distribution), and "
    "hold for all frames' statistics together, as for all calls' together. A verdict needs the "
    "whole interval on one side of 0."
)
#: The metrics shown of each run.
_OF_RUNS: Final = ("fps", "p50", "p99", "frameview.low-1")


def write_comparison(  # noqa: PLR0913 - as for a report
    found: Sequence[RunDifference],
    path: Path,
    theme: ThemeName = "light",
    budgets_ms: Sequence[float] = (),
    *,
    conditions: ReportTable | None = None,
    tested: Sequence[Sequence[Mapping[str, object]]] = (),
) -> None:
    check_report(path, COMPARISON_FORMATS)
    created = datetime.now(UTC)
    match kind := path.suffix.lower():
        case ".csv":
            write_text(_csv(found), path)
        case ".json":
            write_text(json_of(found, tested), path)
        case ".png" | ".svg":
            runs = [found[0].before, *(each.after for each in found)]
            figure: FigureName = "frames" if any(each.samples for each in runs) else "distribution"
            options = ExportOptions(theme=theme, budgets_ms=tuple(budgets_ms), figure=figure)
            about = Provenance("", created, inspector.__version__)
            data = FigureData(tuple(shown_of(each, about) for each in runs))
            write_file(data, about, PRESETS["slide"].applied_to(options), path, FIGURE_FORMATS)
        case ".html":
            page = html_of_comparison(found, theme, budgets_ms, created, conditions=conditions)
            write_text(page, path, "backslashreplace")
        case _:
            width = room_of(A4) if kind == ".pdf" else _WIDTH
            report = comparison_report(
                found, theme, budgets_ms, created, width, conditions=conditions
            )
            write_report(report, created, path)


def shown_of(run: ComparedRun, about: Provenance) -> Shown:
    times_ns = run.times_ns
    places = np.arange(len(times_ns), dtype=np.int64)
    frames = FrameTimes.of_columns(places, run.ends_ns, times_ns, times_ns)
    return Shown(run.name, structs.replace(frames, samples=run.samples), about)


def html_of_comparison(
    found: Sequence[RunDifference],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
    *,
    conditions: ReportTable | None = None,
) -> str:
    """Return comparisons with the same first run as a page to explore, as of a time."""
    reports = {
        each: comparison_report(found, each, budgets_ms, created, conditions=conditions)
        for each in THEMES
    }
    sides = [found[0].before.runs, *(each.after.runs for each in found)]
    return comparison_html(reports, sides, budgets_ms, theme)


def comparison_report(  # noqa: PLR0913 - as many things make a report
    found: Sequence[RunDifference],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
    width: float = _WIDTH,
    *,
    conditions: ReportTable | None = None,
) -> Report:
    """Return the report of comparisons, as of a time."""
    runs = [found[0].before, *(each.after for each in found)]
    several = [run for side in runs for run in side.runs]
    whole = _plot(several, theme, budgets_ms, created, width)
    plots = [ReportSection(FRAME_TIMES, pictures=(whole,))]
    # Samples do not tell how long all frames took, so they have no distribution.
    if not any(each.samples for each in runs):
        curves = [Curve(each.name, each.distribution) for each in runs]
        charts = tuple(
            chart_picture(
                *(kind, curves, width, theme),
                created=created,
                software=SOFTWARE,
                budgets_ms=budgets_ms,
            )
            for kind in ChartKind
        )
        plots.append(ReportSection("Distributions", pictures=charts))
    stamp = created.isoformat(sep=" ", timespec="seconds")
    verdicts = ReportTable((), tuple((each.sentence,) for each in found))
    return Report(
        title=f"Comparison: {' – '.join(each.name for each in runs)}",
        theme=theme,
        about=ReportTable((), (("Compared", stamp), ("Written by", SOFTWARE))),
        sections=(
            ReportSection("Verdict", table=verdicts),
            *(
                [ReportSection("Conditions", table=conditions)]
                if conditions and conditions.rows
                else []
            ),
            ReportSection("Runs", table=runs_table(runs)),
            *plots,
            *(_differences(each) for each in found),
        ),
    )


def runs_table(sides: Sequence[ComparedRun]) -> ReportTable:
    """Return the runs of each side, and if a side has several, also all of them together."""
    metrics = metric_values(sides[0].series, wanted=frozenset(_OF_RUNS))
    names = (each.metric.full_name for each in metrics)
    heading = ("Run", "Frames", "Duration", *names)
    rows = tuple(row for side in sides for row in _side_rows(side))
    return ReportTable(heading, rows, frozenset(range(1, len(heading))))


def _side_rows(side: ComparedRun) -> Iterator[tuple[str, ...]]:
    outliers = side.outliers
    for run in side.runs:
        yield _run_row(run, f"{run.name} (outlier)" if run.name in outliers else run.name)
    for run in side.left_out:
        yield _run_row(run, f"{run.name} (outlier, left out)")
    if len(side.runs) > 1:
        yield _run_row(side, f"{side.name}: all frames")
        values = [metric_values(each.series, wanted=frozenset(_OF_RUNS)) for each in side.runs]
        means = (
            MetricValue(of[0].metric, _mean_of(each.value for each in of))
            for of in zip(*values, strict=True)
        )
        yield f"{side.name}: mean of the runs", "", "", *(each.text for each in means)


def _mean_of(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return fmean(known) if known else None


def _run_row(run: ComparedRun, name: str) -> tuple[str, ...]:
    values = metric_values(run.series, wanted=frozenset(_OF_RUNS))
    length = format_duration(int(run.lasts_ns.sum()))
    return name, f"{len(run.times_ns):,}", length, *(each.text for each in values)


def _plot(
    runs: Sequence[ComparedRun],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
    width: float,
) -> DisplayList:
    aligned = [AlignedRun(each.name, each.times_ns, each.ends_ns) for each in runs]
    height = round(width * _ASPECT, 2)
    items = aligned_chart(aligned, Box(4, 4, width - 8, height - 8), theme, budgets_ms=budgets_ms)
    return DisplayList(
        *(width, height, GRAPH_COLORS[theme].background, items),
        title="Frame times",
        description=f"Frame times of {len(runs)} runs, aligned at their beginnings.",
        created=created,
        software=SOFTWARE,
    )


def _differences(found: RunDifference) -> ReportSection:
    heading = ("Of", "Statistic", "Before", "After", "Change", "95 % interval", "Verdict")
    table = ReportTable(heading, tuple(_rows(found)), frozenset((2, 3, 4, 5)))
    definition = _OF_VERSIONS if found.is_of_versions else _DEFINITION
    return ReportSection(f"Differences of {found.after.name}", definition, table=table)


def _rows(found: RunDifference) -> Iterator[tuple[str, ...]]:
    for each in found.found.differences:
        texts = (MetricValue(each.metric, value).text for value in (each.before, each.after))
        change = (each.share_text, each.interval_text, each.verdict.value)
        yield "Frames", each.metric.full_name, *texts, *change
    for part in found.parts:
        values = (part.change.before, part.change.after)
        numbers = ("-" if each is None else number_text(each, part.unit) for each in values)
        change = (part.change.share_text, part.change.interval_text, part.change.verdict.value)
        yield part.subject, part.what, *numbers, *change


def number_text(value: float, unit: str) -> str:
    digits = f"{value:,.2f}" if abs(value) >= 1 or not value else f"{value:.3g}"
    return f"{digits} {unit}".strip()


# ---------------------------------------------------------------- as data


def _csv(found: Sequence[RunDifference]) -> str:
    titles = ("compared_with", "compared", "of", "statistic", "unit", "before", "after")
    rows: list[tuple[object, ...]] = [(*titles, "change", "low", "high", "verdict")]
    for each in found:
        names = (each.before.name, each.after.name)
        rows += [
            (*names, "Frames", of.metric.id, of.metric.unit, *_numbers_of(of))
            for of in each.found.differences
        ]
        rows += [
            (*names, part.subject, part.what, part.unit, *_numbers_of(part.change))
            for part in each.parts
        ]
    return csv_of(rows)


def _numbers_of(change: Change) -> tuple[object, ...]:
    numbers = (change.before, change.after, change.share, change.low, change.high)
    return *numbers, change.verdict.value


def csv_of(rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV; ``None`` is an empty cell, and no text is a formula."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            return quoted(text_cell(value))
        return "" if value is None else f"{value}"

    return "".join(",".join(map(cell, row)) + "\n" for row in rows)


def json_of(
    found: Sequence[RunDifference], tested: Sequence[Sequence[Mapping[str, object]]]
) -> str:
    of_each = tested or [()] * len(found)
    values = [comparison_values(*each) for each in zip(found, of_each, strict=True)]
    whole = values[0] if len(values) == 1 else {"comparisons": values}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def comparison_values(
    each: RunDifference, tested: Sequence[Mapping[str, object]] = ()
) -> dict[str, object]:
    found = each.found
    is_of_runs = each.before.parts or each.after.parts
    calls = [
        {"clock": call.clock, "label": call.label, "what": call.what, "unit": call.unit}
        | _change_values(call.change)
        for call in each.calls
    ]
    columns = [
        {"column": of.subject, "what": of.what, "unit": of.unit} | _change_values(of.change)
        for of in each.columns
    ]
    return {
        "before": each.before.name,
        "after": each.after.name,
        "frames": [len(each.before.times_ns), len(each.after.times_ns)],
        **(
            {"before_runs": _side_values(each.before), "after_runs": _side_values(each.after)}
            if is_of_runs
            else {}
        ),
        "about": "versions" if each.is_of_versions else "runs",
        "differences": {of.metric.id: _change_values(of) for of in found.differences},
        **({"columns": columns} if columns else {}),
        **({"calls": calls} if calls else {}),
        "confidence": CONFIDENCE,
        "verdict": found.verdict.value,
        "verdict_by": [of.metric.id for of in found.spoken],
        **({"why_not": found.why_not} if found.why_not else {}),
        **({"overlap": each.overlap} if each.overlap else {}),
        "tested": list(tested),
        "failed": [of["condition"] for of in tested if of["holds"]],
    }


def _change_values(change: Change) -> dict[str, object]:
    return {
        "before": change.before,
        "after": change.after,
        "change": change.share,
        "low": change.low,
        "high": change.high,
        "verdict": change.verdict.value,
        **({"why_not": change.why_not} if change.why_not else {}),
    }


def _run_values(run: ComparedRun) -> dict[str, object]:
    values = metric_values(run.series, wanted=frozenset(COMPARED))
    return {
        "file": run.name,
        "frames": len(run.times_ns),
        "metrics": {each.metric.id: each.value for each in values},
    }


def _side_values(side: ComparedRun) -> dict[str, object]:
    return {
        "runs": [_run_values(each) for each in side.runs],
        "outliers": [{"file": name, "from_median": share} for name, share in side.outliers.items()],
        "left_out": [_run_values(each) for each in side.left_out],
    }
