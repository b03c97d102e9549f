"""The command ``lab``, after its arguments are parsed, and its results as text."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Final, TextIO

from inspector import __version__
from inspector.cli.progress import Progress
from inspector.cli.terminal import write_notes
from inspector.display_text import counted
from inspector.engines.lab.display import (
    DISPLAY_RATES,
    VARIABLE,
    VARIABLE_MODEL,
    Display,
    display_named,
    recorded_display,
)
from inspector.engines.lab.export import check_lab_export, export_lab
from inspector.engines.lab.graph import LabGraphOptions
from inspector.engines.lab.refresh_lab import (
    EXAMPLE_TIMER,
    LabResult,
    known_faults,
    run_lab,
    summary_text,
)
from inspector.engines.lab.scene import SceneLabRun, run_scene_lab
from inspector.engines.lab.subjects import SUBJECTS, Subject, subjects_named
from inspector.engines.lab.table import write_lab_json
from inspector.engines.lab.timer import LabTimer, duration_text
from inspector.engines.lab.timer_files import parse_timer, read_timers
from inspector.errors import ArgumentError
from inspector.exit_codes import ExitCode
from inspector.formats.captures.capture import split_column
from inspector.formats.frame_times import Provenance
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.scene import find_scene
from inspector.timebase import NS_PER_SECOND, format_duration

_DEFAULT_SECONDS: Final = 10
_DEFAULT_DISPLAYS: Final = ("60", "144", "240")
#: Widest column of titles, in characters.
_LONGEST_TITLE: Final = 48
_HEADS: Final = ("", "result", "fired", "period", "lateness min", "median", "max", "drift", "")


def run_lab_command(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Run timers or a scene at display rates, print the results and export them."""
    if options.list:
        out.write(f"{subjects_text()}\n")
        return ExitCode.OK
    for path in options.export:
        check_lab_export(path)
    displays = _displays(options, err)
    title = ""
    failures: tuple[str, ...] = ()
    if options.scene is not None:
        _refuse_with_scene(options)
        run = _followed_scene(find_scene(options.scene), displays, err)
        title, failures = run.title, run.failures
        results: Sequence[LabResult] = run.results
    else:
        results = _run_timers(_timers(options), _subjects(options), displays, err)
    provenance = Provenance(title, datetime.now(UTC), __version__, "virtual time")
    graph = LabGraphOptions(theme=options.theme, title=options.title)
    if options.json:
        stream = BytesIO()
        write_lab_json(results, provenance, graph, stream)
        out.write(stream.getvalue().decode())
    else:
        out.write(f"{lab_text(results)}\n")
    for path in options.export:
        export_lab(results, provenance, graph, path)
        if not options.json:
            out.write(f"wrote {path} ({counted(len(results), 'run')})\n")
    write_notes(err, *failures)
    is_wrong = options.check and any(not result.verdict.is_right for result in results)
    return ExitCode.FAILED if failures or is_wrong else ExitCode.OK


def _refuse_with_scene(options: Namespace) -> None:
    given = [
        name
        for name, value in (
            ("--timers", options.timers),
            ("--timer", options.timer),
            ("--subject", options.subject),
        )
        if value
    ]
    if given:
        raise ArgumentError(
            f"Argument {given[0]}: a scene brings its own timers and clocks. Omit it, or omit "
            "--scene."
        )


def _displays(options: Namespace, err: TextIO) -> tuple[Display, ...]:
    duration_ns = options.seconds or _DEFAULT_SECONDS * NS_PER_SECOND
    words = _words("--display", options.display)
    if not words and not options.frame_times:
        words = list(_DEFAULT_DISPLAYS)
    try:
        displays = {
            display.name: display
            for display in (display_named(word, duration_ns) for word in words)
        }
    except ValueError as error:
        raise ArgumentError(f"Argument --display: {error}.") from None
    for text in options.frame_times:
        display = _recorded(text, options, err)
        displays[display.name] = display
    return tuple(displays.values())


def _words(argument: str, texts: Sequence[str]) -> list[str]:
    words = [word for text in texts for word in text.split(",") if word.strip()]
    if texts and not words:
        raise ArgumentError(
            f"Argument {argument}: no name given. “timeline-inspector lab --list” lists the names."
        )
    return words


