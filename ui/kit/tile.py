"""Numbers in large digits with their names above them, and what stands below the time axis."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QLabel, QWidget

from inspector.tokens import size_by_height

from .fonts import in_type, text_scale
from .guards import guarded
from .labels import ElidedLabel, plain_label
from .layouts import REST, fill, in_row
from .text_link import TextLink
from .theme import Theme

#: Largest share of a window's height for what stands below the time axis.
_MOST_BELOW: Final = 0.36
#: The same for windows lower than _VERY_LOW, where that would leave the axis too little.
_MOST_BELOW_LOW: Final = 0.28
_VERY_LOW: Final = 420
#: Windows lower than this, at 100 % text, leave out what is dispensable.
_LOW: Final = 560


def height_below(widget: QWidget) -> int:
    """Return the height of what stands below the time axis: that of the tray, if it has room."""
    scale, room = text_scale(widget), widget.window().height()
    most = _MOST_BELOW if room >= _VERY_LOW * scale else _MOST_BELOW_LOW
    return min(round(size_by_height("tray", room / scale) * scale), round(room * most))


def is_low(widget: QWidget) -> bool:
    """Whether the window of a widget has little height for the size of its text."""
    return widget.window().height() < _LOW * text_scale(widget)


def yielding_caption(text: str) -> ElidedLabel:
    """Return a caption that is left out where its neighbours need the room."""
    label = ElidedLabel("^")
    label.set_text(text)
    in_type(label, "strong")
    label.setMinimumWidth(1)
    return label


def caption(text: str) -> QLabel:
    label = plain_label(text)
    in_type(label, "strong")
    return label


@guarded
class Tile(QWidget):
    """A number below its name, what it was before it, and what explains it beside it."""

    clicked = Signal()  # The number is a link, and it was clicked

    def __init__(self, name: str, theme: Theme, tip: str = "", size: str = "title") -> None:
        """Show no number at first; ``tip`` is what a click does, ``size`` a type of the tokens."""
        super().__init__()
        self.title = plain_label(name)
        # before: the number before the change, with an arrow
        # value: the number
        self.before, self.value, self.aside = plain_label(), plain_label(), plain_label()
        self.link = TextLink(theme)  # The number as a link
        self.link.setToolTip(tip)
        self.link.clicked.connect(self.clicked)
        for small in (self.title, self.aside):
            in_type(small, "small", is_muted=True)
        self.set_type(size)
        in_type(self.before, "query", is_muted=True)
        self._row = in_row(self.before, self.value, self.link, self.aside, REST, spacing=8)
        self._box = fill(self, self.title, self._row, margins=(12, 0, 12, 0), spacing=0)
        self.before.hide()

    def set_type(self, size: str) -> None:
        for large in (self.value, self.link):
            in_type(large, size)

    def set_flat(self, *, is_flat: bool) -> None:
        """Have the name beside the numbers, in the size of text, or above them."""
        flat = QBoxLayout.Direction.LeftToRight
        self._box.setDirection(flat if is_flat else QBoxLayout.Direction.TopToBottom)
        self._box.setContentsMargins(*((0, 0, 12, 0) if is_flat else (12, 0, 12, 0)))
        self._box.setSpacing(8 if is_flat else 0)
        self._row.setSpacing(4 if is_flat else 8)
        in_type(self.before, "text" if is_flat else "query")
        self.set_type("strong" if is_flat else "heading")

    def set_value(
        self, text: str, aside: str = "", *, before: str = "", is_link: bool = False
    ) -> None:
        """Show a number; without one the tile is left out."""
        self.before.setText(f"{before} →")
        self.before.setVisible(bool(before))
        self.value.setText("" if is_link else text)
        self.value.setVisible(not is_link)
        self.link.set_text(text if is_link else "", f"{self.title.text()},")
        self.aside.setText(aside)
        self.setVisible(bool(text))
