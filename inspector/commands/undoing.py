"""Undoing commands: the inverse of each command, and the command that applies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from inspector.commands.command import Action, Capability, Command
from inspector.errors import CommandError

if TYPE_CHECKING:
    from inspector.commands.command import Target
    from inspector.events.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Undo(Command):
    """Undo the change of a command."""

    words: ClassVar = "undo command {number}{subject}"
    capability: ClassVar = Capability.UNDO

    number: int

    @override
    def subject(self, timeline: Timeline) -> str:
        former = (f": {each.text}" for each in timeline.commands if each.number == self.number)
        return next(former, "")

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
