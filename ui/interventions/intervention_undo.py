"""Which intervention would be undone or redone next, and what that is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from inspector.commands.command import command_in
from inspector.commands.scene import Undo, undone
from inspector.display_text import one_line

from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId

if TYPE_CHECKING:
    from inspector.commands.command import Undoing
    from inspector.events.timeline import Timeline
    from inspector.sessions.session import Session

    from ..actions.actions import ActionSet
    from ..session.bridge import SessionBridge

#: More of a command than this is not said in a menu.
_LONGEST_TEXT: Final = 48


class Undoable(Struct, frozen=True):
    """A change that can be undone, or done again.

    Attributes:
        number: The command to undo: the one that made the change last, or that undid it.
        text: What the change was.
    """

    number: int
    text: str


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
        """Return what is undone next and what is done again; costs something after a command."""
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
        found = None if change is None else Undoable(record.number, change.text)
        if is_redo:
            to_undo = to_undo or found
            is_changed |= not is_undo
        elif not is_changed:
            to_redo = to_redo or found
        if to_undo is not None and (to_redo is not None or is_changed):
            break
    return to_undo, to_redo


def step_text(verb: str, step: Undoable | None) -> str:
    """Return what undoing or redoing a change is called in a menu, empty for none.

    Args:
        verb: With its access key: ``&Undo``.
        step: The change.
    """
    if step is None:
        return ""
    text = one_line(step.text)
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT - 1].rstrip()}…"
    # An ampersand in a name must not become an access key.
    return f"{verb}: {text.replace('&', '&&')}"


class UndoActions:
    """Carries out the actions that undo and redo, and names in them which change that is."""

    def __init__(self, bridge: SessionBridge, actions: ActionSet) -> None:
        self._bridge = bridge
        self._undo, self._redo = actions["undo"], actions["redo"]
        self._steps = UndoSteps()
        self._found: tuple[Undoable | None, Undoable | None] = None, None

    def refresh(self) -> tuple[bool, bool]:
        """Look what would be undone or redone now; return whether there is anything of either."""
        self._found = self._steps.find(self._bridge.session, self._bridge.timeline)
        to_undo, to_redo = self._found
        self._undo.show_text(step_text("&Undo", to_undo) or self._undo.description.title)
        self._redo.show_text(step_text("Redo", to_redo) or self._redo.description.title)
        return to_undo is not None, to_redo is not None

    def undo_last(self) -> None:
        """Undo the last change that can be undone."""
        self._take(self._found[0])

    def redo_last(self) -> None:
        """Redo the change that was undone last."""
        self._take(self._found[1])

    def _take(self, step: Undoable | None) -> None:
        if step is not None:
            self._bridge.submit(Undo(step.number))


UNDO_ACTIONS: Final = (
    ActionDescription(
        "undo", "&Undo last intervention", MenuId.TIME, UndoActions.undo_last,
        shortcuts=("Ctrl+Z",), needs=Needs.UNDO, starts_section=True,
        tip="Undo the last command that can be undone; repeat to undo earlier ones.",
    ),
    ActionDescription(
        "redo", "Redo last intervention", MenuId.TIME, UndoActions.redo_last,
        shortcuts=("Ctrl+Shift+Z", "Ctrl+Y"), needs=Needs.REDO,
        tip="Redo the change that was undone last.",
    ),
)  # fmt: skip
