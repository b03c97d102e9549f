"""The buttons at the end of the row under the pointer: pause, a quarter, normal speed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPalette
from PySide6.QtWidgets import QToolTip, QTreeView
from typing_extensions import override

from inspector.commands.command import Command
from inspector.display_text import as_plain
from inspector.events.states import ClockState

from ..kit.guards import guarded
from ..kit.rate_widgets import RATE_PRESETS
from ..previews.selected import clock_toggle, is_clock_paused, rate_command
from .model import ClockTreeModel
from .rows import ClockColumn

_RATES: Final = (Fraction(1, 4), Fraction(1))
_PRESSES: Final = frozenset(
    {QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick}
)
#: Pixels beside a text, between buttons, and above and below them.
_BESIDE: Final = 5
_BETWEEN: Final = 2
_ABOVE: Final = 1


class RowButton(NamedTuple):
    """A button where it is painted.

    Attributes:
        text: What it says.
        tip: What it does, and which key does the same.
        command: What it asks for.
        is_on: Whether that is so already.
        rect: Where it is in the viewport.
    """

    text: str
    tip: str
    command: Command
    is_on: bool
    rect: QRect


@guarded
class RowButtons(QObject):
    """Paints buttons over the end of the row under the pointer, and takes their clicks.

    Signals:
        command_requested: A button was clicked: its command.
    """

    command_requested = Signal(object)  # Command

    def __init__(
        self, view: QTreeView, model: ClockTreeModel, why_not: Callable[[Command], str]
    ) -> None:
        """Show them in a view.

        Args:
            view: Shows the clocks; it is to call :meth:`paint` after its rows.
            why_not: Says why a command is not possible, nothing if it is.
        """
        super().__init__(view)
        self._view = view
        self._model = model
        self._why_not = why_not
        self._at: QPoint | None = None
        self._painted: list[tuple[RowButton, str]] = []
        view.viewport().setMouseTracking(True)
        view.viewport().installEventFilter(self)

    # ---------------------------------------------------------------- where they are

    def shown(self) -> list[RowButton]:
        """Return the buttons of the row under the pointer; none over anything but a clock."""
        timeline, clock, row = self._model.timeline, self._clock(), self._row()
        if timeline is None or clock is None or row.isEmpty():
            return []
        is_paused = is_clock_paused(timeline, clock)
        title = f"{'Resume' if is_paused else 'Pause'} “{clock.name}” (P)"
        wanted = [
            ("▶" if is_paused else "❚❚", title, clock_toggle(timeline, clock)),
            *(
                (
                    RATE_PRESETS[rate],
                    f"Run “{clock.name}” at rate {rate} (R for any rate)",
                    rate_command(clock.id, rate),
                )
                for rate in _RATES
            ),
        ]
        is_on = [is_paused, *(rate == clock.rate for rate in _RATES)]
        viewport, width = self._view.viewport(), self._view.fontMetrics().horizontalAdvance
        sizes = [
            max(width(text), row.height() - 2 * _BESIDE) + 2 * _BESIDE for text, _, _ in wanted
        ]
        # Names and rates, which can be edited, are never covered; the pause is the last to go.
        titles = self._view.header()
        rates = titles.sectionViewportPosition(ClockColumn.RATE)
        room = viewport.width() - rates - titles.sectionSize(ClockColumn.RATE)
        while sizes and sum(sizes) + _BETWEEN * len(sizes) > room:
            sizes.pop()
        found, left = [], viewport.width() - sum(sizes) - _BETWEEN * len(sizes)
        for (text, tip, command), on, size in zip(wanted, is_on, sizes, strict=False):
            rect = QRect(left, row.top() + _ABOVE, size, row.height() - 2 * _ABOVE)
            found.append(RowButton(text, tip, command, on, rect))
            left += size + _BETWEEN
        return found

    def button_at(self, place: QPoint) -> RowButton | None:
        return next((each for each in self.shown() if each.rect.contains(place)), None)

    def reason(self, button: RowButton) -> str:
        return self._why_not(button.command)

    def _node(self) -> int:
        view, at = self._view, self._at
        if at is None:
            return 0
        first = view.header().sectionViewportPosition(0)
        return self._model.node(view.indexAt(QPoint(first + 1, at.y())))

    def _clock(self) -> ClockState | None:
        timeline = self._model.timeline
        return None if timeline is None else timeline.clocks.get(self._node())

    def _row(self) -> QRect:
        return self._view.visualRect(self._model.index_of(self._node()))

    # ---------------------------------------------------------------- painting

    def paint(self, painter: QPainter) -> None:
        buttons = self.shown()
        self._painted = [(each, self.reason(each)) for each in buttons]
        if not buttons:
            return
        view, palette, role = self._view, self._view.palette(), QPalette.ColorRole
        first = buttons[0].rect
        ground = QRect(first.left() - _BESIDE, first.top(), view.viewport().width(), first.height())
        painter.fillRect(ground, palette.color(role.Base))
        for button, reason in self._painted:
            can = not reason
            group = QPalette.ColorGroup.Normal if can else QPalette.ColorGroup.Disabled
            is_lit = button.is_on or (
                can and self._at is not None and button.rect.contains(self._at)
            )
            fill, ink = (
                (role.Highlight, role.HighlightedText) if is_lit else (role.Button, role.ButtonText)
            )
            painter.fillRect(button.rect, palette.color(group, fill))
            # What is on has the colour of a selected row, and would be lost in one.
            painter.setPen(palette.color(group, role.ButtonText))
            painter.drawRect(button.rect.adjusted(0, 0, -1, -1))
            painter.setPen(palette.color(group, ink))
            painter.drawText(button.rect, Qt.AlignmentFlag.AlignCenter, button.text)

    def refresh(self) -> None:
        """Paint them again if they say or do something else than before."""
        if self._at is not None and self._painted != [
            (each, self.reason(each)) for each in self.shown()
        ]:
            self._repaint()

    def _repaint(self) -> None:
        row = self._row()
        if not row.isEmpty():
            viewport = self._view.viewport()
            viewport.update(0, row.top(), viewport.width(), row.height())

    # ---------------------------------------------------------------- the pointer

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the pointer, take clicks on buttons, and say what they do."""
        kind = event.type()
        if isinstance(event, QHelpEvent):
            return self._show_tip(event)
        if kind == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._move(event.position().toPoint())
        elif kind == QEvent.Type.Leave:
            self._move(None)
        elif kind in _PRESSES and isinstance(event, QMouseEvent):
            return self._take_press(event)
        return False

    def _move(self, place: QPoint | None) -> None:
        self._repaint()
        self._at = place
        self._repaint()

    def _take_press(self, event: QMouseEvent) -> bool:
        if event.button() != Qt.MouseButton.LeftButton:
            return False
        self._move(event.position().toPoint())
        button = self.button_at(event.position().toPoint())
        if button is None:
            return False
        if event.type() == QEvent.Type.MouseButtonRelease and not self.reason(button):
            self.command_requested.emit(button.command)
        return True

    def _show_tip(self, event: QHelpEvent) -> bool:
        button = self.button_at(event.pos())
        if button is None:
            return False
        reason = self.reason(button)
        below = f"\nUnavailable: {reason}." if reason else ""
        QToolTip.showText(
            event.globalPos(), as_plain(f"{button.tip}{below}"), self._view.viewport()
        )
        return True
