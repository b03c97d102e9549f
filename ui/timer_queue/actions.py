"""The actions on the selected timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..previews.selected import submit_action

if TYPE_CHECKING:
    from ..session.bridge import SessionBridge


class TimerActions:
    """Carries out the actions on the selected timer."""

    def __init__(self, bridge: SessionBridge) -> None:
        self._bridge = bridge

    def clear_timer(self) -> None:
        submit_action(self._bridge, "clear-timer")

    def fire_timer(self) -> None:
        submit_action(self._bridge, "fire-timer")


TIMER_ACTIONS: Final = (
    ActionDescription(
        "clear-timer", "&Clear timer", MenuId.TIMER, TimerActions.clear_timer,
        shortcuts=("Del",), icon="clear-timer", needs=Needs.TIMER,
        tip="Cancel the selected timer; it will not fire again.",
    ),
    ActionDescription(
        "fire-timer", "&Fire timer now", MenuId.TIMER, TimerActions.fire_timer,
        shortcuts=("Shift+F",), icon="fire-timer", needs=Needs.FIRED_TIMER,
        tip="Call the selected timer now; a repeating timer keeps its schedule.",
    ),
)  # fmt: skip
