"""The distribution of frame times on the screen: read and chosen with pointer or keys.

It has the same shapes as in a report, as large as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.display_text import counted
from inspector.formats.distribution_chart import (
    TEXT_PT,
    ChartKind,
    Curve,
    DistributionChart,
    chart_rows,
    distribution_chart,
)
from inspector.formats.drawing.display_list import Box

from ..kit.clipboard import add_copying
from ..kit.fonts import load_fonts, small_size
from ..kit.guards import guarded
from ..kit.layouts import open_menu
from ..kit.picture import paint_items
from ..kit.theme import ColorRole, Theme

_PAD: Final = 3.0
NONE_OF_SAMPLES: Final = "Samples do not say how long all frames took."


@guarded
class DistributionView(QWidget):
    """Paints a chart of frame times, and lets bins of it be chosen, and copied.

    A click chooses a bin, dragging chooses several, and a click beside them none. The arrow keys
    move from bin to bin and with Shift choose more; Escape chooses none.
    """

    # Other frame times are chosen: from and up to, in nanoseconds; None for none
    band_chosen = Signal(object)  # tuple[int, int] | None
    bin_read = Signal(str)  # What is known of the bin under the pointer, empty for none

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.empty_text = ""  # Said instead of a chart without data
        self._theme = theme
        self.setAccessibleName("Distribution of frame times")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.copying = add_copying(self, self.rows)
        theme.changed.connect(self.forget_chart)
        self._kind = ChartKind.HISTOGRAM
        self._curves: tuple[Curve, ...] = ()
        self._budgets_ms: tuple[float, ...] = ()
        self._band_ns: tuple[int, int] | None = None
        self._chart: DistributionChart | None = None
        self._first: int | None = None
        self._last = 0
        self.setMouseTracking(True)

    def set_curves(
        self, curves: Sequence[Curve], budgets_ms: Sequence[float], *, empty_text: str
    ) -> None:
        """Show other frames, or more of them; ``empty_text`` without any."""
        self._curves = tuple(each for each in curves if len(each.times))
        self._budgets_ms = tuple(budgets_ms)
        self.empty_text = empty_text
        self.setAccessibleDescription(self._described())
        self.forget_chart()

    def set_kind(self, kind: ChartKind) -> None:
        self._kind = kind
        self._first = None
        self.forget_chart()

    def set_band(self, band_ns: tuple[int, int] | None) -> None:
        self._band_ns = band_ns
        if band_ns is None:
            self._first = None
        self.forget_chart()

    def forget_chart(self) -> None:
        self._chart = None
        self.update()

    def chart(self) -> DistributionChart | None:
        """Return the chart in points; ``None`` without frames."""
        if self._chart is None and self._curves:
            self._chart = distribution_chart(
                *(self._kind, self._curves, self.box(), self._theme.name),
                budgets_ms=self._budgets_ms,
                band_ns=self._band_ns,
            )
        return self._chart

    def rows(self) -> list[tuple[str, ...]]:
        chart = self.chart()
        return [] if chart is None else chart_rows(chart)

    def _described(self) -> str:
        counts = ", ".join(
            f"{counted(len(each.times), 'frame')} {each.name}" for each in self._curves
        )
        return f"{self._kind.value} of {counts}" if counts else self.empty_text

    @property
    def scale(self) -> float:
        """Pixels per point of the chart."""
        return small_size(self.fontInfo().pixelSize()) / TEXT_PT

    def box(self) -> Box:
        scale = self.scale
        return Box(
            _PAD,
            _PAD,
            max(self.width() / scale - 2 * _PAD, 40.0),
            max(self.height() / scale - 2 * _PAD, 30.0),
        )

    def place_of(self, number: int) -> QPointF:
        """Return the middle of a bin, in pixels."""
        chart = self.chart()
        assert chart is not None, "there are no frames"
        x = (chart.x_of(number) + chart.x_of(number + 1)) / 2
        return QPointF(x, chart.area.y + chart.area.height / 2) * self.scale

    def _bin_at(self, position: QPointF) -> int | None:
        chart = self.chart()
        return None if chart is None else chart.bin_at(position.x() / self.scale)

    def _choose(self, first: int, last: int) -> None:
        chart = self.chart()
        if chart is not None:
            first, last = (min(max(each, 0), chart.count - 1) for each in (first, last))
            self._first, self._last = first, last
            band_ns = chart.band_ns(first, last)
            self.bin_read.emit(chart.text_of(*sorted((first, last))))
            if band_ns != self._band_ns:
                self.set_band(band_ns)
                self.band_chosen.emit(band_ns)

    def choose_nothing(self) -> None:
        if self._band_ns is not None:
            self.set_band(None)
            self.band_chosen.emit(None)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        number = self._bin_at(event.position())
        if number is None:
            self.choose_nothing()
        else:
            is_more = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self._choose(number if self._first is None or not is_more else self._first, number)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        number, chart = self._bin_at(event.position()), self.chart()
        if number is None or chart is None:
            self.bin_read.emit("")
        elif event.buttons() & Qt.MouseButton.LeftButton and self._first is not None:
            self._choose(self._first, number)
        else:
            self.bin_read.emit(chart.text_of(number, number))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.bin_read.emit("")
        super().leaveEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if step and modifiers in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.ShiftModifier,
        ):
            last = self._last + step if self._first is not None else 0
            is_more = bool(modifiers) and self._first is not None
            self._choose(self._first if is_more and self._first is not None else last, last)
        elif event.key() == Qt.Key.Key_Escape and self._band_ns is not None:
            self.choose_nothing()
        else:
            super().keyPressEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction("Choose no bins", self.choose_nothing).setEnabled(self._band_ns is not None)
        menu.addSeparator()
        menu.addActions(self.copying)
        open_menu(menu, event.globalPos())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.forget_chart()

    @override
    def sizeHint(self) -> QSize:
        return QSize(420, 160)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, 60)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        color = self._theme.color
        painter = QPainter(self)
        painter.fillRect(self.rect(), color(ColorRole.BG))
        chart = self.chart()
        if chart is not None:
            load_fonts()
            painter.scale(self.scale, self.scale)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_items(chart.items, painter)
        else:
            painter.setPen(color(ColorRole.MUTED))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect()), int(flags), self.empty_text)
        painter.end()
