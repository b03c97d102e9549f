"""The list of all actions, of which menus, palette and keys page are made; those on the window."""

from __future__ import annotations

from typing import Any, Final

from inspector.extensions import Panel

from ...actions.descriptions import ActionDescription, Needs
from ...actions.menus import MenuId
from ...actions.panels import PANELS
from ...bookmarks.annotation_actions import ANNOTATION_ACTIONS
from ...clock_tree.actions import BRANCH_ACTIONS, MEMBER_ACTIONS, TIMER_ACTIONS
from ...help.contents import CONTENTS, PageEntry
from ...interventions.intervention_undo import UNDO_ACTIONS
from ...kit.fonts import TEXT_SIZES, FontChoice, TextSize
from ...kit.theme import ThemeChoice
from ...transport.action_list import (
    FOLLOW_ACTIONS,
    HOW_TIME_PASSES_ACTIONS,
    RELOAD_ACTIONS,
    TIME_ACTIONS,
)
from ...transport.recording_actions import RECORDING_ACTIONS
from .program_actions import ProgramActions
from .window_actions import WindowActions

# Tables, to be read across.
# fmt: off

def _panel(number: int, panel: Panel) -> ActionDescription[WindowActions]:
    return ActionDescription(
        f"panel-{panel.id}", panel.title, MenuId.PANELS,
        lambda actions: actions.toggle_panel(panel.id),
        # Only nine panels can have one; Ctrl+1, for the table of clocks, now enters the headers
        # of the lanes.
        shortcuts=(f"Ctrl+{number}",) if 1 < number <= len("123456789") else (),
        choice=panel.id, is_checkable=True, starts_section=number == 1,
        tip=f"Show the panel and enter it, or hide it if you are in it: {panel.summary}",
    )


def _theme(choice: ThemeChoice, title: str, icon: str = "") -> ActionDescription[WindowActions]:
    return ActionDescription(
        f"theme-{choice}", title, MenuId.THEME, lambda actions: actions.set_theme(choice),
        icon=icon, choice=choice, is_checkable=True,
    )


def _text_size(percent: TextSize) -> ActionDescription[WindowActions]:
    title = f"{percent} %" if percent else "As in the system"
    return ActionDescription(
        f"text-size-{percent}", title, MenuId.TEXT_SIZE,
        lambda actions: actions.set_text_size(percent), choice=str(percent), is_checkable=True,
    )


def _font(choice: FontChoice, title: str) -> ActionDescription[WindowActions]:
    return ActionDescription(
        f"font-{choice}", title, MenuId.FONT, lambda actions: actions.set_font(choice),
        choice=choice, is_checkable=True,
    )


def _help(page: PageEntry) -> ActionDescription[WindowActions]:
    return ActionDescription(
        f"help-{page.name}", page.title, MenuId.HELP_PAGES,
        lambda actions: actions.dialogs.open_help(page.name), choice=page.name,
    )


OPEN_ACTIONS: Final[tuple[ActionDescription[WindowActions], ...]] = (
    ActionDescription(
        "open", "&Open file …", MenuId.SCENE, WindowActions.open_scene,
        shortcuts=("Ctrl+O",), icon="open",
        tip="Choose a Python file that defines build(stage), a recording (.tlrec), or a capture "
        "of another program; they can also be dropped on the window.",
    ),
    ActionDescription(
        "open-beside", "Open in &new window …", MenuId.SCENE, WindowActions.open_in_new_window,
        shortcuts=("Ctrl+Alt+O",),
        tip="Open scenes, recordings or captures beside what is open, each in its own window.",
    ),
    ActionDescription(
        "compare", "Comp&are with …", MenuId.SCENE, WindowActions.compare_with,
        tip="Compare captures and recordings with what is open: plots, distributions, and whether "
        "they are faster or slower.",
    ),
    ActionDescription(
        "gallery", "&Gallery …", MenuId.SCENE,
        lambda actions: actions.dialogs.open_gallery(),
        tip="Show the built-in scenes with their pictures, and open one.",
    ),
)

