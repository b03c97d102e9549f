"""Keeps the window alive, and offers a way out, while code of the scene does not return.

Scenes run in the thread of the window. A watch in a thread of its own notices that one
does not return and sends this process a signal again and again. Python handles it between
two instructions of the scene's own code, or when that sleeps, and there the window is
painted and listens: to the button of the bar that says what is going on, to ``Esc``, and to
being closed. Everything else waits: neither refreshes nor commands nor other timers run in
the middle of something.

A library that waits is interrupted the same way. One that computes is not; if it lets
other threads run meanwhile, the watch says so on the terminal. A second Ctrl+C or SIGTERM ends
the process whatever it does, see :mod:`inspector.stop_signals`.
"""

from __future__ import annotations

import logging
import signal
import sys
from _thread import interrupt_main
from pathlib import Path
from threading import main_thread
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QKeyEvent, QPalette, QWindow
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QWidget,
)
from typing_extensions import override

from inspector.clocks.failures import RequestedInterrupt, UserInterruptError
from inspector.sessions.runs.running_code import EntryWatch, RunningCode, running_code

from ..kit.guards import guarded
from ..kit.labels import plain_label
from ..kit.layouts import fill_across
from ..session.opening import launch_of

if TYPE_CHECKING:
    from .main_window import MainWindow

logger = logging.getLogger(__name__)

#: After how long the window is painted although the code goes on, and says why.
_ALIVE_AFTER_S: Final = 1.0
_TOLD_AFTER_S: Final = 3.0
#: A user who ends the program waits at most this long for a place where it can be interrupted.
_FORCED_AFTER_S: Final = 3.0

#: A signal that is ignored by default and hardly used; Windows has none like that.
if sys.platform == "win32":
    _SIGNAL: Final = signal.SIGBREAK
else:
    _SIGNAL: Final = signal.SIGURG

_TYPES = QEvent.Type
#: Events that make something happen; they wait, or are lost as input to a busy window is.
_HELD_BACK: Final = frozenset(
    {
        _TYPES.Timer, _TYPES.MouseButtonPress, _TYPES.MouseButtonRelease,
        _TYPES.MouseButtonDblClick, _TYPES.MouseMove, _TYPES.Wheel, _TYPES.KeyPress,
        _TYPES.KeyRelease, _TYPES.ShortcutOverride, _TYPES.Shortcut, _TYPES.ContextMenu,
        _TYPES.DragEnter, _TYPES.DragMove, _TYPES.Drop, _TYPES.HoverEnter, _TYPES.HoverMove,
        _TYPES.HoverLeave, _TYPES.ToolTip, _TYPES.WhatsThis, _TYPES.InputMethod,
        _TYPES.TouchBegin, _TYPES.TouchUpdate, _TYPES.TouchEnd, _TYPES.TabletPress,
        _TYPES.TabletMove, _TYPES.TabletRelease, _TYPES.NativeGesture, _TYPES.Gesture,
        _TYPES.Close,
    }
)  # fmt: skip


