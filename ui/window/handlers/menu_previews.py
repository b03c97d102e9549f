"""Shows beside the menus of the menu bar what their commands would do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QMenu
from typing_extensions import override

from ...kit.guards import guarded
from ...previews.previewing import Previewer
from ...previews.selected import commands_of_actions

if TYPE_CHECKING:
    from ..main_window import MainWindow


@guarded
class MenuPreviews(QObject):
    """Tells the actions of menus which command they would give, and previews it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.previewer = Previewer(window.bridge, window)

    def watch(self, menu: QMenu) -> None:
        """Preview the commands of a menu and of those below it while they are highlighted."""
        self._watch_showing(menu)
        self.previewer.watch(menu)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let no tooltip of a menu lie over the card; the card says more."""
        return event.type() == QEvent.Type.ToolTip and self.previewer.card.isVisible()

    def _watch_showing(self, menu: QMenu) -> None:
        menu.installEventFilter(self)
        menu.aboutToShow.connect(partial(self._take_commands, menu))
        for action in menu.actions():
            below = action.menu()
            if isinstance(below, QMenu):
                self._watch_showing(below)

    def _take_commands(self, menu: QMenu) -> None:
        """Let every action of a menu that is about to be seen know its command."""
        commands = commands_of_actions(self._window.bridge)
        for action in menu.actions():
            if action.objectName():
                action.setData(commands.get(action.objectName()))
