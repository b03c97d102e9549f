"""Shows the help pages that come with the program."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QTextBrowser, QVBoxLayout, QWidget

from inspector.resources import resource_path


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
