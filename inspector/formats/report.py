"""Frame times as a report: one HTML file with graph, distribution, statistics and definitions.

It loads nothing from elsewhere, so it can be mailed, and opened years later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.analysis.statistics.metrics import metric_values
from inspector.formats.distribution_chart import ChartKind, Curve, chart_picture
from inspector.formats.frame_graph.frame_graph import frame_graph
from inspector.formats.html_page import html_page, html_table, svg_element
from inspector.formats.ticks import grouped
from inspector.timebase import NS_PER_MS, format_duration, format_instant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.formats.frame_times import FrameTimes, Provenance
    from inspector.formats.options import ExportOptions


def write_report(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    """Write frame times as an HTML report.

    Args:
        frames: The frames.
        provenance: Where they come from.
        options: How the graph is drawn; the statistics are of the same measure.
        stream: Takes the file, UTF-8.
    """
    stream.write(_document(frames, provenance, options).encode())


def _document(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> str:
    times_ns = frames.measured(options.measure)
    title = options.title or provenance.scene or "Frame times"
    parts = [
        _about(frames, provenance, options),
        "<h2>Frame times</h2>",
        svg_element(frame_graph(frames, provenance, options)),
        "<h2>Distribution</h2>",
        *_distributions(times_ns, provenance, options),
        _statistics(times_ns / NS_PER_MS, frames, options),
        _interventions(frames) if options.interventions else "",
    ]
    return html_page(title, options.theme, parts)


def _about(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> str:
    total_ns = int(frames.interval_ns.sum())
    rate = provenance.frame_rate
    rows = [
        ("Frames", f"{grouped(len(frames))}, {format_duration(total_ns)}"),
        ("Measure", options.measure),
        ("Time source", provenance.source),
        ("Target", "" if rate is None else f"{float(rate):g} fps"),
        ("Note", provenance.note),
        ("Captured", provenance.created.isoformat(sep=" ", timespec="seconds")),
        ("Written by", f"Timeline Inspector {provenance.version}"),
        ("Samples", frames.samples),
    ]
    return html_table((), [(name, value) for name, value in rows if value])


def _statistics(times_ms: NDArray[np.float64], frames: FrameTimes, options: ExportOptions) -> str:
    refresh_ms = options.budgets_ms[0] if options.budgets_ms else None
    series = FrameSeries(times_ms, refresh_ms)
    rows, former = [], None
    for value in metric_values(series, is_sampled=bool(frames.samples)):
        tool = value.metric.tool or "Timeline Inspector"
        formula = value.why_not or value.metric.formula
        rows.append((tool if tool != former else "", value.metric.name, value.text, formula))
        former = tool
    against = "" if refresh_ms is None else f" Hitches and jank are against {refresh_ms:.4g} ms."
    note = (
        "<h2>Statistics by tool</h2>"
        '<p class="quiet">Each tool defines its statistics in its own way. In the formulas, f are '
        f"frame times in milliseconds and n is their number.{against}</p>"
    )
    return note + html_table(("Tool", "Statistic", "Value", "Definition"), rows, numbers={2})


def _interventions(frames: FrameTimes) -> str:
    if not frames.interventions:
        return ""
    rows = [
        (format_instant(each.at_ns), each.text, f"refused: {each.refusal}" if each.refusal else "")
        for each in frames.interventions
    ]
    return "<h2>Interventions</h2>" + html_table(("At", "What", ""), rows)


def _distributions(
    times_ns: NDArray[np.int64], provenance: Provenance, options: ExportOptions
) -> list[str]:
    """Return charts of the frame times by size."""
    curves = (Curve("", Distribution(times_ns)),)
    software = f"Timeline Inspector {provenance.version}"
    return [
        svg_element(
            chart_picture(
                *(kind, curves, options.width_pt, options.theme),
                created=provenance.created,
                software=software,
                budgets_ms=options.budgets_ms,
            )
        )
        for kind in ChartKind
    ]
