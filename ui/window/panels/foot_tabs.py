"""The tabs in the foot of the window, which open the tray above them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.tokens import SIZES, TYPE

from ...kit.fonts import small_font, text_scale
from ...kit.guards import guarded
from ...kit.layouts import REST, fill_across, menu_button, open_menu
from ...kit.theme import ColorRole, Theme

_LEAST_DIGITS: Final = 2
_BETWEEN: Final = 2
#: Pixels left and right of a title, and between it and its count, at 100 % text.
_BESIDE_TITLE, _BEFORE_COUNT = 8, 5


@guarded
class TabButton(QToolButton):
    """The title of a panel and, small behind it, how much is in it."""

    def __init__(self, title: str, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.title = title
        self.badge = ""  # The count, empty for none
        self.is_new = False  # Whether the panel has something that the user has not seen
        self._digits = 0
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setText(title)

    def set_badge(self, badge: str, *, is_new: bool) -> bool:
        """Show a count; return whether the tab is wider for it. It never becomes narrower."""
        if (badge, is_new) == (self.badge, self.is_new):
            return False
        self.badge, self.is_new = badge, is_new
        former, self._digits = self._digits, max(self._digits, self._least_digits())
        self.setText(f"{self.title} {badge}".rstrip())
        self.update()
        return self._digits > former

    def _least_digits(self) -> int:
        return max(_LEAST_DIGITS, len(self.badge)) if self.badge else 0

    def forget_width(self) -> None:
        self._digits = self._least_digits()

    def _strong_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight(TYPE["strong"].weight))
        return font

    @override
    def sizeHint(self) -> QSize:
        # The size for a bold title, so that nothing moves when the panel is opened.
        scale = text_scale(self)
        title = QFontMetrics(self._strong_font()).horizontalAdvance(self.title)
        count = QFontMetrics(small_font(self)).horizontalAdvance("0" * self._digits)
        gap = _BEFORE_COUNT if count else 0
        width = title + count + round((2 * _BESIDE_TITLE + gap) * scale)
        return QSize(width, round(SIZES["target"] * scale))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, color = QPainter(self), self._theme.color
        scale, is_open = text_scale(self), self.isChecked()
        if is_open:
            painter.fillRect(self.rect(), color(ColorRole.BG))
            line = round(SIZES["focus"] * scale)
            painter.fillRect(0, self.height() - line, self.width(), line, color(ColorRole.BLUE))
        elif self.underMouse():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(ColorRole.RAISED))
            painter.drawRoundedRect(self.rect(), SIZES["radius"], SIZES["radius"])
        strong = self._strong_font()
        painter.setFont(strong if is_open or self.is_new else self.font())
        has_something = is_open or self.badge
        painter.setPen(color(ColorRole.TEXT if has_something else ColorRole.MUTED))
        metrics, left = painter.fontMetrics(), round(_BESIDE_TITLE * scale)
        base = (self.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(left, base, self.title)
        if self.badge:
            # Always where it is beside a bold title.
            left += QFontMetrics(strong).horizontalAdvance(self.title)
            painter.setFont(small_font(self))
            painter.setPen(color(ColorRole.MUTED))
            painter.drawText(left + round(_BEFORE_COUNT * scale), base, self.badge)
        painter.end()


@guarded
class FootTabs(QWidget):
    """A button for each panel of the tray; those that do not fit are under *More*."""

    clicked = Signal(str)  # The tab of a panel was clicked; its id
    float_wanted = Signal(str)  # The user wants a panel as a window of its own; its id

    def __init__(
        self, titles: Iterable[tuple[str, str]], tabs: Iterable[str], theme: Theme
    ) -> None:
        super().__init__()
        self.setAccessibleName("Tray")
        self._titles = dict(titles)
        self._tabs = list(tabs)
        self._left_out: frozenset[str] = frozenset()
        self._open = ""
        self._buttons = {panel_id: self._make_tab(panel_id, theme) for panel_id in self._titles}
        self.more_menu = QMenu(self)  # Its menu; filled by its owner when it is about to open
        self.more_menu.setToolTipsVisible(True)
        self.more_button = menu_button("More", "Panels that have no tab", self.more_menu)
        self.more_button.setAutoRaise(True)
        self.more_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        buttons = (*self._buttons.values(), self.more_button)
        fill_across(self, *buttons, REST, margins=(4, 0, 4, 0), spacing=_BETWEEN)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        # Hidden tabs keep their room, so that what is beside them stays in place.
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self._fit()

    def _make_tab(self, panel_id: str, theme: Theme) -> TabButton:
        button = TabButton(self._titles[panel_id], theme)
        button.setObjectName(f"tab_{panel_id}")
        button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        button.clicked.connect(self._emit_clicked)
        button.customContextMenuRequested.connect(self._open_menu)
        return button

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(each for each, button in self._buttons.items() if not button.isHidden())

    @property
    def under_more(self) -> tuple[str, ...]:
        return tuple(each for each, button in self._buttons.items() if button.isHidden())

    @property
    def kept(self) -> tuple[str, ...]:
        """The panels that have tabs, seen or under *More* for want of room."""
        return tuple(self._tabs)

    def keep(self, tabs: Iterable[str]) -> None:
        wanted = set(tabs)
        self._tabs = [each for each in self._titles if each in wanted]
        self._fit()

    def add(self, panel_id: str) -> None:
        if panel_id not in self._tabs:
            self.keep([*self._tabs, panel_id])

    def leave_out(self, panel_ids: Iterable[str]) -> None:
        """Have some panels under *More*, as a session has nothing for them."""
        self._left_out = frozenset(panel_ids)
        self._fit()

    def text_of(self, panel_id: str) -> str:
        return self._buttons[panel_id].text()

    def mark_open(self, panel_id: str) -> None:
        self._open = panel_id
        for each, button in self._buttons.items():
            button.setChecked(each == panel_id)
        self._fit()

    def set_badge(self, panel_id: str, badge: str, *, is_new: bool = False) -> None:
        """Say a count behind the title of a panel."""
        if self._buttons[panel_id].set_badge(badge, is_new=is_new):
            self._fit()

    def forget_widths(self) -> None:
        for button in self._buttons.values():
            button.forget_width()

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
        wanted = {*self._tabs} - self._left_out | {self._open} - {""}
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
    def _emit_clicked(self) -> None:
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
