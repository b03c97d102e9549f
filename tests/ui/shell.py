"""A whole window on a scene whose time a test moves by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QCursor, QIcon
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.clocks import ManualTimeSource
from inspector.resources import resource_path
from ui.kit.icons import icon_size
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.settings import SettingsFile

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

_PATIENCE_MS = 60_000
#: Of the window, with room for the side column.
SIZE = (1_280, 760)
#: Away from everything that looks different below the pointer.
_NOWHERE = (9_999, 9_999)
#: Icons by theme and name, by their size: drawn once for all windows.
_ICONS: dict[int, dict[tuple[str, str], QIcon]] = {}
SMALL_GAME = resource_path("scenes", "01_small_game.py")

SCENE = """
def build(stage):
    stage.name("played & tested")
    game = stage.root.child("game")
    enemies = game.child("enemies")
    enemies.set_interval(0.5, lambda: None, name="attack")
    stage.root.child("ui").set_interval(0.1, lambda: None, name="blink")
    game.set_timeout(60, lambda: None, name="end")
"""


@dataclass
class Shell:
    """A window with what a test needs to drive it.

    Attributes:
        window: The window, shown and completed.
        contents: What completed it.
        sources: Every time source that was made, the newest last.
        settings_file: Where the window keeps its settings.
    """

    window: MainWindow
    contents: WindowContents
    sources: list[ManualTimeSource]
    settings_file: SettingsFile

    @property
    def bridge(self) -> SessionBridge:
        return self.window.bridge

    def advance(self, seconds: float) -> None:
        """Let time pass and have the window look."""
        self.sources[-1].advance(seconds)
        self.bridge.refresh_now()

    def pass_frames(self, count: int) -> None:
        """Let frames pass at 60 a second, and have the window look after the last."""
        for _ in range(count):
            self.sources[-1].advance(1 / 60)
        self.bridge.refresh_now()

    def open(self, folder: Path, scene: str | Path | None) -> None:
        """Open a scene, its text written into a folder, and have everything laid out."""
        # Jumps are over at once.
        self.window.frame_times.view.slide_ms = self.window.panels.reveal.ms = 0
        if scene is None:
            self.bridge.set_session(None)
        elif isinstance(scene, str):
            path = folder / "scene.py"
            path.write_text(scene, encoding="utf-8")
            self.window.open_path(path)
        else:
            self.window.open_path(scene)
        QApplication.processEvents()
        # One turn may not be enough where other events come first, and without it no layout is
        # saved.
        while not self.window.panels.is_settled:
            QApplication.processEvents()

    def activate(self) -> None:
        """Give the window the keyboard, which may take some turns of the event loop."""
        self.window.activateWindow()
        assert QTest.qWaitForWindowActive(self.window, _PATIENCE_MS)

    def trigger(self, action_id: str) -> None:
        """Do what a menu, a key or the palette does, and have the window look."""
        action = self.window.actions_by_id[action_id]
        assert action.isEnabled(), action.reason
        action.trigger()
        self.bridge.refresh_now()

    def clock_id(self, name: str) -> int:
        """Return the number of the clock of that name."""
        clocks = self.bridge.timeline.clocks.values()
        return next(clock.id for clock in clocks if clock.name == name)


def open_shell(
    qtbot: QtBot,
    folder: Path,
    scene: str | Path | None = SCENE,
    *,
    is_wide: bool = True,
    is_dressed: bool = False,
) -> Shell:
    """Return a window that is shown, completed, and has opened a scene.

    Args:
        qtbot: Closes the window after the test.
        folder: Where scene and settings are.
        scene: Text or path of the scene, ``None`` for no scene.
        is_wide: Whether there is room for the side column, unless the settings have a size.
        is_dressed: Whether it has its own fonts and style, which tests that do not look are
            faster without.
    """
    make_application()
    if is_dressed:
        QCursor.setPos(*_NOWHERE)
    settings_file = SettingsFile(folder / "settings.json")
    settings = settings_file.load()
    theme = Theme(settings.theme)
    window = MainWindow(theme, settings_file, settings)
    qtbot.addWidget(window)
    sources: list[ManualTimeSource] = []

    def make_source(_precision: object) -> ManualTimeSource:
        sources.append(ManualTimeSource())
        return sources[-1]

    if is_wide and not settings.geometry:
        window.resize(*SIZE)
    window.show()
    if is_dressed:
        window.dress()
    # As large as the text of the window, which it has only now.
    theme._icons = _ICONS.setdefault(icon_size(), {})
    contents = WindowContents(window, SessionBridge(make_source=make_source))
    shell = Shell(window, contents, sources, settings_file)
    shell.open(folder, scene)
    return shell
