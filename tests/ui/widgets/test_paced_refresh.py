"""The brake for text: not too often, never losing the last request, nothing while hidden."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.paced_refresh import PacedRefresh


class Counted:
    """A widget, its brake with a clock set by hand, and how often it was let through."""

    def __init__(self, qtbot: QtBot) -> None:
        self.widget = QWidget()
        qtbot.addWidget(self.widget)
        self.now = 10.0
        self.pace = PacedRefresh(self.widget, period_ms=50, clock=lambda: self.now)
        self.count = 0
        self.pace.due.connect(self._count_one)

    def _count_one(self) -> None:
        self.count += 1


@pytest.fixture
def counted(qtbot: QtBot) -> Counted:
    return Counted(qtbot)


def test_that_the_first_request_is_passed_on_at_once(counted: Counted) -> None:
    counted.widget.show()

    counted.pace.request()

    assert counted.count == 1


def test_that_one_request_a_period_is_passed_on(counted: Counted) -> None:
    counted.widget.show()
    for step in range(60):
        counted.now = 10 + step / 60
        counted.pace.request("anything")

    assert counted.count == 20


def test_that_the_last_request_is_never_lost(counted: Counted, qtbot: QtBot) -> None:
    counted.widget.show()
    counted.pace.request()
    counted.pace.request()

    with qtbot.waitSignal(counted.pace.due):
        pass

    assert counted.count == 2
    assert not counted.pace.is_waiting


def test_that_widgets_asked_together_are_refreshed_together(qtbot: QtBot) -> None:
    early, late = Counted(qtbot), Counted(qtbot)
    early.widget.show()
    late.widget.show()
    early.pace.request()
    for counted in (early, late):
        counted.now = 10.04
        counted.pace.request()
    assert (early.count, late.count) == (1, 1)

    for counted in (early, late):
        counted.now = 10.051
        counted.pace.request()

    assert (early.count, late.count) == (2, 2)


def test_that_a_hidden_widget_is_refreshed_when_it_is_shown(counted: Counted, qtbot: QtBot) -> None:
    counted.pace.request()
    assert counted.count == 0

    with qtbot.waitSignal(counted.pace.due):
        counted.widget.show()

    assert counted.count == 1


def test_that_nothing_runs_without_requests(counted: Counted) -> None:
    counted.widget.show()
    counted.pace.request()

    assert not counted.pace._last_chance.isActive()
