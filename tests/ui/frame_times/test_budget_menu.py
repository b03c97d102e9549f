"""Budgets: ticked, coloured by, typed in."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.frame_budget import budget_text
from ui.frame_times.budget_menu import BudgetMenu, parse_budget_ms

FPS_60, FPS_120, FPS_30 = 1000 / 60, 1000 / 120, 1000 / 30


@pytest.fixture
def menu(qtbot: QtBot) -> BudgetMenu:
    menu = BudgetMenu()
    qtbot.addWidget(menu)
    menu.set_budgets((FPS_60, FPS_30))
    return menu


def answer(monkeypatch: pytest.MonkeyPatch, *texts: str | None) -> list[str]:
    """Answer the questions for a budget; returns the questions."""
    asked: list[str] = []
    answers = iter(texts)

    def get_text(_parent: object, _title: str, hint: str, *_rest: object) -> tuple[str, bool]:
        asked.append(hint)
        text = next(answers)
        return text or "", text is not None

    monkeypatch.setattr(QInputDialog, "getText", get_text)
    return asked


def test_that_the_budgets_that_are_drawn_are_ticked(menu: BudgetMenu) -> None:
    ticked = {action.text(): action.isChecked() for action in menu.actions()[:3]}

    assert ticked == {
        "8.33 ms · 120 fps": False,
        "16.7 ms · 60 fps": True,
        "33.3 ms · 30 fps": True,
    }


def test_that_the_sessions_own_budget_takes_the_place_of_its_former_one(menu: BudgetMenu) -> None:
    menu.set_budgets((19.8, FPS_60), is_first_own=True)
    menu.set_budgets((20.1, FPS_60), is_first_own=True)
    menu.set_budgets((FPS_60,))

    texts = [action.text() for action in menu.actions()[:5]]
    assert texts == [
        "8.33 ms · 120 fps",
        "16.7 ms · 60 fps",
        "20.1 ms · 49.8 fps",
        "33.3 ms · 30 fps",
        "",
    ]


def test_that_a_budget_is_added_at_the_end_and_taken_away(menu: BudgetMenu, qtbot: QtBot) -> None:
    with qtbot.waitSignal(menu.budgets_chosen) as chosen:
        menu.actions()[0].trigger()
    assert chosen.args == [(FPS_60, FPS_30, FPS_120)]
    with qtbot.waitSignal(menu.budgets_chosen) as chosen:
        menu.actions()[1].trigger()
    assert chosen.args == [(FPS_30,)]


def test_that_bars_can_be_coloured_by_another_budget(menu: BudgetMenu, qtbot: QtBot) -> None:
    compare = menu.colour_menu.actions()
    assert [action.isChecked() for action in compare] == [True, False]

    with qtbot.waitSignal(menu.budgets_chosen) as chosen:
        compare[1].trigger()

    assert chosen.args == [(FPS_30, FPS_60)]


def test_that_an_own_budget_is_asked_for_until_it_is_one(
    menu: BudgetMenu, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(monkeypatch, "fast", "90 fps")

    with qtbot.waitSignal(menu.budgets_chosen) as chosen:
        menu.ask()

    assert chosen.args == [(1000 / 90, FPS_60, FPS_30)]
    assert "fast" in asked[1]
    menu.set_budgets(chosen.args[0])
    assert "11.1 ms · 90 fps" in [action.text() for action in menu.actions()]


def test_that_a_question_that_is_dismissed_changes_nothing(
    menu: BudgetMenu, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, None)

    with qtbot.assertNotEmitted(menu.budgets_chosen):
        menu.ask()


@pytest.mark.parametrize(
    ("text", "budget_ms"),
    [
        ("12.5", 12.5),
        (" 12,5 ms ", 12.5),
        ("90 fps", 1000 / 90),
        ("144Hz", 1000 / 144),
        ("0", None),
        ("0 fps", None),
        ("-3", None),
        ("nan", None),
        ("fast", None),
        ("1e9", None),
        ("99999999 ms", None),
    ],
)
def test_that_budgets_are_times_or_rates(text: str, budget_ms: float | None) -> None:
    assert parse_budget_ms(text) == budget_ms


def test_that_rates_are_whole_where_they_are_nearly() -> None:
    assert budget_text(16_666_667) == "16.7 ms · 60 fps"
    assert budget_text(14_300_000) == "14.3 ms · 69.9 fps"
