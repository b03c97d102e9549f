"""The event log: bounded, read by cursor, nothing lost silently."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import chain
from operator import eq
from unicodedata import bidirectional, category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import inspector.events.log as log_module
from inspector.events import EventLog
from inspector.events.log import BYTES_PER_EVENT, LogBatch, readable
from inspector.events.new_timers import events_of
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.vocabulary import MARK, NEVER, EventKind, Field, RawEvent


def _mark(log: EventLog, text: str, at_ns: int = 0) -> RawEvent:
    return (at_ns, MARK, 0, log.intern(text), 0)


def test_that_texts_are_numbered_once() -> None:
    log = EventLog()

    assert log.intern("") == 0
    assert log.intern("a") == log.intern("a") == 1
    assert log.strings == ["", "a"]


@pytest.mark.parametrize("name", [5, b"bytes", None])
def test_that_a_name_that_is_no_text_is_refused(name: object) -> None:
    log = EventLog()

    with pytest.raises(TypeError, match="a name must be a text"):
        log.intern(name)  # type: ignore[arg-type]

    assert log.strings == [""]


def test_that_no_text_turns_what_stands_behind_it_or_moves_a_cursor() -> None:
    log = EventLog()
    number = log.intern("\x1b[31mevil \u202egnp.exe\u2066")

    assert log.strings[number] == "\\x1b[31mevil \\u202egnp.exe\\u2066"
    assert log.strings[log.intern("שלום\u200f")] == "שלום\u200f"
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    characters = {*map(chr, range(0x3000))} - {"\n", "\t"}
    assert {each for each in characters if readable(each) != each} == {
        each for each in characters if category(each) == "Cc" or bidirectional(each) in turning
    }


def test_that_a_text_that_no_file_can_hold_is_kept_readable() -> None:
    log = EventLog()

    number = log.intern("half \ud800 a pair")

    assert log.strings[number] == r"half \ud800 a pair"
    assert log.intern("half \ud800 a pair") == number


def test_that_a_reader_gets_only_what_is_new() -> None:
    log = EventLog()
    log.append(_mark(log, "one"))
    first = log.read(0)
    log.append(_mark(log, "two"))

    second = log.read(first.cursor)

    assert len(first.events) == len(second.events) == 1
    assert second.lost == 0
    assert log.read(second.cursor).events == []


def test_that_the_budget_is_kept_and_what_fell_off_is_counted_and_folded() -> None:
    log = EventLog(budget_bytes=100 * BYTES_PER_EVENT)
    append = log.append
    for i in range(250):
        append(_mark(log, str(i), i))
        log.settle()

    batch = log.read(0)

    assert len(log) <= 100
    assert log.kept_bytes == 40 * len(log) <= log.budget_bytes
    assert batch.lost == log.first == 250 - len(log)
    assert log.end == 250
    assert [mark.text for mark in log.base.marks] == [str(i) for i in range(log.first)]


@pytest.mark.parametrize(("most", "left"), [(1, 0), (4, 3), (80, 70), (100, 88)])
def test_that_an_eighth_of_a_full_log_is_dropped_at_once(most: int, left: int) -> None:
    log = EventLog(most * BYTES_PER_EVENT)
    for at_ns in range(most):
        log.append(_mark(log, "", at_ns))
        log.settle()
    assert len(log) == most

    log.append(_mark(log, "", most))
    log.settle()

    assert len(log) == left


def test_that_nothing_has_to_be_saved_before_a_log_is_full() -> None:
    log = EventLog(budget_bytes=8 * BYTES_PER_EVENT)
    saved: list[int] = []
    log.before_drop = lambda: saved.append(log.end)

    for number in range(10):
        log.append(_mark(log, f"mark {number}"))
        log.settle()

    assert saved == [9]


def test_that_changing_a_read_result_does_not_change_the_log() -> None:
    log = EventLog()
    event = _mark(log, "one")
    log.append(event)

    log.read(0).events.clear()
    log.slice(0, 1).clear()

    assert log.read(0).events == log.slice(0, 1) == [event]


def test_that_a_slice_holds_what_is_kept_between_two_cursors() -> None:
    log = EventLog(budget_bytes=8 * BYTES_PER_EVENT)
    everything = [_mark(log, str(i), i) for i in range(20)]
    for event in everything:
        log.append(event)
        log.settle()

    assert log.first > 0
    assert log.slice(0, 99) == everything[log.first :]
    assert log.slice(15, 18) == everything[15:18]
    assert log.slice(18, 15) == log.slice(0, log.first) == log.slice(20, 30) == []
    assert list(log.numbers(15, 17)) == [*everything[15], *everything[16]]
    assert list(log.numbers(0, log.first)) == []
    assert log.cursor_at(16) == 17


@given(
    steps=st.lists(st.integers(0, 12), max_size=40),
    budget=st.integers(1, 60),
    edges=st.tuples(st.integers(-2, 300), st.integers(-2, 300)),
)
@example(steps=[15], budget=6, edges=(0, 99))
@example(steps=[12], budget=60, edges=(1, 3))
@example(steps=[12], budget=60, edges=(1, 10))
@example(steps=[8, 30, 1, 1, 1], budget=9, edges=(0, 99))
def test_that_packing_changes_nothing(
    steps: list[int], budget: int, edges: tuple[int, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_module, "_BLOCK", 4)
        patch.setattr(log_module, "_BLOCK_NUMBERS", 4 * 5)
        patch.setattr(log_module, "_PORTION", 4 * 2)
        log = EventLog(budget * BYTES_PER_EVENT)
        everything: list[RawEvent] = []
        for step in steps:
            for _ in range(step):
                at_ns = len(everything) // 2
                # Now and then a number that needs more than 64 bits.
                event = (at_ns, MARK, 0, 0, 2**70 if at_ns % 7 == 6 else at_ns)
                everything.append(event)
                log.append(event)
            log.settle()
            assert len(log._open) < 2 * 4 * 5
            # What was packed is dropped by the block.
            assert min(len(everything), budget - max(3, budget // 8)) <= len(log) <= budget
        start, end = edges
        first = log.first

        assert log.end == len(everything)
        assert log.slice(start, end) == everything[max(start, first) : max(end, first)]
        assert list(log.numbers(start, end)) == [
            n for event in log.slice(start, end) for n in event
        ]
        pieces = [number for piece in log.pieces(start, end) for number in piece]
        assert pieces == list(log.numbers(start, end))
        assert log.read(0).events == everything[first:]
        for at_ns in {start, end}:
            expected = sum(event[0] <= at_ns for event in everything[first:])
            assert log.cursor_at(at_ns) == first + expected
        assert len(log.base.marks) == first


def test_that_recording_makes_no_work_for_the_garbage_collector() -> None:
    log = EventLog()
    append = log.append
    event = (10**12, MARK, 0, 0, 0)
    gc.collect()
    before = gc.get_count()[0]

    for _ in range(100):
        append((*event[:4], 1))

    # Tuples that stayed would count, one each.
    assert gc.get_count()[0] - before < 50


def test_that_events_are_read_one_after_another_in_little_memory() -> None:
    log = EventLog()
    for at_ns in range(50_000):
        log.append((at_ns, EventKind.MARK, 0, 0, 0))
    events = log.slice(100, 49_000)
    log.settle()

    tracemalloc.start()
    try:
        each = chain.from_iterable(map(events_of, log.blocks(100, 49_000)))
        equal = sum(map(eq, each, events))
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert equal == len(events) == 48_900
    # A tuple of five numbers has more than 80 bytes.
    assert most_bytes < 80 * len(events) / 2


def test_that_what_was_read_last_is_read_again_at_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "_MOST_KEPT", 3)
    log = EventLog()
    events = [_mark(log, str(at_ns), at_ns) for at_ns in range(5)]
    for event in events:
        log.append(event)
    assert log.slice(1, 4) == events[1:4]
    # More are not kept.
    assert log.slice(0, 4) == events[:4]

    monkeypatch.setattr(log, "numbers", None)

    assert log.slice(1, 4) == events[1:4]
    with pytest.raises(TypeError):
        log.slice(0, 4)


def test_that_events_that_are_read_in_blocks_are_packed_once() -> None:
    log = EventLog()
    for at_ns in range(13_000):
        log.append((at_ns, MARK, 0, 0, 0))

    blocks = list(log.blocks(0, log.end))

    assert sum(map(len, blocks)) == 5 * 13_000
    assert len(log._open) < 2 * 4_096 * 5
    assert blocks[0] is log._blocks[0] is next(log.blocks(0, log.end))


def test_that_a_log_holds_the_events_of_a_file_and_goes_on() -> None:
    base = Timeline(["", "a"])
    events = [(at_ns, MARK, 0, 1, 0) for at_ns in range(100, 9_000)]

    held = EventLog.holding(["", "a"], events, 100, base)
    exchanged = held.exchanged([n + 1 for n in held.numbers(100, 200)], base)

    assert (held.first, held.end, held.base) == (100, 9_000, base)
    assert held.read(0) == LogBatch(events, 9_000, 100)
    assert [held.intern("a"), held.intern("b"), exchanged.intern("b")] == [1, 2, 2]
    assert (exchanged.first, exchanged.end, exchanged.base) == (100, 200, base)
    assert exchanged.slice(100, 101) == [(101, MARK + 1, 1, 2, 1)]
    assert exchanged.budget_bytes == held.budget_bytes == 40 * 8_900
    assert len(held._blocks) == 1
    held.settle()
    assert held.first == 100
    held.append((9_000, MARK, 0, 1, 0))
    held.settle()
    assert held.first > 100
    assert EventLog.holding([""], [], 0, base).budget_bytes == 40


def test_that_a_log_needs_room() -> None:
    assert EventLog().budget_bytes == 32 << 20
    assert EventLog(budget_bytes=1).budget_bytes == 1
    with pytest.raises(ValueError, match="above 0"):
        EventLog(budget_bytes=0)


@pytest.mark.parametrize("kind", list(EventKind))
def test_that_every_kind_of_event_reads_as_a_sentence(kind: EventKind) -> None:
    sentence = describe((0, kind, 1, 1, 1), ["", "name"])

    assert "unknown" not in sentence
    assert len(sentence) > 3


@pytest.mark.parametrize("kind", list(EventKind))
def test_that_numbers_without_a_meaning_are_shown(kind: EventKind) -> None:
    assert describe((0, kind, 99, 99, 99), ["", "name"])


def test_that_an_unknown_kind_is_shown_with_its_numbers() -> None:
    assert describe((0, 999, 1, 2, 3), [""]) == "unknown event 999 (1, 2, 3)"


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ((0, EventKind.TIMER_FIRED, 5, 0, NEVER), "the timer fired"),
        ((0, EventKind.TIMER_ADDED, 5, 3, 1), "the timer scheduled on clock 3"),
        ((0, EventKind.TIMER_ORIGIN, 5, 2, 0), "the timer is a timeout, set at timer 5.py"),
        ((0, EventKind.CLOCK_ADDED, 3, 2, 1), "clock 3 “name” added under clock 2"),
        ((0, EventKind.MEMBER_SET, 7, Field.OWNER, 8), "the member: belongs to member 8"),
        ((0, EventKind.STATE_ENTERED, 9, 1, 1), "the machine entered “name” by “name”"),
    ],
)
def test_that_a_sentence_has_the_names_that_are_known(event: RawEvent, sentence: str) -> None:
    known = {("timer", 5), ("member", 7), ("machine", 9)}

    def naming(what: str, number: int) -> str:
        return f"the {what}" if (what, number) in known else ""

    assert describe(event, ["", "name", "timer 5.py"], naming) == sentence
