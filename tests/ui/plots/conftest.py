"""What the tests of plots need."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from ui.plots.frame_plot import FramePlot
from ui.theme import Theme


@pytest.fixture
def theme(qapp: QCoreApplication) -> Theme:
    assert qapp is not None
    return Theme("light")


@pytest.fixture
def plot(qtbot: QtBot, theme: Theme) -> FramePlot:
    """An empty plot of which about 1 100 pixels are for frames."""
    plot = FramePlot(theme)
    qtbot.addWidget(plot)
    plot.resize(1_200, 360)
    plot.show()
    qtbot.waitExposed(plot)
    return plot
