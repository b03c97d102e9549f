"""The usual rates."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ui.kit.rates import USUAL_RATES, next_usual_rate


@given(st.fractions(min_value=0, max_value=1000))
def test_that_the_next_usual_rate_is_beyond_the_present_one(rate: Fraction) -> None:
    faster, slower = (next_usual_rate(rate, is_faster=is_faster) for is_faster in (True, False))

    assert faster > rate or rate >= USUAL_RATES[-1]
    assert slower < rate or rate <= USUAL_RATES[0]
