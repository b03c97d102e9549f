"""Shows what a command would do to the timers of its branch, while it is only considered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Final

from PySide6.QtCore import QObject, QPoint, QRect, Qt, Slot
from PySide6.QtGui import QAction, QFont, QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QMenu, QWidget

from inspector.analysis.predict.command_preview import preview
from inspector.analysis.predict.preview_table import preview_table
from inspector.clocks.rate import parse_rate
from inspector.commands.command import Command
from inspector.display_text import one_line, without_quotes

from ..kit.labels import plain_label
from ..kit.layouts import fill
from ..kit.throttled_refresh import single_shot
from ..session.bridge import SessionBridge
from .commands import rate_command

_MOST_WIDTH: Final = 420
_MOST_NAME: Final = 170
_GAP: Final = 4


class PreviewCard(QFrame):
    """Says in a sentence and a table what something would do, beside what is pointed at.

    It never takes the focus, so what is typed and highlighted below it goes on.
    """

    def __init__(self, parent: QWidget | None) -> None:
        """Make an empty card, hidden."""
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("preview_card")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameStyle(QFrame.Shape.Box | QFrame.Shadow.Plain)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.setAutoFillBackground(True)
        self._sentence = self._label("")
        self._sentence.setWordWrap(True)
        self._rest = self._label("")
        self._cells: list[list[QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(2)
        parts = (self._sentence, self._grid, self._rest)
        self._parts = fill(self, *parts, margins=(8, 6, 8, 6), spacing=6)

    def set_table(self, sentence: str, rows: Sequence[Sequence[str]], rest: str) -> None:
        """Show a sentence, rows of texts with the titles first, and the rest of them in words."""
        self._sentence.setText(sentence)
        self._rest.setText(rest)
        self._rest.setVisible(bool(rest))
        while len(self._cells) < len(rows):
            self._add_row(len(rows[0]))
        for place, cells in enumerate(self._cells):
            texts = rows[place] if place < len(rows) else ()
            for column, cell in enumerate(cells):
                text = one_line(texts[column]) if column < len(texts) else ""
                if column == 0:
                    metrics = cell.fontMetrics()
                    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, _MOST_NAME)
                cell.setText(text)
                cell.setVisible(bool(texts))
        self.setAccessibleName(sentence)
        self._fit()

    def text(self) -> str:
        shown = [[cell.text() for cell in cells] for cells in self._cells if cells[0].text()]
        lines = [self._sentence.text(), *("\t".join(cells) for cells in shown)]
        return "\n".join([*lines, self._rest.text()] if self._rest.text() else lines)

    def place(self, anchor: QRect, *, is_beside: bool) -> None:
        """Lie right of what is pointed at, or below it; on the other side if there is no room.

        The anchor is in pixels of the whole desktop.
        """
        screen = self.screen().availableGeometry()
        size = self.size()
        if is_beside:
            x = anchor.right() + _GAP
            if x + size.width() > screen.right():
                x = anchor.left() - _GAP - size.width()
            y = anchor.top()
        else:
            x = anchor.left()
            y = anchor.bottom() + _GAP
            if y + size.height() > screen.bottom():
                y = anchor.top() - _GAP - size.height()
        x = max(screen.left(), min(x, screen.right() - size.width()))
        y = max(screen.top(), min(y, screen.bottom() - size.height()))
        self.move(QPoint(x, y))

    def _fit(self) -> None:
        self._sentence.setMinimumWidth(0)
        margins = self._parts.contentsMargins()
        frame = margins.left() + margins.right() + 2 * self.frameWidth()
        one_line = self._sentence.fontMetrics().horizontalAdvance(self._sentence.text()) + 4
        table = self._grid.sizeHint().width()
        inner = min(max(table, min(one_line, _MOST_WIDTH)), 2 * _MOST_WIDTH)
        self._sentence.setFixedWidth(inner)
        self._parts.activate()
        self.resize(inner + frame, max(self._parts.heightForWidth(inner + frame), 1))

    def _add_row(self, columns: int) -> None:
        place = len(self._cells)
        cells = []
        for column in range(columns):
            cell = self._label("")
            # Instants are right-aligned, so that they can be compared digit by digit.
            side = Qt.AlignmentFlag.AlignRight if column in (1, 2) else Qt.AlignmentFlag.AlignLeft
            cell.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            if place == 0:
                font = QFont(cell.font())
                font.setBold(True)
                cell.setFont(font)
            self._grid.addWidget(cell, place, column)
            cells.append(cell)
        self._cells.append(cells)

    def _label(self, text: str) -> QLabel:
        label = plain_label(text, self)
        label.setForegroundRole(QPalette.ColorRole.ToolTipText)
        return label


#: Milliseconds before a card appears, so that none does for what the pointer only passes over.
_WAIT_MS: Final = 120
#: Milliseconds between updates of the card while time goes on.
_REFRESH_EVERY_MS: Final = 250
#: Updates take at most this share of the time, however many timers there are.
_MOST_SHARE: Final = 0.1
_TITLES: Final = ("Timer", "Fires at", "Would fire at", "")


class Previewer(QObject):
    """Watches menus and fields, and lays a card beside what is highlighted or typed."""

    def __init__(self, bridge: SessionBridge, parent: QWidget) -> None:
        """Show nothing yet; the card is to lie over the window of ``parent``."""
        super().__init__(parent)
        self._bridge = bridge
        self._command: Command | None = None
        self._anchor: Callable[[], QRect] | None = None
        self._is_beside = False
        self._menu: QMenu | None = None
        self.card = PreviewCard(parent)
        self._timer = single_shot(self, self.refresh)
        bridge.session_changed.connect(self.hide)

    def watch(self, menu: QMenu) -> None:
        menu.hovered.connect(partial(self._consider_action, menu))
        menu.aboutToHide.connect(partial(self._leave, menu))
        for action in menu.actions():
            below = action.menu()
            if isinstance(below, QMenu):
                self.watch(below)

    def consider(
        self, command: Command | None, anchor: Callable[[], QRect], *, is_beside: bool = False
    ) -> None:
        """Show soon what a command would do; nothing when it changes no due time.

        The anchor is where that is, in pixels of the whole desktop.
        """
        if command is None:
            self.hide()
            return
        self._command, self._anchor, self._is_beside = command, anchor, is_beside
        if not self._timer.isActive() or self.card.isVisible():
            self._timer.start(_WAIT_MS)

    @Slot()
    def hide(self) -> None:
        self._command = self._anchor = self._menu = None
        self._timer.stop()
        self.card.hide()

    @Slot()
    def refresh(self) -> None:
        """Show what is considered now, and look again in a moment if time goes on."""
        if self._command is None or self._anchor is None:
            return
        began_s = perf_counter()
        timeline = self._bridge.timeline
        foreseen = preview(timeline, self._command)
        if foreseen is None:
            self.card.hide()
            return
        table = preview_table(timeline, foreseen)
        rows = [(row.name, row.old, row.new, row.difference) for row in table.rows]
        said = without_quotes(table.sentence)
        self.card.set_table(said, [_TITLES, *rows] if rows else [], table.rest)
        self.card.place(self._anchor(), is_beside=self._is_beside)
        self.card.show()
        if timeline.is_running:
            spent_ms = (perf_counter() - began_s) * 1_000
            self._timer.start(max(_REFRESH_EVERY_MS, round(spent_ms / _MOST_SHARE)))

    def _consider_action(self, menu: QMenu, action: QAction) -> None:
        # A menu also reports what is highlighted in its submenus.
        if action not in menu.actions():
            return
        command = action.data() if action.isEnabled() else None
        self.consider(command, partial(_place_of, menu, action), is_beside=True)
        self._menu = menu

    def _leave(self, menu: QMenu) -> None:
        # A submenu may close after something else was highlighted in the menu above it.
        if self._menu is menu:
            self.hide()


def _place_of(menu: QMenu, action: QAction) -> QRect:
    line = menu.actionGeometry(action)
    return QRect(menu.mapToGlobal(line.topLeft()), line.size())


def global_rect(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())


def typed_rate_command(clock_id: int, text: str) -> Command | None:
    try:
        return rate_command(clock_id, parse_rate(text))
    except ValueError:
        return None
