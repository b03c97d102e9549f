"""The table of bookmarks, notes and named ranges; names and texts are edited in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from typing_extensions import override

from inspector.events.annotations import Annotation
from inspector.timebase import format_duration, format_instant

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.theme import ColorRole, Theme

#: Replaces the line ends of a text in its cell.
_NEW_LINE: Final = "⏎"


def made_text(created: str) -> str:
    """Return the time of creation on the local clock, or as stored if it is invalid."""
    try:
        when = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{when.astimezone():%Y-%m-%d %H:%M}"


def _end_text(annotation: Annotation) -> str:
    return "" if annotation.end_ns is None else format_instant(annotation.end_ns)


def _text_in_line(annotation: Annotation) -> str:
    lines = (" ".join(line.split()) for line in annotation.text.splitlines())
    return f" {_NEW_LINE} ".join(lines)


def _length_tip(annotation: Annotation) -> str | None:
    if annotation.end_ns is None:
        return None
    return f"{format_duration(annotation.end_ns - annotation.at_ns)} long"


def _words_tip(annotation: Annotation) -> str:
    return "\n".join(filter(None, (annotation.name, annotation.text)))


_column = Column[Annotation]


class AnnotationColumn(ColumnEnum):
    """The columns of the table."""

    # fmt: off
    KIND = _column("Kind", lambda row: row.kind, sample="bookmark", is_searched=True)
    AT = _column(
        "At (m:s)", lambda row: format_instant(row.at_ns),
        "Session time, in minutes and seconds; for a range, where it begins", _length_tip,
        sample="0:00:00.000", is_number=True)
    UNTIL = _column(
        "Until", _end_text, "Session time at which a range ends", _length_tip,
        sample="0:00:00.000", is_number=True)
    NAME = _column(
        "Name", lambda row: " ".join(row.name.split()), "F2 or a second click edits it",
        _words_tip, sample="the boss has appeared here", is_editable=True, is_searched=True)
    TEXT = _column(
        "Text", _text_in_line, "F2 or a second click edits it", _words_tip, is_editable=True,
        is_searched=True)
    CREATED = _column(
        "Added", lambda row: made_text(row.created), "Wall-clock time when it was added",
        lambda row: row.created, sample="2026-01-01 00:00",
        color=lambda _row: ColorRole.MUTED)
    # fmt: on


@guarded
class AnnotationModel(ListTableModel[Annotation]):
    """Annotations, earliest first.

    An edited cell becomes a request for a change; the table shows its result.
    """

    def __init__(self, change: Callable[[Annotation], bool], theme: Theme) -> None:
        """Begin without rows; ``change`` replaces the annotation of the same number."""
        super().__init__(AnnotationColumn, theme)
        self._change = change

    @override
    def key_of(self, row: Annotation) -> int:
        return row.id

    @override
    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: object,
        role: int = roles.EDIT,
    ) -> bool:
        annotation, typed = self.row_at(index.row()), str(value)
        column = self.columns[index.column()]
        if role != roles.EDIT or annotation is None or not column.spec.is_editable:
            return False
        if typed.strip() == column.spec.text(annotation):
            return False
        if column is AnnotationColumn.NAME:
            return self._change(replace(annotation, name=typed))
        lines = (line.strip() for line in typed.split(_NEW_LINE))
        return self._change(replace(annotation, text="\n".join(lines)))
