"""Tools for tests of scenes and sessions: scenes from text, virtual time.

For users' tests and for our own::

    session = virtual_session(scene_file(tmp_path, '''
        def build(stage):
            stage.root.set_interval(0.5, lambda: None, name="tick")
    '''))
    pass_seconds(session, 10)
    assert fired(session)["tick"] == 20
"""

import textwrap
from fractions import Fraction
from pathlib import Path

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.events.schema import ADDED, FIRINGS, Unit
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.virtual import RunOutcome, run_virtual
from inspector.timebase import seconds_to_ns


def scene_file(folder: Path, source: str, name: str = "scene.py") -> Path:
    """Write a scene from indented text; returns its path."""
    path = folder / name
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path


def held_session(path: Path, source: ManualTimeSource | None = None) -> HostedSession:
    """Load a scene that is held at 0, on a manual time source."""
    session = HostedSession(path, source or ManualTimeSource(), autorun=False)
    session.refresh()
    return session


def virtual_session(
    path: Path, *, failure_policy: FailurePolicy = FailurePolicy.CONTINUE
) -> HostedSession:
    """Load a scene on virtual time; :func:`pass_seconds` lets time pass."""
    session = HostedSession(path, VirtualTimeSource(), failure_policy=failure_policy)
    session.refresh()
    return session


def pass_seconds(session: HostedSession, seconds: float | Fraction) -> RunOutcome:
    """Let virtual time pass at 60 frames per second, as fast as the processor allows."""
    return run_virtual(session, duration_ns=seconds_to_ns(seconds))


def fired(session: HostedSession) -> dict[str, int]:
    """Return the number of firings of timers, by label, as far as they are in the log."""
    strings = session.log.strings
    labels: dict[int, str] = {}
    counts: dict[str, int] = {}
    for _, kind, subject, _, b in session.log.read(0).events:
        if kind == ADDED[Unit.TIMER]:
            labels[subject] = strings[b]
            counts.setdefault(strings[b], 0)
        elif kind in FIRINGS:
            counts[labels[subject]] += 1
    return counts
