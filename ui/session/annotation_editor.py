"""Edits bookmarks, notes and named ranges: one place for all panels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from weakref import WeakMethod

from PySide6.QtCore import QObject, Signal, Slot

from inspector.errors import InspectorError
from inspector.events.annotations import Annotation
from inspector.sessions.annotations import Annotations
from inspector.sessions.session import Session
from inspector.timebase import format_instant

if TYPE_CHECKING:
    #: Returns the stretch of session time that is chosen, ``None`` if there is none.
    RangeSource = Callable[[], tuple[int, int] | None]

_NUMBERED: Final = re.compile(r"Bookmark (\d{1,6})")
_NO_RANGE: Final = (
    "No range is selected: drag with Shift in the timeline, or with Ctrl in the frame times."
)


class AnnotationEditor(QObject):
    """Adds, changes and removes the annotations of the session that is shown.

    What is refused is reported by a signal and changes nothing.
    """

    changed = Signal()  # Annotations were added, changed or removed
    picked = Signal(int)  # One of them was added, or gone to; its number
    done = Signal(str)  # Something was added, removed or put back; what, as a sentence
    refused = Signal(str)  # Something was not done; why, as a sentence
    note_wanted = Signal(object)  # int: a note is wanted at an instant: ask for its text
    range_wanted = Signal(object)  # tuple[int, int]: a stretch should be named: ask for its name
    # Plots should bring a stretch into view, in session nanoseconds
    span_wanted = Signal(object)  # tuple[int, int]

    def __init__(self, parent: QObject | None) -> None:
        super().__init__(parent)
        self._range_sources: list[tuple[int, WeakMethod[RangeSource]]] = []
        self._annotations: Annotations | None = None
        self._version = 0
        # All annotations, the earliest first; the same object while nothing changes
        self.items: tuple[Annotation, ...] = ()

    def use(self, session: Session | None) -> None:
        found = None if session is None else session.annotations
        if found is not self._annotations or (found is not None and found.version != self._version):
            self._annotations = found
            self._read_items()

    @property
    def can_undo(self) -> bool:
        return self._annotations is not None and self._annotations.can_undo

    def add_bookmark(self, at_ns: int) -> bool:
        """Add a bookmark with a name of its own; returns whether there was none at this instant."""
        there = next((e for e in self.items if e.kind == "bookmark" and e.at_ns == at_ns), None)
        if there is not None:
            self.picked.emit(there.id)
            at = format_instant(at_ns)
            self.refused.emit(f"There is already a bookmark at {at}: “{there.title}”.")
            return False
        numbers = (_NUMBERED.fullmatch(each.name) for each in self.items)
        last = max((int(match[1]) for match in numbers if match), default=0)
        return not self.add(Annotation("bookmark", at_ns, name=f"Bookmark {last + 1}"))

    def add(self, annotation: Annotation) -> str:
        """Add one; returns why that is refused, an empty text if it is not."""
        annotations = self._annotations
        if annotations is None:
            return self._refuse("No scene is open.")
        try:
            added = annotations.add(annotation)
        except InspectorError as error:
            return self._refuse(str(error))
        self._read_items()
        self.picked.emit(added.id)
        self.done.emit(f"{added.kind.capitalize()} at {format_instant(added.at_ns)}: {added.title}")
        return ""

    def change(self, annotation: Annotation) -> bool:
        """Put one in the place of that with its number; returns whether that was possible."""
        annotations = self._annotations
        if annotations is None:
            return False
        try:
            annotations.change(annotation)
        except InspectorError as error:
            self.refused.emit(str(error))
            return False
        self._read_items()
        return True

    def remove(self, numbers: Iterable[int]) -> None:
        if self._annotations is None:
            return
        try:
            removed = self._annotations.remove(*numbers)
        except InspectorError as error:
            self.refused.emit(str(error))
            return
        self._read_items()
        if len(removed) == 1:
            self.done.emit(f"“{removed[0].title}” was removed.")
        elif removed:
            self.done.emit(f"{len(removed):,} annotations were removed.")

    def undo(self) -> None:
        if self._annotations is None:
            return
        try:
            said = self._annotations.undo()
        except InspectorError as error:
            self.refused.emit(str(error))
            return
        self._read_items()
        self.done.emit(said)

    def get(self, number: int) -> Annotation | None:
        return None if self._annotations is None else self._annotations.get(number)

    def neighbour(self, at_ns: int, direction: int) -> Annotation | None:
        """Return the next one after an instant, or the last before it for -1."""
        if direction > 0:
            return next((each for each in self.items if each.at_ns > at_ns), None)
        return next((each for each in reversed(self.items) if each.at_ns < at_ns), None)

    def range_at_hand(self) -> tuple[int, int] | None:
        """Return the stretch that was measured or chosen, or is in view."""
        for _, weak in sorted(self._range_sources, key=itemgetter(0)):
            source = weak()
            found = None if source is None else source()
            if found is not None and found[0] < found[1]:
                return found
        return None

    def ask_for_ranges(self, source: RangeSource, rank: int) -> None:
        """Also ask a panel, as long as it exists, for the stretch to name.

        Panels of a lower rank are asked first.
        """
        self._range_sources.append((rank, WeakMethod(source)))

    @Slot()
    def ask_for_name_of_range(self) -> None:
        span_ns = self.range_at_hand()
        if span_ns is None:
            self.refused.emit(_NO_RANGE)
        else:
            self.range_wanted.emit(span_ns)

    def _read_items(self) -> None:
        annotations = self._annotations
        self._version = 0 if annotations is None else annotations.version
        items = () if annotations is None else tuple(annotations)
        if items != self.items:
            self.items = items
            self.changed.emit()

    def _refuse(self, reason: str) -> str:
        self.refused.emit(reason)
        return reason
