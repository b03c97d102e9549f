"""A window that compares captures, recordings and sessions with the first of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QInputDialog,
    QMenu,
    QProgressBar,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.statistics.runs import ComparedRun, RunDifference, differences
from inspector.display_text import one_line
from inspector.errors import ColumnChoiceError, InspectorError
from inspector.foreign.paths import is_recording_name, stored_path
from inspector.formats.distribution_chart import ChartKind, Curve
from inspector.formats.report.comparison import COMPARISON_FORMATS, write_comparison
from inspector.sessions.compared import run_of_file, run_of_session

from ..kit.background import Background
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, WrappedLabel
from ..kit.layouts import (
    bar,
    choice_buttons,
    fill,
    menu_button,
    splitter,
    tool_button,
    without_icons,
)
from ..kit.save_dialog import SaveDialog
from ..plotting.distribution_view import DistributionView
from .aligned_view import AlignedView
from .difference_table import DifferenceTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from inspector.sessions.session import Session

    from ..kit.background import Report
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_WIDEST_NAME: Final = 40
_STEPS: Final = 1000


@dataclass(eq=False, slots=True)
class Source:
    """Where a run comes from.

    Attributes:
        name: What it is called until it is read.
        make: Reads it, in any thread.
        path: Its file, if it is one.
        column: Column of frame times in the file, if one was chosen.
        run: What was read.
    """

    name: str
    make: Callable[[Report], ComparedRun]
    path: Path | None = None
    column: str | None = None
    run: ComparedRun | None = field(default=None, repr=False)

    @classmethod
    def of_file(cls, path: Path, column: str | None = None, stream: str | None = None) -> Source:
        def make(report: Report) -> ComparedRun:
            return run_of_file(path, column, stream, report)

        return cls(path.name, make, path, column)

    @classmethod
    def of_session(cls, session: Session | None) -> list[Source]:
        """Return what is open as a source; nothing if it has no frames."""
        if session is None or not len(session.timeline.frames):
            return []
        path = stored_path(session.source_label) if session.is_recorded else None
        if path is not None and is_recording_name(path):
            # A file of its own: one is only read by the thread that has opened it.
            return [cls.of_file(path)]
        name = session.title if session.is_recorded else f"{session.title} (open)"
        return [cls(name, run_of_session(session, name))]

    @property
    def title(self) -> str:
        return self.name if self.run is None else self.run.name


@guarded
class ComparisonWindow(QDialog):
    """Reads and compares beside the window's thread, and shows plots, table and verdict.

    Attributes:
        plot: The frame times over time.
        distribution: Their distributions, overlaid.
        table: What differs.
        verdict: The verdict in words, for each run but the first.
        reading: What the runs have at the pointer.
        sources: What is compared, the first one first.
    """

    #: More files are to be asked for.
    files_wanted = Signal()

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Comparison")
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.setAcceptDrops(True)
        self.resize(QSize(1240, 800).boundedTo(self.screen().availableSize()))
        self._bridge = bridge
        self._theme = theme
        self.sources: list[Source] = []
        self._found: list[RunDifference] = []
        self._background = Background(self, expected=InspectorError)
        self.plot = AlignedView(theme)
        self.distribution = DistributionView(theme)
        self.table = DifferenceTable(bridge.panel_choices, theme, self)
        self.verdict, self.problem = WrappedLabel(), WrappedLabel()
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress = QProgressBar()
        self.progress.setMaximum(_STEPS)
        self.progress.setAccessibleName("Progress of the comparison")
        self.cancel_button = tool_button("Cancel", "Stop reading and comparing")
        self.add_button = tool_button("Add file …", "Compare with another capture or recording")
        self.swap_button = tool_button("Swap", "Swap A and B: what was before, and what after")
        self.report_button = tool_button(
            "Save report …",
            "Write differences and verdict to one file: HTML or PDF with plots, or Markdown",
        )
        self.stack_buttons = choice_buttons(self, ("Overlaid", "Stacked"))
        self.axis_buttons = choice_buttons(self, ("Time", "Frames"))
        self.kind_buttons = choice_buttons(self, [each.value for each in ChartKind])
        self.fit_button = tool_button("Fit", "Show all frames (F)")
        self.reading = ElidedLabel()
        self._names = QHBoxLayout()
        self._lay_out()
        self._connect()
        self._show_state()

    def _lay_out(self) -> None:
        top = bar(self._names, self.swap_button, self.add_button)
        top.addStretch(1)
        top.addWidget(self.progress)
        top.addWidget(self.cancel_button)
        top.addWidget(self.report_button)
        for label in (self.verdict, self.problem):
            label.setContentsMargins(8, 2, 8, 2)
        upper, left = QWidget(), QWidget()
        how = bar(
            *self.stack_buttons.buttons(), 10, *self.axis_buttons.buttons(), 10, self.fit_button, 10
        )
        how.addWidget(self.reading, 1)
        fill(upper, how, (self.plot, 1), spacing=2)
        kinds = bar(*self.kind_buttons.buttons())
        kinds.addStretch(1)
        fill(left, kinds, (self.distribution, 1), spacing=2)
        parts = (left, 0), (self.table, 0)
        lower = splitter(Qt.Orientation.Horizontal, *parts, sizes=(420, 820))
        plots = splitter(Qt.Orientation.Vertical, (upper, 0), (lower, 0), sizes=(300, 360))
        fill(self, top, self.verdict, self.problem, (plots, 1))

    def _connect(self) -> None:
        self._background.progressed.connect(self._show_progress)
        self._background.done.connect(self._take)
        self._background.failed.connect(self._take_problem)
        self.cancel_button.clicked.connect(self.cancel)
        self.add_button.clicked.connect(self.files_wanted)
        self.swap_button.clicked.connect(self._swap)
        self.report_button.clicked.connect(self._ask_for_report)
        self.fit_button.clicked.connect(self.plot.fit)
        self.plot.frames_read.connect(self.reading.show_text)
        self.stack_buttons.idClicked.connect(self._arrange)
        self.axis_buttons.idClicked.connect(self._arrange)
        self.kind_buttons.idClicked.connect(self._show_kind)
        self._bridge.budgets_changed.connect(self._show_runs)

    # ---------------------------------------------------------------- what is compared

    def compare(self, sources: Iterable[Source]) -> None:
        """Compare these, the others with the first."""
        self.sources = list(sources)
        self._start()

    def add(self, sources: Iterable[Source]) -> None:
        self.compare([*self.sources, *sources])

    def _start(self) -> None:
        self.problem.show_text("")
        self._found = []
        sources = list(self.sources)
        self._background.start(partial(_work, sources))
        self._show_state()

    @Slot()
    def cancel(self) -> None:
        """Stop reading and comparing; what was read stays."""
        self._background.cancel()
        self.sources = [each for each in self.sources if each.run is not None]
        self.problem.show_text("The comparison was cancelled.")
        self._show_state()

    @Slot(object)
    def _take(self, found: list[RunDifference]) -> None:
        self._found = found
        self._show_state()

    @Slot(object)
    def _take_problem(self, problem: InspectorError) -> None:
        unread = next((each for each in self.sources if each.run is None), None)
        if unread is None:
            return
        self.sources.remove(unread)
        self._show_state()
        if isinstance(problem, ColumnChoiceError) and unread.path is not None:
            self._ask_for_column(unread.path, problem.columns)
        elif any(each.run is None for each in self.sources) or len(self.sources) > 1:
            self._start()
        if not isinstance(problem, ColumnChoiceError):
            self.problem.show_text(str(problem))

    def _ask_for_column(self, path: Path, columns: tuple[str, ...]) -> None:
        dialog = QInputDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setObjectName("column_choice")
        dialog.setWindowTitle("Column of frame times")
        dialog.setLabelText(f"Which column of {path.name} has the frame times, in milliseconds?")
        dialog.setComboBoxItems([one_line(column) for column in columns])
        dialog.textValueSelected.connect(lambda column: self.add([Source.of_file(path, column)]))
        without_icons(dialog)
        dialog.open()

    def finish(self) -> None:
        while self._background.is_running:
            self._background.wait()

    # ---------------------------------------------------------------- what is shown

    @Slot(float)
    def _show_progress(self, done: float) -> None:
        self.progress.setValue(round(done * _STEPS))

    def _show_state(self) -> None:
        is_running = self._background.is_running
        self.progress.setVisible(is_running)
        self.cancel_button.setVisible(is_running)
        self.report_button.setEnabled(bool(self._found))
        self.swap_button.setEnabled(len(self.sources) > 1)
        if is_running:
            self.progress.setValue(0)
        self._show_names()
        self.verdict.show_text("\n".join(each.sentence for each in self._found))
        self.table.show_differences(self._found)
        self._show_runs()

    def _show_names(self) -> None:
        while (item := self._names.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for number, source in enumerate(self.sources):
            self._names.addWidget(self._name_button(number, source))

    def _name_button(self, number: int, source: Source) -> QWidget:
        menu = QMenu()
        first = menu.addAction("Compare the others with this", partial(self._put_first, source))
        first.setEnabled(number > 0)
        menu.addAction("Remove", partial(self._remove, source))
        run, path = source.run, source.path
        if run is not None and path is not None and len(run.streams) > 1:
            streams = menu.addMenu("Stream")
            for name in run.streams:
                choose = partial(self._choose_stream, source, name)
                action = streams.addAction(one_line(name).replace("&", "&&"), choose)
                action.setCheckable(True)
                action.setChecked(name == run.stream)
        place = _place_of(number, len(self.sources))
        title = source.title
        shown = title if len(title) <= _WIDEST_NAME else f"{title[: _WIDEST_NAME - 1]}…"
        tip = "\n".join((title, *(() if run is None else run.notes)))
        button = menu_button(f"{place}: {one_line(shown)} ".replace("&", "&&"), tip, menu)
        # Goes with the button: it holds all that was read of the source.
        menu.setParent(button, menu.windowFlags())
        return button

    @Slot()
    def _show_runs(self) -> None:
        runs = [each.run for each in self.sources if each.run is not None]
        budgets_ms = self._bridge.budgets_ms
        text = "Reading …" if self._background.is_running else "Nothing to compare."
        self.plot.show_runs(runs, budgets_ms, empty_text=text)
        curves = [Curve(each.name, each.distribution) for each in runs]
        self.distribution.show_curves(curves, budgets_ms, empty_text=text)

    @Slot()
    def _arrange(self) -> None:
        self.plot.arrange(
            is_stacked=self.stack_buttons.checkedId() == 1,
            by_frame=self.axis_buttons.checkedId() == 1,
        )

    @Slot(int)
    def _show_kind(self, number: int) -> None:
        self.distribution.show_kind(list(ChartKind)[number])

    # ---------------------------------------------------------------- changes

    @Slot()
    def _swap(self) -> None:
        first, second, *others = self.sources
        self.compare([second, first, *others])

    def _put_first(self, source: Source) -> None:
        self.compare([source, *(each for each in self.sources if each is not source)])

    def _remove(self, source: Source) -> None:
        self.compare([each for each in self.sources if each is not source])

    def _choose_stream(self, source: Source, stream: str) -> None:
        assert source.path is not None, "only files have streams"
        other = Source.of_file(source.path, source.column, stream)
        self.compare([other if each is source else each for each in self.sources])

    # ---------------------------------------------------------------- files

    @Slot()
    def _ask_for_report(self) -> None:
        folder = next((each.path.parent for each in self.sources if each.path), Path.cwd())
        proposed = folder / "comparison.html"
        dialog = SaveDialog("Save report", proposed, COMPARISON_FORMATS, self)
        dialog.file_given.connect(self.save_report)
        dialog.open()

    @Slot(object)
    def save_report(self, path: Path) -> None:
        try:
            write_comparison(self._found, path, self._theme.name, self._bridge.budgets_ms)
        except InspectorError as error:
            self.problem.show_text(str(error))
        else:
            self.problem.show_text(f"Written: {path}")

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.DragEnter, QEvent.Type.Drop):
            assert isinstance(event, QDropEvent)
            paths = [Path(each.toLocalFile()) for each in event.mimeData().urls()]
            files = [path for path in paths if path.is_file()]
            if files:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.add(map(Source.of_file, files))
                return True
        return super().event(event)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self._background.cancel()
        super().closeEvent(event)


def _place_of(number: int, count: int) -> str:
    """Return what the place of a run among others is called: A is before, of two B is after."""
    letter = ascii_uppercase[number] if number < len(ascii_uppercase) else f"{number + 1}"
    if number == 0:
        return f"{letter}, before"
    return f"{letter}, after" if count == 2 else letter  # noqa: PLR2004 - before and after


def _work(sources: list[Source], report: Report) -> list[RunDifference]:
    """Read what is not read yet, and compare."""
    unread = [each for each in sources if each.run is None]
    # Reading a file takes about as long as comparing its frames.
    parts = len(unread) + 1
    for number, source in enumerate(unread):
        source.run = source.make(partial(_report_part, report, number, parts))
    runs = [each.run for each in sources if each.run is not None]
    if len(runs) < 2:  # noqa: PLR2004 - the first, and one to compare with it
        return []
    return differences(runs, partial(_report_part, report, len(unread), parts))


def _report_part(report: Report, number: int, parts: int, done: float) -> None:
    report((number + done) / parts)
