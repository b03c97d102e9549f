"""The commands ``explain`` and ``lint``, after their arguments are parsed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TextIO

from msgspec import Struct

from inspector.analysis.evidence import Explanation, missing_text
from inspector.analysis.explain.explain import explain
from inspector.analysis.frame_spans import heaviest_in
from inspector.analysis.lint.findings import Finding
from inspector.analysis.lint.rules import findings, kinds
from inspector.analysis.predict.command_preview import preview
from inspector.analysis.predict.forecast import scored_calls
from inspector.analysis.predict.preview_table import preview_table
from inspector.analysis.predict.scores import Score
from inspector.analysis.statistics.frame_budget import FrameBudget, loop_budget, rate_in_file
from inspector.cli.commands.explain import DEFAULT_REAL_SECONDS, DEFAULT_SECONDS
from inspector.cli.names import considered_command, find_timer
from inspector.cli.progress import EndlessCodeNote, Progress
from inspector.cli.terminal import write_json, write_notes
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.display_text import counted
from inspector.errors import ArgumentError
from inspector.events.history import History
from inspector.events.recording import Recording, RecordingError, as_far_as_it_goes
from inspector.events.timeline import Timeline
from inspector.exit_codes import ExitCode
from inspector.foreign.files import check_readable, is_recording
from inspector.foreign.paths import is_recording_name
from inspector.sessions.frame_files import recording_showing
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.real import run_real
from inspector.sessions.runs.virtual import RunOutcome, run_virtual
from inspector.sessions.scene import find_scene
from inspector.sessions.session import frames_wait
from inspector.sessions.sources.time_sources import TIME_SOURCES, make_source
from inspector.timebase import NS_PER_SECOND, format_duration, format_instant

#: Most timers of a preview that are printed; JSON has all.
_MOST_PREVIEWED = 40
#: A callback that takes this long without using the processor sleeps or waits for a file.
_ASLEEP_NS = 100_000_000
#: If more than one frame in this many is slow, other programs are not the reason.
_OFTEN = 20


class Past(Struct, frozen=True):
    history: History
    title: str
    end_ns: int  # Session instant of its end
    frame_rate: Fraction
    hint: str = ""  # A sentence on what virtual time does not show, or nothing
    within: str = ""  # Scope of a verdict, such as “ in virtual time”; empty for everything
    waits: bool = False  # Whether its frames are turns of a loop that waits for events

    @property
    def is_partial(self) -> bool:
        """Whether parts are missing in what has been read of it so far."""
        return isinstance(self.history, Recording) and self.history.is_partial


def explain_command(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Explain why a timer has not fired, or fired when it did; or preview a change."""
    if (options.timer is None) == (options.preview is None):
        message = "Name either a timer or a --preview, not both."
        if is_recording_name(Path(options.past)):
            check_readable(Path(options.past))
        else:
            find_scene(options.past)
        if options.timer is None:
            message = "Argument TIMER: name a timer, or use --preview."
        raise ArgumentError(message)
    with open_past(options, err, options.at) as past:
        at_ns = past.end_ns if options.at is None else options.at
        if at_ns > past.end_ns:
            raise ArgumentError(
                f"Argument --at: {format_instant(at_ns)} is after the end, which is at "
                f"{format_instant(past.end_ns)}."
            )
        if at_ns < past.history.first_ns:
            message = f"Argument --at: the log begins at {format_instant(past.history.first_ns)}."
            raise ArgumentError(message)
        _check_known(past.history, at_ns)
        timeline = past.history.state_at(at_ns)
        if options.preview is not None:
            return _preview(timeline, options, out)
        match = find_timer(past.history, timeline, options.timer)
        explanation = explain(past.history, match.call, at_ns)
        is_past = at_ns < past.end_ns
        scores = scored_calls(past.history, timeline, match.call) if is_past else []
    if options.json:
        values = {"at_ns": at_ns, **asdict(explanation), "note": match.note, "hint": past.hint}
        write_json(out, {**values, "predicted": [_score_value(each) for each in scores]})
    else:
        out.write(_explanation_text(explanation, at_ns, (match.note, past.hint), scores))
    return ExitCode.OK


