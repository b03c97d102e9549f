"""The frame times of several runs, aligned at their beginnings: zoomed, moved and read off.

pyqtgraph takes as long to import as one and a half bare Qt windows. It is good enough for what
is opened later, and only that imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest
from typing import Final

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from numpy.typing import NDArray
from pyqtgraph.exceptionHandling import handler as exception_hooks
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis.statistics.runs import ComparedRun
from inspector.display_text import counted
from inspector.formats.aligned_chart import top_of_axis_ns
from inspector.formats.arrangement.frame_series import XAxis
from inspector.formats.arrangement.lane_window import (
    TEXT_FROM_TICK,
    LaneWindow,
    axis_ticks,
    lay_out_ruler,
    ruler_ticks,
    ticks_within,
)
from inspector.formats.arrangement.sheet import Row
from inspector.formats.drawing.display_list import Stroke
from inspector.formats.drawing.font_metrics import plain
from inspector.formats.drawing.ticks import duration_ticks
from inspector.formats.options import curve_stroke
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_duration, format_instant
from inspector.tokens import SIZES

from ..kit.clipboard import add_copying
from ..kit.fonts import small_font, text_scale
from ..kit.guards import guarded
from ..kit.keys import is_plain
from ..kit.labels import EmptyNotice
from ..kit.layouts import fill, open_menu
from ..kit.theme import ColorRole, Theme
from ..plotting.gestures import handle_key
from ..plotting.sheet_painter import new_sheet, paint_sheet

# pyqtgraph installs exception hooks in front of the window's, which print each exception.
if sys.excepthook == exception_hooks.sys_excepthook:
    exception_hooks.remove()

_NAME: Final = "Frame times of what is compared"
_BETWEEN_TICKS_Y: Final = 34
#: Characters for all names above a plot together, and the fewest for each.
_NAMES: Final = 100
_LEAST_NAME: Final = 10
#: Runs of up to this many frames are drawn without downsampling.
_ALL_DRAWN: Final = 4_000
#: Least width of the plot, in pixels, for which curves are prepared.
_NARROW: Final = 200
_FEWEST_FRAMES: Final = 5
_LEAST_MS: Final = 0.01


class _Line(Struct, frozen=True, eq=False):
    name: str
    times_ns: NDArray[np.int64]  # Its frame times
    lasts_ns: NDArray[np.int64]  # How long each frame lasts, or each sample holds
    # Where each frame begins, and where the last one ends, in frames or seconds.
    starts: NDArray[np.float64]

    @property
    def end(self) -> float:
        return float(self.starts[-1])

    def longest_at(self, place: float, width: float) -> tuple[int, int, int] | None:
        """Return the first, the last and the longest frame within ``width`` of the axis."""
        last = len(self.times_ns) - 1
        if not 0 <= place <= self.end:
            return None
        edges = np.searchsorted(self.starts, (place, place + width), "right") - 1
        first, stop = (min(int(each), last) for each in edges)
        return first, stop, first + int(self.times_ns[first : stop + 1].argmax())


@guarded
class AlignedView(QWidget):
    """Shows runs in one plot or below each other, by time or by frame.

    The wheel zooms at the pointer and dragging moves; over the axis of frame times they scale it.
    The keys are those of :mod:`..plotting.gestures`; the arrow keys read off frame by frame, and
    Escape ends that. Where a column of pixels has several frames, the longest is drawn and read.
    """

    # The frame times at the pointer, or where the arrow keys have come to; empty for none
    frames_read = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._runs: tuple[ComparedRun, ...] = ()
        self._lines: list[_Line] = []
        self._budgets_ms: tuple[float, ...] = ()
        self._sides: tuple[int, ...] = ()
        self._is_stacked = self._by_frame = False
        self.plots: list[pg.PlotItem] = []
        self._pointers: list[pg.InfiniteLine] = []
        # The place that is read off, in frames or seconds; None for none.
        self._place: float | None = None
        self.graphics = pg.GraphicsLayoutWidget()
        # The window handles files that are dropped here.
        self.graphics.setAcceptDrops(False)
        self.graphics.viewport().setAcceptDrops(False)
        self.graphics.viewport().installEventFilter(self)
        # This widget handles the keys, so a click must not give the focus to the graphics.
        self.graphics.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.graphics.ci.layout.setContentsMargins(4, 4, 4, 4)
        self.graphics.ci.layout.setSpacing(4)
        self.graphics.scene().sigMouseMoved.connect(self._read_at)
        self._notice = EmptyNotice(self.graphics)
        self.ruler = _Ruler(theme)
        fill(self, self.ruler, (self.graphics, 1), spacing=0)
        self.setAccessibleName(_NAME)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.copying = add_copying(self, self.rows)
        # Whether the runs are below each other
        self.stack_action = QAction("Each in a plot of its own", self, checkable=True)
        # Whether frames are counted along the axis, instead of time
        self.frame_action = QAction("Frames along the axis", self, checkable=True)
        for action in (self.stack_action, self.frame_action):
            action.toggled.connect(self._arrange)
        theme.changed.connect(self._draw_again)
        self._draw()

    # ---------------------------------------------------------------- what is shown

    def set_runs(
        self,
        runs: Iterable[ComparedRun],
        budgets_ms: Iterable[float],
        sides: Iterable[int] = (),
        *,
        empty_text: str = "",
    ) -> None:
        """Show other runs, or the same with other budgets; without any, a text.

        By default each run is a side; lines are drawn at the budgets.
        """
        runs, budgets_ms = tuple(runs), tuple(budgets_ms)
        is_same = runs == self._runs
        self._sides = tuple(sides) or tuple(range(len(runs)))
        self._notice.set_text("" if runs else empty_text)
        if is_same and budgets_ms == self._budgets_ms:
            return
        self._runs, self._budgets_ms = runs, budgets_ms
        counts = ", ".join(
            f"{each.name}: {counted(len(each.times_ns), 'sample' if each.samples else 'frame')}"
            for each in runs
        )
        self.setAccessibleDescription(counts)
        if is_same:
            self._draw_again()
        else:
            self._draw()

    @Slot()
    def _arrange(self) -> None:
        is_same = self.frame_action.isChecked() == self._by_frame
        self._is_stacked = self.stack_action.isChecked()
        self._by_frame = self.frame_action.isChecked()
        if is_same:
            self._draw_again()
        else:
            self._draw()

    def rows(self) -> list[tuple[str, ...]]:
        columns = [[f"{each / NS_PER_MS:.6f}" for each in run.times_ns] for run in self._runs]
        numbered = enumerate(zip_longest(*columns, fillvalue=""))
        titles = ("frame", *(f"{run.name} (ms)" for run in self._runs))
        return [titles, *((str(number), *row) for number, row in numbered)]

    # ---------------------------------------------------------------- zooming and moving

    def zoom(self, factor: float, about: float | None = None) -> None:
        if self.plots:
            center = None if about is None else (about, 0.0)
            self.plots[0].getViewBox().scaleBy(x=factor, center=center)

    def pan(self, share: float) -> None:
        if self.plots:
            low, high = self.plots[0].getViewBox().viewRange()[0]
            self.plots[0].getViewBox().translateBy(x=share * (high - low))

    @Slot()
    def fit(self) -> None:
        if self.plots:
            top_ms = top_of_axis_ns([each.times_ns for each in self._lines]) / NS_PER_MS
            self.plots[0].setRange(xRange=(0.0, self._end), yRange=(0.0, top_ms), padding=0)

    def fit_chosen(self) -> None:
        """Show all frames: nothing is ever selected here."""
        self.fit()

    def go_live(self) -> None:
        if self.plots:
            low, high = self.plots[0].getViewBox().viewRange()[0]
            self.plots[0].setXRange(self._end - (high - low), self._end, padding=0)

    @property
    def _end(self) -> float:
        return max(each.end for each in self._lines)

    # ---------------------------------------------------------------- drawing

    @Slot()
    def _draw_again(self) -> None:
        ranges = self.plots[0].getViewBox().viewRange() if self.plots else None
        self._draw()
        if ranges is not None and self.plots:
            self.plots[0].setRange(xRange=ranges[0], yRange=ranges[1], padding=0)

    def _draw(self) -> None:
        self._pointers = []
        self._read(None)
        self.graphics.clear()
        self.graphics.setBackground(self._color(ColorRole.BG))
        self.plots = []
        self.ruler.setVisible(bool(self._runs))
        self._lines = [_line(each, by_frame=self._by_frame) for each in self._runs]
        if not self._lines:
            return
        numbers = range(len(self._lines))
        for shown in [[each] for each in numbers] if self._is_stacked else [numbers]:
            self._add_plot(shown)
        for plot in self.plots[1:]:
            plot.setXLink(self.plots[0])
            plot.setYLink(self.plots[0])
        # One view box is enough: the plots are linked, so all have the same range.
        self.plots[-1].getViewBox().sigRangeChanged.connect(self._label_axes)
        for plot in self.plots:
            plot.getViewBox().sigResized.connect(self._label_axes)
        self.fit()
        self._label_axes()

    def _add_plot(self, numbers: Sequence[int]) -> None:
        color, font = self._color, small_font(self)
        plot = self.graphics.addPlot(row=len(self.plots), col=0, enableMenu=False)
        self.plots.append(plot)
        plot.hideButtons()
        plot.setMouseEnabled(x=True, y=False)
        plot.getViewBox().setLimits(**self._limits())
        plot.hideAxis("bottom")
        for side in ("left", "right"):
            plot.showAxis(side)
            axis = plot.getAxis(side)
            axis.setStyle(tickFont=font, tickAlpha=255, hideOverlappingLabels=False)
            axis.setPen(color(ColorRole.LINE if side == "right" else ColorRole.MUTED))
            axis.setTextPen(color(ColorRole.MUTED))
            axis.setZValue(-1000)
        # The same width in each plot, so that their frames are aligned.
        plot.getAxis("left").setWidth(self._width_of("100.5 ms"))
        # The grid lines belong to the right axis, which labels only the budgets: an axis with
        # grid lines has no room for a label at its end.
        plot.getAxis("right").setWidth(self._width_of("99.9 fps"))
        plot.getAxis("right").setStyle(maxTextLevel=0)
        plot.getAxis("right").setGrid(255)
        if self._is_stacked:
            plot.setTitle(
                " &nbsp; ".join(map(self._named, numbers)),
                color=color(ColorRole.TEXT),
                size=f"{self.fontInfo().pixelSize()}px",
                justify="right",
            )
            plot.layout.setRowFixedHeight(0, self.fontMetrics().height() + 6)
        for number, budget_ms in enumerate(self._budgets_ms):
            self._add_budget(plot, budget_ms, is_first=number == 0)
        for number in numbers:
            self._add_curve(plot, number)
        pointer = pg.InfiniteLine(angle=90, pen=_pen(color(ColorRole.BLUE)))
        pointer.setVisible(False)
        plot.addItem(pointer, ignoreBounds=True)
        self._pointers.append(pointer)

    def _named(self, number: int) -> str:
        """Return the name of a run beside a line like its own, as HTML."""
        stroke = self._stroke(number)
        name = plain(self._runs[number].name)
        most = max(_NAMES // len(self._runs), _LEAST_NAME)
        shown = name if len(name) <= most else f"{name[: most - 1]}…"
        sample = "╌╌" if stroke.dash else "━━"
        return f'<span style="color: {stroke.color}">{sample}</span> {escape(shown)}'

    def _add_curve(self, plot: pg.PlotItem, number: int) -> None:
        line = self._lines[number]
        stroke = self._stroke(number)
        # Each frame is a step as wide as the frame is long.
        curve = pg.PlotDataItem(
            pen=_pen(QColor(stroke.color), stroke.dash), stepMode="right", autoDownsampleFactor=1.0
        )
        if self._is_filled(number):
            curve.setFillLevel(0.0)
            curve.setFillBrush(QColor(stroke.color))
        plot.addItem(curve)
        # Only after addItem, by which the plot sets its own downsampling.
        curve.setDownsampling(auto=len(line.times_ns) > _ALL_DRAWN, method="peak")
        curve.setClipToView(True)
        # When downsampling, pyqtgraph drops the last group of frames unless it is full, so the
        # end is repeated to fill it.
        share = min(self._end / line.end / _NARROW, 0.5)
        count = 1 + int(len(line.times_ns) * share / (1 - share))
        starts = np.concatenate((line.starts, np.full(count, line.end)))
        times_ms = line.times_ns / NS_PER_MS
        last_ms = np.full(count + 1, times_ms[-1])
        curve.setData(starts, np.concatenate((times_ms, last_ms)))

    def _stroke(self, number: int) -> Stroke:
        return curve_stroke(self._sides[number], self._theme.name, 1.0)

    def _is_filled(self, number: int) -> bool:
        """Whether a run is the only one of the first side: the others are lines before it."""
        return self._sides[number] == 0 and self._sides.count(0) == 1

    def _add_budget(self, plot: pg.PlotItem, budget_ms: float, *, is_first: bool) -> None:
        line = pg.InfiniteLine(
            budget_ms, angle=0, pen=_pen(self._color(ColorRole.MUTED), () if is_first else (3, 2))
        )
        line.setZValue(10)
        plot.addItem(line, ignoreBounds=True)

    def _limits(self) -> dict[str, float]:
        longest = max(self._lines, key=lambda each: each.end)
        top_ms = max(int(each.times_ns.max()) for each in self._lines) * 1.2 / NS_PER_MS
        few = longest.end * min(_FEWEST_FRAMES / len(longest.times_ns), 1.0)
        return {
            "xMin": 0.0,
            "xMax": longest.end,
            "yMin": 0.0,
            "yMax": top_ms,
            "minXRange": few,
            "minYRange": min(_LEAST_MS, top_ms),
        }

    def _width_of(self, label: str) -> int:
        return QFontMetrics(small_font(self)).horizontalAdvance(label) + 24

    @Slot()
    def _label_axes(self) -> None:
        for plot in self.plots:
            box = plot.getViewBox()
            (low, high), (bottom, top) = box.viewRange()
            most = max(2, int(box.height() / (_BETWEEN_TICKS_Y * text_scale(self))))
            found = duration_ticks(top * NS_PER_MS, most, bottom * NS_PER_MS)
            room_ms = (top - bottom) / max(box.height(), 1.0) * self.fontMetrics().height()
            ticks = [(each.value_ns / NS_PER_MS, each.label) for each in found.ticks]
            # Labels nearer to an edge would be cut off.
            low, high = bottom + room_ms / 2, top - room_ms / 2
            said = [(at_ms, label) for at_ms, label in ticks if low <= at_ms <= high]
            said[-1:] = [(at_ms, f"{label} {found.unit}") for at_ms, label in said[-1:]]
            plot.getAxis("left").setTicks([said])
            labelled: list[float] = []
            for each in self._budgets_ms:
                if all(abs(each - other) >= room_ms for other in labelled):
                    labelled.append(each)
            rates = [(each, f"{1000 / each:.3g} fps") for each in labelled]
            plot.getAxis("right").setTicks([rates, [(at_ms, "") for at_ms, _ in ticks]])
        box = self.plots[0].getViewBox()
        strip = self.graphics.mapFromScene(box.sceneBoundingRect()).boundingRect()
        low, high = box.viewRange()[0]
        self.ruler.show_between(low, high, strip, by_frame=self._by_frame)

    def _color(self, role: ColorRole) -> QColor:
        return self._theme.color(role)

    # ---------------------------------------------------------------- reading off

    @Slot(object)
    def _read_at(self, place: QPointF) -> None:
        if QGuiApplication.mouseButtons() is not Qt.MouseButton.NoButton:
            return
        box = self._aim(place)
        self._read(None if box is None else box.mapSceneToView(place).x())

    def _aim(self, place: QPointF) -> pg.ViewBox | None:
        """Return the plot at a place; where there is none, let durations be scaled."""
        boxes = [plot.getViewBox() for plot in self.plots]
        box = next((each for each in boxes if each.sceneBoundingRect().contains(place)), None)
        for each in boxes:
            each.setMouseEnabled(x=True, y=box is None)
        return box

    def _read(self, at: float | None) -> None:
        self._place = at
        for pointer in self._pointers:
            pointer.setVisible(at is not None)
            if at is not None:
                pointer.setValue(at)
        width = self.plots[0].getViewBox().viewPixelSize()[0] if self.plots else 0.0
        text = "" if at is None else self._text_at(at, width)
        self.setAccessibleName(f"{_NAME}: {text}" if text else _NAME)
        self.frames_read.emit(text)

    def read_beside(self, step: int) -> None:
        """Read the next frame of the longest run, or the one before, in another pixel column."""
        if not self.plots:
            return
        box = self.plots[0].getViewBox()
        (low, high), width = box.viewRange()[0], box.viewPixelSize()[0]
        starts = max(self._lines, key=lambda line: line.end).starts[:-1]
        at = self._place
        if at is None or not low <= at <= high:
            # The first or last frame that begins within the view, or the frame that fills it.
            first = int(np.searchsorted(starts, low, "left" if step > 0 else "right"))
            last = int(np.searchsorted(starts, high, "right")) - 1
            number = first if step > 0 else last
        elif step > 0:
            here = int(np.searchsorted(starts, at, "right")) - 1
            number = max(here + 1, int(np.searchsorted(starts, at + width, "left")))
        else:
            here = int(np.searchsorted(starts, at, "right")) - 1
            number = min(here - 1, int(np.searchsorted(starts, at - width, "right")) - 1)
        number = min(max(number, 0), len(starts) - 1)
        place = float(starts[number])
        if not low <= place <= high:
            box.translateBy(x=place - (low + high) / 2)
        self._read(place)

    def _text_at(self, at: float, width: float) -> str:
        """Return the longest frame of each run within the pixel column at a place, as text."""
        found = [
            (line, place)
            for line in self._lines
            if (place := line.longest_at(at, width)) is not None
        ]
        if not found:
            return ""
        if self._by_frame:
            first, last = found[0][1][0], max(stop for _, (_, stop, _) in found)
            several = f"longest of frames {first:,} to {last:,}"
            parts = [f"frame {first:,}" if first == last else several]
        else:
            parts = [format_instant(round(at * NS_PER_SECOND))]
        for line, (*_, longest) in found:
            at_ns = int(line.lasts_ns[:longest].sum())
            where = f"at {format_instant(at_ns)}" if self._by_frame else f"(frame {longest:,})"
            duration = format_duration(int(line.times_ns[longest]))
            parts.append(f"{plain(line.name)} {duration} {where}")
        return " · ".join(parts)

    # ---------------------------------------------------------------- events

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QWheelEvent):
            # The view may have appeared below a pointer that has not moved since.
            self._aim(self.graphics.mapToScene(event.position().toPoint()))
        return super().eventFilter(watched, event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if handle_key(event, self):
            return
        match event.key() if is_plain(event) else None:
            case Qt.Key.Key_Left:
                self.read_beside(-1)
            case Qt.Key.Key_Right:
                self.read_beside(1)
            case Qt.Key.Key_Escape if self._place is not None:
                self._read(None)
            case _:
                super().keyPressEvent(event)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._read(None)
        super().leaveEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction("Fit", self.fit).setEnabled(bool(self.plots))
        menu.addSeparator()
        menu.addActions([self.stack_action, self.frame_action])
        menu.addSeparator()
        menu.addActions(self.copying)
        open_menu(menu, event.globalPos())

    @override
    def sizeHint(self) -> QSize:
        return QSize(420, 160)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, 60)


def _line(run: ComparedRun, *, by_frame: bool) -> _Line:
    if by_frame:
        starts = np.arange(len(run.times_ns) + 1, dtype=np.float64)
    else:
        starts = np.concatenate(((0.0,), run.ends_ns / NS_PER_SECOND))
    return _Line(run.name, run.times_ns, run.lasts_ns, starts)


def _pen(color: QColor, dash: Sequence[float] = ()) -> QPen:
    """Return a pen of one pixel, whatever is zoomed."""
    pen = QPen(color, 1.0)
    pen.setCosmetic(True)
    if dash:
        pen.setDashPattern(list(dash))
    return pen


@guarded
class _Ruler(QWidget):
    """The instants or numbers of the frames, above the plots."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.ticks: list[tuple[int, str]] = []  # In pixels, with their texts
        self.unit = ""
        self._edges = 0.0, 0.0
        self.setFixedHeight(round(SIZES["ruler"] * text_scale(self)))

    def show_between(self, low: float, high: float, strip: QRect, *, by_frame: bool) -> None:
        """Show seconds or frames along the horizontal extent of a rectangle."""
        unit_ns = 1 if by_frame else NS_PER_SECOND
        left, width = strip.left(), max(strip.width(), 1)
        window = LaneWindow(low * unit_ns, high * unit_ns, left, width, 0)
        if by_frame:
            found, self.unit = axis_ticks(XAxis.FRAME, low, high, ticks_within(width))
            self.ticks = [(int(window.x(place)), text) for place, text in found]
        else:
            self.ticks, unit = ruler_ticks(window, None, 0)
            self.unit = "" if ":" in unit else unit
        self._edges = float(left), float(left + width)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        row, (left, right) = Row(0, self.height() - 1), self._edges
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color(ColorRole.PANEL))
            painter.fillRect(0, row.bottom, self.width(), 1, self._theme.color(ColorRole.LINE))
            sheet = new_sheet(painter, self._theme)
            if self.unit:
                right -= sheet.width_of(self.unit) + TEXT_FROM_TICK
                sheet.text(1, sheet.colors["muted"], self.unit, int(right), row)
            lay_out_ruler(sheet, self.ticks, row, (left, right))
            paint_sheet(painter, sheet)
