"""Where the engine sends its events: one optional sink it knows nothing about."""

from typing import Protocol

from inspector.vocabulary import RawEvent


class Sink(Protocol):
    """Takes events. With no sink, an event costs the engine one attribute test."""

    def append(self, event: RawEvent, /) -> None:
        """Take one event; called very often, so it must not do more than that."""

    def intern(self, text: str, /) -> int:
        """Return the number of ``text`` in the string table, adding it if new."""
