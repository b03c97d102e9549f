"""The log of ``--debug``: everything that is logged, with times, on stderr and in a file."""

from __future__ import annotations

import faulthandler
import logging
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_FORMAT: Final = "%(asctime)s.%(msecs)03d %(levelname)-7s %(threadName)s %(name)s: %(message)s"

logger = logging.getLogger(__name__)


def debug_log_path() -> Path:
    """Return the file; each start of the inspector with ``--debug`` begins it anew."""
    import platformdirs  # noqa: PLC0415 - only with --debug, and for doctor

    folder = platformdirs.user_log_dir("timeline-inspector", appauthor=False)
    return Path(folder, "debug.log")


def begin_debug_log(arguments: Sequence[str]) -> None:
    """Log everything from now on, also where a signal ends the process."""
    path = debug_log_path()
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = logging.FileHandler(path, mode="w", encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"timeline-inspector: {path} cannot be written: {error.strerror}.\n")
    else:
        handlers.append(file)
        assert file.stream is not None, "it is opened at once"
        faulthandler.enable(file.stream)
        sys.stderr.write(f"timeline-inspector: logging to {path}.\n")
    logging.basicConfig(
        level=logging.DEBUG, format=_FORMAT, datefmt="%H:%M:%S", handlers=handlers, force=True
    )
    logger.info("%s", " ".join(arguments) or "(no arguments)")
    logger.info("Python %s on %s, %s", platform.python_version(), platform.platform(), sys.prefix)
