"""Asks where to write a file, and whether one that is there may be replaced."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QFileInfo, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget
from typing_extensions import override

from .guards import guarded

if TYPE_CHECKING:
    from collections.abc import Mapping

_Button: Final = QMessageBox.StandardButton


@guarded
class SaveDialog(QFileDialog):
    """Asks for a file to write, and about the very file that will be written.

    A name without a suffix gets that of the chosen kind first, and only then is it looked
    whether such a file is there: several systems' own dialogs ask about the name as it
    was typed.

    Signals:
        file_given: Where to write; a file that is there may be replaced.
    """

    file_given = Signal(object)  # Path

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

        Args:
            title: The title of its window.
            proposed: The folder to begin in, or a file in it that is proposed; an empty
                path for the folder that was used last.
            kinds: What each suffix, such as ``.png``, stands for; the usual one first.
            parent: The owner.
            asks_to_replace: Whether to ask before a file that is there is given.
        """
        super().__init__(parent, title, "" if proposed == Path() else str(proposed))
        self._suffixes = {f"{text} (*{suffix})": suffix for suffix, text in kinds.items()}
        self._asks_to_replace = asks_to_replace
        self._agreed = ""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.setOption(QFileDialog.Option.DontConfirmOverwrite)
        self.setNameFilters(list(self._suffixes))
        self._follow_kind()
        self.fileSelected.connect(self._give)

    @override
    def accept(self) -> None:
        """Give the file, unless one is there that may not be replaced."""
        self._follow_kind()
        path = next(iter(self.selectedFiles()), "")
        if self._asks_to_replace and path != self._agreed and QFileInfo(path).isFile():
            self._ask_to_replace(path)
        else:
            super().accept()

    def _follow_kind(self) -> None:
        suffix = self._suffixes.get(self.selectedNameFilter(), "")
        self.setDefaultSuffix(suffix.removeprefix("."))

    def _ask_to_replace(self, path: str) -> None:
        name = Path(path).name
        box = QMessageBox(
            QMessageBox.Icon.Warning,
            self.windowTitle(),
            f"“{name}” already exists. Replace it?",
            _Button.Yes | _Button.No,
            self,
        )
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setDefaultButton(_Button.No)
        box.button(_Button.Yes).setText("&Replace")
        box.button(_Button.No).setText("&Keep")

        def go_on(answer: int) -> None:
            if answer == _Button.Yes:
                self._agreed = path
                self.accept()
            elif self.layout() is None:
                # The system's own dialog, which went away before the question.
                self.reject()

        box.finished.connect(go_on)
        box.open()

    @Slot(str)
    def _give(self, path: str) -> None:
        self.file_given.emit(Path(path))


def file_stem(name: str, otherwise: str) -> str:
    """Return a name as it is proposed for a file, or another one if nothing is left of it."""
    return (re.sub(r"[^\w.-]+", "-", name).strip("-.") or otherwise).lower()
