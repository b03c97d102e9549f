"""The window as it is used: shown on a screen, while a scene runs in it in real time.

Each program is a separate process, and what is compared is its processor time: that of the
inspector with its first scene in the default layout, that of a bare Qt window that repaints
one label 60 times a second, and that of the same scene without a window. They take turns, and
each run is compared with those of the other program right before and after it: what the label
takes differs by half from one minute to the next, as the processor's speed and its caches do.

The screen is the one there is; without one it is Xvfb's, which draws by software as the
slowest machines do, or else none at all (offscreen).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from inspector.sessions.scene import built_in_scenes
from tests.benchmarks import shown_window
from tests.benchmarks.measuring import Effort, say
from tests.benchmarks.report import FRAME_MS, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROJECT: Final = Path(__file__).resolve().parents[2]
_SIZES: Final = ((1_280, 760), (1_600, 1_000))
_TIMEOUT_S: Final = 60
_WATCHED_S: Final = 6.0
_REPEATS: Final = 3
_LISTED_WIDGETS: Final = 6
#: What the window may take at most, as often as the bare one with its label: panels with some
#: 200 cells and 300 bars.
_TO_BARE_GOAL: Final = 3.5
_EMPTY_TO_BARE_GOAL: Final = 2.0
#: What it may take while recording, as often as without.
_RECORDING_GOAL: Final = 1.15
#: The share of the frames that are to come on average.
_HELD_GOAL: Final = 0.98
#: Pictures that move, and how often they are to in a second.
_MOVING: Final = {"FramePlot": "frame plot", "LaneCanvas": "lanes"}
_MOVING_RATE: Final = 30
#: The order in which programs run: each beside those that it is compared with.
_TURNS: Final = ("bare", "inspector", "recording", "inspector", "scene", "bare", "empty")
_EMPTY_SCENE: Final = '''"""Nothing but frames."""


def build(stage):
    pass
'''


@dataclass(frozen=True, slots=True)
class Shown:
    """What one process reported, by name."""

    findings: dict[str, float]

    @property
    def ms_per_frame(self) -> float:
        """Processor time for each frame or repaint."""
        return 1_000 * self.findings["cpu_s"] / max(self.findings["frames"], 1)

    @property
    def percent(self) -> float:
        """The share of one core."""
        return 100 * self.findings["cpu_s"] / self.findings["wall_s"]

    @property
    def frames_per_second(self) -> float:
        """How many frames or repaints there were."""
        return self.findings["frames"] / self.findings["wall_s"]

    @property
    def paints(self) -> dict[str, float]:
        """How often widgets were painted in a second, by class."""
        start = "paints of "
        return {
            name.removeprefix(start): number
            for name, number in self.findings.items()
            if name.startswith(start)
        }


def shown(effort: Effort) -> Iterator[Row]:
    """Show the window beside a bare one, and run the scene without any."""
    with TemporaryDirectory(prefix="bench-shown-") as name, _screen() as environment:
        folder = Path(name)
        empty = folder / "empty.py"
        empty.write_text(_EMPTY_SCENE, encoding="utf-8")
        scene = str(built_in_scenes()[0].path)
        seconds = str(2.0 if effort.is_quick else _WATCHED_S)
        for size in _SIZES[-1:] if effort.is_quick else _SIZES:
            programs = {
                "bare": ("bare", seconds),
                "inspector": ("inspector", seconds),
                "recording": ("recording", seconds, scene),
                "empty": ("inspector", seconds, str(empty)),
                "scene": ("scene", seconds, scene),
            }
            # Ends as it begins, so that every run has one of the label on either side.
            turns = [*(_TURNS * effort.repeats(_REPEATS)), _TURNS[0]]
            runs: list[tuple[str, Shown]] = []
            for number, key in enumerate(turns):
                say(f"{key} at {size[0]}x{size[1]}, {number + 1} of {len(turns)}")
                program, *rest = programs[key]
                runs.append((key, _run([program, *map(str, size), *rest], environment, folder)))
            yield from _rows(f"shown window/{size[0]}x{size[1]}", runs)


BENCHMARKS = (shown,)


def _rows(name: str, runs: list[tuple[str, Shown]]) -> Iterator[Row]:
    for key, what, goal in (
        ("inspector", "default scene", _TO_BARE_GOAL),
        ("empty", "empty scene", _EMPTY_TO_BARE_GOAL),
    ):
        ours = _runs_of(key, runs)
        rate = median(each.frames_per_second for each in ours)
        yield Row(
            f"{name} {what}, frames held",
            rate / shown_window.RATE,
            _HELD_GOAL,
            at_most=False,
            unit="x",
            detail=f"{rate:.1f} of {shown_window.RATE} a second",
        )
        per_frame_ms = median(each.ms_per_frame for each in ours)
        percent = median(each.percent for each in ours)
        detail = f"processor time; {percent:.1f} % of a core"
        yield Row(f"{name} {what}, a frame", per_frame_ms, FRAME_MS, unit="ms", detail=detail)
        yield _ratio(f"{name} {what} to a repainted label", runs, key, "bare", goal)
    yield _ratio(f"{name} default scene to the scene alone", runs, "inspector", "scene")
    what = f"{name} default scene while recording to without"
    yield _ratio(what, runs, "recording", "inspector", _RECORDING_GOAL)
    ours = _runs_of("inspector", runs)
    paints = {
        widget: median(each.paints.get(widget, 0.0) for each in ours)
        for widget in {widget for each in ours for widget in each.paints}
    }
    for widget, what in _MOVING.items():
        count = paints.get(widget, 0.0)
        yield Row(
            f"{name} default scene, {what} painted",
            count / _MOVING_RATE,
            _HELD_GOAL,
            at_most=False,
            unit="x",
            detail=f"{count:.1f} times a second, {_MOVING_RATE} are wanted",
        )
    most = sorted(paints.items(), key=lambda pair: -pair[1])
    bare = median(sum(each.paints.values()) for each in _runs_of("bare", runs))
    detail = ", ".join(f"{widget} {count:.0f}" for widget, count in most[:_LISTED_WIDGETS])
    yield Row(
        f"{name} default scene, paints a second",
        sum(paints.values()),
        detail=f"{detail}; the repainted label {bare:.0f}",
    )


def _runs_of(key: str, runs: Iterable[tuple[str, Shown]]) -> list[Shown]:
    return [shown for name, shown in runs if name == key]


def _ratio(
    name: str, runs: list[tuple[str, Shown]], ours: str, theirs: str, goal: float | None = None
) -> Row:
    """Compare each run of one program with those of another right before and after it."""
    ratios = []
    for place, (key, shown) in enumerate(runs):
        if key == ours:
            near = _runs_of(theirs, runs[:place])[-1:] + _runs_of(theirs, runs[place:])[:1]
            ratios.append(shown.ms_per_frame / mean(each.ms_per_frame for each in near))
    both = (median(each.ms_per_frame for each in _runs_of(key, runs)) for key in (ours, theirs))
    detail = "{:.2f} and {:.2f} ms; {:.2f} to {:.2f}x".format(*both, min(ratios), max(ratios))
    return Row(name, median(ratios), goal, detail=detail, unit="x")


def _run(arguments: list[str], environment: dict[str, str], folder: Path) -> Shown:
    settings = {
        f"XDG_{kind}_HOME": str(folder / kind.lower())
        for kind in ("CONFIG", "DATA", "STATE", "CACHE")
    }
    finished = subprocess.run(
        [sys.executable, "-P", shown_window.__file__, *arguments],
        env=environment | settings | {"PYTHONPATH": str(_PROJECT)},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    words = (line.rpartition("\t") for line in finished.stdout.splitlines())
    return Shown({name: float(number) for name, _, number in words})


@contextmanager
def _screen() -> Iterator[dict[str, str]]:
    """Return the environment of programs that are shown, with a screen if there can be one."""
    environment = dict(os.environ)
    environment.pop("QT_QPA_PLATFORM", None)
    server = shutil.which("Xvfb")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.name != "posix":
        yield environment
        return
    if server is None:
        yield environment | {"QT_QPA_PLATFORM": "offscreen"}
        return
    read, write = os.pipe()
    width, height = _SIZES[-1]
    command = [server, "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as xvfb:
        os.close(write)
        try:
            with os.fdopen(read) as numbers:
                display = numbers.readline().strip()
            yield environment | {"DISPLAY": f":{display}", "QT_QPA_PLATFORM": "xcb"}
        finally:
            xvfb.terminate()
