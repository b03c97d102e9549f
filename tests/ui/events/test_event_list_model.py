"""The event list model: sentences, kinds, filters, bounds, what an event is about."""

from __future__ import annotations

import pytest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.events.log import BYTES_PER_EVENT
from inspector.events.schema import EventGroup
from inspector.vocabulary import CALLBACK_FAILED, COMMAND, MARK, TIMER_ORIGIN
from tests.ui.world import PlayedSession
from ui.events import event_list_model
from ui.events.event_list_model import EventColumn, EventListModel
from ui.kit.theme import Theme
from ui.session.bridge import Selection

ALL = frozenset(EventGroup)


class Listed(PlayedSession):
    """A session with a model over its log."""

    def __init__(self) -> None:
        super().__init__()
        self.enemies = self.root.child("enemies")
        self.model = EventListModel(Theme("light"))

    def show(self, groups: frozenset[EventGroup] = ALL) -> EventListModel:
        self.fold()
        self.model.set_groups(groups)
        self.model.set_log(self.log, self.timeline)
        return self.model


@pytest.fixture
def listed() -> Listed:
    return Listed()


def _texts(model: EventListModel, column: EventColumn = EventColumn.WHAT) -> list[str]:
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_that_only_numbers_become_names_and_not_what_looks_like_one(listed: Listed) -> None:
    timer = listed.enemies.set_timeout(0.25, print, name="spawn")
    site = listed.log.intern(f"timer {timer.id}.py:3 in clock 1")
    listed.log.append((listed.tree.now_ns, TIMER_ORIGIN, timer.id, site, 0))

    model = listed.show(frozenset({EventGroup.TIMERS}))

    said = f"timer spawn is a timeout, set at timer {timer.id}.py:3 in clock 1"
    assert said in _texts(model)


def test_that_a_clock_that_is_gone_keeps_its_name(listed: Listed) -> None:
    wave = listed.enemies.child("wave")
    wave.pause()
    wave.remove()

    assert _texts(listed.show(frozenset({EventGroup.CLOCKS})))[-4:] == [
        "clock wave added under clock enemies",
        "clock wave starts at 00:00.000 with rate 1",
        "clock wave paused",
        "clock wave removed with everything below it",
    ]


def test_that_events_are_sentences_with_names(listed: Listed, qtmodeltester: ModelTester) -> None:
    listed.enemies.set_timeout(0.25, print, name="spawn")
    listed.run_to_ms(100)
    listed.enemies.pause(cause=3)
    listed.enemies.resume()
    listed.run_to_ms(300)

    model = listed.show(frozenset({EventGroup.CLOCKS, EventGroup.TIMERS, EventGroup.FIRINGS}))

    assert _texts(model)[-5:] == [
        _texts(model)[-5],
        "timer spawn is due at local 00:00.250",
        "clock enemies paused by command 3",
        "clock enemies resumed",
        "timer spawn fired",
    ]
    assert model.index(model.rowCount() - 1, EventColumn.AT).data() == "0:00.250"
    qtmodeltester.check(model, force_py=True)


def test_that_only_the_chosen_kinds_are_shown(listed: Listed) -> None:
    listed.run_frame()
    listed.enemies.pause()

    model = listed.show(frozenset({EventGroup.FRAMES}))

    assert _texts(model) == [
        "frame 0 began, delta 16.7 ms",
        "frame 0: update took 1.00 ms",
        "frame 0: draw took 1.00 ms",
        "frame ended: 16.7 ms since the previous, 2.00 ms busy",
    ]
    assert model.hidden_count > 0


def test_that_every_word_of_the_filter_must_be_in_the_sentence(listed: Listed) -> None:
    listed.enemies.pause()
    listed.enemies.rate = 2
    model = listed.show()

    model.set_filter("ENEMIES rate 2")

    assert _texts(model) == ["clock enemies now runs at rate 2"]


def test_that_new_events_are_appended(listed: Listed, qtbot: QtBot) -> None:
    model = listed.show(frozenset({EventGroup.CLOCKS}))
    rows = model.rowCount()
    listed.enemies.pause()

    with qtbot.waitSignal(model.rowsInserted), qtbot.assertNotEmitted(model.modelReset):
        added = model.refresh()

    assert added == 1
    assert model.rowCount() == rows + 1
    assert model.waiting_count == 0


