"""Which lanes of a session a picture shows, and what is drawn on each."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.landmarks import Landmark
from inspector.analysis.lanes.clocks import GONE
from inspector.analysis.lanes.lane_columns import Instants, Levels, Steps
from inspector.analysis.lanes.lanes import Lane, LaneKey, LaneKind, LaneStore
from inspector.analysis.lanes.spans import Spans
from inspector.analysis.lanes.states import state_numbers
from inspector.analysis.lateness.words import block_name
from inspector.events.timeline import Timeline
from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.formats.drawing.font_metrics import plain, text_width
from inspector.formats.drawing.state_colors import FAINTER_STATE, text_on
from inspector.formats.frame_graph.frame_plot import Scale
from inspector.formats.options import GraphColors
from inspector.pictures.looks import hatching
from inspector.pictures.shapes import Shape, ShapeKind
from inspector.timebase import format_duration
from inspector.tokens import STATE_COLORS
from inspector.vocabulary import RATE_DENOMINATOR, rate_text

#: Lanes of a clock besides that of the clock; more share the last one. With very many lanes in
#: all, fewer of each clock are named.
_MOST_OF_CLOCK: Final = 16
_MANY_ROWS: Final = 64
#: Lanes in all.
MOST_ROWS: Final = 120
SMALL: Final = 8.0
_LISTS: Final = (LaneKind.MARKS, LaneKind.COMMANDS, LaneKind.FAILURES, LaneKind.HITS)
_PAD: Final = 2.0
_HATCH_GAP: Final = 3.0
#: Marks closer together than this many points are drawn as density.
_DENSE_POINTS: Final = 1.5
_LEVELS: Final = 5
_TEXT_ROOM: Final = 6.0
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A lane of the picture.

    Attributes:
        kind: What it shows; ``None`` for a text alone.
        label: Its name.
        depth: Depth of its clock in the tree.
        clock_id: Its clock.
        lane: Its records; ``None`` for a clock.
    """

    kind: LaneKind | None
    label: str
    depth: int = 0
    clock_id: int = 0
    lane: Lane | None = None

    @property
    def height(self) -> float:
        """Its height in points."""
        return 15.0 if self.kind is LaneKind.CLOCK else 12.0


def rows_of(
    store: LaneStore, low_ns: float, high_ns: float, lists: Container[LaneKind] = _LISTS
) -> list[Row]:
    """Return the lanes that have something between two instants, clock after clock.

    Args:
        lists: Which of marks, commands, failures and hits have a lane.
    """
    lanes: dict[int, list[Lane]] = {}
    for lane in store.lanes.values():
        if _has_some(lane, low_ns, high_ns):
            lanes.setdefault(lane.clock_id, []).append(lane)
    children = _children(store, low_ns, high_ns)

    def lanes_of(number: int, depth: int, most: int) -> Iterator[Row]:
        yield Row(LaneKind.CLOCK, store.clocks.by_id[number].name, depth, number)
        own = sorted(_by_call_site(lanes.get(number, ())), key=lambda lane: lane.kind)
        named = own if len(own) <= most else own[: most - 1]
        for lane in named:
            yield Row(lane.kind, lane.title, depth + 1, number, lane)
        if others := own[len(named) :]:
            label = f"{len(others):,} {'more' if named else 'lanes'}"
            yield Row(LaneKind.TIMER, label, depth + 1, number, _merged(others))

    own = [each for each in lanes.get(0, ()) if each.kind in _LISTS and each.kind in lists]
    rows = [Row(lane.kind, lane.label, lane=lane) for lane in own]
    most, found = _MOST_OF_CLOCK, list[Row]()
    while most:
        found = []
        waiting = [(number, 0) for number in reversed(children.get(0, []))]
        while waiting:
            number, depth = waiting.pop()
            found += lanes_of(number, depth, most)
            waiting += ((child, depth + 1) for child in reversed(children.get(number, [])))
        most = most // 2 if len(found) > _MANY_ROWS else 0
    rows += found
    if len(rows) > MOST_ROWS:
        rows[MOST_ROWS - 1 :] = [Row(None, f"{len(rows) - MOST_ROWS + 1:,} more lanes")]
    return rows


def _by_call_site(lanes: Iterable[Lane]) -> Iterable[Lane]:
    """Return lanes with a single one for all timers that were made at one call site."""
    members: dict[LaneKey, list[Lane]] = {}
    for lane in lanes:
        members.setdefault((lane.family or lane).key, []).append(lane)
    for own in members.values():
        family = own[0].family
        yield own[0] if family is None or len(own) == 1 else family


