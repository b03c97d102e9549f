"""Whether predictions came true, and if not, what changed in between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from inspector.analysis.evidence import by_whom
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import (
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    NEVER,
    TICKS_MISSED,
    TIMER_CLEARED,
    TIMER_FIRED,
    RawEvent,
    rate_text,
)

if TYPE_CHECKING:
    from inspector.analysis.predict.timers import Prediction
    from inspector.events.history import History

_CLOCK_CHANGES = {CLOCK_MOVED, CLOCK_PAUSED, CLOCK_RATE, CLOCK_REMOVED, CLOCK_RESUMED}
_TIMER_EVENTS = {TICKS_MISSED, TIMER_CLEARED, TIMER_FIRED}


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


class _Events:
    """The events of the predicted timers and their clocks since the first prediction."""

    def __init__(self, history: History, start: int, end: int, made: list[Prediction]) -> None:
        self._history = history
        self._is_cut = start < end < history.end
        self._last_ns = history.last_ns
        timers = {prediction.timer_id for prediction in made}
        clocks = {number for prediction in made for number in prediction.path}
        self._of_timer: dict[int, list[tuple[int, RawEvent]]] = {}
        self._of_clock: list[tuple[int, RawEvent]] = []
        events = history.events(start, end)
        if self._is_cut and events:
            self._last_ns = events[-1][0]
        for cursor, event in enumerate(events, start):
            kind, subject = event[1], event[2]
            if kind in _TIMER_EVENTS and subject in timers:
                self._of_timer.setdefault(subject, []).append((cursor, event))
            elif kind in _CLOCK_CHANGES and subject in clocks:
                self._of_clock.append((cursor, event))

    def score(self, prediction: Prediction) -> Score:
        if prediction.cursor < self._history.first:
            return Score(prediction, Outcome.OPEN, "What followed is no longer in the log.")
        fired = self._firing(prediction)
        if fired is not None and fired[1][0] == prediction.at_ns:
            cursor, event = fired
            late_ns = event[3]
            late = f", {format_duration(late_ns)} late" if late_ns > 0 else ""
            text = f"It fired at {format_instant(event[0])} as predicted{late}."
            return Score(prediction, Outcome.TRUE, text, event[0], cursor)
        between = self._between(prediction)
        is_over = any(_is_last(event) for _, event in between)
        if fired is None and not is_over and self._last_ns <= prediction.at_ns:
            return self._open(prediction, between)
        return self._false(prediction, between, fired)

    def _open(self, prediction: Prediction, between: list[tuple[int, RawEvent]]) -> Score:
        if self._is_cut:
            text = "Too many events lie in between to check them all."
            return Score(prediction, Outcome.OPEN, text)
        if not between:
            return Score(prediction, Outcome.OPEN, "It is not due yet.")
        text = f"It is not due yet, but {self._changes_text(between)}."
        return Score(prediction, Outcome.OPEN, text, cursor=between[0][0])

    def _false(
        self,
        prediction: Prediction,
        between: list[tuple[int, RawEvent]],
        fired: tuple[int, RawEvent] | None,
    ) -> Score:
        if fired is None:
            text = f"It has not fired at {format_instant(prediction.at_ns)} as predicted"
        else:
            text = (
                f"It fired at {format_instant(fired[1][0])} instead of "
                f"{format_instant(prediction.at_ns)}"
            )
        reason = self._changes_text(between) if between else self._lateness(prediction, fired)
        if reason:
            text += f", because {reason}"
        cursor = between[0][0] if between else None if fired is None else fired[0]
        fired_ns = None if fired is None else fired[1][0]
        return Score(prediction, Outcome.FALSE, f"{text}.", fired_ns, cursor)

    def _lateness(self, prediction: Prediction, fired: tuple[int, RawEvent] | None) -> str:
        """Return how lateness delayed a call without a change; empty if it did not."""
        if fired is None or fired[1][0] < prediction.at_ns:
            return ""
        before = self._firing(replace(prediction, number=prediction.number - 1))
        if before is None or before[1][4] == prediction.due_ns:
            return "the host was late"
        at_ns, _, _, late_ns, _ = before[1]
        late = f"called {format_duration(late_ns)} late at {format_instant(at_ns)}"
        return f"it was {late} and its policy counts from there"

    def _firing(self, prediction: Prediction) -> tuple[int, RawEvent] | None:
        """Return the firing with the predicted number; extra calls do not count."""
        number, due_ns = 0, prediction.first_due_ns
        for cursor, event in self._of_timer.get(prediction.timer_id, ()):
            if cursor < prediction.cursor or event[1] != TIMER_FIRED:
                continue
            if not _is_extra(event, due_ns):
                number += 1
                if number == prediction.number:
                    return cursor, event
            due_ns = event[4]
        return None

    def _between(self, prediction: Prediction) -> list[tuple[int, RawEvent]]:
        """Return the changes that affected a prediction, earliest first."""
        found = [
            (cursor, event)
            for cursor, event in self._of_clock
            if cursor >= prediction.cursor
            and event[0] <= prediction.at_ns
            and event[2] in prediction.path
        ]
        due_ns = prediction.first_due_ns
        for cursor, event in self._of_timer.get(prediction.timer_id, ()):
            if cursor < prediction.cursor or event[0] > prediction.at_ns:
                continue
            if event[1] != TIMER_FIRED or _is_extra(event, due_ns):
                found.append((cursor, event))
            if event[1] == TIMER_FIRED:
                due_ns = event[4]
        found.sort()
        # Changes after its end do not matter.
        last = next((place for place, each in enumerate(found) if _is_last(each[1])), len(found))
        return found[: last + 1]

    def _changes_text(self, between: list[tuple[int, RawEvent]]) -> str:
        """Return the first change, and the first change of another kind if any, in words."""
        first = between[0][1]
        other = next((event for _, event in between if event[1] != first[1]), None)
        text = self._change_text(first)
        return text if other is None else f"{text}, and {self._change_text(other)}"

    def _change_text(self, event: RawEvent) -> str:  # noqa: PLR0911 - one case a kind
        at_ns, kind, subject, a, b = event
        state = self._history.state_before(self._history.cursor_at(at_ns))
        clock = state.clocks.get(subject)
        name = f"clock {subject}" if clock is None else f"“{clock.name}”"
        at = format_instant(at_ns)
        match kind:
            case x if x == CLOCK_PAUSED:
                return f"{name} was paused at {at} {by_whom(state, a)}"
            case x if x == CLOCK_RESUMED:
                return f"{name} was resumed at {at} {by_whom(state, a)}"
            case x if x == CLOCK_RATE:
                return f"{name} was set to rate {rate_text(a)} at {at} {by_whom(state, b)}"
            case x if x == CLOCK_MOVED:
                return f"{name} was moved at {at}"
            case x if x == CLOCK_REMOVED:
                return f"{name} was removed at {at}"
            case x if x == TIMER_CLEARED:
                return f"it was cleared at {at} {by_whom(state, b)}"
            case x if x == TICKS_MISSED:
                return f"the host was late at {at} and its policy skipped {a:,}"
            case _:
                return f"it was called outside its schedule at {at}"


def _is_last(event: RawEvent) -> bool:
    """Return whether an event ends a timer."""
    is_used_up = event[1] == TIMER_FIRED and event[4] == NEVER
    return is_used_up or event[1] in {CLOCK_REMOVED, TIMER_CLEARED}


def _is_extra(event: RawEvent, due_ns: int) -> bool:
    """Return whether a timer was called outside its schedule: early, or still due as before."""
    return event[3] < 0 or event[4] == due_ns
