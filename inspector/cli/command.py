"""What a command is: its name, its help, its arguments and what it does."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO


def _take_any(_options: Namespace) -> None:
    """Accept all arguments that argparse has accepted."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of ``timeline-inspector``.

    Describing a command imports nothing heavy: ``--help`` lists them all. What it needs to do
    its work is imported by ``run``.

    Attributes:
        name: What is typed, such as ``run``.
        operands: What follows the name in the overview, such as ``SCENE``.
        summary: What it does, in one line that begins with a verb.
        add_arguments: Adds its arguments to a parser.
        run: Does it, given the arguments, standard output and standard error; returns the
            exit code.
        epilog: Examples and exit codes, shown below its arguments.
        check: Refuses arguments that make no sense together, by ``options.parser.error``.
    """

    name: str
    operands: str
    summary: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, TextIO, TextIO], int]
    epilog: str = ""
    check: Callable[[Namespace], None] = _take_any