def _merged(lanes: Sequence[Lane]) -> Lane:
    """Return what lanes have, on a single one."""
    merged = Lane(LaneKind.TIMER, lanes[0].clock_id, "")
    entries = [
        entry
        for lane in lanes
        for entry in zip(
            lane.instants.at_ns, lane.instants.value, lane.instants.subject, strict=True
        )
    ]
    for entry in sorted(entries):
        merged.instants.append(*entry)
    return merged


def _children(store: LaneStore, low_ns: float, high_ns: float) -> dict[int, list[int]]:
    """Return the clocks that are there between two instants, by their parent."""
    found: dict[int, list[int]] = {}
    for number, past in store.clocks.by_id.items():
        is_over = len(past) and past.value[-1] == GONE and past.at_ns[-1] <= low_ns
        if len(past) and past.at_ns[0] <= high_ns and not is_over:
            found.setdefault(past.parent[-1], []).append(number)
    return found


def _has_some(lane: Lane, low_ns: float, high_ns: float) -> bool:
    if lane.kind is LaneKind.MACHINE:
        return len(lane.steps) > 0 and lane.steps.at_ns[0] <= high_ns
    if lane.levels is not None:
        return len(lane.levels.at_ns) > 0 and lane.levels.at_ns[0] <= high_ns
    records = lane.instants if lane.spans is None else lane.spans
    start, stop = records.within(low_ns, high_ns + 1)
    return stop > start


def brief(text: str) -> str:
    """Return the beginning of a text on one line; what a damaged file has may be endless."""
    return plain(text[:_LONGEST])


