"""The actions that record: each asks for a command, and what became of it is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFileDialog

from inspector.sessions.commands import SaveLast, StartRecording, StopRecording
from inspector.timebase import NS_PER_SECOND

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.sessions.recorder import Recorder
    from inspector.sessions.session import Session

    from .actions import ActionSet
    from .session_bridge import SessionBridge
    from .theme import Theme

#: What the action without a question writes.
_SAVED_NS: Final = 30 * NS_PER_SECOND
_SUFFIX: Final = "tlrec"
_FILE_FILTER: Final = f"Recordings (*.{_SUFFIX})"
#: A file is ended by another thread, and nothing else may happen that would show it.
_LOOK_PERIOD_MS: Final = 200


class RecordingActions(QObject):
    """Starts and ends recordings of the bridge's session, and tells what became of them.

    Signals:
        written: A recording was ended; its path.
        failed: Something could not be recorded, or not any further; why, in a sentence.
    """

    written = Signal(object)  # Path
    failed = Signal(str)

    def __init__(
        self, bridge: SessionBridge, actions: ActionSet, theme: Theme, window: QWidget
    ) -> None:
        """Bind the actions.

        Args:
            bridge: Knows the session, and takes commands.
            actions: All actions of the window.
            theme: Where the colours of prompts come from.
            window: What prompts belong to.
        """
        super().__init__(window)
        self._bridge = bridge
        self._action = actions["record"]
        self._theme = theme
        self._window = window
        self._folder: Path | None = None
        self._recorder: Recorder | None = None
        self._files_told = 0
        self._was_recording = False
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_PERIOD_MS)
        self._look.timeout.connect(self._look_again)
        actions.bind(self)
        bridge.session_changed.connect(self._take_session)
        bridge.refreshed.connect(self._take_news)
        self._take_session(bridge.session)

    # ---------------------------------------------------------------- actions

    def toggle_recording(self) -> None:
        """Record to a new file, or end the recording."""
        recorder = self._recorder
        is_recording = recorder is not None and recorder.is_recording
        self._bridge.submit(StopRecording() if is_recording else StartRecording(""))

    def ask_where_to_record(self) -> None:
        """Ask for a file and record to it."""
        bridge = self._bridge
        dialog = QFileDialog(self._window, "Record to", str(self._folder or ""), _FILE_FILTER)
        dialog.setObjectName("record_dialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        # A recording never takes the place of a file, so do not ask as if it could.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setDefaultSuffix(_SUFFIX)

        def record(path: str) -> None:
            self._folder = Path(path).parent
            bridge.submit(StartRecording(path))

        dialog.fileSelected.connect(record)
        dialog.open()

    def save_last(self) -> None:
        """Write the last 30 seconds of session time to a new file."""
        self._save(_SAVED_NS)

    def ask_how_much_to_save(self) -> None:
        """Ask how much of the past is to be written to a new file."""
        from .dialogs.prompts import SaveLastPrompt  # noqa: PLC0415 - rarely needed

        prompt = SaveLastPrompt(self._theme, self._window)
        prompt.duration_given.connect(self._save)
        prompt.open()

    @Slot(object)
    def _save(self, duration_ns: int) -> None:
        self._bridge.submit(SaveLast("", duration_ns))

    # ---------------------------------------------------------------- state

    @Slot(object)
    def _take_session(self, session: Session | None) -> None:
        recorder: Recorder | None = getattr(session, "recorder", None)
        if recorder is not self._recorder:
            # The session that was closed has ended its files.
            self._report()
            self._recorder = recorder
            self._files_told = 0 if recorder is None else len(recorder.saved)
        self._take_news()

    @Slot(object)
    def _take_news(self, _news: object = None) -> None:
        recorder = self._recorder
        is_recording = recorder is not None and recorder.is_recording
        self._action.show_checked(is_recording)
        self._action.show_text(
            "Stop re&cording" if is_recording else self._action.description.title
        )
        self._report()
        if is_recording or (recorder is not None and recorder.is_saving):
            if not self._look.isActive():
                self._look.start()
        else:
            self._look.stop()
        if is_recording is not self._was_recording:
            self._was_recording = is_recording
            self._bridge.request_refresh()

    @Slot()
    def _look_again(self) -> None:
        """Look what the disk says while a held scene has nothing to say."""
        if self._recorder is not None:
            self._recorder.pump()
        self._take_news()

    def _report(self) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        files, self._files_told = recorder.saved[self._files_told :], len(recorder.saved)
        for path in files:
            self.written.emit(path)
        # Taken, so that the same problem is told again when it comes again.
        problem, recorder.problem = recorder.problem, ""
        if problem:
            self.failed.emit(problem)
