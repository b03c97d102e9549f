"""Cocos Creator's deferred destruction: marked now, destroyed at the end of the frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from inspector.engines.creator.components import Component
    from inspector.engines.creator.nodes import Node

Destroyable: TypeAlias = "Node | Component"


class LifeComplaint(Enum):
    """What the original logs about nodes and components, with its message number."""

    REACTIVATED = (3816, "a node cannot be activated inside its own deactivation")
    PARENT_DEACTIVATING = (3821, "a node changed its parent while the parent was deactivated")
    DESTROYED_BEFORE = (5000, "it is already destroyed")
    NEGATIVE_INTERVAL = (1620, "an interval cannot be negative; it counts as 0")
    ENDLESS_DELTA = (0, "a frame and the clock are before the last frame: the original hangs")
    CHILDREN_CHANGED = (0, "an iteration over a node's children ended early: there are fewer")

    @property
    def code(self) -> int:
        """Message number of the original; 0 where it crashes without a message."""
        return self.value[0]

    @property
    def text(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class LifeDiagnostic:
    complaint: LifeComplaint
    subject: object


@dataclass(slots=True)
class DestructionState:
    """Whether an object is marked for destruction or destroyed."""

    is_marked: bool = False  # destroy was called
    is_destroyed: bool = False  # Destroyed for real


class DestructionQueue:
    """Objects marked for destruction, in the order of their ``destroy`` calls."""

    def __init__(
        self,
        complain: Callable[[LifeComplaint, object], None],
        on_change: Callable[[Destroyable], object] | None = None,
    ) -> None:
        """Start empty; ``complain`` takes what the original would log."""
        self._complain = complain
        self._on_change = on_change
        self._marked: list[Destroyable] = []
        self._is_flushing = False

    def __len__(self) -> int:
        return len(self._marked)

    def mark(self, subject: Destroyable) -> bool:
        """Mark an object for destruction; returns whether that is new."""
        life = subject.life
        if life.is_destroyed:
            self._complain(LifeComplaint.DESTROYED_BEFORE, subject)
            return False
        if life.is_marked:
            return False
        life.is_marked = True
        self._marked.append(subject)
        if self._on_change is not None:
            self._on_change(subject)
        return True

    def flush(self, _: None = None) -> None:
        """Destroy what is marked now; what is marked meanwhile waits for the next flush.

        After an exception the rest waits too. A flush inside a flush does nothing.
        """
        if self._is_flushing:
            return
        self._is_flushing = True
        try:
            count = len(self._marked)
            for subject in self._marked[:count]:
                if not subject.life.is_destroyed:
                    self.destroy_now(subject)
            del self._marked[:count]
        finally:
            self._is_flushing = False

    def destroy_now(self, subject: Destroyable) -> None:
        if subject.life.is_destroyed:
            self._complain(LifeComplaint.DESTROYED_BEFORE, subject)
            return
        subject.end()
        subject.life.is_destroyed = True
        if self._on_change is not None:
            self._on_change(subject)
