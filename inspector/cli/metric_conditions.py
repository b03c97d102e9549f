"""Conditions on metrics, as ``--assert`` and ``--fail-if`` are given them."""

from __future__ import annotations

import operator
import re
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from inspector.analysis.statistics.comparison import COMPARED, is_comparable
from inspector.analysis.statistics.metrics import METRICS, Metric
from inspector.foreign.numbers import number_in, shown

_OPERATORS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONDITION: Final = re.compile(
    r"\s*([\w.%-]+?)\s*(<=|>=|<|>)\s*(\S+?)\s*(us|µs|ms|fps|s|%|ms/s|frames)?\s*"
)
_SECONDS: Final = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


class MetricCondition(Struct, frozen=True):
    text: str  # As the user wrote it
    metric: Metric
    sign: str  # The operator
    limit: float  # In the metric's unit, or as a share for a change

    def holds(self, value: float) -> bool:
        return _OPERATORS[self.sign](value, self.limit)


def condition_on(text: str, parser: ArgumentParser) -> MetricCondition:
    """Parse a condition of ``--assert``; its limit is converted to the metric's unit."""
    metric, sign, limit, unit = _parts(text, parser, "--assert")
    if {unit, metric.unit} <= _SECONDS.keys():
        limit *= _SECONDS[unit] / _SECONDS[metric.unit]
    elif unit and unit != metric.unit:
        parser.error(f"argument --assert: {metric.id} is in {metric.unit}, not in {unit}")
    return MetricCondition(text, metric, sign, limit)


def condition_on_change(text: str, parser: ArgumentParser) -> MetricCondition:
    """Parse a condition of ``--fail-if``, which is on the change of a metric."""
    metric, sign, limit, unit = _parts(text, parser, "--fail-if")
    if unit != "%":
        parser.error(f"argument --fail-if: a change is in percent, such as +5%: {shown(text)}")
    if not is_comparable(metric):
        known = f"compared are {', '.join(COMPARED)} and the like"
        parser.error(f"argument --fail-if: {known}, not {metric.id}")
    return MetricCondition(text, metric, sign, limit / 100)


def metric_named(name: str, parser: ArgumentParser, argument: str) -> Metric:
    found = next((each for each in METRICS if each.id == name.lower()), None)
    if found is None:
        near = [each.id for each in METRICS if name.lower() in each.id]
        hint = f" (there are {', '.join(near[:5])})" if near else ""
        parser.error(f"argument {argument}: no such metric: {shown(name)}{hint}; see --formulas")
    return found


def _parts(text: str, parser: ArgumentParser, argument: str) -> tuple[Metric, str, float, str]:
    """Return metric, operator, number and unit; an invalid condition ends the command."""
    match = _CONDITION.fullmatch(text)
    example = "“p99 < 16.7ms”" if argument == "--assert" else "“p99 > +5%”"
    if match is None:
        parser.error(f"argument {argument}: not a condition: {shown(text)}; write {example}")
    name, sign, number, unit = match.groups()
    try:
        limit = float(number_in(number.removeprefix("+")))
    except (ValueError, OverflowError):
        parser.error(f"argument {argument}: not a number: {shown(number)}; write {example}")
    return metric_named(name, parser, argument), sign, limit, unit or ""
