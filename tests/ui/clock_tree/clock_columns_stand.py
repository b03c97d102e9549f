"""The clock tree panel at the widths of usual windows, for tests of its columns."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.frames.scheduler.scheduler import Scheduler
from tests.ui.world import PlayedSession
from ui.clock_tree.panel import ClockTreePanel
from ui.clock_tree.rows import ClockColumn
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge

#: How wide the panel is in windows of 1280, 1440 and 1920 pixels.
SMALL, USUAL, LARGE = 434, 489, 652


class Boss:
    """A target."""

    def __init__(self, name: str) -> None:
        self.name = name

    def update(self, delta: float) -> None:
        """Be called in every frame."""


class Stand:
    """The panel over two clocks and a scheduler."""

    def __init__(
        self, qtbot: QtBot, choices: dict[str, str] | None = None, boss: str = "a boss"
    ) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.scheduler = Scheduler(self.game, name="fights")
        self.boss = Boss(boss)
        self.scheduler.schedule_update(self.boss, 0)
        self.bridge = SessionBridge()
        self.bridge.panel_choices = {} if choices is None else choices
        self.bridge.set_session(self.session)
        self.panel = ClockTreePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.view = self.panel.view
        self.header = self.view.tree_header
        self.resize(SMALL)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        QApplication.processEvents()

    def resize(self, width: int) -> None:
        self.panel.resize(width, 400)
        QApplication.processEvents()

    def refresh(self) -> None:
        """Show what is new, paint it, and do what follows from painting it."""
        self.bridge.refresh_now()
        self.panel.refresh()
        self.view.viewport().repaint()
        QApplication.processEvents()

    def run_to_ms(self, milliseconds: int) -> None:
        self.session.run_to_ms(milliseconds)
        self.refresh()

    def width(self, column: ClockColumn) -> int:
        return self.view.columnWidth(column)

    def widths(self) -> list[int]:
        return [self.width(column) for column in ClockColumn]

    def end(self) -> int:
        return sum(self.widths())

    def number(self, name: str) -> int:
        members = self.session.timeline.members.by_id.values()
        return next(member.id for member in members if member.name == name)

    def drawn(self, node: int, column: ClockColumn) -> str:
        """Return what a cell says in the room it has."""
        return self.view.shown_text(node, column)

    def columns_painted(self, node: int) -> list[int]:
        """Return the columns of a row that have a cell of their own."""
        return [piece.column for piece in self.view.pieces_of(node)]

    def nodes_in_view(self) -> list[int]:
        return [place.key for place, _ in self.view.rows_in_view()]

    def is_readable(self, node: int, column: ClockColumn) -> bool:
        """Return whether a cell says something, and is not cut off, in the room it has."""
        return not self.drawn(node, column).endswith("…")
