"""Values as labels: they can be copied, broken anywhere, and their links worked by keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QMargins, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.display_text import as_html, one_line

from ..kit.fonts import small_size
from ..kit.guards import guarded
from ..kit.labels import SelectableLabel

_LINE: Final = "\N{LINE SEPARATOR}"
_BREAK: Final = "\N{ZERO WIDTH SPACE}"
#: Words that may be too long for a line. Letters that join with their neighbours, and those
#: between which lines are broken anyway, are in none of these ranges.
_LONG_WORD: Final = re.compile("[!-\u009f\u00a1-\u02ff\u0370-\u052f]{13,}")
#: Words are broken after these; parts that are still too long are broken anywhere.
_JOINTS: Final = re.compile(r"(?<=[/\\.:-])|(?<=[^_]_)(?=[^_])")
_LONGEST_PART: Final = 20
_WITHIN_AMOUNTS: Final = re.compile(r"(?<=\d) (?=(?:[mµn]?s|min|h|fps|Hz)\b|%)|(?<=\w) (?=×)")
_TOGETHER: Final = "\N{NO-BREAK SPACE}"
_BETWEEN_WORDS: Final = re.compile(f"[ \n{_BREAK}]")
#: Reasons after which the keyboard comes back to where it was.
_FOR_A_WHILE: Final = (
    Qt.FocusReason.ActiveWindowFocusReason,
    Qt.FocusReason.PopupFocusReason,
    Qt.FocusReason.MenuBarFocusReason,
)


class Piece(NamedTuple):
    text: str  # What it says
    address: str = ""  # Where it leads, empty for plain text
    small_in: QColor | None = None  # The colour of small letters, None for those of the usual size
    ends_line: bool = False  # Whether what follows begins on the next line


def breakable(text: str) -> str:
    """Return a text as labels take it: names in one line, long words broken anywhere.

    Labels break lines at blanks only, here not between a number and its unit or a name and
    its ×2. Paths are broken where their names end, or parts of names, rather than elsewhere.
    """
    return _WITHIN_AMOUNTS.sub(_TOGETHER, _LONG_WORD.sub(_broken, one_line(text)))


def _broken(word: re.Match[str]) -> str:
    parts = _JOINTS.split(word.group())
    return _BREAK.join(_BREAK.join(part) if len(part) > _LONGEST_PART else part for part in parts)


@guarded
class ValueLabel(SelectableLabel):
    """Text in as many lines as it needs, to be read and copied.

    Screen readers read it with its caption, and without what only lets lines be broken.
    """

    def __init__(self, text: str, parent: QWidget | None = None, caption: str = "") -> None:
        super().__init__(parent)
        self.said, self._caption = text, caption  # As it was given
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        # Long words such as paths must not widen the panel.
        self.setMinimumWidth(40)
        self.set_text(text)

    def set_caption(self, caption: str) -> None:
        """Have screen readers say another text before it."""
        if caption != self._caption:
            self._caption = caption
            self._name_for_readers()

    def set_text(self, text: str) -> None:
        """Show another text; one that is being marked for copying stays."""
        if not self.hasSelectedText():
            self.said = text
            self.setText(breakable(text))
            self._name_for_readers()

    def has_number_wider_than(self, width: int) -> bool:
        """Whether a number with commas is wider than this many pixels."""
        advance, words = self.fontMetrics().horizontalAdvance, _BETWEEN_WORDS.split
        return "," in self.said and any(
            advance(word) > width for word in words(breakable(self.said)) if "," in word
        )

    def fit_into(self, width: int) -> None:
        """Let numbers be broken after their commas if one is wider than this many pixels."""
        text = breakable(self.said)
        if self.has_number_wider_than(width):
            text = text.replace(",", f",{_BREAK}")
        if text != self.text() and not self.hasSelectedText():
            self.setText(text)

    def _name_for_readers(self) -> None:
        self.setAccessibleName(": ".join(filter(None, (self._caption, one_line(self.said)))))

    def text_to_copy(self) -> str:
        """Return what is marked, else everything as it was said."""
        return self.selectedText().replace(_BREAK, "").replace(_TOGETHER, " ") or self.said

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy what is marked, without the invisible characters at which lines are broken."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            QGuiApplication.clipboard().setText(self.text_to_copy())
        else:
            super().keyPressEvent(event)


@guarded
class LinesOfText(QWidget):
    """Lets a label cause a new layout only when its text takes another number of lines.

    A label that is itself in a layout causes one with each text, up to that of the whole window.
    """

    def __init__(self, label: ValueLabel, side: int) -> None:
        """Show a label with ``side`` pixels at each side."""
        super().__init__()
        self._label, self._around = label, QMargins(side, 0, side, 0)
        label.setParent(self)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @override
    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width, 0).marginsRemoved(self._around)
        return self._label.heightForWidth(room.width())

    @override
    def sizeHint(self) -> QSize:
        return self._label.sizeHint().grownBy(self._around)

    @override
    def minimumSizeHint(self) -> QSize:
        least = QSize(self._label.minimumWidth(), self._label.minimumSizeHint().height())
        return least.grownBy(self._around)

    @override
    def event(self, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.Resize:
                self._label.setGeometry(self.rect().marginsRemoved(self._around))
            case QEvent.Type.LayoutRequest:
                self.fit()
        return super().event(event)

    def fit(self) -> None:
        """Ask for room if the label needs more or less; by itself it does a turn later."""
        if self.heightForWidth(self.width()) != self.height():
            self.updateGeometry()


@guarded
class LinkedLabel(ValueLabel):
    """Text of which some pieces are links: Tab goes from one to the next, and then on.

    With every new text Qt forgets which link has the keyboard, and Tab would go to the
    first one for ever; so that is kept here. Where links lead is kept here too, so that the
    same words are not laid out again to lead elsewhere.
    """

    #: A link was clicked, or Enter was pressed on it.
    followed = Signal(str)  # its address

    def __init__(self, parent: QWidget | None = None, caption: str = "") -> None:
        super().__init__("", parent, caption)
        self.addresses: list[str] = []  # Where each link leads
        self._spans: list[tuple[int, int]] = []
        self.link: int | None = None  # Which of the links has the keyboard, from 0; None for none
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.linkActivated.connect(self._follow)

    @property
    def _small_px(self) -> int:
        return small_size(self.fontInfo().pixelSize())

    def set_pieces(self, pieces: Sequence[Piece], color: QColor) -> None:
        self.said = "".join(piece.text for piece in pieces)
        self._name_for_readers()
        html, place = "", 0
        spans: list[tuple[int, int]] = []
        for piece in pieces:
            shown = breakable(piece.text) + (_LINE if piece.ends_line else "")
            # Qt counts characters beyond the first 65,536 twice.
            length = len(shown) + sum(character > "\uffff" for character in shown)
            words = as_html(shown).replace("  ", "&nbsp; ").replace(_LINE, "<br>")
            if piece.address:
                href = len(spans)
                spans.append((place, length))
                words = f'<a href="{href}" style="color:{color.name()}">{words}</a>'
            elif piece.small_in is not None:
                look = f"color:{piece.small_in.name()};font-size:{self._small_px}px"
                words = f'<span style="{look}">{words}</span>'
            html += words
            place += length
        self.addresses = [piece.address for piece in pieces if piece.address]
        if html != self.text():
            self.setText(html)
            self._spans = spans
            if self.link is not None:
                self.focus_link(self.link)

    @Slot(str)
    def _follow(self, number: str) -> None:
        self.followed.emit(self.addresses[int(number)])

    def focus_link(self, number: int) -> None:
        """Give the keyboard to a link, or to the last one if there are fewer."""
        self.link = min(number, len(self._spans) - 1)
        if self.link >= 0:
            self.setSelection(*self._spans[self.link])
        else:
            self._let_go()

    def _let_go(self) -> None:
        self.link = None
        self.setSelection(0, 0)

    @override
    def focusNextPrevChild(self, next: bool) -> bool:
        if self.link is None:
            to = 0 if next else len(self._spans) - 1
        else:
            to = self.link + (1 if next else -1)
        if 0 <= to < len(self._spans):
            self.focus_link(to)
            return True
        # Not QLabel's method, which would look for another link within the label.
        return QWidget.focusNextPrevChild(self, next)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show that the keyboard is here by marking a link."""
        super().focusInEvent(event)
        match event.reason():
            case Qt.FocusReason.TabFocusReason:
                self.focus_link(0)
            case Qt.FocusReason.BacktabFocusReason:
                self.focus_link(len(self._spans) - 1)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.link is not None and event.reason() not in _FOR_A_WHILE:
            self._let_go()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.link = None
        super().mousePressEvent(event)
