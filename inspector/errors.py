"""The expected failures, each reaching the user as one sentence with a next step.

Programmer errors are not here: those raise ``ValueError`` or ``TypeError`` at
once. An :class:`InspectorError` is something a careful user can run into (a file
that is not there, a scene that does not build), so its message says what
happened, where, and what to do.
"""


class InspectorError(Exception):
    """An expected failure whose message can be shown to the user as it is."""


class SceneError(InspectorError):
    """A scene file could not be read, imported or built."""


class CaptureError(InspectorError):
    """A frame-time capture could not be read."""


class ExportError(InspectorError):
    """A graph or its data could not be written."""


class CommandError(InspectorError):
    """A command was refused; the message says why."""
