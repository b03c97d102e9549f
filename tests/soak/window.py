"""The window as its command shows it, with a heartbeat that somebody outside can listen to.

Run by :mod:`tests.soak`, in a separate process: the first argument is the number of a pipe,
to which a byte goes every quarter of a second while the event loop turns. SIGUSR1 prints where
all threads are.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys

from PySide6.QtCore import QTimer

from inspector import launcher, window_loader

BEAT_MS = 250


def main(pipe: int, arguments: list[str]) -> int:
    """Show the window until it is closed; return its exit code."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    os.set_blocking(pipe, False)
    application = window_loader.load_ui("window.application").make_application()

    def beat() -> None:
        os.write(pipe, b".")

    heart = QTimer(application)
    heart.timeout.connect(beat)
    heart.start(BEAT_MS)
    return launcher.main(arguments)


if __name__ == "__main__":
    # As after the console script: a scene sees its own arguments only.
    number, *rest = sys.argv[1:]
    sys.argv[1:] = rest
    sys.exit(main(int(number), rest))
