"""The headers beside overview and frames: statistics with their links, menu, legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import BY_INSPECTOR_RULE, OVER_RULE, TOLERANCE
from inspector.display_text import as_html
from inspector.formats.arrangement.fills import (
    AnyFill,
    Fill,
    PhaseFill,
    Severity,
    SeverityFill,
    Tone,
)
from inspector.timebase import format_duration
from inspector.vocabulary import Phase

from ..kit.fonts import in_type
from ..kit.guards import guarded
from ..kit.text_link import TextLink
from ..kit.theme import ColorRole, Theme
from ..plotting.sheet_painter import color_of
from .frame_statistics import FoundStatistics

_PAD: Final = 12
_ABOVE, _BELOW = 4, 8
_BETWEEN: Final = 8
_LABELS: Final = 40
_LINE: Final = 18
_SQUARE: Final = 9
#: Pixels from the left edge of the legend to its words.
_BESIDE: Final = _SQUARE + 7
_WRAPPED: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap)
#: Room that the legend needs below the numbers; with less it is in the tool tip.
_LEGEND_FROM: Final = 96

SEVERITIES: Final[tuple[tuple[AnyFill, str], ...]] = (
    (SeverityFill(Severity.IN_BUDGET, Tone.STRONG), "in budget"),
    (SeverityFill(Severity.OVER, Tone.STRONG), f"over, by {float(100 * TOLERANCE):g} % or more"),
    (SeverityFill(Severity.OVER_TWICE, Tone.STRONG), "over twice"),
    (Fill.INSPECTOR, "the inspector’s own share"),
)
#: Fills with an outline, and what represents them in a legend that cannot draw one.
_EDGED: Final[dict[AnyFill, AnyFill]] = {Fill.INSPECTOR: Fill.INSPECTOR_EDGE}
_HELP: Final = (
    "P50, P99: the time that this percentage of the frames does not exceed "
    "(nearest rank, always one of the measured times).<br>"
    f"Over: {as_html(OVER_RULE)}.<br>"
    f"Left out, if chosen in the menu: {as_html(BY_INSPECTOR_RULE)}."
)


def phases_legend(
    phases: Sequence[Phase], *, has_waiting: bool, has_inspector: bool
) -> tuple[tuple[AnyFill, str], ...]:
    named: list[tuple[AnyFill, str]] = [(PhaseFill(phase), phase.text) for phase in phases]
    named.append((PhaseFill(None), "other"))
    if has_inspector:
        named.append((Fill.INSPECTOR, "inspector"))
    if has_waiting:
        named.append((Fill.WAITING, "waiting"))
    return tuple(named)


@guarded
class FrameLegend(QWidget):
    """What the colours of bars mean, a line for each."""

    def __init__(self, theme: Theme, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.entries: tuple[tuple[AnyFill, str], ...] = SEVERITIES

    def set_entries(self, entries: tuple[tuple[AnyFill, str], ...]) -> None:
        self.entries = entries
        self._fit()
        self.update()

    def as_tip(self) -> str:
        """Return the lines for a tool tip."""
        colors = (color_of(_EDGED.get(fill, fill), self._theme).name() for fill, _ in self.entries)
        return "<br>".join(
            f'<span style="background-color: {color}">&nbsp;&nbsp;&nbsp;</span> {as_html(text)}'
            for color, (_, text) in zip(colors, self.entries, strict=True)
        )

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(sum(map(self._height_of, self.entries)))

    def _height_of(self, entry: tuple[AnyFill, str]) -> int:
        words = QRect(0, 0, max(self.width() - _BESIDE, 1), 1)
        return max(self.fontMetrics().boundingRect(words, _WRAPPED, entry[1]).height() + 3, _LINE)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        line, y = _line_of(self), 0
        for entry in self.entries:
            fill, text = entry
            top = y + (line - _SQUARE) // 2
            painter.fillRect(0, top, _SQUARE, _SQUARE, color_of(fill, self._theme))
            if fill is Fill.INSPECTOR:
                painter.setPen(color_of(Fill.INSPECTOR_EDGE, self._theme))
                painter.drawRect(0, top, _SQUARE - 1, _SQUARE - 1)
            painter.setPen(self._theme.color(ColorRole.MUTED))
            high = self._height_of(entry)
            painter.drawText(_BESIDE, y, self.width() - _BESIDE, high, _WRAPPED, text)
            y += high


def _line_of(widget: QWidget) -> int:
    return max(_LINE, widget.fontMetrics().height() + 3)


class _Header(QWidget):
    """Numbers in small letters on the colour of headers."""

    #: The user wants to see the longest frame.
    longest_wanted = Signal()
    #: The user wants to see the next frame over budget.
    over_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        in_type(self, "small")
        self.longest = TextLink(theme, self)
        self.over = TextLink(theme, self)
        self.longest.setToolTip("Go to the longest frame")
        self.over.setToolTip("Go to the next frame over budget (J)")
        self.longest.clicked.connect(self.longest_wanted)
        self.over.clicked.connect(self.over_wanted)

    def _muted(self, text: str = "") -> QLabel:
        label = QLabel(text, self)
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        return label


@guarded
class OverviewHeader(_Header):
    """Of the whole session: P99, and links to the longest frame and those over budget."""

    def __init__(self, theme: Theme, parent: QWidget | None) -> None:
        super().__init__(theme, parent)
        self.p99 = self._muted()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_PAD, 0, 4, 0)
        layout.setSpacing(_BETWEEN)
        layout.addWidget(self.p99)
        layout.addWidget(self.longest)
        layout.addWidget(self.over)
        layout.addStretch(1)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave out P99 rather than cut it."""
        parts = (self.p99, self.longest, self.over)
        needed = sum(part.sizeHint().width() + _BETWEEN for part in parts) + _PAD
        self.p99.setVisible(needed <= self.width())

    def set_statistics(self, found: FoundStatistics | None) -> None:
        statistics = None if found is None or found.of.are_samples else found.statistics
        if statistics is None:
            self.p99.setText("")
            self.longest.set_text("", "")
            self.over.set_text("", "")
            return
        self.p99.setText(f"P99 {format_duration(statistics.p99_ns)}")
        # Without its unit: P99 before it has one, and there is no room for two.
        longest = format_duration(statistics.max_ns).removesuffix(" ms")
        self.longest.set_text(f"max {longest}", "Longest frame,")
        over = 0 if found is None else found.over
        self.over.set_text(f"{over:,} over" if over else "", "Frames over budget,")
        self._fit()


