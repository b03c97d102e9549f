"""The choice of whose frames are shown: a loop of attached programs, a stream of a trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from inspector.display_text import as_plain, counted, one_line
from inspector.sessions.session import ShowsCapture, ShowsLoops
from inspector.vocabulary import LoopKind

from ..kit.guards import guarded
from ..kit.layouts import ShorteningButton
from ..session.bridge import SessionBridge

_LONGEST_NAME: Final = 30


@guarded
class LoopChoice(ShorteningButton):
    """Names the loop or stream whose frames are shown, and lists the others; hidden without."""

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__(is_flush=True)
        self._bridge = bridge
        self._shown: tuple[int, int] | None = None
        self.setAutoRaise(True)
        self.setAccessibleName("Whose frames are shown")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        # A menu of its own, filled whenever it opens, because numbers of frames grow.
        self.setMenu(QMenu(self))
        self.menu().aboutToShow.connect(self.list_loops)
        self.hide()

    @property
    def _session(self) -> ShowsLoops | None:
        session: object = self._bridge.session
        return session if isinstance(session, ShowsLoops) else None

    def on_session_changed(self) -> None:
        self._shown = None
        self.refresh()
        capture: object = self._bridge.session
        if not isinstance(capture, ShowsCapture):
            return
        count = len(capture.streams)
        self.setVisible(count > 1 or (count > 0 and not capture.stream))
        if capture.stream:
            self._name(capture.stream, f"{count} streams")
        else:
            self.setText("Choose frames …")
            self.setToolTip(f"Choose which of {counted(count, 'stream')} stands for the frames")

    @Slot()
    def refresh(self) -> None:
        """Show the loop again if it is another one, or if there are more."""
        timeline = self._bridge.timeline
        # Compared first: isinstance with the protocol takes thirty times as long.
        shown = (len(timeline.loops), timeline.frames_of)
        if shown == self._shown:
            return
        self._shown = shown
        session = self._session
        loops = () if session is None else session.loops
        chosen = [each.name for each in loops if session and each.clock_id == session.frames_of]
        self.setVisible(len(loops) > 1)
        self._name(chosen[0] if chosen else "no loop", f"{len(loops)} loops")

    def _name(self, name: str, among: str) -> None:
        shown = one_line(name)
        end = "…" if len(shown) > _LONGEST_NAME else ""
        # It stands beside the word "Frames".
        self.setText(f"of {shown[:_LONGEST_NAME]}{end}".replace("&", "&&"))
        self.setToolTip(as_plain(f"The frames shown are of “{shown}”, one of {among}"))

    @Slot()
    def list_loops(self) -> None:
        menu, session = self.menu(), self._session
        menu.clear()
        group = QActionGroup(menu)
        capture: object = self._bridge.session
        if isinstance(capture, ShowsCapture):
            for name, count in capture.streams:
                text = f"{one_line(name or '(no name)')}  ·  {counted(count, 'frame')}"
                is_shown = name == capture.stream
                self._add(group, text, partial(self._choose_stream, name), is_on=is_shown)
        for loop in () if session is None else session.loops:
            frames = f"{loop.frames:,} frame{'s' * (loop.frames != 1)}"
            waits = loop.kind is LoopKind.WAITS_FOR_EVENTS
            what = f"{frames}, {loop.kind.text}" if waits else frames
            is_on = session is not None and loop.clock_id == session.frames_of
            show = partial(self._bridge.choose_loop, loop.clock_id)
            self._add(group, f"{one_line(loop.name)}  ·  {what}", show, is_on=is_on)

    def _add(
        self, group: QActionGroup, text: str, choose: Callable[[], object], *, is_on: bool
    ) -> None:
        action = self.menu().addAction(text.replace("&", "&&"), choose)
        group.addAction(action)
        action.setCheckable(True)
        action.setChecked(is_on)

    def _choose_stream(self, name: str) -> None:
        capture: object = self._bridge.session
        if isinstance(capture, ShowsCapture):
            capture.choose_stream(name)
            self._bridge.refresh_now()