def _recorded(text: str, options: Namespace, err: TextIO) -> Display:
    path, column = split_column(text)
    read = read_frame_file(path, column, stream=options.stream)
    write_notes(err, *read.notes)
    times_ns = read.frames.interval_ns.tolist()
    try:
        return recorded_display(path.name, times_ns, options.seconds)
    except ValueError as error:
        raise ArgumentError(f"Argument --frame-times: {path}: {str(error).rstrip('.')}.") from None


def _timers(options: Namespace) -> tuple[LabTimer, ...]:
    timers: list[LabTimer] = []
    for path in options.timers:
        timers += read_timers(path)
    for text in options.timer:
        try:
            timers.append(parse_timer(text))
        except ValueError as error:
            raise ArgumentError(f"Argument --timer {text}: {error}.") from None
    return tuple(timers) or (EXAMPLE_TIMER,)


def _subjects(options: Namespace) -> tuple[Subject, ...]:
    words = _words("--subject", options.subject)
    try:
        return subjects_named(words) if words else tuple(SUBJECTS)
    except ValueError as error:
        raise ArgumentError(f"Argument --subject: {error}.") from None


def _run_timers(
    timers: Sequence[LabTimer],
    subjects: Sequence[Subject],
    displays: Sequence[Display],
    err: TextIO,
) -> list[LabResult]:
    count = len(timers) * len(subjects) * len(displays)
    results: list[LabResult] = []
    with _progress(err) as show:
        for result in run_lab(timers, subjects, displays):
            results.append(result)
            show(len(results) / count)
    return results


def _followed_scene(path: Path, displays: Sequence[Display], err: TextIO) -> SceneLabRun:
    with _progress(err) as show:
        return run_scene_lab(path, displays, show)


@contextmanager
def _progress(err: TextIO) -> Iterator[Callable[[float], None]]:
    """Show the progress of a run; a ``ValueError`` becomes a sentence for the user."""
    with closing(Progress(err)) as progress:
        try:
            yield progress.update
        except ValueError as error:
            text = str(error)
            raise ArgumentError(f"{text[:1].upper()}{text[1:]}.") from None


def lab_text(results: Sequence[LabResult]) -> str:
    blocks = []
    for title, group in groupby(results, lambda each: each.group_title):
        runs = list(group)
        head = f"{title}, {duration_text(runs[0].display.end_ns)}"
        blocks.append("\n".join([head, *_lines(runs)]))
    if not blocks:
        return "No timer fired, and none was expected to fire."
    return "\n\n".join([*blocks, *_faults(results), summary_text(results)])


def _faults(results: Iterable[LabResult]) -> list[str]:
    lines = [f"  {line}" for line in known_faults(results)]
    return ["\n".join(["Known faults:", *lines])] if lines else []


def subjects_text() -> str:
    width = max(len(each.name) for each in SUBJECTS)
    rates = ", ".join(map(str, DISPLAY_RATES))
    lines = ["Subjects:"]
    lines += [f"  {each.name.ljust(width)}  {each.title}. {each.description}" for each in SUBJECTS]
    lines += [
        "",
        "Displays:",
        f"  any rate from 1 to 1000 Hz, such as {rates}, 59.94 or 60000/1001",
        f"  {VARIABLE} or {VARIABLE}:SEED. {VARIABLE_MODEL}",
    ]
    return "\n".join(lines)


def _lines(runs: Iterable[LabResult]) -> list[str]:
    rows = [_HEADS, *(_cells(run) for run in runs)]
    columns = range(len(_HEADS))
    widths = [max(len(row[column]) for row in rows) for column in columns]
    last = len(_HEADS) - 1
    return [
        "  "
        + "  ".join(
            row[column].ljust(widths[column])
            if column in (0, 1, last)
            else row[column].rjust(widths[column])
            for column in columns
        ).rstrip()
        for row in rows
    ]


def _cells(run: LabResult) -> tuple[str, ...]:
    lateness = run.lateness
    period_ns = run.mean_period_ns
    late = (
        ("–", "–", "–", "–")
        if lateness is None
        else tuple(
            _signed(ns)
            for ns in (lateness.min_ns, lateness.median_ns, lateness.max_ns, lateness.last_ns)
        )
    )
    mark = "✓" if run.verdict.is_right else "✗"
    return (
        f"{mark} {_shortened(run.row_title)}",
        run.verdict.value,
        run.fired_text,
        "–" if period_ns is None else format_duration(round(period_ns)),
        *late,
        "" if run.divergence is None else run.divergence.text,
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def _signed(ns: int) -> str:
    if ns == 0:
        return "0"
    return f"{'+' if ns > 0 else '−'}{format_duration(abs(ns))}"
