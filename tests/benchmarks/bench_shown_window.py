"""The window as it is used: shown on a screen, while a scene runs in it in real time.

Each program is a separate process, and what is compared is its processor time: that of the
inspector with its first scene in the default layout, that of a bare Qt window that repaints
one label 60 times a second, and that of the same scene without a window. They take turns.

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
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from inspector.sessions.scene import built_in_scenes
from tests.benchmarks import shown_window
from tests.benchmarks.measuring import Effort, say
from tests.benchmarks.report import FRAME_MS, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            found: dict[str, list[Shown]] = {key: [] for key in programs}
            for number in range(effort.repeats(_REPEATS)):
                for key, (program, *rest) in programs.items():
                    say(f"{key} at {size[0]}x{size[1]}, {number + 1}")
                    found[key].append(_run([program, *map(str, size), *rest], environment, folder))
            yield from _rows(f"shown window/{size[0]}x{size[1]}", found)


BENCHMARKS = (shown,)


def _rows(name: str, found: dict[str, list[Shown]]) -> Iterator[Row]:
    for key, what, goal in (
        ("inspector", "default scene", _TO_BARE_GOAL),
        ("empty", "empty scene", _EMPTY_TO_BARE_GOAL),
    ):
        ours = found[key]
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
        yield Row(
            f"{name} {what} to a repainted label",
            _ratio(ours, found["bare"]),
            goal,
            unit="x",
            detail=_both(ours, found["bare"]),
        )
    ours = found["inspector"]
    yield Row(
        f"{name} default scene to the scene alone",
        _ratio(ours, found["scene"]),
        unit="x",
        detail=_both(ours, found["scene"]),
    )
    yield Row(
        f"{name} default scene while recording to without",
        _ratio(found["recording"], ours),
        _RECORDING_GOAL,
        unit="x",
        detail=_both(found["recording"], ours),
    )
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
    bare = median(sum(each.paints.values()) for each in found["bare"])
    detail = ", ".join(f"{widget} {count:.0f}" for widget, count in most[:_LISTED_WIDGETS])
    yield Row(
        f"{name} default scene, paints a second",
        sum(paints.values()),
        detail=f"{detail}; the repainted label {bare:.0f}",
    )


def _ratio(ours: list[Shown], theirs: list[Shown]) -> float:
    pairs = zip(ours, theirs, strict=True)
    return median(mine.ms_per_frame / other.ms_per_frame for mine, other in pairs)


def _both(ours: list[Shown], theirs: list[Shown]) -> str:
    mine, other = (median(each.ms_per_frame for each in each_of) for each_of in (ours, theirs))
    return f"{mine:.2f} and {other:.2f} ms"


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
