"""Helpers for tests of looking back."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from inspector.commands.transport import Hold
from inspector.sessions.session import SessionPhase
from tests.ui.shell import Shell


def hold(shell: Shell) -> None:
    """Hold the scene; a running one is held at its next frame."""
    shell.bridge.submit(Hold())
    shell.advance(1 / 60)
    assert shell.bridge.status.phase is SessionPhase.HELD


def settle() -> None:
    """Process the requests of this turn."""
    QApplication.processEvents()
