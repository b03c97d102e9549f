"""The facts about an attached program, in the place of a picture."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QGridLayout, QWidget

from inspector.sessions.session import AttachedProgram, AttachesPrograms, SessionPhase

from ..kit.labels import ElidedLabel, color_text, plain_label
from ..kit.layouts import REST, bar, fill, tool_button
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..session.bridge import SessionBridge

#: The facts that are shown here; Why shows all of them.
_SHOWN: Final = ("Command", "Process", "Runs on", "Probe", "Permissions")
_MARGINS: Final = (16, 4, 16, 12)


class ProgramCard(QWidget):
    def __init__(self, bridge: SessionBridge, theme: Theme) -> None:
        super().__init__()
        self._bridge = bridge
        self._theme = theme
        self._titles = {title: plain_label(title) for title in _SHOWN}
        self.values = {title: ElidedLabel() for title in _SHOWN}
        self.detach_button = tool_button("Detach", "Let the program go; it goes on")
        self.end_button = tool_button("End program", "End the program that was opened here")
        for button, act in ((self.detach_button, self._detach), (self.end_button, self._end)):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(act)
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for row, title in enumerate(_SHOWN):
            grid.addWidget(self._titles[title], row, 0)
            grid.addWidget(self.values[title], row, 1)
            self.values[title].setAccessibleName(title)
        buttons = bar(self.detach_button, self.end_button, REST, margins=(0, 4, 0, 0))
        fill(self, grid, buttons, spacing=8)
        self.setContentsMargins(*_MARGINS)
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._throttle.follow()
        bridge.session_changed.connect(self.refresh)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.refresh()

    @property
    def _program(self) -> AttachedProgram | None:
        """The first program that is attached, else the last one that was."""
        programs = self._programs
        live = [each for each in programs if each.is_attached]
        return next(iter(live or programs[-1:]), None)

    @property
    def _programs(self) -> list[AttachedProgram]:
        session: object = self._bridge.session
        return list(session.programs.values()) if isinstance(session, AttachesPrograms) else []

    @property
    def state(self) -> str:
        program, count = self._program, len(self._programs)
        if program is None:
            is_waiting = self._bridge.status.phase is SessionPhase.WAITING
            return "connecting" if is_waiting else "not attached"
        return f"{program.state}, 1 of {count}" if count > 1 else program.state

    @Slot()
    @Slot(object)
    def refresh(self, _session: object = None) -> None:
        session: object = self._bridge.session
        program = self._program
        facts = {} if program is None else dict(program.facts)
        for title, label in self.values.items():
            fact = facts.get(title, "")
            label.set_text(brief_command(fact) if title == _SHOWN[0] else fact, fact)
            for each in (label, self._titles[title]):
                each.setVisible(title in facts)
        can_end = isinstance(session, AttachesPrograms) and session.can_end_program
        self.detach_button.setEnabled(program is not None and program.is_attached)
        self.end_button.setVisible(can_end)

    @Slot()
    def _detach(self) -> None:
        self._bridge.action_wanted.emit("detach")

    @Slot()
    def _end(self) -> None:
        self._bridge.action_wanted.emit("end-program")

    @Slot()
    def _apply_theme(self) -> None:
        for label in self._titles.values():
            color_text(label, self._theme.color(ColorRole.MUTED))


def brief_command(command: str) -> str:
    """Return a command line without the folder of its program: the rest has more to say."""
    program, blank, rest = command.partition(" ")
    return f"{PurePath(program).name}{blank}{rest}"
