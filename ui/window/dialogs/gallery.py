"""The built-in scenes with their pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QWidget

from inspector.sessions.scene import SceneFile

from ...kit.labels import plain_label
from ...kit.layouts import button_box, fill, fill_dialog

_PICTURE: Final = QSize(224, 132)
_CELL: Final = QSize(248, 178)
_PATH: Final = Qt.ItemDataRole.UserRole


class SceneGallery(QWidget):
    """Offers scenes by their pictures, below a hint."""

    scene_chosen = Signal(object)  # Path: the file of a scene to open

    def __init__(self, scenes: Sequence[SceneFile], hint: str = "") -> None:
        super().__init__()
        self._summaries: dict[str, str] = {}
        self.list = QListWidget()
        self.list.setAccessibleName("Built-in scenes")
        self.list.setViewMode(QListWidget.ViewMode.IconMode)
        self.list.setMovement(QListWidget.Movement.Static)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.list.setWordWrap(True)
        self.list.setIconSize(_PICTURE)
        self.list.setGridSize(_CELL)
        for scene in scenes:
            item = QListWidgetItem(_icon_of(scene.picture_path), scene.title)
            item.setData(_PATH, str(scene.path))
            item.setTextAlignment(Qt.AlignmentFlag.AlignHCenter)
            self.list.addItem(item)
            self._summaries[str(scene.path)] = scene.summary
        self.summary = plain_label(wraps=True)
        # Always as high as three lines, so that nothing moves.
        self.summary.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)
        above = [plain_label(hint)] if hint else []
        fill(self, *above, (self.list, 1), self.summary)
        self.list.currentItemChanged.connect(self._refresh_summary)
        self.list.itemActivated.connect(self.open_current)
        self.list.setCurrentRow(0)

    @Slot()
    def open_current(self) -> None:
        self.scene_chosen.emit(Path(self.list.currentItem().data(_PATH)))

    @Slot()
    def _refresh_summary(self) -> None:
        self.summary.setText(self._summaries[self.list.currentItem().data(_PATH)])


class GalleryDialog(QDialog):
    """The gallery in a dialog, while something is open."""

    def __init__(self, scenes: Sequence[SceneFile], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gallery")
        self.setWindowTitle("Gallery")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.gallery = SceneGallery(scenes)
        button = QDialogButtonBox.StandardButton
        self.buttons = button_box(button.Open | button.Cancel)
        self.buttons.accepted.connect(self.gallery.open_current)
        self.buttons.rejected.connect(self.reject)
        self.gallery.scene_chosen.connect(self.accept)
        fill_dialog(self, (self.gallery, 1), self.buttons)
        self.resize(3 * _CELL.width() + 60, 3 * _CELL.height() + 130)


def _icon_of(picture_path: Path) -> QIcon:
    """Return a picture in the middle of a place that has one shape for all of them.

    So titles in a row have one height, and the same distance to their pictures.
    """
    picture = QPixmap(str(picture_path))
    if picture.isNull():
        return QIcon()
    place = QPixmap(_PICTURE.scaled(picture.size(), Qt.AspectRatioMode.KeepAspectRatioByExpanding))
    place.fill(Qt.GlobalColor.transparent)
    painter = QPainter(place)
    painter.drawPixmap(place.rect().center() - picture.rect().center(), picture)
    painter.end()
    return QIcon(place)
