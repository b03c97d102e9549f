"""Texts over the lanes: local times, and what timers wait for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

from inspector.analysis.lanes.lanes import LaneKind
from inspector.formats.arrangement.clock_layout import behind_local_time, clock_head
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Row
from inspector.timebase import format_instant

from ..kit.theme import ColorRole, Theme, mixed
from ..plotting.sheet_painter import KeptTexts, kept_texts
from .lane_headers import PAUSE_SIGN, lane_wait

if TYPE_CHECKING:
    from .lane_names import PlacedRow, PlacedRows
    from .lane_surface import LaneSurface

_CHIP_RADIUS: Final = 9
#: Pixels between the line of the instant shown and a text.
_BESIDE_LINE: Final = 6


class _Said(NamedTuple):
    box: QRect
    text: str
    role: ColorRole
    patches: list[tuple[QRect, QColor]]  # What is filled behind it, in order
    chip: QRectF | None  # The outline around it, None for none
    sign: list[QRect]  # The bars of the sign of a pause
    is_before_line: bool  # Whether it stands before the instant shown, not at the right edge


class _Words(NamedTuple):
    made_for: object  # What they depend on
    said: list[_Said]
    late: list[tuple[PlacedRow, int]]  # What is late, and since when
    shown_x: int  # The pixel of the instant shown
    # From where to where that may be while they are right, but for the place of what stands
    # before it.
    from_x: float
    until_x: float


class LaneWords:
    """Writes the texts, and finds new ones only when what they depend on has changed."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._words: _Words | None = None
        self._turn: object = None
        self._times: dict[int, str] = {}  # Local times of clocks, until their turn

    def forget(self) -> None:
        self._words = None

    @property
    def texts(self) -> list[str]:
        return [] if self._words is None else [said.text for said in self._words.said]

    def paint(
        self,
        painter: QPainter,
        canvas: LaneSurface,
        window: LaneWindow,
        rows: PlacedRows,
        when: tuple[object, int, int],
    ) -> None:
        """Write the texts.

        Args:
            when: What decides on texts, the pixel of the instant shown, and the lateness from
                which a firing stands out.
        """
        font, (turn, shown_x, late_ns) = painter.font(), when
        made_for = (
            *(turn, late_ns, rows, window.left, window.width, round(window.span), font),
            # In a view that follows the right edge moves on, and what waits beyond it is text.
            canvas.view.is_following or window.high,
            *(canvas.verticalScrollBar().maximum(), canvas.view.x_axis),
        )
        texts = kept_texts(canvas.small_font())
        painter.setFont(texts.font)
        words = self._words
        if (
            words is None
            or words.made_for != made_for
            or not words.from_x <= shown_x <= words.until_x
        ):
            if turn != self._turn:
                self._turn = turn
                self._times.clear()
            words = self._words_of(texts.metrics, canvas, window, rows, when)
            words = self._words = words._replace(made_for=made_for)
        for placed, due_ns in words.late:
            self._late(painter, placed, window, due_ns, shown_x)
        moved = shown_x - words.shown_x
        for said in words.said:
            if moved and said.is_before_line:
                painter.translate(moved, 0)
                self._say(painter, texts, said)
                painter.translate(-moved, 0)
            else:
                self._say(painter, texts, said)
        painter.setFont(font)

    def _words_of(
        self,
        metrics: QFontMetrics,
        canvas: LaneSurface,
        window: LaneWindow,
        rows: PlacedRows,
        when: tuple[object, int, int],
    ) -> _Words:
        """Return local times where clocks have come to, and at the right what timers wait for."""
        (_, shown_x, late_ns), right = when, window.left + window.width
        is_past = canvas.past is not None
        timeline = canvas.timeline if canvas.past is None else canvas.past
        timeline.resolve_dues()
        lowest = rows.pinned_box.bottom() + 1
        is_in_view = window.left < shown_x <= right
        said: list[_Said] = []
        late: list[tuple[PlacedRow, int]] = []
        from_x, until_x = (window.left + 1.0, right) if is_in_view else (math.inf, -math.inf)
        for placed in (*rows.scrolled, *rows.pinned):
            row = placed.row
            if placed.y < lowest and not row.is_pinned:
                continue
            if row.kind is LaneKind.CLOCK and row.clock_id in timeline.clocks:
                if is_in_view:
                    least = self._local_time(metrics, canvas, placed, window, shown_x, said)
                    from_x = max(from_x, least)
            elif row.kind is LaneKind.TIMER and row.lane is not None:
                waits = lane_wait(row.lane, timeline, window.high, is_past=is_past)
                if waits.late_ns > late_ns:
                    late.append((placed, timeline.at_ns - waits.late_ns))
                text = waits.text(late_ns)
                if text:
                    begin = shown_x + _BESIDE_LINE if window.left < shown_x < right else window.left
                    # The scroll bar lies over the right edge.
                    end = right - (14 if canvas.verticalScrollBar().maximum() else 8)
                    for each in filter(None, (text, waits.brief)):
                        limit = end - metrics.horizontalAdvance(each) - _BESIDE_LINE
                        # Which of them has room stays so while the line is not near.
                        if shown_x < limit:
                            until_x = min(until_x, limit - _BESIDE_LINE)
                        else:
                            from_x = max(from_x, limit + _BESIDE_LINE)
                    needed = metrics.horizontalAdvance(text)
                    text = waits.brief or text if needed > end - begin else text
                    said.extend(
                        self._text_before(
                            *(metrics, Row(placed.y, placed.height), text, (begin, end)),
                            ground=ColorRole.BLUEBG if placed.is_marked else ColorRole.BG,
                            is_chip=placed.is_marked,
                        )
                    )
        return _Words(None, said, late, shown_x, from_x, until_x)

    def _local_time(  # noqa: PLR0913, PLR0917 - a time, its place and where it is said
        self,
        metrics: QFontMetrics,
        canvas: LaneSurface,
        placed: PlacedRow,
        window: LaneWindow,
        shown_x: int,
        all_said: list[_Said],
    ) -> float:
        """Say what local time a clock has come to; what stands in its way gives way.

        Returns down to which pixel the instant shown may move for that to stay right.
        """
        number, theme = placed.row.clock_id, self._theme
        timeline = canvas.timeline if canvas.past is None else canvas.past
        past = canvas.store.clocks.by_id.get(number)
        head = None
        if past is not None:
            head = clock_head(past, timeline.at_ns, window, Row(placed.y, placed.height))
        end = shown_x - _BESIDE_LINE
        text = self._times.get(number)
        if text is None:
            text = self._times[number] = format_instant(timeline.local_ns(number))
        begin = end - metrics.horizontalAdvance(text)
        blocks = canvas.store.blocks.within(number, window.at(begin), window.at(end))
        if head is None or any(block.lasts for block in blocks):
            # What blocks its loop now is more than where it has come to.
            return math.inf
        stands = timeline.clocks[number].n == 0 or bool(blocks)
        wide, label = metrics.horizontalAdvance(text), metrics.horizontalAdvance(head.label)
        patches = list[tuple[QRect, QColor]]()
        for (left, top, patch_end, bottom), token in behind_local_time(
            head, wide, label, end, stands=stands
        ):
            color = theme.color(ColorRole(token))
            # The line of the instant shown lies between the two.
            before = min(patch_end, shown_x - 1)
            patches.append((QRect(left, top, before - left, bottom - top), color))
            if canvas.past is not None and patch_end > shown_x + 1:
                # Beyond the present there is nothing yet.
                color = mixed(color, theme.color(ColorRole.BG), 0.5)
                rest = QRect(shown_x + 1, top, patch_end - shown_x - 1, bottom - top)
                patches.append((rest, color))
        all_said.extend(
            self._text_before(
                *(metrics, head.row, text, (window.left, end)),
                patches=patches,
                is_before_line=True,
            )
        )
        # What is behind a local time alone moves along with it.
        return -math.inf if len(patches) == stands and not blocks else math.inf

    def _text_before(  # noqa: PLR0913, PLR0917 - a text, its place and its look
        self,
        metrics: QFontMetrics,
        place: Row,
        text: str,
        room: tuple[int, int],
        ground: ColorRole | None = None,
        patches: Sequence[tuple[QRect, QColor]] = (),
        *,
        is_before_line: bool = False,
        is_chip: bool = False,
    ) -> Iterator[_Said]:
        """Yield a text that ends at the end of its room, over a ``ground``, and what it covers.

        Without enough room it is empty.
        """
        # The sign of a pause is drawn: that of a font looks different in each.
        text, is_pause = text.removeprefix(PAUSE_SIGN), text.startswith(PAUSE_SIGN)
        high = metrics.ascent() - 2
        sign = high if is_pause else 0
        width = metrics.horizontalAdvance(text) + sign
        box = QRect(room[1] - width, place.top, width + 1, place.height)
        if box.left() < room[0]:
            if patches:
                yield _Said(QRect(), "", ColorRole.TEXT, [*patches], None, [], is_before_line)
            return
        filled = [*patches]
        if ground is not None:
            pad = _CHIP_RADIUS if is_chip else 4
            patch = QRect(box.left() - pad, place.top + 1, width + 2 * pad, place.height - 2)
            filled.append((patch, self._theme.color(ground)))
        role = ColorRole.TEXT if is_before_line else ColorRole.MUTED
        chip = None
        if is_chip:
            role = ColorRole.BLUE
            chip = QRectF(box.left() - 7.5, place.top + 1.5, width + 15, place.height - 3)
        bars = []
        if is_pause:
            top, thick = place.top + (place.height - high) // 2, max(high // 5, 1)
            bars = [QRect(x, top, thick, high) for x in (box.left(), box.left() + high // 2)]
        box.adjust(sign, 0, 0, 0)
        yield _Said(box, text, role, filled, chip, bars, is_before_line)

    def _say(self, painter: QPainter, texts: KeptTexts, said: _Said) -> None:
        color = self._theme.color(said.role)
        for patch, ground in said.patches:
            painter.fillRect(patch, ground)
        painter.setPen(color)
        if said.chip is not None:
            painter.setBrush(self._theme.color(ColorRole.BG))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawRoundedRect(said.chip, _CHIP_RADIUS, _CHIP_RADIUS)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        texts.draw(painter, said.box.left(), Row(said.box.top(), said.box.height()), said.text)
        for bar in said.sign:
            painter.fillRect(bar, color)

    def _late(
        self, painter: QPainter, placed: PlacedRow, window: LaneWindow, due_ns: int, shown_x: int
    ) -> None:
        """Draw a line from where a timer that waits was due up to the instant shown."""
        x, middle = max(int(window.x(due_ns)), window.left), placed.y + placed.height // 2
        color = self._theme.color(ColorRole.ORANGE)
        painter.fillRect(x, middle - 1, max(shown_x - x, 2), 2, color)
        painter.fillRect(x, middle - 6, 2, 12, color)
