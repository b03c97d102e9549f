"""What tests make of a command line and of what it answers."""

import csv
from collections.abc import Callable
from pathlib import Path

#: Runs a command line; returns exit code, stdout and stderr.
Run = Callable[[str], tuple[int, str, str]]


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by the names of its columns."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
