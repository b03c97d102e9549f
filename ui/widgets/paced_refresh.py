"""A brake for what is read by people: text cannot be read faster than it changes here."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

#: Twenty times a second; faster changing digits are a blur.
TEXT_PERIOD_MS = 50


class PacedRefresh(QObject):
    """Passes requests on at most every 50 ms, never loses the last, waits while hidden.

    Time is cut into periods that are the same for all widgets, and the first request
    in a period is passed on: widgets that are asked together show the same instant. A
    request that comes too soon is passed on with a later one, or when none follows; one
    that comes while the widget is hidden, when it is shown. Without requests nothing runs.

    Signals:
        due: Time to bring the widget up to date.
    """

    due = Signal()

    def __init__(
        self,
        widget: QWidget,
        period_ms: int = TEXT_PERIOD_MS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Brake the refreshes of a widget.

        Args:
            widget: The widget; also the owner in the sense of Qt.
            period_ms: Length of a period.
            clock: Seconds, to tell the periods.
        """
        super().__init__(widget)
        self._widget = widget
        self._period_ms = period_ms
        self._clock = clock
        self._period = -1
        self._is_wanted = False
        self._last_chance = QTimer(self)
        self._last_chance.setSingleShot(True)
        self._last_chance.timeout.connect(self._pass_on)
        widget.installEventFilter(self)

    @property
    def is_waiting(self) -> bool:
        """Whether a request is kept for later."""
        return self._is_wanted

    @Slot()
    @Slot(object)
    def request(self, _what: object = None) -> None:
        """Ask for a refresh; takes an argument so that any signal can be connected."""
        self._is_wanted = True
        if self._current_period() != self._period:
            self._pass_on()
        elif not self._last_chance.isActive():
            self._last_chance.start(self._period_ms)

    @override
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Catch up when the widget, the only one that is watched, is shown."""
        # While widgets go, other events come to what is half gone: nothing else is read then.
        if event.type() == QEvent.Type.Show and self._is_wanted:
            # In the next turn, when the widget counts as visible.
            self._last_chance.start(0)
        return False

    def _current_period(self) -> int:
        return int(self._clock() * 1_000 // self._period_ms)

    @Slot()
    def _pass_on(self) -> None:
        if self._is_wanted and self._widget.isVisible():
            self._is_wanted = False
            self._period = self._current_period()
            self._last_chance.stop()
            self.due.emit()
