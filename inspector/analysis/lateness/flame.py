"""Samples of a long turn or frame as spans of the frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field, structs

from inspector.analysis.frame_spans import FrameSpan, SampledFunction
from inspector.analysis.lateness.attribution import (
    BLOCKING,
    Lateness,
    attribute,
    is_library,
    places_below_loop,
)
from inspector.analysis.lateness.late_calls import program_clock
from inspector.analysis.lateness.samples import SAMPLE_KINDS, Place, Sample, Samples, samples_around
from inspector.analysis.lateness.words import advice_text, share_text
from inspector.events.frame_history import Frame
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import SAMPLED, SAW_FROM_HERE, Phase, SampleForm

#: Shorter frames are not sampled.
_LEAST_NS: Final = 10 * NS_PER_MS
#: The most events of a frame to look through for samples.
_MOST_EVENTS: Final = 100_000
#: A function blocks the frame if it had at least this share of it.
_MOST_OF: Final = 0.5


def sampled_spans(
    history: History, timeline: Timeline, index: int, extent: tuple[int, int]
) -> tuple[FrameSpan, ...]:
    """Return the functions in which a frame was seen, each as long as its samples stand for.

    Consecutive samples of a function are one span, although it may have been called several times.
    """
    frame = timeline.frames.frame(index)
    end_ns = frame.at_ns + frame.busy_ns
    found = _samples_of(history, timeline, frame, extent)
    if found is None:
        return ()
    samples, clock_id = found
    mine = [
        each
        for each in samples.by_clock[clock_id]
        if each.stack and each.begin_ns < end_ns and each.at_ns > frame.at_ns
    ]
    # In a scene, timers are called in the same turn, before the frame.
    shift_ns = frame.phases[Phase.TIMERS] if any(each.is_told_later for each in mine) else 0
    blocking = _blocking(_made_of(samples, clock_id, timeline, frame))
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


def kept_text(history: History, timeline: Timeline, index: int, extent: tuple[int, int]) -> str:
    """Return what took most of a frame, other than a function; empty if unknown."""
    frame = timeline.frames.frame(index)
    found = _samples_of(history, timeline, frame, extent)
    lateness = None if found is None else _made_of(*found, timeline, frame)
    main = None if lateness is None else lateness.main
    if lateness is None or main is None or main.calls:
        return ""
    if main.culprit is not None and main.cause in BLOCKING:
        return ""
    return f"For {format_duration(main.ns)}, {share_text(main, lateness).rstrip(',')}."


def _samples_of(
    history: History, timeline: Timeline, frame: Frame, extent: tuple[int, int]
) -> tuple[Samples, int] | None:
    """Return the samples around a frame and the clock of its loop, ``None`` without any."""
    start, end = extent
    if frame.busy_ns < _LEAST_NS or end - start > _MOST_EVENTS:
        return None
    told = [event for event in history.events(start, end) if event[1] in SAMPLE_KINDS]
    if not told:
        return None
    next_ns, frames = None, timeline.frames
    if frame.index + 1 < frames.end and any(
        kind == SAMPLED and SampleForm.of(form).flags & SAW_FROM_HERE
        for _, kind, _, _, form in told
    ):
        # Read no further, as the next frame of a scene shortens the samples of a stalled one.
        next_ns = frames.began_ns(frame.index + 1)
    samples = samples_around(history, frame.at_ns, frame.at_ns + frame.busy_ns, next_ns)
    clock_id = timeline.frames_of
    clocks = [clock_id] if clock_id in samples.by_clock else list(samples.by_clock)
    return (samples, clocks[0]) if len(clocks) == 1 else None


def _made_of(samples: Samples, clock_id: int, timeline: Timeline, frame: Frame) -> Lateness:
    program = program_clock(timeline, clock_id, samples)
    return attribute(samples, (clock_id,), program, frame.at_ns, frame.at_ns + frame.busy_ns)


def _blocking(made_of: Lateness) -> dict[tuple[str, str], str]:
    return {
        (share.culprit.place.file, share.culprit.place.function): advice_text(share)
        for share in made_of.shares
        if share.culprit is not None
        and share.culprit.thread is None
        and share.cause in BLOCKING
        and share.ns >= _MOST_OF * made_of.late_ns
    }


class FunctionSeen(Struct):
    """A function in consecutive samples, as long as they stand for."""

    place: Place  # The function
    began_ns: int  # Session instant at which it began
    depth: int  # How many functions are around it
    took_ns: int = 0
    samples: int = 0  # How many looks have seen it
    lines: Counter[int] = field(default_factory=Counter)

    @property
    def hottest(self) -> Place:
        return structs.replace(self.place, line=self.lines.most_common(1)[0][0])


def functions_seen(samples: Sequence[Sample], begin_ns: int, end_ns: int) -> list[FunctionSeen]:
    """Return the functions of a turn in the order in which they began, each before what it calls.

    Several calls in a row are not told apart.
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
