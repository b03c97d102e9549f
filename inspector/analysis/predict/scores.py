"""Whether predictions came true, and if not, what changed in between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from typing_extensions import override

from inspector.analysis.clock_changes import ClockChangeReader
from inspector.analysis.evidence import by_whom
from inspector.events.handlers import handlers_of
from inspector.events.schema import ABOUT_CLOCKS
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from inspector.analysis.clock_changes import ClockChange
    from inspector.analysis.predict.timers import Prediction
    from inspector.events.history import History


class Outcome(Enum):
    """The outcome of a prediction."""

    TRUE = "came true"
    FALSE = "did not come true"
    OPEN = "not yet known"


@dataclass(frozen=True, slots=True)
class Score:
    """A prediction and its outcome.

    Attributes:
        prediction: The prediction.
        outcome: Its outcome.
        text: The outcome in a sentence, with the change that prevented it.
        fired_ns: Session instant at which the timer fired; ``None`` if it did not.
        cursor: The firing, or the change, in the log.
    """

    prediction: Prediction
    outcome: Outcome
    text: str
    fired_ns: int | None = None
    cursor: int | None = None


def score(
    predictions: Iterable[Prediction], history: History, most_events: int | None = None
) -> list[Score]:
    """Return the outcome of predictions, as far as the log goes.

    Args:
        predictions: In any order; each has its cursor in the log.
        history: The past, including later events.
        most_events: The most events to search, by default all; later predictions stay open.
    """
    made = list(predictions)
    if not made:
        return []
    start = max(history.first, min(prediction.cursor for prediction in made))
    end = history.end if most_events is None else min(history.end, start + most_events)
    events = _Events(history, start, end, made)
    return [events.score(prediction) for prediction in made]


@dataclass(frozen=True, slots=True)
class _Change:
    """What made a prediction false.

    Attributes:
        cursor: Its event.
        at_ns: Session instant.
        clock_id: The clock it is about, 0 for the timer.
        kind: Changes of one kind are told once.
        text: What was done.
        cause: Number of the command that did it; ``None`` if unknown.
        more: What follows in the sentence.
        is_last: Whether it ended the timer.
    """

    cursor: int
    at_ns: int
    clock_id: int
    kind: str
    text: str
    cause: int | None = None
    more: str = ""
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class _Firing:
    """A firing of a timer; an extra one is early, or leaves the timer due as before."""

    cursor: int
    at_ns: int
    late_ns: int
    next_ns: int

    def is_extra(self, due_ns: int) -> bool:
        return self.late_ns < 0 or self.next_ns == due_ns


class _Events(ClockChangeReader):
    """The events of the predicted timers and their clocks since the first prediction."""

    def __init__(self, history: History, start: int, end: int, made: list[Prediction]) -> None:
        self._history = history
        self._is_cut = start < end < history.end
        self._last_ns = history.last_ns
        clocks = {number for prediction in made for number in prediction.path}
        self._of_timer: dict[int, list[_Change | _Firing]] = {
            prediction.timer_id: [] for prediction in made
        }
        self._of_clock: list[_Change] = []
        events = history.events(start, end)
        if self._is_cut and events:
            self._last_ns = events[-1][0]
        steps = handlers_of(self)
        for self.place, (at_ns, kind, subject, a, b) in enumerate(events, start):
            if kind in steps and subject in (clocks if kind in ABOUT_CLOCKS else self._of_timer):
                steps[kind](at_ns, subject, a, b)

    @override
    def changed(self, change: ClockChange) -> None:
        found = _Change(
            *(change.cursor, change.at_ns, change.clock_id, change.kind, f"was {change.text}"),
            cause=change.cause,
            is_last=change.kind == "removal",
        )
        self._of_clock.append(found)

    def _on_timer_fired(self, at_ns: int, timer_id: int, late_ns: int, next_ns: int) -> None:
        self._of_timer[timer_id].append(_Firing(self.place, at_ns, late_ns, next_ns))

    def _on_timer_cleared(self, at_ns: int, timer_id: int, _site: int, cause: int) -> None:
        change = _Change(self.place, at_ns, 0, "clear", "it was cleared", cause, is_last=True)
        self._of_timer[timer_id].append(change)

    def _on_ticks_missed(self, at_ns: int, timer_id: int, ticks: int, _kind: int) -> None:
        more = f" and its policy skipped {ticks:,}"
        change = _Change(self.place, at_ns, 0, "skip", "the host was late", more=more)
        self._of_timer[timer_id].append(change)

    def score(self, prediction: Prediction) -> Score:
        if prediction.cursor < self._history.first:
            return Score(prediction, Outcome.OPEN, "What followed is no longer in the log.")
        fired = self._firing(prediction)
        if fired is not None and fired.at_ns == prediction.at_ns:
            late = f", {format_duration(fired.late_ns)} late" if fired.late_ns > 0 else ""
            text = f"It fired at {format_instant(fired.at_ns)} as predicted{late}."
            return Score(prediction, Outcome.TRUE, text, fired.at_ns, fired.cursor)
        between = self._between(prediction)
        is_over = any(change.is_last for change in between)
        if fired is None and not is_over and self._last_ns <= prediction.at_ns:
            return self._open(prediction, between)
        return self._false(prediction, between, fired)

    def _open(self, prediction: Prediction, between: list[_Change]) -> Score:
        if self._is_cut:
            text = "Too many events lie in between to check them all."
            return Score(prediction, Outcome.OPEN, text)
        if not between:
            return Score(prediction, Outcome.OPEN, "It is not due yet.")
        text = f"It is not due yet, but {self._changes_text(between)}."
        return Score(prediction, Outcome.OPEN, text, cursor=between[0].cursor)

    def _false(
        self,
        prediction: Prediction,
        between: list[_Change],
        fired: _Firing | None,
    ) -> Score:
        if fired is None:
            text = f"It has not fired at {format_instant(prediction.at_ns)} as predicted"
        else:
            text = (
                f"It fired at {format_instant(fired.at_ns)} instead of "
                f"{format_instant(prediction.at_ns)}"
            )
        reason = self._changes_text(between) if between else self._lateness(prediction, fired)
        if reason:
            text += f", because {reason}"
        cursor = between[0].cursor if between else None if fired is None else fired.cursor
        fired_ns = None if fired is None else fired.at_ns
        return Score(prediction, Outcome.FALSE, f"{text}.", fired_ns, cursor)

    def _lateness(self, prediction: Prediction, fired: _Firing | None) -> str:
        """Return how lateness delayed a call without a change; empty if it did not."""
        if fired is None or fired.at_ns < prediction.at_ns:
            return ""
        before = self._firing(replace(prediction, number=prediction.number - 1))
        if before is None or before.next_ns == prediction.due_ns:
            return "the host was late"
        late = f"called {format_duration(before.late_ns)} late at {format_instant(before.at_ns)}"
        return f"it was {late} and its policy counts from there"

    def _firing(self, prediction: Prediction) -> _Firing | None:
        """Return the firing with the predicted number; extra calls do not count."""
        number, due_ns = 0, prediction.first_due_ns
        for event in self._of_timer[prediction.timer_id]:
            if event.cursor < prediction.cursor or not isinstance(event, _Firing):
                continue
            if not event.is_extra(due_ns):
                number += 1
                if number == prediction.number:
                    return event
            due_ns = event.next_ns
        return None

    def _between(self, prediction: Prediction) -> list[_Change]:
        """Return the changes that affected a prediction, earliest first."""
        since, until_ns = prediction.cursor, prediction.at_ns
        found = [
            change
            for change in self._of_clock
            if change.cursor >= since
            and change.at_ns <= until_ns
            and change.clock_id in prediction.path
        ]
        due_ns = prediction.first_due_ns
        for event in self._of_timer[prediction.timer_id]:
            if event.cursor < since or event.at_ns > until_ns:
                continue
            if isinstance(event, _Change):
                found.append(event)
                continue
            if event.is_extra(due_ns):
                text = "it was called outside its schedule"
                at = event.cursor, event.at_ns
                found.append(_Change(*at, 0, "call", text, is_last=event.next_ns == NEVER))
            due_ns = event.next_ns
        found.sort(key=lambda change: change.cursor)
        # Changes after its end do not matter.
        last = next((place for place, each in enumerate(found) if each.is_last), len(found))
        return found[: last + 1]

    def _changes_text(self, between: list[_Change]) -> str:
        """Return the first change, and the first change of another kind if any, in words."""
        first = between[0]
        other = next((change for change in between if change.kind != first.kind), None)
        text = self._change_text(first)
        return text if other is None else f"{text}, and {self._change_text(other)}"

    def _change_text(self, change: _Change) -> str:
        state = self._history.state_before(self._history.cursor_at(change.at_ns))
        name = ""
        if change.clock_id:
            clock = state.clocks.get(change.clock_id)
            name = f"clock {change.clock_id} " if clock is None else f"“{clock.name}” "
        who = "" if change.cause is None else f" {by_whom(state, change.cause)}"
        return f"{name}{change.text} at {format_instant(change.at_ns)}{who}{change.more}"
