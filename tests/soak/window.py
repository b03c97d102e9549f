"""The window as its command shows it, with a heartbeat that somebody outside can listen to.

Run by :mod:`tests.soak`, in a separate process: the first argument is the number of a pipe,
to which a byte goes every quarter of a second while the event loop turns: ``+`` while the window
or a dialog of it has the keyboard, else ``.``. SIGUSR1 prints where
all threads are. After SIGUSR2 the window opens a scene in which nothing happens, and some seconds
later writes into the pipe what it still needs: ``bytes objects;``. What a session keeps, up to
its limits, such as the events and pictures of a lively scene, is not part of that; nor is the code
of what is used for the first time, which is all loaded at the start. Files open in this window
only: another one would cover it, and be at work in its place.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import pkgutil
import signal
import sys
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog

import inspector
from inspector import launcher, window_loader

BEAT_MS = 250
#: How long the scene has run when memory is looked at.
RUN_MS = 5_000
QUIET_SCENE = Path(__file__).with_name("quiet_scene.py")


def main(pipe: int, arguments: list[str]) -> int:
    """Show the window until it is closed; return its exit code."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    os.set_blocking(pipe, False)
    window_loader.open_beside = lambda path: None  # noqa: ARG005 - as it is called
    application = window_loader.load_ui("window.application").make_application()

    def beat() -> None:
        os.write(pipe, b"." if QGuiApplication.focusWindow() is None else b"+")

    def begin_again() -> None:
        show_quiet_scene()
        QTimer.singleShot(RUN_MS, tell_memory)

    def tell_memory() -> None:
        objects = free_what_is_free()
        os.write(pipe, b"%d %d;" % (resident_bytes(), objects))

    signal.signal(signal.SIGUSR2, lambda *_: QTimer.singleShot(0, begin_again))
    heart = QTimer(application)
    heart.timeout.connect(beat)
    heart.start(BEAT_MS)
    load_everything()
    return launcher.main(arguments)


def load_everything() -> None:
    """Import all modules, so that the first use of a feature takes no memory for its code."""
    for package in (inspector, window_loader.load_ui()):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


def show_quiet_scene() -> None:
    """Close menus and dialogs, and open the scene in which nothing happens."""
    while (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog):
            widget.reject()
        elif hasattr(widget, "open_path"):
            widget.open_path(QUIET_SCENE)


def free_what_is_free() -> int:
    """Give back what nobody refers to; return the number of Python objects that are left."""
    gc.collect()
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
    # What was frozen after the start counts too: without it, little is a large part.
    return len(gc.get_objects()) + gc.get_freeze_count()


def resident_bytes() -> int:
    """Return what the process has in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    # As after the console script: a scene sees its own arguments only.
    number, *rest = sys.argv[1:]
    sys.argv[1:] = rest
    sys.exit(main(int(number), rest))
