"""Two sides compared, in place of the frames of a session: verdict, numbers, plots and table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QProgressBar, QWidget
from typing_extensions import override

from inspector.analysis.statistics.runs import RunDifference
from inspector.analysis.statistics.time_series import StutterLimits
from inspector.display_text import as_plain
from inspector.errors import ColumnChoiceError, InspectorError
from inspector.formats.distribution_chart import ChartKind, Curve
from inspector.formats.report.comparison import COMPARISON_FORMATS, write_comparison
from inspector.tokens import SIZES

from ..kit.background import Background
from ..kit.fonts import in_type, text_scale
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, WrappedLabel
from ..kit.layouts import (
    REST,
    bar,
    choice_buttons,
    fill,
    fill_across,
    in_column,
    in_row,
    menu_button,
    splitter,
    tool_button,
)
from ..kit.prompts import ask_for_column
from ..kit.save_dialog import SaveDialog
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import single_shot
from ..kit.tile import Tile, height_below, is_low, yielding_caption
from ..plotting.distribution_view import NONE_OF_SAMPLES, DistributionView
from ..session.bridge import SessionBridge
from ..session.frame_focus import MetricOptions
from .aligned_view import AlignedView
from .difference_table import DifferenceColumn, DifferenceTable
from .sides import Side, SidesRow, Source, compare_sides, letter_of
from .verdict import first_numbers, headline

_STEPS: Final = 1000
_SIDE: Final = 16
#: Pixels between the table and what is to its left.
_HANDLE: Final = 8
_TWO: Final = 2
#: A narrower view leaves out the texts beside the numbers in the tiles.
_LEAST_WITH_ASIDES: Final = 1160
#: A narrower view has the tiles in one line, in place of what the plot says without the pointer.
_LEAST_WITH_TILES: Final = 880
_TILES: Final = ("P50", "P99", "Longest", "Over budget")
_DROPS: Final = frozenset({QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop})
_FILLED: Final = "A is filled, others are lines; where frames share a pixel, the longest is drawn"
_LINES: Final = "each run is a line; where frames share a pixel, the longest is drawn"


@guarded
class ComparisonView(QWidget):
    """Reads and compares in a background thread, and shows plots, table and verdict."""

    # The user wants to choose files: as runs of the side with this number, or -1 to add each as a
    # side
    files_wanted = Signal(int)
    left = Signal()  # The user wants to see the session again
    # The user wants a figure of these runs, to be saved in this folder: list[ComparedRun], Path
    figure_wanted = Signal(object, object)

    def __init__(self, bridge: SessionBridge, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Comparison")
        self.setAcceptDrops(True)
        self.setAutoFillBackground(True)
        self._bridge = bridge
        self._theme = theme
        self.sides: list[Side] = []  # What is compared, the first one first
        self._found: list[RunDifference] = []
        self._background = Background(self, expected=InspectorError)
        self.row = SidesRow(theme)
        self.plot = AlignedView(theme)
        self.distribution = DistributionView(theme)
        self.table = DifferenceTable(bridge.panel_choices, theme, self)
        # remarks: how sure the verdict is, and its caveats
        self.verdict, self.remarks, self.problem = WrappedLabel(), WrappedLabel(), WrappedLabel()
        # P50, P99, longest frame and frames over budget of the first two sides
        self.tiles = [Tile(name, theme, size="heading") for name in _TILES]
        self.reading = ElidedLabel()
        in_type(self.verdict, "strong")
        self._font_of_many = self.verdict.font()
        in_type(self.verdict, "heading")
        self._font_of_one = self.verdict.font()
        for muted, name in ((self.remarks, "text"), (self.reading, "small")):
            in_type(muted, name, is_muted=True)
        self.swap_button = tool_button("", "Swap A and B")
        self.swap_button.setAccessibleName("Swap A and B")
        self.add_button = tool_button("Add file …", "Compare another file with A")
        self.close_button = tool_button("", "Back to what is open (Esc)")
        self.close_button.setAccessibleName("Close the comparison")
        self.cancel_button = tool_button("Cancel", "Stop reading and comparing")
        self.progress = QProgressBar()
        self.progress.setRange(0, _STEPS)
        self.progress.setMaximumWidth(160)
        self.progress.setAccessibleName("Progress of the comparison")
        self.kind_buttons = choice_buttons(self, [each.value for each in ChartKind])
        # Whether outlying runs are left out
        self.outlier_action = QAction("Leave out outlying runs", self, checkable=True)
        self.outlier_action.setToolTip("Runs whose average is over 3 % from the median of theirs")
        # Whether the columns of captures are compared, too
        self.columns_action = QAction("Columns beside frame times", self, checkable=True)
        self.columns_action.setToolTip("Load, power, latencies and what else captures have")
        # Whether the time that stutters or is slow is compared, too
        self.stutter_action = QAction("", self, checkable=True)
        self._limits: StutterLimits | None = None
        self._lower, self._tiles = QWidget(), QWidget()
        self._beside_table, self._place_of_table = QWidget(), QWidget()
        self._table_fit = single_shot(self, self._fit_table)
        self._zones = _DropZones(self, theme)
        self._lay_out()
        self._connect()
        self._apply_theme()
        self._refresh_state()

    def _lay_out(self) -> None:
        options = QMenu(self)
        options.setToolTipsVisible(True)
        options.addActions([self.plot.stack_action, self.plot.frame_action])
        options.addActions([self.outlier_action, self.columns_action, self.stutter_action])
        options.aboutToShow.connect(self._name_limits)
        self.options_button = menu_button("Options", "How the runs are shown and counted", options)
        export = QMenu(self)
        export.addAction("Report, page or table …", self.ask_for_report)
        export.addAction("Figure …", self._ask_for_figure)
        self.export_button = menu_button("Export", "Write the comparison to a file", export)
        choosing = (self.swap_button, self.add_button)
        leaving = (self.options_button, self.export_button, self.close_button)
        for button in (*choosing, *leaving):
            button.setMinimumHeight(SIZES["control"])
        doing = (self.progress, self.cancel_button)
        across = (self.row, *choosing, REST, *doing, *leaving)
        top = in_row(*across, margins=(_SIDE, 8, _SIDE, 8), spacing=SIZES["unit"])
        texts = in_column(self.verdict, self.remarks, self.problem, REST, spacing=2)
        self._tile_row = fill_across(self._tiles, *self.tiles)
        # Tiles that have no room are left out, rather than making the window wider.
        self._tiles.setMinimumWidth(1)
        self._said = in_row((texts, 1), self._tiles, margins=(_SIDE, 0, _SIDE, 8))
        self._said.setAlignment(self._tiles, Qt.AlignmentFlag.AlignTop)
        left, right = self._beside_table, self._place_of_table
        kinds_of_it = self.kind_buttons.buttons()
        title = yielding_caption("How long frames took")
        kinds = bar((title, 1), 8, *kinds_of_it, margins=(_SIDE, 4, 4, 0))
        fill(left, kinds, (self.distribution, 1), spacing=2)
        fill(right, (self.table, 1), margins=(0, 0, _SIDE, 0))
        parts = (left, 2), (right, 3)
        self._splitter = splitter(Qt.Orientation.Horizontal, *parts, sizes=(420, 640))
        fill(self._lower, (self._splitter, 1))
        below = self.plot, *kinds_of_it, self.distribution, self.table.view
        self.row.followed_by = (*choosing, *leaving, *below)
        self._above = bar((self.reading, 1), margins=(_SIDE, 0, _SIDE, 0))
        fill(self, top, self._said, self._above, (self.plot, 1), self._lower, spacing=0)

    def _connect(self) -> None:
        self._background.progressed.connect(self._on_progress)
        self._background.done.connect(self._on_found)
        self._background.failed.connect(self._on_problem)
        self.cancel_button.clicked.connect(self.cancel)
        self.add_button.clicked.connect(partial(self.files_wanted.emit, -1))
        self.swap_button.clicked.connect(self._swap)
        self.close_button.clicked.connect(self.left)
        self.row.sides_chosen.connect(self.compare)
        self.row.runs_wanted.connect(self.files_wanted)
        for action in (self.outlier_action, self.columns_action, self.stutter_action):
            action.toggled.connect(self._start)
        self.plot.frames_read.connect(self._set_reading)
        self.kind_buttons.idClicked.connect(self._on_kind_chosen)
        self.table.view.choices.names_noted.connect(self._fit_table)
        self._bridge.budgets_changed.connect(self._refresh_runs)
        self._theme.changed.connect(self._apply_theme)

    # ---------------------------------------------------------------- what is compared

    @Slot(object)
    def compare(self, sides: Iterable[Side]) -> None:
        self.sides = list(sides)
        self._start()

    def add(self, sources: Iterable[Source], to: int = -1) -> None:
        """Compare more: as runs of a side, or each as a side of its own."""
        sources = list(sources)
        if 0 <= to < len(self.sides):
            self.sides[to].sources += sources
            self._start()
        else:
            self.compare([*self.sides, *(Side([each]) for each in sources)])

    @Slot()
    def _start(self) -> None:
        self.problem.set_text("")
        self._found = []
        work = partial(
            compare_sides,
            list(self.sides),
            without_outliers=self.outlier_action.isChecked(),
            with_columns=self.columns_action.isChecked(),
            stutter=self._stutter if self.stutter_action.isChecked() else None,
        )
        self._background.start(work)
        self._refresh_state()

    def set_limits(self, limits: StutterLimits | None) -> None:
        """Compare what stutters and what is slow by these limits; ``None`` for neither."""
        self._limits = limits
        self.stutter_action.setChecked(limits is not None)

    @property
    def _stutter(self) -> StutterLimits:
        return self._limits or MetricOptions.kept_in(self._bridge.panel_choices).stutter

    @Slot()
    def _name_limits(self) -> None:
        limits = self._stutter
        self.stutter_action.setText(
            f"Stuttering over {limits.factor:g} times, low below {limits.low_rate:g} fps"
        )

    @Slot()
    def cancel(self) -> None:
        """Stop reading and comparing; what was read stays."""
        self._background.cancel()
        self._keep_read()
        self.problem.set_text("The comparison was cancelled.")
        self._refresh_state()

    def stop(self) -> None:
        self._background.cancel()
        self.sides, self._found = [], []
        self._refresh_state()

    def _keep_read(self) -> None:
        for side in self.sides:
            side.sources = [each for each in side.sources if each.run is not None]
        self.sides = [each for each in self.sides if each.sources]

    @Slot(object)
    def _on_found(self, found: list[RunDifference]) -> None:
        self._found = found
        self._refresh_state()

    @Slot(object)
    def _on_problem(self, problem: InspectorError) -> None:
        unread = next(
            ((side, each) for side in self.sides for each in side.sources if each.run is None), None
        )
        if unread is not None:
            side, source = unread
            side.sources.remove(source)
            number = self.sides.index(side)
            if not side.sources:
                self.sides.remove(side)
            path = source.path
            if isinstance(problem, ColumnChoiceError) and path is not None:
                to = number if side.sources else -1

                def add_column(column: str) -> None:
                    self.add([Source.of_file(path, column)], to)

                ask_for_column(path, problem.columns, add_column, self)
                self._refresh_state()
                return
            if len(self.sides) > 1 or any(not each.is_read for each in self.sides):
                self._start()
        self._refresh_state()
        self.problem.set_text(str(problem))

    def finish(self) -> None:
        while self._background.is_running:
            self._background.wait()

    # ---------------------------------------------------------------- what is shown

    @Slot(float)
    def _on_progress(self, done: float) -> None:
        self.progress.setValue(round(done * _STEPS))

    def _refresh_state(self) -> None:
        is_running = self._background.is_running
        self.progress.setVisible(is_running)
        self.cancel_button.setVisible(is_running)
        self.export_button.setEnabled(bool(self._found))
        self.swap_button.setEnabled(len(self.sides) > 1)
        self.outlier_action.setEnabled(any(len(each.sources) > _TWO for each in self.sides))
        if is_running:
            self.progress.setValue(0)
        self.row.set_sides(self.sides)
        said = [headline(each, "A", letter_of(n)) for n, each in enumerate(self._found, 1)]
        self.verdict.setFont(self._font_of_one if len(said) < _TWO else self._font_of_many)
        self.verdict.set_text("\n".join(sentence for sentence, _ in said))
        sure = said[0][1] if len(said) == 1 else ""
        remarks = dict.fromkeys(each for found in self._found for each in found.remarks)
        self.remarks.set_text(" ".join(filter(None, (sure, *remarks))))
        self.verdict.setToolTip(as_plain(self.remarks.text()))
        self._fit_remarks()
        self.table.set_differences(self._found)
        self._refresh_runs()

    @Slot()
    def _refresh_runs(self) -> None:
        together = [each.run for each in self.sides if each.run is not None and each.is_read]
        runs = [(number, run) for number, side in enumerate(together) for run in side.runs]
        budgets_ms = self._bridge.budgets_ms
        text = "Reading …" if self._background.is_running else "Nothing to compare."
        numbers = [number for number, _ in runs]
        self.plot.set_runs([run for _, run in runs], budgets_ms, numbers, empty_text=text)
        are_samples = any(each.samples for each in together)
        # The letter comes first: it tells the sides apart where there is no room for names.
        curves = [
            Curve(f"{letter_of(number)} {each.name}", each.distribution)
            for number, each in enumerate(together)
            if not are_samples
        ]
        why_none = NONE_OF_SAMPLES if are_samples else text
        self.distribution.set_curves(curves, budgets_ms, empty_text=why_none)
        self._set_reading("")
        for tile in self.tiles:
            tile.set_value("")
        # The tiles compare two sides; with more, or with samples, they would mislead.
        if len(together) == _TWO and not are_samples:
            budget_ms = budgets_ms[0] if budgets_ms else None
            numbers_of = first_numbers(together[0], together[1], budget_ms)
            for tile, shown in zip(self.tiles, numbers_of, strict=False):
                tile.set_value(shown.after, shown.change, before=shown.before)
        self._fit_tiles()

    @Slot(str)
    def _set_reading(self, text: str) -> None:
        has_one = bool(self.sides) and len(self.sides[0].sources) == 1
        self.reading.set_text(text or (_FILLED if has_one else _LINES))
        is_narrow = self._is_narrow
        # In place of the tiles it is as high as they are, so that the plot does not move.
        self.reading.setMinimumHeight(self._tiles.sizeHint().height() if is_narrow else 0)
        if is_narrow:
            has_tiles = not text and bool(self.tiles[0].value.text())
            self._tiles.setVisible(has_tiles)
            self.reading.setHidden(has_tiles)

    @Slot(int)
    def _on_kind_chosen(self, number: int) -> None:
        self.distribution.set_kind(list(ChartKind)[number])

    @Slot()
    def _apply_theme(self) -> None:
        self.swap_button.setIcon(self._theme.icon("swap"))
        self.close_button.setIcon(self._theme.icon("close"))
        self.row.set_sides(self.sides)

    # ---------------------------------------------------------------- changes

    @Slot()
    def _swap(self) -> None:
        first, second, *others = self.sides
        self.compare([second, first, *others])

    @property
    def _folder(self) -> Path:
        sources = (source for side in self.sides for source in side.sources)
        return next((each.path.parent for each in sources if each.path), Path.cwd())

    @Slot()
    def _ask_for_figure(self) -> None:
        found = self._found
        self.figure_wanted.emit([found[0].before, *(each.after for each in found)], self._folder)

    @Slot()
    def ask_for_report(self) -> None:
        if not self._found:
            return
        proposed = self._folder / "comparison.html"
        dialog = SaveDialog("Save report", proposed, COMPARISON_FORMATS, self)
        dialog.file_given.connect(self.save_report)
        dialog.open()

    @Slot(object)
    def save_report(self, path: Path) -> None:
        try:
            write_comparison(self._found, path, self._theme.name, self._bridge.budgets_ms)
        except InspectorError as error:
            self.problem.set_text(str(error))
        else:
            self.problem.set_text(f"Written: {path}")

    # ---------------------------------------------------------------- events

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() in _DROPS and isinstance(event, QDropEvent):
            paths = [Path(each.toLocalFile()) for each in event.mimeData().urls()]
            files = [path for path in paths if path.is_file()]
            if files:
                event.acceptProposedAction()
                zone = self._zones.zone_at(event.position())
                if event.type() == QEvent.Type.Drop:
                    self._zones.hide()
                    self.add(map(Source.of_file, files), zone)
                else:
                    self._zones.show_zone(zone)
                return True
        if isinstance(event, QDragLeaveEvent):
            self._zones.hide()
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _fit_table(self) -> None:
        """Give the table the room that its numbers and names need, as far as there is some."""
        wanted = self.table.view.choices.wanted_width({DifferenceColumn.INTERVAL}) + 2 * _SIDE
        room = self.width() - self._beside_table.minimumSizeHint().width() - _HANDLE
        lacking = min(wanted, room) - self._place_of_table.width()
        if lacking > 0:
            beside, of_table = self._splitter.sizes()
            self._splitter.setSizes([beside - lacking, of_table + lacking])

    @property
    def _is_narrow(self) -> bool:
        return self.width() < _LEAST_WITH_TILES * text_scale(self)

    def _fit_tiles(self) -> None:
        """Put the tiles beside the verdict, or in one line below it, as many as have room."""
        is_narrow = self._is_narrow
        place = self._above if is_narrow else self._said
        if place.indexOf(self._tiles) < 0:
            place.addWidget(self._tiles, 0, Qt.AlignmentFlag.AlignTop)
            for tile in self.tiles:
                tile.set_flat(is_flat=is_narrow)
        between = self._tile_row.spacing()
        room = self.width() - 2 * _SIDE + between
        for tile in self.tiles:
            room -= tile.sizeHint().width() + between if is_narrow else 0
            tile.setVisible(bool(tile.value.text()) and room >= 0)
        self._tiles.show()
        self.reading.show()
        self._set_reading("")

    def _fit_remarks(self) -> None:
        """Leave out the caveats where the frames need the room."""
        self.remarks.setVisible(bool(self.remarks.text()) and not is_low(self))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        scale = text_scale(self)
        self._lower.setFixedHeight(height_below(self))
        self._fit_remarks()
        # Fit the table in the next turn, when the layout has placed the parts.
        self._table_fit.start()
        for tile in self.tiles:
            tile.aside.setVisible(self.width() >= _LEAST_WITH_ASIDES * scale)
        self._fit_tiles()
        self._zones.setGeometry(self.rect())


@guarded
class _DropZones(QWidget):
    """Says, while files are dragged over a comparison, what they become where they are dropped."""

    def __init__(self, view: QWidget, theme: Theme) -> None:
        super().__init__(view)
        self._theme = theme
        self._zone = -1
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def zone_at(self, place: QPointF) -> int:
        third = place.x() / max(self.width(), 1) * 3
        return int(third) if third < _TWO else -1

    def show_zone(self, zone: int) -> None:
        self._zone = zone
        self.raise_()
        self.show()
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        color = self._theme.color
        with QPainter(self) as painter:
            shade = QColor(color(ColorRole.BG))
            shade.setAlphaF(0.85)
            painter.fillRect(self.rect(), shade)
            texts = ("A, before:\nanother run", "B, after:\nanother run", "Another side")
            width = self.width() / len(texts)
            for number, (zone, text) in enumerate(zip((0, 1, -1), texts, strict=True)):
                box = QRectF(number * width, 0, width, self.height()).adjusted(8, 8, -8, -8)
                is_chosen = zone == self._zone
                painter.setPen(color(ColorRole.BLUE if is_chosen else ColorRole.EDGE))
                painter.drawRoundedRect(box, 6, 6)
                painter.setPen(color(ColorRole.TEXT))
                painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
