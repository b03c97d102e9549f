"""One pass over the events of a session, for all rules."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Final

from inspector.analysis.frame_events import FrameEventReader, FrameEvents
from inspector.analysis.lint.scheduled import ScheduledCalls
from inspector.analysis.lint.surveyed import (
    Chain,
    LateFiring,
    Survey,
    SurveyedFailures,
    SurveyedTimer,
    TimerGroup,
)
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.events.handlers import handlers_of, merged
from inspector.events.history import History, without_gaps
from inspector.events.schema import ABOUT_CLOCKS
from inspector.events.timeline import MISFIT, Timeline
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import NEVER, RawEvent

#: Events read at a time, which takes about a millisecond.
_STRETCH: Final = 1_000
#: Calls that are later than this are explained.
LATE_NS: Final = 20 * NS_PER_MS
#: With fewer frames the frame rate is unknown.
STEADY_FRAMES: Final = 60
#: Parts of the session after which timers are counted, to detect growth.
QUARTERS: Final = 4


def surveying(
    history: History, start: int, end: int, budget: FrameBudget, state: Timeline | None
) -> Generator[int, None, Survey]:
    """Survey the events between two cursors in short steps; yields the cursor reached."""
    survey = Survey(history, history.state_before(end) if state is None else state, budget)
    surveyor = _Surveyor(survey, history.state_before(start))
    marks = _quarters(history, start, end)
    cursor = start
    for mark in marks:
        while cursor < mark:
            upto = min(cursor + _STRETCH, mark)
            surveyor.read(*history.numbered(cursor, upto))
            cursor = upto
            yield cursor
        for group in survey.groups.values():
            group.marks.append(group.pending)
    surveyor.finish()
    return survey


def _quarters(history: History, start: int, end: int) -> list[int]:
    """Return the cursors that divide the time between two cursors into quarters."""
    if end <= start:
        return []
    # In a damaged recording either end may be missing.
    first_ns, last_ns = history.first_ns, history.last_ns
    if first := history.events(start, start + 1):
        first_ns = first[0][0]
    if last := history.events(end - 1, end):
        last_ns = last[0][0]
    inner = [
        history.cursor_at(first_ns + (last_ns - first_ns) * quarter // QUARTERS)
        for quarter in range(1, QUARTERS)
    ]
    return [*(min(max(start, cursor), end) for cursor in inner), end]


class _Surveyor:
    """Handles events one by one, and folds clocks for their local times."""

    def __init__(self, survey: Survey, before: Timeline) -> None:
        self.survey = survey
        self.clocks = before.only_clocks()
        self.calls: dict[int, int] = {}
        self._next = -1
        self._rate: tuple[()] | tuple[Fraction] = ()
        self._note_rate(0, 0, 0, 0)
        self.frames = FrameEventReader(self._end_frame)
        self.scheduled = ScheduledCalls(survey, before, self.clocks, self.frames)
        readers = map(
            handlers_of, (self, self.scheduled, self.frames, survey.samples, survey.clocks)
        )
        self._steps = merged(self.clocks.steps(ABOUT_CLOCKS), *readers)
        for timer_id in before.timers.ids():
            row = before.timers.index(timer_id)
            table = before.timers
            timer = SurveyedTimer(timer_id, table.clock[row], -1, 0, label=table.label[row])
            timer.site, timer.kind = table.site[row], table.kind[row]
            timer.due_ns, timer.interval_ns = table.due[row], table.interval[row]
            timer.calls = table.fired[row]
            timer.is_counted = True
            survey.timers[timer_id] = timer
            self._group(timer).pending += 1

    def read(self, cursors: Sequence[int], events: Sequence[RawEvent]) -> None:
        frames, steps = self.frames, self._steps
        for places, found in without_gaps(cursors, events):
            if places[0] != self._next:
                self._begin_behind_gap(places[0])
            self._next = places[-1] + 1
            for frames.cursor, (at_ns, kind, subject, a, b) in zip(places, found, strict=True):
                try:
                    for step in steps.get(kind, ()):
                        step(at_ns, subject, a, b)
                except MISFIT:
                    if not self.clocks.skips_misfits:
                        raise

    def _begin_behind_gap(self, cursor: int) -> None:
        """Forget the frame in progress, of which events are missing."""
        self.frames.begin(cursor)
        self.calls = {}
        self.scheduled.forget_frame()
        self.survey.long_frames.forget_before()

    def _note_rate(self, _at_ns: int, _clock_id: int, _a: int, _b: int) -> None:
        """Note how fast the time of the loop passes, if the program may be slowed or sped up."""
        loop, clocks = self.survey.timeline.frames_of, self.clocks
        self._rate = ()
        if loop in clocks.clocks:
            rate = prod((clock.rate for clock in clocks.path(loop)), start=Fraction(1))
            # At rate 0 it is held.
            self._rate = (rate,) if rate not in {0, 1} else ()

    _on_clock_rate = _note_rate

    def _on_clock_removed(self, _at_ns: int, _clock_id: int, _a: int, _b: int) -> None:
        self.scheduled.remove_with_clocks()

    def _on_timer_added(self, at_ns: int, timer_id: int, clock_id: int, label: int) -> None:
        timer = SurveyedTimer(timer_id, clock_id, at_ns, self.frames.cursor, label=label)
        self.survey.timers[timer_id] = timer

    def _on_timer_origin(self, _at_ns: int, timer_id: int, site: int, kind: int) -> None:
        if (timer := self.survey.timers.get(timer_id)) is not None:
            timer.site, timer.kind = site, kind

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        if (timer := self.survey.timers.get(timer_id)) is not None:
            timer.ended = True
            group = self._group(timer)
            group.cleared += 1
            group.pending -= 1

    def _on_callback_failed(self, at_ns: int, timer_id: int, name: int, raised: int) -> None:
        failures = self.survey.failures.get(name)
        if failures is None:
            failures = SurveyedFailures(timer_id, at_ns, self.frames.cursor, raised)
            self.survey.failures[name] = failures
        failures.count += 1

    _on_thread_failed = _on_callback_failed

    def _on_ticks_missed(self, at_ns: int, timer_id: int, ticks: int, _kind: int) -> None:
        if (timer := self.survey.timers.get(timer_id)) is not None:
            timer.missed += ticks
            timer.missed_at = self.frames.cursor, at_ns

    def _on_timer_armed(self, at_ns: int, timer_id: int, due_ns: int, interval_ns: int) -> None:
        timer = self.survey.timers.get(timer_id)
        if timer is None:
            return
        timer.due_ns, timer.interval_ns = due_ns, interval_ns
        timer.delay_ns = due_ns - self.clocks.local_ns(timer.clock_id, at_ns)
        if not timer.is_counted:
            timer.is_counted = True
            group = self._group(timer)
            group.added += 1
            group.pending += 1
        if not interval_ns:
            self._join_chain(timer)

    def _on_timer_fired(self, at_ns: int, timer_id: int, late_ns: int, next_ns: int) -> None:
        timer = self.survey.timers.get(timer_id)
        if timer is None:
            return
        if late_ns > LATE_NS and timer.clock_id in self.clocks.clocks:
            self._note_late(timer, at_ns, late_ns)
        timer.calls += 1
        timer.last_ns, timer.last_cursor = at_ns, self.frames.cursor
        self.calls[timer_id] = self.calls.get(timer_id, 0) + 1
        if next_ns == NEVER:
            timer.ended = True
            self._group(timer).pending -= 1
            return
        if next_ns != timer.due_ns:
            timer.shift_ns += next_ns - timer.due_ns - timer.interval_ns
        timer.due_ns = next_ns

    def _note_late(self, timer: SurveyedTimer, at_ns: int, late_ns: int) -> None:
        clocks, clock_id = self.clocks, timer.clock_id
        rate = clocks.effective_rate(clock_id)
        if rate:
            path = [clock.id for clock in clocks.path(clock_id)]
            related = (*path, *clocks.branch(clock_id))
            due_ns, called_ns = at_ns, at_ns + int(late_ns / rate)
            if clocks.local_ns(clock_id, at_ns) >= timer.due_ns + late_ns // 2:
                # An event of an attached program has the instant of the call, not the due one.
                due_ns, called_ns = at_ns - int(late_ns / rate), at_ns
            late = LateFiring(clock_id, related, due_ns, called_ns, self.frames.cursor)
            self.survey.late.append(late)

    def _group(self, timer: SurveyedTimer) -> TimerGroup:
        key = (False, timer.clock_id), timer.label, timer.site
        group = self.survey.groups.get(key)
        if group is None:
            group = self.survey.groups[key] = TimerGroup(timer)
        return group

    def _join_chain(self, timer: SurveyedTimer) -> None:
        """Add a one-shot to the chain of its name, or break the chain."""
        key = timer.clock_id, timer.label, timer.site
        chain = self.survey.chains.get(key)
        if chain is None:
            self.survey.chains[key] = Chain(timer, timer.delay_ns)
            return
        if not chain.last.ended or not chain.last.calls or chain.delay_ns != timer.delay_ns:
            # Several at once, cleared ones, or different delays do not make an interval.
            chain.delay_ns = -1
            chain.last = timer
            return
        chain.steps += 1
        chain.slip_ns += timer.due_ns - chain.last.due_ns - timer.delay_ns
        chain.last = timer

    def _on_frame_began(self, at_ns: int, _director: int, index: int, _delta_ns: int) -> None:
        survey = self.survey
        survey.frame_starts.append(at_ns)
        survey.frame_numbers.append(index)
        calls, self.calls = self.calls, {}
        if calls:
            since_ns = survey.frame_starts[-2] if len(survey.frame_starts) > 1 else 0
            survey.note_load(calls, survey.timers, index, at_ns, self.frames.cursor, since_ns)

    def _end_frame(self, frame: FrameEvents) -> None:
        if frame.cursor < 0:
            self.scheduled.forget_frame()
            return
        self.survey.long_frames.add(frame, *self._rate)
        self.scheduled.end_frame(frame.index)

    def finish(self) -> None:
        survey = self.survey
        starts = survey.frame_starts
        lengths = sorted(later - earlier for earlier, later in pairwise(starts))
        lengths = [length for length in lengths if length > 0]
        if not lengths:
            return
        survey.frame_ns = lengths[len(lengths) // 2]
        tenth = len(lengths) // 10
        spread = lengths[-1 - tenth] - lengths[tenth]
        survey.is_steady = len(lengths) >= STEADY_FRAMES and spread * 20 <= survey.frame_ns
