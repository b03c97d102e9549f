"""The refresh-rate lab panel: timers at display rates, on our clocks and other engines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import QModelIndex, Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QSizePolicy, QWidget
from typing_extensions import override

import inspector
from inspector.display_text import counted
from inspector.engines.lab.export import LAB_EXPORTERS, export_lab
from inspector.engines.lab.graph import LabGraphOptions
from inspector.engines.lab.refresh_lab import LabResult, summary_text
from inspector.engines.lab.timer import SceneTimer
from inspector.errors import InspectorError
from inspector.foreign.paths import RECORDING_SUFFIX, stored_path
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.timebase import NS_PER_SECOND, format_duration

from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, WrappedLabel, color_text
from ..kit.layouts import bar, choice_buttons, fill, splitter, tool_button
from ..kit.save_dialog import SaveDialog
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme
from ..kit.tile import is_low
from ..session.bridge import SessionBridge
from .lab_form import LIMITS_TEXT, LIMITS_TIP, LabForm
from .lab_plot import LabPlot, reading_text
from .lab_runner import LabJob, LabRunner

#: Seconds added to the drift of wrong runs, so that they sort behind all others.
_WRONG_FROM: Final = 1e12


def lateness_text(ns: int | None) -> str:
    """Return a lateness with its sign; a dash without one."""
    if ns is None:
        return "–"
    sign = "" if ns == 0 else "+" if ns > 0 else "−"
    return f"{sign}{format_duration(abs(ns))}" if ns else "0"


def _period_text(result: LabResult) -> str:
    period_ns = result.mean_period_ns
    return "–" if period_ns is None else format_duration(round(period_ns))


def _wrongness(result: LabResult) -> float:
    """Return a sort key that groups wrong runs, by their drift."""
    drift_s = abs(result.drift_ns or 0) / NS_PER_SECOND
    return drift_s if result.verdict.is_right else _WRONG_FROM + drift_s


def _tool_tip(result: LabResult) -> str:
    lines = [f"{result.subject.title}, {result.group_title}", result.subject.description]
    if result.divergence is not None:
        lines.append(f"First divergence: {result.divergence.text}.")
    if result.speed is not None and not result.verdict.is_right:
        lines.append(f"Fires {result.speed:.4g} times as fast as requested.")
    return "\n".join(lines)


def _lateness_column(
    title: str, tip: str, field: str, sample: str, yields: int
) -> Column[LabResult]:
    def lateness(result: LabResult) -> int | None:
        return None if result.lateness is None else getattr(result.lateness, field)

    return _column(
        title,
        lambda result: lateness_text(lateness(result)),
        tip,
        _tool_tip,
        lateness,
        sample,
        is_number=True,
        yields=yields,
    )


_column = Column[LabResult]


class LabColumn(ColumnEnum):
    # fmt: off
    RESULT = _column(
        "Result",
        lambda result: f"{'✓' if result.verdict.is_right else '✗'} {result.verdict.value}",
        "Whether every firing was within a frame of its expected instant", _tool_tip, _wrongness,
        "✓ within a frame",
        color=lambda result: ColorRole.BAR if result.verdict.is_right else ColorRole.RED)
    DISPLAY = _column(
        "Display", lambda result: result.display.name,
        "The display whose refreshes are the frames", _tool_tip,
        lambda result: result.display.mean_rate, "000.00 Hz", least="240 Hz")
    TIMER = _column(
        "Timer", lambda result: result.timer.title, "What was requested", _tool_tip,
        sample="every 000 ms", yields=8)
    SUBJECT = _column(
        "Runs on", lambda result: result.subject.title, "What the timer runs on", _tool_tip,
        sample="Egret, repair 2 as published", least="Cocos Creator 2.4")
    FIRED = _column(
        "Fired", lambda result: result.fired_text,
        "How often it fired, out of the expected number", _tool_tip, lambda result: result.count,
        "000 instead of 000", least="00 instead of 00", is_number=True, yields=9)
    PERIOD = _column(
        "Period", _period_text, "Mean time between firings", _tool_tip,
        lambda result: result.mean_period_ns or 0.0, "00.0 ms", is_number=True, yields=6)
    DRIFT = _lateness_column("Drift", "Lateness of the last firing", "last_ns", "−00.0 ms", 7)
    DIVERGENCE = _column(
        "First divergence",
        lambda result: "" if result.divergence is None else result.divergence.text,
        "The first firing that is more than a frame off", _tool_tip,
        lambda result: math.inf if result.divergence is None else result.divergence.at_ns,
        "firing 00 at 00:00.000000000, 000.0 ms early", least="firing 00 at 00:00.000", yields=4)
    EARLIEST = _lateness_column(
        "Least late", "Smallest lateness of a firing", "min_ns", "Least late", 2)
    MEDIAN = _lateness_column(
        "Median", "Half of the firings were at most this late", "median_ns", "−00.0 ms", 3)
    LATEST = _lateness_column(
        "Most late", "Largest lateness of a firing", "max_ns", "Most late", 1)
    FAULT = _column(
        "Known fault", lambda result: result.subject.fault_sentence,
        "What it does wrong, on this or other displays", _tool_tip,
        sample="Above 60 Hz it is too fast: four times at 240 Hz.",
        least="Above 60 Hz it is too fast", yields=5)
    # fmt: on


class LabResultsModel(ListTableModel[LabResult]):
    """Rows in the order of arrival, or sorted by a column."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(LabColumn, theme, id, is_sortable=True)

    @property
    def results(self) -> tuple[LabResult, ...]:
        return tuple(self._all)


