"""Paints the texts over lanes, which are laid out again only when they may have changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from inspector.analysis.lanes.lanes import LaneKind
from inspector.analysis.lanes.waits import lane_wait
from inspector.formats.arrangement.lane_texts import (
    CHIP_RADIUS,
    Edges,
    LaneTexts,
    PlacedText,
    late_line,
)
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Row
from inspector.timebase import format_local_time

from ..kit.theme import ColorRole, Theme
from ..plotting.sheet_painter import KeptTexts, hatching, named_color, small_texts, theme_colors

if TYPE_CHECKING:
    from .lane_names import PlacedRows
    from .lane_surface import LaneSurface


class _Words(NamedTuple):
    made_for: object  # What they depend on
    said: list[PlacedText]  # The texts; first those that move along with the instant shown
    late: list[tuple[Row, int]]  # The rows of late timers and calls, and since when
    shown_x: int  # The pixel of the instant shown
    # From where to where it may be while the texts stay right, apart from the places of
    # those before it.
    from_x: float
    until_x: float


class LaneWords:
    """Writes the texts, and finds new ones only when what they depend on has changed."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._words: _Words | None = None
        self._moment: tuple[object, ...] = ()
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
        when: tuple[tuple[object, ...], int, int],
    ) -> None:
        """Write the texts.

        Args:
            when: What decides on texts, the pixel of the instant shown, and the lateness from
                which a firing stands out.
        """
        font, (turn, shown_x, late_ns) = painter.font(), when
        made_for = (
            *(turn, late_ns, rows, window.left, window.width, round(window.span), font),
            # A following view moves on all the time; firings beyond its right edge come with the
            # next texts.
            canvas.view.is_following or window.high,
            *(canvas.verticalScrollBar().maximum(), canvas.view.x_axis),
        )
        texts = small_texts(painter)
        painter.setFont(texts.font)
        words = self._words
        if (
            words is None
            or words.made_for != made_for
            or not words.from_x <= shown_x <= words.until_x
        ):
            if turn[:3] != self._moment:
                # Not where a clock has changed since: other panels still tell of the same instant.
                self._moment = turn[:3]
                self._times.clear()
            words = self._words_of(texts, canvas, window, rows, when)
            words = self._words = words._replace(made_for=made_for)
        orange = self._theme.color(ColorRole.ORANGE)
        for place, due_ns in words.late:
            for edges in late_line(due_ns, place, window, shown_x):
                painter.fillRect(_rect(edges), orange)
        moved = shown_x - words.shown_x
        painter.translate(moved, 0)
        ink = ""
        for said in words.said:
            if moved and not said.is_before_line:
                painter.translate(-moved, 0)
                moved = 0
            if said.color != ink:
                ink = said.color
                painter.setPen(named_color(ink))
            self._draw_text(painter, texts, said)
        painter.translate(-moved, 0)
        painter.setFont(font)

    def _words_of(
        self,
        kept: KeptTexts,
        canvas: LaneSurface,
        window: LaneWindow,
        rows: PlacedRows,
        when: tuple[tuple[object, ...], int, int],
    ) -> _Words:
        """Return local times where clocks have come to, and at the right what timers wait for."""
        (_, shown_x, late_ns), right = when, window.left + window.width
        is_past = canvas.past is not None
        timeline = canvas.timeline if canvas.past is None else canvas.past
        timeline.resolve_dues()
        colors, sign = theme_colors(self._theme), kept.metrics.ascent() - 2
        store = canvas.store
        places = LaneTexts(
            colors, kept.width_of, sign, store, timeline, window, shown_x, is_past=is_past
        )
        lowest = rows.pinned_box.bottom() + 1
        is_in_view = window.left < shown_x <= right
        # The scroll bar lies over the right edge.
        end = right - (14 if canvas.verticalScrollBar().maximum() else 8)
        said: list[PlacedText | None] = []
        late: list[tuple[Row, int]] = []
        from_x, until_x = (window.left + 1.0, right) if is_in_view else (math.inf, -math.inf)
        if shown_x > right:
            from_x, until_x = right + 1.0, math.inf
        for placed in (*rows.scrolled, *rows.pinned):
            row, place = placed.row, Row(placed.y, placed.height)
            if placed.y < lowest and not row.is_pinned:
                continue
            if row.kind is LaneKind.CLOCK and row.clock_id in timeline.clocks:
                text = self._times.get(row.clock_id)
                if text is None:
                    text = format_local_time(timeline.local_ns(row.clock_id))
                    self._times[row.clock_id] = text
                if is_in_view:
                    found, least = places.local_time(row.clock_id, text, place)
                    said.append(found)
                    from_x = max(from_x, least)
                elif shown_x > right:
                    said.append(places.time_beyond(row.clock_id, text, place, end))
            elif row.kind is LaneKind.TIMER and row.lane is not None:
                waits = lane_wait(row.lane, timeline, window.high, is_past=is_past)
                if waits.late_ns > late_ns:
                    late.append((place, timeline.at_ns - waits.late_ns))
                found, least, most = places.wait(waits, late_ns, place, end, placed.ground.value)
                said.append(found)
                from_x, until_x = max(from_x, least), min(until_x, most)
        order = sorted(
            (each for each in said if each), key=lambda each: (not each.is_before_line, each.color)
        )
        return _Words(None, order, late, shown_x, from_x, until_x)

    def _draw_text(self, painter: QPainter, texts: KeptTexts, said: PlacedText) -> None:
        for edges, ground, hatch in said.patches:
            painter.fillRect(_rect(edges), named_color(ground))
            if hatch:
                painter.fillRect(_rect(edges), hatching(hatch))
        if said.chip is not None:
            painter.setBrush(self._theme.color(ColorRole.BG))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawRoundedRect(QRectF(*said.chip), CHIP_RADIUS, CHIP_RADIUS)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        texts.draw(painter, said.left, said.row, said.text)
        for bar in said.sign:
            painter.fillRect(_rect(bar), named_color(said.color))


def _rect(edges: Edges) -> QRect:
    left, top, right, bottom = edges
    return QRect(left, top, right - left, bottom - top)
