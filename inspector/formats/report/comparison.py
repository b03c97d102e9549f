"""A comparison as a report: plots, differences and the verdict, as HTML or PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import inspector
from inspector.analysis.statistics.metrics import MetricValue
from inspector.analysis.statistics.runs import ComparedRun, RunDifference
from inspector.errors import ExportError
from inspector.formats.aligned_chart import AlignedRun, aligned_chart
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.distribution_chart import ChartKind, Curve, chart_picture
from inspector.formats.drawing.display_list import Box, DisplayList
from inspector.formats.file_formats import write_document
from inspector.formats.options import GRAPH_COLORS, ThemeName
from inspector.formats.report.page_layout import A4, Table, room_of
from inspector.formats.report.report import Report, Section, html_of, pages_of
from inspector.timebase import format_duration

#: What a comparison can be written as, by the suffix of the file.
COMPARISON_FORMATS: Final = {
    ".html": "HTML: plots, differences and verdict",
    ".pdf": "PDF: the same, on pages",
}
_WIDTH: Final = 720.0
_ASPECT: Final = 1 / 3
_SOFTWARE: Final = f"Timeline Inspector {inspector.__version__}"
_DEFINITION: Final = (
    "Changes are relative to the first run. Their 95 % intervals come from resampling blocks of "
    "consecutive frames or calls, several times as long as these depend on each other, and hold "
    "for all frames' statistics together, as for all calls' together. A verdict needs the whole "
    "interval on one side of 0."
)


def check_comparison(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is compared.

    Raises:
        ExportError: The folder cannot be written, or its suffix is another.
    """
    if path.suffix.lower() not in COMPARISON_FORMATS:
        known = " or ".join(COMPARISON_FORMATS)
        raise ExportError(f"{path} does not say what to write. Give it the suffix {known}.")
    check_target(path)


def write_comparison(
    found: Sequence[RunDifference],
    path: Path,
    theme: ThemeName = "light",
    budgets_ms: Sequence[float] = (),
) -> None:
    """Write comparisons with the same first run to a file, in the format of its suffix.

    Args:
        found: The comparisons, at least one.
        path: The file; one that is there is replaced.
        budgets_ms: Frame times to mark.

    Raises:
        ExportError: The file cannot be written, or its suffix is another.
    """
    check_comparison(path)
    created = datetime.now(UTC)
    is_pdf = path.suffix.lower() == ".pdf"
    width = room_of(A4) if is_pdf else _WIDTH
    report = comparison_report(found, theme, budgets_ms, created, width)
    with replacing(path) as stream:
        if is_pdf:
            first, *more = pages_of(report, created, _SOFTWARE)
            write_document(first, stream, more)
        else:
            stream.write(html_of(report).encode())


def comparison_report(
    found: Sequence[RunDifference],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
    width: float = _WIDTH,
) -> Report:
    """Return the report of comparisons, as of a time.

    Args:
        found: The comparisons, at least one.
        budgets_ms: Frame times to mark.
        width: Width of its pictures, in points.
    """
    runs = [found[0].before, *(each.after for each in found)]
    curves = [Curve(each.name, each.distribution) for each in runs]
    charts = tuple(
        chart_picture(
            *(kind, curves, width, theme),
            created=created,
            software=_SOFTWARE,
            budgets_ms=budgets_ms,
        )
        for kind in ChartKind
    )
    stamp = created.isoformat(sep=" ", timespec="seconds")
    rows = (("Run", "Frames", "Duration"), *map(_run_row, runs))
    verdicts = Table((), tuple((each.sentence,) for each in found))
    return Report(
        title=f"Comparison: {' – '.join(each.name for each in runs)}",
        theme=theme,
        about=Table((), (("Compared", stamp), ("Written by", _SOFTWARE))),
        sections=(
            Section("Verdict", table=verdicts),
            Section("Runs", table=Table(rows[0], rows[1:], frozenset((1, 2)))),
            Section("Frame times", pictures=(_plot(runs, theme, budgets_ms, created, width),)),
            Section("Distributions", pictures=charts),
            *(_differences(each) for each in found),
        ),
    )


def _run_row(run: ComparedRun) -> tuple[str, ...]:
    return run.name, f"{len(run.times_ns):,}", format_duration(int(run.times_ns.sum()))


def _plot(
    runs: Sequence[ComparedRun],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
    width: float,
) -> DisplayList:
    aligned = [AlignedRun(each.name, each.times_ns) for each in runs]
    height = round(width * _ASPECT, 2)
    items = aligned_chart(aligned, Box(4, 4, width - 8, height - 8), theme, budgets_ms=budgets_ms)
    return DisplayList(
        *(width, height, GRAPH_COLORS[theme].background, items),
        title="Frame times",
        description=f"Frame times of {len(runs)} runs, aligned at their beginnings.",
        created=created,
        software=_SOFTWARE,
    )


def _differences(found: RunDifference) -> Section:
    heading = ("Of", "Statistic", "Before", "After", "Change", "95 % interval", "Verdict")
    table = Table(heading, tuple(_rows(found)), frozenset((2, 3, 4, 5)))
    return Section(f"Differences of {found.after.name}", _DEFINITION, table=table)


def _rows(found: RunDifference) -> Iterator[tuple[str, ...]]:
    for each in found.found.differences:
        metric = each.metric
        texts = (MetricValue(metric, value).text for value in (each.before, each.after))
        change = (each.share_text, each.interval_text, each.verdict.value)
        yield "Frames", f"{metric.tool} {metric.name}".strip(), *texts, *change
    for call in found.calls:
        values = (call.change.before, call.change.after)
        numbers = ("-" if value is None else f"{value:,.2f} {call.unit}" for value in values)
        change = (call.change.share_text, call.change.interval_text, call.change.verdict.value)
        yield call.subject, call.what, *numbers, *change
