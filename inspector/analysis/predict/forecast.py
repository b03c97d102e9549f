"""Predictions for a call and their outcomes: for a past instant, and while time passes."""

from __future__ import annotations

from typing import Final

from inspector.analysis.predict.scores import Outcome, Score, score
from inspector.analysis.predict.timers import Prediction, next_calls
from inspector.calls.call import CallId
from inspector.events.history import History
from inspector.events.timeline import Timeline

_MOST_CALLS: Final = 3
#: The most events to search for the outcome, which takes a few milliseconds.
MOST_EVENTS: Final = 50_000


def scored_calls(history: History, timeline: Timeline, call_id: CallId) -> list[Score]:
    """Return the predictions for a call from a state of the past, with their outcome."""
    return score(next_calls(timeline, call_id, _MOST_CALLS), history, MOST_EVENTS)


class Forecast:
    """Predicts the next call of a timer or call again and again, and counts what came true."""

    def __init__(self, call_id: CallId) -> None:
        self.call_id = call_id
        self.made = 0  # How many predictions have been decided
        self.came_true = 0  # How many of them came true
        self.last_false: Score | None = None
        self._open: Prediction | None = None

    def update(self, history: History, timeline: Timeline) -> None:
        """Decide the open prediction if possible, then predict the next call."""
        if self._open is not None and self._open.at_ns < timeline.at_ns:
            (found,) = score([self._open], history, MOST_EVENTS)
            if found.outcome is not Outcome.OPEN:
                self.made += 1
                self.came_true += found.outcome is Outcome.TRUE
                if found.outcome is Outcome.FALSE:
                    self.last_false = found
            if found.outcome is not Outcome.OPEN or history.last_ns > self._open.at_ns:
                self._open = None
        if self._open is None:
            self._open = next(iter(next_calls(timeline, self.call_id, 1)), None)


def tally_text(forecast: Forecast) -> str:
    calls = "call" if forecast.made == 1 else "calls"
    return f"{forecast.came_true:,} of {forecast.made:,} {calls} came exactly as predicted"
