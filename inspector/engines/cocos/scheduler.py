"""The originals' schedulers by the rules of a dialect, faults included.

For programs that run on one of them, and for comparison. The code follows the originals step
by step; where they differ, a rule of the :class:`~inspector.engines.cocos.dialects.Dialect`
decides. Only the endless loop of cocos2d-x 3.15 is cut off and reported.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable

from inspector.clocks.callbacks import checked_callable, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.refusals import check_order
from inspector.engines.cocos.dialects import (
    CREATOR_2_4,
    Complaint,
    Diagnostic,
    Dialect,
    Lists,
    PriorityChange,
    Rescheduling,
    as_written,
)
from inspector.engines.cocos.lists import ArrayOrder, DialectUpdates, LinkedOrder, UpdateEntry
from inspector.engines.cocos.reports import DialectReports
from inspector.engines.cocos.timer import DialectTimer, TimerElement, single, unrounded
from inspector.frames.reporting import Reporter
from inspector.frames.scheduling import (
    Callback,
    PendingCall,
    RunByClock,
    callback_key,
    default_target,
)
from inspector.timebase import ns_to_seconds
from inspector.vocabulary import MemberKind

__all__ = ["Complaint", "Diagnostic", "DialectScheduler"]

logger = logging.getLogger(__name__)


class DialectScheduler(RunByClock):
    """A scheduler that behaves like an original.

    Exceptions in callbacks leave :meth:`update`, with the same effect as in the original.
    """

    def __init__(  # noqa: PLR0913 - the last two are for a director that it belongs to
        self,
        dialect: Dialect = CREATOR_2_4,
        on_diagnostic: Callable[[Diagnostic], object] | None = None,
        *,
        clock: Clock | None = None,
        name: str = "",
        reporter: Reporter | None = None,
        above: int = 0,
    ) -> None:
        """Start with nothing scheduled.

        The reporter is by default one for the clock; ``above`` is the number of the director that
        it belongs to.
        """
        if not isinstance(dialect, Dialect):
            message = f"needs a dialect, such as CREATOR_2_4, not {dialect!r}"  # type: ignore[unreachable]
            raise TypeError(message)
        super().__init__(clock, name or dialect.title)
        self.dialect = dialect  # The rules it follows
        # Called with every :class:`Diagnostic`; logged if ``None``
        self.on_diagnostic = on_diagnostic
        self._number = single if dialect.float32 else unrounded
        self._time_scale: float = 1.0
        self._updates = DialectUpdates(dialect)
        order = ArrayOrder if dialect.lists is Lists.ARRAYS else LinkedOrder
        self._elements: ArrayOrder[TimerElement] | LinkedOrder[TimerElement] = order()
        self._elements_by_target: dict[int, TimerElement] = {}
        self._is_locked = False
        self._current: TimerElement | None = None
        self._is_current_salvaged = False
        self._posted: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._reporter = Reporter(clock) if reporter is None else reporter
        # Its number in events; 0 without a clock or while nothing records
        self.number = self._reporter.add(self, MemberKind.SCHEDULER, self.name, above)
        has_number = self.number != 0
        # Reports its changes; ``None`` while nothing records
        self.reports = DialectReports(self, self._reporter, self.number) if has_number else None

    def __repr__(self) -> str:
        timers = sum(len(element.timers) for element in self._elements)
        updates = len(self._updates)
        return f"<DialectScheduler {self.dialect.title}, {updates} updates, {timers} timers>"

    # ----------------------------------------------------------------- frame

    @property
    def time_scale(self) -> float:
        """Factor of the delta, read at the start of a frame; any number."""
        return self._time_scale

    @time_scale.setter
    def time_scale(self, scale: float) -> None:
        self._time_scale = self._number(float(scale))
        self._reporter.set_rate(self.number, self._time_scale)

    def update_ns(self, delta_ns: int) -> None:
        """Do what :meth:`update` does, with the delta in nanoseconds."""
        self.update(ns_to_seconds(delta_ns))

    def update(self, delta: float) -> None:
        """Run one frame, ``delta`` seconds after the previous one."""
        number = self._number
        self._is_locked = True
        scale = self._time_scale
        scaled = number(delta) if scale == 1 else number(number(delta) * scale)
        reports = self.reports
        if reports is None:
            self._run(scaled)
            return
        reports.frame_began(scaled)
        try:
            self._run(scaled)
        finally:
            reports.frame_ended()

    def _run(self, scaled: float) -> None:
        for entries in self._updates.lists:
            for entry in entries.walk():
                if not entry.paused and not entry.is_marked:
                    self._call_update(entry, scaled)
        for element in self._elements.walk_elements():
            self._current = element
            self._is_current_salvaged = False
            if not element.paused:
                _run_timers(element, scaled)
            if self._is_current_salvaged and not element.timers:
                self._elements.remove_current(element)
                del self._elements_by_target[id(element.target)]
        for entries in self._updates.lists:
            for entry in [entry for entry in entries if entry.is_marked]:
                self._updates.remove(entry)
        self._is_locked = False
        self._current = None
        self._perform_posted()

    def _call_update(self, entry: UpdateEntry, scaled: float) -> None:
        callback = entry.callback
        if callback is None:
            callback = getattr(entry.target, "update", None)
            if callback is None:
                if self.dialect.skips_missing_update:
                    return
                raise TypeError(f"the target has no update method: {entry.target!r}")
        if self.reports is None:
            refuse_unfinished(callback(scaled))
        else:
            self.reports.call_update(entry, callback, scaled)

    def _perform_posted(self) -> None:
        if not self.dialect.runs_posted_functions:
            return
        # Only those posted so far: functions posted meanwhile wait for the next frame.
        for _ in range(len(self._posted)):
            if self._posted:
                function, args = self._posted.popleft()
                refuse_unfinished(function(*args))

    # ---------------------------------------------------------------- timers

    def schedule(  # noqa: PLR0913 - every one of them is a user's choice
        self,
        callback: Callback,
        interval: float = 0.0,
        *,
        target: object = None,
        repeat: int | None = None,
        delay: float = 0.0,
        paused: bool = False,
    ) -> None:
        """Call ``callback`` every ``interval`` seconds, or in every frame for 0 or less.

        The target is by default the method's object, otherwise the callback itself; ``repeat`` are
        the calls after the first, without limit for ``None``; ``paused`` is applied only to the
        first timer of a target.
        """
        check_order("schedule(callback, interval)", callback, interval)
        owner = default_target(callback) if target is None else target
        self._schedule(callback, owner, interval, repeat, delay, paused)

    def schedule_as_written(self, *arguments: object) -> None:
        """Schedule with positional arguments, as a program of the original does.

        Six are (callback, target, interval, repeat, delay, paused); a rule of the dialect
        interprets fewer. ``None`` for repeat is forever.
        """
        given = as_written(self.dialect, arguments)
        if given.is_swapped and self.dialect.reports_swapped_arguments:
            self._report(Diagnostic(Complaint.ARGUMENTS_SWAPPED, given.target))
        self._schedule(
            given.callback, given.target, given.interval, given.repeat, given.delay, given.paused
        )

    def _schedule(  # noqa: PLR0913, PLR0917 - the original's six
        self,
        callback: Callback,
        target: object,
        interval: float,
        repeat: int | None,
        delay: float,
        paused: bool | None,  # noqa: FBT001 - None is JavaScript's undefined
    ) -> None:
        checked_callable(callback)
        if target is None:
            raise ValueError("a timer needs a target")
        element = self._elements_by_target.get(id(target))
        if element is None:
            element = TimerElement(target, paused=bool(paused), passed_paused=paused)
            self._elements.append(element)
            self._elements_by_target[id(target)] = element
        elif element.passed_paused is not paused:
            self._report(Diagnostic(Complaint.PAUSED_IGNORED, target))
        key = callback_key(callback)
        for timer in element.timers:
            if timer.key == key and not self._is_exhausted(timer):
                self._reschedule(timer, interval, repeat, delay)
                self._changed(target)
                return
        timer = DialectTimer(self, element, callback, key)
        timer.set_up(interval, repeat, delay)
        element.timers.append(timer)
        if self._current is element:
            self._is_current_salvaged = False
        self._changed(target)

    def _reschedule(
        self, timer: DialectTimer, interval: float, repeat: int | None, delay: float
    ) -> None:
        target = timer.element.target
        old, new = timer.interval, self._number(interval)
        self._report(Diagnostic(Complaint.RESCHEDULED, target, old, new))
        if self.dialect.rescheduling is Rescheduling.STARTS_AGAIN:
            timer.set_up(interval, repeat, delay)
        else:
            timer.interval = new

    def schedule_once(
        self, callback: Callback, delay: float = 0.0, *, target: object = None, paused: bool = False
    ) -> None:
        """Schedule with interval 0 and repeat 0, as the originals' components do."""
        self.schedule(callback, 0.0, target=target, repeat=0, delay=delay, paused=paused)

    def unschedule(self, callback: Callback, target: object = None) -> bool:
        """Remove the first timer with a callback; returns whether it existed."""
        owner = default_target(callback) if target is None else target
        element = self._elements_by_target.get(id(owner))
        if element is None:
            return False
        key = callback_key(callback)
        for timer in element.timers:
            if timer.key == key:
                self.remove_timer(timer)
                return True
        return False

    def remove_timer(self, timer: DialectTimer) -> None:
        """Remove a timer from its target's list, also during an iteration over it."""
        element = timer.element
        if timer not in element.timers:
            return
        index = element.timers.index(timer)
        timer.is_aborted = True
        del element.timers[index]
        if element.timer_index >= index:
            element.timer_index -= 1
        if not element.timers:
            self._emptied(element)
        self._changed(element.target)

    def _emptied(self, element: TimerElement) -> None:
        if self._current is element:
            self._is_current_salvaged = True
        else:
            self._elements.remove(element)
            del self._elements_by_target[id(element.target)]

    def is_scheduled(self, callback: Callback, target: object = None) -> bool:
        """Return whether there is such a timer; updates do not count."""
        owner = default_target(callback) if target is None else target
        element = self._elements_by_target.get(id(owner))
        if element is None:
            return False
        key = callback_key(callback)
        return any(timer.key == key and not self._is_exhausted(timer) for timer in element.timers)

    def _is_exhausted(self, timer: DialectTimer) -> bool:
        return self.dialect.counts_before_the_call and timer.is_exhausted

    # --------------------------------------------------------------- updates

    def schedule_update(
        self,
        target: object,
        priority: int = 0,
        *,
        paused: bool = False,
        callback: Callback | None = None,
    ) -> None:
        """Call ``target.update``, or ``callback``, in every frame."""
        called = getattr(target, "update", None) if callback is None else callback
        if called is not None:
            checked_callable(called)
        dialect = self.dialect
        entry = self._updates.find(target)
        if entry is not None:
            asked = entry
            if dialect.compares_priority_of_first_entry:
                asked = next(iter(entry.order))
            if asked.priority == priority:
                if dialect.same_priority_is_ignored:
                    self._report(Diagnostic(Complaint.SAME_PRIORITY, target))
                else:
                    entry.is_marked = False
                    entry.paused = paused
                    self._changed(target)
                return
            if dialect.priority_change is PriorityChange.REFUSED and self._is_locked:
                self._report(Diagnostic(Complaint.PRIORITY_LOCKED, target))
                entry.is_marked = False
                entry.paused = paused
                self._changed(target)
                return
            self.unschedule_update(target)
        self._updates.add(target, callback, priority, paused=paused)
        self._changed(target)

    def unschedule_update(self, target: object) -> bool:
        """Remove an update callback, or mark it inside a frame; returns whether it existed."""
        entry = self._updates.find(target)
        if entry is None:
            return False
        if self._is_locked:
            entry.is_marked = True
        if not self._is_locked or self.dialect.removes_updates_at_once:
            self._updates.remove(entry)
        self._changed(target)
        return True

    # ------------------------------------------------------------- everything

    def unschedule_target(self, target: object) -> None:
        """Remove all timers and the update of a target."""
        element = self._elements_by_target.get(id(target))
        if element is not None:
            for timer in element.timers:
                timer.is_aborted = True
            # The cursor of a running iteration stays where it is.
            element.timers.clear()
            self._emptied(element)
            self._changed(target)
        self.unschedule_update(target)

    def unschedule_all(self, min_priority: int | None = None) -> None:
        """Remove all timers, their targets' updates, and updates from a priority on."""
        elements = list(self._elements)
        if self.dialect.lists is Lists.ARRAYS:
            elements.reverse()
        for element in elements:
            self.unschedule_target(element.target)
        for entry in list(self._updates.from_priority(min_priority)):
            self.unschedule_update(entry.target)

    def pause_target(self, target: object) -> None:
        """Pause the calls that a target has now; without any, nothing is paused later either."""
        self._set_paused(target, paused=True)

    def resume_target(self, target: object) -> None:
        """Resume the calls that a target has."""
        self._set_paused(target, paused=False)

    def _set_paused(self, target: object, *, paused: bool) -> None:
        element = self._elements_by_target.get(id(target))
        if element is not None:
            element.paused = element.passed_paused = paused
        entry = self._updates.find(target)
        if entry is not None:
            entry.paused = paused
        self._changed(target)

    def is_target_paused(self, target: object) -> bool:
        """Return the paused flag of a target's timers, or else of its update."""
        element = self._elements_by_target.get(id(target))
        if element is not None:
            return element.paused
        entry = self._updates.find(target)
        return entry is not None and entry.paused

    def pause_all(self, min_priority: int | None = None) -> list[object]:
        """Pause all timers, and updates from a priority on; returns their targets.

        These include the ones paused before. In the dialects with arrays, a target with timers and
        an update is returned twice.
        """
        found: list[object] = []
        for element in self._elements:
            element.paused = element.passed_paused = True
            found.append(element.target)
        for entry in self._updates.from_priority(min_priority):
            entry.paused = True
            found.append(entry.target)
        for target in found:
            self._changed(target)
        if self.dialect.pauses_as_set:
            return list({id(target): target for target in found}.values())
        return found

    def resume(self, paused: Iterable[object]) -> None:
        """Resume each of these targets."""
        for target in paused:
            self.resume_target(target)

    # ----------------------------------------------------------------- others

    def post(self, function: Callable[..., object], *args: object) -> None:
        """Call a function at the end of the frame, from any thread, if the original can."""
        if not self.dialect.runs_posted_functions:
            raise TypeError(f"{self.dialect.title} does not perform functions from other threads")
        self._posted.append((function, args))

    def clear_posted(self) -> None:
        """Drop the posted functions."""
        self._posted.clear()

    def pending(self) -> list[PendingCall]:
        """Return everything scheduled, in the order of a frame."""
        updates = [
            entry.pending_call()
            for order in self._updates.lists
            for entry in order
            if not entry.is_marked
        ]
        return updates + [
            timer.pending_call() for element in self._elements for timer in element.timers
        ]

    def element_of(self, target: object) -> TimerElement | None:
        """Return the timers of a target; read-only."""
        return self._elements_by_target.get(id(target))

    def entry_of(self, target: object) -> UpdateEntry | None:
        """Return the update of a target, which may be marked; read-only."""
        return self._updates.find(target)

    def _changed(self, target: object) -> None:
        if self.reports is not None:
            self.reports.target_changed(target)

    def report_endless(self, timer: DialectTimer) -> None:
        """Report that a timer's loop was cut off."""
        self._report(Diagnostic(Complaint.ENDLESS, timer.element.target))

    def _report(self, diagnostic: Diagnostic) -> None:
        if self.on_diagnostic is not None:
            self.on_diagnostic(diagnostic)
            return
        level = logging.ERROR if diagnostic.complaint is Complaint.ENDLESS else logging.DEBUG
        title, text = self.dialect.title, diagnostic.complaint.value
        logger.log(level, "%s: %s (%r)", title, text, diagnostic.target)


def _run_timers(element: TimerElement, scaled: float) -> None:
    """Advance every timer of a target by a frame; the list may change meanwhile."""
    element.timer_index = 0
    while element.timer_index < len(element.timers):
        timer = element.timers[element.timer_index]
        timer.is_aborted = False
        timer.update(scaled)
        element.timer_index += 1
