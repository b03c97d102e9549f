"""A comparison as a report: one HTML file with plots, differences and the verdict."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Final

import inspector
from inspector.analysis.statistics.metrics import MetricValue
from inspector.formats.aligned_chart import AlignedRun, aligned_chart
from inspector.formats.atomic_file import replacing
from inspector.formats.display_list import Box, DisplayList
from inspector.formats.distribution_chart import ChartKind, Curve, chart_picture
from inspector.formats.html_page import html_page, html_table, svg_element
from inspector.formats.options import GRAPH_COLORS, ThemeName
from inspector.formats.ticks import grouped
from inspector.timebase import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from inspector.analysis.statistics.runs import ComparedRun, RunDifference

_WIDTH: Final = 720.0
_HEIGHT: Final = 240.0
_DEFINITION: Final = (
    "Changes are relative to the first run. Their 95 % intervals come from resampling blocks of "
    "consecutive frames or calls (moving block bootstrap, Künsch 1989); a verdict needs the whole "
    "interval on one side of 0. The verdict in words is by the average frame rate. Frames depend "
    "on each other, so the p-value of the Kolmogorov-Smirnov test is too small rather than too "
    "large."
)


def write_comparison(
    found: Sequence[RunDifference],
    path: Path,
    theme: ThemeName = "light",
    budgets_ms: Sequence[float] = (),
) -> None:
    """Write comparisons with the same first run to an HTML file.

    Args:
        found: The comparisons, at least one.
        path: The file; one that is there is replaced.
        theme: Its colours.
        budgets_ms: Frame times to mark.

    Raises:
        ExportError: The file cannot be written.
    """
    page = comparison_page(found, theme, budgets_ms, datetime.now(UTC))
    with replacing(path) as stream:
        stream.write(page.encode())


def comparison_page(
    found: Sequence[RunDifference],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
) -> str:
    """Return the page of :func:`write_comparison`, as of a time."""
    runs = [found[0].before, *(each.after for each in found)]
    software = f"Timeline Inspector {inspector.__version__}"
    curves = [Curve(each.name, each.distribution) for each in runs]
    marks = tuple(budgets_ms)
    charts = [
        svg_element(
            chart_picture(
                *(kind, curves, _WIDTH, theme),
                created=created,
                software=software,
                budgets_ms=marks,
            )
        )
        for kind in ChartKind
    ]
    plot = svg_element(_plot(runs, theme, marks, created, software))
    title = " – ".join(each.name for each in runs)
    stamp = f"{created.isoformat(sep=' ', timespec='seconds')}, {software}"
    parts = [
        *(f"<p><b>{escape(each.sentence)}</b></p>" for each in found),
        html_table(("Run", "Frames", "Duration"), map(_run_row, runs), numbers={1, 2}),
        f"<h2>Frame times</h2>{plot}",
        "<h2>Distributions</h2>",
        *charts,
        "<h2>Differences</h2>",
        *(_differences(each) for each in found),
        f'<p class="quiet">{escape(_DEFINITION)}</p>',
        f'<p class="quiet">{escape(stamp)}</p>',
    ]
    return html_page(f"Comparison: {title}", theme, parts)


def _run_row(run: ComparedRun) -> tuple[str, ...]:
    return run.name, grouped(len(run.times_ns)), format_duration(int(run.times_ns.sum()))


def _plot(
    runs: Sequence[ComparedRun],
    theme: ThemeName,
    budgets_ms: Sequence[float],
    created: datetime,
    software: str,
) -> DisplayList:
    aligned = [AlignedRun(each.name, each.times_ns) for each in runs]
    box = Box(4, 4, _WIDTH - 8, _HEIGHT - 8)
    items = aligned_chart(aligned, box, theme, budgets_ms=budgets_ms)
    return DisplayList(
        *(_WIDTH, _HEIGHT, GRAPH_COLORS[theme].background, items),
        title="Frame times",
        description=f"Frame times of {len(runs)} runs, aligned at their beginnings.",
        created=created,
        software=software,
    )


def _differences(found: RunDifference) -> str:
    heading = ("Of", "Statistic", "Before", "After", "Change", "95 % interval", "Verdict", "")
    caption = f"<h3>{escape(found.after.name)}</h3>"
    return caption + html_table(heading, _rows(found), numbers={2, 3, 4, 5})


def _rows(found: RunDifference) -> Iterator[tuple[str, ...]]:
    for each in found.found.differences:
        metric = each.metric
        texts = (MetricValue(metric, value).text for value in (each.before, each.after))
        change = (each.share_text, each.interval_text, each.verdict.value)
        yield "Frames", f"{metric.tool} {metric.name}".strip(), *texts, *change, metric.formula
    for call in found.calls:
        subject = f"{call.clock}: {call.label}" if call.label else call.clock
        values = (call.change.before, call.change.after)
        numbers = ("-" if value is None else f"{value:,.2f} {call.unit}" for value in values)
        change = (call.change.share_text, call.change.interval_text, call.change.verdict.value)
        yield subject, call.what, *numbers, *change, ""
