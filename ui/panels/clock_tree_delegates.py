"""Delegates of the clock tree that shorten what has no room, and tell of numbers cut off."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Signal
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from ..models.clock_tree_briefs import brief_text, shortest_state
from ..models.roles import Role
from ..models.standing import Standing
from ..widgets.tables import steady_width
from .clock_delegates import NumberDelegate, RateDelegate, StateDelegate

#: What the style leaves free on both sides of a number.
_MARGINS: Final = 6
#: What it leaves free around a state and the gap in front of it.
STATE_MARGINS: Final = 20


class FittedDelegate(QStyledItemDelegate):
    """A number: all of it, or a shorter form where there is no room.

    Signals:
        cut_off: A number that is painted does not fit: the column, the width of all of
            it and the width of its shorter form.
    """

    cut_off = Signal(int, int, int)

    @override
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        text, metrics = option.text, option.fontMetrics
        room = option.rect.width() - _MARGINS
        # Qt asks for a size hint with no room at all.
        if room <= 0 or not text:
            return
        width = steady_width(metrics, text)
        if width <= room:
            return
        brief = brief_text(index.column(), text)
        brief_width = min(steady_width(metrics, brief), width)
        if brief_width < width:
            option.text = brief
        self.cut_off.emit(index.column(), width, brief_width)


class FittedTimeDelegate(FittedDelegate, NumberDelegate):
    """A local time, or a part of the name beside it where that reaches over the cell."""


class FittedRateDelegate(FittedDelegate, RateDelegate):
    """A rate to be edited, or a part of the name where that reaches over the cell."""


class FittedStateDelegate(StateDelegate):
    """What a row does: all of it, the gist of it, or the least that says why."""

    @override
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        room = option.rect.width() - STATE_MARGINS
        if room <= 0 or option.fontMetrics.horizontalAdvance(option.text) <= room:
            return
        standing = index.data(Role.STANDING)
        if isinstance(standing, Standing):
            option.text = shortest_state(standing)
