"""Bookmarks, notes and named ranges of a session."""

from __future__ import annotations

import unicodedata
from typing import Final, TypeAlias

from msgspec import Struct, structs

from inspector.errors import InspectorError
from inspector.timebase import MAX_NS, format_instant

KINDS: Final = ("note", "bookmark", "range")
#: Limits of names and texts, in characters.
LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 10_000
#: Invisible categories of characters, which control a terminal or a layout.
_UNSEEN: Final = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Directional controls, which also affect the text after the name.
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class AnnotationError(InspectorError):
    """An annotation is invalid; the message says why, in a sentence."""


class Annotation(Struct, frozen=True):
    """A bookmark, note or named range."""

    kind: str  # "note", "bookmark" or "range"
    at_ns: int  # Session time; the start of a range
    end_ns: int | None = None  # End of a range, otherwise None
    name: str = ""
    text: str = ""
    id: int = 0  # Its number in the session or file, 0 before it has one
    created: str = ""  # Time of day of its creation, ISO 8601

    def __post_init__(self) -> None:
        """Check what must hold for annotations read from files, too."""
        if self.kind not in KINDS:
            raise AnnotationError(f"“{self.kind}” is not one of {', '.join(KINDS)}.")
        if (self.kind == "range") != (self.end_ns is not None):
            raise AnnotationError("A range has an end; bookmarks and notes have none.")
        if self.end_ns is not None and self.end_ns < self.at_ns:
            ends, begins = format_instant(self.end_ns), format_instant(self.at_ns)
            raise AnnotationError(f"A range ends after it begins, not at {ends} before {begins}.")

    @property
    def last_ns(self) -> int:
        """The end of a range, otherwise the instant."""
        return self.at_ns if self.end_ns is None else self.end_ns

    @property
    def title(self) -> str:
        """A title in one line: its name, or the first line of its text."""
        said = self.said
        return _line(self.name) or (said[0] if said else f"unnamed {self.kind}")

    @property
    def said(self) -> tuple[str, ...]:
        """The lines of its text, without invisible characters."""
        return tuple(_lines(self.text).splitlines())

    @property
    def line(self) -> str:
        when = format_instant(self.at_ns)
        if self.end_ns is not None:
            when = f"{when} to {format_instant(self.end_ns)}"
        return f"{when}  {self.kind}: {self.title}"


#: An annotation as it is now, or the number of a deleted one.
AnnotationChange: TypeAlias = Annotation | int


def checked(annotation: Annotation) -> Annotation:
    """Return the annotation without invisible characters.

    Raises:
        AnnotationError: It is invalid; the message says why.
    """
    name, text = _line(annotation.name), _lines(annotation.text)
    kind = annotation.kind
    if annotation.at_ns < 0:
        at = format_instant(annotation.at_ns)
        raise AnnotationError(f"A session begins at {format_instant(0)}: {at} is before that.")
    if annotation.end_ns == annotation.at_ns:
        raise AnnotationError("The range is empty: make it a bookmark, or end it later.")
    if annotation.last_ns >= MAX_NS:
        raise AnnotationError("A session lasts at most 146 years.")
    if not name and not (kind == "note" and text):
        wanted = "a text" if kind == "note" else "a name"
        raise AnnotationError(f"The {kind} is empty: give it {wanted}.")
    for what, said, most in (("name", name, LONGEST_NAME), ("text", text, LONGEST_TEXT)):
        if len(said) > most:
            raise AnnotationError(
                f"The {what} has {len(said):,} characters; at most {most:,} are allowed. "
                "Shorten it."
            )
    return structs.replace(annotation, name=name, text=text)


def _line(text: str) -> str:
    return " ".join(_lines(text).split())


def _lines(text: str) -> str:
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(each if _can_be_seen(each) else " " for each in unified).strip()


def _can_be_seen(character: str) -> bool:
    if character == "\n":
        return True
    return unicodedata.category(character) not in _UNSEEN and character not in _TURNING
