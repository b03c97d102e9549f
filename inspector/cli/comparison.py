"""The command ``compare``: files or runs of versions compared, and conditions of failure."""

from __future__ import annotations

import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TextIO
from xml.etree import ElementTree as ET

from msgspec import Struct

from inspector.analysis.statistics.compared_calls import CallChange
from inspector.analysis.statistics.compared_columns import ColumnChange
from inspector.analysis.statistics.comparison import CONFIDENCE, Difference
from inspector.analysis.statistics.metrics import MetricValue
from inspector.analysis.statistics.runs import ComparedRun, RunDifference, differences
from inspector.cli.export import write_each
from inspector.cli.metric_conditions import MetricCondition, condition_on_change
from inspector.cli.run_report import table
from inspector.cli.statistics import stutter_limits
from inspector.cli.terminal import PROGRAM, write_notes
from inspector.display_text import counted, foreign_lines
from inspector.exit_codes import ExitCode
from inspector.foreign.files import check_readable
from inspector.formats.atomic_file import check_target, replacing
from inspector.formats.captures.capture import split_column
from inspector.formats.report.comparison import json_of, number_text, runs_table, write_comparison
from inspector.formats.report.page_layout import ReportTable
from inspector.launcher import open_window
from inspector.sessions.compared import FilesToCompare, files_named, run_of_file, told_apart

_CHANGE: Final = f"change ({100 * CONFIDENCE:g} % interval)"


def compare_captures(options: Namespace, out: TextIO, err: TextIO) -> int:
    """Print how files differ; returns 1 if a condition of failure holds, 8 if it is unknown."""
    if options.window:
        # Until the window handles it, SIGTERM ends the process at once: there is nothing to save.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return open_window(_files_to_compare(options))
    parser: ArgumentParser = options.parser
    conditions = [condition_on_change(text, parser) for text in options.conditions]
    found = differences(
        list(_compared_runs(options, err)),
        asked={each.metric.id for each in conditions},
        with_columns=options.columns,
        stutter=stutter_limits(options),
    )
    tests = [test for each in found for test in _tested(each, conditions, options)]
    tested = [[test.values() for test in tests if test.of is each] for each in found]
    if options.json:
        out.write(json_of(found, tested))
    else:
        out.write("\n\n".join(map(_comparison_text, found)) + "\n")
    write = partial(write_comparison, found, conditions=_conditions_table(tests), tested=tested)
    are_written = write_each(options.outputs, write, options, err)
    if options.junit is not None:
        are_written &= write_each([options.junit], partial(_write_junit, tests), options, err)
    for test in tests:
        if test.holds is not False:
            file = f"{test.of.after.name}: " if len(found) > 1 else ""
            write_notes(err, f"{file}{test.text}")
    if not are_written or any(test.holds for test in tests):
        return ExitCode.FAILED
    return ExitCode.CANNOT_TELL if any(test.holds is None for test in tests) else ExitCode.OK


def _files_to_compare(options: Namespace) -> FilesToCompare:
    if options.before is not None:
        sides = [[split_column(text)] for text in (options.before, *options.after)]
    else:
        given = (options.runs_before, options.runs_after)
        sides = [[each for text in texts for each in files_named(text)] for texts in given]
    for path in (path for side in sides for path, _column in side):
        check_readable(path)
    return FilesToCompare(
        tuple(map(tuple, sides)),
        stream=options.stream,
        without_outliers=options.without_outliers,
        with_columns=options.columns,
        stutter=stutter_limits(options),
    )


def _compared_runs(options: Namespace, err: TextIO) -> Iterator[ComparedRun]:
    """Read what is compared: the first is before, each of the others after."""
    sides = _files_to_compare(options).sides
    files = [file for side in sides for file in side]
    runs = []
    for path, column in files:
        runs.append(run_of_file(path, column, options.stream))
        write_notes(err, *runs[-1].notes)
    runs = told_apart(runs, files)
    if options.before is not None:
        yield from runs
        return
    count = len(sides[0])
    for name, of_side in (("before", runs[:count]), ("after", runs[count:])):
        yield ComparedRun.pooled(name, of_side, without_outliers=options.without_outliers)


