"""Asks for a program to run with a probe inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from inspector.errors import AttachError
from inspector.sessions.attached.doors.launch import Grant
from inspector.sessions.attached.doors.typed import TypedProgram
from inspector.sessions.attached.messages import GRANT_TEXTS

from ...kit.layouts import REST, button_box, fill_dialog, in_row, tool_button
from ...kit.prompts import problem_label
from ...kit.theme import Theme

_HELD: Final = "yes"


class OpenProgramDialog(QDialog):
    """A command line with working directory, interpreter, host, hold and grant."""

    # What to open: the door, and what was typed, by field
    door_chosen = Signal(object, object)  # Door, dict[str, str]

    def __init__(
        self, recent: Sequence[Mapping[str, str]], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("open_program")
        self.setWindowTitle("Open program")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._recent = list(recent)
        self.command = QComboBox()  # The command line; recent ones are in its list
        self.command.setEditable(True)
        wide = QSizePolicy.Policy.Expanding
        self.command.setSizePolicy(wide, QSizePolicy.Policy.Fixed)
        self.command.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.command.setAccessibleName("Command line")
        self.command.addItems([each.get("command", "") for each in self._recent])
        line = self.command.lineEdit()
        assert line is not None, "the box is editable"
        self.line = line
        self.line.setPlaceholderText(
            "python -m game, ./game.py, node app.js, http://localhost:8080 …"
        )
        self.folder = QLineEdit()
        self.folder.setPlaceholderText("where the inspector was started")
        self.interpreter = QLineEdit()
        self.interpreter.setPlaceholderText("the first Python on the path")
        self.host = QLineEdit()  # Where the program is, empty for this machine
        self.host.setAccessibleName("Host")
        self.host.setPlaceholderText("this machine; or user@host for ssh, docker exec -i NAME …")
        # Whether the program is held before its first frame
        self.hold = QCheckBox("Hold it before its first &frame")
        self.grant = QComboBox()
        self.grant.setAccessibleName("Permissions")
        for grant, text in GRANT_TEXTS.items():
            self.grant.addItem(text, grant)
        # Why it cannot be opened; hidden while there is nothing to say
        self.problem = problem_label(theme)
        button = QDialogButtonBox.StandardButton
        self.buttons = button_box(button.Open | button.Cancel)
        self.buttons.accepted.connect(self.accept_answer)
        self.buttons.rejected.connect(self.reject)
        self._lay_out()
        self.command.activated.connect(self._fill_in_recent)
        for each in (self.line, self.folder, self.interpreter, self.host):
            each.textEdited.connect(self.problem.hide)
        if self._recent:
            self._fill_in_recent(0)
            self.line.selectAll()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("&Command line", self.command)
        for title, line, choose in (
            ("&Working directory", self.folder, self._choose_folder),
            ("&Interpreter", self.interpreter, self._choose_interpreter),
        ):
            label = QLabel(title)
            label.setBuddy(line)
            line.setAccessibleName(title.replace("&", ""))
            form.addRow(label, self._with_button(line, choose))
        form.addRow("&Host", self.host)
        form.addRow("P&ermissions", self.grant)
        form.addRow("", self.hold)
        self.body = fill_dialog(self, form, self.problem, REST, self.buttons)
        self.setMinimumWidth(560)
        self.line.setFocus()

    @staticmethod
    def _with_button(line: QLineEdit, choose: Callable[[], None]) -> QHBoxLayout:
        button = tool_button("…", "Choose")
        button.clicked.connect(choose)
        return in_row((line, 1), button)

    @Slot()
    def _choose_folder(self) -> None:
        found = QFileDialog.getExistingDirectory(self, "Working directory", self.folder.text())
        if found:
            self.folder.setText(found)

    @Slot()
    def _choose_interpreter(self) -> None:
        found, _ = QFileDialog.getOpenFileName(self, "Interpreter", self.interpreter.text())
        if found:
            self.interpreter.setText(found)

    @Slot(int)
    def _fill_in_recent(self, place: int) -> None:
        if not 0 <= place < len(self._recent):
            return
        found = self._recent[place]
        self.line.setText(found.get("command", ""))
        self.folder.setText(found.get("folder", ""))
        self.interpreter.setText(found.get("interpreter", ""))
        self.host.setText(found.get("host", ""))
        self.hold.setChecked(found.get("hold") == _HELD)
        self.grant.setCurrentIndex(max(0, self.grant.findData(found.get("grant", "full"))))

    @property
    def typed(self) -> TypedProgram:
        return TypedProgram(
            command=self.line.text(),
            folder=self.folder.text(),
            interpreter=self.interpreter.text(),
            hold=self.hold.isChecked(),
            grant=cast("Grant", self.grant.currentData()),
            host=self.host.text(),
        )

    @Slot()
    def accept_answer(self) -> None:
        """Give the program and close, or say why it cannot be opened."""
        typed = self.typed
        try:
            door = typed.door()
        except AttachError as error:
            self.problem.setText(f"✖ {error}")
            self.problem.show()
            self.adjustSize()
            self.line.setFocus()
            return
        kept = {
            "command": typed.command,
            "folder": typed.folder,
            "interpreter": typed.interpreter,
            "host": typed.host,
            "hold": _HELD if typed.hold else "",
            "grant": typed.grant,
        }
        self.accept()
        self.door_chosen.emit(door, kept)
