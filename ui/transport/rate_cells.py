"""The rate of everything: five cells, of which the nearest one shows any other rate."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget
from typing_extensions import override

from inspector.display_text import as_plain
from inspector.tokens import SIZES

from ..kit.guards import guarded
from ..kit.layouts import fill_across, tool_button
from ..kit.rates import RATE_PRESETS, rate_to_text
from ..kit.theme import ColorRole, Theme

_NAME: Final = "Rate of everything"
_WIDTH, _HEIGHT = 30, 24
_BESIDE: Final = 2


@guarded
class RateCells(QWidget):
    """Shows the rate that :meth:`set_rate` was told, and asks for others.

    A click is only a request: the cell is marked once the rate is granted.
    """

    rate_requested = Signal(object)  # Fraction: another rate is wanted
    other_rate_wanted = Signal()  # A cell was clicked twice: the user wants to type a rate

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rate = Fraction(1)
        self._reason = ""
        self.setAccessibleName(_NAME)
        self.buttons = {rate: self._cell(rate) for rate in RATE_PRESETS}
        around = (_BESIDE, _BESIDE, _BESIDE, _BESIDE)
        fill_across(self, *self.buttons.values(), margins=around, spacing=0)
        self._refresh()

    def _cell(self, rate: Fraction) -> QToolButton:
        button = tool_button("", is_checkable=True)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(partial(self._ask, rate))
        button.installEventFilter(self)
        return button

    def set_scale(self, scale: float) -> None:
        for button in self.buttons.values():
            button.setFixedSize(round(_WIDTH * scale), round(_HEIGHT * scale))
        self.setFixedHeight(round(_HEIGHT * scale) + 2 * _BESIDE)

    def set_rate(self, rate: Fraction) -> None:
        if rate != self.rate:
            self.rate = rate
            self._refresh()

    def set_reason(self, reason: str) -> None:
        """Say in the tool tips why no rate can be set; nothing if one can."""
        if reason != self._reason:
            self._reason = reason
            self._refresh()

    def _ask(self, rate: Fraction, _is_checked: bool = False) -> None:  # noqa: FBT001, FBT002 - a slot
        # Qt has checked the cell that was clicked; undo that until the rate is granted.
        self._refresh()
        if rate == self._nearest and rate != self.rate:
            self.other_rate_wanted.emit()
        elif rate != self.rate:
            self.rate_requested.emit(rate)

    @property
    def _nearest(self) -> Fraction:
        return min(RATE_PRESETS, key=lambda each: _distance(each, self.rate))

    def _refresh(self) -> None:
        nearest = self._nearest
        below = f"\n{self._reason}" if self._reason else "\nDouble-click for any rate (Shift+R)"
        for rate, button in self.buttons.items():
            shown = self.rate if rate == nearest else rate
            button.setChecked(rate == nearest)
            button.setText(RATE_PRESETS.get(shown, rate_to_text(shown)))
            font = QFont(button.font())
            font.setBold(rate == nearest)
            button.setFont(font)
            text = rate_to_text(shown)
            button.setAccessibleName(f"{_NAME}: {text}")
            button.setToolTip(as_plain(f"{_NAME}: {text}{below}"))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for any rate after a double-click on a cell."""
        if event.type() == QEvent.Type.MouseButtonDblClick and self.isEnabled():
            self.other_rate_wanted.emit()
            return True
        return False

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.color(ColorRole.LINE))
        box = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, SIZES["radius"], SIZES["radius"])
        painter.end()


def _distance(rate: Fraction, other: Fraction) -> Fraction:
    """Return how many times one is the other, at least 1; a rate of 0 is beyond all others."""
    least = max(min(rate, other), Fraction(1, 1_000_000))
    return max(rate, other) / least
