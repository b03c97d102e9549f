"""Colours by meaning: readable in both themes, and the same in window and export."""

from __future__ import annotations

from itertools import combinations
from math import atan2, cbrt, cos, degrees, exp, hypot, radians, sin, sqrt
from operator import mul
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QRadioButton,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.formats.drawing.state_colors import STATE_COLORS
from inspector.formats.options import GRAPH_COLORS
from inspector.resources import resource_path
from inspector.vocabulary import Phase
from tests.ui.shell import open_shell
from ui.kit.layouts import choice_buttons
from ui.kit.table.painted_views import PaintedTable
from ui.kit.theme import ColorRole, Theme, ThemeName, phase_color

TEXT_ROLES = (ColorRole.TEXT, ColorRole.MUTED_TEXT, ColorRole.BAD, ColorRole.ACCENT)
GRAPHIC_ROLES = (
    ColorRole.GOOD,
    ColorRole.OK,
    ColorRole.LATE,
    ColorRole.BAD,
    ColorRole.INTERVENTION,
    ColorRole.PAUSED,
    ColorRole.ACCENT,
    ColorRole.SELECTION,
)
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


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", TEXT_ROLES)
@pytest.mark.parametrize("behind", [ColorRole.BACKGROUND, ColorRole.PANEL])
def test_that_text_has_a_contrast_of_4_5(
    name: ThemeName, role: ColorRole, behind: ColorRole
) -> None:
    theme = Theme(name)

    assert contrast(theme.color(role), theme.color(behind)) >= 4.5


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", GRAPHIC_ROLES)
def test_that_graphics_have_a_contrast_of_3(name: ThemeName, role: ColorRole) -> None:
    theme = Theme(name)

    assert contrast(theme.color(role), theme.color(ColorRole.BACKGROUND)) >= 3


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", NAMES)
def test_that_what_is_selected_has_a_contrast_of_3_to_any_panel(name: ThemeName) -> None:
    theme = Theme(name)

    assert contrast(theme.color(ColorRole.SELECTION), theme.color(ColorRole.PANEL)) >= 3


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", NAMES)
def test_that_selected_text_is_readable(name: ThemeName) -> None:
    palette = Theme(name).palette()
    role = QPalette.ColorRole

    assert contrast(palette.color(role.HighlightedText), palette.color(role.Highlight)) >= 4.5


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
    qtbot: QtBot, tmp_path: Path, is_pressed: bool
) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.trigger("theme-dark")
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

    panel = shell.window.theme.color(ColorRole.PANEL)
    assert strongest_contrast(page, button.geometry(), panel) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_that_what_is_not_ticked_or_chosen_has_a_contrast_of_3(
    qtbot: QtBot, tmp_path: Path, name: ThemeName
) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.trigger(f"theme-{name}")
    page = QWidget()
    qtbot.addWidget(page)
    layout = QVBoxLayout(page)
    radio, check = QRadioButton("by"), QCheckBox("once")
    table, model = PaintedTable(), QStandardItemModel(1, 1)
    tick = QStandardItem("on")
    tick.setCheckState(Qt.CheckState.Unchecked)
    model.setItem(0, 0, tick)
    table.setModel(model)
    for each in (radio, check, table):
        layout.addWidget(each)

    with qtbot.waitExposed(page):
        page.show()

    panel, elements = shell.window.theme.color(ColorRole.PANEL), QStyle.SubElement
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


#: Linear RGB as dichromats see it: Machado, Oliveira & Fernandes 2009, severity 1.0.
_SEEN: dict[str, list[list[float]]] = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
_WHITE = (0.95047, 1.0, 1.08883)
Lab = tuple[float, float, float]


def product(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(map(mul, row, vector)) for row in matrix]


def lab_seen(color: QColor, vision: str) -> Lab:
    """Return a colour in CIELAB (D65) as people with a kind of vision see it."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (color.redF(), color.greenF(), color.blueF())
    ]
    seen = [min(max(c, 0.0), 1.0) for c in product(_SEEN[vision], linear)]
    x, y, z = (
        cbrt(c / white) if c / white > 216 / 24389 else (24389 / 27 * c / white + 16) / 116
        for c, white in zip(product(_XYZ, seen), _WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one: Lab, other: Lab) -> float:
    """Return the difference of two colours: Sharma, Wu & Dalal 2005, all weights 1."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 1 + 0.5 * (1 - sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    c1, c2 = hypot(g * a1, b1), hypot(g * a2, b2)
    h1, h2 = (degrees(atan2(b, g * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    mean_l, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + turn / 2 if c1 * c2 else h1 + h2
    t = 1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
    t += 0.32 * cos(radians(3 * h + 6)) - 0.2 * cos(radians(4 * h - 63))
    turned = 60 * exp(-((((h % 360) - 275) / 25) ** 2))
    rotation = -2 * sqrt(c**7 / (c**7 + 25**7)) * sin(radians(turned))
    parts = (
        (l2 - l1) / (1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)),
        (c2 - c1) / (1 + 0.045 * c),
        dh / (1 + 0.015 * c * t),
    )
    return sqrt(sum(part**2 for part in parts) + rotation * parts[1] * parts[2])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.4900, -0.0010), (50, -2.4900, 0.0009), 7.1792),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_that_colours_are_compared_as_in_the_data_of_sharma(
    one: Lab, other: Lab, expected: float
) -> None:
    assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("vision", _SEEN)
def test_that_any_two_phases_and_states_are_apart_with_any_vision(vision: str) -> None:
    states = [QColor(name) for name in STATE_COLORS]
    for colors in ([phase_color(phase) for phase in Phase], states):
        for one, other in combinations(colors, 2):
            difference = ciede2000(lab_seen(one, vision), lab_seen(other, vision))
            assert difference > 20, (one.name(), other.name())


@pytest.mark.parametrize("color", [*map(phase_color, Phase), *map(QColor, STATE_COLORS)])
def test_that_orange_and_red_mean_that_something_is_wrong(color: QColor) -> None:
    _, a, b = lab_seen(color, "normal")

    assert 95 < degrees(atan2(b, a)) % 360 < 340


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("phase", Phase)
def test_that_phases_have_the_colours_they_are_exported_with(phase: Phase) -> None:
    for name in NAMES:
        assert phase_color(phase) == QColor(GRAPH_COLORS[name].phases[phase])


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
