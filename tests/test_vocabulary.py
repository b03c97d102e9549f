"""The numbers of kinds, and how rates appear in texts."""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction

import pytest

from inspector.clocks.rate import D, parse_rate
from inspector.events.schema import EventGroup
from inspector.exit_codes import ExitCode
from inspector.frames.state_machine import TransitionError
from inspector.sessions.replay.journal import CommandPlace
from inspector.vocabulary import (
    EventKind,
    NamedNumber,
    Reading,
    rate_chip,
    rate_text,
    ratio_text,
    typed_rate,
)


@pytest.mark.parametrize(
    "kinds",
    [
        CommandPlace,
        EventGroup,
        EventKind,
        ExitCode,
        Reading,
        TransitionError,
        *NamedNumber.__subclasses__(),
    ],
)
def test_that_no_number_stands_for_two_kinds(kinds: type[IntEnum]) -> None:
    assert len(kinds) == len(kinds.__members__)


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (Fraction(1), "1"),
        (Fraction(1, 4), "0.25"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1_440), "1,440"),
        (Fraction("1234.5"), "1,234.5"),
        (Fraction(1_000_000), "1,000,000"),
    ],
)
def test_that_large_rates_have_commas_as_counts_have(rate: Fraction, text: str) -> None:
    assert rate_text(int(rate * D)) == text
    assert ratio_text(rate) == text


def test_that_a_rate_to_be_typed_can_be_read_again() -> None:
    assert typed_rate(1_440 * D) == "1440"
    assert parse_rate(typed_rate(1_440 * D)) == 1_440


@pytest.mark.parametrize("rate_n", [D // 4, D // 3, D // 2, D, 2 * D])
def test_that_a_rate_can_be_typed_as_a_chip_shows_it(rate_n: int) -> None:
    assert parse_rate(rate_chip(rate_n)) == Fraction(rate_n, D)
    assert parse_rate(rate_chip(rate_n).removeprefix("×")) == Fraction(rate_n, D)
