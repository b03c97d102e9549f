"""The commands of a session: a class for each command, a file for each family.

A command never changes the display directly. The session applies it at a frame boundary (at
once while the scene is held) and records it as an event, with its refusal if any; the display
follows that event.
"""

from inspector.commands import breakpoints, clocks, members, recording, scene, timers, transport

__all__ = ["breakpoints", "clocks", "members", "recording", "scene", "timers", "transport"]