class _Test(Struct, frozen=True):
    condition: MetricCondition
    of: RunDifference  # The comparison that it is on
    difference: Difference  # The change that it is on
    why_not: str  # Why it cannot be told whether the condition holds; empty if it can

    @property
    def holds(self) -> bool | None:
        """Whether it holds for the whole interval; ``None`` if that cannot be told."""
        low, high = self.difference.low, self.difference.high
        if self.why_not or low is None or high is None:
            return None
        return self.condition.holds(low) and self.condition.holds(high)

    @property
    def outcome(self) -> str:
        """What that means for a build."""
        return {True: "failed", False: "passed", None: "cannot tell"}[self.holds]

    @property
    def text(self) -> str:
        if self.why_not:
            return f"whether {self.condition.text} cannot be told: {self.why_not}"
        holds = "holds" if self.holds else "does not hold"
        return f"{self.condition.text} {holds}: {self.difference.metric.id} {self.difference.text}"

    def values(self) -> dict[str, object]:
        return {
            "condition": self.condition.text,
            "metric": self.condition.metric.id,
            "holds": self.holds,
            **({"why_not": self.why_not} if self.why_not else {}),
        }


def _tested(
    each: RunDifference, conditions: Sequence[MetricCondition], options: Namespace
) -> Iterator[_Test]:
    for condition in conditions:
        (difference,) = (of for of in each.found.differences if of.metric is condition.metric)
        missing = [] if options.allow_missing else [each.before.missing, each.after.missing]
        why_not = " ".join(filter(None, missing))
        if why_not:
            why_not = f"{why_not} Add --allow-missing to compare what is there."
        elif difference.why_not:
            why_not = each.found.why_not or f"{condition.metric.id}: {difference.why_not}."
        yield _Test(condition, each, difference, why_not)


def _conditions_table(tests: Sequence[_Test]) -> ReportTable:
    rows = (
        (
            each.of.after.name,
            each.condition.text,
            each.outcome,
            each.why_not or each.difference.text,
        )
        for each in tests
    )
    return ReportTable(("Of", "Fails if", "Outcome", _CHANGE.capitalize()), tuple(rows))


def _write_junit(tests: Sequence[_Test], path: Path) -> None:
    """Write the conditions in JUnit's format, a test case each."""
    outcomes = [each.holds for each in tests]
    counts = {"tests": len(tests), "failures": outcomes.count(True), "errors": outcomes.count(None)}
    attributes = {key: str(count) for key, count in counts.items()}
    root = ET.Element("testsuites", attributes)
    suite = ET.SubElement(root, "testsuite", {"name": f"{PROGRAM} compare", **attributes})
    for each in tests:
        about = {"classname": each.of.after.name, "name": f"not {each.condition.text}"}
        case = ET.SubElement(suite, "testcase", {key: _in_xml(of) for key, of in about.items()})
        said = _in_xml(f"{each.text}\n{each.of.sentence}")
        if each.holds is False:
            ET.SubElement(case, "system-out").text = said
        else:
            kind = "failure" if each.holds else "error"
            ET.SubElement(case, kind, {"message": _in_xml(each.text)}).text = said
    ET.indent(root)
    check_target(path)
    with replacing(path) as stream:
        stream.write(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _in_xml(text: str) -> str:
    plain = foreign_lines(text).encode("utf-8", "replace").decode()
    return plain.replace("\ufffe", "?").replace("\uffff", "?")


def _comparison_text(each: RunDifference) -> str:
    before, after, found = each.before, each.after, each.found
    rows = []
    for difference in found.differences:
        metric = difference.metric
        one, other = (
            MetricValue(metric, value).text for value in (difference.before, difference.after)
        )
        rows.append((metric.full_name, one, other, difference.text, difference.verdict.value))
    heading = ("statistic", "before", "after", _CHANGE, "verdict")
    lines = [
        *_runs_lines(before, after),
        "",
        table(heading, rows, right={1, 2, 3}),
        "",
        *_parts_lines(each.parts),
        found.sentence(before.name, after.name),
        *each.remarks,
    ]
    return "\n".join(lines)


def _runs_lines(before: ComparedRun, after: ComparedRun) -> list[str]:
    if before.parts or after.parts:
        runs = runs_table((before, after))
        return [table(runs.heading, runs.rows, right={*runs.numbers})]
    return [
        f"{title}{run.name}, {counted(len(run.times_ns), 'sample' if run.samples else 'frame')}"
        for title, run in (("before: ", before), ("after:  ", after))
    ]


def _parts_lines(parts: Sequence[ColumnChange | CallChange]) -> list[str]:
    """Return a table of the changes of columns, clocks and timers; no lines without any."""
    if not parts:
        return []
    rows = []
    for each in parts:
        change = each.change
        one, other = (
            "-" if value is None else number_text(value, each.unit)
            for value in (change.before, change.after)
        )
        rows.append((each.subject, each.what, one, other, change.text, change.verdict.value))
    heading = ("of", "what", "before", "after", _CHANGE, "verdict")
    return [table(heading, rows, right={2, 3, 4}), ""]
