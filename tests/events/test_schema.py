"""One row for each kind of event, and every reader takes every kind, also one it has never met."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import pytest

from inspector import vocabulary
from inspector.analysis.explain.explain import explain
from inspector.analysis.frame_spans import spans_of
from inspector.analysis.frame_sums import FrameSums
from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lint.rules import findings
from inspector.calls.call import CallId
from inspector.events.blocks.quick_fold import fold_block
from inspector.events.conditions.conditions import parsed_condition
from inspector.events.conditions.event_fields import EVENT_FIELDS, EventReader
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.recording import open_recording
from inspector.events.schema import (
    ABOUT_LOOPS,
    FIELDS,
    FIELDS_THAT_COUNT,
    SCHEMA,
    EventGroup,
    EventRow,
    Unit,
    clock_at_parent_time,
    group_of,
    kinds_of,
    kinds_with,
    schema_as_data,
    schema_as_table,
)
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.formats.frame_times import FrameTimes
from inspector.resources import resource_path
from inspector.sessions.replay.replay import RunEvents, compared, digest_of, first_difference
from inspector.vocabulary import NEVER, EventKind, Field, MemberKind, RawEvent, Reading
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import described, record, scene_log
from ui.events.event_list_model import EventNames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: No kind has these numbers: one lies among those of clocks and timers, the other behind all.
UNKNOWN = (12, 250)
KINDS = [*map(int, EventKind), *UNKNOWN]


def kind_id(kind: int) -> str:
    return EventKind(kind).name.lower() if kind in list(EventKind) else f"unknown_{kind}"


@cache
def world() -> list[RawEvent]:
    """The events of a scene that has clocks, timers, schedulers and machines."""
    log = scene_log("1", 0.25)
    WORLD_STRINGS.extend(log.strings)
    return log.slice(log.first, log.end)


WORLD_STRINGS: list[str] = []


def one_of(kind: int) -> RawEvent:
    """Return an event of a kind that makes sense after those of the world."""
    events = world()
    last = next((event for event in reversed(events) if event[1] == kind), None)
    at_ns = events[-1][0] + 1
    if last is not None and kind not in {EventKind.CLOCK_REMOVED, EventKind.TIMER_CLEARED}:
        # As it was last, about something that is there.
        subject = last[2]
        if EventKind(kind).name.endswith("_ADDED"):
            subject = 1 + max(event[2] for event in events if event[1] == kind)
        elif SCHEMA[EventKind(kind)].subject is Unit.TIMER:
            subject = a_pending_timer()
        return (at_ns, kind, subject, last[3], last[4])
    if kind in UNKNOWN:
        return (at_ns, kind, 1, 2, 3)
    row = SCHEMA[EventKind(kind)]
    subjects = {
        Unit.CLOCK: max(state().clocks),
        Unit.TIMER: a_pending_timer(),
        Unit.MEMBER: a_member(),
        Unit.MACHINE: a_member(),
        Unit.READING: Reading.ASKED,
    }
    # Nothing hangs under itself.
    numbers = {Unit.CLOCK: state().root_id or 0, Unit.MEMBER: 0}
    subject = subjects.get(row.subject, 1)
    return (at_ns, kind, subject, numbers.get(row.a, 1), numbers.get(row.b, 1))


def a_pending_timer() -> int:
    return next(iter(state().timers.ids()))


def a_member() -> int:
    return next(iter(state().members.by_id), 1)


@cache
def state() -> Timeline:
    timeline = Timeline(WORLD_STRINGS)
    timeline.apply_all(world())
    return timeline


def log_with(kind: int) -> EventLog:
    """Return a log with the world, one event of a kind, and a frame after it."""
    events = world()
    log = EventLog()
    for text in WORLD_STRINGS[1:]:
        log.intern(text)
    at_ns = events[-1][0] + 1
    frame = state().frames.end
    is_of_task = kind in kinds_with(subject=Unit.TASK) - {EventKind.TASK_ADDED}
    is_of_loop = kind in ABOUT_LOOPS - {EventKind.LOOP_FOUND}
    for event in (
        *events,
        *([one_of(EventKind.LOOP_FOUND)] if is_of_loop else []),
        *([one_of(EventKind.TASK_ADDED)] if is_of_task else []),
        one_of(kind),
        (at_ns, int(EventKind.FRAME_BEGAN), 1, frame, 16_000_000),
        (at_ns, int(EventKind.FRAME_ENDED), 1, 16_000_000, 1_000_000),
    ):
        log.append(event)
    return log


_MS = 1_000_000
_HALF = vocabulary.RATE_DENOMINATOR // 2


def test_that_every_kind_has_one_row() -> None:
    numbers = {
        name: number
        for name, number in vars(vocabulary).items()
        if name in EventKind.__members__ and isinstance(number, int)
    }

    assert list(SCHEMA) == sorted(SCHEMA, key=list(SCHEMA).index)
    assert set(SCHEMA) == set(EventKind)
    assert {kind.name: int(kind) for kind in SCHEMA} == numbers
    assert set(FIELDS) == set(Field)


def test_that_every_group_has_a_kind_and_every_kind_is_listed() -> None:
    assert {row.group for row in SCHEMA.values()} == set(EventGroup)
    assert [*EventGroup] == [*range(len(EventGroup))]
    assert len({(group.word, group.explanation) for group in EventGroup}) == len(EventGroup)
    marks = EventGroup.MARKS
    assert (marks.title, marks.word) == ("Marks", "⚑ mark")
    assert marks.explanation == "Marked instants and loaded scenes"
    assert kinds_of(frozenset(EventGroup)) == frozenset(map(int, EventKind))
    assert frozenset().union(*(kinds_with(group=group) for group in EventGroup)) == frozenset(
        map(int, EventKind)
    )


@pytest.mark.parametrize("field", Field)
def test_that_what_calls_change_of_members_is_listed_among_calls(field: Field) -> None:
    by_calls = {
        Field.PRIORITY,
        Field.INTERVAL,
        Field.DUE,
        Field.CALLS_LEFT,
        Field.TIME,
        Field.MISSED,
        Field.REMAINING,
    }
    group = group_of((0, EventKind.MEMBER_SET, 1, field, 0))
    assert (group is EventGroup.CALLS) == (field in by_calls)


def test_that_a_clock_at_its_parent_s_time_is_added_and_anchored() -> None:
    timeline = Timeline(["", "root", "game"])
    timeline.apply_all([*clock_at_parent_time(3, 1, 0, 1), *clock_at_parent_time(5, 2, 1, 2)])

    assert timeline.at_ns == 5
    assert {each.id: (each.name, each.parent_id) for each in timeline.clocks.values()} == {
        1: ("root", 0),
        2: ("game", 1),
    }
    assert [timeline.local_ns(number, 9) for number in (1, 2)] == [9, 9]
    assert [each.rate for each in timeline.clocks.values()] == [1, 1]


def test_that_fields_count_that_tell_what_happened() -> None:
    assert {Field.PAUSED, Field.PRIORITY, Field.STATE, Field.NAME} == FIELDS_THAT_COUNT


@pytest.mark.parametrize("row", SCHEMA.values(), ids=lambda row: row.name)
def test_that_a_sentence_speaks_of_numbers_that_are_something(row: EventRow) -> None:
    for place, unit in zip("sab", (row.subject, row.a, row.b), strict=True):
        if unit is Unit.NOTHING:
            assert f"{{{place}}}" not in row.sentence
    assert row.measured in {"", "a", "b", "ab", "sab"}


@pytest.mark.parametrize("kind", EventKind, ids=lambda kind: kind.name.lower())
def test_that_an_event_of_every_kind_reads_as_a_sentence(kind: EventKind) -> None:
    sentence = describe(one_of(kind), WORLD_STRINGS)

    assert sentence
    assert "unknown" not in sentence
    assert not set("{}[]|") & set(sentence.replace("[1]", ""))


@pytest.mark.parametrize("field", Field, ids=lambda field: field.text)
@pytest.mark.parametrize("value", [0, 1])
def test_that_every_field_reads_as_a_sentence(field: Field, value: int) -> None:
    sentence = describe((0, EventKind.MEMBER_SET, 7, field, value), ["", "chase"])

    assert sentence.startswith("member 7: ")
    assert not set("{}[]|") & set(sentence)


@pytest.mark.parametrize(
    ("kind", "subject", "a", "b", "sentence"),
    [
        (EventKind.CLOCK_ADDED, 2, 1, 1, "clock 2 “game” added under clock 1"),
        (EventKind.CLOCK_ADDED, 1, 0, 1, "clock 1 “game” added"),
        (EventKind.CLOCK_ANCHORED, 2, 5 * _MS, _HALF, "clock 2 starts at 00:00.005 with rate 0.5"),
        (EventKind.CLOCK_RATE, 2, 4 * _HALF, 3, "clock 2 now runs at rate 2 by command 3"),
        (EventKind.CLOCK_RATE, 2, 4 * _HALF, 0, "clock 2 now runs at rate 2"),
        (EventKind.CLOCK_PAUSED, 2, 3, 0, "clock 2 paused by command 3"),
        (EventKind.CLOCK_PAUSED, 2, 0, 0, "clock 2 paused"),
        (EventKind.TIMER_ADDED, 7, 2, 2, "timer 7 “boss” scheduled on clock 2"),
        (EventKind.TIMER_ARMED, 7, 1_500 * _MS, 0, "timer 7 is due at local 00:01.500"),
        (
            *(EventKind.TIMER_ARMED, 7, 1_500 * _MS, 250 * _MS),
            "timer 7 is due at local 00:01.500, then every 250 ms",
        ),
        (EventKind.TIMER_FIRED, 7, 0, NEVER, "timer 7 fired"),
        (EventKind.TIMER_FIRED, 7, -2_000_000, NEVER, "timer 7 fired 2.00 ms early"),
        (
            *(EventKind.TIMER_FIRED, 7, 2 * _MS, 3_000 * _MS),
            "timer 7 fired 2.00 ms late; due again at local 00:03.000",
        ),
        (EventKind.TIMER_ORIGIN, 7, 2, 0, "timer 7 is a timeout, set at boss"),
        (EventKind.TIMER_ORIGIN, 7, 0, 1, "timer 7 is an interval"),
        (EventKind.TIMER_CLEARED, 7, 2, 3, "timer 7 cleared at boss by command 3"),
        (EventKind.TIMER_CLEARED, 7, 0, 0, "timer 7 cleared"),
        (
            *(EventKind.FRAME_SHARES, 3 << 32 | 4, 5 << 32 | 6, 7 * _MS),
            (
                "since the previous frame: callbacks 3.00 µs, inspector 4.00 µs, "
                "garbage collection 5.00 µs, host late 6.00 µs, idle 7.00 ms"
            ),
        ),
        (
            *(EventKind.LOOP_PHASE_ENDED, 2, 5 << 4 | 1, 2 * _MS),
            "clock 2: frame 5: before update took 2.00 ms",
        ),
        (EventKind.SCENE, 0, 1, 0, "scene loaded: game"),
        (EventKind.SCENE, 2, 1, 0, "scene loaded: game (reload 2)"),
        (EventKind.COMMAND, 3, 1, 2, "command 3: game - refused: boss"),
        (EventKind.COMMAND_CONTEXT, 2, 0, 2, "requested by boss for clock 2"),
        (EventKind.READING, Reading.SYNCED, 5, 0, "caught up with the source"),
        (EventKind.MEMBER_ADDED, 3, 0, 1, "member 3 “game” added"),
        (EventKind.MEMBER_ORIGIN, 3, 2, MemberKind.UPDATE, "member 3 is an update on clock 2"),
        (EventKind.MEMBER_SET, 4, Field.CALLS_LEFT, 0, "member 4: calls left 0"),
        (EventKind.MEMBER_SET, 4, Field.CALLS_LEFT, -1, "member 4: no call limit"),
        (EventKind.MEMBER_SET, 4, Field.PAUSED, 3, "member 4: paused by command 2"),
        (EventKind.RUNNING_CALL, 2, 0, 1, "clock 2 runs a task"),
        (
            EventKind.OTHER_THREAD,
            2,
            _MS,
            0,
            "clock 2: another thread used 1.00 ms of processor time",
        ),
        (
            *(EventKind.SAMPLED, 2, 5 * _MS, 1 << 16 | 3 << 8),
            "clock 2 sampled: sample 2 of the turn, 3 frames deep, for 5.00 ms",
        ),
        (
            *(EventKind.SAMPLED, 2, 5 * _MS, 1 << 16 | 3 << 8 | vocabulary.SAW_END),
            "clock 2 sampled: the end of the turn, for 5.00 ms",
        ),
        (
            *(EventKind.SAMPLED, 2, 5 * _MS, vocabulary.SAW_BETWEEN_TURNS),
            "clock 2 sampled: between two turns, for 5.00 ms",
        ),
        (
            *(EventKind.COLLECTED, 2, 5 * _MS, 2 | vocabulary.COLLECTED_HERE),
            "garbage of generation 2 collected in 5.00 ms",
        ),
        (
            *(EventKind.COLLECTED, 2, _MS, 1 | 12 << vocabulary.COLLECTING_LINE_SHIFT),
            "garbage of generation 1, as line 12 asks, collected in 1.00 ms",
        ),
        (EventKind.TASK_ADDED, 4, 2, 0, "task 4 is on clock 2"),
        (EventKind.TASK_AT, 4, 1, 2, "task 4 is at game, in boss"),
        (EventKind.TASK_AT, 4, 0, 0, "task 4 is at a line that is not known"),
        (EventKind.TASK_AWAITED, 4, 0, 2, "task 4 is waited for (2 in all)"),
        (EventKind.TICKS_MISSED, 7, 1, 0, "timer 7 skipped 1 tick"),
        (EventKind.TICKS_MISSED, 7, 2, 0, "timer 7 skipped 2 ticks"),
        (
            *(EventKind.READING, Reading.PERIOD, 16_666_667, 0),
            "the host wants frames every 16.7 ms",
        ),
        (EventKind.READING, Reading.ADVANCED, 1_500 * _MS, 0, "time was advanced to 0:01.500"),
        (EventKind.MEMBER_SET, 4, Field.PRIORITY, 3, "member 4: priority 3"),
        (EventKind.MEMBER_SET, 4, Field.RATE, _HALF, "member 4: time scale 0.5"),
        (EventKind.MEMBER_SET, 4, Field.NAME, 2, "member 4: name “boss”"),
        (EventKind.MEMBER_SET, 4, Field.PAUSED, 0, "member 4: not paused"),
        (EventKind.MEMBER_SET, 4, Field.PAUSED, 1, "member 4: paused"),
    ],
)
def test_that_numbers_read_with_their_units_and_nothing_is_left_out_or_added(
    kind: EventKind, subject: int, a: int, b: int, sentence: str
) -> None:
    assert describe((0, kind, subject, a, b), ["", "game", "boss"]) == sentence


def test_that_what_is_not_there_is_not_spoken_of() -> None:
    strings = ["", "chase"]

    def said(kind: EventKind, *numbers: int) -> str:
        return describe((0, int(kind), *numbers), strings)  # type: ignore[arg-type]

    assert said(EventKind.TIMER_FIRED, 3, 0, NEVER) == "timer 3 fired"
    assert said(EventKind.CLOCK_PAUSED, 2, 0, 0) == "clock 2 paused"
    assert said(EventKind.CLOCK_PAUSED, 2, 9, 0) == "clock 2 paused by command 9"
    assert said(EventKind.COMMAND_FORM, 0, 1, 0) == "data of the scene's start"
    assert said(EventKind.COMMAND_CONTEXT, 0, 0, 0) == "requested by the user"
    assert said(EventKind.READING, Reading.HELD, 5, 0) == Reading.HELD.text


@pytest.mark.parametrize("kind", KINDS, ids=kind_id)
def test_that_folding_takes_every_kind_and_so_does_the_quick_fold(kind: int) -> None:
    log = log_with(kind)
    events = log.slice(log.first, log.end)
    one_by_one, at_once = Timeline(log.strings), Timeline(log.strings)

    one_by_one.apply_all(events)
    fold_block(at_once, block_of(events), 0)

    expected, found = described(one_by_one), described(at_once)
    for left_out in ("frames", "frame parts", "phases"):
        del expected[left_out], found[left_out]
    for each in (expected, found):
        # Name, kind and the frame that has not ended.
        each["loops"] = {number: loop[:3] for number, loop in each["loops"].items()}
    assert found == expected


@pytest.mark.parametrize("kind", KINDS, ids=kind_id)
def test_that_a_recording_keeps_every_kind(kind: int, tmp_path: Path) -> None:
    log = log_with(kind)

    recording = open_recording(record(log, tmp_path / "a.tlrec"))
    kept = recording.events(recording.first, recording.end)
    history_state = described(recording.state_before(recording.end))
    recording.close()

    assert kept == log.slice(log.first, log.end)
    expected = described(LogHistory(log).state_before(log.end))
    assert history_state["members"] == expected["members"]
    assert history_state["clocks"] == expected["clocks"]


def _explain(history: LogHistory) -> None:
    timeline = history.state_before(history.end)
    for timer_id in list(timeline.timers.ids()):
        assert explain(history, CallId(timer_id), timeline.at_ns).headline
    for member_id in timeline.members.by_id:
        assert explain(history, CallId(member_id, is_member=True), timeline.at_ns).headline


def _lint(history: LogHistory) -> None:
    assert isinstance(findings(history), list)


def _lanes(history: LogHistory) -> None:
    store = LaneStore()
    store.read(history, history.state_before(history.end))
    assert store.cursor == history.end


def _spans(history: LogHistory) -> None:
    timeline = history.state_before(history.end)
    sums = FrameSums(history, timeline, timeline.frames.first, timeline.frames.end)
    while not sums.is_done:
        sums.read_on()
    assert sums.totals
    assert isinstance(spans_of(history, timeline, timeline.frames.end - 1), tuple)


def _with_those_to_ask_about(history: LogHistory) -> Iterator[tuple[bool, RawEvent]]:
    """Yield all events; the same world is asked about once, and not before each kind."""
    events = history.events(history.first, history.end)
    known = len(world()) if len(events) > len(world()) else 0
    for place, event in enumerate(events):
        yield place >= known, event


def _conditions(history: LogHistory) -> None:
    conditions = [parsed_condition(f"{field.name} == {field.name}") for field in EVENT_FIELDS]
    reader = EventReader(history.strings)
    for is_asked, event in _with_those_to_ask_about(history):
        reader.fold(event)
        for condition in conditions if is_asked else ():
            condition.holds(reader)


def _event_list(history: LogHistory) -> None:
    names = EventNames()
    names.set_source(history.strings, None)
    for is_asked, event in _with_those_to_ask_about(history):
        names.note(event)
        if not is_asked:
            continue
        assert names.sentence(event, names.label_of(event))
        if event[1] in list(EventKind):
            assert group_of(event, MemberKind.MACHINE) in EventGroup


def _comparison(history: LogHistory) -> None:
    events = history.events(history.first, history.end)
    run = RunEvents(events, history.strings)
    assert first_difference(run, run) is None
    assert digest_of(events, history.strings) == digest_of(iter(events), history.strings)


def _export(history: LogHistory) -> None:
    timeline = history.state_before(history.end)
    frames = timeline.frames
    columns = FrameTimes.from_timeline(timeline)
    assert len(columns) == frames.end - frames.first


_READERS = (_explain, _lint, _lanes, _spans, _conditions, _event_list, _comparison, _export)


@pytest.mark.parametrize("kind", KINDS, ids=kind_id)
def test_that_every_reader_takes_every_kind(kind: int) -> None:
    history = LogHistory(log_with(kind))
    for read in _READERS:
        read(history)


def test_that_every_reader_takes_the_events_of_a_scene() -> None:
    history = LogHistory(scene_log("1", 1))
    for read in _READERS:
        read(history)


def test_that_what_was_measured_is_not_compared() -> None:
    for row in SCHEMA.values():
        event = (5, int(row.kind), 1, 1, 1)
        other = (5, int(row.kind), 1, *(2 if x in row.measured else 1 for x in "ab"))
        one, two = compared(event, ["", "x", "x"]), compared(other, ["", "x", "x"])  # type: ignore[arg-type]
        assert one == two


def test_that_the_schema_can_be_had_as_json() -> None:
    data = json.loads(json.dumps(schema_as_data()))

    kinds = {kind["name"]: kind for kind in data["kinds"]}
    assert kinds["timer_fired"]["number"] == EventKind.TIMER_FIRED
    assert kinds["timer_fired"]["a"] == "lateness"
    assert kinds["call_ended"]["measured"] == ["a", "b"]
    assert data["numbers"]["member_kind"]["machine"] == MemberKind.MACHINE
    assert {kind["subject"] for kind in data["kinds"]} <= set(data["units"])


def test_that_the_help_page_has_the_table_and_every_unit_and_field() -> None:
    page = resource_path("help", "events.md").read_text(encoding="utf-8")

    assert schema_as_table() in page
    for unit in Unit:
        assert f"| {unit.name.lower().replace('_', ' ')} | {unit.value} |" in page
    for field in FIELDS.values():
        assert f"| {int(field.field)} | {field.field.name.lower()} |" in page
