"""What sets a rate: a slider with a field for exact ones; and the usual rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QWidget,
)
from typing_extensions import override

from inspector.clocks.rate import parse_rate
from inspector.display_text import as_plain
from inspector.vocabulary import RATE_DENOMINATOR, typed_rate

from .exact_entry import ExactEntry
from .guards import guarded
from .paced_refresh import single_shot

#: The rates that are one click away, and what their buttons and menus say.
RATE_PRESETS: Final[Mapping[Fraction, str]] = {
    Fraction(1, 4): "¼",
    Fraction(1, 2): "½",
    Fraction(1): "1×",
    Fraction(2): "2",
    Fraction(4): "4",
}

#: The rates that have a place of their own on the slider.
USUAL_RATES: Final = tuple(Fraction(text) for text in ("1/10", "1/4", "1/2", "1", "2", "4", "10"))
_STEPS_PER_DECADE: Final = 100
#: A rate this many steps from a usual one is taken for it.
_SNAP_STEPS: Final = 5
#: How long the slider stays where it was put before it shows the rate again.
_ANSWER_MS: Final = 400
_KEYS: Final = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageDown: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_PageUp: 1,
}


def rate_to_text(rate: Fraction) -> str:
    return typed_rate(round(rate * RATE_DENOMINATOR))


def next_usual_rate(rate: Fraction, *, is_faster: bool) -> Fraction:
    """Return the usual rate above or below ``rate``; the last one if there is none."""
    if is_faster:
        return next((usual for usual in USUAL_RATES if usual > rate), max(rate, USUAL_RATES[-1]))
    return next((usual for usual in reversed(USUAL_RATES) if usual < rate), USUAL_RATES[0])


def position_of_rate(rate: Fraction) -> int:
    """Return where a rate is on the slider; what is beyond its ends is at them."""
    lowest, highest = USUAL_RATES[0], USUAL_RATES[-1]
    within = min(max(rate, lowest), highest)
    return round(math.log10(within) * _STEPS_PER_DECADE)


def rate_at_position(position: int, *, snaps: bool = True) -> Fraction:
    """Return the rate at a place of the slider: a usual one nearby, or two digits."""
    if snaps:
        nearest = min(USUAL_RATES, key=lambda usual: abs(position_of_rate(usual) - position))
        if abs(position_of_rate(nearest) - position) <= _SNAP_STEPS:
            return nearest
    rate = 10 ** (position / _STEPS_PER_DECADE)
    return Fraction(f"{rate:.2g}" if rate < 1 else f"{rate:.1f}")


class RateSlider(QWidget):
    """A logarithmic slider from a tenth to ten, and a field for exact rates.

    It shows the rate that :meth:`show_rate` was told, and asks for others: what the user does is
    only a request, so everything goes back if it is not granted.

    Signals:
        rate_requested: The user wants another rate.

    Attributes:
        slider: The slider.
        entry: The field for exact rates.
    """

    rate_requested = Signal(object)  # Fraction

    def __init__(self, name: str = "Rate", parent: QWidget | None = None) -> None:
        """Show rate 1.

        Args:
            name: Whose rate, for people who do not see the widget.
        """
        super().__init__(parent)
        self._rate = Fraction(1)
        self.entry = ExactEntry(f"{name}, exact", parse_rate, rate_to_text, self)
        self.entry.setFixedWidth(self.entry.fontMetrics().horizontalAdvance("00000000") + 12)
        self.entry.setToolTip(as_plain(f"{name}, exactly: 1/3, 0.25, 25% or 2x"))
        self.entry.value_requested.connect(self.rate_requested)
        self.setFocusProxy(self.entry)
        self.slider = _LogarithmicSlider(self)
        self.slider.setAccessibleName(f"{name}, slider")
        self.slider.setToolTip(
            as_plain(
                f"{name}: from 0.1 to 10, snaps to 0.1 0.25 0.5 1 2 4 10 (not with Ctrl)\n"
                "Double-click for 1"
            )
        )
        self._answer_timer = single_shot(self, self._show, _ANSWER_MS)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.slider, 1)
        layout.addWidget(self.entry)
        self.slider.valueChanged.connect(self._take_position)
        self.slider.sliderReleased.connect(self._await_answer)
        self.slider.reset_requested.connect(self._reset)
        self._show()

    @property
    def rate(self) -> Fraction:
        return self._rate

    def show_rate(self, rate: Fraction) -> None:
        """Show a rate; the slider stays where it is while it is dragged."""
        if rate != self._rate:
            self._rate = rate
            if not self.slider.isSliderDown():
                self._show()
            else:
                self.entry.show_value(rate)

    @Slot(int)
    def _take_position(self, position: int) -> None:
        rate = rate_at_position(position, snaps=not self.slider.is_exact)
        if rate != self._rate:
            self.rate_requested.emit(rate)
        self._await_answer()

    @Slot()
    def _await_answer(self) -> None:
        """Go back to the rate that is, if what was asked for is not granted soon."""
        if not self.slider.isSliderDown():
            self._answer_timer.start()

    @Slot()
    def _reset(self) -> None:
        if self._rate != 1:
            self.rate_requested.emit(Fraction(1))

    @Slot()
    def _show(self) -> None:
        if self.slider.isSliderDown():
            return
        self.entry.show_value(self._rate)
        self.slider.blockSignals(True)
        self.slider.setValue(position_of_rate(self._rate) if self._rate else self.slider.minimum())
        self.slider.blockSignals(False)


@guarded
class _LogarithmicSlider(QSlider):
    """A slider with a mark at each usual rate; keys go from one to the next.

    Signals:
        reset_requested: It was double clicked.
    """

    reset_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.is_exact = False
        self.setRange(position_of_rate(USUAL_RATES[0]), position_of_rate(USUAL_RATES[-1]))
        self.setMinimumWidth(96)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @override
    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(150, hint.height() + 4)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _KEYS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        rate = rate_at_position(self.value())
        self.setValue(position_of_rate(next_usual_rate(rate, is_faster=step > 0)))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.is_exact = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.button() == Qt.MouseButton.LeftButton and not self._is_on_handle(event):
            self.setValue(self._position_at(round(event.position().x())))
        super().mousePressEvent(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.is_exact = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        super().mouseMoveEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self.is_exact = False

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self.reset_requested.emit()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel alone: a rate must not change because the user scrolls."""
        event.ignore()

    def _is_on_handle(self, event: QMouseEvent) -> bool:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        )
        return handle.contains(event.position().toPoint())

    def _position_at(self, x: int) -> int:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self)
        return QStyle.sliderValueFromPosition(
            self.minimum(), self.maximum(), x - handle // 2, self.width() - handle
        )

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        style = self.style()
        handle = style.pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self)
        room = self.width() - handle
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        bottom = self.height() - 1
        for rate in USUAL_RATES:
            x = handle // 2 + QStyle.sliderPositionFromValue(
                self.minimum(), self.maximum(), position_of_rate(rate), room
            )
            length = 4 if rate == 1 else 2
            painter.drawLine(QPoint(x, bottom - length), QPoint(x, bottom))
        painter.end()
