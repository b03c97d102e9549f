"""Buttons, and widgets in rows and columns, as panels have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QIcon, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLayout,
    QMenu,
    QSizePolicy,
    QSplitter,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from .guards import guarded

if TYPE_CHECKING:
    #: A widget or a layout, one with its stretch, a gap in pixels, or a gap that takes the rest.
    Part = QWidget | QLayout | tuple[QWidget | QLayout, int] | int | None


#: Property of the tool button that is the default: it has an outline and bold text.
IS_DEFAULT: Final = "is_default"
#: A button has room for at least this many letters of average width.
_LEAST_LETTERS: Final = 14
#: Between parts of a layout: all the room that is left.
REST: Final = None
_FLUSH: Final = int(
    Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextShowMnemonic
)
#: Spacing as the style has it.
_OF_STYLE: Final = -1
_NO_MARGINS: Final = (0, 0, 0, 0)

BoxLayoutT = TypeVar("BoxLayoutT", bound=QBoxLayout)


def tool_button(text: str = "", tip: str = "", *, is_checkable: bool = False) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(is_checkable)
    return button


@guarded
class ShorteningButton(QToolButton):
    """A button whose text is cut at its end where there is no room for it."""

    def __init__(self, *, is_flush: bool = False) -> None:
        """Make a button; ``is_flush`` if its text begins at its left edge, as in a column."""
        super().__init__()
        self.is_flush = is_flush
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    @override
    def minimumSizeHint(self) -> QSize:
        least = self.fontMetrics().averageCharWidth() * _LEAST_LETTERS
        whole = self.sizeHint()
        return QSize(min(least, whole.width()), whole.height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        option, painter = QStyleOptionToolButton(), QStylePainter(self)
        self.initStyleOption(option)
        text = self._shown_text()
        option.text = "" if self.is_flush else text
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
        if self.is_flush:
            role, palette = self.foregroundRole(), option.palette
            painter.drawItemText(self.rect(), _FLUSH, palette, self.isEnabled(), text, role)

    def _shown_text(self) -> str:
        # Cut only below the usual width: fractions of a pixel could make the text seem too wide.
        if self.width() >= self.sizeHint().width():
            return self.text()
        metrics = self.fontMetrics()
        beside = self.sizeHint().width() - metrics.horizontalAdvance(self.text())
        room = self.width() - beside
        return metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)


def menu_button(text: str, tip: str, menu: QMenu) -> QToolButton:
    button = tool_button(text, tip)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setMenu(menu)
    return button


def choice_buttons(parent: QWidget, texts: Sequence[str]) -> QButtonGroup:
    """Return buttons of which one is down, the first to begin with; their ids count from 0."""
    group = QButtonGroup(parent)
    for number, text in enumerate(texts):
        button = tool_button(text, is_checkable=True)
        # In dark colours, only flat buttons show which one is down.
        button.setAutoRaise(True)
        button.setChecked(number == 0)
        group.addButton(button, number)
    return group


def button_box(buttons: QDialogButtonBox.StandardButton) -> QDialogButtonBox:
    box = QDialogButtonBox(buttons)
    without_icons(box)
    return box


def without_icons(box: QDialogButtonBox | QDialog) -> None:
    # Some dialogs of Qt make their buttons only when their size is asked for.
    box.sizeHint()
    boxes = [box] if isinstance(box, QDialogButtonBox) else box.findChildren(QDialogButtonBox)
    for button in [button for each in boxes for button in each.buttons()]:
        button.setIcon(QIcon())


def hairline(orientation: Qt.Orientation = Qt.Orientation.Horizontal) -> QWidget:
    """Return the line between two parts of the window."""
    line = QWidget()
    line.setAutoFillBackground(True)
    line.setBackgroundRole(QPalette.ColorRole.Mid)
    if orientation is Qt.Orientation.Horizontal:
        line.setFixedHeight(1)
    else:
        line.setFixedWidth(1)
    return line


def in_row(
    *parts: Part, margins: tuple[int, int, int, int] = _NO_MARGINS, spacing: int = _OF_STYLE
) -> QHBoxLayout:
    return _filled(QHBoxLayout(), parts, margins, spacing)


def in_column(*parts: Part, spacing: int = _OF_STYLE) -> QVBoxLayout:
    return _filled(QVBoxLayout(), parts, _NO_MARGINS, spacing)


def bar(*parts: Part, margins: tuple[int, int, int, int] = (4, 4, 4, 0)) -> QHBoxLayout:
    return in_row(*parts, margins=margins)


def fill(
    widget: QWidget,
    *parts: Part,
    margins: tuple[int, int, int, int] = _NO_MARGINS,
    spacing: int = 4,
) -> QVBoxLayout:
    """Put parts below each other in a widget."""
    return _filled(QVBoxLayout(widget), parts, margins, spacing)


def fill_across(
    widget: QWidget,
    *parts: Part,
    margins: tuple[int, int, int, int] = _NO_MARGINS,
    spacing: int = _OF_STYLE,
) -> QHBoxLayout:
    """Put parts beside each other in a widget."""
    return _filled(QHBoxLayout(widget), parts, margins, spacing)


def fill_dialog(dialog: QWidget, *parts: Part) -> QVBoxLayout:
    """Put parts below each other, with the margins that the style gives dialogs."""
    return _filled(QVBoxLayout(dialog), parts, None, _OF_STYLE)


def splitter(
    orientation: Qt.Orientation, *parts: tuple[QWidget, int], sizes: Sequence[int] = ()
) -> QSplitter:
    """Return widgets that share their room as people wish; none of them can be closed by that.

    Each has its share of more room, 0 for all to grow alike; ``sizes`` are the first, in pixels.
    """
    splitter = QSplitter(orientation)
    splitter.setChildrenCollapsible(False)
    for number, (widget, share) in enumerate(parts):
        splitter.addWidget(widget)
        splitter.setStretchFactor(number, share)
    if sizes:
        splitter.setSizes(sizes)
    return splitter


def _filled(
    layout: BoxLayoutT,
    parts: Iterable[Part],
    margins: tuple[int, int, int, int] | None,
    spacing: int,
) -> BoxLayoutT:
    if margins is not None:
        layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)
    for part in parts:
        what, share = part if isinstance(part, tuple) else (part, 0)
        if what is None:
            layout.addStretch(1)
        elif isinstance(what, int):
            layout.addSpacing(what)
        elif isinstance(what, QLayout):
            layout.addLayout(what, share)
        else:
            layout.addWidget(what, share)
    return layout


def open_menu(menu: QMenu, place: QPoint) -> None:
    """Open a menu that is needed once, if there is anything in it."""
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(place)


def bring_up(window: QWidget) -> None:
    window.show()
    window.raise_()
    window.activateWindow()
