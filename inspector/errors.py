"""Expected failures, whose messages are sentences for the user, with a next step.

Programmer errors raise ``ValueError`` or ``TypeError`` instead. An :class:`InspectorError` can
happen to a careful user (a missing file, a scene that does not build), so its message says what
happened, where, and what to do.
"""

from inspector.exit_codes import ExitCode


class InspectorError(Exception):
    """An expected failure whose message can be shown to the user.

    Attributes:
        exit_code: Exit code of a command that fails with it.
    """

    exit_code: ExitCode = ExitCode.FAILED

    @property
    def detail(self) -> str:
        """Further lines, such as a place in the source; may be empty."""
        return ""


class ArgumentError(InspectorError):
    """An argument of a command is invalid; raised before anything is done."""

    exit_code = ExitCode.USAGE


class SceneError(InspectorError):
    """A scene file could not be read, imported or built."""

    exit_code = ExitCode.SCENE


class UnreadableFileError(InspectorError):
    """A file does not exist, is not a file, or cannot be read."""

    exit_code = ExitCode.UNREADABLE


class CaptureError(InspectorError):
    """A frame-time capture could not be read."""

    exit_code = ExitCode.UNREADABLE


class ColumnChoiceError(CaptureError):
    """Several columns of a table could be frame times: the user has to choose.

    Attributes:
        columns: Their names.
    """

    def __init__(self, message: str, columns: tuple[str, ...]) -> None:
        super().__init__(message)
        self.columns = columns


class SumsError(CaptureError):
    """A file has the sums of zones without instants, so there is nothing to show over time."""


class RecordingError(InspectorError):
    """A recording cannot be opened or read."""

    exit_code = ExitCode.UNREADABLE


class RecordingWriteError(RecordingError):
    """A recording cannot be written."""

    exit_code = ExitCode.FAILED


class ExportError(InspectorError):
    """A graph or its data could not be written."""


class CommandError(InspectorError):
    """A command was refused; the message says why."""


class AttachError(InspectorError):
    """A program could not be started, entered or reached."""

    exit_code = ExitCode.NOT_ATTACHED


class ProgramStartError(AttachError):
    """A program could not be started: it was not found, or may not be executed."""

    def __init__(self, message: str, exit_code: ExitCode) -> None:
        super().__init__(message)
        self.exit_code = exit_code
