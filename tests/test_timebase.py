"""Instants, durations and their text."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks import ClockTree
from inspector.timebase import (
    MAX_NS,
    brief_duration,
    checked_ns,
    format_duration,
    format_instant,
    format_local_time,
    late_text,
    ns_to_seconds,
    parse_duration_ns,
    seconds_to_ns,
)


@given(st.integers(-(2**53), 2**53))
def test_that_nanoseconds_survive_the_way_over_fractions(ns: int) -> None:
    assert seconds_to_ns(Fraction(ns, 10**9)) == ns


@given(st.floats(-1e9, 1e9))
def test_that_seconds_survive_to_the_nanosecond(seconds: float) -> None:
    assert abs(ns_to_seconds(seconds_to_ns(seconds)) - seconds) <= 1e-9 + abs(seconds) * 1e-15


@pytest.mark.parametrize("three", [np.int8(3), np.uint8(3), np.int32(3), np.float16(3)])
def test_that_numbers_of_other_libraries_do_not_overflow(three: Any) -> None:  # noqa: ANN401
    assert seconds_to_ns(three) == 3_000_000_000
    assert ClockTree().root.child("three", rate=three).rate == 3


def test_that_decimal_seconds_are_exact() -> None:
    assert seconds_to_ns(Decimal("0.1")) == 100_000_000
    assert seconds_to_ns(Decimal("4000000000.000000001")) == 4_000_000_000_000_000_001


@pytest.mark.parametrize(
    "bad",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        1e300,
        "1",
        None,
        Decimal("nan"),
        Decimal("inf"),
        1j,
    ],
)
def test_that_what_is_no_number_of_seconds_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match="seconds"):
        seconds_to_ns(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [1.0, "1", None, MAX_NS, -MAX_NS, True])
def test_that_what_is_no_number_of_nanoseconds_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match="nanoseconds"):
        checked_ns(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1.5", 1_500_000_000),
        ("1/60", 16_666_667),
        ("250ms", 250_000_000),
        ("250 ms", 250_000_000),
        ("16.7MS", 16_700_000),
        ("3 min", 180_000_000_000),
        ("2h", 7_200_000_000_000),
        ("5us", 5_000),
        ("5µs", 5_000),
        ("7ns", 7),
        ("02:10.5", 130_500_000_000),
        ("1:02:03", 3_723_000_000_000),
        ("-2", -2_000_000_000),
        ("1e-3", 1_000_000),
    ],
)
def test_that_people_can_write_durations_in_many_ways(text: str, ns: int) -> None:
    assert parse_duration_ns(text) == ns


@pytest.mark.parametrize("bad", ["", "soon", "1/0", "5 parsecs", "1:2:3:4", "1..5", "ms", "1e999"])
def test_that_a_text_that_is_no_duration_is_shown_with_examples(bad: str) -> None:
    with pytest.raises(ValueError, match=r"duration|seconds"):
        parse_duration_ns(bad)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.50 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (9_999_600, "10.0 ms"),
        (16_666_667, "16.7 ms"),
        (99_960_000, "100 ms"),
        (250_000_000, "250 ms"),
        (999_499_999, "999 ms"),
        (999_999_880, "1.00 s"),
        (-999_999_880, "-1.00 s"),
        (1_250_000_000, "1.25 s"),
        (-16_666_667, "-16.7 ms"),
        (3_600_000_000_000, "1:00:00.000"),
    ],
)
def test_that_durations_are_short_to_read(ns: int, text: str) -> None:
    assert format_duration(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (50_000, "50 µs"),
        (-20_000, "-20 µs"),
        (12_500_000, "12.5 ms"),
        (100_000_000, "100 ms"),
        (86_400_000_000_000, "24:00:00"),
    ],
)
def test_that_a_chosen_duration_ends_without_zeros(ns: int, text: str) -> None:
    assert brief_duration(ns) == text


@pytest.mark.parametrize(
    ("late_ns", "text"),
    [(0, "on time"), (2_000_000, "2.00 ms late"), (-2_000_000, "2.00 ms early")],
)
def test_that_a_call_is_late_early_or_on_time(late_ns: int, text: str) -> None:
    assert late_text(late_ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "00:00.000"),
        (130_500_000_000, "02:10.500"),
        (3_723_004_999_999, "1:02:03.004"),
        (-1, "-00:00.001"),
    ],
)
def test_that_instants_read_like_a_clock(ns: int, text: str) -> None:
    assert format_local_time(ns) == text


@pytest.mark.parametrize(
    ("text", "instead"), [("500ms", "0.5"), ("1:30", "90"), ("2", "2"), ("soon", "")]
)
def test_that_a_duration_with_a_unit_is_answered_with_its_seconds(text: Any, instead: str) -> None:  # noqa: ANN401
    hint = f"; write {instead}" if instead else ""

    with pytest.raises(ValueError, match=re.escape(f"“{text}”{hint}") + "$"):
        seconds_to_ns(text)


@pytest.mark.parametrize(
    ("ns", "decimals", "text"),
    [
        (67_200_000_000, 3, "1:07.200"),
        (55_240_999_999, 3, "0:55.240"),
        (600_000_000_000, 0, "10:00"),
        (3_600_000_000_000, 3, "1:00:00.000"),
        (-1_500_000_000, 3, "-0:01.500"),
    ],
)
def test_that_an_instant_in_a_sentence_has_no_leading_zero(
    ns: int, decimals: int, text: str
) -> None:
    assert format_instant(ns, decimals) == text
