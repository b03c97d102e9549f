"""Pictures of the arrangement, and the pages behind them with what they have no room to list."""

from __future__ import annotations

from inspector.analysis.intervention_list import Intervention
from inspector.formats.arrangement.figures import FigureData, Shown, figure
from inspector.formats.arrangement.picture import Timed, arrangement_picture
from inspector.formats.drawing.display_list import DisplayList
from inspector.formats.drawing.font_metrics import plain
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.report.page_layout import PageLayout, ReportTable
from inspector.timebase import format_instant


def timeline_picture(data: Timed, provenance: Provenance, options: ExportOptions) -> DisplayList:
    return arrangement_picture(data, provenance, options)[0]


def frame_pages(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions
) -> tuple[DisplayList, ...]:
    """Return a figure of frames, and a list of the interventions if it cannot name them all."""
    if options.figure != "frames":
        shown = Shown(plain(provenance.scene) or "frames", frames, provenance)
        return (figure(FigureData((shown,)), provenance, options),)
    data = frames, None
    graph, unnamed = arrangement_picture(data, provenance, options, has_lanes=False)
    if not (unnamed and options.interventions and frames.interventions):
        return (graph,)
    size = (options.width_pt, options.height_pt)
    pages = PageLayout(size, options.theme, graph.title, graph.created, graph.software)
    pages.add_heading(f"Interventions of {graph.title}")
    pages.add_table(intervention_table(frames.interventions))
    return (graph, *pages.finished(before=1))


def intervention_table(interventions: tuple[Intervention, ...]) -> ReportTable:
    """Return interventions as a table, with the numbers that the graph has for them."""
    rows = (
        (each.label, format_instant(each.at_ns), plain(each.text), _remark(each))
        for each in interventions
    )
    return ReportTable(("No.", "At", "What", ""), tuple(rows))


def _remark(entry: Intervention) -> str:
    """Return what is worth saying about an intervention besides what it is."""
    parts = [f"by {entry.by}"] if not entry.is_hit and entry.by != "you" else []
    if entry.refusal or entry.undone_by:
        parts.append(entry.outcome)
    return ", ".join(parts)
