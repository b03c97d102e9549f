"""A ring around the list or plot that has the keyboard, where nothing else would show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Slot
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QMenuBar,
    QSlider,
    QTabBar,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.theme import ColorRole

if TYPE_CHECKING:
    from ..kit.theme import Theme

_THICKNESS: Final = 2
#: These say by their own looks that they have the keyboard, or are no place to be in.
_SHOW_IT_THEMSELVES: Final = (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QMenuBar,
    QSlider,
    QTabBar,
)


@guarded
class FocusRing(QObject):
    """Rings what gets the keyboard by a key; who clicks knows where that was.

    The ring is four thin bars on the widget itself: what it shows is not painted again for
    them, and they go where it goes.

    Attributes:
        target: What is ringed, ``None`` while nothing is.
    """

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Watch who has the keyboard, until ``parent`` is gone."""
        super().__init__(parent)
        self.target: QWidget | None = None
        self._theme = theme
        self._bars: list[QWidget] = []
        self._last: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self.show_focus)
        theme.changed.connect(self._apply_theme)

    @Slot(QWidget, QWidget)
    def show_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """Ring a widget that has got the keyboard by a key, nothing else."""
        self._let_go()
        if now is None:
            return
        by_mouse = QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton
        # A window that comes to the front gives the keyboard to whoever had it before.
        is_back = before is None
        is_new = now is not self._last
        self._last = None
        if by_mouse or isinstance(now, _SHOW_IT_THEMSELVES) or (is_back and is_new):
            return
        self.target = self._last = now
        now.installEventFilter(self)
        self._bars = [_bar(now) for _ in range(4)]
        self._apply_theme()
        self._place()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the ring at the border."""
        if event.type() == QEvent.Type.Resize and watched is self.target:
            self._place()
        return False

    def _let_go(self) -> None:
        target, self.target = self.target, None
        if target is not None and isValid(target):
            target.removeEventFilter(self)
        for bar in self._bars:
            if isValid(bar):
                bar.hide()
                bar.deleteLater()
        self._bars = []

    def _place(self) -> None:
        if self.target is None:
            return
        width, height, thick = self.target.width(), self.target.height(), _THICKNESS
        places = (
            QRect(0, 0, width, thick),
            QRect(0, height - thick, width, thick),
            QRect(0, thick, thick, height - 2 * thick),
            QRect(width - thick, thick, thick, height - 2 * thick),
        )
        for bar, place in zip(self._bars, places, strict=True):
            bar.setGeometry(place)
            bar.raise_()
            bar.show()

    @Slot()
    def _apply_theme(self) -> None:
        for bar in self._bars:
            palette = bar.palette()
            palette.setColor(QPalette.ColorRole.Window, self._theme.color(ColorRole.ACCENT))
            bar.setPalette(palette)


def _bar(owner: QWidget) -> QWidget:
    bar = QWidget(owner)
    bar.setAutoFillBackground(True)
    bar.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    bar.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return bar
