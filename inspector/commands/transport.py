"""Commands on the passing of session time: run, hold, step."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Final

from typing_extensions import override

from inspector.commands.command import Action, Capability, Command, StepControl, Target
from inspector.errors import CommandError
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration

#: A step of more frames than this is probably a typo.
MAX_STEP_FRAMES: Final = 1_000_000


class Run(Command, frozen=True):
    """Let session time follow the time source."""

    words: ClassVar = "run"
    capability: ClassVar = Capability.TRANSPORT
    lets_time_pass: ClassVar = True
    waits_for_wake_end: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        return target.scene.transport.run


class Hold(Command, frozen=True):
    """Stop session time until the next step or run."""

    words: ClassVar = "hold"
    capability: ClassVar = Capability.TRANSPORT
    waits_for_wake_end: ClassVar = True
    ends_step: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        return target.scene.transport.hold


class Step(Command, frozen=True):
    """A command that lets session time pass while it is held."""

    capability: ClassVar = Capability.STEP
    lets_time_pass: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        scene = target.scene
        if scene.transport.is_running:
            raise CommandError("The scene is running. Hold it first.")
        return self.action(scene.steps)

    @abstractmethod
    def action(self, steps: StepControl) -> Action:
        """Return what runs the step; a :class:`CommandError` refuses it."""


class StepFrames(Step, frozen=True):
    """Let ``count`` frames run, one frame period of session time apart."""

    words: ClassVar = "step {count:,} frames"

    count: int = 1

    @override
    def sentence(self, timeline: Timeline) -> str:
        return "step 1 frame" if self.count == 1 else Command.sentence(self, timeline)

    @override
    def action(self, steps: StepControl) -> Action:
        if not 1 <= self.count <= MAX_STEP_FRAMES:
            raise CommandError(f"A step is 1 to {MAX_STEP_FRAMES:,} frames, not {self.count:,}.")
        return steps.frames(self.count)


class StepBy(Step, frozen=True):
    """Let ``duration_ns`` of session time pass."""

    words: ClassVar = "step by {duration_ns}"
    capability: ClassVar = Capability.STEP_TIME

    duration_ns: int

    @override
    def action(self, steps: StepControl) -> Action:
        if self.duration_ns <= 0:
            raise CommandError(f"A step goes forward, not by {format_duration(self.duration_ns)}.")
        return steps.by(self.duration_ns)


class StepToNextTimer(Step, frozen=True):
    """Let session time pass up to the instant at which the next timer fires."""

    words: ClassVar = "step to the next timer"
    capability: ClassVar = Capability.STEP_TIMER

    @override
    def action(self, steps: StepControl) -> Action:
        return steps.to_next_timer()


class StepTo(Step, frozen=True):
    """Let session time pass up to ``at_ns``."""

    words: ClassVar = "step to {at_ns}"
    capability: ClassVar = Capability.STEP_TIME

    at_ns: int

    @override
    def action(self, steps: StepControl) -> Action:
        return steps.to(self.at_ns)
