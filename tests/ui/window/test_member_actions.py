"""What can be done with the selected scheduler, call, component or machine, without a mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from inspector.vocabulary import RATE_DENOMINATOR, Field
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.kit.prompts import Prompt
from ui.session.bridge import Selection

SCENE = """
from inspector.frames.state_machine import Edge

class Thing:
    def __init__(self, name):
        self.name = name
    def update(self, delta):
        pass
    def tick(self, seconds):
        pass

def build(stage):
    game = stage.root.child("game")
    scheduler = stage.scheduler(game, name="fights")
    things = [Thing("ship"), Thing("boss")]
    scheduler.schedule_update(things[0], 1)
    scheduler.schedule_update(things[1], 5)
    scheduler.schedule(things[1].tick, 0.5, target=things[1], name="shoot")
    edges = {"start": Edge("menu", "playing"), "stop": Edge("playing", "menu")}
    stage.kept = things, stage.state_machine("menu", edges, clock=game, name="flow")
"""


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SCENE)
    shell.advance(0.1)
    shell.trigger("run-or-hold")
    shell.advance(0.1)
    return shell


def _number(shell: Shell, name: str) -> int:
    members = shell.bridge.timeline.members.by_id.values()
    return next(member.id for member in members if member.name == name and member.kind != 13)


def _select(shell: Shell, name: str) -> int:
    number = _number(shell, name)
    shell.bridge.select(Selection.member(number))
    return number


def _is_paused(shell: Shell, name: str) -> bool:
    return shell.bridge.timeline.members.by_id[_number(shell, name)].is_paused


def _prompt(shell: Shell, action_id: str) -> QInputDialog:
    shell.trigger(action_id)
    prompts = [each for each in shell.window.findChildren(QInputDialog) if each.isVisible()]
    assert len(prompts) == 1
    return prompts[0]


def test_that_actions_say_what_has_to_be_selected(shell: Shell) -> None:
    shell.bridge.select(Selection.clock(1))
    actions = shell.window.actions_by_id
    reasons = {
        each: actions[each].reason
        for each in ("pause-member", "unschedule-member", "time-scale", "make-transition")
    }

    assert reasons == {
        "pause-member": "no target, call, component or ticker is selected",
        "unschedule-member": "no call or target is selected",
        "time-scale": "no scheduler, and nothing that belongs to one, is selected",
        "make-transition": "no state machine is selected",
    }
    _select(shell, "fights")
    assert actions["time-scale"].isEnabled()
    assert not actions["pause-member"].isEnabled()
    _select(shell, "shoot")
    assert actions["time-scale"].isEnabled()
    assert actions["pause-member"].isEnabled()
    assert actions["unschedule-member"].isEnabled()
    _select(shell, "start")
    assert actions["make-transition"].isEnabled()


def test_that_a_target_is_paused_and_resumed(shell: Shell) -> None:
    _select(shell, "boss")

    shell.trigger("pause-member")
    was_paused = _is_paused(shell, "boss")
    shell.trigger("pause-member")

    assert was_paused
    assert not _is_paused(shell, "boss")


def test_that_a_call_is_taken_back(shell: Shell) -> None:
    number = _select(shell, "shoot")

    shell.trigger("unschedule-member")

    assert number not in shell.bridge.timeline.members.by_id
    assert not shell.window.actions_by_id["unschedule-member"].isEnabled()


def test_that_everything_from_a_priority_on_is_paused_and_exactly_that_resumed(
    shell: Shell,
) -> None:
    _select(shell, "boss")
    prompt = _prompt(shell, "pause-from-priority")
    prompt.setIntValue(5)
    prompt.accept()
    shell.bridge.refresh_now()
    paused = [_is_paused(shell, name) for name in ("ship", "boss")]

    shell.trigger("resume-from-priority")

    assert paused == [False, True]
    assert not _is_paused(shell, "boss")


def test_that_the_time_scale_is_asked_for(shell: Shell, qtbot: QtBot) -> None:
    number = _select(shell, "fights")

    shell.trigger("time-scale")
    prompt = next(each for each in shell.window.findChildren(Prompt) if each.isVisible())
    assert prompt.windowTitle() == "Time scale of fights"
    prompt.line.selectAll()
    qtbot.keyClicks(prompt.line, "1/4")
    qtbot.keyClick(prompt.line, Qt.Key.Key_Return)
    shell.bridge.refresh_now()

    member = shell.bridge.timeline.members.by_id[number]
    assert member.fields[Field.RATE] == RATE_DENOMINATOR // 4


def test_that_only_transitions_from_the_present_state_are_offered(shell: Shell) -> None:
    number = _select(shell, "flow")

    prompt = _prompt(shell, "make-transition")
    offered = prompt.comboBoxItems()
    prompt.accept()
    shell.bridge.refresh_now()

    assert offered == ["start"]
    members = shell.bridge.timeline.members
    assert members.field_text(number, Field.STATE) == "playing"
    assert _prompt(shell, "make-transition").comboBoxItems() == ["stop"]


def test_that_the_clock_of_a_selected_call_can_be_paused(shell: Shell) -> None:
    _select(shell, "shoot")
    title = shell.window.actions_by_id["pause-branch"].text()

    shell.trigger("pause-branch")

    assert title == "Pause game"
    assert shell.bridge.timeline.clocks[shell.clock_id("game")].paused
