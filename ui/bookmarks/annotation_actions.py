"""The actions that leave something in the session, and those that go where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMainWindow, QWidget

from inspector.timebase import format_instant

if TYPE_CHECKING:
    from ..actions.actions import ActionSet
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_MESSAGE_MS: Final = 5_000


class AnnotationActions(QObject):
    """Leaves bookmarks, notes and named ranges, asking for words where they are needed.

    Signals:
        refused: Something was not done; why, as a sentence.
    """

    refused = Signal(str)

    def __init__(
        self, bridge: SessionBridge, actions: ActionSet, theme: Theme, parent: QObject | None
    ) -> None:
        """Bind the actions.

        Args:
            bridge: Knows the session and what was left in it.
            actions: All actions of the window.
            theme: Where the colours of prompts come from.
            parent: Owner; a window says what was done, and prompts belong to it.
        """
        super().__init__(parent)
        self._bridge = bridge
        self._desk = desk = bridge.annotations
        self._theme = theme
        self._window = parent if isinstance(parent, QWidget) else None
        actions.bind(self)
        desk.refused.connect(self.refused)
        desk.done.connect(self._say)
        desk.note_wanted.connect(self._ask_for_note_at)
        desk.range_wanted.connect(self._ask_for_name_of)

    # ---------------------------------------------------------------- leaving something

    def add_bookmark(self) -> None:
        """Leave a bookmark at the instant that is shown."""
        self._desk.add_bookmark(self._bridge.shown_ns)

    def ask_for_note(self) -> None:
        """Ask for the text of a note at the instant that is shown."""
        self._ask_for_note_at(self._bridge.shown_ns)

    def ask_for_range_name(self) -> None:
        """Ask for the name of what is measured, chosen or in view."""
        self._desk.ask_for_name_of_range()

    @Slot(object)
    def _ask_for_note_at(self, at_ns: int) -> None:
        from .annotation_prompts import NotePrompt  # noqa: PLC0415 - rarely needed

        NotePrompt(at_ns, self._desk.add, self._theme, self._window).open()

    @Slot(object)
    def _ask_for_name_of(self, span_ns: tuple[int, int]) -> None:
        from .annotation_prompts import RangePrompt  # noqa: PLC0415 - rarely needed

        RangePrompt(span_ns, self._desk.add, self._theme, self._window).open()

    # ---------------------------------------------------------------- going there

    def look_bookmark_back(self) -> None:
        """Show the state at what was left before the instant that is shown."""
        self._look(-1)

    def look_bookmark_on(self) -> None:
        """Show the state at what was left next after the instant that is shown."""
        self._look(1)

    def _look(self, direction: int) -> None:
        found = self._desk.neighbour(self._bridge.shown_ns, direction)
        if found is None:
            where = "after" if direction > 0 else "before"
            at = format_instant(self._bridge.shown_ns)
            self.refused.emit(f"There is no bookmark, note or range {where} {at}.")
            return
        self._bridge.set_playhead(found.at_ns)
        self._desk.picked.emit(found.id)

    @Slot(str)
    def _say(self, text: str) -> None:
        if isinstance(self._window, QMainWindow):
            self._window.statusBar().showMessage(text, _MESSAGE_MS)
