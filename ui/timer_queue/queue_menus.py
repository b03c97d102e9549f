"""The context menu of the queue: what can be done with a call of a member."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from inspector.events.timeline import Timeline
from inspector.vocabulary import MemberKind

from ..previews.tree_menus import Requests, add_clock_pause, add_member_actions
from ..session.bridge import Selection

_SHOWN_ABOVE = {
    MemberKind.TARGET: "Show its target",
    MemberKind.SCHEDULER: "Show its scheduler",
    MemberKind.TICKER: "Show its ticker",
    MemberKind.CHILD_CLOCK: "Show its child clock",
}


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
        add_clock_pause(menu, timeline, clock_id, requests)
    for above in members.path(number)[1:]:
        title = _SHOWN_ABOVE.get(above.kind)
        if title is not None:
            menu.addAction(title, partial(select, Selection.member(above.id)))
    if clock_id in timeline.clocks:
        menu.addAction("Show its clock", partial(select, Selection.clock(clock_id)))
