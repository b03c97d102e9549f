"""The frame times of a range of frames as plain columns, with their provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias

from msgspec import Struct, structs

from inspector.analysis.intervention_list import Intervention, interventions_of
from inspector.analysis.markers import Marker, markers_of, markers_within
from inspector.analysis.statistics.frame_budget import (
    DEFAULT_BUDGETS_MS,
    FrameBudget,
    budgets_after,
)
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.display_text import in_quotes
from inspector.errors import ExportError
from inspector.events.annotations import Annotation
from inspector.events.frame_history import FrameHistory
from inspector.events.timeline import Timeline
from inspector.foreign.numbers import count_in
from inspector.timebase import NS_PER_MS, parse_duration_ns
from inspector.vocabulary import Measure, Phase, Share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from inspector.analysis.statistics.time_series import FrameFacts
    from inspector.formats.tables.number_cells import TextCells

NsColumn: TypeAlias = "NDArray[np.int64]"

#: The source of frames that another program has captured.
CAPTURED: Final = "capture"


#: The column for the part of the interval that is in no share.
UNKNOWN_COLUMN: Final = "unknown_share_ns"
#: Names in files of the columns for the shares of the interval.
SHARE_COLUMNS: Final = (*(share.column for share in Share), UNKNOWN_COLUMN)
_EAGER: Final = ("at_ns", "interval_ns")
#: Frames that are read from a file at a time.
_AT_ONCE: Final = 20_000


class Quantity(Struct, frozen=True):
    at: int  # Its place among the columns
    name: str
    unit: str  # Its unit; empty if unknown


class Beside(Protocol):
    """The columns of a capture beside the frame times, which are read whenever they are needed.

    Attributes:
        quantities: Those that measure something beside the frame times.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def quantities(self) -> tuple[Quantity, ...]: ...

    def between(self, start: int, stop: int) -> Beside: ...

    def cells(self, columns: Sequence[int]) -> Iterator[list[TextCells]]:
        """Yield columns, given their places, as text, in parts of the frames."""

    def numbers(self, columns: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return columns, given their places, as numbers; NaN where there is none."""

    def damage(self, columns: Sequence[int]) -> dict[int, str]:
        """Return how many values of columns are neither numbers nor missing, as sentences."""


class FrameTimes(Struct, frozen=True, eq=False):
    """Consecutive frames, one array entry each, all int64.

    A frame time is the time since the frame before, in sessions, recordings, captures and exports,
    so it ends at the instant of its frame. A frame of a session calls its callbacks from there on;
    a frame of a capture was presented there.
    """

    index: NsColumn
    at_ns: NsColumn  # Its instant, never descending: session time, or the time of the capture
    # The frame time: source time from the instant of the frame before to its own.
    interval_ns: NsColumn
    history: FrameHistory  # Has all columns of these frames, perhaps of others too
    has_shares: bool = False  # Whether the shares of the interval were measured
    interventions: tuple[Intervention, ...] = ()
    markers: tuple[Marker, ...] = ()  # Bookmarks, notes, named ranges and marks in these frames
    # Why these are samples and not every frame, which rules out statistics that need every frame;
    # empty if they are all.
    samples: str = ""
    facts: FrameFacts | None = None  # Further facts in a capture about the frames; None for none
    beside: Beside | None = None  # The columns of a capture beside the frame times; None for none

    def __len__(self) -> int:
        return len(self.index)

    @property
    def length_ns(self) -> int:
        """How long they take in all; of samples, from the first to the last."""
        if not self.samples:
            return int(self.interval_ns.sum())
        return int(self.at_ns[-1] - self.at_ns[0]) if len(self) else 0

    @property
    def delta_ns(self) -> NsColumn:
        return self._column("delta_ns")

    @property
    def busy_ns(self) -> NsColumn:
        return self._column("busy_ns")

    def phase(self, phase: Phase) -> NsColumn:
        return self._column(phase)

    def share(self, share: Share) -> NsColumn:
        return self._column(share)

    def _column(self, name: str | Phase | Share) -> NsColumn:
        """Return a column; of a recording it is read from the file at each call."""
        if not len(self):
            return self.interval_ns
        first, last = int(self.index[0]), int(self.index[-1])
        found = self.history.part(name, first, last + 1)
        # If some frames were left out, the others are not consecutive.
        return found if len(found) == len(self) else found[self.index - first]

    def parts(self) -> Iterator[Self]:
        """Yield these frames in parts, so that little of them is in memory at a time."""
        for start in range(0, len(self), _AT_ONCE):
            yield self.between(start, start + _AT_ONCE)

    @classmethod
    def from_history(cls, history: FrameHistory) -> Self:
        """Return the frames that are kept."""
        import numpy as np  # noqa: PLC0415 - the help of commands mentions formats and needs no numpy

        begin, end = history.first, history.end
        whole = history.complete(begin, end)
        at_ns, interval_ns = (whole.part(each, begin, end) for each in _EAGER)
        has_shares = any(whole.part(each, begin, end).any() for each in Share)
        index = np.arange(begin, end, dtype=np.int64)
        return cls(index, at_ns, interval_ns, whole, has_shares)

    @classmethod
    def of_columns(  # noqa: PLR0913, PLR0917 - one value a column
        cls,
        index: NsColumn,
        at_ns: NsColumn,
        interval_ns: NsColumn,
        delta_ns: NsColumn,
        busy_ns: NsColumn | None = None,
        phases: NsColumn | None = None,
        shares: NsColumn | None = None,
    ) -> Self:
        """Return frames that follow one another from their columns, which are not copied.

        Times in callbacks and phases are 0 by default, and shares not measured; their rows are by
        Phase and Share.
        """
        rest = [None] * len(Phase) if phases is None else [*phases]
        rest += [None] * len(Share) if shares is None else [*shares]
        columns = [at_ns, interval_ns, delta_ns, busy_ns, None, *rest]
        history = FrameHistory.holding(int(index[0]) if len(index) else 0, columns)
        return cls(index, at_ns, interval_ns, history, shares is not None)

    @classmethod
    def from_timeline(cls, timeline: Timeline, annotations: Iterable[Annotation] = ()) -> Self:
        """Return frames as :meth:`from_history` does, with interventions and markers."""
        return structs.replace(
            cls.from_history(timeline.frames),
            interventions=interventions_of(timeline),
            markers=markers_of(timeline, annotations),
        )

    def between(self, start: int, stop: int) -> Self:
        index = self.index[start:stop]
        first = int(index[0]) if len(index) else 0
        end = int(index[-1]) + 1 if len(index) else 0
        is_to_the_end = stop >= len(self)
        return structs.replace(
            self,
            index=index,
            at_ns=self.at_ns[start:stop],
            interval_ns=self.interval_ns[start:stop],
            facts=None if self.facts is None else self.facts.kept(slice(start, stop)),
            beside=None if self.beside is None else self.beside.between(start, stop),
            interventions=tuple(
                each
                for each in self.interventions
                if first <= each.frame and (each.frame < end or (is_to_the_end and end))
            ),
            markers=markers_within(self.markers, first, end),
        )

    @property
    def unknown_ns(self) -> NsColumn:
        """The part of each interval that is in no share, if those were measured."""
        rest_ns = self.interval_ns.copy()
        for share in Share:
            rest_ns -= self.share(share)
        return rest_ns.clip(0, out=rest_ns)

    @property
    def share_columns(self) -> dict[str, NsColumn]:
        """The shares of the interval by their column in files; empty if not measured."""
        if not self.has_shares:
            return {}
        columns = (*map(self.share, Share), self.unknown_ns)
        return dict(zip(SHARE_COLUMNS, columns, strict=True))

    def without_inspector(self, budget: FrameBudget) -> tuple[Self, int]:
        """Leave out frames over budget because of the inspector alone; return how many they are.

        For statistics only: the frames left no longer follow one another.
        """
        if not self.has_shares:
            return self, 0
        kept = ~budget.is_over_because_of(self.interval_ns, self.share(Share.INSPECTOR))
        if kept.all():
            return self, 0
        fewer = structs.replace(
            self,
            index=self.index[kept],
            at_ns=self.at_ns[kept],
            interval_ns=self.interval_ns[kept],
            facts=None if self.facts is None else self.facts.kept(kept),
        )
        return fewer, len(self) - len(fewer)

    def measured(self, measure: Measure) -> NsColumn:
        return self.interval_ns if measure == "interval" else self._column(f"{measure}_ns")


class Provenance(Struct, frozen=True):
    scene: str
    created: datetime | None  # Time of the data, in local time if it has no zone; None if unknown
    version: str
    source: str = ""  # The time source of the frames
    frame_rate: Fraction | None = None  # Target frames per second; None if unknown
    note: str = ""  # A remark for the reader
    waits: bool = False  # Whether its frames are turns of a loop that waits for events
    # What the loop of a program asks for or does, which its frames are compared with unless
    # another is given; None without such a loop
    own_budget: FrameBudget | None = None

    @property
    def software(self) -> str:
        """The program that wrote them, with its version if that is known."""
        return f"Timeline Inspector {self.version}".strip()

    @property
    def created_text(self) -> str:
        """The time of the data for people; empty if unknown."""
        return "" if self.created is None else self.created.strftime("%Y-%m-%d %H:%M:%S %Z").strip()

    @property
    def created_iso(self) -> str | None:
        return None if self.created is None else self.created.isoformat()

    @property
    def budget(self) -> FrameBudget:
        """What its frames are compared with unless another is given, by default a screen's."""
        return self.own_budget or FrameBudget.of_rate(self.frame_rate or DEFAULT_FRAME_RATE)

    @property
    def budgets_ms(self) -> tuple[float, ...]:
        """The usual budgets after that of its frames."""
        return budgets_after(self.budget.budget_ns / NS_PER_MS, DEFAULT_BUDGETS_MS)

    def compared_with(self, budgets_ms: Iterable[float]) -> tuple[FrameBudget, ...]:
        """Return given budgets, with the reason for the one that its frames have anyway."""
        own, own_ms = self.budget, self.budgets_ms[0]
        return tuple(own if each == own_ms else FrameBudget.of_ms(each) for each in budgets_ms)

    @property
    def has_budget(self) -> bool:
        """Whether it says what its frames are to be compared with."""
        return self.own_budget is not None or self.frame_rate is not None

    @property
    def target_text(self) -> str:
        """What its frames are compared with, in words; empty if unknown."""
        if self.own_budget is not None:
            return self.own_budget.why
        return "" if self.frame_rate is None else f"target {float(self.frame_rate):g} fps"

    @property
    def time_name(self) -> str:
        """What the time of the frames is called on an axis."""
        return "capture time" if self.source == CAPTURED else "session time"


class SessionPart(Struct, frozen=True):
    # The first frame, counted from 0, or the session instant in nanoseconds of the beginning.
    start: int = 0
    # The frame after the last, or the session instant before which all frames are; None for no end.
    stop: int | None = None
    is_time: bool = False  # Whether start and stop are instants

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
        """Return the session instants of beginning and end, ``None`` for the end of the session.

        For a range of frames, their intervals lie between the two.
        """
        if self.is_time:
            return self.start, None if self.stop is None else self.stop - 1
        start, stop = self.bounds(frames)
        begin_ns = int(frames.at_ns[start - 1]) if 0 < start < len(frames) else 0
        return begin_ns, None if stop >= len(frames) else int(frames.at_ns[stop - 1])


def parse_range(text: str) -> SessionPart:
    """Parse ``"all"``, a range of frames, ``"120:600"``, or of time, ``"2s:5s"``, ``"1:00.."``."""
    if text.strip().lower() == "all":
        return SessionPart()
    is_time = ".." in text or text.strip(" 0123456789:.") != ""
    read = _instant_in if is_time else count_in
    first, separator, last = text.partition(".." if ".." in text else ":")
    start = read(first.strip() or "0")
    stop = read(last.strip()) if last.strip() else None
    if not separator or start is None or (last.strip() and stop is None):
        raise ExportError(
            f"{in_quotes(text)} is not a range. Write frames as 120:600, 120: or :600, time as "
            "2s:5.5s or 1:00..1:30, or all."
        )
    if stop is not None and stop <= start:
        message = f"The range {text.strip()} holds no frame. The second number must be larger."
        raise ExportError(message)
    return SessionPart(start, stop, is_time)


def _instant_in(text: str) -> int | None:
    try:
        at_ns = parse_duration_ns(text)
    except ValueError:
        return None
    return at_ns if at_ns >= 0 else None
