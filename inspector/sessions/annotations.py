"""The bookmarks, notes and named ranges of a session: added, changed, removed, undone.

They describe the session and change nothing in it, so they are neither commands nor events: the
scene and its digest are the same with and without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import structs
from typing_extensions import override

from inspector.events.annotations import Annotation, AnnotationChange, AnnotationError, checked

#: Most annotations of a session; more would be of no use.
MOST: Final = 10_000
_MOST_UNDONE: Final = 200

#: Stores changes elsewhere, such as in a file, all or none; returns their numbers there, or raises
#: to refuse them.
Keep = Callable[[Sequence[AnnotationChange]], list[int]]


class Annotations:
    """The annotations of a session, the earliest first; for the session's thread.

    A change that :attr:`keep` refuses raises a ``RecordingError``, and changes nothing.
    """

    def __init__(
        self,
        found: Iterable[Annotation] = (),
        keep: Keep | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.keep = keep  # Stores each change elsewhere before it is made here; may be None
        self.version = 0
        self._now = now
        self._by_number = {each.id: each for each in found}
        self._next = max(self._by_number, default=0) + 1
        self._sorted: list[Annotation] | None = None
        self._inverse: list[tuple[AnnotationChange, ...]] = []

    @override
    def __repr__(self) -> str:
        return f"<Annotations {len(self)}>"

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[Annotation]:
        if self._sorted is None:
            self._sorted = sorted(self._by_number.values(), key=lambda each: (each.at_ns, each.id))
        return iter(self._sorted)

    def get(self, number: int) -> Annotation | None:
        return self._by_number.get(number)

    def within(self, first_ns: int, last_ns: int | None = None) -> list[Annotation]:
        """Return the annotations that overlap a span of time; ``None`` for no end."""
        return [
            each
            for each in self
            if each.last_ns >= first_ns and (last_ns is None or each.at_ns <= last_ns)
        ]

    def add(self, annotation: Annotation) -> Annotation:
        """Add an annotation without its invisible characters; returns it with its number."""
        if len(self) >= MOST:
            raise AnnotationError(f"There are {MOST:,} annotations already. Remove some first.")
        created = annotation.created or self._now().isoformat(timespec="seconds")
        added = checked(structs.replace(annotation, id=0, created=created))
        (number,) = self._kept(structs.replace(added, id=self._next))
        added = structs.replace(added, id=number)
        self._put(added)
        self._remember(number)
        return added

    def change(self, annotation: Annotation) -> Annotation:
        """Replace the annotation with the same number; returns the new one."""
        former = self._known(annotation.id)
        changed = checked(structs.replace(annotation, created=former.created))
        if changed != former:
            self._kept(changed)
            self._put(changed)
            self._remember(former)
        return changed

    def remove(self, *numbers: int) -> list[Annotation]:
        """Remove annotations, all or none; returns them."""
        numbers = tuple(dict.fromkeys(numbers))
        former = [self._known(number) for number in numbers]
        if former:
            self._kept(*numbers)
            for number in numbers:
                self._drop(number)
            self._remember(*former)
        return former

    @property
    def can_undo(self) -> bool:
        return bool(self._inverse)

    def undo(self) -> str:
        """Undo the last change that was not undone; returns a sentence on the effect."""
        if not self._inverse:
            raise AnnotationError("There is no change of a bookmark, note or range to undo.")
        changes = self._inverse[-1]
        self._kept(*changes)
        self._inverse.pop()
        titles = []
        for change in changes:
            if isinstance(change, Annotation):
                self._put(change)
                titles.append(f"“{change.title}” was restored.")
            else:
                titles.append(f"“{self._drop(change).title}” was removed again.")
        return titles[0] if len(titles) == 1 else f"{len(titles):,} annotations were restored."

    def clear(self) -> None:
        """Forget all annotations, because another run of the scene begins at time 0."""
        if self._by_number or self._inverse:
            self._by_number.clear()
            self._inverse.clear()
            self._changed()

    def _known(self, number: int) -> Annotation:
        found = self._by_number.get(number)
        if found is None:
            raise AnnotationError(f"Annotation {number} no longer exists.")
        return found

    def _kept(self, *changes: AnnotationChange) -> list[int]:
        """Store changes with :attr:`keep`; returns their numbers."""
        if self.keep is not None:
            return self.keep(changes)
        return [each.id if isinstance(each, Annotation) else each for each in changes]

    def _put(self, annotation: Annotation) -> None:
        self._by_number[annotation.id] = annotation
        self._next = max(self._next, annotation.id + 1)
        self._changed()

    def _drop(self, number: int) -> Annotation:
        former = self._by_number.pop(number)
        self._changed()
        return former

    def _changed(self) -> None:
        self._sorted = None
        self.version += 1

    def _remember(self, *inverse: AnnotationChange) -> None:
        self._inverse.append(inverse)
        del self._inverse[:-_MOST_UNDONE]
