"""What a ticker, and what a director of frames, says of itself while it is recorded."""

from __future__ import annotations

import pytest

from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, TickerTimer
from inspector.frames.director import Director
from inspector.frames.reporting import Reporter, nanoseconds
from inspector.frames.scheduler.controls import Pausable, Unschedulable
from inspector.vocabulary import NEVER, EventKind, Field, MemberKind, Phase
from tests.frames.recorded import MS, SECOND, Recorded


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def ticker(recorded: Recorded) -> Ticker:
    return Ticker(clock=recorded.clock)


def blink() -> None:
    """Do nothing."""


def test_that_a_ticker_shows_what_waits_on_it(recorded: Recorded, ticker: Ticker) -> None:
    TickerTimer(ticker, 500, 3, name="three").start()
    TickerTimer(ticker, 500, counting=BY_CALLS, name="by calls").start()
    ticker.set_timeout(blink, 100)

    assert recorded.tree_text() == [
        "ticker: ticker",
        "  ticker timer: three",
        "  ticker timer: by calls",
        "  ticker timer: blink",
    ]
    three, blinks = recorded.called("three"), recorded.called("blink")
    assert (three.fields[Field.DUE], three.fields[Field.CALLS_LEFT]) == (SECOND // 2, 3)
    assert (blinks.fields[Field.DUE], blinks.fields[Field.CALLS_LEFT]) == (100 * MS, 1)
    assert Field.DUE not in recorded.called("by calls").fields, "it is calls that decide"
    assert recorded.text("blink", Field.RULES) == "timeout"
    assert recorded.text("by calls", Field.RULES) == "calls"


def test_that_calls_are_reported_and_what_is_over_is_gone(
    recorded: Recorded, ticker: Ticker
) -> None:
    timer = TickerTimer(ticker, 100, 2, name="twice")
    timer.on_timer = timer.on_complete = blink
    timer.start()
    for end in (100, 200):
        recorded.tree.run_to(end * MS)
        ticker.run_frame()
        left = [
            m.fields[Field.CALLS_LEFT] for m in recorded.members.by_id.values() if m.name == "twice"
        ]
        assert left == ([1] if end == 100 else [])

    assert len(recorded.of_kind(EventKind.CALL_ENDED)) == 3
    assert recorded.called("ticker").fields[Field.TIME] == 200 * MS


def test_that_another_delay_is_reported(recorded: Recorded, ticker: Ticker) -> None:
    timer = TickerTimer(ticker, 100, name="timer")
    timer.start()

    timer.delay_ms = 300

    fields = recorded.called("timer").fields
    assert (fields[Field.INTERVAL], fields[Field.DUE]) == (300 * MS, 300 * MS)


def test_that_a_ticker_and_its_timers_are_controlled_by_number(
    recorded: Recorded, ticker: Ticker
) -> None:
    TickerTimer(ticker, 100, name="timer").start()
    ticker.set_interval(blink, 100)
    find = recorded.tree.members.find
    owner = find(ticker.number)
    assert isinstance(owner, Pausable)

    assert (owner.pause(), owner.pause()) == (True, False)
    assert recorded.called("ticker").is_paused
    assert (owner.resume(), owner.resume()) == (True, False)
    for name in ("timer", "blink"):
        call = find(recorded.called(name).id)
        assert isinstance(call, Unschedulable)
        assert (call.unschedule(), call.unschedule()) == (True, False)
    assert recorded.names(MemberKind.TICKER_TIMER) == []


def test_that_a_ticker_stands_still_with_its_clock(recorded: Recorded, ticker: Ticker) -> None:
    calls: list[float] = []
    ticker.start_tick(calls.append)
    recorded.clock.pause()
    ticker.run_frame()
    recorded.clock.resume()
    ticker.run_frame()
    recorded.clock.remove()
    ticker.run_frame()

    assert calls == [0.0]


def test_that_a_ticker_needs_some_time() -> None:
    with pytest.raises(ValueError, match="needs a clock"):
        Ticker()


# -------------------------------------------------------------------- director


def test_that_frame_callbacks_hang_under_the_clock_whose_seconds_they_get(
    recorded: Recorded,
) -> None:
    director = Director(recorded.tree.root)
    seen: list[float] = []
    everywhere = director.on("draw", lambda _: None, name="draw")
    director.on("update", seen.append, name="move", clock=recorded.clock)
    recorded.clock.rate = 2
    for end in (10, 20):
        recorded.tree.run_to(end * MS)
        director.run_frame(10 * MS)
    recorded.clock.pause()
    director.run_frame(0)

    assert seen == [0.02, 0.02]
    move, draw = recorded.called("move"), recorded.called("draw")
    assert (move.clock_id, draw.clock_id) == (recorded.clock.id, recorded.tree.root.id)
    assert (move.fields[Field.PHASE], move.calls, draw.calls) == (Phase.UPDATE, 2, 3)
    assert director.remove(everywhere)
    assert recorded.names(MemberKind.FRAME_CALLBACK) == ["move"]
    recorded.clock.remove()
    director.run_frame(0)
    assert len(seen) == 2


def test_that_what_is_called_in_every_frame_is_not_stopped_by_its_clock(
    recorded: Recorded,
) -> None:
    director = Director(recorded.tree.root)
    director.on("draw", lambda _: None, name="draw")
    director.on("update", lambda _: None, name="move", clock=recorded.clock)
    recorded.tree.root.pause()
    recorded.tree.run_to(10 * MS)

    for _ in range(3):
        director.run_frame(10 * MS)

    move, draw = recorded.called("move"), recorded.called("draw")
    assert (move.calls, draw.calls) == (0, 3)
    assert recorded.timeline.stopping_clocks(draw) == ()
    assert [reason.clock_name for reason in recorded.timeline.stopping_clocks(move)] == ["root"]


def test_that_a_frame_callback_that_raises_is_reported_as_called(recorded: Recorded) -> None:
    def fail(_: float) -> None:
        message = "on purpose"
        raise ValueError(message)

    director = Director(recorded.tree.root)
    recorded.tree.on_failure = lambda _: None
    director.on("update", fail, name="fail")
    director.run_frame(0)

    kinds = [event[1] for event in recorded.events[-4:]]
    assert kinds == [
        EventKind.CALL_ENDED,
        EventKind.CALLBACK_FAILED,
        EventKind.PHASE_ENDED,
        EventKind.FRAME_ENDED,
    ]
    assert recorded.of_kind(EventKind.CALL_ENDED)[0][3] >= 0, "counted from the frame's beginning"


# ------------------------------------------------------------------- reporter


def test_that_a_reporter_without_a_clock_says_nothing() -> None:
    reporter = Reporter(None)

    assert reporter.add(object(), MemberKind.TARGET, "nobody") == 0


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.5, SECOND // 2), (float("inf"), NEVER), (float("nan"), NEVER), (1e300, NEVER)],
)
def test_that_seconds_of_any_size_can_be_reported(seconds: float, expected: int) -> None:
    assert nanoseconds(seconds) == expected