def test_that_the_list_is_bounded_and_keeps_the_newest(
    listed: Listed, monkeypatch: pytest.MonkeyPatch, qtmodeltester: ModelTester
) -> None:
    monkeypatch.setattr(event_list_model, "MAX_ROWS", 15)
    monkeypatch.setattr(event_list_model, "_BUNCH", 3)
    model = listed.show(frozenset({EventGroup.MARKS}))
    qtmodeltester.check(model)
    for number in range(60):
        listed.log.append((number, MARK, 0, listed.log.intern(f"mark {number}"), 0))
        model.refresh()

    assert model.rowCount() <= 15
    assert _texts(model)[-1] == "mark: mark 59"
    assert _texts(model) == [f"mark: mark {n}" for n in range(60 - model.rowCount(), 60)]


def test_that_events_lost_before_they_were_read_are_counted(listed: Listed) -> None:
    model = listed.show(frozenset({EventGroup.MARKS}))
    listed.log.budget_bytes = BYTES_PER_EVENT * 10
    for number in range(100):
        listed.log.append((number, MARK, 0, 0, 0))
    listed.log.settle()

    model.refresh()

    assert model.lost_count == 100 - model.rowCount() > 0


def test_that_a_failure_stands_out_by_text(listed: Listed) -> None:
    label = listed.log.intern("open chest")
    traceback = listed.log.intern(
        "Traceback (most recent call last):\nZeroDivisionError: division by zero\n"
    )
    listed.log.append((5, CALLBACK_FAILED, 0, label, traceback))

    model = listed.show(frozenset({EventGroup.FAILURES}))

    assert _texts(model, EventColumn.GROUP) == ["✖ failure"]
    assert _texts(model) == ["open chest failed: ZeroDivisionError: division by zero"]


def test_that_a_refused_command_says_why(listed: Listed) -> None:
    text, refusal = listed.log.intern("pause “x”"), listed.log.intern("there is no clock 9")
    listed.log.append((5, COMMAND, 1, text, refusal))

    model = listed.show(frozenset({EventGroup.COMMANDS}))

    assert _texts(model)[-1] == "command 1: pause x - refused: there is no clock 9"


def test_that_one_clock_can_be_followed(listed: Listed) -> None:
    other = listed.root.child("other")
    listed.enemies.set_timeout(9, print, name="spawn")
    listed.enemies.pause()
    other.pause()
    model = listed.show()

    model.set_subject(Selection.clock(listed.enemies.id))

    assert [text.partition(" ")[0] for text in _texts(model)] == [
        "clock",
        "clock",
        "timer",
        "clock",
    ]
    assert _texts(model)[-1] == "clock enemies paused"


def test_that_one_timer_can_be_followed(listed: Listed) -> None:
    timer = listed.enemies.set_interval(0.1, print, name="spawn")
    listed.enemies.set_interval(0.1, print, name="other")
    listed.run_to_ms(250)
    model = listed.show(frozenset({EventGroup.FIRINGS}))

    model.set_subject(Selection.timer(timer.id))

    assert len(_texts(model)) == 2
    assert all("spawn" in text for text in _texts(model))


def test_that_one_frame_can_be_looked_into(listed: Listed) -> None:
    for milliseconds in (10, 20, 30):
        listed.run_to_ms(milliseconds - 5)
        listed.enemies.rate = milliseconds
        listed.run_to_ms(milliseconds)
        listed.run_frame()
    model = listed.show(frozenset({EventGroup.CLOCKS}))

    model.set_subject(Selection.frame(1))

    assert _texts(model) == ["clock enemies now runs at rate 20"]


def test_that_events_know_what_they_are_about(listed: Listed) -> None:
    timer = listed.enemies.set_timeout(9, print, name="spawn")
    listed.enemies.pause()
    listed.run_frame()
    model = listed.show()

    found = {model.selection_at(row) for row in range(model.rowCount())}

    assert {
        Selection.clock(listed.enemies.id),
        Selection.timer(timer.id),
        Selection.frame(0),
    } <= found


def test_that_nothing_is_shown_without_a_log(qtmodeltester: ModelTester) -> None:
    model = EventListModel(Theme("light"))

    assert (model.refresh(), model.rowCount()) == (0, 0)
    qtmodeltester.check(model, force_py=True)
