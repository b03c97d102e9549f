"""Takes the moving picture of the README: a pause, what waits for it and why, and the resume.

``python -m tests.moving_picture FILE.webp`` drives the window over the small game in virtual time,
so that the picture is the same on any machine. It needs Pillow (``pip install --group pictures``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, cast

from PIL import Image
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, ResumeClock
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from tests.window_states import TEXT_MS, Owner, run, settle, timer_id
from ui.session.bridge import Selection
from ui.window.application import make_application
from ui.window.settings import Settings, SettingsFile

_SIZE: Final = (1_180, 700)
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


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.moving_picture", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--theme", choices=("dark", "light"), default="dark")
    options = parser.parse_args(arguments)
    make_application()
    with TemporaryDirectory() as place:
        settings = Settings(theme=options.theme, text_size=100)
        SettingsFile(Path(place) / "settings.json").save(settings)
        shell = open_shell(cast("QtBot", Owner()), Path(place), SMALL_GAME, is_dressed=True)
        shell.window.resize(*_SIZE)
        settle(shell)
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