def _check_known(history: History, at_ns: int) -> None:
    if missing := missing_text(history, at_ns):
        raise RecordingError(f"{missing} Choose an instant before or after that: --at.")


def _preview(timeline: Timeline, options: Namespace, out: TextIO) -> ExitCode:
    foreseen = preview(timeline, considered_command(timeline, options.preview))
    assert foreseen is not None, "the clock or member is there, and the rate was read"
    if options.json:
        values: dict[str, object] = {"at_ns": timeline.at_ns, "sentence": foreseen.sentence}
        write_json(out, {**values, "timers": [each.values() for each in foreseen]})
    else:
        table = preview_table(timeline, foreseen, _MOST_PREVIEWED)
        lines = [f"At {format_instant(timeline.at_ns)}.", *table.lines()]
        out.write("\n".join(lines) + "\n")
    return ExitCode.OK


def _score_value(score: Score) -> dict[str, object]:
    prediction = score.prediction
    return {
        "at_ns": prediction.at_ns,
        "due_ns": prediction.due_ns,
        "outcome": score.outcome.value,
        "text": score.text,
        "fired_ns": score.fired_ns,
        "cursor": score.cursor,
    }


def lint_command(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Print problems with timers; returns 8 if none is found in what can be read."""
    with open_past(options, err, None) as past:
        history = past.history
        state = history.state_before(history.end)
        budget = loop_budget(state, past.frame_rate, waits=past.waits)
        if options.budget is not None:
            budget = FrameBudget(FrameBudget.of_ms(options.budget).budget_ns, past.waits)
        found = findings(history, budget=budget, state=state)
        title, end_ns, count = past.title, past.end_ns, past.history.end
        is_partial = past.is_partial
        within = " in what can be read" if is_partial else past.within
    if options.json:
        values = [{**asdict(finding), "kind": finding.kind.name} for finding in found]
        values_of_past = {"title": title, "end_ns": end_ns, "events": count, "hint": past.hint}
        write_json(out, {**values_of_past, "findings": values})
    else:
        out.write(_findings_text(title, end_ns, found, within))
        if past.hint:
            out.write(f"\n{past.hint}\n")
    if found:
        return ExitCode.FAILED
    return ExitCode.CANNOT_TELL if is_partial else ExitCode.OK


def _explanation_text(
    explanation: Explanation, at_ns: int, notes: tuple[str, ...], scores: list[Score]
) -> str:
    lines = [f"At {format_instant(at_ns)}.", *explanation.lines()]
    if scores:
        lines.append("Predictions at that instant, and their outcome:")
    for each in scores:
        event = "" if each.cursor is None else f"  [event {each.cursor:,}]"
        lines.append(f"  {format_instant(each.prediction.at_ns)}  {each.text}{event}")
    lines += filter(None, notes)
    return "\n".join(lines) + "\n"


def _findings_text(title: str, end_ns: int, found: list[Finding], within: str) -> str:
    what = f"{title}, {format_instant(end_ns)}"
    if not found:
        return f"{what}: nothing looks wrong{within}.\n"
    count = counted(len(found), "finding")
    lines = [f"{what}: {count}."]
    for kind in kinds():
        mine = [finding for finding in found if finding.kind is kind]
        if not mine:
            continue
        lines.append(f"\n{kind.name}: {kind.summary}")
        for finding in mine:
            event = "" if finding.cursor is None else f"  [event {finding.cursor:,}]"
            lines.append(f"  {format_instant(finding.at_ns)}  {finding.text}{event}")
    return "\n".join(lines) + "\n"


@contextmanager
def open_past(options: Namespace, err: TextIO, at_ns: int | None) -> Iterator[Past]:
    path = Path(options.past)
    if is_recording(path):
        if options.seconds is not None:
            raise ArgumentError("Argument --seconds: a recording has a fixed length. Omit it.")
        if options.source_argument:
            message = f"Argument {options.source_argument}: a recording is not run. Omit it."
            raise ArgumentError(message)
        with closing(recording_showing(path, options.stream)) as recording:
            write_notes(err, *recording.notes)
            if not recording.end:
                raise RecordingError(f"{path} holds no events.")
            rate = rate_in_file(recording.meta.get("frame_rate")) or DEFAULT_FRAME_RATE
            with as_far_as_it_goes(recording):
                waits = frames_wait(recording.state_before(recording.end), recording.meta)
                yield Past(recording, recording.title, recording.last_ns, rate, waits=waits)
        return
    if options.stream is not None:
        raise ArgumentError("Argument --stream: a scene has one loop. Omit it.")
    host = SystemTimeSource()
    source = make_source(options.source, host)
    scene = find_scene(options.past)
    with EndlessCodeNote(err) as note, TIME_SOURCES.guarding(options.source):
        session = HostedSession(scene, source, autorun=False)
        note.watch(session)
        with closing(session):
            if session.problem is not None:
                raise session.problem
            default = DEFAULT_REAL_SECONDS if options.source.is_real else DEFAULT_SECONDS
            duration_ns = options.seconds or max(at_ns or 0, default * NS_PER_SECOND)
            run = _run(session, duration_ns, err, host if options.source.is_real else None)
            session.refresh()
            if not run.is_complete:
                write_notes(err, f"The run ended early. {session.status.message}")
            # The run's duration may end slightly before the last event.
            hint = "" if options.source.is_real else _work_hint(session, run)
            history, end_ns = session.history, session.timeline.at_ns
            within = " in virtual time" if hint else ""
            yield Past(history, session.title, end_ns, session.frame_rate, hint, within)


def _run(
    session: HostedSession, duration_ns: int, err: TextIO, host: SystemTimeSource | None
) -> RunOutcome:
    """Run a scene: in real time, woken by the host's source, or in virtual time without one."""
    if host is None:
        return run_virtual(session, duration_ns=duration_ns)
    with closing(Progress(err)) as progress:
        return run_real(session, host, duration_ns=duration_ns, on_progress=progress.update)


def _work_hint(session: HostedSession, run: RunOutcome) -> str:
    """Return a note on callbacks that took longer than a frame, unnoticed in virtual time."""
    budget = FrameBudget.of_rate(session.frame_rate)
    frames = session.timeline.frames
    index, took_ns = run.heaviest_frame, run.heaviest_ns
    # Unlike the run's heaviest frame, which counts processor time, this finds callbacks that
    # sleep, but may count other programs too. Work in virtual time is left out, as it shows:
    # the next frame is late.
    over = [
        (busy_ns, frames.first + place)
        for place, (busy_ns, next_ns) in enumerate(
            zip(frames.busy_ns, frames.interval_ns[1:], strict=False)
        )
        if busy_ns > budget.longest_ns and next_ns <= budget.longest_ns
    ]
    is_often = len(over) * _OFTEN > len(frames)
    slept = over if is_often else [each for each in over if each[0] >= _ASLEEP_NS]
    often = f", and {len(over):,} of {len(frames):,} frames exceeded it" if is_often else ""
    if slept:
        took_ns, index = max(slept)
    if took_ns <= budget.longest_ns or not frames.first <= index < frames.end:
        return ""
    who = heaviest_in(session.history, session.timeline, index)
    most = f", most of it {who}" if who else ""
    return (
        f"In virtual time work takes no time, so it delayed nothing; but frame {index:,} took "
        f"{format_duration(took_ns)} of work{most}; the limit for a frame is {budget.limit_text}"
        f"{often}. Use --real-time to see the effect."
    )
