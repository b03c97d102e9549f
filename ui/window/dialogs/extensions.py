"""The list of installed extensions."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from inspector.extensions import extensions_text

from ...kit.layouts import button_box
from ..extensions import all_registries


class ExtensionsDialog(QDialog):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Extensions")
        self.setObjectName("extensions")
        self.list = QPlainTextEdit(extensions_text(all_registries()))
        self.list.setReadOnly(True)
        self.list.setAccessibleName("Extensions")
        self.list.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        buttons = button_box(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self.copy_list)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.list)
        layout.addWidget(buttons)
        self.resize(720, 480)

    @Slot()
    def copy_list(self) -> None:
        QGuiApplication.clipboard().setText(self.list.toPlainText())
