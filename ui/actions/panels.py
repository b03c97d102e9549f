"""The panels: one per feature, described in :data:`PANELS`.

Nothing here loads a panel before it is made: the window paints its shell first,
and panels bring numpy with them.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QWidget

from inspector.extensions import Panel, PanelArea, Registry, object_at

from ..kit.guards import report_faults
from ..kit.theme import Theme
from ..session.bridge import SessionBridge


def make_panel(
    panel: Panel, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None
) -> QWidget:
    """Import and make a panel, named by its id; a module with a leading dot is of this window."""
    is_own = panel.widget.startswith(".")
    widget_class = object_at(f".{panel.widget}" if is_own else panel.widget, __package__)
    if not is_own:
        report_faults(widget_class)
    widget = widget_class(bridge, theme, parent)
    if not isinstance(widget, QWidget):
        raise TypeError(f"{panel.widget} is not a widget")
    widget.setObjectName(panel.id)
    # Opaque, so that what is below is not painted along with it.
    widget.setAutoFillBackground(True)
    return widget


def panel_around(widget: QWidget | None) -> Panel | None:
    by_id = {panel.id: panel for panel in PANELS}
    while widget is not None:
        panel = by_id.get(widget.objectName())
        if panel is not None:
            return panel
        widget = widget.parentWidget()
    return None


def _check(panel: Panel) -> str:
    if panel.area in {None, PanelArea.MIDDLE}:
        return "it has no area, and the middle of the window is taken"
    if not panel.id.isidentifier():
        return f"its id “{panel.id}” is not an identifier"
    if "&" in panel.title or panel.widget.startswith("."):
        return "its title contains “&”, or its widget begins with a dot"
    return ""


# fmt: off
PANELS: Final = Registry(
    "panels",
    Panel,
    (
        Panel("clock_tree", "Clocks", PanelArea.LEFT, ".clock_tree.panel:ClockTreePanel",
              "every clock with its time, its rate and what stops it", "session.clocks"),
        Panel("frame_times", "Frame times", None, ".frame_times.panel:FrameTimesPanel",
              "how long each frame took", "session.frames"),
        Panel("scene", "Scene", PanelArea.TOP_RIGHT, ".scene.panel:ScenePanel",
              "the scene's picture, with stopped parts in grey", "session.export_picture"),
        Panel("details", "Why", PanelArea.RIGHT, ".why.panel:WhyPanel",
              "the selection and the reasons for its state", "session.explain"),
        Panel("timer_queue", "Timers", PanelArea.BOTTOM, ".timer_queue.panel:TimerQueuePanel",
              "everything that waits to be called, the next due first", "session.timers"),
        Panel("event_list", "Events", PanelArea.BOTTOM, ".events.panel:EventListPanel",
              "everything that has happened, in order", "session.events"),
        Panel("findings", "Findings", PanelArea.BOTTOM, ".findings:FindingsPanel",
              "problems found in the timers so far", "session.findings"),
        Panel("timeline", "Timeline", PanelArea.MIDDLE, ".timeline.panel:TimelinePanel",
              "what clocks, timers and machines did, on lanes", "session.export"),
        Panel("frame_spans", "Frame", PanelArea.BOTTOM, ".frame_spans.panel:FrameSpansPanel",
              "which calls of a frame took how long", "session.frame"),
        Panel("state_machines", "State machines", PanelArea.BOTTOM,
              ".machines.panel:StateMachinesPanel",
              "the states of a machine, how it entered them, and its possible transitions",
              "session.members"),
        Panel("tasks", "Tasks", PanelArea.BOTTOM, ".tasks:TasksPanel",
              "which task of a program waits for which, and for what", "session.tasks"),
        Panel("breakpoints", "Breakpoints", PanelArea.BOTTOM, ".breakpoints.panel:BreakpointsPanel",
              "conditions that stop the scene, and their hits", "session.breakpoints"),
        Panel("interventions", "History", PanelArea.BOTTOM,
              ".interventions.panel:InterventionsPanel",
              "every intervention: what was changed, by whom, and how to undo it",
              "session.commands"),
        Panel("bookmarks", "Bookmarks", PanelArea.BOTTOM, ".bookmarks.panel:BookmarksPanel",
              "bookmarks, notes and named ranges; recordings keep them", "session.annotations"),
        Panel("statistics", "Statistics", PanelArea.BOTTOM, ".statistics.panel:StatisticsPanel",
              "how frame times are distributed, and their statistics by tool",
              "session.statistics"),
        Panel("query", "Query", PanelArea.BOTTOM, ".query.panel:QueryPanel",
              "SQL on the frames and statistics of what is open and of files", "command_line.run"),
        Panel("lab", "Refresh-rate lab", PanelArea.BOTTOM, ".lab.panel:LabPanel",
              "timers at different display rates, on this engine and on others",
              "command_line.run"),
    ),
    names=lambda each: (each.id, each.title),
    check=_check,
)
