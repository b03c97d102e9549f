"""The frame panel: its texts and its selection."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.frame_spans import FrameSpan, spans_of
from inspector.analysis.frame_sums import SLICE, FrameSums, SpanTotal
from inspector.events.log import BYTES_PER_EVENT
from inspector.sessions.captured import CapturedSession
from inspector.vocabulary import (
    FRAME_BEGAN,
    FRAME_ENDED,
    SAMPLE_TIMES,
    SAMPLED,
    STACK_FRAME,
    MemberKind,
    Phase,
    SampleForm,
)
from tests.sessions.test_captured import trace
from tests.ui.members_world import MS, MembersSession
from ui.frame_spans.panel import (
    NO_SESSION,
    NOTHING_RECORDED,
    NOTHING_YET,
    FrameSpanModel,
    FrameSpansPanel,
    SpanColumn,
)
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge


@pytest.fixture
def session() -> MembersSession:
    session = MembersSession()
    session.member(1, "scheduler", MemberKind.FRAME_CALLBACK)
    session.member(2, "boss", MemberKind.UPDATE)
    return session


@pytest.fixture
def panel(qtbot: QtBot, bridge: SessionBridge) -> FrameSpansPanel:
    panel = FrameSpansPanel(bridge, Theme("light"))
    qtbot.addWidget(panel)
    panel.resize(900, 340)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def run_frame(session: MembersSession, bridge: SessionBridge) -> int:
    index = session.frame_of((2, 100_000, 400_000), (2, 600_000, 300_000), (1, 0, 1_000_000))
    session.run_to_ms(session.tree.now_ns / MS + 16)
    bridge.refresh_now()
    return index


def texts(panel: FrameSpansPanel, column: SpanColumn) -> list[str]:
    model = panel.model
    return [model.index(row, column).data().strip() for row in range(model.rowCount())]


def click_span(qtbot: QtBot, panel: FrameSpansPanel, label: str) -> None:
    flame = panel.flame
    place = next(i for i, span in enumerate(flame.spans) if span.label == label)
    middle = flame.rect_of(place).center().toPoint()
    qtbot.mouseClick(flame, Qt.MouseButton.LeftButton, pos=middle)


def test_that_names_far_down_are_whole_where_other_columns_can_go(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    session.member(3, "an old fox that walks", MemberKind.UPDATE)
    bridge.set_session(session)
    session.frame_of((3, 100_000, 400_000), (1, 0, 1_000_000))
    session.run_to_ms(session.tree.now_ns / MS + 16)
    bridge.refresh_now()
    view, name = panel.view, "an old fox that walks"
    row = view.verticalHeader().defaultSectionSize()
    view.setFixedHeight(view.horizontalHeader().height() + row)
    panel.refresh()
    QApplication.processEvents()
    assert len(view.rows_in_view()) < panel.model.rowCount()
    view.setFixedHeight(20 * row)
    place = texts(panel, SpanColumn.WHO).index(name)
    view.setFixedWidth(2 * view.width_for(name))

    def painted() -> str:
        return view.shown_text(view.rows_in_view()[place][0].key, SpanColumn.WHO).strip()

    qtbot.waitUntil(lambda: painted() == name)
    assert view.isColumnHidden(SpanColumn.SHARE)
    assert not view.isColumnHidden(SpanColumn.TOOK)


def test_that_two_letters_of_a_name_are_not_written(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    flame = panel.flame
    span = next(each for each in flame.spans if each.label == "scheduler")
    room = flame.fontMetrics().horizontalAdvance

    assert flame.text_in(span, room("sc…") + 1) == ""
    assert flame.text_in(span, room("sche…") + 1) == "sche…"
    assert flame.text_in(span, room("scheduler") + 1) == "scheduler"


def test_that_larger_text_has_a_higher_flame(
    panel: FrameSpansPanel,
    bridge: SessionBridge,
    session: MembersSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(panel.flame, "minimumSizeHint", lambda: QSize(120, 400))
    font = panel.font()
    font.setPointSizeF(2 * font.pointSizeF())
    panel.setFont(font)
    panel.resize(1_200, 420)
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    QApplication.processEvents()

    viewport = panel.flame.parentWidget()
    assert viewport is not None
    assert viewport.height() >= 170


def test_that_in_the_smallest_window_the_table_is_beside_the_flame(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)

    panel.resize(680, 130)

    assert panel.splitter.orientation() is Qt.Orientation.Horizontal


def test_that_a_low_window_has_no_line_for_what_tool_tips_say(panel: FrameSpansPanel) -> None:
    assert panel.readout.isHidden()

    panel.resize(900, 700)
    assert not panel.readout.isHidden()


def test_that_without_a_scene_or_a_frame_it_says_so(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    assert panel.notice.text() == NO_SESSION
    bridge.set_session(session)
    assert panel.notice.text() == NOTHING_YET


def test_that_a_recording_without_frames_says_so(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    session.is_recorded = True

    bridge.set_session(session)

    assert panel.notice.text() == NOTHING_RECORDED


def test_that_the_newest_frame_is_shown_with_calls_added_up_by_who_made_them(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    assert texts(panel, SpanColumn.WHO) == ["update", "scheduler", "boss"]
    assert texts(panel, SpanColumn.CALLS) == ["", "1", "2"]
    assert texts(panel, SpanColumn.TOOK) == ["2.00 ms", "1.00 ms", "700 µs"]
    assert texts(panel, SpanColumn.SHARE) == ["12.5 %", "6.2 %", "4.4 %"]
    assert "Frame 0" in panel.title.text()


def test_that_choosing_a_span_selects_its_member_and_keeps_the_frame(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    first = run_frame(session, bridge)
    panel.refresh()
    click_span(qtbot, panel, "boss")
    assert bridge.selection == Selection.member(2)
    run_frame(session, bridge)
    panel.refresh()
    assert panel.frame == first
    assert not panel.newest_button.isChecked()
    panel.newest_button.click()
    assert panel.frame == first + 1


def test_that_a_selected_frame_is_shown_until_another_is(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    for _ in range(3):
        run_frame(session, bridge)
    bridge.select(Selection.frame(1))
    assert panel.frame == 1
    bridge.select(Selection.member(2))
    assert panel.frame == 1
    panel.next_button.click()
    assert bridge.selection == Selection.frame(2)


def test_that_a_frame_that_has_not_ended_is_said_to_be_so(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    bridge.select(Selection.frame(7))
    assert panel.notice.text() == "Frame 7 has not ended yet."


def test_that_calls_that_fell_off_the_log_are_said_to_be_gone(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    for _ in range(30):
        run_frame(session, bridge)
    session.log.budget_bytes = BYTES_PER_EVENT * 40
    session.log.settle()
    bridge.select(Selection.frame(2))
    assert texts(panel, SpanColumn.WHO) == ["update"]
    assert "no longer in the log" in panel.title.text()


def test_that_keys_go_from_span_to_span_and_say_what_they_reach(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    flame = panel.flame
    for key, label in (
        (Qt.Key.Key_Right, "update"),
        (Qt.Key.Key_Down, "scheduler"),
        (Qt.Key.Key_Down, "boss"),
        (Qt.Key.Key_Up, "scheduler"),
    ):
        qtbot.keyClick(flame, key)
        assert flame.current is not None
        assert flame.current.label == label
    assert "took 1.00 ms" in flame.accessibleDescription()


def test_that_a_double_click_on_a_span_zooms_in_and_beside_all_shows_everything(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    flame = panel.flame
    place = next(i for i, span in enumerate(flame.spans) if span.label == "boss")
    span, button = flame.spans[place], Qt.MouseButton.LeftButton

    qtbot.mouseDClick(flame, button, pos=flame.rect_of(place).center().toPoint())
    assert (flame.view.range.low, flame.view.range.high) == (span.began_ns, span.end_ns)

    qtbot.mouseDClick(flame, button, pos=flame.rect().bottomLeft())
    assert flame.view.range.high - flame.view.range.low > span.end_ns - span.began_ns


def test_that_a_frame_stays_in_view_however_far_it_is_zoomed_and_moved(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    flame = panel.flame

    for key in (*[Qt.Key.Key_D] * 300, *[Qt.Key.Key_W] * 60):
        qtbot.keyClick(flame, key)
    # What painting cannot do fails the test.
    flame.grab()

    end = max(flame.rect_of(place).right() for place in range(len(flame.spans)))
    begin = min(flame.rect_of(place).left() for place in range(len(flame.spans)))
    assert begin <= flame.width()
    assert end >= 0


def test_that_totals_of_several_frames_can_be_shown(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    for _ in range(3):
        run_frame(session, bridge)
    panel.range_box.setCurrentIndex(1)
    assert texts(panel, SpanColumn.CALLS) == ["", "3", "6"]
    assert texts(panel, SpanColumn.TOOK) == ["6.00 ms", "3.00 ms", "2.10 ms"]


def test_that_hovering_reads_exact_values(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    panel.refresh()
    flame = panel.flame
    qtbot.mouseMove(flame, flame.rect_of(1).center().toPoint() + QPoint(1, 0))
    assert "1,000,000 ns" in panel.readout.text()


def test_that_at_the_playhead_the_frame_that_ran_then_is_shown(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    for _ in range(5):
        run_frame(session, bridge)
    bridge.set_playhead(35 * MS)
    qtbot.waitUntil(lambda: "Frame 2" in panel.title.text())
    bridge.go_live()
    qtbot.waitUntil(lambda: "Frame 4" in panel.title.text())


def test_that_a_frame_of_any_number_of_calls_is_added_up_in_slices(
    qtbot: QtBot,
    panel: FrameSpansPanel,
    bridge: SessionBridge,
    session: MembersSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bridge.set_session(session)
    run_frame(session, bridge)
    many = 5 * SLICE
    index = session.frame_of(*[(2, 100 * place, 50) for place in range(many)])
    session.run_to_ms(session.tree.now_ns / MS + 16)
    turns: list[int] = []
    read_on = FrameSums.read_on

    def count(self: FrameSums) -> None:
        read_on(self)
        turns.append(self.touched)

    monkeypatch.setattr(FrameSums, "read_on", count)
    bridge.refresh_now()

    qtbot.waitUntil(lambda: f"{many:,}" in texts(panel, SpanColumn.CALLS))

    assert f"Frame {index} " in panel.title.text()
    assert "too many calls to draw" in panel.title.text()
    assert [span.label for span in panel.flame.spans] == ["update"]
    assert max(turns) <= SLICE
    assert len(turns) > 5


def test_that_the_number_of_those_that_are_not_listed_is_told(panel: FrameSpansPanel) -> None:
    phase = SpanTotal(0, 0, "update", "phase", Phase.UPDATE, 1, 0, 0)

    panel.model.set_totals([phase], 1_000, 7)

    assert panel.model.unlisted_count == 7


def test_that_what_took_longer_than_the_whole_has_no_share(panel: FrameSpansPanel) -> None:
    half, twice = (
        SpanTotal(0, 0, "update", "phase", Phase.UPDATE, 1, took, took) for took in (500, 2_000)
    )

    panel.model.set_totals([half, twice], 1_000)

    assert texts(panel, SpanColumn.SHARE) == ["50.0 %", "–"]


def test_that_the_threads_of_a_trace_are_rows_with_their_slices(tmp_path: Path) -> None:
    captured = CapturedSession(trace(tmp_path), stream="frame")
    model = FrameSpanModel(Theme("light"))
    model.set_spans(spans_of(captured.history, captured.timeline, 3), 16 * MS)

    shown = [
        (model.index(row, SpanColumn.WHO).data(), model.index(row, SpanColumn.TOOK).data())
        for row in range(model.rowCount())
    ]
    indent = "    "
    assert shown == [
        ("thread 1", "10.0 ms"),
        (f"{2 * indent}frame", "10.0 ms"),
        (f"{3 * indent}update", "4.00 ms"),
        (f"{4 * indent}timers", "1.00 ms"),
        ("thread 2", "12.0 ms"),
        (f"{2 * indent}load", "12.0 ms"),
    ]
    assert not model.index(1, SpanColumn.PHASE).data()


def test_that_a_frame_without_calls_is_said_to_be_so_once(
    panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    blank = panel.flame.grab().toImage()
    session.log.append((session.tree.now_ns, FRAME_BEGAN, 1, 0, 16 * MS))
    session.log.append((session.tree.now_ns, FRAME_ENDED, 1, 16 * MS, 0))
    session.frames_run += 1
    session.run_to_ms(16)
    bridge.refresh_now()
    panel.refresh()

    assert panel.flame.accessibleDescription() == "Nothing was called in this frame."
    assert panel.notice.text() == ""
    assert panel.flame.grab(QRect(QPoint(), blank.size())).toImage() != blank

    run_frame(session, bridge)
    panel.refresh()
    assert panel.flame.accessibleDescription() == ""


def test_that_a_long_frame_shows_the_functions_that_samples_saw(
    qtbot: QtBot, panel: FrameSpansPanel, bridge: SessionBridge, session: MembersSession
) -> None:
    bridge.set_session(session)
    log, text = session.log, session.log.intern
    at_ns = session.tree.now_ns
    log.append((at_ns, FRAME_BEGAN, 1, 0, 0))
    for number in range(3):
        at_ns += 10 * MS
        for place, site in enumerate(("/srv/game.py:3 in step", "/srv/game.py:9 in find_path")):
            log.append((at_ns, STACK_FRAME, session.root.id, place, text(site)))
        log.append((at_ns, SAMPLE_TIMES, session.root.id, 10 * MS, 0))
        form = SampleForm(0, number, 2, 0).packed
        log.append((at_ns, SAMPLED, session.root.id, 10 * MS, form))
    log.append((at_ns, FRAME_ENDED, 1, 30 * MS, 30 * MS))
    bridge.refresh_now()
    panel.refresh()

    labels = [span.label for span in panel.flame.spans]
    assert labels == ["step() (game.py:3)", "find_path() (game.py:9)"]
    assert "Stacks: 3 samples." in panel.title.text()
    click_span(qtbot, panel, "find_path() (game.py:9)")
    assert panel.readout.text() == (
        "find_path() (game.py:9)   seen in 3 of 3 samples, for 30.0 ms   had most of the frame   "
        "/srv/game.py:9"
    )
    menus: list[FrameSpan] = []
    panel.flame.menu_requested.connect(lambda span, _place: menus.append(span))
    panel.flame.menu_requested.disconnect(panel._open_menu)
    middle = panel.flame.rect_of(1).center().toPoint()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, middle, QPoint())
    QApplication.sendEvent(panel.flame, event)
    assert [span.label for span in menus] == ["find_path() (game.py:9)"]
