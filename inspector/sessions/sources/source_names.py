"""What time sources are called: in recordings, and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from inspector.clocks.sources.time_source import TimeSource

_VIRTUAL: Final = frozenset({"manual", "virtual"})
_REAL: Final = frozenset({"asyncio", "qt", "system"})


def source_name(source: TimeSource) -> str:
    """Return what recordings call a time source: ``qt``, ``system``, ``virtual``."""
    return type(source).__name__.removesuffix("TimeSource").lower()


def source_text(name: str) -> str:
    """Return whether a time source gives real or virtual time; its name if that is not known.

    Args:
        name: What :func:`source_name` returned.
    """
    if name in _VIRTUAL:
        return "virtual time"
    return "real time" if name in _REAL else name
