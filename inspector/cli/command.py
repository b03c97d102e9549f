"""The description of a command: its entry in the overview, its arguments and function."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from inspector.extensions import object_at

#: Runs a command with the arguments, standard output and standard error; returns the exit code.
Run: TypeAlias = Callable[[Namespace, TextIO, TextIO], int]


def _accept_any(_options: Namespace) -> None:
    """Accept all arguments that argparse has accepted."""


@dataclass(frozen=True, slots=True)
class Subcommand:
    """The arguments and function of a command of ``timeline-inspector``.

    Attributes:
        add_arguments: Adds its arguments to a parser.
        run: The function that runs it, or its ``module:name``, which is imported only to run it:
            parsing and help need none of what the command imports.
        epilog: Examples and exit codes, shown below its arguments.
        check: Refuses invalid combinations of arguments by ``options.parser.error``.
    """

    add_arguments: Callable[[ArgumentParser], None]
    run: Run | str
    epilog: str = ""
    check: Callable[[Namespace], None] = _accept_any

    @property
    def runner(self) -> Run:
        """What runs it; imports it if need be."""
        runner: Run = object_at(self.run) if isinstance(self.run, str) else self.run
        return runner


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command in the overview, which names all commands without importing them.

    Attributes:
        name: What is typed, such as ``run``.
        operands: What follows the name in the overview, such as ``SCENE``.
        summary: What it does, in one line that begins with a verb.
        place: Its :class:`Subcommand` as ``module:NAME``; a module that begins with a dot is one in
            ``cli/commands``.
        runs_another: Whether its arguments end with the command line of another program, which
            is left as it is.
    """

    name: str
    operands: str
    summary: str
    place: str
    runs_another: bool = False

    def load(self) -> Subcommand:
        """Import the arguments and the help of the command."""
        command = object_at(self.place, "inspector.cli.commands")
        if not isinstance(command, Subcommand):
            raise TypeError(f"{self.place} is not a Subcommand")
        return command
