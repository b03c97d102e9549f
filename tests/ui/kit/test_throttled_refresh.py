"""The brake: not too often, never losing the last request, nothing while out of sight."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from ui.kit import throttled_refresh
from ui.kit.throttled_refresh import ThrottledRefresh
from ui.session.refresh_timer import RefreshTimer


class Hands:
    """A timer whose clock is set by hand."""

    def __init__(self) -> None:
        self.now_ns = 10 * NS_PER_SECOND
        self.timer = RefreshTimer(clock=lambda: self.now_ns, processor_clock=lambda: 0)


class Counted:
    """A widget, its brake, and how often it was let through."""

    def __init__(self, qtbot: QtBot, hands: Hands) -> None:
        self.widget = QWidget()
        qtbot.addWidget(self.widget)
        self.hands = hands
        self.timer = ThrottledRefresh(self.widget, hands.timer, self._count_one, least_ms=50)
        self.count = 0

    def _count_one(self) -> None:
        self.count += 1

    def ask(self) -> None:
        """Ask for a refresh, and let everybody have a turn."""
        self.timer.request("anything")
        QCoreApplication.processEvents()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def counted(qtbot: QtBot, hands: Hands) -> Counted:
    return Counted(qtbot, hands)


def test_that_the_first_request_is_passed_on_in_the_next_turn(counted: Counted) -> None:
    counted.widget.show()

    counted.timer.request()
    assert counted.count == 0
    QCoreApplication.processEvents()

    assert counted.count == 1


def test_that_one_request_a_period_is_passed_on(counted: Counted, hands: Hands) -> None:
    counted.widget.show()
    for step in range(60):
        hands.now_ns = 10 * NS_PER_SECOND + step * NS_PER_SECOND // 60
        counted.ask()

    assert counted.count == 20


def test_that_text_is_refreshed_five_to_ten_times_a_second(qtbot: QtBot, hands: Hands) -> None:
    counted = Counted(qtbot, hands)
    counted.timer = ThrottledRefresh(counted.widget, hands.timer, counted._count_one)
    counted.widget.show()
    for step in range(60):
        hands.now_ns = 10 * NS_PER_SECOND + step * NS_PER_SECOND // 60
        counted.ask()

    assert 5 <= counted.count <= 10


def test_that_periods_grow_while_the_window_gives_way(counted: Counted, hands: Hands) -> None:
    counted.widget.show()
    hands.timer.slowing.factor = 2.0
    for step in range(60):
        hands.now_ns = 10 * NS_PER_SECOND + step * NS_PER_SECOND // 60
        counted.ask()

    assert counted.count == 10


def test_that_the_last_request_is_never_lost(counted: Counted, qtbot: QtBot) -> None:
    counted.widget.show()
    counted.ask()
    counted.ask()
    assert counted.count == 1

    with qtbot.waitSignal(counted.timer.due):
        pass

    assert counted.count == 2
    assert not counted.timer.is_waiting


def test_that_widgets_asked_together_are_refreshed_together(qtbot: QtBot, hands: Hands) -> None:
    early, late = Counted(qtbot, hands), Counted(qtbot, hands)
    early.widget.show()
    late.widget.show()
    early.ask()
    hands.now_ns += 40 * NS_PER_MS
    early.ask()
    late.ask()
    assert (early.count, late.count) == (1, 1)

    hands.now_ns += 11 * NS_PER_MS
    early.ask()
    late.ask()

    assert (early.count, late.count) == (2, 2)


def test_that_a_turn_that_comes_in_the_next_period_does_not_part_those_asked_together(
    qtbot: QtBot, hands: Hands
) -> None:
    first, second = Counted(qtbot, hands), Counted(qtbot, hands)
    for each in (first, second):
        each.widget.show()
        each.timer.follow()
    hands.timer.phase = SessionPhase.RUNNING
    hands.now_ns += 49 * NS_PER_MS

    hands.timer.begin_turn()
    first.timer.request()
    hands.now_ns += 2 * NS_PER_MS
    hands.timer.ask_followers()
    hands.timer.end_turn(has_news=True)
    QCoreApplication.processEvents()
    hands.now_ns += 30 * NS_PER_MS
    hands.timer.ask_followers()
    QCoreApplication.processEvents()

    assert (first.count, second.count) == (2, 2)


def test_that_a_hidden_widget_is_refreshed_when_it_is_shown(counted: Counted, qtbot: QtBot) -> None:
    counted.ask()
    assert counted.count == 0

    with qtbot.waitSignal(counted.timer.due):
        counted.widget.show()

    assert counted.count == 1


def test_that_what_lies_behind_another_tab_is_refreshed_when_it_comes_to_the_front(
    qtbot: QtBot, hands: Hands
) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    counted = Counted(qtbot, hands)
    docks = [QDockWidget("behind", window), QDockWidget("in front", window)]
    for dock, widget in zip(docks, (counted.widget, QLabel("in front")), strict=True):
        dock.setWidget(widget)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.tabifyDockWidget(*docks)
    window.show()
    docks[1].raise_()
    QCoreApplication.processEvents()
    counted.count = 0
    hands.now_ns += 100 * NS_PER_MS

    counted.ask()
    assert counted.count == 0
    docks[0].raise_()

    qtbot.waitUntil(lambda: counted.count == 1)


def test_that_what_its_children_cover_is_refreshed_once_there_is_room_for_it(
    qtbot: QtBot, hands: Hands
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    counted = Counted(qtbot, hands)
    counted.widget.setParent(window)
    cover = QWidget(counted.widget)
    cover.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
    cover.setAutoFillBackground(True)
    window.resize(200, 100)
    counted.widget.setGeometry(0, 100, 200, 100)
    cover.setGeometry(0, 0, 200, 100)
    window.show()
    counted.ask()
    assert counted.count == 0

    window.resize(200, 200)
    QCoreApplication.processEvents()
    hands.now_ns += NS_PER_SECOND
    counted.ask()

    assert counted.count == 1


def test_that_what_is_refreshed_often_is_looked_for_now_and_then(
    counted: Counted, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[QWidget] = []
    is_in_sight = throttled_refresh.is_in_sight

    def look(widget: QWidget) -> bool:
        looks.append(widget)
        return is_in_sight(widget)

    monkeypatch.setattr(throttled_refresh, "is_in_sight", look)
    counted.widget.show()

    for _ in range(40):
        counted.ask()
        hands.now_ns += 50 * NS_PER_MS

    assert counted.count == 40
    assert len(looks) == 2


def test_that_a_paint_does_not_release_the_brake(counted: Counted) -> None:
    counted.widget.show()
    counted.ask()
    counted.timer.request()

    counted.widget.repaint()
    QCoreApplication.processEvents()

    assert counted.count == 1


def test_that_nothing_runs_without_requests(counted: Counted) -> None:
    counted.widget.show()
    counted.ask()

    assert not counted.timer._last_chance.isActive()


def test_that_a_follower_whose_period_is_not_over_waits_for_the_next_refresh(
    counted: Counted, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[object] = []
    request = ThrottledRefresh.request

    def note(timer: ThrottledRefresh) -> None:
        requests.append(timer)
        request(timer)

    monkeypatch.setattr(ThrottledRefresh, "request", note)
    counted.widget.show()
    counted.timer.follow()
    hands.timer.phase = SessionPhase.RUNNING
    for _ in range(10):
        hands.timer.ask_followers()
        QCoreApplication.processEvents()
        hands.now_ns += 10 * NS_PER_MS
    assert counted.count == len(requests) == 2

    # Nothing follows once it is held, so the last one is not lost.
    hands.timer.ask_followers()
    QCoreApplication.processEvents()
    hands.now_ns += NS_PER_MS
    hands.timer.ask_followers()
    assert counted.timer.is_waiting
    hands.timer.phase = SessionPhase.HELD
    hands.timer.end_turn(has_news=False)
    assert len(requests) == 4


def test_that_a_follower_that_is_gone_is_forgotten(counted: Counted, hands: Hands) -> None:
    counted.timer.follow()
    delete(counted.timer)

    hands.timer.ask_followers()
    hands.timer.ask_followers()

    assert counted.count == 0
