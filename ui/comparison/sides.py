"""The sides of a comparison, each with one run or several, and the row that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from inspector.analysis.statistics.runs import ComparedRun, RunDifference, differences
from inspector.analysis.statistics.time_series import StutterLimits
from inspector.display_text import one_line
from inspector.foreign.paths import is_recording_name, stored_path
from inspector.formats.options import curve_stroke
from inspector.sessions.compared import run_of_file, run_of_session, told_apart
from inspector.sessions.session import Session
from inspector.tokens import SIZES

from ..kit.guards import guarded
from ..kit.icons import ICON_SIZE, icon_size
from ..kit.layouts import fill_across, menu_button
from ..kit.theme import Theme

if TYPE_CHECKING:
    from ..kit.background import Report

_WIDEST_NAME: Final = 32
_INSET: Final = 3
_LINE: Final = 2.0
_TWO: Final = 2


@dataclass(eq=False, slots=True)
class Source:
    name: str  # What it is called until it is read
    make: Callable[[Report], ComparedRun]  # Reads it, in any thread
    path: Path | None = None  # Its file, if it is one
    column: str | None = None  # Column of frame times in the file, if one was chosen
    run: ComparedRun | None = field(default=None, repr=False)  # What was read

    @classmethod
    def of_file(cls, path: Path, column: str | None = None, stream: str | None = None) -> Source:
        def make(report: Report) -> ComparedRun:
            return run_of_file(path, column, stream, report)

        return cls(path.name, make, path, column)

    @classmethod
    def of_session(cls, session: Session | None) -> list[Source]:
        if session is None or not len(session.timeline.frames):
            return []
        path = stored_path(session.source_label) if session.is_recorded else None
        if path is not None and is_recording_name(path):
            # Open the recording again: only the thread that opened a file can read it.
            return [cls.of_file(path)]
        name = session.title if session.is_recorded else f"{session.title} (open)"
        return [cls(name, run_of_session(session, name))]

    @property
    def title(self) -> str:
        return self.name if self.run is None else self.run.name


@dataclass(eq=False, slots=True)
class Side:
    """One run, or several of the same version."""

    sources: list[Source]  # Where they come from
    # All sources as one run, once they have been read.
    run: ComparedRun | None = field(default=None, repr=False)

    @property
    def title(self) -> str:
        first, *others = self.sources
        return f"{first.title} and {len(others)} more" if others else first.title

    @property
    def is_read(self) -> bool:
        return all(each.run is not None for each in self.sources)


def compare_sides(
    sides: list[Side],
    report: Report,
    *,
    without_outliers: bool = False,
    with_columns: bool = False,
    stutter: StutterLimits | None = None,
) -> list[RunDifference]:
    """Read what is not read yet, and compare each side with the first."""
    unread = [source for side in sides for source in side.sources if source.run is None]
    # For the progress, the comparison counts like one more file to read.
    parts = len(unread) + 1
    for number, source in enumerate(unread):
        source.run = source.make(partial(_report_part, report, number, parts))
    sources = [source for side in sides for source in side.sources]
    read = [source.run for source in sources if source.run is not None]
    named = told_apart(read, [(each.path, each.column) for each in sources])
    for source, run in zip(sources, named, strict=True):
        source.run = run
    for side in sides:
        runs = [each.run for each in side.sources if each.run is not None]
        side.run = runs[0]
        if len(runs) > 1:
            side.run = ComparedRun.pooled(side.title, runs, without_outliers=without_outliers)
    together = [each.run for each in sides if each.run is not None]
    if len(together) < _TWO:
        return []
    tell = partial(_report_part, report, len(unread), parts)
    return differences(together, tell, with_columns=with_columns, stutter=stutter)


def _report_part(report: Report, number: int, parts: int, done: float) -> None:
    report((number + done) / parts)


def letter_of(number: int) -> str:
    return ascii_uppercase[number] if number < len(ascii_uppercase) else f"{number + 1}"


@guarded
class SidesRow(QWidget):
    """Names the sides, each a button with a menu of what can be done with it."""

    sides_chosen = Signal(object)  # list[Side]: the user wants to compare other sides
    runs_wanted = Signal(int)  # The user wants to add runs to a side; its number

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._sides: list[Side] = []
        self._layout = fill_across(self, spacing=SIZES["unit"] * 2)
        self.followed_by: Sequence[QWidget] = ()  # To what Tab goes from the last side

    @property
    def buttons(self) -> list[QToolButton]:
        items = map(self._layout.itemAt, range(self._layout.count()))
        widgets = [item.widget() for item in items if item is not None]
        return [each for each in widgets if isinstance(each, QToolButton)]

    def set_sides(self, sides: Iterable[Side]) -> None:
        self._sides = list(sides)
        while (item := self._layout.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for number, side in enumerate(self._sides):
            self._layout.addWidget(self._button(number, side))
        for former, stop in pairwise((*self.buttons, *self.followed_by)):
            self.setTabOrder(former, stop)

    def _button(self, number: int, side: Side) -> QWidget:
        title = side.title
        shown = title if len(title) <= _WIDEST_NAME else f"{title[: _WIDEST_NAME - 1]}…"
        notes = (note for each in side.sources if each.run for note in each.run.notes)
        tip = "\n".join((*(each.title for each in side.sources), *notes))
        menu = self._menu(number, side)
        text = f"{letter_of(number)}  {one_line(shown)} ".replace("&", "&&")
        button = menu_button(text, tip, menu)
        button.setToolButtonStyle(button.toolButtonStyle().ToolButtonTextBesideIcon)
        button.setIcon(QIcon(self._sample(number)))
        button.setMinimumHeight(SIZES["control"])
        # Deleted with the button: the menu keeps everything alive that was read of the side.
        menu.setParent(button, menu.windowFlags())
        return button

    def _sample(self, number: int) -> QPixmap:
        """Return what a side looks like in the plots: the first is filled, others are lines."""
        stroke = curve_stroke(number, self._theme.name, _LINE)
        side = icon_size()
        sample = QPixmap(side, side)
        sample.fill(Qt.GlobalColor.transparent)
        pen = QPen(QColor(stroke.color), stroke.width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if stroke.dash:
            pen.setDashPattern([each / _LINE for each in stroke.dash])
        with QPainter(sample) as painter:
            painter.scale(side / ICON_SIZE, side / ICON_SIZE)
            painter.setPen(pen)
            if number:
                painter.drawLine(_INSET, ICON_SIZE // 2, ICON_SIZE - _INSET, ICON_SIZE // 2)
            else:
                end = ICON_SIZE - 2 * _INSET
                painter.fillRect(_INSET, _INSET, end, end, pen.color())
        return sample

    def _menu(self, number: int, side: Side) -> QMenu:
        menu, chosen = QMenu(), self.sides_chosen.emit
        others = [each for each in self._sides if each is not side]
        menu.addAction("Add runs of this side …", partial(self.runs_wanted.emit, number))
        first = menu.addAction("Compare the others with this", partial(chosen, [side, *others]))
        first.setEnabled(number > 0)
        menu.addAction("Remove", partial(chosen, others))
        if len(side.sources) > 1:
            runs = menu.addMenu("Remove a run")
            for source in side.sources:
                left = Side([each for each in side.sources if each is not source])
                name = one_line(source.title).replace("&", "&&")
                runs.addAction(name, partial(chosen, self._with(side, left)))
            return menu
        (source,) = side.sources
        run, path = source.run, source.path
        if run is not None and path is not None and len(run.streams) > 1:
            streams = menu.addMenu("Stream")
            for name in run.streams:
                other = Side([Source.of_file(path, source.column, name)])
                choose = partial(chosen, self._with(side, other))
                action = streams.addAction(one_line(name).replace("&", "&&"), choose)
                action.setCheckable(True)
                action.setChecked(name == run.stream)
        return menu

    def _with(self, side: Side, other: Side) -> list[Side]:
        return [other if each is side else each for each in self._sides]
