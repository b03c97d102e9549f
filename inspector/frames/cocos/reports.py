"""What a dialect's scheduler says of itself: what changed since it was last looked at.

The originals change their lists in many places, some by accident. So nothing is reported
where it happens: after every operation the target it concerned, and after every frame
everybody, is compared with what was said last.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, Protocol

from inspector.clocks.callbacks import label_of, refuse_unfinished
from inspector.frames.reporting import nanoseconds
from inspector.vocabulary import Field, MemberKind

if TYPE_CHECKING:
    from inspector.frames.cocos.dialects import Dialect
    from inspector.frames.cocos.lists import UpdateEntry
    from inspector.frames.cocos.timer import DialectTimer, TimerElement
    from inspector.frames.reporting import Reporter
    from inspector.frames.scheduling import Callback

#: Due times that differ by less, in nanoseconds, are the same: sums of floats are not exact.
_SAME_DUE: Final = 1_000
#: Likewise where the original computes in single precision.
_SAME_DUE_SINGLE: Final = 100_000


class ReportedScheduler(Protocol):
    """What reports need of the scheduler that they are about."""

    dialect: Dialect
    time_scale: float

    def element_of(self, target: object) -> TimerElement | None:
        """Return the timers of a target."""

    def entry_of(self, target: object) -> UpdateEntry | None:
        """Return the update callback of a target, which may be marked as removed."""

    def pause_target(self, target: object) -> None:
        """Pause everything that a target has now."""

    def resume_target(self, target: object) -> None:
        """Resume everything that a target has."""

    def unschedule_target(self, target: object) -> None:
        """Remove everything that a target has."""

    def unschedule_update(self, target: object) -> bool:
        """Remove the update callback of a target."""


class DialectTarget:
    """A target of a dialect's scheduler, to be controlled from outside.

    Attributes:
        target: The target itself.
        number: By which it is reported.
        timers: Its timers that were reported.
        update: Its update callback that was reported.
        is_paused: Whether all of it was reported as paused.
    """

    def __init__(self, scheduler: ReportedScheduler, target: object) -> None:
        """Begin with nothing said of it."""
        self._scheduler = scheduler
        self.target = target
        self.number = 0
        self.timers: dict[DialectTimer, _TimerSaid] = {}
        self.update: DialectUpdate | None = None
        self.is_paused = False

    def pause(self) -> bool:
        """Pause what it has at this moment; returns whether that changed anything."""
        was_paused = self.is_paused
        self._scheduler.pause_target(self.target)
        return not was_paused

    def resume(self) -> bool:
        """Resume what it has, whoever paused it; returns whether that changed anything."""
        was_paused = self.is_paused or self.is_partly_paused
        self._scheduler.resume_target(self.target)
        return was_paused

    def unschedule(self) -> bool:
        """Remove all it has; returns whether it had anything."""
        has_calls = bool(self.timers) or self.update is not None
        self._scheduler.unschedule_target(self.target)
        return has_calls

    @property
    def is_partly_paused(self) -> bool:
        """Whether its timers or its update are paused."""
        update = self.update
        timers = self.timers.values()
        return any(said.is_paused for said in timers) or (update is not None and update.is_paused)


class DialectUpdate:
    """An update callback of a dialect's scheduler, to be controlled from outside.

    Attributes:
        entry: The callback itself.
        number: By which it is reported.
        is_paused: Whether it was reported as paused.
    """

    def __init__(self, scheduler: ReportedScheduler, entry: UpdateEntry) -> None:
        """Begin with nothing said of it."""
        self._scheduler = scheduler
        self.entry = entry
        self.number = 0
        self.is_paused = False

    def unschedule(self) -> bool:
        """Remove it; returns whether it was there."""
        return not self.entry.is_marked and self._scheduler.unschedule_update(self.entry.target)


class _TimerSaid:
    """What was said last of a timer."""

    __slots__ = ("due_ns", "interval", "is_paused", "left", "number", "remaining_ns")

    def __init__(self) -> None:
        self.number = 0
        self.interval = -1.0
        self.left: int | None = -1
        self.is_paused = False
        self.due_ns = 0
        self.remaining_ns = 0


class DialectReports:
    """Compares a dialect's scheduler with what was said of it, and says what is new."""

    def __init__(self, scheduler: ReportedScheduler, reporter: Reporter, number: int) -> None:
        """Introduce the scheduler.

        Args:
            scheduler: Whose reports these are.
            reporter: What is told.
            number: By which the scheduler is reported; not 0.
        """
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
        """Let a frame begin; scheduler time is reported as of its end."""
        self._is_in_frame = True
        if scaled:
            self._time += scaled
            self._reporter.set_seconds(self._number, Field.TIME, self._time)

    def call(self, number: int, callback: Callback, argument: float) -> None:
        """Call back, and report the call; what it raises goes through."""
        began_ns = perf_counter_ns()
        try:
            refuse_unfinished(callback(argument))
        finally:
            self._reporter.call_ended(number, began_ns)

    def call_timer(self, timer: DialectTimer, argument: float) -> None:
        """Do what :meth:`call` does, for a timer; calls that are left are known before it."""
        known = self._targets.get(id(timer.element.target))
        said = None if known is None else known.timers.get(timer)
        if said is not None:
            self._say_left(said, timer.calls_left)
        self.call(0 if said is None else said.number, timer.callback, argument)

    def call_update(self, entry: UpdateEntry, callback: Callback, argument: float) -> None:
        """Do what :meth:`call` does, for an update callback."""
        known = self._targets.get(id(entry.target))
        update = None if known is None else known.update
        self.call(0 if update is None else update.number, callback, argument)

    # -------------------------------------------------------------- comparing

    def frame_ended(self) -> None:
        """Report what is new of all targets, due times included."""
        self._is_in_frame = False
        # A copy: targets that are gone leave.
        for known in list(self._targets.values()):
            self.target_changed(known.target)

    def target_changed(self, target: object) -> None:
        """Report what is new of one target."""
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
        """Report the target itself as paused when all that it has is."""
        is_paused = (element is None or element.paused) and (entry is None or entry.paused)
        if is_paused != known.is_paused:
            known.is_paused = is_paused
            self._reporter.set_paused(known.number, paused=is_paused)

    def _timer_changed(self, known: DialectTarget, timer: DialectTimer) -> None:
        reporter = self._reporter
        said = known.timers.get(timer)
        is_new = said is None
        if said is None:
            said = known.timers[timer] = _TimerSaid()
            label = label_of(timer.callback)
            said.number = reporter.add(timer, MemberKind.FRAME_TIMER, label, known.number)
        if said.interval != timer.interval:
            said.interval = timer.interval
            interval = max(0.0, timer.interval)
            reporter.set_seconds(said.number, Field.INTERVAL, interval)
        self._say_left(said, timer.calls_left)
        is_paused = timer.element.paused
        is_pause_new = said.is_paused != is_paused
        if is_pause_new:
            said.is_paused = is_paused
            reporter.set_paused(said.number, paused=is_paused)
        if is_paused:
            self._say_remaining(said, nanoseconds(timer.remaining), is_new=is_pause_new)
        elif is_new or is_pause_new or not self._is_in_frame:
            # Inside a frame, some have passed it already and some have not.
            due_ns = nanoseconds(self._time + timer.remaining)
            self._say_due(said, due_ns, is_new=is_new or is_pause_new)

    def _say_due(self, said: _TimerSaid, due_ns: int, *, is_new: bool) -> None:
        if is_new or abs(due_ns - said.due_ns) > self._same_due:
            said.due_ns = due_ns
            self._reporter.set(said.number, Field.DUE, due_ns)

    def _say_remaining(self, said: _TimerSaid, remaining_ns: int, *, is_new: bool) -> None:
        if is_new or said.remaining_ns != remaining_ns:
            said.remaining_ns = remaining_ns
            self._reporter.set(said.number, Field.REMAINING, remaining_ns)

    def _say_left(self, said: _TimerSaid, left: int | None) -> None:
        if said.left != left:
            said.left = left
            self._reporter.set(said.number, Field.CALLS_LEFT, -1 if left is None else left)

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
            self._say_order(entry)
        if update.is_paused != entry.paused:
            update.is_paused = entry.paused
            reporter.set_paused(update.number, paused=entry.paused)

    def _say_order(self, entry: UpdateEntry) -> None:
        """Report a priority, and again those of equals behind it.

        There are some behind it if it was marked and is wanted again, at its old place.
        """
        is_behind = False
        for other in entry.order:
            is_behind = is_behind or other is entry
            if is_behind and other.priority == entry.priority and not other.is_marked:
                known = self._targets.get(id(other.target))
                if known is not None and known.update is not None:
                    self._reporter.set(known.update.number, Field.PRIORITY, other.priority)
