"""What moves the playhead, as data."""

from __future__ import annotations

from typing import Final

from .descriptions import ActionDescription, Needs
from .menus import MenuId

LOOK_ACTIONS: Final = (
    ActionDescription(
        "look-at",
        "Look &at …",
        MenuId.LOOK_BACK,
        "ask_where_to_look",
        ("Ctrl+Shift+G",),
        "look-at",
        Needs.PAST,
        (
            "Show the state at an instant, a frame, or a number of timers away; the scene keeps "
            "running."
        ),
    ),
    ActionDescription(
        "look-frame-back",
        "One &frame back",
        MenuId.LOOK_BACK,
        "look_frame_back",
        ("Alt+Left",),
        "frame-back",
        Needs.PAST,
        "Show the state one frame earlier.",
        starts_section=True,
    ),
    ActionDescription(
        "look-frame-on",
        "One frame f&orward",
        MenuId.LOOK_BACK,
        "look_frame_on",
        ("Alt+Right",),
        "frame-on",
        Needs.LOOKING_BACK,
        "Show the state one frame later; after the newest frame, the present.",
    ),
    ActionDescription(
        "look-timer-back",
        "Previous &timer firing",
        MenuId.LOOK_BACK,
        "look_timer_back",
        ("Alt+Shift+Left",),
        "timer-back",
        Needs.PAST,
        "Show the state when the previous timer fired.",
    ),
    ActionDescription(
        "look-timer-on",
        "Ne&xt timer firing",
        MenuId.LOOK_BACK,
        "look_timer_on",
        ("Alt+Shift+Right",),
        "timer-on",
        Needs.LOOKING_BACK,
        "Show the state when the next timer fired.",
    ),
    ActionDescription(
        "look-live",
        "&Back to the present",
        MenuId.LOOK_BACK,
        "look_live",
        ("Alt+End",),
        "follow",
        Needs.LOOKING_BACK,
        "Show the present (also End, L or Escape).",
        starts_section=True,
    ),
)
