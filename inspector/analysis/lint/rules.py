"""The lint rules, and the findings of a session.

A finding is not an error by itself: it gives the evidence and a remedy. The thresholds of the
rules are chosen so that a sound scene has no findings.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from msgspec import Struct

from inspector.analysis.lint.blocked_loops import blocked_loops
from inspector.analysis.lint.call_rules import failing, herds, leaks, orphans, skipped, storms
from inspector.analysis.lint.findings import (
    BEAT,
    BLOCKED_LOOP,
    BLOCKING,
    COLLECTION,
    DEADLOCK,
    DRIFT,
    FAILS,
    HERD,
    HOST_SLOW,
    LATE_BOUND,
    LEAK,
    MILLISECONDS,
    NEVER_FIRED,
    ORPHAN,
    OVER_BUDGET,
    PACE,
    SAME_NAME,
    SKIPPED_TICKS,
    STORM,
    SUB_FRAME,
    Finding,
    FindingKind,
)
from inspector.analysis.lint.mistakes import late_bound, milliseconds, same_names, stuck
from inspector.analysis.lint.over_budget import blocking, collections, host_slow, over_budget_frames
from inspector.analysis.lint.survey import surveying
from inspector.analysis.lint.surveyed import Survey
from inspector.analysis.lint.uneven_intervals import drifting, uneven
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.display_text import one_line
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.extensions import ExtensionError, Registry, misfit_of, report
from inspector.foreign.numbers import shown

_USUAL_BUDGET: Final = FrameBudget.of_rate(Fraction(60))
#: The longest text of a package's finding, in characters.
_LONGEST_TEXT: Final = 2_000


class LintRule(Struct, frozen=True):
    """Finds one kind of problem, or several that exclude each other."""

    kinds: tuple[FindingKind, ...]
    find: Callable[[Survey], Iterable[Finding]]


def _check(rule: LintRule) -> str:
    if not rule.kinds:
        return "it has no kinds"
    return next(filter(None, (misfit_of(kind, FindingKind) for kind in rule.kinds)), "")


RULES: Final = Registry(
    "lint_rules",
    LintRule,
    (
        LintRule((FAILS,), failing),
        LintRule((LEAK,), leaks),
        LintRule((ORPHAN,), orphans),
        LintRule((DEADLOCK, NEVER_FIRED), stuck),
        LintRule((SAME_NAME,), same_names),
        LintRule((MILLISECONDS,), milliseconds),
        LintRule((LATE_BOUND,), late_bound),
        LintRule((STORM,), storms),
        LintRule((HERD,), herds),
        LintRule((SUB_FRAME, BEAT, PACE), uneven),
        LintRule((DRIFT,), drifting),
        LintRule((SKIPPED_TICKS,), skipped),
        LintRule((OVER_BUDGET,), over_budget_frames),
        LintRule((HOST_SLOW,), host_slow),
        LintRule((COLLECTION,), collections),
        LintRule((BLOCKING,), blocking),
        LintRule((BLOCKED_LOOP,), blocked_loops),
    ),
    names=lambda rule: (kind.name for kind in rule.kinds),
    check=_check,
)


def kinds() -> tuple[FindingKind, ...]:
    return tuple(kind for rule in RULES for kind in rule.kinds)


def findings(
    history: History,
    start: int | None = None,
    end: int | None = None,
    *,
    budget: FrameBudget = _USUAL_BUDGET,
    state: Timeline | None = None,
) -> list[Finding]:
    """Return the problems of a session between two cursors, the earliest evidence first.

    A million events take a few seconds. The state at the end may be given, as a copy.
    """
    steps = finding_steps(history, start, end, budget=budget, state=state)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: list[Finding] = done.value
            return found


def finding_steps(
    history: History,
    start: int | None = None,
    end: int | None = None,
    *,
    budget: FrameBudget,
    state: Timeline | None,
) -> Generator[float, None, list[Finding]]:
    """Do what :func:`findings` does in steps of a few milliseconds; yields the share done."""
    first = history.first if start is None else max(start, history.first)
    last = max(first, history.end if end is None else min(end, history.end))
    surveyed = surveying(history, first, last, budget, state)
    while True:
        try:
            yield (next(surveyed) - first) / max(last - first, 1)
        except StopIteration as done:
            survey: Survey = done.value
            break
    found: list[Finding] = []
    for rule in RULES:
        found += _found_by(rule, survey)
        yield 1.0
    return sorted(found, key=lambda finding: (finding.at_ns, finding.kind.name))


def _found_by(rule: LintRule, survey: Survey) -> Iterable[Finding]:
    """Return the findings of a rule; a package's rule that fails is skipped from then on."""
    extension = RULES.extension_of(rule)
    if extension is None:
        return rule.find(survey)
    if extension.problem:
        return ()
    try:
        with RULES.guarding(rule):
            return [_checked(finding, rule) for finding in rule.find(survey)]
    except ExtensionError as error:
        report(error)
        return ()


def _checked(finding: Finding, rule: LintRule) -> Finding:
    if misfit_of(finding, Finding) or finding.kind not in rule.kinds:
        raise TypeError(f"{shown(finding)} is not a finding of this rule")
    return replace(finding, text=one_line(finding.text[:_LONGEST_TEXT]))
