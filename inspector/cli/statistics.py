"""The command ``stats``: statistics of frame times, each by its definition."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct, structs

from inspector.analysis.statistics.column_summary import ColumnSummary, lasting_ns, summary_of
from inspector.analysis.statistics.comparison import LEAST_SAMPLES
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.metrics import METRICS, MetricValue, metric_values
from inspector.analysis.statistics.outliers import OUTLIER_RULE, Outliers, without_outliers
from inspector.analysis.statistics.time_series import USUAL_STUTTER, StutterLimits, TimeSeries
from inspector.cli.export import check_knows_inspector, write_each
from inspector.cli.graph_options import checked_part, part_in
from inspector.cli.metric_conditions import MetricCondition, condition_on, metric_named
from inspector.cli.run_report import table
from inspector.cli.terminal import write_json, write_notes
from inspector.display_text import counted
from inspector.errors import CaptureError, ExportError, InspectorError
from inspector.exit_codes import ExitCode
from inspector.formats.captures.capture import split_column
from inspector.formats.captures.tracy_csv import zone_sums
from inspector.formats.frame_times import FrameTimes
from inspector.formats.options import left_out_text
from inspector.formats.report.page_layout import ReportTable
from inspector.formats.report.statistics import (
    CLASSES,
    WEIGHTED,
    FileStatistics,
    classes_table,
    columns_table,
    write_statistics,
)
from inspector.formats.series import damage_in, series_of
from inspector.sessions.frame_files import FrameFile, read_frame_file
from inspector.timebase import format_duration

#: Metrics that conditions may use however few frames there are.
_OF_ANY_LENGTH: Final = frozenset({"frames", "duration"})
#: Metrics that are shown unless others are chosen, and those that an option adds.
_FEW: Final = ("frames", "fps", "p50", "p95", "p99", "max", "frameview.low-1", "capframex.low-1")
_OF_STUTTER: Final = ("capframex.stuttering", "capframex.low-fps")
_OF_REFRESH: Final = ("missed", "apple.hitches", "flutter.jank", "android.jank")


class _Checked(Struct, frozen=True):
    """A condition that does not hold, or that cannot be checked."""

    file: str  # How the file was named
    condition: MetricCondition
    value: MetricValue  # The value that it is about
    why_not: str  # Why it cannot be checked; empty if it does not hold

    @property
    def text(self) -> str:
        if self.why_not:
            return f"{self.file}: whether {self.condition.text} cannot be told: {self.why_not}"
        what = f"{self.value.metric.id} is {self.value.exact_text}"
        return f"{self.file}: {self.condition.text} does not hold: {what}"

    def values(self) -> dict[str, object]:
        return {
            "file": self.file,
            "condition": self.condition.text,
            "value": self.value.value,
            **({"why_not": self.why_not} if self.why_not else {}),
        }


class _Read(Struct, frozen=True):
    text: str  # How the file was named
    file: FrameFile
    series: TimeSeries  # The frame times that are asked for
    frames: FrameTimes  # The frames that are asked for
    left_out: int | None = None  # Frames left out of them for the inspector; None if not asked for
    outliers: Outliers | None = None  # Long frames left out; None if not asked for

    def columns(self, err: TextIO) -> list[ColumnSummary]:
        """Summarise the capture's other columns of numbers; prints a note on damage in them."""
        beside, frames = self.frames.beside, self.frames
        if beside is None:
            return []
        lasts_ns = lasting_ns(frames.at_ns, frames.interval_ns, are_samples=bool(frames.samples))
        read = beside.numbers([each.at for each in beside.quantities])
        write_notes(err, *filter(None, [damage_in(beside)]))
        found = (
            summary_of(each.name, each.unit, values, lasts_ns, are_frames=not frames.samples)
            for each, values in zip(beside.quantities, read, strict=True)
        )
        return [each for each in found if each is not None]


