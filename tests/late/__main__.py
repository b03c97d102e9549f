"""Precision and recall of the causes of late calls, on programs of which they are known.

Run by ``python -m tests.late [-v] [WORD …]``: words choose programs by a part of their names, and
``-v`` prints what was said wrong.
``TIMELINE_INSPECTOR_ADAPTERS_PYTHON`` is the interpreter that has the libraries.
"""

from __future__ import annotations

import io
import os
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from inspector.analysis.lateness.attribution import Cause
from inspector.analysis.lateness.late_calls import late_calls
from inspector.analysis.lateness.words import lateness_text
from inspector.cli.late import launched, watched
from inspector.sessions.attached.doors.browser import Browser
from inspector.vocabulary import EventKind
from tests.late.programs import programs

if TYPE_CHECKING:
    from inspector.analysis.lateness.late_calls import LateCall
    from inspector.sessions.attached.doors.door import Door
    from tests.late.programs import LateProgram

PYTHON = os.environ.get("TIMELINE_INSPECTOR_ADAPTERS_PYTHON", sys.executable)
#: Calls that are less late may be so because of the machine.
OVER_NS = 120_000_000
#: Calls that are due before are left out.
START_NS = 300_000_000
_MANY = 100_000
_SUFFIXES = {"python": "py", "node": "js", "page": "js"}
#: Programs end by themselves, pages do not.
_ALL_NS = 6_000_000_000
_PAGE_NS = 2_500_000_000
_FIRST = {int(EventKind.TIMER_ADDED)}
#: The worst calls of a program are judged, so that none counts for more than others.
MOST_CALLS = 6
#: A call that had no processor for so much of its lateness says nothing about the program.
BUSY = 0.3


def late_in(program: LateProgram, folder: Path, python: str = PYTHON) -> list[LateCall]:
    """Run a program and return its late calls."""
    path = folder / f"{program.name.replace('/', '_')}.{_SUFFIXES[program.runtime]}"
    path.write_text(program.code)
    door: Door
    if program.runtime == "page":
        page = path.with_suffix(".html")
        page.write_text(f'<!doctype html><body><script src="{path.name}"></script>')
        door = Browser(page.as_uri(), headless=True, grant="read-only")
    else:
        runs = python if program.runtime == "python" else "node"
        door = launched([runs, str(path)])
    seconds = _PAGE_NS if program.runtime == "page" else _ALL_NS
    with watched(door, seconds, io.StringIO()) as history:
        (began_ns,) = [event[0] for event in history.events(0, _MANY) if event[1] in _FIRST][:1]
        calls = list(late_calls(history, OVER_NS))
    # What a library does before its loop turns is not what the program is about.
    return [call for call in calls if call.lateness.begin_ns > began_ns + START_NS]


def is_starved(call: LateCall, program: LateProgram) -> bool:
    """Return whether the machine was too busy to tell."""
    if Cause.PROCESSOR.value in program.causes:
        return False
    lateness = call.lateness
    starved = sum(s.ns for s in lateness.shares if s.cause is Cause.PROCESSOR)
    return starved > BUSY * lateness.late_ns


class Score:
    """What was claimed, and what was true.

    Attributes:
        claimed: How often something was claimed.
        true: How often it was right.
        wanted: How often there was something to claim.
    """

    def __init__(self) -> None:
        self.claimed = self.true = self.wanted = 0

    def add(self, claim: str, truth: tuple[str, ...]) -> None:
        """Take one call; an empty claim or truth is none."""
        self.claimed += bool(claim)
        self.wanted += bool(truth)
        self.true += bool(claim) and claim in truth

    def __str__(self) -> str:
        precision = self.true / self.claimed if self.claimed else 1.0
        recall = self.true / self.wanted if self.wanted else 1.0
        claimed = f"precision {precision:.3f} ({self.true} of {self.claimed})"
        return f"{claimed}, recall {recall:.3f} (of {self.wanted})"


def main(words: list[str]) -> int:
    """Print the table; returns 1 if the scores are too low."""
    causes, culprits = Score(), Score()
    busy = accused = silent = 0
    with TemporaryDirectory() as folder:
        for program in programs():
            chosen = [word for word in words if word != "-v"]
            if chosen and not any(word in program.name for word in chosen):
                continue
            calls = late_in(program, Path(folder))
            calls = sorted(calls, key=lambda call: -call.lateness.late_ns)[:MOST_CALLS]
            judged = [call for call in calls if not is_starved(call, program)]
            busy += len(calls) - len(judged)
            silent += bool(program.causes) and not calls
            seen: Counter[str] = Counter()
            for call in judged:
                lateness = call.lateness
                main_share = lateness.main
                cause = "" if main_share is None else main_share.cause.value
                culprit = ""
                if main_share is not None and main_share.culprit is not None:
                    culprit = main_share.culprit.place.function.rpartition(".")[2]
                seen[f"{cause or 'unknown'} {culprit}".strip()] += 1
                if program.causes:
                    causes.add(cause, program.causes)
                    culprits.add(culprit, program.culprits)
                elif culprit:
                    accused += 1
                is_wrong = cause not in program.causes or (culprit or None) not in (
                    program.culprits or (None,)
                )
                if "-v" in words and is_wrong:
                    print(f"    {lateness_text(lateness)}")  # noqa: T201
            wanted = f"{' or '.join(program.causes) or 'none'} {'/'.join(program.culprits)}".strip()
            told = ", ".join(f"{count} × {what}" for what, count in seen.most_common())
            left = f"  ({len(calls) - len(judged)} on a busy machine)" if judged != calls else ""
            print(f"{program.name:32} {wanted:32} {told}{left}", flush=True)  # noqa: T201
    print(f"\ncauses:   {causes}\nculprits: {culprits}")  # noqa: T201
    print(f"accused on controls: {accused}; not late though they should be: {silent}")  # noqa: T201
    print(f"calls left out as the machine was busy: {busy}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
