"""Rows about a session when nothing is selected."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Final

import numpy as np

from inspector.analysis.evidence import subject_of, who
from inspector.analysis.explain.lateness import kept_reasons
from inspector.commands.command import Capability
from inspector.display_text import counted, listed, without_quotes
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_series import longest_frame
from inspector.sessions.scene import built_in_scene
from inspector.sessions.session import (
    AttachedProgram,
    AttachesPrograms,
    Session,
    SessionPhase,
    SessionStatus,
    ShowsCapture,
    file_word,
    pictures_of,
    samples_of,
    time_name,
)
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, rate_chip

from ..session.bridge import Selection
from .rows import (
    LOOKING_BACK,
    MOST_LISTED,
    ClockCounts,
    DetailRow,
    LinkedText,
    RowKind,
    about,
    ago,
    answer,
    heading,
    instant,
    linked,
    note,
    opening,
    sentence,
    step,
)
from .timer_lists import next_rows

#: At most this many of the timers that fire next are listed.
_MOST_NEXT: Final = 9
#: At most this many paused clocks are named for an instant of the past.
_MOST_STOPPED: Final = 3
#: The verbs with which commands begin, when they are told of: "You did: paused enemies". Steps and
#: rewinds may be cancelled before all of them was done.
_DONE: Final = {
    **{verb: f"{verb}d" for verb in ("pause", "resume", "unschedule", "remove", "save", "fire")},
    **{verb: f"{verb}ed" for verb in ("record", "mark", "clear", "reload")},
    "run": "ran",
    "hold": "held",
    "stop": "stopped",
    "make": "made",
    "undo": "undid",
    "enable": "enabled",
    "disable": "disabled",
}
_TURNS: Final = "turns of a loop that waits for events: their duration is compared with the budget"


def overview_rows(  # noqa: PLR0913 - the session in two states, and what is wanted of it
    session: Session | None,
    capabilities: Container[Capability],
    clock_counts: ClockCounts,
    timeline: Timeline,
    present: Timeline,
    *,
    is_whole: bool = False,
) -> list[DetailRow]:
    """Return what there is to say about a state of the session, when nothing is selected.

    ``present`` may be another state. With ``is_whole``, all that is known of the session is said.
    """
    if session is None:
        return [sentence("No scene is open. Open one to see its clocks and timers.")]
    timeline.resolve_dues()
    is_at_end, status = timeline is present, session.status
    timers = _timer_rows(session, status, timeline)
    if is_at_end or session.is_recorded:
        pictures = pictures_of(session)
        body = ", a bar or a body in the scene"
        others = body if pictures is not None and pictures.is_described else " or a bar"
        rows = [about(f"Nothing is selected. Click a lane{others}.")] if timeline.clocks else []
        rows += [heading(session.title or "Session"), *timers]
        so_far = "In all" if is_at_end else "Up to this instant"
        rows += [heading(so_far if session.is_recorded else "So far")]
        rows += _counted_rows(session, timeline)
        if session.is_recorded and session.history.missing:
            rows.append(DetailRow("Missing", counted(session.history.missing, "event")))
        if status.phase is not SessionPhase.FAILED:
            # Why a scene failed is shown in place of its frames.
            rows += _failure_rows(timeline)
    else:
        rows = [*_past_rows(session, timeline, present), *timers[1:]]
    rows.append(opening(f"About this {_what(session)}", "whole", is_open=is_whole))
    if is_whole:
        rows += _about_rows(session, capabilities, clock_counts, timeline)
    return rows


def _what(session: Session) -> str:
    if session.is_recorded:
        return file_word(session)
    return "program" if isinstance(session, AttachesPrograms) else "scene"


def _about_rows(
    session: Session,
    capabilities: Container[Capability],
    clock_counts: ClockCounts,
    timeline: Timeline,
) -> list[DetailRow]:
    """Return what a session is, and how it is run."""
    status = session.status
    scene = None if session.is_recorded else built_in_scene(Path(session.source_label))
    rows = [] if scene is None else [sentence(text) for text in (scene.summary, *scene.tries)]
    rows += [
        DetailRow("Source", session.source_label),
        DetailRow("Status", status.message or status.phase.value),
    ]
    if status.detail:
        rows.append(DetailRow("", status.detail, RowKind.CODE))
    # For a recording, this says how it was then, whether or not it is being played.
    was = "was " if session.is_recorded else ""
    if (pictures := pictures_of(session)) is not None and pictures.brief:
        rows.append(DetailRow("Pictures", pictures.brief))
    rows += [
        instant(time_name(session).capitalize(), timeline.at_ns),
        DetailRow("Transport", was + ("running" if timeline.is_running else "held")),
    ]
    if session.waits:
        rows.append(DetailRow("Frames are", _TURNS))
    if Capability.FRAME_RATE in capabilities:
        rows.append(DetailRow("Frame rate", f"{float(session.frame_rate):.6g} per second"))
    still = clock_counts.standing_still(timeline)
    rows += [
        DetailRow("Clocks", f"{len(timeline.clocks):,}, {still:,} paused"),
        DetailRow("Timers", f"{len(timeline.timers):,} pending, {_waiting(timeline):,} waiting"),
    ]
    if timeline.marks:
        mark = timeline.marks[-1]
        last = f"last “{mark.text}” at {format_instant(mark.at_ns)}"
        rows.append(DetailRow("Marks", f"{len(timeline.marks):,}, {last}"))
    if isinstance(session, AttachesPrograms):
        for program in session.programs.values():
            rows += program_rows(program)
    return [*rows, heading("Event log"), *_log_rows(session)]


def _past_rows(session: Session, timeline: Timeline, present: Timeline) -> list[DetailRow]:
    """Return which instant of the past is shown, what the session does meanwhile, and its frame."""
    runs_on = f"The {_what(session)} runs on. " if present.is_running else ""
    said = f"{ago(present, timeline.at_ns)}. {runs_on}What you see is the state at this instant."
    rows = [about(LOOKING_BACK), heading(format_instant(timeline.at_ns)), answer(said)]
    stopped = [
        step(
            f"since {format_instant(clock.paused_since_ns)}",
            [
                LinkedText(f"{clock.name} was paused", Selection.clock(clock.id)),
                LinkedText(f" by {who(timeline, clock.pause_cause)}."),
            ],
        )
        for clock in timeline.clocks.values()
        if clock.paused
    ]
    rates = [
        f"{clock.name} {rate_chip(clock.rate_n)}"
        for clock in timeline.clocks.values()
        if clock.rate != 1
    ]
    then = stopped[:_MOST_STOPPED]
    if rates:
        then.append(step("at this instant", [LinkedText(f"{listed(rates, MOST_LISTED)}.")]))
    rows += [heading("Then"), *then] if then else []
    frames = timeline.frames
    if len(frames):
        newest = frames.end - 1
        link = LinkedText(f"frame {newest:,}", Selection.frame(newest))
        took = LinkedText(f", {format_duration(frames.interval_ns[-1])}")
        rows.append(linked("Shows", (link, took)))
    return rows


def _timer_rows(session: Session, status: SessionStatus, timeline: Timeline) -> list[DetailRow]:
    """Return how many timers there are in a sentence, and those that fire next."""
    # Nothing waits in a capture.
    if not timeline.clocks or isinstance(session, ShowsCapture):
        return []
    if status.phase is SessionPhase.WAITING:
        return [answer(without_quotes(status.message))]
    if isinstance(session, AttachesPrograms) and status.phase is SessionPhase.FAILED:
        return [answer("It is not attached.")]
    pending = len(timeline.timers)
    runs = "Running" if timeline.is_running else "Held"
    if status.phase.goes_on:
        runs = status.phase.value.capitalize()
    elif isinstance(session, AttachesPrograms) and status.phase is SessionPhase.ENDED:
        runs = "It has ended"
    elif session.is_recorded:
        runs = f"It was {runs.lower()}"
    if not pending:
        return [answer(f"{runs}. No timer is pending.")]
    waiting = _waiting(timeline)
    are = "timer is" if pending == 1 else "timers are"
    late, reasons = kept_reasons(session.history, timeline)
    wait = {0: "none waits", 1: "1 waits"}.get(waiting, f"{waiting:,} wait")
    if late:
        wait = f"{'' if pending == 1 else f'{late:,} of them '}late so far"
    said = f"{runs}. {pending:,} {are} pending, {wait}."
    rows = [answer(said), *(sentence(without_quotes(each.text)) for each in reasons)]
    next_calls = next_rows(timeline, _MOST_NEXT)
    return [*rows, heading("Next to fire"), *next_calls] if next_calls else rows


def _waiting(timeline: Timeline) -> int:
    return int(np.count_nonzero(timeline.timers.numpy("session_due") == NEVER))


def program_rows(program: AttachedProgram) -> list[DetailRow]:
    facts = [DetailRow(title, text) for title, text in program.facts]
    return [heading(f"Program {program.name}"), *facts]


def limit_rows(session: Session, clock_id: int) -> list[DetailRow]:
    """Return what the program of a clock does not allow with it, and what that program is."""
    if not isinstance(session, AttachesPrograms):
        return []
    program = session.program_of_clock(clock_id)
    if program is None:
        return []
    frames = session.frames_text(clock_id)
    found = [DetailRow("Frames", frames)] if frames else []
    # The limits of a program that has ended would only say that it has.
    if program.is_attached and (limits := program.limits(clock_id)):
        found.append(heading("What the program does not allow"))
        found += [DetailRow(title, text) for title, text in limits]
    return [*found, *program_rows(program)]


def _counted_rows(session: Session, timeline: Timeline) -> list[DetailRow]:
    frames = timeline.frames
    counted_are = "Samples" if samples_of(session) else "Turns" if session.waits else "Frames"
    kept = f", {frames.first:,} no longer in the log" if frames.first else ""
    rows = [DetailRow(counted_are, f"{frames.end:,}{kept}")]
    if len(frames):
        # For a loop that waits for events, its work counts, not how long it waited.
        longest = frames.frame(longest_frame(frames, "busy" if session.waits else "interval"))
        took_ns = longest.busy_ns if session.waits else longest.interval_ns
        text = f"{format_duration(took_ns)} at {format_instant(longest.at_ns)}"
        rows.append(linked("Longest", [LinkedText(text, Selection.frame(longest.index))]))
    if timeline.commands:
        last = timeline.commands[-1]
        text, subject = without_quotes(last.text), subject_of(timeline, last.number)
        if last.refusal:
            did = [LinkedText(text, at_ns=last.at_ns)]
            did.append(LinkedText(f", refused: {without_quotes(last.refusal)}"))
        else:
            verb, space, rest = text.partition(" ")
            did = [LinkedText(f"{_DONE.get(verb, verb)}{space}{rest}", at_ns=last.at_ns)]
        rows.append(linked(f"{subject} {'asked to' if last.refusal else 'did'}", did))
    return rows


def _failure_rows(timeline: Timeline) -> list[DetailRow]:
    failures = timeline.failures
    if not failures:
        return []
    last = failures[-1]
    where = LinkedText(format_instant(last.at_ns), Selection.frame(last.frame))
    return [
        linked("Failures", (LinkedText(f"{len(failures):,}, last: {last.label} at "), where)),
        note(last.raised),
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
