"""The refresh-rate lab: what a display's rate does to timers, found without waiting.

Timers are run on every subject under every display side by side, in virtual time. Their
firings are set against those that were asked for: one at every whole multiple of the
interval.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from inspector.analysis.lab_display import Display
from inspector.analysis.lab_subjects import LabTimer, Subject


class Verdict(Enum):
    """What is to be thought of a run."""

    EXACT = "exact"
    ON_TIME = "within a frame"
    EARLY = "too early"
    LATE = "too late"
    UNEXPECTED = "nothing expected"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first firing that is more than one frame away from where it belongs.

    Attributes:
        index: Its number, from 0.
        expected_ns: When it was due; ``None`` for one too many.
        actual_ns: When it came; ``None`` if it never did.
    """

    index: int
    expected_ns: int | None
    actual_ns: int | None

    @property
    def at_ns(self) -> int:
        """The instant from which on something is wrong."""
        instants = [at for at in (self.expected_ns, self.actual_ns) if at is not None]
        return min(instants, default=0)


@dataclass(frozen=True, slots=True)
class LabResult:
    """How a timer fared on a subject under a display.

    Attributes:
        timer: What was asked for.
        subject: What it lived on.
        display: Which refreshes there were.
        fired_ns: When it fired.
        expected_ns: When it should have, up to the end of the run.
        divergence: Where it went wrong first; ``None`` if it did not.
    """

    timer: LabTimer
    subject: Subject
    display: Display
    fired_ns: tuple[int, ...]
    expected_ns: tuple[int, ...]
    divergence: Divergence | None

    @property
    def count(self) -> int:
        """How often it fired."""
        return len(self.fired_ns)

    @property
    def expected_count(self) -> int:
        """How often it should have."""
        return len(self.expected_ns)

    @property
    def mean_period_ns(self) -> float | None:
        """Mean time from firing to firing; of one firing that from the start."""
        fired_ns = self.fired_ns
        if not fired_ns:
            return None
        if len(fired_ns) == 1:
            return float(fired_ns[0])
        return (fired_ns[-1] - fired_ns[0]) / (len(fired_ns) - 1)

    @property
    def drifts_ns(self) -> tuple[int, ...]:
        """How late each firing was for its number; below 0 for too early."""
        interval_ns = self.timer.interval_ns
        return tuple(at - number * interval_ns for number, at in enumerate(self.fired_ns, 1))

    @property
    def drift_ns(self) -> int | None:
        """How late the last firing was for its number; ``None`` if there was none."""
        if not self.fired_ns:
            return None
        return self.fired_ns[-1] - len(self.fired_ns) * self.timer.interval_ns

    @property
    def verdict(self) -> Verdict:
        """What is to be thought of it."""
        if self.divergence is not None:
            return self._blame(self.divergence)
        if not self.expected_ns and not self.fired_ns:
            return Verdict.UNEXPECTED
        return Verdict.EXACT if self.fired_ns == self.expected_ns else Verdict.ON_TIME

    @staticmethod
    def _blame(divergence: Divergence) -> Verdict:
        expected_ns, actual_ns = divergence.expected_ns, divergence.actual_ns
        if actual_ns is None or (expected_ns is not None and actual_ns > expected_ns):
            return Verdict.LATE
        return Verdict.EARLY

    @property
    def speed(self) -> float | None:
        """How many times as fast as asked for it fires; ``None`` if it never does."""
        period_ns = self.mean_period_ns
        return self.timer.interval_ns / period_ns if period_ns else None


def run_cell(timer: LabTimer, subject: Subject, display: Display) -> LabResult:
    """Run one timer on one subject under one display."""
    fired_ns = tuple(subject.run(timer, display))
    expected_ns = expected_firings_ns(timer, display.end_ns)
    divergence = _first_divergence(fired_ns, expected_ns, timer, display)
    return LabResult(timer, subject, display, fired_ns, expected_ns, divergence)


def run_lab(
    timers: Iterable[LabTimer], subjects: Iterable[Subject], displays: Iterable[Display]
) -> Iterator[LabResult]:
    """Run everything on everything, one result at a time, by timer, display and subject."""
    subjects, displays = tuple(subjects), tuple(displays)
    for timer in timers:
        for display in displays:
            for subject in subjects:
                yield run_cell(timer, subject, display)


def expected_firings_ns(timer: LabTimer, end_ns: int) -> tuple[int, ...]:
    """Return the instants at which a timer should fire, up to the end, which counts."""
    count = end_ns // timer.interval_ns
    if timer.count is not None:
        count = min(count, timer.count)
    return tuple(range(timer.interval_ns, count * timer.interval_ns + 1, timer.interval_ns))


def _first_divergence(
    fired_ns: tuple[int, ...], expected_ns: tuple[int, ...], timer: LabTimer, display: Display
) -> Divergence | None:
    for index, due_ns in enumerate(expected_ns):
        before_ns, after_ns = display.neighbours_ns(due_ns)
        if index >= len(fired_ns):
            # Not to be blamed for a frame that the run no longer has.
            return None if after_ns is None else Divergence(index, due_ns, None)
        actual_ns = fired_ns[index]
        if actual_ns < before_ns or (after_ns is not None and actual_ns > after_ns):
            return Divergence(index, due_ns, actual_ns)
    extra = len(expected_ns)
    if len(fired_ns) > extra:
        due_ns = (extra + 1) * timer.interval_ns
        is_asked_for = timer.count is None or extra < timer.count
        frames_ns = display.frames_ns
        before_end_ns = frames_ns[-2] if len(frames_ns) > 1 else 0
        # The last one may come a frame early, like any other.
        if not is_asked_for or fired_ns[extra] < before_end_ns or due_ns > _end_slack(display):
            return Divergence(extra, due_ns if is_asked_for else None, fired_ns[extra])
    return None


def _end_slack(display: Display) -> int:
    """Return the instant of the refresh that would follow the last one, about."""
    frames_ns = display.frames_ns
    if not frames_ns:
        return display.end_ns
    before_ns = frames_ns[-2] if len(frames_ns) > 1 else 0
    return 2 * frames_ns[-1] - before_ns
