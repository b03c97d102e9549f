"""What all frame schedulers have in common: ours, and the originals' dialects."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

#: What a scheduler calls: with seconds of its own time.
Callback: TypeAlias = Callable[[float], object]


class Overshoot(Enum):
    """What becomes of the time by which a timer's call came too late.

    * ``CARRY``: it counts towards the next call, so nothing drifts and calls are made up.
    * ``DROP``: it is forgotten; one call a frame, and the interval begins anew with it.
    """

    CARRY = "carry"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class PendingCall:
    """Something that a scheduler will call, as it is at this moment.

    Attributes:
        target: Whom it belongs to.
        label: What is called.
        priority: Of an update callback; ``None`` for a timer.
        interval: Seconds between the calls of a timer, 0 for every frame.
        remaining: Scheduler seconds until a timer is due; ``None`` if it is called every frame.
        calls_left: How many calls are still to come; ``None`` for no end.
        is_paused: Whether it waits for being resumed, whoever paused it.
    """

    target: object
    label: str
    priority: int | None
    interval: float
    remaining: float | None
    calls_left: int | None
    is_paused: bool


class FrameScheduler(Protocol):
    """What can be asked of any frame scheduler; times are seconds."""

    time_scale: Any

    def schedule(  # noqa: PLR0913 - every one of them is a user's choice
        self,
        callback: Callback,
        interval: float = 0.0,
        *,
        target: object = None,
        repeat: int | None = None,
        delay: float = 0.0,
        paused: bool = False,
    ) -> object:
        """Call ``callback`` every ``interval``, ``repeat`` times after the first, or forever."""

    def schedule_once(
        self,
        callback: Callback,
        delay: float = 0.0,
        *,
        target: object = None,
        paused: bool = False,
    ) -> object:
        """Call ``callback`` once."""

    def schedule_update(
        self,
        target: object,
        priority: int = 0,
        *,
        paused: bool = False,
        callback: Callback | None = None,
    ) -> object:
        """Call ``target.update``, or ``callback``, in every frame, by priority."""

    def unschedule(self, callback: Callback, target: object = None) -> bool:
        """Take back a timer."""

    def unschedule_update(self, target: object) -> bool:
        """Take back an update callback."""

    def unschedule_target(self, target: object) -> None:
        """Take back everything of a target."""

    def unschedule_all(self, min_priority: int | None = None) -> None:
        """Take back everything, or everything from a priority on."""

    def pause_target(self, target: object) -> object:
        """Let everything of a target wait."""

    def resume_target(self, target: object) -> None:
        """Let everything of a target go on."""

    def is_target_paused(self, target: object) -> bool:
        """Return whether a target waits."""

    def is_scheduled(self, callback: Callback, target: object = None) -> bool:
        """Return whether there is such a timer."""

    def pause_all(self, min_priority: int | None = None) -> Any:  # noqa: ANN401 - its own kind
        """Let everything wait, or everything from a priority on; returns what to resume."""

    def resume(self, paused: Any) -> None:  # noqa: ANN401 - what pause_all() returned
        """Let go on what a call of :meth:`pause_all` has paused."""

    def post(self, function: Callable[..., object], *args: object) -> object:
        """Have a function called at the end of a frame; from any thread."""

    def clear_posted(self) -> None:
        """Forget the functions that were posted and have not been called."""

    def update(self, delta: float) -> None:
        """Run one frame."""

    def pending(self) -> list[PendingCall]:
        """Return everything that will be called, in call order."""


def callback_key(callback: Callable[..., object]) -> Hashable:
    """Return what tells one callback from another.

    A function is itself. A method of an object is the same each time it is looked up,
    whatever the object thinks about equality.
    """
    owner = getattr(callback, "__self__", None)
    if owner is None:
        return id(callback)
    function = getattr(callback, "__func__", None)
    return (id(owner), getattr(callback, "__name__", None) if function is None else id(function))


def default_target(callback: Callable[..., object]) -> object:
    """Return whom a callback belongs to if nobody says: its object, or itself."""
    owner = getattr(callback, "__self__", None)
    return callback if owner is None else owner
