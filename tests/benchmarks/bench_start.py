"""Starting and idling: time until the window shows, its memory, and its sleep.

Every start is a separate process, the bare Qt window and the inspector in turn. What is
compared is the processor time of the process up to its first paint or its complete window,
which on a quiet machine is also how long that takes; the wall times stand beside it.
The files are in the cache of the system and all modules compiled, as from the second start on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from tests.benchmarks import started_window
from tests.benchmarks.measuring import Effort, empty_call_ns, say
from tests.benchmarks.report import Row, calls_row

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROJECT: Final = Path(__file__).resolve().parents[2]
_TIMEOUT_S: Final = 60
_SHELL_GOAL: Final = 1.25
_COMPLETE_GOAL: Final = 4.5
_MEMORY_GOAL: Final = 2.45
#: What the held window computes in a second, in calls of an empty function.
_IDLE_CALLS: Final = 20_000
#: The one wake-up is the end of the watch itself; one more may be the system's.
_SWITCHES_GOAL: Final = 3
_REPEATS: Final = 9


@dataclass(frozen=True, slots=True)
class Start:
    """What one process reported, by name.

    Attributes:
        began_s: When it was started, on the system's clock.
        findings: What it said of itself.
    """

    began_s: float
    findings: dict[str, float]

    def __getitem__(self, name: str) -> float:
        """Return a finding."""
        return self.findings[name]

    def after_ms(self, name: str) -> float:
        """Return how long after its start something was reached."""
        return (self.findings[f"{name}_at_s"] - self.began_s) * 1_000


def start_and_idle(effort: Effort) -> Iterator[Row]:
    """Start the bare window and the inspector in turn; watch the inspector held."""
    with TemporaryDirectory(prefix="bench-start-") as name:
        folder = Path(name)
        for program in ("bare", "inspector"):
            # Compiles what is not compiled yet.
            _start(program, folder)
        pairs = []
        for number in range(effort.repeats(_REPEATS)):
            say(f"start {number + 1}")
            pairs.append((_start("bare", folder), _start("inspector", folder)))
    yield from _rows(pairs)


BENCHMARKS = (start_and_idle,)


def _rows(pairs: list[tuple[Start, Start]]) -> Iterator[Row]:
    bare_ms = median(bare.after_ms("painted") for bare, _ in pairs)
    for name, what, goal in (
        ("painted", "start/shell painted to bare window", _SHELL_GOAL),
        ("complete", "start/everything to bare window", _COMPLETE_GOAL),
    ):
        ratio = median(ours[f"{name}_cpu_s"] / bare["painted_cpu_s"] for bare, ours in pairs)
        ours_ms = median(ours.after_ms(name) for _, ours in pairs)
        detail = f"wall: {ours_ms:.0f} and {bare_ms:.0f} ms"
        yield Row(what, ratio, goal, detail=detail, unit="x")
    starts = [ours for _, ours in pairs]
    yield Row(
        "start/numpy, pyqtgraph, asyncio before the first paint",
        max(start["heavy_modules"] for start in starts),
        0,
    )
    if all("resident_mb" in start.findings for start in starts):
        ours_mb = median(start["resident_mb"] for start in starts)
        bare_mb = median(bare["resident_mb"] for bare, _ in pairs)
        yield Row(
            "idle/resident memory to bare window",
            ours_mb / bare_mb,
            _MEMORY_GOAL,
            detail=f"{ours_mb:.0f} and {bare_mb:.0f} MB",
            unit="x",
        )
    else:
        yield Row("idle/resident memory to bare window", None, detail="only read on Linux")
    watched = f"in {started_window.WATCHED_MS / 1_000:.0f} s held"
    for name, what, goal in (
        ("source_wakes", "idle/wake-ups of the time source", 0),
        ("refreshes", "idle/refreshes of the window", 0),
        ("switches", "idle/wake-ups of the process", _SWITCHES_GOAL),
    ):
        yield Row(what, max(start[name] for start in starts), goal, detail=watched)
    idle_ms = median(start["idle_cpu_s"] for start in starts) * 1_000
    percent = 100 * idle_ms / started_window.WATCHED_MS
    idle_ns = 1e9 * idle_ms / started_window.WATCHED_MS
    detail = f"a second, {percent:.3f} % of a core"
    yield calls_row("idle/computed", idle_ns, empty_call_ns(), _IDLE_CALLS, detail)


def _start(program: str, folder: Path) -> Start:
    """Run one of the programs until it ends by itself."""
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(_PROJECT),
        # Compiled once for all of these starts, and not into the project.
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
        "XDG_CONFIG_HOME": str(folder / "settings"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began_s = started_window.system_clock_s()
    finished = subprocess.run(
        [sys.executable, "-P", started_window.__file__, program],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    words = (line.split() for line in finished.stdout.splitlines())
    return Start(began_s, {name: float(number) for name, number in words})
