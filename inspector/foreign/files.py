"""Opening files that users name, without hanging and within limits.

A pipe without a writer would block, and ``/dev/zero`` has no end. Whatever prevents reading a file
is reported in one sentence.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from inspector.errors import UnreadableFileError
from inspector.foreign.paths import is_recording_name

#: What every SQLite file, and so every recording, begins with.
SQLITE_MAGIC: Final = b"SQLite format 3\0"
#: Longest path in a message; its end is the most specific part.
_MOST_SHOWN: Final = 200
_KINDS: Final = (
    (stat.S_ISDIR, "a folder. Name the file in it"),
    (stat.S_ISFIFO, "a pipe. Save what comes from it to a file"),
    (stat.S_ISSOCK, "a socket. Choose a file"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "a device. Choose a file"),
)
#: O_NONBLOCK, because opening a pipe without a writer would block.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_binary(path: Path) -> BinaryIO:
    """Open a file named by the user, or raise an ``UnreadableFileError``."""
    name = path_text(path)
    try:
        number = os.open(path, _FLAGS)
    except FileNotFoundError:
        message = f"There is no file {name}. Check the name and the folder."
        raise UnreadableFileError(message) from None
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror or error}. Choose another file."
        raise UnreadableFileError(message) from None
    except ValueError:
        message = f"There is no file {name}: the name has impossible characters."
        raise UnreadableFileError(message) from None
    mode = os.fstat(number).st_mode
    for is_kind, sentence in _KINDS:
        if is_kind(mode):
            os.close(number)
            raise UnreadableFileError(f"{name} is {sentence}.")
    return os.fdopen(number, "rb")


def check_readable(path: Path) -> None:
    """Refuse a file that :func:`open_binary` cannot open, before anything else is said."""
    open_binary(path).close()


def is_recording(path: Path) -> bool:
    """Return whether a file is a recording by its name, even a damaged one, or by its beginning."""
    if is_recording_name(path):
        return True
    try:
        with open_binary(path) as file:
            return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except (UnreadableFileError, OSError):
        return False


def read_whole(path: Path, most_bytes: int, what: str) -> bytes:
    """Return the contents of a file named by the user, unless it is or becomes larger."""
    try:
        with open_binary(path) as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        message = f"{path_text(path)} cannot be read: {error.strerror or error}."
        raise UnreadableFileError(message) from None
    if len(data) > most_bytes:
        message = f"{path_text(path)} is too large for {what}. Choose another file."
        raise UnreadableFileError(message)
    return data


def path_text(path: Path) -> str:
    """Return a path for a message: of a long one, the end."""
    text = str(path)
    return text if len(text) <= _MOST_SHOWN else f"…{text[-_MOST_SHOWN:]}"
