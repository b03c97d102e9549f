"""The exit codes of the ``timeline-inspector`` command."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Meanings of the exit codes; the numbers never change.

    Attributes:
        OK: Success.
        FAILED: A callback raised, a check found something (``lint``, ``lab --check``), a
            condition says that it is worse, or something could not be written.
        USAGE: The arguments are invalid; nothing was done.
        NO_DISPLAY: There is no display for a window.
        SCENE: The scene could not be loaded.
        BAD_ENVIRONMENT: A library is missing, or has a version that is known not to work.
        DIFFERENT: A replayed scene behaved differently.
        NOT_ATTACHED: No program could be attached to, or no probe answered from it.
        CANNOT_TELL: A condition or check could not be decided: what it needs is undefined, or data
            is missing.
        UNREADABLE: Something could not be read.
        NOT_EXECUTABLE: The program to be launched may not be executed (as in shells).
        NOT_FOUND: The program to be launched was not found (likewise).
        HUNG_UP: Ended as its terminal was closed (128 + SIGHUP, likewise).
        INTERRUPTED: Ended by Ctrl+C (128 + SIGINT, as in shells).
        TERMINATED: Ended by SIGTERM (128 + SIGTERM, likewise).
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_DISPLAY = 3
    SCENE = 4
    BAD_ENVIRONMENT = 5
    DIFFERENT = 6
    NOT_ATTACHED = 7
    CANNOT_TELL = 8
    UNREADABLE = 9
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143
