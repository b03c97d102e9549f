"""A chart on the screen: the same shapes as in a report, as large as there is room."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget
from typing_extensions import override

from inspector.formats.display_list import Box

from ..kit.clipboard import add_copying
from ..kit.guards import guarded
from ..kit.layouts import open_menu
from ..kit.picture import load_fonts, paint_items
from ..kit.theme import ColorRole, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from inspector.formats.display_list import Item

#: Height of a line of the window's font, in points of the chart.
_LINE_PT: Final = 11.5
_PAD: Final = 3.0


@guarded
class ChartView(QWidget):
    """Paints the shapes of a chart, and offers to copy them.

    Attributes:
        empty_text: Said instead of a chart without data.
    """

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        """Show nothing at first.

        Args:
            theme: Where colours come from.
            name: What a screen reader calls it.
            parent: The owner.
        """
        super().__init__(parent)
        self.empty_text = ""
        self._theme = theme
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.copying = add_copying(self, self.rows)
        theme.changed.connect(self.forget_chart)

    # ---------------------------------------------------------------- said by the subclass

    @abstractmethod
    def items(self) -> Sequence[Item]:
        """Return the shapes, in points; none without data."""

    @abstractmethod
    def rows(self) -> list[tuple[str, ...]]:
        """Return what is shown as a table, the titles first."""

    def forget_chart(self) -> None:
        """Make the shapes again when they are painted."""
        self.update()

    def add_to_menu(self, menu: QMenu) -> None:
        """Add what can be done besides copying."""

    # ---------------------------------------------------------------- places

    @property
    def scale(self) -> float:
        """Pixels per point of the chart."""
        return self.fontMetrics().height() / _LINE_PT

    def box(self) -> Box:
        """Return the room for the chart, in points."""
        scale = self.scale
        return Box(
            _PAD,
            _PAD,
            max(self.width() / scale - 2 * _PAD, 40.0),
            max(self.height() / scale - 2 * _PAD, 30.0),
        )

    # ---------------------------------------------------------------- events

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        self.add_to_menu(menu)
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
        painter.fillRect(self.rect(), color(ColorRole.BACKGROUND))
        items = self.items()
        if items:
            load_fonts()
            painter.scale(self.scale, self.scale)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_items(items, painter)
        else:
            painter.setPen(color(ColorRole.MUTED_TEXT))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect()), int(flags), self.empty_text)
        painter.end()
