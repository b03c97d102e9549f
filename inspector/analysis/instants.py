"""Instants in a session's past, as typed: an instant, a frame, or a relative step.

An instant is ``02:10.5``, ``250ms`` or ``1.5``; a frame is ``frame 812``; a step is ``+1.5s``,
``-2 frames`` or ``+3 timers``. ``start`` and ``end`` are understood as well.
"""

from __future__ import annotations

import re
from typing import Final

from inspector.display_text import in_quotes
from inspector.errors import InspectorError
from inspector.events.frame_history import FrameHistory
from inspector.events.history import History
from inspector.events.schema import FIRINGS
from inspector.timebase import format_instant, parse_duration_ns

EXAMPLES: Final = "02:10.5, frame 812, +3 timers, -2 frames or +1.5s"

#: Events read at once.
_CHUNK: Final = 4_096
_SPACES: Final = re.compile(r"\s+")
_FRAME: Final = re.compile(r"(?:frame|f|#)\s*(?:number|no\.?)?\s*#?\s*(\d[\d,_ ]*)", re.IGNORECASE)
_COUNTED: Final = re.compile(r"([-+\N{MINUS SIGN}])\s*(\d+)?\s*(frame|timer)s?", re.IGNORECASE)
_RELATIVE: Final = re.compile(r"([-+\N{MINUS SIGN}])\s*(\S.*)")
_FIRST_WORDS: Final = frozenset({"start", "begin", "beginning", "first"})
_LAST_WORDS: Final = frozenset({"end", "newest", "last", "now", "live"})
#: Numbers with more digits are not frame numbers.
_MOST_DIGITS: Final = 18


class InstantError(InspectorError, ValueError):
    """There is no such instant; the message is a sentence that says why."""


class InstantFinder:
    def __init__(self, history: History, frames: FrameHistory, last_ns: int) -> None:
        self._history = history
        self._frames = frames
        self.first_ns = history.first_ns
        self.last_ns = max(last_ns, self.first_ns)

    def find(self, text: str, from_ns: int) -> int:
        typed = _SPACES.sub(" ", text.strip())
        word = typed.casefold()
        if word in _FIRST_WORDS or word in _LAST_WORDS:
            return self.first_ns if word in _FIRST_WORDS else self.last_ns
        if match := _FRAME.fullmatch(typed):
            return self.frame(_whole_number(match[1]))
        if match := _COUNTED.fullmatch(typed):
            count = _whole_number(match[2] or "1")
            hop = self.frames_from if match[3].casefold() == "frame" else self.timers_from
            return hop(from_ns, count if match[1] == "+" else -count)
        if match := _RELATIVE.fullmatch(typed):
            away_ns = self._duration(match[2], typed)
            return self._checked(from_ns + (away_ns if match[1] == "+" else -away_ns))
        return self._checked(self._duration(typed, typed))

    def _duration(self, text: str, typed: str) -> int:
        try:
            return parse_duration_ns(text)
        except ValueError:
            raise InstantError(f"{in_quotes(typed)} is not an instant: write {EXAMPLES}.") from None

    def _checked(self, at_ns: int) -> int:
        if at_ns < self.first_ns:
            known = "the session begins" if not self.first_ns else "the log begins"
            message = f"{format_instant(at_ns)} is too early: {known} at "
            raise InstantError(f"{message}{format_instant(self.first_ns)}.")
        if at_ns > self.last_ns:
            message = f"{format_instant(at_ns)} is in the future: it is now "
            raise InstantError(f"{message}{format_instant(self.last_ns)}.")
        return at_ns

    def frame(self, index: int) -> int:
        frames = self._frames
        if not len(frames):
            raise InstantError(f"There is no frame {index:,}: none has run yet.")
        at_ns = -1
        if frames.first <= index < frames.end:
            at_ns = frames.at_ns[index - frames.first]
        if at_ns < self.first_ns:
            known = f"frames {self._first_known():,} to {frames.end - 1:,} are available"
            raise InstantError(f"There is no frame {index:,}: {known}.")
        return at_ns

    def frames_from(self, at_ns: int, steps: int) -> int:
        """Return the beginning of the frame ``steps`` frames later, or earlier if it is below 0.

        Between two frames, a single step leads to the beginning of the next or the previous one.
        """
        if not steps:
            return self._checked(at_ns)
        frames = self._frames
        index = frames.index_at(at_ns) - 1
        is_between = index < frames.first or frames.at_ns[index - frames.first] < at_ns
        wanted = index + steps + (1 if is_between and steps < 0 else 0)
        if not self._first_known() <= wanted < frames.end:
            raise InstantError(self._no_more("frame", abs(steps), steps > 0))
        return frames.at_ns[wanted - frames.first]

    def _first_known(self) -> int:
        return self._frames.index_at(self.first_ns - 1)

    def timers_from(self, at_ns: int, steps: int) -> int:
        """Return the instant ``steps`` timer firings later, or earlier if it is below 0.

        Timers that fire at the same instant count once.
        """
        if not steps:
            return self._checked(at_ns)
        found = self._fires_after(at_ns, steps) if steps > 0 else self._fires_before(at_ns, -steps)
        if found is None:
            raise InstantError(self._no_more("timer", abs(steps), steps > 0))
        return found

    def _fires_after(self, at_ns: int, count: int) -> int | None:
        history = self._history
        cursor, end = history.cursor_at(at_ns), history.end
        newest = at_ns
        while cursor < end:
            for event_ns, kind, *_ in history.events(cursor, cursor + _CHUNK):
                if kind in FIRINGS and event_ns > newest:
                    newest, count = event_ns, count - 1
                    if not count:
                        return newest
            cursor += _CHUNK
        return None

    def _fires_before(self, at_ns: int, count: int) -> int | None:
        history = self._history
        cursor, first = history.cursor_at(at_ns - 1), history.first
        oldest = at_ns
        while cursor > first:
            start = max(cursor - _CHUNK, first)
            for event_ns, kind, *_ in reversed(history.events(start, cursor)):
                if kind in FIRINGS and event_ns < oldest:
                    oldest, count = event_ns, count - 1
                    if not count:
                        return max(oldest, self.first_ns)
            cursor = start
        return None

    @staticmethod
    def _no_more(what: str, count: int, is_forward: bool) -> str:  # noqa: FBT001
        where = "after" if is_forward else "before"
        happened = "began" if what == "frame" else "fired"
        many = f"No {what}" if count == 1 else f"Fewer than {count:,} {what}s"
        return f"{many} {happened} {where} this instant."


def _whole_number(text: str) -> int:
    digits = re.sub(r"[,_ ]", "", text)
    if len(digits) > _MOST_DIGITS:
        raise InstantError(f"{digits[:6]}… is too large a number.")
    return int(digits)
