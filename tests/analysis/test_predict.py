"""Predictions come true unless something changes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.predict.command_preview import preview
from inspector.analysis.predict.forecast import Forecast
from inspector.analysis.predict.preview_result import DuePreview, Preview
from inspector.analysis.predict.scores import Outcome, score
from inspector.analysis.predict.timers import Prediction, next_fires, upcoming, waiting
from inspector.calls.call import CallId
from inspector.clocks import Clock, ClockTree
from inspector.commands.clocks import ClockCommand, PauseClock, ResumeClock, SetRate
from inspector.commands.command import ClockEffect, Command
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.vocabulary import CLOCK_MOVED, TIMER_FIRED

MS = 1_000_000
SECOND = 1_000_000_000


class Moved(ClockCommand, frozen=True):
    """A clock is moved under another; no session is involved."""

    clock_id: int
    parent_id: int

    def effect(self, timeline: Timeline) -> ClockEffect:
        event = timeline.at_ns, CLOCK_MOVED, self.clock_id, self.parent_id, 0
        return ClockEffect("Moving it", self.clock_id, event)


def foreseen_of(timeline: Timeline, command: Command) -> Preview:
    found = preview(timeline, command)
    assert found is not None
    return found


class Stand:
    """A clock tree with its past."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.history = LogHistory(self.log)

    @property
    def root(self) -> Clock:
        return self.tree.root

    def timeline(self) -> Timeline:
        return self.history.state_at(self.tree.now_ns)

    def fires_of(self, timer_id: int) -> list[int]:
        return [
            event[0]
            for event in self.log.read(0).events
            if event[1] == TIMER_FIRED and event[2] == timer_id
        ]


RATES = st.sampled_from(["0", "1/7", "1/3", "0.25", "1", "1", "3/2", "2", "60", "1.0001"])


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Stand, list[Clock]]:
    """Random clocks and timers, after random operations and some time."""
    stand = Stand()
    clocks = [stand.root]
    for number in range(draw(st.integers(0, 4))):
        parent = draw(st.sampled_from(clocks))
        clocks.append(parent.child(f"clock {number}", rate=draw(RATES)))
    for _ in range(draw(st.integers(1, 12))):
        clock = draw(st.sampled_from(clocks))
        match draw(st.integers(0, 6)):
            case 0:
                clock.set_timeout_ns(draw(st.integers(0, 3 * SECOND)), int)
            case 1 | 2:
                clock.set_interval_ns(
                    draw(st.integers(20 * MS, SECOND)),
                    int,
                    missed=draw(st.sampled_from(["burst", "delay", "skip"])),
                    delay_ns=draw(st.none() | st.integers(0, SECOND)),
                )
            case 3:
                clock.rate = draw(RATES)
            case 4:
                clock.pause()
            case 5:
                clock.resume()
            case _:
                stand.tree.run_to(stand.tree.now_ns + draw(st.integers(0, SECOND)))
    return stand, clocks


@given(scenes())
def test_that_what_is_predicted_is_exactly_what_happens_if_nothing_is_changed(
    scene: tuple[Stand, list[Clock]],
) -> None:
    stand, _ = scene
    timeline, cursor = stand.timeline(), stand.log.end
    until_ns = stand.tree.now_ns + 2 * SECOND
    foreseen = upcoming(timeline, until_ns, most=200_000)
    single = {
        timer_id: next_fires(timeline, timer_id, until_ns, most=200_000)
        for timer_id in timeline.timers.ids()
    }

    stand.tree.run_to(until_ns)

    happened = [
        (event[2], event[0])
        for event in stand.log.slice(cursor, stand.log.end)
        if event[1] == TIMER_FIRED
    ]
    assert sorted((each.call.number, each.at_ns) for each in foreseen) == sorted(happened)
    for timer_id, instants in single.items():
        assert instants == [at_ns for each, at_ns in happened if each == timer_id]


