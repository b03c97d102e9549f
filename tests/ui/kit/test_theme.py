"""Colours by meaning: readable in both themes, and the same in window and export."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QPainter,
    QPalette,
    QStandardItem,
)
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QRadioButton,
    QStyle,
    QStyleOptionButton,
    QStyleOptionHeader,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.formats.arrangement.fills import PhaseFill, fill_color
from inspector.resources import resource_path
from inspector.tokens import COLORS, ThemeName
from inspector.vocabulary import Phase
from tests.ui.kit.item_rows import ItemRows
from ui.kit.fonts import use_window_font
from ui.kit.layouts import choice_buttons
from ui.kit.style import FlatStyle
from ui.kit.table import roles
from ui.kit.table.painted_views import PaintedTable
from ui.kit.theme import ColorRole, Theme, phase_color

NAMES: tuple[ThemeName, ...] = ("light", "dark")


def contrast(first: QColor, second: QColor) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it: 1 to 21."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: QColor) -> float:
    channels = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (color.redF(), color.greenF(), color.blueF())
    ]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def test_that_a_title_to_the_right_stays_off_the_arrow_of_its_column(qtbot: QtBot) -> None:
    style, option, titles = FlatStyle(Theme("dark")), QStyleOptionHeader(), QWidget()
    qtbot.addWidget(titles)
    option.rect, option.text, option.textAlignment = QRect(0, 0, 99, 30), "Due in", roles.RIGHT
    option.sortIndicator = QStyleOptionHeader.SortIndicator.SortDown
    arrow = style.subElementRect(QStyle.SubElement.SE_HeaderArrow, option, titles)
    image = QImage(option.rect.size(), QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.white)

    painter = QPainter(image)
    style.drawControl(QStyle.ControlElement.CE_HeaderLabel, option, painter, titles)
    painter.end()

    columns = [min(image.pixelColor(x, y).red() for y in range(30)) for x in range(99)]
    inked = [x for x, darkest in enumerate(columns) if darkest < 255]
    assert arrow.left() - 10 < inked[-1] < arrow.left()


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", NAMES)
def test_that_selected_text_is_readable(name: ThemeName) -> None:
    palette = Theme(name).palette()
    role = QPalette.ColorRole

    assert contrast(palette.color(role.HighlightedText), palette.color(role.Highlight)) >= 4.5


def dress(name: ThemeName) -> Theme:
    """Give all windows the looks of a theme, as the window does."""
    theme = Theme(name)
    QApplication.setPalette(theme.palette())
    QApplication.setStyle(FlatStyle(theme))
    use_window_font("inter", 100)
    return theme


def strongest_contrast(widget: QWidget, along: QRect, background: QColor) -> float:
    """Return the most that a pixel in the middle row of ``along`` stands out."""
    image = widget.grab().toImage()
    row = (image.pixelColor(x, along.center().y()) for x in range(along.left(), along.right() + 1))
    return max(contrast(color, background) for color in row)


def test_that_buttons_of_which_one_is_down_are_flat(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)

    buttons = choice_buttons(page, ("Time", "Frames")).buttons()

    # Of others, only light colours show which one it is.
    assert all(isinstance(each, QToolButton) and each.autoRaise() for each in buttons)


@pytest.mark.parametrize("is_pressed", [True, False])
def test_that_a_flat_button_that_is_pressed_or_on_has_a_contrast_of_3_on_dark(
    qtbot: QtBot, is_pressed: bool
) -> None:
    theme = dress("dark")
    page = QWidget()
    qtbot.addWidget(page)
    button = QToolButton(page)
    button.setAutoRaise(True)
    button.setCheckable(True)
    button.setDown(is_pressed)
    button.setChecked(not is_pressed)
    button.setGeometry(10, 10, 60, 24)

    with qtbot.waitExposed(page):
        page.show()

    panel = theme.color(ColorRole.PANEL)
    assert strongest_contrast(page, button.geometry(), panel) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_that_what_is_not_ticked_or_chosen_has_a_contrast_of_3(
    qtbot: QtBot, name: ThemeName
) -> None:
    theme = dress(name)
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    radio, check = QRadioButton("by"), QCheckBox("once")
    table, model = PaintedTable(), ItemRows(1, 1)
    tick = QStandardItem("on")
    tick.setCheckState(Qt.CheckState.Unchecked)
    model.setItem(0, 0, tick)
    table.setModel(model)
    for each in (radio, check, table):
        layout.addWidget(each)

    with qtbot.waitExposed(page):
        page.show()

    panel, elements = theme.color(ColorRole.PANEL), QStyle.SubElement
    for button, element in (
        (radio, elements.SE_RadioButtonIndicator),
        (check, elements.SE_CheckBoxIndicator),
    ):
        option = QStyleOptionButton()
        button.initStyleOption(option)
        indicator = button.style().subElementRect(element, option, button)
        shown = indicator.translated(button.pos())
        assert strongest_contrast(page, shown, panel) >= 3, button
    beginning = table.visualRect(tick.index())
    beginning.setWidth(16)
    behind = table.palette().color(QPalette.ColorRole.Base)
    assert strongest_contrast(table.viewport(), beginning, behind) >= 3


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("phase", Phase)
def test_that_phases_have_the_colours_they_are_exported_with(phase: Phase) -> None:
    for name in NAMES:
        assert phase_color(phase) == QColor(fill_color(PhaseFill(phase), COLORS[name]))


@pytest.mark.usefixtures("qapp")
def test_that_every_icon_can_be_drawn_in_the_colour_of_text() -> None:
    names = sorted(path.stem for path in resource_path("icons").glob("*.svg"))
    theme = Theme("dark")

    assert len(names) >= 25
    for name in names:
        image = theme.icon(name).pixmap(40, 40).toImage()
        drawn = [
            image.pixelColor(x, y)
            for x in range(image.width())
            for y in range(image.height())
            if image.pixelColor(x, y).alpha() > 128
        ]
        assert drawn, name
        if name != "timeline-inspector":
            text = theme.color(ColorRole.TEXT)
            assert max(abs(color.red() - text.red()) for color in drawn) <= 3, name


def test_that_icons_are_drawn_anew_for_another_screen(qtbot: QtBot, qapp: QGuiApplication) -> None:
    theme = Theme("light")
    theme.follow_system()
    former = theme.icon("run")

    with qtbot.waitSignal(theme.changed):
        qapp.screenAdded.emit(qapp.primaryScreen())

    assert theme.icon("run").cacheKey() != former.cacheKey()


@pytest.mark.usefixtures("qapp")
def test_that_an_unknown_icon_is_named() -> None:
    with pytest.raises(ValueError, match="no icon 'nonsense'"):
        Theme("light").icon("nonsense")


def test_that_only_a_change_is_signalled(qtbot: QtBot) -> None:
    theme = Theme("light")

    with qtbot.assertNotEmitted(theme.changed):
        theme.set_choice("light")
    with qtbot.waitSignal(theme.changed) as told:
        theme.set_choice("dark")

    assert told.args == ["dark"]
    assert theme.is_dark
