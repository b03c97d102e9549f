"""The error of a scene that could not be loaded, in place of the arrangement."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QFontDatabase,
    QGuiApplication,
    QPalette,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QPushButton, QTextEdit, QWidget

from inspector.foreign.paths import is_scene_name
from inspector.sessions.scene import built_in_scenes
from inspector.sessions.session import SessionStatus

from ...kit.fonts import in_type
from ...kit.labels import plain_label
from ...kit.layouts import REST, fill, in_row
from ...kit.theme import ColorRole, Theme
from .gallery import SceneGallery

_HINT: Final = "Double-click a scene that comes with the inspector to open it:"


class SceneErrorView(QWidget):
    """The sentence, the place, the lines around it, and what can be done."""

    reload_requested = Signal()  # Try the same file again
    open_requested = Signal()  # Choose another file
    scene_chosen = Signal(object)  # Path: the file of a built-in scene to open

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, offers_scenes: bool = False
    ) -> None:
        super().__init__(parent)
        self.setObjectName("scene_error")
        self._theme = theme
        self._path = ""
        self.heading = plain_label(wraps=True)
        self.heading.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        in_type(self.heading, "heading")
        self.place = plain_label(wraps=True)
        self.place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.place.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.source = QPlainTextEdit()
        self.source.setReadOnly(True)
        self.source.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.source.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        in_type(self.source, "text")
        self.source.setAccessibleName("Source and traceback")
        self.source.setTabChangesFocus(True)
        self.gallery: SceneGallery | None = None
        self._offers_scenes = offers_scenes
        self.icon = QLabel()
        self.reload_button = self._button("Reload", "")
        self.reload_button.clicked.connect(self.reload_requested)
        self.edit_button = self._button("Open in editor", "Open the file in its default program")
        self.edit_button.clicked.connect(self.open_file)
        self.other_button = self._button("Open another scene …", "Choose another file (Ctrl+O)")
        self.other_button.clicked.connect(self.open_requested)
        self.copy_button = self._button("Copy", "Copy everything shown here")
        self.copy_button.clicked.connect(self.copy_all)
        self._lay_out()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def set_status(self, status: SessionStatus) -> None:
        self.heading.setText(status.message or "The scene could not be loaded.")
        self._path = status.path or ""
        line = f", line {status.line}" if status.line else ""
        self.place.setText(f"{self._path}{line}")
        self.place.setVisible(bool(self._path))
        # No editor for a recording or a capture: the usual program for those is this one.
        is_scene = not self._path or is_scene_name(Path(self._path))
        self.edit_button.setVisible(is_scene and bool(self._path))
        self.edit_button.setEnabled(bool(self._path))
        tip = "Rebuild the scene from its file" if is_scene else "Try to open the file again"
        self.reload_button.setToolTip(f"{tip} (F5)")
        place_line = f"{self._path}{line}\n\n"
        detail = status.detail.removeprefix(place_line)
        self.source.setPlainText(detail)
        self.source.setVisible(bool(detail))
        self._offer_scenes(is_offered=self._offers_scenes and not detail)
        self._mark_line()

    def _offer_scenes(self, *, is_offered: bool) -> None:
        if is_offered and self.gallery is None:
            self.gallery = SceneGallery(built_in_scenes(), _HINT)
            self.gallery.scene_chosen.connect(self.scene_chosen)
            self._layout.insertWidget(self._layout.count() - 1, self.gallery, 1)
        if self.gallery is not None:
            self.gallery.setVisible(is_offered)

    @property
    def text(self) -> str:
        parts = (self.heading.text(), self.place.text(), self.source.toPlainText())
        return "\n\n".join(part for part in parts if part)

    @Slot()
    def copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self.text)

    @Slot()
    def open_file(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._path))

    def _lay_out(self) -> None:
        top = in_row(self.icon, (self.heading, 1), spacing=10)
        ways = (self.reload_button, self.edit_button, self.other_button)
        parts = (top, self.place, (self.source, 1), in_row(*ways, REST, self.copy_button))
        self._layout = fill(self, *parts, margins=(16, 16, 16, 12), spacing=8)
        self._layout.addStretch(0)

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        return button

    def _mark_line(self) -> None:
        selections: list[QTextEdit.ExtraSelection] = []
        block = self.source.document().begin()
        while block.isValid():
            if block.text().startswith(">") and "│" in block.text():
                selection = QTextEdit.ExtraSelection()
                marked = QTextCharFormat()
                marked.setBackground(self._faint(ColorRole.RED))
                marked.setProperty(QTextFormat.Property.FullWidthSelection, True)
                selection.format = marked
                selection.cursor = QTextCursor(block)
                selections.append(selection)
            block = block.next()
        self.source.setExtraSelections(selections)

    def _faint(self, role: ColorRole) -> QColor:
        color = QColor(self._theme.color(role))
        color.setAlphaF(0.22)
        return color

    @Slot()
    def _apply_theme(self) -> None:
        self.icon.setPixmap(self._theme.icon("warning").pixmap(28, 28))
        self._mark_line()


class SceneErrorDialog(QDialog):
    """The same in a dialog, while the former session goes on."""

    def __init__(self, status: SessionStatus, theme: Theme, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("scene_error_dialog")
        self.setWindowTitle("Not opened")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.view = SceneErrorView(theme, self)
        self.view.set_status(status)
        self.view.reload_button.setText("Try again")
        self.view.reload_requested.connect(self.accept)
        self.view.open_requested.connect(self.accept)
        fill(self, self.view)
        self.resize(760, 420)
