"""Shows what a command would do to the timers of its branch, while it is only considered."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QPoint, QRect, Slot
from PySide6.QtWidgets import QMenu

from inspector.analysis.predict.changes import preview
from inspector.analysis.predict.preview_table import preview_table
from inspector.clocks.rate import parse_rate

from ..kit.paced_refresh import single_shot
from .preview_card import PreviewCard
from .selected import rate_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QWidget

    from inspector.commands.command import Command

    from ..session.bridge import SessionBridge

#: What is only passed over on the way to something else is not worth a card.
_WAIT_MS: Final = 120
#: Milliseconds from one look to the next while time goes on below the card.
_LOOK_EVERY_MS: Final = 250
#: Looking takes at most this share of the time, however many timers there are.
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
        self._timer = single_shot(self, self.look)
        bridge.session_changed.connect(self.hide)

    def watch(self, menu: QMenu) -> None:
        menu.hovered.connect(partial(self._take_action, menu))
        menu.aboutToHide.connect(partial(self._leave, menu))
        for action in menu.actions():
            below = action.menu()
            if isinstance(below, QMenu):
                self.watch(below)

    def consider(
        self, command: Command | None, anchor: Callable[[], QRect], *, is_beside: bool = False
    ) -> None:
        """Show soon what a command would do; nothing when it changes no due time.

        Args:
            command: What is considered, ``None`` for nothing.
            anchor: Returns where that is, in pixels of the whole desktop.
            is_beside: Lie beside it instead of below.
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
    def look(self) -> None:
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
        self.card.show_table(table.sentence, [_TITLES, *rows] if rows else [], table.rest)
        self.card.place(self._anchor(), is_beside=self._is_beside)
        self.card.show()
        if timeline.is_running:
            spent_ms = (perf_counter() - began_s) * 1_000
            self._timer.start(max(_LOOK_EVERY_MS, round(spent_ms / _MOST_SHARE)))

    def _take_action(self, menu: QMenu, action: QAction) -> None:
        # A menu passes on what is highlighted in those below it.
        if action not in menu.actions():
            return
        command = action.data() if action.isEnabled() else None
        self.consider(command, partial(_place_of, menu, action), is_beside=True)
        self._menu = menu

    def _leave(self, menu: QMenu) -> None:
        # One below it may close after something else was highlighted in the one above.
        if self._menu is menu:
            self.hide()


def _place_of(menu: QMenu, action: QAction) -> QRect:
    """Return the line of an action, as wide as its menu."""
    line = menu.actionGeometry(action)
    return QRect(menu.mapToGlobal(line.topLeft()), line.size())


def global_rect(widget: QWidget) -> QRect:
    """Return where a widget is, in pixels of the whole desktop."""
    return QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())


def typed_rate_command(clock_id: int, text: str) -> Command | None:
    try:
        return rate_command(clock_id, parse_rate(text))
    except ValueError:
        return None
