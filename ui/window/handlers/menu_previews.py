"""Shows beside the menus of the menu bar what their commands would do."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QMenu
from typing_extensions import override

from inspector.commands.clocks import SetRate
from inspector.commands.members import ResumeFromPriority, UnscheduleMember
from inspector.commands.timers import ClearTimer, FireTimer

from ...kit.guards import guarded
from ...kit.rate_slider import next_usual_rate
from ...kit.texts.member_texts import UNSCHEDULABLE
from ...previews.member_needs import (
    scheduler_for,
    selected_clock,
    selected_member,
    selected_timer,
)
from ...previews.previewing import Previewer
from ...previews.tree_menus import member_toggle, toggle_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.commands.command import Command

    from ..main_window import MainWindow


@guarded
class MenuPreviews(QObject):
    """Tells the actions of menus which command they would give, and previews it.

    Attributes:
        previewer: What shows the card.
    """

    def __init__(self, window: MainWindow) -> None:
        """Watch no menu yet.

        Args:
            window: The window; its bridge and actions are there already.
        """
        super().__init__(window)
        self._window = window
        self.previewer = Previewer(window.bridge, window)

    def watch(self, menu: QMenu) -> None:
        """Preview the commands of a menu and of those below it while they are highlighted."""
        self._watch_showing(menu)
        self.previewer.watch(menu)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let no tooltip of a menu lie over the card; the status bar says the same."""
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
        commands = dict(self._commands())
        for action in menu.actions():
            if action.objectName():
                action.setData(commands.get(action.objectName()))

    def _commands(self) -> Iterator[tuple[str, Command]]:
        """Go through the actions that stand for a command on what is selected now."""
        bridge = self._window.bridge
        timeline, selection = bridge.timeline, bridge.selection
        root = timeline.clocks.get(timeline.root_id or 0)
        if root is not None:
            yield "slower", SetRate(root.id, next_usual_rate(root.rate, is_faster=False))
            yield "faster", SetRate(root.id, next_usual_rate(root.rate, is_faster=True))
            yield "normal-rate", SetRate(root.id, Fraction(1))
        if (clock := selected_clock(timeline, selection)) is not None:
            yield "pause-branch", toggle_command(timeline, clock.id)
        if timer_id := selected_timer(timeline, selection):
            yield "clear-timer", ClearTimer(timer_id)
            yield "fire-timer", FireTimer(timer_id)
        member = selected_member(timeline, selection)
        if member is not None and (toggle := member_toggle(member)) is not None:
            yield "pause-member", toggle
        if member is not None and member.kind in UNSCHEDULABLE:
            yield "unschedule-member", UnscheduleMember(member.id)
        if (scheduler := scheduler_for(timeline, selection)) is not None:
            yield "resume-from-priority", ResumeFromPriority(scheduler.id)
