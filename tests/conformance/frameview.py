"""Statistics that NVIDIA FrameView printed, computed from the same frame times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inspector.analysis.statistics.metrics import metric_values
from inspector.analysis.statistics.time_series import TimeSeries

if TYPE_CHECKING:
    from tests.conformance.replay import Event, GoldenLine

#: What FrameView calls them in its summary; its "Time (ms)" is in seconds.
_IDS = {
    "Avg FPS": "frameview.average",
    "1% Low FPS": "frameview.low-1",
    "Min FPS": "frameview.min",
    "Max FPS": "frameview.max",
    "0.1% Low FPS": "frameview.low-0.1",
    "0.1% FPS": "frameview.fps-0.1",
    "1% FPS": "frameview.fps-1",
    "5% FPS": "frameview.fps-5",
    "10% FPS": "frameview.fps-10",
    "Time (ms)": "frameview.time",
}
#: Its log rounds frame times to microseconds before we see them.
_ROUNDING = 0.00005


def replay_frameview(line: GoldenLine) -> list[Event]:
    """Return our statistics by FrameView's names, as it printed them if they agree."""
    series = TimeSeries(np.array(line.data["ms_between_presents"], dtype=np.float64))
    ours = {each.metric.id: each.value for each in metric_values(series)}
    found: list[Event] = []
    for name, printed in line.data["reported"].items():
        value = ours[_IDS[name]]
        assert value is not None
        agrees = abs(value - printed) <= _ROUNDING * abs(printed)
        found.append([name, printed if agrees else value])
    return found
