"""Events of a program in the numbers of the session, against what each unit says."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.clocks.rate import MAX_RATE
from inspector.events.schema import Unit
from inspector.sessions.attached import session_numbers
from inspector.sessions.attached import translation as translation_module
from inspector.sessions.attached.session_numbers import ABOVE_PROGRAM, NUMBER_BITS, ROOT_ID
from inspector.sessions.attached.translation import Translation
from inspector.timebase import MAX_NS
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    COMMAND,
    FRAME_BEGAN,
    FRAME_SHARES,
    LOOP_ASKED,
    LOOP_FOUND,
    MARK,
    NEVER,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    SCENE,
)

_INDEX = 3
_BASE = _INDEX << NUMBER_BITS


class _Strings:
    def __init__(self) -> None:
        self.texts = [""]

    def __call__(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)


def _made(strings: _Strings | None = None, shift_ns: int = 0) -> Translation:
    return Translation(_INDEX, shift_ns, strings or _Strings())


def _rows(
    made: Translation, *events: tuple[int, int, int, int, int], now_ns: int = 10_000
) -> list[list[int]]:
    payload = np.array(events, "<i8").tobytes()
    found: list[list[int]] = made.rows(payload, now_ns, 5).tolist()
    return found


@pytest.mark.parametrize(
    ("unit", "values"),
    [
        (Unit.CLOCK, {-1: None, 0: 0, 1: _BASE + 1 + ROOT_ID, ABOVE_PROGRAM: None}),
        (Unit.CLOCK, {ABOVE_PROGRAM - 1: _BASE + ABOVE_PROGRAM - 1 + ROOT_ID}),
        (Unit.TIMER, {-1: None, 0: 0, 1: _BASE + 1, ABOVE_PROGRAM: None}),
        (Unit.CAUSE, {-1: 0, 0: 0, 5: 5, 6: 0}),
        (Unit.CAUSE_PLUS_ONE, {-1: 1, 0: 0, 6: 6, 7: 1}),
        (Unit.NOTHING, {-1: 0, 7: 0}),
        (Unit.RATE, {-1: None, 0: 0, MAX_RATE * RATE_DENOMINATOR + 1: None}),
        (Unit.RATE, {MAX_RATE * RATE_DENOMINATOR: MAX_RATE * RATE_DENOMINATOR}),
        (Unit.CALLS, {-2: None, -1: -1, MAX_NS: MAX_NS, MAX_NS + 1: None}),
        (Unit.LOCAL_INSTANT, {-MAX_NS: -MAX_NS, -MAX_NS - 1: None, MAX_NS + 1: None}),
        (Unit.LOCAL_DUE, {-MAX_NS: -MAX_NS, MAX_NS: MAX_NS, MAX_NS + 1: None, NEVER: NEVER}),
        (Unit.DURATION, {-1: None, 0: 0, MAX_NS: MAX_NS, MAX_NS + 1: None}),
    ],
)
def test_that_numbers_are_converted_by_their_unit_or_refused(
    unit: Unit, values: dict[int, int | None]
) -> None:
    found, fits = _made()._value(unit, np.array(list(values)), 5)
    told = [
        number if is_possible else None
        for number, is_possible in zip(found.tolist(), fits.tolist(), strict=True)
    ]
    assert told == list(values.values())


def test_that_texts_are_looked_up_on_one_line_or_whole() -> None:
    strings = _Strings()
    made = _made(strings)
    assert made.add_texts(1, ["one", "two\nlines"])
    for unit, whole in ((Unit.TEXT, "two⏎lines"), (Unit.TRACEBACK, "two\nlines")):
        numbers, fits = made._value(unit, np.array([-1, 0, 1, 2, 3]), 0)
        assert fits.tolist() == [False, True, True, True, False]
        texts = [strings.texts[number] for number in numbers.tolist()]
        assert texts[1:3] == ["", "one"]
        assert texts[3] == whole


def test_that_texts_follow_one_another_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_module, "_MOST_TEXTS", 6)
    strings = _Strings()
    made = _made(strings)
    assert not made.add_texts(0, ["none"])
    assert not made.add_texts(2, ["too far"])
    assert made.add_texts(1, ["a", "b"])
    assert made.add_texts(3, ["c"])
    # What comes again takes the place of what was there.
    assert made.add_texts(2, ["B"])
    assert not made.add_texts(4, ["d", "e", "f"])
    assert made.add_texts(4, ["d", "e"])
    numbers, fits = made._value(Unit.TEXT, np.arange(7), 0)
    assert [strings.texts[number] for number in numbers.tolist()[:6]] == ["", *"aBcde"]
    assert fits.tolist() == [True] * 6 + [False]


def test_that_texts_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_module, "_MOST_CHARACTERS", 5)
    strings = _Strings()
    assert _made(strings).add_texts(1, ["abc", "de", "f"])
    assert strings.texts == ["", "abc", "de", "(too many texts)"]


def test_that_instants_are_those_of_the_session_in_order() -> None:
    made = _made(shift_ns=-100)
    marks = [(at_ns, MARK, 0, 0, 0) for at_ns in (50, 300, 200, 900)]
    assert [row[0] for row in _rows(made, *marks, now_ns=700)] == [0, 200, 200, 700]
    assert made.last_ns == 700
    assert [row[0] for row in _rows(made, *marks[:2], now_ns=900)] == [700, 700]


def test_that_what_is_impossible_is_counted_by_its_kind() -> None:
    made = _made()
    far = MAX_NS
    found = _rows(
        made,
        (5, MARK, 0, 0, 0),
        (far, MARK, 0, 0, 0),
        (-far, MARK, 0, 0, 0),
        (6, MARK, 0, 7, 0),
        (7, COMMAND, 1, 0, 0),
        (7, SCENE, 0, 0, 0),
        (7, FRAME_SHARES, 0, 0, 0),
        (7, LOOP_FOUND, 1, 0, 0),
        (7, LOOP_ASKED, 1, 5, 0),
        (8, 9_999, 1, 0, 0),
        (far - 1, MARK, 0, 0, 0),
        (1 - far, MARK, 0, 0, 0),
    )
    assert [row[:2] for row in found] == [
        [5, MARK],
        [7, LOOP_ASKED],
        [10_000, MARK],
        [10_000, MARK],
    ]
    of_the_session = dict.fromkeys((COMMAND, SCENE, FRAME_SHARES, LOOP_FOUND), 1)
    assert made.unusable == {MARK: 3, 9_999: 1} | of_the_session
    assert _rows(made, (8, 9_999, 1, 0, 0)) == []


def test_that_clocks_without_a_parent_hang_below_a_clock_of_the_session() -> None:
    strings = _Strings()
    made = _made(strings, shift_ns=-100)
    made.add_texts(1, ["program", "game"])
    assert made.top_clock_id == 0
    made.above = 77
    events = [
        (200, CLOCK_ADDED, 4, 0, 1),
        (200, CLOCK_ADDED, 5, 4, 2),
        (200, CLOCK_ADDED, 2, 0, 2),
        (200, CLOCK_ANCHORED, 4, 1_000, 0),
        (200, CLOCK_ANCHORED, 5, 1_000, 0),
        (200, CLOCK_PAUSED, 5, 3, 0),
    ]
    added, child, second, anchored, other, paused = _rows(made, *events)
    top = _BASE + 4 + ROOT_ID
    program, game = strings.texts.index("program"), strings.texts.index("game")
    assert added[2:] == [top, 77, program]
    assert child[2:] == [top + 1, top, game]
    assert second[2:] == [top - 2, 77, game]
    assert (anchored[3], other[3]) == (900, 1_000)
    assert paused[2:4] == [top + 1, 3]
    assert made.top_clock_id == top - 2
    assert made.clock_id(4) == top
    assert made.family_id == _BASE + ABOVE_PROGRAM + ROOT_ID
    made.name = "child of it"
    (renamed,) = _rows(made, events[0])
    assert strings.texts[renamed[4]] == "child of it"


def test_that_phases_name_the_program_whose_loop_they_are_of() -> None:
    found = _rows(_made(), (5, FRAME_BEGAN, 0, 1, 0), (6, PHASE_ENDED, 1, 0, 9))
    assert [row[1] for row in found] == [FRAME_BEGAN, PHASE_ENDED]
    assert found[1][3:] == [_INDEX, 9]


@pytest.mark.parametrize(
    ("clock_id", "program", "own", "is_above", "is_family"),
    [
        (0, -1, ABOVE_PROGRAM, True, False),
        (ROOT_ID, -1, 0, True, False),
        (ROOT_ID + 1, 0, 1, False, False),
        (ROOT_ID + ABOVE_PROGRAM, 0, ABOVE_PROGRAM, True, True),
        (ROOT_ID + _BASE, _INDEX, 0, False, False),
        (ROOT_ID + _BASE + 7, _INDEX, 7, False, False),
        (ROOT_ID + _BASE + ABOVE_PROGRAM, _INDEX, ABOVE_PROGRAM, True, True),
    ],
)
def test_that_the_number_of_a_clock_says_whose_it_is(
    clock_id: int, program: int, own: int, *, is_above: bool, is_family: bool
) -> None:
    assert session_numbers.program_of_clock(clock_id) == program
    assert session_numbers.own_clock(clock_id) == own
    assert session_numbers.is_above_programs(clock_id) is is_above
    assert session_numbers.is_family(clock_id) is is_family
    if program >= 0:
        assert session_numbers.program_of(clock_id - ROOT_ID) == program
