"""The panels: one per folder, described in :data:`PANELS`.

Nothing here loads a panel before it is made: the window paints its shell first,
and panels bring numpy and pyqtgraph with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge


class PanelArea(Enum):
    """Where a panel is at first."""

    LEFT = "left"
    RIGHT = "right"
    BOTTOM = "bottom"


@dataclass(frozen=True, slots=True)
class PanelDescription:
    """One panel of the window.

    Attributes:
        id: Its name for the program; layouts are saved by it.
        title: Its name for people.
        area: Where it is docked at first; ``None`` for the middle of the window.
        module: The folder of the window that it lives in, in a file ``panel.py``.
        class_name: Its class, made with bridge, theme and parent.
        summary: What it shows, in a few words.
    """

    id: str
    title: str
    area: PanelArea | None
    module: str
    class_name: str
    summary: str

    def make(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> QWidget:
        """Import and make the panel."""
        module = import_module(f"..{self.module}.panel", __package__)
        factory = cast(
            "Callable[[SessionBridge, Theme, QWidget | None], QWidget]",
            getattr(module, self.class_name),
        )
        return factory(bridge, theme, parent)


PANELS: Final = (
    PanelDescription(
        "clock_tree",
        "Clocks",
        PanelArea.LEFT,
        "clock_tree",
        "ClockTreePanel",
        "every clock with its time, its rate and what stops it",
    ),
    PanelDescription(
        "frame_times",
        "Frame times",
        None,
        "frame_times",
        "FrameTimesPanel",
        "how long each frame took",
    ),
    PanelDescription(
        "details",
        "Details",
        PanelArea.RIGHT,
        "details",
        "DetailsPanel",
        "the selection and the reasons for its state",
    ),
    PanelDescription(
        "timer_queue",
        "Timer queue",
        PanelArea.BOTTOM,
        "timer_queue",
        "TimerQueuePanel",
        "every pending timer, the next one to fire first",
    ),
    PanelDescription(
        "event_list",
        "Events",
        PanelArea.BOTTOM,
        "events",
        "EventListPanel",
        "everything that has happened, in order",
    ),
    PanelDescription(
        "timeline",
        "Timeline",
        PanelArea.BOTTOM,
        "timeline",
        "TimelinePanel",
        "what clocks, timers and machines did, on lanes",
    ),
    PanelDescription(
        "frame_spans",
        "Frame",
        PanelArea.BOTTOM,
        "frame_spans",
        "FrameSpansPanel",
        "which calls of a frame took how long",
    ),
    PanelDescription(
        "state_machines",
        "State machines",
        PanelArea.BOTTOM,
        "machines",
        "StateMachinesPanel",
        "the states of a machine, how it entered them, and its possible transitions",
    ),
    PanelDescription(
        "breakpoints",
        "Breakpoints",
        PanelArea.BOTTOM,
        "breakpoints",
        "BreakpointsPanel",
        "conditions that stop the scene, and their hits",
    ),
    PanelDescription(
        "findings",
        "Findings",
        PanelArea.BOTTOM,
        "findings",
        "FindingsPanel",
        "problems found in the timers so far",
    ),
    PanelDescription(
        "interventions",
        "Interventions",
        PanelArea.BOTTOM,
        "interventions",
        "InterventionsPanel",
        "every intervention: what was changed, by whom, and how to undo it",
    ),
    PanelDescription(
        "bookmarks",
        "Bookmarks",
        PanelArea.BOTTOM,
        "bookmarks",
        "BookmarksPanel",
        "bookmarks, notes and named ranges; recordings keep them",
    ),
    PanelDescription(
        "lab",
        "Refresh-rate lab",
        PanelArea.BOTTOM,
        "lab",
        "LabPanel",
        "timers at different display rates, on this engine and on others",
    ),
)
