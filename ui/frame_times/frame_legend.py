"""What the colours of the frame-time plot mean, in a line."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import BY_INSPECTOR_RULE, OVER_RULE, TOLERANCE
from inspector.display_text import as_html
from inspector.vocabulary import Phase

from ..kit.guards import guarded
from ..kit.theme import Theme
from ..plotting.fills import (
    INSPECTOR_FILL,
    AnyFill,
    Fill,
    Pace,
    PaceFill,
    PhaseFill,
    Tone,
    color_of,
)

_PACE_TEXTS: Final = {
    Pace.GOOD: ("≤ ½ budget", "≤ ½×"),
    Pace.OK: (f"≤ budget + {float(100 * TOLERANCE):g} %", "≤ 1×"),
    Pace.LATE: ("≤ 2×", "≤ 2×"),
    Pace.BAD: ("> 2×, capped", "> 2×"),
    Pace.INSPECTOR: ("inspector", "inspector"),
}
_MARGIN: Final = 4
_BETWEEN: Final = "   "


class _Entry(Struct, frozen=True):
    fill: AnyFill
    text: str
    short_text: str


@guarded
class FrameLegend(QLabel):
    """Squares with words at the right, shorter ones or none where room is short.

    Signals:
        fit_changed: Whether there is room for it; if not, nothing is shown.

    Attributes:
        is_beside: It wraps in a column beside the plot: each colour has a line, shorter if need be.
    """

    fit_changed = Signal(bool)

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, is_wrapping: bool = False
    ) -> None:
        """Take colours from a theme.

        Args:
            is_wrapping: Take as many lines as the words need, from the left.
        """
        super().__init__(parent)
        self._is_wrapping = is_wrapping
        self.is_beside = False
        self._is_fitting = True
        self._theme = theme
        self._entries: tuple[_Entry, ...] = ()
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        if is_wrapping:
            self.setWordWrap(True)
            self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def show_paces(self) -> None:
        self._show(
            (
                _Entry(PaceFill(pace, Tone.STRONG), text, short_text)
                for pace, (text, short_text) in _PACE_TEXTS.items()
            ),
            f"\nOver budget: {OVER_RULE}.\nInspector: its own share of a frame, and columns "
            f"whose slowest frame is {BY_INSPECTOR_RULE}.",
        )

    def show_phases(
        self, phases: tuple[Phase, ...], *, has_waiting: bool, has_inspector: bool = False
    ) -> None:
        named: list[tuple[AnyFill, str]] = [(PhaseFill(phase), phase.text) for phase in phases]
        named.append((PhaseFill(None), "other"))
        if has_inspector:
            named.append((INSPECTOR_FILL, "inspector"))
        if has_waiting:
            named.append((Fill.WAITING, "waiting"))
        self._show(_Entry(fill, name, name) for fill, name in named)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _show(self, entries: Iterable[_Entry], rule: str = "") -> None:
        self._entries = tuple(entries)
        self.setToolTip("\n".join(entry.text for entry in self._entries) + rule)
        self._fit_text()

    def _fit_text(self) -> None:
        is_fitting = self._show_fitting_text()
        if is_fitting != self._is_fitting:
            self._is_fitting = is_fitting
            self.fit_changed.emit(is_fitting)

    def _show_fitting_text(self) -> bool:
        if self._is_wrapping:
            room = self.contentsRect().width() - _MARGIN
            self.setText(self._colored([self._within(room, entry) for entry in self._entries]))
            return True
        for texts in (
            [entry.text for entry in self._entries],
            short := [entry.short_text for entry in self._entries],
            # The share of the inspector explains itself in the readout.
            [text if text != _PACE_TEXTS[Pace.INSPECTOR][1] else "" for text in short],
        ):
            plain = _BETWEEN.join(f"■ {text}" for text in filter(None, texts))
            if self.fontMetrics().horizontalAdvance(plain) <= self.width() - _MARGIN:
                self.setText(self._colored(texts))
                return True
        self.setText("")
        return False

    def _within(self, room: int, entry: _Entry) -> str:
        """Return what is said of a colour: all of it, or beside the plot what there is room for."""
        gist = entry.text.partition(",")[0].partition(" +")[0]
        width = self.fontMetrics().horizontalAdvance
        for text in (entry.text, gist) if self.is_beside else ():
            if width(f"■ {text}") <= room:
                return text
        return entry.short_text if self.is_beside else entry.text

    def height_within(self, room: int) -> int:
        """Return the height of as many whole lines as there is room for, a line for each colour."""
        line = self.fontMetrics().lineSpacing()
        return min(len(self._entries), max(room // line, 0)) * line

    def _colored(self, texts: Sequence[str]) -> str:

        colors = [color_of(entry.fill, self._theme).name() for entry in self._entries]
        between = "<br>" if self.is_beside else "&nbsp;" * (len(_BETWEEN) - 1) + " "
        return between.join(
            f'<span style="color:{color}">■</span>&nbsp;{as_html(text).replace(" ", "&nbsp;")}'
            for color, text in zip(colors, texts, strict=True)
            if text
        )
