"""The refresh-rate lab panel: scenes, limits, recordings and drift."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.cli.main import main
from tests.ui.lab.lab_stand import Stand, remember_cells, start_quickly
from ui.lab.lab_form import What
from ui.lab.panel import LabColumn


@pytest.fixture
def stand(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Stand:
    remember_cells(monkeypatch)
    start_quickly(monkeypatch)
    return Stand(qtbot)


# ------------------------------------------------------------------ scenes

SCENE = """
def build(stage):
    stage.name("blinker")
    stage.root.set_interval(0.1, lambda: None, name="blink")
    frames = []

    def count(_delta):
        frames.append(None)
        if len(frames) % 60 == 0:
            stage.root.set_timeout(0, lambda: None, name="every 60 frames")

    stage.every_frame(count)
"""


def scene_file(tmp_path: Path, text: str = SCENE) -> Path:
    path = tmp_path / "blinker.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_that_a_scene_file_is_run_under_the_displays(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    stand.choose_displays(["60 Hz", "240 Hz"])
    with stand.qtbot.waitSignal(stand.panel.runner.finished):
        stand.panel.load_file("scene", scene_file(tmp_path))

    assert stand.panel.problem.text() == ""
    assert stand.form.scene_label.text() == "blinker.py"
    assert stand.form.timers_line.isHidden()
    assert stand.form.subjects_button.isHidden()
    assert stand.panel.view.isColumnHidden(LabColumn.SUBJECT)
    assert stand.texts(LabColumn.DISPLAY) == ["60 Hz", "60 Hz", "240 Hz", "240 Hz"]
    by_name = dict(zip(stand.texts(LabColumn.TIMER), stand.texts(LabColumn.FIRED), strict=True))
    assert by_name == {"blink (root)": "100 of 100", "every 60 frames (root)": "40 instead of 10"}


def test_that_the_open_scene_is_run(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    stand.form.choose_what(What.OPEN_SCENE)
    stand.panel.run_now()
    assert stand.panel.problem.text() == "No scene is open. Open one, or choose “Another scene”."

    path = scene_file(tmp_path)
    stand.form.set_open_scene(lambda: path)
    stand.ask(displays="60 Hz")

    assert stand.texts(LabColumn.FIRED) == ["100 of 100", "10 of 10"]
    stand.form.choose_what(What.TIMERS)
    stand.ask(subjects="egret")
    assert stand.texts(LabColumn.SUBJECT) == ["Egret, by calls"]


def test_that_a_scene_shows_its_progress_and_can_be_stopped(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    stand.form.seconds_box.setValue(60)
    stand.panel.load_file("scene", scene_file(tmp_path))
    stand.qtbot.waitUntil(lambda: stand.panel.runner.is_running)
    stand.qtbot.waitUntil(lambda: stand.panel.summary.text() not in ("", "0% …"))
    assert stand.panel.summary.text().endswith("% …")

    stand.panel.run_button.click()

    assert not stand.panel.runner.is_running
    assert stand.panel.model.rowCount() == 0


def test_that_a_scene_that_raises_is_a_sentence(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    path = scene_file(tmp_path, "def build(stage):\n    raise KeyError('hero')\n")
    with stand.qtbot.waitSignal(stand.panel.runner.finished):
        stand.panel.load_file("scene", path)

    assert stand.panel.problem.text() == (
        "blinker.py failed in build(stage) (line 2): KeyError: 'hero'."
    )
    assert "KeyError" in stand.panel.notice.text()


def test_that_a_closed_panel_leaves_the_scene(stand: Stand, tmp_path: Path) -> None:
    stand.show()
    stand.panel.load_file("scene", scene_file(tmp_path))
    stand.qtbot.waitUntil(lambda: stand.panel.runner.is_running)

    stand.panel.close()

    assert not stand.panel.runner.is_running


# ------------------------------------------------------------------ limits and recordings


def test_that_the_limits_are_said(stand: Stand) -> None:
    assert stand.panel.limits.text() == "Limits: 60 s, 10,000 firings, 20,000 recorded frames"


@pytest.mark.parametrize(
    ("frames_ns", "note"),
    [
        (
            (2_000_000,) * 30_000,
            (
                "Only the first 20,000 of the 30,000 frames of “this session” are run "
                "(40.0 s of 60.0 s)."
            ),
        ),
        ((16_000_000,) * 5_000, "Only the first 60.0 s of 80.0 s of “this session” are run."),
        ((16_000_000,) * 250, "“this session” ends after 4.00 s, and so do its runs."),
    ],
)
def test_that_what_is_cut_is_said(frames_ns: tuple[int, ...], note: str, stand: Stand) -> None:
    stand.show()
    stand.form.set_session_frames(lambda: frames_ns)
    stand.form.seconds_box.setValue(60)
    stand.ask(displays="this session", subjects="scheduler")

    assert stand.panel.notes.text() == note
    assert stand.panel.notes.isVisible()
    stand.ask(displays="60 Hz")
    assert stand.panel.notes.isHidden()


def test_that_a_recording_brings_its_frame_times(
    stand: Stand, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "blinker.tlrec"
    scene = scene_file(tmp_path)
    assert main(["run", str(scene), "--seconds", "2", "--record", str(recording), "--quiet"]) == 0
    stand.show()

    stand.panel.load_file("frame times", recording)
    stand.choose_displays(["blinker.tlrec"])
    stand.ask(subjects="scheduler")

    (result,) = stand.panel.model.results
    assert result.display.name == "blinker.tlrec"
    assert result.count == 2
    capsys.readouterr()
    arguments = ["lab", "--frame-times", str(recording), "--subject", "scheduler", "--json"]
    assert main(arguments) == 0
    (value,) = json.loads(capsys.readouterr().out)["results"]
    assert tuple(value["fired_ns"]) == result.fired_ns


# ------------------------------------------------------------------ drift


def test_that_the_drift_is_read_exactly(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="240 Hz", subjects="clock,egret")
    panel, plot = stand.panel, stand.panel.plot
    panel.plot_buttons.button(1).click()
    egret = panel.model.rows[1]

    QTest.mouseMove(plot.viewport(), plot.place_of(egret, 39).toPoint())

    stand.wait_for_reading("firing 40 at")
    assert panel.readout.text().endswith("due at 0:40.000: 30 s early")
    assert plot.group_title == "240 Hz, timer “every 1 s”"
    stand.qtbot.mouseClick(
        plot.viewport(), Qt.MouseButton.LeftButton, pos=plot.place_of(egret, 20).toPoint()
    )
    assert panel.view.currentIndex().row() == 1


def test_that_the_drift_follows_the_current_row_and_the_keyboard(stand: Stand) -> None:
    stand.show()
    stand.ask(displays="60 Hz,240 Hz", subjects="clock,egret")
    panel, plot = stand.panel, stand.panel.plot
    panel.plot_buttons.button(1).click()

    panel.view.setCurrentIndex(panel.model.index(2, 0))
    assert plot.group_title.startswith("240 Hz")
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Down)
    QTest.keyClick(plot, Qt.Key.Key_Right)

    assert panel.view.currentIndex().row() == 3
    assert "Egret, by calls, 240 Hz" in panel.readout.text()
    assert "firing 1 at 0:00.250, due at 0:01.000: 750 ms early" in panel.readout.text()
