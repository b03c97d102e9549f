"""The entries of menus about a clock, a timer, or a member."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import (
    QInputDialog,
    QLineEdit,
    QMenu,
    QSpinBox,
    QToolTip,
    QWidget,
    QWidgetAction,
)

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.command import Command
from inspector.commands.members import (
    MakeTransition,
    PauseFromPriority,
    ResumeFromPriority,
    ResumeMember,
    SetTimeScale,
    UnscheduleMember,
)
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import StepTo
from inspector.display_text import one_line
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.members import MemberState
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind, rate_chip

from ..kit.layouts import fill, without_icons
from ..kit.prompts import RATE_HELP, rate_prompt
from ..kit.range_note import RangeNote
from ..kit.rates import RATE_PRESETS, rate_to_text
from ..kit.texts.member_texts import UNSCHEDULABLE, machine_transitions
from ..kit.theme import Theme
from ..session.bridge import Selection, SessionBridge
from .commands import clock_toggle, is_clock_paused, member_toggle, rate_command
from .preview import Previewer, global_rect, typed_rate_command

_MOST_PRIORITY: Final = 2**31 - 1


class MenuRequests(Struct, frozen=True):
    submit: Callable[[Command], object]  # Ask the session for something
    is_possible: Callable[[Command], bool]  # Whether the session takes such a command

    def add(self, menu: QMenu, title: str, command: Command) -> QAction:
        action = menu.addAction(menu_text(title), partial(self.submit, command))
        action.setEnabled(self.is_possible(command))
        # Previews find the command here while the action is only highlighted.
        action.setData(command)
        return action


def menu_text(text: str) -> str:
    """Return a text with names in it as menus and buttons take it: in one line.

    An ampersand in a name must not become an access key.
    """
    return one_line(text).replace("&", "&&")


def add_clock_actions(
    menu: QMenu, timeline: Timeline, clock_id: int, requests: MenuRequests
) -> QMenu:
    clock = timeline.clocks[clock_id]
    verb = "Resume" if is_clock_paused(timeline, clock) else "Pause"
    requests.add(menu, f"{verb} {clock.name}", clock_toggle(timeline, clock))
    others = [
        each
        for each in (timeline.clocks[clock.parent_id].children if clock.parent_id else ())
        if each != clock_id and not timeline.clocks[each].paused
    ]
    if others:
        title = f"Pause {len(others):,} sibling clocks" if len(others) > 1 else ""
        title = title or f"Pause sibling {timeline.clocks[others[0]].name}"
        action = menu.addAction(menu_text(title), partial(_pause_all, tuple(others), requests))
        action.setEnabled(requests.is_possible(PauseClock(clock_id)))
    rates = menu.addMenu(f"Rate (now {rate_chip(clock.rate_n)})")
    add_rates(rates, clock, requests)
    rates.setEnabled(requests.is_possible(rate_command(clock_id, Fraction(1))))
    return rates


def add_rates(menu: QMenu, clock: ClockState, requests: MenuRequests) -> None:
    """Add the rates that are offered at once; the clock has one of them, or another."""
    group = QActionGroup(menu)
    for rate, text in RATE_PRESETS.items():
        action = requests.add(menu, text, rate_command(clock.id, rate))
        action.setCheckable(True)
        action.setChecked(rate == clock.rate)
        group.addAction(action)


def add_rate_field(
    menu: QMenu, clock: ClockState, requests: MenuRequests, previewer: Previewer
) -> None:
    """Add a field for any rate, with the keyboard; what it would do is shown beside the menu."""
    field, action, clock_id = QLineEdit(rate_to_text(clock.rate)), QWidgetAction(menu), clock.id
    field.setAccessibleName(f"Rate of {clock.name}")
    field.setToolTip(RATE_HELP)
    field.setEnabled(requests.is_possible(rate_command(clock_id, clock.rate)))
    field.selectAll()

    def preview(text: str) -> None:
        command = typed_rate_command(clock_id, text)
        previewer.consider(command, partial(global_rect, menu), is_beside=True)

    def give() -> None:
        command = typed_rate_command(clock_id, field.text())
        if command is None:
            QToolTip.showText(global_rect(field).bottomLeft(), RATE_HELP, field)
        else:
            menu.close()
            requests.submit(command)

    field.textEdited.connect(preview)
    field.returnPressed.connect(give)
    place = QWidget()
    fill(place, field, margins=(8, 4, 8, 4))
    action.setDefaultWidget(place)
    menu.addAction(action)
    menu.aboutToShow.connect(field.setFocus)


def add_timer_actions(
    menu: QMenu,
    timeline: Timeline,
    timer_id: int,
    requests: MenuRequests,
    select: Callable[[Selection], object],
) -> None:
    timer = timeline.timers.row(timer_id)
    clock = timeline.clocks[timer.clock_id]
    due_ns = timeline.session_due_ns(timer_id)
    if due_ns is not None and due_ns > timeline.at_ns:
        requests.add(menu, "Step to it", StepTo(due_ns))
    wanted = Breakpoint(BreakKind.TIMER_FIRES, timer.label)
    requests.add(menu, "Stop when it fires", AddBreakpoint(wanted))
    requests.add(menu, "Fire now", FireTimer(timer_id)).setShortcut("Shift+F")
    requests.add(menu, "Clear", ClearTimer(timer_id)).setShortcut("Del")
    menu.addSeparator()
    add_clock_pause(menu, timeline, clock.id, requests)
    for reason in timeline.pause_reasons(clock.id):
        if not reason.is_own and not reason.is_rate_zero:
            title = f"Resume {reason.clock_name}, which it waits for"
            requests.add(menu, title, ResumeClock(reason.clock_id))
    menu.addAction("Show its clock", partial(select, Selection.clock(clock.id)))


def add_clock_pause(menu: QMenu, timeline: Timeline, clock_id: int, requests: MenuRequests) -> None:
    clock = timeline.clocks[clock_id]
    verb = "Resume" if clock.paused else "Pause"
    requests.add(menu, f"{verb} its clock {clock.name}", clock_toggle(timeline, clock))


def add_member_actions(
    menu: QMenu, timeline: Timeline, number: int, requests: MenuRequests, parent: QWidget
) -> None:
    member = timeline.members.by_id[number]
    toggle = member_toggle(member)
    if toggle is not None:
        verb = "Resume" if isinstance(toggle, ResumeMember) else "Pause"
        requests.add(menu, f"{verb} {member.kind.text} {member.name}", toggle)
    above = timeline.members.by_id.get(member.parent_id)
    if above is not None and above.kind is MemberKind.TARGET:
        whole = member_toggle(above)
        assert whole is not None
        verb = "Resume" if isinstance(whole, ResumeMember) else "Pause"
        requests.add(menu, f"{verb} its target {above.name}", whole)
    if member.kind in UNSCHEDULABLE:
        what = "everything of" if member.kind is MemberKind.TARGET else member.kind.text
        requests.add(menu, f"Unschedule {what} {member.name}", UnscheduleMember(number))
    scheduler = timeline.members.scheduler_of(number)
    if scheduler is not None and scheduler.kind is MemberKind.SCHEDULER:
        _add_scheduler_actions(menu, scheduler, member, requests, parent)
    if member.kind is MemberKind.MACHINE:
        transitions = menu.addMenu("Transition")
        for name, is_allowed in machine_transitions(timeline, member):
            action = requests.add(transitions, name, MakeTransition(number, name))
            action.setEnabled(action.isEnabled() and is_allowed)
        transitions.setEnabled(not transitions.isEmpty())
    if member.kind is MemberKind.EDGE and above is not None:
        requests.add(menu, f"Make {member.name}", MakeTransition(above.id, member.name))


def _add_scheduler_actions(
    menu: QMenu,
    scheduler: MemberState,
    member: MemberState,
    requests: MenuRequests,
    parent: QWidget,
) -> None:
    if Field.PRIORITY in member.fields:
        priority = member.fields[Field.PRIORITY]
        command = PauseFromPriority(scheduler.id, priority)
        requests.add(menu, f"Pause priority {priority} and above", command)
    action = menu.addAction(
        "Pause from a priority …", partial(ask_priority, scheduler, requests, parent)
    )
    action.setEnabled(requests.is_possible(PauseFromPriority(scheduler.id, 0)))
    undo = ResumeFromPriority(scheduler.id)
    requests.add(menu, "Resume what a priority paused", undo)
    if scheduler is member:
        now = scheduler.rate_n
        scales = menu.addMenu(f"Time scale (now {rate_chip(now)})")
        for rate, text in RATE_PRESETS.items():
            action = requests.add(scales, text, SetTimeScale(scheduler.id, rate))
            action.setCheckable(True)
            action.setChecked(int(rate * RATE_DENOMINATOR) == now)


def ask_priority(scheduler: MemberState, requests: MenuRequests, parent: QWidget) -> None:
    """Ask for a priority without blocking the loop."""
    dialog = QInputDialog(parent)
    dialog.setObjectName("priority_prompt")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(f"Pause in {one_line(scheduler.name)}")
    dialog.setLabelText("Pause every target with a priority of at least")
    dialog.setInputMode(QInputDialog.InputMode.IntInput)
    dialog.setIntRange(-_MOST_PRIORITY, _MOST_PRIORITY)
    dialog.setIntValue(1)
    dialog.intValueSelected.connect(
        lambda priority: requests.submit(PauseFromPriority(scheduler.id, priority))
    )
    without_icons(dialog)
    for box in dialog.findChildren(QSpinBox):
        box.setAccessibleName("Priority")
        RangeNote(box)
    dialog.open()


def ask_for_rate(bridge: SessionBridge, clock: ClockState, theme: Theme, parent: QWidget) -> None:
    clock_id = clock.id

    def set_rate(rate: Fraction) -> None:
        bridge.submit(rate_command(clock_id, rate))

    prompt = rate_prompt(f"Rate of {clock.name}", clock.rate, set_rate, theme, parent)
    previewer = Previewer(bridge, prompt)

    def preview(text: str) -> None:
        # Beside the prompt as a whole: the card must not cover its buttons.
        previewer.consider(typed_rate_command(clock_id, text), partial(global_rect, prompt))

    prompt.line.textEdited.connect(preview)
    prompt.finished.connect(previewer.hide)
    prompt.open()


def _pause_all(clock_ids: tuple[int, ...], requests: MenuRequests) -> None:
    for clock_id in clock_ids:
        requests.submit(PauseClock(clock_id))
