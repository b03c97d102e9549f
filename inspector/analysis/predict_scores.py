"""Whether predictions came true; if not, what came between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
    TICKS_MISSED,
    TIMER_CLEARED,
    TIMER_FIRED,
    RawEvent,
    rate_text,
)

if TYPE_CHECKING:
    from inspector.analysis.predict import Prediction
    from inspector.trace.history import History

_CLOCK_CHANGES = {CLOCK_MOVED, CLOCK_PAUSED, CLOCK_RATE, CLOCK_REMOVED, CLOCK_RESUMED}
_TIMER_EVENTS = {TICKS_MISSED, TIMER_CLEARED, TIMER_FIRED}


class Outcome(Enum):
    """What became of a prediction."""

    TRUE = "came true"
    FALSE = "did not come true"
    OPEN = "not yet known"


@dataclass(frozen=True, slots=True)
class Score:
    """What became of a prediction.

    Attributes:
        prediction: What was predicted.
        outcome: What became of it.
        text: The same in a sentence, with what came between.
        fired_ns: Session instant at which it fired; ``None`` if it did not.
        cursor: Where the firing, or what came between, is in the log.
    """

    prediction: Prediction
    outcome: Outcome
    text: str
    fired_ns: int | None = None
    cursor: int | None = None


def score(predictions: Iterable[Prediction], history: History) -> list[Score]:
    """Return what became of predictions, as far as the past goes by now.

    Args:
        predictions: In any order; each remembers where the log was.
        history: The past, including what came after.
    """
    made = list(predictions)
    if not made:
        return []
    start = max(history.first, min(prediction.cursor for prediction in made))
    events = _Events(history, start, made)
    return [events.score(prediction) for prediction in made]


class _Events:
    """What happened to the timers and clocks of predictions since the first was made."""

    def __init__(self, history: History, start: int, made: list[Prediction]) -> None:
        self._history = history
        self._last_ns = history.last_ns
        self._start = start
        timers = {prediction.timer_id for prediction in made}
        clocks = {number for prediction in made for number in prediction.path}
        self._of_timer: dict[int, list[tuple[int, RawEvent]]] = {}
        self._of_clock: list[tuple[int, RawEvent]] = []
        for cursor, event in enumerate(history.events(start, history.end), start):
            kind, subject = event[1], event[2]
            if kind in _TIMER_EVENTS and subject in timers:
                self._of_timer.setdefault(subject, []).append((cursor, event))
            elif kind in _CLOCK_CHANGES and subject in clocks:
                self._of_clock.append((cursor, event))

    def score(self, prediction: Prediction) -> Score:
        if prediction.cursor < self._history.first:
            return Score(prediction, Outcome.OPEN, "What followed has fallen off the log.")
        number = 0
        for cursor, event in self._of_timer.get(prediction.timer_id, ()):
            if cursor < prediction.cursor or event[1] != TIMER_FIRED:
                continue
            number += 1
            if event[0] == prediction.at_ns and number == prediction.number:
                late_ns = event[3]
                late = f", {format_duration(late_ns)} late" if late_ns > 0 else ""
                text = f"It fired at {format_instant(event[0])} as predicted{late}."
                return Score(prediction, Outcome.TRUE, text, event[0], cursor)
        between = self._between(prediction)
        if between is None and self._last_ns <= prediction.at_ns:
            return Score(prediction, Outcome.OPEN, "Its time has not come yet.")
        return self._false(prediction, between)

    def _false(self, prediction: Prediction, between: tuple[int, RawEvent] | None) -> Score:
        fired = self._firing(prediction)
        if fired is None:
            text = f"It has not fired at {format_instant(prediction.at_ns)} as predicted"
        else:
            text = (
                f"It fired at {format_instant(fired[1][0])} instead of "
                f"{format_instant(prediction.at_ns)}"
            )
        if between is not None:
            text += f", because {self._change_text(between[1])}"
        cursor = between[0] if between is not None else None if fired is None else fired[0]
        fired_ns = None if fired is None else fired[1][0]
        return Score(prediction, Outcome.FALSE, f"{text}.", fired_ns, cursor)

    def _firing(self, prediction: Prediction) -> tuple[int, RawEvent] | None:
        """Return the firing whose number was predicted."""
        fires = [
            found
            for found in self._of_timer.get(prediction.timer_id, ())
            if found[0] >= prediction.cursor and found[1][1] == TIMER_FIRED
        ]
        return fires[prediction.number - 1] if len(fires) >= prediction.number else None

    def _between(self, prediction: Prediction) -> tuple[int, RawEvent] | None:
        """Return the first thing that changed what was predicted."""
        found = [
            (cursor, event)
            for cursor, event in self._of_clock
            if cursor >= prediction.cursor
            and event[0] <= prediction.at_ns
            and event[2] in prediction.path
        ]
        due_ns: int | None = None
        for cursor, event in self._of_timer.get(prediction.timer_id, ()):
            if cursor < prediction.cursor or event[0] > prediction.at_ns:
                continue
            is_extra = event[1] == TIMER_FIRED and (event[3] < 0 or event[4] == due_ns)
            if event[1] != TIMER_FIRED or is_extra:
                found.append((cursor, event))
            if event[1] == TIMER_FIRED:
                due_ns = event[4]
        return min(found, default=None)

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
                return f"{name} got the rate {rate_text(a)} at {at} {by_whom(state, b)}"
            case x if x == CLOCK_MOVED:
                return f"{name} was moved at {at}"
            case x if x == CLOCK_REMOVED:
                return f"{name} was removed at {at}"
            case x if x == TIMER_CLEARED:
                return f"it was cleared at {at} {by_whom(state, b)}"
            case x if x == TICKS_MISSED:
                return f"the host was late at {at} and its policy left out {a:,}"
            case _:
                return f"it was called besides its schedule at {at}"
