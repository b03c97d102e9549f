"""Parses a change for ``--preview``: a pause, a rate or a time scale."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector.clocks.rate import parse_rate
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.members import PauseFromPriority, PauseMember, ResumeMember, SetTimeScale
from inspector.errors import ArgumentError
from inspector.events.members import PAUSABLE
from inspector.foreign.numbers import count_in
from inspector.vocabulary import MemberKind

if TYPE_CHECKING:
    from inspector.commands.command import Command
    from inspector.events.timeline import Timeline

_FORMS: Final = (
    "Write “pause NAME”, “resume NAME”, “rate CLOCK R”, “scale SCHEDULER R” or "
    "“pause SCHEDULER from PRIORITY”."
)
_FROM_PRIORITY: Final = re.compile(
    r"(?P<name>.+?)\s+from\s+(?:priority\s+)?(?P<priority>-?\d{1,9})"
)
_MEMBER: Final = "member"
_SCHEDULERS: Final = frozenset({MemberKind.SCHEDULER})
_MOST_LISTED: Final = 12


class PreviewError(ArgumentError):
    """The change to preview is invalid."""


def considered_command(timeline: Timeline, text: str) -> Command:
    """Return the change to preview, such as ``pause enemies`` or ``rate game 1/2``.

    Args:
        timeline: The state in which the clock or member is searched.
        text: The change, with its subject as a name, path or number, or for a member as in
            ``member:5``.

    Raises:
        PreviewError: The change or the rate is invalid, or there is no such clock or member,
            or more than one.
    """
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match verb.lower():
        case "pause" if found := _FROM_PRIORITY.fullmatch(rest):
            number = _member(timeline, found["name"], _SCHEDULERS)
            return PauseFromPriority(number, int(found["priority"]))
        case "pause" if rest:
            kind, number = _clock_or_member(timeline, rest)
            return PauseMember(number) if kind == _MEMBER else PauseClock(number)
        case "resume" if rest:
            kind, number = _clock_or_member(timeline, rest)
            return ResumeMember(number) if kind == _MEMBER else ResumeClock(number)
        case "rate" if len(rest.split()) > 1:
            name, _, rate = rest.rpartition(" ")
            return SetRate(_clock(timeline, name.strip()), _rate(rate))
        case "scale" if len(rest.split()) > 1:
            name, _, rate = rest.rpartition(" ")
            return SetTimeScale(_member(timeline, name.strip(), _SCHEDULERS), _rate(rate))
        case _:
            message = f"Argument --preview: “{text.strip()}” is not a known change. {_FORMS}"
            raise PreviewError(message)


def _rate(text: str) -> Fraction:
    try:
        return parse_rate(text)
    except ValueError as error:
        message = f"Argument --preview: {error}"
        raise PreviewError(message) from None


def _clock_or_member(timeline: Timeline, text: str) -> tuple[str, int]:
    """Return whether the subject is a clock or a member, and its number; clocks come first."""
    if _names_member(text) or (not _clocks(timeline, text) and _members(timeline, text, PAUSABLE)):
        return _MEMBER, _member(timeline, text, PAUSABLE)
    return "clock", _clock(timeline, text)


def _clock(timeline: Timeline, text: str) -> int:
    found = _clocks(timeline, text)
    if len(found) == 1:
        return next(iter(found))
    if not found:
        names = dict.fromkeys(clock.name for clock in timeline.clocks.values())
        message = f"Argument --preview: There is no clock “{text}”. {_known(names)}"
        raise PreviewError(message)
    raise PreviewError(_too_many(text, "clocks", found, prefix=""))


def _clocks(timeline: Timeline, text: str) -> dict[int, str]:
    """Return the matching clocks, with their paths."""
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
        message = f"Argument --preview: There is no {what} “{text}”. {_known(names)}"
        raise PreviewError(message)
    raise PreviewError(_too_many(text, "members", found, prefix=f"{_MEMBER}:"))


def _members(timeline: Timeline, text: str, kinds: frozenset[MemberKind]) -> dict[int, str]:
    """Return the matching members of some kinds, with their paths."""
    wanted = _bare(text)
    members = timeline.members
    if _names_member(wanted):
        number = count_in(wanted.partition(":")[2]) or 0
        is_there = number in members.by_id and members.by_id[number].kind in kinds
        return {number: ""} if is_there else {}
    return {
        each.id: "/".join(above.name for above in reversed(members.path(each.id)))
        for each in members.by_id.values()
        if each.kind in kinds and each.name.lower() == wanted
    }


def _names_member(text: str) -> bool:
    return _bare(text).startswith(f"{_MEMBER}:")


def _bare(text: str) -> str:
    return text.strip("“”\"'").lower()


def _known(names: Iterable[str]) -> str:
    listed = list(names)
    if not listed:
        return "There are none."
    known = ", ".join(f"“{name}”" for name in listed[:_MOST_LISTED])
    more = f" and {len(listed) - _MOST_LISTED:,} more" if len(listed) > _MOST_LISTED else ""
    return f"There are {known}{more}."


def _too_many(text: str, what: str, found: dict[int, str], *, prefix: str) -> str:
    places = list(found.items())[:_MOST_LISTED]
    listed = ", ".join(f"{prefix}{number} ({path})" for number, path in places)
    which = "number or its path" if what == "clocks" else "number"
    return (
        f"Argument --preview: {len(found):,} {what} are called “{text}”. Name one by its "
        f"{which}: {listed}."
    )


def _path(timeline: Timeline, clock_id: int) -> str:
    return "/".join(clock.name for clock in reversed(timeline.path(clock_id)))
