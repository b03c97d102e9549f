"""A scene that was built, with everything that drives it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.frames.director import Director
from inspector.sessions.scene import Scene
from inspector.sessions.stage import Stage

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock
    from inspector.clocks.timer import Timer

logger = logging.getLogger(__name__)

_NAMES_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Hosting:
    """One life of a scene, from its build to the next reload.

    Attributes:
        scene: The scene itself.
        tree: Its clocks.
        transport: Between the time source and the clocks.
        director: Runs its frames.
        stage: What its ``build`` was given.
        pauses: By scheduler: what undoes each pause of its targets by a command.
    """

    scene: Scene
    tree: ClockTree
    transport: Transport
    director: Director
    stage: Stage
    pauses: dict[int, list[Callable[[], object]]] = field(default_factory=dict)

    def let_go(self) -> None:
        """Call nobody any more; the scene itself is still to be unloaded."""
        self.transport.on_frame = self.transport.on_wake_done = None
        self.tree.on_failure = lambda failure: logger.debug("after the end: %s", failure)
        self.transport.let_go()

    def clock(self, clock_id: int) -> Clock | None:
        """Return a clock by its number, ``None`` if it is gone."""
        return next((clock for clock in self.tree.root.walk() if clock.id == clock_id), None)

    def timer(self, clock_id: int, timer_id: int, due_ns: int) -> Timer | None:
        """Return a pending timer by its number, ``None`` if it is gone.

        Args:
            clock_id: Its clock.
            timer_id: Its number.
            due_ns: When it is due, in local time, as far as is known.
        """
        clock = self.clock(clock_id)
        return None if clock is None else clock.find_timer(timer_id, due_ns)

    def why_no_timer_is_next(self) -> str:
        """Return a sentence on why nothing will fire, for when nothing will."""
        stopped: dict[int, str] = {}
        pending = 0
        for clock in self.tree.root.walk():
            if clock.pending_count:
                pending += clock.pending_count
                for reason in clock.pause_reasons():
                    stopped.setdefault(reason.clock.id, f"“{reason.clock.name}”")
        if not pending:
            return "No timer is pending, so there is none to step to."
        names = list(stopped.values())
        others = len(names) - _NAMES_LISTED
        listed = ", ".join(names[:_NAMES_LISTED]) + (f" and {others} more" if others > 0 else "")
        verb = "is" if len(names) == 1 else "are"
        waits = "timer waits" if pending == 1 else "timers wait"
        return (
            f"{pending:,} {waits}, but none can fire because {listed} {verb} paused "
            "or at rate 0. Resume a branch first."
        )
