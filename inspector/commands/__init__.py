"""What a session can be told to do: a class for each command, a file for each family of them.

A command never changes a display. It is submitted, applied by the session at a frame
boundary (at once while the scene is held), recorded as an event together with its refusal,
if any, and shown when that event comes back.
"""

from inspector.commands import (
    breakpoints,
    clocks,
    members,
    recording,
    scene,
    timers,
    transport,
    undoing,
)

__all__ = [
    "breakpoints",
    "clocks",
    "members",
    "recording",
    "scene",
    "timers",
    "transport",
    "undoing",
]
