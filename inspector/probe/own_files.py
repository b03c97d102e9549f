"""The probe's files, as long as their numbers are theirs.

The program may close their descriptors, as daemons do, and open other files with these numbers.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional


def file_of(number: int) -> Optional[tuple[int, int, int]]:
    """Return what identifies the open file of a descriptor, ``None`` if there is none."""
    try:
        found = os.fstat(number)
    except OSError:
        return None  # closed; also where sockets are no files, as on Windows
    return found.st_dev, found.st_ino, found.st_mode


class OwnFile:
    """A descriptor that the probe has opened."""

    __slots__ = ("_file", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self._file = file_of(number)

    @property
    def is_lost(self) -> bool:
        return file_of(self.number) != self._file

    def close(self) -> None:
        """Close it, unless its number is another file's by now."""
        if not self.is_lost:
            try:
                os.close(self.number)
            except OSError:
                pass
