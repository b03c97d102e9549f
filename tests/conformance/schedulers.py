"""Replays the originals' schedulers on our dialects; only translates, decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.engines.cocos.scheduler import Complaint, Diagnostic, DialectScheduler
from tests.conformance.replay import Event, GoldenLine, Hooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.engines.cocos.dialects import Dialect
    from inspector.frames.scheduling import Callback

#: How the recordings write what the programs in JavaScript log.
CREATOR_CODES: dict[Complaint, Any] = {
    Complaint.PRIORITY_LOCKED: 1506,
    Complaint.RESCHEDULED: 1507,
    Complaint.PAUSED_IGNORED: 1511,
    Complaint.ARGUMENTS_SWAPPED: 1514,
}
COCOS2DX_3_4_CODES: dict[Complaint, Any] = {
    Complaint.PRIORITY_LOCKED: "prio-locked",
    Complaint.RESCHEDULED: "update-interval",
    Complaint.PAUSED_IGNORED: "assert",
}
COCOS2DX_3_15_CODES: dict[Complaint, Any] = {
    Complaint.SAME_PRIORITY: "already",
    Complaint.RESCHEDULED: "reinit",
    Complaint.PAUSED_IGNORED: "assert",
}

_FOREVER = -1


class _BoomError(Exception):
    """What a callback throws when the recording says so."""


class _Target:
    """A target with an update method."""

    def __init__(self, number: int, on_update: Callable[[int, float], None]) -> None:
        self.number = number
        self._on_update = on_update

    def update(self, delta: float) -> None:
        self._on_update(self.number, delta)


class SchedulerReplay:
    """One sequence of operations on one scheduler."""

    def __init__(self, line: GoldenLine, dialect: Dialect, codes: dict[Complaint, Any]) -> None:
        """Begin with nothing scheduled."""
        self.events: list[Event] = []
        self._codes = codes
        self._scheduler = DialectScheduler(dialect, self._diagnosed)
        self._targets = [_Target(n, self._updated) for n in range(line.data["cfg"]["targets"])]
        self._callback_count: int = line.data["cfg"]["callbacks"]
        self._callbacks = {
            (target, callback): self._callback(target, callback)
            for target in range(len(self._targets))
            for callback in range(self._callback_count)
        }
        self._slots: dict[int, list[object]] = {}
        self._frames = 0
        self._hooks = Hooks(line, self.perform)

    def perform(self, operation: list[Any]) -> None:  # noqa: C901, PLR0912 - one line for each
        """Perform one operation."""
        scheduler, targets = self._scheduler, self._targets
        match operation:
            case ["tick", delta]:
                self._tick(delta)
            case ["sched" | "schedSwap" as name, t, c, interval, repeat, delay, paused]:
                pair = (self._callbacks[t, c], targets[t])
                first, second = pair if name == "sched" else pair[::-1]
                calls = None if repeat == _FOREVER else repeat
                scheduler.schedule_as_written(first, second, interval, calls, delay, bool(paused))
            case ["sched3" | "sched4" | "sched5", t, c, *rest]:
                scheduler.schedule_as_written(self._callbacks[t, c], targets[t], *rest)
            case ["schedU", t, priority, paused]:
                scheduler.schedule_update(targets[t], priority, paused=bool(paused))
            case ["unsched", t, c]:
                scheduler.unschedule(self._callbacks[t, c], targets[t])
            case ["unschedU", t]:
                scheduler.unschedule_update(targets[t])
            case ["unschedT", t]:
                scheduler.unschedule_target(targets[t])
            case ["unschedAll"]:
                scheduler.unschedule_all()
            case ["unschedMin", priority]:
                scheduler.unschedule_all(priority)
            case ["pause", t]:
                scheduler.pause_target(targets[t])
            case ["resume", t]:
                scheduler.resume_target(targets[t])
            case ["pauseAll", slot]:
                self._paused(slot, scheduler.pause_all())
            case ["pauseMin", priority, slot]:
                self._paused(slot, scheduler.pause_all(priority))
            case ["resumeSet", slot]:
                scheduler.resume(self._slots.get(slot, []))
            case ["scale", scale]:
                scheduler.time_scale = scale
            case ["q", t, c]:
                answer = scheduler.is_scheduled(self._callbacks[t, c], targets[t])
                self.events.append(["q", t, c, int(answer)])
            case ["p", t]:
                self.events.append(["p", t, int(scheduler.is_target_paused(targets[t]))])
            case ["perform", k]:
                scheduler.post(self._performed, k)
            case ["performClear"]:
                scheduler.clear_posted()
            case ["throw"]:
                raise _BoomError
            case _:
                raise AssertionError(operation)

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        scheduler = self._scheduler
        scheduled = [
            [t, c]
            for (t, c), callback in self._callbacks.items()
            if scheduler.is_scheduled(callback, self._targets[t])
        ]
        paused = [t.number for t in self._targets if scheduler.is_target_paused(t)]
        state = {"sched": scheduled, "paused": paused, "scale": scheduler.time_scale}
        self.events.append(["Z", state])
        return self.events

    def _tick(self, delta: float) -> None:
        self.events.append(["F", self._frames])
        self._frames += 1
        try:
            self._scheduler.update(delta)
        except _BoomError:
            self.events.append(["E", "boom"])

    def _callback(self, target: int, number: int) -> Callback:
        def call(argument: float) -> None:
            self.events.append(["T", target, number, argument])
            self._hooks.called(f"T{target}.{number}")

        return call

    def _updated(self, target: int, delta: float) -> None:
        self.events.append(["U", target, delta])
        self._hooks.called(f"U{target}")

    def _performed(self, number: int) -> None:
        self.events.append(["G", number])
        self._hooks.called(f"G{number}")

    def _paused(self, slot: int, paused: list[object]) -> None:
        self._slots[slot] = paused
        numbers = [target.number for target in paused if isinstance(target, _Target)]
        if self._scheduler.dialect.pauses_as_set:
            numbers.sort()
        self.events.append(["S", slot, numbers])

    def _diagnosed(self, diagnostic: Diagnostic) -> None:
        event: Event = ["D", self._codes[diagnostic.complaint]]
        if event[1] == self._codes[Complaint.RESCHEDULED] == CREATOR_CODES[Complaint.RESCHEDULED]:
            event += [diagnostic.old_interval, diagnostic.new_interval]
        self.events.append(event)


def replay_as(dialect: Dialect, codes: dict[Complaint, Any]) -> Callable[[GoldenLine], list[Event]]:
    """Return what replays a line in a dialect."""

    def replay(line: GoldenLine) -> list[Event]:
        scheduler = SchedulerReplay(line, dialect, codes)
        for operation in line.data["ops"]:
            scheduler.perform(operation)
        return scheduler.finish()

    return replay
