"""The interface of all frame schedulers: ours and the dialects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

from inspector.clocks.clock import Clock

#: A scheduler's callback, called with seconds of the scheduler's time.
Callback: TypeAlias = Callable[[float], object]


class Overshoot(Enum):
    """What becomes of the lateness of a timer's call.

    * ``CARRY``: it counts towards the next call, so nothing drifts and missed calls are made.
    * ``DROP``: it is dropped; at most one call per frame, and the interval restarts there.
    """

    CARRY = "carry"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class PendingCall:
    """The present state of a call that a scheduler will make.

    Attributes:
        target: The object it belongs to.
        label: What is called.
        priority: Of an update callback; ``None`` for a timer.
        interval: Seconds between the calls of a timer, 0 for every frame.
        remaining: Scheduler seconds until a timer is due; ``None`` if it is called every frame.
        calls_left: Calls left; ``None`` for no limit.
        is_paused: Whether it is paused.
    """

    target: object
    label: str
    priority: int | None
    interval: float
    remaining: float | None
    calls_left: int | None
    is_paused: bool


class FrameScheduler(Protocol):
    """The interface of every frame scheduler; times are seconds."""

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
        self, callback: Callback, delay: float = 0.0, *, target: object = None, paused: bool = False
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
        """Unschedule a timer."""

    def unschedule_update(self, target: object) -> bool:
        """Unschedule an update callback."""

    def unschedule_target(self, target: object) -> None:
        """Unschedule everything of a target."""

    def unschedule_all(self, min_priority: int | None = None) -> None:
        """Unschedule everything, or everything from a priority up."""

    def pause_target(self, target: object) -> object:
        """Pause everything of a target."""

    def resume_target(self, target: object) -> None:
        """Resume everything of a target."""

    def is_target_paused(self, target: object) -> bool:
        """Return whether a target is paused."""

    def is_scheduled(self, callback: Callback, target: object = None) -> bool:
        """Return whether there is such a timer."""

    def pause_all(self, min_priority: int | None = None) -> Any:  # noqa: ANN401 - its own kind
        """Pause everything, or everything from a priority up; returns what to resume."""

    def resume(self, paused: Any) -> None:  # noqa: ANN401 - what pause_all() returned
        """Resume what a call of :meth:`pause_all` has paused."""

    def post(self, function: Callable[..., object], *args: object) -> object:
        """Call a function at the end of a frame; from any thread."""

    def clear_posted(self) -> None:
        """Drop the posted functions that have not been called."""

    def update(self, delta: float) -> None:
        """Run one frame."""

    def pending(self) -> list[PendingCall]:
        """Return everything that will be called, in call order."""


class RunByClock(ABC):
    """A scheduler that is given the time of a clock."""

    def __init__(self, clock: Clock | None, name: str) -> None:
        self.clock = clock
        self.name = name
        self._clock_seen_ns = 0 if clock is None else clock.time_ns

    def run_frame(self, _delta: float = 0.0) -> None:
        """Run one frame with the time that has passed on the clock.

        Does nothing while the clock stands still, or if it was removed. Fits a director:
        ``director.on("update", scheduler.run_frame)``.

        Raises:
            RuntimeError: There is no clock, or called from inside a frame.
        """
        clock = self.clock
        if clock is None:
            raise RuntimeError(f"{self.name!r} has no clock; call update(delta)")
        if clock.is_effectively_paused or clock.is_removed:
            return
        passed_ns = clock.time_ns - self._clock_seen_ns
        self._clock_seen_ns += passed_ns
        self.update_ns(passed_ns)

    @abstractmethod
    def update_ns(self, delta_ns: int) -> None:
        """Do what ``update`` does, with the delta in nanoseconds."""


def callback_key(callback: Callable[..., object]) -> Hashable:
    """Return the identity of a callback.

    A function is its own. A method is identified by its object and its function, however the
    object defines equality.
    """
    owner = getattr(callback, "__self__", None)
    if owner is None:
        return id(callback)
    function = getattr(callback, "__func__", None)
    return (id(owner), getattr(callback, "__name__", None) if function is None else id(function))


def default_target(callback: Callable[..., object]) -> object:
    """Return the default target of a callback: its object, or itself."""
    owner = getattr(callback, "__self__", None)
    return callback if owner is None else owner