def mixed(color: str, other: str, share: float) -> str:
    """Return a colour between two, with this share of the first."""
    pairs = zip(_parts(color), _parts(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _parts(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


class LaneDrawing:
    """Draws lanes.

    Attributes:
        used: What was drawn that a legend explains.
        late_ns: Lateness from which a firing stands out.
    """

    def __init__(
        self,
        store: LaneStore,
        timeline: Timeline,
        scale: Scale,
        colors: GraphColors,
        late_ns: float,
    ) -> None:
        self.used: set[str] = set()
        self.late_ns = late_ns
        self._store, self._timeline, self._scale, self._colors = store, timeline, scale, colors
        self._present_ns = min(timeline.at_ns, int(scale.high))

    def row(self, row: Row, top: float) -> list[Item]:  # noqa: PLR0911 - one for each kind
        """Return what is on a lane whose upper edge is at ``top``."""
        box = Box(self._scale.box.x, top + _PAD, self._scale.box.width, row.height - 2 * _PAD)
        if row.kind is LaneKind.CLOCK:
            return self._clock(row.clock_id, box)
        lane = row.lane
        if lane is None:
            return []
        if lane.kind is LaneKind.MACHINE:
            return self._states(lane, box)
        if lane.kind in _LISTS:
            return self._signs(lane, box)
        if lane.levels is not None:
            return self._levels(lane.levels, box)
        if lane.spans is not None:
            return self._ends(lane.spans, box, self._colors.muted_text)
        if lane.kind is LaneKind.TIMER:
            return self._ticks(lane.instants, box, self._colors.text, self.late_ns)
        return self._ticks(lane.instants, box, self._colors.muted_text, 0)

    @property
    def left(self) -> float:
        return self._scale.box.x

    # ---------------------------------------------------------------- clocks, machines

    def running_color(self) -> str:
        return mixed(self._colors.line, self._colors.background, 0.5)

    def _clock(self, number: int, box: Box) -> list[Item]:
        colors, past = self._colors, self._store.clocks.by_id[number]
        running = self.running_color()
        stretches = list(self._stretches(past))
        highest = max([RATE_DENOMINATOR, *(rate for _, _, rate in stretches)])
        found: list[Item] = []
        stops: list[tuple[float, float, str, bool]] = []
        for begin, end, rate in stretches:
            if rate > 0:
                self.used.add("running")
                high = box.height * rate / highest
                found.append(Rect(_box(begin, box.bottom - high, end, box.bottom), running))
                if rate != RATE_DENOMINATOR:
                    self._add_label(found, f"×{rate_text(rate)}", begin, end, box)
            elif rate == 0:
                stops.append((begin, end, "paused", True))
        since = past.at_ns[0]
        for above in self._store.clocks.path_at(number, self._scale.high)[1:]:
            for begin, end, rate in self._stretches(self._store.clocks.by_id[above], since):
                if rate == 0:
                    stops.append((begin, end, "", False))
        # A stop of its own lies over those of clocks above.
        for begin, end, label, is_own in sorted(stops, key=lambda stop: stop[3]):
            self.used.add("paused" if is_own else "stopped")
            found += self.hatched(_box(begin, box.y, end, box.bottom), is_own=is_own)
            if label:
                self._add_label(found, label, begin, end, box, colors.background)
        return found + self._blocked(number, box)

    def _blocked(self, number: int, box: Box) -> list[Item]:
        """Return in which stretches functions blocked the loop of a clock, named where possible."""
        scale, colors, found = self._scale, self._colors, list[Item]()
        for block in self._store.blocks.within(number, scale.low, scale.high):
            self.used.add("blocked")
            begin = scale.x(max(block.begin_ns, scale.low))
            end = max(scale.x(min(block.end_ns, scale.high)), begin + 0.5)
            found.append(Rect(_box(begin, box.y, end, box.bottom), colors.failure))
            name = block_name(block)
            for text in (f"{name} {format_duration(block.took_ns)}", name):
                before = len(found)
                self._add_label(found, text, begin, end, box, color=colors.background)
                if len(found) > before:
                    break
        return found

    def hatched(self, box: Box, *, is_own: bool) -> list[Item]:
        """Return a hatched box, fainter for what a clock above has stopped."""
        colors = self._colors
        color = mixed(colors.axis, colors.background, 0.9 if is_own else 0.45)
        found: list[Item] = [Rect(box, colors.background)]
        # In its own corner, so that boxes of one height are hatched alike.
        shape = Shape(ShapeKind.BOX, (0.0, 0.0, box.width, box.height))
        path = hatching(shape, _HATCH_GAP, box.width + box.height)
        if path:
            points = [Point(round(box.x + x, 2), round(box.y + y, 2)) for x, y in path]
            found.append(Polyline(tuple(points), Stroke(color, 0.7)))
        if is_own:
            found.append(Rect(Box(box.x, box.y, 1.0, box.height), colors.axis))
        return found

    def state_color(self, number: int) -> str:
        """Return the colour of the n-th state of a machine, as the window has it."""
        color = STATE_COLORS[number % len(STATE_COLORS)]
        is_known = number < len(STATE_COLORS)
        return color if is_known else mixed(color, self._colors.background, FAINTER_STATE)

    def _states(self, lane: Lane, box: Box) -> list[Item]:
        self.used.add("state")
        strings = self._store_strings
        known = state_numbers(self._timeline.members, lane.subject_id)
        numbers = {state: number for number, state in enumerate(known)}
        found: list[Item] = []
        for begin, end, state in self._stretches(lane.steps):
            if state < 0:
                continue
            color = self.state_color(numbers.setdefault(state, len(numbers)))
            found.append(Rect(_box(begin, box.y, end, box.bottom), color))
            name = brief(strings[state]) if state < len(strings) else "?"
            self._add_label(found, name, begin, end, box, color=text_on(*_parts(color)))
        return found

    @property
    def _store_strings(self) -> Sequence[str]:
        return self._store.clocks.strings

    def _stretches(self, steps: Steps, since_ns: float = 0) -> Iterator[tuple[float, float, int]]:
        """Go through the states in view: from x to x, and the state; dense ones by columns."""
        scale = self._scale
        low, high = max(scale.low, since_ns), self._present_ns
        start, stop = steps.within(low, high)
        columns = round(2 * scale.box.width)
        if stop - start > columns:
            instants = np.linspace(low, high, columns, endpoint=False).astype(np.int64)
            places = steps.places(instants)
            states = [steps.value[place] if place >= 0 else GONE for place in places.tolist()]
            begins = instants.tolist()
        else:
            states = steps.value[start:stop].tolist()
            begins = [max(each, low) for each in steps.at_ns[start:stop]]
        # A pause goes on while the rate changes below it.
        runs = [next(run) for _, run in groupby(zip(begins, states, strict=True), _state_of)]
        for (begin, state), (end, _) in zip(runs, [*runs[1:], (high, 0)], strict=True):
            if end > begin:
                yield scale.x(begin), scale.x(min(end, high)), state

    def _add_label(  # noqa: PLR0913, PLR0917 - a text and its room
        self,
        found: list[Item],
        text: str,
        begin: float,
        end: float,
        box: Box,
        patch: str = "",
        color: str = "",
    ) -> None:
        """Add a text where there is room for it, over a patch on hatching."""
        width = text_width(text, SMALL - 1)
        if not text or end - begin < width + 2 * _TEXT_ROOM:
            return
        if patch:
            found.append(Rect(Box(begin + 3, box.y + 0.5, width + 4, box.height - 1), patch))
        at = Point(round(begin + 5, 2), round(box.y + box.height / 2 + 2.6, 2))
        found.append(Text(at, text, SMALL - 1, color or self._colors.text))

    def _levels(self, levels: Levels, box: Box) -> list[Item]:
        """Return the values of a counter as an area from 0."""
        scale = self._scale
        count = int(scale.box.width)
        edges = np.linspace(scale.low, scale.high + 1, count + 1).astype(np.int64)
        low, high = levels.edges
        per_value = box.height / max(high - low, 1e-300)
        zero = box.bottom + low * per_value
        color, wide = mixed(self._colors.line, self._colors.background, 0.5), box.width / count
        found: list[Item] = []
        columns = enumerate(levels.highest(edges).tolist())
        for value, run in groupby(columns, lambda column: column[1]):
            first, *rest = run
            if value != value or edges[first[0]] > self._present_ns:  # noqa: PLR0124 - not a number
                continue
            left = box.x + first[0] * wide
            top = zero - value * per_value
            right = left + wide * (1 + len(rest))
            found.append(Rect(_box(left, min(top, zero), right, max(top, zero)), color))
        self._add_label(found, levels.text_of(high or low), box.x, box.right, box)
        return found

    # ---------------------------------------------------------------- instants

    def _ticks(self, instants: Instants, box: Box, color: str, late_ns: float) -> list[Item]:
        """Return what has fired: a tick each, or how many there are, as there is room."""
        scale, colors = self._scale, self._colors
        start, stop = instants.within(scale.low, scale.high + 1)
        self.used.add("tick")
        if stop - start > scale.box.width / _DENSE_POINTS:
            return self._density(instants, box, color, late_ns)
        found: list[Item] = []
        per_ns = scale.box.width / (scale.high - scale.low)
        for place in range(start, stop):
            x, value = scale.x(instants.at_ns[place]), instants.value[place]
            is_late = 0 < late_ns <= value
            if late_ns and (reach := min(value * per_ns, scale.box.right - x)) > 1:
                middle = box.y + box.height / 2
                faint = colors.spike if is_late else mixed(color, colors.background, 0.5)
                found.append(
                    Rect(Box(round(x, 2), round(middle - 0.5, 2), round(reach, 2), 1.0), faint)
                )
            found.append(self.tick(x, box, color, is_late=is_late))
            if is_late:
                self.used.add("late")
                found.append(self.late_sign(x, box))
        return found

    def _ends(self, spans: Spans, box: Box, color: str) -> list[Item]:
        """Return where slices end: a tick each, or how many there are, as there is room."""
        scale = self._scale
        start, stop = spans.within(scale.low, scale.high + 1)
        self.used.add("tick")
        if stop - start > scale.box.width / _DENSE_POINTS:
            counts = np.diff(spans.before(self._edges()))
            return self._columns(counts, np.zeros(len(counts), bool), box, color)
        return [self.tick(scale.x(end_ns), box, color) for end_ns in spans[start:stop]]

    def tick(self, x: float, box: Box, color: str, *, is_late: bool = False) -> Item:
        color = self._colors.spike if is_late else color
        return Rect(Box(round(x - 0.4, 2), box.y, 0.8, box.height), color)

    def late_sign(self, x: float, box: Box) -> Item:
        """Return what tells a late firing besides its colour."""
        return Rect(Box(round(x - 1.4, 2), box.y - 1, 2.8, 1.6), self._colors.spike)

    def _density(self, instants: Instants, box: Box, color: str, late_ns: float) -> list[Item]:
        places = instants.before(self._edges())
        counts = np.diff(places)
        is_late = np.zeros(len(counts), bool)
        if late_ns and instants.highest >= late_ns:
            is_late = instants.maxima(places)[: len(counts)] >= late_ns
        return self._columns(counts, is_late, box, color)

    def _edges(self) -> NDArray[np.int64]:
        """Return the instants at the edges of columns of a point each."""
        scale = self._scale
        return np.linspace(scale.low, scale.high + 1, int(scale.box.width) + 1).astype(np.int64)

    def _columns(
        self, counts: NDArray[np.int64], is_late: NDArray[np.bool_], box: Box, color: str
    ) -> list[Item]:
        """Return columns that are the darker the more there is in them."""
        scale, colors = self._scale, self._colors
        levels = np.ceil(_LEVELS * np.sqrt(counts / max(int(counts.max()), 1))).astype(int)
        wide = scale.box.width / len(counts)
        found: list[Item] = []
        columns = enumerate(zip(levels.tolist(), is_late.tolist(), strict=True))
        for (level, late), run in groupby(columns, lambda each: each[1]):
            first, *rest = run
            if not level:
                continue
            if late:
                self.used.add("late")
            share = 0.25 + 0.75 * level / _LEVELS
            fill = colors.spike if late else mixed(color, colors.background, share)
            left = box.x + first[0] * wide
            width = wide * (1 + len(rest))
            found.append(Rect(Box(round(left, 2), box.y, round(width, 2), box.height), fill))
        return found

    def _signs(self, lane: Lane, box: Box) -> list[Item]:
        """Return marks, commands, failures or hits, with their texts where there is room."""
        scale, colors = self._scale, self._colors
        color = {
            LaneKind.MARKS: colors.landmark,
            LaneKind.FAILURES: colors.failure,
        }.get(lane.kind, colors.intervention)
        start, stop = lane.instants.within(scale.low, scale.high + 1)
        if stop - start > scale.box.width / 4:
            return self._density(lane.instants, box, color, 0)
        places = range(start, stop)
        texts = [self._text_of(lane.kind, lane.instants.subject[place]) for place in places]
        xs = [scale.x(lane.instants.at_ns[place]) for place in places]
        return self._diamonds(list(zip(xs, texts, strict=True)), box, color)

    def landmarks(self, landmarks: Sequence[Landmark], top: float) -> list[Item]:
        """Return bookmarks and notes, and named ranges as bars behind them."""
        scale, colors = self._scale, self._colors
        box = Box(scale.box.x, top + _PAD, scale.box.width, Row(None, "").height - 2 * _PAD)
        found: list[Item] = []
        signs = []
        for each in landmarks:
            begin = scale.x(max(each.at_ns, scale.low))
            if each.end_ns is not None:
                end = scale.x(min(each.end_ns, scale.high))
                found.append(
                    Rect(
                        _box(begin, box.y, end, box.bottom),
                        mixed(colors.landmark, colors.background, 0.3),
                    )
                )
                self._add_label(found, brief(each.name), begin, end, box)
            elif scale.low <= each.at_ns <= scale.high:
                signs.append((begin, each.name))
        return found + self._diamonds(signs, box, colors.landmark)

    def _diamonds(self, signs: list[tuple[float, str]], box: Box, color: str) -> list[Item]:
        """Return signs at places, with their texts where there is room before the next."""
        found: list[Item] = []
        ends = [x for x, _ in signs[1:]] + [self._scale.box.right]
        for (x, said), end in zip(signs, ends, strict=True):
            y, reach = box.y + box.height / 2, 2.6
            corners = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
            points = tuple([Point(round(a, 2), round(b, 2)) for a, b in corners])
            found.append(Polygon(points, color))
            text = brief(said)
            if text and text_width(text, SMALL - 1) + 10 < end - x:
                at = Point(round(x + 5, 2), round(y + 2.6, 2))
                found.append(Text(at, text, SMALL - 1, self._colors.text, Anchor.START))
        return found

    def _text_of(self, kind: LaneKind, place: int) -> str:
        timeline = self._timeline
        match kind:
            case LaneKind.MARKS:
                return timeline.marks[place].text
            case LaneKind.COMMANDS:
                return timeline.commands[place].text
            case LaneKind.FAILURES:
                return timeline.failures[place].label
            case _:
                return timeline.hits[place].text


def _state_of(stretch: tuple[float, int]) -> int:
    return stretch[1]


def _box(left: float, top: float, right: float, bottom: float) -> Box:
    return Box(
        round(left, 2), round(top, 2), round(max(right - left, 0.3), 2), round(bottom - top, 2)
    )
