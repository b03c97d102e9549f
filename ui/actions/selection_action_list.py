"""What can be done with what is selected, as data: clocks, timers and members."""

from __future__ import annotations

from typing import Final

from .descriptions import ActionDescription, Needs
from .menus import MenuId

_CLOCK_AND_TIMER_ACTIONS: Final = (
    ActionDescription(
        "pause-branch",
        "&Pause or resume branch",
        MenuId.BRANCH,
        "toggle_branch",
        ("P",),
        "pause-branch",
        Needs.CLOCK_PAUSE,
        "Pause the selected clock with everything below it, or undo its own pause.",
        is_checkable=True,
    ),
    ActionDescription(
        "set-rate",
        "Set &rate …",
        MenuId.BRANCH,
        "ask_for_rate",
        ("R",),
        "rate",
        Needs.CLOCK_RATE,
        "Set the rate of the selected clock.",
    ),
    ActionDescription(
        "clear-timer",
        "&Clear timer",
        MenuId.TIMER,
        "clear_timer",
        ("Del",),
        "clear-timer",
        Needs.TIMER,
        "Cancel the selected timer; it will not fire again.",
    ),
    ActionDescription(
        "fire-timer",
        "&Fire timer now",
        MenuId.TIMER,
        "fire_timer",
        ("Shift+F",),
        "fire-timer",
        Needs.TIMER,
        "Call the selected timer now; a repeating timer keeps its schedule.",
    ),
)

_MEMBER_ACTIONS: Final = (
    ActionDescription(
        "pause-member",
        "&Pause or resume selection",
        MenuId.MEMBER,
        "toggle_member",
        ("Shift+P",),
        needs=Needs.PAUSABLE_MEMBER,
        tip="Pause the selected target, call, component or ticker, or undo its own pause.",
    ),
    ActionDescription(
        "unschedule-member",
        "&Unschedule call or target",
        MenuId.MEMBER,
        "unschedule_member",
        needs=Needs.CALL,
        tip="Unschedule the selected call, or everything of the selected target.",
    ),
    ActionDescription(
        "pause-from-priority",
        "Pause &from a priority …",
        MenuId.MEMBER,
        "ask_for_priority",
        needs=Needs.SCHEDULER,
        tip="Pause every target of the scheduler with at least a given priority.",
        starts_section=True,
    ),
    ActionDescription(
        "resume-from-priority",
        "&Resume what a priority paused",
        MenuId.MEMBER,
        "resume_from_priority",
        needs=Needs.SCHEDULER,
        tip="Undo the last pause from a priority on.",
    ),
    ActionDescription(
        "time-scale",
        "Set time &scale …",
        MenuId.MEMBER,
        "ask_for_time_scale",
        needs=Needs.SCHEDULER,
        tip="Set how fast time passes in the scheduler.",
    ),
    ActionDescription(
        "make-transition",
        "&Make transition …",
        MenuId.MEMBER,
        "ask_for_transition",
        needs=Needs.MACHINE,
        tip="Choose a transition that leaves the machine's current state.",
        starts_section=True,
    ),
)

SELECTION_ACTIONS: Final = (*_CLOCK_AND_TIMER_ACTIONS, *_MEMBER_ACTIONS)
