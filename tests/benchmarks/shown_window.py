"""A program that is shown, watched for some seconds, and says what that took; then it ends.

``shown_window.py bare`` shows a bare Qt window that repaints one label 60 times a second,
``shown_window.py inspector`` the inspector as its command does, ``shown_window.py recording`` the
same while it records, ``shown_window.py scene`` runs the same scene in real time without any
window. Size, seconds and the scene's file follow, the
last one left out for the first built-in scene. Each line on the standard output is one
finding: a name, a tabulator and a number. Run by :mod:`tests.benchmarks.bench_shown_window`,
in a separate process.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QStackedWidget, QWidget

from inspector import launcher, window_loader

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ui.window.main_window import MainWindow

#: What happens first is not watched: panels are made, files are read.
SETTLING_MS = 3_000
RATE = 60


def report(name: str, number: float) -> None:
    """Write one finding."""
    sys.stdout.write(f"{name}\t{number}\n")
    sys.stdout.flush()


class Watch(QObject):
    """Watches the process for some seconds, then counts what is painted for half as many."""

    def __init__(self, seconds: float, frames: Callable[[], int], end: Callable[[], None]) -> None:
        """Begin when everything has settled.

        Args:
            seconds: For how long.
            frames: Returns how many frames there were.
            end: Called when all was reported.
        """
        super().__init__()
        self._ms = round(1_000 * seconds)
        self._frames = frames
        self._end = end
        self._paints: Counter[str] = Counter()
        QTimer.singleShot(SETTLING_MS, self._begin)

    def _begin(self) -> None:
        self._began = (process_time(), perf_counter(), self._frames())
        QTimer.singleShot(self._ms, self._tell)

    def _tell(self) -> None:
        computed_s, at_s, frames = self._began
        report("cpu_s", process_time() - computed_s)
        report("wall_s", perf_counter() - at_s)
        report("frames", self._frames() - frames)
        application = QCoreApplication.instance()
        assert application is not None
        # Python for every event would be part of what is measured.
        application.installEventFilter(self)
        self._at_s = perf_counter()
        QTimer.singleShot(self._ms // 2, self._tell_paints)

    def _tell_paints(self) -> None:
        passed_s = perf_counter() - self._at_s
        for name, count in self._paints.items():
            report(f"paints of {name}", count / passed_s)
        self._end()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Count a paint of a widget."""
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            self._paints[_name_of(watched)] += 1
        return False


def _name_of(widget: QWidget) -> str:
    """Return the class of a widget; a viewport is known by what it belongs to."""
    while type(widget) in {QWidget, QStackedWidget}:
        parent = widget.parentWidget()
        if parent is None:
            break
        widget = parent
    return type(widget).__name__


def run_bare(size: tuple[int, int], seconds: float) -> None:
    """Show a window with a label that has another text 60 times a second."""
    application = QApplication(sys.argv)
    window, label = QMainWindow(), QLabel("0")
    window.setCentralWidget(label)
    window.resize(*size)
    window.show()
    count = 0

    def repaint() -> None:
        nonlocal count
        count += 1
        label.setText(str(count))

    beat = QTimer(window)
    beat.setTimerType(Qt.TimerType.PreciseTimer)
    beat.timeout.connect(repaint)
    beat.start(1_000 // RATE)
    watch = Watch(seconds, lambda: count, application.quit)
    application.exec()
    watch.deleteLater()


def run_scene(scene: Path, seconds: float) -> None:
    """Run a scene in real time on the event loop, without a window and without a reader."""
    from inspector.commands.transport import Run
    from inspector.sessions.hosted import HostedSession

    application = QCoreApplication(sys.argv)
    source = window_loader.load_ui("session.qt_time_source").QtTimeSource()
    session = HostedSession(scene, source)
    session.submit(Run())
    watch = Watch(seconds, lambda: session.frames_run, application.quit)
    application.exec()
    watch.deleteLater()
    session.close()


def run_inspector(
    size: tuple[int, int], seconds: float, scene: list[str], *, is_recording: bool = False
) -> None:
    """Show the inspector, as its command does."""
    load_ui = window_loader.load_ui

    def load_watched(submodule: str | None = None) -> ModuleType:
        module = load_ui(submodule)
        if submodule == "window.application":
            module.__dict__["MainWindow"] = watched_class(
                module.MainWindow, size, seconds, is_recording=is_recording
            )
        return module

    window_loader.load_ui = load_watched
    launcher.main(scene)


def watched_class(
    base: type[MainWindow], size: tuple[int, int], seconds: float, *, is_recording: bool
) -> type[MainWindow]:
    """Return a main window of a size that is watched when it is complete."""

    class Window(base):  # type: ignore[misc,valid-type]
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            self.resize(*size)
            self.completed.connect(self.watch)

        def watch(self) -> None:
            if is_recording:
                QTimer.singleShot(SETTLING_MS // 2, self.record)
            self.watched = Watch(seconds, lambda: self.bridge.timeline.frames.end, self.close)

        def record(self) -> None:
            recorder = self.bridge.session.recorder
            recorder.start()

    return Window


def main(program: str, width: str, height: str, seconds: str, *scene: str) -> None:
    """Run one of the programs."""
    size = (int(width), int(height))
    match program:
        case "bare":
            run_bare(size, float(seconds))
        case "inspector" | "recording":
            is_recording = program == "recording"
            run_inspector(size, float(seconds), list(scene), is_recording=is_recording)
        case _:
            run_scene(Path(scene[0]), float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
