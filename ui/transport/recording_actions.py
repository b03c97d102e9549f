"""The actions that record; each submits a command and reports its result."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from inspector.commands.recording import SaveLast, StartRecording, StopRecording
from inspector.foreign.paths import RECORDING_SUFFIX
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import Session
from inspector.timebase import NS_PER_SECOND, parse_duration_ns

from ..actions.actions import ActionSet
from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..kit.prompts import Prompt
from ..kit.save_dialog import SaveDialog
from ..kit.theme import Theme
from ..session.bridge import SessionBridge

#: Settings key of whether recordings have pictures.
_PICTURES: Final = "recording.pictures"
#: How much the action without a prompt writes, in nanoseconds.
_SAVED_NS: Final = 30 * NS_PER_SECOND


class RecordingActions(QObject):
    """Starts and stops recordings of the bridge's session, and reports their results."""

    begun = Signal(str)  # A recording has begun: to which file, and the size of its pictures
    written = Signal(object)  # Path: a recording was completed; its path
    failed = Signal(str)  # Something could not be recorded any more; the reason, as a sentence

    def __init__(
        self, bridge: SessionBridge, actions: ActionSet, theme: Theme, window: QWidget
    ) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._action, self._pictures_action = actions["record"], actions["record-pictures"]
        self._was_recording = False
        self._theme = theme
        self._window = window
        self._folder = Path()
        self._recorder: Recorder | None = None
        self._outcomes_shown = 0
        bridge.session_changed.connect(self._on_session_changed)
        bridge.facts_due.connect(self._on_refreshed)
        self._on_session_changed(bridge.session)

    def toggle_recording(self) -> None:
        recorder = self._recorder
        is_recording = recorder is not None and recorder.is_recording
        self._bridge.submit(StopRecording() if is_recording else StartRecording(""))

    def ask_where_to_record(self) -> None:
        # A recording never replaces a file, so do not offer to.
        dialog = SaveDialog(
            "Record to",
            self._folder,
            {RECORDING_SUFFIX: "Recordings"},
            self._window,
            asks_to_replace=False,
        )
        dialog.dialog.setObjectName("record_dialog")
        dialog.file_given.connect(self._record_to)
        dialog.open()

    @Slot(object)
    def _record_to(self, path: Path) -> None:
        self._folder = path.parent
        self._bridge.submit(StartRecording(str(path)))

    def save_last(self) -> None:
        self._save(_SAVED_NS)

    def ask_how_much_to_save(self) -> None:
        Prompt(
            "Save the last …",
            "Session time to save, counted back from now: 30, 250ms, 3 min or 02:10.5",
            lambda text: self._save(parse_duration_ns(text)),
            self._theme,
            self._window,
            proposed="30",
        ).open()

    def _save(self, duration_ns: int) -> None:
        if duration_ns <= 0:
            raise ValueError("there is nothing to save: type a duration above 0")
        self._bridge.submit(SaveLast("", duration_ns))

    def toggle_pictures(self) -> None:
        """Have recordings that begin from now on keep pictures of the scene, or leave them out."""
        self._bridge.panel_choices[_PICTURES] = "no" if self._keeps_pictures else "yes"
        self._on_refreshed()

    @property
    def _keeps_pictures(self) -> bool:
        return self._bridge.panel_choices.get(_PICTURES) != "no"

    @Slot(object)
    def _on_session_changed(self, session: Session | None) -> None:
        recorder = None if session is None else session.recorder
        if recorder is not self._recorder:
            # The former session is closed, so its files are complete.
            self._report()
            self._recorder = recorder
            self._outcomes_shown = 0 if recorder is None else recorder.outcome_count
        self._on_refreshed()

    @Slot(object)
    def _on_refreshed(self, _news: object = None) -> None:
        recorder = self._recorder
        is_recording = recorder is not None and recorder.is_recording
        self._action.set_checked(is_recording)
        self._action.set_text("Stop re&cording" if is_recording else self._action.description.title)
        self._pictures_action.set_checked(self._keeps_pictures)
        if recorder is not None:
            recorder.keeps_pictures = self._keeps_pictures
            if is_recording and not self._was_recording and recorder.path is not None:
                cost = recorder.picture_cost
                pictures = f"; pictures take about {cost}" if cost else ""
                self.begun.emit(f"Recording to {recorder.path.name}{pictures}")
        self._was_recording = is_recording
        self._report()

    def _report(self) -> None:
        """Report the results of recordings; errors last, so that they are read."""
        recorder = self._recorder
        if recorder is None:
            return
        outcomes = recorder.outcomes_since(self._outcomes_shown)
        self._outcomes_shown = recorder.outcome_count
        for outcome in sorted(outcomes, key=lambda each: bool(each.problem)):
            if outcome.problem:
                self.failed.emit(outcome.problem)
            else:
                self.written.emit(outcome.path)


RECORDING_ACTIONS: Final = (
    ActionDescription(
        "record", "Re&cord to a new file", MenuId.SCENE, RecordingActions.toggle_recording,
        shortcuts=("Ctrl+R",), icon="record", label="Record", needs=Needs.RECORD, is_checkable=True,
        starts_section=True,
        tip="Record the session to a file (.tlrec), including the past that is still in the log.",
    ),
    ActionDescription(
        "record-to", "Recor&d to …", MenuId.SCENE, RecordingActions.ask_where_to_record,
        needs=Needs.RECORD,
        tip="Choose the file to record to.",
    ),
    ActionDescription(
        "record-pictures", "Record pict&ures", MenuId.SCENE, RecordingActions.toggle_pictures,
        is_checkable=True,
        tip="Include the pictures of the scene in recordings that start from now on.",
    ),
    ActionDescription(
        "save-last", "&Save the last 30 seconds", MenuId.SCENE, RecordingActions.save_last,
        shortcuts=("Ctrl+Shift+S",), needs=Needs.SAVE,
        tip="Save the last 30 seconds of session time as a separate recording.",
    ),
    ActionDescription(
        "save-last-exact", "Sa&ve the last …", MenuId.SCENE, RecordingActions.ask_how_much_to_save,
        needs=Needs.SAVE,
        tip="Save a chosen length of the past as a separate recording.",
    ),
)  # fmt: skip
