"""The distribution of frame times with what chooses among them, and their statistics by tool."""

from __future__ import annotations

from functools import partial
from time import perf_counter_ns
from typing import Final

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QSignalBlocker, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QComboBox, QWidget
from typing_extensions import override

from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_budget import FrameBudget, fps_text
from inspector.analysis.statistics.metrics import MetricValue, metric_values
from inspector.analysis.statistics.outliers import Outliers, without_outliers
from inspector.analysis.statistics.time_series import TimeSeries
from inspector.display_text import counted
from inspector.errors import InspectorError
from inspector.formats.arrangement.frame_bars import budget_ns_of
from inspector.formats.distribution_chart import ChartKind, Curve, band_text
from inspector.formats.series import facts_in
from inspector.sessions.session import ShowsCapture, samples_of
from inspector.timebase import NS_PER_MS

from ..kit.background import Background
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import bar, choice_buttons, fill, tool_button
from ..kit.theme import Theme
from ..kit.throttled_refresh import ThrottledRefresh, single_shot
from ..plotting.distribution_view import NONE_OF_SAMPLES, DistributionView
from ..session.bridge import SelectionKind, SessionBridge
from ..session.frame_focus import MetricOptions
from .scoped_times import ScopedTimes, Wanted, frames_of, scopes

_PERIOD_MS: Final = 500
#: The metrics take at most this share of the processor, whatever the range.
_LARGEST_SHARE: Final = 0.05
#: More frames than this are sorted in a background thread: 10 million take 0.3 s.
_MOST_AT_ONCE: Final = 1_000_000
_HINT: Final = "Click or drag to choose frame times."


