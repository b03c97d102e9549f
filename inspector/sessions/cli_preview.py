"""A pause or a rate that is only considered, as it is written on the command line."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector.clocks.rate import rate_numerator
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode
from inspector.sessions.commands import PauseClock, ResumeClock, SetRate
from inspector.vocabulary import RATE_DENOMINATOR

if TYPE_CHECKING:
    from inspector.trace.timeline import Timeline

_FORMS: Final = "Write “pause CLOCK”, “resume CLOCK” or “rate CLOCK R”."
_MOST_LISTED: Final = 12


class PreviewError(InspectorError):
    """What is to be previewed makes no sense."""

    exit_code = ExitCode.USAGE


def considered_command(timeline: Timeline, text: str) -> PauseClock | ResumeClock | SetRate:
    """Return what somebody considers doing, as ``pause enemies`` or ``rate game 1/2``.

    Args:
        timeline: The state in which the clock is looked for.
        text: What would be done, to which clock: its name, its path or its number.

    Raises:
        PreviewError: It is none of these, the rate cannot be used, or there is no such
            clock or more than one.
    """
    verb, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match verb.lower():
        case "pause" if rest:
            return PauseClock(_clock(timeline, rest))
        case "resume" if rest:
            return ResumeClock(_clock(timeline, rest))
        case "rate" if len(rest.split()) > 1:
            name, _, rate = rest.rpartition(" ")
            return SetRate(_clock(timeline, name.strip()), _rate(rate))
        case _:
            message = f"Argument --preview: “{text.strip()}” is no change of a clock. {_FORMS}"
            raise PreviewError(message)


def _rate(text: str) -> Fraction:
    try:
        return Fraction(rate_numerator(text), RATE_DENOMINATOR)
    except ValueError as error:
        message = f"Argument --preview: {error}"
        raise PreviewError(message) from None


def _clock(timeline: Timeline, text: str) -> int:
    wanted = text.strip("“”\"'").lower()
    paths = {number: _path(timeline, number) for number in timeline.clocks}
    if wanted.isdecimal() and int(wanted) in paths:
        return int(wanted)
    found = [
        number
        for number, path in paths.items()
        if wanted in {path.lower(), path.lower().rpartition("/")[2]}
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        names = list(dict.fromkeys(clock.name for clock in timeline.clocks.values()))
        known = ", ".join(f"“{name}”" for name in names[:_MOST_LISTED])
        more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
        message = f"Argument --preview: There is no clock “{text}”. There are {known}{more}."
        raise PreviewError(message)
    listed = ", ".join(f"{number} ({paths[number]})" for number in found[:_MOST_LISTED])
    message = (
        f"Argument --preview: {len(found):,} clocks are called “{text}”. Name one by its "
        f"number or its path: {listed}."
    )
    raise PreviewError(message)


def _path(timeline: Timeline, clock_id: int) -> str:
    return "/".join(clock.name for clock in reversed(timeline.path(clock_id)))
