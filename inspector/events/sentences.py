"""A sentence for every event, by the template in its row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, TypeAlias

from inspector.display_text import with_article
from inspector.events.schema import FIELDS, NUMBERS, SCHEMA, EventRow, FieldRow, Unit
from inspector.timebase import format_duration, format_instant, format_local_time, late_text
from inspector.vocabulary import (
    COLLECTED_HERE,
    COLLECTING_LINE_SHIFT,
    NEVER,
    SAW_BETWEEN_TURNS,
    SAW_END,
    EventKind,
    Field,
    Phase,
    RawEvent,
    Reading,
    SampleForm,
    Share,
    durations_of,
    frame_and_phase_in,
    rate_text,
    what_was_raised,
)

#: Returns kind and name of the ``clock``, ``timer``, ``member`` or ``machine`` with a number, such
#: as ``clock “root”``; empty if unknown.
Naming: TypeAlias = Callable[[str, int], str]


def describe(event: RawEvent, strings: Sequence[str], naming: Naming | None = None) -> str:
    """Return a sentence that says what happened, without the instant.

    An invalid event, such as from a damaged file, is shown with its numbers.

    Args:
        naming: Returns names; numbers (``clock 3``) are shown without it or for unknown
            names.
    """
    _, kind, subject, a, b = event
    try:
        return _Describer(event, SCHEMA[EventKind(kind)], strings, naming).sentence()
    except (ValueError, IndexError):
        return f"unknown event {kind} ({subject}, {a}, {b})"


#: Units with names, and the word before a bare number.
_NAMED: Final = {
    Unit.CLOCK: "clock",
    Unit.CLOCK_OR_NONE: "clock",
    Unit.LOOP: "clock",
    Unit.SAMPLED_CLOCK: "clock",
    Unit.TIMER: "timer",
    Unit.MEMBER: "member",
    Unit.MACHINE: "machine",
    Unit.TASK: "task",
}
#: Units in which 0 means absent.
_ZERO_IS_NOTHING: Final = frozenset(
    {
        Unit.CLOCK,
        Unit.CLOCK_OR_NONE,
        Unit.MEMBER,
        Unit.TASK,
        Unit.CAUSE,
        Unit.CAUSE_PLUS_ONE,
        Unit.COMMAND,
        Unit.LATENESS,
        Unit.PERIOD,
        Unit.TEXT,
        Unit.SITE,
        Unit.GENERATION,
    }
)
_SHARES: Final = {
    Unit.CALLBACKS_AND_INSPECTOR: (Share.CALLBACKS, Share.INSPECTOR),
    Unit.COLLECTION_AND_LATE: (Share.GARBAGE_COLLECTION, Share.HOST_LATE),
}
_PLACES: Final = {"s": 2, "a": 3, "b": 4}


class _Describer:
    __slots__ = ("_event", "_naming", "_row", "_strings")

    def __init__(
        self, event: RawEvent, row: EventRow, strings: Sequence[str], naming: Naming | None
    ) -> None:
        self._event, self._row, self._strings, self._naming = event, row, strings, naming

    def sentence(self) -> str:
        row, event = self._row, self._event
        units = {place: (row.unit(at), event[at]) for place, at in _PLACES.items()}
        return self._fill(row.sentence, units)

    def _fill(self, template: str, units: dict[str, tuple[Unit, int]]) -> str:
        told = []
        for part in _parts(template):
            text = part.text
            if part.is_optional and any(self._is_nothing(*units[x]) for x in part.places):
                text = part.instead
            told.append(_PLACE.sub(lambda found: self._at_place(found, units), text))
        return "".join(told)

    def _at_place(self, found: re.Match[str], units: dict[str, tuple[Unit, int]]) -> str:
        article, place = found.groups()
        words = self._words(*units[place])
        return with_article(words) if article else words

    def _is_nothing(self, unit: Unit, value: int) -> bool:
        if unit in _ZERO_IS_NOTHING:
            return not value or (unit is Unit.SITE and not self._strings[value])
        if unit is Unit.LOCAL_DUE:
            return value == NEVER
        if unit is Unit.CALLS:
            return value < 0
        return unit is Unit.READ_VALUE and self._event[2] >= Reading.SYNCED

    def _words(self, unit: Unit, value: int) -> str:  # noqa: C901, PLR0911, PLR0912 - one a unit
        if unit in _NAMED:
            return self._named(_NAMED[unit], value)
        if unit.is_text:
            return self._text(unit, value)
        if unit in NUMBERS:
            return NUMBERS[unit](value).text
        match unit:
            case Unit.COMMAND | Unit.CAUSE:
                return f"command {value}"
            case Unit.CAUSE_PLUS_ONE:
                return f" by command {value - 1}" if value > 1 else ""
            case Unit.SESSION_INSTANT:
                return format_instant(value)
            case Unit.LOCAL_INSTANT | Unit.LOCAL_DUE:
                return format_local_time(value)
            case Unit.DURATION | Unit.PERIOD:
                return format_duration(value)
            case Unit.LATENESS:
                return late_text(value)
            case Unit.CALLBACKS_AND_INSPECTOR | Unit.COLLECTION_AND_LATE:
                pairs = zip(_SHARES[unit], durations_of(value), strict=True)
                return ", ".join(f"{share.text} {format_duration(ns)}" for share, ns in pairs)
            case Unit.SAMPLE_FORM:
                return _sample_text(SampleForm.of(value))
            case Unit.COLLECTION:
                line = value >> COLLECTING_LINE_SHIFT
                asked = f", as line {line} asks," if line else ""
                return f"of generation {value & (COLLECTED_HERE - 1)}{asked}"
            case Unit.FRAME_AND_PHASE:
                frame, phase = frame_and_phase_in(value)
                return f"frame {frame}: {Phase(phase).text}"
            case Unit.TICKS:
                return f"{value} tick{'s' if value != 1 else ''}"
            case Unit.RATE:
                return rate_text(value)
            case Unit.READ_VALUE:
                is_period = self._event[2] == Reading.PERIOD
                return format_duration(value) if is_period else format_instant(value)
            case Unit.FIELD_VALUE:
                row: FieldRow = FIELDS[Field(self._event[3])]
                return self._fill(row.sentence, {"b": (row.unit, value)})
            case _:
                return str(value)

    def _text(self, unit: Unit, number: int) -> str:
        text = self._strings[number]
        if unit is Unit.TRACEBACK:
            return what_was_raised(text)
        return text or ("the user" if unit is Unit.ASKER else "")

    def _named(self, what: str, number: int) -> str:
        known = "" if self._naming is None else self._naming(what, number)
        if known:
            return known
        gives_name = self._row.b is Unit.NAME and number == self._event[2]
        name = f" “{self._strings[self._event[4]]}”" if gives_name else ""
        return f"{what} {number}{name}"


class _Part:
    __slots__ = ("instead", "is_optional", "places", "text")

    def __init__(self, text: str, *, is_optional: bool) -> None:
        self.is_optional = is_optional
        self.text, _, self.instead = text.partition("|") if is_optional else (text, "", "")
        self.places = tuple(place for _, place in _PLACE.findall(self.text))


#: An article, which depends on the words behind it, and one of the three numbers.
_PLACE: Final = re.compile(r"(\ba )?\{(\w)\}")
_OPTIONAL: Final = re.compile(r"\[([^\]]*)\]")


@cache
def _parts(template: str) -> tuple[_Part, ...]:
    pieces = _OPTIONAL.split(template)
    return tuple(_Part(text, is_optional=at % 2 == 1) for at, text in enumerate(pieces) if text)


def _sample_text(form: SampleForm) -> str:
    if form.flags & SAW_BETWEEN_TURNS:
        return "between two turns"
    if form.flags & SAW_END:
        return "the end of the turn"
    return f"sample {form.number + 1} of the turn, {form.depth} frames deep"
