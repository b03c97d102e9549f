"""The provenance of the frame times of a session, for exports."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from typing import Protocol, TypedDict, runtime_checkable

from msgspec import structs

from inspector import __version__
from inspector.analysis.statistics.frame_budget import (
    FrameBudget,
    drawing_loop,
    loop_budget,
    rate_in_file,
)
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.clocks.sources.time_source import TimeSource
from inspector.events.recording import Recording
from inspector.events.timeline import Timeline
from inspector.formats.frame_times import Provenance
from inspector.sessions.session import AttachesPrograms, Session
from inspector.sessions.sources.time_sources import ATTACHED, source_name, source_text
from inspector.timebase import NS_PER_SECOND


@runtime_checkable
class _HasProvenance(Protocol):
    @property
    def provenance(self) -> Provenance: ...


@runtime_checkable
class _HasSource(Protocol):
    @property
    def source(self) -> TimeSource: ...


def provenance_of(session: Session) -> Provenance:
    """Return where the frame times of a session come from.

    For a recording it is the run that was recorded, otherwise the present run.
    """
    if isinstance(session, _HasProvenance):
        return session.provenance
    if isinstance(session.history, Recording):
        state = session.timeline
        return structs.replace(provenance_of_recording(session.history, state), waits=session.waits)
    source = source_name(session.source) if isinstance(session, _HasSource) else ""
    if isinstance(session, AttachesPrograms):
        source = ATTACHED.name
    return Provenance(
        scene=session.title,
        created=datetime.now().astimezone(),
        version=__version__,
        source=source_text(source),
        waits=session.waits,
        **_compared_with(session.timeline, session.frame_rate),
    )


def provenance_of_recording(recording: Recording, state: Timeline) -> Provenance:
    """Return where the frame times of a recording come from, as far as its file says.

    Args:
        state: Its state with the loop whose frames are meant, at its end or whenever.
    """
    meta = recording.meta
    created: datetime | None
    try:
        created = datetime.fromisoformat(str(meta.get("started_at")))
    except ValueError:
        created = None
    return Provenance(
        scene=recording.title,
        created=created,
        version=str(meta.get("tool_version", "")),
        source=source_text(str(meta.get("source", ""))),
        **_compared_with(state, rate_in_file(meta.get("frame_rate"))),
    )


class _ComparedWith(TypedDict):
    frame_rate: Fraction | None
    own_budget: FrameBudget | None


def _compared_with(timeline: Timeline, frame_rate: Fraction | None) -> _ComparedWith:
    """Return the target of a scene, or what the loop of a program asks for or does."""
    if not timeline.loops:
        return {"frame_rate": frame_rate, "own_budget": None}
    loop = drawing_loop(timeline)
    asked_ns = 0 if loop is None else loop.asked_ns
    # The frame time is rounded to whole nanoseconds: 33,333,333 ns are 30 per second. Rates of
    # video, such as 60000/1001, are the ones with the largest denominator.
    rate = Fraction(NS_PER_SECOND, asked_ns).limit_denominator(1001) if asked_ns else None
    budget = loop_budget(timeline, DEFAULT_FRAME_RATE, waits=False, of="interval_ns")
    return {"frame_rate": rate, "own_budget": budget if budget.origin else None}
