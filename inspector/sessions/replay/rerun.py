"""Runs a recorded scene again, and compares it with the recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.errors import InspectorError
from inspector.events.history import History
from inspector.exit_codes import ExitCode
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import Journal, events_to_run_again, file_digest
from inspector.sessions.replay.replay import (
    ReplayDifference,
    RunEvents,
    digest_of,
    first_difference,
)
from inspector.vocabulary import TRANSPORT, Mode, RawEvent


class Rerun(Struct, frozen=True):
    events: int
    frames: int
    digest: str
    difference: ReplayDifference | None  # Where the runs first differ, None if they do not
    notes: tuple[str, ...] = ()  # Further sentences for the user

    @property
    def is_same(self) -> bool:
        return self.difference is None


class ChangedSceneError(InspectorError):
    """The scene has changed since it was recorded; the message says so."""

    exit_code = ExitCode.CANNOT_TELL


def rerun(
    history: History,
    scene_path: Path,
    *,
    anyway: bool = False,
    on_built: Callable[[HostedSession], None] | None = None,
) -> Rerun:
    """Build a scene from its file and repeat the recorded run.

    A scene that has changed is run only with ``anyway``. ``on_built`` gets the session before it
    runs.
    """
    events = events_to_run_again(history)
    journal = Journal.from_events(events, history.strings)
    beginning = journal.beginning
    notes: tuple[str, ...] = ()
    if beginning.digest and file_digest(scene_path) != beginning.digest:
        changed = f"{scene_path.name} has changed since this was recorded"
        if not anyway:
            raise ChangedSceneError(
                f"{changed}, so it was not run: {scene_path}. Look at it, and say --anyway."
            )
        notes = (f"{changed}.",)
    with run_again(scene_path, journal, on_built) as session:
        found = RunEvents(session.log.read(0).events, session.log.strings)
        # A recording may end inside a wake-up, but the replay completes it.
        expected = RunEvents(_without_last_hold(events), history.strings)
        difference = first_difference(expected, found, may_go_on=found)
        digest = digest_of(events, history.strings)
        return Rerun(len(events), session.frames_run, digest, difference, notes)


@contextmanager
def run_again(
    scene_path: Path, journal: Journal, on_built: Callable[[HostedSession], None] | None = None
) -> Iterator[HostedSession]:
    """Build a scene in a session and replay a journal to its end.

    ``on_built`` gets the session before it runs. Its log drops no events.
    """
    beginning = journal.beginning
    source = ManualTimeSource() if beginning.is_manual else VirtualTimeSource()
    session = HostedSession(scene_path, source, autorun=False, max_delta_ns=beginning.max_delta_ns)
    with closing(session):
        if session.problem is not None:
            raise session.problem
        if on_built is not None:
            on_built(session)
        session.run_again(journal, keeps_all=True)
        yield session


def _without_last_hold(events: Sequence[RawEvent]) -> Sequence[RawEvent]:
    """Return events without a final hold: the end of a run holds the scene, without any effect."""
    end = len(events)
    if end and events[-1][1] == TRANSPORT and events[-1][2] == Mode.HELD:
        end -= 1
    return events[:end]
