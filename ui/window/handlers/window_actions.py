"""The actions on the window itself: scenes, questions, export, view, help; and the menus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu
from typing_extensions import override

from inspector.display_text import as_plain
from inspector.foreign.paths import RECORDING_SUFFIX, is_capture_name
from inspector.sessions.scene import built_in_scenes
from inspector.window_loader import open_beside

from ...actions.menus import MenuId
from ...kit.filter_line import FilterLine
from ...kit.fonts import FontChoice, TextSize
from ...kit.guards import guarded
from ...kit.table.column_choices import forget_columns
from ...kit.theme import ThemeChoice
from ...kit.throttled_refresh import is_in_sight
from ...selected.commands import commands_of_actions
from ...selected.preview import Previewer
from ..dialogs.replacing import replace_session
from ..focus import enter
from ..status_line import Notice
from .action_states import Reports

if TYPE_CHECKING:
    from inspector.analysis.statistics.runs import ComparedRun

    from ...export.export_dialog import ExportDialog
    from ...scene.panel import ScenePanel
    from ...timeline.panel import TimelinePanel
    from ..main_window import MainWindow
    from .window_dialogs import WindowDialogs


_CAPTURES: Final = "*.csv *.json *.hml *.log *.txt *.gz *.zip *.pftrace *.perfetto-trace"
_FILES: Final = ";;".join(
    (
        f"Scenes, recordings and captures (*.py *{RECORDING_SUFFIX} {_CAPTURES})",
        f"Scenes and recordings (*.py *{RECORDING_SUFFIX})",
        "All files (*)",
    )
)
#: Settings key of whether the user was told where the table of clocks is.
_MOVED: Final = "clock_tree.moved"
#: The action before which a menu has its submenus; other menus have them at the end.
_SUBMENUS_BEFORE: Final = {MenuId.SCENE: "reload", MenuId.HELP: "keys"}


class WindowActions(QObject):
    """Fills the menus, and carries out every action that is not for the session alone."""

    # The user wants to compare files, with what is open or with each other
    comparison_wanted = Signal(object, bool)  # list[Path], whether the session comes first
    moved = Signal(str)  # Something is in another place than before; where

    def __init__(self, window: MainWindow, top_menus: Mapping[MenuId, QMenu]) -> None:
        super().__init__(window)
        self._window = window
        self._actions = window.actions_by_id
        self._menus = dict(top_menus)
        self.previews = MenuPreviews(window)
        self._fill_menus()
        window.panels.visibility_changed.connect(self._check_panel_states)
        self._check_panel_states()
        self._actions.set_choice(MenuId.THEME, window.theme.choice)
        self._check_font()
        self._actions["menu-bar"].set_checked(window.menu_bar.is_kept)

    @cached_property
    def dialogs(self) -> WindowDialogs:
        # Imported late: the window itself has no formatted texts, lists or trees.
        from .window_dialogs import WindowDialogs  # noqa: PLC0415

        dialogs = WindowDialogs(self._window)
        dialogs.scene_chosen.connect(self.open_here)
        dialogs.open_requested.connect(self.open_scene)
        dialogs.comparison_chosen.connect(self.comparison_wanted)
        return dialogs

    # ---------------------------------------------------------------- menus

    def _fill_menus(self) -> None:
        for menu_id in MenuId:
            if menu_id.parent is not None:
                self._menus[menu_id] = QMenu(menu_id.value, self._window)
            self._menus[menu_id].setToolTipsVisible(True)
        for action in self._actions.by_id.values():
            menu = self._menus[action.description.menu]
            if action.description.starts_section:
                menu.addSeparator()
            menu.addAction(action)
        # The menu is empty unless a package adds a time source.
        sources = self._menus[MenuId.TIME_SOURCE]
        sources.menuAction().setVisible(not sources.isEmpty())
        for menu_id in MenuId:
            parent = menu_id.parent
            if parent in _SUBMENUS_BEFORE:
                before = self._actions[_SUBMENUS_BEFORE[parent]]
                self._menus[parent].insertMenu(before, self._menus[menu_id])
            elif parent is not None:
                self._menus[parent].addMenu(self._menus[menu_id])
        for menu_id in (MenuId.TIME, MenuId.BRANCH, MenuId.TIMER):
            self.previews.watch(self._menus[menu_id])
        self._menus[MenuId.BUILT_IN_SCENES].aboutToShow.connect(self._fill_built_in_scenes)
        self._menus[MenuId.RECENT_SCENES].aboutToShow.connect(self._fill_recent_scenes)
        self._window.panels.tabs.more_menu.aboutToShow.connect(self._fill_more)

    @Slot()
    def _fill_more(self) -> None:
        """Offer the panels that have no tab now."""
        tabs = self._window.panels.tabs
        tabs.more_menu.clear()
        tabs.more_menu.addActions([self._actions[f"panel-{each}"] for each in tabs.under_more])

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
        self.open_here(Path(action.data()))

    # ---------------------------------------------------------------- scenes

    @Slot(object)
    def open_here(self, path: Path) -> None:
        """Open a file in place of the session; ask first if something would be lost."""
        window = self._window
        replace_session(
            window.bridge.session,
            partial(window.open_path, path),
            window,
            partial(open_beside, path),
        )

    def open_scene(self) -> None:
        """Ask for scenes, recordings and captures, and open them."""
        self.open_all(self.asked_for("Open; two captures are compared"))

    def open_all(self, paths: Sequence[Path]) -> None:
        """Open files; several captures are compared with each other."""
        if len(paths) > 1 and all(map(is_capture_name, paths)):
            self.compare(paths, has_session=False)
        else:
            self.open_each(paths)

    def open_each(self, paths: Sequence[Path]) -> None:
        """Open the first file here, the others in windows of their own."""
        for number, path in enumerate(paths):
            if number:
                open_beside(path)
            else:
                self.open_here(path)

    def close_session(self) -> None:
        window = self._window
        close = partial(window.bridge.set_session, None)
        replace_session(window.bridge.session, close, window, verb="&Close")

    def compare_with(self) -> None:
        is_beside = self._window.bridge.session is not None
        self.compare(self.asked_for("Compare with" if is_beside else "Compare"))

    def compare(self, paths: Iterable[Path], *, has_session: bool = True) -> None:
        if paths := list(paths):
            self.comparison_wanted.emit(paths, has_session)

    def open_in_new_window(self) -> None:
        """Ask for scenes, recordings and captures, and open each in a window of its own."""
        for path in self.asked_for("Open in a new window"):
            open_beside(path)

    def asked_for(self, title: str) -> list[Path]:
        recent = self._window.settings.recent_scenes
        folder = str(Path(recent[0]).parent) if recent else str(Path.cwd())
        paths, _filter = QFileDialog.getOpenFileNames(self._window, title, folder, _FILES)
        return [Path(path) for path in paths]

    def close_window(self) -> None:
        self._window.close()

    # ---------------------------------------------------------------- export

    def export_frames(self, format_name: str = "") -> None:
        """Open the export dialog for the frames there are now, or a comparison; as last chosen."""
        shown: object = self._window.middle.currentWidget()
        if isinstance(shown, Reports):
            shown.ask_for_report()
            return
        # Imported late: graphs, fonts and file formats take half as long as a first paint.
        from .export_setup import export_dialog  # noqa: PLC0415

        window = self._window
        session = window.bridge.session
        if session is None:
            return
        self._open_export(
            export_dialog(
                *(session, window.frame_times, window.settings, window.theme, window),
                format_name=format_name,
            )
        )

    def export_figure(self, runs: Sequence[ComparedRun], folder: Path) -> None:
        from .export_setup import figure_dialog  # noqa: PLC0415 - as above

        window = self._window
        self._open_export(figure_dialog(runs, folder, window.settings, window.theme, window))

    def _open_export(self, dialog: ExportDialog) -> None:
        from .export_setup import choices_of  # noqa: PLC0415 - as above

        window = self._window

        def keep_choices(_result: int) -> None:
            window.settings = window.settings._replace(export_choices=choices_of(dialog))

        dialog.finished.connect(keep_choices)
        dialog.exported.connect(self._report_export)
        dialog.open()

    def export_timeline(self) -> None:
        self.export_frames("Timeline PNG")

    def export_scene(self) -> None:
        panels = self._window.panels
        panels.enter_panel("scene")
        cast("ScenePanel", panels.panel("scene")).ask_for_export()

    @Slot(object)
    def _report_export(self, path: Path) -> None:
        def open_path(wanted: Path) -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(wanted)))

        window = self._window
        window.settings = window.settings._replace(export_folder=str(path.parent))
        actions = (
            ("Open it", str(path), partial(open_path, path)),
            ("Open folder", str(path.parent), partial(open_path, path.parent)),
        )
        window.notice.set_notice(Notice(f"Written: {path.name}", actions))

    # ---------------------------------------------------------------- the view

    def fit(self) -> None:
        self._window.frame_times.fit()

    def find(self) -> None:
        """Go to the filter of the panel in use, else of the lanes."""
        panels = self._window.panels
        panel_id = panels.panel_in_use()
        lines = panels.panel(panel_id).findChildren(FilterLine) if panel_id else []
        if lines:
            lines[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
            lines[0].selectAll()
            return
        panels.in_middle.show()
        cast("TimelinePanel", panels.panel("timeline")).show_filter()

    def toggle_panel(self, panel_id: str) -> None:
        self._window.panels.toggle(panel_id)

    def toggle_column(self) -> None:
        panels = self._window.panels
        panels.show_column(is_shown=not panels.is_column_shown)

    def enlarge_scene(self) -> None:
        middle, panel = self._window.middle, self._scene_panel
        if panel.is_enlarged:
            middle.setCurrentIndex(0)
        elif middle.currentIndex() <= 0:
            panel.enlarge(middle)

    def put_scene_back(self) -> bool:
        """Put back what is enlarged; returns whether anything was."""
        is_enlarged = self._scene_panel.is_enlarged
        if is_enlarged:
            self._window.middle.setCurrentIndex(0)
        return is_enlarged

    @property
    def _scene_panel(self) -> ScenePanel:
        return cast("ScenePanel", self._window.panels.panel("scene"))

    def enter_headers(self) -> None:
        """Enter the lanes; say once that the table of clocks, which had this key, has moved."""
        window, choices = self._window, self._window.bridge.panel_choices
        window.panels.enter_panel("timeline")
        if choices.get(_MOVED) != "told":
            choices[_MOVED] = "told"
            self.moved.emit("Clocks are the headers of the lanes. Their table is under More.")

    def toggle_menu_bar(self) -> None:
        """Keep the menu bar visible, or show it only after Alt."""
        is_kept = not self._window.menu_bar.is_kept
        self._window.settings = self._window.settings._replace(menu_bar=is_kept)
        self._window.menu_bar.keep(is_kept=is_kept)
        self._actions["menu-bar"].set_checked(is_kept)

    def close_panel(self) -> None:
        panels = self._window.panels
        if panel_id := panels.panel_in_use():
            panels.hide_panel(panel_id)

    def float_panel(self) -> None:
        panels = self._window.panels
        if panel_id := panels.panel_in_use():
            panels.float_panel(panel_id)

    def focus_next_part(self) -> None:
        self._focus_part(1)

    def focus_previous_part(self) -> None:
        self._focus_part(-1)

    def _focus_part(self, step: int) -> None:
        """Put the keyboard into another part of the window, or a panel that is one itself."""
        focused = QApplication.focusWidget() or self._window
        parts = [each for each in self._window.parts if is_in_sight(each)]
        within = (each is focused or each.isAncestorOf(focused) for each in parts)
        at = next((place for place, is_in in enumerate(within) if is_in), -1 if step > 0 else 0)
        part = parts[(at + step) % len(parts)]
        enter(part)
        part.activateWindow()

    def reset_view(self) -> None:
        self._window.panels.reset()
        forget_columns(self._window, self._window.bridge.panel_choices)

    def set_theme(self, choice: ThemeChoice) -> None:
        self._window.settings = self._window.settings._replace(theme=choice)
        self._window.theme.set_choice(choice)
        self._actions.set_choice(MenuId.THEME, choice)

    def set_text_size(self, percent: TextSize) -> None:
        self._window.settings = self._window.settings._replace(text_size=percent)
        self._window.apply_font()
        self._check_font()

    def set_font(self, choice: FontChoice) -> None:
        self._window.settings = self._window.settings._replace(font=choice)
        self._window.apply_font()
        self._check_font()

    def _check_font(self) -> None:
        settings = self._window.settings
        self._actions.set_choice(MenuId.TEXT_SIZE, str(settings.text_size))
        self._actions.set_choice(MenuId.FONT, settings.font)

    @Slot()
    def _check_panel_states(self) -> None:
        panels = self._window.panels
        for panel_id in panels.ids:
            self._actions[f"panel-{panel_id}"].set_checked(panels.is_open(panel_id))
        self._actions["side-column"].set_checked(panels.is_column_shown)


@guarded
class MenuPreviews(QObject):
    """Tells the actions of menus which command they would give, and previews it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.previewer = Previewer(window.bridge, window)

    def watch(self, menu: QMenu) -> None:
        """Preview the commands of a menu and of those below it while they are highlighted."""
        self._watch_showing(menu)
        self.previewer.watch(menu)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let no tooltip of a menu lie over the card; the card says more."""
        return event.type() == QEvent.Type.ToolTip and self.previewer.card.isVisible()

    def _watch_showing(self, menu: QMenu) -> None:
        menu.aboutToShow.connect(partial(self._assign_commands, menu))
        for action in menu.actions():
            below = action.menu()
            if isinstance(below, QMenu):
                self._watch_showing(below)

    def _assign_commands(self, menu: QMenu) -> None:
        """Give each action of a menu that is about to open its command."""
        # Only now: menus hear of every change of an action.
        menu.installEventFilter(self)
        commands = commands_of_actions(self._window.bridge)
        for action in menu.actions():
            if action.objectName():
                action.setData(commands.get(action.objectName()))
