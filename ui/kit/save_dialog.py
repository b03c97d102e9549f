"""Asks where to write a file, and whether one that is there may be replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from .layouts import without_icons

_Button: Final = QMessageBox.StandardButton


class SaveDialog(QObject):
    """Asks where to write a file, and before replacing the very file that will be written.

    The dialog is the system's own where there is one. A name without a suffix first gets that of
    the chosen kind, and is then checked here: the own dialogs of several systems ask about the
    name as it was typed.
    """

    file_given = Signal(object)  # Path: where to write; a file that is there may be replaced

    def __init__(
        self,
        title: str,
        proposed: Path,
        kinds: Mapping[str, str],
        parent: QWidget,
        *,
        asks_to_replace: bool = True,
    ) -> None:
        """Make a dialog; :meth:`open` shows it, and it is deleted when it is closed.

        It begins in a folder or with a file; an empty path is the folder that was used last.
        ``kinds`` are what each suffix, such as ``.png``, stands for; the usual one first.
        """
        super().__init__(parent)
        # Not a subclass: for those Qt does not use the system's own dialog.
        self.dialog = QFileDialog(parent, title, "" if proposed == Path() else str(proposed))
        self._owner = parent
        self._suffixes = {f"{text} (*{suffix})": suffix for suffix, text in kinds.items()}
        self._asks_to_replace = asks_to_replace
        self.dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        self.dialog.setNameFilters(list(self._suffixes))
        self.dialog.fileSelected.connect(self._on_file_selected)
        self.dialog.rejected.connect(self._end)

    def open(self) -> None:
        self.dialog.open()
        without_icons(self.dialog)

    @Slot(str)
    def _on_file_selected(self, selected: str) -> None:
        """Give the file, or first ask whether the one that exists may be replaced."""
        suffix = self._suffixes.get(self.dialog.selectedNameFilter(), "")
        path = Path(selected if Path(selected).suffix else f"{selected}{suffix}")
        if self._asks_to_replace and path.is_file():
            self._ask_to_replace(path)
        else:
            self._give(path)

    def _ask_to_replace(self, path: Path) -> None:
        box = QMessageBox(
            QMessageBox.Icon.Warning,
            self.dialog.windowTitle(),
            f"“{path.name}” already exists. Replace it?",
            _Button.Yes | _Button.No,
            self._owner,
        )
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setDefaultButton(_Button.No)
        box.button(_Button.Yes).setText("&Replace")
        box.button(_Button.No).setText("&Keep")
        without_icons(box)

        def go_on(answer: int) -> None:
            if answer == _Button.Yes:
                self._give(path)
            else:
                self.open()

        box.finished.connect(go_on)
        box.open()

    def _give(self, path: Path) -> None:
        self.file_given.emit(path)
        self._end()

    @Slot()
    def _end(self) -> None:
        self.dialog.deleteLater()
        self.deleteLater()


def file_stem(name: str, otherwise: str) -> str:
    """Return a name as it is proposed for a file, or another one if nothing is left of it."""
    return (re.sub(r"[^\w.-]+", "-", name).strip("-.") or otherwise).lower()
