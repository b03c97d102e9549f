"""The late calls of a session, each with what made it late."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, structs

from inspector.analysis.lateness.attribution import BLOCKING, Cause, Lateness, attribute
from inspector.analysis.lateness.late_schedules import LateSchedules, LateSetting
from inspector.analysis.lateness.samples import Samples, samples_around
from inspector.events.handlers import handlers_of
from inspector.events.history import History
from inspector.events.schema import FIRINGS, OF_FRAMES
from inspector.events.states import SeenClocks
from inspector.events.timeline import Timeline
from inspector.vocabulary import RawEvent

_STRETCH: Final = 20_000
#: What functions do on the thread of their loop.
_WORK: Final = BLOCKING - {Cause.GIL}


class LateCall(Struct, frozen=True):
    timer_id: int  # The timer
    name: str
    clock_id: int
    clock: str  # The name of the clock; from late_calls() with those that tell it from others
    site: str  # Where it was set, empty if that is not known
    cursor: int  # The cursor of its firing; if it has not fired, that after all events
    lateness: Lateness  # What made it late, or keeps it waiting so far
    is_made: bool = True  # Whether it was called; False while it still waits


def loop_clocks(timeline: Timeline, samples: Samples, clock_id: int) -> set[int]:
    """Return the sampled clocks whose loop calls the timers of a clock."""
    sampled = {number for number in samples.by_clock if number in timeline.clocks}
    if clock_id in sampled:
        return {clock_id}
    above = {clock.id for clock in timeline.path(clock_id)}
    below = set(timeline.branch(clock_id))
    return sampled & (above | below)


def program_clock(timeline: Timeline, clock_id: int, samples: Samples) -> int:
    """Return the clock under which collections and stops of a clock's program are recorded."""
    told = {*samples.collections, *samples.stops}
    if clock_id not in timeline.clocks:
        # Its loop has been closed.
        return 0
    return next((clock.id for clock in timeline.path(clock_id) if clock.id in told), 0)


def window_of(
    timeline: Timeline, timer_id: int, at_ns: int, late_ns: int
) -> tuple[int, int] | None:
    """Return when a timer was due and when it was called, in session time.

    The event of a scene has the instant for which the timer was called, that of an attached program
    the instant of the call. The timeline is the state right before the call; the lateness is in
    time of the timer's clock. ``None`` if the clock stands still, or the timer is unknown.
    """
    if timer_id not in timeline.timers:
        return None
    clock_id = timeline.timers.clock[timeline.timers.index(timer_id)]
    if clock_id not in timeline.clocks:
        return None
    rate = timeline.effective_rate(clock_id)
    if not rate:
        return None
    real_ns = int(late_ns / rate)
    due_ns = timeline.session_due_ns(timer_id)
    if due_ns is not None and due_ns <= at_ns - real_ns // 2:
        return at_ns - real_ns, at_ns
    return at_ns, at_ns + real_ns


def lateness_at(
    history: History, timeline: Timeline, timer_id: int, begin_ns: int, end_ns: int
) -> Lateness:
    samples = samples_around(history, begin_ns, end_ns)
    clock_id = timeline.timers.clock[timeline.timers.index(timer_id)]
    clocks = loop_clocks(timeline, samples, clock_id)
    program = program_clock(timeline, clock_id, samples)
    return attribute(samples, clocks, program, begin_ns, end_ns)


def late_calls(history: History, over_ns: int) -> Iterator[LateCall]:
    """Yield calls that were late by more than a duration, and calls that were set late by more.

    A call that is still due at the end is included if most of the reason for its wait is known.
    """
    schedules = LateSchedules(history.strings)
    found = _found(history, over_ns, schedules)
    yield from filter(None, map(found.attributed, found.late))
    for setting in schedules.found(over_ns):
        gone = schedules.clocks.get(setting.clock_id, (f"clock {setting.clock_id}", 0))
        clock = found.names.get(setting.clock_id, gone[0])
        where = (setting.timer_id, setting.label, setting.clock_id, clock, setting.site)
        told_of = _lateness_of(setting, found.samples, schedules.clocks)
        if told_of is not None:
            yield LateCall(*where, setting.cursor, told_of)


