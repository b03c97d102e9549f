"""Keyboard focus: its ring, and which widget keeps which keys for itself."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette, QWindow
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QMenuBar,
    QSplitter,
    QWidget,
)
from shiboken6 import isValid
from typing_extensions import override

from ..actions.actions import DescribedAction
from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import single_shot

_THICKNESS: Final = 2
#: These show by a cursor or a mark that they have the keyboard, or are no place to work in. Others
#: show it, too, but in dark colours with a contrast of less than 2 to what is around them.
_SHOW_IT_THEMSELVES: Final = (QAbstractSpinBox, QLabel, QLineEdit, QMainWindow, QMenu, QMenuBar)
#: Keys that widgets use themselves although they are shortcuts elsewhere. Fields claim letters and
#: digits by themselves.
_OWN_KEYS: Final = (
    (QAbstractButton, frozenset({Qt.Key.Key_Space})),
    (QComboBox, frozenset({Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End})),
    (QAbstractSlider, frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})),
    (QAbstractScrollArea, frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})),
)
_TYPED: Final = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier


@guarded
class FocusRing(QObject):
    """Puts a ring around a widget that gets the keyboard by a key; a click needs none.

    The ring is four thin bars on the widget itself, which need not be painted again for them;
    they move with it.
    """

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Watch which widget has the keyboard, until ``parent`` is gone."""
        super().__init__(parent)
        self.target: QWidget | None = None  # What is ringed, None while nothing is
        self._theme = theme
        self._bars: list[QWidget] = []
        self._last: QWidget | None = None
        self._window: QWindow | None = None  # What the target is in
        self._is_by_key = False
        self._key_is_over = single_shot(self, self._forget_key)
        self._place_again = single_shot(self, self._place)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self.on_focus_changed)
        theme.changed.connect(self._apply_theme)

    @Slot()
    def note_key(self) -> None:
        """Note a key: a widget that gets the keyboard in this turn has got it by that key."""
        self._is_by_key = True
        self._key_is_over.start()

    def _forget_key(self) -> None:
        self._is_by_key = False

    @Slot(QWidget, QWidget)
    def on_focus_changed(self, before: QWidget | None, now: QWidget | None) -> None:
        """Ring a widget that has got the keyboard by a key, nothing else."""
        self._let_go()
        if now is None:
            return
        # When a window comes to the front, the widget that had the keyboard before gets it back.
        is_back = before is None and now is self._last
        self._last = None
        if not (self._is_by_key or is_back) or isinstance(now, _SHOW_IT_THEMSELVES):
            return
        self._last = now
        # A widget that paints nothing itself has the keyboard for the widget it lies on.
        above = now.parentWidget()
        shown = now if now.updatesEnabled() or above is None else above
        while isinstance(shown, QSplitter) and (above := shown.parentWidget()) is not None:
            # A splitter would make room for the bars beside its parts.
            shown = above
        self.target = shown
        for each in _sized_with(shown):
            each.installEventFilter(self)
        self._bars = [_bar(shown) for _ in range(4)]
        self._apply_theme()
        self._place()
        # Every click in the window passes through its QWindow, and ends the ring.
        self._window = shown.window().windowHandle()
        if self._window is not None:
            self._window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window:
            if event.type() == QEvent.Type.MouseButtonPress:
                self._let_go()
                self._last = None
        elif event.type() == QEvent.Type.Resize:
            self._place()
            # Scroll bars are laid out after the resize.
            self._place_again.start()
        return False

    def _let_go(self) -> None:
        target, self.target = self.target, None
        window, self._window = self._window, None
        if window is not None and isValid(window):
            window.removeEventFilter(self)
        if target is not None and isValid(target):
            for each in _sized_with(target):
                each.removeEventFilter(self)
        for bar in self._bars:
            if isValid(bar):
                bar.hide()
                bar.deleteLater()
        self._bars = []

    def _place(self) -> None:
        if self.target is None:
            return
        width, height, thick = self.target.width(), self.target.height(), _THICKNESS
        if isinstance(self.target, QAbstractScrollArea):
            # Beside the scroll bars: each layout raises them above everything.
            inner = self.target.viewport().geometry()
            if self.target.verticalScrollBar().isVisible():
                width = inner.x() + inner.width()
            if self.target.horizontalScrollBar().isVisible():
                height = inner.y() + inner.height()
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
            palette.setColor(QPalette.ColorRole.Window, self._theme.color(ColorRole.BLUE))
            bar.setPalette(palette)


