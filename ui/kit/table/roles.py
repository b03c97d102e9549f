"""The item data roles that all models of the window share."""

from functools import cache
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap

# Qt hands roles to ``data`` as plain numbers; comparing numbers keeps a cell cheap.
DISPLAY: Final = int(Qt.ItemDataRole.DisplayRole)
EDIT: Final = int(Qt.ItemDataRole.EditRole)
TOOL_TIP: Final = int(Qt.ItemDataRole.ToolTipRole)
FOREGROUND: Final = int(Qt.ItemDataRole.ForegroundRole)
BACKGROUND: Final = int(Qt.ItemDataRole.BackgroundRole)
FONT: Final = int(Qt.ItemDataRole.FontRole)
DECORATION: Final = int(Qt.ItemDataRole.DecorationRole)
ALIGNMENT: Final = int(Qt.ItemDataRole.TextAlignmentRole)
CHECK_STATE: Final = int(Qt.ItemDataRole.CheckStateRole)
ACCESSIBLE_TEXT: Final = int(Qt.ItemDataRole.AccessibleTextRole)

RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
TOP: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@cache
def gap() -> QPixmap:
    """Return the decoration that keeps left-aligned text off the numbers to its left."""
    # With a cell's margins, as wide as the room that the style leaves for an icon in a title.
    pixmap = QPixmap(12, 1)
    pixmap.fill(Qt.GlobalColor.transparent)
    return pixmap
