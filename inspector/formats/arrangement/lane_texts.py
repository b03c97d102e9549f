"""Texts over lanes, beside the instant shown: local times, and what timers wait for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from inspector.analysis.lanes.clocks import GONE
from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lanes.waits import PAUSE_SIGN, LaneWait
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.clock_layout import behind_local_time, clock_head
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Colors, Row, Sheet, mixed

#: Left, top, right and bottom of a rectangle, the last two exclusive.
Edges: TypeAlias = "tuple[int, int, int, int]"

#: Pixels between the line of the instant shown and a text.
BESIDE_LINE: Final = 6
CHIP_RADIUS: Final = 9


class Patch(NamedTuple):
    edges: Edges
    color: str
    hatch: str = ""  # The colour of the hatching over it, empty for none


class PlacedText(NamedTuple):
    left: int
    row: Row
    text: str
    color: str
    patches: list[Patch]  # What is filled behind it, in order
    # The outline around the text: left, top, width and height; None for none
    chip: tuple[float, float, float, float] | None
    sign: list[Edges]  # The two bars of a pause sign
    is_before_line: bool  # Whether it stands before the instant shown, not at the right edge

    def write(self, sheet: Sheet, layer: int) -> None:
        """Write the text into a layer and the one above, without its outline."""
        # Exported pictures show the present, where no text lies on hatching.
        for edges, color, _ in self.patches:
            sheet.rect(layer, color, edges)
        for edges in self.sign:
            sheet.rect(layer + 1, self.color, edges)
        sheet.text(layer + 1, self.color, self.text, self.left, self.row)


class LaneTexts(NamedTuple):
    """Places texts as of an instant, in the window as in pictures."""

    colors: Colors
    width_of: Callable[[str], float]
    sign: int  # The height of a pause sign
    store: LaneStore
    timeline: Timeline  # The state at the instant shown, with its dues resolved
    window: LaneWindow
    shown_x: int  # The pixel of the instant shown
    is_past: bool  # Whether that is before the present

    def local_time(self, number: int, text: str, place: Row) -> tuple[PlacedText | None, float]:
        """Return the local time of a clock as a text that covers whatever is in its way.

        Also returns the lowest pixel of the instant shown for which the text remains correct.
        """
        timeline, colors, window = self.timeline, self.colors, self.window
        past = self.store.clocks.by_id.get(number)
        if past is None:
            return None, math.inf
        step = past.place_at(timeline.at_ns)
        end, wide = self.shown_x - BESIDE_LINE, math.ceil(self.width_of(text))
        # If a pause has begun or ended under the right half of the text, most of the text lies on
        # the step before that, whose head is taken.
        rates = past.value[max(step - 1, 0) : step + 1]
        begins = len(rates) > 1 and min(rates) <= 0 and past.at_ns[step] > window.at(end - wide / 2)
        head = clock_head(past, past.at_ns[step] - 1 if begins else timeline.at_ns, window, place)
        blocks = self.store.blocks.within(number, window.at(end - wide), window.at(end))
        if head is None or any(block.lasts for block in blocks):
            # A block that lasts is more important than the local time.
            return None, math.inf
        stands = (rates[0] if begins else timeline.clocks[number].n) == 0
        head = head._replace(is_filled=head.is_filled and not stands)
        is_crossed = stands or begins or bool(blocks)
        patches = list[Patch]()
        # At the present, a pause has a label only where there is room beside the local time.
        label = 0.0 if stands and not self.is_past else self.width_of(head.label)
        boxes = behind_local_time(head, wide, label, end, is_crossed=is_crossed)
        for box in boxes:
            (left, top, right, bottom), token = box
            # Where the label of a pause is covered, the pause is hatched as everywhere else.
            tokens = (token, "hatch") if stands and box is not boxes[-1] else (token,)
            fills = [colors[each] for each in tokens]
            # The line of the instant shown lies between this patch and the next one.
            patches.append(Patch((left, top, min(right, self.shown_x - 1), bottom), *fills))
            if self.is_past and right > self.shown_x + 1:
                # After an instant shown in the past, lanes are faint, and so is this.
                rest = self.shown_x + 1, top, right, bottom
                patches.append(Patch(rest, *(mixed(each, colors["bg"], 0.5) for each in fills)))
        placed = self._before(text, head.row, (window.left, end), patches, is_before_line=True)
        # A patch that lies behind the local time only moves along with it.
        return placed, -math.inf if len(patches) == stands and not blocks else math.inf

    def time_beyond(self, number: int, text: str, place: Row, end: int) -> PlacedText | None:
        """Return the local time of a clock if the instant shown is to the right of the view."""
        colors, window = self.colors, self.window
        past, at_ns = self.store.clocks.by_id.get(number), int(window.high)
        head = None if past is None else clock_head(past, at_ns, window, place)
        text = f"→ {text}"
        wide = math.ceil(self.width_of(text))
        blocks = self.store.blocks.within(number, window.at(end - wide), window.at(end))
        if past is None or head is None or past.value[past.place_at(at_ns)] == GONE:
            return None
        stands = past.value[past.place_at(at_ns)] == 0
        is_crossed, label = stands or bool(blocks), self.width_of(head.label)
        boxes = behind_local_time(head, wide, label, end, is_crossed=is_crossed)
        patches = [Patch(box, colors[token]) for box, token in boxes]
        if stands and len(patches) > 1:
            patches[0] = patches[0]._replace(hatch=colors["hatch"])
        placed = self._before(text, head.row, (window.left, end), patches)
        # Muted text would be unreadable on a bar.
        return None if placed is None else placed._replace(color=colors["text"])

    def wait(
        self, waits: LaneWait, late_ns: int, place: Row, end: int, ground: str = "bg"
    ) -> tuple[PlacedText | None, float, float]:
        """Return what a lane waits for, as a text before an edge at the right.

        Also returns between which pixels the instant shown may be for the text to remain correct.

        Args:
            late_ns: A shorter lateness is not mentioned.
            ground: The colour token behind the lane; on that of a selection, the text is a chip.
        """
        from_x, until_x = -math.inf, math.inf
        text, shown_x, window = waits.text(late_ns), self.shown_x, self.window
        if not text:
            return None, from_x, until_x
        is_in_view = window.left < shown_x < window.left + window.width
        begin = shown_x + BESIDE_LINE if is_in_view else window.left
        forms = text, *waits.briefs
        for each in forms:
            limit = end - math.ceil(self.width_of(each)) - BESIDE_LINE
            # The choice of a form holds until the line comes near the limit of that form.
            if shown_x < limit:
                until_x = min(until_x, limit - BESIDE_LINE)
            else:
                from_x = max(from_x, limit + BESIDE_LINE)
        fits = (each for each in forms if math.ceil(self.width_of(each)) <= end - begin)
        text = next(fits, forms[-1])
        is_chip, color = ground == "bluebg", self.colors[ground]
        placed = self._before(text, place, (begin, end), ground=color, is_chip=is_chip)
        return placed, from_x, until_x

    def _before(  # noqa: PLR0913 - a text, its place and its look
        self,
        text: str,
        place: Row,
        room: tuple[int, int],
        patches: Sequence[Patch] = (),
        *,
        ground: str = "",
        is_before_line: bool = False,
        is_chip: bool = False,
    ) -> PlacedText | None:
        """Return a text that ends at the end of its room, with the patches behind it.

        If it has no room, the text is empty, or ``None`` is returned if there are no patches.
        """
        # The pause sign is drawn as two bars, because the character looks different in each font.
        text, is_pause = text.removeprefix(PAUSE_SIGN), text.startswith(PAUSE_SIGN)
        high, filled = self.sign, [*patches]
        width = math.ceil(self.width_of(text)) + (high if is_pause else 0)
        left = room[1] - width
        if left < room[0]:
            if not patches:
                return None
            return PlacedText(0, place, "", "", filled, None, [], is_before_line)
        if ground:
            pad = CHIP_RADIUS if is_chip else 4
            edges = left - pad, place.top, room[1] + pad, place.bottom
            filled.append(Patch(edges, ground))
        token, chip, bars = "text" if is_before_line else "muted", None, []
        if is_chip:
            token, chip = "blue", (left - 7.5, place.top + 1.5, width + 15, place.height - 3)
        if is_pause:
            top, thick = place.top + (place.height - high) // 2, max(high // 5, 1)
            bars = [(x, top, x + thick, top + high) for x in (left, left + high // 2)]
            left += high
        return PlacedText(left, place, text, self.colors[token], filled, chip, bars, is_before_line)


def late_line(due_ns: int, place: Row, window: LaneWindow, shown_x: int) -> list[Edges]:
    """Return a line from the instant at which a late timer was due to the instant shown."""
    x, middle = max(int(window.x(due_ns)), window.left), place.top + place.height // 2
    line_end = max(shown_x, x + 2)
    return [(x, middle - 1, line_end, middle + 1), (x, middle - 6, x + 2, middle + 6)]
