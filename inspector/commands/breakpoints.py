"""Commands on breakpoints: add, change and remove them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from typing_extensions import override

from inspector.commands.command import Action, Capability, Command, Target
from inspector.commands.values import VALUE_KINDS, ValueKind
from inspector.errors import CommandError
from inspector.events.conditions.breakpoint import Breakpoint
from inspector.events.timeline import Timeline

VALUE_KINDS[Breakpoint] = ValueKind(
    "a breakpoint",
    lambda value: isinstance(value, Breakpoint),
    Breakpoint.as_values,
    Breakpoint.from_values,
)


class BreakpointCommand(Command, frozen=True):
    """A command on the breakpoints of a session."""

    capability: ClassVar = Capability.BREAKPOINTS

    @override
    def prepare(self, target: Target, number: int) -> Action:
        self.check(target)

        def carry_out() -> None:
            self.change(target)
            target.watch()

        return carry_out

    @abstractmethod
    def check(self, target: Target) -> None:
        """Refuse with a :class:`CommandError` if it is not possible."""

    @abstractmethod
    def change(self, target: Target) -> None:
        """Carry the command out."""


class AddBreakpoint(BreakpointCommand, frozen=True):
    """Add a breakpoint."""

    words: ClassVar = "break when {breakpoint.text}: {breakpoint.action.value}"

    breakpoint: Breakpoint
    is_kept: bool = False  # Whether it comes from the previous session, not from the user

    @property
    @override
    def asker(self) -> str:
        return "the layout" if self.is_kept else ""

    @override
    def check(self, target: Target) -> None:
        target.breakpoints.check_room()

    @override
    def change(self, target: Target) -> None:
        target.breakpoints.add(self.breakpoint)

    @override
    def inverse(self, target: Target) -> Command | None:
        return None if self.is_kept else RemoveBreakpoint(target.breakpoints.next_number)


class NumberedBreakpointCommand(BreakpointCommand, frozen=True):
    """A command on one breakpoint."""

    number: int

    @override
    def check(self, target: Target) -> None:
        if target.breakpoints.get(self.number) is None:
            raise CommandError(f"There is no breakpoint {self.number} any more.")


class ChangeBreakpoint(NumberedBreakpointCommand, frozen=True):
    """Change a breakpoint; it keeps its number and its hits."""

    words: ClassVar = "{subject} breakpoint {number}: {breakpoint.text}"

    breakpoint: Breakpoint

    @override
    def subject(self, timeline: Timeline) -> str:
        return "set" if self.breakpoint.is_enabled else "turn off"

    @override
    def change(self, target: Target) -> None:
        target.breakpoints.replace(self.number, self.breakpoint)

    @override
    def inverse(self, target: Target) -> Command | None:
        former = target.breakpoints.get(self.number)
        return None if former is None else ChangeBreakpoint(self.number, former)


class RemoveBreakpoint(NumberedBreakpointCommand, frozen=True):
    """Remove a breakpoint."""

    words: ClassVar = "remove breakpoint {number}"

    @override
    def change(self, target: Target) -> None:
        target.breakpoints.remove(self.number)

    @override
    def inverse(self, target: Target) -> Command | None:
        former = target.breakpoints.get(self.number)
        return None if former is None else AddBreakpoint(former)
