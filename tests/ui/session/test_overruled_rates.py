"""Rates that the program sets back, and rates that it only has not told yet."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import SetRate
from inspector.vocabulary import (
    CLOCK_RATE,
    COMMAND,
    COMMAND_CONTEXT,
    COMMAND_FORM,
    RATE_DENOMINATOR,
)
from tests.ui.bridge_stand import MS, PlayedSession
from ui.session.bridge import SessionBridge
from ui.session.overruled_rates import OverruledRates

COMMAND_NUMBER = 7


class Stand:
    """A session in which a command asks for a quarter of the speed of a clock."""

    def __init__(self) -> None:
        self.session = PlayedSession()
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.rates = OverruledRates.of(self.bridge)
        clock = self.session.clock.id
        log = self.session.log
        form = log.intern(json.dumps(SetRate(clock, Fraction(1, 4)).as_values()))
        log.append((0, COMMAND, COMMAND_NUMBER, log.intern("slower"), 0))
        log.append((0, COMMAND_CONTEXT, clock, 0, 0))
        log.append((0, COMMAND_FORM, COMMAND_NUMBER, form, 0))
        self.bridge.refresh_now()

    def told(self, at_ms: int, rate_n: int, cause: int) -> None:
        """The program tells that a clock has another rate."""
        event = (at_ms * MS, CLOCK_RATE, self.session.clock.id, rate_n, cause)
        self.session.log.append(event)
        self.bridge.refresh_now()

    @property
    def sentences(self) -> list[str]:
        return [each.sentence for each in self.rates.by_clock.values()]


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:  # noqa: ARG001 - the bridge needs an application
    return Stand()


def test_that_a_rate_that_is_not_told_yet_is_not_set_back(stand: Stand) -> None:
    assert stand.sentences == []
    # What the program did before the command reached it.
    stand.told(5, RATE_DENOMINATOR // 2, 0)
    assert stand.sentences == []
    stand.told(9, RATE_DENOMINATOR // 4, COMMAND_NUMBER)
    assert stand.sentences == []


def test_that_a_rate_that_the_program_sets_back_is_said(stand: Stand) -> None:
    stand.told(9, RATE_DENOMINATOR // 4, COMMAND_NUMBER)
    stand.told(2_000, RATE_DENOMINATOR, 0)

    assert stand.sentences == [
        "The scene set enemies to ×1 at 0:02.000; you had set ×¼",
    ]


def test_that_it_is_said_where_both_come_at_once(stand: Stand) -> None:
    clock, log = stand.session.clock.id, stand.session.log
    log.append((9 * MS, CLOCK_RATE, clock, RATE_DENOMINATOR // 4, COMMAND_NUMBER))
    stand.told(10, RATE_DENOMINATOR, 0)

    assert len(stand.sentences) == 1
