"""Files that are written completely or not at all."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from inspector.errors import ExportError
from inspector.foreign.paths import is_file, is_folder, is_there


def check_target(path: Path) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    folder = path.parent
    if not is_folder(folder):
        what = "is not a folder" if is_there(folder) else "does not exist"
        message = f"Cannot write {path}: {folder} {what}. Create it or choose another folder."
        raise ExportError(message)
    if is_folder(path):
        raise ExportError(f"Cannot write {path}: it is a folder. Add the name of a file.")
    if is_there(path) and not is_file(path):
        raise ExportError(f"Cannot write {path}: it is not a regular file. Choose another name.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ExportError(_refusal(path))
    try:
        # Only an attempt shows it: a file system may be read-only, or refuse our files.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        raise ExportError(_refusal(path)) from None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path`` that replaces it when the block succeeds.

    On failure the existing file stays untouched and the temporary file is removed. The
    permissions of an existing file are kept, and a symbolic link keeps pointing to its file.
    """
    check_target(path)
    target = path.resolve()
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.part")
    try:
        with _created(temporary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except OSError as error:
        raise _explained(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _created(path: Path) -> BinaryIO:
    # Mode "x" leaves the permissions to the umask, which a named temporary file would not.
    return path.open("xb")


def _explained(path: Path, error: OSError) -> ExportError:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return ExportError(
                f"Cannot write {path}: the disk is full. Free some space or choose another disk; "
                "nothing was changed."
            )
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return ExportError(_refusal(path))
        case _:
            reason = error.strerror or str(error)
            return ExportError(f"Cannot write {path}: {reason}. Choose another place.")


def _refusal(path: Path) -> str:
    return (
        f"Cannot write {path}: the folder {path.parent} is not writable. Choose another folder or "
        "change its permissions."
    )
