"""Runs the refresh-rate lab beside the window: in slices, between events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from itertools import product
from pathlib import Path
from time import perf_counter_ns
from typing import Final, Protocol, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from inspector.engines.lab.display import Display
from inspector.engines.lab.refresh_lab import LabResult, begin_cell
from inspector.engines.lab.scene_process import begin_scene_process
from inspector.engines.lab.subjects import Subject
from inspector.engines.lab.timer import LabTimer
from inspector.errors import InspectorError
from inspector.vocabulary import what_was_raised

#: Short enough to leave room in a frame of 60 Hz.
_SLICE_NS: Final = 5_000_000


class LabStep(Struct, frozen=True):
    results: tuple[LabResult, ...] = ()  # New results
    done: float | None = None  # The share of the job done, from 0 to 1; None for no change
    notes: tuple[str, ...] = ()  # Sentences to show beside the results


#: What a job yields after each step: the share that is done, a LabStep with more, or nothing.
JobSteps: TypeAlias = "Generator[LabStep | float | None, None, None]"


class Job(Protocol):
    def begin(self) -> JobSteps:
        """Begin it; a ``ValueError`` says why it is invalid."""


class LabJob(Struct, frozen=True):
    timers: tuple[LabTimer, ...]
    subjects: tuple[Subject, ...]  # The subjects of each
    # Each makes a display; called one at a time, because computing the refreshes of a long run
    # takes a while.
    displays: tuple[Callable[[], Display], ...]

    @property
    def count(self) -> int:
        return len(self.timers) * len(self.subjects) * len(self.displays)

    def begin(self) -> JobSteps:
        """Yield the results by timer, display and subject, with empty steps in between."""
        displays = yield from _begin_displays(self.displays)
        cells = product(self.timers, displays, self.subjects)
        for number, (timer, display, subject) in enumerate(cells, 1):
            result = yield from begin_cell(timer, subject, display)
            yield LabStep((result,), number / self.count)


class SceneJob(Struct, frozen=True):
    path: Path  # Its file
    displays: tuple[Callable[[], Display], ...]  # Make its displays

    def begin(self) -> JobSteps:
        """Yield the share done now and then, and everything at the end.

        The scene runs in a separate process, which can always be ended.
        """
        displays = yield from _begin_displays(self.displays)
        run = yield from begin_scene_process(self.path, displays)
        notes = tuple(f"{failure}." for failure in run.failures)
        if not run.results:
            notes = (*notes, "No timer of the scene fired, and none was expected to fire.")
        yield LabStep(run.results, 1.0, notes)


def _begin_displays(makes: Iterable[Callable[[], Display]]) -> Generator[None, None, list[Display]]:
    displays = []
    for make in makes:
        displays.append(make())
        yield
    return displays


class LabRunner(QObject):
    """Carries out one job at a time, a few milliseconds in each turn of the event loop.

    A step may itself process events, or end the runner: a scene that opens a dialog, a closed
    window. A step never starts within another, and a job cancelled during a step ends after it.
    """

    results_arrived = Signal(object)  # list[LabResult]: new results of the job, a list
    progressed = Signal(float)  # The share of the job done, from 0 to 1
    noted = Signal(str)  # A sentence to show beside the results
    finished = Signal(str)  # The job is done, or has failed with the given sentence

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps: JobSteps | None = None
        self._is_in_step = False
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._run_turn)

    @property
    def is_running(self) -> bool:
        return self._steps is not None

    def start(self, job: Job) -> None:
        self.cancel()
        self._steps = job.begin()
        self._turn.start()

    def cancel(self) -> None:
        steps, self._steps = self._steps, None
        self._turn.stop()
        # A generator cannot be closed while it runs; _run_turn closes it afterwards.
        if steps is not None and not self._is_in_step:
            steps.close()

    @Slot()
    def _run_turn(self) -> None:
        steps = self._steps
        if steps is None or self._is_in_step:
            return
        taken: list[LabStep] = []
        self._is_in_step = True
        try:
            problem = _slice_of(steps, taken, lambda: self._steps is steps)
        except BaseException as error:
            # A fault is raised to the caller, but first the job is ended.
            if self._steps is steps:
                self._steps = None
                self._turn.stop()
                self._emit_fault(taken, error)
            raise
        finally:
            self._is_in_step = False
        if self._steps is not steps:
            steps.close()
            return
        self._emit_steps(steps, taken)
        # A slot may have cancelled the job, or begun another one.
        if problem is not None and self._steps is steps:
            self.cancel()
            self.finished.emit(problem)

    def _emit_fault(self, taken: list[LabStep], error: BaseException) -> None:
        results = [result for step in taken for result in step.results]
        if results:
            self.results_arrived.emit(results)
        what = what_was_raised(f"{type(error).__name__}: {error}")
        self.finished.emit(f"The run failed: {what}. The results up to then are shown.")

    def _emit_steps(self, steps: JobSteps, taken: list[LabStep]) -> None:
        results = [result for step in taken for result in step.results]
        shares = [step.done for step in taken if step.done is not None]
        if results:
            self.results_arrived.emit(results)
        if shares and self._steps is steps:
            self.progressed.emit(shares[-1])
        for note in (note for step in taken for note in step.notes):
            if self._steps is steps:
                self.noted.emit(note)


def _slice_of(steps: JobSteps, taken: list[LabStep], is_wanted: Callable[[], bool]) -> str | None:
    """Continue for some milliseconds; returns ``None`` if there is more, else the error or ""."""
    end_ns = perf_counter_ns() + _SLICE_NS
    try:
        while is_wanted() and perf_counter_ns() < end_ns:
            news = next(steps)
            if news is not None:
                taken.append(LabStep(done=news) if isinstance(news, float) else news)
    except StopIteration:
        return ""
    except ValueError as error:
        # An invalid display or timer; the analysis has worded the reason.
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}."
    except InspectorError as error:
        return str(error)
    return None
