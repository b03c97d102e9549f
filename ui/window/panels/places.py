"""The place of a panel, and the two panels on the time axis, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from ...kit.guards import guarded

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QHideEvent, QShowEvent


class Placeholder(QLabel):
    """Stands in place of a panel that was not shown yet, or that failed.

    Attributes:
        is_failure: The panel failed; a line says why.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.is_failure = bool(reason)
        if reason:
            # Of the others nothing is ever seen, and Qt lays out each such text several times.
            self.setTextFormat(Qt.TextFormat.PlainText)
            self.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            self.setWordWrap(True)


@guarded
class Place(QWidget):
    """Where a panel is; as a window of its own it comes back when it is closed.

    Signals:
        visibility_changed: It was shown or hidden.
        window_closed: The window that it was is closed.
    """

    visibility_changed = Signal(bool)
    window_closed = Signal()

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self._panel: QWidget = Placeholder()
        self._is_wanted = True
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._panel)

    @property
    def is_wanted(self) -> bool:
        """Whether it is shown whenever the session has something for it."""
        return self._is_wanted

    def widget(self) -> QWidget:
        return self._panel

    def set_widget(self, panel: QWidget) -> None:
        layout = self.layout()
        assert layout is not None, "made with one"
        layout.replaceWidget(self._panel, panel)
        self._panel.hide()
        self._panel = panel
        panel.show()

    def need(self, *, is_needed: bool) -> None:
        """Show it only if there is something to show in it, and it is wanted."""
        super().setVisible(self._is_wanted and is_needed)

    @override
    def setVisible(self, visible: bool) -> None:
        self._is_wanted = visible
        super().setVisible(visible)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.visibility_changed.emit(True)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.visibility_changed.emit(False)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.window_closed.emit()


@guarded
class Arrangement(QSplitter):
    """Frame times above lanes along one axis, with a line to drag between."""

    def __init__(self, above: QWidget, below: Place) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._permille = 0
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.addWidget(above)
        self.addWidget(below)
        self.splitterMoved.connect(self._note_share)

    @property
    def permille(self) -> int:
        """The share of the height that the lanes have, in thousandths."""
        return self._permille

    def take_share(self, permille: int) -> None:
        self._permille = min(max(permille, 1), 999)
        # In proportion only: it has a height when the window is laid out.
        self.setSizes([1000 - self._permille, self._permille])

    @Slot()
    def _note_share(self) -> None:
        above, below = self.sizes()
        self._permille = round(1000 * below / max(above + below, 1))
