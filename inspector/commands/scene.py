"""Commands on the scene: frame rate, marks, failure policy, undoing, going back, reloading."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from fractions import Fraction
from typing import ClassVar

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.rate import checked_frame_rate
from inspector.commands.command import Action, Capability, Command, Target, checked, command_in
from inspector.errors import CommandError
from inspector.events.states import CommandRecord
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant


class SetFrameRate(Command, frozen=True):
    """Set the number of frames per second of session time."""

    words: ClassVar = "run {frames_per_second} frames per second"
    capability: ClassVar = Capability.FRAME_RATE

    frames_per_second: Fraction

    @override
    def prepare(self, target: Target, number: int) -> Action:
        stage = target.scene.stage
        exact = checked(checked_frame_rate, self.frames_per_second)
        return lambda: setattr(stage, "frame_rate", exact)

    @override
    def inverse(self, target: Target) -> Command | None:
        before = target.frame_rate
        return None if self.frames_per_second == before else SetFrameRate(before)


class AddMark(Command, frozen=True):
    """Add a mark at the present instant."""

    words: ClassVar = "mark “{text}”"
    capability: ClassVar = Capability.MARK

    text: str

    @override
    def prepare(self, target: Target, number: int) -> Action:
        stage = target.scene.stage
        return lambda: stage.mark(self.text.strip() or "mark")


class SetFailurePolicy(Command, frozen=True):
    """Choose what follows when a callback raises."""

    words: ClassVar = "after a failure: {policy.value}"
    capability: ClassVar = Capability.FAILURE_POLICY

    policy: FailurePolicy

    @override
    def prepare(self, target: Target, number: int) -> Action:
        return lambda: setattr(target, "failure_policy", self.policy)

    @override
    def inverse(self, target: Target) -> Command | None:
        before = target.failure_policy
        return None if self.policy is before else SetFailurePolicy(before)


class Undo(Command, frozen=True):
    """Undo the change of a command."""

    words: ClassVar = "undo command {number}"
    capability: ClassVar = Capability.UNDO

    number: int

    @override
    def sentence(self, timeline: Timeline) -> str:
        record, is_redo = undone(timeline, self)
        if record is None:
            return f"undo command {self.number}"
        return f"{'redo' if is_redo else 'undo'} command {record.number}: {record.text}"

    @override
    def prepare(self, target: Target, number: int) -> Action:
        inverse = target.undoing.of(self.number)
        if inverse is None:
            undone = self.number
            message = f"Command {undone} cannot be undone: it was already, or it changed nothing."
            raise CommandError(message)
        action = inverse.prepare(target, number)

        def undo() -> object:
            target.undoing.done(self.number)
            return action()

        return undo

    @override
    def inverse(self, target: Target) -> Command | None:
        inverse = target.undoing.of(self.number)
        return None if inverse is None else inverse.inverse(target)


def undone(timeline: Timeline, undo: Undo) -> tuple[CommandRecord | None, bool]:
    """Return the command whose change is undone, ``None`` if unknown, and whether it is redone.

    Undoing what undid a change makes that change again.
    """
    records = {each.number: each for each in timeline.commands}
    record, is_redo = records.get(undo.number), False
    while record is not None and isinstance(former := command_in(record.form), Undo):
        record, is_redo = records.get(former.number), not is_redo
    return record, is_redo


class Reload(Command, frozen=True):
    """Rebuild the scene from its file."""

    words: ClassVar = "reload the scene"
    capability: ClassVar = Capability.RELOAD
    waits_for_wake_end: ClassVar = True
    ends_step: ClassVar = True


class GoBack(Command, frozen=True):
    """A command that goes back in time.

    A new run of the scene replaces the present one; only a refused command is applied to the
    present one.
    """

    capability: ClassVar = Capability.REWIND
    waits_for_wake_end: ClassVar = True
    ends_step: ClassVar = True

    @override
    def prepare(self, target: Target, number: int) -> Action:
        self.frame_to_go_back_to(target.timeline, target.frames_run)
        target.check_journal()
        _ = target.scene  # Refuses if no scene was built.
        return Command.prepare(self, target, number)

    @abstractmethod
    def frame_to_go_back_to(self, timeline: Timeline, frames: int) -> int:
        """Return how many frames run again; a :class:`CommandError` if there is no such frame."""


class StepBack(GoBack, frozen=True):
    """Go back ``frames`` frames, to the end of that frame."""

    words: ClassVar = "go back {frames:,} frames"

    frames: int = 1

    @override
    def sentence(self, timeline: Timeline) -> str:
        return "go back 1 frame" if self.frames == 1 else Command.sentence(self, timeline)

    @override
    def frame_to_go_back_to(self, timeline: Timeline, frames: int) -> int:
        if self.frames < 1:
            raise CommandError(f"A step back is 1 frame or more, not {self.frames:,}.")
        if self.frames > frames:
            ran = "none has run" if not frames else f"only {frames:,} have run"
            if frames == 1:
                ran = "only 1 has run"
            message = f"There are no {self.frames:,} frames to go back: {ran}."
            if self.frames == 1:
                message = "There is no frame to go back: none has run."
            raise CommandError(message)
        return frames - self.frames


class RewindTo(GoBack, frozen=True):
    """Go back to the last frame that began at or before ``at_ns``."""

    words: ClassVar = "go back to {at_ns}"

    at_ns: int

    @override
    def frame_to_go_back_to(self, timeline: Timeline, frames: int) -> int:
        history, at_ns = timeline.frames, self.at_ns
        if at_ns < 0 or at_ns > timeline.at_ns:
            # The present is measured, so another run ends at another instant.
            why = "the session begins at 0" if at_ns < 0 else "that is in the future"
            raise CommandError(f"Cannot go back to {format_instant(at_ns)}: {why}.")
        return history.first + bisect_right(history.at_ns, at_ns)