@guarded
class FrameDistribution(QWidget):
    """Shows the frames of a range by their times; chosen times mark their frames in the plot.

    Only new frames are read. The metrics, some of which need all frames again, are computed in a
    background thread, less often the longer that takes.
    """

    metrics_found = Signal(object)  # list[MetricValue]: the metrics of other frames

    def __init__(self, bridge: SessionBridge, theme: Theme, head: QWidget | None = None) -> None:
        """Show the selected frames, or all; ``head`` replaces the choice of the frames."""
        super().__init__()
        self._bridge = bridge
        self._times = ScopedTimes()
        self._band_ns: tuple[int, int] | None = None
        self._outliers: Outliers | None = None
        self._text = ""
        self.view = DistributionView(theme)
        self.scope_box = QComboBox(self)
        self.scope_box.setAccessibleName("Frames of the statistics")
        self.scope_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.scope_box.setToolTip(
            "Which frames count: the range selected in the plot, all, those in view, or a range "
            "named in the bookmarks"
        )
        # what: which frames they are
        self.what, self.readout = ElidedLabel("[;,] "), ElidedLabel()
        self.kind_buttons = choice_buttons(self, [each.value for each in ChartKind])
        self.former_button = tool_button("‹", "Select the previous frame of the chosen bins")
        self.next_button = tool_button("›", "Select the next frame of the chosen bins")
        self._sorter = Background(self)
        self._sorting: tuple[Wanted, str] | None = None
        self._metrics = _PacedMetrics(bridge, self)
        self._lay_out(head)
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self._offer_scopes()
        self._refresh_band_buttons()
        self.refresh()

    def _lay_out(self, head: QWidget | None) -> None:
        self.scope_box.setVisible(head is None)
        buttons = self.kind_buttons.buttons()
        if head is None:
            top = bar(self.scope_box, 6, *buttons, (QWidget(), 1))
        else:
            top = bar((head, 1), 6, *buttons)
        # Only one of the two is visible at a time: both describe the same frames, and are long.
        texts = (self.what, 1), (self.readout, 1)
        self._foot = QWidget()
        row = bar(*texts, self.former_button, self.next_button, margins=(6, 0, 4, 3))
        self._foot.setLayout(row)
        fill(self, top, (self.view, 1), self._foot, spacing=2)

    def show_foot(self, *, is_shown: bool) -> None:
        """Show or leave out what is known of the frames and of the bin under the pointer."""
        self._foot.setVisible(is_shown)

    def _connect(self) -> None:
        bridge = self._bridge
        self._throttle.follow()
        bridge.session_changed.connect(self._on_session_changed)
        bridge.budgets_changed.connect(self._throttle.request)
        bridge.frame_focus.changed.connect(self._throttle.request)
        bridge.annotations.changed.connect(self._offer_scopes)
        self.scope_box.activated.connect(self.refresh)
        self.kind_buttons.idClicked.connect(self._on_kind_chosen)
        self.view.band_chosen.connect(self._choose)
        self.view.bin_read.connect(self._read)
        self.former_button.clicked.connect(partial(self._select_beside, -1))
        self.next_button.clicked.connect(partial(self._select_beside, 1))
        self._metrics.found.connect(self.metrics_found)
        self._metrics.outliers_found.connect(self._on_outliers_found)
        self._sorter.done.connect(self._on_sorted)

    @Slot()
    def _offer_scopes(self) -> None:
        current = self.scope_box.currentData()
        with QSignalBlocker(self.scope_box):
            self.scope_box.clear()
            for scope in scopes(self._bridge.annotations.items):
                self.scope_box.addItem(scope.title, scope.id)
            self.scope_box.setCurrentIndex(max(self.scope_box.findData(current), 0))
        self._throttle.request()

    @Slot(object)
    def _on_session_changed(self, _session: object) -> None:
        self._sorter.cancel()
        self._times.forget()
        self._metrics.forget()
        self.view.choose_nothing()
        self._throttle.request()

    @Slot()
    def refresh(self) -> None:
        bridge, focus = self._bridge, self._bridge.frame_focus
        scope = str(self.scope_box.currentData())
        history = bridge.timeline.frames
        frames, text = frames_of(scope, history, focus, bridge.annotations.items)
        first_ms = bridge.budgets_ms[:1] if focus.without_inspector else ()
        budget = FrameBudget.of_ms(*first_ms) if first_ms else None
        wanted = Wanted(history, focus.measure, frames, budget)
        if len(self._times.news(wanted)) > _MOST_AT_ONCE:
            self._sort(wanted, text)
            return
        self._sorter.cancel()
        self._set_wanted(wanted, text)

    def _set_wanted(
        self, wanted: Wanted, text: str, sorted_times: Distribution | None = None
    ) -> None:
        self._times.set_wanted(wanted, sorted_times)
        self._refresh_frames(text)
        self._metrics.request(self._times.wanted)

    def _sort(self, wanted: Wanted, text: str) -> None:
        """Take frames whose sorting would block the window."""
        if self._sorter.is_running and self._sorting and wanted.goes_on_from(self._sorting[0]):
            return
        self._sorting = (wanted, text)
        times, counted = wanted.read(wanted.frames)
        counting = times if counted is None else times[counted]
        self._sorter.start(lambda _report: Distribution(counting))

    @Slot(object)
    def _on_sorted(self, sorted_times: Distribution) -> None:
        assert self._sorting is not None, "it has been asked for"
        self._set_wanted(*self._sorting, sorted_times)

    @Slot(object)
    def _on_outliers_found(self, found: Outliers | None) -> None:
        if found is not self._outliers:
            self._outliers = found
            self._refresh_frames(self._text)

    def _refresh_frames(self, text: str) -> None:
        self._text = text
        frames, budgets_ms = self._times.frames, self._bridge.budgets_ms
        are_samples = bool(samples_of(self._bridge.session))
        curves = () if are_samples else (Curve("", self._times.distribution),)
        why_none = NONE_OF_SAMPLES if are_samples else "There are no frames."
        self.view.set_curves(curves, budgets_ms, empty_text=why_none)
        if frames and are_samples:
            self.what.set_text(f"{text}: {counted(len(frames), 'sample')}")
        elif frames:
            span = f"{frames[0]:,}–{frames[-1]:,}"
            left_out = self._times.left_out
            without = f", without {left_out:,} late by the inspector" if left_out else ""
            against = ""
            if budgets_ms:
                against = f"; hitches and jank against {fps_text(budget_ns_of(budgets_ms[0]))}"
            measure = self._bridge.frame_focus.measure
            said = f"{text}: {counted(len(frames), 'frame')} ({span}){without}, {measure}{against}"
            tips = [said, _HINT]
            if self._outliers is not None:
                said += f"; {self._outliers.text}"
                tips = [said, self._outliers.ranges_text, _HINT]
            self.what.set_text(said, "\n".join(filter(None, tips)))
        else:
            self.what.set_text("")
        if self._band_ns is not None:
            self._bridge.frame_focus.mark(self._times.marked)
        self._refresh_band_buttons()

    @Slot(int)
    def _on_kind_chosen(self, number: int) -> None:
        self.view.set_kind(list(ChartKind)[number])

    @Slot(object)
    def _choose(self, band_ns: tuple[int, int] | None) -> None:
        self._band_ns = band_ns
        self._times.choose(band_ns)
        self._bridge.frame_focus.mark(self._times.marked)
        self._refresh_band_buttons()

    def _refresh_band_buttons(self) -> None:
        marked = self._times.marked
        is_any = self._band_ns is not None and marked is not None and len(marked) > 0
        self.former_button.setEnabled(is_any)
        self.next_button.setEnabled(is_any)
        self._read("")

    @Slot(str)
    def _read(self, text: str) -> None:
        marked = self._times.marked
        if not text and self._band_ns is not None and marked is not None:
            are = "is" if len(marked) == 1 else "are"
            span = band_text(*self._band_ns)
            text = f"{span}: {counted(len(marked), 'frame')} {are} marked in the plot"
        self.readout.set_text(text or _HINT)
        self.readout.setVisible(bool(text) or not self.what.text())
        self.what.setVisible(self.readout.isHidden())

    def _select_beside(self, step: int) -> None:
        selection = self._bridge.selection
        is_frame = selection.kind is SelectionKind.FRAME
        frame = self._times.marked_beside(selection.id if is_frame else None, step)
        if frame is not None:
            self._bridge.reveal_frame(frame)

    def finish(self) -> None:
        self._sorter.wait()
        self._metrics.finish()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            # A hidden plot must not mark frames.
            self.view.choose_nothing()


