"""A program that starts, says what that took, idles, says what that took, and ends.

``started_window.py bare`` shows a bare Qt window, ``started_window.py inspector`` the
inspector as its command does. Each line on the standard output is one finding, a name
and a number. Run by :mod:`tests.benchmarks.bench_start`, in a separate process.

Before the first paint nothing is loaded here that the programs would not load themselves.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from PySide6.QtGui import QPaintEvent

    from ui.window.main_window import MainWindow

#: How long a held window is left alone before it counts as idle, and then watched.
SETTLING_MS = 1_500
WATCHED_MS = 3_000
SIZE = (1_280, 760)

# The clock of the whole system, so that the parent's instants can be compared with it.
_SYSTEM_CLOCK = getattr(time, "CLOCK_MONOTONIC", None)


def report(name: str, number: float) -> None:
    """Write one finding."""
    sys.stdout.write(f"{name} {number}\n")
    sys.stdout.flush()


def report_instant(name: str) -> None:
    """Write what the process has computed and when that was."""
    cpu_s, now_s = time.process_time(), system_clock_s()
    report(f"{name}_cpu_s", cpu_s)
    report(f"{name}_at_s", now_s)


def system_clock_s() -> float:
    """Return the reading of a clock that all processes share."""
    return time.monotonic() if _SYSTEM_CLOCK is None else time.clock_gettime(_SYSTEM_CLOCK)


def run_bare() -> None:
    """Show a bare window until it is painted."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Window(QMainWindow):
        def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
            super().paintEvent(event)
            QTimer.singleShot(0, self.end)

        def end(self) -> None:
            report_instant("painted")
            if sys.platform == "linux":
                report("resident_mb", resident_mb())
            application.quit()

    application = QApplication(sys.argv)
    window = Window()
    window.resize(*SIZE)
    window.show()
    application.exec()


def run_inspector() -> None:
    """Start the inspector, let it complete, hold the scene, watch it idle."""
    from inspector import launcher, window_loader

    load_ui = window_loader.load_ui

    def load_watched(submodule: str | None = None) -> ModuleType:
        module = load_ui(submodule)
        if submodule == "window.application":
            module.__dict__["MainWindow"] = watched_class(module.MainWindow)
        return module

    window_loader.load_ui = load_watched
    launcher.main([])


def watched_class(base: type[MainWindow]) -> type[MainWindow]:  # noqa: C901 - a class
    """Return a main window that reports how it gets on."""
    from PySide6.QtCore import QTimer

    class Window(base):  # type: ignore[misc,valid-type]
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            self.resize(*SIZE)
            self.refreshes = 0
            self.before: dict[str, float] = {}
            # Connected first, so called before anything else is done after painting.
            self.painted.connect(self.tell_painted_soon)
            self.completed.connect(self.tell_complete_soon)

        def tell_painted_soon(self) -> None:
            QTimer.singleShot(0, self.tell_painted)

        def tell_painted(self) -> None:
            report_instant("painted")
            heavy = {"numpy", "pyqtgraph", "asyncio"} & set(sys.modules)
            report("heavy_modules", len(heavy))

        def tell_complete_soon(self) -> None:
            self.bridge.refreshed.connect(self.count_refresh)
            # The scene is opened in this turn; timers come after paint events.
            QTimer.singleShot(0, self.tell_complete)

        def tell_complete(self) -> None:
            if not self.bridge.timeline.clocks:
                QTimer.singleShot(0, self.tell_complete)
                return
            report_instant("complete")
            # As people do: looked at while it runs, then held.
            QTimer.singleShot(SETTLING_MS, self.hold)
            QTimer.singleShot(2 * SETTLING_MS, self.watch)

        def hold(self) -> None:
            from inspector.commands.transport import Hold

            self.bridge.submit(Hold())

        def watch(self) -> None:
            if sys.platform == "linux":
                report("resident_mb", resident_mb())
            self.before = self.counts()
            QTimer.singleShot(WATCHED_MS, self.end)

        def end(self) -> None:
            for name, count in self.counts().items():
                report(name, count - self.before[name])
            self.close()

        def counts(self) -> dict[str, float]:
            wake = self.bridge.session.wake_errors
            return {
                "switches": voluntary_switches(),
                "idle_cpu_s": time.process_time(),
                "source_wakes": 0 if wake is None else wake.count,
                "refreshes": self.refreshes,
            }

        def count_refresh(self, _info: object) -> None:
            self.refreshes += 1

    return Window


def voluntary_switches() -> int:
    """Return the number of voluntary context switches."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def resident_mb() -> float:
    """Return what the process has in memory, in millions of bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    {"bare": run_bare, "inspector": run_inspector}[sys.argv[1]]()
