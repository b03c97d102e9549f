"""States of the window in place of a session's arrangement: capture, comparison, welcome."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtWidgets import QVBoxLayout

from inspector.resources import resource_path
from inspector.sessions.session import SessionPhase, ShowsCapture
from inspector.window_loader import quick_imports

from ..kit.throttled_refresh import single_shot
from ..plotting.shared_view import SharedView
from .handlers.window_actions import WindowActions

if TYPE_CHECKING:
    from inspector.sessions.compared import FilesToCompare

    from ..comparison.view import ComparisonView
    from ..statistics.capture_summary import CaptureSummary
    from ..statistics.column_plot import CaptureColumns
    from .main_window import MainWindow
    from .welcome import Welcome

#: Panels of what captures do not have.
_OF_CLOCKS: Final = ("timer_queue", "breakpoints", "interventions")


class WindowStates(QObject):
    """Closes the side column where there is little to say, and shows what stands there instead.

    A trace that has lanes is laid out like a session.
    """

    def __init__(self, window: MainWindow, below: QVBoxLayout) -> None:
        """Put the summary at the end of a layout when there is one."""
        super().__init__(window)
        self._window, self._below = window, below
        # The summary of a capture, where the tray opens; None until it is needed
        self.summary: CaptureSummary | None = None
        self.columns: CaptureColumns | None = None  # Of a capture, below its frames; likewise
        # Shown in place of frames and lanes; None until it is needed
        self.comparison: ComparisonView | None = None
        self.welcome: Welcome | None = None  # The same, while nothing is open
        self._asking: WindowActions | None = None
        self._of: tuple[object, bool, bool] = (None, False, False)
        # In the turn after the start, unless something is opened at the start.
        self._welcoming = single_shot(self, self._show_welcome)
        self._compared_beside: object = None
        self._view = SharedView.of(window.bridge)
        self._view.margins_changed.connect(self.refresh)
        window.bridge.session_changed.connect(self._on_session_changed)
        window.panels.visibility_changed.connect(self._show_summary)
        window.middle.currentChanged.connect(self.refresh)
        window.hear(self._fit, QEvent.Type.Resize)
        self._welcoming.start()

    @property
    def is_capture(self) -> bool:
        session: object = self._window.bridge.session
        return isinstance(session, ShowsCapture) and not self._view.has_headers

    @property
    def is_comparison(self) -> bool:
        comparison = self.comparison
        return comparison is not None and self._window.middle.currentWidget() is comparison

    @property
    def is_welcome(self) -> bool:
        welcome = self.welcome
        return welcome is not None and self._window.middle.currentWidget() is welcome

    @Slot()
    def _on_session_changed(self) -> None:
        if self._window.bridge.session is None:
            self._welcoming.start()
        elif self.is_welcome:
            self._window.middle.setCurrentIndex(0)
            self._window.frame_times.plot.setFocus()
        if self.is_comparison and self._window.bridge.session is not self._compared_beside:
            self.leave_comparison()
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        session = self._window.bridge.session if self.is_capture else None
        shown = (session, self.is_comparison, self.is_welcome)
        if shown != self._of:
            self._of = shown
            is_left_out = self.is_capture or self.is_comparison or self.is_welcome
            self._window.panels.leave_column_out(is_left_out=is_left_out)
            self._window.notice.log_note.set_comparing(is_comparing=self.is_comparison)
            has_frames_only = self.is_capture or self.is_comparison
            self._window.panels.tabs.leave_out(_OF_CLOCKS if has_frames_only else ())
            self._window.panels.tabs.setHidden(self.is_welcome)
        self._show_summary()

    @Slot()
    def _show_summary(self) -> None:
        is_frames = self.is_capture and self._window.middle.currentIndex() <= 0
        is_shown = is_frames and self._window.panels.tray.isHidden()
        if is_shown and self.summary is None:
            self.summary = self._made_summary()
        if self.summary is not None:
            self._fit()
            self.summary.setVisible(is_shown)
        if self.columns is not None:
            self.columns.setVisible(is_frames and self.columns.has_content)

    def _made_summary(self) -> CaptureSummary:
        with quick_imports():
            from ..statistics.capture_summary import CaptureSummary  # noqa: PLC0415
            from ..statistics.column_plot import CaptureColumns  # noqa: PLC0415

        window = self._window
        frame_times = window.frame_times
        columns = CaptureColumns(window.bridge, window.theme, frame_times.plot.area)
        button = frame_times.capture_header.columns_button
        button.setMenu(columns.menu)
        button.setVisible(columns.has_choice)
        columns.offered.connect(button.setVisible)
        columns.laid_out.connect(self._show_summary)
        summary = CaptureSummary(window.bridge, window.theme)
        summary.tools.all_wanted.connect(self._open_statistics)
        for widget in (columns, summary):
            self._below.addWidget(widget)
        self.columns = columns
        return summary

    @Slot()
    def _open_statistics(self) -> None:
        self._window.panels.enter_panel("statistics")

    def _fit(self, _event: object = None) -> None:
        if self.summary is not None:
            self.summary.fit()
        if self.columns is not None:
            self.columns.fit()

    @Slot()
    def _show_welcome(self) -> None:
        """Offer ways to begin, if nothing is open."""
        window, bridge = self._window, self._window.bridge
        is_empty = bridge.session is None and bridge.status.phase is SessionPhase.EMPTY
        if self.is_comparison or not (is_empty and window.isVisible()):
            # A window that was closed has no session either.
            return
        if self.welcome is None:
            from .welcome import Welcome  # noqa: PLC0415 - something is open at most starts

            first = min(resource_path("scenes").glob("*.py"), default=None)
            self.welcome = Welcome(window.actions_by_id, window.theme, first)
            self.welcome.file_chosen.connect(window.open_path)
            window.middle.addWidget(self.welcome)
        window.panels.close_tray()
        self.welcome.list_recent(window.settings)
        window.middle.setCurrentWidget(self.welcome)
        self.welcome.enter()

    def compare_for(self, actions: WindowActions) -> None:
        """Show comparisons that actions ask for."""
        self._asking = actions
        actions.comparison_wanted.connect(self.compare)

    @Slot(object, bool)
    def compare(self, paths: Sequence[Path], has_session: bool) -> None:  # noqa: FBT001 - a slot
        from ..comparison.sides import Side, Source  # noqa: PLC0415 - not needed before

        window, comparison = self._window, self._comparison_view()
        files = map(Source.of_file, paths)
        for path in paths:
            window.settings = window.settings.with_recent_scene(path)
        if has_session and self.is_comparison:
            comparison.add(files)
        else:
            session = window.bridge.session if has_session else None
            sources = [*Source.of_session(session), *files]
            if len(sources) == 1 and self._asking is not None:
                others = self._asking.asked_for(f"Compare {paths[0].name} with")
                if not others:
                    return
                sources.extend(map(Source.of_file, others))
            comparison.compare(Side([each]) for each in sources)
        self._show_comparison(comparison)

    def compare_files(self, files: FilesToCompare) -> None:
        from ..comparison.sides import Side, Source  # noqa: PLC0415 - as above

        comparison = self._comparison_view()
        comparison.outlier_action.setChecked(files.without_outliers)
        comparison.columns_action.setChecked(files.with_columns)
        comparison.set_limits(files.stutter)
        comparison.compare(
            Side([Source.of_file(path, column, files.stream) for path, column in runs])
            for runs in files.sides
        )
        self._show_comparison(comparison)

    def _comparison_view(self) -> ComparisonView:
        # Imported late: it is not needed before, and it imports pyqtgraph.
        with quick_imports():
            from ..comparison.view import ComparisonView  # noqa: PLC0415

        if self.comparison is None:
            self.comparison = ComparisonView(self._window.bridge, self._window.theme)
            self.comparison.files_wanted.connect(self._ask_for_more)
            self.comparison.left.connect(self.leave_comparison)
            if self._asking is not None:
                self.comparison.figure_wanted.connect(self._asking.export_figure)
            self._window.middle.addWidget(self.comparison)
        return self.comparison

    def _show_comparison(self, comparison: ComparisonView) -> None:
        self._compared_beside = self._window.bridge.session
        self._window.middle.setCurrentWidget(comparison)
        comparison.plot.setFocus()

    @Slot(int)
    def _ask_for_more(self, side: int) -> None:
        from ..comparison.sides import Source  # noqa: PLC0415 - as above

        if self._asking is not None and self.comparison is not None:
            paths = self._asking.asked_for("Compare with")
            if paths:
                self.comparison.add(map(Source.of_file, paths), side)

    @Slot()
    def leave_comparison(self) -> None:
        """Show the session again, and forget what was compared."""
        if self.is_comparison and self.comparison is not None:
            self._window.middle.setCurrentIndex(0)
            self.comparison.stop()
            self._window.frame_times.plot.setFocus()
            if self._window.bridge.session is None:
                self._welcoming.start()
