"""Guards for what Qt calls: a fault shows "?" or is reported, and the window goes on.

Qt calls in the midst of its own work, and an exception cannot get through that: it floods
the log, what a painter leaves behind half done ends the process, and so does an exception
of the interpreter itself. So whatever overrides a method of Qt stands in a class that is
:func:`guarded`.

Where Python code calls Qt and Qt calls an override, PySide hands on what the override raises
and first reads its arguments. Python 3.11 makes the exception object of an ``IndexError``, a
``ZeroDivisionError`` and others only when they are caught; PySide 6.11 does not wait for
that and reads what is no exception: a segmentation fault.
"""

from __future__ import annotations

import functools
import logging
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final, TypeVar

from PySide6 import QtCore
from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize

from inspector.display_text import as_plain

logger = logging.getLogger(__name__)

_ClassT = TypeVar("_ClassT", bound=type)

#: Roles as plain numbers, and ``Qt`` only inside functions: the first use of that namespace sets
#: up all its enumerations, which takes a tenth of the first paint.
_DISPLAY: Final = 0
_TOOL_TIP: Final = 3
#: Shown in place of a value that could not be computed.
UNKNOWN: Final = "?"

#: Methods that return a value for a role.
_ASKED_BY_ROLE: Final = ("data", "headerData")
#: Other methods whose result Qt needs, and what makes the result if they fail.
_ANSWERS: Final[dict[str, Callable[[], object]]] = {
    "rowCount": int,
    "columnCount": int,
    "index": QModelIndex,
    "parent": QModelIndex,
    "flags": lambda: QtCore.Qt.ItemFlag.NoItemFlags,
    "paint": lambda: None,
    "paintEvent": lambda: None,
    "initStyleOption": lambda: None,
    "initStyleOptionForIndex": lambda: None,
    "sizeHint": QSize,
    "sizeFromContents": QSize,
    "minimumSizeHint": QSize,
    "heightForWidth": int,
    "boundingRect": QRectF,
    "visualRect": QRect,
    "hasChildren": bool,
    "canFetchMore": bool,
    "createEditor": lambda: None,
    "setEditorData": lambda: None,
}
#: Handlers of events and changes, with their result if they fail: ``None``, or ``False`` for "not
#: handled".
_HAPPENINGS: Final = {
    **dict.fromkeys(("event", "eventFilter", "viewportEvent", "editorEvent"), False),
    **dict.fromkeys(("setData", "focusNextPrevChild"), False),
    **dict.fromkeys(("changeEvent", "showEvent", "hideEvent", "closeEvent", "resizeEvent")),
    **dict.fromkeys(("focusInEvent", "focusOutEvent", "enterEvent", "leaveEvent", "wheelEvent")),
    **dict.fromkeys(("mousePressEvent", "mouseMoveEvent", "mouseReleaseEvent", "contextMenuEvent")),
    **dict.fromkeys(("mouseDoubleClickEvent", "keyPressEvent", "dragEnterEvent", "dropEvent")),
    **dict.fromkeys(("accept", "setModel", "setModelData", "fetchMore", "sort", "dataChanged")),
    **dict.fromkeys(("currentChanged", "doItemsLayout", "scrollContentsBy", "setVisible")),
    **dict.fromkeys(("drawPrimitive", "drawControl", "drawComplexControl")),
}
GUARDED_NAMES: Final = frozenset({*_ASKED_BY_ROLE, *_ANSWERS, *_HAPPENINGS})

#: The faults that were logged: class, method, and the line that raised.
faults: set[tuple[str, str, str]] = set()


def guarded(cls: _ClassT) -> _ClassT:
    """Guard what Qt calls in a class of the window; for whatever overrides a method of Qt."""
    for name in GUARDED_NAMES & cls.__dict__.keys():
        method = cls.__dict__[name]
        if name in _ASKED_BY_ROLE:
            setattr(cls, name, _guarded_value(cls.__name__, method))
        elif callable(method) and name in _ANSWERS:
            setattr(cls, name, _guarded_answer(cls.__name__, method, _ANSWERS[name]))
        elif callable(method):
            setattr(cls, name, _guarded_happening(method, instead=_HAPPENINGS[name]))
    return cls


def report_faults(cls: type) -> None:
    """Guard what Qt calls in a class of another package; all that it raises is reported."""
    for name in GUARDED_NAMES & cls.__dict__.keys():
        method = cls.__dict__[name]
        if callable(method) and not is_guarded(method):
            instead = _ANSWERS.get(name, lambda name=name: _HAPPENINGS.get(name))
            setattr(cls, name, _guarded_happening(method, instead=instead()))


def is_guarded(method: object) -> bool:
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


def _guarded_happening(method: Callable[..., object], *, instead: object) -> Callable[..., object]:
    """Guard a method that Qt calls once each time something happens."""

    @functools.wraps(method)
    def answer(self: object, *arguments: Any, **named: Any) -> object:  # noqa: ANN401 - as Qt asks
        try:
            return method(self, *arguments, **named)
        except Exception as error:  # noqa: BLE001 - none of them can get through Qt
            # What PySide itself does with an exception when no Python code has called Qt.
            sys.excepthook(type(error), error, error.__traceback__)
            return instead

    answer.is_guarded = True  # type: ignore[attr-defined]
    return answer


def note_fault(owner: str, name: str, error: Exception) -> None:
    """Log a fault, once for each place: the class, and what it was asked for."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = (owner, name, f"{last.filename}:{last.lineno}")
    if place not in faults:
        faults.add(place)
        logger.error("a fault in %s.%s; shown as “%s”", owner, name, UNKNOWN, exc_info=error)
    # Frees a painter that one of the frames holds: it must not outlive its surface.
    traceback.clear_frames(error.__traceback__)