def _sized_with(target: QWidget) -> list[QWidget]:
    """Return the widgets whose resizing moves the edges of the target or its scroll bars."""
    return [target, *([target.viewport()] if isinstance(target, QAbstractScrollArea) else [])]


def _bar(owner: QWidget) -> QWidget:
    bar = QWidget(owner)
    bar.setAutoFillBackground(True)
    # Otherwise the bar would have that of its owner, which for buttons is another one.
    bar.setBackgroundRole(QPalette.ColorRole.Window)
    bar.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    bar.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return bar


def enter(widget: QWidget | None) -> None:
    """Give the keyboard to ``widget``, or to its first child that shows data, else to any.

    Widgets that take the keyboard by a click are more likely to show data than those that take
    it by Tab alone. A widget with a focus proxy decides by itself.
    """
    if widget is None:
        return
    if widget.focusProxy() is not None or widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return
    children = [
        child
        for child in widget.findChildren(QWidget)
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.isVisible()
    ]
    for child in children:
        if isinstance(child, QAbstractScrollArea):
            child.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
    clicked = (each for each in children if each.focusPolicy() & Qt.FocusPolicy.ClickFocus)
    found = next(clicked, children[0] if children else None)
    if found is not None:
        found.setFocus(Qt.FocusReason.ShortcutFocusReason)


def tab_through(*parts: QWidget | None) -> None:
    """Make Tab go through parts of a window in this order."""
    stops = [
        child
        for part in parts
        if part is not None
        for child in part.findChildren(QWidget)
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.window() is part.window()
    ]
    for former, stop in pairwise(stops):
        QWidget.setTabOrder(former, stop)


@guarded
class KeyGuard(QObject):
    """Watches windows for keys that are about to become shortcuts.

    Qt asks the widget in use first, and then its parents up to the window, which is
    where this listens.
    """

    pressed = Signal()  # A key was pressed
    # The key of an action that is not possible now was pressed: the action's title and why
    refused = Signal(str)

    def __init__(self, actions: Iterable[DescribedAction], parent: QObject) -> None:
        super().__init__(parent)
        self._by_keys = {
            keys.toString(): action for action in actions for keys in action.shortcuts()
        }

    def watch(self, window: QWidget) -> None:
        """Guard the keys of a panel that may be a window of its own."""
        window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return event.type() == QEvent.Type.ShortcutOverride and self.accept_key(watched, event)

    def accept_key(self, watched: QObject, event: QEvent) -> bool:
        """Accept what the widget in use wants for itself, so that it gets the key."""
        if not isinstance(event, QKeyEvent):
            return False
        self.pressed.emit()
        widget = QApplication.focusWidget()
        if is_own_key(widget, event):
            event.accept()
            return True
        action = self._by_keys.get(QKeySequence(event.keyCombination()).toString())
        if action is not None and not action.isEnabled() and action.reason:
            # Qt silently ignores the keys of disabled actions.
            self.refused.emit(f"{action.description.plain_title}: {action.reason}")
            if widget is not None and widget is not watched:
                _PressKeeper(widget)
        return False


@guarded
class _PressKeeper(QObject):
    """Keeps one key press from a widget: a list would search for a row by its letter."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the press that follows, and go; go without it if another key comes first."""
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return False
        watched.removeEventFilter(self)
        self.deleteLater()
        return event.type() == QEvent.Type.KeyPress


def is_own_key(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Return whether a key press belongs to the widget that has the keyboard."""
    if widget is None or event.modifiers() & ~_TYPED:
        return False
    if isinstance(widget, QLineEdit):
        return not widget.isReadOnly() and bool(event.text().strip() or event.text() == " ")
    key = Qt.Key(event.key())
    return any(isinstance(widget, kind) and key in keys for kind, keys in _OWN_KEYS)
