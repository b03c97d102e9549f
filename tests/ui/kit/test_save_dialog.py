"""Asking where to write: which file is given, and what is asked before one is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ui.kit.save_dialog import SaveDialog

KINDS = {".png": "Pictures", ".csv": "Tables"}


class Asked:
    """A dialog that is open, and what it gave."""

    def __init__(self, qtbot: QtBot, folder: Path, *, asks_to_replace: bool = True) -> None:
        self._qtbot = qtbot
        self.owner = QWidget()
        qtbot.addWidget(self.owner)
        self.given: list[Path] = []
        proposed = folder / "graph.png"
        self.dialog = SaveDialog(
            "Export", proposed, KINDS, self.owner, asks_to_replace=asks_to_replace
        )
        self.dialog.file_given.connect(self.given.append)
        self.dialog.open()

    @property
    def line(self) -> QLineEdit:
        line = self.dialog.dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(line, QLineEdit)
        return line

    def type_name(self, name: str) -> None:
        self.line.setText(name)
        self._qtbot.keyClick(self.line, Qt.Key.Key_Return)

    @property
    def question(self) -> QMessageBox | None:
        boxes = self.owner.findChildren(QMessageBox)
        return next((box for box in boxes if box.isVisible()), None)

    def answer(self, button: QMessageBox.StandardButton) -> None:
        assert self.question is not None
        pressed = self.question.button(button)
        assert isinstance(pressed, QPushButton)
        self._qtbot.mouseClick(pressed, Qt.MouseButton.LeftButton)


@pytest.fixture
def asked(qtbot: QtBot, tmp_path: Path) -> Asked:
    return Asked(qtbot, tmp_path)


def test_that_a_name_in_a_folder_is_proposed(asked: Asked, tmp_path: Path) -> None:
    assert asked.line.text() == "graph.png"
    assert asked.dialog.dialog.directory().absolutePath() == str(tmp_path)


def test_that_a_name_without_suffix_gets_that_of_the_first_kind(
    asked: Asked, tmp_path: Path
) -> None:
    asked.type_name(str(tmp_path / "new"))

    assert asked.given == [tmp_path / "new.png"]


def test_that_the_suffix_follows_the_chosen_kind(asked: Asked, tmp_path: Path) -> None:
    asked.dialog.dialog.selectNameFilter("Tables (*.csv)")

    asked.type_name(str(tmp_path / "new"))

    assert asked.given == [tmp_path / "new.csv"]


def test_that_a_suffix_that_was_typed_is_kept(asked: Asked, tmp_path: Path) -> None:
    asked.type_name(str(tmp_path / "new.svg"))

    assert asked.given == [tmp_path / "new.svg"]


@pytest.mark.parametrize("name", ["over", "over.png"])
def test_that_a_file_that_is_there_is_asked_about_with_its_suffix(
    asked: Asked, tmp_path: Path, name: str
) -> None:
    (tmp_path / "over.png").write_text("old")

    asked.type_name(str(tmp_path / name))

    assert asked.question is not None
    assert "“over.png”" in asked.question.text()
    assert asked.given == []


def test_that_a_file_is_given_once_somebody_has_agreed(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "over.png").write_text("old")
    asked.type_name(str(tmp_path / "over"))

    asked.answer(QMessageBox.StandardButton.Yes)

    assert asked.given == [tmp_path / "over.png"]


def test_that_another_name_can_be_typed_after_a_refusal(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "over.png").write_text("old")
    asked.type_name(str(tmp_path / "over"))

    asked.answer(QMessageBox.StandardButton.No)

    assert asked.given == []
    assert asked.dialog.dialog.isVisible()
    asked.type_name(str(tmp_path / "other"))
    assert asked.given == [tmp_path / "other.png"]


def test_that_a_folder_is_entered_and_not_asked_about(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()

    asked.type_name(str(tmp_path / "deep"))

    assert asked.question is None
    assert asked.given == []
    assert asked.dialog.dialog.directory().absolutePath() == str(tmp_path / "deep")


def test_that_nothing_is_asked_where_nothing_is_ever_replaced(qtbot: QtBot, tmp_path: Path) -> None:
    asked = Asked(qtbot, tmp_path, asks_to_replace=False)
    (tmp_path / "over.png").write_text("old")

    asked.type_name(str(tmp_path / "over"))

    assert asked.given == [tmp_path / "over.png"]


def test_that_the_systems_own_dialog_may_be_shown(asked: Asked) -> None:
    # Qt asks the system for none that is of another class, or where it is told not to.
    assert type(asked.dialog.dialog) is QFileDialog
    assert not asked.dialog.dialog.testOption(QFileDialog.Option.DontUseNativeDialog)


def test_that_its_buttons_and_those_of_the_question_have_no_icons(
    asked: Asked, tmp_path: Path
) -> None:
    (tmp_path / "over.png").write_text("old")
    shown = asked.dialog.dialog.findChildren(QDialogButtonBox)
    asked.type_name(str(tmp_path / "over"))
    assert asked.question is not None
    shown += asked.question.findChildren(QDialogButtonBox)

    assert len(shown) == 2
    assert all(button.icon().isNull() for box in shown for button in box.buttons())
