"""The frame plot: what a new frame costs beside pyqtgraph, how that grows, and what is seen.

pyqtgraph is measured at its best setting that loses nothing (clip to view and
automatic downsampling by peaks, no check for infinities), with arrays made ready
beforehand, so that only giving it the data and painting count.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from inspector.events import Timeline
from inspector.formats.arrangement.frame_series import FrameSeries, XAxis
from inspector.vocabulary import Phase
from tests.benchmarks.measuring import Case, Effort, measure, powers_of_ten
from tests.benchmarks.report import Row
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.overview_strip import OverviewStrip
from ui.kit.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from inspector.events.frame_history import FrameHistory
    from tests.benchmarks.measuring import Work

_SIZE: Final = (1_280, 400)
_USUAL_NS: Final = 16_666_667
#: New frames in one measurement: enough to include redraws of columns.
_TURNS: Final = 48
_ROOM: Final = 200_000


class FramesToCome:
    """A timeline with many frames, and one more at a time; the same for everybody.

    Attributes:
        timeline: What the plot draws.
        intervals_ms: The same times as pyqtgraph wants them, with room for more.
        count: How many of them there are.
    """

    def __init__(self, count: int) -> None:
        random = np.random.default_rng(count)
        intervals_ns = np.abs(random.normal(_USUAL_NS, 3_000_000, count + _ROOM)).astype(np.int64)
        self.timeline = Timeline([""])
        self.count = count
        self.intervals_ms = intervals_ns / 1e6
        self.numbers = np.arange(count + _ROOM, dtype=np.float64)
        self._intervals_ns: list[int] = intervals_ns[count:].tolist()
        _fill(self.timeline.frames, intervals_ns[:count])

    def add(self) -> None:
        """Let one more frame end."""
        history = self.timeline.frames
        interval_ns = self._intervals_ns[self.count - len(self.numbers) + _ROOM]
        at_ns = history.at_ns[-1] + interval_ns
        phases = [0, 0, 0, 2_000_000, 0, 0, 1_000_000]
        history.append(at_ns, interval_ns, interval_ns, 3_500_000, 0, phases)
        self.count += 1


def frame_plot(effort: Effort) -> list[Row]:
    """Goal: new data at 1e6 frames costs at most 0.15 of pyqtgraph, and 2 times that at 1e4."""
    sizes = effort.sizes(10_000, 1_000_000)
    views: dict[str, Callable[[FramesToCome], Work]] = {
        "all": lambda frames: _ours(frames, is_following=False),
        "following": lambda frames: _ours(frames, is_following=True),
        "all by time": lambda frames: _ours(frames, is_following=False, x_axis=XAxis.TIME),
        "all stacked": lambda frames: _ours(frames, is_following=False, is_stacked=True),
        "strip": _Strip,
        "pyqtgraph": _Pyqtgraph,
    }
    works = {
        f"{name} {powers_of_ten(size)}": make(FramesToCome(size))
        for name, make in views.items()
        for size in sizes
    }
    found = measure(
        [Case(name, _ready(work), operations=_TURNS) for name, work in works.items()],
        effort.repeats(15),
    )
    largest, smallest = powers_of_ten(sizes[-1]), powers_of_ten(sizes[0])
    peer = f"pyqtgraph {largest}"
    peer_us = f"pyqtgraph {found.median_ns(peer) / 1e3:,.0f} µs"
    rows = []
    for name in ("all", "following", "all by time", "all stacked", "strip"):
        ours = f"{name} {largest}"
        detail = f"{found.median_ns(ours) / 1e3:,.0f} µs a frame"
        rows.append(
            Row(
                f"frame_plot/{name}, new frame at {largest} to pyqtgraph",
                found.ratio(ours, peer),
                # Following shows 300 of the frames; that is less, and another question.
                0.15 if name != "following" and largest == "1e6" else None,
                detail=f"{detail}, {peer_us}",
            )
        )
        if largest != smallest:
            rows.append(
                Row(
                    f"frame_plot/{name}, {largest} to {smallest}",
                    found.ratio(ours, f"{name} {smallest}"),
                    2.0,
                    detail=f"{detail}, {found.median_ns(f'{name} {smallest}') / 1e3:,.0f} µs",
                )
            )
    for work in works.values():
        _close(work)
    return rows


def full_redraw(effort: Effort) -> list[Row]:
    """What moving the view costs, when everything is redrawn; for information."""
    rows = []
    for size in effort.sizes(10_000, 1_000_000):
        frames = FramesToCome(size)
        ours, peer = _ours_panned(frames), _pyqtgraph_panned(frames)
        cases = [Case("ours", _ready(ours), 8), Case("pyqtgraph", _ready(peer), 8)]
        found = measure(cases, effort.repeats(15))
        rows.append(
            Row(
                f"frame_plot/moved view at {powers_of_ten(size)} to pyqtgraph",
                found.ratio("ours", "pyqtgraph"),
                detail=f"{found.median_ns('ours') / 1e3:,.0f} µs, "
                f"pyqtgraph {found.median_ns('pyqtgraph') / 1e3:,.0f} µs",
            )
        )
        _close(ours)
        _close(peer)
    return rows


def spikes_kept(effort: Effort) -> list[Row]:
    """Goal: a spike is seen in any of 300 sessions, two thirds of them among the newest frames."""
    _application()
    random = np.random.default_rng(3)
    plot = FramePlot(Theme("light"))
    plot.resize(*_SIZE)
    plot.show()
    sessions = 30 if effort.is_quick else 300
    seen = read = 0
    for number in range(sessions):
        count = int(random.integers(2_000, 60_000))
        intervals_ns = np.abs(random.normal(_USUAL_NS, 1_000_000, count)).astype(np.int64)
        newest = number % 3 > 0
        spike = int(random.integers(count - 100, count) if newest else random.integers(count))
        intervals_ns[spike] = 500_000_000 + number
        timeline = Timeline([""])
        started = int(random.integers(1, count))
        _fill(timeline.frames, intervals_ns[:started])
        plot.set_timeline(timeline)
        plot.view.fit()
        QApplication.processEvents()
        # The rest comes in a few refreshes, as it does while a session runs.
        for chunk in np.array_split(intervals_ns[started:], 3):
            _fill(timeline.frames, chunk)
            plot.refresh()
            QApplication.processEvents()
        spikes = plot._bars.picture.spikes
        seen += 500_000_000 + number in spikes.times_ns.tolist()
        drawn = spikes.places[spikes.times_ns.argmax()] if len(spikes.places) else 0
        plot.point_at(QPointF(plot.area().left() + drawn + 0.5, plot.area().center().y()))
        readout = plot.readout()
        read += readout is not None and readout.frame == spike
    plot.close()
    plot.deleteLater()
    return [
        Row("frame_plot/spikes drawn", 100 * seen / sessions, 100, at_most=False, unit="%"),
        Row("frame_plot/spikes read by pointing", 100 * read / sessions, 100, False, unit="%"),
    ]


def pyramid_memory(effort: Effort) -> list[Row]:
    """Goal: the pyramid takes at most 0.3 of what its column takes."""
    frames = FramesToCome(max(effort.sizes(10_000, 1_000_000)))
    work = _ours(frames, is_following=False)
    work()
    series = work.plot.series
    assert series is not None, "the plot was given a timeline"
    column = 8 * len(frames.timeline.frames)
    size = powers_of_ten(10 ** (len(str(frames.count)) - 1))
    taken = sum(pyramid.nbytes for pyramid in series._pyramids.values())
    detail = f"{taken / 1e6:.1f} of {column / 1e6:.1f} MB"
    _close(work)
    return [Row(f"frame_plot/memory at {size}", taken / column, 0.3, detail=detail)]


BENCHMARKS = (frame_plot, full_redraw, spikes_kept, pyramid_memory)


# ------------------------------------------------------------------------ works


class _Ours:
    """One more frame, refreshed and painted, several times over."""

    def __init__(self, frames: FramesToCome, plot: FramePlot) -> None:
        self.frames, self.plot = frames, plot

    def __call__(self) -> None:
        for _ in range(_TURNS):
            self.frames.add()
            self.plot.refresh()
            QApplication.processEvents()

    def close(self) -> None:
        self.plot.close()
        self.plot.deleteLater()


class _OursPanned(_Ours):
    """The view moved by an odd distance, and painted."""

    def __call__(self) -> None:
        for turn in range(8):
            self.plot.view.pan(0.0137 if turn % 2 else -0.0137)
            QApplication.processEvents()


class _Strip:
    """One more frame in the overview strip."""

    def __init__(self, frames: FramesToCome) -> None:
        _application()
        self.frames = frames
        self.series = FrameSeries(frames.timeline.frames)
        self.strip = OverviewStrip(Theme("light"))
        self.strip.resize(_SIZE[0], 40)
        self.strip.show()
        self.strip.set_series(self.series)
        QApplication.processEvents()

    def __call__(self) -> None:
        for _ in range(_TURNS):
            self.frames.add()
            self.series.read_new_frames()
            self.strip.set_visible(*self.series.bounds())
            QApplication.processEvents()

    def close(self) -> None:
        self.strip.close()
        self.strip.deleteLater()


class _Pyqtgraph:
    """One more point, given and painted, several times over."""

    def __init__(self, frames: FramesToCome) -> None:
        _application()
        self.frames = frames
        self.plot = pg.PlotWidget()
        self.plot.resize(*_SIZE)
        self.plot.show()
        self.item = pg.PlotDataItem(pen=pg.mkPen("w", width=1), skipFiniteCheck=True)
        self.plot.addItem(self.item)
        self.item.setClipToView(True)
        self.item.setDownsampling(auto=True, method="peak")
        self.give()
        QApplication.processEvents()

    def give(self) -> None:
        count = self.frames.count
        self.item.setData(
            self.frames.numbers[:count],
            self.frames.intervals_ms[:count],
            skipFiniteCheck=True,
            connect="all",
        )

    def __call__(self) -> None:
        for _ in range(_TURNS):
            self.frames.add()
            self.give()
            QApplication.processEvents()

    def close(self) -> None:
        self.plot.close()
        self.plot.deleteLater()


class _PyqtgraphPanned(_Pyqtgraph):
    """The view moved by the same distance."""

    def __call__(self) -> None:
        view_box = self.plot.getViewBox()
        for turn in range(8):
            share = 0.0137 if turn % 2 else -0.0137
            view_box.translateBy(x=share * view_box.viewRect().width())
            QApplication.processEvents()


def _ours(
    frames: FramesToCome,
    *,
    is_following: bool,
    x_axis: XAxis = XAxis.FRAME,
    is_stacked: bool = False,
) -> _Ours:
    _application()
    plot = FramePlot(Theme("light"))
    plot.resize(*_SIZE)
    plot.show()
    plot.set_timeline(frames.timeline)
    plot.view.set_x_axis(x_axis)
    plot.set_stacked(is_stacked)
    if not is_following:
        plot.view.fit()
    QApplication.processEvents()
    return _Ours(frames, plot)


def _ours_panned(frames: FramesToCome) -> _OursPanned:
    shown = _ours(frames, is_following=False)
    shown.plot.view.zoom(0.9)
    return _OursPanned(frames, shown.plot)


def _pyqtgraph_panned(frames: FramesToCome) -> _PyqtgraphPanned:
    shown = _PyqtgraphPanned(frames)
    view_box = shown.plot.getViewBox()
    view_box.scaleBy(x=0.9)
    QApplication.processEvents()
    return shown


def _application() -> QApplication:
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication), "an application without widgets exists"
    return application


def _ready(work: Work) -> Callable[[], AbstractContextManager[Work]]:
    return lambda: nullcontext(work)


def _close(work: Work) -> None:
    if isinstance(work, (_Ours, _Strip, _Pyqtgraph)):
        work.close()


def _fill(history: FrameHistory, intervals_ns: NDArray[np.int64]) -> None:
    """Append many frames at once, each with half of its time spent."""
    if not len(intervals_ns):
        return
    began_ns = history.at_ns[-1] if len(history) else 0
    nothing = np.zeros(len(intervals_ns), dtype=np.int64)
    began = began_ns + np.cumsum(intervals_ns)
    phases = [intervals_ns // 8 if number in {3, 6} else nothing for number in range(len(Phase))]
    history.extend([began, intervals_ns, intervals_ns, intervals_ns // 2, nothing, *phases])
