"""The command ``run``, after its arguments are parsed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from typing import Protocol, TextIO

from msgspec import Struct, structs

from inspector.analysis.lateness.late_calls import LongestDelays
from inspector.analysis.statistics.frame_budget import FrameBudget, loop_budget
from inspector.cli.call_tally import CallTally
from inspector.cli.graph_options import graph_options, part_in, refuse_existing, worth_plotting
from inspector.cli.progress import EndlessCodeNote, Progress
from inspector.cli.run_report import ProbeLine, RunReport, report_text, report_values, short_line
from inspector.cli.terminal import write_json, write_notes
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.clocks import SetRate
from inspector.display_text import counted
from inspector.errors import CaptureError, ExportError, InspectorError, RecordingWriteError
from inspector.exit_codes import ExitCode
from inspector.formats.frame_times import FrameTimes
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.recorder import Recorder
from inspector.sessions.runs.real import run_real
from inspector.sessions.runs.virtual import RunOutcome, frames_within, run_frame_times, run_virtual
from inspector.sessions.scene import find_scene, user_place
from inspector.sessions.session import Session
from inspector.sessions.sources.time_sources import SYSTEM, TIME_SOURCES, make_source
from inspector.timebase import MAX_NS, NS_PER_SECOND, format_duration
from inspector.vocabulary import Measure

#: A run of more frames than this is announced, as it takes minutes.
_MANY_FRAMES = 5_000_000
_DEFAULT_STEP_NS = Fraction(NS_PER_SECOND, 60)


class _Way(Struct, frozen=True):
    text: str
    host: SystemTimeSource  # Wakes the time source in real time
    # Runs a session; its second argument is called with the share done.
    run: Callable[[HostedSession, Callable[[float], None]], RunOutcome]


def run_scene(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Run a scene without a window, print a report and export its frame times."""
    scene = find_scene(options.scene)
    if options.frames is options.seconds is options.frame_times is None:
        options.parser.error("give a length: --frames N or --seconds S")
    check_outputs(options)
    way = _way(options, err)
    source = make_source(options.source, way.host)
    with EndlessCodeNote(err) as note, TIME_SOURCES.guarding(options.source):
        session = HostedSession(scene, source, failure_policy=options.failure_policy, autorun=False)
        note.watch(session)
        with closing(session):
            return _run_session(session, way, options, out, err)


def _run_session(
    session: HostedSession, way: _Way, options: Namespace, out: TextIO, err: TextIO
) -> int:
    if session.problem is not None:
        raise session.problem
    if options.rate is not None:
        session.refresh()
        set_rate(session, session.timeline.root_id or 0, options.rate)
    if options.export:
        from inspector.cli.run_files import is_page

        # An exported page shows the scene's pictures, so they have to be kept.
        session.pictures.is_watched = any(map(is_page, options.export))
    if options.record is not None:
        session.recorder.keeps_pictures = not options.no_pictures
        start_recording(session.recorder, options)
    tally = CallTally(session.log)
    progress = Progress(err)

    def follow(done: float) -> None:
        tally.update()
        progress.update(done)

    with closing(progress):
        run = way.run(session, follow)
    report = put_out(session, tally, run, way.text, str(session.scene_path), options, out)
    if options.picture is not None:
        from inspector.cli.run_files import write_picture

        write_picture(session, options.picture)
        if not (options.json or options.quiet):
            out.write(f"wrote {options.picture}\n")
    return _judge(report, session.status.message, err)


def set_rate(session: Session, clock_id: int, rate: Fraction) -> None:
    session.submit(SetRate(clock_id, rate))


class Reportable(Session, Protocol):
    """A session whose run is reported and recorded."""

    @property
    def recorder(self) -> Recorder: ...


def put_out(  # noqa: PLR0913, PLR0917
    session: Reportable,
    tally: CallTally,
    run: RunOutcome,
    how: str,
    place: str,
    options: Namespace,
    out: TextIO,
    probes: tuple[ProbeLine, ...] = (),
    late: LongestDelays | None = None,
) -> RunReport:
    """Print and export a run, and complete its recording; failed exports are raised at the end."""
    frames = FrameTimes.from_history(session.timeline.frames)
    measure: Measure = "busy" if session.waits else worth_plotting(frames)
    about = provenance_of(session)
    graph = graph_options(options, measure, about)
    report = _report(session, tally, run, how, place, options, graph.measure, probes, late)
    if options.json:
        write_json(out, report_values(report))
    elif not options.quiet:
        out.write(f"{report_text(report, most_timers=options.timers)}\n")
    said = None if options.json or options.quiet else out
    failed: list[InspectorError] = []
    if options.export:
        from inspector.cli.run_files import export_run

        failed = export_run(session, structs.replace(about, source=how), graph, options, said)
    _end_recording(session.recorder, said)
    if failed:
        raise ExportError(" ".join(map(str, failed)))
    return report


def start_recording(recorder: Recorder, options: Namespace) -> None:
    """Record to a new file, after removing an existing one if ``--overwrite`` is given."""
    if options.overwrite:
        try:
            options.record.unlink(missing_ok=True)
        except OSError as error:
            message = f"{options.record} cannot be replaced: {error.strerror or error}."
            raise ExportError(f"{message} Choose another name.") from None
    recorder.start(options.record)


