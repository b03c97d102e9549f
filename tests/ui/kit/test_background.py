"""Work beside the window's thread: its result arrives there, unless something else is wanted."""

from __future__ import annotations

import subprocess
from threading import Event, current_thread, main_thread
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from inspector.errors import CaptureError
from tests.forked.python import WINDOW, python_with
from ui.kit.background import Background, Cancelled

if TYPE_CHECKING:
    from ui.kit.background import Report


@pytest.fixture
def background(qapp: QCoreApplication) -> Background:
    assert qapp is not None
    return Background(expected=CaptureError)


def test_that_the_result_arrives_in_the_thread_of_the_window(
    qtbot: QtBot, background: Background
) -> None:
    threads = []
    background.done.connect(lambda _found: threads.append(current_thread()))

    with qtbot.waitSignal(background.done) as arrived:
        background.start(lambda _report: current_thread() is main_thread())

    assert arrived.args == [False]
    assert threads == [main_thread()]
    assert not background.is_running


def test_that_what_is_started_later_replaces_what_is_being_done(background: Background) -> None:
    begun, go_on = Event(), Event()
    found: list[object] = []
    background.done.connect(found.append)

    def slow(_report: Report) -> str:
        begun.set()
        go_on.wait(10)
        return "former"

    background.start(slow)
    begun.wait(10)
    background.start(lambda _report: "newer")
    background.wait()
    go_on.set()
    background.wait()

    assert found == ["newer"]


def test_that_cancelled_work_ends_at_its_next_report(background: Background) -> None:
    begun, go_on, ended = Event(), Event(), Event()

    def work(report: Report) -> None:
        begun.set()
        go_on.wait(10)
        try:
            report(0.5)
        except Cancelled:
            ended.set()
            raise

    background.start(work)
    begun.wait(10)
    background.cancel()
    go_on.set()

    assert ended.wait(10)
    assert not background.is_running


def test_that_the_newest_progress_is_told(qtbot: QtBot, background: Background) -> None:
    shares: list[float] = []
    go_on = Event()
    background.progressed.connect(shares.append)

    def work(report: Report) -> None:
        report(0.25)
        go_on.wait(10)
        report(0.5)
        report(0.75)

    with qtbot.waitSignal(background.progressed):
        background.start(work)
    go_on.set()
    background.wait()

    assert shares == [0.25, 0.75]


def test_that_an_expected_error_is_told(background: Background) -> None:
    problems: list[object] = []
    background.failed.connect(problems.append)

    def work(_report: Report) -> None:
        message = "no frames"
        raise CaptureError(message)

    background.start(work)
    background.wait()

    assert [str(each) for each in problems] == ["no frames"]


def test_that_a_fault_is_raised_in_the_thread_of_the_window(
    qtbot: QtBot, background: Background
) -> None:
    def work(_report: Report) -> None:
        raise ZeroDivisionError

    with qtbot.captureExceptions() as raised:
        background.start(work)
        background.wait()

    assert [each[0] for each in raised] == [ZeroDivisionError]


_DELETED_WHILE_IT_WORKS = """
import sys
from PySide6.QtCore import QCoreApplication
from shiboken6 import delete
from ui.kit.background import Background
application = QCoreApplication([])
sys.setswitchinterval(1e-6)
for number in range(1_500):
    background = Background()
    background.start(lambda report: [report(share / 3) for share in range(3)])
    for _ in range(number % 60):
        pass
    delete(background)
"""


def test_that_a_window_may_go_while_its_work_hands_something_over() -> None:
    command = [*python_with(WINDOW), "-c", _DELETED_WHILE_IT_WORKS]

    assert subprocess.run(command, check=False, timeout=60).returncode == 0
