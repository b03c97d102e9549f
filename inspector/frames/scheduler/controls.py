"""What can be done, from outside, to what frame systems report of themselves.

The members of a clock tree are found by number and are of many kinds; what one of them
can do is asked by protocol: ``isinstance(member, Pausable)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from inspector.frames.scheduler.targets import Pause

if TYPE_CHECKING:
    from collections.abc import Callable


@runtime_checkable
class Pausable(Protocol):
    """Can wait by itself: a target, a call, a component, a component director, a ticker."""

    def pause(self) -> bool:
        """Let it wait; returns whether that changed anything."""

    def resume(self) -> bool:
        """Let it go on; returns whether that changed anything."""


@runtime_checkable
class Unschedulable(Protocol):
    """Can be taken back: a target with all its calls, a single call, a timer of a ticker."""

    def unschedule(self) -> bool:
        """Call it no more; returns whether that changed anything."""


@runtime_checkable
class SchedulerControl(Protocol):
    """A frame scheduler, ours or a dialect.

    Attributes:
        time_scale: Scheduler seconds per second that it is given, 0 or more.
    """

    time_scale: Any

    def pause_all(self, min_priority: int | None = None) -> Any:  # noqa: ANN401 - its own kind
        """Let all targets wait, or those from a priority on."""

    def resume(self, paused: Any) -> object:  # noqa: ANN401 - what pause_all() returned
        """Undo what :meth:`pause_all` returned, as far as the scheduler can tell."""


@runtime_checkable
class MachineControl(Protocol):
    """A state machine."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all transitions."""

    def can(self, name: str) -> bool:
        """Whether a transition leads away from the present state; guards are not asked."""

    def go(self, name: Any) -> bool:  # noqa: ANN401 - a machine may narrow its names
        """Make a transition; returns whether it was made."""


def pause_from(scheduler: SchedulerControl, min_priority: int | None) -> Callable[[], object]:
    """Pause a scheduler's targets from a priority on.

    Args:
        scheduler: Whose.
        min_priority: The least priority that waits; ``None`` for everybody.

    Returns:
        What to call to undo this pause. With our scheduler that undoes nothing else; a
        dialect resumes, as its original does, everybody it has paused, also those who had
        been paused before.
    """
    paused = scheduler.pause_all(min_priority)
    if isinstance(paused, Pause):
        return paused.resume
    return lambda: scheduler.resume(paused)
