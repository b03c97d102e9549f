"""The note on what stopped the session, above all else that *Why* says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from ..kit.labels import announce, plain_label
from ..kit.layouts import bar, fill, tool_button
from ..session.stops import StopNotices

if TYPE_CHECKING:
    from ..session.bridge import SessionBridge

#: Pixels beside the text.
_SIDE = 16


class StopNote(QWidget):
    """The sentence and two buttons; hidden while nothing has stopped the session."""

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._stops = StopNotices.of(bridge)
        self.label = plain_label(wraps=True)
        font = QFont(self.label.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.label.setFont(font)
        self.label.setAccessibleName("Stopped")
        # Selects the frame in which a breakpoint was hit
        self.frame_button = tool_button("Show frame", "Select the frame in which it stopped")
        self.disable_button = tool_button("Disable", "Turn this breakpoint off")
        self.events_button = tool_button("Show events")
        for button, act in (
            (self.frame_button, self._stops.show_frame),
            (self.disable_button, self._stops.disable_breakpoint),
            (self.events_button, self._show_events),
        ):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(act)
        buttons = bar(
            self.frame_button, self.disable_button, self.events_button, margins=(0, 0, 0, 0)
        )
        buttons.addStretch(1)
        fill(self, bar((self.label, 1), margins=(0, 0, 0, 0)), buttons)
        self.setContentsMargins(_SIDE, 12, _SIDE, 4)
        self._stops.changed.connect(self._show)
        self._show()

    @Slot()
    def _show(self) -> None:
        sentence, is_hit = self._stops.sentence, self._stops.hit is not None
        if sentence != self.label.text():
            self.label.setText(sentence)
            announce(self, sentence)
        for button in (self.frame_button, self.disable_button):
            button.setVisible(is_hit)
        self.events_button.setVisible(not is_hit)
        self.setVisible(bool(sentence))

    @Slot()
    def _show_events(self) -> None:
        self._bridge.panel_wanted.emit("event_list")