PROGRAM_ACTIONS: Final = (
    ActionDescription(
        "open-program", "Open &program …", MenuId.SCENE, ProgramActions.open_program,
        shortcuts=("Ctrl+Shift+O",), icon="open",
        tip="Run any command line with a probe inside, to see and control its time.",
    ),
    ActionDescription(
        "detach", "Detac&h", MenuId.SCENE, ProgramActions.detach, needs=Needs.PROGRAM,
        starts_section=True,
        tip="Let the attached programs go: they continue at their own speed.",
    ),
    ActionDescription(
        "end-program", "End progra&m", MenuId.SCENE, ProgramActions.end_program,
        needs=Needs.PROGRAM,
        tip="End the program that was opened here.",
    ),
    ActionDescription(
        "show-frames-of", "Show &frames of this clock", MenuId.BRANCH,
        ProgramActions.choose_loop, needs=Needs.PROGRAM_CLOCK,
        tip="Show the frame times of the selected loop of a program, past ones too; those of the "
        "other loops are kept.",
    ),
)

LEAVE_ACTIONS: Final = (
    ActionDescription(
        "export", "&Export …", MenuId.SCENE, WindowActions.export_frames,
        shortcuts=("Ctrl+E",), icon="export", needs=Needs.EXPORT,
        tip="Export what is open as a graph, a table, a report, a page to explore or a trace.",
    ),
    ActionDescription(
        "export-timeline", "E&xport the timeline …", MenuId.SCENE, WindowActions.export_timeline,
        needs=Needs.FRAMES,
        tip="Export frame times and lanes on one axis as a picture: PNG, SVG or PDF.",
    ),
    ActionDescription(
        "export-scene", "Export the scene's p&icture …", MenuId.SCENE, WindowActions.export_scene,
        needs=Needs.PAST,
        tip="Export the scene's picture as shown: PNG, SVG or PDF.",
    ),
    ActionDescription(
        "close-session", "C&lose", MenuId.SCENE, WindowActions.close_session,
        shortcuts=("Ctrl+W",), needs=Needs.SESSION,
        tip="Close the scene, program or file; the window stays, and offers what to open.",
    ),
    ActionDescription(
        "quit", "&Quit", MenuId.SCENE, WindowActions.close_window,
        shortcuts=("Ctrl+Q",), icon="quit", starts_section=True,
    ),
)

FIT_ACTIONS: Final = (
    ActionDescription(
        "fit", "&Fit", MenuId.VIEW, WindowActions.fit,
        shortcuts=("F", "Home"), icon="fit",
        tip="Show the selected frames; press again for all frames.",
    ),
)

