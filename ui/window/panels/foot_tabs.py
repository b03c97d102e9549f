"""The tabs in the foot of the window, which open the tray above them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from ...kit.guards import guarded
from ...kit.layouts import menu_button, open_menu, tool_button

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent

#: As wide as a digit, so that a tab keeps its width while its number changes.
_FIGURE_SPACE: Final = "\u2007"
_LEAST_DIGITS: Final = 2
_BETWEEN: Final = 2


@guarded
class FootTabs(QWidget):
    """A button for each panel of the tray; those that do not fit are under *More*.

    Signals:
        clicked: The tab of a panel was clicked; its id.
        float_wanted: A panel is to be a window of its own; its id.

    Attributes:
        more_button: At the end, for the panels that have no tab.
        more_menu: Its menu; filled by its owner when it is about to open.
    """

    clicked = Signal(str)
    float_wanted = Signal(str)

    def __init__(self, titles: Iterable[tuple[str, str]], tabs: Iterable[str]) -> None:
        """Make a tab for each panel.

        Args:
            titles: The panels by id with their titles, in order.
            tabs: The panels that have a tab at first.
        """
        super().__init__()
        self.setAccessibleName("Tray")
        self._titles = dict(titles)
        self._tabs = list(tabs)
        self._open = ""
        self._widest: dict[str, int] = {}
        self._buttons = {panel_id: self._make_tab(panel_id) for panel_id in self._titles}
        self.more_menu = QMenu(self)
        self.more_menu.setToolTipsVisible(True)
        self.more_button = menu_button("More", "Panels that have no tab", self.more_menu)
        self.more_button.setAutoRaise(True)
        self.more_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(_BETWEEN)
        for button in (*self._buttons.values(), self.more_button):
            row.addWidget(button)
        row.addStretch(1)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        # Without tabs, what stands beside them stays where it is.
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self._fit()

    def _make_tab(self, panel_id: str) -> QToolButton:
        title = self._titles[panel_id]
        button = tool_button(title, is_checkable=True)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setObjectName(f"tab_{panel_id}")
        button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        button.clicked.connect(self._tell_click)
        button.customContextMenuRequested.connect(self._open_menu)
        return button

    @property
    def shown(self) -> tuple[str, ...]:
        """The panels whose tabs there is room for."""
        return tuple(each for each, button in self._buttons.items() if not button.isHidden())

    @property
    def under_more(self) -> tuple[str, ...]:
        return tuple(each for each, button in self._buttons.items() if button.isHidden())

    @property
    def kept(self) -> tuple[str, ...]:
        """The panels that have tabs, seen or under *More* for want of room."""
        return tuple(self._tabs)

    def keep(self, tabs: Iterable[str]) -> None:
        """Give these panels tabs, and no others."""
        wanted = set(tabs)
        self._tabs = [each for each in self._titles if each in wanted]
        self._fit()

    def add(self, panel_id: str) -> None:
        """Give a panel a tab if it has none."""
        if panel_id not in self._tabs:
            self.keep([*self._tabs, panel_id])

    def text_of(self, panel_id: str) -> str:
        return self._buttons[panel_id].text().rstrip(_FIGURE_SPACE)

    def show_open(self, panel_id: str) -> None:
        """Mark the tab of the panel that is open, empty for none."""
        self._open = panel_id
        for each, button in self._buttons.items():
            button.setChecked(each == panel_id)
        self._fit()

    def show_badge(self, panel_id: str, badge: str, *, is_new: bool = False) -> None:
        """Say a count behind the title of a panel; a tab never becomes narrower for it."""
        if badge:
            width = max(self._widest.get(panel_id, _LEAST_DIGITS), len(badge))
            self._widest[panel_id] = width
            badge = f" {badge.ljust(width, _FIGURE_SPACE)}"
        button, text = self._buttons[panel_id], f"{self._titles[panel_id]}{badge}"
        if text != button.text() or is_new != button.font().bold():
            button.setText(text)
            font = QFont(button.font())
            font.setBold(is_new)
            button.setFont(font)
            self._fit()

    def forget_widths(self) -> None:
        self._widest.clear()

    @override
    def minimumSizeHint(self) -> QSize:
        return self.more_button.sizeHint()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show the tabs there is room for, from the left; that of the open panel always."""
        room = self.width() - self.more_button.sizeHint().width() - 4 * _BETWEEN
        wanted = {*self._tabs, self._open} - {""}
        opened = self._buttons.get(self._open)
        if opened is not None:
            room -= opened.sizeHint().width() + _BETWEEN
        is_full = False
        for panel_id, button in self._buttons.items():
            if panel_id != self._open and panel_id in wanted:
                room -= button.sizeHint().width() + _BETWEEN
                is_full = is_full or room < 0
            is_shown = panel_id in wanted and (panel_id == self._open or not is_full)
            if button.isHidden() is is_shown:
                button.setVisible(is_shown)

    def _panel_of(self, sender: object) -> str:
        return next(each for each, button in self._buttons.items() if button is sender)

    @Slot()
    def _tell_click(self) -> None:
        panel_id = self._panel_of(self.sender())
        # A tab shows what is open, not that it was clicked.
        self._buttons[panel_id].setChecked(panel_id == self._open)
        self.clicked.emit(panel_id)

    @Slot(QPoint)
    def _open_menu(self, place: QPoint) -> None:
        panel_id = self._panel_of(self.sender())
        open_menu(self.make_menu(panel_id), self._buttons[panel_id].mapToGlobal(place))

    def make_menu(self, panel_id: str) -> QMenu:
        menu = QMenu(self)
        menu.addAction(
            "Close" if panel_id == self._open else "Open", lambda: self.clicked.emit(panel_id)
        )
        menu.addAction("Make it a window", lambda: self.float_wanted.emit(panel_id))
        return menu
