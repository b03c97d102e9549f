"""Undoing commands: what would undo each of them, and the command that does."""

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
    """Undo what a command has changed, where that has a meaning."""

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
