"""The refresh-rate lab panel: timers under displays, on ours and the originals, side by side."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPoint, QSortFilterProxyModel, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

import inspector
from inspector.analysis.lab.refresh_lab import LabResult, summary_text
from inspector.analysis.lab.timer import SceneTimer
from inspector.errors import InspectorError
from inspector.foreign.paths import RECORDING_SUFFIX, stored_path
from inspector.formats.frame_times import Provenance
from inspector.formats.lab.graph import LabGraphOptions

from ..kit.elided_label import ElidedLabel
from ..kit.empty_notice import EmptyNotice
from ..kit.guards import guarded
from ..kit.save_dialog import SaveDialog
from ..kit.table.roles import Role
from ..kit.table.tables import RowMenus
from ..kit.theme import ColorRole
from .lab_drift_plot import LabDriftPlot
from .lab_form import LIMITS_TEXT, LIMITS_TIP, LabForm
from .lab_plot import LabPlot, reading_text
from .lab_results_model import LabResultsModel
from .lab_runner import LabJob, LabRunner
from .lab_table import fit_columns, results_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

#: More notes than this are counted instead of shown.
_MOST_NOTES: Final = 4
_FILTERS: Final = {
    "timers": ("Load timers", "Timers (*.csv *.json);;All files (*)"),
    "scene": ("Run a scene", "Scenes (*.py);;All files (*)"),
    "frame times": (
        "Load frame times",
        f"Recordings and captures (*{RECORDING_SUFFIX} *.csv *.json *.log *.txt);;All files (*)",
    ),
}


@guarded
class LabPanel(QWidget):
    """Runs what the form asks for as soon as it changes, and shows table and plot.

    It begins with Egret's fault, on real runs: a timer of 1000 ms that fires every 250 ms
    on a display of 240 Hz.

    Attributes:
        form: What is asked.
        runner: What carries it out.
        model: The results.
        view: The table.
        plot: The firings.
        drift_plot: Their drift over time.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin with the first example; it runs when the panel is first seen."""
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._is_first_run = True
        self._has_run = False
        self._total = 0
        self._done = 0.0
        self._notes: tuple[str, ...] = ()
        self._folder = Path.cwd()
        self.form = LabForm()
        self.form.set_session_frames(self._session_frames)
        self.form.set_open_scene(self._open_scene)
        self.runner = LabRunner(self)
        self.model = LabResultsModel(theme)
        self.sorted = QSortFilterProxyModel()
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(Role.RAW)
        self.view = results_view(self.sorted)
        self.notice = EmptyNotice(self.view)
        self.plot = LabPlot(theme)
        self.drift_plot = LabDriftPlot(theme)
        self.plots = QStackedWidget()
        self.plots.addWidget(self.plot)
        self.plots.addWidget(self.drift_plot)
        self.plot_buttons = _exclusive(self, ("Firings", "Drift"))
        self.readout = ElidedLabel()
        self.summary = ElidedLabel()
        self.problem = QLabel()
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.notes = QLabel()
        self.notes.setTextFormat(Qt.TextFormat.PlainText)
        self.notes.setWordWrap(True)
        self.notes.hide()
        self.run_button = QToolButton()
        self.export_button = QToolButton()
        self.export_button.setText("Export …")
        self.export_button.setToolTip(
            "Export the table (CSV), every firing (JSON) or a picture (PNG, SVG, PDF)"
        )
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._lay_out()
        self._connect()
        self._take_theme()
        self._show_state()

    # ------------------------------------------------------------------ building

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        top.addWidget(self.form, 1)
        top.addWidget(self.run_button)
        top.addWidget(self.export_button)
        below = QHBoxLayout()
        below.setContentsMargins(6, 0, 6, 0)
        below.addWidget(self.summary, 3)
        self.limits = ElidedLabel()
        self.limits.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.limits.show_text(
            LIMITS_TEXT,
            (f"{LIMITS_TIP}.\nThe command “timeline-inspector lab” has no such limits."),
        )
        below.addWidget(self.limits, 3)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.plots, 1)
        reading = QHBoxLayout()
        reading.setContentsMargins(4, 0, 0, 0)
        for button in self.plot_buttons.buttons():
            reading.addWidget(button)
        reading.addWidget(self.readout, 1)
        column.addLayout(reading)
        self.readout.setContentsMargins(6, 0, 6, 2)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.view)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.splitter.setSizes([600, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addLayout(below)
        for label in (self.problem, self.notes):
            label.setContentsMargins(6, 0, 6, 0)
            layout.addWidget(label)
        layout.addWidget(self.splitter, 1)

    def _connect(self) -> None:
        self.form.changed.connect(self._soon.start)
        self.form.file_wanted.connect(self._ask_for_file)
        self._soon.timeout.connect(self.run_now)
        self.runner.results_arrived.connect(self._take_results)
        self.runner.progressed.connect(self._show_progress)
        self.runner.noted.connect(self._add_note)
        self.runner.finished.connect(self._finish)
        self.run_button.clicked.connect(self._run_or_stop)
        self.export_button.clicked.connect(self._ask_for_export)
        self.view.selectionModel().currentRowChanged.connect(self._show_row)
        RowMenus(self.view).requested.connect(self._open_menu)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._scroll_to_current)
        for plot in (self.plot, self.drift_plot):
            plot.firing_read.connect(self._show_reading)
            plot.result_chosen.connect(self._mark_result)
        self.plot_buttons.idClicked.connect(self.plots.setCurrentIndex)
        self._theme.changed.connect(self._take_theme)

    # ------------------------------------------------------------------ running

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_run:
            self._soon.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        # What nobody looks at need not be found out; it is begun again when it is seen.
        super().hideEvent(event)
        if self.runner.is_running:
            self.runner.cancel()
            self._has_run = False
            self._show_state()

    @Slot()
    def run_now(self) -> None:
        """Begin what the form asks for."""
        self._has_run = True
        self.runner.cancel()
        self.model.clear()
        self._draw(())
        self._done = 0.0
        self._show_notes(())
        try:
            job = self.form.job()
        except ValueError as error:
            self._show_problem(str(error))
        else:
            self._show_problem("")
            self._show_notes(self.form.cuts)
            self._total = job.count if isinstance(job, LabJob) else 0
            self.runner.start(job)
        self._show_state()

    @Slot()
    def _run_or_stop(self) -> None:
        if self.runner.is_running:
            self.runner.cancel()
            self._draw(self.model.results)
            self._show_state()
        else:
            self.run_now()

    @Slot(object)
    def _take_results(self, results: list[LabResult]) -> None:
        self.model.add(results)
        self._show_state()

    @Slot(str)
    def _finish(self, problem: str) -> None:
        self._show_problem(problem)
        self._draw(self.model.results)
        results = self.model.results
        is_scene = any(isinstance(each.timer, SceneTimer) for each in results)
        fit_columns(
            self.view, is_scene=is_scene, has_timers=len({id(r.timer) for r in results}) > 1
        )
        self._show_state()
        if self._is_first_run and not problem:
            self._is_first_run = False
            self._mark_result(_fault(self.model.results))

    def _show_state(self) -> None:
        is_running = self.runner.is_running
        count = self.model.rowCount()
        self.run_button.setText("Stop" if is_running else "Run")
        self.run_button.setToolTip(
            "Skip the remaining runs" if is_running else "Run everything again"
        )
        self.export_button.setEnabled(bool(count) and not is_running)
        if is_running:
            share = f"{count:,} of {self._total:,} runs" if self._total else f"{self._done:.0%}"
            self.summary.show_text(f"{share} …")
        else:
            self.summary.show_text(summary_text(self.model.results) if count else "")
        self.notice.show_text("" if count else self._why_empty())

    def _why_empty(self) -> str:
        if self.runner.is_running or not self._has_run:
            return "Waiting for the first results."
        return self.problem.text() or "Press Run to compare timers at different display rates."

    def _show_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    @Slot()
    def _take_theme(self) -> None:
        for label, role in ((self.problem, ColorRole.BAD), (self.limits, ColorRole.MUTED_TEXT)):
            palette = label.palette()
            palette.setColor(label.foregroundRole(), self._theme.color(role))
            label.setPalette(palette)
        self.view.repaint_rows()

    @Slot(float)
    def _show_progress(self, done: float) -> None:
        self._done = done
        self._show_state()

    @Slot(str)
    def _add_note(self, text: str) -> None:
        self._show_notes((*self._notes, text))

    def _show_notes(self, notes: Sequence[str]) -> None:
        self._notes = tuple(notes)
        shown = [*notes[:_MOST_NOTES]]
        if len(notes) > _MOST_NOTES:
            shown[-1] = f"And {len(notes) - _MOST_NOTES + 1:,} more."
        self.notes.setText("\n".join(shown))
        self.notes.setVisible(bool(notes))

    def _draw(self, results: Sequence[LabResult]) -> None:
        self.plot.show_results(results)
        self.drift_plot.show_results(results)

    def _open_scene(self) -> Path | None:
        session = self._bridge.session
        path = "" if session is None else str(session.timeline.scene_path or "")
        return stored_path(path) if path else None

    def _session_frames(self) -> tuple[int, ...]:
        session = self._bridge.session
        if session is None:
            return ()
        from inspector.formats.frame_times import FrameTimes  # noqa: PLC0415 - rarely asked for

        frames = FrameTimes.from_history(session.timeline.frames)
        return tuple(frames.interval_ns.tolist())

    # ------------------------------------------------------------------ reading

    @Slot(QModelIndex, QModelIndex)
    def _show_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            result = self.model.result_at(self.sorted.mapToSource(current).row())
            self.plot.show_result(result)
            self.drift_plot.show_result(result)
            if self.plot.current_result is not result:
                self._show_reading(reading_text(result, -1))

    @Slot(object)
    def _mark_result(self, result: LabResult | None) -> None:
        """Make the row of a result the current one."""
        for row, other in enumerate(self.model.results):
            if other is result:
                index = self.sorted.mapFromSource(self.model.index(row, 0))
                self.view.setCurrentIndex(index)
                self.view.scrollTo(index)
                return

    @Slot(str)
    def _show_reading(self, text: str) -> None:
        plot = self.drift_plot if self.plots.currentIndex() else self.plot
        if not text and plot.current_result is not None:
            text = reading_text(plot.current_result, -1)
        self.readout.show_text(text)

    @Slot()
    def _scroll_to_current(self) -> None:
        self.view.scrollTo(self.view.currentIndex())

    # ------------------------------------------------------------------ files

    @Slot(str)
    def _ask_for_file(self, kind: str) -> None:
        title, filters = _FILTERS[kind]
        name, _filter = QFileDialog.getOpenFileName(self, title, str(self._folder), filters)
        if name:
            self.take_file(kind, Path(name))

    def take_file(self, kind: str, path: Path) -> None:
        """Take the ``"timers"``, the ``"scene"`` or the ``"frame times"`` of a file."""
        self._folder = path.parent
        try:
            if kind == "timers":
                self.form.take_timers_of(path)
            elif kind == "scene":
                self.form.take_scene(path)
            else:
                self.form.add_recording(path)
        except InspectorError as error:
            self._show_problem(str(error))

    @Slot()
    def _ask_for_export(self) -> None:
        from inspector.formats.lab.export import LAB_EXPORTERS  # noqa: PLC0415 - 50 ms

        kinds = {each.suffix: f"{each.format}: {each.description}" for each in LAB_EXPORTERS}
        proposed = self._folder / "refresh-rate-lab.png"
        dialog = SaveDialog("Export results", proposed, kinds, self)
        dialog.file_given.connect(self.export_to)
        dialog.open()

    @Slot(object)
    def export_to(self, path: Path) -> None:
        """Write the results to a file in the format of its suffix."""
        from inspector.formats.lab.export import export_lab  # noqa: PLC0415 - 50 ms

        self._folder = path.parent
        provenance = Provenance(
            "", datetime.now().astimezone(), inspector.__version__, "virtual time"
        )
        options = LabGraphOptions(theme=self._theme.name)
        try:
            export_lab(self.model.results, provenance, options, path)
        except InspectorError as error:
            self._show_problem(str(error))
        else:
            self._show_problem("")
            self.readout.show_text(f"Wrote {path}.")

    # ------------------------------------------------------------------ copying

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if index.isValid():
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction("Copy", self.copy_marked)
            menu.popup(place)

    @Slot()
    def copy_marked(self) -> None:
        """Put the marked rows on the clipboard."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        lines = [
            self.model.row_text(self.sorted.mapToSource(self.sorted.index(row, 0)).row())
            for row in rows
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the marked rows."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_marked()
        else:
            super().keyPressEvent(event)


def _exclusive(parent: QWidget, texts: Sequence[str]) -> QButtonGroup:
    """Return buttons of which one is down; the first one, to begin with."""
    group = QButtonGroup(parent)
    for number, text in enumerate(texts):
        button = QToolButton()
        button.setText(text)
        button.setCheckable(True)
        button.setChecked(number == 0)
        group.addButton(button, number)
    return group


def _fault(results: tuple[LabResult, ...]) -> LabResult | None:
    """Return what the first example is about."""
    egret = [result for result in results if result.subject.name == "egret"]
    return max(egret, key=lambda each: each.speed or 0.0, default=None)
