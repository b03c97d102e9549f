"""The rule about functions that keep a loop from calling what is due."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from inspector.analysis.evidence import times
from inspector.analysis.lateness.attribution import BLOCKING, attribute
from inspector.analysis.lateness.samples import Place
from inspector.analysis.lint.findings import BLOCKED_LOOP, Finding
from inspector.display_text import counted
from inspector.events.frame_history import FrameHistory
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, format_duration

if TYPE_CHECKING:
    from inspector.analysis.lint.surveyed import LateFiring, Survey

#: Only for this many of the latest calls, shares are computed.
_MOST_CALLS: Final = 2_000
#: A call was late because of a function that has at least this share of its lateness.
_SHARE: Final = 0.5
_LEAST_NS: Final = 10 * NS_PER_MS


class _Blocker(Struct):
    place: Place
    blocks: int = 0
    ns: int = 0
    worst_ns: int = 0
    worst: LateFiring | None = None
    late: int = 0


def blocked_loops(survey: Survey) -> Iterator[Finding]:
    """Find functions of programs that kept calls waiting."""
    sampled = survey.samples.by_clock.keys()
    by_clock: defaultdict[int, list[LateFiring]] = defaultdict(list)
    for firing in survey.late[-_MOST_CALLS:]:
        related = set(firing.related)
        loop = firing.clock_id if firing.clock_id in sampled else next(iter(related & sampled), 0)
        if loop:
            by_clock[loop].append(firing)
    names = survey.clocks.names_apart
    for clock_id, firings in by_clock.items():
        found: dict[tuple[str, str], _Blocker] = {}
        for together in _blocks(firings):
            _collect(survey, clock_id, together, found)
        name = f"the loop “{names[clock_id]}”" if clock_id in names else "a loop"
        if clock_id not in survey.timeline.loops and all(
            sample.is_between_turns for sample in survey.samples.by_clock[clock_id]
        ):
            name = "waiting threads"
        for blocker in found.values():
            if not blocker.blocks:
                continue
            yield _finding(blocker, name, clock_id, survey.timeline)


def _blocks(firings: list[LateFiring]) -> Iterator[list[LateFiring]]:
    together: list[LateFiring] = []
    end_ns = -1
    for firing in sorted(firings, key=lambda each: each.due_ns):
        if together and firing.due_ns > end_ns:
            yield together
            together = []
        together.append(firing)
        end_ns = max(end_ns, firing.called_ns)
    if together:
        yield together


def _collect(
    survey: Survey,
    clock_id: int,
    together: list[LateFiring],
    found: dict[tuple[str, str], _Blocker],
) -> None:
    begin_ns = min(each.due_ns for each in together)
    end_ns = max(each.called_ns for each in together)
    for place, ns in _functions(survey, clock_id, together[0], begin_ns, end_ns):
        blocker = found.setdefault((place.file, place.function), _Blocker(place))
        if ns >= _LEAST_NS:
            blocker.blocks += 1
            blocker.ns += ns
    for firing in together:
        late_ns = firing.called_ns - firing.due_ns
        for place, ns in _functions(survey, clock_id, firing, firing.due_ns, firing.called_ns):
            blocker = found.setdefault((place.file, place.function), _Blocker(place))
            blocker.late += ns >= _SHARE * late_ns
            if ns > blocker.worst_ns:
                blocker.worst_ns, blocker.worst = ns, firing


def _functions(
    survey: Survey, clock_id: int, firing: LateFiring, begin_ns: int, end_ns: int
) -> Iterable[tuple[Place, int]]:
    told = survey.samples.collections.keys() | survey.samples.stops.keys()
    program = next((number for number in firing.related if number in told), 0)
    lateness = attribute(survey.samples, (clock_id,), program, begin_ns, end_ns)
    found: dict[tuple[str, str], tuple[Place, int]] = {}
    for share in lateness.shares:
        if share.culprit is not None and share.cause in BLOCKING:
            place = share.culprit.place
            first, ns = found.get((place.file, place.function), (place, 0))
            found[place.file, place.function] = first, ns + share.ns
    return found.values()


def _finding(blocker: _Blocker, loop: str, clock_id: int, timeline: Timeline) -> Finding:
    worst = blocker.worst
    late = "no call" if not blocker.late else counted(blocker.late, "call")
    was = "were" if blocker.late > 1 else "was"
    text = (
        f"{blocker.place.short} blocked {loop} {times(blocker.blocks)}, "
        f"{format_duration(blocker.ns)} altogether; {late} {was} late mainly because of it."
    )
    at_ns = 0 if worst is None else worst.called_ns
    cursor = None if worst is None else worst.cursor
    frame = None
    if worst is not None and timeline.frames_of in {0, clock_id}:
        frame = _frame_around(timeline.frames, (worst.due_ns + worst.called_ns) // 2)
    site = f"{blocker.place.file}:{blocker.place.line}" if blocker.place.line else ""
    return Finding(BLOCKED_LOOP, text, at_ns, cursor, 0, clock_id, frame, site=site)


def _frame_around(frames: FrameHistory, at_ns: int) -> int | None:
    index = frames.index_at(at_ns) - 1
    if index < frames.first:
        return None
    frame = frames.frame(index)
    return index if at_ns <= frame.at_ns + frame.busy_ns else None
