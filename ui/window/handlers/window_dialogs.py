"""The dialogs and windows that actions on the window open; loaded when the first is wanted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from inspector.errors import InspectorError
from inspector.sessions.scene import built_in_scenes
from inspector.sessions.session import SessionStatus

from ...actions.panels import panel_around
from ...help.contents import CONTENTS, WINDOW_PAGE
from ...help.pages import anchor_of
from ...help.viewer import HelpViewer
from ...kit.layouts import bring_up
from ...statistics.zone_sums import ZoneSumsWindow
from ..dialogs.about import AboutDialog, ExtensionsDialog
from ..dialogs.gallery import GalleryDialog
from ..dialogs.keys_page import KeysPage
from ..dialogs.scene_error import SceneErrorDialog, SceneErrorView
from .palette_dialog import CommandPalette
from .palette_entries import palette_entries
from .palette_finds import PaletteFinder

if TYPE_CHECKING:
    from ..main_window import MainWindow

_FIRST_PAGE: Final = CONTENTS[0][1][0].name


class WindowDialogs(QObject):
    """Opens dialogs, each with what it shows of the window."""

    scene_chosen = Signal(object)  # Path: the user wants to open a file in place of the session
    open_requested = Signal()  # The user wants to choose a file
    # The user wants to compare files, with what is open or with each other
    comparison_chosen = Signal(object, bool)  # list[Path], whether the session comes first

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._actions = window.actions_by_id
        self._palette: CommandPalette | None = None
        self._keys_page: KeysPage | None = None
        self._help_viewer: HelpViewer | None = None

    def open_gallery(self) -> None:
        dialog = GalleryDialog(built_in_scenes(), self._window)
        dialog.gallery.scene_chosen.connect(self.scene_chosen)
        dialog.open()

    def open_palette(self, text: str = "") -> None:
        window = self._window
        if self._palette is None:
            self._palette = CommandPalette(window.theme, window)
        entries = palette_entries(self._actions, window.settings, self.scene_chosen.emit)
        finder = PaletteFinder(window, self.comparison_chosen.emit)
        self._palette.open_with(entries, finder.find, text)

    def open_sums(self, path: Path) -> None:
        window = self._window
        try:
            ZoneSumsWindow(path, window.bridge.panel_choices, window.theme, window).show()
        except (InspectorError, OSError) as error:
            window.notice.show_lasting(str(error))

    def error_view(self) -> SceneErrorView:
        """Return a view that shows why a scene could not be loaded, with buttons that work."""
        view = SceneErrorView(self._window.theme, offers_scenes=True)
        view.scene_chosen.connect(self.scene_chosen)
        view.reload_requested.connect(self._window.bridge.reload)
        view.open_requested.connect(self.open_requested)
        return view

    def open_failed_file(self, status: SessionStatus, path: Path) -> None:
        """Show why a file could not be opened beside what is open."""
        dialog = SceneErrorDialog(status, self._window.theme, self._window)
        dialog.view.reload_requested.connect(partial(self._window.open_path, path))
        dialog.view.open_requested.connect(self.open_requested)
        dialog.open()

    def open_keys(self) -> None:
        if self._keys_page is None:
            descriptions = [each.description for each in self._actions.by_id.values()]
            self._keys_page = KeysPage(descriptions, self._window)
        self._keys_page.filter_line.set_icons(self._window.theme)
        bring_up(self._keys_page)

    def open_help(self, page: str, section: str = "") -> HelpViewer:
        if self._help_viewer is None:
            self._help_viewer = HelpViewer(self._window.theme, self._window)
        # Show it first: where a section begins depends on the width of the page.
        bring_up(self._help_viewer)
        self._help_viewer.open_page(page, section)
        return self._help_viewer

    def open_help_on_panel(self) -> None:
        """Show what help says about the panel that has the focus, else about getting started."""
        panel = panel_around(QApplication.focusWidget())
        if panel is None:
            self.open_help(_FIRST_PAGE)
        else:
            self.open_help(WINDOW_PAGE, anchor_of(panel.title))

    def search_help(self) -> None:
        viewer = self._help_viewer
        if viewer is None:
            viewer = self.open_help(_FIRST_PAGE)
        bring_up(viewer)
        viewer.focus_search()

    def open_extensions(self) -> None:
        dialog = ExtensionsDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def open_about(self) -> None:
        window = self._window
        dialog = AboutDialog(window.theme, str(window.settings_file.path), window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
