"""Reports of a dialect's scheduler: what changed since the last look.

The originals change their lists in many places, some by accident. So changes are not reported
where they happen: after every operation its target, and after every frame all targets, are
compared with the last report.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from inspector.clocks.callbacks import label_of, refuse_unfinished
from inspector.engines.cocos.lists import UpdateEntry
from inspector.engines.cocos.timer import DialectTimer, TimerElement
from inspector.frames.reporting import Reporter, nanoseconds
from inspector.frames.scheduling import Callback
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from inspector.engines.cocos.scheduler import DialectScheduler

#: Due times that differ by fewer nanoseconds count as equal: sums of floats are not exact.
_SAME_DUE: Final = 1_000
#: The same for originals that compute in single precision.
_SAME_DUE_SINGLE: Final = 100_000


class DialectTarget:
    """A target of a dialect's scheduler, as commands control it."""

    def __init__(self, scheduler: DialectScheduler, target: object) -> None:
        self._scheduler = scheduler
        self.target = target
        self.number = 0
        self.timers: dict[DialectTimer, _ReportedTimer] = {}
        self.update: DialectUpdate | None = None
        self.is_paused = False

    def pause(self) -> bool:
        was_paused = self.is_paused
        self._scheduler.pause_target(self.target)
        return not was_paused

    def resume(self) -> bool:
        was_paused = self.is_paused or self.is_partly_paused
        self._scheduler.resume_target(self.target)
        return was_paused

    def unschedule(self) -> bool:
        has_calls = bool(self.timers) or self.update is not None
        self._scheduler.unschedule_target(self.target)
        return has_calls

    @property
    def is_partly_paused(self) -> bool:
        update = self.update
        timers = self.timers.values()
        return any(reported.is_paused for reported in timers) or (
            update is not None and update.is_paused
        )


class DialectUpdate:
    """An update callback of a dialect's scheduler, as commands control it."""

    def __init__(self, scheduler: DialectScheduler, entry: UpdateEntry) -> None:
        self._scheduler = scheduler
        self.entry = entry
        self.number = 0
        self.is_paused = False

    def unschedule(self) -> bool:
        return not self.entry.is_marked and self._scheduler.unschedule_update(self.entry.target)


class _ReportedTimer:
    __slots__ = ("due_ns", "interval", "is_paused", "left", "number", "remaining_ns")

    def __init__(self) -> None:
        self.number = 0
        self.interval = -1.0
        self.left: int | None = -1
        self.is_paused = False
        self.due_ns = 0
        self.remaining_ns = 0


