"""The names that a breakpoint can wait for, and doubts about its own."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.members import TIMED_CALLS
from inspector.events.timeline import Timeline
from inspector.frames.state_machine import ANY
from inspector.vocabulary import Field, MemberKind

#: By kind of breakpoint: what its name refers to; other kinds have no name.
SUBJECTS: Final = {
    BreakKind.TIMER_FIRES: "timer",
    BreakKind.LATENESS_ABOVE: "timer",
    BreakKind.CLOCK_PAUSED: "clock",
    BreakKind.RATE_CHANGED: "clock",
    BreakKind.STATE_ENTERED: "state",
}


def names_to_choose(kind: BreakKind, timeline: Timeline) -> list[str]:
    """Return the names that a breakpoint can wait for at present, in alphabetical order.

    This reads every pending timer, so call it only on request.
    """
    members, strings = timeline.members, timeline.strings
    names: set[str] = set()
    match SUBJECTS.get(kind):
        case "timer":
            names = {strings[label] for label in set(timeline.timers.label)}
            names |= {each.name for each in members.by_id.values() if each.kind in TIMED_CALLS}
        case "clock":
            names = {clock.name for clock in timeline.clocks.values()}
        case "state":
            ends = (Field.SOURCE, Field.TARGET)
            edges = [each.id for each in members.by_id.values() if each.kind is MemberKind.EDGE]
            names = {members.field_text(edge, end) for edge in edges for end in ends}
            histories = members.histories.values()
            names |= {strings[state] for history in histories for state in set(history.state)}
    return sorted(names - {"", ANY})


def doubt_about(breakpoint_: Breakpoint, timeline: Timeline) -> str:
    """Return a sentence if nothing has had the name that a breakpoint waits for, else ``""``.

    The breakpoint may still be right: something with that name may be yet to come.
    """
    wanted = breakpoint_.subject
    # The string table has all names so far.
    if not wanted or wanted in timeline.strings:
        return ""
    what = SUBJECTS[breakpoint_.kind]
    said = f"No {what} has had the name “{wanted}” so far; the breakpoint waits for it."
    names = {name.lower(): name for name in names_to_choose(breakpoint_.kind, timeline)}
    alike = get_close_matches(wanted.lower(), list(names), 1)
    return f"{said} Did you mean “{names[alike[0]]}”?" if alike else said
