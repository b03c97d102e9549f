"""What there is to say about a session when nothing is selected."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

import msgspec
import numpy as np

from inspector.commands.command import Capability
from inspector.events.timeline import Timeline
from inspector.sessions.session import (
    AttachedProgram,
    AttachesPrograms,
    Session,
    pictures_of,
    samples_of,
    time_name,
)
from inspector.timebase import format_at, format_duration, format_instant
from inspector.vocabulary import NEVER

from ..session.bridge import Selection
from .rows import (
    ClockCounts,
    DetailRow,
    Link,
    RowKind,
    about,
    ago,
    answer,
    heading,
    instant_with_ns,
    linked,
    sentence,
)

#: So many timers are listed that fire next.
_MOST_NEXT: Final = 9
_TURNS: Final = "turns of a loop that waits for events: their duration is compared with the budget"


def overview_rows(
    session: Session | None,
    capabilities: Container[Capability],
    clock_counts: ClockCounts,
    timeline: Timeline,
    present: Timeline,
) -> list[DetailRow]:
    """Return what there is to say about a state of the session, when nothing is selected.

    Args:
        timeline: That state.
        present: The state at present, which may be another one.
    """
    if session is None:
        return [sentence("No scene is open. Open one to see its clocks and timers.")]
    status = session.status
    timeline.resolve_dues()
    title = heading(session.title or "Session")
    if timeline is present or session.is_recorded:
        rows = [title, *_timer_rows(session, timeline), heading("Session")]
    else:
        rows = [*_past_rows(timeline, present), *_timer_rows(session, timeline)[1:], title]
    rows += [
        DetailRow("Source", session.source_label),
        DetailRow("Status", status.message or status.phase.value),
    ]
    if status.detail:
        rows.append(DetailRow("", status.detail, RowKind.CODE))
    # Of a recording this is how it was, whether or not it is being played.
    was = "was " if session.is_recorded else ""
    if (pictures := pictures_of(session)) is not None and pictures.brief:
        rows.append(DetailRow("Pictures", pictures.brief))
    rows += [
        DetailRow(time_name(session).capitalize(), instant_with_ns(timeline.at_ns)),
        DetailRow("Transport", was + ("running" if timeline.is_running else "held")),
    ]
    if session.waits:
        rows.append(DetailRow("Frames are", _TURNS))
    if Capability.FRAME_RATE in capabilities:
        rows.append(DetailRow("Frame rate", f"{float(session.frame_rate):.6g} per second"))
    if isinstance(session, AttachesPrograms):
        for program in session.programs.values():
            rows += program_rows(program)
    rows.append(heading("So far"))
    rows += _counted_rows(timeline, clock_counts, are_samples=bool(samples_of(session)))
    rows += _failure_overview(timeline)
    rows.append(heading("Event log"))
    rows += _log_rows(session)
    return rows


def _past_rows(timeline: Timeline, present: Timeline) -> list[DetailRow]:
    """Return which instant of the past is shown, and what the session does meanwhile."""
    runs_on = "The scene runs on. " if present.is_running else ""
    said = f"{ago(present, timeline.at_ns)}. {runs_on}What you see is the state at this instant."
    return [about("Looking back"), heading(format_at(timeline.at_ns)), answer(said)]


def _timer_rows(session: Session, timeline: Timeline) -> list[DetailRow]:
    """Return how many timers there are in a sentence, and those that fire next."""
    if not timeline.clocks or samples_of(session):
        return []
    pending, waiting = len(timeline.timers), _waiting(timeline)
    runs = "Running" if timeline.is_running else "Held"
    if session.is_recorded:
        runs = f"It was {runs.lower()}"
    are = "timer is" if pending == 1 else "timers are"
    wait = {0: "none waits", 1: "1 waits"}.get(waiting, f"{waiting:,} wait")
    count = f"{pending:,} {are} pending, {wait}" if pending else "No timer is pending"
    said = f"{runs}. {count}."
    rows, next_calls = [answer(said)], _next_to_fire(timeline)
    return [*rows, heading("Next to fire"), *next_calls] if next_calls else rows


def _next_to_fire(timeline: Timeline) -> list[DetailRow]:
    """Return the timers that are due first, each with its clock and when that is."""
    table = timeline.timers
    dues = table.numpy("session_due")
    first = (
        np.argpartition(dues, _MOST_NEXT)[:_MOST_NEXT] if len(dues) > _MOST_NEXT else slice(None)
    )
    places = np.arange(len(dues))[first]
    order = np.lexsort((table.numpy("order")[places], dues[places]))
    rows = []
    for place in map(int, places[order]):
        if dues[place] == NEVER:
            break
        name = timeline.strings[table.label[place]]
        left = format_duration(max(0, int(dues[place]) - timeline.at_ns))
        clock = timeline.clocks[table.clock[place]].name
        pieces = Link(name, Selection.timer(table.id[place])), Link(f"  {clock}, in {left}")
        rows.append(msgspec.structs.replace(linked("", pieces), kind=RowKind.SENTENCE))
    return rows


def _waiting(timeline: Timeline) -> int:
    return int(np.count_nonzero(timeline.timers.numpy("session_due") == NEVER))


def program_rows(program: AttachedProgram) -> list[DetailRow]:
    facts = [DetailRow(title, text) for title, text in program.facts]
    return [heading(f"Program “{program.name}”"), *facts]


def limit_rows(session: Session, clock_id: int) -> list[DetailRow]:
    """Return what the program of a clock does not allow with it, and what that program is."""
    if not isinstance(session, AttachesPrograms):
        return []
    program = session.program_of_clock(clock_id)
    if program is None:
        return []
    frames = session.frames_text(clock_id)
    found = [DetailRow("Frames", frames)] if frames else []
    if limits := program.limits(clock_id):
        found.append(heading("What the program does not allow"))
        found += [DetailRow(title, text) for title, text in limits]
    return [*found, *program_rows(program)]


def _counted_rows(
    timeline: Timeline, clock_counts: ClockCounts, *, are_samples: bool
) -> list[DetailRow]:
    frames = timeline.frames
    kept = f", {frames.first:,} no longer in the log" if frames.first else ""
    rows = [DetailRow("Samples" if are_samples else "Frames", f"{frames.end:,}{kept}")]
    if len(frames):
        newest = frames.end - 1
        link = Link(f"frame {newest:,}", Selection.frame(newest))
        took = format_duration(frames.interval_ns[-1])
        after = "" if are_samples else " after the previous frame"
        rows.append(linked("Newest", (link, Link(f", {took}{after}"))))
    still = clock_counts.standing_still(timeline)
    waiting = _waiting(timeline)
    rows += [
        DetailRow("Clocks", f"{len(timeline.clocks):,}, {still:,} paused"),
        DetailRow("Timers", f"{len(timeline.timers):,} pending, {waiting:,} waiting"),
        DetailRow("Commands", _with_refusals(timeline)),
    ]
    if timeline.marks:
        mark = timeline.marks[-1]
        rows.append(
            DetailRow(
                "Marks",
                f"{len(timeline.marks):,}, last “{mark.text}” at {format_instant(mark.at_ns)}",
            )
        )
    return rows


def _with_refusals(timeline: Timeline) -> str:
    if not timeline.commands:
        return "none"
    last = timeline.commands[-1]
    refused = f" (refused: {last.refusal})" if last.refusal else ""
    return f"{len(timeline.commands):,}, last: {last.text}{refused}"


def _failure_overview(timeline: Timeline) -> list[DetailRow]:
    failures = timeline.failures
    if not failures:
        return [DetailRow("Failures", "none")]
    last = failures[-1]
    return [
        linked(
            "Failures",
            (
                Link(f"{len(failures):,}, last: “{last.label}” at "),
                Link(format_instant(last.at_ns), Selection.frame(last.frame)),
            ),
        ),
        DetailRow("", last.traceback.strip(), RowKind.CODE),
    ]


def _log_rows(session: Session) -> list[DetailRow]:
    log, history = session.log, session.history
    if session.is_recorded and not history.first:
        missing = history.missing
        kept = f"{missing:,} of them missing" if missing else "all in the file"
        rows = [DetailRow("Events", f"{history.end:,}, {kept}")]
    else:
        kept = f"{len(log):,} in the log" if log.first else "all in the log"
        rows = [DetailRow("Events", f"{log.end:,}, {kept}")]
    if history.first:
        rows.append(
            DetailRow(
                "No longer in the log", f"{history.first:,} (their effect on the state is kept)"
            )
        )
    errors = session.wake_errors
    if errors is not None:
        rows.append(
            DetailRow(
                "Wake-up delay",
                f"median {format_duration(errors.median_ns)}, "
                f"99 % up to {format_duration(errors.p99_ns)}, "
                f"at most {format_duration(errors.max_ns)} ({errors.count:,} measured)",
            )
        )
    return rows
