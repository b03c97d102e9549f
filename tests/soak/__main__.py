"""An hour at the real window: random clicks, keys, menus, dialogs and damaged files.

``python -m tests.soak --minutes 60 --seed 1`` starts an X server (Xvfb), a window manager
(openbox) and the inspector, and lets xdotool loose on it. It fails when the window crashes,
prints a traceback, does not answer for a long time, is not reached by any key, or takes more
and more memory for a scene in which nothing happens. Each of these is told with the operations
that led to it, and the same seed makes the same operations.

The window runs as another user when this is run by root: a file dialog can delete files.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import IO, TYPE_CHECKING, Final

from tests.soak import window

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY: Final = Path(__file__).resolve().parents[2]
WIDTH: Final = 1_280
HEIGHT: Final = 800
#: An event loop that has not turned for so long does not answer.
HANG_S: Final = 20.0
#: A window without the keyboard for so long is covered by something, and nothing is tried with it.
COVERED_S: Final = 60.0
#: Memory is compared while a scene is open in which nothing happens: what else a window has in
#: memory depends on what is open, and how much of its log and of its pictures is full.
COMPARED_EVERY_S: Final = 60.0
#: What memory and the number of objects may grow by between the second and the last quarter of a
#: window's life, in the median: at a single moment, something else may be open beside the scene.
GROWTH: Final = 1.15
#: A window younger than this says nothing about memory.
SETTLED_S: Final = 600.0
NOBODY: Final = 65_534

_KEYS: Final = (
    *("space", "period", "comma", "shift+period", "n", "p", "r", "f", "m", "minus", "plus", "0"),
    *("Up", "Down", "Left", "Right", "Home", "End", "Prior", "Next", "Tab", "shift+Tab"),
    *("Return", "Escape", "Menu", "F1", "F10", "Delete", "question", "slash", "alt+f", "alt+v"),
    *("ctrl+f", "ctrl+shift+p", "ctrl+z", "ctrl+e", "ctrl+r", "ctrl+c", "ctrl+a", "ctrl+comma"),
    *("ctrl+1", "ctrl+2", "ctrl+3", "ctrl+4", "ctrl+5", "ctrl+6", "ctrl+7", "ctrl+8", "ctrl+9"),
)
_TEXTS: Final = (
    *("boss", "1/3", "0.25", "1e999999999", "-1", "nan", "enemies", "a", "10", "9" * 60, "2x"),
    *("<img src=/dev/zero>", "frame > 20 ms", "=1+1", "~nouser/x", "%s%n", "00:01.5"),
)
#: Settings and a desktop that answers to nothing but the mouse on windows.
_WINDOW_MANAGER: Final = """<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew></focus><keyboard/>
<mouse><context name="Client"><mousebind button="Left" action="Press"><action name="Focus"/>
<action name="Raise"/></mousebind></context></mouse><menu/>
<applications><application type="normal"><decor>no</decor><maximized>yes</maximized></application>
</applications></openbox_config>
"""
_RAISING_SCENE: Final = """
import time

def build(stage):
    game = stage.root.child("<b>game</b>")
    game.set_interval(0.3, lambda: 1 / 0, name="raises")
    game.set_interval(0.7, lambda: time.sleep(0.05), name="blocks")
    for number in range(50):
        game.child(f"child {number}").set_interval(0.1 + number / 97, stage.mark, "x")
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a window needs for the first scene, at some age."""

    age_s: float
    megabytes: float
    objects: int


@dataclass(slots=True)
class Life:
    """One process of the window, from its start to its end.

    Attributes:
        process: The process.
        heartbeat: The pipe that it writes to.
        errors: What it prints.
        began_s: When it started.
        last_beat_s: When it last wrote.
        last_focus_s: When it last had the keyboard.
        compared_s: When it was last asked what it has in memory.
        told: What it wrote and was not understood yet.
        taken: What it had in memory.
    """

    process: subprocess.Popen[bytes]
    heartbeat: int
    errors: Path
    began_s: float
    last_beat_s: float
    last_focus_s: float
    compared_s: float
    told: bytes = b""
    taken: list[Taken] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """Failures, and the amount of work done."""

    problems: list[str] = field(default_factory=list)
    operations: Counter[str] = field(default_factory=Counter)
    starts: int = 0


def main() -> int:
    """Run for the given time; return 1 after a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--display", type=int, default=93, help="number of the X display")
    parser.add_argument("--keep", type=Path, help="folder for logs and pictures")
    arguments = parser.parse_args()
    missing = [name for name in ("Xvfb", "openbox", "xdotool") if shutil.which(name) is None]
    if missing:
        parser.error(f"{', '.join(missing)} not found: install xvfb, openbox and xdotool")
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            home.chmod(0o777)
        with x_server(arguments.display, home) as environment:
            soak = Soak(Random(arguments.seed), home, environment)
            soak.run(arguments.minutes * 60)
    return tell(soak.report)


