"""The interventions that would be undone or redone next."""

from __future__ import annotations

from msgspec import Struct

from inspector.commands.command import Undoing, command_in
from inspector.commands.scene import Undo, undone
from inspector.display_text import without_quotes
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session


class Undoable(Struct, frozen=True):
    number: int  # The command to undo: the one that made the change last, or that undid it
    text: str  # What the change was

    @property
    def undo(self) -> Undo:
        return Undo(self.number)


class UndoSteps:
    """Finds the change to undo next, and the one to do again.

    Undoing again and again goes back one change at a time, and not to and fro; doing again
    goes the same way forward, until something else is changed.
    """

    def __init__(self) -> None:
        self._seen: tuple[object, ...] = ()
        self._found: tuple[Undoable | None, Undoable | None] = None, None

    def find(
        self, session: Session | None, timeline: Timeline
    ) -> tuple[Undoable | None, Undoable | None]:
        """Return the changes to undo and to redo next; searches only after another command."""
        undoing = None if session is None else session.undoing
        if undoing is None or not undoing.newest:
            return None, None
        seen = (session, timeline, len(timeline.commands), undoing.newest)
        if seen != self._seen:
            self._seen, self._found = seen, _steps(undoing, timeline)
        return self._found


def _steps(undoing: Undoing, timeline: Timeline) -> tuple[Undoable | None, Undoable | None]:
    to_undo: Undoable | None = None
    to_redo: Undoable | None = None
    is_changed = False
    for record in reversed(timeline.commands):
        if undoing.of(record.number) is None:
            continue
        command = command_in(record.form)
        is_undo = isinstance(command, Undo)
        change, is_redo = undone(timeline, command) if isinstance(command, Undo) else (record, True)
        found = None if change is None else Undoable(record.number, without_quotes(change.text))
        if is_redo:
            to_undo = to_undo or found
            is_changed |= not is_undo
        elif not is_changed:
            to_redo = to_redo or found
        if to_undo is not None and (to_redo is not None or is_changed):
            break
    return to_undo, to_redo
