"""The welcome while nothing is open: three ways in, and what was open last."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QSizePolicy, QWidget
from typing_extensions import override

from inspector.foreign.paths import is_recording_name, is_scene_name
from inspector.tokens import SIZES, TYPE

from ..actions.actions import ActionSet
from ..kit.fonts import in_type, text_scale
from ..kit.guards import guarded
from ..kit.icons import icon_size
from ..kit.labels import plain_label
from ..kit.layouts import REST, bar, fill, fill_dialog, in_column
from ..kit.text_link import TextLink
from ..kit.theme import ColorRole, Theme
from .settings import Settings

_WIDTH: Final = 640
_CARD_HEIGHT, _ROW_HEIGHT = 62, 34
_MOST_RECENT: Final = 4
_HINT: Final = "Ctrl+K finds everything  ·  ? shows all keys  ·  F1 opens the help"
#: Icon, title, explanation and key of the three ways; the first opens a scene, the others act.
_WAYS: Final = (
    ("run", "Open the small game", "Six clocks, twelve timers and a boss. Nothing can break.", ""),
    (
        "plug",
        "Attach to a program …",
        "Python, Node or a page: its loops and timers, without changing a line",
        "open-program",
    ),
    (
        "file",
        "Open a scene, recording or capture …",
        ".py  .tlrec  PresentMon, CapFrameX, FrameView, MangoHud, Chrome, Perfetto",
        "open",
    ),
)


@guarded
class WayButton(QAbstractButton):
    """A title with an explanation below it, or beside it in a row, and a key at the right."""

    def __init__(self, theme: Theme, icon: str, *texts: str, is_row: bool = False) -> None:
        """Make a card, or a row of a list, with title, explanation and key."""
        super().__init__()
        self._theme = theme
        self._icon = icon
        self._texts = texts
        self._is_row = is_row
        self.setText(texts[0])
        self.setAccessibleName(texts[0])
        self.setAccessibleDescription(texts[1])
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    @override
    def sizeHint(self) -> QSize:
        scale = text_scale(self)
        return QSize(
            round(_WIDTH * scale), round((_CARD_HEIGHT, _ROW_HEIGHT)[self._is_row] * scale)
        )

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, scale = QPainter(self), self._theme, text_scale(self)
        self._paint_ground(painter)
        side = round((24, 6)[self._is_row] * scale)
        room = self.rect().adjusted(side, 0, -round(16 * scale), 0)
        size = icon_size()
        icon = QRect(room.x(), (self.height() - size) // 2, size, size)
        theme.icon(self._icon).paint(painter, icon)
        room.setLeft(icon.right() + round((20, 12)[self._is_row] * scale))
        small, strong = QFont(self.font()), QFont(self.font())
        small.setPixelSize(round(TYPE["small"].px * scale))
        strong.setWeight(QFont.Weight.DemiBold)
        title, about, key = self._texts
        painter.setFont(small)
        painter.setPen(theme.color(ColorRole.MUTED))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, key)
        below = room
        if self._is_row:
            below = room.adjusted(room.width() // 2, 0, 0, 0)
            room = room.adjusted(0, 0, -room.width() // 2, 0)
        else:
            below, room = (
                room.adjusted(0, self.height() // 2, 0, 0),
                room.adjusted(0, 0, 0, -self.height() // 2),
            )
        left = Qt.AlignmentFlag.AlignLeft
        self._paint_text(painter, below, about, middle if self._is_row else left)
        painter.setFont(self.font() if self._is_row else strong)
        painter.setPen(theme.color(ColorRole.TEXT))
        bottom = Qt.AlignmentFlag.AlignBottom
        self._paint_text(painter, room, title, middle if self._is_row else bottom)
        painter.end()

    @staticmethod
    def _paint_text(painter: QPainter, room: QRect, text: str, where: Qt.AlignmentFlag) -> None:
        metrics = QFontMetrics(painter.font())
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, where | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_ground(self, painter: QPainter) -> None:
        theme = self._theme
        lit = self.underMouse() or self.isDown()
        if self._is_row:
            if lit:
                painter.fillRect(self.rect(), theme.color(ColorRole.PANEL))
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color(ColorRole.LINE))
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.color(ColorRole.EDGE if lit else ColorRole.LINE))
        painter.setBrush(theme.color(ColorRole.PANEL))
        box = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, SIZES["card_radius"], SIZES["card_radius"])


class Welcome(QWidget):
    """Three ways to begin, what was opened last, and ways to a comparison and all scenes."""

    file_chosen = Signal(object)  # Path: the user wants to open a file

    def __init__(self, actions: ActionSet, theme: Theme, small_game: Path | None) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._actions = actions
        self._theme = theme
        self._small_game = small_game
        self.ways = [self._way(*way) for way in _WAYS]
        self.recent: list[WayButton] = []
        self._title = plain_label("See, stop, slow and explain time in a program.")
        self._about = plain_label("Open something, or drop a file anywhere in this window.")
        self._caption = plain_label("Recent")
        self.gallery_link = TextLink(theme)
        self.gallery_link.set_text("All scenes in the gallery", "")
        self.gallery_link.clicked.connect(actions["gallery"].trigger)
        self.compare_link = TextLink(theme)
        self.compare_link.set_text("Compare captures", "")
        self.compare_link.setToolTip("Choose several files, or one and then the other")
        self.compare_link.clicked.connect(actions["compare"].trigger)
        self._hint = plain_label(_HINT)
        self._rows = in_column(spacing=0)
        self._lay_out()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _lay_out(self) -> None:
        inner = QWidget()
        inner.setMaximumWidth(round(_WIDTH * text_scale(self)))
        ways = self.compare_link, 16, self.gallery_link
        links = bar(self._caption, REST, *ways, margins=(0, 4, 0, 4))
        above, below = (self._title, self._about, 12), (8, links, self._rows, 8, self._hint)
        fill(inner, *above, *self.ways, *below, spacing=8)
        page, area = QWidget(), QScrollArea()
        fill_dialog(page, REST, bar((inner, 1), margins=(24, 0, 24, 0)), REST)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setWidget(page)
        page.setBackgroundRole(QPalette.ColorRole.Base)
        fill(self, (area, 1), margins=(0, 0, 0, 0))
        for label, name in (
            (self._title, "title"),
            (self._caption, "strong"),
            (self._hint, "small"),
        ):
            in_type(label, name)

    def _way(self, icon: str, title: str, about: str, action_id: str) -> WayButton:
        key = self._actions[action_id].shortcut().toString() if action_id else "Enter"
        button = WayButton(self._theme, icon, title, about, key)
        if action_id:
            button.clicked.connect(self._actions[action_id].trigger)
        else:
            button.clicked.connect(self._open_small_game)
            button.setVisible(self._small_game is not None)
        return button

    @Slot()
    def _open_small_game(self) -> None:
        if self._small_game is not None:
            self.file_chosen.emit(self._small_game)

    def list_recent(self, settings: Settings) -> None:
        """Offer what was open last: its name, what it is, and where."""
        for button in self.recent:
            button.deleteLater()
        self.recent = []
        # Only the newest: the dialog begins with it, and lists the others.
        newest = (each.get("command", "") for each in settings.recent_programs[:1])
        programs = [*filter(None, newest)]
        for text in settings.recent_scenes[: _MOST_RECENT - len(programs)]:
            path = Path(text)
            icon, kind = _kind_of(path)
            choose = partial(self.file_chosen.emit, path)
            self._add_recent((icon, path.name, f"{kind}, {path.parent}", ""), choose)
        for command in programs:
            open_program = self._actions["open-program"].trigger
            self._add_recent(("plug", command, "attached program", ""), open_program)
        self._caption.setVisible(bool(self.recent))

    def _add_recent(self, texts: tuple[str, str, str, str], choose: Callable[[], object]) -> None:
        button = WayButton(self._theme, *texts, is_row=True)
        button.clicked.connect(choose)
        self._rows.addWidget(button)
        self.recent.append(button)

    def enter(self) -> None:
        """Have Enter open the small game."""
        self.ways[0].setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _apply_theme(self) -> None:
        for label in (self._about, self._hint):
            palette = label.palette()
            palette.setColor(label.foregroundRole(), self._theme.color(ColorRole.MUTED))
            label.setPalette(palette)


def _kind_of(path: Path) -> tuple[str, str]:
    if is_scene_name(path):
        return "clock", "scene"
    return ("record", "recording") if is_recording_name(path) else ("panel", "capture")
