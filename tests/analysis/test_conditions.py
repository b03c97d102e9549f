"""Conditions on events: what they understand, and what they say about the rest."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.events.conditions.conditions import ConditionError, parsed_condition, quoted
from inspector.events.conditions.event_fields import EVENT_FIELDS, EventReader
from inspector.resources import resource_path
from inspector.vocabulary import (
    NEVER,
    RATE_DENOMINATOR,
    SAW_BETWEEN_TURNS,
    SAW_END,
    EventKind,
    Field,
    MemberKind,
    RawEvent,
)

STRINGS = ["", "boss", "game", 'a "quoted" \\ name', "open", "push"]
MS = 1_000_000


def reader_at(*events: RawEvent) -> EventReader:
    reader = EventReader(STRINGS)
    for event in events:
        reader.fold(event)
    return reader


ADDED: tuple[RawEvent, ...] = (
    (0, EventKind.CLOCK_ADDED, 1, 0, 2),
    (0, EventKind.TIMER_ADDED, 5, 1, 1),
)
FIRED: RawEvent = (20 * MS, EventKind.TIMER_FIRED, 5, 6 * MS, 40 * MS)
LAST: RawEvent = (20 * MS, EventKind.TIMER_FIRED, 5, 6 * MS, NEVER)
LONG_FRAME: RawEvent = (30 * MS, EventKind.FRAME_ENDED, 1, 34 * MS, 5 * MS)


@pytest.mark.parametrize(
    "text",
    [
        "lateness > 5ms",
        "lateness > 0.005 s",
        "lateness >= 6 ms and lateness <= 6000us",
        'kind == "timer_fired"',
        "kind = 'timer_fired' and timer == \"boss\"",
        "not lateness > 7ms",
        'clock == "game"',
        'timer contains "OS"',
        "(lateness > 1s or lateness > 2ms) and at < 1 min",
        "lateness * 2 > 11ms",
        "lateness / 2 == 3ms",
        "lateness / 1ms == 6",
        "(lateness + 1ms) * 2 > 13 ms",
        "lateness > 1ms + 1ms",
        "fired == 1",
        "-lateness < 0ms",
        "frame == 0",
    ],
)
def test_that_holds_for_a_timer_that_fires_late(text: str) -> None:
    assert parsed_condition(text).holds(reader_at(*ADDED, FIRED))


@pytest.mark.parametrize(
    "text",
    [
        "lateness > 6ms",
        "busy > 0ms",
        "not (lateness > 1ms)",
        'timer == "other"',
        'timer contains "x"',
        "lateness > busy",
        "lateness / 0 > 1ms",
        'state == "open"',
        "fired > 1",
    ],
)
def test_that_does_not_hold_for_it(text: str) -> None:
    assert not parsed_condition(text).holds(reader_at(*ADDED, FIRED))


def test_that_what_an_event_does_not_have_makes_no_comparison_true() -> None:
    reader = reader_at(LONG_FRAME)
    assert not parsed_condition("lateness < 1ms").holds(reader)
    assert not parsed_condition("lateness != 1ms").holds(reader)
    assert not parsed_condition('clock contains ""').holds(reader_at(*ADDED, LONG_FRAME))
    assert parsed_condition("interval > 33ms").holds(reader)


def test_that_a_one_shot_still_has_its_name_when_it_fires() -> None:
    assert parsed_condition('timer == "boss" and clock == "game"').holds(reader_at(*ADDED, LAST))


def test_that_firings_are_counted_and_a_timer_is_forgotten_after_the_last() -> None:
    reader = reader_at(*ADDED, FIRED)
    reader.fold(FIRED)
    assert parsed_condition('timer == "boss" and fired == 2').holds(reader)
    reader.fold(LAST)
    assert parsed_condition('timer == "boss" and fired == 3').holds(reader)
    reader.fold((0, EventKind.TIMER_ADDED, 6, 1, 1))
    reader.fold((0, EventKind.TIMER_CLEARED, 6, 0, 0))
    assert parsed_condition('timer == "boss"').holds(reader)

    assert reader.timers == {}


def test_that_nothing_is_said_of_an_event_before_the_first() -> None:
    reader = EventReader(STRINGS)

    said = {field.name: field.read(reader) for field in EVENT_FIELDS}

    assert {name: value for name, value in said.items() if value is not None} == {
        "at": 0,
        "frame": 0,
    }


@pytest.mark.parametrize(
    ("kind", "field", "text", "holds"),
    [
        (MemberKind.FRAME_TIMER, Field.RATE, 'timer == "boss"', True),
        (MemberKind.NODE, Field.RATE, 'timer contains ""', False),
        (MemberKind.NODE, Field.RATE, "rate == 1/2", True),
        (MemberKind.NODE, Field.DUE, "rate >= 0", False),
    ],
)
def test_that_a_member_has_a_timer_s_name_or_a_rate_only_if_it_is_or_has_one(
    kind: MemberKind, field: Field, text: str, holds: bool
) -> None:
    added, _, *_ = MEMBER
    reader = reader_at(
        added,
        (0, EventKind.MEMBER_ORIGIN, 3, 1, kind),
        (0, EventKind.MEMBER_SET, 3, field, RATE_DENOMINATOR // 2),
    )

    assert parsed_condition(text).holds(reader) is holds


@pytest.mark.parametrize(
    ("before", "clock", "turn_ns"),
    [
        ([], 1, 19 * MS),
        # Its turns are reported.
        ([(0, EventKind.LOOP_FOUND, 1, 2, 1)], 1, None),
        ([(0, EventKind.LOOP_FOUND, 2, 2, 1)], 1, 19 * MS),
        ([], 2, None),
    ],
)
def test_that_a_turn_lasts_from_its_first_sample_to_the_one_that_saw_its_end(
    before: list[RawEvent], clock: int, turn_ns: int | None
) -> None:
    def sampled(at_ms: int, number: int, flags: int, of: int = 1) -> RawEvent:
        return (at_ms * MS, EventKind.SAMPLED, of, 4 * MS, number << 16 | 3 << 8 | flags)

    reader = reader_at(
        *before,
        sampled(2, 0, SAW_END),
        sampled(5, 0, SAW_BETWEEN_TURNS),
        sampled(10, 0, 0),
        sampled(15, 1, 0),
    )
    turns = [reader.turn_ns]
    reader.fold(sampled(25, 2, SAW_END, clock))
    turns.append(reader.turn_ns)

    assert turns == [None, turn_ns]
    ends = ((30, EventKind.FRAME_ENDED, 1, 9, 7), (31, EventKind.LOOP_FRAME_ENDED, 1, 9, 8))
    assert [reader_at(end).turn_ns for end in ends] == [7, 8]


def test_that_timers_after_a_frame_belong_to_the_next_one() -> None:
    began: RawEvent = (0, EventKind.FRAME_BEGAN, 1, 7, 16 * MS)
    ended: RawEvent = (0, EventKind.FRAME_ENDED, 1, 16 * MS, 0)

    assert reader_at(began).frame == 7
    assert reader_at(began, ended).frame == 7
    assert reader_at(began, ended, FIRED).frame == 8


MEMBER: tuple[RawEvent, ...] = (
    (0, EventKind.MEMBER_ADDED, 3, 0, 1),
    (0, EventKind.MEMBER_ORIGIN, 3, 1, MemberKind.NODE),
    (0, EventKind.MEMBER_ADDED, 4, 3, 4),
    (0, EventKind.MEMBER_ORIGIN, 4, 1, MemberKind.COMPONENT),
)
RENAMED: RawEvent = (0, EventKind.MEMBER_SET, 3, Field.NAME, 2)
CALLED: RawEvent = (0, EventKind.CALL_ENDED, 3, 0, 1)


def test_that_a_member_that_was_renamed_goes_by_its_new_name_only() -> None:
    reader = reader_at(*MEMBER, RENAMED, CALLED)

    assert parsed_condition('member == "game"').holds(reader)
    assert not parsed_condition('member == "boss"').holds(reader)


def test_that_a_move_is_about_the_member_that_moves() -> None:
    reader = reader_at(*MEMBER, (0, EventKind.MEMBER_MOVED, 4, 3, 0))

    assert parsed_condition('kind == "member_moved" and member == "open"').holds(reader)


def test_that_a_member_is_known_until_the_frame_is_over_in_which_it_goes() -> None:
    reader = reader_at(*MEMBER, (0, EventKind.MEMBER_REMOVED, 3, 0, 0))
    assert parsed_condition('member == "boss"').holds(reader)
    reader.fold(CALLED)
    assert parsed_condition('member == "boss" and calls == 1').holds(reader)

    reader.fold(LONG_FRAME)
    reader.fold(CALLED)

    assert not parsed_condition('member contains ""').holds(reader)
    assert not parsed_condition("calls > 0").holds(reader)


def test_that_a_number_that_is_used_again_is_another_member() -> None:
    reader = reader_at(*MEMBER, CALLED, (0, EventKind.MEMBER_REMOVED, 3, 0, 0), LONG_FRAME)
    for event in (*MEMBER, LONG_FRAME, CALLED):
        reader.fold(event)

    assert parsed_condition('member == "boss" and calls == 1').holds(reader)


def test_that_clocks_timers_and_members_are_named_if_they_are_known() -> None:
    reader = reader_at(*ADDED, *MEMBER, LAST)

    known = (("clock", 1), ("timer", 5), ("member", 3), ("machine", 4))
    assert [reader.naming(*each) for each in known] == [
        "clock “game”",
        "timer “boss”",
        "“boss”",
        "“open”",
    ]
    assert {reader.naming(what, 99) for what in ("clock", "timer", "member")} == {""}


def test_that_calls_are_counted_for_the_event_that_ends_one_only() -> None:
    reader = reader_at(*MEMBER, CALLED)
    assert parsed_condition("calls == 1").holds(reader)

    reader.fold(RENAMED)

    assert not parsed_condition("calls >= 0").holds(reader)


def test_that_what_was_below_a_member_goes_with_it() -> None:
    reader = reader_at(*MEMBER, (0, EventKind.MEMBER_REMOVED, 3, 0, 0), LONG_FRAME)

    reader.fold((0, EventKind.CALL_ENDED, 4, 0, 1))

    assert not parsed_condition('member contains ""').holds(reader)


def test_that_machines_have_names_states_and_transitions() -> None:
    reader = reader_at(
        (0, EventKind.MEMBER_ADDED, 3, 0, 1),
        (0, EventKind.MEMBER_ORIGIN, 3, 1, MemberKind.MACHINE),
        (0, EventKind.STATE_ENTERED, 3, 4, 5),
    )
    condition = parsed_condition('machine == "boss" and state == "open" and transition == "push"')
    assert condition.holds(reader)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("lateness > 1/60 s", False),
        ("lateness > 1/1000 s", True),
        ("lateness >= 2 * 3/1200 s", True),
        ("lateness < (1 + 1)/60 s - 1/60 s", True),
        ("lateness / 1ms = 5", True),
    ],
)
def test_that_a_quotient_can_have_a_unit(text: str, *, holds: bool) -> None:
    fired = (0, EventKind.TIMER_FIRED, 1, 5_000_000, 0)

    assert parsed_condition(text).holds(reader_at(fired)) is holds


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", 0, "missing"),
        ("lateness", 8, "comparison is missing"),
        ("lateness >", 10, "missing"),
        ("lateness > 5", 11, "needs a unit"),
        ("latenes > 5ms", 0, "no field “latenes”"),
        ("lateness > 5ms and", 18, "missing"),
        ("lateness > 5ms 3", 15, "not expected"),
        ("(lateness > 5ms", 15, "closing bracket"),
        ('timer == "boss', 9, "closing quote"),
        ("timer > 'a'", 6, "equal, different"),
        ("timer == 5ms", 6, "cannot be compared with a text"),
        ("lateness contains 5ms", 9, "looks for a text"),
        ("lateness * busy > 1ms", 9, "makes no sense"),
        ("timer + 1 > 1", 6, "makes no sense"),
        ("lateness > 5m", 11, "cannot be read"),
        ("__import__('os')", 0, "no field"),
        ("lateness > 5ms; kind", 14, "cannot be read"),
        ("kind == timer_fired", 8, 'a text stands in quotes: "timer_fired"'),
        ("kind == timer_fried", 8, "(there are "),
        ("kind == 'timer_fierd'", 8, "it is never “timer_fierd” (but timer_fired"),
        ("'Update' = phase", 0, "it is never “Update”"),
        ("lateness > )", 11, "“)” is not expected here"),
        ("(fired == 1) == 1", 13, "“==” is not expected here"),
        ("(timer == 'a') contains 'b'", 15, "“contains” is not expected here"),
        ("fired == 1 'and'", 11, "“'and'” is not expected here"),
        ("timer contains 5ms", 6, "looks for a text"),
        (f"fired > {'9' * 101}", 8, "ot a number"),
        ("kind == 'timer_aded'", 8, "(but timer_added, timer_armed, timer_cleared)."),
    ],
)
def test_that_a_mistake_is_named_with_its_place(text: str, place: int, words: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parsed_condition(text)
    assert caught.value.place == place
    assert words in str(caught.value)
    assert f"At character {place + 1}:" in str(caught.value)


def test_that_a_condition_has_an_end() -> None:
    with pytest.raises(ConditionError, match="at most 2,000 characters"):
        parsed_condition("(" * 3_000)
    assert parsed_condition("lateness > 5ms".ljust(2_000)).text == "lateness > 5ms"
    with pytest.raises(ConditionError, match="nested more than 50"):
        parsed_condition("(" * 51 + "lateness > 5ms" + ")" * 51)
    with pytest.raises(ConditionError, match="nested more than 50"):
        parsed_condition("(" * 1_900)
    with pytest.raises(ConditionError, match="nested more than 50"):
        parsed_condition("not " * 100 + "lateness > 5ms")
    with pytest.raises(ConditionError, match="more than 100 calculations"):
        parsed_condition(f"fired > {'+'.join(['1'] * 102)}")


def test_that_a_long_calculation_is_worked_out() -> None:
    condition = parsed_condition(f"fired < {'+'.join(['1'] * 101)}")

    assert condition.holds(reader_at(*ADDED, FIRED))


@given(st.text(max_size=60))
def test_that_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        condition = parsed_condition(text)
    except ConditionError:
        return
    condition.holds(reader_at(*ADDED, FIRED))


_SIGNS = ("and", "or", "not", "(", ")", "==", "<", ">", "+", "-", "*", "/", "contains", '"x"')
_WORDS = [*(field.name for field in EVENT_FIELDS), *_SIGNS, "5ms", "2"]


@given(st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join))
def test_that_any_words_are_read_or_refused_in_words(text: str) -> None:
    try:
        condition = parsed_condition(text)
    except ConditionError:
        return
    for event in (*ADDED, FIRED, LONG_FRAME):
        condition.holds(reader_at(*ADDED, event))


@given(st.text(alphabet=string.printable, max_size=30))
def test_that_every_name_can_be_quoted(name: str) -> None:
    reader = EventReader(["", name, "game"])
    reader.fold((0, EventKind.TIMER_ADDED, 5, 1, 1))
    assert parsed_condition(f"timer == {quoted(name)}").holds(reader)


@pytest.mark.parametrize("kind", list(EventKind))
def test_that_every_field_can_be_read_from_every_event(kind: EventKind) -> None:
    reader = reader_at(*ADDED, (0, kind, 1, 1, 1))
    for field in EVENT_FIELDS:
        field.read(reader)


def test_that_the_help_page_lists_every_field() -> None:
    page = resource_path("help", "breakpoints.md").read_text(encoding="utf-8")
    for field in EVENT_FIELDS:
        assert f"| `{field.name}` | {field.summary} ({field.type.value}) |" in page
    (example,) = re.findall(r"```\n(.*?)\n```", page, re.DOTALL)
    parsed_condition(example)
