"""What is said of late calls against what is true, on programs of which that is known."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.benchmarks.measuring import Effort, say
from tests.benchmarks.report import Row
from tests.late.__main__ import NotBegunError, Results, Score, late_in
from tests.late.programs import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRECISION, _RECALL = 0.95, 0.85
#: Every so many programs are tried in a hurry.
_ONE_IN = 8
_NEEDS = {"node": "node", "page": "chromium"}


def late_causes(effort: Effort) -> Iterator[Row]:
    """Attach to programs whose calls are late for a known reason, and count right answers."""
    results = Results()
    with TemporaryDirectory() as folder:
        for program in programs()[:: _ONE_IN if effort.is_quick else 1]:
            needed = _NEEDS.get(program.runtime)
            if needed and shutil.which(needed) is None:
                continue
            say(f"late: {program.name}")
            with suppress(NotBegunError):
                results.add(program, late_in(program, Path(folder)), tells=False)
    for what, scores in (("cause", results.causes), ("function", results.culprits)):
        for about in sorted(scores, key=lambda name: (name != "all", name)):
            score = scores[about]
            is_all = about == "all"
            yield _row(f"{what} precision, {about}", score, score.claimed, is_all * _PRECISION)
            yield _row(f"{what} recall, {about}", score, score.wanted, is_all * _RECALL)
    tried = results.programs["healthy"]
    yield Row("late_causes/named on healthy programs", results.accused, 0, detail=f"{tried} tried")


def _row(name: str, score: Score, of: int, goal: float) -> Row:
    if not of:
        return Row(f"late_causes/{name}", None, detail="nothing to count")
    detail = f"{score.true} of {of} calls"
    return Row(f"late_causes/{name}", score.true / of, goal or None, at_most=False, detail=detail)


BENCHMARKS = (late_causes,)
