"""The counts in the tabs: pending timers, findings, hits of breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QObject, Slot

from inspector.sessions.session import SessionPhase

from ..kit.paced_refresh import PacedRefresh, single_shot
from .panel_docks import Placeholder

if TYPE_CHECKING:
    from ..findings.panel import FindingsPanel
    from ..session.bridge import SessionBridge
    from .main_window import MainWindow

#: Milliseconds between counts, at best.
_COUNT_MS: Final = 500
#: A scene that was held this long (milliseconds) is analysed: that costs it no frame.
_STILL_MS: Final = 700


class Badges(QObject):
    """Counts for the tabs of a window what is in their panels, seen or not.

    Findings take a look at everything that has happened, which would make a frame of a running
    scene late: they are counted when somebody looks at them, and when the scene is held.
    """

    def __init__(self, window: MainWindow, bridge: SessionBridge) -> None:
        """Count for a window from now on."""
        super().__init__(window)
        self._docks = window.docks
        self._bridge = bridge
        self._still = single_shot(self, self.look_for_findings, _STILL_MS)
        pace = PacedRefresh(window, bridge.pace, _COUNT_MS)
        pace.due.connect(self.show_counts)
        bridge.refreshed.connect(pace.request)
        bridge.session_changed.connect(self._take_session)
        bridge.status_changed.connect(self._take_status)
        self.show_counts()

    @Slot()
    def _take_session(self) -> None:
        self._docks.tabs.forget_widths()
        self.show_counts()

    @Slot()
    def _take_status(self) -> None:
        if self._bridge.status.phase is SessionPhase.HELD:
            self._still.start()
        else:
            self._still.stop()

    @Slot()
    def look_for_findings(self) -> None:
        """Analyse what has happened so far, if that takes no time."""
        self._docks.panel("findings")
        panel = self._findings_panel()
        if panel is not None:
            panel.catch_up()
            self.show_counts()

    @Slot()
    def show_counts(self) -> None:
        """Count again."""
        timeline, findings = self._bridge.timeline, self._findings_panel()
        found = 0 if findings is None else len(findings.model.rows)
        hits = len(timeline.hits)
        for panel_id, count, unit in (
            ("timer_queue", len(timeline.timers), ""),
            ("findings", found, ""),
            ("breakpoints", hits, " hit" if hits == 1 else " hits"),
        ):
            self._docks.tabs.show_badge(panel_id, f"{count:,}{unit}" if count else "")

    def _findings_panel(self) -> FindingsPanel | None:
        """Return the panel if it has been made; so its rules are not loaded at the start."""
        widget = self._docks["findings"].widget()
        return None if isinstance(widget, Placeholder) else cast("FindingsPanel", widget)
