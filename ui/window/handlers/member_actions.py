"""The actions on schedulers, targets, calls, components and machines: each asks for a command."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QInputDialog

from inspector.commands.members import (
    MakeTransition,
    ResumeFromPriority,
    SetTimeScale,
    UnscheduleMember,
)
from inspector.display_text import as_plain, one_line
from inspector.vocabulary import RATE_DENOMINATOR, Field

from ...kit.texts.member_texts import UNSCHEDULABLE, machine_transitions
from ...previews.member_needs import machine_for, scheduler_for, selected_member
from ...previews.tree_menus import Requests, ask_priority, member_toggle

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from ...actions.actions import ActionSet
    from ...session.bridge import SessionBridge

_NOTHING_LEADS_AWAY: Final = "(no transition leaves this state)"


class MemberActions(QObject):
    """Carries out the actions on the member that is selected."""

    def __init__(self, bridge: SessionBridge, actions: ActionSet, window: QWidget) -> None:
        """Bind the actions.

        Args:
            bridge: Knows what is selected, and takes commands.
            actions: All actions of the window.
            window: What prompts belong to.
        """
        super().__init__(window)
        self._bridge = bridge
        self._window = window
        actions.bind(self)

    def toggle_member(self) -> None:
        """Pause the selected member, or undo its own pause."""
        member = selected_member(self._bridge.timeline, self._bridge.selection)
        command = None if member is None else member_toggle(member)
        if command is not None:
            self._bridge.submit(command)

    def unschedule_member(self) -> None:
        """Unschedule the selected call, or everything of the selected target."""
        member = selected_member(self._bridge.timeline, self._bridge.selection)
        if member is not None and member.kind in UNSCHEDULABLE:
            self._bridge.submit(UnscheduleMember(member.id))

    def ask_for_priority(self) -> None:
        """Ask from which priority on the scheduler is to be paused."""
        scheduler = scheduler_for(self._bridge.timeline, self._bridge.selection)
        if scheduler is not None:
            ask_priority(
                scheduler, Requests(self._bridge.submit, self._bridge.accepts), self._window
            )

    def resume_from_priority(self) -> None:
        """Undo the last pause from a priority on."""
        scheduler = scheduler_for(self._bridge.timeline, self._bridge.selection)
        if scheduler is not None:
            self._bridge.submit(ResumeFromPriority(scheduler.id))

    def ask_for_time_scale(self) -> None:
        """Ask how fast time is to pass in the scheduler."""
        from ...kit.prompts import RatePrompt  # noqa: PLC0415 - rarely needed

        scheduler = scheduler_for(self._bridge.timeline, self._bridge.selection)
        if scheduler is None:
            return
        number, bridge = scheduler.id, self._bridge
        scale = Fraction(scheduler.fields.get(Field.RATE, RATE_DENOMINATOR), RATE_DENOMINATOR)
        prompt = RatePrompt(scheduler.name, scale, self._window)
        prompt.setWindowTitle(f"Time scale of “{one_line(scheduler.name)}”")
        prompt.rate_requested.connect(lambda rate: bridge.submit(SetTimeScale(number, rate)))
        prompt.open()

    def ask_for_transition(self) -> None:
        """Ask which transition the machine is to make."""
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
        dialog.open()