@given(scenes())
def test_that_every_prediction_comes_true_when_nothing_is_changed(
    scene: tuple[Stand, list[Clock]],
) -> None:
    stand, _ = scene
    foreseen = upcoming(stand.timeline(), stand.tree.now_ns + SECOND, most=200)

    stand.tree.run_to(stand.tree.now_ns + SECOND + 1)
    stand.root.set_timeout(1, int)

    assert all(each.outcome is Outcome.TRUE for each in score(foreseen, stand.history))


@given(scenes(), st.data())
def test_that_a_preview_says_what_the_state_is_after_the_change(
    scene: tuple[Stand, list[Clock]], data: st.DataObject
) -> None:
    stand, clocks = scene
    clock = data.draw(st.sampled_from(clocks))
    timeline = stand.timeline()
    outside = [each for each in clocks if each.id not in timeline.branch(clock.id)]
    change: ClockCommand
    match data.draw(st.integers(0, 3)):
        case 0:
            change = PauseClock(clock.id)
        case 1:
            change = ResumeClock(clock.id)
        case 2 if outside and clock is not stand.root:
            change = Moved(clock.id, data.draw(st.sampled_from(outside)).id)
        case _:
            change = SetRate(clock.id, Fraction(data.draw(RATES)))

    foreseen = foreseen_of(timeline, change)
    _make(change, {each.id: each for each in clocks})

    after = stand.timeline()
    assert len(foreseen) == sum(
        row.clock_id in timeline.branch(clock.id)
        for row in map(timeline.timers.row, timeline.timers.ids())
    )
    for each in foreseen:
        for state, said_ns in ((timeline, each.old_ns), (after, each.new_ns)):
            due_ns = state.session_due_ns(each.call.number)
            assert said_ns == (None if due_ns is None else max(due_ns, state.at_ns))


def _make(change: ClockCommand, clocks: dict[int, Clock]) -> None:
    clock = clocks[change.clock_id]
    match change:
        case PauseClock():
            clock.pause()
        case ResumeClock():
            clock.resume()
        case SetRate(_, rate):
            clock.rate = rate
        case Moved(_, parent_id):
            clock.move_to(clocks[parent_id])


def test_that_an_interval_is_predicted_by_count_so_that_nothing_drifts() -> None:
    stand = Stand()
    third = stand.root.child("third", rate="1/3")
    timer = third.set_interval_ns(100 * MS + 1, int)

    instants = next_fires(stand.timeline(), timer.id, 3_600 * SECOND, most=12_000)

    assert instants[0] == 3 * (100 * MS + 1)
    assert instants[-1] == 3 * len(instants) * (100 * MS + 1)


def test_that_nothing_is_predicted_for_a_paused_clock_or_behind_the_horizon() -> None:
    stand = Stand()
    game = stand.root.child("game")
    paused, late = game.set_timeout(1, int), stand.root.set_timeout(5, int)
    game.pause()

    timeline = stand.timeline()

    assert next_fires(timeline, paused.id, 10 * SECOND) == []
    assert next_fires(timeline, late.id, 4 * SECOND) == []
    assert next_fires(timeline, late.id, 5 * SECOND) == [5 * SECOND]
    with pytest.raises(KeyError):
        next_fires(timeline, 999, SECOND)


def test_that_what_is_overdue_is_predicted_for_now() -> None:
    stand = Stand()
    timer = stand.root.set_interval(1, int)
    stand.tree.jump_to(2_500 * MS)
    stand.log.append((2_500 * MS, 49, 0, 0, 0))

    assert next_fires(stand.timeline(), timer.id, 4 * SECOND) == [
        2_500 * MS,
        2_500 * MS,
        3 * SECOND,
        4 * SECOND,
    ]


def late_host(stand: Stand) -> Timeline:
    """A state 250 ms ahead of what was run: the host has not come to it yet."""
    stand.tree.run_to(10 * SECOND)
    stand.root.set_timeout(60, int)
    timeline = stand.timeline()
    timeline.set_present(10_250 * MS)
    return timeline


