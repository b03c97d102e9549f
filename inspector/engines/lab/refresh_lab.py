"""The refresh-rate lab: how display rates affect timers, measured in virtual time.

Timers run on every subject under every display. Their firings are compared with the expected
ones: the first after the delay, or one interval without a delay, the others one interval apart.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from statistics import median_low
from typing import Final

from msgspec import Struct

from inspector.display_text import counted
from inspector.engines.lab.display import Display
from inspector.engines.lab.subjects import Subject, SubjectName
from inspector.engines.lab.timer import LabTimer, SceneTimer, duration_text
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_instant


class LabVerdict(Enum):
    EXACT = "exact"
    ON_TIME = "within a frame"
    EARLY = "too early"
    LATE = "too late"
    UNEXPECTED = "nothing expected"

    @property
    def is_right(self) -> bool:
        """Whether every firing was within a frame of its expected instant."""
        return self not in (LabVerdict.EARLY, LabVerdict.LATE)


class Divergence(Struct, frozen=True):
    """The first firing that is more than one frame away from its expected instant."""

    index: int  # Its number, from 0
    expected_ns: int | None  # When it was due; None if it was not expected
    actual_ns: int | None  # When it fired; None if it never did

    @property
    def at_ns(self) -> int:
        instants = [at for at in (self.expected_ns, self.actual_ns) if at is not None]
        return min(instants, default=0)

    @property
    def text(self) -> str:
        """The firing, its instant and its error, in words."""
        number = f"firing {self.index + 1:,}"
        if self.actual_ns is None:
            return f"{number}, due at {instant_text(self.expected_ns or 0)}, never came"
        at = f"{number} at {instant_text(self.actual_ns)}"
        if self.expected_ns is None:
            return f"{at} was not expected"
        late_ns = self.actual_ns - self.expected_ns
        word = "late" if late_ns > 0 else "early"
        return f"{at}, {duration_text(abs(late_ns))} {word}"


class LabLateness(Struct, frozen=True):
    """The lateness of the firings of a run; below 0 for early."""

    min_ns: int  # The minimum
    median_ns: int  # The lower median, which is one of the values
    max_ns: int  # The maximum
    last_ns: int  # The lateness of the last firing: the drift at the end


@dataclass(frozen=True)
class LabResult:
    """The result of a timer on a subject under a display."""

    timer: LabTimer | SceneTimer
    subject: SubjectName  # The subject that ran it
    display: Display
    fired_ns: tuple[int, ...]  # When it fired
    expected_ns: tuple[int, ...]  # When it should have fired, up to the end of the run
    divergence: Divergence | None  # Its first error; None for none

    @property
    def group_title(self) -> str:
        """The title of its group: display and timer, or just the display for a scene."""
        if isinstance(self.timer, SceneTimer):
            return self.display.name
        return f"{self.display.name}, timer “{self.timer.title}”"

    @property
    def row_title(self) -> str:
        """The title of its row in the group: the subject, or the timer of a scene."""
        is_scene = isinstance(self.timer, SceneTimer)
        return self.timer.title if is_scene else self.subject.title

    @property
    def count(self) -> int:
        return len(self.fired_ns)

    @property
    def expected_count(self) -> int:
        return len(self.expected_ns)

    @property
    def fired_text(self) -> str:
        """How often it fired, and how often it should have."""
        of = "instead of" if self.count > self.expected_count else "of"
        return f"{self.count:,} {of} {self.expected_count:,}"

    @property
    def mean_period_ns(self) -> float | None:
        """Mean time from firing to firing; from the start if it fired once."""
        fired_ns = self.fired_ns
        if not fired_ns:
            return None
        if len(fired_ns) == 1:
            return float(fired_ns[0])
        return (fired_ns[-1] - fired_ns[0]) / (len(fired_ns) - 1)

    @property
    def drifts_ns(self) -> tuple[int, ...]:
        """The lateness of each expected firing; below 0 for early."""
        drifts = []
        for index, at_ns in enumerate(self.fired_ns):
            due_ns = self.timer.due_ns(index)
            if due_ns is None:
                break
            drifts.append(at_ns - due_ns)
        return tuple(drifts)

    @cached_property
    def lateness(self) -> LabLateness | None:
        """The lateness of the firings; ``None`` without firings to compare."""
        drifts = self.drifts_ns
        if not drifts:
            return None
        return LabLateness(min(drifts), median_low(drifts), max(drifts), drifts[-1])

    @property
    def drift_ns(self) -> int | None:
        """The lateness of the last firing; ``None`` if there was none."""
        return None if self.lateness is None else self.lateness.last_ns

    @cached_property
    def verdict(self) -> LabVerdict:
        if self.divergence is not None:
            return self._blame(self.divergence)
        if not self.expected_ns and not self.fired_ns:
            return LabVerdict.UNEXPECTED
        return LabVerdict.EXACT if self.fired_ns == self.expected_ns else LabVerdict.ON_TIME

    @staticmethod
    def _blame(divergence: Divergence) -> LabVerdict:
        expected_ns, actual_ns = divergence.expected_ns, divergence.actual_ns
        if actual_ns is None or (expected_ns is not None and actual_ns > expected_ns):
            return LabVerdict.LATE
        return LabVerdict.EARLY

    @property
    def speed(self) -> float | None:
        """Its actual rate of firing over the expected rate; ``None`` if unknown."""
        period_ns, asked_ns = self.mean_period_ns, self.timer.interval_ns
        return asked_ns / period_ns if period_ns and asked_ns else None


#: The first example: an interval of one second.
EXAMPLE_TIMER: Final = LabTimer(1_000 * NS_PER_MS)


def run_cell(timer: LabTimer, subject: Subject, display: Display) -> LabResult:
    steps = begin_cell(timer, subject, display)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: LabResult = end.value
            return result


def begin_cell(
    timer: LabTimer, subject: Subject, display: Display
) -> Generator[None, None, LabResult]:
    """Run a cell like :func:`run_cell`, in steps of about a millisecond."""
    # Checked first, so that a run that would take forever is refused.
    timer.expected_ns(display.end_ns)
    fired_ns = yield from subject.begin(timer, display)
    yield
    result = compared(timer, subject, display, fired_ns)
    yield
    # Computed and cached here, so that showing many results is fast.
    _ = result.lateness, result.verdict
    return result


def compared(
    timer: LabTimer | SceneTimer, subject: SubjectName, display: Display, fired_ns: Iterable[int]
) -> LabResult:
    fired = tuple(fired_ns)
    expected_ns = timer.expected_ns(display.end_ns)
    divergence = _first_divergence(fired, expected_ns, timer, display)
    return LabResult(timer, subject, display, fired, expected_ns, divergence)


def run_lab(
    timers: Iterable[LabTimer], subjects: Iterable[Subject], displays: Iterable[Display]
) -> Iterator[LabResult]:
    subjects, displays = tuple(subjects), tuple(displays)
    for timer in timers:
        for display in displays:
            for subject in subjects:
                yield run_cell(timer, subject, display)


def end_of(results: Iterable[LabResult]) -> int:
    """Return how long the longest run is, a second without any."""
    return max((each.display.end_ns for each in results), default=0) or NS_PER_SECOND


def summary_text(results: Iterable[LabResult]) -> str:
    verdicts = [result.verdict for result in results]
    runs = counted(len(verdicts), "run")
    if all(verdict is LabVerdict.UNEXPECTED for verdict in verdicts):
        return f"Nothing was due, and nothing fired, in {runs}. Choose a longer duration."
    wrong = sum(not verdict.is_right for verdict in verdicts)
    if not wrong:
        return f"Right in {runs}: every firing is within a frame of its expected instant."
    early = sum(verdict is LabVerdict.EARLY for verdict in verdicts)
    parts = [f"{early:,} too early"] if early else []
    parts += [f"{wrong - early:,} too late"] if wrong > early else []
    return f"Wrong in {wrong:,} of {runs}: {', '.join(parts)}."


def known_faults(results: Iterable[LabResult]) -> list[str]:
    wrong = dict.fromkeys(result.subject for result in results if not result.verdict.is_right)
    return [f"{each.title}: {each.fault}" for each in wrong if each.fault]


def instant_text(at_ns: int) -> str:
    """Return an instant to the nanosecond, without trailing zeros."""
    text = format_instant(at_ns, 9)
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction.ljust(3, '0')}"


def _first_divergence(
    fired_ns: tuple[int, ...],
    expected_ns: tuple[int, ...],
    timer: LabTimer | SceneTimer,
    display: Display,
) -> Divergence | None:
    for index, due_ns in enumerate(expected_ns):
        before_ns, after_ns = display.neighbours_ns(due_ns)
        if index >= len(fired_ns):
            # The run ended before the frame of the firing.
            return None if after_ns is None else Divergence(index, due_ns, None)
        actual_ns = fired_ns[index]
        if actual_ns < before_ns or (after_ns is not None and actual_ns > after_ns):
            return Divergence(index, due_ns, actual_ns)
    extra = len(expected_ns)
    if len(fired_ns) <= extra:
        return None
    due_after_ns = timer.due_ns(extra)
    frames_ns = display.frames_ns
    before_end_ns = frames_ns[-2] if len(frames_ns) > 1 else 0
    # The last firing may be a frame early, like any other.
    is_wrong = (
        due_after_ns is None
        or fired_ns[extra] < before_end_ns
        or due_after_ns > _end_slack(display)
    )
    return Divergence(extra, due_after_ns, fired_ns[extra]) if is_wrong else None


def _end_slack(display: Display) -> int:
    """Return the approximate instant of the refresh after the last."""
    frames_ns = display.frames_ns
    if not frames_ns:
        return display.end_ns
    before_ns = frames_ns[-2] if len(frames_ns) > 1 else 0
    return 2 * frames_ns[-1] - before_ns
