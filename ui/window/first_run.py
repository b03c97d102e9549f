"""The first steps of a newcomer, one line at a time, at the foot of the side column."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QWidget

from inspector.commands.command import Capability, command_in
from inspector.events.states import CommandRecord
from inspector.sessions.session import SessionPhase

from ..kit.icons import icon_size
from ..kit.keys import hide_with_keyboard
from ..kit.labels import plain_label
from ..kit.layouts import fill, hairline, in_row, tool_button
from ..kit.theme import Theme
from ..kit.tile import is_low
from ..session.bridge import SessionBridge

#: Key, among the choices of panels, of how many of the steps were made.
_CHOICE: Final = "first_run"
#: The same for a card that earlier versions had, which could be dismissed.
_FORMER_CHOICE: Final = "scene_card"
_SIGN: Final = "hold"
STEPS: Final = (
    "Click ‖ beside a clock to pause it. Everything else goes on.",
    "Drag the ruler to look back.",
)


class FirstRunLine(QWidget):
    """Says what to try first; gone for good once that was done, or closed."""

    keyboard_left = Signal()  # It was closed while its button had the keyboard

    def __init__(self, bridge: SessionBridge, theme: Theme) -> None:
        super().__init__()
        self._bridge = bridge
        self._theme = theme
        self.step = ""  # What to try next, empty for nothing
        self.label = plain_label(wraps=True)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.close_button = tool_button("", "Do not show this again")
        self.close_button.setAccessibleName("Close the hint")
        self.close_button.setAutoRaise(True)
        self.close_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.close_button.clicked.connect(self.close_for_good)
        row = in_row((self.label, 1), self.close_button, margins=(16, 12, 8, 12))
        row.setAlignment(self.close_button, Qt.AlignmentFlag.AlignBottom)
        fill(self, hairline(), row, spacing=0)
        bridge.session_changed.connect(self.refresh)
        bridge.status_changed.connect(self.refresh)
        bridge.playhead_changed.connect(self._on_playhead_moved)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.refresh()

    @property
    def _done(self) -> int:
        """How many steps were made."""
        choices = self._bridge.panel_choices
        if choices.get(_FORMER_CHOICE) == "dismissed":
            return len(STEPS)
        made = choices.get(_CHOICE, "0")
        return int(made) if made in ("0", "1") else len(STEPS)

    @Slot()
    @Slot(object)
    def refresh(self, _session: object = None) -> None:
        session, done = self._bridge.session, self._done
        is_of_scene = session is not None and not session.is_recorded
        has_failed = session is not None and session.status.phase is SessionPhase.FAILED
        is_shown = is_of_scene and not has_failed and done < len(STEPS)
        self.step = STEPS[done] if is_shown else ""
        self._refresh_step()
        # In a low window, all the room is for what the user has opened.
        self.setVisible(is_shown and not is_low(self))

    @Slot(object)
    def on_command_applied(self, record: CommandRecord) -> None:
        """Take a command that was applied: a pause is the first step."""
        command = command_in(record.form)
        if command is not None and command.capability is Capability.PAUSE:
            self._make(0)

    @Slot(object)
    def _on_playhead_moved(self, at_ns: int | None) -> None:
        if at_ns is not None:
            self._make(1)

    def _make(self, step: int) -> None:
        if self._done == step:
            self._bridge.panel_choices[_CHOICE] = f"{step + 1}"
            self.refresh()

    @Slot()
    def close_for_good(self) -> None:
        self._bridge.panel_choices[_CHOICE] = f"{len(STEPS)}"
        if hide_with_keyboard(self):
            self.keyboard_left.emit()

    def _refresh_step(self) -> None:
        """Say the step; the sign of a pause is drawn: that of a font looks different in each."""
        self.label.setAccessibleName(self.step)
        side = icon_size()
        look = f'width={side} height={side} style="vertical-align: middle"'
        self.label.setText(self.step.replace("‖", f'<img {look} src="{_SIGN}">'))
        document = self.label.findChild(QTextDocument)
        if isinstance(document, QTextDocument):
            # The picture is not in the text itself: to read it there, Qt would load 2 MB for all
            # the formats it knows.
            picture = self._theme.icon(_SIGN).pixmap(side)
            kind = QTextDocument.ResourceType.ImageResource.value
            document.addResource(kind, QUrl(_SIGN), picture)
            self.label.update()

    @Slot()
    def _apply_theme(self) -> None:
        self.close_button.setIcon(self._theme.icon("close"))
        self._refresh_step()
