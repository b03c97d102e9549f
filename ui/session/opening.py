"""Opens scenes in this process, programs in others, recordings and captures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.sources.time_source import TimeSource
from inspector.events.timeline import Timeline
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import Session
from inspector.sessions.sources.time_sources import SYSTEM, TimeSourceKind, choosable_sources

from .qt_time_source import Precision, QtTimeSource

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door

#: The window stands still for this long at a time while a scene is rewound.
_SLICE_NS: Final = 50_000_000


def hosted_session(path: Path, source: TimeSource, policy: FailurePolicy) -> Session:
    """Run a scene in this process; raises InspectorError if it cannot be opened at all."""
    session = HostedSession(path, source, failure_policy=policy)
    session.slice_ns = _SLICE_NS
    session.measure_intervals()
    return session


def recorded_session(path: Path) -> Session:
    """Open a recording; raises RecordingError, which says why."""
    # Imported late: scenes do not need SQLite, which takes 2 MB.
    from inspector.sessions.recorded import RecordedSession  # noqa: PLC0415

    return RecordedSession(path)


def attached_session(door: Door, on_news: Callable[[], None]) -> Session:
    """Attach to a program; ``on_news`` is called in any thread when it reports."""
    # Imported late: scenes need neither the links nor what decodes messages.
    from inspector.sessions.attached.session import AttachedSession  # noqa: PLC0415

    session = AttachedSession(door)
    session.acceptor.on_news = on_news
    return session


def captured_session(path: Path, column: str | None) -> Session:
    """Open a capture of another program; raises InspectorError, which says why."""
    # Imported late: only captures need the readers of all formats.
    from inspector.sessions.captured import CapturedSession  # noqa: PLC0415

    return CapturedSession(path, column)


def launch_of(scene: Path) -> Door:
    """Return the door that runs the file of a scene as an ordinary Python program."""
    from inspector.sessions.attached.doors.launch import Launch  # noqa: PLC0415 - needed by few

    return Launch((sys.executable, str(scene)), scene.parent)


def qt_source(precision: Precision) -> TimeSource:
    return QtTimeSource(precision=precision)


def real_source(name: str) -> TimeSourceKind:
    """Return the time source of that name, or the window's own if there is none."""
    kinds = {kind.name: kind for kind in choosable_sources() if kind.is_real}
    return kinds.get(name, SYSTEM)


def is_rewound(former: Timeline, now: Timeline) -> bool:
    """Return whether a session went back in time: the same build of the same scene."""
    before, after = ((each.scene_path, each.scene_generation) for each in (former, now))
    return bool(former.scene_path) and before == after
