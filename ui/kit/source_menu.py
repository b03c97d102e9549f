"""The entries of a menu about a line of source code."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMenu

from .clipboard import copy_text


def add_source_actions(menu: QMenu, site: str) -> None:
    """Offer to copy a place, as ``file:line``, and to open its file if it exists."""
    menu.addAction("Copy source line", partial(copy_text, site))
    path = Path(site.rpartition(":")[0])
    opening = menu.addAction(f"Open {path.name}", partial(_open, path))
    # The program may have run on another machine.
    opening.setEnabled(path.is_absolute() and path.is_file())


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
