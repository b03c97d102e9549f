"""Paints a lane: ticks, spans or density, as there is room, without losing anything.

While there is room, each record is drawn. Beyond that, the records of each column of pixels are
counted and drawn as density, at a cost that depends on the pixels only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from inspector.analysis.lanes.lane_columns import Instants, Levels, NsColumn, Steps
from inspector.analysis.lanes.lanes import GONE_STATE
from inspector.analysis.lanes.spans import Spans
from inspector.display_text import one_line
from inspector.formats.drawing.pixel_rects import PixelRects, pixel_rects, row_rects

from ..kit.theme import ColorRole, Theme
from .bulk_paint import RectLayers, draw_rects, fill_rects, mixed
from .lane_view import LaneWindow
from .machines import state_color, text_color_on

#: Records per pixel above which density is drawn.
_DENSE_INSTANTS: Final = 1 / 3
_DENSE_STEPS: Final = 1 / 4
#: Samples per column of pixels where states are too dense to be drawn one by one.
_LOOKS: Final = 6
_LEVELS: Final = 8
_FAINTEST: Final = 0.38
_TEXT_FROM: Final = 26
_PAD: Final = 3
#: What part of a row is free above a tick, and below it.
_TICK_PAD: Final = 5
_MOST_HOLLOW: Final = 400
#: Slices within each other that have a line of their own.
SLICE_LEVELS: Final = 4
_SLICE_COLORS: Final = 8
_MOST_SLICES: Final = 4_000
_ALL: Final = slice(None)

#: Records of a lane, from an index up to, not including, another one, and their row.
_Stretch: TypeAlias = "tuple[Instants, int, int, QRect]"


class _Layer(IntEnum):
    """What covers what in a row; of each, what is late lies one higher."""

    WHISKERS = 0
    TICKS = 2


class _Look(NamedTuple):
    """What records of several lanes have in common.

    Attributes:
        role: Meaning of the colour.
        late_ns: Value from which a record stands out; 0 for never.
        wide: Width of a tick in pixels.
        has_whiskers: Whether values are durations, drawn to scale.
    """

    role: ColorRole
    late_ns: int
    wide: int
    has_whiskers: bool


class LanePainter:
    """Paints the records of lanes into rows, in the colours of a theme."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._layers = RectLayers()
        self._sparse: dict[tuple[LaneWindow, _Look], list[_Stretch]] = {}
        self._outlines: list[PixelRects] = []
        self._states = RectLayers()
        self._names: list[tuple[str, QColor, tuple[NsColumn, NsColumn], QRect]] = []
        self._tables: dict[tuple[str, ...], NDArray[np.uint32]] = {}
        self._edges: tuple[LaneWindow | None, NDArray[np.int64]] = (None, np.zeros(0, np.int64))

    def apply_theme(self) -> None:
        self._tables.clear()

    # ---------------------------------------------------------------- instants

    def instants(  # noqa: PLR0913 - one lane
        self,
        painter: QPainter,
        instants: Instants,
        window: LaneWindow,
        row: QRect,
        *,
        role: ColorRole,
        late_ns: int,
        has_whiskers: bool = True,
    ) -> None:
        """Paint records at instants; where there is room for each, with :meth:`finish` only.

        Args:
            late_ns: Value from which a record stands out; 0 for never.
            has_whiskers: Whether values are durations, drawn to scale.
        """
        start, stop = instants.within(window.low, window.high)
        if start == stop:
            return
        wide = _tick_width(stop - start, window)
        if not wide:
            self._dense_instants(painter, instants, window, row, (role, late_ns))
            return
        look = _Look(role, late_ns, wide, has_whiskers)
        self._sparse.setdefault((window, look), []).append((instants, start, stop, row))

    def records_in_view(
        self, instants: Instants, window: LaneWindow
    ) -> tuple[int, int, int] | None:
        """Return what has to stay for a picture of records to be the same, but for its place.

        Which records it shows, from an index up to, not including, another one, and how wide;
        ``None`` where it shows their density, which is another one at each place.
        """
        start, stop = instants.within(window.low, window.high)
        wide = _tick_width(stop - start, window)
        return (start, stop, wide) if wide else None

    def _sparse_instants(self, window: LaneWindow, look: _Look, lanes: list[_Stretch]) -> None:
        """Add the rectangles of records that look alike, those of all lanes at once."""
        counts = np.array([stop - start for _, start, stop, _ in lanes])
        at_ns, values = (
            np.concatenate(
                [
                    np.frombuffer(getattr(instants, column), np.int64, stop - start, 8 * start)
                    for instants, start, stop, _ in lanes
                ]
            )
            for column in ("at_ns", "value")
        )
        xs = window.xs(at_ns).astype(np.int64)
        tops, middles, bottoms = np.repeat(
            [
                [row.top() + row.height() // _TICK_PAD for *_, row in lanes],
                [(row.top() + row.bottom()) // 2 for *_, row in lanes],
                [row.bottom() + 1 - row.height() // _TICK_PAD for *_, row in lanes],
            ],
            counts,
            axis=1,
        )
        color = self._theme.color(look.role)
        late_color = self._theme.color(ColorRole.ORANGE)
        is_late = (values >= look.late_ns) if look.late_ns else np.zeros(len(xs), dtype=bool)
        # Usually all of them are on time.
        has_late = bool(is_late.any())
        parts: tuple[tuple[NDArray[np.bool_] | slice, int], ...] = ((_ALL, 0),)
        if has_late:
            parts = ((~is_late, 0), (is_late, 1))
        add = self._layers.add
        if look.has_whiskers:
            ends = np.minimum(window.xs(at_ns + values), 1 << 24).astype(np.int64)
            uppers, lowers = middles - 1, middles + 1
            faint = mixed(color, self._background(), 0.6)
            has_cap = ends - xs > 3  # noqa: PLR2004 - pixels, room for a cap
            has_caps = bool(has_cap.any())
            for some, is_of_late in parts:
                whisker = late_color if is_of_late else faint
                layer = _Layer.WHISKERS + is_of_late
                add(layer, whisker, pixel_rects(xs[some], uppers[some], ends[some], lowers[some]))
                if not has_caps:
                    continue
                caps = has_cap & is_late if is_of_late else has_cap & ~is_late
                edges = (ends[caps] - 1, uppers[caps] - 2, ends[caps], lowers[caps] + 2)
                add(layer, whisker, pixel_rects(*edges))
        wide = look.wide
        for some, is_of_late in parts:
            rects = pixel_rects(xs[some], tops[some], xs[some] + wide, bottoms[some])
            add(_Layer.TICKS + is_of_late, late_color if is_of_late else color, rects)
        if has_late:
            # Not by colour alone.
            lefts, edge = xs[is_late] - 1, tops[is_late] - 1
            rects = pixel_rects(lefts, edge, lefts + wide + 2, edge + 2)
            add(_Layer.TICKS + 1, late_color, rects)

    def _dense_instants(
        self,
        painter: QPainter,
        instants: Instants,
        window: LaneWindow,
        row: QRect,
        look: tuple[ColorRole, int],
    ) -> None:
        role, late_ns = look
        places = instants.before(self._edges_of(window))
        levels = _density_levels(np.diff(places))
        pixels = self._density(role)[levels]
        has_late = late_ns and instants.highest >= late_ns
        if has_late:
            is_late = instants.maxima(places) >= late_ns
            pixels[is_late] = self._density(ColorRole.ORANGE)[np.maximum(levels[is_late], 4)]
        self._draw_columns(painter, pixels[np.newaxis, :], window, _inner(row))
        if has_late:
            xs = window.left + np.flatnonzero(is_late)
            rects = row_rects(xs, row.top() + 1, xs + 1, row.top() + 3)
            fill_rects(painter, rects, self._theme.color(ColorRole.ORANGE))

    def hollow(self, xs: Sequence[int], row: QRect) -> None:
        """Paint predictions at some pixels as hollow ticks, with :meth:`finish`."""
        if not xs:
            return
        pad = row.height() // _TICK_PAD
        top, height = row.top() + pad, row.height() - 2 * pad - 1
        lefts = np.array(xs, dtype=np.int64) - 1
        # An outline is a pixel wider and higher than what it encloses.
        self._outlines.append(row_rects(lefts, top, lefts + 3, top + height))

    def finish(self, painter: QPainter) -> None:
        """Paint what is left of the rows: ticks, predictions and states of all at once.

        Before anything that covers them.
        """
        for (window, look), lanes in self._sparse.items():
            self._sparse_instants(window, look, lanes)
        self._sparse.clear()
        self._layers.fill(painter)
        if self._outlines:
            painter.setPen(QPen(self._theme.color(ColorRole.GHOST), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            draw_rects(painter, np.concatenate(self._outlines))
            self._outlines.clear()
        self._states.fill(painter)
        for states in self._names:
            self._name_states(painter, *states)
        self._names.clear()

    # ---------------------------------------------------------------- slices

    def slices(
        self,
        painter: QPainter,
        spans: Spans,
        window: LaneWindow,
        row: QRect,
        name_of: Callable[[int], str],
    ) -> None:
        """Paint slices of a thread within each other, as far as there are levels.

        Args:
            name_of: Returns the name of a slice by its subject.
        """
        # The others are part of the density behind them.
        shown, count = spans.overlapping(window.low, window.high, _MOST_SLICES)
        if count > window.width * _DENSE_INSTANTS:
            counts = np.diff(spans.before(self._edges_of(window)))
            pixels = self._density(ColorRole.BAR)[_density_levels(counts)]
            self._draw_columns(painter, pixels[np.newaxis, :], window, _inner(row))
        (ends, took), subjects = spans.of(shown), spans.subjects(shown)
        starts = ends - took
        depths = _depths(starts, ends)
        lines = np.minimum(depths, SLICE_LEVELS - 1)
        x0 = window.inner_xs(starts)
        x1 = np.maximum(window.inner_xs(ends), x0 + 1)
        height = (row.height() - 4) // SLICE_LEVELS
        # What lies within another on the last line covers it.
        for depth in np.unique(depths).tolist():
            top = row.top() + 2 + min(depth, SLICE_LEVELS - 1) * height
            for subject in np.unique(subjects[depths == depth]).tolist():
                some = (subjects == subject) & (depths == depth)
                gap = (x1[some] - x0[some] > 3).astype(np.int64)  # noqa: PLR2004 - pixels
                rects = row_rects(x0[some], top, x1[some] - gap, top + height - 1)
                fill_rects(painter, rects, state_color(subject % _SLICE_COLORS, self._theme))
        rooms = name_rooms(x0, x1, lines)
        for subject in np.unique(subjects).tolist():
            color = state_color(subject % _SLICE_COLORS, self._theme)
            for line in np.unique(lines[subjects == subject]).tolist():
                some = (subjects == subject) & (lines == line)
                inner = QRect(row.left(), row.top() + 2 + line * height, row.width(), height - 1)
                self._name_states(painter, name_of(subject), color, (x0[some], rooms[some]), inner)

    # ---------------------------------------------------------------- levels

    def levels(self, painter: QPainter, levels: Levels, window: LaneWindow, row: QRect) -> None:
        """Paint the values of a counter as an area from 0, the highest of each column of pixels."""
        inner = _inner(row)
        edges = self._edges_of(window)
        values = levels.highest(edges)
        is_there = np.isfinite(values) & (edges[:-1] <= window.present_ns)
        xs, values = window.left + np.flatnonzero(is_there), values[is_there]
        low, high = levels.edges
        scale = inner.height() / max(high - low, 1e-300)
        ys = inner.bottom() + 1 - np.round((values - low) * scale).astype(np.int64)
        zero = inner.bottom() + 1 - round(-low * scale)
        color = self._theme.color(ColorRole.BAR)
        area = mixed(color, self._background(), 0.4)
        fill_rects(
            painter, pixel_rects(xs, np.minimum(ys, zero), xs + 1, np.maximum(ys, zero)), area
        )
        fill_rects(painter, pixel_rects(xs, ys - 1, xs + 1, ys + 1), color)
        text = levels.text_of(high or low)
        metrics = painter.fontMetrics()
        place = QRect(
            inner.left(), inner.top(), metrics.horizontalAdvance(text) + 8, metrics.height()
        )
        patch = QColor(self._background())
        patch.setAlphaF(0.75)
        painter.fillRect(place, patch)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)

    # ---------------------------------------------------------------- states

    def steps(  # noqa: PLR0913 - one lane
        self,
        painter: QPainter,
        steps: Steps,
        window: LaneWindow,
        row: QRect,
        *,
        number_of: Callable[[int], int],
        name_of: Callable[[int], str],
    ) -> None:
        """Paint states that each last until the next; where there is room, with :meth:`finish`.

        Args:
            number_of: Returns the colour number of a state.
        """
        if not len(steps):
            return
        start, stop = steps.within(window.low, min(window.high, window.present_ns))
        if start >= stop:
            return
        inner = _inner(row)
        if stop - start > window.width * _DENSE_STEPS:
            self._dense_steps(painter, steps, window, inner, number_of)
            return
        at_ns = np.frombuffer(steps.at_ns, np.int64, stop - start, 8 * start)
        values = np.frombuffer(steps.value, np.int64, stop - start, 8 * start)
        ends_ns = np.append(at_ns[1:], steps.end_of(stop - 1, window.present_ns))
        ends_ns = np.minimum(ends_ns, window.present_ns)
        x0 = window.inner_xs(at_ns)
        # A state without duration is a pixel wide.
        x1 = np.maximum(window.inner_xs(ends_ns), x0 + 1)
        for value in np.unique(values).tolist():
            if value == GONE_STATE:
                continue
            some = values == value
            color = state_color(number_of(value), self._theme)
            gap = (x1[some] - x0[some] > 3).astype(np.int64)  # noqa: PLR2004 - pixels
            rects = row_rects(x0[some], inner.top(), x1[some] - gap, inner.bottom() + 1)
            self._states.add(value, color, rects)
            self._names.append((name_of(value), color, (x0[some], x1[some]), inner))

    def _name_states(
        self,
        painter: QPainter,
        name: str,
        color: QColor,
        edges: tuple[NsColumn, NsColumn],
        inner: QRect,
    ) -> None:
        painter.setPen(text_color_on(color))
        metrics = painter.fontMetrics()
        name = one_line(name)
        width = metrics.horizontalAdvance(name)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        wide = edges[1] - edges[0] >= _TEXT_FROM
        for left, right in zip(edges[0][wide].tolist(), edges[1][wide].tolist(), strict=True):
            room = right - left - 6
            text = name
            if width > room:
                text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRect(left + 4, inner.top(), room, inner.height()), flags, text)

    def _dense_steps(
        self,
        painter: QPainter,
        steps: Steps,
        window: LaneWindow,
        inner: QRect,
        number_of: Callable[[int], int],
    ) -> None:
        """Paint the shares of states in each column, and multiple changes."""
        columns = window.width
        instants = window.instants(_LOOKS)[:-1]
        places = steps.places(instants)
        values = np.where(
            places >= 0, np.frombuffer(steps.value, np.int64)[np.maximum(places, 0)], GONE_STATE
        )
        values[instants > window.present_ns] = GONE_STATE
        known, numbers = np.unique(values, return_inverse=True)
        background = self._background()
        colors = [
            background if value == GONE_STATE else state_color(number_of(value), self._theme)
            for value in known.tolist()
        ]
        table = np.array([color.rgb() for color in colors], dtype=np.uint32)
        looks = np.sort(numbers.reshape(columns, _LOOKS), axis=1)
        self._draw_columns(painter, np.ascontiguousarray(table[looks].T), window, inner)
        edges = self._edges_of(window)
        changes = np.diff(np.searchsorted(np.frombuffer(steps.at_ns, np.int64), edges))
        xs = window.left + np.flatnonzero(changes > 1)
        mark = self._theme.color(ColorRole.TEXT)
        fill_rects(painter, row_rects(xs, inner.top(), xs + 1, inner.top() + 2), mark)

    # ---------------------------------------------------------------- inside

    def _background(self) -> QColor:
        return self._theme.color(ColorRole.BG)

    def _edges_of(self, window: LaneWindow) -> NDArray[np.int64]:
        """Return the instants at the edges of pixels; shared by all lanes of a picture."""
        if self._edges[0] != window:
            self._edges = (window, window.instants())
        return self._edges[1]

    def _density(self, role: ColorRole) -> NDArray[np.uint32]:
        """Return the colours of columns by density, the first for none."""
        key = (self._theme.name, role.name)
        table = self._tables.get(key)
        if table is None:
            color, background = self._theme.color(role), self._background()
            shares = [0.0, *np.linspace(_FAINTEST, 1.0, _LEVELS).tolist()]
            table = np.array(
                [mixed(color, background, share).rgb() for share in shares], dtype=np.uint32
            )
            self._tables[key] = table
        return table

    def _draw_columns(
        self, painter: QPainter, pixels: NDArray[np.uint32], window: LaneWindow, inner: QRect
    ) -> None:
        height, width = pixels.shape
        # The image does not own the array, which outlives it here.
        pixels = np.ascontiguousarray(pixels)
        image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
        painter.drawImage(QRectF(window.left, inner.top(), width, inner.height()), image)


def hollow_places(instants_ns: Sequence[int], window: LaneWindow) -> list[int]:
    """Return the pixels of predictions, as far as they are in view and can be told apart."""
    xs: list[int] = []
    last = -10
    for at_ns in instants_ns[:_MOST_HOLLOW]:
        x = int(window.x(at_ns))
        if x - last >= 3 and window.left <= x < window.left + window.width:  # noqa: PLR2004
            xs.append(x)
            last = x
    return xs


def _tick_width(count: int, window: LaneWindow) -> int:
    """Return how many pixels wide the ticks of a number of records are; 0 for density instead."""
    if count > window.width * _DENSE_INSTANTS:
        return 0
    return 2 if count < window.width / 8 else 1


def _density_levels(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how dark columns of pixels are, by their numbers of records."""
    most = max(int(counts.max()), 1)
    levels: NDArray[np.int64] = np.ceil(_LEVELS * np.sqrt(counts / most)).astype(np.int64)
    return levels


def name_rooms(
    lefts: NDArray[np.int64], rights: NDArray[np.int64], lines: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where the room for the names of slices ends: at the next one on their line."""
    rooms = rights.copy()
    order = np.lexsort((-rights, lefts, lines))
    before, after = order[:-1], order[1:]
    is_same = lines[before] == lines[after]
    before, after = before[is_same], after[is_same]
    rooms[before] = np.minimum(rooms[before], lefts[after])
    return rooms


def _depths(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many slices each lies within."""
    depths = np.zeros(len(starts), dtype=np.int64)
    around: list[int] = []
    for place in np.lexsort((-ends, starts)).tolist():
        end = int(ends[place])
        while around and around[-1] < end:
            around.pop()
        depths[place] = len(around)
        around.append(end)
    return depths


def _inner(row: QRect) -> QRect:
    return row.adjusted(0, _PAD, 0, -_PAD)