class DialectReports:
    """Compares a dialect's scheduler with its last report, and reports the changes."""

    def __init__(self, scheduler: DialectScheduler, reporter: Reporter, number: int) -> None:
        self._scheduler = scheduler
        self._reporter = reporter
        self._number = number
        self._time = 0.0
        self._same_due = _SAME_DUE_SINGLE if scheduler.dialect.float32 else _SAME_DUE
        self._is_in_frame = False
        self._targets: dict[int, DialectTarget] = {}
        reporter.set_text(number, Field.RULES, scheduler.dialect.title)
        reporter.set_rate(number, scheduler.time_scale)
        reporter.set(number, Field.TIME, 0)

    def frame_began(self, scaled: float) -> None:
        """Begin a frame; scheduler time is reported as of its end."""
        self._is_in_frame = True
        if scaled:
            self._time += scaled
            self._reporter.set_seconds(self._number, Field.TIME, self._time)

    def call(self, number: int, callback: Callback, argument: float) -> None:
        """Call back and report the call; exceptions pass through."""
        began_ns = perf_counter_ns()
        try:
            refuse_unfinished(callback(argument))
        finally:
            self._reporter.call_ended(number, began_ns)

    def call_timer(self, timer: DialectTimer, argument: float) -> None:
        """Do what :meth:`call` does, for a timer; the calls left are reported before it."""
        known = self._targets.get(id(timer.element.target))
        reported = None if known is None else known.timers.get(timer)
        if reported is not None:
            self._report_left(reported, timer.calls_left)
        self.call(0 if reported is None else reported.number, timer.callback, argument)

    def call_update(self, entry: UpdateEntry, callback: Callback, argument: float) -> None:
        known = self._targets.get(id(entry.target))
        update = None if known is None else known.update
        self.call(0 if update is None else update.number, callback, argument)

    def frame_ended(self) -> None:
        """Report the changes of all targets, due times included."""
        self._is_in_frame = False
        # A copy: targets without calls are removed.
        for known in list(self._targets.values()):
            self.target_changed(known.target)

    def target_changed(self, target: object) -> None:
        scheduler = self._scheduler
        element, entry = scheduler.element_of(target), scheduler.entry_of(target)
        timers = [] if element is None else element.timers
        if entry is not None and entry.is_marked:
            entry = None
        known = self._targets.get(id(target))
        if known is None:
            if not timers and entry is None:
                return
            known = self._targets[id(target)] = DialectTarget(scheduler, target)
            name = self._reporter.name_of(target)
            known.number = self._reporter.add(known, MemberKind.TARGET, name, self._number)
            self._reporter.link(known.number, target)
        present = set(timers)
        for timer in [timer for timer in known.timers if timer not in present]:
            self._reporter.remove(known.timers.pop(timer).number)
        for timer in timers:
            self._timer_changed(known, timer)
        self._update_changed(known, entry)
        if not timers and entry is None:
            del self._targets[id(target)]
            self._reporter.remove(known.number)
            return
        self._pause_changed(known, element if timers else None, entry)

    def _pause_changed(
        self, known: DialectTarget, element: TimerElement | None, entry: UpdateEntry | None
    ) -> None:
        """Report the target itself as paused when everything it has is."""
        is_paused = (element is None or element.paused) and (entry is None or entry.paused)
        if is_paused != known.is_paused:
            known.is_paused = is_paused
            self._reporter.set_paused(known.number, paused=is_paused)

    def _timer_changed(self, known: DialectTarget, timer: DialectTimer) -> None:
        reporter = self._reporter
        reported = known.timers.get(timer)
        is_new = reported is None
        if reported is None:
            reported = known.timers[timer] = _ReportedTimer()
            label = label_of(timer.callback)
            reported.number = reporter.add(timer, MemberKind.FRAME_TIMER, label, known.number)
        if reported.interval != timer.interval:
            reported.interval = timer.interval
            interval = max(0.0, timer.interval)
            reporter.set_seconds(reported.number, Field.INTERVAL, interval)
        self._report_left(reported, timer.calls_left)
        is_paused = timer.element.paused
        is_pause_new = reported.is_paused != is_paused
        if is_pause_new:
            reported.is_paused = is_paused
            reporter.set_paused(reported.number, paused=is_paused)
        if is_paused:
            remaining_ns = nanoseconds(timer.remaining)
            if is_pause_new or reported.remaining_ns != remaining_ns:
                reported.remaining_ns = remaining_ns
                reporter.set(reported.number, Field.REMAINING, remaining_ns)
        elif is_new or is_pause_new or not self._is_in_frame:
            # Not inside a frame, where only some of the timers have been advanced.
            due_ns = nanoseconds(self._time + timer.remaining)
            if is_new or is_pause_new or abs(due_ns - reported.due_ns) > self._same_due:
                reported.due_ns = due_ns
                reporter.set(reported.number, Field.DUE, due_ns)

    def _report_left(self, reported: _ReportedTimer, left: int | None) -> None:
        if reported.left != left:
            reported.left = left
            self._reporter.set(reported.number, Field.CALLS_LEFT, -1 if left is None else left)

    def _update_changed(self, known: DialectTarget, entry: UpdateEntry | None) -> None:
        reporter = self._reporter
        update = known.update
        if update is not None and update.entry is not entry:
            reporter.remove(update.number)
            known.update = update = None
        if entry is None:
            return
        if update is None:
            known.update = update = DialectUpdate(self._scheduler, entry)
            label = entry.label
            update.number = reporter.add(update, MemberKind.UPDATE, label, known.number)
            self._report_order(entry)
        if update.is_paused != entry.paused:
            update.is_paused = entry.paused
            reporter.set_paused(update.number, paused=entry.paused)

    def _report_order(self, entry: UpdateEntry) -> None:
        """Report an update's priority, which puts it behind its equals; then those behind it again.

        There are some behind it if it was marked and then scheduled again at its old place.
        """
        is_behind = False
        for other in entry.order:
            is_behind = is_behind or other is entry
            if is_behind and other.priority == entry.priority and not other.is_marked:
                known = self._targets.get(id(other.target))
                if known is not None and known.update is not None:
                    self._reporter.set(known.update.number, Field.PRIORITY, other.priority)
