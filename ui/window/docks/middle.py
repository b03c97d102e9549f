"""The middle of the window: frame times above lanes, along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from ...kit.guards import guarded

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent


@guarded
class MiddlePlace(QWidget):
    """The place of a panel below the frame times, shown and hidden as a dock is.

    Signals:
        visibility_changed: It was shown or hidden.
    """

    visibility_changed = Signal(bool)

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self._panel = panel
        self._is_wanted = True
        self._permille = 500
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(panel)

    @property
    def is_wanted(self) -> bool:
        """Whether it is shown whenever the session has something for it."""
        return self._is_wanted

    def widget(self) -> QWidget:
        return self._panel

    def setWidget(self, panel: QWidget) -> None:  # noqa: N802 - as a dock has it
        layout = self.layout()
        assert layout is not None, "made with one"
        layout.replaceWidget(self._panel, panel)
        self._panel.hide()
        self._panel = panel
        panel.show()

    def need(self, *, is_needed: bool) -> None:
        """Show it only if there is something to show in it, and it is wanted."""
        super().setVisible(self._is_wanted and is_needed)

    @property
    def permille(self) -> int:
        """The share of the middle's height that it has, or had when it was shown."""
        return self._permille

    def take_share(self, permille: int) -> None:
        """Take a share of the middle's height, in thousandths."""
        middle = self.parentWidget()
        self._permille = min(max(permille, 1), 999)
        if isinstance(middle, QSplitter):
            # In proportion only: it has a height when the window is laid out.
            middle.setSizes([1000 - self._permille, self._permille])

    @Slot()
    def note_share(self) -> None:
        """Keep the share that the line between was dragged to."""
        middle = self.parentWidget()
        if isinstance(middle, QSplitter):
            above, below = middle.sizes()
            self._permille = round(1000 * below / max(above + below, 1))

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


def make_middle(above: QWidget, below: MiddlePlace) -> QSplitter:
    """Return frame times and what is below them, with a line to drag between."""
    middle = QSplitter(Qt.Orientation.Vertical)
    middle.setChildrenCollapsible(False)
    middle.setHandleWidth(5)
    middle.addWidget(above)
    middle.addWidget(below)
    middle.splitterMoved.connect(below.note_share)
    return middle
