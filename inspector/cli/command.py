"""The description of a command: its entry in the overview, its arguments and function."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TextIO


def _take_any(_options: Namespace) -> None:
    """Accept all arguments that argparse has accepted."""


@dataclass(frozen=True, slots=True)
class Command:
    """The arguments and function of a command of ``timeline-inspector``.

    Attributes:
        add_arguments: Adds its arguments to a parser.
        run: Runs it with the arguments, standard output and standard error; returns the exit
            code.
        epilog: Examples and exit codes, shown below its arguments.
        check: Refuses invalid combinations of arguments by ``options.parser.error``.
    """

    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, TextIO, TextIO], int]
    epilog: str = ""
    check: Callable[[Namespace], None] = _take_any


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command in the overview, which names them all and loads none.

    Attributes:
        name: What is typed, such as ``run``.
        operands: What follows the name in the overview, such as ``SCENE``.
        summary: What it does, in one line that begins with a verb.
        place: Its :class:`Command` as ``module:NAME``; a module that begins with a dot is one in
            ``cli/commands``.
    """

    name: str
    operands: str
    summary: str
    place: str

    def load(self) -> Command:
        """Import the command with all that it needs to do its work."""
        module, _, name = self.place.partition(":")
        command = getattr(import_module(module, "inspector.cli.commands"), name)
        if not isinstance(command, Command):
            message = f"{self.place} is not a Command"
            raise TypeError(message)
        return command