def check_outputs(options: Namespace) -> None:
    """Refuse invalid outputs before a run begins, so that it does not run in vain."""
    if options.export or options.picture is not None:
        from inspector.cli.run_files import check_files

        check_files(options)
    if options.record is not None:
        refuse_existing(options.record, options)
    part_in(options)
    graph_options(options, "interval")


def _end_recording(recorder: Recorder, out: TextIO | None) -> None:
    recorder.close()
    if recorder.problem:
        raise RecordingWriteError(recorder.problem)
    if out is not None:
        for each in recorder.outcomes_since(0):
            cost = f", pictures {each.picture_cost}" if each.picture_cost else ""
            out.write(f"recorded {each.path}{cost}\n")


# ------------------------------------------------------------------ ways to run


def _way(options: Namespace, err: TextIO) -> _Way:
    frames, duration_ns = options.frames, options.seconds
    if options.frame_times is not None:
        return _capture_way(options, err)
    host = SystemTimeSource()
    if options.source.is_real:
        name = "" if options.source is SYSTEM else f", {options.source.name}"
        return _Way(
            f"in real time{name}",
            host,
            run=lambda session, follow: run_real(
                session, host, frames=frames, duration_ns=duration_ns, on_progress=follow
            ),
        )
    step_ns = options.dt or _DEFAULT_STEP_NS
    if frames is not None and frames * step_ns >= MAX_NS:
        options.parser.error(
            f"argument --dt: {frames:,} frames at this distance take longer than the 146 years "
            "that a session can last"
        )
    seconds = step_ns / NS_PER_SECOND
    step = str(seconds) if seconds.numerator == 1 else format_duration(round(step_ns))
    unit = " s" if seconds.numerator == 1 else ""
    return _Way(
        f"virtual time, dt {step}{unit}",
        host,
        run=lambda session, follow: run_virtual(
            session, frames=frames, duration_ns=duration_ns, dt_ns=step_ns, on_progress=follow
        ),
    )


def _capture_way(options: Namespace, err: TextIO) -> _Way:
    from inspector.cli.export import read_frames
    from inspector.formats.captures.capture import split_column

    path, column = split_column(options.frame_times)
    read = read_frames(path, column, options.stream, err)
    times_ns = tuple(read.frames.interval_ns.tolist())
    if not times_ns:
        raise CaptureError(f"{path} holds no frames to run. Choose another file.")
    if options.seconds is not None and not any(times_ns):
        raise CaptureError(
            f"{path}: no time passes in {read.column or 'it'}, so it never reaches --seconds. "
            "Use --frames instead, or choose another column."
        )
    name = f" ({read.column})" if read.column else ""
    frames = len(times_ns) if options.frames is None else options.frames
    if options.seconds is not None:
        frames = frames_within(times_ns, options.seconds)
    again = ""
    if frames > len(times_ns):
        again = ", again and again"
        held = counted(len(times_ns), "frame")
        lasts = format_duration(sum(times_ns))
        write_notes(
            err, f"{path.name} holds {held}, {lasts}; it is repeated up to frame {frames:,}."
        )
    if frames > _MANY_FRAMES:
        write_notes(
            err, "So many frames take minutes. Ctrl+C ends the run, --frames asks for fewer."
        )
    return _Way(
        f"frame times of {path.name}{name}{again}",
        SystemTimeSource(),
        run=lambda session, follow: run_frame_times(
            session, times_ns, frames=frames, on_progress=follow
        ),
    )


# ------------------------------------------------------------- what it came to


def _report(  # noqa: PLR0913, PLR0917
    session: Reportable,
    tally: CallTally,
    run: RunOutcome,
    how: str,
    place: str,
    options: Namespace,
    measure: Measure,
    probes: tuple[ProbeLine, ...],
    late: LongestDelays | None,
) -> RunReport:
    tally.update()
    timeline = session.timeline
    whole = frames = FrameTimes.from_history(timeline.frames)
    left_out = None
    budgets = [FrameBudget.of_ms(each) for each in options.budget or ()] or [
        loop_budget(timeline, session.frame_rate, waits=False, of="interval_ns")
    ]
    if options.without_inspector:
        frames, left_out = whole.without_inspector(budgets[0])
    return RunReport(
        title=session.title,
        scene=place,
        how=how,
        run=run,
        timeline=timeline,
        tally=tally,
        whole=whole,
        frames=frames,
        left_out=left_out,
        measure=measure,
        budgets=budgets,
        probes=probes,
        late=late,
    )


def _judge(report: RunReport, status: str, err: TextIO) -> int:
    failures = report.timeline.failures
    if failures:
        first = failures[0]
        what = first.raised
        count = len(failures)
        times = "" if count == 1 else f"{count:,} failures, the first was "
        verb = " failed" if count == 1 else ""
        stopped = "" if report.run.is_complete else " The scene was stopped there."
        place = user_place(first.traceback)
        where = f" ({place})" if place else ""
        what = what.rstrip(".")
        label = short_line(first.label)
        write_notes(err, f"{times}“{label}”{verb} with {what}{where}.{stopped}")
        return ExitCode.FAILED
    if not report.run.is_complete:
        write_notes(err, f"The run ended early. {status}")
        return ExitCode.FAILED
    return ExitCode.OK
