"""The sound scheduler by brute force: everything is looked at, and sorted, every time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: (kind, target, callback, argument in nanoseconds)
Call = tuple[str, int, int, int]


@dataclass(eq=False)
class ModelTimer:
    """A timer: how long it still waits, and what came before whom."""

    target: int
    callback: int
    interval: int
    delay: int
    left: int | None
    drops: bool
    is_paused_itself: bool
    remaining: int
    arrival: int
    number: int
    since_last: int = 0
    is_delayed: bool = False
    missed: int = 0
    born: int = 0


@dataclass(eq=False)
class ModelUpdate:
    """An update callback."""

    target: int
    priority: int
    number: int
    is_paused_itself: bool
    born: int
    turn: tuple[int, int] = (0, 0)


@dataclass
class SchedulerModel:
    """What :class:`inspector.frames.scheduler.scheduler.Scheduler` should do, in a plain way."""

    limit: int
    on_call: Callable[[str, int, int], None]
    calls: list[Call] = field(default_factory=list)
    timers: dict[tuple[int, int], ModelTimer] = field(default_factory=dict)
    updates: dict[int, ModelUpdate] = field(default_factory=dict)
    pauses: dict[int, set[int]] = field(default_factory=dict)
    frame: int = 0
    delta: int = 0
    count: int = 0

    def next_number(self) -> int:
        self.count += 1
        return self.count

    def is_waiting(self, call: ModelTimer | ModelUpdate) -> bool:
        return call.is_paused_itself or bool(self.pauses.get(call.target))

    def schedule(  # noqa: PLR0913 - as the scheduler's
        self,
        target: int,
        callback: int,
        interval: int,
        *,
        repeat: int | None,
        delay: int,
        paused: bool,
        drops: bool,
    ) -> None:
        number = self.next_number()
        self.timers[target, callback] = ModelTimer(
            target,
            callback,
            interval,
            delay,
            None if repeat is None else repeat + 1,
            drops,
            paused,
            delay or interval,
            number,
            number,
            is_delayed=delay > 0,
            born=self.frame,
        )

    def unschedule(self, target: int, callback: int) -> bool:
        return self.timers.pop((target, callback), None) is not None

    def schedule_update(self, target: int, priority: int, *, paused: bool | None) -> None:
        update = self.updates.get(target)
        if update is None:
            number = self.next_number()
            self.updates[target] = ModelUpdate(
                target, priority, number, bool(paused), self.frame, (priority, number)
            )
            return
        if paused is not None:
            update.is_paused_itself = paused
        if update.priority != priority:
            update.priority = priority
            update.number = self.next_number()

    def priority(self, target: int) -> int:
        return self.updates[target].priority if target in self.updates else 0

    def known(self, minimum: int | None) -> set[int]:
        everybody = {target for target, _ in self.timers} | set(self.updates)
        everybody |= {target for target, pauses in self.pauses.items() if pauses}
        return {t for t in everybody if minimum is None or self.priority(t) >= minimum}

    def unschedule_target(self, target: int) -> None:
        self.timers = {key: timer for key, timer in self.timers.items() if key[0] != target}
        self.updates.pop(target, None)

    def pause(self, targets: set[int], token: int) -> None:
        for target in targets:
            self.pauses.setdefault(target, set()).add(token)

    def resume(self, token: int) -> None:
        for target, pauses in self.pauses.items():
            if token in pauses:
                pauses.remove(token)
                if not pauses:
                    self._went_on(target)

    def resume_target(self, target: int) -> None:
        was_paused = bool(self.pauses.get(target))
        self.pauses[target] = set()
        if was_paused:
            self._went_on(target)
        if target in self.updates:
            self.updates[target].is_paused_itself = False
        for timer in self._of(target):
            self.set_timer_paused(timer, paused=False)

    def set_timer_paused(self, timer: ModelTimer, *, paused: bool) -> None:
        if timer.is_paused_itself and not paused:
            timer.is_paused_itself = False
            if not self.is_waiting(timer):
                timer.arrival = self.next_number()
        else:
            timer.is_paused_itself = paused

    def _of(self, target: int) -> list[ModelTimer]:
        return [timer for timer in self.timers.values() if timer.target == target]

    def _went_on(self, target: int) -> None:
        for timer in self._of(target):
            if not timer.is_paused_itself:
                timer.arrival = self.next_number()

    def is_target_paused(self, target: int) -> bool:
        if self.pauses.get(target):
            return True
        calls: list[ModelTimer | ModelUpdate] = [*self._of(target)]
        if target in self.updates:
            calls.append(self.updates[target])
        return bool(calls) and all(call.is_paused_itself for call in calls)

    def run(self, delta: int) -> None:
        self.frame += 1
        self.delta = delta
        for timer in self.timers.values():
            if not self.is_waiting(timer):
                timer.remaining -= delta
                timer.since_last += delta
        for update in self.updates.values():
            update.turn = (update.priority, update.number)
        self._run_updates()
        self._run_timers()
        self._run_every_frame()

    def _run_updates(self) -> None:
        for update in sorted(self.updates.values(), key=lambda update: update.turn):
            if self.updates.get(update.target) is update and not self.is_waiting(update):
                self._call("U", update.target, 0, self.delta)

    def _run_timers(self) -> None:
        counts: dict[ModelTimer, int] = {}
        while True:
            due = [
                timer
                for timer in self.timers.values()
                if not self.is_waiting(timer)
                and (timer.interval or timer.is_delayed)
                and timer.remaining <= 0
            ]
            if not due:
                return
            timer = min(due, key=lambda timer: (timer.remaining, timer.arrival))
            if not timer.drops and not timer.is_delayed:
                left_out = self._left_out(timer, self.limit - counts.get(timer, 0))
                if left_out:
                    timer.remaining += left_out * timer.interval
                    timer.arrival = self.next_number()
                    continue
            counts[timer] = counts.get(timer, 0) + 1
            self._fire(timer)

    def _left_out(self, timer: ModelTimer, allowed: int) -> int:
        possible = -timer.remaining // timer.interval + 1
        wanted = possible if timer.left is None else min(possible, timer.left)
        left_out = possible - allowed if wanted > allowed else 0
        timer.missed += left_out
        return left_out

    def _fire(self, timer: ModelTimer) -> None:
        argument = timer.delay if timer.is_delayed else timer.interval
        if timer.drops:
            argument = timer.since_last
            timer.since_last = 0
            timer.remaining = 0
        was_delayed, timer.is_delayed = timer.is_delayed, False
        timer.remaining += timer.interval
        self._count_down(timer)
        if was_delayed and timer.interval and timer.remaining <= 0 and timer.left != 0:
            timer.remaining += self._left_out(timer, self.limit - 1) * timer.interval
        timer.arrival = self.next_number()
        if was_delayed and not timer.interval:
            timer.number = self.next_number()
            timer.born = self.frame
        self._call("T", timer.target, timer.callback, argument)

    def _run_every_frame(self) -> None:
        for timer in sorted(self.timers.values(), key=lambda timer: timer.number):
            if (
                self.timers.get((timer.target, timer.callback)) is timer
                and not timer.interval
                and not timer.is_delayed
                and timer.born < self.frame
                and not self.is_waiting(timer)
            ):
                self._count_down(timer)
                self._call("T", timer.target, timer.callback, self.delta)

    def _count_down(self, timer: ModelTimer) -> None:
        if timer.left is not None:
            timer.left -= 1
            if not timer.left:
                del self.timers[timer.target, timer.callback]

    def _call(self, kind: str, target: int, callback: int, argument: int) -> None:
        self.calls.append((kind, target, callback, argument))
        self.on_call(kind, target, callback)