def processor_seconds(process: int) -> float:
    """Return what a process has taken of a processor, user and system, since it started."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tell(report: Report) -> int:
    """Print the work done and the failures; return the exit code."""
    total = sum(report.operations.values())
    print(f"{total} operations, {report.starts} starts of the window: {dict(report.operations)}")
    for problem in report.problems:
        print(f"\n{problem}")
    print(f"\n{len(report.problems)} problems")
    return 1 if report.problems else 0


@contextlib.contextmanager
def x_server(number: int, home: Path) -> Iterator[dict[str, str]]:
    """Run an X server with a window manager; yield the environment of its programs."""
    (home / "openbox.xml").write_text(_WINDOW_MANAGER, encoding="utf-8")
    # A link opens nothing: another program would cover the window and print into its log.
    opener = home / "bin" / "xdg-open"
    opener.parent.mkdir(exist_ok=True)
    opener.write_text("#!/bin/sh\n", encoding="utf-8")
    opener.chmod(0o755)
    display = f":{number}"
    environment = {
        **os.environ,
        "PATH": f"{opener.parent}{os.pathsep}{os.environ['PATH']}",
        "DISPLAY": display,
        "QT_QPA_PLATFORM": "xcb",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE")},
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    screen = f"{WIDTH}x{HEIGHT}x24"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with contextlib.ExitStack() as stack:
        for command in (
            ["Xvfb", display, "-screen", "0", screen, "-nolisten", "tcp"],
            ["openbox", "--config-file", str(home / "openbox.xml")],
        ):
            process = stack.enter_context(
                subprocess.Popen(command, env=environment, **quiet)  # type: ignore[call-overload]
            )
            stack.callback(process.terminate)
            time.sleep(1)
        yield environment


class Soak:
    """Does random things to the window, and watches what becomes of it.

    Attributes:
        report: The work done and the failures.
    """

    def __init__(self, random: Random, home: Path, environment: dict[str, str]) -> None:
        """Prepare the files that will be opened.

        Args:
            random: Decides everything.
            home: Where the window keeps its settings, and where files are.
            environment: What the window runs with.
        """
        self.report = Report()
        self._random = random
        self._home = home
        self._environment = environment
        self._recent: deque[str] = deque(maxlen=40)
        self._files = self._make_files()
        self._hand = subprocess.Popen(
            ["xdotool", "-"], stdin=subprocess.PIPE, env=environment, text=True
        )

    def run(self, seconds: float) -> None:
        """Go on for so long, with as many windows as are closed on the way."""
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            life = self._start()
            try:
                self._live(life, end_s)
            finally:
                self._end(life)
        assert self._hand.stdin is not None
        self._hand.stdin.close()
        self._hand.wait(10)

    # --------------------------------------------------------------- one window

    def _start(self) -> Life:
        read_end, write_end = os.pipe()
        self.report.starts += 1
        errors = self._home / f"window-{self.report.starts}.log"
        identity = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        with errors.open("wb") as log:
            process = subprocess.Popen(  # type: ignore[call-overload]
                [sys.executable, "-m", "tests.soak.window", str(write_end)],
                cwd=REPOSITORY,
                env=self._environment,
                stdout=log,
                stderr=log,
                pass_fds=(write_end,),
                **identity,
            )
        os.close(write_end)
        now_s = time.monotonic()
        return Life(process, read_end, errors, now_s, now_s, now_s, now_s)

    def _live(self, life: Life, end_s: float) -> None:
        """Work on one window until it ends, hangs, or time is up."""
        time.sleep(3)
        while (now_s := time.monotonic()) < end_s and life.process.poll() is None:
            if select.select([life.heartbeat], [], [], 0)[0]:
                self._listen(life, now_s)
            elif now_s - life.last_beat_s > HANG_S:
                life.process.send_signal(signal.SIGUSR1)
                self._examine(life)
                self._blame(life, f"no answer for {HANG_S:.0f} s")
                life.process.kill()
                return
            if now_s - life.last_focus_s > COVERED_S:
                self._blame(life, f"had no keyboard for {COVERED_S:.0f} s")
                return
            if now_s - life.compared_s > COMPARED_EVERY_S:
                life.compared_s = now_s
                life.process.send_signal(signal.SIGUSR2)
                # Hands off until it has told.
                time.sleep(2 + window.RUN_MS / 1_000)
                continue
            self._do_something()
            time.sleep(self._random.choice((0.02, 0.05, 0.1, 0.3)))

    def _listen(self, life: Life, now_s: float) -> None:
        """Take what the window has written."""
        life.last_beat_s = now_s
        written = os.read(life.heartbeat, 4_096)
        if b"+" in written:
            life.last_focus_s = now_s
        *told, life.told = (life.told + written.translate(None, b".+")).split(b";")
        for each in told:
            resident, objects = map(int, each.split())
            life.taken.append(Taken(now_s - life.began_s, resident / 1e6, objects))

    def _examine(self, life: Life) -> None:
        """Write down what a hanging window does in C++, where a Python traceback ends."""
        began = processor_seconds(life.process.pid)
        time.sleep(1)
        share = processor_seconds(life.process.pid) - began
        with life.errors.open("ab") as log:
            log.write(f"\nIt takes {share:.0%} of a processor.\n".encode())
            log.flush()
            for command in (
                ["gdb", "-batch", "-p", str(life.process.pid), "-ex", "thread apply all bt 60"],
                ["import", "-window", "root", str(self._home / f"hang-{self.report.starts}.png")],
            ):
                if shutil.which(command[0]) is not None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        subprocess.run(
                            command,
                            check=False,
                            env=self._environment,
                            stdout=log,
                            stderr=log,
                            timeout=60,
                        )

    def _end(self, life: Life) -> None:
        """Close the window if it is open, and look at what it left behind."""
        if life.process.poll() is None:
            life.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            life.process.wait(30)
        code = life.process.poll()
        if code is None:
            self._blame(life, "did not end when it was terminated")
            life.process.kill()
            life.process.wait()
        elif code not in {0, 143}:
            self._blame(life, f"ended with exit code {code}")
        text = life.errors.read_text(encoding="utf-8", errors="replace")
        if "Traceback" in text or "Error" in text:
            self._blame(life, "printed a failure")
        os.close(life.heartbeat)
        self._tell_memory(life)

    def _tell_memory(self, life: Life) -> None:
        """Say how memory has changed, each time with a quiet scene."""
        if not life.taken:
            return
        quarter = max(1, len(life.taken) // 4)
        early = life.taken[quarter : 2 * quarter] or life.taken
        late = life.taken[-quarter:]
        age_s = life.taken[-1].age_s
        print(f"window {self.report.starts}: {age_s:.0f} s, with a quiet scene", flush=True)
        for what, unit in (("megabytes", "MB"), ("objects", "objects")):
            first = getattr(life.taken[0], what)
            before, after = (median(getattr(each, what) for each in part) for part in (early, late))
            print(
                f"  {first:,.0f} {unit} at first, "
                f"{before:,.0f} in the median of the second quarter, {after:,.0f} of the last; "
                f"each time: {' '.join(f'{getattr(each, what):.0f}' for each in life.taken)}",
                flush=True,
            )
            if age_s > SETTLED_S and after > GROWTH * before:
                self._blame(life, f"grew from {before:,.0f} to {after:,.0f} {unit}")

    def _blame(self, life: Life, what: str) -> None:
        text = life.errors.read_text(encoding="utf-8", errors="replace")
        done = "\n    ".join(self._recent)
        problem = (
            f"window {self.report.starts} {what}\n  last:\n    {done}\n  printed:\n{text[-20_000:]}"
        )
        self.report.problems.append(problem)
        print(problem, flush=True)

    # ------------------------------------------------------------ what is done

    def _do_something(self) -> None:
        kinds = {
            "click": 40,
            "double click": 5,
            "context menu": 10,
            "drag": 7,
            "wheel": 6,
            "key": 22,
            "text": 4,
            "open": 1,
            "escape": 5,
        }
        (kind,) = self._random.choices(list(kinds), list(kinds.values()))
        self.report.operations[kind] += 1
        x, y = self._random.randrange(WIDTH), self._random.randrange(HEIGHT)
        to_x, to_y = self._random.randrange(WIDTH), self._random.randrange(HEIGHT)
        match kind:
            case "click":
                self._say(f"mousemove {x} {y} click 1")
            case "double click":
                self._say(f"mousemove {x} {y} click --repeat 2 --delay 40 1")
            case "context menu":
                self._say(f"mousemove {x} {y} click 3")
                time.sleep(0.15)
                downs = self._random.randrange(1, 12)
                self._say(f"key --delay 8 {' '.join(['Down'] * downs)} Return")
            case "drag":
                self._say(f"mousemove {x} {y} mousedown 1")
                time.sleep(0.05)
                self._say(f"mousemove {(x + to_x) // 2} {(y + to_y) // 2}")
                time.sleep(0.05)
                self._say(f"mousemove {to_x} {to_y} mouseup 1")
            case "wheel":
                button = self._random.choice((4, 5, 6, 7))
                self._say(f"mousemove {x} {y} click --repeat 4 --delay 20 {button}")
            case "key":
                self._say(f"key {self._random.choice(_KEYS)}")
            case "text":
                self._type(self._random.choice(_TEXTS))
            case "open":
                self._open(self._random.choice(self._files))
            case "escape":
                self._say("key Escape Escape")

    def _open(self, path: Path) -> None:
        """Open a file by the dialog, whatever is open now."""
        self._say("key Escape Escape Escape")
        time.sleep(0.3)
        self._say("key ctrl+o")
        time.sleep(1)
        self._type(str(path))
        self._say("key Return")
        time.sleep(0.5)

    def _type(self, text: str) -> None:
        self._say(f"type --delay 4 -- '{text}'")

    def _say(self, words: str) -> None:
        self._recent.append(words)
        pipe: IO[str] | None = self._hand.stdin
        assert pipe is not None
        pipe.write(words + "\n")
        pipe.flush()

    # ------------------------------------------------------------------- files

    def _make_files(self) -> list[Path]:
        """Return built-in scenes, a raising scene, recordings, and damaged copies of all."""
        folder = self._home / "files"
        folder.mkdir(exist_ok=True)
        scenes = sorted((REPOSITORY / "resources" / "scenes").glob("*.py"))
        raising = folder / "raising.py"
        raising.write_text(_RAISING_SCENE, encoding="utf-8")
        files = [*scenes, raising, folder / "missing.py"]
        whole = [raising]
        for number, scene in enumerate(scenes[:4], 1):
            recording = folder / f"recording{number}.tlrec"
            recording.unlink(missing_ok=True)
            command = ["run", str(scene), "--seconds", "20", "--record", str(recording)]
            subprocess.run(
                [sys.executable, "-m", "inspector", *command],
                cwd=REPOSITORY,
                check=True,
                capture_output=True,
            )
            whole.append(recording)
        files += whole
        for number in range(30):
            victim = self._random.choice(whole)
            damaged = folder / f"damaged{number}{victim.suffix}"
            damaged.write_bytes(self._damage(victim.read_bytes()))
            files.append(damaged)
        return files

    def _damage(self, content: bytes) -> bytes:
        """Return the rest of a file after an accident."""
        data = bytearray(content)
        place = self._random.randrange(len(data))
        match self._random.randrange(4):
            case 0:
                del data[place:]
            case 1:
                for _ in range(self._random.choice((1, 20, 400))):
                    data[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
            case 2:
                data[place : place + 4_096] = bytes(len(data[place : place + 4_096]))
            case _:
                data[place:place] = data[:2_048]
        return bytes(data)


if __name__ == "__main__":
    sys.exit(main())
