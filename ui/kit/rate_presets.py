"""The usual rates as one row of buttons, with a field for any other rate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from inspector.clocks.rate import parse_rate
from inspector.display_text import as_plain

from .exact_entry import ExactEntry
from .layouts import tool_button
from .rate_slider import rate_to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The rates that are one click away, and what their buttons and menus say.
RATE_PRESETS: Final[Mapping[Fraction, str]] = {
    Fraction(1, 4): "¼",
    Fraction(1, 2): "½",
    Fraction(1): "1×",
    Fraction(2): "2",
    Fraction(4): "4",
}
_FIELD_SAMPLE: Final = "00.000"


class RatePresets(QWidget):
    """Buttons for the usual rates, and a field for exact ones.

    It shows the rate that :meth:`show_rate` was told; what the user does is only a request.

    Signals:
        rate_requested: The user wants another rate.

    Attributes:
        buttons: The buttons by their rates.
        entry: The field.
    """

    rate_requested = Signal(object)  # Fraction

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Show rate 1.

        Args:
            name: Whose rate, for people who do not see the widget.
            parent: The owner.
        """
        super().__init__(parent)
        self._rate = Fraction(1)
        self._named = ("", "")
        self.buttons = {rate: self._button(rate) for rate in RATE_PRESETS}
        self.entry = ExactEntry(name, parse_rate, rate_to_text, self)
        self.entry.setFixedWidth(self.entry.fontMetrics().horizontalAdvance(_FIELD_SAMPLE) + 12)
        self.entry.value_requested.connect(self.rate_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addSpacing(4)
        row.addWidget(self.entry)
        self.setFocusProxy(self.entry)
        self.show_name(name)
        self._show()

    def _button(self, rate: Fraction) -> QToolButton:
        button = tool_button(RATE_PRESETS[rate], is_checkable=True)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        widest = max(map(button.fontMetrics().horizontalAdvance, RATE_PRESETS.values()))
        button.setFixedWidth(widest + 12)
        button.clicked.connect(lambda: self._ask(rate))
        return button

    @property
    def rate(self) -> Fraction:
        """The rate that is shown."""
        return self._rate

    def show_name(self, name: str, note: str = "") -> None:
        """Say whose rate it is, and below it why that cannot be changed."""
        if (name, note) == self._named:
            return
        self._named = (name, note)
        below = f"\n{note}" if note else ""
        for rate, button in self.buttons.items():
            button.setAccessibleName(f"{name}: {rate_to_text(rate)}")
            button.setToolTip(as_plain(f"{name}: {rate_to_text(rate)}{below}"))
        self.entry.setAccessibleName(f"{name}, exact")
        self.entry.setToolTip(as_plain(f"{name}, exactly: 1/3, 0.25, 25% or 2x{below}"))

    def show_rate(self, rate: Fraction) -> None:
        """Show a rate."""
        if rate != self._rate:
            self._rate = rate
            self._show()

    def _ask(self, rate: Fraction) -> None:
        # Qt has checked the button; it stays so once the rate is granted.
        self._show()
        if rate != self._rate:
            self.rate_requested.emit(rate)

    @Slot()
    def _show(self) -> None:
        self.entry.show_value(self._rate)
        for rate, button in self.buttons.items():
            button.setChecked(rate == self._rate)
