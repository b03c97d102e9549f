"""Which intervention would be undone next, and what that is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.commands.command import command_in
from inspector.commands.undoing import Undo
from inspector.display_text import one_line

if TYPE_CHECKING:
    from inspector.events.states import CommandRecord
    from inspector.events.timeline import Timeline
    from inspector.sessions.session import Session

#: More of a command than this is not said in a menu.
_LONGEST_TEXT: Final = 48


class LastUndoable:
    """Finds the last command that can be undone and does not itself undo another.

    So undoing again and again goes back one change at a time, and not to and fro.
    """

    def __init__(self) -> None:
        """Know of no command yet."""
        self._seen: tuple[object, ...] = ()
        self._found: CommandRecord | None = None

    def find(self, session: Session | None, timeline: Timeline) -> CommandRecord | None:
        """Return the command, ``None`` for none; costs something after a command only."""
        undoing = None if session is None else session.undoing
        if undoing is None or not undoing.newest:
            return None
        seen = (session, timeline, len(timeline.commands), undoing.newest)
        if seen != self._seen:
            self._seen = seen
            self._found = next(
                (
                    record
                    for record in reversed(timeline.commands)
                    if undoing.of(record.number) is not None
                    and not isinstance(command_in(record.form), Undo)
                ),
                None,
            )
        return self._found


def undo_text(record: CommandRecord | None) -> str:
    """Return what undoing a command is called in a menu, empty for no command."""
    if record is None:
        return ""
    text = one_line(record.text)
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT - 1].rstrip()}…"
    # An ampersand in a name must not become an access key.
    return f"&Undo: {text.replace('&', '&&')}"
