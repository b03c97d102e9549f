"""Prompts for annotations: the text of a note, the name of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.events.annotations import Annotation
from inspector.timebase import format_duration, format_instant

from ..kit.prompts import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from ..kit.theme import Theme

    #: Keeps an annotation; returns the reason of a refusal, otherwise an empty text.
    Keep = Callable[[Annotation], str]


class NotePrompt(Prompt):
    """Prompts for the text of a note."""

    def __init__(self, at_ns: int, keep: Keep, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            "Add a note",
            f"Note at {format_instant(at_ns)}",
            self._take,
            theme,
            parent,
        )
        self._at_ns = at_ns
        self._keep = keep

    def _take(self, text: str) -> None:
        """Keep the note.

        Raises:
            ValueError: It is refused; the message says why.
        """
        if reason := self._keep(Annotation("note", self._at_ns, text=text)):
            raise ValueError(reason)


class RangePrompt(Prompt):
    """Prompts for the name of a range of session time."""

    def __init__(
        self, span_ns: tuple[int, int], keep: Keep, theme: Theme, parent: QWidget | None = None
    ) -> None:
        begins, ends = map(format_instant, span_ns)
        long = format_duration(span_ns[1] - span_ns[0])
        super().__init__(
            "Name a range",
            f"Name for {begins} to {ends} ({long})",
            self._take,
            theme,
            parent,
        )
        self._span_ns = span_ns
        self._keep = keep
        self.line.setPlaceholderText("boss fight")

    def _take(self, text: str) -> None:
        """Keep the range.

        Raises:
            ValueError: It is refused; the message says why.
        """
        low_ns, high_ns = self._span_ns
        if reason := self._keep(Annotation("range", low_ns, high_ns, text)):
            raise ValueError(reason)
