"""The command ``timeline-inspector``: opens the window, or hands on to the command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector import window_loader
from inspector.cli.terminal import write_error
from inspector.environment import check_display
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door
    from inspector.sessions.compared import FilesToCompare


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv`` (default: the program's arguments); return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--debug"]:
        from inspector.debug_log import begin_debug_log  # noqa: PLC0415 - no start waits for it

        del arguments[0]
        begin_debug_log(arguments)
    try:
        return _run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except InspectorError as error:
        if sys.stderr is None:  # it is when started without a console on Windows
            return error.exit_code
        return write_error(error, sys.stderr)


def _run(arguments: list[str]) -> int:
    scene = None
    if arguments:
        from inspector.cli import main as cli  # noqa: PLC0415 - without arguments, the window need not wait

        scene = cli.window_scene(arguments)
        if scene is None:
            return cli.main(arguments)
        check_display(os.environ)
        for path in cli.files_beside(arguments):
            window_loader.open_beside(path)
    return open_window(scene)


def open_window(target: Path | Door | FilesToCompare | None) -> int:
    """Show the window on a scene, a recording, a program or a comparison; return its exit code."""
    check_display(os.environ)
    # What is loaded stays, so looking for garbage among it is in vain: a tenth of the first
    # paint. The window switches it on again when it is complete.
    gc.disable()
    # Until the window is complete there is nothing to save, and no way to end it in order; and
    # an exception in the middle of it makes the import of PySide6 abort the process, or hang.
    former = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return int(window_loader.load_ui("window.application").main(target))
    finally:
        signal.signal(signal.SIGINT, former)
        gc.enable()
