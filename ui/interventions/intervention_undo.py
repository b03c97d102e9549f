"""Which intervention would be undone next, and what that is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.commands.command import command_in
from inspector.commands.scene import Undo
from inspector.display_text import one_line

from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId

if TYPE_CHECKING:
    from inspector.events.states import CommandRecord
    from inspector.events.timeline import Timeline
    from inspector.sessions.session import Session

    from ..actions.actions import ActionSet
    from ..session.bridge import SessionBridge

#: More of a command than this is not said in a menu.
_LONGEST_TEXT: Final = 48


class LastUndoable:
    """Finds the last command that can be undone and does not itself undo another.

    So undoing again and again goes back one change at a time, and not to and fro.
    """

    def __init__(self) -> None:
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


class UndoActions:
    """Carries out the action that undoes the last command, and names in it which that is."""

    def __init__(self, bridge: SessionBridge, actions: ActionSet) -> None:
        self._bridge = bridge
        self._action = actions["undo"]
        self._last_undoable = LastUndoable()
        self._undoable: CommandRecord | None = None

    def refresh(self) -> bool:
        """Look what would be undone now; return whether there is anything."""
        self._undoable = self._last_undoable.find(self._bridge.session, self._bridge.timeline)
        self._action.show_text(undo_text(self._undoable) or self._action.description.title)
        return self._undoable is not None

    def undo_last(self) -> None:
        """Undo the last change that can be undone."""
        if self._undoable is not None:
            self._bridge.submit(Undo(self._undoable.number))


UNDO_ACTIONS: Final = (
    ActionDescription(
        "undo", "&Undo last intervention", MenuId.TIME, UndoActions.undo_last,
        shortcuts=("Ctrl+Z",), needs=Needs.UNDO, starts_section=True,
        tip="Undo the last command that can be undone; repeat to undo earlier ones.",
    ),
)  # fmt: skip
