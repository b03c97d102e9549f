"""The choice of the loop of attached programs whose frames are shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from inspector.display_text import as_plain, one_line
from inspector.sessions.session import ShowsLoops
from inspector.vocabulary import LoopKind

from ..kit.guards import guarded

if TYPE_CHECKING:
    from ..session.bridge import SessionBridge

_LONGEST_NAME: Final = 30


@guarded
class LoopChoice(QToolButton):
    """Names the loop whose frames are shown, and lists the others; hidden without any."""

    def __init__(self, bridge: SessionBridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._shown: tuple[int, int] | None = None
        self.setAutoRaise(True)
        self.setAccessibleName("Loop whose frames are shown")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        # Its own, so that it is filled whenever it opens: numbers of frames grow.
        self.setMenu(QMenu(self))
        self.menu().aboutToShow.connect(self.list_loops)
        self.hide()

    @property
    def _session(self) -> ShowsLoops | None:
        session: object = self._bridge.session
        return session if isinstance(session, ShowsLoops) else None

    def refresh(self) -> None:
        """Show the loop again if it is another one, or if there are more."""
        timeline = self._bridge.timeline
        # Asked with every refresh: a check against a protocol takes thirty times as long.
        shown = (len(timeline.loops), timeline.frames_of)
        if shown == self._shown:
            return
        self._shown = shown
        session = self._session
        loops = () if session is None else session.loops
        chosen = [each.name for each in loops if session and each.clock_id == session.frames_of]
        self.setVisible(len(loops) > 1)
        name = one_line(chosen[0] if chosen else "no loop")
        end = "…" if len(name) > _LONGEST_NAME else ""
        self.setText(f"Frames of {name[:_LONGEST_NAME]}{end}".replace("&", "&&"))
        self.setToolTip(as_plain(f"The frames shown are of “{name}”, one of {len(loops)} loops"))

    @Slot()
    def list_loops(self) -> None:
        menu, session = self.menu(), self._session
        menu.clear()
        group = QActionGroup(menu)
        for loop in () if session is None else session.loops:
            frames = f"{loop.frames:,} frame{'s' * (loop.frames != 1)}"
            waits = loop.kind is LoopKind.WAITS_FOR_EVENTS
            what = f"{frames}, {loop.kind.text}" if waits else frames
            text = f"{one_line(loop.name)}  ·  {what}".replace("&", "&&")
            action = menu.addAction(text, partial(self._bridge.show_frames_of, loop.clock_id))
            group.addAction(action)
            action.setCheckable(True)
            action.setChecked(session is not None and loop.clock_id == session.frames_of)
