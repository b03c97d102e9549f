"""The refresh-rate lab panel: timers under displays, on ours and the originals, side by side."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPoint, QSortFilterProxyModel, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QSplitter,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

import inspector
from inspector.analysis.refresh_lab import LabResult, summary_text
from inspector.errors import InspectorError
from inspector.formats.frame_times import Provenance
from inspector.formats.lab_graph import LabGraphOptions

from ..models.lab_results_model import LabColumn, LabResultsModel
from ..models.lab_runner import LabRunner
from ..models.roles import Role
from ..plots.lab_plot import LabPlot, reading_text
from ..theme import ColorRole
from ..widgets.elided_label import ElidedLabel
from ..widgets.empty_notice import EmptyNotice
from .lab_form import LabForm

if TYPE_CHECKING:
    from ..session_bridge import SessionBridge
    from ..theme import Theme

_SAMPLES: Final = {
    LabColumn.RESULT: "✓ within a frame",
    LabColumn.DISPLAY: "000.00 Hz",
    LabColumn.TIMER: "every 000 ms",
    LabColumn.SUBJECT: "Cocos Creator 3.8, paced",
    LabColumn.FIRED: "0,000 of 0,000",
    LabColumn.PERIOD: "00.0 ms",
    LabColumn.DRIFT: "−00.0 ms",
    LabColumn.EARLIEST: "Least late",
    LabColumn.MEDIAN: "−00.0 ms",
    LabColumn.LATEST: "Most late",
}
_FILTERS: Final = {
    "timers": ("Take timers", "Timers (*.csv *.json);;All files (*)"),
    "frame times": ("Take frame times", "Captures (*.csv *.log *.txt);;All files (*)"),
}


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
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin with the first example; it runs when the panel is first seen."""
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._is_first_run = True
        self._has_run = False
        self._total = 0
        self._folder = Path.cwd()
        self.form = LabForm()
        self.form.set_session_frames(self._session_frames)
        self.runner = LabRunner(self)
        self.model = LabResultsModel(theme)
        self.sorted = QSortFilterProxyModel()
        self.sorted.setSourceModel(self.model)
        self.sorted.setSortRole(Role.RAW)
        self.view = self._make_view()
        self.notice = EmptyNotice(self.view)
        self.plot = LabPlot(theme)
        self.readout = ElidedLabel()
        self.summary = ElidedLabel()
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.run_button = QToolButton()
        self.export_button = QToolButton()
        self.export_button.setText("Export …")
        self.export_button.setToolTip(
            "Write the table (CSV), every firing (JSON) or a picture (PNG, SVG, PDF)"
        )
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._lay_out()
        self._connect()
        self._show_state()

    # ------------------------------------------------------------------ building

    def _make_view(self) -> QTableView:
        view = QTableView()
        view.setAccessibleName("Results of the refresh-rate lab")
        view.setModel(self.sorted)
        view.setWordWrap(False)
        view.setShowGrid(False)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.setTabKeyNavigation(False)
        rows = view.verticalHeader()
        rows.setVisible(False)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(8)
        rows.setDefaultSectionSize(view.fontMetrics().height() + 6)
        header = view.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        view.setSortingEnabled(True)
        metrics = view.fontMetrics()
        for column, sample in _SAMPLES.items():
            title = str(self.model.headerData(column, Qt.Orientation.Horizontal))
            widest = max(
                metrics.horizontalAdvance(sample), metrics.horizontalAdvance(title + " ▾ ")
            )
            view.setColumnWidth(column, widest + 14)
        header.setStretchLastSection(True)
        return view

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        top.addWidget(self.form, 3)
        top.addWidget(self.run_button)
        top.addWidget(self.export_button)
        top.addWidget(self.summary, 2)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.plot, 1)
        column.addWidget(self.readout)
        self.readout.setContentsMargins(6, 0, 6, 2)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.view)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([500, 500])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.problem)
        layout.addWidget(self.splitter, 1)

    def _connect(self) -> None:
        self.form.changed.connect(self._soon.start)
        self.form.file_wanted.connect(self._ask_for_file)
        self._soon.timeout.connect(self.run_now)
        self.runner.results_arrived.connect(self._take_results)
        self.runner.finished.connect(self._finish)
        self.run_button.clicked.connect(self._run_or_stop)
        self.export_button.clicked.connect(self._ask_for_export)
        self.view.selectionModel().currentRowChanged.connect(self._show_row)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._scroll_to_current)
        self.plot.firing_read.connect(self._show_reading)
        self.plot.result_chosen.connect(self._mark_result)
        self._theme.changed.connect(self.view.viewport().update)

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
        self.plot.show_results(())
        try:
            job = self.form.job()
        except ValueError as error:
            self._show_problem(str(error))
        else:
            self._show_problem("")
            self._total = job.count
            self.runner.start(job)
        self._show_state()

    @Slot()
    def _run_or_stop(self) -> None:
        if self.runner.is_running:
            self.runner.cancel()
            self.plot.show_results(self.model.results)
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
        self.plot.show_results(self.model.results)
        is_one = len({id(result.timer) for result in self.model.results}) == 1
        self.view.setColumnHidden(LabColumn.TIMER, is_one)
        self._show_state()
        if self._is_first_run and not problem:
            self._is_first_run = False
            self._mark_result(_fault(self.model.results))

    def _show_state(self) -> None:
        is_running = self.runner.is_running
        count = self.model.rowCount()
        self.run_button.setText("Stop" if is_running else "Run")
        self.run_button.setToolTip(
            "Leave out the rest of the runs" if is_running else "Run everything again"
        )
        self.export_button.setEnabled(bool(count) and not is_running)
        if is_running:
            self.summary.show_text(f"{count:,} of {self._total:,} runs …")
        else:
            self.summary.show_text(summary_text(self.model.results) if count else "")
        self.notice.show_text("" if count else self._why_empty())

    def _why_empty(self) -> str:
        if self.runner.is_running or not self._has_run:
            return "The first runs are on their way."
        return self.problem.text() or "Press Run to compare timers under displays."

    def _show_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))
        palette = self.problem.palette()
        palette.setColor(self.problem.foregroundRole(), self._theme.color(ColorRole.BAD))
        self.problem.setPalette(palette)

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
        if not text and self.plot.current_result is not None:
            text = reading_text(self.plot.current_result, -1)
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
        """Take the ``"timers"`` or ``"frame times"`` of a file."""
        self._folder = path.parent
        try:
            if kind == "timers":
                self.form.take_timers_of(path)
            else:
                self.form.add_recording(path)
        except InspectorError as error:
            self._show_problem(str(error))

    @Slot()
    def _ask_for_export(self) -> None:
        from inspector.formats.lab_export import LAB_EXPORTERS  # noqa: PLC0415 - 50 ms

        filters = ";;".join(
            f"{each.format}: {each.description} (*{each.suffix})" for each in LAB_EXPORTERS
        )
        proposed = str(self._folder / "refresh-rate-lab.png")
        name, chosen = QFileDialog.getSaveFileName(self, "Export results", proposed, filters)
        if not name:
            return
        path = Path(name)
        if not path.suffix:
            format_name = chosen.partition(":")[0]
            suffixes = {each.format: each.suffix for each in LAB_EXPORTERS}
            path = path.with_suffix(suffixes.get(format_name, ".png"))
        self.export_to(path)

    def export_to(self, path: Path) -> None:
        """Write the results to a file in the format of its suffix."""
        from inspector.formats.lab_export import export_lab  # noqa: PLC0415 - 50 ms

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

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        if self.view.indexAt(position).isValid():
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction("Copy", self.copy_marked)
            menu.popup(self.view.viewport().mapToGlobal(position))

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


def _fault(results: tuple[LabResult, ...]) -> LabResult | None:
    """Return what the first example is about."""
    egret = [result for result in results if result.subject.name == "egret"]
    return max(egret, key=lambda each: each.speed or 0.0, default=None)
