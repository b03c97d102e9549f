"""How the window looks in the style and the font that the program gives it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollBar,
    QSpinBox,
    QStyle,
    QStyleOptionHeader,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import ShapeKind
from inspector.sessions.scene import SceneFile, built_in_scenes
from inspector.testing import pass_seconds, virtual_session
from inspector.tokens import COLORS, SIZES, ThemeName
from tests.sessions.test_captured import table
from tests.ui.shell import SMALL_GAME, Shell, open_shell
from ui.breakpoints.panel import BreakpointsPanel
from ui.kit.style import FlatStyle
from ui.kit.theme import ColorRole, Theme
from ui.kit.tile import Tile
from ui.scene.canvas import LEAST_LETTERS, LEAST_WITH_TEXTS
from ui.scene.panel import ScenePanel
from ui.timeline.lane_canvas import LaneCanvas
from ui.timeline.panel import TimelinePanel
from ui.timer_queue.panel import TimerQueuePanel
from ui.window.settings import Settings, SettingsFile
from ui.window.status_line import FailureNote

#: How much wider than the bundled font another one may be.
_WIDER = 112


def dressed(qtbot: QtBot, folder: Path, percent: int, width: int, height: int) -> Shell:
    shell = open_shell(qtbot, folder, SMALL_GAME, is_dressed=True)
    fit(shell, percent, width, height)
    return shell


def fit(shell: Shell, percent: int, width: int, height: int) -> None:
    """Give a window its text and its size, and let a second pass."""
    shell.trigger(f"text-size-{percent}")
    shell.window.resize(width, height)
    shell.pass_frames(60)
    QApplication.processEvents()
    # On a slow machine each refresh of a panel has a turn of its own.
    while shell.bridge.refresh_timer._pieces:
        QApplication.processEvents()


def cut_buttons(shell: Shell) -> list[str]:
    """Return the buttons with a text that has no room for it."""
    buttons = shell.window.findChildren(QAbstractButton)
    seen = [each for each in buttons if each.isVisible() and each.text() and not is_icon(each)]
    return [each.text() for each in seen if each.width() < text_width(each)]


def is_icon(button: QAbstractButton) -> bool:
    only = Qt.ToolButtonStyle.ToolButtonIconOnly
    is_tool = isinstance(button, QToolButton) and button.toolButtonStyle() is only
    return is_tool and not button.icon().isNull()


def text_width(button: QAbstractButton) -> int:
    beside = 0 if button.icon().isNull() else button.iconSize().width()
    return button.fontMetrics().horizontalAdvance(button.text().replace("&", "")) + beside


def test_that_no_button_is_cut_nor_with_a_font_12_percent_wider(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME, is_dressed=True)

    for percent, size, stretch in (
        (100, (1280, 720), 100),
        (100, (1280, 720), _WIDER),
        (150, (1280, 720), 100),
        (200, (1600, 1000), 100),
    ):
        shell.window.panels.close_tray()
        fit(shell, percent, *size)
        font = QFont(QApplication.font())
        font.setStretch(stretch)
        QApplication.setFont(font)
        QApplication.processEvents()
        shell.advance(1 / 60)

        for panel_id in ("timer_queue", "event_list", "breakpoints", "findings", "interventions"):
            shell.window.panels.open_panel(panel_id)

            # What counts on the foot gets its room in the turn after its text.
            qtbot.waitUntil(lambda: cut_buttons(shell) == [])


def test_that_several_breakpoints_have_room_at_200_percent(qtbot: QtBot, tmp_path: Path) -> None:
    shell = dressed(qtbot, tmp_path, 200, 1280, 720)

    shell.window.panels.open_panel("breakpoints")
    panel = cast("BreakpointsPanel", shell.window.panels.panel("breakpoints"))
    QApplication.processEvents()

    rows = panel.view.verticalHeader().defaultSectionSize()
    assert panel.view.viewport().height() >= 2 * rows


def test_that_another_text_size_looks_as_if_the_window_had_begun_with_it(
    qtbot: QtBot, tmp_path: Path
) -> None:
    begun: dict[int, dict[str, set[int]]] = {}
    changed: dict[int, dict[str, set[int]]] = {}
    for percent in (100, 200):
        folder = tmp_path / str(percent)
        folder.mkdir()
        settings = Settings(theme="dark", text_size=percent)
        SettingsFile(folder / "settings.json").save(settings)

        shell = dressed(qtbot, folder, percent, 1600, 1000)
        begun[percent] = settled_sizes(qtbot, shell)
        shell.trigger(f"text-size-{300 - percent}")
        shell.advance(1 / 60)
        changed[300 - percent] = settled_sizes(qtbot, shell)

    assert changed == begun


def settled_sizes(qtbot: QtBot, shell: Shell) -> dict[str, set[int]]:
    qtbot.waitUntil(lambda: has_settled(shell))
    for _ in range(4):
        QApplication.processEvents()
    return seen_sizes(shell)


def has_settled(shell: Shell) -> bool:
    return bool(shell.window.frame_times.header.p99.text())


def seen_sizes(shell: Shell) -> dict[str, set[int]]:
    """Return the sizes of letters that are seen by the class of their widget, and some heights."""
    found: dict[str, set[int]] = {}
    for widget in shell.window.findChildren(QWidget):
        if widget.isVisible() and not isinstance(widget, QScrollBar):
            found.setdefault(type(widget).__name__, set()).add(widget.fontInfo().pixelSize())
    canvas, panel = shell.window.findChild(LaneCanvas), shell.window.frame_times
    assert canvas is not None
    parts = (panel.strip, panel.header.p99, shell.window.transport, shell.window.panels.foot)
    return found | {"heights": {canvas.rows.bottom(0), *(each.height() for each in parts)}}


def test_that_a_capture_has_its_numbers_whole_and_its_parts_apart(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, None, is_dressed=True)
    shell.window.open_path(table(tmp_path))
    header = shell.window.frame_times.capture_header

    for percent, *size in ((100, 1280, 720), (100, 720, 420), (150, 1280, 720), (200, 1280, 720)):
        shell.trigger(f"text-size-{percent}")
        shell.window.resize(*size)
        qtbot.waitUntil(lambda: header.p99.value.text() != "")
        # Where only the text grows, its places hear of it in the first turn.
        for _ in range(2):
            QApplication.processEvents()

        labels = [each for each in header.findChildren(QLabel) if each.isVisible()]
        plain = [each for each in labels if type(each) is QLabel and each.text()]
        assert header.p50.value in plain
        cut = [each.text() for each in plain if each.width() < each.sizeHint().width()]
        assert cut == [], (percent, size)
        parts = [header.name, *header.findChildren(QComboBox), *header.findChildren(Tile)]
        shown = [each for each in parts if each.isVisible()]
        assert overlapping(shown, header) == [], (percent, size)


def test_that_numbers_beside_low_frames_do_not_overlap(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME, is_dressed=True)
    shell.window.panels.open_panel("timer_queue")
    header = shell.window.frame_times.header

    for percent in (150, 200):
        fit(shell, percent, 1280, 720)
        qtbot.waitUntil(lambda: has_settled(shell))
        QApplication.processEvents()

        labels = [each for each in header.findChildren(QLabel) if each.isVisible() and each.text()]
        assert overlapping(labels, header) == [], percent
        assert all(each.height() >= each.fontMetrics().height() - 2 for each in labels), percent


def test_that_the_playhead_is_one_line_from_the_ruler_to_the_last_lane(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = dressed(qtbot, tmp_path, 100, 1280, 720)
    blue = shell.window.theme.color(ColorRole.BLUE).rgb()
    frames, lanes = shell.window.frame_times, shell.window.findChild(LaneCanvas)
    assert lanes is not None
    top = frames.plot.mapTo(shell.window, QPoint()).y() - 1
    bottom = lanes.mapTo(shell.window, QPoint(0, lanes.height())).y()

    for _ in range(8):
        # Its place within a pixel is another one each time.
        shell.advance(0.0077)
        picture = shell.window.grab().toImage()
        line = [x for x in range(picture.width()) if picture.pixel(x, top) == blue]

        assert len(line) == 2
        for x in line:
            assert {picture.pixel(x, y) for y in range(top, bottom)} == {blue}


def test_that_lines_of_the_ruler_go_around_a_text_over_lanes(qtbot: QtBot, tmp_path: Path) -> None:
    shell = dressed(qtbot, tmp_path, 100, 1280, 720)
    timeline = shell.window.panels.panel("timeline")
    assert isinstance(timeline, TimelinePanel)
    timeline._choose_words("nowhere to be found")
    notice = timeline.no_lanes.label
    QApplication.processEvents()

    width = notice.fontMetrics().horizontalAdvance(notice.text())
    left = notice.mapTo(timeline.canvas, notice.contentsRect().center()).x() - width // 2
    picture, top = shell.window.grab().toImage(), notice.mapTo(shell.window, QPoint()).y()
    edge = shell.window.theme.color(ColorRole.LINE).rgb()
    xs = range(left, left + width)
    lines = [x for x in xs if all(picture.pixel(x, top + y) == edge for y in range(4, 12))]

    assert lines == []
    lanes = timeline.view.left_edge, timeline.canvas.viewport().width()
    assert left + width // 2 == pytest.approx(sum(lanes) / 2, abs=2)


def test_that_nothing_is_above_the_line_over_the_foot_once_something_has_failed(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, "def build(stage):\n    {}['level']\n", is_dressed=True)

    (note,) = shell.window.findChildren(FailureNote)
    qtbot.waitUntil(note.isVisible)
    shell.window.resize(1_280, 720)
    foot = shell.window.panels.foot
    qtbot.waitUntil(lambda: foot.height() == SIZES["foot"])
    QApplication.processEvents()
    picture, edge = foot.grab().toImage(), shell.window.theme.color(ColorRole.LINE)
    assert all(picture.pixelColor(x, 0) == edge for x in range(picture.width()))


def overlapping(widgets: Sequence[QWidget], of: QWidget) -> list[tuple[QRect, QRect]]:
    """Return the places of widgets that have pixels in common, in another widget."""
    boxes = [QRect(each.mapTo(of, QPoint()), each.size()) for each in widgets]
    return [(one, other) for one, other in combinations(boxes, 2) if one.intersects(other)]


def controls(qtbot: QtBot, theme: Theme) -> dict[str, QWidget]:
    """Return a control of each kind, in a window of its own."""
    QApplication.setStyle(FlatStyle(theme))
    QApplication.setPalette(theme.palette())
    window = QWidget()
    qtbot.addWidget(window)
    found: dict[str, QWidget] = {
        "button": QPushButton("Add", window),
        "tool": QToolButton(window),
        "line": QLineEdit(window),
        "box": QComboBox(window),
        "spin": QSpinBox(window),
    }
    for place, widget in enumerate(found.values()):
        widget.setGeometry(10, 10 + 40 * place, 120, widget.sizeHint().height())
    window.resize(200, 220)
    window.show()
    return found


@pytest.mark.parametrize("scale", [1, 2])
def test_that_controls_are_as_high_as_their_tokens_times_the_text_scale(
    qtbot: QtBot, qapp: QApplication, scale: int
) -> None:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(13 * scale)
    qapp.setFont(font)

    found = controls(qtbot, Theme("light"))

    heights = {name: widget.sizeHint().height() for name, widget in found.items()}
    for name in ("button", "line", "box", "spin"):
        assert heights[name] >= SIZES["control"] * scale, name
    assert heights["tool"] >= SIZES["target"] * scale
    assert scale > 1 or heights["button"] == SIZES["control"]


def colors_in(widget: QWidget) -> set[str]:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return {QColor(image.pixel(x, y)).name() for x, y in places}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_a_button_is_one_colour_and_a_field_has_an_outline(
    qtbot: QtBot, theme: ThemeName
) -> None:
    found = controls(qtbot, Theme(theme))

    button = found["tool"].grab().toImage()
    inside = {QColor(button.pixel(x, y)).name() for x in range(8, 112) for y in range(4, 20)}
    assert inside == {COLORS[theme]["raised"]}
    assert {COLORS[theme]["edge"], COLORS[theme]["bg"]} <= colors_in(found["line"])


def test_that_a_click_leaves_no_frame_around_a_button(qtbot: QtBot) -> None:
    button = controls(qtbot, Theme("light"))["button"]
    assert isinstance(button, QPushButton)
    before = colors_in(button)

    button.setFocus()
    QApplication.processEvents()

    assert button.hasFocus()
    assert colors_in(button) == before


def icon_button() -> QToolButton:
    button = QToolButton()
    button.setIcon(Theme("light").icon("close"))
    return button


@pytest.mark.parametrize("kind", [QCheckBox, QComboBox, QSpinBox, icon_button])
def test_that_marks_in_controls_grow_with_the_text(
    qtbot: QtBot, qapp: QApplication, kind: Callable[[], QWidget]
) -> None:
    QApplication.setStyle(FlatStyle(Theme("light")))
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    found: list[int] = []
    for scale in (1, 2):
        font.setPixelSize(13 * scale)
        qapp.setFont(font)
        widget = kind()
        qtbot.addWidget(widget)
        widget.resize(120, 30 * scale)
        found.append(rows_with_ink(widget))

    assert found[1] >= 1.7 * found[0]


def test_that_the_arrow_of_a_sorted_column_grows_with_the_text(qapp: QApplication) -> None:
    style = FlatStyle(Theme("light"))
    font = qapp.font()
    found: list[int] = []
    for scale in (1, 2):
        font.setPixelSize(13 * scale)
        option = QStyleOptionHeader()
        option.rect = QRect(0, 0, 24, 24)
        option.fontMetrics = QFontMetrics(font)
        option.sortIndicator = QStyleOptionHeader.SortIndicator.SortDown
        image = QImage(24, 24, QImage.Format.Format_ARGB32)
        image.fill(0)
        with QPainter(image) as painter:
            arrow = QStyle.PrimitiveElement.PE_IndicatorHeaderArrow
            style.drawPrimitive(arrow, option, painter)
        found.append(sum(any(image.pixel(x, y) for x in range(24)) for y in range(24)))

    assert found[1] >= 1.5 * found[0]


def test_that_a_text_cut_in_a_button_with_a_menu_keeps_apart_from_its_mark(
    qtbot: QtBot, qapp: QApplication
) -> None:
    QApplication.setStyle(FlatStyle(Theme("light")))
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(13)
    qapp.setFont(font)
    button = QToolButton()
    qtbot.addWidget(button)
    button.setText("M" * 12)
    button.setMenu(QMenu(button))
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setAutoRaise(True)
    button.resize(button.sizeHint().width() - 20, 28)

    image = button.grab().toImage()
    ground = image.pixel(0, 0)
    columns = range(image.width())
    inked = [x for x in columns if any(image.pixel(x, y) != ground for y in range(4, 24))]
    gaps = [right - left for left, right in pairwise(inked) if right - left > 1]
    assert gaps[-1] > 5


def rows_with_ink(widget: QWidget) -> int:
    """Return how many rows of pixels inside of a control have more than its ground."""
    image = widget.grab().toImage()
    ground = image.pixelColor(image.width() // 4, image.height() // 2)
    columns = range(2, image.width() - 2)
    return sum(
        any(image.pixelColor(x, y) != ground for x in columns) for y in range(3, image.height() - 3)
    )


def test_that_the_filter_of_timers_has_a_large_icon_and_its_buttons_the_width_of_their_text(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(qtbot, tmp_path, SMALL_GAME, is_dressed=True)
    for percent in (100, 200):
        fit(shell, percent, 1600, 1000)
        shell.window.panels.enter_panel("timer_queue")
        QApplication.processEvents()
        panel = shell.window.panels.panel("timer_queue")
        assert isinstance(panel, TimerQueuePanel)

        assert panel.branch_button.width() == panel.branch_button.sizeHint().width()
        panel.filter_line.setPlaceholderText("")
        panel.filter_line.clearFocus()
        image = panel.filter_line.grab().toImage()
        base = image.pixelColor(image.width() // 2, image.height() // 2)
        columns = range(4, 44 * percent // 100 // 2)
        rows = [
            y
            for y in range(4, image.height() - 4)
            if any(image.pixelColor(x, y) != base for x in columns)
        ]
        assert rows[-1] - rows[0] >= 8 * percent // 100


def test_that_letters_in_the_pictures_of_scenes_can_be_read(qtbot: QtBot, tmp_path: Path) -> None:
    scenes: defaultdict[tuple[float, float], list[tuple[SceneFile, Picture]]] = defaultdict(list)
    for scene in built_in_scenes():
        session = virtual_session(scene.path)
        session.pictures.is_watched = True
        pass_seconds(session, 3 / 60)
        picture = session.pictures.newest
        session.close()
        assert picture is not None
        assert any(shape.kind == ShapeKind.TEXT for shape in picture.shapes)
        scenes[picture.width, picture.height].append((scene, picture))
    low: list[str] = []

    shell = open_shell(qtbot, tmp_path, None, is_dressed=True)
    # How large a picture is shown depends on its proportions and on the window alone.
    for alike in scenes.values():
        simplest, _ = min(alike, key=lambda each: len(each[1].shapes))
        shell.window.open_path(simplest.path)
        shell.pass_frames(2)
        panel = cast("ScenePanel", shell.window.panels.panel("scene"))
        shown = 0
        for percent, size in product([100, 150, 200], [(1280, 720), (1600, 1000), (2560, 1440)]):
            shell.window.resize(*size)
            if shell.window.settings.text_size != percent:
                shell.trigger(f"text-size-{percent}")
            shell.window.panels.show_column(is_shown=True)
            QApplication.processEvents()
            shell.pass_frames(1)
            # Its own turn may come later.
            panel.refresh()
            QApplication.processEvents()
            assert panel.canvas.isVisible()
            assert panel.canvas.picture is not None
            if panel.canvas.height() < LEAST_WITH_TEXTS:
                continue
            shown += 1
            for scene, picture in alike:
                for shape in picture.shapes:
                    pixels = shape.numbers[2] * panel.canvas.scale
                    if shape.kind == ShapeKind.TEXT and pixels < LEAST_LETTERS:
                        where = f"in {scene.path.stem} at {size}, {percent} %"
                        low.append(f"{shape.text} {pixels:.1f} {where}")
        assert shown

    assert low == []
