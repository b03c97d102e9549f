"""Writes the picture of a scene to a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QWidget

from inspector.errors import InspectorError
from inspector.formats.file_formats import write_file
from inspector.formats.scene_picture import SCENE_PICTURE_FORMATS, PictureOptions
from inspector.formats.scene_shapes import SceneMoment
from inspector.sessions.provenance import provenance_of
from inspector.sessions.session import Session

from ..kit.save_dialog import SaveDialog, file_stem


class SceneExport:
    def __init__(self) -> None:
        self._folder = Path()

    def dialog(self, session: Session, parent: QWidget) -> SaveDialog:
        path = self._folder / f"{file_stem(session.title, 'scene')}-scene.png"
        kinds = {
            each.suffix: f"{each.format}: {each.description}" for each in SCENE_PICTURE_FORMATS
        }
        return SaveDialog("Export picture", path, kinds, parent)

    def write(self, moment: SceneMoment, session: Session, path: Path) -> str:
        """Write a picture in the format of the suffix; return a sentence on how that went."""
        self._folder = path.parent
        try:
            write_file(
                moment, provenance_of(session), PictureOptions(), path, SCENE_PICTURE_FORMATS
            )
        except InspectorError as error:
            return str(error)
        return f"Wrote {path}."
