"""Undoing commands: what would undo each of them, and the command that does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

from inspector.commands.command import Action, Capability, Command
from inspector.errors import CommandError

if TYPE_CHECKING:
    from inspector.commands.command import Target
    from inspector.events.timeline import Timeline

#: So many commands can be undone; older ones have passed.
MAX_UNDONE: Final = 1_000


class Undoing:
    """What would undo each command, worked out before it is carried out.

    Time that has passed, timers that fired or were cleared and marks stay: nothing
    undoes them but going back in time.
    """

    def __init__(self) -> None:
        """Begin with nothing to undo."""
        self._inverses: dict[int, Command] = {}

    def note(self, number: int, inverse: Command | None) -> None:
        """Remember what would undo a command that is about to be carried out, if anything."""
        if inverse is None:
            return
        self._inverses[number] = inverse
        if len(self._inverses) > MAX_UNDONE:
            del self._inverses[next(iter(self._inverses))]

    def of(self, number: int) -> Command | None:
        """Return the command that undoes a command, ``None`` when nothing does."""
        return self._inverses.get(number)

    def done(self, number: int) -> None:
        """Note that a command was undone; once is enough."""
        self._inverses.pop(number, None)

    @property
    def newest(self) -> int:
        """Number of the newest command that can be undone, 0 for none."""
        return next(reversed(self._inverses), 0)


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
