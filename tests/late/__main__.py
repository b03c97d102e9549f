"""Precision and recall of the causes of late calls, on programs of which they are known.

Run by ``python -m tests.late [-v] [--write] [WORD …]``: words choose programs by a part of their
names, ``-v`` prints what was said wrong, and ``--write`` puts the table into the help page.
``TIMELINE_INSPECTOR_ADAPTERS_PYTHON`` is the interpreter that has the libraries.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING

from inspector.analysis.lateness.attribution import Cause
from inspector.analysis.lateness.late_calls import late_calls
from inspector.analysis.lateness.words import lateness_text
from inspector.cli.late import launched, watched
from inspector.sessions.attached.doors.browser import Browser, OpenedBrowser
from inspector.vocabulary import EventKind
from tests.late.programs import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lateness.late_calls import LateCall
    from inspector.sessions.attached.doors.door import Door, ProbeAcceptor
    from tests.late.programs import LateProgram

PYTHON = os.environ.get("TIMELINE_INSPECTOR_ADAPTERS_PYTHON", sys.executable)
PAGE = Path(__file__).parents[2] / "resources" / "help" / "late.md"
#: Calls that are less late may be so because of the machine.
OVER_NS = 120_000_000
#: Calls that are due before are left out.
START_NS = 300_000_000
_MANY = 100_000
_SUFFIXES = {"python": "py", "node": "js", "page": "js"}
#: Programs end by themselves, on a busy machine later.
_LONGEST_NS = 60_000_000_000
_FIRST = {int(EventKind.TIMER_ADDED)}
#: The worst calls of a program are judged, so that none counts for more than others.
MOST_CALLS = 6
#: A call that had no processor for so much of its lateness says nothing about the program.
BUSY = 0.3


def late_in(program: LateProgram, folder: Path, python: str = PYTHON) -> list[LateCall]:
    """Run a program and return its late calls."""
    path = folder / f"{program.name.replace('/', '_')}.{_SUFFIXES[program.runtime]}"
    path.write_text(program.code)
    if program.runtime == "page":
        path.with_suffix(".html").write_text(
            f'<!doctype html><body><script src="{path.name}"></script>'
        )
        # Of a page from a file, browsers do not tell which scripts made a frame long.
        page = Page(path.with_suffix(".html").name)
        with page.served(folder):
            return _late_behind(page)
    runs = python if program.runtime == "python" else "node"
    return _late_behind(launched([runs, str(path)]))


class Page:
    """A page in a browser of its own, which ends when the page asks its server for ``/done``."""

    def __init__(self, name: str) -> None:
        self.title = name
        self._address = ""
        self._opened: OpenedBrowser | None = None

    def open(self, acceptor: ProbeAcceptor) -> OpenedBrowser:
        browser = Browser(f"{self._address}/{self.title}", headless=True, grant="read-only")
        self._opened = browser.open(acceptor)
        return self._opened

    def end(self) -> None:
        assert self._opened is not None
        assert self._opened.pid is not None
        os.killpg(self._opened.pid, signal.SIGTERM)

    @contextmanager
    def served(self, folder: Path) -> Iterator[None]:
        """Serve the files of a folder meanwhile."""
        end = self.end

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/done":
                    end()
                super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        place = "127.0.0.1", 0
        with ThreadingHTTPServer(place, partial(Handler, directory=str(folder))) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            self._address = f"http://127.0.0.1:{server.server_port}"
            yield
            server.shutdown()


class NotBegunError(Exception):
    """A program has ended before its loop turned: its library is not installed, or no display."""


def _late_behind(door: Door) -> list[LateCall]:
    with watched(door, _LONGEST_NS, io.StringIO()) as session:
        history = session.history
        began_ns = next((each[0] for each in history.events(0, _MANY) if each[1] in _FIRST), None)
        if began_ns is None:
            raise NotBegunError
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


@dataclass
class Score:
    """What was claimed, and what was true.

    Attributes:
        claimed: How often something was claimed.
        true: How often it was right.
        wanted: How often there was something to claim.
    """

    claimed: int = 0
    true: int = 0
    wanted: int = 0

    def add(self, claim: str, truth: tuple[str, ...]) -> None:
        """Take one call; an empty claim or truth is none."""
        self.claimed += bool(claim)
        self.wanted += bool(truth)
        self.true += bool(claim) and claim in truth

    @property
    def precision(self) -> str:
        return _share(self.true, self.claimed)

    @property
    def recall(self) -> str:
        return _share(self.true, self.wanted)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "–"


class Results:
    """What was found in all programs that were tried.

    Attributes:
        causes: Scores of causes, by what the programs are about; the last is that of all.
        culprits: Scores of functions, likewise.
        accused: Functions that were named in healthy programs.
        silent: Programs without late calls that should have some.
        busy: Calls that are not judged, as the machine was busy.
    """

    def __init__(self) -> None:
        self.causes: dict[str, Score] = {}
        self.culprits: dict[str, Score] = {}
        self.programs: Counter[str] = Counter()
        self.accused = self.silent = self.busy = 0

    def add(self, program: LateProgram, calls: list[LateCall], *, tells: bool) -> str:
        """Take the worst calls of a program; returns what was said of them.

        Args:
            tells: Whether what is wrong is printed.
        """
        calls = sorted(calls, key=lambda call: -call.lateness.late_ns)[:MOST_CALLS]
        judged = [call for call in calls if not is_starved(call, program)]
        self.busy += len(calls) - len(judged)
        self.silent += bool(program.causes) and not calls
        about = program.causes[0] if program.causes else "healthy"
        self.programs[about] += 1
        seen: Counter[str] = Counter()
        for call in judged:
            share = call.lateness.main
            cause = "" if share is None else share.cause.value
            culprit = ""
            if share is not None and share.culprit is not None:
                culprit = share.culprit.place.function.rpartition(".")[2]
            seen[f"{cause or 'unknown'} {culprit}".strip()] += 1
            self.accused += bool(culprit) and not program.causes
            if program.causes:
                for key in (about, "all"):
                    self.causes.setdefault(key, Score()).add(cause, program.causes)
                    self.culprits.setdefault(key, Score()).add(culprit, program.culprits)
            is_right = cause in program.causes and (culprit or None) in (
                program.culprits or (None,)
            )
            if tells and not is_right:
                print(f"    {lateness_text(call.lateness)}")  # noqa: T201
        told = ", ".join(f"{count} × {what}" for what, count in seen.most_common())
        left = f"  ({len(calls) - len(judged)} on a busy machine)" if judged != calls else ""
        return f"{told}{left}"

    def table(self) -> str:
        """Return precision and recall as a table of a help page."""
        titles = "what was wrong", "programs", "cause: precision", "recall", "function: precision"
        lines = [f"| {' | '.join(titles)} | recall |", "|---|---|---|---|---|---|"]
        for about in [*sorted(self.causes.keys() - {"all"}), "all"]:
            causes, culprits = self.causes.get(about, Score()), self.culprits.get(about, Score())
            count = self.programs[about] if about != "all" else self.programs.total()
            scores = (causes.precision, causes.recall, culprits.precision, culprits.recall)
            lines.append(f"| {about} | {count} | {' | '.join(scores)} |")
        return "\n".join(lines)


def write_table(table: str, page: Path = PAGE) -> None:
    """Put the table into the help page."""
    text = page.read_text()
    begin = text.index("| what was wrong |")
    end = text.index("\n\n", begin)
    page.write_text(f"{text[:begin]}{table}{text[end:]}")


def main(words: list[str]) -> int:
    """Print what is said of each program, and the table."""
    results = Results()
    chosen = [word for word in words if not word.startswith("-")]
    with TemporaryDirectory() as folder:
        for program in programs():
            if chosen and not any(word in program.name for word in chosen):
                continue
            try:
                calls = late_in(program, Path(folder))
            except NotBegunError:
                print(f"{program.name:32} left out: it needs a library or display")  # noqa: T201
                continue
            told = results.add(program, calls, tells="-v" in words)
            wanted = f"{' or '.join(program.causes) or 'none'} {'/'.join(program.culprits)}".strip()
            print(f"{program.name:32} {wanted:32} {told}", flush=True)  # noqa: T201
    print(f"\n{results.table()}\n")  # noqa: T201
    print(f"accused on controls: {results.accused}")  # noqa: T201
    print(f"not late though they should be: {results.silent}")  # noqa: T201
    print(f"calls left out as the machine was busy: {results.busy}")  # noqa: T201
    if "--write" in words:
        write_table(results.table())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
