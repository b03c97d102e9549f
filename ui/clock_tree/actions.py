"""The actions on what is selected in the clock tree: each asks for a command."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QInputDialog, QWidget

from inspector.commands.members import MakeTransition, SetTimeScale
from inspector.display_text import as_plain, one_line
from inspector.vocabulary import RATE_DENOMINATOR, Field

from ..actions.actions import ActionSet
from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..kit.layouts import without_icons
from ..kit.prompts import rate_prompt
from ..kit.texts.member_texts import machine_transitions
from ..kit.theme import Theme
from ..selected.commands import is_clock_paused, machine_for, scheduler_for, selected_clock
from ..selected.menus import MenuRequests, ask_for_rate, ask_priority, menu_text
from ..session.bridge import SessionBridge

_NOTHING_LEADS_AWAY: Final = "(no transition leaves this state)"


class BranchActions(QObject):
    def __init__(
        self, bridge: SessionBridge, actions: ActionSet, theme: Theme, window: QWidget
    ) -> None:
        super().__init__(window)
        self._theme = theme
        self._bridge = bridge
        self._window = window
        self._action = actions["pause-branch"]
        for changed in (bridge.session_changed, bridge.facts_due, bridge.selection_changed):
            changed.connect(self._refresh_state)
        self._refresh_state()

    def ask_for_rate(self) -> None:
        bridge = self._bridge
        clock = selected_clock(bridge.timeline, bridge.selection)
        if clock is not None:
            ask_for_rate(bridge, clock, self._theme, self._window)

    @Slot(object)
    def _refresh_state(self, _news: object = None) -> None:
        timeline = self._bridge.timeline
        clock = selected_clock(timeline, self._bridge.selection)
        is_paused = clock is not None and is_clock_paused(timeline, clock)
        self._action.set_checked(is_paused)
        if clock is None:
            self._action.set_text(self._action.description.title)
        else:
            verb = "Resume" if is_paused else "Pause"
            self._action.set_text(f"{verb} {menu_text(clock.name)}")

    def ask_for_priority(self) -> None:
        scheduler = scheduler_for(self._bridge.timeline, self._bridge.selection)
        if scheduler is not None:
            ask_priority(
                scheduler, MenuRequests(self._bridge.submit, self._bridge.accepts), self._window
            )

    def ask_for_time_scale(self) -> None:
        scheduler = scheduler_for(self._bridge.timeline, self._bridge.selection)
        if scheduler is None:
            return
        number, bridge = scheduler.id, self._bridge
        scale = Fraction(scheduler.rate_n, RATE_DENOMINATOR)
        title = f"Time scale of {scheduler.name}"

        def set_scale(rate: Fraction) -> None:
            bridge.submit(SetTimeScale(number, rate))

        rate_prompt(title, scale, set_scale, self._theme, self._window).open()

    def ask_for_transition(self) -> None:
        timeline, bridge = self._bridge.timeline, self._bridge
        machine = machine_for(timeline, bridge.selection)
        if machine is None:
            return
        number = machine.id
        allowed = [name for name, can_be in machine_transitions(timeline, machine) if can_be]
        state = timeline.members.field_text(number, Field.STATE)
        dialog = QInputDialog(self._window)
        dialog.setObjectName("transition_prompt")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(f"Transition of “{one_line(machine.name)}”")
        dialog.setLabelText(as_plain(f"Transition from “{state}”"))
        dialog.setComboBoxItems(allowed or [_NOTHING_LEADS_AWAY])
        dialog.setComboBoxEditable(False)

        def make(name: str) -> None:
            if name in allowed:
                bridge.submit(MakeTransition(number, name))

        dialog.textValueSelected.connect(make)
        without_icons(dialog)
        dialog.open()


BRANCH_ACTIONS: Final[tuple[ActionDescription[BranchActions], ...]] = (
    ActionDescription(
        "pause-branch", "&Pause or resume branch", MenuId.BRANCH,
        shortcuts=("P",), icon="pause-branch", needs=Needs.CLOCK_PAUSE, is_checkable=True,
        tip="Pause the selected clock with everything below it, or undo its own pause.",
    ),
    ActionDescription(
        "set-rate", "Set &rate …", MenuId.BRANCH, BranchActions.ask_for_rate,
        shortcuts=("R",), icon="rate", needs=Needs.CLOCK_RATE,
        tip="Set the rate of the selected clock.",
    ),
)  # fmt: skip

TIMER_ACTIONS: Final[tuple[ActionDescription[BranchActions], ...]] = (
    ActionDescription(
        "clear-timer", "&Clear timer", MenuId.TIMER,
        shortcuts=("Del",), icon="clear-timer", needs=Needs.TIMER,
        tip="Cancel the selected timer; it will not fire again.",
    ),
    ActionDescription(
        "fire-timer", "&Fire timer now", MenuId.TIMER,
        shortcuts=("Shift+F",), icon="fire-timer", needs=Needs.FIRED_TIMER,
        tip="Call the selected timer now; a repeating timer keeps its schedule.",
    ),
)  # fmt: skip

MEMBER_ACTIONS: Final[tuple[ActionDescription[BranchActions], ...]] = (
    ActionDescription(
        "pause-member", "&Pause or resume selection", MenuId.MEMBER,
        shortcuts=("Shift+P",), needs=Needs.PAUSABLE_MEMBER,
        tip="Pause the selected target, call, component or ticker, or undo its own pause.",
    ),
    ActionDescription(
        "unschedule-member", "&Unschedule call or target", MenuId.MEMBER,
        needs=Needs.CALL,
        tip="Unschedule the selected call, or everything of the selected target.",
    ),
    ActionDescription(
        "pause-from-priority", "Pause &from a priority …", MenuId.MEMBER,
        BranchActions.ask_for_priority,
        needs=Needs.SCHEDULER, starts_section=True,
        tip="Pause every target of the scheduler with at least a given priority.",
    ),
    ActionDescription(
        "resume-from-priority", "&Resume what a priority paused", MenuId.MEMBER,
        needs=Needs.SCHEDULER,
        tip="Undo the last pause from a priority on.",
    ),
    ActionDescription(
        "time-scale", "Set time &scale …", MenuId.MEMBER, BranchActions.ask_for_time_scale,
        needs=Needs.SCHEDULER,
        tip="Set how fast time passes in the scheduler.",
    ),
    ActionDescription(
        "make-transition", "&Make transition …", MenuId.MEMBER, BranchActions.ask_for_transition,
        needs=Needs.MACHINE, starts_section=True,
        tip="Choose a transition that leaves the machine's current state.",
    ),
)  # fmt: skip
