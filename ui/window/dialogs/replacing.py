"""The question before a session is replaced in which something was done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget

from inspector.commands.command import Capability, command_in
from inspector.display_text import counted, one_line
from inspector.sessions.session import Session

from ...kit.guards import guarded
from ...kit.layouts import without_icons

#: Commands by which the user changes what a session does, not only when it runs.
_INTERVENING: Final = frozenset(
    {Capability.PAUSE, Capability.RATE, Capability.TIMERS, Capability.FIRE, Capability.MEMBERS}
)


def what_is_lost(session: Session | None) -> str:
    """Return what ends or is lost with a session, as sentences; empty if there is nothing."""
    if session is None or session.is_recorded:
        return ""
    recorder, title = session.recorder, one_line(session.title)
    if recorder is not None and recorder.is_recording:
        return f"“{title}” is being recorded. The recording ends with it."
    commands = [each for each in session.timeline.commands if not (each.refusal or each.by)]
    capabilities = [
        command.capability for each in commands if (command := command_in(each.form)) is not None
    ]
    interventions = sum(each in _INTERVENING for each in capabilities)
    counts = ((interventions, "intervention"), (len(session.annotations), "annotation"))
    done = " and ".join(counted(count, noun) for count, noun in counts if count)
    lost = "What was not recorded is lost with it."
    return f"“{title}” has {done}. {lost}" if done else ""


@guarded
class ReplaceQuestion(QMessageBox):
    """Asks whether a session may be replaced; does not block the event loop."""

    def __init__(
        self,
        lost: str,
        replace: Callable[[], object],
        open_beside: Callable[[], object] | None,
        parent: QWidget,
        verb: str,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("replace_question")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setIcon(QMessageBox.Icon.Question)
        self.setWindowTitle(verb.replace("&", ""))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(lost)
        role = QMessageBox.ButtonRole
        self.here_button = self.addButton(verb, role.AcceptRole)
        # Opens a new window instead and keeps this session; None where that is impossible
        self.beside_button: QAbstractButton | None = None
        if open_beside is not None:
            beside = self.addButton("Open in a &new window", role.ActionRole)
            self.beside_button = beside
            self.setDefaultButton(beside)
        self.addButton(QMessageBox.StandardButton.Cancel)
        without_icons(self)
        self._replace = replace
        self._open_beside = open_beside
        self.buttonClicked.connect(self._act)

    @Slot(QAbstractButton)
    def _act(self, button: QAbstractButton) -> None:
        if button is self.here_button:
            self._replace()
        elif button is self.beside_button and self._open_beside is not None:
            self._open_beside()


def replace_session(
    session: Session | None,
    replace: Callable[[], object],
    parent: QWidget,
    open_beside: Callable[[], object] | None = None,
    *,
    verb: str = "Open &here",
) -> None:
    """Replace a session, or close it, at once if nothing is lost, else once the user has agreed."""
    lost = what_is_lost(session)
    if lost:
        ReplaceQuestion(lost, replace, open_beside, parent, verb).open()
    else:
        replace()
