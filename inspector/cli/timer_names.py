"""Finds a timer or member by name or number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import text_of
from inspector.errors import ArgumentError
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.foreign.numbers import count_in
from inspector.timebase import format_instant
from inspector.vocabulary import MEMBER_ADDED, TIMER_ADDED, MemberKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.events.history import History
    from inspector.events.timeline import Timeline

#: Limit of candidates listed.
_MOST_LISTED: Final = 12
_MEMBER_PREFIX: Final = "member:"
#: Longest number of a timer, in digits.
_MOST_DIGITS: Final = 19


class NoSuchTimerError(ArgumentError):
    """Nothing has the name, or more than one timer or member."""


@dataclass(frozen=True, slots=True)
class Match:
    """The timer or member found.

    Attributes:
        number: Number of the timer or member.
        is_member: Whether it is a member.
        note: A sentence on others with the same name, or nothing.
    """

    number: int
    is_member: bool = False
    note: str = ""


def find_timer(history: History, timeline: Timeline, text: str) -> Match:
    """Find a timer or member by number or name.

    Args:
        history: The past.
        timeline: The state in which to search.
        text: A number, ``member:5``, a name, or the beginning of one.

    Raises:
        NoSuchTimerError: There is none, or more than one; the message lists them.
    """
    wanted = text.strip()
    if not wanted:
        message = "The name of the timer is empty. Give a name or a number."
        raise NoSuchTimerError(message)
    if wanted.isdecimal():
        return _numbered(history, wanted, is_member=False)
    if wanted.lower().startswith(_MEMBER_PREFIX) and wanted[len(_MEMBER_PREFIX) :].isdecimal():
        return _numbered(history, wanted[len(_MEMBER_PREFIX) :], is_member=True)
    names, present = _names(history, timeline)
    phases = {name for name, (timers, members) in names.items() if not timers and members}
    phases = {name for name in phases if _are_phases(present, names[name][1])}
    others = [name for name in names if name not in phases]
    matching = _matching(others, list(phases), wanted)
    if not matching:
        timers_first = sorted(others, key=lambda name: not names[name][0])
        known = ", ".join(f"“{name}”" for name in timers_first[:_MOST_LISTED])
        message = f"There is no timer “{wanted}”."
        message += f" There are {known}." if known else " No timer was ever set."
        raise NoSuchTimerError(message)
    if len(matching) > 1:
        listed = ", ".join(f"“{name}”" for name in matching[:_MOST_LISTED])
        message = f"“{wanted}” could be one of {len(matching)} names: {listed}. Give more of it."
        raise NoSuchTimerError(message)
    name = matching[0]
    timers, members = names[name]
    if timers:
        return _one_timer(timeline, name, timers)
    # Without a present one, a former one is taken.
    so_called = [number for number in members if present.name_of(number) == name]
    return _one_member(timeline, name, so_called or list(members))


def _numbered(history: History, digits: str, *, is_member: bool) -> Match:
    """Find a timer or member by number.

    Raises:
        NoSuchTimerError: None ever had it, as far as events are kept.
    """
    what = "member" if is_member else "timer"
    # Longer numbers do not exist.
    number = count_in(digits) or 0
    base = history.state_before(history.first)
    there = base.members.by_id if is_member else base.timers
    added = MEMBER_ADDED if is_member else TIMER_ADDED
    events = history.events(history.first, history.end)
    is_known = number in there or any(event[1] == added and event[2] == number for event in events)
    # Events no longer in the log are explained as such.
    if not is_known and (not history.first or not number):
        shown = digits if len(digits) < _MOST_DIGITS else f"{digits[:_MOST_DIGITS]}…"
        message = f"This session never had a {what} of the number {shown}."
        raise NoSuchTimerError(message)
    return Match(number, is_member=is_member)


def _names(
    history: History, timeline: Timeline
) -> tuple[dict[str, tuple[list[int], dict[int, None]]], MemberNames]:
    """Return the timers and members that have had each name, and the members' last names."""
    names: dict[str, tuple[list[int], dict[int, None]]] = {}
    base = history.state_before(history.first)
    members = MemberNames(history.strings, base.members.by_id.values())
    for timer_id in base.timers.ids():
        names.setdefault(base.timers.row(timer_id).label, ([], {}))[0].append(timer_id)
    for member in base.members.by_id.values():
        names.setdefault(member.name, ([], {}))[1][member.id] = None
    for event in history.events(history.first, history.cursor_at(timeline.at_ns)):
        if event[1] == TIMER_ADDED:
            names.setdefault(text_of(history, event[4]), ([], {}))[0].append(event[2])
        elif event[1] in MEMBER_NAMING_KINDS and (known := members.note(event)) is not None:
            names.setdefault(known.name, ([], {}))[1][event[2]] = None
    return names, members