def _found(
    series: TimeSeries, index: NDArray[np.int64], options: MetricOptions
) -> tuple[list[MetricValue], Outliers | None]:
    if not options.without_outliers or series.sampled_ms is not None or not len(series):
        return metric_values(series), None
    series, found = without_outliers(series)
    return metric_values(series), structs.replace(found, places=index[found.places])


@guarded
class _PacedMetrics(QObject):
    """Computes the metrics of the frames that were asked for last, at once or some time after."""

    found = Signal(object)  # list[MetricValue]
    outliers_found = Signal(object)  # Outliers | None

    def __init__(self, bridge: SessionBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._wanted: Wanted | None = None
        self._began_ns = 0
        self._computed: tuple[object, ...] = ()
        self._background = Background(self, expected=InspectorError)
        self._background.done.connect(self._report)
        # The file of a capture has changed; the plot of its columns says so.
        self._background.failed.connect(partial(self.found.emit, []))
        self._pause = single_shot(self, self._compute)

    def request(self, wanted: Wanted | None) -> None:
        self._wanted = wanted
        self._compute()

    def forget(self) -> None:
        """Report that no metrics are known: those of other frames must not stand beside these."""
        self._background.cancel()
        self._pause.stop()
        self._wanted, self._computed = None, ()
        self.outliers_found.emit(None)
        self.found.emit([])

    @Slot()
    def _compute(self) -> None:
        """Compute the metrics, at once or as soon as they may take processor time again."""
        if self._pause.isActive() or self._background.is_running:
            return
        session: object = self._bridge.session
        capture = session if isinstance(session, ShowsCapture) else None
        budgets_ms, shown = self._bridge.budgets_ms, self._wanted
        options = MetricOptions.kept_in(self._bridge.panel_choices)
        wanted = (shown, budgets_ms, options)
        if wanted == self._computed:
            return
        self._computed = wanted
        if shown is None or not shown.frames:
            self.found.emit([])
            return
        self._began_ns = perf_counter_ns()
        refresh_ms = budgets_ms[0] if budgets_ms else None
        times_ns, counted = shown.read(shown.frames)
        known = None if capture is None else capture.facts
        beside = None if capture is None else capture.beside
        facts = facts_in(shown.history, shown.frames, refresh_ms, known, beside)
        if counted is not None:
            times_ns, facts = times_ns[counted], facts.kept(counted)
        sampled_ms = None
        if samples_of(session):
            at_ns = shown.history.numpy("at_ns", shown.frames.start, shown.frames.stop)
            sampled_ms = float(at_ns[-1] - at_ns[0]) / NS_PER_MS

        def work(_report: object) -> tuple[list[MetricValue], Outliers | None]:
            index = np.arange(shown.frames.start, shown.frames.stop)
            if counted is not None:
                index = index[counted]
            times_ms = times_ns / NS_PER_MS
            series = TimeSeries(times_ms, refresh_ms, facts, sampled_ms, options.stutter)
            return _found(series, index[times_ns > 0], options)

        self._background.start(work)

    @Slot(object)
    def _report(self, found: tuple[list[MetricValue], Outliers | None]) -> None:
        values, outliers = found
        self.outliers_found.emit(outliers)
        self.found.emit(values)
        cost_ms = (perf_counter_ns() - self._began_ns) / NS_PER_MS
        self._pause.start(max(_PERIOD_MS, round(cost_ms / _LARGEST_SHARE)))

    def finish(self) -> None:
        self._background.wait()
        self._pause.stop()
        self._compute()
        self._background.wait()
