"""Finds what is named on the command line: a timer or member, and a change to preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import islice
from typing import Final

from msgspec import Struct

from inspector.analysis.evidence import text_of
from inspector.calls.call import CallId
from inspector.clocks.rate import parse_rate
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.members import PauseFromPriority, PauseMember, ResumeMember, SetTimeScale
from inspector.display_text import counted, in_quotes, listed
from inspector.errors import ArgumentError
from inspector.events.history import History
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.members import PAUSABLE
from inspector.events.schema import ADDED, Unit
from inspector.events.timeline import Timeline
from inspector.foreign.numbers import count_in
from inspector.timebase import format_local_time
from inspector.vocabulary import MemberKind

_MOST_LISTED: Final = 12
_MEMBER_PREFIX: Final = "member:"
#: Longest number of a timer, in digits.
_MOST_DIGITS: Final = 19
#: Longest name in a message, in characters.
_MOST_SHOWN: Final = 200
_FORMS: Final = (
    "Write “pause NAME”, “resume NAME”, “rate CLOCK R”, “scale SCHEDULER R” or "
    "“pause SCHEDULER from PRIORITY”."
)
_FROM_PRIORITY: Final = re.compile(
    r"(?P<name>.+?)\s+from\s+(?:priority\s+)?(?P<priority>-?\d{1,9})"
)
_SCHEDULERS: Final = frozenset({MemberKind.SCHEDULER})


class Match(Struct, frozen=True):
    call: CallId
    note: str = ""  # A sentence on others with the same name, or nothing


def find_timer(history: History, timeline: Timeline, text: str) -> Match:
    """Find a timer or member by number, ``member:5``, name or its beginning; timers come first."""
    wanted = text.strip()
    if not wanted:
        raise ArgumentError("The name of the timer is empty. Give a name or a number.")
    bare = wanted.lower().removeprefix(_MEMBER_PREFIX)
    if bare.isdecimal():
        return _numbered(history, timeline, bare, is_member=bare != wanted)
    names, present = _names(history, timeline)
    phases = [name for name, calls in names.items() if _are_phases(present, calls)]
    others = [name for name in names if name not in set(phases)]
    matching = _matching(others, phases, wanted)
    if not matching:
        timers_first = sorted(others, key=lambda name: all(each.is_member for each in names[name]))
        known = _known(timers_first) if timers_first else "No timer was ever set."
        raise ArgumentError(f"There is no timer {_quoted(wanted)}. {known}")
    if len(matching) > 1:
        found = listed([*map(_quoted, matching)], _MOST_LISTED)
        raise ArgumentError(
            f"{_quoted(wanted)} could be one of {len(matching)} names: {found}. Give more of it."
        )
    name = matching[0]
    timers = [each.number for each in names[name] if not each.is_member]
    if timers:
        return _one_timer(timeline, name, timers)
    members = [each.number for each in names[name]]
    # If none has this name now, take those that had it.
    so_called = [number for number in members if present.name_of(number) == name]
    return _one_member(timeline, name, so_called or members)


def _quoted(name: str) -> str:
    return in_quotes(name, _MOST_SHOWN)


def _numbered(history: History, timeline: Timeline, digits: str, *, is_member: bool) -> Match:
    what = "member" if is_member else "timer"
    # 0, which no timer has, for a number that is too long.
    number = count_in(digits) or 0
    states = (timeline, history.state_before(history.first))
    is_there = any(number in (each.members.by_id if is_member else each.timers) for each in states)
    added = ADDED[Unit.MEMBER if is_member else Unit.TIMER]
    events = history.events(history.first, history.end)
    is_known = is_there or any(event[1] == added and event[2] == number for event in events)
    # If the log has lost events, the number may have been in them: explaining it says so.
    if not is_known and (not history.first or not number):
        shown = digits if len(digits) < _MOST_DIGITS else f"{digits[:_MOST_DIGITS]}…"
        raise ArgumentError(f"This session never had a {what} of the number {shown}.")
    return Match(CallId(number, is_member))


def _names(
    history: History, timeline: Timeline
) -> tuple[dict[str, dict[CallId, None]], MemberNames]:
    """Return the timers and members that have had each name, and the members' last names."""
    names: dict[str, dict[CallId, None]] = {}
    members = MemberNames(history.strings)

    def add_those_of(state: Timeline) -> None:
        for timer_id in state.timers.ids():
            names.setdefault(state.timers.row(timer_id).label, {})[CallId(timer_id)] = None
        for member in state.members.by_id.values():
            members.learn(member)
            names.setdefault(member.name, {})[CallId(member.id, is_member=True)] = None

    add_those_of(history.state_before(history.first))
    for event in history.events(history.first, history.cursor_at(timeline.at_ns)):
        if event[1] == ADDED[Unit.TIMER]:
            names.setdefault(text_of(history, event[4]), {})[CallId(event[2])] = None
        elif event[1] in MEMBER_NAMING_KINDS and (known := members.note(event)) is not None:
            names.setdefault(known.name, {})[CallId(event[2], is_member=True)] = None
    # The events of a damaged part are missing; what it added is known only from a keyframe.
    add_those_of(timeline)
    return names, members


