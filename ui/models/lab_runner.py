"""Runs the refresh-rate lab beside the window: in slices, between two events."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from inspector.analysis.refresh_lab import begin_cell

if TYPE_CHECKING:
    from inspector.analysis.lab_display import Display
    from inspector.analysis.lab_subjects import Subject
    from inspector.analysis.lab_timer import LabTimer
    from inspector.analysis.refresh_lab import LabResult

#: Short enough that a frame of 60 Hz has room for everything else.
_SLICE_NS: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class LabJob:
    """What is to be run.

    Attributes:
        timers: The timers.
        subjects: What each of them is run on.
        displays: Make the displays that each is run under; called one by one, as the
            refreshes of a long run take their time.
    """

    timers: tuple[LabTimer, ...]
    subjects: tuple[Subject, ...]
    displays: tuple[Callable[[], Display], ...]

    @property
    def count(self) -> int:
        """How many runs that is."""
        return len(self.timers) * len(self.subjects) * len(self.displays)


class LabRunner(QObject):
    """Carries out one job at a time, a few milliseconds in each turn of the event loop.

    Signals:
        results_arrived: New results of the job, a list.
        finished: The job is done, or has failed with the sentence that comes along.
    """

    results_arrived = Signal(object)  # list[LabResult]
    finished = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        """Wait for a job."""
        super().__init__(parent)
        self._steps: Generator[LabResult | None, None, None] | None = None
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._take_turn)

    @property
    def is_running(self) -> bool:
        """Whether a job is under way."""
        return self._steps is not None

    def start(self, job: LabJob) -> None:
        """Begin a job, leaving the one before as it is."""
        self._steps = _steps_of(job)
        self._turn.start()

    def cancel(self) -> None:
        """Leave the job as it is; nothing more arrives."""
        self._turn.stop()
        if self._steps is not None:
            self._steps.close()
            self._steps = None

    @Slot()
    def _take_turn(self) -> None:
        steps = self._steps
        if steps is None:
            return
        end_ns = perf_counter_ns() + _SLICE_NS
        arrived: list[LabResult] = []
        problem: str | None = None
        try:
            while perf_counter_ns() < end_ns:
                result = next(steps)
                if result is not None:
                    arrived.append(result)
        except StopIteration:
            problem = ""
        except ValueError as error:
            # What no display or timer can be: said by the analysis in a sentence.
            text = str(error)
            problem = f"{text[:1].upper()}{text[1:]}."
        if problem is not None:
            self.cancel()
        if arrived:
            self.results_arrived.emit(arrived)
        if problem is not None:
            self.finished.emit(problem)


def _steps_of(job: LabJob) -> Generator[LabResult | None, None, None]:
    """Yield the results by timer, display and subject, and nothing between steps."""
    displays: list[Display] = []
    for make in job.displays:
        displays.append(make())
        yield None
    for timer in job.timers:
        for display in displays:
            for subject in job.subjects:
                steps = begin_cell(timer, subject, display)
                while True:
                    try:
                        next(steps)
                    except StopIteration as end:
                        yield end.value
                        break
                    yield None
