"""Commands on recordings: start, stop, save the last seconds."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from inspector.commands.command import Action, Capability, Command, RecorderControl, Target
from inspector.errors import CommandError, InspectorError
from inspector.foreign.paths import expanded
from inspector.timebase import format_duration


class RecordingCommand(Command, frozen=True):
    """A command on recordings; going back in time does not repeat it.

    It is never refused because of the disk, or running the scene again could give a different
    result. The recorder reports errors of the disk.
    """

    capability: ClassVar = Capability.RECORD

    @override
    def prepare(self, target: Target, number: int) -> Action:
        recorder = target.recorder

        def carry_out() -> None:
            if recorder is None:
                return
            try:
                self.record(recorder)
            except InspectorError as error:
                recorder.note_problem(str(error))

        return carry_out

    @abstractmethod
    def record(self, recorder: RecorderControl) -> None:
        """Carry the command out; an :class:`InspectorError` if the disk refuses."""


class StartRecording(RecordingCommand, frozen=True):
    """Record to a file from now on, including the events in the log."""

    words: ClassVar = "record to {path}"

    path: str

    @override
    def record(self, recorder: RecorderControl) -> None:
        recorder.start(_named(self.path))


class StopRecording(RecordingCommand, frozen=True):
    """End the recording."""

    words: ClassVar = "stop recording"

    @override
    def record(self, recorder: RecorderControl) -> None:
        recorder.stop()


class SaveLast(RecordingCommand, frozen=True):
    """Write the last ``duration_ns`` of session time to a file."""

    words: ClassVar = "save the last {duration_ns} to {path}"

    path: str
    duration_ns: int

    @override
    def prepare(self, target: Target, number: int) -> Action:
        if self.duration_ns <= 0:
            shown = format_duration(self.duration_ns)
            raise CommandError(f"The time to save must be above 0, not {shown}.")
        return RecordingCommand.prepare(self, target, number)

    @override
    def record(self, recorder: RecorderControl) -> None:
        recorder.save_last(self.duration_ns, _named(self.path))


def _named(path: str) -> Path | None:
    return expanded(path) if path else None
