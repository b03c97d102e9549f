"""The probe inside the program that is inspected, where it is imported as ``timeline_probe``.

It needs the standard library of Python 3.9 or newer and nothing else, and imports nothing of the
inspector outside of this folder. A program may call :func:`serve` to be found by an inspector,
:func:`frame` once per turn of its loop and :func:`mark` to mark an instant; launched by an
inspector, it need not do anything.
"""

from __future__ import annotations

from .marking import frame, mark

# Only type checkers import ``typing``: that takes as long as importing the probe.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .starting import Server, serve, start

__all__ = ["Server", "frame", "mark", "serve", "start"]


def __getattr__(name: str) -> object:
    """Import what starts the probe only when needed: that takes longer than everything else."""
    if name in ("Server", "serve", "start"):
        from . import starting  # noqa: PLC0415

        found: object = getattr(starting, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
