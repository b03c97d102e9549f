"""The context menus of the queue: what can be done with a timer, and with a call of a member."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from inspector.commands.clocks import ResumeClock
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.events.timeline import Timeline
from inspector.vocabulary import MemberKind

from ..previews.selected import clock_toggle
from ..previews.tree_menus import Requests, add_member_actions
from ..session.bridge import Selection

_SHOWN_ABOVE = {
    MemberKind.TARGET: "Show its target",
    MemberKind.SCHEDULER: "Show its scheduler",
    MemberKind.TICKER: "Show its ticker",
    MemberKind.CHILD_CLOCK: "Show its child clock",
}


def add_timer_actions(
    menu: QMenu,
    timeline: Timeline,
    timer_id: int,
    requests: Requests,
    select: Callable[[Selection], object],
) -> None:
    timer = timeline.timers.row(timer_id)
    clock = timeline.clocks[timer.clock_id]
    requests.add(menu, "Fire now", FireTimer(timer_id))
    requests.add(menu, "Clear", ClearTimer(timer_id))
    menu.addSeparator()
    _add_clock_pause(menu, timeline, clock.id, requests)
    for reason in timeline.pause_reasons(clock.id):
        if not reason.is_own and not reason.is_rate_zero:
            title = f"Resume “{reason.clock_name}”, which it waits for"
            requests.add(menu, title, ResumeClock(reason.clock_id))
    menu.addAction("Show its clock", partial(select, Selection.clock(clock.id)))


def add_member_call_actions(
    menu: QMenu,
    timeline: Timeline,
    number: int,
    requests: Requests,
    select: Callable[[Selection], object],
) -> None:
    panel = menu.parentWidget()
    assert panel is not None, "the menu of a panel"
    add_member_actions(menu, timeline, number, requests, panel)
    menu.addSeparator()
    members = timeline.members
    clock_id = members.by_id[number].clock_id
    if clock_id in timeline.clocks:
        _add_clock_pause(menu, timeline, clock_id, requests)
    for above in members.path(number)[1:]:
        title = _SHOWN_ABOVE.get(above.kind)
        if title is not None:
            menu.addAction(title, partial(select, Selection.member(above.id)))
    if clock_id in timeline.clocks:
        menu.addAction("Show its clock", partial(select, Selection.clock(clock_id)))


def _add_clock_pause(menu: QMenu, timeline: Timeline, clock_id: int, requests: Requests) -> None:
    clock = timeline.clocks[clock_id]
    verb = "Resume" if clock.paused else "Pause"
    requests.add(menu, f"{verb} its clock “{clock.name}”", clock_toggle(timeline, clock))
