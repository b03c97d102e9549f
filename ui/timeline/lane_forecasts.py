"""Where the firings that come next are on the lanes of timers, beyond the right edge too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs

from inspector.analysis.lanes.lanes import Lane, LaneKey, LaneKind
from inspector.analysis.predict.timers import next_fires
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.lane_layout import hollow_places
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from inspector.analysis.lanes.rows import LaneRow

_MOST_PENDING: Final = 6
_MOST_PREDICTED: Final = 40
#: Of firings that are predicted closer than this many pixels, only the first few are shown.
_APART: Final = 3
_MOST_CROWDED: Final = 6
#: Looked up once: in Python 3.11 a member of an enumeration takes as long as a small call.
_TIMER: Final = LaneKind.TIMER
#: Predictions reach beyond the right edge of the view by this share of its width.
_AHEAD: Final = 0.2
_PHASE_DIGITS: Final = 5


class _Coming(NamedTuple):
    """What is predicted of a lane, beyond the right edge too."""

    made_for: object
    timers: list[int]
    dues: list[int]
    first_ns: int  # The instant of the first; while it is to come, all are right
    until_ns: float  # Up to when they are known
    xs: tuple[int, ...]  # In pixels of a view that moves by whole ones


class LaneForecasts:
    """Predictions of the lanes in a view, found again only when they may be others."""

    def __init__(self) -> None:
        self.away = (
            0  # From a pixel of the lanes to the same one of a view that moves by whole ones
        )
        self._made_for: object = None  # What all predictions depend on
        self._coming: dict[LaneKey, _Coming] = {}
        self._timeline, self._window = Timeline([""]), LaneWindow(0.0, 0.0, 0, 0, 0)

    def forget(self) -> None:
        self._coming.clear()

    def begin(self, timeline: Timeline, window: LaneWindow) -> None:
        """Note what is in view; known predictions move along with a view that moves by pixels."""
        offset = window.low / window.per_pixel
        origin = round(offset)
        versions = timeline, timeline.mapping_version, timeline.structure_version
        place = window.width, round(window.span), round(offset - origin, _PHASE_DIGITS)
        self.away, made_for = origin - window.left, (versions, place)
        if made_for != self._made_for:
            # Replaced only by another value, so that what is known can compare by identity.
            self._made_for = made_for
        self._timeline, self._window = timeline, window

    def places(self, row: LaneRow, lane: Lane) -> tuple[int, ...]:
        """Return where the firings to come are, in pixels of a view that moves by whole ones."""
        timeline, window, pending = self._timeline, self._window, lane.pending
        if not pending or window.high <= timeline.at_ns or row.kind is not _TIMER:
            return ()
        table, kept = timeline.timers, self._coming.get(row.key)
        timers = pending.first(_MOST_PENDING)
        # This leaves out timers that only one of timeline and lanes knows yet.
        dues = table.session_dues(timers)
        if (
            kept is None
            or kept.made_for is not self._made_for
            or kept.timers != timers
            or kept.dues != dues
            or kept.first_ns < timeline.at_ns
            or kept.first_ns < timeline.newest_ns
            or kept.until_ns < window.high
            or window.bends is not None
        ):
            known = [each for each in timers if each in table]
            first_ns, until_ns, xs = _coming_of(timeline, known, dues, window)
            found = tuple(x + self.away for x in xs)
            kept = self._coming[row.key] = _Coming(
                *(self._made_for, timers, dues, first_ns, until_ns, found)
            )
        return kept.xs


def _coming_of(
    timeline: Timeline, timers: Sequence[int], dues: Sequence[int], window: LaneWindow
) -> tuple[int, float, list[int]]:
    """Return the instant of the first firing, up to when they are known, and their pixels."""
    table, instants = timeline.timers, list[int]()
    ahead = 0 if window.bends is not None else round(window.width * _AHEAD)
    wider = structs.replace(
        window, high=window.high + ahead * window.per_pixel, width=window.width + ahead
    )
    for timer_id, due_ns in zip(timers, dues, strict=True):
        if due_ns <= wider.high:
            is_dense = table.interval[table.index(timer_id)] < _APART * window.per_pixel
            most = _MOST_CROWDED if is_dense else _MOST_PREDICTED
            instants += next_fires(timeline, timer_id, int(wider.high), most)
    instants.sort()
    return instants[0] if instants else NEVER, wider.high, hollow_places(instants, wider)
