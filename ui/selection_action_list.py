"""What can be done with what is selected, as data: clocks, timers and members."""

from __future__ import annotations

from typing import Final

from .action_descriptions import ActionDescription, Needs
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
        "Choose how fast the selected clock runs.",
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
        "Call the selected timer now; a repeating one keeps its schedule.",
    ),
)

_MEMBER_ACTIONS: Final = (
    ActionDescription(
        "pause-member",
        "&Pause or resume what is selected",
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
        tip="Take back the selected call, or everything of the selected target.",
    ),
    ActionDescription(
        "pause-from-priority",
        "Pause &from a priority on …",
        MenuId.MEMBER,
        "ask_for_priority",
        needs=Needs.SCHEDULER,
        tip="Pause every target of the scheduler whose priority is not below a number.",
        starts_section=True,
    ),
    ActionDescription(
        "resume-from-priority",
        "&Resume what was paused by priority",
        MenuId.MEMBER,
        "resume_from_priority",
        needs=Needs.SCHEDULER,
        tip="Undo the last pause from a priority on, and nothing else.",
    ),
    ActionDescription(
        "time-scale",
        "Set time &scale …",
        MenuId.MEMBER,
        "ask_for_time_scale",
        needs=Needs.SCHEDULER,
        tip="Choose how fast time passes in the scheduler.",
    ),
    ActionDescription(
        "make-transition",
        "&Make transition …",
        MenuId.MEMBER,
        "ask_for_transition",
        needs=Needs.MACHINE,
        tip="Choose one of the transitions that lead away from the machine's present state.",
        starts_section=True,
    ),
)

SELECTION_ACTIONS: Final = (*_CLOCK_AND_TIMER_ACTIONS, *_MEMBER_ACTIONS)
