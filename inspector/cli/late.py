"""The command ``late``, after its arguments are parsed."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from statistics import median_low
from threading import Event
from typing import TextIO

from inspector.analysis.lateness.attribution import Cause, Lateness, LatenessShare
from inspector.analysis.lateness.late_calls import LateCall, late_calls
from inspector.analysis.lateness.samples import Place
from inspector.analysis.lateness.words import late_call_text, stack_text
from inspector.cli.commands.late import DEFAULT_SECONDS
from inspector.cli.explain import Past, open_past
from inspector.cli.progress import Progress
from inspector.cli.terminal import write_json, write_notes
from inspector.display_text import counted
from inspector.exit_codes import ExitCode
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.hosts.host import on_hosts
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.sources.time_sources import SYSTEM
from inspector.timebase import NS_PER_SECOND, format_duration, format_instant

#: Longest time between two refreshes of the session, when nothing arrives.
_TURN_S = 0.02
#: Time to wait beyond the end for samples that are still on their way.
_AFTER_NS = 100_000_000
#: Causes of calls that are on time, but were set late.
_SET_LATE = {
    Cause.AWAITING: "the job waits for something before it sets the next",
    Cause.DRIFT: "the job works before it sets the next",
}
#: Most calls that are listed; JSON has all.
_MOST_LISTED = 40
_UNKNOWN = "cannot be told: events are missing"


class WatchedPrograms(AttachedSession):
    @property
    def is_partial(self) -> bool:
        return any(program.lost.total() for program in self.programs.values())


def late(options: Namespace, out: TextIO, err: TextIO) -> int:
    """List the late calls of a recording, a scene or a program."""
    with _past(options, err) as past:
        calls = late_calls(past.history, options.over)
        found = sorted(calls, key=lambda call: -call.lateness.late_ns)
        is_partial = past.is_partial
    if options.json:
        write_json(out, late_values(found))
    else:
        out.write(_text(found, options.over))
    lates = [call.lateness for call in found if call.lateness.cause not in _SET_LATE]
    most_ns = max((lateness.late_ns for lateness in lates), default=0)
    if options.fail_over is None:
        return ExitCode.OK
    if most_ns > options.fail_over:
        return ExitCode.FAILED
    if is_partial:
        write_notes(
            err, f"Whether a call was later than {format_duration(options.fail_over)} {_UNKNOWN}."
        )
    return ExitCode.CANNOT_TELL if is_partial else ExitCode.OK


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


def late_values(calls: list[LateCall]) -> dict[str, object]:
    """Return late calls as JSON-compatible data, as the help page “Why late” documents it."""
    late_ns: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for call in calls:
        count[call.lateness.cause.value] += 1
        late_ns[call.lateness.cause.value] += call.lateness.late_ns
    return {
        "late": [_call_value(call) for call in calls],
        "causes": {
            cause: {"calls": count[cause], "late_ns": late_ns[cause]} for cause in sorted(count)
        },
    }


def _call_value(call: LateCall) -> dict[str, object]:
    lateness, common = call.lateness, _common(call)
    main = lateness.main
    others = [share for share in lateness.shares if share is not main]
    return {
        **common,
        **_share_value(main, lateness),
        "others": [
            {**common, **_share_value(share, lateness), "others": []}
            for share in (*others, *lateness.families)
        ],
    }


def _common(call: LateCall) -> dict[str, object]:
    site = Place.of(call.site) if call.site else None
    set_at = None
    if site is not None and site.line:
        set_at = {"file": site.file, "line": site.line, "function": site.function}
    return {
        "timer": call.name,
        "clock": call.clock,
        "set_at": set_at,
        "due_ns": call.lateness.begin_ns,
        "late_ns": call.lateness.late_ns,
        "so_far": not call.is_made,
    }


def _share_value(share: LatenessShare | None, lateness: Lateness) -> dict[str, object]:
    if share is None:
        return {"cause": Cause.UNKNOWN.value, "culprit": None, "share": 0.0, "samples": 0}
    culprit = share.culprit
    named = None
    if culprit is not None:
        named = {
            "function": culprit.place.function,
            "file": culprit.place.file,
            "line": culprit.place.line,
            "task": culprit.task,
            "thread": culprit.thread,
        }
    return {
        "cause": share.cause.value,
        "culprit": named,
        "share": round(min(share.ns / lateness.late_ns, 1.0), 4) if lateness.late_ns else 0.0,
        "samples": share.samples,
    }


def _text(found: list[LateCall], over_ns: int) -> str:
    calls = [call for call in found if call.lateness.cause not in _SET_LATE]
    over = format_duration(over_ns)
    lines = [f"No call was later than {over}."]
    if calls:
        lines = [f"{counted(len(calls), 'call')} later than {over}, worst first:"]
    stacks = {""}
    for call in calls[:_MOST_LISTED]:
        lateness = call.lateness
        at = format_instant(lateness.end_ns)
        lines.append(f"  {at}  {late_call_text(call)}")
        main = lateness.main
        stack = "" if main is None else stack_text(main.stack)
        if stack not in stacks:
            stacks.add(stack)
            lines.append(f"      {stack}")
    if len(calls) > _MOST_LISTED:
        lines.append(f"  … and {len(calls) - _MOST_LISTED:,} more; --json lists all.")
    return "\n".join([*lines, *_culprit_lines(calls), *_set_late_lines(found)]) + "\n"


def _culprit_lines(calls: list[LateCall]) -> list[str]:
    """Return one line for each function that made several calls late, the worst first."""
    by_function: dict[tuple[str, str], tuple[Place, list[int]]] = {}
    for call in calls:
        main = call.lateness.main
        if main is not None and main.culprit is not None:
            place = main.culprit.place
            found = by_function.setdefault((place.file, place.function), (place, []))
            found[1].append(call.lateness.late_ns)
    return [
        f"{place.short} made {len(late)} of them late, {format_duration(sum(late))} altogether."
        for place, late in sorted(by_function.values(), key=lambda each: -sum(each[1]))
        if len(late) > 1
    ]


def _set_late_lines(found: list[LateCall]) -> list[str]:
    """Return one line for each job whose calls are on time but were set late."""
    jobs: dict[tuple[str, str, str, Cause], list[int]] = {}
    for call in found:
        if call.lateness.cause in _SET_LATE:
            key = call.name, call.clock, call.site, call.lateness.cause
            jobs.setdefault(key, []).append(call.lateness.late_ns)
    return [
        f"“{name}” on “{clock}” is on time, but "
        f"{counted(len(late), 'call was', 'calls were')} set "
        f"{format_duration(median_low(late))} late: {_SET_LATE[cause]}."
        for (name, clock, _, cause), late in jobs.items()
    ]
