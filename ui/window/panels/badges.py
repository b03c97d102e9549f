"""The counts in the tabs: pending timers, findings, hits of breakpoints, what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QObject, Slot

from inspector.sessions.session import SessionPhase
from inspector.vocabulary import NEVER

from ...kit.throttled_refresh import ThrottledRefresh, single_shot
from ...session.bridge import SessionBridge
from .places import Placeholder

if TYPE_CHECKING:
    from ...findings import FindingsPanel
    from ...timer_queue.panel import TimerQueuePanel
    from ..main_window import MainWindow

#: A scene that was held for this many milliseconds is analysed: that delays no frame.
_STILL_MS: Final = 700


class Badges(QObject):
    """Counts for the tabs of a window what is in their panels, visible or not.

    To count findings, everything that has happened is analysed, which would make a frame of a
    running scene late: so they are counted when they are shown, and when the scene is held.
    """

    def __init__(self, window: MainWindow, bridge: SessionBridge) -> None:
        super().__init__(window)
        self._panels = window.panels
        self._bridge = bridge
        self._findings_seen = 0
        self._watched: list[FindingsPanel | TimerQueuePanel] = []
        self._still = single_shot(self, self._await_turn, _STILL_MS)
        # At the pace of all texts: *Why* says the same number.
        self.throttle = ThrottledRefresh(window, bridge.refresh_timer, self.refresh_counts)
        self.throttle.follow()
        self._panels.visibility_changed.connect(self.throttle.request)
        bridge.playhead_changed.connect(self.throttle.request)
        bridge.session_changed.connect(self._on_session_changed)
        bridge.status_changed.connect(self._on_status_changed)
        self.refresh_counts()

    @Slot()
    def _on_session_changed(self) -> None:
        self._panels.tabs.forget_widths()
        self._findings_seen = 0
        self.refresh_counts()

    @Slot()
    def _on_status_changed(self) -> None:
        if self._bridge.status.phase is SessionPhase.HELD:
            self._still.start()
        else:
            self._still.stop()

    @Slot()
    def _await_turn(self) -> None:
        """Look for findings when the user is not dragging: making the panel alone takes a frame."""
        self._bridge.refresh_timer.queue_turn(self, self._refresh_if_held, can_wait=True)

    def _refresh_if_held(self) -> None:
        if self._bridge.status.phase is SessionPhase.HELD:
            self.refresh_findings()

    @Slot()
    def refresh_findings(self) -> None:
        """Analyse what has happened so far, if that takes no time."""
        self._panels.panel("findings")
        panel = self._findings_panel()
        if panel is not None:
            panel.catch_up()
            self.refresh_counts()

    @Slot()
    def refresh_counts(self) -> None:
        session, findings, queue = self._bridge.session, self._findings_panel(), self._queue_panel()
        for panel in (findings, queue):
            if panel is not None and panel not in self._watched:
                self._watched.append(panel)
                panel.counted.connect(self.refresh_counts)
        # A count beside a list that is visible agrees with the list, not with what is newer.
        is_seen = queue is not None and self._panels.is_in_front("timer_queue")
        shown = self._bridge.shown
        timers = queue.timer_count if is_seen and queue else len(shown.timers)
        shown.resolve_dues()
        waiting = int((shown.timers.numpy("session_due") == NEVER).sum()) if timers else 0
        found = 0 if findings is None else len(findings.model.rows)
        if self._panels.is_in_front("findings") or found < self._findings_seen:
            self._findings_seen = found
        breakpoints = None if session is None else session.breakpoints
        hits = 0 if breakpoints is None else sum(count for *_, count in breakpoints.items())
        for panel_id, count, unit in (
            ("timer_queue", timers, f", {waiting:,} wait" if waiting else ""),
            ("findings", found, ""),
            ("breakpoints", hits, " hit" if hits == 1 else " hits"),
            ("interventions", len(shown.commands), ""),
        ):
            badge = f"{count:,}{unit}" if count else ""
            is_new = panel_id == "findings" and found > self._findings_seen
            self._panels.tabs.set_badge(panel_id, badge, is_new=is_new)

    def _queue_panel(self) -> TimerQueuePanel | None:
        widget = self._panels["timer_queue"].widget()
        return None if isinstance(widget, Placeholder) else cast("TimerQueuePanel", widget)

    def _findings_panel(self) -> FindingsPanel | None:
        """Return the panel if it has been made; so its rules are not loaded at the start."""
        widget = self._panels["findings"].widget()
        return None if isinstance(widget, Placeholder) else cast("FindingsPanel", widget)
