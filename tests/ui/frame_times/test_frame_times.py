"""The frame times panel: live, shared with other panels, and what export asks it for."""

from __future__ import annotations

import re
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QObject, QPoint
from PySide6.QtGui import QGuiApplication, QTextDocument
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.frame_statistics import FrameStatistics, frame_statistics
from inspector.events import Timeline
from inspector.formats.arrangement.frame_series import FrameSeries, XAxis
from inspector.sessions.captured import CapturedSession
from inspector.sessions.session import SessionPhase, SessionStatus
from tests.ui.frame_times.pixels import pixel_of_frame
from tests.ui.plotting.frames import MS, USUAL_NS, add_frame, timeline_of, usual_timeline
from tests.ui.world import PlayedSession
from ui.frame_times import frame_statistics as module
from ui.frame_times.frame_statistics import PacedStatistics, StatisticsWanted
from ui.frame_times.panel import FrameTimesPanel
from ui.kit.theme import ColorRole, Theme
from ui.session.bridge import Selection, SessionBridge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ui.frame_times.frame_statistics import FoundStatistics


class FramesSession(PlayedSession):
    """A session that has the frames of a given timeline."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self.timeline = timeline

    def fold(self) -> int:
        return 0


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge) -> FrameTimesPanel:
    panel = FrameTimesPanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(1_200, 400)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def show(bridge: SessionBridge, timeline: Timeline) -> Timeline:
    bridge.set_session(FramesSession(timeline))
    return timeline


def statistics(panel: FrameTimesPanel) -> str:
    """Return all statistics, including those that do not fit the line."""
    text: str = panel.plot.accessibleDescription()
    return text


def test_that_frames_are_shown_as_they_end(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    panel.choose_axis(XAxis.FRAME)
    session = PlayedSession()
    bridge.set_session(session)
    for _ in range(3):
        session.run_frame()

    bridge.refresh_now()

    qtbot.waitUntil(lambda: panel.visible_range() == (0, 3))


def test_that_it_is_said_how_to_run_only_where_nothing_runs(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    overlay = panel.plot._overlay
    assert overlay.empty_text == "No frame has run yet. Space runs the scene."

    session.status = SessionStatus(SessionPhase.RUNNING, "Running.")
    bridge.refresh_now()

    assert overlay.empty_text == "No frame has run yet."


def test_that_a_hidden_panel_does_nothing_and_catches_up(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    timeline = show(bridge, usual_timeline(1_000))
    panel.hide()
    drawn = panel.plot._bars.picture.columns_drawn
    add_frame(timeline.frames)

    bridge.refresh_now()
    QCoreApplication.processEvents()
    assert panel.visible_range() == (700, 1_000)
    assert panel.plot._bars.picture.columns_drawn == drawn

    panel.show()
    qtbot.waitUntil(lambda: panel.visible_range() == (701, 1_001))


def test_that_statistics_are_of_the_frames_in_view(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, timeline_of([USUAL_NS] * 997 + [20 * MS, 40 * MS, 100 * MS]))
    panel.plot.view.fit()

    qtbot.waitUntil(lambda: statistics(panel).startswith("In view: 1,000 frames"))

    assert statistics(panel) == (
        "In view: 1,000 frames  ·  (0–999)  ·  mean 16.8 ms (59.6 fps)  ·  median 16.7 ms"
        "  ·  P95 16.7 ms  ·  P99 16.7 ms  ·  P99.9 40.0 ms  ·  max 100 ms"
        "  ·  3 over budget (19.2 ms)  ·  0.3 %, 8 missed"
    )


def test_that_a_mean_rate_has_as_many_digits_as_matter(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, timeline_of([8 * MS] * 40 + [9 * MS] * 10))
    panel.plot.view.fit()

    qtbot.waitUntil(lambda: "mean 8.20 ms" in statistics(panel))

    assert "mean 8.20 ms (122 fps)" in statistics(panel)


def test_that_statistics_are_of_the_first_frames_before_the_view_moves(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    panel.view.make_room_for_lanes(are_shown=True)
    timeline = show(bridge, usual_timeline(10))
    qtbot.waitUntil(lambda: statistics(panel).startswith("In view: 10 frames"))
    place = panel.view.range.low, panel.view.range.high

    add_frame(timeline.frames)
    bridge.refresh_now()

    qtbot.waitUntil(lambda: statistics(panel).startswith("In view: 11 frames"))
    assert (panel.view.range.low, panel.view.range.high) == place


def test_that_statistics_are_of_the_chosen_frames_if_there_are_any(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, usual_timeline(1_000))
    assert panel.selected_range() is None

    panel.plot.view.choose_frames((800, 810))

    qtbot.waitUntil(lambda: statistics(panel).startswith("Selected: 10 frames  ·  (800–809)"))
    assert panel.selected_range() == (800, 810)
    assert panel.visible_range() == (700, 1_000)


def test_that_the_headers_have_the_numbers_in_view_and_of_the_session(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, timeline_of([100 * MS] + [USUAL_NS] * 500 + [40 * MS] + [USUAL_NS] * 98))
    header, overview = panel.header, panel.overview_header

    qtbot.waitUntil(lambda: header.over.text().startswith("1 of "))

    assert (header.title.text(), header.p50.text(), header.p99.text()) == (
        *("Frames", "16.7 ms", "16.7 ms"),
    )
    assert header.longest.text() == "40.0 ms"
    assert (overview.p99.text(), overview.longest.text(), overview.over.text()) == (
        *("P99 16.7 ms", "max 100", "2 over"),
    )
    assert header.menu_button.text() == "60 fps budget"


def test_that_the_numbers_of_the_session_have_room_in_a_narrow_header(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, timeline_of([303 * MS] + [USUAL_NS] * 500 + [40 * MS] * 269))
    overview = panel.overview_header
    qtbot.waitUntil(lambda: overview.over.text() == "270 over")

    panel.view.leave_room(left=224)
    QCoreApplication.processEvents()

    for part in (overview.p99, overview.longest, overview.over):
        assert part.width() >= part.sizeHint().width()


def test_that_links_go_to_the_longest_frame_and_from_one_over_budget_to_the_next(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, timeline_of([100 * MS] + [USUAL_NS] * 500 + [40 * MS] + [USUAL_NS] * 98))
    qtbot.waitUntil(lambda: panel.header.over.text().startswith("1 of "))

    panel.header.longest.click()
    assert bridge.selection == Selection.frame(501)
    panel.overview_header.longest.click()
    assert bridge.selection == Selection.frame(0)
    start, stop = panel.visible_range()
    assert start <= 0 < stop

    chosen = [0, 501, 0]
    for frame in chosen[1:]:
        panel.overview_header.over.click()
        assert bridge.selection == Selection.frame(frame)


def test_that_keys_go_to_frames_over_budget_and_over_twice(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    frames = [USUAL_NS] * 10
    frames[2], frames[5], frames[8] = 25 * MS, 90 * MS, 25 * MS
    show(bridge, timeline_of(frames))
    keys = {action.shortcut().toString(): action for action in panel.actions()}
    found = []

    for key in ("J", "J", "J", "J", "K", "Shift+J", "Shift+K"):
        keys[key].trigger()
        found.append(bridge.selection.id)

    assert found == [2, 5, 8, 2, 8, 5, 5]


def test_that_a_frame_gone_to_stays_in_view_while_others_come(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, usual_timeline(900))
    view = panel.view

    panel.plot.go_to(899)

    assert not view.is_following
    view.slide_ms = 20
    assert 0 not in range(*view.visible_frames())
    panel.plot.go_to(0)
    qtbot.waitUntil(lambda: 0 in range(*view.visible_frames()))


def test_that_keys_pass_frames_that_only_the_inspector_made_late(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    timeline = usual_timeline(0)
    for interval_ms, inspector_ms in ((16, 0), (25, 12), (16, 0), (25, 2)):
        add_frame(timeline.frames, interval_ms * MS, inspector_ns=inspector_ms * MS)
    show(bridge, timeline)

    panel.plot.go_to_long(1)

    assert bridge.selection == Selection.frame(3)


def test_that_the_legend_is_where_there_is_room_for_it_else_in_the_tool_tip(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, usual_timeline(300))
    header = panel.header
    qtbot.waitUntil(lambda: header.p50.text() != "")
    words = ["in budget", "over, by 15 % or more", "over twice", "the inspector’s own share"]

    assert header.legend.isVisible()
    assert [text for _, text in header.legend.entries] == words

    panel.resize(1_200, 180)
    assert not header.legend.isVisible()
    tip = QTextDocument()
    tip.setHtml(header.toolTip())
    assert all(word in tip.toPlainText() for word in words)
    # Words without the colours that they are about say nothing.
    squares = re.findall("background-color: (#[0-9a-f]{6})", header.toolTip())
    assert len(set(squares)) == len(words)


def test_that_words_of_the_legend_go_on_below_where_it_is_narrow(panel: FrameTimesPanel) -> None:
    legend = panel.header.legend
    legend.resize(600, legend.height())
    of_four_lines = legend.height()

    legend.resize(110, legend.height())

    assert legend.height() > of_four_lines


def test_that_busy_time_is_not_given_as_a_rate(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, usual_timeline(300))

    panel.choose_measure("busy")

    qtbot.waitUntil(lambda: "mean 4.00 ms  ·" in statistics(panel))
    assert panel.measure == "busy"


def test_that_the_selected_frame_is_the_same_in_all_panels(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(300))

    panel.plot.frame_clicked.emit(42)
    assert bridge.selection == Selection.frame(42)

    bridge.select(Selection.frame(7))
    assert panel.plot._selected_frame == 7
    bridge.select(Selection.clock(1))
    assert panel.plot._selected_frame is None


def test_that_the_instant_pointed_at_is_the_same_in_all_panels(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    timeline = show(bridge, usual_timeline(300))

    hovered: list[int | None] = []
    bridge.hover_changed.connect(hovered.append)

    panel.plot.point_at(pixel_of_frame(panel.plot, 42))
    panel.plot.point_at(None)
    assert hovered == [timeline.frames.at_ns[42], None]

    bridge.set_hover(timeline.frames.at_ns[9] + 1)
    assert panel.view.hover == pytest.approx(timeline.frames.at_ns[9] / 1e9)


def test_that_following_is_the_same_in_all_panels(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(5_000))

    def standings() -> list[bool]:
        return [panel.plot.view.is_following, bridge.is_following, panel.follow_action.isChecked()]

    assert standings() == [True] * 3
    panel.plot.view.pan(-0.5)
    assert standings() == [False] * 3
    bridge.set_following(True)
    assert standings() == [True] * 3
    panel.follow_action.trigger()
    assert standings() == [False] * 3


def test_that_the_brush_of_the_overview_moves_the_plot(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(5_000))
    panel.choose_axis(XAxis.FRAME)

    assert panel.strip.accessibleDescription() == "Follows the present"
    panel.strip.range_brushed.emit(999.5, 1_999.5)

    assert panel.visible_range() == (1_000, 2_000)
    assert panel.strip._visible == (999.5, 1_999.5)
    assert panel.strip.accessibleDescription() == "In view: 0:16.667 to 0:33.341"


def test_that_a_view_that_follows_is_described_once(
    panel: FrameTimesPanel, bridge: SessionBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(bridge, usual_timeline(5_000))
    described: list[str] = []
    monkeypatch.setattr(panel.strip, "setAccessibleDescription", described.append)
    for _ in range(3):
        panel._refresh_strip()
    assert described == []


def test_that_budgets_are_those_of_the_bridge(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    def budgets_us() -> list[int]:
        return [budget_ns // 1_000 for budget_ns in panel.plot.budgets_ns]

    assert budgets_us() == [16_666, 8_333, 33_333]
    bridge.set_budgets_ms((12.5,))
    assert budgets_us() == [12_500]
    bridge.set_budgets_ms(())
    panel.grab()
    assert budgets_us() == []


def test_that_the_axis_and_the_phases_are_chosen_by_the_toolbar(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(5_000))

    panel.choose_axis(XAxis.TIME)
    panel.stack_action.trigger()
    panel.grab()

    assert panel.plot.view.x_axis is XAxis.TIME
    assert panel.is_stacked


def test_that_the_menu_chooses_the_frames_in_view(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(5_000))
    panel.plot.menu_requested.emit(panel.mapToGlobal(QPoint(100, 100)))
    (menu,) = (menu for menu in panel.findChildren(QMenu) if menu.isVisible())
    choose = next(a for a in menu.actions() if a.text().startswith("Select the frames"))

    choose.trigger()
    menu.close()

    assert panel.selected_range() == panel.visible_range()
    assert panel.visible_range()[1] == 5_000


def test_that_a_session_that_ends_leaves_an_empty_plot(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(5_000))

    bridge.set_session(None)
    panel.grab()

    assert panel.visible_range() == (0, 0)
    assert statistics(panel) == ""
    assert panel.selected_range() is None


def test_that_another_theme_is_taken_up(qtbot: QtBot, bridge: SessionBridge) -> None:
    theme = Theme("light")
    panel = FrameTimesPanel(bridge, theme)
    qtbot.addWidget(panel)
    panel.resize(900, 300)
    show(bridge, usual_timeline(500))
    light = panel.plot.grab().toImage().pixelColor(450, 20).lightness()

    theme.set_choice("dark")

    assert light > 200 > panel.plot.grab().toImage().pixelColor(450, 20).lightness()


def test_that_everything_in_the_panel_has_a_name_for_screen_readers(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, usual_timeline(300))
    qtbot.waitUntil(lambda: bool(panel.plot.accessibleDescription()))

    assert panel.plot.accessibleName() == "Frames"
    assert panel.strip.accessibleName()
    assert "frames" in panel.plot.accessibleDescription()


def test_that_frames_that_only_the_inspector_made_late_are_left_out_on_request(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    timeline = Timeline([""])
    for number in range(20):
        is_late, is_by_inspector = number in {5, 6, 7}, number in {5, 6}
        interval_ns = 40 * MS if is_late else USUAL_NS
        add_frame(timeline.frames, interval_ns, inspector_ns=30 * MS * is_by_inspector)
    timeline.set_present(timeline.frames.at_ns[-1])
    bridge.set_budgets_ms((1000 / 60,))
    show(bridge, timeline)
    panel.fit()
    qtbot.waitUntil(lambda: "3 over" in statistics(panel))
    assert "2 over by the inspector's share alone" in statistics(panel)
    # As many as have the colour of what is late.
    assert panel.header.over.text() == "1 of 20"

    action = panel._budget_menu.left_out_action
    action.trigger()

    qtbot.waitUntil(lambda: "1 over" in statistics(panel))
    assert panel.header.over.text() == "1 of 18"
    assert "18 frames" in statistics(panel)
    assert "2 left out (inspector)" in statistics(panel)
    other = FrameTimesPanel(bridge, Theme("light"))
    qtbot.addWidget(other)
    assert other._budget_menu.left_out_action.isChecked()
    bridge.set_budgets_ms((1000 / 60, 1000 / 30))
    assert action in panel._budget_menu.actions()
    action.trigger()
    qtbot.waitUntil(lambda: "2 over" in statistics(panel))


def test_that_the_plot_is_copied_as_it_looks(panel: FrameTimesPanel, bridge: SessionBridge) -> None:
    show(bridge, usual_timeline(200))
    panel.fit()
    image, _ = panel._copying

    image.trigger()

    copied = QGuiApplication.clipboard().image()
    plot = panel.plot
    assert (copied.width(), copied.height()) == (2 * plot.width(), 2 * plot.height())
    row = {copied.pixelColor(x, copied.height() * 4 // 5).name() for x in range(copied.width())}
    assert Theme("light").color(ColorRole.BAR).name() in row


def test_that_what_frames_are_called_is_not_cut_for_the_budget(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    show(bridge, usual_timeline(30))
    header = panel.header
    header.set_budget("60 fps budget", "")
    needed = header.title.sizeHint().width() + header.menu_button.sizeHint().width()
    header.resize(needed + 40, 300)
    assert header.menu_button.text() == "60 fps budget"

    header.set_title("Turns of a loop with a long name")

    assert not header.menu_button.text()
    assert header.menu_button.accessibleName() == "60 fps budget"
    header.resize(2 * needed + 400, 300)
    assert header.menu_button.text() == "60 fps budget"

    header.set_title("Frames")
    header.set_budget("usual frame 20.0 ms", "", "usual")
    assert header.menu_button.text() == "usual frame 20.0 ms"
    header.resize(needed, 300)
    assert header.menu_button.text() == "usual"


def test_that_frames_have_what_lanes_leave_and_at_most_half(panel: FrameTimesPanel) -> None:
    least = panel.minimumSizeHint().height()
    around = least - panel.plot.minimumSizeHint().height()

    def frames_beside(lanes: int, room: int) -> int:
        return panel.height_beside(lanes, room) - around

    assert frames_beside(552, 880 + around) == 328
    assert frames_beside(100, 880 + around) == 440
    assert frames_beside(5_000, 880 + around) == least - around
    assert least - around in {104, 128, 160}


def test_that_a_frame_that_only_the_inspector_made_long_is_not_said_to_be_over(
    panel: FrameTimesPanel, bridge: SessionBridge
) -> None:
    timeline = Timeline([""])
    for number in range(20):
        add_frame(
            timeline.frames,
            40 * MS if number == 5 else USUAL_NS,
            inspector_ns=30 * MS * (number == 5),
        )
    timeline.set_present(timeline.frames.at_ns[-1])
    show(bridge, timeline)
    panel.fit()

    panel.plot.point_at(pixel_of_frame(panel.plot, 5))

    readout = panel.plot.readout()
    assert readout is not None
    assert readout.lines[2][1] == "240 %, by the inspector"


def test_that_p99_of_the_session_is_left_out_rather_than_cut(
    panel: FrameTimesPanel, bridge: SessionBridge, qtbot: QtBot
) -> None:
    show(bridge, timeline_of([100 * MS] + [USUAL_NS] * 98))
    header = panel.overview_header
    qtbot.waitUntil(lambda: bool(header.p99.text()))
    header.setFixedWidth(400)
    assert header.p99.isVisible()

    header.setFixedWidth(140)

    assert not header.p99.isVisible()
    assert header.longest.isVisible()


def test_that_many_frames_are_sorted_beside_the_thread_of_the_window(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("MsBetweenPresents\n" + "10\n30\n" * 300_000)
    session = CapturedSession(path)
    while session.status.phase is SessionPhase.READING:
        session.refresh()
    series = FrameSeries(session.timeline.frames)
    threads: list[bool] = []

    def noted(times_ns: NDArray[np.int64], budgets_ns: tuple[int, ...]) -> FrameStatistics | None:
        threads.append(current_thread() is main_thread())
        return frame_statistics(times_ns, budgets_ns)

    monkeypatch.setattr(module, "frame_statistics", noted)
    owner = QObject()
    paced = PacedStatistics(owner)

    def found_of(frames: range) -> tuple[int, int]:
        wanted = StatisticsWanted(series, frames, "interval", (20 * MS,), is_chosen=False)
        with qtbot.waitSignal(paced.found) as waiting:
            paced.request(wanted)
        found = cast("FoundStatistics", waiting.args[0])
        assert found.statistics is not None
        return found.statistics.median_ns, found.over

    assert found_of(range(600_000)) == (10 * MS, 300_000)
    paced.forget()
    assert found_of(range(100)) == (10 * MS, 50)
    assert threads == [False, True]
