"""Whether predictions came true, and if not, what changed in between."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct, structs
from typing_extensions import override

from inspector.analysis.clock_changes import ClockChange, ClockChangeReader
from inspector.analysis.evidence import by_whom
from inspector.analysis.predict.timers import Prediction
from inspector.events.handlers import handlers_of
from inspector.events.history import History
from inspector.events.schema import ABOUT_CLOCKS, ABOUT_MEMBERS
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, Field, RawEvent, rate_text

#: Schedulers count in floating-point seconds; what they report is rounded.
_ROUNDING_NS: Final = 2


class Outcome(Enum):
    TRUE = "came true"
    FALSE = "did not come true"
    OPEN = "not yet known"


class Score(Struct, frozen=True):
    prediction: Prediction
    outcome: Outcome
    text: str  # The outcome in a sentence, with the change that prevented it
    fired_ns: int | None = None  # Session instant of the call; None if there was none
    cursor: int | None = None  # The firing, or the change, in the log


def score(
    predictions: Iterable[Prediction], history: History, most_events: int | None = None
) -> list[Score]:
    """Return the outcome of predictions within ``most_events`` of the log; others stay open."""
    made = list(predictions)
    if not made:
        return []
    start = max(history.first, min(prediction.cursor for prediction in made))
    wanted = history.end if most_events is None else min(history.end, start + most_events)
    end = history.whole_until(start, wanted)
    events = _Events(history, start, end, made, has_gap=end < wanted)
    return [events.score(prediction) for prediction in made]


class _Change(Struct, frozen=True):
    cursor: int
    at_ns: int
    clock_id: int
    kind: str  # Of changes of one kind, a sentence names only the first
    text: str  # The change in words
    cause: int | None = None  # Number of the command that made it; None if unknown
    more: str = ""  # The end of the sentence
    member_id: int = 0
    is_last: bool = False  # Whether it ended the timer


class _Firing(Struct, frozen=True):
    """A firing of a timer; an extra firing is early, or does not change when the timer is due."""

    cursor: int
    at_ns: int
    late_ns: int
    next_ns: int

    def is_extra(self, due_ns: int) -> bool:
        return self.late_ns < 0 or self.next_ns == due_ns


class _Events(ClockChangeReader):
    """The events of the predicted calls and their clocks since the first prediction."""

    def __init__(
        self, history: History, start: int, end: int, made: list[Prediction], *, has_gap: bool
    ) -> None:
        self._history = history
        self._has_gap = has_gap
        self._is_cut = start < end < history.end or has_gap
        self._last_ns = history.last_ns
        self._of_timer: dict[int, list[_Change | _Firing]] = {
            each.call.number: [] for each in made if not each.call.is_member
        }
        #: By member: its calls, each with its cursor and instant.
        self._calls: dict[int, list[tuple[int, int]]] = {
            each.call.number: [] for each in made if each.call.is_member
        }
        self._of_clock: list[_Change] = []
        self._of_member: list[_Change] = []
        #: By scheduler: its updates, each with its instant and cursor.
        self._updates: dict[int, list[tuple[int, int]]] = {
            each.scheduler_id: [] for each in made if each.scheduler_id
        }
        self._read(*history.numbered(start, end), made)

    def _read(
        self, cursors: Sequence[int], events: Sequence[RawEvent], made: list[Prediction]
    ) -> None:
        if self._is_cut:
            self._last_ns = events[-1][0] if events else self._history.first_ns
        clocks = {number for each in made for number in each.path}
        members = {number for each in made for number in each.members}
        steps = handlers_of(self)
        subjects: dict[int, Container[int]] = dict.fromkeys(steps, self._of_timer)
        subjects |= dict.fromkeys(ABOUT_CLOCKS, clocks) | dict.fromkeys(ABOUT_MEMBERS, members)
        for self.place, (at_ns, kind, subject, a, b) in zip(cursors, events, strict=True):
            if kind in steps and subject in subjects[kind]:
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
        change = _Change(self.place, at_ns, 0, "skip", "it was late", more=more)
        self._of_timer[timer_id].append(change)

    def _on_call_ended(self, at_ns: int, member_id: int, _began: int, _took: int) -> None:
        if member_id in self._calls:
            self._calls[member_id].append((self.place, at_ns))

    def _on_member_set(self, at_ns: int, member_id: int, field: int, value: int) -> None:
        if field == Field.PAUSED:
            text = "was paused" if value else "was resumed"
        elif field == Field.RATE:
            text = f"was set to time scale {rate_text(value)}"
        else:
            if field == Field.TIME and member_id in self._updates:
                self._updates[member_id].append((at_ns, self.place))
            return
        kind = f"{field} {bool(value)}"
        change = _Change(self.place, at_ns, 0, kind, text, member_id=member_id)
        self._of_member.append(change)

    def _on_member_removed(self, at_ns: int, member_id: int, _a: int, _b: int) -> None:
        change = _Change(self.place, at_ns, 0, "removal", "was unscheduled", member_id=member_id)
        self._of_member.append(structs.replace(change, is_last=True))

    def score(self, prediction: Prediction) -> Score:
        if prediction.cursor < self._history.first:
            return Score(prediction, Outcome.OPEN, "What followed is no longer in the log.")
        if prediction.call.is_member:
            return self._member_score(prediction)
        fired = self._firing(prediction)
        if fired is not None and fired.at_ns == prediction.at_ns:
            late = f", {format_duration(fired.late_ns)} late" if fired.late_ns > 0 else ""
            text = f"It fired at {format_instant(fired.at_ns)} as predicted{late}."
            return Score(prediction, Outcome.TRUE, text, fired.at_ns, fired.cursor)
        between = self._between(prediction, prediction.at_ns)
        is_over = any(change.is_last for change in between)
        if fired is None and not is_over and self._last_ns <= prediction.at_ns:
            return self._open(prediction, between)
        return self._false(prediction, between, fired)

    def _member_score(self, prediction: Prediction) -> Score:
        due_ns = update_ns = prediction.at_ns
        end_ns = due_ns + 1
        if prediction.scheduler_id:
            updates = self._updates[prediction.scheduler_id]
            place = bisect_left(updates, (due_ns - _ROUNDING_NS, prediction.cursor))
            instants = [at_ns for at_ns, _ in updates[place : place + 2]]
            update_ns, end_ns = (*instants, NEVER, NEVER)[:2]
        calls = self._calls[prediction.call.number]
        called = next((each for each in calls if each[0] >= prediction.cursor), None)
        if called is not None and update_ns <= called[1] < end_ns:
            text = f"It was called at {format_instant(called[1])} as predicted"
            if prediction.scheduler_id:
                text += f", in the first update from {format_instant(due_ns)} on"
            return Score(prediction, Outcome.TRUE, f"{text}.", called[1], called[0])
        between = self._between(prediction, min(update_ns, self._last_ns))
        is_over = any(change.is_last for change in between)
        if called is None and not is_over and self._last_ns <= update_ns:
            return self._open(prediction, between)
        fired = None if called is None or is_over else _Firing(*called, 0, NEVER)
        return self._false(prediction, between, fired, next_update_ns=end_ns)

    def _open(self, prediction: Prediction, between: list[_Change]) -> Score:
        if self._has_gap:
            return Score(prediction, Outcome.OPEN, "Its outcome is unknown: events are missing.")
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
        next_update_ns: int = NEVER,
    ) -> Score:
        was = "was called" if prediction.call.is_member else "fired"
        if fired is None:
            has_not = f"It {'was not called' if prediction.call.is_member else 'has not fired'}"
            text = f"{has_not} at {format_instant(prediction.at_ns)} as predicted"
        else:
            text = (
                f"It {was} at {format_instant(fired.at_ns)} instead of "
                f"{format_instant(prediction.at_ns)}"
            )
        if between:
            reason = self._changes_text(between)
        elif prediction.call.is_member:
            # Schedulers add up deltas as floating-point numbers, as the engines they imitate do.
            is_one_late = fired is not None and fired.at_ns == next_update_ns
            reason = "the sum of the deltas fell short of it by a rounding" * is_one_late
        else:
            reason = self._lateness(prediction, fired)
        if reason:
            text += f", because {reason}"
        cursor = between[0].cursor if between else None if fired is None else fired.cursor
        fired_ns = None if fired is None else fired.at_ns
        return Score(prediction, Outcome.FALSE, f"{text}.", fired_ns, cursor)

    def _lateness(self, prediction: Prediction, fired: _Firing | None) -> str:
        """Return how lateness delayed a call without a change; empty if it did not."""
        if fired is None or fired.at_ns < prediction.at_ns:
            return ""
        before = self._firing(structs.replace(prediction, number=prediction.number - 1))
        if before is None or before.next_ns == prediction.due_ns:
            return f"it was called {format_duration(fired.at_ns - prediction.at_ns)} late"
        late = f"called {format_duration(before.late_ns)} late at {format_instant(before.at_ns)}"
        return f"it was {late} and its policy counts from there"

    def _firing(self, prediction: Prediction) -> _Firing | None:
        """Return the firing with the predicted number; extra calls do not count."""
        number, due_ns = 0, prediction.first_due_ns
        for event in self._of_timer[prediction.call.number]:
            if event.cursor < prediction.cursor or not isinstance(event, _Firing):
                continue
            if not event.is_extra(due_ns):
                number += 1
                if number == prediction.number:
                    return event
            due_ns = event.next_ns
        return None

    def _between(self, prediction: Prediction, until_ns: int) -> list[_Change]:
        """Return the changes that affected a prediction up to an instant, earliest first."""
        since = prediction.cursor
        found = [
            change
            for changes, subjects in (
                (self._of_clock, prediction.path),
                (self._of_member, prediction.members),
            )
            for change in changes
            if change.cursor >= since
            and change.at_ns <= until_ns
            and (change.clock_id or change.member_id) in subjects
        ]
        due_ns = prediction.first_due_ns
        own = [] if prediction.call.is_member else self._of_timer[prediction.call.number]
        for event in own:
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
        # Changes after the end of the timer do not matter.
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
        elif change.member_id:
            member = state.members.by_id.get(change.member_id)
            name = "it " if member is None else f"“{member.name}” "
        who = "" if change.cause is None else f" {by_whom(state, change.cause)}"
        return f"{name}{change.text} at {format_instant(change.at_ns)}{who}{change.more}"