@guarded
class EndlessCode(QObject):
    """Notices code of the scene that does not return, and lets people break it off.

    For the main thread.
    """

    _is_over = Signal()

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = window.bridge
        self.bar = BreakOffBar(window)  # Says what is going on; shown once it has taken a while
        self.bar.set_icon(window.theme.icon("warning"))
        self.bar.break_off_requested.connect(self.break_off)
        self.bar.attach_requested.connect(self.attach_instead)
        self._attaches_to: Path | None = None
        self._is_attending = False
        self._wants_break_off = False
        # Since when the user wants to end the program, None if not.
        self._wants_end_since_s: float | None = None
        self._seconds = 0.0
        # When the scene's code was last interrupted, and whether it was reported that it cannot
        # be.
        self._attended_s = monotonic()
        self._is_deafness_said = False
        # The call that does not return, and when it began.
        self._called: object | None = None
        self._called_at_s = 0.0
        self._is_over.connect(self._forget)
        self._former = signal.signal(_SIGNAL, self._attend)
        self._watch = EntryWatch(
            self._bridge.scene_entry,
            on_long=self._poke,
            on_over=self._is_over.emit,
            after_s=_ALIVE_AFTER_S,
        )
        self._bridge.notify_of_entries(self._watch.wake)

    def stop(self) -> None:
        self._watch.stop()
        signal.signal(_SIGNAL, self._former)

    @Slot()
    def break_off(self) -> None:
        self._wants_break_off = True

    @Slot()
    def attach_instead(self) -> None:
        """End a scene that does not load, and run its file as a program to attach to."""
        self._attaches_to = self._bridge.loading
        self.break_off()

    def end(self) -> None:
        """Close the window once the scene's code has ended, by itself or interrupted."""
        self._wants_end_since_s = monotonic()

    # ---------------------------------------------------------------- in the watch's thread

    def _poke(self, seconds: float) -> None:
        """Make Python call :meth:`_attend` in the main thread, even while that sleeps."""
        self._seconds = seconds
        ident = main_thread().ident
        if min(seconds, monotonic() - self._attended_s) >= 2 * _TOLD_AFTER_S:
            self._warn_in_terminal()
        if hasattr(signal, "pthread_kill") and ident is not None:
            signal.pthread_kill(ident, _SIGNAL)
        else:
            interrupt_main(_SIGNAL)

    def _warn_in_terminal(self) -> None:
        """Say once on the terminal what cannot be said in the window."""
        code = running_code(sys._current_frames().get(main_thread().ident or 0))  # noqa: SLF001
        if code is None or self._is_deafness_said:
            return
        self._is_deafness_said = True
        text = code.text(self._seconds)
        logger.warning("%s The window waits for it; the second Ctrl+C ends the process.", text)

    # ---------------------------------------------------------------- in the main thread

    def _attend(self, _number: int, frame: FrameType | None) -> None:
        """Let the window handle events for a moment in the middle of the scene's code.

        Raises:
            UserInterruptError: The user does not want to wait any longer.
            KeyboardInterrupt: The program is to end, and there is no better place to end it.
        """
        if self._is_attending or self._bridge.scene_entry() is None:
            return
        self._attended_s = monotonic()
        code = running_code(frame)
        if code is None:
            return
        if not code.is_innermost:
            # The inspector's own code is running; before long it is the scene's turn again.
            since_s = self._wants_end_since_s
            if since_s is not None and monotonic() - since_s >= _FORCED_AFTER_S:
                raise RequestedInterrupt
            return
        self._is_attending = True
        try:
            self._show_code(code)
            self._live()
        finally:
            self._is_attending = False
        if self._wants_break_off or self._wants_end_since_s is not None:
            self._wants_break_off = False
            raise UserInterruptError(f"interrupted after {self._seconds:.0f} s, {code.place}")

    def _show_code(self, code: RunningCode) -> None:
        """Say what is going on, and complete the recording up to here."""
        now_s = monotonic()
        if code.call != self._called:
            began_before = self._called is None
            self._called = code.call
            self._called_at_s = now_s - (self._seconds if began_before else 0)
            self._bridge.record_so_far()
        seconds = now_s - self._called_at_s
        if seconds >= _TOLD_AFTER_S:
            self.bar.show_text(code.text(seconds), is_loading=self._bridge.loading is not None)

    def _live(self) -> None:
        application = QApplication.instance()
        assert application is not None, "there is a window"
        application.installEventFilter(self)
        try:
            application.processEvents()
        finally:
            application.removeEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hold back what makes something happen; installed only while code does not return."""
        kind = event.type()
        if kind not in _HELD_BACK:
            return False
        if kind is _TYPES.Close:
            if watched is self._window:
                self.end()
            event.ignore()
            return isinstance(watched, QWidget)
        if isinstance(watched, QWindow) or watched.parent() is self._window.panels:
            # The event will reach a widget later, or it gives panels their sizes.
            return False
        if isinstance(watched, QWidget) and (watched is self.bar or self.bar.isAncestorOf(watched)):
            return False
        if (
            kind is _TYPES.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self.bar.isVisible()
        ):
            self.break_off()
        return True

    @Slot()
    def _forget(self) -> None:
        """Stop holding back events, now that the code has returned."""
        self._called = None
        self._is_deafness_said = False
        self._wants_break_off = False
        self.bar.hide()
        path, self._attaches_to = self._attaches_to, None
        if path is not None and self._wants_end_since_s is None:
            self._bridge.open_door(launch_of(path))
        if self._wants_end_since_s is not None and self._window.isVisible():
            self._window.close()


class BreakOffBar(QFrame):
    """Lies over the top of the window's middle, so that nothing below it is laid out again."""

    break_off_requested = Signal()  # The user does not want to wait
    attach_requested = Signal()  # The scene is a program of its own, to be attached to

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self.setObjectName("break_off_bar")
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self._window = window
        self._icon = QLabel()
        self.label = plain_label(wraps=True)
        self.label.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.button = QPushButton("Interrupt (Esc)")
        self.button.setToolTip("End this code as if it had failed, and hold the scene")
        # A key that was meant for something else must not press the button.
        self.button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.button.clicked.connect(self.break_off_requested)
        self.attach_button = QPushButton("Attach to it instead")
        self.attach_button.setToolTip("End it here, and run the file as a program to attach to")
        self.attach_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.attach_button.clicked.connect(self.attach_requested)
        parts = (self._icon, (self.label, 1), self.attach_button, self.button)
        fill_across(self, *parts, margins=(8, 4, 8, 4))
        self.hide()

    def set_icon(self, icon: QIcon) -> None:
        self._icon.setPixmap(icon.pixmap(18, 18))

    def show_text(self, text: str, *, is_loading: bool) -> None:
        """Say what is going on, in place of what was said; a scene may be loading."""
        self.attach_button.setVisible(is_loading)
        if text != self.label.text():
            self.label.setText(text)
            self.setAccessibleName(text)
        middle = self._window.centralWidget()
        top = 0 if middle is None else middle.geometry().top()
        width = self._window.width()
        self.setGeometry(0, top, width, max(self.sizeHint().height(), self.heightForWidth(width)))
        self.show()
        self.raise_()
