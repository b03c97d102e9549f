"""The exit codes of the ``timeline-inspector`` command, in one place."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the command's exit code means; the numbers never change.

    Attributes:
        OK: It did what was asked.
        FAILED: A callback raised, a check found something (``lint``, ``lab --check``), or
            something could not be read or written.
        USAGE: The arguments make no sense; nothing was done.
        NO_DISPLAY: A window was asked for and there is nowhere to show it.
        SCENE: The scene could not be loaded.
        BAD_ENVIRONMENT: A library is missing, or one is installed that is known not to work.
        DIFFERENT: A recorded scene that was run again did something else.
        INTERRUPTED: Stopped by Ctrl+C (128 + SIGINT, as shells count it).
        TERMINATED: Stopped by SIGTERM (128 + SIGTERM, likewise).
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_DISPLAY = 3
    SCENE = 4
    BAD_ENVIRONMENT = 5
    DIFFERENT = 6
    INTERRUPTED = 130
    TERMINATED = 143
