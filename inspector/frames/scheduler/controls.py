"""Controls of the members of frame systems.

The members of a clock tree are found by number and are of many kinds; a protocol tells what
a member can do: ``isinstance(member, Pausable)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from inspector.frames.scheduler.targets import Pause


@runtime_checkable
class Pausable(Protocol):
    """Can be paused: a target, a call, a component, a component director, a ticker."""

    def pause(self) -> bool:
        """Pause it; returns whether anything changed."""

    def resume(self) -> bool:
        """Resume it; returns whether anything changed."""


@runtime_checkable
class Unschedulable(Protocol):
    """Can be unscheduled: a target with all its calls, a single call, a timer of a ticker."""

    def unschedule(self) -> bool:
        """Unschedule it; returns whether anything changed."""


@runtime_checkable
class SchedulerControl(Protocol):
    """A frame scheduler, ours or a dialect.

    Attributes:
        time_scale: Scheduler seconds per second, 0 or more.
    """

    time_scale: Any

    def pause_all(self, min_priority: int | None = None) -> Any:  # noqa: ANN401 - its own kind
        """Pause all targets, or those from a priority up."""

    def resume(self, paused: Any) -> object:  # noqa: ANN401 - what pause_all() returned
        """Undo what :meth:`pause_all` returned, as far as the scheduler can tell."""


@runtime_checkable
class MachineControl(Protocol):
    """A state machine."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all transitions."""

    def can(self, name: str) -> bool:
        """Whether a transition leads from the current state; guards are not called."""

    def go(self, name: Any) -> bool:  # noqa: ANN401 - a machine may narrow its names
        """Make a transition; returns whether it was made."""


def pause_from(scheduler: SchedulerControl, min_priority: int | None) -> Callable[[], object]:
    """Pause a scheduler's targets from a priority up, or all; returns what undoes this pause.

    Our scheduler undoes nothing else; a dialect, like its original, resumes all targets of the
    pause, including those paused before.
    """
    paused = scheduler.pause_all(min_priority)
    if isinstance(paused, Pause):
        return paused.resume
    return lambda: scheduler.resume(paused)
