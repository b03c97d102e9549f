"""The queue of events on their way to an inspector, and what the probe costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

import pytest

from inspector.probe import cost, wire
from inspector.probe import sink as module
from inspector.probe.adapters import Adapter
from inspector.probe.cost import CostMeter
from inspector.probe.kinds import MARK, TIMER_ADDED
from inspector.probe.sink import Sink
from tests.probe.adapters.played import Played
from tests.probe.receiver import unpacked_events


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Sink:
    """A sink with a window of ten events."""
    monkeypatch.setattr(module, "WINDOW_EVENTS", 10)
    monkeypatch.setattr(module, "MOST_WAITING", 12)
    return Sink(["", "a"])


def emit(sink: Sink, count: int, kind: int = MARK) -> None:
    for number in range(count):
        sink.emit((number, kind, 0, 0, 0))


def sent(sink: Sink, *, is_last: bool = False) -> int:
    frames = sink.taken(is_last=is_last)[1]
    return sum(len(unpacked_events(each[5:])) for each in frames)


def test_that_no_more_is_sent_than_fits_into_the_window(sink: Sink) -> None:
    emit(sink, 8)
    assert sent(sink) == 8
    sink.acknowledge(3)
    assert sink.unacknowledged == 5
    # The room that is left is enough.
    emit(sink, 5)
    assert (sent(sink), sink.is_lossy) == (5, False)
    emit(sink, 2, TIMER_ADDED)
    assert (sent(sink), sink.is_lossy) == (0, True)
    sink.acknowledge(13)
    emit(sink, 1)
    # Until the loss is told, nothing else is.
    assert sent(sink) == 0
    assert sink.by_kind == {MARK: 14, TIMER_ADDED: 2}
    assert (sink.sent, sink.dropped) == (13, 3)
    assert sink.loss_to_report() == {str(TIMER_ADDED): 2, str(MARK): 1}
    assert sink.loss_to_report() is None
    emit(sink, 4)
    assert sent(sink) == 4


def test_that_of_what_does_not_fit_the_first_is_sent(sink: Sink) -> None:
    emit(sink, 12)
    events = [event for frame in sink.taken()[1] for event in unpacked_events(frame[5:])]
    assert [event[0] for event in events] == list(range(10))
    assert sink.lost == {MARK: 2}


def test_that_what_waits_is_bounded_and_kept_together(sink: Sink) -> None:
    emit(sink, 11)
    sink.extend(((0, TIMER_ADDED, 0, 0, 0),) * 3)
    sink.extend(((0, TIMER_ADDED, 0, 0, 0),) * 3)
    emit(sink, 1)

    assert len(sink._waiting) == 14
    assert sink.lost == {TIMER_ADDED: 3, MARK: 1}
    assert sink.dropped == 4


@pytest.mark.parametrize(("sent_events", "waiting", "has_room"), [(4, 0, True), (4, 1, False)])
def test_that_a_keyframe_goes_on_while_half_of_the_window_is_free(
    sink: Sink, sent_events: int, waiting: int, *, has_room: bool
) -> None:
    sink.sent = sent_events
    emit(sink, waiting)

    assert sink.has_room is has_room


def test_that_a_loss_is_told_once_there_is_room_or_at_the_end(sink: Sink) -> None:
    sink._lose([(0, MARK, 0, 0, 0)])
    sink.sent = 6
    assert sink.loss_to_report() is None
    assert sink.loss_to_report(is_last=True) == {str(MARK): 1}
    assert not sink.is_lossy
    sink._lose([(0, MARK, 0, 0, 0)])
    sink.sent = 5
    assert sink.loss_to_report() == {str(MARK): 1}


def test_that_an_acknowledgement_is_no_more_than_was_sent_and_no_less_than_before(
    sink: Sink,
) -> None:
    sink.sent = 7
    found = []
    for events in (3, 2, 9, 7):
        sink.acknowledge(events)
        found.append(sink.acknowledged)

    assert found == [3, 3, 7, 7]


def test_that_batches_have_a_length_and_texts_go_once(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_EVENTS", 3)
    emit(sink, 7)
    messages, frames = sink.taken()
    assert [len(unpacked_events(each[5:])) for each in frames] == [3, 3, 1]
    assert messages == [wire.notification("Events.texts", {"first": 1, "texts": ["a"]})]
    sink._texts += ["b", "c"]
    emit(sink, 1)
    messages, _ = sink.taken()
    assert messages == [wire.notification("Events.texts", {"first": 2, "texts": ["b", "c"]})]
    emit(sink, 1)
    assert sink.taken()[0] == []
    assert sink.taken() == ([], [])


def test_that_the_last_events_are_all_sent_unless_some_are_lost(sink: Sink) -> None:
    sink.sent = 10
    emit(sink, 12)
    assert sent(sink, is_last=True) == 12
    sink._lose([(0, MARK, 0, 0, 0)])
    emit(sink, 2)
    assert sent(sink, is_last=True) == 0


# ------------------------------------------------------------------------------------------- costs


def ticking(*steps: int) -> Iterator[int]:
    """The processor time of a thread, which has used so much between two readings."""
    return accumulate(steps, initial=1_000)


def test_that_a_call_costs_what_the_fastest_of_some_rounds_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "_ROUNDS", 3)
    times = ticking(400, 9_000, 300, 9_000, 500)
    monkeypatch.setattr(cost, "thread_time_ns", lambda: next(times))
    calls: list[int] = []

    assert cost.took_ns(lambda: calls.append(1)) == 300 / 20
    assert len(calls) == 60


def test_that_what_is_spent_is_the_threads_and_that_of_hooks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played(10**15)
    times = ticking(70, 50, 30)
    natives = iter([5, 5, 5, 6])
    monkeypatch.setattr(cost, "thread_time_ns", lambda: next(times))
    monkeypatch.setattr(cost, "get_native_id", lambda: next(natives))
    meter = CostMeter(played.program)
    meter.by_kind = {MARK: 10.0, TIMER_ADDED: 100.0}
    # Other kinds cost nothing.
    spent = [meter.spent_ns(Counter({MARK: 3, 99: 5}))]
    hooks = [meter.hooks_ns]
    spent.append(meter.spent_ns(Counter({MARK: 5, TIMER_ADDED: 1, 99: 9})))
    hooks.append(meter.hooks_ns)
    # The next thread begins at 0.
    spent.append(meter.spent_ns(Counter({MARK: 5, TIMER_ADDED: 1, 99: 9})))

    assert hooks == [30.0, 120.0]
    assert spent == [70 + 30, 50 + 120, 1_150]


def test_that_an_adapter_is_asked_for_its_costs_when_these_are_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played(10**15)
    adapter = Adapter(played.program)
    asked: list[int] = []
    costs: dict[int, float] = {}

    def answer() -> dict[int, float]:
        asked.append(1)
        return costs

    adapter.costs = answer  # type: ignore[method-assign]
    played.program.adapters["lib"] = adapter
    monkeypatch.setattr(CostMeter, "_measured", lambda _meter: {MARK: 1.0})
    meter = CostMeter(played.program)
    # It does not know them yet.
    meter.spent_ns(Counter())
    costs = {MARK: 2.0}
    meter.spent_ns(Counter())
    meter.spent_ns(Counter())
    assert (len(asked), meter.by_kind) == (2, {MARK: 2.0})
    adapter.cost_version += 1
    costs = {TIMER_ADDED: 3.0}
    meter.spent_ns(Counter())
    assert (len(asked), meter.by_kind) == (3, {MARK: 2.0, TIMER_ADDED: 3.0})
