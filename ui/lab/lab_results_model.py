"""The results of the refresh-rate lab as a table, one row per run."""

from __future__ import annotations

import math
from typing import Final

from typing_extensions import override

from inspector.engines.lab.refresh_lab import LabResult
from inspector.timebase import NS_PER_SECOND, format_duration

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.theme import ColorRole, Theme

#: Larger than every drift, in seconds.
_WRONG_FROM: Final = 1e12


def lateness_text(ns: int | None) -> str:
    """Return a lateness with its sign; a dash without one."""
    if ns is None:
        return "–"
    sign = "" if ns == 0 else "+" if ns > 0 else "−"
    return f"{sign}{format_duration(abs(ns))}" if ns else "0"


def _period_text(result: LabResult) -> str:
    period_ns = result.mean_period_ns
    return "–" if period_ns is None else format_duration(round(period_ns))


def _wrongness(result: LabResult) -> float:
    """Return a sort key that groups wrong runs, by their drift."""
    drift_s = abs(result.drift_ns or 0) / NS_PER_SECOND
    return drift_s if result.verdict.is_right else _WRONG_FROM + drift_s


def _tool_tip(result: LabResult) -> str:
    lines = [f"{result.subject.title}, {result.group_title}", result.subject.description]
    if result.divergence is not None:
        lines.append(f"First divergence: {result.divergence.text}.")
    if result.speed is not None and not result.verdict.is_right:
        lines.append(f"Fires {result.speed:.4g} times as fast as requested.")
    return "\n".join(lines)


def _lateness_column(
    title: str, tip: str, field: str, sample: str, yields: int
) -> Column[LabResult]:
    def lateness(result: LabResult) -> int | None:
        return None if result.lateness is None else getattr(result.lateness, field)

    return _column(
        title,
        lambda result: lateness_text(lateness(result)),
        tip,
        _tool_tip,
        lateness,
        sample,
        is_number=True,
        yields=yields,
    )


_column = Column[LabResult]


class LabColumn(ColumnEnum):
    """The columns; those of lateness beside the first divergence are for a wide window."""

    # fmt: off
    RESULT = _column(
        "Result",
        lambda result: f"{'✓' if result.verdict.is_right else '✗'} {result.verdict.value}",
        "Whether every firing was within a frame of its expected instant", _tool_tip, _wrongness,
        "✓ within a frame", least="✗ too late",
        color=lambda result: ColorRole.BAR if result.verdict.is_right else ColorRole.RED)
    DISPLAY = _column(
        "Display", lambda result: result.display.name,
        "The display whose refreshes are the frames", _tool_tip,
        lambda result: result.display.mean_rate, "000.00 Hz", least="240 Hz")
    TIMER = _column(
        "Timer", lambda result: result.timer.title, "What was requested", _tool_tip,
        sample="every 000 ms", yields=8)
    SUBJECT = _column(
        "Runs on", lambda result: result.subject.title, "What the timer runs on", _tool_tip,
        sample="Egret, repair 2 as published", least="Cocos Creator 2.4")
    FIRED = _column(
        "Fired", lambda result: f"{result.count:,} of {result.expected_count:,}",
        "How often it fired, out of the expected number", _tool_tip, lambda result: result.count,
        "0,000 of 0,000", least="000 of 000", is_number=True, yields=9)
    PERIOD = _column(
        "Period", _period_text, "Mean time between firings", _tool_tip,
        lambda result: result.mean_period_ns or 0.0, "00.0 ms", is_number=True, yields=6)
    DRIFT = _lateness_column("Drift", "Lateness of the last firing", "last_ns", "−00.0 ms", 7)
    DIVERGENCE = _column(
        "First divergence",
        lambda result: "" if result.divergence is None else result.divergence.text,
        "The first firing that is more than a frame off", _tool_tip,
        lambda result: math.inf if result.divergence is None else result.divergence.at_ns,
        "firing 00 at 00:00.000000000, 000.0 ms early", least="firing 00 at 00:00.000", yields=4)
    EARLIEST = _lateness_column(
        "Least late", "Smallest lateness of a firing", "min_ns", "Least late", 2)
    MEDIAN = _lateness_column(
        "Median", "Half of the firings were at most this late", "median_ns", "−00.0 ms", 3)
    LATEST = _lateness_column(
        "Most late", "Largest lateness of a firing", "max_ns", "Most late", 1)
    FAULT = _column(
        "Known fault", lambda result: result.subject.fault_sentence,
        "What it does wrong, on this or other displays", _tool_tip,
        sample="Above 60 Hz it is too fast: four times at 240 Hz.",
        least="Above 60 Hz it is too fast", yields=5)
    # fmt: on


class LabResultsModel(ListTableModel[LabResult]):
    """Rows in the order of arrival, or sorted by a column."""

    is_sortable = True

    def __init__(self, theme: Theme) -> None:
        super().__init__(LabColumn, theme)

    @override
    def key_of(self, row: LabResult) -> int:
        return id(row)

    @property
    def results(self) -> tuple[LabResult, ...]:
        return tuple(self._all)
