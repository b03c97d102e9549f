"""The targets of a scheduler: their timers, their updates and their pauses."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from types import TracebackType
from typing import Self
from weakref import ref

from inspector.frames.reporting import Reporter
from inspector.frames.scheduler.calls import ScheduledCall, UpdateCallback
from inspector.frames.scheduler.frame_timer import FrameTimer
from inspector.vocabulary import MemberKind


class Pause:
    """The effect of one pausing call; resuming it undoes that call only.

    Also a context manager: ``with scheduler.pause_all(): ...``.

    Attributes:
        is_active: ``False`` once resumed.
    """

    __slots__ = ("_records", "is_active")

    def __init__(self, records: list[TargetRecord]) -> None:
        self._records = records
        self.is_active = True
        for record in records:
            record.wait_for(self)

    def __repr__(self) -> str:
        state = "" if self.is_active else ", resumed"
        return f"<Pause of {len(self.targets)} targets{state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.resume()

    @property
    def targets(self) -> list[object]:
        """The existing targets that wait because of this pause."""
        found = [record.target for record in self._records if self in record.pauses]
        return [target for target in found if target is not None]

    def resume(self) -> bool:
        """Undo this pause; other pauses remain in effect."""
        if self._records:
            self._records[0].reporter.check_thread()
        if not self.is_active:
            return False
        self.is_active = False
        for record in self._records:
            record.wait_no_longer_for(self)
        return True


class TargetRecord:
    """A target of a scheduler.

    A target that is remembered only for its pause is not kept alive.

    Attributes:
        timers: Its timers by the identity of their callbacks.
        update: Its update callback.
        pauses: The pauses in effect.
        reporter: Reports what happens to it.
        number: Its number in events; 0 while nothing records.
    """

    __slots__ = (
        "__weakref__",
        "_forget",
        "_own_pause",
        "_reference",
        "number",
        "pauses",
        "reporter",
        "timers",
        "update",
    )

    def __init__(
        self, target: object, forget: Callable[[], None], reporter: Reporter, above: int
    ) -> None:
        """Start with nothing.

        Targets are compared by identity, however they define equality. ``forget`` is called when
        nothing is left to remember.
        """
        self.reporter = reporter
        self.number = 0
        if above:
            name = reporter.name_of(target)
            self.number = reporter.add(self, MemberKind.TARGET, name, above)
            reporter.link(self.number, target)
        self.timers: dict[Hashable, FrameTimer] = {}
        self.update: UpdateCallback | None = None
        self.pauses: set[Pause] = set()
        self._own_pause: Pause | None = None
        self._forget = forget
        self._reference: Callable[[], object | None]
        try:
            self._reference = ref(target, lambda _: forget())
        except TypeError:
            # Numbers, texts and lists cannot be referred to weakly.
            self._reference = lambda: target

    @property
    def target(self) -> object | None:
        """The target, ``None`` once it is gone."""
        return self._reference()

    @property
    def priority(self) -> int:
        """The priority of its update callback; 0 without one."""
        return 0 if self.update is None else self.update.priority

    def calls(self) -> Iterator[ScheduledCall]:
        """Yield the update callback and the timers, from a copy."""
        if self.update is not None:
            yield self.update
        yield from list(self.timers.values())

    @property
    def is_paused(self) -> bool:
        """Whether it, or everything it has, is paused."""
        if self.pauses:
            return True
        calls = list(self.calls())
        return bool(calls) and all(call.is_paused_itself for call in calls)

    def wait_for(self, pause: Pause) -> None:
        """Add a pause, and pause all calls."""
        if not self.pauses:
            self.reporter.set_paused(self.number, paused=True)
            for call in self.calls():
                if not call.is_paused_itself:
                    call.stop_passing()
        self.pauses.add(pause)

    def wait_no_longer_for(self, pause: Pause) -> None:
        """Remove a pause, and resume the calls if it was the last."""
        if pause in self.pauses:
            self.pauses.remove(pause)
            if not self.pauses:
                self._go_on()

    def pause(self) -> bool:
        """Pause the target itself; returns whether that is new."""
        if self._own_pause in self.pauses:
            return False
        self._own_pause = Pause([self])
        return True

    def resume(self) -> bool:
        """Remove all pauses of the target and its calls; returns whether anything changed."""
        was_waiting = bool(self.pauses)
        if was_waiting:
            self.pauses.clear()
            self._go_on()
        resumed = [call.resume() for call in self.calls()]
        return was_waiting or any(resumed)

    def unschedule(self) -> bool:
        """Do what :meth:`remove_all` does; returns whether there were any calls."""
        has_calls = bool(self.timers) or self.update is not None
        self.remove_all()
        return has_calls

    def _go_on(self) -> None:
        self.reporter.set_paused(self.number, paused=False)
        for call in self.calls():
            if not call.is_paused_itself:
                call.pass_again()
        self._forget_if_empty()

    def remove(self, call: ScheduledCall) -> None:
        """Drop a call that will not be made."""
        if isinstance(call, FrameTimer):
            del self.timers[call.key]
        else:
            self.update = None
        self._forget_if_empty()

    def remove_all(self) -> None:
        """Remove all calls; pauses are remembered."""
        calls, self.update, self.timers = list(self.calls()), None, {}
        for call in calls:
            call.forget()
        self._forget_if_empty()

    def _forget_if_empty(self) -> None:
        if not self.timers and self.update is None and not self.pauses:
            if self.number:
                self.reporter.remove(self.number)
                self.number = 0
            self._forget()


class Targets:
    """The records of a scheduler's targets, in the order of their first use.

    Attributes:
        gone: Targets that were garbage-collected, possibly in another thread, and are yet to
            be reported.
    """

    __slots__ = ("_above", "_records", "_reporter", "gone")

    def __init__(self, reporter: Reporter, above: int) -> None:
        self._records: dict[int, TargetRecord] = {}
        self._reporter = reporter
        self._above = above
        self.gone: list[TargetRecord] = []

    def known(self, target: object) -> TargetRecord | None:
        """Return the record of a target, ``None`` without one."""
        self._reporter.check_thread()
        return self._records.get(id(target))

    def of(self, target: object) -> TargetRecord:
        """Return the record of a target, a new one if there is none."""
        self._reporter.check_thread()
        key = id(target)
        record = self._records.get(key)
        if record is None:

            def forget() -> None:
                forgotten = self._records.pop(key, None)
                if forgotten is not None and forgotten.number:
                    self.gone.append(forgotten)

            record = TargetRecord(target, forget, self._reporter, self._above)
            self._records[key] = record
        return record

    def report_gone(self) -> None:
        """Report targets that are gone; called between frames, by the thread that runs them."""
        while self.gone:
            self._reporter.remove(self.gone.pop(0).number)

    def all(self, min_priority: int | None = None) -> list[TargetRecord]:
        """Return all targets, or those from a priority up."""
        records = list(self._records.values())
        if min_priority is None:
            return records
        return [record for record in records if record.priority >= min_priority]