def _are_phases(present: MemberNames, calls: Iterable[CallId]) -> bool:
    known = [present.get(each.number) if each.is_member else None for each in calls]
    return all(each is not None and each.kind is MemberKind.PHASE for each in known)


def _matching(names: list[str], phases: list[str], wanted: str) -> list[str]:
    """Return the names that equal the wanted text, or else begin with it, or else contain it.

    Every component director has phases such as “update” and “timers”, so part of a phase's name
    counts only if no other name contains the text.
    """
    folded = wanted.casefold()
    fits: tuple[Callable[[str], bool], ...] = (
        lambda name: name == wanted,
        lambda name: name.casefold() == folded,
        lambda name: name.casefold().startswith(folded),
        lambda name: folded in name.casefold(),
    )
    tried = [(each, among) for each in fits[:2] for among in (names, phases)]
    tried += [(each, among) for among in (names, phases) for each in fits[2:]]
    found = ([name for name in among if is_fit(name)] for is_fit, among in tried)
    return next(filter(None, found), [])


def _one_timer(timeline: Timeline, name: str, timers: list[int]) -> Match:
    waiting = [timer_id for timer_id in timers if timer_id in timeline.timers]
    rows = (timeline.timers.row(timer_id) for timer_id in waiting[:_MOST_LISTED])
    names = timeline.names_apart
    _check_one(
        f"{len(waiting):,} timers {_quoted(name)} are pending.",
        len(waiting),
        (
            f"{row.id}  due at local {format_local_time(row.due_ns)} of "
            f"{_quoted(names[row.clock_id])}"
            for row in rows
        ),
    )
    others = len(timers) - 1
    note = ""
    if others:
        which = "the pending timer" if waiting else "the last one"
        there = counted(others, "other")
        note = f"This is {which}; {there} of this name came before or went."
    return Match(CallId(waiting[0] if waiting else timers[-1]), note)


def _one_member(timeline: Timeline, name: str, numbers: list[int]) -> Match:
    members = timeline.members
    # A scheduler and the callback that runs it share a name; the scheduler wins.
    there = [each for each in numbers if each in members.by_id and members.run_by(each) is None]
    there = [each for each in there if members.by_id[each].kind is not MemberKind.PHASE] or there
    _check_one(
        f"{len(there):,} members are called {_quoted(name)}.",
        len(there),
        (
            f"member:{each}  "
            + " / ".join(above.name[:_MOST_SHOWN] for above in reversed(members.path(each)))
            for each in there[:_MOST_LISTED]
        ),
    )
    return Match(CallId(there[0] if there else numbers[-1], is_member=True))


def _check_one(found: str, count: int, candidates: Iterable[str]) -> None:
    if count > 1:
        more = [f"and {count - _MOST_LISTED:,} more"] if count > _MOST_LISTED else []
        listed = "\n".join(f"  {each}" for each in [*candidates, *more])
        raise ArgumentError(f"{found} Name one by its number:\n{listed}")


# ------------------------------------------------------------------ a change to preview