def test_that_previews_and_predictions_agree_on_what_the_host_is_late_for() -> None:
    stand = Stand()
    late = stand.root.set_timeout_ns(10_070 * MS, int)
    later = stand.root.set_timeout_ns(11 * SECOND, int)
    timeline = late_host(stand)
    pause, slow = PauseClock(stand.root.id), SetRate(stand.root.id, Fraction(1, 2))

    stopped, slowed = (
        {each.call.number: (each.old_ns, each.new_ns) for each in foreseen_of(timeline, command)}
        for command in (pause, slow)
    )

    # It is called for its own instant, before the command is carried out.
    assert next_fires(timeline, late.id, 11 * SECOND) == [10_070 * MS]
    assert stopped[late.id] == slowed[late.id] == (10_070 * MS, 10_070 * MS)
    assert stopped[later.id] == (11 * SECOND, None)
    assert slowed[later.id] == (11 * SECOND, 11_750 * MS)


@pytest.mark.parametrize("missed", ["burst", "delay", "skip"])
def test_that_a_call_the_host_is_late_for_is_predicted_for_when_it_is_due(missed: str) -> None:
    stand = Stand()
    timer = stand.root.set_interval_ns(SECOND, int, missed=missed, delay_ns=70 * MS)
    foreseen = upcoming(late_host(stand), 12 * SECOND, [timer.id])

    stand.tree.run_to(10_250 * MS, observed_ns=10_250 * MS)
    stand.tree.run_to(12 * SECOND)
    stand.root.set_timeout(1, int)

    assert foreseen[0].at_ns == 10_070 * MS
    scores = score(foreseen, stand.history)
    assert [each.outcome for each in scores] == [Outcome.TRUE] * len(foreseen)
    assert scores[0].text == "It fired at 0:10.070 as predicted, 180 ms late."


def test_that_a_policy_that_counts_from_a_late_call_is_named_as_the_reason() -> None:
    stand = Stand()
    timer = stand.root.set_interval_ns(SECOND, int, missed="delay")
    foreseen = upcoming(stand.timeline(), 2 * SECOND, [timer.id])

    stand.tree.run_to(1_100 * MS, observed_ns=1_250 * MS)
    stand.tree.run_to(3 * SECOND)
    stand.root.set_timeout(1, int)

    first, second = score(foreseen, stand.history)
    assert first.outcome is Outcome.TRUE
    assert second.text == (
        "It fired at 0:02.250 instead of 0:02.000, because it was called 250 ms late at "
        "0:01.000 and its policy counts from there."
    )


def test_that_time_that_passed_without_the_host_is_named_as_the_reason() -> None:
    stand = Stand()
    timer = stand.root.set_timeout(1, int)
    foreseen = upcoming(stand.timeline(), 2 * SECOND, [timer.id])

    stand.tree.jump_to(1_250 * MS)
    stand.root.set_timeout(9, int)
    stand.tree.run_to(1_300 * MS, observed_ns=1_300 * MS)

    (scored,) = score(foreseen, stand.history)
    assert scored.text == (
        "It fired at 0:01.250 instead of 0:01.000, because it was called 250 ms late."
    )


def test_that_a_forecast_waits_for_a_call_that_the_host_is_late_for() -> None:
    stand = Stand()
    timer = stand.root.set_interval_ns(SECOND, int, delay_ns=70 * MS)
    forecast = Forecast(CallId(timer.id))
    stand.tree.run_to(9_500 * MS)
    forecast.update(stand.history, stand.timeline())

    timeline = late_host(stand)
    forecast.update(stand.history, timeline)
    assert (forecast.made, forecast.last_false) == (0, None)

    stand.tree.run_to(10_250 * MS, observed_ns=10_250 * MS)
    forecast.update(stand.history, stand.timeline())

    assert (forecast.made, forecast.came_true) == (1, 1)


