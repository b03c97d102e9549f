"""Many things a user might do with a recording, one after the other, and nothing goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from PySide6.QtWidgets import QApplication

from inspector.clocks import ManualTimeSource
from inspector.events.log import EventLog
from inspector.events.recording import open_recording
from tests.events.recording.recorded_worlds import described, folded, record, scene_log
from tests.fuzz import rounds
from tests.ui.window.test_random_operations import RandomUser
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.settings import Settings, SettingsFile

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

OPERATIONS: Final = rounds(100)
#: A state is compared with the events after so many operations.
_COMPARED_EVERY: Final = 10

#: These ask the system for a file, open something else or end the window.
_NOT_TRIGGERED: Final = (
    "open", "close-session", "quit", "export", "record", "save-last", "example", "scene",
)  # fmt: skip


class UserOfRecording(RandomUser):
    """Looks at a recording in every way; the same seed does the same things."""

    def __init__(self, window: MainWindow, seed: int) -> None:
        super().__init__(window, [ManualTimeSource()], seed)
        self._actions = [
            (20, self.move_playhead),
            (15, self.refresh),
            (12, self.trigger_action),
            (12, self.select_something),
            (10, self.click_somewhere),
            (8, self.press_key),
            (8, self.turn_wheel),
            (6, self.drag_somewhere),
            (4, self.submit_command),
            (4, self.command_member),
            (4, self.type_text),
            (4, self.hover),
            (4, self.scroll),
            (1, self.resize),
        ]
        self._weights = [weight for weight, _ in self._actions]

    def trigger_action(self) -> None:
        action_id = self.random.choice(list(self.window.actions_by_id.by_id))
        if not action_id.startswith(_NOT_TRIGGERED):
            self.window.actions_by_id[action_id].trigger()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> MainWindow:
    window = MainWindow(Theme("dark"), SettingsFile(tmp_path / "settings.toml"), Settings())
    qtbot.addWidget(window)
    window.show()
    WindowContents(window, SessionBridge())
    return window


def shown_and_recorded(bridge: SessionBridge, log: EventLog) -> tuple[object, object]:
    """Return the state that is shown, and the same one folded from the events."""
    at_ns = bridge.playhead.at_ns
    cursor = log.end if at_ns is None else log.cursor_at(at_ns)
    expected = folded(log, cursor)
    if at_ns is not None:
        expected.set_present(at_ns)
    return described(bridge.shown), described(expected)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("scene", ["1", "7", "8", "10"])
def test_that_random_operations_on_a_recording_do_no_harm(
    window: MainWindow, tmp_path: Path, scene: str
) -> None:
    log = scene_log(scene, 3)
    path = record(log, tmp_path / "a.tlrec", portion=700)
    window.open_path(path)
    bridge = window.bridge
    user = UserOfRecording(window, seed=OPERATIONS.start)

    for number in OPERATIONS:
        user.act()
        if number % _COMPARED_EVERY == 0:
            bridge.refresh_now()
            shown, recorded = shown_and_recorded(bridge, log)
            assert shown == recorded
    user.leave_dialogs()
    QApplication.processEvents()

    assert bridge.session is not None
    assert bridge.session.source_label == str(path)
    past = open_recording(path)
    assert past.notes == ()
    assert past.events(past.first, past.end) == log.slice(0, log.end)
