"""The reads of a refresh do not grow with the session: counted, not timed."""

from __future__ import annotations

import sys
from collections import Counter
from os import sep
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QSplitter, QWidget
from typing_extensions import override

import ui
from inspector.analysis.lanes.lanes import LaneStore
from inspector.commands.clocks import PauseClock
from inspector.formats.arrangement.frame_series import FrameColumns, FrameSeries
from inspector.timebase import NS_PER_SECOND
from tests.ui.crowded_session import CrowdedSession
from tests.ui.shell import Shell, open_shell
from tests.ui.used_window import Lend
from ui.clock_tree.panel import ClockTreeModel, ClockTreePanel
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.panel import FrameTimesPanel
from ui.kit.labels import set_growing_text
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.timeline import lane_forecasts, lane_surface
from ui.timeline.lane_canvas import LaneCanvas
from ui.timeline.panel import TimelinePanel
from ui.timer_queue import call_queue
from ui.timer_queue.model import QueueModel
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import WhyPanel

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from pytestqt.qtbot import QtBot

    from inspector.events.history import History
    from inspector.events.timeline import Timeline

_REFRESHES = 5
_WIDTH = 900
#: Frames, timers and clocks.
_FEW = (3_000, 120, 60)
_MANY = (100_000, 12_000, 3_000)
#: More means that somebody has to go through more files to understand what a refresh does.
_MOST_CHANGES = 92


