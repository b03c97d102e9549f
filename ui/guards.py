"""What the window asks models and painters for, guarded: a fault shows "?" and goes on.

Qt asks in the midst of its own work, and an exception cannot get through that: it floods
the log, and what a painter leaves behind half done ends the process. So whatever overrides
one of Qt's questions stands in a class that is :func:`guarded`.
"""

from __future__ import annotations

import functools
import logging
import traceback
from typing import TYPE_CHECKING, Any, Final, TypeVar

from PySide6.QtCore import QModelIndex, QSize, Qt

from inspector.display_text import as_plain

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

_ClassT = TypeVar("_ClassT", bound=type)

_DISPLAY: Final = int(Qt.ItemDataRole.DisplayRole)
_TOOL_TIP: Final = int(Qt.ItemDataRole.ToolTipRole)
#: What stands where a value could not be worked out.
UNKNOWN: Final = "?"

#: The questions that answer with a value for a role.
_ASKED_BY_ROLE: Final = ("data", "headerData")
#: The other questions, and what is answered instead.
_ANSWERS: Final[dict[str, Callable[[], object]]] = {
    "rowCount": int,
    "columnCount": int,
    "index": QModelIndex,
    "parent": QModelIndex,
    "flags": lambda: Qt.ItemFlag.NoItemFlags,
    "paint": lambda: None,
    "paintEvent": lambda: None,
    "initStyleOption": lambda: None,
    "initStyleOptionForIndex": lambda: None,
    "sizeHint": QSize,
    "createEditor": lambda: None,
    "setEditorData": lambda: None,
}
GUARDED_NAMES: Final = frozenset({*_ASKED_BY_ROLE, *_ANSWERS})

#: Where something went wrong: class, method, and the line it came from.
faults: set[tuple[str, str, str]] = set()


def guarded(cls: _ClassT) -> _ClassT:
    """Guard what a class answers to Qt; for models, delegates, widgets and items that paint."""
    for name in GUARDED_NAMES & cls.__dict__.keys():
        method = cls.__dict__[name]
        if name in _ASKED_BY_ROLE:
            setattr(cls, name, _guarded_value(cls.__name__, method))
        elif callable(method):
            setattr(cls, name, _guarded_answer(cls.__name__, method, _ANSWERS[name]))
    return cls


def is_guarded(method: object) -> bool:
    """Return whether a method is guarded."""
    return hasattr(method, "is_guarded")


def _guarded_value(owner: str, method: Callable[..., object]) -> Callable[..., object]:
    """Guard a method whose last argument is a role; texts of tool tips are shown as they are."""

    @functools.wraps(method)
    def answer(self: object, *where: Any) -> object:  # noqa: ANN401 - as Qt asks
        role = where[-1] if len(where) > 1 else _DISPLAY
        try:
            value = method(self, *where)
        except Exception as error:  # noqa: BLE001 - none of them can get through Qt
            note_fault(owner, method.__name__, error)
            return UNKNOWN if role == _DISPLAY else None
        if role == _TOOL_TIP and isinstance(value, str):
            return as_plain(value)
        return value

    answer.is_guarded = True  # type: ignore[attr-defined]
    return answer


def _guarded_answer(
    owner: str, method: Callable[..., object], instead: Callable[[], object]
) -> Callable[..., object]:
    @functools.wraps(method)
    def answer(self: object, *arguments: Any, **named: Any) -> object:  # noqa: ANN401 - as Qt asks
        try:
            return method(self, *arguments, **named)
        except Exception as error:  # noqa: BLE001 - none of them can get through Qt
            note_fault(owner, method.__name__, error)
            return instead()

    answer.is_guarded = True  # type: ignore[attr-defined]
    return answer


def note_fault(owner: str, name: str, error: Exception) -> None:
    """Log a fault, once for each place.

    Args:
        owner: The class that was asked.
        name: What it was asked for.
        error: What went wrong.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = (owner, name, f"{last.filename}:{last.lineno}")
    if place not in faults:
        faults.add(place)
        logger.error("a fault in %s.%s; shown as “%s”", owner, name, UNKNOWN, exc_info=error)
    # A painter in one of the frames would go on painting after Qt has taken its surface away.
    traceback.clear_frames(error.__traceback__)
