"""Methods that ask: what a session is like, and why."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from heapq import nsmallest
from itertools import islice
from time import monotonic
from typing import Any, Final, Literal
from urllib.parse import quote

from msgspec import structs

from inspector.analysis.evidence import missing_text
from inspector.analysis.explain.explain import explain
from inspector.analysis.frame_spans import spans_of
from inspector.analysis.lateness.late_calls import worst_late_calls
from inspector.analysis.lateness.words import late_call_text
from inspector.analysis.lint.rules import findings
from inspector.analysis.predict.command_preview import preview
from inspector.analysis.statistics.frame_budget import FrameBudget, loop_budget
from inspector.analysis.statistics.metrics import metric_values
from inspector.analysis.statistics.runs import ComparedRun, differences
from inspector.analysis.task_rows import task_rows
from inspector.calls.call import SCHEDULED, CallId, call_of
from inspector.cli.late_report import late_values
from inspector.cli.names import considered_command, find_timer
from inspector.commands.command import Capability
from inspector.display_text import counted
from inspector.errors import InspectorError
from inspector.events.history import History
from inspector.events.schema import SCHEMA
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.foreign.paths import expanded
from inspector.formats.frame_times import FrameTimes
from inspector.formats.report.comparison import comparison_values
from inspector.formats.series import series_of
from inspector.remote.methods import (
    METHODS,
    REFUSED,
    Duration,
    Instant,
    Limit,
    Offset,
    RemoteError,
    SessionNumber,
    Text,
    method,
)
from inspector.remote.opened import OpenSession
from inspector.remote.request_handler import Asked
from inspector.sessions.attached.doors.programs import running_programs
from inspector.sessions.compared import run_of_file, run_of_session
from inspector.sessions.provenance import provenance_of
from inspector.sessions.session import AttachesPrograms, ShowsCapture, ShowsLoops
from inspector.vocabulary import EventKind

#: The interval at which programs send their tasks.
_TASKS_NS: Final = 500_000_000
#: Limits of a query: its time, the steps between checks of the time, and characters of a text.
_QUERY_S: Final = 5.0
_QUERY_STEPS: Final = 10_000
_MOST_TEXT: Final = 10_000
#: Later than any instant.
_NEVER_NS: Final = 2**63 - 1
#: The actions allowed in a query: reading tables and calling functions.
_READING: Final = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def _page(items: Sequence[object], offset: int, limit: int) -> dict[str, object]:
    end = offset + limit
    shown = list(items[offset:end])
    return {"items": shown, "total": len(items), "next": end if end < len(items) else None}


def _past(opened: OpenSession, at_ns: int | None) -> Timeline:
    """Return the state at an instant, by default at present."""
    session = opened.session
    if at_ns is None:
        return session.timeline
    if at_ns > session.timeline.at_ns:
        raise RemoteError(REFUSED, f"It is only {session.timeline.at_ns} ns in this session.")
    if missing := missing_text(session.history, at_ns):
        raise RemoteError(REFUSED, missing)
    return session.history.state_at(at_ns)


@method("server.about")
def about(asked: Asked) -> object:
    """Say what this server grants, which sessions are open, and which methods there are."""
    handler = asked.handler
    return {
        "grant": handler.grant,
        "program": handler.program,
        "you": asked.client.name,
        "sessions": handler.states(asked.client),
        "methods": sorted(METHODS),
    }


@method("programs.list")
def list_programs(asked: Asked) -> object:
    """List the running programs of this user, and why some cannot be attached to."""
    _ = asked
    return [
        {
            "pid": each.process.pid,
            "program": each.process.title,
            "runtime": each.runtime,
            "is_listening": each.is_listening,
            "reason": each.reason,
        }
        for each in running_programs()
    ]


@method("session.state")
def state(asked: Asked, session: SessionNumber = 0) -> object:
    """Say what a session can do, what is missing, and what is known of its programs."""
    opened = asked.session(session)
    of = opened.session
    about = provenance_of(of)
    can = {
        each.value: of.why_not(each) if each in of.capabilities else f"not with a {opened.kind}"
        for each in Capability
    }
    programs = {}
    if isinstance(of, AttachesPrograms):
        programs = {
            number: {"name": each.name, "is_attached": each.is_attached, "facts": each.facts}
            for number, each in of.programs.items()
        }
    return {
        "can": [name for name, why in can.items() if not why],
        "cannot": {name: why for name, why in can.items() if why},
        "notes": of.notes,
        "detail": of.status.detail,
        "source": of.source_label,
        "frame_rate": None if about.frame_rate is None else float(about.frame_rate),
        "budget": {"ns": about.budget.budget_ns, "why": about.target_text},
        "wake_errors": of.wake_errors,
        "programs": programs,
    }


@method("session.clocks")
def clocks(
    asked: Asked,
    session: SessionNumber = 0,
    at_ns: Instant | None = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> object:
    """List the clocks, now or at an instant, each with its time, its rate and what stops it."""
    opened = asked.session(session)
    timeline = _past(opened, at_ns)
    why_not = opened.session.why_not
    page = _page(list(timeline.clocks.values()), offset, limit)
    page["items"] = [
        {
            "clock_id": each.id,
            "name": each.name,
            "parent_id": each.parent_id,
            "rate": str(each.rate),
            "local_ns": timeline.local_ns(each.id),
            "effective_rate": float(timeline.effective_rate(each.id)),
            "pending": each.pending,
            "stopped_by": timeline.pause_reasons(each.id),
            "limits": {
                capability.value: why
                for capability in (Capability.PAUSE, Capability.RATE)
                if (why := why_not(capability, each.id))
            },
        }
        for each in list(timeline.clocks.values())[offset : offset + limit]
    ]
    return page


@method("session.timers")
def timers(
    asked: Asked,
    session: SessionNumber = 0,
    at_ns: Instant | None = None,
    clock_id: Offset = 0,
    offset: Offset = 0,
    limit: Limit = 100,
) -> object:
    """List what waits to be called, the next due first, now or at an instant."""
    timeline = _past(asked.session(session), at_ns)
    timeline.resolve_dues()
    branch = set(timeline.branch(clock_id) if clock_id in timeline.clocks else timeline.clocks)
    table = timeline.timers
    known = [
        (due_ns, number, False)
        for number, due_ns, clock in zip(table.id, table.session_due, table.clock, strict=True)
        if clock in branch
    ]
    for member in timeline.members.by_id.values():
        if member.kind in SCHEDULED:
            call = call_of(timeline, CallId(member.id, is_member=True))
            if call is not None and call.clock_id in branch:
                due_ns = call.session_due_ns
                known.append((_NEVER_NS if due_ns is None else due_ns, member.id, True))
    first = nsmallest(offset + limit, known)[offset:]
    found = (call_of(timeline, CallId(number, is_member=is_it)) for _, number, is_it in first)
    return {
        "items": [_call_value(timeline, each) for each in found if each is not None],
        "total": len(known),
        "next": offset + limit if offset + limit < len(known) else None,
    }


def _call_value(timeline: Timeline, call: Any) -> dict[str, object]:  # noqa: ANN401 - a Call
    clock = timeline.clocks.get(call.clock_id)
    return {
        "member_id" if call.id.is_member else "timer_id": call.id.number,
        "name": call.name,
        "kind": call.kind.text if call.id.is_member else call.kind.name.lower(),
        "clock_id": call.clock_id,
        "clock": "" if clock is None else clock.name,
        "due_ns": call.session_due_ns,
        "left_ns": call.left_ns,
        "interval_ns": call.interval_ns,
        "calls": call.calls,
        "last_lateness_ns": call.last_lateness_ns,
        "call_site": call.call_site,
        "blockers": [str(each) for each in call.blockers],
    }


@method("session.members")
def members(
    asked: Asked,
    session: SessionNumber = 0,
    at_ns: Instant | None = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> object:
    """List schedulers, components, tickers and state machines, with the states of machines."""
    timeline = _past(asked.session(session), at_ns)
    strings, histories = timeline.strings, timeline.members.histories
    page = _page(list(timeline.members.by_id.values()), offset, limit)
    page["items"] = [
        {
            "member_id": each.id,
            "name": each.name,
            "kind": each.kind.text,
            "parent_id": each.parent_id,
            "clock_id": each.clock_id,
            "is_paused": each.is_paused,
            "calls": each.calls,
            "states": [
                {"at_ns": at, "state": strings[sid], "transition": strings[by]}
                for at, sid, by in zip(*(c[-20:] for c in histories[each.id].columns), strict=True)
            ]
            if each.id in histories
            else [],
        }
        for each in list(timeline.members.by_id.values())[offset : offset + limit]
    ]
    return page


@method("session.frames")
def frames(
    asked: Asked, session: SessionNumber = 0, offset: Offset = 0, limit: Limit = 100
) -> object:
    """List the frames from a number on: when each began, and how long it took."""
    history = asked.session(session).session.timeline.frames
    first = max(offset, history.first)
    last = min(first + limit, history.end)
    found = (history.frame(index) for index in range(first, last))
    items = [
        {
            "frame": each.index,
            "at_ns": each.at_ns,
            "interval_ns": each.interval_ns,
            "delta_ns": each.delta_ns,
            "busy_ns": each.busy_ns,
            "cut_ns": each.cut_ns,
        }
        for each in found
    ]
    return {"items": items, "total": history.end, "next": last if last < history.end else None}


@method("session.frame")
def frame(asked: Asked, frame: Offset, session: SessionNumber = 0) -> object:
    """List the phases and calls of a frame, each with how long it took."""
    of = asked.session(session).session
    try:
        return [asdict(each) for each in spans_of(of.history, of.timeline, frame)]
    except IndexError:
        raise RemoteError(REFUSED, f"There is no frame {frame:,} in this session.") from None


@method("session.events")
def events(
    asked: Asked,
    session: SessionNumber = 0,
    offset: Offset = 0,
    limit: Limit = 100,
    kinds: list[str] = [],  # noqa: B006 - msgspec copies it
) -> object:
    """List what has happened from an event on, a sentence each; perhaps only of some kinds."""
    history = asked.session(session).session.history
    known = {row.name: int(row.kind) for row in SCHEMA.values()}
    if strange := [each for each in kinds if each not in known]:
        message = f"There is no kind of event “{strange[0][:80]}”; there are {', '.join(known)}."
        raise RemoteError(REFUSED, message)
    wanted = {known[each] for each in kinds}
    found: list[object] = []
    cursor = max(offset, history.first)
    while cursor < history.end and len(found) < limit:
        cursors, block = history.numbered(cursor, min(cursor + 10_000, history.end))
        cursor = min(cursor + 10_000, history.end)
        for place, event in zip(cursors, block, strict=True):
            if wanted and event[1] not in wanted:
                continue
            if len(found) == limit:
                cursor = place
                break
            found.append(
                {
                    "event": place,
                    "at_ns": event[0],
                    "kind": EventKind(event[1]).name.lower(),
                    "text": describe(event, history.strings),
                }
            )
    return {"items": found, "total": history.end, "next": cursor if cursor < history.end else None}


@method("session.commands")
def commands(
    asked: Asked, session: SessionNumber = 0, offset: Offset = 0, limit: Limit = 100
) -> object:
    """List the commands that were given, with their refusals."""
    found = asked.session(session).session.timeline.commands
    return _page([structs.asdict(each) for each in found], offset, limit)


@method("session.failures")
def failures(
    asked: Asked, session: SessionNumber = 0, offset: Offset = 0, limit: Limit = 100
) -> object:
    """List the callbacks that raised, with their tracebacks."""
    timeline = asked.session(session).session.timeline
    return _page([structs.asdict(each) for each in timeline.failures], offset, limit)


@method("session.marks")
def marks(
    asked: Asked, session: SessionNumber = 0, offset: Offset = 0, limit: Limit = 100
) -> object:
    """List the marked instants."""
    timeline = asked.session(session).session.timeline
    return _page([structs.asdict(each) for each in timeline.marks], offset, limit)


@method("session.breakpoints")
def breakpoints(asked: Asked, session: SessionNumber = 0) -> object:
    """List the breakpoints with their hits."""
    of = asked.session(session).session
    if of.breakpoints is None:
        raise RemoteError(REFUSED, "What was recorded has no breakpoints.")
    return {
        "breakpoints": [
            {"number": number, "hits": hits, "text": each.text, "values": each.as_values()}
            for number, each, hits in of.breakpoints.items()
        ],
        "hits": [structs.asdict(each) for each in of.timeline.hits[-100:]],
    }


@method("session.tasks")
def tasks(
    asked: Asked,
    session: SessionNumber = 0,
    at_ns: Instant | None = None,
    watch: bool = True,
    offset: Offset = 0,
    limit: Limit = 1_000,
) -> object:
    """List the tasks of asyncio, uvloop and trio: who waits for whom, for what, since when.

    A program tells them from the first request on, until one with false for “watch”; the first
    answer may be before that. Each task comes after the one that waits for it, one level deeper.
    """
    opened = asked.session(session)
    of = opened.session
    if isinstance(of, AttachesPrograms):
        of.watch_tasks(_TASKS_NS if watch else 0)
    timeline = _past(opened, at_ns)
    found = [row.values for row in task_rows(of.history, timeline)]
    told_ns = max(timeline.tasks.told_ns.values(), default=None)
    return {**_page(found, offset, limit), "told_ns": told_ns}


@method("session.annotations")
def list_annotations(asked: Asked, session: SessionNumber = 0) -> object:
    """List the bookmarks, notes and named ranges."""
    return [structs.asdict(each) for each in asked.session(session).session.annotations]


@method("session.loops")
def loops(asked: Asked, session: SessionNumber = 0) -> object:
    """List the loops of attached programs, or the streams of a capture, that can be shown."""
    of = asked.session(session).session
    if isinstance(of, ShowsCapture):
        return {"streams": of.streams, "shown": of.stream}
    if isinstance(of, ShowsLoops):
        return {"loops": of.loops, "shown": of.frames_of}
    return {"loops": [], "shown": 0}


@method("session.explain")
def explain_timer(
    asked: Asked, timer: Text, session: SessionNumber = 0, at_ns: Instant | None = None
) -> object:
    """Explain why a timer has not fired, or fired when it did; by its number or name."""
    opened = asked.session(session)
    history = opened.session.history
    timeline = _past(opened, at_ns)
    match = find_timer(history, timeline, timer)
    found = explain(history, match.call, timeline.at_ns)
    return {**asdict(found), "lines": found.lines(), "note": match.note}


@method("session.preview")
def preview_change(
    asked: Asked, change: Text, session: SessionNumber = 0, at_ns: Instant | None = None
) -> object:
    """Say which timers would fire when after a change such as “pause enemies”."""
    timeline = _past(asked.session(session), at_ns)
    foreseen = preview(timeline, considered_command(timeline, change))
    if foreseen is None:
        raise RemoteError(REFUSED, f"“{change}” would change nothing that is due.")
    moved = [each.values() for each in islice(foreseen, 1_000)]
    return {"sentence": foreseen.sentence, "timers": moved, "total": len(foreseen)}


def _late(history: History, over_ns: int, limit: int) -> dict[str, object]:
    found = worst_late_calls(history, over_ns)
    values = late_values(found)
    texts = [late_call_text(call) for call in found[:limit]]
    late = values["late"]
    assert isinstance(late, list)
    items = [{**each, "text": text} for each, text in zip(late[:limit], texts, strict=True)]
    return {"items": items, "total": len(found), "causes": values["causes"]}


@method("session.late")
def late(
    asked: Asked, session: SessionNumber = 0, over_ns: Duration = 20_000_000, limit: Limit = 100
) -> object:
    """List the calls that were late, the worst first, each with what made it late."""
    return _late(asked.session(session).session.history, over_ns, limit)


@method("session.findings")
def list_findings(
    asked: Asked, session: SessionNumber = 0, budget_ms: float | None = None
) -> object:
    """List the problems found in the timers and frames so far, each with its remedy."""
    of = asked.session(session).session
    state = of.history.state_before(of.history.end)
    budget = loop_budget(state, of.frame_rate, waits=of.waits)
    if budget_ms is not None:
        try:
            budget = FrameBudget(FrameBudget.of_ms(budget_ms).budget_ns, of.waits)
        except ValueError as error:
            raise RemoteError(REFUSED, f"{error}.") from None
    found = findings(of.history, budget=budget, state=state)
    return [{**asdict(each), "kind": each.kind.name, "about": each.kind.summary} for each in found]


@method("session.statistics")
def statistics(asked: Asked, session: SessionNumber = 0) -> object:
    """Return the statistics of frame times, as each tool defines them."""
    of = asked.session(session).session
    about = provenance_of(of)
    refresh_ms = about.budgets_ms[0] if about.has_budget and not of.is_recorded else None
    series = series_of(FrameTimes.from_history(of.timeline.frames), refresh_ms=refresh_ms)
    return {
        each.metric.id: {"value": each.value, "text": each.text}
        for each in metric_values(series)
        if each.value is not None
    }


@method("session.compare")
def compare(
    asked: Asked, before: int | Text, after: int | Text, over_ns: Duration = 20_000_000
) -> object:
    """Compare two sessions by number, or files by name: frame times, calls, and what was late."""
    runs, lates = [], {}
    for side, named in (("before", before), ("after", after)):
        run, lates[side] = _run_of(asked, named, over_ns)
        runs.append(run)
    try:
        (found,) = differences(runs)
        values: object = comparison_values(found)
    except (InspectorError, ValueError) as error:
        values = {"why_not": str(error)}
    return {"frames_and_calls": values, "late": lates}


def _run_of(asked: Asked, named: int | str, over_ns: int) -> tuple[ComparedRun, object]:
    """Return a side of a comparison, and what was late in a session."""
    if isinstance(named, str):
        return run_of_file(expanded(named)), None

    def read_side(opened: OpenSession) -> tuple[ComparedRun, object]:
        make = run_of_session(opened.session, f"{opened.session.title} ({opened.number})")
        return make(lambda _done: None), _late(opened.session.history, over_ns, 100)

    found: tuple[ComparedRun, object] = asked.in_session(named, read_side)
    return found


@method("session.sql")
def sql(
    asked: Asked, query: Text, session: SessionNumber = 0, offset: Offset = 0, limit: Limit = 100
) -> object:
    """Ask a recording in SQL; it can only be read. The help on recordings lists its tables."""
    opened = asked.session(session)
    if opened.kind != "recording":
        message = "Only a recording can be asked in SQL. Record the session, and open the file."
        raise RemoteError(REFUSED, message)
    until_s = monotonic() + _QUERY_S
    try:
        with closing(sqlite3.connect(f"file:{quote(opened.path)}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_authorizer(_allow_reading)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 26)
            database.set_progress_handler(lambda: monotonic() > until_s, _QUERY_STEPS)
            cursor = database.execute(query)
            columns = [each[0] for each in cursor.description or ()]
            rows = list(islice(_rows(cursor), offset, offset + limit + 1))
    except sqlite3.Error as error:
        is_over = "interrupted" in str(error)
        why = f"it took more than {_QUERY_S:g} s" if is_over else str(error)
        raise RemoteError(REFUSED, f"The query was refused: {why}.") from None
    is_more = len(rows) > limit
    return {"columns": columns, "rows": rows[:limit], "next": offset + limit if is_more else None}


def _allow_reading(action: int, _a: object, name: object, *_rest: object) -> int:
    is_bad = name in {"load_extension", "randomblob", "zeroblob"}
    return sqlite3.SQLITE_OK if action in _READING and not is_bad else sqlite3.SQLITE_DENY


def _rows(cursor: sqlite3.Cursor) -> Iterator[list[object]]:
    for row in cursor:
        yield [
            counted(len(each), "byte")
            if isinstance(each, bytes)
            else each[:_MOST_TEXT]
            if isinstance(each, str)
            else each
            for each in row
        ]


@method("server.commands")
def command_line_commands(asked: Asked, of: Literal["inspector"] = "inspector") -> object:
    """List the commands that command_line.run takes."""
    from inspector.cli.commands import COMMANDS  # noqa: PLC0415 - which names this package

    _ = asked, of
    return [{"name": each.name, "summary": each.summary} for each in COMMANDS]
