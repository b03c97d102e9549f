"""The frame times panel: overview, plot, what is shown, and statistics of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import budget_text, fps_text
from inspector.formats.arrangement.frame_bars import (
    CAPTURE_BUDGETS,
    USUAL_BUDGETS,
    budget_ns_of,
)
from inspector.formats.arrangement.frame_series import XAxis
from inspector.sessions.session import (
    AttachesPrograms,
    Session,
    SessionPhase,
    file_word,
    samples_of,
    time_name,
    unknown_of_frames,
)
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_instant
from inspector.vocabulary import Measure

from ..kit.clipboard import add_copying
from ..kit.guards import guarded
from ..kit.layouts import hairline
from ..kit.theme import Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..plotting.shared_view import SharedView
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .budget_menu import BudgetMenu
from .capture_header import CaptureHeader
from .frame_header import SEVERITIES, FrameHeader, OverviewHeader, phases_legend
from .frame_plot import FramePlot
from .frame_statistics import FoundStatistics, PacedStatistics, StatisticsWanted
from .loop_choice import LoopChoice
from .marks_row import MarksRow
from .overview_strip import OverviewStrip
from .plotted_frames import (
    EMPTY_TEXT,
    NO_SCENE_TEXT,
    NONE_IN_FILE_TEXT,
    NONE_SEEN_TEXT,
    RUNNING_TEXT,
)
from .ruler import Ruler

_MEASURES: Final[tuple[tuple[Measure, str, str], ...]] = (
    ("interval", "Interval", "Time between the starts of two frames: the frame time"),
    ("busy", "Busy", "Time spent in the callbacks of a frame"),
    ("delta", "Delta", "Local time passed to the callbacks of a frame"),
)
_PHASES_TIP: Final = "Stack the phases of each frame"
_AXES: Final = (
    (XAxis.FRAME, "Frames", "Count frames along the axis"),
    (XAxis.TIME, "Time", "Show session time along the axis"),
)
#: Text, key, step among the frames over budget, and whether only those over twice count.
_LONG_FRAMES: Final = (
    ("Next frame over budget", "J", 1, False),
    ("Previous frame over budget", "K", -1, False),
    ("Next frame over twice its budget", "Shift+J", 1, True),
    ("Previous frame over twice its budget", "Shift+K", -1, True),
)
#: Least milliseconds between pictures: less than between refreshes, so that each one is shown.
_PLOT_MS: Final = 20
#: The same for the whole session, and for numbers about its frames: a frame hardly changes either.
_STRIP_MS: Final = 400
#: The header leaves this much room for the labels of the axis.
_WIDEST_LABEL: Final = "33.3 ms"
#: Settings key of whether frames that only the inspector made late are left out.
_LEFT_OUT: Final = "frame_times.without_inspector"


@guarded
class FrameTimesPanel(QWidget):
    """Frame times of the session: live, every frame, with nothing lost by zooming out."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("frame_times")
        self._bridge = bridge
        self._theme = theme
        self.view = SharedView.of(bridge)  # What is in view, shared with the lanes
        self._make_actions()
        self._budget_menu = BudgetMenu(self)
        self._menu = self._made_menu()
        # Made in the order in which Tab goes through them.
        self.capture_header = CaptureHeader(bridge, theme, self._menu, self)
        self.overview_header = OverviewHeader(theme, self)
        self.strip = OverviewStrip(theme, self)
        self.strip.moved = self.view
        self.ruler = Ruler(theme, self.view, self)
        self.plot = FramePlot(theme, self, self.view)
        self.marks = MarksRow(theme, self.view, self)
        self._loop_choice = LoopChoice(bridge)
        self._statistics = PacedStatistics(self)
        self._whole = PacedStatistics(self)
        self._copying = add_copying(self.plot, self._rows)
        self._waits = False
        self._checked_axis: XAxis | None = None
        self.has_frames = True  # Whether frames are shown, not the ruler and the marks alone
        self.header = FrameHeader(theme, self._menu, self._loop_choice, self.plot)
        self._lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh, _PLOT_MS)
        self._strip_throttle = ThrottledRefresh(
            self.strip, bridge.refresh_timer, self._refresh_strip, _STRIP_MS
        )
        self._connect_parts()
        self._connect_bridge()
        self._on_budgets_changed(bridge.budgets_ms)
        self._on_session_changed(bridge.session)
        self._on_selection_changed(bridge.selection)
        self.follow_action.setChecked(self.view.is_following)
        self._check_axis()

    # ---------------------------------------------------------------- for others

    def visible_range(self) -> tuple[int, int]:
        return self.view.visible_frames()

    def selected_range(self) -> tuple[int, int] | None:
        """Return the frames that were chosen for export, ``None`` without a choice."""
        return self.view.chosen_frames

    @property
    def measure(self) -> Measure:
        return self.plot.measure

    @property
    def budgets_ms(self) -> tuple[float, ...]:
        return self._bridge.budgets_ms

    @property
    def inspector_budget_ms(self) -> float | None:
        """The budget of frames that statistics leave out, ``None`` if they leave out none."""
        is_chosen = self._budget_menu.left_out_action.isChecked()
        return self._bridge.budgets_ms[0] if is_chosen and self._bridge.budgets_ms else None

    @property
    def is_stacked(self) -> bool:
        return self.stack_action.isChecked()

    @Slot()
    def fit(self) -> None:
        """Show the selected range; if there is none, or it is in view, everything."""
        self.view.fit_chosen()

    # ---------------------------------------------------------------- the session

    @Slot(object)
    def _on_session_changed(self, session: Session | None) -> None:
        # The lanes, which share the view, have an empty timeline without a session.
        timeline = None if session is None else self._bridge.timeline
        self._choose_usual_measure()
        self._loop_choice.on_session_changed()
        self.view.set_ruler(time_name(session))
        self.plot.start_scale_at(CAPTURE_BUDGETS if self.view.opens_whole() else USUAL_BUDGETS)
        self._offer_known(unknown_of_frames(session), file_word(session))
        self.plot.set_timeline(timeline, self._empty_text())
        self._on_annotations_changed()
        self.view.set_playhead_ns(self._bridge.playhead_ns)
        self.strip.set_series(self.plot.series, is_whole=self.view.opens_whole())
        self._statistics.forget()
        self._whole.forget()
        self._name_frames()
        self.capture_header.set_session(session)
        self._place_headers()
        self._on_view_changed()

    def _empty_text(self) -> str:
        session = self._bridge.session
        if session is None:
            return NO_SCENE_TEXT
        if isinstance(session, AttachesPrograms):
            return NONE_SEEN_TEXT
        if session.is_recorded:
            return NONE_IN_FILE_TEXT.format(file_word(session))
        is_running = self._bridge.status.phase is SessionPhase.RUNNING
        return RUNNING_TEXT if is_running else EMPTY_TEXT

    @Slot()
    def _word_empty(self) -> None:
        self.plot.set_empty_text(self._empty_text())

    @Slot()
    def _on_annotations_changed(self) -> None:
        self.marks.set_annotations(self._bridge.annotations.items)
        self._need_marks()

    def _need_marks(self) -> None:
        """Leave out the row of marks where no lanes follow and there are none."""
        self.marks.setVisible(self.view.has_lanes or self.marks.has_any)

    @Slot()
    def refresh(self) -> None:
        """Show the frames that are new; hidden it costs nothing, shown again it catches up."""
        if not self.has_frames:
            self.view.read_new_frames()
        else:
            self.plot.refresh()
        self.ruler.follow_present()
        self.marks.refresh()

    # ---------------------------------------------------------------- shared with others

    @Slot(object)
    def _share_hover(self, frame: int | None) -> None:
        series = self.plot.series
        if frame is None or series is None:
            self._bridge.set_hover(None)
        else:
            self._bridge.set_hover(series.history.frame(frame).at_ns)

    @Slot(int)
    def _share_selection(self, frame: int) -> None:
        self._bridge.select(Selection.frame(frame))

    @Slot(object)
    def _on_selection_changed(self, selection: Selection) -> None:
        is_frame = selection.kind is SelectionKind.FRAME
        self.plot.select_frame(selection.id if is_frame else None)

    @Slot(object)
    def _on_budgets_changed(self, budgets_ms: tuple[float, ...]) -> None:
        budgets_ns = tuple(budget_ns_of(budget_ms) for budget_ms in budgets_ms)
        self.plot.set_budgets_ns(budgets_ns)
        if budgets_ns:
            self.strip.set_budget_ns(budgets_ns[0])
        own = self._bridge.budgets.own
        self._budget_menu.set_budgets(budgets_ms, is_first_own=own is not None)
        text, tip, short = "no budget", "What is shown of frames", ""
        if budgets_ns:
            text, tip = f"{fps_text(budgets_ns[0])} budget", budget_text(budgets_ns[0])
        if own is not None and own.origin:
            text, tip, short = own.why, f"{own.why}\n{tip}", own.short_why
        for header in (self.header, self.capture_header):
            header.set_budget(text, tip, short)
        self._refresh_legend()
        self._want_statistics()

    # ---------------------------------------------------------------- what is shown

    def choose_measure(self, measure: Measure) -> None:
        for action in self._measure_actions.actions():
            action.setChecked(action.data() == measure)
        self.plot.set_measure(measure)
        self.strip.set_measure(measure)
        self._refresh_legend()

    def _offer_known(self, unknown: frozenset[str], file: str) -> None:
        self.plot.leave_out(unknown)
        why_not = f"The {file} does not contain this time"
        for action, (measure, _text, tip) in zip(
            self._measure_actions.actions(), _MEASURES, strict=True
        ):
            action.setEnabled(measure not in unknown)
            action.setToolTip(tip if action.isEnabled() else why_not)
        self.stack_action.setEnabled(not unknown)
        self.stack_action.setToolTip(why_not if unknown else _PHASES_TIP)
        if self.measure in unknown:
            self.choose_measure("interval")
        if unknown:
            self.stack_action.setChecked(False)

    @Slot()
    def _choose_usual_measure(self) -> None:
        """Plot the time that matters once that is known: for a loop that waits, its work."""
        session = self._bridge.session
        waits = session is not None and session.waits
        if waits is not self._waits:
            self._waits = waits
            self._name_frames()
            self.choose_measure("busy" if waits else "interval")

    def _name_frames(self) -> None:
        self.header.set_title("Turns of the loop" if self._waits else "Frames")

    def choose_axis(self, x_axis: XAxis) -> None:
        self.view.set_x_axis(x_axis)
        # The click has checked it in the menu, even if there are no frames to count: check the
        # axis that is shown.
        self._checked_axis = None
        self._check_axis()
        self.strip.forget_picture()

    def _check_axis(self) -> None:
        x_axis = self.view.x_axis
        if x_axis is not self._checked_axis:
            self._checked_axis = x_axis
            for action in self._axis_actions.actions():
                action.setChecked(action.data() is x_axis)

    @Slot(QAction)
    def _on_measure_chosen(self, action: QAction) -> None:
        self.choose_measure(action.data())

    @Slot(QAction)
    def _on_axis_chosen(self, action: QAction) -> None:
        self.choose_axis(action.data())

    @Slot(bool)
    def _stack(self, is_stacked: bool) -> None:  # noqa: FBT001 - a slot
        self.plot.set_stacked(is_stacked)
        self._refresh_legend()

    @Slot(float, float)
    def _on_brushed(self, low: float, high: float) -> None:
        self.view.set_span(low, high)

    @Slot()
    def _on_view_changed(self) -> None:
        self._check_axis()
        if self.view.is_following:
            # The view moves with every frame, by less than a pixel of the strip.
            self._strip_throttle.request()
        else:
            self._mark_in_strip()
            self._want_statistics()

    @Slot()
    def _on_news(self) -> None:
        # A new frame is less than a pixel of the strip, and the statistics are text.
        self._strip_throttle.request()

    @Slot()
    def _refresh_strip(self) -> None:
        self._mark_in_strip()
        self._want_statistics()

    @Slot()
    def _mark_in_strip(self) -> None:
        view, shown = self.view, self.view.range
        self.strip.set_visible(shown.low, shown.high)
        said = "Follows the present"
        if not view.is_following:
            ends = (max(round(view.ns_of(each)), 0) for each in (shown.low, shown.high))
            said = "In view: " + " to ".join(map(format_instant, ends))
        # Each change is told to screen readers, and a view that follows moves with each refresh.
        if said != self.strip.accessibleDescription():
            self.strip.setAccessibleDescription(said)

    @Slot(object)
    def _on_choice_changed(self, _frames: tuple[int, int] | None) -> None:
        self._want_statistics()

    @Slot()
    def _apply_theme(self) -> None:
        self.plot.apply_theme()
        self.strip.forget_picture()
        self._refresh_legend()

    def _refresh_legend(self) -> None:
        entries = SEVERITIES
        if self.is_stacked:
            entries = phases_legend(
                self.plot.used_phases(),
                has_waiting=self.measure != "busy",
                has_inspector=self.measure == "interval",
            )
        self.header.set_legend(entries)

    @Slot(object)
    def _open_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction(self.fit_action)
        menu.addAction(self.follow_action)
        menu.addSeparator()
        choose = menu.addAction("Select the frames in view")
        choose.triggered.connect(self._choose_visible)
        clear = menu.addAction("Clear the selected range")
        clear.setEnabled(self.selected_range() is not None)
        clear.triggered.connect(self._clear_choice)
        statistics = menu.addAction("Statistics")
        statistics.triggered.connect(self.open_statistics)
        menu.addSeparator()
        self._add_annotating(menu)
        menu.addActions(self._measure_actions.actions())
        menu.addSeparator()
        menu.addActions(self._axis_actions.actions())
        menu.addSeparator()
        menu.addAction(self.stack_action)
        menu.addSeparator()
        menu.addActions(self._copying)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _add_annotating(self, menu: QMenu) -> None:
        annotations, series, pointed_at = (
            self._bridge.annotations,
            self.plot.series,
            self.plot.readout(),
        )
        if series is not None and pointed_at is not None:
            frame = series.history.frame(pointed_at.frame)
            text = f"Bookmark frame {frame.index:,}"
            menu.addAction(text, partial(annotations.add_bookmark, frame.at_ns))
        chosen_ns = self.view.chosen_span()
        span_ns = chosen_ns or self.view.visible_ns()
        if span_ns is not None:
            what = "in view" if chosen_ns is None else "selected"
            ask = partial(annotations.range_wanted.emit, span_ns)
            menu.addAction(f"Name the frames {what} …", ask)
        menu.addSeparator()

    @Slot()
    def _choose_visible(self) -> None:
        start, stop = self.visible_range()
        self.view.choose_frames((start, stop) if stop > start else None)

    @Slot()
    def _clear_choice(self) -> None:
        self.view.choose_frames(None)

    def _want_statistics(self) -> None:
        series = self.plot.series
        chosen, visible = self.selected_range(), self.visible_range()
        left_out = self._budget_menu.left_out_action.isChecked()
        self._bridge.frame_focus.change(self.measure, visible, chosen, without_inspector=left_out)
        for statistics, bounds in (
            (self._statistics, chosen or visible),
            (self._whole, (0, 0) if series is None else (series.first, series.end)),
        ):
            frames = range(*bounds)
            if series is None or not frames:
                statistics.forget()
                continue
            is_chosen = chosen is not None and statistics is self._statistics
            wanted = StatisticsWanted(
                *(series, frames, self.measure, self.plot.budgets_ns[:1], is_chosen),
                are_samples=bool(samples_of(self._bridge.session)),
                without_inspector=left_out,
            )
            statistics.request(wanted)

    @Slot(object)
    def _on_statistics_found(self, found: FoundStatistics | None) -> None:
        self.header.set_statistics(found)
        self.plot.setAccessibleDescription("" if found is None else found.text)

    @Slot(object)
    def _on_whole_found(self, found: FoundStatistics | None) -> None:
        self.overview_header.set_statistics(found)
        if self.view.opens_whole():
            self.capture_header.set_statistics(found)

    @Slot()
    def _go_to_longest(self) -> None:
        """Select the longest of the frames in view, or of all from the overview."""
        series = self.plot.series
        if series is None:
            return
        is_whole = self.sender() is not self.header
        frames = (series.first, series.end) if is_whole else self.visible_range()
        chosen = None if is_whole else self.selected_range()
        start, stop = chosen or frames
        if start < stop:
            self.plot.go_to(series.slowest_within(self.measure, start, stop))

    @Slot()
    def _go_to_long(self) -> None:
        action = self.sender()
        step, is_twice = action.data() if isinstance(action, QAction) else (1, False)
        self.plot.go_to_long(step, is_twice=is_twice)

    @Slot(bool)
    def _leave_out(self, is_left_out: bool) -> None:  # noqa: FBT001 - Qt's signal
        choices = self._bridge.panel_choices
        choices.pop(_LEFT_OUT, None)
        if is_left_out:
            choices[_LEFT_OUT] = "yes"
        self._want_statistics()

    @Slot()
    def open_statistics(self) -> None:
        self._bridge.panel_wanted.emit("statistics")

    @Slot()
    def _on_marked_changed(self) -> None:
        self.plot.set_marked(self._bridge.frame_focus.marked)

    def _rows(self) -> list[tuple[str, ...]]:
        history, measure = self._bridge.timeline.frames, self.measure
        start, stop = self.selected_range() or self.visible_range()
        times = history.numpy(f"{measure}_ns", start, stop) / NS_PER_MS
        instants = history.numpy("at_ns", start, stop) / NS_PER_SECOND
        columns = zip(range(start, stop), instants.tolist(), times.tolist(), strict=True)
        rows = [(f"{index}", f"{at_s:.9f}", f"{time:.6f}") for index, at_s, time in columns]
        return [("frame", "at (s)", f"{measure} (ms)"), *rows]

    # ---------------------------------------------------------------- making

    def _make_actions(self) -> None:
        self._measure_actions = self._choices(_MEASURES)
        self._axis_actions = self._choices(_AXES)
        self.stack_action = QAction("Phases", self, checkable=True)
        self.stack_action.setToolTip(_PHASES_TIP)
        self.stack_action.toggled.connect(self._stack)
        self.statistics_action = QAction("Statistics …", self)
        self.statistics_action.setToolTip(
            "Show how frame times are distributed, and their statistics as each tool defines them"
        )
        self.statistics_action.triggered.connect(self.open_statistics)
        self.fit_action = QAction("Fit", self)
        self.fit_action.setToolTip("Show the selected range, then all frames (F)")
        self.fit_action.triggered.connect(self.view.fit_chosen)
        self.follow_action = QAction("Follow", self, checkable=True)
        self.follow_action.setToolTip("Keep the newest frame in view (End)")
        self.follow_action.toggled.connect(self.view.set_following)
        for text, key, step, is_twice in _LONG_FRAMES:
            action = QAction(text, self)
            action.setShortcut(key)
            action.setData((step, is_twice))
            action.triggered.connect(self._go_to_long)
            self.addAction(action)

    def _made_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for group in (self._measure_actions, self._axis_actions):
            menu.addActions(group.actions())
            menu.addSeparator()
        menu.addAction(self.stack_action)
        menu.addMenu(self._budget_menu)
        menu.addSeparator()
        menu.addActions([self.fit_action, self.follow_action])
        menu.addActions(self.actions())
        menu.addSeparator()
        menu.addAction(self.statistics_action)
        return menu

    def _connect_parts(self) -> None:
        self._statistics.found.connect(self._on_statistics_found)
        self._whole.found.connect(self._on_whole_found)
        for header in (self.header, self.overview_header, self.capture_header):
            header.longest_wanted.connect(self._go_to_longest)
            header.over_wanted.connect(self._go_to_long)
        self._measure_actions.triggered.connect(self._on_measure_chosen)
        self._axis_actions.triggered.connect(self._on_axis_chosen)
        self.view.moved.connect(self._on_view_changed)
        self.view.margins_changed.connect(self._place_headers)
        self.plot.frames_added.connect(self._on_news)
        self.plot.frame_hovered.connect(self._share_hover)
        self.plot.frame_clicked.connect(self._share_selection)
        self.view.following_changed.connect(self.follow_action.setChecked)
        self.view.range_chosen.connect(self._on_choice_changed)
        for part in (self.plot, self.ruler, self.marks):
            part.playhead_moved.connect(self._bridge.set_playhead)
        self.ruler.approached.connect(self._bridge.playhead.expect_at)
        self.marks.holds_moved.connect(self.plot.set_holds)
        self.plot.menu_requested.connect(self._open_menu)
        self.strip.range_brushed.connect(self._on_brushed)
        self.strip.fit_requested.connect(self.view.fit)

    def _connect_bridge(self) -> None:
        self._budget_menu.budgets_chosen.connect(self._bridge.set_budgets_ms)
        left_out = self._budget_menu.left_out_action
        left_out.setChecked(_LEFT_OUT in self._bridge.panel_choices)
        left_out.toggled.connect(self._leave_out)
        self._bridge.session_changed.connect(self._on_session_changed)
        self._bridge.status_changed.connect(self._word_empty)
        self._bridge.refreshed.connect(self._throttle.request)
        self._bridge.facts_due.connect(self._choose_usual_measure)
        self._bridge.facts_due.connect(self._loop_choice.refresh)
        self._bridge.selection_changed.connect(self._on_selection_changed)
        self._bridge.budgets_changed.connect(self._on_budgets_changed)
        self._bridge.frame_focus.marked_changed.connect(self._on_marked_changed)
        annotations = self._bridge.annotations
        annotations.changed.connect(self._on_annotations_changed)
        self._theme.changed.connect(self._apply_theme)

    def _choices(self, choices: Iterable[tuple[object, str, str]]) -> QActionGroup:
        """Return actions of which one is checked, the first to begin with."""
        group = QActionGroup(self)
        for value, text, tip in choices:
            action = QAction(text, group, checkable=True)
            action.setData(value)
            action.setToolTip(tip)
        group.actions()[0].setChecked(True)
        return group

    def _lay_out(self) -> None:
        self._below_strip = hairline()
        overview = QHBoxLayout()
        overview.setSpacing(0)
        self._beside_strip = QSpacerItem(0, 0)
        overview.addItem(self._beside_strip)
        overview.addWidget(self.overview_header)
        overview.addWidget(self.strip, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.capture_header)
        layout.addLayout(overview)
        layout.addWidget(self._below_strip)
        layout.addWidget(self.ruler)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.marks)

    def show_frames(self, *, are_shown: bool) -> None:
        """Show the frames, or only the ruler and the marks that lanes below have, too."""
        self.has_frames = are_shown
        for part in (self.strip, self._below_strip, self.plot):
            part.setVisible(are_shown)
        policy = QSizePolicy.Policy.Preferred if are_shown else QSizePolicy.Policy.Fixed
        self.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self.view.margins_changed.emit()

    def height_beside(self, lanes: int, room: int) -> int:
        """Return the height of this panel above lanes that would fill a given height.

        Frames take what the lanes leave, at most half of the height for both.

        Args:
            lanes: The height of all lanes.
            room: The height for both.
        """
        # Each part is asked: the layout may still have its sizes in a window of another height.
        parts = (
            *(self.capture_header, self.strip, self._below_strip),
            *(self.ruler, self.plot, self.marks),
        )
        least = sum(
            max(each.minimumSizeHint().height(), each.minimumHeight())
            for each in parts
            if not each.isHidden()
        )
        if not self.has_frames:
            return least
        around = least - self.plot.minimumSizeHint().height()
        return max(min(room - lanes, around + (room - around) // 2), least)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # A layout keeps sizes from when the window had another height.
        for part in (self.plot, self.marks):
            part.updateGeometry()
        self._place_headers()

    @Slot()
    def _place_headers(self) -> None:
        left, has_headers = self.plot.header_width, self.view.has_headers
        self.capture_header.setVisible(not has_headers)
        self.header.setVisible(has_headers)
        self.overview_header.setVisible(has_headers and self.has_frames)
        self._beside_strip.changeSize(0 if has_headers else left, 0)
        self.overview_header.setFixedWidth(left)
        labels = self.fontMetrics().horizontalAdvance(_WIDEST_LABEL)
        self.header.setGeometry(0, 0, left - labels, self.plot.height())
        self._need_marks()
