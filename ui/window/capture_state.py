"""The window while a capture of frames is open: without headers, with a summary below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Slot
from typing_extensions import override

from inspector.sessions.session import ShowsCapture
from inspector.window_loader import quick_imports

from ..kit.guards import guarded
from ..plotting.shared_view import SharedView

if TYPE_CHECKING:
    from PySide6.QtWidgets import QVBoxLayout

    from ..statistics.capture_summary import CaptureSummary
    from .main_window import MainWindow


@guarded
class CaptureState(QObject):
    """Closes the side column for a capture of frames, and shows its summary.

    A trace that has lanes is laid out like a session.

    Attributes:
        summary: Stands where the tray opens; ``None`` until it is needed.
    """

    def __init__(self, window: MainWindow, below: QVBoxLayout) -> None:
        """Put the summary at the end of a layout when there is one."""
        super().__init__(window)
        self._window, self._below = window, below
        self.summary: CaptureSummary | None = None
        self._of: object = None
        self._view = SharedView.of(window.bridge)
        self._view.margins_changed.connect(self.refresh)
        window.bridge.session_changed.connect(self.refresh)
        window.panels.visibility_changed.connect(self._show_summary)
        window.installEventFilter(self)

    @property
    def is_capture(self) -> bool:
        """Whether a capture of frames alone is open."""
        session: object = self._window.bridge.session
        return isinstance(session, ShowsCapture) and not self._view.has_headers

    @Slot()
    def refresh(self) -> None:
        session = self._window.bridge.session
        shown = session if self.is_capture else None
        if shown is not self._of:
            self._of = shown
            self._window.panels.leave_column_out(is_left_out=self.is_capture)
        self._show_summary()

    @Slot()
    def _show_summary(self) -> None:
        is_shown = self.is_capture and self._window.panels.tray.isHidden()
        if is_shown and self.summary is None:
            self.summary = self._made_summary()
        if self.summary is not None:
            self._fit()
            self.summary.setVisible(is_shown)

    def _made_summary(self) -> CaptureSummary:
        with quick_imports():
            from ..statistics.capture_summary import CaptureSummary  # noqa: PLC0415

        window = self._window
        summary = CaptureSummary(window.bridge, window.theme)
        summary.tools.all_wanted.connect(self._show_all)
        self._below.addWidget(summary)
        return summary

    @Slot()
    def _show_all(self) -> None:
        self._window.panels.show_panel("statistics")

    def _fit(self) -> None:
        if self.summary is not None:
            self.summary.fit(self._window.width(), self._window.height())

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return False
