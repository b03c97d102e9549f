"""Where in the user's program something was done."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place in the user's program.

    Attributes:
        text: ``file:line in function``.
        sid: The sink's number for the text.
    """

    text: str
    sid: int
