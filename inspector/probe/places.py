"""Folders of programs that can be attached: one per process, for its user only."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def folder() -> Path:
    """Return the folder of this user's programs that can be attached."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir():
        return Path(runtime) / "timeline-inspector"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"timeline-inspector-{user}"


def own_folder(path: Path) -> Path:
    """Make a folder that only this user may open; ``PermissionError`` if it is another's."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    is_ours = stat.S_ISDIR(found.st_mode) and (
        not hasattr(os, "getuid")
        or (found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077)
    )
    if not is_ours:
        raise PermissionError(f"{path} is not a folder for this user only")
    return path


class ListeningPlace:
    """The folder of one process, with its socket and its token."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._owner = os.getpid()

    @classmethod
    def made(cls) -> ListeningPlace:
        """Make the folder of this process; an ``OSError`` if that is not possible."""
        place = cls(own_folder(own_folder(folder()) / str(os.getpid())))
        place._clear()
        return place

    @property
    def address(self) -> str:
        return f"unix:{self._path / 'socket'}"

    def write_token(self, token: str) -> None:
        """Leave the token where the inspector reads it."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(self._path / "token", flags, 0o600), "w") as file:
            file.write(token)

    def remove(self) -> None:
        """Remove the folder, unless this is a child of the process that has made it."""
        if os.getpid() == self._owner:
            self._clear()
            try:
                self._path.rmdir()
            except OSError:
                pass

    def _clear(self) -> None:
        for name in ("socket", "token"):
            (self._path / name).unlink(missing_ok=True)
