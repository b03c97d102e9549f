"""The legend of the frame times: all words, short ones, or a separate line."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from inspector.analysis.statistics.frame_budget import OVER_RULE
from ui.frame_times.frame_legend import FrameLegend
from ui.kit.theme import Theme


def _legend(qtbot: QtBot, width: int, *, is_wrapping: bool = False) -> FrameLegend:
    legend = FrameLegend(Theme("light"), is_wrapping=is_wrapping)
    qtbot.addWidget(legend)
    legend.resize(width, 20)
    legend.show()
    legend.show_paces()
    return legend


def test_that_words_become_fewer_with_the_room(qtbot: QtBot) -> None:
    assert "≤&nbsp;½&nbsp;budget" in _legend(qtbot, 600).text()
    assert "≤&nbsp;½&nbsp;budget" not in _legend(qtbot, 260).text()
    for text in ("≤&nbsp;½×", "≤&nbsp;1×", "≤&nbsp;2×", "&gt;&nbsp;2×"):
        assert text in _legend(qtbot, 260).text()


def test_that_the_tolerance_of_the_budget_is_said(qtbot: QtBot) -> None:
    legend = _legend(qtbot, 600)

    assert "≤&nbsp;budget&nbsp;+&nbsp;15&nbsp;%" in legend.text()
    assert OVER_RULE in legend.toolTip()


def test_that_it_says_when_there_is_no_room_for_it(qtbot: QtBot) -> None:
    legend = _legend(qtbot, 600)

    with qtbot.waitSignal(legend.fit_changed) as narrow:
        legend.resize(30, 20)
    assert legend.text() == ""
    with qtbot.waitSignal(legend.fit_changed) as wide:
        legend.resize(600, 20)

    assert (narrow.args, wide.args) == ([False], [True])


def test_that_one_that_wraps_always_says_everything(qtbot: QtBot) -> None:
    assert "≤&nbsp;½&nbsp;budget" in _legend(qtbot, 60, is_wrapping=True).text()


def test_that_beside_the_plot_words_are_shorter_and_lines_are_whole(qtbot: QtBot) -> None:
    legend = _legend(qtbot, 300, is_wrapping=True)
    legend.is_beside = True
    assert "≤&nbsp;budget&nbsp;+&nbsp;15&nbsp;%" in legend.text()

    legend.resize(legend.fontMetrics().horizontalAdvance("■ ≤ ½ budget   "), 20)

    assert "budget&nbsp;+" not in legend.text()
    assert legend.text().count("<br>") == 4
    assert "≤&nbsp;½&nbsp;budget" in legend.text()
    line = legend.fontMetrics().lineSpacing()
    assert [legend.height_within(room) for room in (0, 2 * line + 5, 90 * line)] == [
        *(0, 2 * line, 5 * line),
    ]
