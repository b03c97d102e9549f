"""Limits how often a widget is refreshed: as often as can be seen, and not while it is hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.timebase import NS_PER_MS

from .guards import guarded

#: Milliseconds between refreshes of text, at best: digits that change faster are a blur.
TEXT_MS: Final = 200

#: How long a widget that was in sight is assumed to be still in sight, unless it is hidden. A check
#: takes as long as a small refresh; without it, a panel behind another one's tab costs a few.
_LOOK_NS: Final = 1_000 * NS_PER_MS
_SEEN: Final = (QEvent.Type.Show, QEvent.Type.Paint)


class RefreshTurns(Protocol):
    """What all widgets of a window share: one clock, and turns that they take."""

    def now_ns(self) -> int:
        """Return the reading of the clock that refreshes go by."""

    def period_ms(self, least_ms: int) -> int:
        """Return how far apart refreshes are now that are ``least_ms`` apart at best."""

    def queue_turn(self, owner: QObject, refresh: Callable[[], object]) -> None:
        """Call ``refresh`` in a turn of its own."""

    def follow(self, follower: ThrottledRefresh) -> None:
        """Ask ``follower`` for a refresh whenever the session was refreshed."""


@guarded
class ThrottledRefresh(QObject):
    """Passes requests on once a period at most, never loses the last, waits while hidden.

    Time is divided into periods that are the same for all widgets, and the first request in a
    period is passed on, in a turn of the event loop of the widget's own: so widgets that are
    asked together show the same instant, however much later their turns come. A request that
    comes too soon is passed on with a later one, or after a period if none follows. A request that
    comes while the widget is out of sight is passed on when it is shown or painted, or with a
    later request: a widget that its children cover is not painted. Without requests nothing runs.
    """

    due = Signal()  # Time to bring the widget up to date

    def __init__(
        self,
        widget: QWidget,
        timer: RefreshTurns,
        refresh: Callable[[], object],
        least_ms: int = TEXT_MS,
    ) -> None:
        """Limit the refreshes of a widget, which is the Qt parent of this object.

        ``due`` is connected with ``refresh``; periods are at least ``least_ms`` long, or longer as
        the timer says.
        """
        super().__init__(widget)
        self.due.connect(refresh)
        self._widget = widget
        self._timer = timer
        self.least_ms = least_ms  # Length of a period at best
        self.period_end_ns = self._asked_ns = 0
        self.is_waiting = False
        self._has_turn = self._was_seen = self._is_out_of_sight = False
        self._looked_ns = -_LOOK_NS
        self._last_chance = single_shot(self, self._queue_turn)

    def follow(self) -> None:
        """Also request a refresh whenever the session was refreshed."""
        self._timer.follow(self)

    @Slot()
    @Slot(object)
    def request(self, _what: object = None) -> None:
        """Ask for a refresh; takes an argument so that any signal can be connected."""
        self.is_waiting = True
        if self._has_turn:
            return
        now_ns = self._timer.now_ns()
        is_too_soon = now_ns < self.period_end_ns
        if is_too_soon and self._last_chance.isActive():
            return
        is_out_of_sight = not self._is_in_sight(now_ns)
        if is_out_of_sight is not self._is_out_of_sight:
            self._watch(is_out_of_sight=is_out_of_sight)
        if is_out_of_sight:
            return
        if is_too_soon:
            self._last_chance.start(self._timer.period_ms(self.least_ms))
        else:
            self._was_seen = True
            self._queue_turn()

    def _watch(self, *, is_out_of_sight: bool) -> None:
        """While it is out of sight, wait until it is shown or painted."""
        self._is_out_of_sight = is_out_of_sight
        # Filter events only then: for each one that takes as long as painting a small widget.
        if is_out_of_sight:
            self._widget.installEventFilter(self)
        else:
            self._widget.removeEventFilter(self)

    @override
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Catch up when the widget, the only one that is watched, comes into view."""
        # Nothing else may be read here: other events also come while widgets are being destroyed.
        # A panel that comes out from behind another's tab gets no show event, only a paint event.
        if self._is_out_of_sight and event.type() in _SEEN:
            self._watch(is_out_of_sight=False)
            if not self._last_chance.isActive():
                # Wait for the next turn, when the widget counts as visible.
                self._queue_turn()
        return False

    def _is_in_sight(self, now_ns: int) -> bool:
        if now_ns - self._looked_ns < _LOOK_NS:
            return not self._is_out_of_sight and self._widget.isVisible()
        self._looked_ns = now_ns
        return is_in_sight(self._widget)

    @Slot()
    def _queue_turn(self) -> None:
        if self.is_waiting and not self._has_turn:
            self._has_turn, self._asked_ns = True, self._timer.now_ns()
            self._timer.queue_turn(self, self._pass_on)

    def _pass_on(self) -> None:
        self._has_turn = False
        # If the request has just checked this, do not check again: it takes as long as a small
        # refresh.
        was_seen, self._was_seen = self._was_seen and self._widget.isVisible(), False
        if not self.is_waiting:
            return
        if was_seen or is_in_sight(self._widget):
            self.is_waiting = False
            length_ns = self._timer.period_ms(self.least_ms) * NS_PER_MS
            self.period_end_ns = (self._asked_ns // length_ns + 1) * length_ns
            self._last_chance.stop()
            self.due.emit()
        else:
            self._watch(is_out_of_sight=True)


def is_in_sight(widget: QWidget) -> bool:
    """Return whether any part of a widget can be seen.

    A widget behind another's tab is out of view, but visible as far as Qt is concerned.
    """
    if not widget.isVisible():
        return False
    left, top, right, bottom = 0, 0, widget.width(), widget.height()
    each, window = widget, widget.window()
    while each is not window and (parent := each.parentWidget()) is not None:
        x, y = each.x(), each.y()
        left, right = max(left + x, 0), min(right + x, parent.width())
        top, bottom = max(top + y, 0), min(bottom + y, parent.height())
        each = parent
    return left < right and top < bottom


def single_shot(parent: QObject, act: Callable[[], object], ms: int = 0) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(ms)
    timer.timeout.connect(act)
    return timer
