"""What a scheduler knows about each target: its timers, its update, and who paused it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from inspector.frames.frame_timer import FrameTimer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from inspector.frames.pause import Pause
    from inspector.frames.scheduled import ScheduledCall, UpdateCallback


class TargetRecord:
    """One target.

    A target that is only remembered for being paused is not kept alive by that.

    Attributes:
        timers: By what their callbacks are known by.
        update: Its update callback.
        pauses: What it waits for before it goes on.
    """

    __slots__ = ("_forget", "_reference", "pauses", "timers", "update")

    def __init__(self, target: object, forget: Callable[[], None]) -> None:
        """Begin with nothing.

        Args:
            target: Told from others by identity, whatever it thinks of equality.
            forget: Called when nothing is left to be known.
        """
        self.timers: dict[Hashable, FrameTimer] = {}
        self.update: UpdateCallback | None = None
        self.pauses: set[Pause] = set()
        self._forget = forget
        self._reference: Callable[[], object | None]
        try:
            self._reference = ref(target, lambda _: forget())
        except TypeError:
            # A number, a text, a list: nobody can tell when those go.
            self._reference = lambda: target

    @property
    def target(self) -> object | None:
        """The target, ``None`` if it is gone."""
        return self._reference()

    @property
    def priority(self) -> int:
        """The priority of its update callback; 0 without one."""
        return 0 if self.update is None else self.update.priority

    def calls(self) -> Iterator[ScheduledCall]:
        """Go through the update and the timers, over a copy."""
        if self.update is not None:
            yield self.update
        yield from list(self.timers.values())

    @property
    def is_paused(self) -> bool:
        """Whether it was paused, or everything it has was."""
        if self.pauses:
            return True
        calls = list(self.calls())
        return bool(calls) and all(call.is_paused_itself for call in calls)

    def pause(self, pause: Pause) -> None:
        """Let everything wait, also for this."""
        if not self.pauses:
            for call in self.calls():
                if not call.is_paused_itself:
                    call.stop_passing()
        self.pauses.add(pause)

    def resume(self, pause: Pause) -> None:
        """Wait for this no longer."""
        if pause in self.pauses:
            self.pauses.remove(pause)
            if not self.pauses:
                self._go_on()

    def resume_whatever_paused_it(self) -> None:
        """Wait for nothing, nor let a single call of it wait."""
        if self.pauses:
            self.pauses.clear()
            self._go_on()
        for call in self.calls():
            call.resume()

    def _go_on(self) -> None:
        for call in self.calls():
            if not call.is_paused_itself:
                call.pass_again()
        self._forget_if_empty()

    def remove(self, call: ScheduledCall) -> None:
        """Forget a call that will not be made."""
        if isinstance(call, FrameTimer):
            del self.timers[call.key]
        else:
            self.update = None
        self._forget_if_empty()

    def remove_all(self) -> None:
        """Make no more calls; being paused is remembered."""
        calls, self.update, self.timers = list(self.calls()), None, {}
        for call in calls:
            call.forget()
        self._forget_if_empty()

    def _forget_if_empty(self) -> None:
        if not self.timers and self.update is None and not self.pauses:
            self._forget()


class Targets:
    """The records of a scheduler's targets, in the order in which they came."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        """Begin with nobody."""
        self._records: dict[int, TargetRecord] = {}

    def known(self, target: object) -> TargetRecord | None:
        """Return the record of a target, if there is one."""
        return self._records.get(id(target))

    def of(self, target: object) -> TargetRecord:
        """Return the record of a target; a new one if there is none."""
        key = id(target)
        record = self._records.get(key)
        if record is None:

            def forget() -> None:
                self._records.pop(key, None)

            record = self._records[key] = TargetRecord(target, forget)
        return record

    def all(self, min_priority: int | None = None) -> list[TargetRecord]:
        """Return everybody, or those from a priority on."""
        records = list(self._records.values())
        if min_priority is None:
            return records
        return [record for record in records if record.priority >= min_priority]
