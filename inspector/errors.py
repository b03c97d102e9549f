"""The expected failures, each reaching the user as one sentence with a next step.

Programmer errors are not here: those raise ``ValueError`` or ``TypeError`` at
once. An :class:`InspectorError` is something a careful user can run into (a file
that is not there, a scene that does not build), so its message says what
happened, where, and what to do.
"""

from inspector.exit_codes import ExitCode


class InspectorError(Exception):
    """An expected failure whose message can be shown to the user as it is.

    Attributes:
        exit_code: What a command ends with because of it.
    """

    exit_code: ExitCode = ExitCode.FAILED

    @property
    def detail(self) -> str:
        """More lines for who wants to know, such as a place in the source; or none."""
        return ""


class ArgumentError(InspectorError):
    """An argument of a command makes no sense; said before anything is done."""

    exit_code = ExitCode.USAGE


class SceneError(InspectorError):
    """A scene file could not be read, imported or built."""

    exit_code = ExitCode.SCENE


class UnreadableFileError(InspectorError):
    """A file that was named is not there, is no file, or cannot be read."""


class CaptureError(InspectorError):
    """A frame-time capture could not be read."""


class ExportError(InspectorError):
    """A graph or its data could not be written."""


class CommandError(InspectorError):
    """A command was refused; the message says why."""
