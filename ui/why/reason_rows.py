"""Why a timer has not fired, as rows of the details: each sentence leads to what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from inspector.analysis.evidence import Explanation, Reason, frame_at
from inspector.analysis.explain.explain import explain
from inspector.analysis.explain.story import CallStory
from inspector.analysis.predict.forecast import Forecast, scored_calls, tally_text
from inspector.analysis.predict.scores import Outcome
from inspector.calls.call import CallId
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant

from ..session.bridge import Selection
from .rows import DetailRow, Link, RowKind, heading, sentence

#: Seconds from one look at the past to the next while a session runs.
LOOK_EVERY_S: Final = 0.3
#: The same for what is gone: about that there is hardly anything new.
LOOK_AT_GONE_EVERY_S: Final = 3.0
#: So many events back a story is read, so that selecting a timer takes no time to speak of.
LONGEST_STORY: Final = 300_000
#: But no more than these at once, or a frame of the scene would wait.
READ_AT_ONCE: Final = 15_000


class WhyRows:
    """Explains what is selected, a few times a second at most, and goes on where it was.

    Attributes:
        is_reading: Whether the past was read in part only: see :meth:`read_on`.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Begin with nothing explained.

        Args:
            clock: Seconds, to tell how long ago the last look was.
        """
        self._clock = clock
        self._history: History | None = None
        self._story = CallStory(CallId(0))
        self._forecast = Forecast(CallId(0))
        self._rows: list[DetailRow] = []
        self._subject = ""
        self._state: tuple[object, ...] = ()
        self._looked_s = 0.0
        self._read_to = 0
        self.is_reading = False

    @property
    def subject(self) -> str:
        """What was explained last, in words."""
        return self._subject

    def rows(
        self, history: History, timeline: Timeline, call_id: CallId, *, is_live: bool
    ) -> list[DetailRow]:
        """Return why something is not called, or why it was when it was, and what was predicted.

        Args:
            history: The past to which the state belongs.
            timeline: The state that is shown.
            call_id: What is asked about, still there or not.
            is_live: Whether that is the present, which moves on by itself.
        """
        story, cursor = self._story, timeline.events_folded
        is_elsewhere = not story.first <= cursor <= story.cursor + LONGEST_STORY
        if history is not self._history or call_id != story.id or is_elsewhere:
            if history is not self._history or call_id != story.id:
                self._forecast = Forecast(call_id)
                self._subject = "…"
            self._history, self._state = history, ()
            self._story = CallStory(call_id, LONGEST_STORY)
            self._story.begin(history, cursor)
        self._read_to = cursor
        self.is_reading = self._unread > READ_AT_ONCE
        if self.is_reading:
            self._state = ()
            return [heading("Why"), sentence("Reading what happened …")]
        among = timeline.members.by_id if call_id.is_member else timeline.timers
        if self._is_due((timeline, call_id, call_id.number in among), timeline, is_live=is_live):
            self._story.read(history, cursor)
            story = self._story.as_of(cursor)
            explanation = explain(history, call_id, timeline.at_ns, timeline=timeline, story=story)
            self._take(explanation, timeline)
            if is_live:
                self._forecast.look(history, timeline)
                self._rows += tally_rows(self._forecast)
            else:
                self._rows += scored_rows(history, timeline, call_id)
        return self._rows

    def read_on(self) -> bool:
        """Read a part of the past; returns whether that was all, so that rows can be made."""
        history, story = self._history, self._story
        if history is not None and self._unread > 0:
            start = max(story.cursor, history.first)
            story.read(history, min(start + READ_AT_ONCE, self._read_to))
        self.is_reading = self._unread > 0
        return not self.is_reading

    @property
    def _unread(self) -> int:
        if self._history is None:
            return 0
        return self._read_to - max(self._story.cursor, self._history.first)

    def _is_due(self, state: tuple[object, ...], timeline: Timeline, *, is_live: bool) -> bool:
        now_s = self._clock()
        is_pending = bool(state[-1])
        every_s = LOOK_EVERY_S if is_pending else LOOK_AT_GONE_EVERY_S
        is_old = now_s - self._looked_s >= every_s
        # What is held, or lies in the past, changes by single steps: each is to be seen at once.
        if state == self._state and is_live and timeline.is_running and not is_old:
            return False
        self._state, self._looked_s = state, now_s
        return True

    def _take(self, explanation: Explanation, timeline: Timeline) -> None:
        self._subject = explanation.subject
        rows = [heading("Why"), sentence(explanation.headline)]
        rows += [
            reason_row(reason, timeline)
            for reason in explanation.reasons
            if reason.text != explanation.headline
        ]
        self._rows = rows


def tally_rows(forecast: Forecast) -> list[DetailRow]:
    """Return how many predictions came true in this panel; none while none was decided."""
    if not forecast.made:
        return []
    rows = [heading("Predictions"), DetailRow("So far", tally_text(forecast))]
    false = forecast.last_false
    if false is not None:
        rows.append(_score_row(false.prediction.at_ns, false.text))
    return rows


def scored_rows(history: History, timeline: Timeline, call_id: CallId) -> list[DetailRow]:
    """Return what was to be expected from an instant of the past, and what came of it."""
    scores = scored_calls(history, timeline, call_id)
    if not scores:
        return []
    rows = [heading("Predicted from here")]
    for each in scores:
        text = each.text if each.outcome is not Outcome.OPEN else f"Predicted. {each.text}"
        rows.append(_score_row(each.prediction.at_ns, text))
    return rows


def _score_row(at_ns: int, text: str) -> DetailRow:
    links = (Link(format_instant(at_ns), at_ns=at_ns), Link(f"  {text}"))
    return DetailRow("", "".join(link.text for link in links), RowKind.SENTENCE, links=links)


def reason_row(reason: Reason, timeline: Timeline) -> DetailRow:
    """Return one reason: its instant leads there, clocks and frames that it names to those."""
    links: list[Link] = []
    if reason.cursor is not None or reason.at_ns != timeline.at_ns:
        links += [Link(format_instant(reason.at_ns), at_ns=reason.at_ns), Link("  ")]
    rest = reason.text
    for name, selection in sorted(_named(reason, timeline), key=lambda named: rest.find(named[0])):
        before, found, after = rest.partition(name)
        if found:
            links += [Link(before), Link(found, selection)]
            rest = after
    links.append(Link(rest))
    pieces = tuple(link for link in links if link.text)
    text = "".join(link.text for link in pieces)
    if not any(link.address for link in pieces):
        return sentence(text)
    return DetailRow("", text, RowKind.SENTENCE, links=pieces)


def _named(reason: Reason, timeline: Timeline) -> list[tuple[str, Selection]]:
    """Return what a reason may mention, as it is written there, and what that leads to."""
    named: list[tuple[str, Selection]] = []
    clock = timeline.clocks.get(reason.clock_id)
    member = timeline.members.by_id.get(reason.member_id)
    if clock is not None:
        named.append((f"“{clock.name}”", Selection.clock(clock.id)))
    elif member is not None:
        named.append((f"“{member.name}”", Selection.member(member.id)))
    frames = timeline.frames
    frame = frame_at(timeline, reason.at_ns) if reason.frame is None else reason.frame
    if frame is not None and frames.first <= frame < frames.end:
        named.append((f"frame {frame:,}", Selection.frame(frame)))
    return named
