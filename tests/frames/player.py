"""A target to be scheduled, and a record of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.frames.scheduler.scheduler import Scheduler
    from inspector.frames.scheduling import Callback


class Player:
    """A target; equal to every other one and without a hash, as dataclasses are."""

    def __init__(self, name: str = "player") -> None:
        self.name = name
        self.log: list[tuple[str, float]] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Player)

    __hash__ = None  # type: ignore[assignment]

    def update(self, delta: float) -> None:
        self.log.append(("update", delta))

    def tick(self, seconds: float) -> None:
        self.log.append(("tick", seconds))


def noting(calls: list[str], name: str) -> Callback:
    """Make a callback that notes a name."""

    def note(_: float) -> None:
        calls.append(name)

    return note


def run(scheduler: Scheduler, *deltas: float) -> None:
    for delta in deltas:
        scheduler.update(delta)
