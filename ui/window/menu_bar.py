"""The menu bar: hidden until Alt is pressed, unless it is kept."""

from __future__ import annotations

import sys
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtGui import QAction, QFocusEvent, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QMenuBar

from ..actions.menus import MenuId
from ..kit.guards import guarded

#: Events after which a press of Alt no longer counts as Alt alone.
_ENDS_ALT: Final = frozenset(
    {QEvent.Type.MouseButtonPress, QEvent.Type.Wheel, QEvent.Type.WindowDeactivate}
)


@guarded
class TopMenuBar(QMenuBar):
    """The menus of the window in a bar, over the top of it while it is not kept.

    Alt alone, or with the letter of a menu, shows it until a choice is made. On macOS it is that
    of the system.
    """

    #: The events of the window that it handles.
    HEARD: Final = (QEvent.Type.Resize, QEvent.Type.ShortcutOverride, QEvent.Type.KeyRelease)

    def __init__(self, window: QMainWindow, *, is_kept: bool) -> None:
        super().__init__(window)
        self._window = window
        self._is_alt_alone = False
        self._watch = _EndOfAlt(self)
        self.menus = {each: self.addMenu(each.value) for each in MenuId if each.parent is None}
        self.is_kept = is_kept or sys.platform == "darwin"  # Whether it has a place of its own
        self._letters: list[QShortcut] = []
        self._hiding = QTimer(self)
        self._hiding.setSingleShot(True)
        self._hiding.timeout.connect(self._hide_if_done)
        for menu in self.menus.values():
            menu.aboutToHide.connect(self._hiding.start)
        self.keep(is_kept=self.is_kept)

    def keep(self, *, is_kept: bool) -> None:
        """Give the bar a place of its own, or hide it."""
        self.is_kept = is_kept
        self.setVisible(is_kept)
        self._lay_out()

    def listen(self) -> None:
        """Handle Alt with the letters of menus from now on; not needed for the first paint."""
        for menu in self.menus.values():
            letter = QShortcut(QKeySequence.mnemonic(menu.title()), self._window)
            letter.activated.connect(partial(self._open, menu.menuAction()))
            letter.setEnabled(self.isHidden())
            self._letters.append(letter)

    def _lay_out(self) -> None:
        height = self.sizeHint().height() if self.is_kept else 0
        self._window.setContentsMargins(0, height, 0, 0)
        # The resize lays out its titles: a size that it got while hidden has not.
        self.resize(0, 0)
        self._lay_over()

    def _lay_over(self) -> None:
        self.setGeometry(0, 0, self._window.width(), self.sizeHint().height())
        self.raise_()

    def setVisible(self, visible: bool) -> None:  # noqa: N802, FBT001 - of Qt
        super().setVisible(visible)
        # While the bar is visible, it handles the letters itself.
        for letter in self._letters:
            letter.setEnabled(not visible)

    def handle_event(self, event: QEvent) -> None:
        """Follow the size of the window, and the key that shows the bar."""
        kind = event.type()
        if kind == QEvent.Type.Resize:
            self._lay_over()
        elif kind == QEvent.Type.KeyRelease and isinstance(event, QKeyEvent):
            if self._is_alt_alone and _is_alt(event) and self.isHidden():
                self._open(self.actions()[0])
            self.end_alt()
        else:
            self._is_alt_alone = isinstance(event, QKeyEvent) and _is_alt(event)
            if self._is_alt_alone:
                QApplication.instance().installEventFilter(self._watch)  # type: ignore[union-attr]

    def end_alt(self) -> None:
        """Let the Alt that is down not show the bar."""
        self._is_alt_alone = False
        QApplication.instance().removeEventFilter(self._watch)  # type: ignore[union-attr]

    def _open(self, action: QAction) -> None:
        self.show()
        self.setActiveAction(action)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - of Qt
        super().showEvent(event)
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - of Qt
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._lay_out()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - of Qt
        super().focusOutEvent(event)
        self._hiding.start()

    @Slot()
    def _hide_if_done(self) -> None:
        is_used = self.hasFocus() or QApplication.activePopupWidget() is not None
        if not self.is_kept and not is_used:
            self.hide()


@guarded
class _EndOfAlt(QObject):
    """Lets Alt with the mouse, which looks back, not show the bar; asked while Alt is down.

    Not the bar itself: Qt makes it a filter of all events of the window.
    """

    def __init__(self, bar: TopMenuBar) -> None:
        super().__init__(bar)
        self._bar = bar

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - of Qt
        if event.type() in _ENDS_ALT:
            self._bar.end_alt()
        return False


def _is_alt(event: QKeyEvent) -> bool:
    from PySide6.QtCore import Qt  # noqa: PLC0415 - not before the first paint

    return event.key() == Qt.Key.Key_Alt
