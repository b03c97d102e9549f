"""What looks wrong with the timers of a session, with evidence.

Nothing here is an error by itself. Each finding says what was seen, where, and what would
help; the thresholds are named below and chosen so that a sound scene has no findings.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector.analysis.lint.findings import Finding, FindingKind
from inspector.analysis.lint.over_budget import blocking, over_budget_frames
from inspector.analysis.lint.pace import drifting, uneven
from inspector.analysis.lint.scheduling import herds, leaks, never_called, orphans, skipped, storms
from inspector.analysis.lint.survey import survey
from inspector.analysis.statistics.frame_budget import FrameBudget

if TYPE_CHECKING:
    from inspector.events.history import History

__all__ = ["Finding", "FindingKind", "findings"]

_USUAL_BUDGET: Final = FrameBudget.of_rate(Fraction(60))


def findings(
    history: History,
    start: int | None = None,
    end: int | None = None,
    *,
    budget: FrameBudget = _USUAL_BUDGET,
) -> list[Finding]:
    """Return what looks wrong with the timers of a session, the earliest evidence first.

    A million events take a few seconds.

    Args:
        history: The past of the session.
        start: Cursor from which on to look; from the oldest kept event if left out.
        end: Cursor up to which to look; to the newest event if left out.
        budget: What a frame may take; that of 60 frames per second if left out.
    """
    first = history.first if start is None else max(start, history.first)
    last = history.end if end is None else min(end, history.end)
    seen = survey(history, first, max(first, last), budget)
    found = [
        *leaks(seen),
        *orphans(seen),
        *never_called(seen),
        *storms(seen),
        *herds(seen),
        *uneven(seen),
        *drifting(seen),
        *skipped(seen),
        *over_budget_frames(seen),
        *blocking(seen),
    ]
    return sorted(found, key=lambda finding: (finding.at_ns, finding.kind.value))
