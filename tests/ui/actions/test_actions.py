"""Actions as data: everything is found in a menu, has its keys, and says why it cannot be done."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QToolButton

from inspector.resources import resource_path
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.actions.actions import ActionSet
from ui.actions.descriptions import ActionDescription, ActionFacts, Needs, why_not
from ui.actions.menus import MenuId
from ui.kit.theme import Theme
from ui.session.bridge import Selection
from ui.window.handlers.action_list import ACTIONS
from ui.window.handlers.palette_entries import PaletteEntry, palette_entries
from ui.window.handlers.palette_matching import matching_entries
from ui.window.settings import Settings

EXPECTED_KEYS = {
    "run-or-hold": ["Space"],
    "step": [".", "F10"],
    "step-n": ["Shift+."],
    "next-timer": ["N"],
    "step-back": [","],
    "rewind": ["Shift+,"],
    "look-at": ["Ctrl+Shift+G"],
    "look-frame-back": ["Alt+Left"],
    "look-frame-on": ["Alt+Right"],
    "look-timer-back": ["Alt+Shift+Left"],
    "look-timer-on": ["Alt+Shift+Right"],
    "look-live": ["Alt+End"],
    "redo": ["Ctrl+Shift+Z", "Ctrl+Y"],
    "slower": ["-"],
    "faster": ["+", "="],
    "normal-rate": ["0"],
    "fit": ["F", "Home"],
    "mark": ["M"],
    "find": ["Ctrl+F", "/"],
    "palette-commands": ["Ctrl+Shift+P"],
    "keys": ["?"],
    "follow": ["End", "L"],
    "open": ["Ctrl+O"],
    "reload": ["F5", "Ctrl+Shift+R"],
    "export": ["Ctrl+E"],
    "pause-branch": ["P"],
    "set-rate": ["R"],
    "clear-timer": ["Del"],
    "fire-timer": ["Shift+F"],
    "undo": ["Ctrl+Z"],
    "bookmark": ["B"],
    "note": ["Shift+B"],
    "name-range": ["Ctrl+B"],
    "look-bookmark-back": ["Alt+PgUp"],
    "look-bookmark-on": ["Alt+PgDown"],
    "quit": ["Ctrl+Q"],
    "step-by": ["Ctrl+G"],
    "record": ["Ctrl+R"],
    "open-beside": ["Ctrl+Alt+O"],
    "open-program": ["Ctrl+Shift+O"],
    "save-last": ["Ctrl+Shift+S"],
    "step-back-n": ["Alt+,"],
    "pause-member": ["Shift+P"],
    "next-panel": ["F6"],
    "close-panel": ["Shift+Esc"],
    "help": ["F1"],
    "help-search": ["Ctrl+F1"],
    "palette": ["Ctrl+K"],
    # The table of clocks had this one; it says so, once.
    "lane-headers": ["Ctrl+1"],
    "panel-scene": ["Ctrl+2"],
    "panel-details": ["Ctrl+3"],
    "panel-timer_queue": ["Ctrl+4"],
    "panel-event_list": ["Ctrl+5"],
    "panel-findings": ["Ctrl+6"],
    "panel-timeline": ["Ctrl+7"],
    "panel-frame_spans": ["Ctrl+8"],
    "panel-state_machines": ["Ctrl+9"],
}


def test_that_every_action_has_a_name_of_its_own() -> None:
    assert not [each for each, count in Counter(a.id for a in ACTIONS).items() if count > 1]
    assert not [each for each, count in Counter(a.full_title for a in ACTIONS).items() if count > 1]


def test_that_no_key_does_two_things() -> None:
    keys = Counter(QKeySequence(key).toString() for a in ACTIONS for key in a.shortcuts)

    assert not [key for key, count in keys.items() if count > 1]


@pytest.mark.parametrize(("action_id", "keys"), EXPECTED_KEYS.items())
def test_that_keys_stay_what_they_were_and_are_in_other_tools(
    action_id: str, keys: list[str]
) -> None:
    description = next(each for each in ACTIONS if each.id == action_id)

    portable = [QKeySequence(key).toString() for key in description.shortcuts]
    assert portable == keys


def test_that_every_action_of_a_window_is_carried_out(lend: Lend) -> None:
    shell = lend()

    actions = shell.window.actions_by_id.by_id
    assert list(actions) == [each.id for each in ACTIONS]
    assert not [name for name, action in actions.items() if not action.is_bound]


def test_that_every_icon_is_there() -> None:
    for description in ACTIONS:
        if description.icon:
            assert resource_path("icons", f"{description.icon}.svg").is_file(), description.id


def test_that_access_keys_are_unambiguous_within_a_menu() -> None:
    letters: Counter[tuple[MenuId, str]] = Counter()
    for description in ACTIONS:
        _before, sign, after = description.title.partition("&")
        if sign:
            letters[description.menu, after[0].lower()] += 1
    for menu in MenuId:
        if menu.parent is not None:
            letters[menu.parent, menu.value.partition("&")[2][0].lower()] += 1

    assert not [key for key, count in letters.items() if count > 1]


def test_that_every_action_is_in_a_menu_and_in_the_palette(lend: Lend) -> None:
    shell = lend()

    in_menus = {
        action.objectName()
        for menu in shell.window.findChildren(QMenu)
        for action in menu.actions()
    }
    entries = all_entries(shell)

    ids = {description.id for description in ACTIONS}
    assert ids <= in_menus
    assert ids - {"palette", "palette-commands"} <= {entry.id for entry in entries}


def all_entries(shell: Shell) -> list[PaletteEntry]:
    return palette_entries(shell.window.actions_by_id, Settings(), print)


def palette_titles(shell: Shell, pattern: str) -> list[str]:
    """Return what the palette finds for a pattern, the best first."""
    entries = all_entries(shell)
    return [entry.title for entry in matching_entries(pattern, entries)]


def test_that_titles_in_the_palette_can_be_understood_without_their_menu(lend: Lend) -> None:
    shell = lend()
    entries = all_entries(shell)
    titles = {entry.id: entry.title for entry in entries}

    assert titles["failure-pause-branch"] == "When a callback fails: pause its branch"
    assert titles["precision-fine"] == "Time source precision: fine"
    assert titles["frame-rate-120"] == "Frame rate: 120 frames per second"
    assert titles["frame-rate-exact"] == "Other frame rate …"
    assert titles["theme-dark"] == "Theme: dark"
    assert titles["panel-clock_tree"] == "Show Clocks"
    assert titles["step"] == "Step one frame"


def test_that_pause_finds_the_selected_branch_before_what_follows_a_failure(lend: Lend) -> None:
    shell = lend()
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))

    found = palette_titles(shell, "pause")

    assert found[0] == "Pause or resume branch"


def test_that_the_name_of_a_panel_finds_it_before_a_change_of_the_frame_rate(lend: Lend) -> None:
    shell = lend()

    found = palette_titles(shell, "frame")

    assert found[0] == "Show Frame"
    assert "Frame rate: 120 frames per second" in found


def test_that_what_needs_a_selection_is_found_after_what_can_be_done(lend: Lend) -> None:
    shell = lend()

    found = palette_titles(shell, "pau")

    possible = found.index("When a callback fails: pause its branch")
    assert possible < found.index("Pause or resume branch")


def test_that_the_name_of_a_panel_finds_the_panel_first(lend: Lend) -> None:
    shell = lend()

    assert palette_titles(shell, "frame")[0] == "Show Frame"


def test_that_tooltips_say_the_keys(lend: Lend) -> None:
    shell = lend()

    for action in shell.window.actions_by_id.by_id.values():
        for keys in action.description.shortcut_texts:
            assert keys in action.toolTip()


@pytest.mark.parametrize(
    ("needs", "facts", "reason"),
    [
        (Needs.NOTHING, ActionFacts(), ""),
        (Needs.STEP, ActionFacts(), "no scene is open"),
        (Needs.STEP, ActionFacts(has_session=True), "not possible in this session"),
        (Needs.STEP, ActionFacts(has_session=True, possible=frozenset({Needs.STEP})), ""),
        (
            Needs.STEP,
            ActionFacts(has_session=True, has_failed=True, possible=frozenset({Needs.STEP})),
            "the scene could not be loaded",
        ),
        (
            Needs.RELOAD,
            ActionFacts(has_session=True, has_failed=True, possible=frozenset({Needs.RELOAD})),
            "",
        ),
        (
            Needs.CLOCK_RATE,
            ActionFacts(has_session=True, possible=frozenset({Needs.CLOCK_RATE})),
            "no clock is selected; click one, or one of its timers",
        ),
        (
            Needs.TIMER,
            ActionFacts(has_session=True, possible=frozenset({Needs.TIMER})),
            "no pending timer is selected",
        ),
        (Needs.FRAMES, ActionFacts(has_session=True), "no frame has run yet"),
        (Needs.FRAMES, ActionFacts(has_session=True, has_frames=True), ""),
    ],
)
def test_that_what_is_not_possible_says_why(needs: Needs, facts: ActionFacts, reason: str) -> None:
    found = why_not(needs, facts)

    assert found.startswith(reason)
    assert bool(found) == bool(reason)


class _Target:
    def __init__(self) -> None:
        self.calls = 0

    def go(self) -> None:
        self.calls += 1


def _described(**changes: object) -> ActionDescription[_Target]:
    values = {"id": "x", "title": "&X", "menu": MenuId.VIEW, "callback": _Target.go, **changes}
    return ActionDescription(**values)  # type: ignore[arg-type]


def _action_set(*descriptions: ActionDescription[_Target]) -> ActionSet:
    parent = QAction()
    actions = ActionSet(parent, descriptions)
    actions.setParent(None)
    return actions


@pytest.mark.usefixtures("qapp")
def test_that_an_action_is_off_until_it_is_carried_out() -> None:
    described = _described()
    actions = _action_set(described)
    target = _Target()

    actions["x"].trigger()
    actions.bind(target, [described])
    actions["x"].trigger()

    assert target.calls == 1


@pytest.mark.usefixtures("qapp")
def test_that_one_choice_of_a_menu_is_checked() -> None:
    choices = [_described(id=each, choice=each, is_checkable=True) for each in ("a", "b")]
    actions = _action_set(*choices, _described(id="c", choice="b"))

    actions.set_choice(MenuId.VIEW, "b")

    assert [actions[each].isChecked() for each in "abc"] == [False, True, False]


@pytest.mark.usefixtures("qapp")
def test_that_a_check_mark_follows_what_is_shown_and_not_the_click() -> None:
    described = _described(is_checkable=True)
    actions = _action_set(described)
    actions.bind(_Target(), [described])
    action = actions["x"]

    action.trigger()
    after_click = action.isChecked()
    action.set_checked(True)
    action.trigger()

    assert not after_click
    assert action.isChecked()


@pytest.mark.usefixtures("qapp")
def test_that_icons_of_menus_alone_are_drawn_in_the_next_turn() -> None:
    actions = _action_set(_described(icon="run"))

    actions.set_icons(Theme("light"))
    is_drawn_at_once = not actions["x"].icon().isNull()
    QApplication.processEvents()

    assert not is_drawn_at_once
    assert not actions["x"].icon().isNull()


@pytest.mark.usefixtures("qapp")
def test_that_icons_are_drawn_anew_in_another_theme() -> None:
    actions = _action_set(_described(icon="run"))
    button = QToolButton()
    button.setDefaultAction(actions["x"])
    theme = Theme("light")
    actions.set_icons(theme)
    light = actions["x"].icon().pixmap(20, 20).toImage()

    theme.set_choice("dark")
    actions.set_icons(theme)

    assert actions["x"].icon().pixmap(20, 20).toImage() != light
