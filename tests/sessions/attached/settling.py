"""Waiting until a session with real programs has come to a point."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from inspector.commands.recording import StartRecording, StopRecording
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.vocabulary import RawEvent

_LONGEST_S = 30.0


@contextmanager
def attached(door: Door) -> Iterator[AttachedSession]:
    """Open a door; whatever was launched is ended afterwards."""
    session = AttachedSession(door)
    try:
        yield session
    finally:
        session.end_program()
        session.close()


def settle(session: AttachedSession, until: Callable[[], object]) -> None:
    """Refresh a session until something holds."""
    end_s = time.monotonic() + _LONGEST_S
    while not until():
        assert time.monotonic() < end_s, f"{session.status} {session.notes}"
        session.refresh()
        time.sleep(0.005)


def pass_s(session: AttachedSession, seconds: float) -> None:
    """Refresh a session for a time."""
    end_s = time.monotonic() + seconds
    settle(session, lambda: time.monotonic() > end_s)


def events(session: AttachedSession, kind: int) -> list[RawEvent]:
    """Return the events of a kind so far."""
    return [event for event in session.log.read().events if event[1] == kind]


def labels(session: AttachedSession) -> set[str]:
    """Return the names of the pending timers."""
    timers = session.timeline.timers
    return {timers.row(each).label for each in timers.ids()}


def record(session: AttachedSession, path: Path) -> None:
    """Record what is in the log and half a second more; check that the file tells the same."""
    session.submit(StartRecording(str(path)))
    pass_s(session, 0.5)
    session.submit(StopRecording())
    assert session.recorder.problem == ""
    with closing(RecordedSession(path)) as recorded:
        clocks = session.timeline.clocks.values()
        assert [each.name for each in recorded.timeline.clocks.values()] == [
            each.name for each in clocks
        ]
        assert recorded.timeline.frames.end == session.frames_run
