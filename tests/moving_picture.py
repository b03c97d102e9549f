"""Takes the pictures of README and help from the real window.

``python -m tests.moving_picture FILE.webp`` drives the window over the small game in virtual time,
so that the picture is the same on any machine: a pause, what waits for it and why, and the resume.
``python -m tests.moving_picture FILE.png --server`` launches a server, and takes one picture while
a function blocks its event loop. Both need Pillow (``pip install --group pictures``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

from PIL import Image
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.sessions.attached.doors.launch import Launch
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from tests.window_states import TEXT_MS, Owner, run, settle, timer_id
from ui.session.bridge import Selection
from ui.timeline.lane_canvas import LaneCanvas
from ui.window.application import make_application
from ui.window.settings import Settings, SettingsFile

_SIZE: Final = (1_180, 700)
_SERVER_SIZE: Final = (1_440, 900)
_STEP_S: Final = 0.125
#: The game has gone on for a while, and the boss is soon to arrive.
_BEFORE_S: Final = 20.5


def _pause(shell: Shell) -> None:
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))


def _ask_why(shell: Shell) -> None:
    shell.bridge.select(Selection.timer(timer_id(shell, "boss arrives")))


def _resume(shell: Shell) -> None:
    shell.bridge.submit(ResumeClock(shell.clock_id("enemies")))


#: What is done after so many seconds of the picture, which then goes on.
STORY: Final[tuple[tuple[float, Callable[[Shell], None] | None], ...]] = (
    (1.0, _pause),
    (1.75, _ask_why),
    (2.25, _resume),
    (5.0, None),
)


def frames(shell: Shell) -> Iterator[Image.Image]:
    """Yield what the window shows, at an eighth of a second of scene time each."""
    for seconds, act in STORY:
        for _ in range(round(seconds / _STEP_S)):
            run(shell, _STEP_S)
            # Texts are refreshed in real time.
            QTest.qWait(TEXT_MS)
            image = shell.window.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
            size = (image.width(), image.height())
            stride = image.bytesPerLine()
            yield Image.frombytes("RGB", size, bytes(image.constBits()), "raw", "RGB", stride)
        if act is not None:
            act(shell)


SERVER: Final = """\
import asyncio
import time


def crunch(seconds):
    total, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        total += sum(range(100))
    return total


async def rebuild():
    while True:
        await asyncio.sleep(2.5)
        crunch(0.9)


async def heartbeat():
    while True:
        await asyncio.sleep(0.4)


async def flush_metrics():
    while True:
        await asyncio.sleep(1)


async def answer_requests():
    while True:
        await asyncio.sleep(0.15)


async def main():
    await asyncio.gather(rebuild(), heartbeat(), flush_metrics(), answer_requests())


asyncio.run(main())
"""
#: The loop is blocked for this long when the picture is taken, in the second block at the earliest.
_BLOCKED_NS: Final = 550 * NS_PER_MS
_FROM_NS: Final = 5 * NS_PER_SECOND
_LOOK_MS: Final = 20


def take_server(shell: Shell, folder: Path) -> QPixmap:
    """Return the window while the loop of a server that it has launched is blocked."""
    path = folder / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    bridge = shell.bridge
    bridge.open_door(Launch(("python3", path.name), folder, is_bound=True))
    canvas = shell.window.findChild(LaneCanvas)
    assert canvas is not None

    def is_blocked() -> bool:
        timeline = bridge.timeline
        loop = next((each.id for each in timeline.clocks.values() if "loop" in each.name), 0)
        blocks = canvas.store.blocks.within(loop, _FROM_NS, timeline.at_ns)
        return any(block.lasts and block.took_ns > _BLOCKED_NS for block in blocks)

    while not is_blocked():
        QTest.qWait(_LOOK_MS)
        bridge.refresh_now()
    bridge.select(Selection.timer(timer_id(shell, "sleep in heartbeat")))
    bridge.refresh_now()
    QTest.qWait(_LOOK_MS)
    return shell.window.grab()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.moving_picture", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--theme", choices=("dark", "light"), default="dark")
    parser.add_argument("--server", action="store_true", help="a server whose loop is blocked")
    options = parser.parse_args(arguments)
    make_application()
    with TemporaryDirectory() as place:
        # Of a server, nothing is to be tried in a scene.
        done = {"first_run": "2"} if options.server else {}
        settings = Settings(theme=options.theme, text_size=100, panel_choices=done)
        SettingsFile(Path(place) / "settings.json").save(settings)
        scene = None if options.server else SMALL_GAME
        shell = open_shell(cast("QtBot", Owner()), Path(place), scene, is_dressed=True)
        shell.window.resize(*(_SERVER_SIZE if options.server else _SIZE))
        settle(shell)
        if options.server:
            take_server(shell, Path(place)).save(str(options.path))
            shell.bridge.close()
            shell.window.close()
            return 0
        run(shell, _BEFORE_S)
        first, *others = frames(shell)
        shell.window.close()
    first.save(
        options.path,
        save_all=True,
        append_images=others,
        duration=round(_STEP_S * 1_000),
        loop=0,
        lossless=True,
        quality=100,
        method=4,
    )
    size = options.path.stat().st_size
    sys.stdout.write(f"{options.path}: {len(others) + 1} frames, {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