#: Sample of the widest timer of a scene: its name is followed by its clock.
_SCENE_TIMER: Final = "spark fades (particles)"
#: More notes are counted instead of shown.
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
    """Runs the form's input as soon as it changes, and shows table and plots.

    It starts with Egret's fault, on real runs: a timer of 1000 ms that fires every 250 ms on a
    240 Hz display.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
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
        self.view = TableView(
            self.model, "Results of the refresh-rate lab", bridge.panel_choices, selects_many=True
        )
        self.notice = self.view.notice
        self.plot = LabPlot(theme)
        self.plot_buttons = choice_buttons(self, ("Firings", "Drift"))
        self.readout = ElidedLabel()
        self.summary = ElidedLabel(": ")
        self.problem, self.notes = WrappedLabel(), WrappedLabel()
        self.run_button = tool_button()
        self.export_button = tool_button(
            "Export …", "Export the table (CSV), every firing (JSON) or a picture (PNG, SVG, PDF)"
        )
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._lay_out()
        self._connect()
        self._on_theme_changed()
        self._refresh_state()

    def _lay_out(self) -> None:
        top = bar((self.form, 1), self.run_button, self.export_button)
        self.limits = ElidedLabel("^")
        # The text takes the room that the summary leaves; its tool tip has all of it.
        self.limits.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.limits.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.limits.set_text(
            LIMITS_TEXT,
            (f"{LIMITS_TIP}.\nThe command “timeline-inspector lab” has no such limits."),
        )
        buttons = self.plot_buttons.buttons()
        below = bar(self.summary, (self.limits, 1), 8, *buttons, margins=(6, 0, 4, 0))
        self.readout.setContentsMargins(6, 0, 6, 2)
        parts = (self.view, 3), (self.plot, 2)
        self.splitter = splitter(Qt.Orientation.Horizontal, *parts, sizes=(600, 400))
        for label in (self.problem, self.notes):
            label.setContentsMargins(6, 0, 6, 0)
        fill(self, top, below, self.problem, self.notes, (self.splitter, 1), self.readout)

    def _connect(self) -> None:
        self.form.changed.connect(self._soon.start)
        self.form.file_wanted.connect(self._ask_for_file)
        self._soon.timeout.connect(self.run_now)
        self.runner.results_arrived.connect(self._add_results)
        self.runner.progressed.connect(self._on_progress)
        self.runner.noted.connect(self._add_note)
        self.runner.finished.connect(self._finish)
        self.run_button.clicked.connect(self._run_or_stop)
        self.export_button.clicked.connect(self._ask_for_export)
        self.view.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._scroll_to_current)
        self.plot.firing_read.connect(self._set_reading)
        self.plot.result_chosen.connect(self._mark_result)
        self.plot_buttons.idClicked.connect(self.plot.set_drift_shown)
        self._theme.changed.connect(self._on_theme_changed)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_readout()

    def _fit_readout(self, *, is_news: bool = False) -> None:
        """Hide the readout in a low window unless it has news: tool tips of rows say it, too."""
        self.readout.setVisible(is_news or not is_low(self))

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_run:
            self._soon.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        # A hidden panel computes nothing; it starts again when it is shown.
        super().hideEvent(event)
        if self.runner.is_running:
            self.runner.cancel()
            self._has_run = False
            self._refresh_state()

    @Slot()
    def run_now(self) -> None:
        self._has_run = True
        self.runner.cancel()
        self.model.set_rows(())
        self.plot.set_results(())
        self._done = 0.0
        self._set_notes(())
        try:
            job = self.form.job()
        except ValueError as error:
            self.problem.set_text(str(error))
        else:
            self.problem.set_text("")
            self._set_notes(self.form.cuts)
            self._total = job.count if isinstance(job, LabJob) else 0
            self.runner.start(job)
        self._refresh_state()

    @Slot()
    def _run_or_stop(self) -> None:
        if self.runner.is_running:
            self.runner.cancel()
            self.plot.set_results(self.model.results)
            self._refresh_state()
        else:
            self.run_now()

    @Slot(object)
    def _add_results(self, results: list[LabResult]) -> None:
        self.model.add_rows(results)
        self._refresh_state()

    @Slot(str)
    def _finish(self, problem: str) -> None:
        self.problem.set_text(problem)
        self.plot.set_results(self.model.results)
        results = self.model.results
        is_scene = any(isinstance(each.timer, SceneTimer) for each in results)
        self._fit_columns(
            is_scene=is_scene, has_timers=len({id(each.timer) for each in results}) > 1
        )
        self._refresh_state()
        if self._is_first_run and not problem:
            self._is_first_run = False
            self._mark_result(_fault(self.model.results))

    def _fit_columns(self, *, is_scene: bool, has_timers: bool) -> None:
        columns = self.view.choices
        columns.use(LabColumn.TIMER, is_used=is_scene or has_timers)
        columns.use(LabColumn.SUBJECT, is_used=not is_scene)
        columns.use(LabColumn.FAULT, is_used=not is_scene)
        sample = _SCENE_TIMER if is_scene else LabColumn.TIMER.spec.sample
        columns.set_wish(LabColumn.TIMER, self.view.width_for(sample))

    def _refresh_state(self) -> None:
        is_running = self.runner.is_running
        count = self.model.rowCount()
        self.run_button.setText("Stop" if is_running else "Run")
        self.run_button.setToolTip(
            "Skip the remaining runs" if is_running else "Run everything again"
        )
        self.export_button.setEnabled(bool(count) and not is_running)
        if is_running:
            share = (
                f"{count:,} of {counted(self._total, 'run')}"
                if self._total
                else f"{self._done:.0%}"
            )
            self.summary.set_text(f"{share} …")
        else:
            self.summary.set_text(summary_text(self.model.results) if count else "")
        self.notice.set_text("" if count else self._why_empty())

    def _why_empty(self) -> str:
        if self.runner.is_running or not self._has_run:
            return "Waiting for the first results."
        return self.problem.text() or "Press Run to compare timers at different display rates."

    @Slot()
    def _on_theme_changed(self) -> None:
        for label, role in ((self.problem, ColorRole.RED), (self.limits, ColorRole.MUTED)):
            color_text(label, self._theme.color(role))

    @Slot(float)
    def _on_progress(self, done: float) -> None:
        self._done = done
        self._refresh_state()

    @Slot(str)
    def _add_note(self, text: str) -> None:
        self._set_notes((*self._notes, text))

    def _set_notes(self, notes: Sequence[str]) -> None:
        self._notes = tuple(notes)
        shown = [*notes[:_MOST_NOTES]]
        if len(notes) > _MOST_NOTES:
            shown[-1] = f"And {len(notes) - _MOST_NOTES + 1:,} more."
        self.notes.set_text("\n".join(shown))

    def _open_scene(self) -> Path | None:
        session = self._bridge.session
        path = "" if session is None else str(session.timeline.scene_path or "")
        return stored_path(path) if path else None

    def _session_frames(self) -> tuple[int, ...]:
        session = self._bridge.session
        if session is None:
            return ()
        frames = FrameTimes.from_history(session.timeline.frames)
        return tuple(frames.interval_ns.tolist())

    @Slot(QModelIndex, QModelIndex)
    def _on_row_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            result = self.model.rows[current.row()]
            self.plot.reveal_result(result)
            if self.plot.current is not result:
                self._set_reading(reading_text(result, -1))

    @Slot(object)
    def _mark_result(self, result: LabResult | None) -> None:
        for row, other in enumerate(self.model.rows):
            if other is result:
                index = self.model.index(row, 0)
                self.view.setCurrentIndex(index)
                self.view.scrollTo(index)
                return

    @Slot(str)
    def _set_reading(self, text: str) -> None:
        if not text and self.plot.current is not None:
            text = reading_text(self.plot.current, -1)
        self.readout.set_text(text)
        self._fit_readout()

    @Slot()
    def _scroll_to_current(self) -> None:
        self.view.scrollTo(self.view.currentIndex())

    @Slot(str)
    def _ask_for_file(self, kind: str) -> None:
        title, filters = _FILTERS[kind]
        name, _filter = QFileDialog.getOpenFileName(self, title, str(self._folder), filters)
        if name:
            self.load_file(kind, Path(name))

    def load_file(self, kind: str, path: Path) -> None:
        """Load the ``"timers"``, the ``"scene"`` or the ``"frame times"`` of a file."""
        self._folder = path.parent
        try:
            if kind == "timers":
                self.form.load_timers(path)
            elif kind == "scene":
                self.form.choose_scene(path)
            else:
                self.form.add_recording(path)
        except InspectorError as error:
            self.problem.set_text(str(error))

    @Slot()
    def _ask_for_export(self) -> None:
        kinds = {each.suffix: f"{each.format}: {each.description}" for each in LAB_EXPORTERS}
        proposed = self._folder / "refresh-rate-lab.png"
        dialog = SaveDialog("Export results", proposed, kinds, self)
        dialog.file_given.connect(self.export_to)
        dialog.open()

    @Slot(object)
    def export_to(self, path: Path) -> None:
        self._folder = path.parent
        provenance = Provenance(
            "", datetime.now().astimezone(), inspector.__version__, "virtual time"
        )
        options = LabGraphOptions(theme=self._theme.name)
        try:
            export_lab(self.model.results, provenance, options, path)
        except InspectorError as error:
            self.problem.set_text(str(error))
        else:
            self.problem.set_text("")
            self.readout.set_text(f"Wrote {path}.")
            self._fit_readout(is_news=True)


def _fault(results: tuple[LabResult, ...]) -> LabResult | None:
    egret = [result for result in results if result.subject.name == "egret"]
    return max(egret, key=lambda each: each.speed or 0.0, default=None)