@guarded
class FrameHeader(_Header):
    """Of the frames in view: statistics, the menu with the budget, and the legend."""

    def __init__(self, theme: Theme, menu: QMenu, loops: QWidget, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._numbers = ""
        self._budget: tuple[str, ...] = ("",)
        self.title = QLabel("Frames", self)
        in_type(self.title, "strong")
        self.menu_button = QToolButton(self)
        self.menu_button.setAutoRaise(True)
        self.menu_button.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.menu_button.setMenu(menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.p50, self.p99 = QLabel(self), QLabel(self)
        self.legend = FrameLegend(theme, self)
        self._values = [
            (self._muted(name), value)
            for name, value in (
                ("P50", self.p50),
                ("P99", self.p99),
                ("max", self.longest),
                ("over", self.over),
            )
        ]
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.title)
        top.addWidget(self.menu_button)
        top.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_PAD, _ABOVE, 0, _BELOW)
        layout.setSpacing(0)
        layout.addLayout(top)
        self._loops = loops
        layout.addWidget(loops)
        self._rows = []
        for pair in self._values:
            row = QWidget(self)
            fill_row = QHBoxLayout(row)
            fill_row.setContentsMargins(0, 0, 0, 0)
            fill_row.setSpacing(0)
            for part in pair:
                fill_row.addWidget(part)
            fill_row.addStretch(1)
            layout.addWidget(row)
            self._rows.append(row)
        layout.addStretch(1)
        layout.addWidget(self.legend)
        self._fit_values()
        self.set_legend(SEVERITIES)
        self.set_statistics(None)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and self.layout() is not None:
            self._fit_values()
            self.set_legend(self.legend.entries)

    def _fit_values(self) -> None:
        """Give numbers and their names room for their letters."""
        metrics = self.fontMetrics()
        for label, value in self._values:
            label.setFixedWidth(max(_LABELS, metrics.horizontalAdvance("over") + _BETWEEN))
            value.setMinimumHeight(_line_of(self))

    def set_title(self, title: str) -> None:
        self.title.setText(title)
        self._fit_title()

    def set_budget(self, text: str, tip: str, short: str = "") -> None:
        """Say which budget it is, by the short text where there is no room for the other."""
        self._budget = text, short, ""
        self.menu_button.setAccessibleName(text)
        self.menu_button.setToolTip(tip)
        self._fit_title()

    def _fit_title(self) -> None:
        """Leave out the budget rather than cut what frames are called."""
        for text in self._budget:
            self.menu_button.setText(text)
            needed = self.title.sizeHint().width() + 4 + self.menu_button.sizeHint().width()
            if _PAD + needed <= self.width():
                return

    def set_legend(self, entries: tuple[tuple[AnyFill, str], ...]) -> None:
        self.legend.set_entries(entries)
        self._fit_legend()

    def set_statistics(self, found: FoundStatistics | None) -> None:
        statistics = None if found is None else found.statistics
        are_samples = found is not None and found.of.are_samples
        for label, value in self._values:
            label.setVisible(statistics is not None and (not are_samples or value is self.p50))
        self.p50.setText("" if statistics is None else format_duration(statistics.median_ns))
        if statistics is None or are_samples:
            self.p99.setText("")
            self.longest.set_text("", "")
            self.over.set_text("", "")
        else:
            self.p99.setText(format_duration(statistics.p99_ns))
            self.longest.set_text(format_duration(statistics.max_ns), "Longest frame in view,")
            over = 0 if found is None else found.over
            text = f"{over:,} of {statistics.count:,}"
            self.over.set_text(text if over else "", "Over budget,")
            self._values[3][0].setVisible(bool(over))
        self._numbers = "" if found is None else found.text
        self._fit_rows()
        self._update_tip()

    def _update_tip(self) -> None:
        legend = self.legend.as_tip() if self.legend.isHidden() else ""
        parts = as_html(self._numbers), legend, _HELP
        self.setToolTip("".join(f"<p>{part}</p>" for part in parts if part))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_title()
        self._fit_rows()
        self._fit_legend()

    def _fit_rows(self) -> None:
        """Leave out numbers that there is no room for, the links last; the tool tip has all."""
        beside = max(each.sizeHint().height() for each in (self.title, self.menu_button))
        beside += _ABOVE + _BELOW
        beside += 0 if self._loops.isHidden() else self._loops.sizeHint().height()
        room = max((self.height() - beside) // _line_of(self), 0)
        known = [place for place, (label, _) in enumerate(self._values) if not label.isHidden()]
        left_out = known[: len(known) - room] if room < len(known) else []
        for place, row in enumerate(self._rows):
            row.setVisible(place not in left_out)

    def _fit_legend(self) -> None:
        numbers = self.title.sizeHint().height() + 10 + _line_of(self) * len(self._values)
        needed = max(_LEGEND_FROM, self.legend.height() + 16)
        self.legend.setVisible(self.height() - numbers >= needed)
        self._update_tip()
