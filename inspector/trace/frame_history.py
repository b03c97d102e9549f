"""Every frame of a session, as columns."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.vocabulary import Phase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_COLUMNS: Final = ("at_ns", "interval_ns", "delta_ns", "busy_ns", "cut_ns")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame.

    Attributes:
        index: Number of the frame in its session, from 0.
        at_ns: Session time at which it began.
        interval_ns: The source's time since the frame before: the frame time.
        delta_ns: Local time of the root that passed, as given to the callbacks.
        busy_ns: Time spent in callbacks for this frame, measured.
        cut_ns: What ``max_delta`` took from the delta.
        phases: Measured time of each phase, by its code.
    """

    index: int
    at_ns: int
    interval_ns: int
    delta_ns: int
    busy_ns: int
    cut_ns: int
    phases: tuple[int, ...]


class FrameHistory:
    """Columns of whole nanoseconds, one entry a frame; only ever appended to.

    A million frames (four and a half hours at 60 Hz) take 96 MB.

    Attributes:
        first: Index of the oldest frame that is kept.
        phases: A column for each phase, by its code.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.first = 0
        self.at_ns = array("q")
        self.interval_ns = array("q")
        self.delta_ns = array("q")
        self.busy_ns = array("q")
        self.cut_ns = array("q")
        self.phases = [array("q") for _ in Phase]

    def __len__(self) -> int:
        """Return how many frames are kept."""
        return len(self.busy_ns)

    @property
    def end(self) -> int:
        """Index behind the newest frame."""
        return self.first + len(self)

    def frame(self, index: int) -> Frame:
        """Return one frame.

        Raises:
            IndexError: There is no such frame, or not any more.
        """
        if not self.first <= index < self.end:
            message = f"no frame {index}: {self.first} to {self.end - 1} are kept"
            raise IndexError(message)
        i = index - self.first
        return Frame(
            index,
            self.at_ns[i],
            self.interval_ns[i],
            self.delta_ns[i],
            self.busy_ns[i],
            self.cut_ns[i],
            tuple(column[i] for column in self.phases),
        )

    def numpy(self, column: str | Phase, start: int, stop: int) -> NDArray[np.int64]:
        """Return a copy of one column for the frames ``start`` to ``stop - 1``.

        Args:
            column: ``"at_ns"``, ``"interval_ns"``, ``"delta_ns"``, ``"busy_ns"``,
                ``"cut_ns"`` or a phase.
            start: Index of the first frame.
            stop: Index behind the last frame.
        """
        import numpy as np  # noqa: PLC0415 - the fold must not need numpy

        values = self.phases[column] if isinstance(column, Phase) else getattr(self, column)
        low = min(max(start - self.first, 0), len(self))
        high = min(max(stop - self.first, low), len(self))
        return np.frombuffer(values, dtype=np.int64, count=high, offset=0)[low:].copy()

    def append(  # noqa: PLR0913, PLR0917 - one value a column
        self,
        at_ns: int,
        interval_ns: int,
        delta_ns: int,
        busy_ns: int,
        cut_ns: int,
        phases: list[int],
    ) -> None:
        """Add a frame that has ended."""
        self.at_ns.append(at_ns)
        self.interval_ns.append(interval_ns)
        self.delta_ns.append(delta_ns)
        self.cut_ns.append(cut_ns)
        for column, duration_ns in zip(self.phases, phases, strict=True):
            column.append(duration_ns)
        # Last, because it is what the length is taken from.
        self.busy_ns.append(busy_ns)

    def copy(self) -> FrameHistory:
        """Return a history of its own with the same frames."""
        twin = FrameHistory()
        twin.first = self.first
        for name in _COLUMNS:
            getattr(twin, name).extend(getattr(self, name))
        for mine, theirs in zip(twin.phases, self.phases, strict=True):
            mine.extend(theirs)
        return twin
