"""The verdict of a comparison in words, and the numbers that are seen first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from inspector.analysis.statistics.comparison import (
    COMPARED,
    CONFIDENCE,
    TOO_WIDE,
    Change,
    Difference,
    Verdict,
)
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.timebase import NS_PER_MS, decimals_for

if TYPE_CHECKING:
    from inspector.analysis.statistics.runs import ComparedRun, RunDifference

_MS: Final = 1000.0
#: Changes from here on have no decimals, for which their column has no room either.
_WHOLE_PERCENT: Final = 1_000
_COMPARATIVES: Final = {Verdict.FASTER: "faster", Verdict.SLOWER: "slower"}


class Compared(Struct, frozen=True):
    name: str  # What it is called
    before: str  # Its text for the first side
    after: str  # Its text for the other
    change: str  # The change as a share; empty if it is not known


def number_text(value: float) -> str:
    return f"{value:,.{decimals_for(abs(value))}f}"


def percent_text(share: float | None, decimals: int = 1) -> str:
    """Return a change in percent, with a true minus sign; one that rounds to 0 has no sign.

    From ``_WHOLE_PERCENT`` on it has no decimals.
    """
    if share is None:
        return ""
    percent = round(abs(100 * share), decimals)
    sign = "" if not percent else "−" if share < 0 else "+"
    return f"{sign}{percent:,.{0 if percent >= _WHOLE_PERCENT else decimals}f} %"


def shown_change(difference: Difference) -> tuple[Change, str]:
    """Return a change as it is shown, and its unit: of the average rate, that of the time."""
    if difference.metric.id == COMPARED[0]:
        return difference.of_inverse(_MS), "ms"
    return difference, difference.metric.unit


def headline(found: RunDifference, before: str, after: str) -> tuple[str, str]:
    """Return the verdict on two sides, named, in a sentence, and how sure it is in another."""
    spoken, verdict = found.found.spoken, found.found.verdict
    first = spoken[0]
    match verdict:
        case Verdict.FASTER | Verdict.SLOWER:
            first = next(each for each in spoken if each.verdict is verdict)
            by = "" if first.metric.id == COMPARED[0] else f" by {first.metric.full_name}"
            said = f"{after} is {_COMPARATIVES[verdict]} than {before}{by}"
        case Verdict.MIXED:
            first = next(each for each in spoken if each.verdict is Verdict.FASTER)
            slower = [each.metric.full_name for each in spoken if each.verdict is Verdict.SLOWER]
            by = f" and slower by {' and '.join(slower)}"
            said = f"{after} is faster than {before} by {first.metric.full_name}{by}"
        case Verdict.CANNOT_TELL:
            said = f"Whether {after} differs cannot be told"
        case _:
            said = f"No evidence that {after} differs"
    change, unit = shown_change(first)
    if change.before is not None and change.after is not None:
        per = " a frame" if first.metric.id == COMPARED[0] else ""
        values = f"{number_text(change.before)} → {number_text(change.after)} {unit}{per}"
        said += f": {values}, {percent_text(change.share)}"
    return f"{said}.", sureness(change, found.found.why_not)


def sureness(change: Change, why_not: str) -> str:
    if change.low is None or change.high is None:
        return why_not
    if change.is_too_wide:
        return f"The {100 * CONFIDENCE:g} % interval is {TOO_WIDE}."
    low, high = percent_text(change.low), percent_text(change.high)
    lies = f"is {high}" if low == high else f"lies between {low.removesuffix(' %')} and {high}"
    return f"{100 * CONFIDENCE:g} % sure that it {lies}."


def first_numbers(
    before: ComparedRun, after: ComparedRun, budget_ms: float | None
) -> Iterator[Compared]:
    pairs = [each.distribution.percentiles((50, 99, 100)).tolist() for each in (before, after)]
    for name, one, other in zip(("P50", "P99", "Longest"), *pairs, strict=True):
        first, second = (number_text(each / NS_PER_MS) for each in (one, other))
        yield Compared(name, first, f"{second} ms", percent_text(other / one - 1, 0))
    if budget_ms:
        longest_ns = FrameBudget.of_ms(budget_ms).longest_ns
        one, other = (
            len(each.times_ns) - int(each.distribution.counts_below([longest_ns + 1])[0])
            for each in (before, after)
        )
        change = percent_text(other / one - 1, 0) if one else ""
        yield Compared("Over budget", f"{one:,}", f"{other:,}", change)
