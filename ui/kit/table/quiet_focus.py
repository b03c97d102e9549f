"""Lets a view take the keyboard without choosing anything by that."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QAbstractItemView


@contextmanager
def without_choosing(view: QAbstractItemView) -> Iterator[None]:
    """Leave a view without a current row if it had none before.

    A view that gets the keyboard by a key makes its first row current, which where the
    current row is the selection would select something that nobody asked for. The first
    arrow key goes to the first row as it should.
    """
    selection = view.selectionModel()
    had_none = not view.currentIndex().isValid()
    was_blocked = selection.blockSignals(had_none)
    try:
        yield
        if had_none:
            selection.clear()
    finally:
        selection.blockSignals(was_blocked)
