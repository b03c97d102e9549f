"""The pages of help, and what this is and runs on."""

from __future__ import annotations

import platform

import numpy as np
import pyqtgraph
from PySide6 import __version__ as pyside_version
from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QFont, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

import inspector
from inspector.resources import resource_path

from ...kit.theme import Theme

_LINE = "See, stop, slow, step, explain and prove time in a running frame-driven program."


class HelpViewer(QDialog):
    """One help page at a time; links between pages are followed in place.

    Attributes:
        browser: What shows the page.
        page: Name of the page: its file without the suffix.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("help_viewer")
        self.setWindowTitle("Help")
        self.page = ""
        self.browser = QTextBrowser()
        self.browser.setAccessibleName("Help page")
        self.browser.setOpenLinks(False)
        self.browser.anchorClicked.connect(self.follow_link)
        self.browser.document().setDocumentMargin(20)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.browser)
        self.resize(760, 640)

    def show_page(self, name: str) -> None:
        """Show a page of ``resources/help``."""
        self.page = name
        text = resource_path("help", f"{name}.md").read_text(encoding="utf-8")
        self.browser.setMarkdown(text)
        title = text.partition("\n")[0].lstrip("# ")
        self.setWindowTitle(f"Help: {title}")

    @Slot(QUrl)
    def follow_link(self, url: QUrl) -> None:
        """Show another page, or open what is elsewhere where it belongs."""
        if url.isRelative() and url.path().endswith(".md"):
            self.show_page(url.path().removesuffix(".md"))
        else:
            QDesktopServices.openUrl(url)


class AboutDialog(QDialog):
    """Name, version, licence, and the versions that a report of a fault should name."""

    def __init__(self, theme: Theme, settings_path: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Timeline Inspector")
        self.setObjectName("about")
        self.versions = "\n".join(
            (
                f"Timeline Inspector {inspector.__version__}",
                f"Python {platform.python_version()}, PySide6 {pyside_version}",
                f"pyqtgraph {pyqtgraph.__version__}, NumPy {np.__version__}",
                f"{platform.platform()}, {QGuiApplication.platformName()}",
                f"Settings: {settings_path}",
            )
        )
        icon = QLabel()
        icon.setPixmap(theme.icon("timeline-inspector").pixmap(64, 64))
        icon.setAlignment(Qt.AlignmentFlag.AlignTop)
        name = QLabel("Timeline Inspector")
        font = QFont(name.font())
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        name.setFont(font)
        line = QLabel(_LINE)
        line.setWordWrap(True)
        licence = QLabel("MIT licence. The fonts are DejaVu, under their own free licence.")
        licence.setWordWrap(True)
        versions = QLabel(self.versions)
        versions.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy versions", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self.copy_versions)
        buttons.rejected.connect(self.reject)
        text = QVBoxLayout()
        for label in (name, line, versions, licence):
            text.addWidget(label)
        text.addStretch(1)
        top = QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(icon)
        top.addLayout(text, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(top, 1)
        layout.addWidget(buttons)
        self.setMinimumWidth(520)

    @Slot()
    def copy_versions(self) -> None:
        """Put the versions on the clipboard."""
        QGuiApplication.clipboard().setText(self.versions)
