"""The actions that add annotations to the session, and those that go to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from inspector.events.annotations import Annotation
from inspector.timebase import format_duration, format_instant

from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..kit.prompts import Prompt
from ..kit.theme import Theme
from ..session.bridge import SessionBridge


class AnnotationActions(QObject):
    """Adds bookmarks, notes and named ranges, with prompts for names and texts."""

    refused = Signal(str)  # Something was refused; the reason, as a sentence
    said = Signal(str)  # What was done

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QObject | None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._annotations = annotations = bridge.annotations
        self._theme = theme
        self._window = parent if isinstance(parent, QWidget) else None
        annotations.refused.connect(self.refused)
        annotations.done.connect(self.said)
        annotations.note_wanted.connect(self._ask_for_note_at)
        annotations.range_wanted.connect(self._ask_for_name_of)

    def add_bookmark(self) -> None:
        self._annotations.add_bookmark(self._bridge.shown_ns)

    def ask_for_note(self) -> None:
        self._ask_for_note_at(self._bridge.shown_ns)

    def ask_for_range_name(self) -> None:
        self._annotations.ask_for_name_of_range()

    @Slot(object)
    def _ask_for_note_at(self, at_ns: int) -> None:
        question = f"Note at {format_instant(at_ns)}"
        self._ask("Add a note", question, lambda text: Annotation("note", at_ns, text=text))

    @Slot(object)
    def _ask_for_name_of(self, span_ns: tuple[int, int]) -> None:
        low_ns, high_ns = span_ns
        span = f"{format_instant(low_ns)} to {format_instant(high_ns)}"
        question = f"Name for {span} ({format_duration(high_ns - low_ns)})"
        self._ask(
            "Name a range",
            question,
            lambda name: Annotation("range", low_ns, high_ns, name),
            hint="boss fight",
        )

    def _ask(
        self, title: str, question: str, made: Callable[[str], Annotation], hint: str = ""
    ) -> None:
        def keep(text: str) -> None:
            if reason := self._annotations.add(made(text)):
                raise ValueError(reason)

        Prompt(title, question, keep, self._theme, self._window, hint=hint).open()

    def show_previous_bookmark(self) -> None:
        self._show_neighbour(-1)

    def show_next_bookmark(self) -> None:
        self._show_neighbour(1)

    def _show_neighbour(self, direction: int) -> None:
        found = self._annotations.neighbour(self._bridge.shown_ns, direction)
        if found is None:
            where = "after" if direction > 0 else "before"
            at = format_instant(self._bridge.shown_ns)
            self.refused.emit(f"There is no bookmark, note or range {where} {at}.")
            return
        self._bridge.set_playhead(found.at_ns)
        self._annotations.picked.emit(found.id)


ANNOTATION_ACTIONS: Final = (
    ActionDescription(
        "bookmark", "Bookmark &here", MenuId.TIME, AnnotationActions.add_bookmark,
        shortcuts=("B",), needs=Needs.PAST, starts_section=True,
        tip="Add a bookmark at the playhead, or at the present; recordings keep it.",
    ),
    ActionDescription(
        "note", "Not&e here …", MenuId.TIME, AnnotationActions.ask_for_note,
        shortcuts=("Shift+B",), needs=Needs.PAST,
        tip="Add a note to the instant that is shown.",
    ),
    ActionDescription(
        "name-range", "Name the ran&ge …", MenuId.TIME, AnnotationActions.ask_for_range_name,
        shortcuts=("Ctrl+B",), needs=Needs.PAST,
        tip="Name the range that is measured in the timeline, or selected or in view in the frame "
        "times.",
    ),
    ActionDescription(
        "look-bookmark-back", "&Previous bookmark", MenuId.LOOK_BACK,
        AnnotationActions.show_previous_bookmark,
        shortcuts=("Alt+PgUp",), needs=Needs.PAST, starts_section=True,
        tip="Show the state at the previous bookmark, note or range.",
    ),
    ActionDescription(
        "look-bookmark-on", "&Next bookmark", MenuId.LOOK_BACK,
        AnnotationActions.show_next_bookmark,
        shortcuts=("Alt+PgDown",), needs=Needs.PAST,
        tip="Show the state at the next bookmark, note or range.",
    ),
)  # fmt: skip
