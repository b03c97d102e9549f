"""Frame times as a report: one HTML file with graph, distribution, statistics and definitions.

It loads nothing from elsewhere, so it can be mailed, and opened years later.
"""

from __future__ import annotations

from html import escape
from math import ceil
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np

from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.analysis.statistics.metrics import metric_values
from inspector.formats.display_list import (
    Anchor,
    Box,
    DisplayList,
    Item,
    Point,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.frame_graph.frame_graph import frame_graph
from inspector.formats.options import GRAPH_COLORS
from inspector.formats.svg import svg_text
from inspector.formats.ticks import grouped
from inspector.timebase import NS_PER_MS, format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from inspector.formats.frame_times import FrameTimes, Provenance
    from inspector.formats.options import ExportOptions

_BINS: Final = 60
#: The distribution ends here, so that one long frame does not flatten it.
_SHOWN_PERCENT: Final = 99.5
_PAD, _HEIGHT = 44.0, 190.0

_STYLE: Final = """\
body{font:15px/1.5 Verdana,'DejaVu Sans',sans-serif;max-width:60em;margin:2em auto;padding:0 1em;
color:%(text)s;background:%(background)s}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;font-size:.87em}
td,th{padding:.2em .9em .2em 0;text-align:left;vertical-align:top;border-bottom:1px solid %(grid)s}
td.n{text-align:right;white-space:nowrap}th{font-weight:600}
.quiet{color:%(muted)s}svg{max-width:100%%;height:auto}
"""


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
    colors = GRAPH_COLORS[options.theme]
    style = _STYLE % {
        "text": colors.text,
        "background": colors.background,
        "grid": colors.grid,
        "muted": colors.muted_text,
    }
    times_ms = frames.measured(options.measure) / NS_PER_MS
    title = options.title or provenance.scene or "Frame times"
    page = '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    parts = [
        f"{page}<title>{escape(title)}</title><style>{style}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        _about(frames, provenance, options),
        "<h2>Frame times</h2>",
        _svg(frame_graph(frames, provenance, options)),
        "<h2>Distribution</h2>",
        _svg(_distribution(times_ms, provenance, options)),
        _statistics(times_ms, frames, options),
        _interventions(frames) if options.interventions else "",
        "</body></html>\n",
    ]
    return "\n".join(filter(None, parts))


def _svg(picture: DisplayList) -> str:
    """Return a picture as an element of the page."""
    return svg_text(picture).partition("?>")[2].strip()


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
    return _table((), [(name, value) for name, value in rows if value])


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
    return note + _table(("Tool", "Statistic", "Value", "Definition"), rows, numbers={2})


def _interventions(frames: FrameTimes) -> str:
    if not frames.interventions:
        return ""
    rows = [
        (format_instant(each.at_ns), each.text, f"refused: {each.refusal}" if each.refusal else "")
        for each in frames.interventions
    ]
    return "<h2>Interventions</h2>" + _table(("At", "What", ""), rows)


def _table(
    heading: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: frozenset[int] | set[int] = frozenset(),
) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heading)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=n' if place in numbers else ''}>{escape(cell)}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table>{f'<tr>{head}</tr>' if heading else ''}{body}</table>"


def _distribution(
    times_ms: NDArray[np.float64], provenance: Provenance, options: ExportOptions
) -> DisplayList:
    """Return a histogram of frame times, with the share of frames up to each time as a line."""
    colors = GRAPH_COLORS[options.theme]
    width, plot_height = options.width_pt, _HEIGHT - 2 * _PAD / 2
    top_ms = float(np.percentile(times_ms, _SHOWN_PERCENT)) or 1.0
    step_ms = _round_step(top_ms / _BINS)
    count = max(1, ceil(top_ms / step_ms))
    edges = np.arange(count + 1) * step_ms
    counts, _ = np.histogram(times_ms, edges)
    below = np.cumsum(counts) / len(times_ms)
    most, unit = max(int(counts.max()), 1), (width - 2 * _PAD) / count
    base = _PAD / 2 + plot_height
    items: list[Item] = [
        Rect(
            Box(
                _PAD + place * unit,
                base - plot_height * number / most,
                unit * 0.92,
                plot_height * number / most,
            ),
            colors.line,
        )
        for place, number in enumerate(counts.tolist())
        if number
    ]
    points = tuple(
        Point(_PAD + (place + 1) * unit, base - plot_height * share)
        for place, share in enumerate(below.tolist())
    )
    items += [
        Polyline((Point(_PAD, base), *points), Stroke(colors.text, 1.2)),
        Polyline((Point(_PAD, base), Point(width - _PAD, base)), Stroke(colors.muted_text, 0.8)),
    ]
    every = max(1, count // 6)
    items += [
        Text(
            Point(_PAD + place * unit, base + 14),
            f"{place * step_ms:g} ms",
            9,
            colors.muted_text,
            Anchor.MIDDLE,
        )
        for place in range(0, count + 1, every)
    ]
    longer = float((times_ms >= edges[-1]).mean())
    told = f"{longer:.1%} of the frames take longer than {edges[-1]:g} ms. " if longer else ""
    items.append(
        Text(
            Point(_PAD, base + 32),
            f"{told}Bars: frames in steps of {step_ms:g} ms; line: share of frames up to there.",
            9,
            colors.muted_text,
        )
    )
    return DisplayList(
        width,
        base + 42,
        colors.background,
        tuple(items),
        "Distribution of frame times",
        f"Histogram of {len(times_ms):,} frame times.",
        provenance.created,
        f"Timeline Inspector {provenance.version}",
    )


def _round_step(step: float) -> float:
    """Return the next of 1, 2, 5, 10 … times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999))
