"""The rows of the benchmark table, and the table as text, Markdown and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The one limit in milliseconds that is the same on all machines: what people see as smooth.
FRAME_MS = 1_000 / 60

_HEADINGS = ("benchmark", "measured", "goal", "", "detail")


class Verdict(Enum):
    """What a row says about its goal; the value is what the table shows."""

    HOLDS = "holds"
    FALLS_SHORT = "FALLS SHORT"
    INFORMATION = ""
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured number and the goal it is held against.

    Attributes:
        name: The benchmark, a slash, and the case: ``"oneshot_drain/1e5 to asyncio"``.
        measured: The number; ``None`` if it could not be measured, with the reason in
            ``detail``.
        goal: What it should be; ``None`` for a number given for information.
        at_most: Whether the goal is an upper limit; else it is a lower one.
        detail: What was compared, in the units of what was measured.
        unit: What ``measured`` and ``goal`` count, such as ``"x"`` or ``"ns"``.
    """

    name: str
    measured: float | None
    goal: float | None = None
    at_most: bool = True
    detail: str = ""
    unit: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the goal is reached; not a number never reaches one."""
        if self.measured is None:
            return Verdict.ABSENT
        if self.goal is None:
            return Verdict.INFORMATION
        reached = self.measured <= self.goal if self.at_most else self.measured >= self.goal
        return Verdict.HOLDS if reached else Verdict.FALLS_SHORT


def ratio_row(name: str, ratio: float, goal: float | None, detail: str = "") -> Row:
    """Make a row that says how many times slower somebody else is than we are."""
    return Row(name, ratio, goal, at_most=False, detail=detail, unit="x")


def calls_row(name: str, cost_ns: float, empty_ns: float, goal: float, detail: str = "") -> Row:
    """Make a row that says what something costs in calls of an empty function.

    Args:
        name: The benchmark.
        cost_ns: What was measured, shown without a verdict.
        empty_ns: Duration of such a call in the same run.
        goal: How many of them it may cost at most.
        detail: What was measured.
    """
    figures = f"{format_number(cost_ns, 'ns')}, an empty call {format_number(empty_ns, 'ns')}"
    detail = f"{detail}: {figures}" if detail else figures
    return Row(f"{name}, in empty calls", cost_ns / empty_ns, goal, detail=detail, unit="x")


def absent_row(name: str, peer: str) -> Row:
    """Make a row for a comparison that cannot be made because a peer is not installed."""
    return Row(name, None, detail=f"{peer} is not installed")


def format_number(number: float | None, unit: str = "") -> str:
    """Write a number with three significant digits and thousands apart."""
    if number is None:
        return "–"
    if not math.isfinite(number):
        return str(number)
    magnitude = abs(number)
    if magnitude >= 100 or number == int(number):
        text = f"{number:,.0f}"
    elif magnitude >= 10:
        text = f"{number:.1f}"
    else:
        text = f"{number:.2f}"
    return text + (unit if unit in {"", "x"} else f" {unit}")


def cells(row: Row) -> tuple[str, str, str, str, str]:
    """Return the texts of a row, one for each column of the table."""
    goal = ""
    if row.goal is not None:
        goal = ("≤ " if row.at_most else "≥ ") + format_number(row.goal, row.unit)
    measured = format_number(row.measured, row.unit)
    return (row.name, measured, goal, row.verdict.value, row.detail)


def text_table(rows: Iterable[Row]) -> str:
    """Return the table with columns aligned by spaces."""
    lines = [_HEADINGS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    return "\n".join(
        f"{name:{widths[0]}}  {measured:>{widths[1]}}  {goal:>{widths[2]}}  "
        f"{verdict:{widths[3]}}  {detail}".rstrip()
        for name, measured, goal, verdict, detail in lines
    )


def markdown_table(rows: Iterable[Row]) -> str:
    """Return the table in Markdown; what falls short is in bold."""
    lines = ["| benchmark | measured | goal | | detail |", "| --- | ---: | ---: | --- | --- |"]
    for row in rows:
        name, measured, goal, verdict, detail = (cell.replace("|", "\\|") for cell in cells(row))
        if row.verdict is Verdict.FALLS_SHORT:
            verdict = f"**{verdict.lower()}**"
        lines.append(f"| {name} | {measured} | {goal} | {verdict} | {detail} |")
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Return one sentence, and a line for everything that falls short or is absent."""
    verdicts = [row.verdict for row in rows]
    held = verdicts.count(Verdict.HOLDS)
    goals = held + verdicts.count(Verdict.FALLS_SHORT)
    lines = [f"{held} of {goals} goals hold."]
    for row in rows:
        name, measured, goal, _, detail = cells(row)
        if row.verdict is Verdict.FALLS_SHORT:
            lines.append(f"Falls short: {name} is {measured}, goal {goal}.")
        elif row.verdict is Verdict.ABSENT:
            lines.append(f"Not measured: {name}, {detail}.")
    return "\n".join(lines)


def to_json(rows: Iterable[Row], about: dict[str, str]) -> str:
    """Return everything as JSON, with what the machine was."""
    table = [asdict(row) | {"verdict": row.verdict.name.lower()} for row in rows]
    return json.dumps({"about": about, "rows": table}, indent=1, ensure_ascii=False)


def rows_from_json(text: str) -> list[Row]:
    """Read back what :func:`to_json` wrote."""
    return [
        Row(**{name: value for name, value in row.items() if name != "verdict"})
        for row in json.loads(text)["rows"]
    ]


def write_reports(rows: Sequence[Row], about: dict[str, str], folder: Path) -> list[Path]:
    """Write ``results.txt``, ``results.md`` and ``results.json``; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = [f"{name}: {value}" for name, value in about.items()]
    text = "\n".join([*facts, "", text_table(rows), "", summary(rows), ""])
    markdown = "\n".join(
        [
            "# Benchmarks",
            "",
            *(f"- {fact}" for fact in facts),
            "",
            markdown_table(rows),
            "",
            *(f"{line}  " for line in summary(rows).splitlines()),
            "",
        ]
    )
    written = []
    for suffix, content in {"txt": text, "md": markdown, "json": to_json(rows, about)}.items():
        path = folder / f"results.{suffix}"
        path.write_text(content, encoding="utf-8")
        written.append(path)
    return written
