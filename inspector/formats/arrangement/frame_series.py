"""The frames of a session for drawing: columns, pyramids, and positions on x; without Qt."""

import math
from array import array
from bisect import bisect_left, bisect_right
from enum import Enum
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.pyramid import BUCKET, Pyramid, Stretches
from inspector.events.frame_history import FrameHistory
from inspector.timebase import NS_PER_SECOND, NS_PER_US
from inspector.vocabulary import Measure, Phase, Share

NsColumn = NDArray[np.int64]

#: Up to this many new frames are handled one by one, which is faster than with arrays.
_FEW: Final = 12
#: The longest of up to this many frames is found faster without the pyramid.
_SEARCHED_DIRECTLY: Final = 64
#: The largest sample from which the usual frame time is taken, in frames.
_SAMPLE: Final = 8_192


class XAxis(Enum):
    FRAME = "frame"
    TIME = "time"


class Window(Struct, frozen=True):
    """A range of the axis and its pixels."""

    low: float  # Left edge on the axis
    high: float  # Right edge on the axis
    width: int  # Width in pixels
    height: int = 1  # Height in pixels

    @property
    def per_pixel(self) -> float:
        return (self.high - self.low) / self.width


class FrameBar(NamedTuple):
    left: int  # In pixels from the left edge of the view
    right: int
    width: float  # How long it is on the axis, in fractions of pixels


class FrameColumns(Struct, frozen=True, eq=False):
    # Index of the first frame of each column, and the index after the last frame of the last one;
    # ascending, no column is empty.
    edges: NsColumn
    lefts: NDArray[np.int64]  # Start of each column, in pixels from the left edge of the view
    rights: NDArray[np.int64]  # End of each column
    # Exact length of the frames of each column on the axis, in pixels.
    widths: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lefts)


