"""The runner of the refresh-rate lab, when what it runs acts on the runner itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.engines.lab.display import steady_display
from tests.ui.lab.lab_stand import start_quickly
from ui.lab.lab_runner import JobSteps, LabRunner, LabStep, SceneJob

SECOND = 1_000_000_000


@dataclass
class ActingJob:
    """A job that does something in its first step, and notes when it is left."""

    act: Callable[[], None]
    steps: int = 0
    is_closed: bool = False

    def begin(self) -> JobSteps:
        try:
            self.act()
            while self.steps < 3:
                self.steps += 1
                yield LabStep(done=self.steps / 3)
        finally:
            self.is_closed = True


class Heard:
    """What a runner told."""

    def __init__(self, runner: LabRunner) -> None:
        self.finished: list[str] = []
        self.shares: list[float] = []
        self.notes: list[str] = []
        self.results: list[object] = []
        runner.finished.connect(self.finished.append)
        runner.progressed.connect(self.shares.append)
        runner.noted.connect(self.notes.append)
        runner.results_arrived.connect(self.results.extend)


def turn(runner: LabRunner, qtbot: QtBot) -> None:
    """Let the runner end."""
    qtbot.waitUntil(lambda: not runner.is_running)
    QApplication.processEvents()


def test_that_a_fault_in_a_step_ends_the_job_with_what_happened(qtbot: QtBot) -> None:
    @dataclass
    class BrokenJob:
        def begin(self) -> JobSteps:
            yield LabStep(done=0.5)
            message = "of the lab"
            raise ZeroDivisionError(message)

    runner = LabRunner()
    heard = Heard(runner)

    with qtbot.captureExceptions() as faults:
        runner.start(BrokenJob())
        turn(runner, qtbot)

    (problem,) = heard.finished
    assert problem.startswith("The run failed: ZeroDivisionError: of the lab.")
    assert [str(error) for _kind, error, _trace in faults] == ["of the lab"]
    assert not runner.is_running


def test_that_a_job_can_be_cancelled_from_within_a_step(qtbot: QtBot) -> None:
    runner = LabRunner()
    heard = Heard(runner)
    job = ActingJob(runner.cancel)

    runner.start(job)
    turn(runner, qtbot)

    assert job.is_closed
    assert job.steps <= 1
    assert heard.finished == []
    assert heard.shares == []


def test_that_a_step_that_lets_events_through_is_not_entered_again(qtbot: QtBot) -> None:
    runner = LabRunner()
    heard = Heard(runner)
    job = ActingJob(QApplication.processEvents)

    runner.start(job)
    turn(runner, qtbot)

    assert job.steps == 3
    assert heard.finished == [""]


def test_that_another_job_can_be_begun_from_within_a_step(qtbot: QtBot) -> None:
    runner = LabRunner()
    heard = Heard(runner)
    second = ActingJob(lambda: None)
    first = ActingJob(lambda: runner.start(second))

    runner.start(first)
    turn(runner, qtbot)

    assert first.is_closed
    assert first.steps <= 1
    assert second.steps == 3
    assert heard.finished == [""]


def test_that_a_slot_of_progress_can_cancel(qtbot: QtBot) -> None:
    runner = LabRunner()
    heard = Heard(runner)
    runner.progressed.connect(lambda _done: runner.cancel())
    job = ActingJob(lambda: None)

    runner.start(job)
    turn(runner, qtbot)

    assert job.is_closed
    assert heard.finished == []


def test_that_a_scene_that_cannot_be_loaded_ends_in_a_sentence(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "broken.py"
    start_quickly(monkeypatch)
    path.write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    runner = LabRunner()
    heard = Heard(runner)

    runner.start(SceneJob(path, (lambda: steady_display(60, SECOND),)))
    turn(runner, qtbot)

    (problem,) = heard.finished
    assert "broken.py" in problem
    assert "Traceback" not in problem
    assert heard.results == []


def test_that_a_callback_that_fails_is_noted_beside_the_results(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_quickly(monkeypatch)
    path = tmp_path / "scene.py"
    path.write_text(
        "def build(stage):\n"
        "    def fail():\n"
        "        raise ZeroDivisionError('of the hero')\n"
        "    stage.root.set_timeout(0.5, fail, name='blow')\n"
        "    stage.root.set_interval(0.25, lambda: None, name='tick')\n",
        encoding="utf-8",
    )
    runner = LabRunner()
    heard = Heard(runner)

    runner.start(SceneJob(path, (lambda: steady_display(60, SECOND),)))
    turn(runner, qtbot)

    assert heard.finished == [""]
    assert len(heard.results) == 2
    assert heard.notes == ["“blow” failed with ZeroDivisionError: of the hero."]
    assert heard.shares[-1] == 1.0


def test_that_a_scene_that_never_ends_can_be_cancelled(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "endless.py"
    path.write_text("while True:\n    pass\n", encoding="utf-8")
    runner = LabRunner()
    heard = Heard(runner)
    turns: list[None] = []
    timer = QTimer()
    timer.timeout.connect(lambda: turns.append(None))
    timer.start(0)

    runner.start(SceneJob(path, (lambda: steady_display(60, SECOND),)))
    qtbot.waitUntil(lambda: len(turns) > 20)
    was_running = runner.is_running
    runner.cancel()
    timer.stop()

    assert was_running
    assert not runner.is_running
    assert heard.finished == []
