"""The calls of a scheduler, and the update callback; each is its own handle."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from inspector.clocks.callbacks import label_of
from inspector.frames.scheduling import Callback, PendingCall
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from inspector.frames.scheduler.call_list import Slot
    from inspector.frames.scheduler.scheduler import Scheduler
    from inspector.frames.scheduler.targets import TargetRecord


class ScheduledCall(ABC):
    """A callback of a target: a timer or an update callback.

    Attributes:
        scheduler: The scheduler that makes the call.
        target: The object it belongs to.
        callback: Called with seconds.
        name: The user's name for it, or an empty text.
        is_pending: ``False`` once it is unscheduled or has made its last call.
        is_paused_itself: Whether the call itself is paused, apart from its target.
        number: Its number in events; 0 while nothing records.
    """

    __slots__ = (
        "__weakref__",
        "_record",
        "callback",
        "is_paused_itself",
        "is_pending",
        "name",
        "number",
        "scheduler",
        "target",
    )

    is_paused_itself: bool

    def __init__(
        self,
        scheduler: Scheduler,
        record: TargetRecord,
        target: object,
        callback: Callback,
        name: str,
    ) -> None:
        self.scheduler = scheduler
        self._record = record
        self.target = target
        self.callback = callback
        self.name = name
        self.is_pending = True
        self.number = 0

    @property
    def label(self) -> str:
        """The name, or the qualified name of the callback."""
        return self.name or label_of(self.callback)

    @property
    def is_paused(self) -> bool:
        """Whether the call or its target is paused."""
        return self.is_paused_itself or bool(self._record.pauses)

    def pause(self) -> bool:
        """Pause this call at once; returns whether anything changed."""
        self._record.reporter.check_thread()
        if self.is_paused_itself or not self.is_pending:
            return False
        if not self.is_paused:
            self.stop_passing()
        self.is_paused_itself = True
        self._record.reporter.set_paused(self.number, paused=True)
        return True

    def resume(self) -> bool:
        """Resume this call where it stopped, unless its target is paused."""
        self._record.reporter.check_thread()
        if not self.is_paused_itself:
            return False
        self.is_paused_itself = False
        self._record.reporter.set_paused(self.number, paused=False)
        if self.is_pending and not self.is_paused:
            self.pass_again()
        return True

    def unschedule(self) -> bool:
        """Remove this call at once; returns whether anything changed."""
        self._record.reporter.check_thread()
        if not self.is_pending:
            return False
        self.forget()
        self._record.remove(self)
        return True

    @abstractmethod
    def stop_passing(self) -> None:
        """Remove it from the frames; for the scheduler."""

    @abstractmethod
    def pass_again(self) -> None:
        """Return it to the frames; for the scheduler."""

    @abstractmethod
    def forget(self) -> None:
        """Remove it permanently; for the scheduler."""

    @abstractmethod
    def pending_call(self) -> PendingCall:
        """Return its present state as a value."""

    def _report_new(self, kind: MemberKind) -> None:
        """Report it; ignored while nothing records."""
        record = self._record
        if record.number:
            self.number = record.reporter.add(self, kind, self.label, record.number)
            if self.is_paused_itself:
                record.reporter.set_paused(self.number, paused=True)

    def _report_gone(self) -> None:
        self._record.reporter.remove(self.number)
        self.number = 0

    def _state(self) -> str:
        return ("" if self.is_pending else ", done") + (", paused" if self.is_paused else "")


class UpdateCallback(ScheduledCall):
    """Called in every frame with the scheduler's delta; made by ``schedule_update``."""

    __slots__ = ("_slot",)

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place only
        self,
        scheduler: Scheduler,
        record: TargetRecord,
        target: object,
        callback: Callback,
        name: str,
        priority: int,
        *,
        paused: bool,
    ) -> None:
        super().__init__(scheduler, record, target, callback, name)
        self.is_paused_itself = paused
        self._report_new(MemberKind.UPDATE)
        record.reporter.set(self.number, Field.PRIORITY, priority)
        self._slot: Slot = scheduler.update_calls.add(
            self, self._metered(), priority, is_called=not self.is_paused
        )

    def __repr__(self) -> str:
        return f"<UpdateCallback {self.label!r} priority {self.priority}{self._state()}>"

    @property
    def priority(self) -> int:
        """Smaller comes first; a change takes effect in the next frame.

        In the frame of the change everything keeps its turn, so nothing is called twice or
        skipped.
        """
        return self._slot.priority

    @priority.setter
    def priority(self, priority: int) -> None:
        self._record.reporter.check_thread()
        if self.is_pending and priority != self._slot.priority:
            self.scheduler.update_calls.move(self._slot, priority)
            self._record.reporter.set(self.number, Field.PRIORITY, priority)

    def call_instead(self, callback: Callback, name: str) -> None:
        """Replace the callback in its place."""
        was = self.label
        self.callback = callback
        self.name = name
        if self.number and self.label != was:
            self._record.reporter.set_text(self.number, Field.NAME, self.label)
        self.scheduler.update_calls.replace(self._slot, self._metered())

    def _metered(self) -> Callback:
        """Return the callback, with a measuring wrapper if it is reported."""
        return self._record.reporter.metered(self.number, self.callback)

    def stop_passing(self) -> None:
        """Remove it from the frames; for the scheduler."""
        self.scheduler.update_calls.silence(self._slot)

    def pass_again(self) -> None:
        """Return it to the frames; for the scheduler."""
        self.scheduler.update_calls.restore(self._slot)

    def forget(self) -> None:
        """Remove it permanently; for the scheduler."""
        self.is_pending = False
        self._report_gone()
        self.scheduler.update_calls.remove(self._slot)

    def pending_call(self) -> PendingCall:
        """Return its present state as a value."""
        return PendingCall(self.target, self.label, self.priority, 0.0, None, None, self.is_paused)
