"""Spans of a frame: its phases, and the calls within them.

The log has the duration of each phase, and the beginning and duration of each call. It does
not have the beginning of a phase, so phases are laid out in order, each as early as the phases
before it and its own calls allow. They never overlap, and contain their calls. The timers of
the clock tree fire before the frame, so their phase ends where the frame begins. Single timers
are not measured: a single firing is shown as long as the phase; several are shown in order, with
equal parts of it, and their lateness.

A captured trace has no phases: its slices are nested below a span for each thread.

The cost depends on the frame, not on the log.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

from inspector.analysis.explain.suspects import suspect
from inspector.analysis.frame_events import NO_PHASE, FrameEvents, MeasuredCall, frames_in
from inspector.display_text import listed
from inspector.events.history import History
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.schema import ADDED, FRAME_ENDS, Unit
from inspector.events.timeline import Timeline
from inspector.vocabulary import MemberKind, Phase, Share

PHASE_KIND: Final = "phase"
TIMER_KIND: Final = "timer"
THREAD_KIND: Final = "thread"
#: Callbacks are measured separately for the frame and for the interval, so the two may differ.
_SLACK: Final = 1.05
_OWNERS: Final = frozenset({MemberKind.TARGET, MemberKind.NODE})


@dataclass(frozen=True, slots=True)
class SampledFunction:
    site: str  # Where it was, as file:line
    samples: int  # How many samples have seen it there
    looks: int  # How many samples of the frame there are
    is_own: bool  # Whether it belongs to the program, not to a library
    blocks: bool  # Whether it took most of the frame
    helps: str = ""  # How to stop it from keeping the loop; empty if unknown


@dataclass(frozen=True, slots=True)
class FrameSpan:
    member_id: int  # The member that was called, 0 for a phase or a timer
    label: str
    kind: str  # "phase", "timer", "thread", or the kind of the member in words
    phase: Phase  # The phase itself, or the phase it lies in
    began_ns: int  # From the beginning of the frame; below 0 before it. measured.
    took_ns: int
    depth: int  # 0 for a phase, 1 for its calls, 2 for their calls
    timer_id: int = 0  # The timer that fired, 0 for anything else
    lateness_ns: int = 0  # How late the timer fired
    own_ns: int = 0
    is_measured: bool = True  # Whether its duration is known; that of a timer is, if no other fired
    # For a function seen by samples: what they show. The span lasts for the time they stand for.
    seen: SampledFunction | None = None

    @property
    def end_ns(self) -> int:
        return self.began_ns + self.took_ns

    @property
    def is_phase(self) -> bool:
        return not self.member_id and not self.timer_id and self.seen is None


def spans_of(history: History, timeline: Timeline, index: int) -> tuple[FrameSpan, ...]:
    """Return the spans of a frame: each phase, followed by its calls.

    Only the phases are known once the events of the frame are no longer in the log. Raises an
    ``IndexError`` if there is no such frame.
    """
    frame = _frame_events(history, timeline, index)
    if frame is None:
        return phases_of(timeline, index)
    names = _Names(history, timeline, frame)
    if not frame.phases and (slices := frame.calls.get(NO_PHASE)):
        return tuple(_on_threads(slices, timeline, names))
    calls = {Phase(number): calls for number, calls in frame.calls.items() if number != NO_PHASE}
    inside = {phase: _nested(found, phase, names) for phase, found in calls.items()}
    spans = _laid_out(frame.phases, inside, has_timers=bool(frame.fired))
    return tuple(_with_timers(spans, frame.fired, names))


def phases_of(timeline: Timeline, index: int) -> tuple[FrameSpan, ...]:
    frame = timeline.frames.frame(index)
    phases: dict[int, int] = {phase: ns for phase in Phase if (ns := frame.phases[phase])}
    return tuple(_laid_out(phases, {}))


def are_calls_kept(history: History, timeline: Timeline, index: int) -> bool:
    """Return whether the events of a frame, and so its calls, are still in the log."""
    return _frame_events(history, timeline, index) is not None


def extent_of(history: History, timeline: Timeline, index: int) -> tuple[int, int]:
    """Return cursors closely around the events of a frame and the timers before it."""
    frames = timeline.frames
    former_ns = frames.began_ns(index - 1) if index > frames.first else None
    start = history.first if former_ns is None else history.cursor_at(former_ns - 1)
    # Time may pass within a frame, but it ends before the next frame begins.
    is_last = index + 1 == frames.end
    end = history.end if is_last else history.cursor_at(frames.began_ns(index + 1))
    return max(start, history.first), end


def heaviest_in(history: History, timeline: Timeline, index: int) -> str:
    """Return in words what took at least half of a frame; empty if unknown.

    Several timers are measured together; of these it is the one that usually takes long, if any.
    """
    spans = spans_of(history, timeline, index)
    total_ns = sum(span.took_ns for span in spans if span.is_phase)
    # A phase without measured calls is named itself.
    longest = max(spans, key=lambda span: (span.own_ns, span.depth), default=None)
    if longest is None or 2 * longest.own_ns < total_ns:
        return ""
    if not longest.is_phase:
        return f"“{longest.label}”"
    timers = list(dict.fromkeys(f"“{span.label}”" for span in spans if span.timer_id))
    if longest.phase is Phase.TIMERS and timers:
        if len(timers) == 1:
            return timers[0]
        called = {span.timer_id for span in spans if span.timer_id}
        cursor = extent_of(history, timeline, index)[1]
        likely = suspect(history, timeline, cursor, called, longest.own_ns)
        return f"probably “{likely.label}”" if likely else f"the timers {listed(timers)}"
    return f"what is called in {longest.label}"


def heaviest_before(history: History, timeline: Timeline, index: int) -> tuple[int, str] | None:
    """Return what took most of the time from the frame before to a frame, if callbacks did.

    Returns:
        The frame that called it, and its name in words, empty if unknown; ``None`` if callbacks
        took less than half of the time, or were not measured.

    Raises:
        IndexError: There is no such frame, or it is no longer kept.
    """
    frames = timeline.frames
    frame = frames.frame(index)
    called_ns = frame.shares[Share.CALLBACKS]
    if not called_ns or 2 * called_ns < frame.interval_ns:
        return None
    # Timers called by a wake-up without a frame count as part of the next frame.
    found = [(frame.phases[Phase.TIMERS], index)]
    if index > frames.first:
        found.append((frames.frame(index - 1).busy_ns, index - 1))
    fitting = [each for each in found if 0 < each[0] <= called_ns * _SLACK]
    if not fitting:
        return None
    culprit = max(fitting)[1]
    return culprit, heaviest_in(history, timeline, culprit)


def _frame_events(history: History, timeline: Timeline, index: int) -> FrameEvents | None:
    start, end = extent_of(history, timeline, index)
    at_ns = timeline.frames.began_ns(index)
    cursors, events = history.numbered(start, end)
    # The events of the frame before are skipped, as that frame is not needed.
    ends = (at for at, event in enumerate(events, 1) if event[1] in FRAME_ENDS and event[0] < at_ns)
    skipped = next(ends, 0)
    found = None
    for frame in frames_in(cursors[skipped:], events[skipped:]):
        # Several frames may begin at one instant, so the one with this index is preferred; indexes
        # differ if a frame began and never ended.
        if frame.cursor >= 0 and frame.at_ns == at_ns:
            found = frame
            if frame.index == index:
                break
    return found


def _nested(calls: list[MeasuredCall], phase: Phase, names: _Names) -> list[FrameSpan]:
    # Of two calls with the same beginning and duration, the one that ended later is the outer.
    ordered = calls[::-1]
    ordered.sort(key=lambda call: (call[0], -call[1]))
    spans: list[FrameSpan] = []
    own: list[int] = []
    stack: list[int] = []
    for began_ns, took_ns, member_id in ordered:
        end_ns = began_ns + took_ns
        while stack and not (
            began_ns >= spans[stack[-1]].began_ns and end_ns <= spans[stack[-1]].end_ns
        ):
            stack.pop()
        if stack:
            own[stack[-1]] -= took_ns
        label, kind = names.member(member_id)
        stack.append(len(spans))
        spans.append(FrameSpan(member_id, label, kind, phase, began_ns, took_ns, len(stack)))
        own.append(took_ns)
    return [replace(span, own_ns=max(0, own_ns)) for span, own_ns in zip(spans, own, strict=True)]


def _on_threads(slices: list[MeasuredCall], timeline: Timeline, names: _Names) -> list[FrameSpan]:
    members, clocks = timeline.members.by_id, timeline.clocks
    threads: dict[int, list[MeasuredCall]] = {}
    for each in slices:
        member = members.get(each[2])
        threads.setdefault(0 if member is None else member.clock_id, []).append(each)
    spans: list[FrameSpan] = []
    depth = 0
    for clock_id in sorted(threads):
        inside = _nested(threads[clock_id], Phase.UPDATE, names)
        began_ns = min(span.began_ns for span in inside)
        took_ns = max(span.end_ns for span in inside) - began_ns
        busy_ns = sum(span.took_ns for span in inside if span.depth == 1)
        label = clocks[clock_id].name if clock_id in clocks else THREAD_KIND
        spans.append(
            FrameSpan(
                *(0, label, THREAD_KIND, Phase.UPDATE, began_ns, took_ns, depth),
                own_ns=max(0, took_ns - busy_ns),
            )
        )
        spans += [replace(span, depth=span.depth + depth) for span in inside]
        depth += 1 + max(span.depth for span in inside)
    return spans


def _laid_out(
    phases: dict[int, int], inside: dict[Phase, list[FrameSpan]], *, has_timers: bool = False
) -> list[FrameSpan]:
    """Return the phases as early as possible, each followed by its calls."""
    spans: list[FrameSpan] = []
    end_ns = 0
    for phase in Phase:
        calls = inside.get(phase, [])
        if phase not in phases and not calls and not (has_timers and phase is Phase.TIMERS):
            continue
        took_ns = phases.get(phase, 0)
        if phase is Phase.TIMERS:
            began_ns = -took_ns
            # Their beginnings are relative to the frame before, so only the distances are used.
            shift = began_ns - min((span.began_ns for span in calls), default=0)
            calls = [replace(span, began_ns=span.began_ns + shift) for span in calls]
        else:
            last_ns = max((span.end_ns for span in calls), default=0)
            began_ns = max(end_ns, last_ns - took_ns)
            end_ns = began_ns + took_ns
        own_ns = took_ns - sum(span.took_ns for span in calls if span.depth == 1)
        spans.append(
            FrameSpan(0, phase.text, PHASE_KIND, phase, began_ns, took_ns, 0, own_ns=max(0, own_ns))
        )
        spans += calls
    return spans


def _with_timers(
    spans: list[FrameSpan], firings: list[tuple[int, int]], names: _Names
) -> list[FrameSpan]:
    if not firings:
        return spans
    phase = spans[0]
    edges = [
        phase.began_ns + phase.took_ns * place // len(firings) for place in range(len(firings) + 1)
    ]
    timers = [
        FrameSpan(
            *(0, names.timer(timer_id), TIMER_KIND, Phase.TIMERS),
            *(began_ns, end_ns - began_ns, 1, timer_id, lateness_ns),
            is_measured=len(firings) == 1,
        )
        for (timer_id, lateness_ns), (began_ns, end_ns) in zip(
            firings, pairwise(edges), strict=True
        )
    ]
    return [phase, *timers, *spans[1:]]


def member_in(timeline: Timeline, number: int) -> tuple[str, str] | None:
    """Return the name of a member and its kind in words, ``None`` if there is none."""
    members = timeline.members.by_id
    member = members.get(number)
    if member is None:
        return None
    above = members.get(member.parent_id)
    # The name above is added, because calls of many targets share a name, as do components.
    is_owned = above is not None and above.kind in _OWNERS
    name = f"{above.name}: {member.name}" if above and is_owned else member.name
    return name, member.kind.text


def timer_in(timeline: Timeline, number: int) -> str:
    return timeline.timers.row(number).label if number in timeline.timers else ""


class _Names:
    def __init__(self, history: History, timeline: Timeline, frame: FrameEvents) -> None:
        self._history = history
        self._timeline = timeline
        self._frame = frame

    def member(self, number: int) -> tuple[str, str]:
        found = member_in(self._timeline, number) or member_in(self._state, number)
        if found:
            return found
        added = self._added[0].get(number)
        name = "" if added is None else added.name
        return (
            name or f"member {number}",
            "call" if not added or not added.kind else added.kind_text,
        )

    def timer(self, number: int) -> str:
        label = timer_in(self._timeline, number) or timer_in(self._state, number)
        return label or self._added[1].get(number) or f"timer {number}"

    @cached_property
    def _state(self) -> Timeline:
        """The state before the frame, which still has most of the members removed since."""
        return self._history.state_before(self._frame.start)

    @cached_property
    def _added(self) -> tuple[MemberNames, dict[int, str]]:
        strings = self._history.strings
        members, timers = MemberNames(strings), {}
        for event in self._history.events(self._frame.start, self._frame.end):
            if event[1] in MEMBER_NAMING_KINDS:
                members.note(event)
            elif event[1] == ADDED[Unit.TIMER]:
                timers[event[2]] = strings[event[4]]
        return members, timers
