"""The colours of states: told apart with any kind of colour vision, and never without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QColor

from ..kit.theme import ColorRole, mixed

if TYPE_CHECKING:
    from ..kit.theme import Theme

#: Okabe and Ito's, in an order in which neighbours differ in lightness as well.
_STATES: Final = (
    "#56b4e9",
    "#e69f00",
    "#009e73",
    "#f0e442",
    "#0072b2",
    "#cc79a7",
    "#d55e00",
    "#999999",
)
_FAINTER: Final = 0.55
_DARK_BELOW: Final = 140


def state_color(number: int, theme: Theme) -> QColor:
    """Return the colour of the n-th state of a machine; from the ninth on they are fainter."""
    color = QColor(_STATES[number % len(_STATES)])
    if number >= len(_STATES):
        return mixed(color, theme.color(ColorRole.BACKGROUND), _FAINTER)
    return color


def text_color_on(color: QColor) -> QColor:
    """Return black or white, whichever can be read on a colour."""
    gray = 0.299 * color.red() + 0.587 * color.green() + 0.114 * color.blue()
    return QColor("#ffffff") if gray < _DARK_BELOW else QColor("#14171a")
