"""The frame-time graph, and the pages behind it with what it has no room to list."""

from __future__ import annotations

from inspector.analysis.intervention_list import Intervention
from inspector.formats.drawing.display_list import DisplayList
from inspector.formats.drawing.font_metrics import plain
from inspector.formats.frame_graph.frame_graph import laid_out_graph
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.report.page_layout import Pages, Table
from inspector.timebase import format_instant


def frame_pages(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions
) -> tuple[DisplayList, ...]:
    """Return the graph, followed by all interventions if it does not list each of them."""
    graph, lists_all = laid_out_graph(frames, provenance, options)
    if lists_all:
        return (graph,)
    size = (options.width_pt, options.height_pt)
    pages = Pages(size, options.theme, graph.title, graph.created, graph.software)
    pages.add_heading(f"Interventions of {graph.title}")
    pages.add_table(intervention_table(frames.interventions))
    return (graph, *pages.finished(before=1))


def intervention_table(interventions: tuple[Intervention, ...]) -> Table:
    """Return interventions as a table, with the numbers that the graph has for them."""
    rows = (
        (each.label, format_instant(each.at_ns), plain(each.text), _remark(each))
        for each in interventions
    )
    return Table(("No.", "At", "What", ""), tuple(rows))


def _remark(entry: Intervention) -> str:
    """Return what is worth saying about an intervention besides what it is."""
    parts = [f"by {entry.by}"] if not entry.is_hit and entry.by != "you" else []
    if entry.refusal or entry.undone_by:
        parts.append(entry.outcome)
    return ", ".join(parts)
