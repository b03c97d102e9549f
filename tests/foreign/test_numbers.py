"""Parsing numbers, and all its users."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.statistics.frame_budget import checked_budget_ms, rate_in_file
from inspector.clocks import ClockTree
from inspector.clocks.rate import checked_frame_rate, rate_numerator
from inspector.engines.lab.display import display_named
from inspector.engines.lab.timer_files import parse_timer
from inspector.events.conditions.breakpoint import Breakpoint, BreakpointError
from inspector.events.conditions.conditions import ConditionError, parsed_condition
from inspector.foreign.numbers import count_in, number_in, refusal, rounded, shown
from inspector.timebase import parse_duration_ns, seconds_to_ns

if TYPE_CHECKING:
    from collections.abc import Callable

#: Python would be busy with each of these for minutes, or would not take it.
ABSURD = [
    pytest.param(text, id=text[:14])
    for text in (
        "1e999999999",
        "1e-999999999",
        "-1E+999999999",
        "1" * 5_000,
        "0." + "1" * 5_000,
        f"1/{'3' * 5_000}",
        f"1e{'9' * 5_000}",
    )
]


@given(st.fractions(max_denominator=10**12))
def test_that_a_number_is_read_as_it_was_written(number: Fraction) -> None:
    assert number_in(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_that_every_float_can_be_read(number: float) -> None:
    assert float(number_in(repr(number))) == number


@pytest.mark.parametrize("text", ["", "soon", "1/0", "nan", "inf", "1,5", "0x10", "1 2"])
def test_that_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        number_in(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1e401", "not a number: “1e401” (an exponent lies between −400 and 400)"),
        ("1e-999999999", "(an exponent lies between −400 and 400)"),
        ("7" * 101, "(101 characters) (a number has at most 100 characters)"),
    ],
)
def test_that_a_number_beyond_all_measure_is_refused_with_the_limit(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="not a number") as caught:
        number_in(text)

    assert reason in str(caught.value)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 0), ("12", 12), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("-1", None), ("", None)],
)
def test_that_a_count_is_a_whole_number_that_counts_something(text: str, count: int | None) -> None:
    assert count_in(text) == count


@pytest.mark.parametrize("digits", ["²", "٣", "1_0", " 1"])
def test_that_a_count_has_plain_digits(digits: str) -> None:
    assert count_in(digits) is None


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, 10**10_000, Fraction(10**10_000, 3), Decimal("1e9999"), [0] * 10**5],
    ids=["text", "int", "fraction", "decimal", "list"],
)
def test_that_a_message_shows_the_beginning_of_what_is_long(value: object) -> None:
    assert len(shown(value)) < 100
    assert len(refusal("a rate", value, "write 1")) < 150


def test_that_a_number_too_large_for_a_float_is_told() -> None:
    assert rounded(Fraction(10) ** 400) == "a number of hundreds of digits"
    assert rounded(Fraction(1, 3)) == "0.3333333333"


@pytest.mark.parametrize("text", ABSURD)
@pytest.mark.parametrize(
    "read",
    [
        parse_duration_ns,
        rate_numerator,
        lambda text: rate_numerator(f"{text}%"),
        lambda text: parse_duration_ns(f"{text} ms"),
        lambda text: parse_duration_ns(f"{text}:00"),
        lambda text: parse_duration_ns(f"00:01.{text}"),
        lambda text: display_named(text, 10**9),
        lambda text: display_named(f"variable:{text}", 10**9),
        parse_timer,
        lambda text: parse_timer(f"blink=1,repeat={text}"),
        ClockTree().root.set_rate,
    ],
)
def test_that_absurd_numbers_are_refused_at_once_in_a_short_sentence(
    read: Callable[[str], object], text: str
) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        read(text)

    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ABSURD)
def test_that_a_file_with_an_absurd_frame_rate_names_none(text: str) -> None:
    assert rate_in_file(text) is None


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1000000", 1_000_000),
        ("1000000.0001", None),
        ("1/3600", Fraction(1, 3600)),
        ("1/3601", None),
        ("0", None),
        ("-60", None),
        ("", None),
    ],
)
def test_that_frames_of_a_microsecond_to_an_hour_are_believed(
    text: str, rate: Fraction | int | None
) -> None:
    assert rate_in_file(text) == rate


@pytest.mark.parametrize("text", ABSURD)
def test_that_an_absurd_number_in_a_condition_is_refused(text: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parsed_condition(f"lateness > {text}")

    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ABSURD)
def test_that_an_absurd_limit_of_a_breakpoint_is_refused(text: str) -> None:
    with pytest.raises(BreakpointError):
        Breakpoint.from_values({"kind": "late", "limit": text})


@pytest.mark.parametrize(
    "value",
    [Decimal("1e999999999"), Decimal("-1e-999999999"), 10**10_000],
    ids=["large", "small", "int"],
)
def test_that_absurd_numbers_of_a_program_are_refused(value: Any) -> None:  # noqa: ANN401
    for take in (seconds_to_ns, rate_numerator):
        with pytest.raises(ValueError, match=r"\S") as caught:
            take(value)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "rate",
    [Fraction(10) ** 400, Fraction(1, 10**400), 1e300],
    ids=["large", "small", "float"],
)
def test_that_an_absurd_frame_rate_is_told_in_a_short_sentence(rate: Fraction) -> None:
    with pytest.raises(ValueError, match="a frame rate lies between") as caught:
        checked_frame_rate(rate)

    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("budget_ms", [Fraction(1, 1000), 3_600_000])
def test_that_a_budget_may_be_as_short_and_as_long_as_is_said(budget_ms: Fraction) -> None:
    assert checked_budget_ms(budget_ms) == float(budget_ms)


@pytest.mark.parametrize("budget_ms", [1e-300, 0, -1, 1e300, float("nan"), Fraction(10) ** 400])
def test_that_a_budget_that_no_frame_can_have_is_refused(budget_ms: float) -> None:
    with pytest.raises(ValueError, match=r"a budget must be between 0\.001 ms and an hour, not"):
        checked_budget_ms(budget_ms)
