"""What is said as plain rows: what a panel shows and people copy, without any widget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import Phase

from ..kit.texts.clock_texts import ClockPlaces
from ..session.bridge import Selection

#: Links and failures beyond this many are counted instead of listed.
MOST_LISTED: Final = 12


class RowKind(Enum):
    """How a row is shown."""

    ABOUT = "above the name: what kind of thing it is, and where"
    HEADING = "a heading across both columns; the first is the name"
    ANSWER = "below the name: the answer in one sentence"
    TEXT = "a key and its value"
    SENTENCE = "text across both columns"
    SHARE = "a value with a bar"
    CODE = "lines in a fixed-width font across both columns"


#: What the address of a link to an instant begins with, where others have a kind of selection.
LOOK_AT: Final = "AT"


class Link(Struct, frozen=True):
    """A piece of a value that leads somewhere.

    Attributes:
        text: What it says.
        target: What it selects, ``None`` for plain text between links.
        at_ns: The session time that it shows the state at, instead of selecting something.
    """

    text: str
    target: Selection | None = None
    at_ns: int | None = None

    @property
    def address(self) -> str:
        """Where it leads, as text; empty for plain text."""
        if self.at_ns is not None:
            return f"{LOOK_AT}:{self.at_ns}"
        if self.target is None:
            return ""
        ended_ns = self.target.ended_ns
        of_call = "" if ended_ns is None else f":{ended_ns}"
        return f"{self.target.kind.name}:{self.target.id}{of_call}"


class DetailRow(Struct, frozen=True):
    """One row of the details.

    Attributes:
        key: What the value is, empty for headings, sentences and code.
        text: The value.
        kind: How it is shown.
        links: The value in pieces, if some of them lead somewhere.
        share: Length of the bar, 0 to 1.
        phase: The frame phase whose colour the bar has.
    """

    key: str
    text: str
    kind: RowKind = RowKind.TEXT
    links: tuple[Link, ...] = ()
    share: float = 0.0
    phase: Phase | None = None


class ClockCounts:
    """Counts over many clocks, taken again only when clocks or their states change."""

    def __init__(self) -> None:
        self._branch_key: tuple[object, ...] = ()
        self._places = ClockPlaces(())
        self._is_in_branch: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._still_key: tuple[object, ...] = ()
        self._still = 0

    def pending_in_branch(self, timeline: Timeline, clock_id: int) -> int:
        """Return how many timers wait on a clock and on all below it."""
        key = (timeline, clock_id, timeline.structure_version)
        if key != self._branch_key:
            self._branch_key = key
            self._places = ClockPlaces(timeline.clocks)
            self._is_in_branch = np.zeros(self._places.count, np.bool_)
            self._is_in_branch[self._places.of(timeline.branch(clock_id))] = True
        owners = self._places.of(timeline.timers.numpy("clock"))
        return int(np.count_nonzero(self._is_in_branch[owners]))

    def standing_still(self, timeline: Timeline) -> int:
        """Return how many clocks are paused or have rate 0 themselves."""
        key = (timeline, timeline.structure_version, timeline.mapping_version)
        if key != self._still_key:
            self._still_key = key
            self._still = sum(clock.n == 0 for clock in timeline.clocks.values())
        return self._still


def heading(text: str) -> DetailRow:
    return DetailRow("", text, RowKind.HEADING)


def sentence(text: str) -> DetailRow:
    return DetailRow("", text, RowKind.SENTENCE)


def about(kind: str, links: Iterable[Link] = ()) -> DetailRow:
    """Return what kind of thing is selected, and its place: ``Timer · root / game``."""
    pieces = tuple(links)
    return DetailRow(kind, "".join(piece.text for piece in pieces), RowKind.ABOUT, links=pieces)


def answer(text: str) -> DetailRow:
    return DetailRow("", text, RowKind.ANSWER)


def answer_first(why: Sequence[DetailRow]) -> list[DetailRow]:
    """Return an explanation with its answer before its heading, which goes if nothing follows."""
    title, headline, *reasons = why
    return [answer(headline.text), *([title, *reasons] if reasons else [])]


def linked(key: str, links: Iterable[Link]) -> DetailRow:
    pieces = tuple(links)
    return DetailRow(key, "".join(piece.text for piece in pieces), links=pieces)


def path_links(timeline: Timeline, clock_id: int) -> list[Link]:
    """Return the clocks from the root down to one, each a link."""
    links: list[Link] = []
    for clock in reversed(timeline.path(clock_id)):
        if links:
            links.append(Link(" / "))
        links.append(Link(clock.name, Selection.clock(clock.id)))
    return links


def ago(timeline: Timeline, since_ns: int) -> str:
    """Return how long ago something was, in session time."""
    return f"{format_duration(timeline.at_ns - since_ns)} ago"


def instant_with_ns(ns: int) -> str:
    """Return an instant for people and, behind it, exactly; its unit is not left alone."""
    return f"{format_instant(ns)}  ({ns:,}\N{NO-BREAK SPACE}ns)"