class FrameSeries:
    """The frames of a history along an axis, with a pyramid for every measure in use."""

    def __init__(
        self, history: FrameHistory, x_axis: XAxis = XAxis.FRAME, measure: Measure = "interval"
    ) -> None:
        # The unit of the axis: frame numbers (frame i extends from i - 0.5 to i + 0.5), or session
        # time in seconds (a frame extends over the time that is measured, see counts_back)
        self.x_axis = x_axis
        self.measure = measure  # The time of frames that is drawn
        self.history = history
        self.end = 0  # Index after the newest frame read
        # The instants of all frames kept, held here because each refresh needs them a dozen times.
        self._begun_ns = array("q")
        # The first frame kept, and its start on the axis for measures where its instant is its end.
        self._start = -1, 0
        # The last search for the longest frame: measure, first frame, end, and the frame found.
        self._longest: tuple[Measure, int, int, int] = measure, 0, 0, -1
        # A complete history stores the pyramids itself, so that all series of it share them.
        known = history.computed
        self._pyramids: dict[Measure, Pyramid] = (
            {} if known is None else known.setdefault(FrameSeries, {})
        )
        self.read_new_frames()

    @property
    def first(self) -> int:
        """Index of the oldest frame kept."""
        return self.history.first

    @property
    def counts_back(self) -> bool:
        """Whether a frame extends from the instant of the frame before it to its own.

        Its interval and its delta lie there; the time in its callbacks lies between its instant and
        that of the next frame.
        """
        return self.measure != "busy"

    def prepare(self) -> None:
        """Do what drawing the frames would otherwise have to wait for."""
        self._pyramid(self.measure)

    def read_new_frames(self) -> int:
        before = self.end
        self.end = self.history.end
        if self.end == before:
            return 0
        self._begun_ns = self.history.at_ns
        return self.end - before

    def times_ns(self, measure: Measure, start: int, stop: int) -> NsColumn:
        """Return the measured times of a range of frames, as :meth:`.FrameHistory.numpy` does."""
        return self.history.numpy(_column_name(measure), start, min(stop, self.end))

    def shares(self, other: "FrameSeries") -> bool:
        """Return whether another series has the same frames, or more or fewer of them.

        Compares the newest common frame in values that a rewind reproduces.
        """
        newest = min(self.end, other.end) - 1
        if newest < max(self.first, other.first):
            return False
        here, there = self.history.frame(newest), other.history.frame(newest)
        return (here.at_ns, here.delta_ns) == (there.at_ns, there.delta_ns)

    def value_ns(self, measure: Measure, frame: int) -> int:
        column: array[int] = getattr(self.history, _column_name(measure))
        return column[frame - self.first]

    def sample_ns(self, measure: Measure, start: int, stop: int) -> NsColumn:
        """Return every n-th measured time of a range, at most about 8 000.

        For choosing a scale, never for display. The same frames are sampled as the range moves, so
        the scale is steady.
        """
        step = 1
        while (stop - start) // step > _SAMPLE:
            step *= 2
        begin = -(-start // step) * step
        return self._view(_column_name(measure))[
            begin - self.first : stop - self.first : step
        ].copy()

    # -------------------------------------------------------------- along the axis

    def bounds(self) -> tuple[float, float]:
        """Return the start of the first frame kept and the end of the newest."""
        if self.first == self.end:
            return (0.0, 1.0) if self.x_axis is XAxis.TIME else (-0.5, 0.5)
        return self.start_of(self.first), self.start_of(self.end)

    def start_of(self, frame: int) -> float:
        """Return the start of a frame; the index after the newest gives its end."""
        if self.x_axis is XAxis.FRAME:
            return frame - 0.5
        return self.start_ns(frame) / NS_PER_SECOND

    def edges(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return where some frames start, at least one, and where the last of them ends."""
        if self.x_axis is XAxis.FRAME:
            return np.arange(start - 0.5, stop, dtype=np.float64)
        found: NDArray[np.float64] = np.empty(stop - start + 1)
        found[:-1] = self._starts_ns(np.arange(start, stop)) / NS_PER_SECOND
        found[-1] = self.start_of(stop)
        return found

    def start_ns(self, frame: int) -> int:
        """Return the session time at which a frame begins on the axis.

        The index after the newest gives its end.
        """
        at_ns, first = self._begun_ns, self.history.first
        # This runs several times in each refresh, so counts_back is inlined.
        place, count = frame - first - (self.measure != "busy"), self.end - first
        if place < 0 and first == self._start[0]:
            return self._start[1]
        if place < 0:
            # The first frame kept begins at the instant of a frame that is no longer kept, or at
            # the start of the session, which it never extends beyond.
            passed_ns = self.history.interval_ns[0] - self.history.cut_ns[0]
            start_ns = max(at_ns[0] - min(passed_ns, NS_PER_SECOND), 0)
            self._start = first, min(start_ns, at_ns[0] - NS_PER_US)
            return self._start[1]
        if place < count:
            return at_ns[place]
        return at_ns[count - 1] + self._last_duration_ns()

    def first_from_ns(self, at_ns: float) -> int:
        """Return the first frame that begins on the axis at an instant of session time or later."""
        return self._first_not_before(math.ceil(at_ns), "left")

    def frame_at(self, x: float) -> int | None:
        low, high = self.bounds()
        if self.first == self.end or not low <= x <= high:
            return None
        return min(max(self._first_behind(x) - 1, self.first), self.end - 1)

    def frame_at_ns(self, at_ns: int) -> int | None:
        """Return the frame that an instant belongs to, or the newest; ``None`` before the first."""
        if self.first == self.end or at_ns < self.start_ns(self.first):
            return None
        return min(self.history.frame_at(at_ns), self.end - 1)

    def x_of_ns(self, at_ns: int) -> float | None:
        """Return the position of an instant of session time, ``None`` before the first frame."""
        if self.x_axis is XAxis.TIME:
            return at_ns / NS_PER_SECOND
        frame = self.frame_at_ns(at_ns)
        return None if frame is None else float(frame)

    def x_from_first(self, at_ns: int) -> float:
        """Return the position of an instant of session time, at least that of the first frame."""
        found = self.x_of_ns(at_ns)
        return float(self.first) if found is None else found

    def x_of_instants(self, instants_ns: NsColumn) -> NDArray[np.float64]:
        """Return the positions of instants of session time, each on its frame."""
        if self.x_axis is XAxis.TIME:
            return instants_ns / NS_PER_SECOND
        return self._places_of(instants_ns).astype(np.float64) + self.first

    def frames_within(self, low: float, high: float) -> tuple[int, int]:
        """Return the range of frames between two positions, including partial ones."""
        if self.first == self.end:
            return self.end, self.end
        start = max(self._first_behind(low) - 1, self.first)
        stop = min(self._first_from(high), self.end)
        if start + 1 == self.end and low >= self.bounds()[1]:
            return self.end, self.end
        return start, max(stop, start)

    def columns(self, window: Window, start: int = 0, stop: int | None = None) -> FrameColumns:
        """Return the frames of each column of a window, or of a part of it.

        The columns have a fixed grid, so that moving the window does not redistribute the frames. A
        part has the columns of the whole, so the outermost may extend beyond the part.
        """
        end = window.width if stop is None else stop
        low, per_pixel = window.low, window.per_pixel
        begin, behind = self.frames_within(low + start * per_pixel, low + end * per_pixel)
        if begin >= behind or start >= end:
            nothing = np.zeros(0, dtype=np.int64)
            return FrameColumns(nothing, nothing, nothing, nothing.astype(np.float64))
        begin = self._first_sharing(begin, window)
        behind = self._last_sharing(behind - 1, window)
        if self.x_axis is XAxis.FRAME:
            size = _frames_per_column(per_pixel)
            inner = np.arange(begin // size + 1, -(-behind // size)) * size
            edges = np.concatenate(([begin], inner, [behind]))
            starts = edges - 0.5
            widths = np.diff(edges) / per_pixel
        else:
            size = _ns_per_column(per_pixel)
            ends_ns = self.start_ns(begin), self.start_ns(behind - 1)
            if behind - begin < window.width:
                cells = self._starts_ns(np.arange(begin, behind)) // size
                inner = np.flatnonzero(cells[1:] > cells[:-1]) + begin + 1
                edges = np.concatenate(([begin], inner, [behind]))
            else:
                grid = np.arange(ends_ns[0] // size + 1, ends_ns[1] // size + 1) * size
                # Every edge of the grid lies after the beginning of the first frame.
                inner = np.searchsorted(self._view("at_ns"), grid) + self.first + self.counts_back
                edges = np.concatenate(([begin], inner, [behind]))
                edges = edges[np.append(True, edges[1:] > edges[:-1])]
            starts_ns = self._starts_ns(edges[:-1])
            widths = np.diff(starts_ns, append=self.start_ns(behind)) / (per_pixel * NS_PER_SECOND)
            cells = starts_ns // size
            ends = cells * (size / NS_PER_SECOND), [self._column_end(behind, size)]
            starts = np.concatenate(ends, dtype=np.float64)
        places = np.floor((starts - low) / per_pixel + 0.5).astype(np.int64)
        lefts = np.minimum(np.maximum(places[:-1], 0), window.width - 1)
        rights = np.minimum(np.maximum(places[1:], lefts + 1), window.width)
        return FrameColumns(edges, lefts, rights, widths)

    def newest_bars(self, begin: int, window: Window) -> list[FrameBar] | None:
        """Return the frames from one to the newest if each has a column of its own in view.

        ``None`` for more than a few. Takes a fraction of what :meth:`columns` does.
        """
        if self.end - begin > _FEW:
            return None
        low, per_pixel, is_by_time = window.low, window.per_pixel, self.x_axis is XAxis.TIME
        size, unit = _frames_per_column(per_pixel), 1
        if is_by_time:
            size, unit = _ns_per_column(per_pixel), NS_PER_SECOND
        found: list[FrameBar] = []
        place, cell = 0, -1
        if begin > self.first:
            cell = (self.start_ns(begin - 1) if is_by_time else begin - 1) // size
        at = former_at = 0
        for frame in range(begin, self.end + 1):
            at, former_at = self.start_ns(frame) if is_by_time else frame, at
            cell, former_cell = at // size, cell
            start = at / unit - (not is_by_time) / 2
            if frame < self.end:
                if cell == former_cell:
                    return None
                if is_by_time:
                    start = cell * (size / unit)
            place, left = math.floor((start - low) / per_pixel + 0.5), place
            if not 0 <= place < window.width + (frame == self.end):
                return None
            if frame > begin:
                width = (at - former_at) / (per_pixel * unit)
                found.append(FrameBar(left, max(place, left + 1), width))
        return found

    def frames_at_pixel(self, pixel: int, window: Window) -> tuple[int, int] | None:
        """Return the frames whose column is drawn at a pixel: first, and after the last."""
        # The newest column is at least a pixel wide, even if its frames are shorter.
        columns = self.columns(window, max(pixel - 1, 0), min(pixel + 2, window.width))
        covers = np.flatnonzero((columns.lefts <= pixel) & (pixel < columns.rights))
        if not len(covers):
            return None
        place = int(covers[-1])
        return int(columns.edges[place]), int(columns.edges[place + 1])

    def changed_columns(self, former: Window, window: Window) -> int:
        """Return how many columns at the left edge have lost frames since ``former`` was shown."""
        before, now = (self._first_behind(each.low) - 1 for each in (former, window))
        if before == now:
            return 0
        frames = (min(max(each, self.first), self.end) for each in range(now - 1, now + 2))
        former_x, x, next_x = map(self.start_of, frames)
        if min(x - former_x, next_x - x) >= window.per_pixel:
            return 0
        return min(math.ceil((next_x - window.low) / window.per_pixel) + 1, window.width)

    def frames_sharing(self, frame: int, window: Window) -> tuple[int, int]:
        """Return the frames that share a column with ``frame``: first, and after the last."""
        return self._first_sharing(frame, window), self._last_sharing(frame, window)

    # --------------------------------------------------------------------- frames

    def stretches(self, measure: Measure, columns: FrameColumns) -> Stretches:
        """Return extremes, sum and count of the measured times of each column."""
        pyramid = self._pyramid(measure)
        column = self._view(_column_name(measure))
        return pyramid.stretches(column, columns.edges, first=self.first)

    def slowest(self, measure: Measure, columns: FrameColumns) -> NsColumn:
        pyramid = self._pyramid(measure)
        column = self._view(_column_name(measure))
        return pyramid.indices_of_maxima(column, columns.edges, first=self.first)

    def slowest_within(self, measure: Measure, start: int, stop: int) -> int:
        """Return the index of the slowest of some frames, the first of several."""
        pyramid = self._pyramid(measure)
        column = self._view(_column_name(measure))
        return pyramid.index_of_maximum(column, start, stop, first=self.first)

    def longest_ns(self, measure: Measure, start: int, stop: int) -> int:
        """Return the longest of some times; reads only new ones in a range that moves forward."""
        values: array[int] = getattr(self.history, _column_name(measure))
        of, former_start, former_stop, found = self._longest
        is_later = of == measure and former_start <= start <= found
        if is_later and former_stop <= stop <= former_stop + _FEW:
            for frame in range(former_stop, stop):
                # Of equally long frames the last is taken, as it stays in view longest.
                if values[frame - self.first] >= values[found - self.first]:
                    found = frame
        else:
            found = self.slowest_within(measure, start, stop)
        self._longest = measure, start, stop, found
        return values[found - self.first]

    def reaches(self, time_ns: float, window: Window, begin: float, end: float) -> bool:
        """Return whether a frame between two pixels of a window took at least some time."""
        measure, scale = self.measure, window.per_pixel
        start, stop = self.frames_within(window.low + begin * scale, window.low + end * scale)
        if start >= stop:
            return False
        values: array[int] = getattr(self.history, _column_name(measure))
        if stop - start <= _SEARCHED_DIRECTLY:
            return max(values[start - self.first : stop - self.first]) >= time_ns
        return values[self.slowest_within(measure, start, stop) - self.first] >= time_ns

    def values_of(self, column: str | Phase | Share, frames: NsColumn) -> NsColumn:
        return self._view(column)[frames - self.first]

    # -------------------------------------------------------------- inside

    def _pyramid(self, measure: Measure) -> Pyramid:
        pyramid = self._pyramids.get(measure)
        if pyramid is None:
            pyramid = self._pyramids[measure] = Pyramid()
            # Indexes of the pyramid are frame numbers, so dropped frames are filled with zeros.
            pyramid.extend(np.zeros(self.first, dtype=np.int64))
        if len(pyramid) < self.end:
            pyramid.extend(self.times_ns(measure, len(pyramid), self.end))
        return pyramid

    def _first_sharing(self, frame: int, window: Window) -> int:
        if self.x_axis is XAxis.FRAME:
            size = _frames_per_column(window.per_pixel)
            start = frame // size * size
        else:
            size = _ns_per_column(window.per_pixel)
            cell_ns = self.start_ns(frame) // size * size
            start = self._first_not_before(cell_ns, "left")
        in_view = self._first_behind(window.low) - 1
        return max(start, self.first, min(in_view, frame))

    def _last_sharing(self, frame: int, window: Window) -> int:
        """Return the index after the last frame in view of the column that ``frame`` is in."""
        if self.x_axis is XAxis.FRAME:
            size = _frames_per_column(window.per_pixel)
            stop = (frame // size + 1) * size
        else:
            size = _ns_per_column(window.per_pixel)
            cell_ns = (self.start_ns(frame) // size + 1) * size
            stop = self._first_not_before(cell_ns, "left")
        return min(stop, self.end, max(self._first_from(window.high), frame + 1))

    def _column_end(self, behind: int, size_ns: int) -> float:
        """Return the end of the column before a frame: the start of that frame's column."""
        if behind == self.end:
            return self.start_of(behind)
        return self.start_ns(behind) // size_ns * (size_ns / NS_PER_SECOND)

    def _view(self, column: str | Phase | Share) -> NsColumn:
        """Return a column without copying it; valid until frames are added."""
        count = self.end - self.first
        if not count:
            return np.zeros(0, dtype=np.int64)
        return np.frombuffer(self.history.column(column), dtype=np.int64, count=count)

    def _starts_ns(self, frames: NsColumn) -> NsColumn:
        places = frames - self.first - self.counts_back
        found = self._view("at_ns")[np.maximum(places, 0)]
        if len(places) and places[0] < 0:
            found[0] = self.start_ns(self.first)
        return found

    def _places_of(self, instants_ns: NsColumn) -> NsColumn:
        """Return the places of the frames that instants belong to, or of the newest."""
        at_ns = self._view("at_ns")
        return np.minimum(np.searchsorted(at_ns, instants_ns), len(at_ns) - 1)

    def _first_not_before(self, at_ns: int, side: Literal["left", "right"]) -> int:
        """Return the first frame that begins at an instant or later, or (right) only later."""
        # For a single instant, bisect takes half the time of numpy and needs no view of the column.
        find, first = bisect_left if side == "left" else bisect_right, self.history.first
        count = self.end - first
        place = find(self._begun_ns, at_ns, 0, count)
        if self.counts_back and (place or self._begins_before(at_ns, side)):
            place = min(place + 1, count)
        return first + place

    def _begins_before(self, at_ns: int, side: Literal["left", "right"]) -> bool:
        """Return whether the first frame begins before an instant, or (right) before or at it."""
        if self.first == self.end:
            return False
        first_ns = self.start_ns(self.first)
        return first_ns <= at_ns if side == "right" else first_ns < at_ns

    def _last_duration_ns(self) -> int:
        """Return how long the newest frame is drawn where frames extend to the next frame."""
        at_ns, interval_ns = self.history.at_ns, self.history.interval_ns
        newest = self.end - self.first - 1
        usual_ns = self.history.delta_ns[newest] or interval_ns[newest]
        if newest > 0 and at_ns[newest] > at_ns[newest - 1]:
            usual_ns = at_ns[newest] - at_ns[newest - 1]
        return max(1, min(usual_ns, NS_PER_SECOND))

    def _first_from(self, x: float) -> int:
        """Return the first frame that starts at ``x`` or later."""
        if self.x_axis is XAxis.FRAME:
            return math.ceil(x + 0.5)
        return self._first_not_before(math.ceil(x * NS_PER_SECOND), "left")

    def _first_behind(self, x: float) -> int:
        """Return the first frame that starts after ``x``."""
        if self.x_axis is XAxis.FRAME:
            return math.floor(x + 0.5) + 1
        return self._first_not_before(math.floor(x * NS_PER_SECOND), "right")


def longest_frame(history: FrameHistory, measure: Measure = "interval") -> int:
    """Return the frame in which a measure is longest, the first of several; needs at least one."""
    first, end = history.first, history.end
    if history.computed is not None:
        return FrameSeries(history).slowest_within(measure, first, end)
    return first + int(np.argmax(history.numpy(_column_name(measure), first, end)))


def _column_name(measure: Measure) -> str:
    return f"{measure}_ns"


def _frames_per_column(per_pixel: float) -> int:
    """Return the frames per column: a number that the pyramid answers fast."""
    size = max(1, int(np.ceil(per_pixel - 1e-9)))
    unit = BUCKET
    # Columns of whole groups need no lower level of the pyramid; they get at most an eighth wider.
    while unit * 8 <= size:
        size = -(-size // unit) * unit
        unit *= BUCKET
    return size


def _ns_per_column(per_pixel: float) -> int:
    """Return the session time per column, ``per_pixel`` in seconds."""
    # Rounded first, because the widths of a scrolling view differ in the last bits.
    return max(1, int(np.ceil(round(per_pixel * NS_PER_SECOND, 3))))