def print_statistics(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Print statistics of files, and check conditions.

    Returns:
        The exit code: 0 if all conditions hold, else the first of: 1 if one does not, 9 if a file
        cannot be read, 8 if it cannot be told whether one holds.
    """
    if options.formulas:
        out.write(formulas_text() + "\n")
        return ExitCode.OK
    parser: ArgumentParser = options.parser
    if not options.files:
        parser.error("name one or more files, or use --formulas")
    conditions = [condition_on(text, parser) for text in options.conditions]
    if len(options.files) == 1 and _print_zones(options, out, err):
        return ExitCode.OK
    wanted = [metric_named(each, parser, "--metric").id for each in options.metric]
    few = [] if wanted or options.all else _few(options)
    if len(options.files) > 1:
        wanted = wanted or few
    asked = {*wanted, *(each.metric.id for each in conditions)}
    part_in(options)
    files, unread = _read_all(options, err)
    found = [
        metric_values(each.series, wanted=frozenset(asked) if wanted else None) for each in files
    ]
    checked = [
        problem
        for each, values in zip(files, found, strict=True)
        for condition in conditions
        for value in values
        if value.metric is condition.metric
        if (problem := _check(each, condition, value, options)) is not None
    ]
    values = [[each for each in of if not wanted or each.metric.id in wanted] for of in found]
    columns = [each.columns(err) for each in files] if options.columns else []
    results = _results(files, values, columns, checked, unread)
    of_columns = columns or [[] for _ in files]
    parts = [
        FileStatistics(each.text, len(each.series), found, beside)
        for each, found, beside in zip(files, values, of_columns, strict=True)
    ]
    if options.json:
        write_json(out, results)
    elif not options.quiet:
        if len(options.files) == 1:
            out.write(_one_text(files[0], values[0], None if wanted else few) + "\n")
        elif files:
            out.write(_many_text(files, values) + "\n")
        summarised = zip(files, columns, strict=False)
        out.writelines(f"\n{_columns_text(each.text, found)}\n" for each, found in summarised)
    write_notes(err, *(each.text for each in checked))
    write_notes(err, *(f"{text} is left out: {error}" for text, error in unread.items()))
    write = partial(write_statistics, parts, results)
    are_written = write_each(options.outputs, write, options, err)
    return _outcome(checked, unread) if are_written else ExitCode.FAILED


def _few(options: Namespace) -> list[str]:
    of_stutter = _OF_STUTTER if stutter_limits(options) else ()
    return [*_FEW, *of_stutter, *(_OF_REFRESH if options.refresh is not None else ())]


def _outcome(checked: Sequence[_Checked], unread: Mapping[str, str]) -> ExitCode:
    outcomes = {ExitCode.CANNOT_TELL if each.why_not else ExitCode.FAILED for each in checked}
    outcomes |= {ExitCode.UNREADABLE} if unread else set()
    worst_first = (ExitCode.FAILED, ExitCode.UNREADABLE, ExitCode.CANNOT_TELL)
    return next((each for each in worst_first if each in outcomes), ExitCode.OK)


def _check(
    read: _Read, condition: MetricCondition, value: MetricValue, options: Namespace
) -> _Checked | None:
    """Return the condition if it does not hold or cannot be checked; ``None`` if it holds."""
    metric, count = condition.metric, len(read.series)
    why_not = ""
    if value.value is None:
        why_not = f"{metric.id} is undefined: {value.why_not}"
    elif metric.id not in _OF_ANY_LENGTH and count < LEAST_SAMPLES:
        frames = "is only 1 frame" if count == 1 else f"are only {count} frames"
        why_not = f"There {frames}, and {LEAST_SAMPLES} are needed."
    elif not options.allow_missing:
        damage = damage_in(read.frames.beside, metric.columns) if metric.columns else ""
        if missing := " ".join(filter(None, (read.file.missing, damage))):
            why_not = f"{missing} Add --allow-missing to check what is there."
    if not why_not and value.value is not None and condition.holds(value.value):
        return None
    return _Checked(read.text, condition, value, why_not)


def _results(
    files: Sequence[_Read],
    values: Sequence[Sequence[MetricValue]],
    columns: Sequence[Sequence[ColumnSummary]],
    checked: Sequence[_Checked],
    unread: Mapping[str, str],
) -> dict[str, object]:
    results = [_values(*each) for each in zip(files, values, strict=True)]
    for result, summaries in zip(results, columns, strict=False):
        result["columns"] = [each.as_json() for each in summaries]
    unknown = [each.values() for each in checked if each.why_not]
    errors = [{"file": text, "error": error} for text, error in unread.items()]
    return {
        "files": results,
        "failed": [each.values() for each in checked if not each.why_not],
        **({"unknown": unknown} if unknown else {}),
        **({"unread": errors} if errors else {}),
    }


def _read_all(options: Namespace, err: TextIO) -> tuple[list[_Read], dict[str, str]]:
    """Read the files; of several, also return which cannot be read, and why."""
    files: list[_Read] = []
    unread: dict[str, str] = {}
    for text in options.files:
        try:
            files.append(_read(text, options, err))
        except InspectorError as error:
            if len(options.files) == 1:
                raise
            unread[text] = str(error)
    return files, unread


def _print_zones(options: Namespace, out: TextIO, err: TextIO) -> bool:
    """Print the sums of Tracy's zones, if that is what the file has."""
    path, column = split_column(options.files[0])
    sums = None if column else zone_sums(path)
    if sums is None:
        return False
    if options.conditions or options.metric or options.stream or options.range != "all":
        raise CaptureError(
            f"{path} has the sums of Tracy's zones, which are shown as they are. Omit --metric, "
            "--assert, --range and --stream."
        )
    zones, notes = sums
    write_notes(err, *notes)
    if options.json:
        write_json(out, {"file": str(path), "zones": [asdict(each) for each in zones]})
        return True
    rows = [
        (
            *(each.name, f"{each.calls:,}", format_duration(each.total_ns), f"{each.share:.2f} %"),
            *map(format_duration, (each.mean_ns, each.min_ns, each.max_ns)),
            *(format_duration(round(each.deviation_ns)), each.place),
        )
        for each in zones
    ]
    titles = ("zone", "calls", "total", "share", "mean", "shortest", "longest", "deviation")
    out.write(f"{path}: {counted(len(rows), 'zone')}, sums by Tracy\n\n")
    out.write(table((*titles, "place"), rows, right=set(range(1, len(titles)))) + "\n")
    return True


def formulas_text() -> str:
    rows = [(each.id, each.tool or "-", each.name, each.unit, each.formula) for each in METRICS]
    return table(
        ("id", "tool", "name", "unit", "formula (f: frame times in ms)"), rows, right=set()
    )


# ------------------------------------------------------------------------- files and texts


def stutter_limits(options: Namespace) -> StutterLimits | None:
    chosen = {"factor": options.stutter_factor, "low_rate": options.low_fps}
    given = {name: number for name, number in chosen.items() if number is not None}
    return replace(USUAL_STUTTER, **given) if given else None


def _read(text: str, options: Namespace, err: TextIO) -> _Read:
    path, column = split_column(text)
    file = read_frame_file(path, column, stream=options.stream)
    write_notes(err, *file.notes)
    try:
        frames = checked_part(file.frames, part_in(options), options.range)
    except ExportError as error:
        raise CaptureError(str(error)) from None
    left_out = None
    if options.without_inspector:
        check_knows_inspector(path, file)
        frames, left_out = frames.without_inspector(_budget(path, file, options))
    stutter = stutter_limits(options) or USUAL_STUTTER
    series = series_of(frames, refresh_ms=options.refresh, stutter=stutter)
    if not len(series):
        raise CaptureError(f"{path} has no frames to count. Choose another file.")
    timeless = len(frames) - len(series)
    if timeless:
        takes = "takes" if timeless == 1 else "take"
        write_notes(
            err, f"{counted(timeless, 'frame')} that {takes} no time: not in the statistics."
        )
    if not options.without_outliers:
        return _Read(text, file, series, frames, left_out)
    if file.samples:
        message = f"{path} has samples, not every frame: no outliers can be left out."
        raise CaptureError(f"{message} Omit --without-outliers.")
    series, found = without_outliers(series)
    # Numbered as in the file, which also counts frames that take no time.
    outliers = structs.replace(found, places=frames.index[frames.interval_ns > 0][found.places])
    write_notes(err, f"{text}: {outliers.text}. {outliers.ranges_text}".strip())
    return _Read(text, file, series, frames, left_out, outliers)


def _budget(path: Path, file: FrameFile, options: Namespace) -> FrameBudget:
    """Return the budget of frames, from the refresh rate or else the target frame rate."""
    if options.refresh is None and not file.provenance.has_budget:
        message = f"{path} has no target frame rate. Add --refresh, such as --refresh 60."
        raise CaptureError(message)
    return FrameBudget.of_ms(options.refresh) if options.refresh else file.provenance.budget


def _one_text(read: _Read, values: Sequence[MetricValue], few: Collection[str] | None) -> str:
    """Return metrics of a file as text: the ``few`` of all, or all; with ``None`` the chosen."""
    if few is not None and read.file.samples:
        # Most metrics need every frame; the notes on the file say that already.
        values, few = [value for value in values if value.value is not None], None
    known = len(values)
    values = [value for value in values if not few or value.metric.id in few]
    rows, former = [], None
    for value in values:
        metric = value.metric
        tool = metric.tool or "Timeline Inspector"
        rows.append((tool if tool != former else "", metric.name, value.text, metric.id))
        former = tool
    column = f", column {read.file.column}" if read.file.column else ""
    without = f", {left_out_text(read.left_out)}" if read.left_out else ""
    if read.outliers is not None and len(read.outliers.places):
        without += f", {counted(len(read.outliers.places), 'outlier')} left out"
    stutter = read.series.stutter
    if stutter != USUAL_STUTTER:
        without += f", stuttering over {stutter.factor:g} times, low below {stutter.low_rate:g} fps"
    what = "sample" if read.file.samples else "frame"
    heading = f"{read.text}: {counted(len(read.series), what)}{without}{column}"
    lines = [heading, "", table(("tool", "statistic", "value", "id"), rows, right={2})]
    said: dict[tuple[str, str], list[str]] = {}
    for value in values:
        if value.why_not or value.damage:
            about = ("no ", value.why_not) if value.why_not else ("", value.damage)
            said.setdefault(about, []).append(value.metric.id)
    if known > len(values):
        lines += ["", f"{known - len(values)} more, as each tool defines them: --all"]
    if said:
        lines += ["", *(f"{no}{', '.join(ids)}: {why}" for (no, why), ids in said.items())]
    return "\n".join(lines)


def _outlier_values(outliers: Outliers) -> dict[str, object]:
    return {
        "rule": OUTLIER_RULE,
        "limit_ms": outliers.limit_ms,
        "frames": len(outliers.places),
        "ranges": outliers.ranges,
    }


def _columns_text(name: str, columns: Sequence[ColumnSummary]) -> str:
    if not columns:
        return f"{name}: no column beside the frame times holds numbers that measure something."
    found, classes = columns_table(columns), classes_table(columns)
    text = f"{name}: columns beside the frame times\n\n{_text_of(found)}"
    if any(each.is_weighted for each in columns):
        text += f"\n\n{WEIGHTED}"
    if classes is not None:
        text += f"\n\n{name}: {CLASSES}\n\n{_text_of(classes)}"
    for each in columns:
        if each.frames_per_joule is not None:
            text += f"\n\nFrames per joule (fps per watt) by {each.name}: "
            text += f"{each.frames_per_joule:,.4g}"
    return text


def _text_of(of: ReportTable) -> str:
    return table(of.heading, of.rows, right={*of.numbers})


def _many_text(files: list[_Read], values: list[list[MetricValue]]) -> str:
    heading = ("file", *(value.metric.id for value in values[0]))
    rows = [
        (each.text, *(value.text for value in found))
        for each, found in zip(files, values, strict=True)
    ]
    return table(heading, rows, right=set(range(1, len(heading))))


def _values(read: _Read, values: Iterable[MetricValue]) -> dict[str, object]:
    return {
        "file": read.text,
        "column": read.file.column,
        "stream": read.file.provenance.note,
        "frames": len(read.series),
        **({} if read.left_out is None else {"left_out": read.left_out}),
        **({} if read.outliers is None else {"outliers": _outlier_values(read.outliers)}),
        "stutter_factor": read.series.stutter.factor,
        "low_fps": read.series.stutter.low_rate,
        "metrics": {
            value.metric.id: {
                "value": value.value,
                "unit": value.metric.unit,
                "tool": value.metric.tool,
                "name": value.metric.name,
                "formula": value.metric.formula,
                **({"why_not": value.why_not} if value.why_not else {}),
                **({"damage": value.damage} if value.damage else {}),
            }
            for value in values
        },
    }
