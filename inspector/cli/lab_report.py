"""The results of the refresh-rate lab as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from inspector.analysis.lab.display import DISPLAY_RATES, VARIABLE, VARIABLE_MODEL
from inspector.analysis.lab.refresh_lab import LabResult, known_faults, summary_text
from inspector.analysis.lab.subjects import SUBJECTS
from inspector.analysis.lab.timer import duration_text
from inspector.timebase import format_duration

#: Widest column of titles, in characters.
_LONGEST_TITLE = 48
_HEADS = ("", "result", "fired", "period", "lateness min", "median", "max", "drift", "")


def lab_text(results: Sequence[LabResult]) -> str:
    """Return a table per timer and display, with the known faults."""
    blocks = []
    for title, group in groupby(results, lambda each: each.group_title):
        runs = list(group)
        head = f"{title}, {duration_text(runs[0].display.end_ns)}"
        blocks.append("\n".join([head, *_lines(runs)]))
    if not blocks:
        return "No timer fired, and none was expected to fire."
    return "\n\n".join([*blocks, *_faults(results), summary_text(results)])


def _faults(results: Iterable[LabResult]) -> list[str]:
    """Return the known faults as a block, nothing without any."""
    lines = [f"  {line}" for line in known_faults(results)]
    return ["\n".join(["Known faults:", *lines])] if lines else []


def subjects_text() -> str:
    """Return every subject and display, with descriptions."""
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
        f"{run.count:,} of {run.expected_count:,}",
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
