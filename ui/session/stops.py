"""Stops of the session: a breakpoint, a failure, a program that has gone."""

from __future__ import annotations

from msgspec import structs
from PySide6.QtCore import QObject, Signal, Slot

from inspector.commands.breakpoints import ChangeBreakpoint
from inspector.display_text import without_quotes
from inspector.events.conditions.breakpoint import BreakKind
from inspector.events.states import BreakHit
from inspector.events.timeline import Timeline
from inspector.sessions.session import AttachesPrograms, Session, SessionPhase
from inspector.timebase import format_duration

from .bridge import SessionBridge
from .selection import Selection


class StopNotices(QObject):
    """Says in one sentence what stopped the session, and selects the frame of a new stop."""

    changed = Signal()  # The sentence has changed

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__(bridge)
        self._bridge = bridge
        self.sentence = ""  # What stopped it; empty while nothing did, or while you look back
        self.hit: BreakHit | None = None
        self._told_hits: tuple[Timeline | None, int] = (None, 0)
        for changed in (bridge.status_changed, bridge.session_changed, bridge.playhead_changed):
            changed.connect(self._find_hit)
        bridge.facts_due.connect(self._refresh)
        self._find_hit()

    @classmethod
    def of(cls, bridge: SessionBridge) -> StopNotices:
        return bridge.findChild(cls) or cls(bridge)

    @Slot()
    @Slot(object)
    def _find_hit(self, _what: object = None) -> None:
        timeline, number = self._bridge.timeline, self._bridge.status.breakpoint
        hits = timeline.hits
        self.hit = None
        if number:
            self.hit = next((hit for hit in reversed(hits) if hit.number == number), None)
            told, self._told_hits = self._told_hits, (timeline, len(hits))
            if self.hit is not None and told != self._told_hits:
                # The hit is the newest, so the view need not move.
                self._bridge.select(Selection.frame(self.hit.frame))
        self._update_sentence()

    @Slot()
    def _refresh(self) -> None:
        if self._bridge.status.breakpoint and self.hit is None:
            # The report of the hit comes a moment after the program has held itself.
            self._find_hit()
        elif self.sentence:
            self._update_sentence()

    def _update_sentence(self) -> None:
        is_past = self._bridge.playhead_ns is not None
        sentence = "" if is_past else without_quotes(self._sentence())
        if sentence != self.sentence:
            self.sentence = sentence
            self.changed.emit()

    def _sentence(self) -> str:
        status = self._bridge.status
        if self.hit is not None:
            return self._hit_sentence(self.hit)
        has_failed = status.phase is SessionPhase.HELD and status.detail
        session = self._bridge.session
        has_lost = session is not None and _has_lost_programs(session)
        return status.message if has_failed or has_lost else ""

    def _hit_sentence(self, hit: BreakHit) -> str:
        session, frames = self._bridge.session, self._bridge.timeline.frames
        known = None if session is None else session.breakpoints
        found = None if known is None else known.get(hit.number)
        place = hit.frame - frames.first
        if (
            found is not None
            and found.kind is BreakKind.FRAME_ABOVE
            and 0 <= place < len(frames.interval_ns)
        ):
            took, limit = (
                format_duration(each) for each in (frames.interval_ns[place], found.limit_ns)
            )
            return f"Stopped: frame {hit.frame:,} took {took}, over {limit}."
        if not frames.end and not self._bridge.timeline.scene_path:
            # A program without frames.
            return f"Stopped: {hit.text}."
        return f"Stopped in frame {hit.frame:,}: {hit.text}."

    @Slot()
    def reveal_frame(self) -> None:
        if self.hit is not None:
            self._bridge.reveal_frame(self.hit.frame)

    @Slot()
    def disable_breakpoint(self) -> None:
        """Turn the breakpoint off that stopped the scene; it stays in the list."""
        session, hit = self._bridge.session, self.hit
        known = None if session is None else session.breakpoints
        found = None if known is None or hit is None else known.get(hit.number)
        if hit is not None and found is not None:
            self._bridge.submit(
                ChangeBreakpoint(hit.number, structs.replace(found, is_enabled=False))
            )
            self._bridge.request_refresh()


def _has_lost_programs(session: Session) -> bool:
    """Return whether there were programs, and others may still connect."""
    is_waiting = session.status.phase is SessionPhase.WAITING
    if not is_waiting or not isinstance(session, AttachesPrograms) or not session.programs:
        return False
    return not any(each.is_attached for each in session.programs.values())
