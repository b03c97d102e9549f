"""The reasons why a timer has not fired, as rows: each sentence leads to what it rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from msgspec import Struct

from inspector.analysis.evidence import Explanation, Reason
from inspector.analysis.explain.call_past import CallPast
from inspector.analysis.explain.explain import explain
from inspector.analysis.predict.forecast import Forecast, scored_calls, tally_text
from inspector.analysis.predict.scores import Outcome
from inspector.calls.call import CallId
from inspector.display_text import QUOTED, without_quotes
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant, late_text

from ..session.bridge import Selection
from .rows import DetailRow, LinkedText, RowKind, heading, note, opening, sentence, step

#: Seconds between explanations of a call while the session runs.
LOOK_EVERY_S: Final = 0.3
#: The same for a call that is gone: there is hardly anything new about it.
LOOK_AT_GONE_EVERY_S: Final = 3.0
#: A call is traced back over at most this many events, so that selecting a timer is quick.
LONGEST_PAST: Final = 300_000
#: At most this many events are read at once, or a frame of the scene would wait.
READ_AT_ONCE: Final = 15_000


#: At most this many reasons are shown until the user asks for more.
_MOST_STEPS: Final = 4
#: Ends the part of a sentence that is the link to its instant, unless a name comes first.
_CLAUSE_END: Final = re.compile(r"[,:;.](?:\s|$)")
_FRAME: Final = re.compile(r"\b[Ff]rame (\d[\d,]*)")


class Told(Struct, frozen=True):
    answer: str = ""  # The answer in one sentence
    fired: str = ""  # When it was last called and how late, in a sentence; empty if never
    chain: tuple[DetailRow, ...] = ()  # The reasons below their title; empty without any
    scores: tuple[DetailRow, ...] = ()  # What came of predictions
    about: Explanation | None = None  # What it was made of, None for nothing


class WhyRows:
    """Explains what is selected, at most a few times a second, reading the log only once."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Begin with nothing explained; ``clock`` returns seconds."""
        self._clock = clock
        self._history: History | None = None
        self._past = CallPast(CallId(0))
        self._forecast = Forecast(CallId(0))
        self._told = Told()
        self._is_whole = False
        self.subject = ""
        self._state: tuple[object, ...] = ()
        self._looked_s = 0.0
        self._read_to = 0
        self.is_reading = False  # Whether the past was read in part only: see read_on

    def rows(  # noqa: PLR0913 - the call, its past, and what is wanted
        self,
        history: History,
        timeline: Timeline,
        call_id: CallId,
        *,
        is_live: bool,
        is_whole: bool = False,
        can_pause: bool = False,
    ) -> Told:
        past, cursor = self._past, timeline.events_folded
        is_elsewhere = not past.first <= cursor <= past.cursor + LONGEST_PAST
        if history is not self._history or call_id != past.id or is_elsewhere:
            if history is not self._history or call_id != past.id:
                self._forecast = Forecast(call_id)
                self.subject = "…"
            self._history, self._state = history, ()
            self._past = CallPast(call_id, LONGEST_PAST)
            self._past.begin(history, cursor)
        self._read_to = cursor
        self.is_reading = self._unread > READ_AT_ONCE
        if self.is_reading:
            self._state = ()
            return Told("Reading what happened …")
        among = timeline.members.by_id if call_id.is_member else timeline.timers
        self._is_whole = is_whole
        state = (timeline, timeline.mapping_version, call_id, is_whole, call_id.number in among)
        if self._is_due(state, timeline, is_live=is_live):
            self._past.read(history, cursor)
            past = self._past.as_of(cursor)
            explanation = explain(history, call_id, timeline.at_ns, timeline=timeline, past=past)
            self.subject = without_quotes(explanation.subject)
            if is_live:
                self._forecast.update(history, timeline)
                scores = tally_rows(self._forecast)
            else:
                scores = scored_rows(history, timeline, call_id)
            chain = chain_rows(explanation, timeline, is_whole=self._is_whole)
            chain += helping_rows(explanation, timeline, can_pause=can_pause)
            headline = without_quotes(explanation.headline)
            self._told = Told(
                *(headline, _fired_text(past), tuple(chain), tuple(scores), explanation)
            )
        return self._told

    def read_on(self) -> bool:
        """Read a part of the past; returns whether that was all, so that rows can be made."""
        history, past = self._history, self._past
        if history is not None and self._unread > 0:
            start = max(past.cursor, history.first)
            past.read(history, min(start + READ_AT_ONCE, self._read_to))
        self.is_reading = self._unread > 0
        return not self.is_reading

    @property
    def _unread(self) -> int:
        if self._history is None:
            return 0
        return self._read_to - max(self._past.cursor, self._history.first)

    def _is_due(self, state: tuple[object, ...], timeline: Timeline, *, is_live: bool) -> bool:
        now_s = self._clock()
        is_pending = bool(state[-1])
        every_s = LOOK_EVERY_S if is_pending else LOOK_AT_GONE_EVERY_S
        is_old = now_s - self._looked_s >= every_s
        # A held session, or one shown in the past, changes in single steps, each shown at once.
        if state == self._state and is_live and timeline.is_running and not is_old:
            return False
        self._state, self._looked_s = state, now_s
        return True