def worst_late_calls(history: History, over_ns: int) -> list[LateCall]:
    """Return the :func:`late_calls` of a history, the worst first."""
    return sorted(late_calls(history, over_ns), key=lambda call: -call.lateness.late_ns)


def has_calls(history: History) -> bool:
    """Return whether any timer was called."""
    return any(
        event[1] in FIRINGS
        for start in range(history.first, history.end, _STRETCH)
        for event in history.events(start, min(start + _STRETCH, history.end))
    )


class LongestDelays(Struct, frozen=True):
    """The worst of the late calls, one of each delay.

    What keeps a loop makes all calls late that come due meanwhile: those of one clock whose waits
    overlap are one delay.
    """

    over_ns: int  # Calls later than this are late
    count: int  # How many calls were late
    worst: list[LateCall]  # The latest call of each of the longest delays, the worst first


def longest_delays(history: History, over_ns: int, most: int) -> LongestDelays:
    """Return the longest delays; only their worst calls are attributed, however many were late."""
    found = _found(history, over_ns, None)
    late_ones = [each for each in found.late if each[0].is_made or found.attributed(each)]
    worst: list[LateCall] = []
    for late in sorted(late_ones, key=lambda each: -each[0].lateness.late_ns):
        if len(worst) >= most:
            break
        is_new = not any(_overlap(late[0], each) for each in worst)
        if is_new and (call := found.attributed(late)) is not None:
            worst.append(call)
    return LongestDelays(over_ns, len(late_ones), worst)


def _overlap(call: LateCall, other: LateCall) -> bool:
    one, two = call.lateness, other.lateness
    are_apart = one.end_ns <= two.begin_ns or two.end_ns <= one.begin_ns
    return call.clock_id == other.clock_id and not are_apart


class _Found(Struct, frozen=True):
    late: list[tuple[LateCall, list[int]]]  # Late calls, each with the clocks related to its own
    samples: Samples
    names: dict[int, str]  # The names of clocks that tell them from others

    def attributed(self, late: tuple[LateCall, list[int]]) -> LateCall | None:
        """Return a late call with its causes; ``None`` if it still waits and none is known."""
        (call, related), samples = late, self.samples
        sampled = samples.by_clock.keys()
        told = samples.collections.keys() | samples.stops.keys()
        clocks = {call.clock_id} if call.clock_id in sampled else sampled & set(related)
        program = next((number for number in related if number in told), 0)
        due = call.lateness
        lateness = attribute(samples, clocks, program, due.begin_ns, due.end_ns)
        if not call.is_made and lateness.main is None:
            return None
        clock = self.names.get(call.clock_id, call.clock)
        return structs.replace(call, clock=clock, lateness=lateness)


def _found(history: History, over_ns: int, schedules: LateSchedules | None) -> _Found:
    """Return the late calls of a history; schedules are told what they need of it."""
    samples = Samples(history.strings)
    late: list[tuple[LateCall, list[int]]] = []
    start = history.first
    timeline = history.state_before(start)
    timeline.skips_misfits = True
    timeline.leave_out(OF_FRAMES)
    if schedules is not None:
        for state in timeline.clocks.values():
            schedules.clocks[state.id] = state.name, state.parent_id
    seen = SeenClocks(history.strings, timeline.clocks.values())
    steps = handlers_of(seen)
    while start < history.end:
        end = min(start + _STRETCH, history.end)
        cursors, events = history.numbered(start, end)
        samples.fold(events)
        for at_ns, kind, subject, a, b in events:
            if kind in steps:
                steps[kind](at_ns, subject, a, b)
        if schedules is not None:
            schedules.fold(cursors, events)
        found, folded = late_firings(timeline, cursors, events, over_ns)
        late += found
        timeline.apply_all(events[folded:])
        start = end
    late += _kept_waiting(timeline, samples, history.end, over_ns)
    return _Found(late, samples, seen.names_apart)


