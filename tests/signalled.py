"""Processes that say something, and are then ended by a signal."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


def told_and_ended(
    process: subprocess.Popen[str],
    number: signal.Signals = signal.SIGTERM,
    *,
    on_stdout: bool = False,
) -> str:
    """Return the first line of a process's errors, or of its output; then a signal ends it.

    It ends with the documented exit code, and without a traceback.
    """
    stream = process.stdout if on_stdout else process.stderr
    assert stream is not None
    try:
        told = stream.readline()

        process.send_signal(number)

        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    return told
