"""Samples of a long turn or frame as spans of the frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field, structs

from inspector.analysis.frame_spans import FrameSpan, SampledFunction
from inspector.analysis.lateness.attribution import (
    BLOCKING,
    attribute,
    is_library,
    places_below_loop,
)
from inspector.analysis.lateness.late_calls import program_clock
from inspector.analysis.lateness.samples import SAMPLE_KINDS, Place, Sample, Samples, samples_around
from inspector.analysis.lateness.words import advice_text
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Phase

#: Shorter frames are not sampled.
_LEAST_NS: Final = 10 * NS_PER_MS
#: The most events of a frame to look through for samples.
_MOST_EVENTS: Final = 100_000
#: A function blocks the frame if it had so much of it.
_MOST_OF: Final = 0.5


def sampled_spans(
    history: History, timeline: Timeline, index: int, extent: tuple[int, int]
) -> tuple[FrameSpan, ...]:
    """Return the functions that a frame was seen in, each for as long as samples stand for.

    A function that several samples in a row have seen is one span; whether it was called anew in
    between is not known.
    """
    frame = timeline.frames.frame(index)
    start, end = extent
    if frame.busy_ns < _LEAST_NS or end - start > _MOST_EVENTS:
        return ()
    if not any(event[1] in SAMPLE_KINDS for event in history.events(start, end)):
        return ()
    end_ns = frame.at_ns + frame.busy_ns
    samples = samples_around(history, frame.at_ns, end_ns)
    clock_id = timeline.frames_of
    clocks = [clock_id] if clock_id in samples.by_clock else list(samples.by_clock)
    if len(clocks) != 1:
        return ()
    (clock_id,) = clocks
    mine = [
        each
        for each in samples.by_clock[clock_id]
        if each.stack and each.begin_ns < end_ns and each.at_ns > frame.at_ns
    ]
    # In a scene, its timers are called before the frame, in the same turn.
    shift_ns = frame.phases[Phase.TIMERS] if any(each.is_told_later for each in mine) else 0
    program = program_clock(timeline, clock_id, samples)
    blocking = _blocking(samples, clock_id, program, frame.at_ns, end_ns)
    looks = sum(each.is_look for each in mine)
    seen = functions_seen(mine, frame.at_ns, end_ns)
    return tuple(_span(each, frame.at_ns + shift_ns, looks, blocking) for each in seen)


def _span(
    seen: FunctionSeen, from_ns: int, looks: int, blocking: dict[tuple[str, str], str]
) -> FrameSpan:
    place = seen.hottest
    told = SampledFunction(
        f"{place.file}:{place.line}",
        seen.samples,
        looks,
        not is_library(place),
        (place.file, place.function) in blocking,
        blocking.get((place.file, place.function), ""),
    )
    began_ns = seen.began_ns - from_ns
    return FrameSpan(
        *(0, place.short, "function", Phase.UPDATE, began_ns, seen.took_ns, seen.depth), seen=told
    )


def _blocking(
    samples: Samples, clock_id: int, program: int, begin_ns: int, end_ns: int
) -> dict[tuple[str, str], str]:
    seen = attribute(samples, (clock_id,), program, begin_ns, end_ns)
    return {
        (share.culprit.place.file, share.culprit.place.function): advice_text(share)
        for share in seen.shares
        if share.culprit is not None
        and share.culprit.thread is None
        and share.cause in BLOCKING
        and share.ns >= _MOST_OF * seen.late_ns
    }


class FunctionSeen(Struct):
    """A function that samples in a row have seen, as long as they stand for."""

    place: Place  # The function
    began_ns: int  # Session instant from which on
    depth: int  # How many functions are around it
    took_ns: int = 0  # For how long
    samples: int = 0  # How many looks have seen it
    lines: Counter[int] = field(default_factory=Counter)

    @property
    def hottest(self) -> Place:
        return structs.replace(self.place, line=self.lines.most_common(1)[0][0])


def functions_seen(samples: Sequence[Sample], begin_ns: int, end_ns: int) -> list[FunctionSeen]:
    """Return the functions of a turn in the order in which they began, each before what it calls.

    Whether one was called anew in between is not known.
    """
    found: list[FunctionSeen] = []
    opened: list[FunctionSeen] = []
    reached_ns = begin_ns
    for sample in samples:
        began_ns = max(sample.begin_ns, reached_ns)
        ended_ns = reached_ns = max(min(sample.at_ns, end_ns), began_ns)
        places = places_below_loop(sample.stack)
        same = 0
        for former, place in zip(opened, places, strict=False):
            if (former.place.file, former.place.function) != (place.file, place.function):
                break
            same += 1
        del opened[same:]
        for depth, place in enumerate(places[same:], same):
            opened.append(FunctionSeen(place, began_ns, depth))
            found.append(opened[-1])
        for each, place in zip(opened, places, strict=True):
            each.took_ns = ended_ns - each.began_ns
            each.samples += sample.is_look
            each.lines[place.line] += 1
    return found
