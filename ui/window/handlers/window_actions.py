"""The actions on the window itself: scenes, questions, export, view, help; and the menus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QDialog, QFileDialog, QMenu

from inspector.display_text import as_plain
from inspector.foreign.paths import RECORDING_SUFFIX
from inspector.sessions.scene import built_in_scenes

from ...actions.action_list import ACTIONS
from ...actions.menus import MenuId
from ...kit.filter_line import FilterLine
from ..focus import enter
from .menu_previews import MenuPreviews

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from ...kit.theme import ThemeChoice
    from ..dialogs.help_viewer import HelpViewer
    from ..dialogs.keys_page import KeysPage
    from ..main_window import MainWindow
    from .command_palette import CommandPalette

_THEME_CHOICES: dict[str, ThemeChoice] = {"system": "system", "light": "light", "dark": "dark"}


class WindowActions(QObject):
    """Fills the menus, and carries out every action that is not for the session alone.

    Attributes:
        previews: What shows beside the menus what their commands would do.
    """

    def __init__(self, window: MainWindow, top_menus: Mapping[MenuId, QMenu]) -> None:
        """Fill the menus of a window.

        Args:
            window: The window; its bridge and actions are there already.
            top_menus: The empty menus of the menu bar.
        """
        super().__init__(window)
        self._window = window
        self._actions = window.actions_by_id
        self._menus = dict(top_menus)
        self.previews = MenuPreviews(window)
        self._palette: CommandPalette | None = None
        self._keys_page: KeysPage | None = None
        self._help_viewer: HelpViewer | None = None
        self._scene_paths: dict[str, Path] = {}
        self._fill_menus()
        self._actions.bind(self)
        window.docks.visibility_changed.connect(self._show_panel_states)
        self._show_panel_states()
        self._actions.show_choice("set_theme", window.theme.choice)

    # ---------------------------------------------------------------- menus

    def _fill_menus(self) -> None:
        for menu_id in MenuId:
            if menu_id.parent is not None:
                self._menus[menu_id] = QMenu(menu_id.value, self._window)
            self._menus[menu_id].setToolTipsVisible(True)
        for description in ACTIONS:
            menu = self._menus[description.menu]
            if description.starts_section:
                menu.addSeparator()
            menu.addAction(self._actions[description.id])
        after_open = self._actions["reload"]
        for menu_id in MenuId:
            parent = menu_id.parent
            if parent is MenuId.SCENE:
                self._menus[parent].insertMenu(after_open, self._menus[menu_id])
            elif parent is not None:
                self._menus[parent].addMenu(self._menus[menu_id])
        for menu_id in (MenuId.TIME, MenuId.BRANCH, MenuId.TIMER):
            self.previews.watch(self._menus[menu_id])
        # So that shortcuts work whatever menu they are in.
        self._window.addActions(list(self._actions.by_id.values()))
        self._menus[MenuId.BUILT_IN_SCENES].aboutToShow.connect(self._fill_built_in_scenes)
        self._menus[MenuId.RECENT_SCENES].aboutToShow.connect(self._fill_recent_scenes)

    @Slot()
    def _fill_built_in_scenes(self) -> None:
        menu = self._menus[MenuId.BUILT_IN_SCENES]
        menu.clear()
        for scene in built_in_scenes():
            self._add_scene_action(menu, scene.title, scene.path, scene.summary)

    @Slot()
    def _fill_recent_scenes(self) -> None:
        menu = self._menus[MenuId.RECENT_SCENES]
        menu.clear()
        for text in self._window.settings.recent_scenes:
            path = Path(text)
            self._add_scene_action(menu, f"{path.name}   {path.parent}", path, text)
        if menu.isEmpty():
            menu.addAction("No recent scenes").setEnabled(False)

    def _add_scene_action(self, menu: QMenu, title: str, path: Path, tip: str) -> None:
        action = QAction(title.replace("&", "&&"), menu)
        action.setData(str(path))
        action.setToolTip(as_plain(tip))
        action.triggered.connect(self._open_scene_of_action)
        menu.addAction(action)

    @Slot()
    def _open_scene_of_action(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self._window.open_path(Path(action.data()))

    # ---------------------------------------------------------------- scenes

    def open_scene(self) -> None:
        """Ask for a scene file or a recording and open it."""
        recent = self._window.settings.recent_scenes
        folder = str(Path(recent[0]).parent) if recent else str(Path.cwd())
        path, _filter = QFileDialog.getOpenFileName(
            self._window,
            "Open scene or recording",
            folder,
            f"Scenes and recordings (*.py *{RECORDING_SUFFIX});;All files (*)",
        )
        if path:
            self._window.open_path(Path(path))

    def close_window(self) -> None:
        """Close the window; the program ends with it."""
        self._window.close()

    # ---------------------------------------------------------------- questions

    def ask_for_mark(self) -> None:
        """Ask for a text and leave it as a mark."""
        from ...kit.prompts import MarkPrompt  # noqa: PLC0415 - rarely needed

        window = self._window
        prompt = MarkPrompt(window.bridge.timeline.at_ns, window.theme, window)
        prompt.mark_given.connect(window.session_actions.add_mark)
        prompt.open()

    def ask_where_to_go(self) -> None:
        """Ask for a duration to step by or an instant to go to."""
        from ...kit.prompts import GoToPrompt  # noqa: PLC0415 - rarely needed

        window = self._window
        prompt = GoToPrompt(window.bridge.timeline.at_ns, window.theme, window)
        prompt.step_given.connect(window.session_actions.step_by)
        prompt.instant_given.connect(window.session_actions.step_to)
        prompt.open()

    def ask_where_to_look(self) -> None:
        """Ask for an instant of the past to look at."""
        from ...kit.prompts import LookAtPrompt  # noqa: PLC0415 - rarely needed

        window = self._window
        actions = window.session_actions
        prompt = LookAtPrompt(actions.find_place, window.bridge.shown_ns, window.theme, window)
        prompt.place_given.connect(actions.look_at)
        prompt.open()

    def ask_for_rate(self) -> None:
        """Ask for the rate of the selected clock."""
        from ...kit.prompts import RatePrompt  # noqa: PLC0415 - rarely needed

        window = self._window
        clock = window.session_actions.selected_clock
        if clock is None:
            return
        clock_id, bridge = clock.id, window.bridge
        prompt = RatePrompt(clock.name, clock.rate, window)

        def set_rate(rate: Fraction) -> None:
            window.session_actions.set_rate(clock_id, rate)

        def show_rate(_info: object) -> None:
            state = bridge.timeline.clocks.get(clock_id)
            if state is not None:
                prompt.rate_slider.show_rate(state.rate)

        def let_go(_result: int) -> None:
            bridge.refreshed.disconnect(show_rate)

        prompt.rate_requested.connect(set_rate)
        bridge.refreshed.connect(show_rate)
        prompt.finished.connect(let_go)
        prompt.open()

    def edit_frame_rate(self) -> None:
        """Put the keyboard into the field for the frame rate."""
        entry = self._window.transport.frame_rate_entry
        entry.setFocus(Qt.FocusReason.ShortcutFocusReason)
        entry.selectAll()

    # ---------------------------------------------------------------- export

    def export_frames(self) -> None:
        """Open the export dialog for the frames there are now."""
        from .export_setup import choices_of, export_dialog  # noqa: PLC0415 - rarely needed

        window = self._window
        session = window.bridge.session
        if session is None:
            return
        dialog = export_dialog(session, window.frame_times, window.settings, window.theme, window)

        def keep_choices(_result: int) -> None:
            window.settings = replace(window.settings, export_choices=choices_of(dialog))

        dialog.finished.connect(keep_choices)
        dialog.exported.connect(self._show_exported)
        dialog.open()

    @Slot(object)
    def _show_exported(self, path: Path) -> None:
        def open_folder() -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

        window = self._window
        window.settings = replace(window.settings, export_folder=str(path.parent))
        window.notice.show_notice(f"Written: {path}", "Open folder", open_folder)

    # ---------------------------------------------------------------- the view

    def fit(self) -> None:
        """Show the selected frames; press again for all frames."""
        self._window.frame_times.fit()

    def find(self) -> None:
        """Go to the filter of the panel in use, else of the clock tree."""
        docks = self._window.docks
        for panel_id in (docks.panel_in_use(), "clock_tree"):
            lines = docks[panel_id].findChildren(FilterLine) if panel_id else []
            if lines:
                docks[panel_id].show()
                docks[panel_id].raise_()
                lines[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
                lines[0].selectAll()
                return

    def show_palette(self) -> None:
        """Open the command palette."""
        from .command_palette import CommandPalette  # noqa: PLC0415 - likewise
        from .palette_entries import palette_entries  # noqa: PLC0415 - not needed to start

        if self._palette is None:
            self._palette = CommandPalette(self._window)
            self._palette.chosen.connect(self._do_chosen)
        entries, self._scene_paths = palette_entries(self._actions, self._window.settings)
        self._palette.open_with(entries)

    @Slot(str)
    def _do_chosen(self, entry_id: str) -> None:
        path = self._scene_paths.get(entry_id)
        if path is not None:
            self._window.open_path(path)
        else:
            self._actions[entry_id].trigger()

    def toggle_panel(self, panel_id: str) -> None:
        """Show or hide a panel."""
        self._window.docks.toggle(panel_id)

    def focus_next_panel(self) -> None:
        """Put the keyboard into the next panel that can be seen; the middle is one."""
        docks = self._window.docks
        places = ["", *(each for each in docks.ids if docks.is_in_front(each))]
        current = docks.panel_in_use()
        following = places[(places.index(current) + 1) % len(places)]
        enter(docks.panel(following) if following else self._window.middle.currentWidget())

    def use_layout(self, preset_id: str) -> None:
        """Arrange the panels as a preset says."""
        self._window.docks.arrange(preset_id)

    def reset_layout(self) -> None:
        """Put every panel back where it was at first, and the columns of the clock tree."""
        from ...clock_tree.panel import ClockTreePanel  # noqa: PLC0415 - after the first paint

        self._window.docks.arrange("live")
        tree = self._window.docks.panel("clock_tree")
        if isinstance(tree, ClockTreePanel):
            tree.columns.reset()

    def set_theme(self, choice_text: str) -> None:
        """Use another theme from now on."""
        choice = _THEME_CHOICES[choice_text]
        self._window.settings = replace(self._window.settings, theme=choice)
        self._window.theme.set_choice(choice)
        self._actions.show_choice("set_theme", choice)

    @Slot()
    def _show_panel_states(self) -> None:
        docks = self._window.docks
        for panel_id in docks.ids:
            self._actions[f"panel-{panel_id}"].show_checked(not docks[panel_id].isHidden())

    # ---------------------------------------------------------------- help

    def show_keys(self) -> None:
        """Show the keys page."""
        from ..dialogs.keys_page import KeysPage  # noqa: PLC0415 - rarely needed

        if self._keys_page is None:
            self._keys_page = KeysPage(ACTIONS, self._window)
        self._keys_page.filter_line.set_icon(self._window.theme.icon("find"))
        _bring_up(self._keys_page)

    def show_help(self, page: str) -> None:
        """Show a help page."""
        from ..dialogs.help_viewer import HelpViewer  # noqa: PLC0415 - rarely needed

        if self._help_viewer is None:
            self._help_viewer = HelpViewer(self._window)
        self._help_viewer.show_page(page)
        _bring_up(self._help_viewer)

    def show_extensions(self) -> None:
        """Show what installed packages add."""
        from ..extensions import ExtensionsDialog  # noqa: PLC0415 - rarely needed

        dialog = ExtensionsDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_about(self) -> None:
        """Show what this is."""
        from ..dialogs.about import AboutDialog  # noqa: PLC0415 - rarely needed

        window = self._window
        dialog = AboutDialog(window.theme, str(window.settings_file.path), window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()


def _bring_up(dialog: QDialog) -> None:
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