def _are_phases(present: MemberNames, members: Iterable[int]) -> bool:
    """Return whether all members are phases of a component director."""
    known = map(present.get, members)
    return all(each is not None and each.kind is MemberKind.PHASE for each in known)


def _matching(names: list[str], phases: list[str], wanted: str) -> list[str]:
    """Return the matching names: equal, or else beginning so, or else containing it.

    Every component director has phases such as “update” and “timers”; a part of such a name
    matches only if it is not part of another name.
    """
    folded = wanted.casefold()

    def same(name: str) -> bool:
        return name == wanted

    def same_but_for_case(name: str) -> bool:
        return name.casefold() == folded

    def begins_so(name: str) -> bool:
        return name.casefold().startswith(folded)

    def contains(name: str) -> bool:
        return folded in name.casefold()

    for fits, among in (
        *((fits, among) for fits in (same, same_but_for_case) for among in (names, phases)),
        *((fits, among) for among in (names, phases) for fits in (begins_so, contains)),
    ):
        found = [name for name in among if fits(name)]
        if found:
            return found
    return []


def _one_timer(timeline: Timeline, name: str, timers: list[int]) -> Match:
    waiting = [timer_id for timer_id in timers if timer_id in timeline.timers]
    if len(waiting) > 1:
        lines = []
        for timer_id in waiting[:_MOST_LISTED]:
            row = timeline.timers.row(timer_id)
            clock = timeline.clocks[row.clock_id].name
            lines.append(f"  {timer_id}  due at local {format_instant(row.due_ns)} of “{clock}”")
        more = len(waiting) - _MOST_LISTED
        if more > 0:
            lines.append(f"  and {more:,} more")
        listed = "\n".join(lines)
        message = f"{len(waiting):,} timers “{name}” are pending. Name one by its number:\n{listed}"
        raise NoSuchTimerError(message)
    chosen = waiting[0] if waiting else timers[-1]
    others = len(timers) - 1
    note = ""
    if others:
        which = "the pending timer" if waiting else "the last one"
        there = "1 other" if others == 1 else f"{others:,} others"
        note = f"This is {which}; {there} of this name came before or went."
    return Match(chosen, note=note)


def _one_member(timeline: Timeline, name: str, members: list[int]) -> Match:
    # A scheduler and the callback that runs it share a name; the scheduler wins.
    there = [
        number
        for number in members
        if number in timeline.members.by_id and timeline.members.run_by(number) is None
    ]
    by_id = timeline.members.by_id
    there = [number for number in there if by_id[number].kind is not MemberKind.PHASE] or there
    if len(there) > 1:
        lines = []
        for number in there[:_MOST_LISTED]:
            path = " / ".join(member.name for member in reversed(timeline.members.path(number)))
            lines.append(f"  member:{number}  {path}")
        listed = "\n".join(lines)
        message = f"{len(there):,} members are called “{name}”. Name one by its number:\n{listed}"
        raise NoSuchTimerError(message)
    return Match(there[0] if there else members[-1], is_member=True)
