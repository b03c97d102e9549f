"""The frame times of a range of frames as plain columns, with their provenance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self, TypeAlias

from inspector.analysis.intervention_list import Intervention, interventions_between
from inspector.analysis.landmarks import Landmark, landmarks_between, landmarks_within
from inspector.display_text import in_quotes
from inspector.errors import ExportError
from inspector.events.annotations import Annotation
from inspector.events.timeline import Timeline
from inspector.foreign.numbers import count_in
from inspector.timebase import parse_duration_ns
from inspector.vocabulary import Phase, Share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.analysis.statistics.frame_budget import FrameBudget
    from inspector.analysis.statistics.frame_series import FrameFacts

#: Which time is plotted: source time between frame starts, time in callbacks, or local time
#: passed to the callbacks.
Measure = Literal["interval", "busy", "delta"]

NsColumn: TypeAlias = "NDArray[np.int64]"

#: The source of frames that another program has captured.
CAPTURED: Final = "capture"


_COLUMNS: Final = ("index", "at_ns", "interval_ns", "delta_ns", "busy_ns")
#: What is in no share of the interval.
UNKNOWN_COLUMN: Final = "unknown_share_ns"


class FrameColumns(Protocol):
    """The part of the frame history that is read here."""

    @property
    def first(self) -> int:
        """Number of the oldest frame kept."""

    @property
    def end(self) -> int:
        """Number of the frame after the newest."""

    def numpy(self, column: str | Phase | Share, start: int, stop: int) -> NsColumn:
        """Return a copy of a column from frame ``start`` up to, not including, ``stop``."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameTimes:
    """Consecutive frames, one array entry each, all int64.

    Attributes:
        index: Number of the frame within its session.
        at_ns: Session time at which the frame began, never descending.
        interval_ns: Source time between the starts of the previous frame and this one.
        delta_ns: Local time of the root clock passed to this frame's callbacks.
        busy_ns: Time spent in this frame's callbacks.
        phases: Time spent in each phase, shape (phases, frames), rows by ``Phase``.
        shares: Where the interval went, shape (shares, frames), rows by ``Share``; ``None`` if
            that was not measured.
        interventions: Interventions before or in these frames.
        landmarks: Bookmarks, notes, named ranges and marks in these frames.
        samples: Why these are samples and not every frame, so that nothing can be said that
            depends on every frame; empty if they are all.
        facts: What a capture says of the frames besides; ``None`` for nothing.
    """

    index: NsColumn
    at_ns: NsColumn
    interval_ns: NsColumn
    delta_ns: NsColumn
    busy_ns: NsColumn
    phases: NsColumn
    shares: NsColumn | None = None
    interventions: tuple[Intervention, ...] = ()
    landmarks: tuple[Landmark, ...] = ()
    samples: str = ""
    facts: FrameFacts | None = None

    def __len__(self) -> int:
        return len(self.index)

    @classmethod
    def from_history(cls, history: FrameColumns, start: int = 0, stop: int | None = None) -> Self:
        """Return the frames from ``start`` up to, not including, ``stop`` that are kept.

        Args:
            history: The frame history of a timeline.
            start: Number of the first frame.
            stop: Number of the frame after the last; by default all that follow.
        """
        import numpy as np  # noqa: PLC0415 - the help of commands mentions formats and needs no numpy

        end = history.end if stop is None else min(stop, history.end)
        begin = max(start, history.first)
        end = max(begin, end)

        def column(name: str | Phase | Share) -> NsColumn:
            return history.numpy(name, begin, end)

        def rows(names: tuple[Phase | Share, ...]) -> NsColumn:
            found = np.empty((len(names), end - begin), dtype=np.int64)
            for row, name in enumerate(names):
                found[row] = column(name)
            return found

        shares = rows(tuple(Share))
        return cls(
            index=np.arange(begin, end, dtype=np.int64),
            at_ns=column("at_ns"),
            interval_ns=column("interval_ns"),
            delta_ns=column("delta_ns"),
            busy_ns=column("busy_ns"),
            phases=rows(tuple(Phase)),
            shares=shares if shares.any() else None,
        )

    @classmethod
    def from_timeline(
        cls,
        timeline: Timeline,
        start: int = 0,
        stop: int | None = None,
        annotations: Iterable[Annotation] = (),
    ) -> Self:
        """Return frames as :meth:`from_history` does, with interventions and landmarks.

        Args:
            timeline: The session, with its interventions and marks.
            start: Number of the first frame.
            stop: Number of the frame after the last; by default all that follow.
            annotations: Bookmarks, notes and named ranges.
        """
        return replace(
            cls.from_history(timeline.frames, start, stop),
            interventions=interventions_between(timeline, start, stop),
            landmarks=landmarks_between(timeline, annotations, start, stop),
        )

    def between(self, start: int, stop: int) -> Self:
        """Return the frames at indexes ``start`` up to, not including, ``stop``."""
        index = self.index[start:stop]
        first = int(index[0]) if len(index) else 0
        end = int(index[-1]) + 1 if len(index) else 0
        is_to_the_end = stop >= len(self)
        return replace(
            self,
            index=index,
            at_ns=self.at_ns[start:stop],
            interval_ns=self.interval_ns[start:stop],
            delta_ns=self.delta_ns[start:stop],
            busy_ns=self.busy_ns[start:stop],
            phases=self.phases[:, start:stop],
            shares=None if self.shares is None else self.shares[:, start:stop],
            facts=None if self.facts is None else self.facts.kept(slice(start, stop)),
            interventions=tuple(
                each
                for each in self.interventions
                if first <= each.frame and (each.frame < end or (is_to_the_end and end))
            ),
            landmarks=landmarks_within(self.landmarks, first, end),
        )

    @property
    def share_columns(self) -> dict[str, NsColumn]:
        """Where the interval went, by name of the column in files; empty if not measured."""
        if self.shares is None:
            return {}
        named = {share.column: column for share, column in zip(Share, self.shares, strict=True)}
        return named | {UNKNOWN_COLUMN: (self.interval_ns - self.shares.sum(axis=0)).clip(0)}

    def without_inspector(self, budget: FrameBudget) -> tuple[Self, int]:
        """Leave out frames over budget because of the inspector alone; return how many they are.

        For statistics only: the frames left no longer follow one another.
        """
        if self.shares is None:
            return self, 0
        kept = ~budget.is_over_because_of(self.interval_ns, self.shares[Share.INSPECTOR])
        columns = {name: getattr(self, name)[kept] for name in _COLUMNS}
        phases, shares = self.phases[:, kept], self.shares[:, kept]
        facts = None if self.facts is None else self.facts.kept(kept)
        fewer = replace(self, phases=phases, shares=shares, facts=facts, **columns)
        return fewer, len(self) - len(fewer)

    def measured(self, measure: Measure) -> NsColumn:
        """Return the column that ``measure`` names."""
        match measure:
            case "interval":
                return self.interval_ns
            case "busy":
                return self.busy_ns
            case "delta":
                return self.delta_ns


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where frame times come from.

    Attributes:
        scene: Name of the scene or program.
        created: Time of the data.
        version: Version of the inspector.
        source: The time source of the frames.
        frame_rate: Target frames per second; ``None`` if unknown.
        note: A remark for the reader.
    """

    scene: str
    created: datetime
    version: str
    source: str = ""
    frame_rate: Fraction | None = None
    note: str = ""

    @property
    def time_name(self) -> str:
        """What the time of the frames is called on an axis."""
        return "capture time" if self.source == CAPTURED else "session time"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a session, by frames or by time.

    Attributes:
        start: The first frame, counted from 0, or its earliest session instant in nanoseconds.
        stop: The frame after the last, or the instant before which all begin; ``None`` for all
            that follow.
        is_time: Whether these are instants.
    """

    start: int = 0
    stop: int | None = None
    is_time: bool = False

    def bounds(self, frames: FrameTimes) -> tuple[int, int]:
        """Return the place of the first frame, and the place after the last."""
        start, stop = self.start, len(frames) if self.stop is None else self.stop
        if self.is_time:
            start = int(frames.at_ns.searchsorted(start))
            if self.stop is not None:
                stop = int(frames.at_ns.searchsorted(stop))
        return start, min(stop, len(frames))

    def of(self, frames: FrameTimes) -> FrameTimes:
        """Return those of the frames that belong to it."""
        return frames.between(*self.bounds(frames))

    def instants(self, frames: FrameTimes) -> tuple[int, int | None]:
        """Return the session instants of its beginning and end, ``None`` where all ends."""
        if self.is_time:
            return self.start, None if self.stop is None else self.stop - 1
        start, stop = self.bounds(frames)
        begin_ns = int(frames.at_ns[start]) if 0 < start < len(frames) else 0
        return begin_ns, int(frames.at_ns[stop]) - 1 if stop < len(frames) else None


def parse_range(text: str) -> Part:
    """Parse a range of frames (``"all"``, ``"120:600"``) or of time (``"2s:5.5s"``, ``"1:00.."``).

    Raises:
        ExportError: The text is not such a range, or the range is empty.
    """
    if text.strip().lower() == "all":
        return Part()
    is_time = ".." in text or text.strip(" 0123456789:.") != ""
    read = _instant_in if is_time else count_in
    first, separator, last = text.partition(".." if ".." in text else ":")
    start = read(first.strip() or "0")
    stop = read(last.strip()) if last.strip() else None
    if not separator or start is None or (last.strip() and stop is None):
        message = (
            f"{in_quotes(text)} is not a range. Write frames as 120:600, 120: or :600, time as "
            "2s:5.5s or 1:00..1:30, or all."
        )
        raise ExportError(message)
    if stop is not None and stop <= start:
        message = f"The range {text.strip()} holds no frame. The second number must be larger."
        raise ExportError(message)
    return Part(start, stop, is_time)


def _instant_in(text: str) -> int | None:
    try:
        at_ns = parse_duration_ns(text)
    except ValueError:
        return None
    return at_ns if at_ns >= 0 else None