def considered_command(timeline: Timeline, text: str) -> Command:
    """Return the change to preview, such as ``pause enemies`` or ``rate member:5 1/2``."""
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match verb.lower():
        case "pause" if found := _FROM_PRIORITY.fullmatch(rest):
            number = _member(timeline, found["name"], _SCHEDULERS)
            return PauseFromPriority(number, int(found["priority"]))
        case "pause" if rest:
            is_member, number = _clock_or_member(timeline, rest)
            return PauseMember(number) if is_member else PauseClock(number)
        case "resume" if rest:
            is_member, number = _clock_or_member(timeline, rest)
            return ResumeMember(number) if is_member else ResumeClock(number)
        case "rate" if len(rest.split()) > 1:
            name, _, rate = rest.rpartition(" ")
            return SetRate(_clock(timeline, name.strip()), _rate(rate))
        case "scale" if len(rest.split()) > 1:
            name, _, rate = rest.rpartition(" ")
            return SetTimeScale(_member(timeline, name.strip(), _SCHEDULERS), _rate(rate))
        case _:
            message = f"Argument --preview: {_quoted(text.strip())} is not a known change. {_FORMS}"
            raise ArgumentError(message)


def _rate(text: str) -> Fraction:
    try:
        return parse_rate(text)
    except ValueError as error:
        raise ArgumentError(f"Argument --preview: {error}") from None


def _clock_or_member(timeline: Timeline, text: str) -> tuple[bool, int]:
    """Return whether the subject is a member, and its number; clocks come first."""
    if _names_member(text) or (not _clocks(timeline, text) and _members(timeline, text, PAUSABLE)):
        return True, _member(timeline, text, PAUSABLE)
    return False, _clock(timeline, text)


def _clock(timeline: Timeline, text: str) -> int:
    found = _clocks(timeline, text)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        names = dict.fromkeys(clock.name for clock in timeline.clocks.values())
        raise ArgumentError(
            f"Argument --preview: There is no clock {_quoted(text)}. {_known(names)}"
        )
    raise ArgumentError(_too_many(text, "clocks", found, prefix=""))


def _clocks(timeline: Timeline, text: str) -> dict[int, str]:
    wanted = _bare(text)
    paths = {number: _path(timeline, number) for number in timeline.clocks}
    number = count_in(wanted)
    if number in paths:
        return {number: paths[number]}
    return {
        number: path
        for number, path in paths.items()
        if wanted in {path.lower(), path.lower().rpartition("/")[2]}
    }


def _member(timeline: Timeline, text: str, kinds: frozenset[MemberKind]) -> int:
    found = _members(timeline, text, kinds)
    if len(found) == 1:
        return next(iter(found))
    what = "scheduler" if kinds is _SCHEDULERS else "member that can be paused"
    if not found:
        members = timeline.members.by_id.values()
        names = dict.fromkeys(each.name for each in members if each.kind in kinds)
        raise ArgumentError(
            f"Argument --preview: There is no {what} {_quoted(text)}. {_known(names)}"
        )
    raise ArgumentError(_too_many(text, "members", found, prefix=_MEMBER_PREFIX))


def _members(timeline: Timeline, text: str, kinds: frozenset[MemberKind]) -> dict[int, str]:
    wanted = _bare(text)
    members = timeline.members
    if _names_member(wanted):
        number = count_in(wanted.removeprefix(_MEMBER_PREFIX)) or 0
        is_there = number in members.by_id and members.by_id[number].kind in kinds
        return {number: ""} if is_there else {}
    return {
        each.id: "/".join(above.name for above in reversed(members.path(each.id)))
        for each in members.by_id.values()
        if each.kind in kinds and each.name.lower() == wanted
    }


def _names_member(text: str) -> bool:
    return _bare(text).startswith(_MEMBER_PREFIX)


def _bare(text: str) -> str:
    return text.strip("“”\"'").lower()


def _known(names: Iterable[str]) -> str:
    known = [*map(_quoted, names)]
    return f"There are {listed(known, _MOST_LISTED)}." if known else "There are none."


def _too_many(text: str, what: str, found: dict[int, str], *, prefix: str) -> str:
    places = islice(found.items(), _MOST_LISTED)
    choices = ", ".join(f"{prefix}{number} ({path})" for number, path in places)
    which = "number or its path" if what == "clocks" else "number"
    return (
        f"Argument --preview: {len(found):,} {what} are called “{text}”. Name one by its "
        f"{which}: {choices}."
    )


def _path(timeline: Timeline, clock_id: int) -> str:
    return "/".join(clock.name for clock in reversed(timeline.path(clock_id)))