class Meter:
    """Counts what a widget has made while it is refreshed and painted some times.

    Attributes:
        counts: How often each function was called; for columns, how many there were.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
        self.counts: Counter[str] = Counter()
        self._monkeypatch = monkeypatch
        self._qtbot = qtbot
        # The widgets of one size must live while those of the next are measured.
        self._kept: list[object] = []

    def count(
        self, owner: object, name: str, weight: Callable[[object], int] = lambda _found: 1
    ) -> None:
        """Count the calls of a function from now on."""
        original = getattr(owner, name)

        def counting(*arguments: object, **named: object) -> object:
            found = original(*arguments, **named)
            self.counts[name] += weight(found)
            return found

        self._monkeypatch.setattr(owner, name, counting)

    def show(self, widget: QWidget, *others: object) -> None:
        """Show a widget and have it painted."""
        self._kept += [widget, *others]
        self._qtbot.addWidget(widget)
        widget.resize(_WIDTH, 300)
        widget.show()
        QApplication.processEvents()

    def refresh(self, session: CrowdedSession, refresh: Callable[[], object]) -> Counter[str]:
        """Let some frames pass, each refreshed and painted; return what that has made."""
        QApplication.processEvents()
        self.counts.clear()
        session.is_going_on = True
        for _ in range(_REFRESHES):
            session.refresh()
            refresh()
            QApplication.processEvents()
        return Counter(self.counts)


class Paints(QObject):
    """Counts how often some widgets are painted, and have their layout run."""

    def __init__(self, **widgets: QWidget) -> None:
        super().__init__()
        self.paints: Counter[str] = Counter()
        self.layouts: Counter[str] = Counter()
        self._names = {widget: name for name, widget in widgets.items()}
        for widget in widgets.values():
            widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QWidget):
            if event.type() == QEvent.Type.Paint:
                self.paints[self._names[watched]] += 1
            elif event.type() == QEvent.Type.LayoutRequest:
                self.layouts[self._names[watched]] += 1
        return False


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Meter:
    return Meter(monkeypatch, qtbot)


def cost_of_queue(meter: Meter, size: tuple[int, int, int]) -> Counter[str]:
    session, bridge = CrowdedSession(*size), SessionBridge()
    bridge.set_session(session)
    panel = TimerQueuePanel(bridge, Theme("light"))
    meter.show(panel, bridge)
    return meter.refresh(session, panel.refresh)


def cost_of_tree(meter: Meter, size: tuple[int, int, int]) -> Counter[str]:
    session, bridge = CrowdedSession(*size), SessionBridge()
    bridge.set_session(session)
    panel = ClockTreePanel(bridge, Theme("light"))
    meter.show(panel, bridge)
    return meter.refresh(session, panel.refresh)


def cost_of_plot(meter: Meter, size: tuple[int, int, int]) -> Counter[str]:
    session = CrowdedSession(*size)
    plot = FramePlot(Theme("light"))
    meter.show(plot)
    plot.set_timeline(session.timeline)
    plot.view.fit()
    return meter.refresh(session, plot.refresh)


def test_timer_queue_formats_what_is_in_view_whatever_the_number_of_timers(meter: Meter) -> None:
    meter.count(QueueModel, "data")
    meter.count(call_queue, "call_of")
    few, many = cost_of_queue(meter, _FEW), cost_of_queue(meter, _MANY)
    assert few["call_of"] > 0
    assert many["call_of"] == few["call_of"]
    assert few["data"] == many["data"] == 0


def test_clock_tree_asks_for_what_is_in_view_whatever_the_number_of_clocks(meter: Meter) -> None:
    meter.count(ClockTreeModel, "data")
    meter.count(ClockTreeModel, "row_cells")
    few, many = cost_of_tree(meter, _FEW), cost_of_tree(meter, _MANY)
    assert few["row_cells"] > 0
    assert many["row_cells"] <= few["row_cells"]
    assert few["data"] == many["data"] == 0


def test_plot_draws_pixels_whatever_the_number_of_frames(meter: Meter) -> None:
    def count_of(found: object) -> int:
        assert isinstance(found, FrameColumns)
        return len(found)

    meter.count(FrameSeries, "columns", count_of)
    few, many = cost_of_plot(meter, _FEW), cost_of_plot(meter, _MANY)
    assert few["columns"] > 0
    assert many["columns"] <= few["columns"] <= _WIDTH * _REFRESHES


def test_that_new_frames_paint_the_plot_and_nothing_around_it(meter: Meter) -> None:
    session, bridge = CrowdedSession(*_FEW), SessionBridge()
    bridge.set_session(session)
    panel = FrameTimesPanel(bridge, Theme("light"))
    meter.show(panel, bridge)
    paints = Paints(panel=panel, plot=panel.plot, strip=panel.strip)

    meter.refresh(session, panel.refresh)

    # Statistics are labels on it; in the strip a frame is less than a pixel.
    assert _REFRESHES <= paints.paints["plot"] <= _REFRESHES + 1
    assert paints.paints["panel"] < _REFRESHES
    assert paints.paints["strip"] < _REFRESHES


@pytest.fixture
def settled_shell(lend: Lend) -> Shell:
    """A window whose panels have their sizes."""
    shell = lend()
    for _ in range(2 * _REFRESHES):
        shell.advance(1 / 60)
        QApplication.processEvents()
    return shell


def lanes_of(shell: Shell) -> LaneCanvas:
    panel = shell.window.panels.panel("timeline")
    assert isinstance(panel, TimelinePanel)
    return panel.canvas


def test_that_what_is_dragged_between_frames_and_lanes_is_not_painted_with_them(
    settled_shell: Shell,
) -> None:
    shell = settled_shell
    canvas, lanes = lanes_of(shell), shell.window.panels["timeline"]
    arrangement = lanes.parentWidget()
    assert isinstance(arrangement, QSplitter)
    handle = arrangement.handle(1)
    parts = Paints(handle=handle, lanes=canvas.viewport())

    for _ in range(_REFRESHES):
        shell.advance(2 / 60)
        canvas.refresh()
        QApplication.processEvents()

    assert parts.paints["lanes"] >= _REFRESHES
    assert parts.paints["handle"] == 0
    assert arrangement.childAt(handle.geometry().center()) is handle


def test_that_a_row_without_marks_is_painted_only_where_the_present_moves(
    settled_shell: Shell,
) -> None:
    shell = settled_shell
    panel = shell.window.frame_times
    parts = Paints(marks=panel.marks, ruler=panel.ruler)

    def go_on(refreshes: int) -> int:
        """Return how often the present came to another pixel."""
        moves = 0
        for _ in range(refreshes):
            former = panel.marks.line
            shell.advance(2 / 60)
            panel.refresh()
            QApplication.processEvents()
            moves += panel.marks.line != former
        return moves

    # Until the view follows.
    shell.pass_frames(300)
    go_on(2)
    parts.paints.clear()
    moves = go_on(4 * _REFRESHES)

    assert parts.paints["ruler"] == 4 * _REFRESHES
    assert parts.paints["marks"] == moves < 4 * _REFRESHES


def test_that_a_refresh_of_the_plot_takes_a_short_way_through_the_files(
    settled_shell: Shell,
) -> None:
    shell = settled_shell
    panel = shell.window.frame_times
    counts = []

    # Until the view follows.
    shell.pass_frames(320)
    for _ in range(60):
        shell.advance(2 / 60)
        counts.append(changes_of_file(panel.refresh))
        QApplication.processEvents()

    # In some the scale is chosen again, too.
    assert median(counts) <= _MOST_CHANGES


def changes_of_file(work: Callable[[], object]) -> int:
    """Return how often calls and returns within our packages lead to another file."""
    package, files = str(Path(ui.__file__).parents[1]), list[str]()
    ours = tuple(f"{package}{sep}{name}{sep}" for name in ("ui", "inspector"))

    def note(frame: FrameType, event: str, _argument: object) -> None:
        reached = frame.f_back if event == "return" else frame
        if event in {"call", "return"} and reached is not None:
            file = reached.f_code.co_filename
            if file.startswith(ours) and files[-1:] != [file]:
                files.append(file)

    former = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(former)
    return len(files) - 1


def test_that_texts_of_lanes_are_due_before_lanes_are_read(
    meter: Meter, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Reading may end the turn, and a paint follows: the texts are in it, not in one of their own.
    now_ns = NS_PER_SECOND
    session, bridge = CrowdedSession(*_FEW), SessionBridge(clock=lambda: now_ns)
    bridge.set_session(session)
    panel = TimelinePanel(bridge, Theme("light"))
    meter.show(panel, bridge)
    read, turns = LaneStore.read, list[int]()

    def note_turn(store: LaneStore, history: History, timeline: Timeline) -> int:
        turns.append(panel.canvas.text_turn)
        return read(store, history, timeline)

    monkeypatch.setattr(LaneStore, "read", note_turn)
    session.is_going_on = True
    for _ in range(_REFRESHES):
        former = panel.canvas.text_turn
        turns.clear()
        now_ns += NS_PER_SECOND
        bridge.refresh_now()
        QApplication.processEvents()
        assert turns[0] == former + 1

    # The next texts come with a refresh, as those of other panels do, and never in between.
    now_ns += NS_PER_SECOND // 10
    bridge.refresh_now()
    texts = panel._text_throttle
    assert texts.is_waiting
    assert not texts._last_chance.isActive()


def test_that_texts_of_lanes_wait_for_the_paint_of_what_is_new(meter: Meter) -> None:
    session, bridge = CrowdedSession(*_FEW), SessionBridge(clock=lambda: NS_PER_SECOND)
    bridge.set_session(session)
    panel = TimelinePanel(bridge, Theme("light"))
    meter.show(panel, bridge)
    paints = Paints(lanes=panel.canvas.viewport())
    panel._said = None
    panel._refresh_texts()
    QApplication.sendPostedEvents()
    assert paints.paints["lanes"] == 1

    panel._throttle.request()
    panel._said = None
    panel._refresh_texts()
    QApplication.sendPostedEvents()
    assert paints.paints["lanes"] == 1
    panel.refresh()
    QApplication.sendPostedEvents()

    assert paints.paints["lanes"] == 2


def test_that_headers_of_lanes_are_read_again_only_when_what_they_say_changes(
    settled_shell: Shell, meter: Meter
) -> None:
    shell = settled_shell
    canvas = lanes_of(shell)
    meter.count(lane_surface, "header_state")
    # While time runs, texts have their turn a few times a second only.
    canvas.picture.forget()
    canvas.grab()
    meter.counts.clear()

    canvas.picture.forget()
    canvas.grab()
    assert not meter.counts
    shell.bridge.submit(PauseClock(shell.clock_id("game")))
    shell.advance(1 / 60)
    canvas.grab()

    assert meter.counts["header_state"] >= len(canvas.rows.rows)


def test_that_only_timers_due_in_view_are_predicted(settled_shell: Shell, meter: Meter) -> None:
    shell = settled_shell
    canvas = lanes_of(shell)

    def weight(found: object) -> int:
        assert found, "nothing to be drawn"
        return 1

    meter.count(lane_forecasts, "next_fires", weight)
    canvas.picture.forget()
    canvas.grab()

    assert meter.counts["next_fires"]


def test_that_texts_that_change_lay_out_nothing_around_them(settled_shell: Shell) -> None:
    window = settled_shell.window
    transport = window.transport
    why = window.panels.panel("details")
    assert isinstance(why, WhyPanel)
    why.answer.set_text("Running. 9 timers are pending.")
    # Its place hears of it in the first turn, what is around that in the second.
    QApplication.processEvents()
    QApplication.processEvents()
    parts = Paints(transport=transport, plot=window.frame_times, why=why)

    for number in range(_REFRESHES):
        transport.time_button.set_text(f"00:12.34{number}")
        transport.fps_button.set_text(f"6{number % 10} fps")
        set_growing_text(window.frame_times.header.p50, f"16.{number} ms")
        why.answer.set_text(f"Running. 1{number} timers are pending.")
        QApplication.processEvents()

    assert not parts.layouts


def test_that_a_text_that_changes_paints_nothing_below_its_panel(settled_shell: Shell) -> None:
    window = settled_shell.window
    statistics = window.frame_times.header.p50
    queue, place = window.panels.panel("timer_queue"), window.panels["timer_queue"]
    parts = Paints(place=place, plots=window.frame_times, label=statistics)

    queue.update(0, 0, 20, 20)
    set_growing_text(statistics, "1.66 ms")
    QApplication.processEvents()

    assert set(parts.paints) == {"label"}


def test_that_a_window_that_closes_tells_no_panel_that_its_session_ends(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path)
    bridge = shell.bridge
    told: list[object] = []
    for signal in (bridge.session_changed, bridge.status_changed, bridge.selection_changed):
        signal.connect(told.append)

    shell.window.close()

    assert (bridge.session, told) == (None, [])
