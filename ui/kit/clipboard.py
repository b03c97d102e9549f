"""Pictures and tables on the clipboard: the same two actions wherever there is a plot."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QImage, QKeySequence
from PySide6.QtWidgets import QWidget

#: Scale of copied pictures, so that they are sharp where they are pasted or printed.
_SCALE: Final = 2.0
#: Keys that copy a whole table, or a plot as a table.
COPY_TABLE: Final = "Ctrl+Shift+C"


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def copy_rows(rows: Iterable[Sequence[str]]) -> None:
    """Put a table on the clipboard, as spreadsheets take it: cells with line breaks in quotes."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    copy_text(text.getvalue().removesuffix("\n"))


def copy_picture(widget: QWidget) -> None:
    QGuiApplication.clipboard().setImage(picture_of(widget))


def picture_of(widget: QWidget) -> QImage:
    """Return a picture of a widget, sharper than the screen shows it."""
    size = widget.size() * _SCALE
    image = QImage(size, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_SCALE)
    image.fill(widget.palette().color(widget.backgroundRole()))
    # Not widget.render: views of graphics scenes have another method of that name.
    QWidget.render(widget, image)
    return image


def copy_action(widget: QWidget, text: str, keys: str, copy: Callable[[], object]) -> QAction:
    """Return an action whose keys work while a widget has the keyboard."""
    action = QAction(text, widget)
    action.setShortcut(QKeySequence(keys))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.triggered.connect(copy)
    return action


def add_copying(
    plot: QWidget, rows: Callable[[], Iterable[Sequence[str]]] | None = None
) -> list[QAction]:
    """Let a plot be copied by keys, as a table if it has rows; returns actions for its menu."""
    actions = [copy_action(plot, "Copy as image", "Ctrl+C", lambda: copy_picture(plot))]
    if rows is not None:
        copy = partial(_copy_made, rows)
        actions.append(copy_action(plot, "Copy as table", COPY_TABLE, copy))
    plot.addActions(actions)
    return actions


def _copy_made(rows: Callable[[], Iterable[Sequence[str]]]) -> None:
    copy_rows(rows())
