"""Paths that users type or that files name: checking them never raises."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_ESCAPED_BYTE: Final = re.compile(r"\\u(dc[89a-f][0-9a-f])")


def expanded(text: str | Path) -> Path:
    """Return a path with ``~`` replaced by the user's folder, if there is one."""
    # Path.expanduser() raises for an unknown user.
    return Path(os.path.expanduser(text))  # noqa: PTH111


def is_file(path: Path) -> bool:
    """Return whether there is such a file; false for names that are too long."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Return whether there is such a folder, likewise."""
    return os.path.isdir(path)  # noqa: PTH112


def is_there(path: Path) -> bool:
    """Return whether the path exists, likewise."""
    return os.path.exists(path)  # noqa: PTH110


def stored_path(text: str) -> Path:
    r"""Return the path named in a recording.

    Undecodable bytes are written as ``\udce9``, with the byte at the end.
    """
    path = Path(text)
    # What looks like an escape may be part of the real name.
    if is_there(path):
        return path
    return Path(_ESCAPED_BYTE.sub(lambda found: chr(int(found[1], 16)), text))


RECORDING_SUFFIX: Final = ".tlrec"
_SCENE_SUFFIXES: Final = frozenset({".py", ".pyw"})


def is_scene_name(path: Path) -> bool:
    """Return whether the name is that of a scene, whatever is in the file."""
    return path.suffix.lower() in _SCENE_SUFFIXES


def is_recording_name(path: Path) -> bool:
    """Return whether the name is that of a recording, whatever is in the file."""
    return path.suffix.lower() == RECORDING_SUFFIX


def is_capture_name(path: Path) -> bool:
    """Return whether the name is that of another program's file, whatever is in it."""
    return not is_scene_name(path) and not is_recording_name(path)
