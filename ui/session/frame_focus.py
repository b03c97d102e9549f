"""The frames that people look at, as all panels share them, and how statistics of them are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from inspector.analysis.statistics.time_series import USUAL_STUTTER, StutterLimits
from inspector.foreign.numbers import number_in
from inspector.vocabulary import Measure

if TYPE_CHECKING:
    Frames = tuple[int, int]

#: Settings keys of the options.
STUTTER_FACTOR: Final = "stutter_factor"
LOW_FPS: Final = "low_fps"
WITHOUT_OUTLIERS: Final = "without_outliers"


class MetricOptions(Struct, frozen=True):
    """How statistics are made, as it is kept in the settings."""

    stutter: StutterLimits  # What counts as stuttering and as slow
    without_outliers: bool  # Whether outliers are left out

    @classmethod
    def kept_in(cls, choices: Mapping[str, str]) -> MetricOptions:
        without = choices.get(WITHOUT_OUTLIERS) == "yes"
        numbers = (choices.get(STUTTER_FACTOR, ""), choices.get(LOW_FPS, ""))
        try:
            factor, rate = (float(number_in(each)) for each in numbers)
            return cls(StutterLimits(factor, rate), without)
        except ValueError:
            return cls(USUAL_STUTTER, without)


class FrameFocus(QObject):
    """What the frame plot shows and has chosen, and the frames that other panels mark in it."""

    changed = Signal()  # Another measure is plotted, or other frames are in view or chosen
    marked_changed = Signal()  # Other frames are marked

    def __init__(self, parent: QObject | None) -> None:
        super().__init__(parent)
        self.measure: Measure = "interval"  # Which time of the frames is plotted
        self.visible: Frames = (0, 0)  # The first frame in view and the one behind the last
        self.chosen: Frames | None = None  # The chosen frames likewise, None without a choice
        # Whether statistics leave out frames that are over the first budget because of the
        # inspector alone
        self.without_inspector = False
        # Numbers of the frames to mark, ascending; None for none
        self.marked: NDArray[np.int64] | None = None

    def change(
        self,
        measure: Measure,
        visible: Frames,
        chosen: Frames | None,
        *,
        without_inspector: bool = False,
    ) -> None:
        now = (measure, visible, chosen, without_inspector)
        if now != (self.measure, self.visible, self.chosen, self.without_inspector):
            self.measure, self.visible, self.chosen, self.without_inspector = now
            self.changed.emit()

    def mark(self, frames: NDArray[np.int64] | None) -> None:
        """Mark these frames, or none; no fewer than before means that some are new."""
        if frames is not self.marked:
            self.marked = frames
            self.marked_changed.emit()
