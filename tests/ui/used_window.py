"""A window that one test after another uses, each with a session of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QApplication, QWidget

from tests.patient_qtbot import OUTLIVES_TESTS
from tests.ui.shell import SCENE, SIZE, Shell, open_shell
from ui.window import first_run
from ui.window.settings import Settings, SettingsFile

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


#: Opens the usual scene or another one in a window, or none.
Lend = Callable[..., Shell]


class UsedWindow:
    """Lends a window to one test after another, which takes half the time of a new one.

    Each opens another session in it, with the layout of a first start. A window that was closed,
    or of which something was set that the window keeps, is not used again.
    """

    def __init__(self) -> None:
        self._is_kept = True
        self._shell: Shell | None = None

    def addWidget(self, _window: QWidget) -> None:  # noqa: N802 - in place of pytest-qt
        """Have the window not closed by pytest-qt."""

    def lend(
        self, folder: Path, scene: str | Path | None = SCENE, size: tuple[int, int] | None = None
    ) -> Shell:
        """Return a window on a scene, as ``open_shell`` does."""
        settings_file = SettingsFile(folder / "settings.json")
        if self._shell is None or settings_file.path.exists():
            shell = open_shell(cast("QtBot", self), folder, scene)
            if size is not None:
                shell.window.resize(*size)
            return shell
        shell, self._shell = self._shell, None
        window = shell.window
        window.setProperty(OUTLIVES_TESTS, None)
        window.settings, window.settings_file = Settings(), settings_file
        shell.settings_file = settings_file
        window.resize(*(size or SIZE))
        window.panels.restore("")
        window.notice.dismiss()
        # Without another window in between, Qt does not see that it comes to the front again.
        with closing(QWidget()) as anywhere:
            anywhere.show()
        window.show()
        shell.bridge.kept_breakpoints.clear()
        shell.open(folder, scene)
        window.frame_times.plot.setFocus()
        return shell

    def give_back(self, shell: Shell) -> None:
        """Keep a window for the next test, unless it was closed or has other settings now."""
        window = shell.window
        # The first steps of a newcomer, of which a test may have made some.
        shell.bridge.panel_choices.pop(first_run._CHOICE, None)
        others = [each for each in QApplication.topLevelWidgets() if each is not window]
        for each in others:
            each.close()
        # Plots of pyqtgraph have menus that are not the window's, and are deleted after each test.
        is_alone = all(each.parent() for each in others)
        if self._is_kept and is_alone and window.isVisible() and _settings(shell) == Settings():
            shell.bridge.set_session(None)
            window.hide()
            window.setProperty(OUTLIVES_TESTS, True)
            self._shell = shell
        else:
            _delete(window)

    def keep(self, *, is_kept: bool) -> None:
        """Choose whether windows are kept for the next test."""
        self._is_kept = is_kept
        if self._shell is not None and not is_kept:
            self._shell.window.setProperty(OUTLIVES_TESTS, None)
            _delete(self._shell.window)
            self._shell = None


def _delete(window: QWidget) -> None:
    """Close a window and have it deleted before menus that belong to it without being its own."""
    window.close()
    window.deleteLater()


def _settings(shell: Shell) -> Settings:
    """Return what the window would keep, but for what is read each time from its settings."""
    kept = shell.contents._settings_to_save()
    return kept._replace(
        recent_scenes=(),
        recent_programs=(),
        scene_breakpoints={},
        export_folder="",
        export_choices={},
        geometry="",
        layout="",
    )
