"""Cocos Creator's deferred destruction: marked now, destroyed at the end of the frame."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class LifeComplaint(Enum):
    """What the original logs about nodes and components, with the number it logs."""

    REACTIVATED = (3816, "a node cannot be activated inside its own deactivation")
    PARENT_DEACTIVATING = (3821, "a node changed its parent while the parent was deactivated")
    DESTROYED_BEFORE = (5000, "it was destroyed already")
    NEGATIVE_INTERVAL = (1620, "an interval cannot be negative; it counts as 0")
    ENDLESS_DELTA = (0, "a frame and the clock lie before the last frame: the original hangs")
    CHILDREN_CHANGED = (0, "a walk through a node's children ended early: they became fewer")

    @property
    def code(self) -> int:
        """Number in the original's messages; 0 where it crashes without one."""
        return self.value[0]

    @property
    def text(self) -> str:
        """The complaint in words."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class LifeDiagnostic:
    """One complaint.

    Attributes:
        complaint: What it is about.
        subject: The node or component that it concerns.
    """

    complaint: LifeComplaint
    subject: object


@dataclass(slots=True)
class Life:
    """How far from its end an object is.

    Attributes:
        is_marked: ``destroy`` was called.
        is_destroyed: Really destroyed.
    """

    is_marked: bool = False
    is_destroyed: bool = False


class Destroyable(Protocol):
    """A node or a component."""

    @property
    def life(self) -> Life:
        """How far from its end it is."""

    def end(self) -> None:
        """Do what real destruction means for it."""


class DestructionQueue:
    """What waits for being destroyed, in the order of the ``destroy`` calls."""

    def __init__(
        self,
        complain: Callable[[LifeComplaint, object], None],
        on_change: Callable[[Destroyable], object] | None = None,
    ) -> None:
        """Begin empty.

        Args:
            complain: Takes what the original would log.
            on_change: Called with what has been marked or destroyed.
        """
        self._complain = complain
        self._on_change = on_change
        self._marked: list[Destroyable] = []
        self._is_flushing = False

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._marked)

    def mark(self, subject: Destroyable) -> bool:
        """Put an object down for destruction; returns whether that was new."""
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

        An exception lets what has not been reached wait as well. A flush inside a flush
        does nothing.
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
        """Destroy an object, marked or not."""
        if subject.life.is_destroyed:
            self._complain(LifeComplaint.DESTROYED_BEFORE, subject)
            return
        subject.end()
        subject.life.is_destroyed = True
        if self._on_change is not None:
            self._on_change(subject)
