"""The command ``late``, after its arguments are parsed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from threading import Event
from typing import TextIO

from inspector.analysis.lateness.late_calls import has_calls, worst_late_calls
from inspector.cli.commands.late import DEFAULT_SECONDS
from inspector.cli.explain import Past, open_past
from inspector.cli.late_report import SET_LATE, late_text, late_values
from inspector.cli.progress import Progress
from inspector.cli.terminal import write_json, write_notes
from inspector.exit_codes import ExitCode
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.hosts.host import on_hosts
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.sources.time_sources import SYSTEM
from inspector.timebase import NS_PER_SECOND, format_duration

#: Longest time between two refreshes of the session, when nothing arrives.
_TURN_S = 0.02
#: Time to wait beyond the end for samples that are still on their way.
_AFTER_NS = 100_000_000
_NO_CALLS = "No timer was called. The help page “Libraries” says which timers are seen.\n"


class WatchedPrograms(AttachedSession):
    @property
    def is_partial(self) -> bool:
        return any(program.lost.total() for program in self.programs.values())


def late(options: Namespace, out: TextIO, err: TextIO) -> int:
    """List the late calls of a recording, a scene or a program."""
    with _past(options, err) as past:
        found = worst_late_calls(past.history, options.over)
        is_seen = bool(found) or has_calls(past.history)
        is_partial = past.is_partial
    if options.json:
        write_json(out, late_values(found))
    elif is_seen:
        out.write(late_text(found, options.over))
    else:
        out.write(_NO_CALLS)
    lates = [call.lateness for call in found if call.lateness.cause not in SET_LATE]
    most_ns = max((lateness.late_ns for lateness in lates), default=0)
    if options.fail_over is None:
        return ExitCode.OK
    if most_ns > options.fail_over:
        return ExitCode.FAILED
    if is_seen and not is_partial:
        return ExitCode.OK
    why = "events are missing" if is_partial else "no timer was called"
    over = format_duration(options.fail_over)
    write_notes(err, f"Whether a call was later than {over} cannot be told: {why}.")
    return ExitCode.CANNOT_TELL


@contextmanager
def _past(options: Namespace, err: TextIO) -> Iterator[Past | WatchedPrograms]:
    if options.program:
        wanted_ns = options.seconds or DEFAULT_SECONDS * NS_PER_SECOND
        launch = launched(options.program)
        door = on_hosts(options.ssh, options.exec, launch, partial(write_notes, err)) or launch
        with watched(door, wanted_ns, err) as session:
            yield session
        return
    if not options.source_argument:
        options.source = SYSTEM
    with open_past(options, err, None) as past:
        yield past


def launched(program: Sequence[str]) -> Launch:
    """Return the door of a program that is launched only to be watched."""
    return Launch(tuple(program), hold=False, grant="read-only", output_to_errors=True)


@contextmanager
def watched(door: Door, wanted_ns: int, err: TextIO) -> Iterator[WatchedPrograms]:
    """Open a program, and yield its session once the time is over or it has ended."""
    news = Event()
    session = WatchedPrograms(door)
    session.acceptor.on_news = news.set
    begun_ns: int | None = None
    try:
        with closing(Progress(err)) as progress:
            while session.expects_news:
                news.wait(_TURN_S)
                news.clear()
                session.refresh()
                if session.opening_problem is not None:
                    raise session.opening_problem
                if session.programs and begun_ns is None:
                    begun_ns = session.now_ns
                if begun_ns is not None:
                    passed_ns = session.present_ns - begun_ns
                    if passed_ns >= wanted_ns + _AFTER_NS:
                        break
                    progress.update(min(1.0, max(0.0, passed_ns / wanted_ns)))
        write_notes(err, *session.notes)
        yield session
    finally:
        session.end_program()
        session.close()
