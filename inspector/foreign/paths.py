"""Paths that people have written: asking about them is never an error."""

import os
from pathlib import Path


def expanded(text: str | Path) -> Path:
    """Return a path with ``~`` replaced by the folder it stands for, if there is one."""
    # Path.expanduser() raises for a user that there is not.
    return Path(os.path.expanduser(text))  # noqa: PTH111


def is_file(path: Path) -> bool:
    """Return whether there is such a file; a name that is too long has none."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Return whether there is such a folder, likewise."""
    return os.path.isdir(path)  # noqa: PTH112


def is_there(path: Path) -> bool:
    """Return whether there is anything of that name, likewise."""
    return os.path.exists(path)  # noqa: PTH110
