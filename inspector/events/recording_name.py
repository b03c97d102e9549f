"""How the name of a recording ends; known without what reads one, which takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

RECORDING_SUFFIX: Final = ".tlrec"


def is_recording_name(path: Path) -> bool:
    """Return whether a file is taken for a recording, whatever is in it."""
    return path.suffix.lower() == RECORDING_SUFFIX
