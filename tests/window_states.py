"""Takes a picture of every state of the window, to be looked at.

``python -m tests.window_states FOLDER`` shows the small game in all states and each other built-in
scene while it runs, at three sizes of text, in both themes. Time is virtual, so two runs
differ only by what was changed between them. ``--only text`` takes those whose name has the text;
``--high-contrast`` takes them as a system with that setting, ``--wide-font`` in a wider font.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple, cast

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.resources import resource_path
from inspector.sessions.attached.session import AttachedSession
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED
from tests.events.recording.recorded_worlds import record, scene_log
from tests.sessions.attached.fake_probe import FakeDoor, FakeProbe, hello
from tests.sessions.test_captured import table, trace
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from ui.comparison.view import ComparisonView
from ui.kit.filter_line import FilterLine
from ui.kit.fonts import TextSize
from ui.kit.theme import ThemeChoice
from ui.session.bridge import Selection
from ui.window.application import make_application
from ui.window.settings import Settings, SettingsFile

_SIZES: Final = ((1_280, 720), (1_600, 1_000), (2_560, 1_440), (720, 420))
_TEXTS: Final[tuple[TextSize, ...]] = (100, 150, 200)
_THEMES: Final[tuple[ThemeChoice, ...]] = ("dark", "light")
_FRAME_S: Final = 1 / 60
TEXT_MS: Final = 600
_TURN_MS: Final = 20
_MOST_TURNS: Final = 250
_WIDE_FAMILY: Final = "DejaVu Sans"
_BROKEN: Final = "def build(stage):\n    stage.root.child('game')\n    {}['level']\n"
#: After so many turns a fake program says what it has.
_KEYFRAME_AT: Final = 20
_IN_TRAY: Final = (
    "timer_queue",
    "event_list",
    "findings",
    "frame_spans",
    "statistics",
    "breakpoints",
    "interventions",
    "bookmarks",
    "clock_tree",
    "state_machines",
    "lab",
)
_EMPTY: Final = "def build(stage):\n    pass\n"


class Owner:
    """Stands for what closes windows after a test."""

    def addWidget(self, _widget: QWidget) -> None:  # noqa: N802 - of pytest-qt
        """Leave it to the caller."""


class Picture(NamedTuple):
    """What is to be shown, and how large."""

    state: str
    scene: str | Path | None
    size: tuple[int, int]
    text: TextSize
    theme: ThemeChoice

    @property
    def name(self) -> str:
        scene = self.scene.stem if isinstance(self.scene, Path) else ""
        width, height = self.size
        parts = (self.state, scene, self.theme, f"{self.text}", f"{width}x{height}")
        return "-".join(part for part in parts if part)


def settle(shell: Shell, turns: int = 8) -> None:
    for _ in range(turns):
        shell.bridge.refresh_now()
        QApplication.processEvents()


def run(shell: Shell, seconds: float = 8.0) -> None:
    """Let a scene run, with a stall in it."""
    for number in range(round(seconds / _FRAME_S)):
        shell.sources[-1].advance(_FRAME_S)
        if seconds > 1 and number == round(seconds / _FRAME_S / 2):
            shell.sources[-1].jump(0.04)
        if not number % 10:
            shell.bridge.refresh_now()
    settle(shell)


def wait_for_numbers(shell: Shell) -> None:
    """Let the numbers of the frames in view arrive, which a thread of its own computes."""
    header = shell.window.frame_times.header
    for _ in range(_MOST_TURNS):
        if header.p50.text() or not header.isVisible() or not shell.bridge.timeline.frames.end:
            return
        QTest.qWait(_TURN_MS)
        settle(shell, 1)


def timer_id(shell: Shell, label: str) -> int:
    timers = shell.bridge.timeline.timers
    return next(each for each in timers.ids() if timers.row(each).label == label)


# ---------------------------------------------------------------- states


def show_running(shell: Shell) -> None:
    run(shell)


def show_paused(shell: Shell) -> None:
    run(shell, 6)
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    run(shell, 1.8)
    shell.bridge.select(Selection.timer(timer_id(shell, "boss arrives")))


def show_two_pauses(shell: Shell) -> None:
    show_paused(shell)
    shell.bridge.submit(PauseClock(shell.clock_id("game")))
    run(shell, 0.5)


def reveal_frame(shell: Shell) -> None:
    run(shell)
    shell.window.frame_times.header.longest.click()


def show_held(shell: Shell) -> None:
    run(shell)
    shell.trigger("run-or-hold")
    run(shell, 0.1)


def show_stopped(shell: Shell) -> None:
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "autosave")))
    run(shell)


def show_looking_back(shell: Shell) -> None:
    run(shell, 14)
    shell.bridge.set_playhead(12 * NS_PER_SECOND)


def show_timer(shell: Shell) -> None:
    run(shell)
    shell.bridge.select(Selection.timer(timer_id(shell, "boss arrives")))


def enter_panel(panel_id: str, shell: Shell) -> None:
    run(shell)
    shell.window.panels.open_panel(panel_id)
    settle(shell)


def open_palette(shell: Shell) -> None:
    run(shell)
    shell.trigger("palette")


def show_no_lanes(shell: Shell) -> None:
    run(shell, 2)
    lines = shell.window.panels.panel("timeline").findChildren(FilterLine)
    for line in lines or shell.window.frame_times.findChildren(FilterLine):
        line.setText("nowhere")


def show_failed(shell: Shell) -> None:
    shell.window.open_path(_written(shell, "broken.py", _BROKEN))


def show_no_frames(shell: Shell) -> None:
    shell.window.open_path(_written(shell, "empty.py", _EMPTY))


def show_no_clocks(shell: Shell) -> None:
    door = FakeDoor()
    shell.bridge.open_door(door)


def show_attached(shell: Shell) -> None:
    door = FakeDoor()
    shell.bridge.open_door(door)
    session = shell.bridge.session
    assert isinstance(session, AttachedSession)
    probe = FakeProbe(session.acceptor, time.monotonic_ns, hello(session.acceptor.token))
    former_ns = time.monotonic_ns()
    for step in range(200):
        probe.pump()
        settle(shell, 1)
        if step == _KEYFRAME_AT:
            probe.keyframe((1, "beat", 60_000_000_000))
            probe.clock(2, "loop", parent=1)
        if step > _KEYFRAME_AT:
            now_ns = time.monotonic_ns()
            ended = now_ns, FRAME_ENDED, 1, now_ns - former_ns, 2_000_000
            probe.events((now_ns, FRAME_BEGAN, 1, 0, 0), ended)
            former_ns = now_ns


def show_capture(shell: Shell) -> None:
    shell.window.open_path(table(_folder_of(shell)))


def show_trace(shell: Shell) -> None:
    shell.window.open_path(trace(_folder_of(shell)))


def show_recording(shell: Shell) -> None:
    shell.window.open_path(record(scene_log("1", 6), _folder_of(shell) / "a.tlrec"))


def show_comparison(shell: Shell) -> None:
    path = table(_folder_of(shell))
    slower = path.with_name("slower.csv")
    slower.write_text(path.read_text(encoding="utf-8").replace("e,18.5", "e,23.5"), "utf-8")
    shell.window.open_path(path)
    settle(shell)
    shell.contents.window_actions.compare([slower])
    view = shell.window.findChild(ComparisonView)
    assert view is not None
    while not view.verdict.text():
        QTest.qWait(_TURN_MS)
    settle(shell)


def show_nothing(_shell: Shell) -> None:
    """Leave the window as it is without a scene."""


STATES: Final[Mapping[str, tuple[Callable[[Shell], None], str | Path | None]]] = {
    "running": (show_running, SMALL_GAME),
    "paused": (show_paused, SMALL_GAME),
    "held": (show_held, SMALL_GAME),
    "stopped": (show_stopped, SMALL_GAME),
    "looking-back": (show_looking_back, SMALL_GAME),
    "timer": (show_timer, SMALL_GAME),
    "two-pauses": (show_two_pauses, SMALL_GAME),
    "frame": (reveal_frame, SMALL_GAME),
    **{f"tray-{panel_id}": (partial(enter_panel, panel_id), SMALL_GAME) for panel_id in _IN_TRAY},
    "palette": (open_palette, SMALL_GAME),
    "no-lanes": (show_no_lanes, SMALL_GAME),
    "failed": (show_failed, None),
    "no-frames": (show_no_frames, None),
    "no-clocks": (show_no_clocks, None),
    "attached": (show_attached, None),
    "capture": (show_capture, None),
    "trace": (show_trace, None),
    "recording": (show_recording, None),
    "comparison": (show_comparison, None),
    "welcome": (show_nothing, None),
}


def _folder_of(shell: Shell) -> Path:
    return shell.settings_file.path.parent


def _written(shell: Shell, name: str, text: str) -> Path:
    path = _folder_of(shell) / name
    path.write_text(text, encoding="utf-8")
    return path


# ---------------------------------------------------------------- taking them


def pictures() -> Iterator[Picture]:
    """Yield what is to be taken."""
    scenes = sorted(resource_path("scenes").glob("*.py"))
    for size, text, theme in product(_SIZES, _TEXTS, _THEMES):
        if size == _SIZES[-1] and text != _TEXTS[0]:
            # Less room than that is not promised.
            continue
        for state, (_, scene) in STATES.items():
            yield Picture(state, scene, size, text, theme)
        for scene in scenes:
            if scene != SMALL_GAME:
                yield Picture("running", scene, size, text, theme)


def take(
    picture: Picture, folder: Path, *, is_high_contrast: bool = False, is_wide_font: bool = False
) -> None:
    """Show a state in a window of its own, and write its picture."""
    application = make_application()
    with TemporaryDirectory() as place:
        SettingsFile(Path(place) / "settings.json").save(
            Settings(theme=picture.theme, text_size=picture.text)
        )
        shell = open_shell(cast("QtBot", Owner()), Path(place), picture.scene, is_dressed=True)
        if is_high_contrast:
            shell.window.theme._on_contrast_changed(Qt.ContrastPreference.HighContrast)
        if is_wide_font:
            font = application.font()
            font.setFamily(_WIDE_FAMILY)
            application.setFont(font)
        shell.window.resize(*picture.size)
        settle(shell)
        show, _ = STATES[picture.state]
        show(shell)
        settle(shell)
        wait_for_numbers(shell)
        # Texts are refreshed in real time.
        QTest.qWait(TEXT_MS)
        # The last of them may have asked for another layout.
        QApplication.processEvents()
        whole = shell.window.grab()
        popup = next(
            (
                each
                for each in application.topLevelWidgets()
                if each.isVisible() and each is not shell.window
            ),
            None,
        )
        if popup is not None:
            # What lies over the window is a window of its own.
            at = shell.window.mapFromGlobal(popup.mapToGlobal(popup.rect().topLeft()))
            painter = QPainter(whole)
            painter.drawPixmap(at, popup.grab())
            painter.end()
            popup.close()
        whole.save(str(folder / f"{picture.name}.png"))
        shell.window.close()
        shell.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.window_states", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="a text in the names of those to take")
    parser.add_argument("--high-contrast", action="store_true")
    parser.add_argument("--wide-font", action="store_true")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = [each for each in pictures() if all(p in each.name for p in options.only.split())]
    for picture in wanted:
        take(
            picture,
            options.folder,
            is_high_contrast=options.high_contrast,
            is_wide_font=options.wide_font,
        )
    sys.stdout.write(f"{len(wanted)} pictures in {options.folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