def test_that_calls_of_all_timers_come_in_order_and_as_many_as_wanted() -> None:
    stand = Stand()
    slow, fast = stand.root.set_interval(0.5, int), stand.root.set_interval(0.2, int)

    calls = upcoming(stand.timeline(), SECOND, most=4)

    assert [(each.call.number, each.at_ns, each.number) for each in calls] == [
        (fast.id, 200 * MS, 1),
        (fast.id, 400 * MS, 2),
        (slow.id, 500 * MS, 1),
        (fast.id, 600 * MS, 3),
    ]


def test_that_a_preview_says_in_a_sentence_what_a_pause_would_do() -> None:
    stand = Stand()
    game = stand.root.child("game")
    enemies = game.child("enemies", rate="1/2")
    attack = enemies.set_timeout(1, int)
    stand.root.set_timeout(1, int)

    foreseen = foreseen_of(stand.timeline(), PauseClock(game.id))

    assert list(foreseen) == [DuePreview(CallId(attack.id), 2 * SECOND, None)]
    assert foreseen.sentence == "Pausing “game”: 1 timer would wait until that is undone."
    assert not game.is_paused


def test_that_a_preview_of_a_rate_says_how_much_later() -> None:
    stand = Stand()
    game = stand.root.child("game")
    game.set_timeout(1, int)
    game.set_timeout(2, int)

    assert foreseen_of(stand.timeline(), SetRate(game.id, Fraction(1, 2))).sentence == (
        "Setting the rate of “game” to 0.5: 2 timers would fire 1.00 s to 2.00 s later."
    )
    assert foreseen_of(stand.timeline(), SetRate(game.id, Fraction(1))).sentence == (
        "Setting the rate of “game” to 1: 2 timers there, none would fire at a different instant."
    )


def test_that_there_is_no_preview_of_what_cannot_be_done() -> None:
    stand = Stand()
    game = stand.root.child("game")

    assert preview(stand.timeline(), SetRate(game.id, Fraction(-1))) is None
    assert preview(stand.timeline(), PauseClock(99)) is None


def test_that_a_prediction_is_scored_with_what_came_between() -> None:
    stand = Stand()
    game = stand.root.child("game")
    late, cleared, true = (game.set_timeout(1, int), game.set_timeout(0.6, int), None)
    true = game.set_timeout(0.1, int)
    foreseen = upcoming(stand.timeline(), 2 * SECOND)

    stand.tree.run_to(400 * MS)
    game.clear(cleared)
    stand.tree.run_to(500 * MS)
    game.rate = Fraction(1, 2)
    stand.tree.run_to(3 * SECOND)
    stand.root.set_timeout(1, int)

    scores = {each.prediction.call.number: each for each in score(foreseen, stand.history)}
    assert scores[true.id].text == "It fired at 0:00.100 as predicted."
    assert scores[cleared.id].text == (
        "It has not fired at 0:00.600 as predicted, because it was cleared at 0:00.400 "
        "by the program."
    )
    assert scores[late.id].text == (
        "It fired at 0:01.500 instead of 0:01.000, because “game” was set to ×½ at "
        "0:00.500 by the program."
    )
    assert scores[late.id].fired_ns == 1_500 * MS


def test_that_a_prediction_whose_time_has_not_come_is_open() -> None:
    stand = Stand()
    stand.root.set_timeout(1, int)
    (foreseen,) = upcoming(stand.timeline(), SECOND)

    assert score([foreseen], stand.history)[0].outcome is Outcome.OPEN
    assert score([], stand.history) == []
    assert isinstance(foreseen, Prediction)


