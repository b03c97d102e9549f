"""The provenance of the frame times of a session, for exports."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, runtime_checkable

from msgspec import structs

from inspector import __version__
from inspector.analysis.statistics.frame_budget import rate_in_file
from inspector.clocks.sources.time_source import TimeSource
from inspector.events.recording import Recording
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
        return structs.replace(provenance_of_recording(session.history), waits=session.waits)
    source = source_name(session.source) if isinstance(session, _HasSource) else ""
    if isinstance(session, AttachesPrograms):
        source = ATTACHED.name
    return Provenance(
        scene=session.title,
        created=datetime.now().astimezone(),
        version=__version__,
        source=source_text(source),
        frame_rate=session.frame_rate,
        waits=session.waits,
    )


def provenance_of_recording(recording: Recording) -> Provenance:
    """Return where the frame times of a recording come from, as far as its file says."""
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
        frame_rate=rate_in_file(meta.get("frame_rate")),
    )
