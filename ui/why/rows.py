"""Rows as plain data: what a panel shows and people copy, without any widget."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant, format_local_time
from inspector.vocabulary import Phase

from ..kit.texts.clock_texts import ClockPlaces
from ..session.bridge import Selection

#: Links and failures beyond this many are counted instead of listed.
MOST_LISTED: Final = 12
LOOKING_BACK: Final = "Looking back"
#: Names of up to this many letters are not broken at their blanks.
_UNBROKEN: Final = str.maketrans(" -", "\N{NO-BREAK SPACE}\N{NON-BREAKING HYPHEN}")
_LONGEST_KEPT: Final = 20


class RowKind(Enum):
    ABOUT = "above the name: what kind of thing it is, and where"
    HEADING = "a heading across both columns; the first is the name"
    ANSWER = "below the name: the answer in one sentence"
    TEXT = "a key and its value"
    SENTENCE = "text across both columns"
    STEP = "a reason: its instant in small letters, what happened below it"
    NOTE = "text across both columns in small letters"
    ITEM = "a link, where that is in small letters, and a value at the right edge"
    SHARE = "a value with a bar"
    CODE = "lines in a fixed-width font across both columns"


#: How the address of a link to an instant begins; others begin with a kind of selection.
LOOK_AT: Final = "AT"
#: The same for links that open and close parts of the panel.
DO: Final = "DO"


class LinkedText(Struct, frozen=True):
    """A piece of a value that leads somewhere."""

    text: str  # What it says
    target: Selection | None = None  # What it selects, None for plain text between links
    # The session time that it shows the state at, instead of selecting something.
    at_ns: int | None = None
    is_small: bool = False  # Whether it is in small, muted letters
    does: str = ""  # What it does in the panel instead: the part that it opens or closes

    @property
    def address(self) -> str:
        """Where it leads, as text; empty for plain text."""
        if self.does:
            return f"{DO}:{self.does}"
        if self.at_ns is not None:
            return f"{LOOK_AT}:{self.at_ns}"
        if self.target is None:
            return ""
        at_ns = self.target.at_ns
        of_call = "" if at_ns is None else f":{at_ns}"
        return f"{self.target.kind.name}:{self.target.id}{of_call}"


class DetailRow(Struct, frozen=True):
    key: str  # What the value is, empty for headings, sentences and code; the instant of a step
    text: str  # The value
    kind: RowKind = RowKind.TEXT  # How it is shown
    links: tuple[LinkedText, ...] = ()  # The value in pieces, if some of them lead somewhere
    share: float = 0.0  # Length of the bar, 0 to 1
    phase: Phase | None = None  # The frame phase whose colour the bar has
    # The value to the nanosecond, for its tool tip and for copies; empty if it is exact.
    exact: str = ""

    @property
    def said(self) -> str:
        value = f"{self.text}  ({self.exact})" if self.exact else self.text
        return f"{self.key}\t{value}" if self.key else value


class ClockCounts:
    """Counts over many clocks, taken again only when clocks or their states change."""

    def __init__(self) -> None:
        self._branch_key: tuple[object, ...] = ()
        self._places = ClockPlaces(())
        self._is_in_branch: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._still_key: tuple[object, ...] = ()
        self._still = 0

    def in_branch(self, timeline: Timeline, clock_id: int) -> NDArray[np.bool_]:
        """Return which rows of the table of timers wait on a clock or on any below it."""
        key = (timeline, clock_id, timeline.structure_version)
        if key != self._branch_key:
            self._branch_key = key
            self._places = ClockPlaces(timeline.clocks)
            self._is_in_branch = np.zeros(self._places.count, np.bool_)
            self._is_in_branch[self._places.of(timeline.branch(clock_id))] = True
        owners = self._places.of(timeline.timers.numpy("clock"))
        return self._is_in_branch[owners]

    def standing_still(self, timeline: Timeline) -> int:
        """Return how many clocks are paused or have rate 0 themselves."""
        key = (timeline, timeline.structure_version, timeline.mapping_version)
        if key != self._still_key:
            self._still_key = key
            self._still = sum(clock.n == 0 for clock in timeline.clocks.values())
        return self._still


def heading(text: str, count: str = "") -> DetailRow:
    """Return a heading, with a count in small letters at its right."""
    return DetailRow("", text, RowKind.HEADING, exact=count)


def sentence(text: str) -> DetailRow:
    return DetailRow("", text, RowKind.SENTENCE)


def about(kind: str, links: Iterable[LinkedText] = ()) -> DetailRow:
    """Return what kind of thing is selected, and its place: ``Timer · root / game``."""
    pieces = tuple(links)
    return DetailRow(kind, "".join(piece.text for piece in pieces), RowKind.ABOUT, links=pieces)


def answer(text: str) -> DetailRow:
    return DetailRow("", text, RowKind.ANSWER)


def step(when: str, links: Iterable[LinkedText]) -> DetailRow:
    """Return a reason with its instant, in words."""
    pieces = tuple(links)
    text = "".join(piece.text for piece in pieces)
    return DetailRow(when, text, RowKind.STEP, links=pieces)


def note(text: str) -> DetailRow:
    return DetailRow("", text, RowKind.NOTE)


def item(link: LinkedText, where: str, value: str) -> DetailRow:
    """Return a row of a list: what it is, in small letters where, and a value."""
    # A short name stays on one line, even if that is the next one.
    kept = where.translate(_UNBROKEN) if len(where) <= _LONGEST_KEPT else where
    place = (LinkedText(f"  {kept}", is_small=True),) if where else ()
    text = "".join(piece.text for piece in (link, *place))
    return DetailRow(text, value, RowKind.ITEM, links=(link, *place))


def opening(text: str, part: str, *, is_open: bool) -> DetailRow:
    """Return a link that opens or closes a part of the panel."""
    links = (LinkedText(f"{text} {'▾' if is_open else '▸'}", does=part),)
    return DetailRow("", links[0].text, RowKind.SENTENCE, links=links)


def linked(key: str, links: Iterable[LinkedText]) -> DetailRow:
    pieces = tuple(links)
    return DetailRow(key, "".join(piece.text for piece in pieces), links=pieces)


def path_links(timeline: Timeline, clock_id: int) -> list[LinkedText]:
    """Return the clocks from the root down to one, each a link."""
    links: list[LinkedText] = []
    for clock in reversed(timeline.path(clock_id)):
        if links:
            links.append(LinkedText(" / "))
        links.append(LinkedText(clock.name, Selection.clock(clock.id)))
    return links


def ago(timeline: Timeline, since_ns: int) -> str:
    """Return how long ago something was, in session time."""
    return f"{format_duration(timeline.at_ns - since_ns)} ago"


def instant(key: str, ns: int) -> DetailRow:
    return DetailRow(key, format_instant(ns), exact=f"{ns:,}\N{NO-BREAK SPACE}ns")


def local_time(key: str, ns: int) -> DetailRow:
    return DetailRow(key, format_local_time(ns), exact=f"{ns:,}\N{NO-BREAK SPACE}ns")
