"""Which program a command line starts, as far as its words show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from inspector.errors import AttachError

_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*(?:t|\.exe)?$")
#: Options of Python whose value may be the next argument.
_WITH_VALUE: Final = frozenset("WXQ")
#: Options that keep Python from reading PYTHONPATH, or from running ``sitecustomize``.
_ISOLATING: Final = frozenset("IES")


def program_title(argv: Sequence[str]) -> str:
    """Return the name by which people know a command line."""
    rest = list(argv)
    if rest and _PYTHON.match(Path(rest[0]).name):
        operands = _after_options(rest)
        if operands and (option := operands[0][:2]) in {"-c", "-"}:
            return f"{Path(rest[0]).name} {option}"
        rest = operands or rest
    elif rest and Path(rest[0]).name in {"node", "nodejs"}:
        codes = {"-e", "--eval", "-p", "--print"}
        rest = [word for word in rest[1:] if word in codes or not word.startswith("-")] or rest
    return Path(rest[0]).name if rest else ""


def refuse_isolated(argv: Sequence[str], program: str) -> None:
    """Refuse a Python that ignores its environment."""
    way = "leave the option out, or call timeline_probe.serve() in the program"
    if _PYTHON.match(Path(argv[0]).name):
        option = _isolating_option(argv)
        if option:
            message = (
                f"With {option}, Python does not load the probe: {way}. See “{shlex.join(argv)}”."
            )
            raise AttachError(message)
        return
    words = _first_line(program)
    for number, word in enumerate(words):
        if _PYTHON.match(Path(word).name):
            option = _isolating_option(words[number:])
            if option:
                better = shlex.join([word, program, *argv[1:]])
                message = (
                    f"The first line of {program} starts Python with {option}, which then does "
                    f"not load the probe. Launch it as: {better}"
                )
                raise AttachError(message)
            return


def _isolating_option(command: Sequence[str]) -> str:
    """Return the first option of a Python command that keeps the probe out; else nothing."""
    for word in python_options(command):
        if word.startswith("-") and not word.startswith("--"):
            for letter in word[1:]:
                if letter in _ISOLATING:
                    return f"-{letter}"
                if letter in _WITH_VALUE | {"c", "m"}:
                    break
    return ""


def python_options(command: Sequence[str]) -> Sequence[str]:
    """Return the options of Python itself in a command line, with their values."""
    return command[1 : len(command) - len(_after_options(command))]


def _after_options(command: Sequence[str]) -> list[str]:
    rest = list(command[1:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            return rest
        if word.startswith("--"):
            continue
        # A hyphen stands for a program that is read from standard input.
        if not word.startswith("-") or word == "-":
            return [word, *rest]
        for position, letter in enumerate(word[1:], start=2):
            if letter in "cm":
                value = word[position:]
                return ([value] if value else []) + rest if letter == "m" else [word, *rest]
            if letter in _WITH_VALUE:
                if position == len(word) and rest:
                    rest.pop(0)
                break
    return []


def _first_line(program: str) -> list[str]:
    try:
        with Path(program).open("rb") as file:
            line = file.readline(512)
    except OSError:
        return []
    return line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
