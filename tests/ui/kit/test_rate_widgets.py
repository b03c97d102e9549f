"""The rate slider: snapping, typing, and the display of the set rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from inspector.clocks.rate import parse_rate
from ui.kit.rate_widgets import (
    USUAL_RATES,
    RateSlider,
    next_usual_rate,
    position_of_rate,
    rate_at_position,
)


@pytest.fixture
def slider(qtbot: QtBot) -> Iterator[RateSlider]:
    window = QWidget()
    widget = RateSlider()
    other = QWidget()
    other.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    layout = QVBoxLayout(window)
    layout.addWidget(widget)
    layout.addWidget(other)
    qtbot.addWidget(window)
    window.show()
    yield widget
    window.close()


def type_rate(qtbot: QtBot, slider: RateSlider, text: str) -> None:
    slider.entry.setFocus()
    slider.entry.selectAll()
    qtbot.keyClicks(slider.entry, text)
    qtbot.keyClick(slider.entry, Qt.Key.Key_Return)


@pytest.mark.parametrize("rate", USUAL_RATES)
def test_that_usual_rates_have_places_of_their_own(rate: Fraction) -> None:
    place = position_of_rate(rate)

    assert {rate_at_position(place + shift) for shift in range(-5, 6)} == {rate}


@given(st.integers(-100, 100))
def test_that_every_place_gives_a_rate_nearby(position: int) -> None:
    assert abs(position_of_rate(rate_at_position(position)) - position) <= 5
    exact = rate_at_position(position, snaps=False)
    assert abs(position_of_rate(exact) - position) <= 3


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        ("25%", Fraction(1, 4)),
        ("2x", Fraction(2)),
        ("0", Fraction(0)),
    ],
)
def test_that_rates_can_be_typed_as_people_write_them(
    qtbot: QtBot, slider: RateSlider, text: str, rate: Fraction
) -> None:
    with qtbot.waitSignal(slider.rate_requested) as asked:
        type_rate(qtbot, slider, text)

    assert asked.args == [rate]


@pytest.mark.parametrize("text", ["fast", "-1", "1/0", "2000000", "nan", "1e999999999"])
def test_that_bad_input_keeps_the_rate_and_says_why_beside_the_field(
    qtbot: QtBot, slider: RateSlider, text: str
) -> None:
    with qtbot.assertNotEmitted(slider.rate_requested):
        type_rate(qtbot, slider, text)

    assert slider.entry.text() == "1"
    assert slider.entry.note.isVisible()
    assert "rate" in slider.entry.note.text()
    assert slider.entry.note.text().endswith("Still 1.")


def test_that_typing_again_takes_the_note_away(qtbot: QtBot, slider: RateSlider) -> None:
    type_rate(qtbot, slider, "fast")

    qtbot.keyClicks(slider.entry, "2")

    assert not slider.entry.note.isVisible()


def test_that_escape_puts_the_rate_back(qtbot: QtBot, slider: RateSlider) -> None:
    slider.entry.setFocus()
    slider.entry.selectAll()
    qtbot.keyClicks(slider.entry, "3")

    with qtbot.assertNotEmitted(slider.rate_requested):
        qtbot.keyClick(slider.entry, Qt.Key.Key_Escape)

    assert slider.entry.text() == "1"


def test_that_what_is_typed_is_not_overwritten_by_what_happens(
    qtbot: QtBot, slider: RateSlider
) -> None:
    slider.entry.setFocus()
    slider.entry.selectAll()
    qtbot.keyClicks(slider.entry, "0.")

    slider.show_rate(Fraction(4))

    assert slider.entry.text() == "0."


def test_that_the_slider_shows_the_set_rate_and_not_the_requested_one(
    qtbot: QtBot, slider: RateSlider
) -> None:
    with qtbot.waitSignal(slider.rate_requested) as asked:
        qtbot.keyClick(slider.slider, Qt.Key.Key_Right)

    assert asked.args == [Fraction(2)]
    assert slider.rate == 1
    assert slider.entry.text() == "1"
    qtbot.waitUntil(lambda: slider.slider.value() == position_of_rate(Fraction(1)))


def test_that_an_answer_moves_the_slider(slider: RateSlider) -> None:
    slider.show_rate(Fraction(1, 4))

    assert slider.slider.value() == position_of_rate(Fraction(1, 4))
    assert slider.entry.text() == "0.25"


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(1, 1000), Fraction(500)])
def test_that_rates_beyond_its_ends_are_shown_at_them(slider: RateSlider, rate: Fraction) -> None:
    slider.show_rate(rate)

    assert slider.slider.value() in (slider.slider.minimum(), slider.slider.maximum())
    assert parse_rate(slider.entry.text()) == rate


def test_that_a_click_jumps_to_the_rate_under_it(qtbot: QtBot, slider: RateSlider) -> None:
    middle = slider.slider.rect().center().y()

    with qtbot.waitSignal(slider.rate_requested) as asked:
        qtbot.mousePress(slider.slider, Qt.MouseButton.LeftButton, pos=QPoint(2, middle))
    qtbot.mouseRelease(slider.slider, Qt.MouseButton.LeftButton, pos=QPoint(2, middle))

    assert asked.args == [Fraction(1, 10)]


def test_that_the_wheel_changes_nothing(qtbot: QtBot, slider: RateSlider) -> None:
    middle = QPointF(slider.slider.rect().center())
    turn = QWheelEvent(
        middle,
        slider.slider.mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )

    with qtbot.assertNotEmitted(slider.rate_requested):
        QApplication.sendEvent(slider.slider, turn)

    assert not turn.isAccepted()


@given(st.fractions(min_value=0, max_value=1000))
def test_that_the_next_usual_rate_is_beyond_the_present_one(rate: Fraction) -> None:
    faster, slower = (next_usual_rate(rate, is_faster=is_faster) for is_faster in (True, False))

    assert faster > rate or rate >= USUAL_RATES[-1]
    assert slower < rate or rate <= USUAL_RATES[0]
