"""Undo and redo of the last intervention: the actions, and what they are called."""

from __future__ import annotations

from typing import Final

from inspector.display_text import one_line

from ..actions.actions import ActionSet
from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..selected.undo_steps import Undoable, UndoSteps
from ..session.bridge import SessionBridge

#: Characters of a command at which its text in a menu is cut.
_LONGEST_TEXT: Final = 48


def step_text(verb: str, step: Undoable | None) -> str:
    """Return the menu text of a step, empty for none; ``verb`` contains the access key."""
    if step is None:
        return ""
    text = one_line(step.text)
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT - 1].rstrip()}…"
    # An ampersand in a name must not become an access key.
    return f"{verb}: {text.replace('&', '&&')}"


class UndoActions:
    def __init__(self, bridge: SessionBridge, actions: ActionSet) -> None:
        self._bridge = bridge
        self._undo, self._redo = actions["undo"], actions["redo"]
        self._steps = UndoSteps()
        self._found: tuple[Undoable | None, Undoable | None] = None, None

    def refresh(self) -> tuple[bool, bool]:
        """Find what would be undone or redone now; return whether there is either."""
        self._found = self._steps.find(self._bridge.session, self._bridge.timeline)
        to_undo, to_redo = self._found
        self._undo.set_text(step_text("&Undo", to_undo) or self._undo.description.title)
        self._redo.set_text(step_text("Redo", to_redo) or self._redo.description.title)
        return to_undo is not None, to_redo is not None

    def undo_last(self) -> None:
        self._submit(self._found[0])

    def redo_last(self) -> None:
        self._submit(self._found[1])

    def _submit(self, step: Undoable | None) -> None:
        if step is not None:
            self._bridge.submit(step.undo)


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
