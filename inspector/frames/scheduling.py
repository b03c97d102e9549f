"""What all frame schedulers have in common: ours and the dialects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

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
