"""The actions on the selected timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.commands.timers import ClearTimer, FireTimer

from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..previews.member_needs import selected_timer

if TYPE_CHECKING:
    from ..session.bridge import SessionBridge


class TimerActions:
    """Carries out the actions on the selected timer."""

    def __init__(self, bridge: SessionBridge) -> None:
        self._bridge = bridge

    def clear_timer(self) -> None:
        """Cancel the selected timer."""
        if timer_id := selected_timer(self._bridge.timeline, self._bridge.selection):
            self._bridge.submit(ClearTimer(timer_id))

    def fire_timer(self) -> None:
        """Call the selected timer now."""
        if timer_id := selected_timer(self._bridge.timeline, self._bridge.selection):
            self._bridge.submit(FireTimer(timer_id))


TIMER_ACTIONS: Final = (
    ActionDescription(
        "clear-timer", "&Clear timer", MenuId.TIMER, TimerActions.clear_timer,
        shortcuts=("Del",), icon="clear-timer", needs=Needs.TIMER,
        tip="Cancel the selected timer; it will not fire again.",
    ),
    ActionDescription(
        "fire-timer", "&Fire timer now", MenuId.TIMER, TimerActions.fire_timer,
        shortcuts=("Shift+F",), icon="fire-timer", needs=Needs.TIMER,
        tip="Call the selected timer now; a repeating timer keeps its schedule.",
    ),
)  # fmt: skip
