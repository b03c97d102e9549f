"""The rows of the arrangement: their lanes, order and depth."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct, field

from inspector.analysis.lanes.clocks import GONE
from inspector.analysis.lanes.lanes import KIND_OF, Lane, LaneKey, LaneKind, LaneStore

#: Lanes that are shown only if they have contents.
OCCASIONAL: Final = frozenset(
    {LaneKind.BOOKMARKS, LaneKind.MARKS, LaneKind.COMMANDS, LaneKind.FAILURES, LaneKind.HITS}
)

#: More levels than this would leave no room for names and buttons.
_MOST_INDENTED: Final = 6


class LaneRow(Struct, frozen=True, eq=False):
    key: LaneKey
    depth: int
    lane: Lane | None  # Its records; None for a clock
    subject_id: int
    has_parts: bool = False  # Whether it has rows below it that can be collapsed
    is_folded: bool = False
    is_pinned: bool = False
    is_gone: bool = False
    title: str = ""

    @property
    def indentation(self) -> int:
        """How many levels its name is indented; the deepest are not, so that it has room."""
        return min(self.depth, _MOST_INDENTED)

    @property
    def kind(self) -> LaneKind:
        return self.key[0]

    @property
    def clock_id(self) -> int:
        return self.key[1]

    @property
    def label(self) -> str:
        return self.title or self.key[2]

    @property
    def is_group(self) -> bool:
        """Whether it is the row of several lanes, which can be shown below it."""
        return self.has_parts and self.kind is not LaneKind.CLOCK

    @property
    def is_of_several(self) -> bool:
        """Whether it is the row of several things, none of which a click on its header selects."""
        return self.is_group and not self.subject_id


class RowChoices(Struct):
    folded: set[int] = field(default_factory=set)
    unfolded: set[LaneKey] = field(default_factory=set)
    pinned: list[LaneKey] = field(default_factory=list)
    hidden: set[LaneKind] = field(default_factory=set)
    words: tuple[str, ...] = ()  # Words that the label of a lane must contain, in lower case
    branch: int = 0  # The clock that is shown with what is below it, 0 for all
    # Lanes that were moved, and their siblings, in the order shown.
    order: list[LaneKey] = field(default_factory=list)

    def rank(self, key: LaneKey) -> int:
        """Return the sort key of a lane among its siblings; lanes that were not moved come last."""
        return self.order.index(key) if self.order and key in self.order else len(self.order)


def quiet_lanes(store: LaneStore, low_ns: float, high_ns: float) -> frozenset[Lane]:
    """Return the lanes of timers that have no pending timer and nothing in view."""
    return frozenset(
        lane
        for lane in store.timer_lanes
        if not lane.pending.count and not lane.instants.has_any(low_ns, high_ns)
    )


def rows_of(
    store: LaneStore, choices: RowChoices, quiet: frozenset[Lane] = frozenset()
) -> tuple[list[LaneRow], list[LaneRow]]:
    """Return the pinned rows and the others; lanes that are quiet are folded away."""
    wanted = _Rows(store, choices, quiet).all()
    wanted = [row for row in wanted if row.kind not in choices.hidden]
    by_key = {row.key: row for row in wanted}
    pinned = [by_key[key] for key in choices.pinned if key in by_key]
    return pinned, [row for row in wanted if not row.is_pinned]


class _Rows:
    def __init__(self, store: LaneStore, choices: RowChoices, quiet: frozenset[Lane]) -> None:
        self._store = store
        self._choices = choices
        self._quiet = quiet
        self._pinned = set(choices.pinned)
        self._children: dict[int, list[int]] = {}
        for number, past in store.clocks.by_id.items():
            if len(past):
                self._children.setdefault(past.parent[-1], []).append(number)
        if choices.order:
            for children in self._children.values():
                children.sort(key=lambda each: choices.rank(self._clock_key(each)))

    def all(self) -> list[LaneRow]:
        rows = [
            self._row(lane, 0)
            for lane in self._store.by_clock.get(0, ())
            if len(lane.instants) or lane.kind not in OCCASIONAL
        ]
        # Without recursion, because clocks may nest deeper than Python calls.
        roots = self._children.get(0, [])
        if self._choices.branch in self._store.clocks.by_id:
            roots = [self._choices.branch]
        waiting = [(number, 0) for number in reversed(roots)]
        clocks: list[tuple[int, int]] = []
        while waiting:
            number, depth = waiting.pop()
            clocks.append((number, depth))
            children = self._children.get(number, ())
            waiting.extend((child, depth + 1) for child in reversed(children))
        branches: dict[int, list[LaneRow]] = {}
        for number, depth in reversed(clocks):
            children = self._children.get(number, ())
            parts = [branches.pop(child) for child in children]
            branches[number] = self._branch(number, depth, chain.from_iterable(parts))
        return [*rows, *chain.from_iterable(reversed(branches.values()))]

    def _branch(self, number: int, depth: int, children: Iterable[LaneRow]) -> list[LaneRow]:
        lanes = self._store.by_clock.get(number, [])
        below = [*self._rows_below(number, lanes, depth + 1), *children]
        past = self._store.clocks.by_id[number]
        if self._choices.words and not below and not self._is_wanted(past.name):
            return []
        is_folded = number in self._choices.folded
        key = self._clock_key(number)
        row = LaneRow(
            *(key, depth, None, number, bool(lanes) or number in self._children),
            *(is_folded, key in self._pinned, past.value[-1] == GONE),
        )
        kept = [each for each in below if each.is_pinned] if is_folded else below
        return [row, *kept]

    def _rows_below(self, number: int, lanes: list[Lane], depth: int) -> list[LaneRow]:
        if not lanes:
            # As of most clocks of a program that has thousands.
            return []
        if self._choices.words:
            # Lanes that match a filter are not folded away.
            return [self._row(lane, depth) for lane in lanes if self._is_wanted(lane.label)]
        begin = bisect_left(lanes, LaneKind.TIMER, key=KIND_OF)
        end = bisect_right(lanes, LaneKind.TIMER, begin, key=KIND_OF)
        families, quiet = self._gathered(lanes[begin:end])
        rows = [self._row(lane, depth) for lane in lanes[:begin]]
        rank = self._choices.rank
        for each in sorted(families, key=lambda each: rank(each.key)):
            members = families[each]
            if len(members) == 1:
                rows.append(self._row(members[0], depth))
            else:
                rows += self._group(each.key, each.title, each, members, depth)
        calls = bisect_left(lanes, LaneKind.CALL, end, key=KIND_OF)
        others = bisect_right(lanes, LaneKind.CALL, calls, key=KIND_OF)
        rows += [self._row(lane, depth) for lane in lanes[end:calls]]
        if others - calls > 1 and (among := lanes[calls].family) is not None:
            rows += self._group(among.key, among.title, among, lanes[calls:others], depth)
        else:
            rows += [self._row(lane, depth) for lane in lanes[calls:others]]
        rows += [self._row(lane, depth) for lane in lanes[others:]]
        if quiet:
            key = (LaneKind.TIMER, number, "")
            rows += self._group(key, f"{len(quiet):,} empty in view", None, quiet, depth)
        return rows

    def _gathered(self, timers: list[Lane]) -> tuple[dict[Lane, list[Lane]], list[Lane]]:
        """Return the lanes of each family, a single lane as its own family, and the quiet lanes.

        Families with a pending timer come first.
        """
        families: dict[Lane, list[Lane]] = {}
        resting: list[Lane] = []
        quiet: list[Lane] = []
        for lane in timers:
            if lane in self._quiet:
                quiet.append(lane)
            elif lane.pending:
                families.setdefault(lane.family or lane, []).append(lane)
            else:
                resting.append(lane)
        for lane in resting:
            families.setdefault(lane.family or lane, []).append(lane)
        return families, quiet

    def _group(
        self, key: LaneKey, title: str, lane: Lane | None, members: list[Lane], depth: int
    ) -> list[LaneRow]:
        is_folded = key not in self._choices.unfolded
        # A group of calls cannot be selected as one thing, unlike timers of one line.
        subject = lane.subject_id if lane is not None and lane.kind is LaneKind.TIMER else 0
        row = LaneRow(
            *(key, depth, lane, subject),
            has_parts=True,
            is_folded=is_folded,
            is_pinned=key in self._pinned,
            title=title,
        )
        if is_folded:
            members = [each for each in members if self._pinned and each.key in self._pinned]
        return [row, *(self._row(each, depth + 1) for each in members)]

    def _clock_key(self, number: int) -> LaneKey:
        return (LaneKind.CLOCK, number, self._store.clocks.by_id[number].name)

    def _row(self, lane: Lane, depth: int) -> LaneRow:
        return LaneRow(lane.key, depth, lane, lane.subject_id, is_pinned=lane.key in self._pinned)

    def _is_wanted(self, label: str) -> bool:
        lower = label.lower()
        return all(word in lower for word in self._choices.words)


def siblings_of(rows: Sequence[LaneRow], row: LaneRow) -> list[LaneRow]:
    """Return the rows that a row can change places with, itself among them."""
    place = rows.index(row)

    def reaches(step: int) -> Iterator[LaneRow]:
        at = place + step
        while 0 <= at < len(rows) and rows[at].depth >= row.depth:
            other = rows[at]
            if other.depth == row.depth and other.kind is row.kind and not other.is_pinned:
                yield other
            at += step

    return [*reversed([*reaches(-1)]), row, *reaches(1)]
