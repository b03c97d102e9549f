"""The dialogs about the inspector, the libraries that it runs on and installed extensions."""

from __future__ import annotations

import platform

import numpy as np
from PySide6 import __version__ as pyside_version
from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QWidget

import inspector
from inspector.environment import installed_version
from inspector.extensions import extensions_text

from ...kit.fonts import in_type
from ...kit.layouts import REST, button_box, fill_dialog, in_column, in_row
from ...kit.theme import Theme
from ..extensions import all_registries

_LINE = "See, stop, slow, step, explain and prove time in a running frame-driven program."


class AboutDialog(QDialog):
    def __init__(self, theme: Theme, settings_path: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Timeline Inspector")
        self.setObjectName("about")
        self.versions = "\n".join(
            (
                f"Timeline Inspector {inspector.__version__}",
                f"Python {platform.python_version()}, PySide6 {pyside_version}",
                # The version is looked up: importing pyqtgraph would take longer than the dialog.
                f"pyqtgraph {installed_version('pyqtgraph')}, NumPy {np.__version__}",
                f"{platform.platform()}, {QGuiApplication.platformName()}",
                f"Settings: {settings_path}",
            )
        )
        icon = QLabel()
        icon.setPixmap(theme.icon("timeline-inspector").pixmap(64, 64))
        icon.setAlignment(Qt.AlignmentFlag.AlignTop)
        name = QLabel("Timeline Inspector")
        in_type(name, "title")
        line = QLabel(_LINE)
        line.setWordWrap(True)
        licence = QLabel("MIT licence. The font is Inter, under the SIL Open Font License.")
        licence.setWordWrap(True)
        versions = QLabel(self.versions)
        versions.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = button_box(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy versions", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self.copy_versions)
        buttons.rejected.connect(self.reject)
        text = in_column(name, line, versions, licence, REST)
        fill_dialog(self, (in_row(icon, (text, 1), spacing=16), 1), buttons)
        self.setMinimumWidth(520)

    @Slot()
    def copy_versions(self) -> None:
        QGuiApplication.clipboard().setText(self.versions)


class ExtensionsDialog(QDialog):
    def __init__(self, parent: QWidget | None) -> None:
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
        fill_dialog(self, self.list, buttons)
        self.resize(720, 480)

    @Slot()
    def copy_list(self) -> None:
        QGuiApplication.clipboard().setText(self.list.toPlainText())