VIEW_ACTIONS: Final = (
    ActionDescription(
        "find", "Fi&nd", MenuId.VIEW, WindowActions.find,
        shortcuts=("Ctrl+F", "/"), icon="find",
        tip="Filter the active panel, else the lanes.",
    ),
    ActionDescription(
        "palette", "Find &anything …", MenuId.VIEW,
        lambda actions: actions.dialogs.open_palette(),
        shortcuts=("Ctrl+K",), icon="find", label="Find anything",
        tip="Find clocks, timers, times, commands and panels by typing part of their names.",
    ),
    ActionDescription(
        "palette-commands", "&Commands …", MenuId.VIEW,
        lambda actions: actions.dialogs.open_palette(">"),
        shortcuts=("Ctrl+Shift+P",), icon="command",
        tip="Find any command by typing part of its name.",
    ),
    ActionDescription(
        "next-panel", "Ne&xt part", MenuId.PANELS, WindowActions.focus_next_part,
        shortcuts=("F6",),
        tip="Move the keyboard focus to the next part of the window.",
    ),
    ActionDescription(
        "previous-panel", "&Previous part", MenuId.PANELS, WindowActions.focus_previous_part,
        shortcuts=("Shift+F6",),
        tip="Move the keyboard focus to the previous part of the window.",
    ),
    ActionDescription(
        "lane-headers", "&Headers of the lanes", MenuId.PANELS, WindowActions.enter_headers,
        shortcuts=("Ctrl+1",),
        tip="Move the keyboard focus to the lanes, whose headers are the clocks and timers.",
    ),
    ActionDescription(
        "close-panel", "&Close panel", MenuId.PANELS, WindowActions.close_panel,
        shortcuts=("Shift+Esc",),
        tip="Hide the panel that has the keyboard focus.",
    ),
    ActionDescription(
        "float-panel", "&Make it a window, or put it back", MenuId.PANELS,
        WindowActions.float_panel,
        tip="Make the panel of the tray that has the keyboard focus a window of its own, or put it "
        "back.",
    ),
    *(
        _panel(number, panel)
        for number, panel in enumerate((each for each in PANELS if each.area is not None), 1)
    ),
    ActionDescription(
        "side-column", "&Side column", MenuId.VIEW, WindowActions.toggle_column,
        shortcuts=("Ctrl+Shift+B",), icon="side-column", is_checkable=True,
        tip="Show or hide the scene and Why beside the time axis.",
    ),
    ActionDescription(
        "enlarge-scene", "Scene as &large as the frames", MenuId.VIEW,
        WindowActions.enlarge_scene,
        tip="Show the picture of the scene in place of the frames, or put it back.",
    ),
    ActionDescription(
        "menu-bar", "&Menu bar", MenuId.VIEW, WindowActions.toggle_menu_bar, is_checkable=True,
        tip="Keep the menu bar above the window; without it, Alt shows it until a choice is made.",
    ),
    ActionDescription(
        "reset-view", "&Reset", MenuId.VIEW, WindowActions.reset_view,
        tip="Close the tray, show the side column, and restore the columns of the tables.",
    ),
    _theme("system", "&Follow the system", "theme"),
    _theme("light", "&Light"),
    _theme("dark", "&Dark"),
    *map(_text_size, TEXT_SIZES),
    _font("inter", "&Inter, with digits of equal width"),
    _font("system", "That of the &system"),
)

HELP_ACTIONS: Final = (
    ActionDescription(
        "help", "&Help on this panel", MenuId.HELP,
        lambda actions: actions.dialogs.open_help_on_panel(),
        shortcuts=("F1",), icon="help", tip="Open the help page of the panel that has the focus.",
    ),
    ActionDescription(
        "help-search", "&Contents and search", MenuId.HELP,
        lambda actions: actions.dialogs.search_help(),
        shortcuts=("Ctrl+F1",), tip="List the pages of help, and search through them.",
    ),
    ActionDescription(
        "keys", "&Keys", MenuId.HELP,
        lambda actions: actions.dialogs.open_keys(),
        shortcuts=("?",), icon="keys", starts_section=True,
    ),
    ActionDescription(
        "extensions", "&Installed extensions", MenuId.HELP,
        lambda actions: actions.dialogs.open_extensions(),
        tip="What installed packages add, and why some of it does not work.",
    ),
    ActionDescription(
        "about", "&About Timeline Inspector", MenuId.HELP,
        lambda actions: actions.dialogs.open_about(),
        icon="about",
    ),
    *(_help(page) for _, pages in CONTENTS for page in pages),
)

WINDOW_ACTIONS: Final = (
    *OPEN_ACTIONS, *LEAVE_ACTIONS, *FIT_ACTIONS, *VIEW_ACTIONS, *HELP_ACTIONS,
)
TRANSPORT_ACTIONS: Final = (
    *RELOAD_ACTIONS, *TIME_ACTIONS, *HOW_TIME_PASSES_ACTIONS, *FOLLOW_ACTIONS,
)

#: In the order of the menus.
ACTIONS: Final[tuple[ActionDescription[Any], ...]] = (
    *OPEN_ACTIONS, *PROGRAM_ACTIONS[:1], *RELOAD_ACTIONS, *RECORDING_ACTIONS,
    *PROGRAM_ACTIONS[1:3], *LEAVE_ACTIONS,
    *TIME_ACTIONS, *UNDO_ACTIONS, *HOW_TIME_PASSES_ACTIONS, *ANNOTATION_ACTIONS,
    *BRANCH_ACTIONS, *PROGRAM_ACTIONS[3:], *TIMER_ACTIONS, *MEMBER_ACTIONS,
    *FIT_ACTIONS, *FOLLOW_ACTIONS, *VIEW_ACTIONS, *HELP_ACTIONS,
)
