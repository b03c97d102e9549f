"""The provenance of the frame times of a session, for exports."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, runtime_checkable

from msgspec import structs

from inspector import __version__
from inspector.analysis.statistics.frame_budget import rate_in_file, target_rate
from inspector.clocks.sources.time_source import TimeSource
from inspector.events.recording import Recording
from inspector.events.timeline import Timeline
from inspector.formats.frame_times import Provenance
from inspector.sessions.session import AttachesPrograms, Session
from inspector.sessions.sources.time_sources import ATTACHED, source_name, source_text


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
        frame_rate=target_rate(session.timeline, session.frame_rate),
        waits=session.waits,
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
        frame_rate=target_rate(state, rate_in_file(meta.get("frame_rate"))),
    )