def _lateness_of(
    setting: LateSetting, samples: Samples, clocks: Mapping[int, tuple[str, int]]
) -> Lateness | None:
    """Return the lateness of a call that was set late; ``None`` if nothing can be said.

    In the turn in which it was set, its job may not have worked, but another, or none.
    """
    if setting.turn is None:
        return setting.lateness
    path, clock_id = [], setting.clock_id
    while clock_id in clocks and clock_id not in path:
        path.append(clock_id)
        clock_id = clocks[clock_id][1]
    told = samples.collections.keys() | samples.stops.keys()
    program = next((number for number in path if number in told), 0)
    lateness = attribute(samples, [setting.clock_id], program, *setting.turn)
    if setting.is_alone:
        is_kept = lateness.shares and not any(each.cause in _WORK for each in lateness.shares)
        return None if is_kept else setting.lateness
    main = lateness.main
    if main is None or main.cause not in _WORK or not main.name:
        return None
    # “sleep in poll”, or of trio “server.poll”
    is_own = setting.label == main.name or setting.label.endswith(
        (f" in {main.name}", f".{main.name}")
    )
    if not is_own:
        return lateness
    return setting.lateness if setting.is_regular else None


def _kept_waiting(
    timeline: Timeline, samples: Samples, cursor: int, over_ns: int
) -> Iterator[tuple[LateCall, list[int]]]:
    """Yield the calls that had waited for longer than a duration at the last sample."""
    looked_ns = {number: found[-1].at_ns for number, found in samples.by_clock.items() if found}
    before_ns = max(looked_ns.values(), default=0) - over_ns
    for call, related in waiting_calls(timeline, cursor, before_ns, 0):
        own = looked_ns.keys() & set(related)
        loops = {call.clock_id} if call.clock_id in looked_ns else own
        end_ns = max((looked_ns[number] for number in loops), default=0)
        due_ns = call.lateness.begin_ns
        if end_ns - due_ns > over_ns:
            yield structs.replace(call, lateness=Lateness.unmeasured(due_ns, end_ns)), related


def waiting_calls(
    timeline: Timeline, cursor: int, before_ns: int, until_ns: int
) -> Iterator[tuple[LateCall, list[int]]]:
    """Yield the calls due before an instant that still waited at ``until_ns``."""
    timeline.resolve_dues()
    timers = timeline.timers
    for timer_id, due_ns in zip(timers.id, timers.session_due, strict=True):
        if due_ns < before_ns:
            window = due_ns, max(due_ns, until_ns)
            call, related = _described(timeline, timer_id, cursor, window)
            yield structs.replace(call, is_made=False), related


def late_firings(
    timeline: Timeline, cursors: Iterable[int], events: Sequence[RawEvent], over_ns: int
) -> tuple[list[tuple[LateCall, list[int]]], int]:
    """Return the late calls among events, each with the clocks related to its own.

    Their lateness is not attributed. ``timeline``, the state before the events, is folded up to the
    last late call; the number of events folded is returned, too.
    """
    late: list[tuple[LateCall, list[int]]] = []
    folded = 0
    for place, (cursor, event) in enumerate(zip(cursors, events, strict=True)):
        at_ns, kind, timer_id, late_ns, _b = event
        if kind not in FIRINGS or late_ns <= over_ns:
            continue
        timeline.apply_all(events[folded:place])
        folded = place
        window = window_of(timeline, timer_id, at_ns, late_ns)
        if window is not None:
            late.append(_described(timeline, timer_id, cursor, window))
    return late, folded


def _described(
    timeline: Timeline, timer_id: int, cursor: int, window: tuple[int, int]
) -> tuple[LateCall, list[int]]:
    """Return a late call without an attribution, and its clock with those above and below it."""
    row = timeline.timers.row(timer_id)
    clock_id = row.clock_id
    related = [clock.id for clock in timeline.path(clock_id)] + timeline.branch(clock_id)
    call = LateCall(
        timer_id,
        row.label,
        clock_id,
        timeline.clocks[clock_id].name,
        row.call_site,
        cursor,
        Lateness.unmeasured(*window),
    )
    return call, related
