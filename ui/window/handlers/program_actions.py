"""The actions on attached programs: open one, let it go, end it."""

from __future__ import annotations

from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from inspector.sessions.session import AttachesPrograms

from ...selected.commands import selected_clock
from ..dialogs.replacing import replace_session

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door

    from ..main_window import MainWindow


class ProgramActions(QObject):
    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def open_program(self, command: str = "") -> None:
        """Ask for a command line and run it with a probe inside."""
        # Imported late: finding programs and interpreters is not needed before.
        from ..dialogs.open_program import OpenProgramDialog  # noqa: PLC0415

        window = self._window
        dialog = OpenProgramDialog(window.settings.recent_programs, window.theme, window)
        if command:
            dialog.line.setText(command)
        dialog.door_chosen.connect(self._open)
        dialog.open()

    @Slot(object, object)
    def _open(self, door: Door, typed: dict[str, str]) -> None:
        window = self._window
        window.settings = window.settings.with_recent_program(typed)
        window.notice.dismiss()
        replace_session(window.bridge.session, partial(window.bridge.open_door, door), window)

    @property
    def _session(self) -> AttachesPrograms | None:
        session: object = self._window.bridge.session
        return session if isinstance(session, AttachesPrograms) else None

    def detach(self) -> None:
        if (session := self._session) is not None:
            session.detach()
            self._window.bridge.request_refresh()

    def end_program(self) -> None:
        session = self._session
        if session is None:
            return
        if not session.can_end_program:
            reason = "The program was not started by the inspector: detach from it instead."
            self._window.notice.show_lasting(reason)
            return
        # In a thread, because ending in good order may take the program some seconds.
        Thread(target=session.end_program, name="end the program", daemon=True).start()

    def choose_loop(self) -> None:
        bridge = self._window.bridge
        clock = selected_clock(bridge.timeline, bridge.selection)
        if clock is not None and (reason := bridge.choose_loop(clock.id)):
            self._window.notice.show_lasting(reason)