def _fired_text(past: CallPast) -> str:
    last = past.last
    if last is None:
        return ""
    return f"Fired at {format_instant(last.at_ns)}, {late_text(last.late_ns)}."


def chain_rows(explanation: Explanation, timeline: Timeline, *, is_whole: bool) -> list[DetailRow]:
    """Return the reasons: first what happened, each with its instant, then what follows from it.

    Only the first unless the whole chain is wanted.
    """
    reasons = [
        each
        for each in explanation.reasons
        if each.text != explanation.headline and not each.helps_against
    ]
    happened = [each for each in reasons if _has_instant(each, timeline)]
    follows = [each for each in reasons if not (_has_instant(each, timeline) or each.is_number)]
    rows = [_step(each, timeline) for each in (happened if is_whole else happened[:_MOST_STEPS])]
    if len(happened) > _MOST_STEPS:
        more = len(happened) - _MOST_STEPS
        text = "Fewer reasons" if is_whole else f"{more:,} more"
        rows.append(opening(text, "whole", is_open=is_whole))
    rows += [_following(each) for each in follows]
    if not rows:
        return []
    return [heading("Why so late" if explanation.is_delayed else "Why"), *rows]


def helping_rows(
    explanation: Explanation, timeline: Timeline, *, can_pause: bool
) -> list[DetailRow]:
    """Return what helps against the function that keeps a loop or kept it the last time."""
    found = [each for each in explanation.reasons if each.helps_against]
    if not found:
        return []
    last = max(found, key=lambda each: each.at_ns)
    text = last.text
    if can_pause and last.at_ns == timeline.at_ns:
        text += f" Pause and rate take effect when {last.helps_against} returns."
    return [heading("What helps"), sentence(text)]


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
    said = LinkedText(f"  {without_quotes(text)}")
    links = (LinkedText(format_instant(at_ns), at_ns=at_ns), said)
    return DetailRow("", "".join(link.text for link in links), RowKind.SENTENCE, links=links)


def _following(reason: Reason) -> DetailRow:
    text = without_quotes(reason.text)
    if not reason.timer_id:
        return note(text)
    links = (LinkedText(text, Selection.timer(reason.timer_id)),)
    return DetailRow("", text, RowKind.SENTENCE, links=links)


def _has_instant(reason: Reason, timeline: Timeline) -> bool:
    return reason.cursor is not None or reason.at_ns != timeline.at_ns


def _step(reason: Reason, timeline: Timeline) -> DetailRow:
    """Return a reason with one link: to the frame that it names, else to its instant."""
    text = without_quotes(reason.text)
    frames, found = timeline.frames, _FRAME.search(text)
    index = int(found.group(1).replace(",", "")) if found else -1
    if found and frames.first <= index < frames.end:
        start, end = found.span()
        link = LinkedText(text[start:end], Selection.frame(index))
    else:
        start, end = 0, _clause_end(reason.text)
        link = LinkedText(text[:end], at_ns=reason.at_ns)
    pieces = (LinkedText(text[:start]), link, LinkedText(text[end:]))
    return step(when_text(reason.at_ns, reason.again_ns), (each for each in pieces if each.text))


def _clause_end(text: str) -> int:
    """Return where the link to the instant of a sentence ends, inside of quotation marks."""
    name, clause = QUOTED.search(text), _CLAUSE_END.search(text)
    end = len(text) if clause is None else clause.start()
    if name is not None and name.start() < end:
        return name.end() - 2
    return end


def when_text(at_ns: int, again_ns: Sequence[int]) -> str:
    """Return one or several instants: ``0:24.500``, ``0:25, 0:39 and 0:50``."""
    if not again_ns:
        return format_instant(at_ns)
    first, *others, last = (format_instant(each, 0) for each in (at_ns, *again_ns))
    if len(others) >= _MOST_STEPS - 1:
        return f"{first} to {last}"
    return f"{', '.join((first, *others))} and {last}"
