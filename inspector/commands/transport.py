"""Commands on the passing of session time: run, hold, step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from inspector.commands.command import Action, Capability, Command
from inspector.errors import CommandError
from inspector.timebase import MAX_NS, format_duration, format_instant

if TYPE_CHECKING:
    from inspector.commands.command import Target
    from inspector.events.timeline import Timeline

#: A step of more frames than this is probably a typo.
MAX_STEP_FRAMES: Final = 1_000_000

_NAMES_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Run(Command):
    """Let session time follow the time source."""

    words: ClassVar = "run"
    capability: ClassVar = Capability.TRANSPORT
    lets_time_pass: ClassVar = True
    waits_for_wake_end: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        return target.scene.transport.run


@dataclass(frozen=True, slots=True)
class Hold(Command):
    """Stop session time until the next step or run."""

    words: ClassVar = "hold"
    capability: ClassVar = Capability.TRANSPORT
    waits_for_wake_end: ClassVar = True
    ends_step: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        return target.scene.transport.hold


class Step(Command, ABC):
    """A command that lets session time pass while it is held."""

    __slots__ = ()

    capability: ClassVar = Capability.STEP
    lets_time_pass: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        scene = target.scene
        if scene.transport.is_running:
            message = "The scene is running. Hold it first."
            raise CommandError(message)
        return self.steps(scene)

    @abstractmethod
    def steps(self, scene: Target) -> Action:
        """Return what runs the step.

        Raises:
            CommandError: The step is not possible; the message says why.
        """


class StepToInstant(Step):
    """A step that ends at an instant."""

    __slots__ = ()

    @override
    def steps(self, scene: Target) -> Action:
        target_ns, now_ns = self.end_ns(scene), scene.tree.now_ns
        if target_ns > MAX_NS:
            message = "That is beyond the 146 years that a session can last."
            raise CommandError(message)
        _check_length(target_ns - now_ns, scene)
        return lambda: _step_to(scene, target_ns)

    @abstractmethod
    def end_ns(self, scene: Target) -> int:
        """Return the instant at which the step ends.

        Raises:
            CommandError: There is no such instant; the message says why.
        """


@dataclass(frozen=True, slots=True)
class StepFrames(Step):
    """Let ``count`` frames run, one frame period of session time apart."""

    words: ClassVar = "step {count:,} frames"

    count: int = 1

    @override
    def sentence(self, timeline: Timeline) -> str:
        return "step 1 frame" if self.count == 1 else Command.sentence(self, timeline)

    @override
    def steps(self, scene: Target) -> Action:
        if not 1 <= self.count <= MAX_STEP_FRAMES:
            message = f"A step is 1 to {MAX_STEP_FRAMES:,} frames, not {self.count:,}."
            raise CommandError(message)
        return lambda: _step_frames(scene, self.count)


@dataclass(frozen=True, slots=True)
class StepBy(StepToInstant):
    """Let ``duration_ns`` of session time pass."""

    words: ClassVar = "step by {duration_ns}"

    duration_ns: int

    @override
    def end_ns(self, scene: Target) -> int:
        if self.duration_ns <= 0:
            message = f"A step goes forward, not by {format_duration(self.duration_ns)}."
            raise CommandError(message)
        return scene.tree.now_ns + self.duration_ns


@dataclass(frozen=True, slots=True)
class StepToNextTimer(StepToInstant):
    """Let session time pass up to the instant at which the next timer fires."""

    words: ClassVar = "step to the next timer"

    @override
    def end_ns(self, scene: Target) -> int:
        due_ns = scene.tree.next_wake_ns()
        if due_ns is None:
            raise CommandError(_why_no_timer_is_next(scene))
        return max(due_ns, scene.tree.now_ns)


@dataclass(frozen=True, slots=True)
class StepTo(StepToInstant):
    """Let session time pass up to ``at_ns``."""

    words: ClassVar = "step to {at_ns}"

    at_ns: int

    @override
    def end_ns(self, scene: Target) -> int:
        now_ns = scene.tree.now_ns
        if self.at_ns < now_ns:
            message = (
                f"{format_instant(self.at_ns)} has passed (it is {format_instant(now_ns)}) "
                "and time does not run backwards. Reload the scene to start again."
            )
            raise CommandError(message)
        return self.at_ns


def _why_no_timer_is_next(scene: Target) -> str:
    """Return a sentence on why no timer will fire."""
    stopped: dict[int, str] = {}
    pending = 0
    for clock in scene.tree.root.walk():
        if clock.pending_count:
            pending += clock.pending_count
            for reason in clock.pause_reasons():
                stopped.setdefault(reason.clock.id, f"“{reason.clock.name}”")
    if not pending:
        return "No timer is pending, so there is none to step to."
    names = list(stopped.values())
    others = len(names) - _NAMES_LISTED
    listed = ", ".join(names[:_NAMES_LISTED]) + (f" and {others} more" if others > 0 else "")
    verb = "is" if len(names) == 1 else "are"
    waits = "timer waits" if pending == 1 else "timers wait"
    return (
        f"{pending:,} {waits}, but none can fire because {listed} {verb} paused "
        "or at rate 0. Resume a branch first."
    )


def _check_length(duration_ns: int, scene: Target) -> None:
    """Refuse a step of too many frames.

    Raises:
        CommandError: It has more than :data:`MAX_STEP_FRAMES`.
    """
    period_ns = scene.transport.frame_period_ns
    if period_ns is None or duration_ns <= MAX_STEP_FRAMES * period_ns:
        return
    message = (
        f"That would take {duration_ns // period_ns:,} frames. A step is at most "
        f"{MAX_STEP_FRAMES:,} frames, {format_duration(MAX_STEP_FRAMES * period_ns)} at "
        "this frame rate; lower it, or take several steps."
    )
    raise CommandError(message)


def _step_frames(scene: Target, count: int) -> Generator[None]:
    """Run one frame per turn, so that a rerun can pause in between."""
    for _ in range(count):
        scene.transport.step_frame()
        if scene.tree.is_halted:
            break
        yield


def _step_to(scene: Target, target_ns: int) -> Generator[None]:
    """Go to an instant, one frame per turn."""
    transport, tree, director = scene.transport, scene.tree, scene.director
    while (frame_ns := transport.next_frame_ns) is not None and frame_ns < target_ns:
        frames = director.frame_index
        transport.step_to_ns(max(frame_ns, tree.now_ns))
        if tree.is_halted or director.frame_index == frames:
            return
        yield
    if target_ns >= tree.now_ns:
        transport.step_to_ns(target_ns)
