"""Which frame budgets the window shows, and whose the first is."""

from __future__ import annotations

import math
from collections.abc import Iterable

from inspector.analysis.statistics.frame_budget import (
    DEFAULT_BUDGETS_MS,
    FrameBudget,
    budgets_after,
    drawing_loop,
    loop_budget,
    loop_rate,
)
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session, ShowsCapture
from inspector.timebase import NS_PER_MS

#: The usual frame is found again when this many frames have come, before that when they double.
_FRAMES_BITS = 12


class ShownBudgets:
    """The user's budgets; what a session asks for or does comes first until the user chooses.

    Attributes:
        shown_ms: All of them in milliseconds, the most important first.
        chosen_ms: Those of the user, for all sessions.
        own: The first, while it is the session's own; ``None`` while it is one of the user's.
    """

    def __init__(self) -> None:
        self.shown_ms: tuple[float, ...] = DEFAULT_BUDGETS_MS
        self.chosen_ms: tuple[float, ...] = DEFAULT_BUDGETS_MS
        self.own: FrameBudget | None = None
        self._chosen_in: Session | None = None
        self._known: tuple[object, ...] = ()

    def choose(self, budgets_ms: Iterable[float], session: Session | None) -> bool:
        """Take the user's budgets while that session is shown, and return whether these are news.

        Raises:
            ValueError: A budget is not above 0 and finite.
        """
        chosen = tuple(dict.fromkeys(budgets_ms))
        for budget_ms in chosen:
            if not (math.isfinite(budget_ms) and budget_ms > 0):
                raise ValueError(f"a frame budget must be above 0 ms: {budget_ms}")
        if self.own is not None and chosen[:1] == self.shown_ms[:1]:
            # The user has chosen other lines; the first is still the session's own.
            first, *others = chosen
            self.chosen_ms = (*others, first) if first in self.chosen_ms else tuple(others)
            return self._use(self.own)
        self.chosen_ms, self._chosen_in = chosen, session
        return self._use(None)

    def note(self, session: Session | None, timeline: Timeline) -> bool:
        """Look for what the session asks for or does, and return whether that is news."""
        if session is not self._chosen_in:
            self._chosen_in = None
        loop, clock_id = drawing_loop(timeline), timeline.frames_of
        about: object = None if session is None else session.frame_rate
        if loop is not None:
            rate, end = loop_rate(timeline), timeline.frames.end
            if not rate and self.own is not None and self._known[:2] == (session, clock_id):
                return False
            about = loop.asked_ns or end >> _FRAMES_BITS or -end.bit_length(), rate
        known = session, clock_id, about, self._chosen_in
        if known == self._known:
            return False
        self._known = known
        return self._use(self._found(session, timeline))

    def _found(self, session: Session | None, timeline: Timeline) -> FrameBudget | None:
        if session is None or isinstance(session, ShowsCapture):
            return None
        if session is self._chosen_in or not self.chosen_ms:
            return None
        rate = session.frame_rate
        found = loop_budget(timeline, rate, waits=session.waits, of="interval_ns")
        return found if found.origin or rate != DEFAULT_FRAME_RATE else None

    def _use(self, own: FrameBudget | None) -> bool:
        former = self.own, self.shown_ms
        self.own, self.shown_ms = own, self.chosen_ms
        if own is not None:
            self.shown_ms = budgets_after(own.budget_ns / NS_PER_MS, self.chosen_ms)
        return former != (self.own, self.shown_ms)