def test_that_ten_thousand_timers_are_previewed_by_columns() -> None:
    stand = Stand()
    game = stand.root.child("game", rate="1/3")
    for number in range(10_000):
        game.set_timeout_ns((number + 1) * MS, int)

    foreseen = foreseen_of(stand.timeline(), SetRate(game.id, Fraction(1)))

    assert len(foreseen) == foreseen.changed == 10_000
    assert foreseen[-1].old_ns == 30_000 * MS
    assert foreseen[-1].new_ns == 10_000 * MS
    assert [each.new_ns for each in foreseen[:2]] == [MS, 2 * MS]


def test_that_a_call_besides_the_schedule_does_not_falsify_those_on_it() -> None:
    stand = Stand()
    beat = stand.root.set_interval(1, int)
    foreseen = upcoming(stand.timeline(), 3 * SECOND)

    stand.tree.run_to(500 * MS)
    stand.root.fire_now(beat)
    stand.tree.run_to(4 * SECOND)

    assert [each.outcome for each in score(foreseen, stand.history)] == [Outcome.TRUE] * 3


def test_that_a_one_shot_called_by_hand_is_decided_at_once() -> None:
    stand = Stand()
    once = stand.root.set_timeout(2, int)
    foreseen = upcoming(stand.timeline(), 3 * SECOND)

    stand.tree.run_to(500 * MS)
    stand.root.fire_now(once)

    (found,) = score(foreseen, stand.history)
    assert found.outcome is Outcome.FALSE
    assert found.text == (
        "It has not fired at 0:02.000 as predicted, because it was called outside its schedule at "
        "0:00.500."
    )


def test_that_a_change_before_the_time_has_come_leaves_it_open_and_is_told() -> None:
    stand = Stand()
    game = stand.root.child("game")
    game.set_timeout(2, int)
    foreseen = upcoming(stand.timeline(), 3 * SECOND)

    stand.tree.run_to(500 * MS)
    game.pause()

    (found,) = score(foreseen, stand.history)
    assert found.outcome is Outcome.OPEN
    assert found.text == ("It is not due yet, but “game” was paused at 0:00.500 by the program.")


def test_that_two_kinds_of_changes_are_both_told() -> None:
    stand = Stand()
    game = stand.root.child("game")
    game.set_timeout(2, int)
    foreseen = upcoming(stand.timeline(), 3 * SECOND)

    stand.tree.run_to(500 * MS)
    game.pause()
    stand.tree.run_to(SECOND)
    game.resume()
    stand.tree.run_to(4 * SECOND)

    (found,) = score(foreseen, stand.history)
    assert found.text == (
        "It fired at 0:02.500 instead of 0:02.000, because “game” was paused at 0:00.500 by "
        "the program, and “game” was resumed at 0:01.000 by the program."
    )


def test_that_what_lies_behind_too_many_events_stays_open() -> None:
    stand = Stand()
    stand.root.set_interval(0.1, int)
    stand.root.set_timeout(2, int)
    (foreseen,) = (each for each in upcoming(stand.timeline(), 3 * SECOND) if each.call.number == 2)

    stand.tree.run_to(3 * SECOND)

    (found,) = score([foreseen], stand.history, most_events=5)
    assert found.outcome is Outcome.OPEN
    assert found.text == "Too many events lie in between to check them all."


def test_that_those_that_wait_under_a_name_are_found_in_any_state_the_earliest_first() -> None:
    stand = Stand()
    game = stand.root.child("game")
    late, early = (game.set_timeout(seconds, int, name="wave") for seconds in (3, 1))
    game.set_timeout(2, int, name="other")
    stand.root.set_timeout(2, int, name="wave")
    past = stand.timeline()
    stand.tree.run_to(2 * SECOND)
    sid = list(stand.log.strings).index("wave")

    assert waiting(past, game.id, sid, 10) == [early.id, late.id]
    assert waiting(past, game.id, sid, 1) == [early.id]
    assert waiting(stand.timeline(), game.id, sid, 10) == [late.id]

    past.apply_all(stand.log.read(past.events_folded).events)

    assert waiting(past, game.id, sid, 10) == [late.id]
    assert waiting(Timeline([""]), game.id, sid, 10) == []
