"""The export dialog: format, suggested file name, and a preview of exactly what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from msgspec import Struct, structs
from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from inspector.analysis.intervention_list import Intervention
from inspector.analysis.markers import Marker
from inspector.analysis.statistics.time_series import FrameFacts
from inspector.display_text import counted
from inspector.errors import ExportError
from inspector.events.frame_history import FrameHistory
from inspector.extensions import ExtensionError
from inspector.formats.arrangement.figures import FIGURE_FORMATS, FigureData, Shown, figure
from inspector.formats.arrangement.pages import frame_pages, timeline_picture
from inspector.formats.drawing.display_list import DisplayList
from inspector.formats.export import (
    EXPORTERS,
    PAGE,
    TIMELINE_EXPORTERS,
    TRACE_EXPORTERS,
    AnyExporter,
    export_frames,
    exporter_for,
    exporters,
)
from inspector.formats.file_formats import write_file
from inspector.formats.frame_times import (
    CAPTURED,
    Beside,
    FrameTimes,
    Provenance,
    SessionPart,
    parse_range,
)
from inspector.formats.options import (
    FIGURES,
    LARGEST_SIDE_PT,
    PRESETS,
    SMALLEST_HEIGHT_PT,
    SMALLEST_WIDTH_PT,
    ExportOptions,
    FigureName,
    budgets_to_text,
    parse_budgets_ms,
)
from inspector.tokens import ThemeName
from inspector.vocabulary import Measure

from ..kit.labels import plain_label
from ..kit.layouts import REST, button_box, fill, fill_dialog, in_row
from ..kit.range_note import RangeNote
from ..kit.save_dialog import SaveDialog, file_stem
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import single_shot
from .export_preview import ExportPreview

if TYPE_CHECKING:
    from inspector.formats.traces.session_trace import Events


#: Changes within this time share one preview.
_PREVIEW_DELAY_MS: Final = 120
_POINTS_PER_INCH: Final = 72
_PNG: Final = ".png"
#: The id of the range that is typed in.
_TYPED: Final = "typed"
_FRAME_TIMES: Final = "frame times"
#: Formats that contain more than the graph.
_REPORTS: Final = ("HTML", "PDF report")
#: Formats in which the graph may be a figure of another kind.
_GRAPHS: Final = ("PNG", "SVG", "PDF")
_FIGURE_TITLES: Final[Mapping[FigureName, str]] = {
    "frames": "Each frame",
    "percentiles": "Share of frames up to each time",
    "distribution": "Distribution",
    "l-shape": "Upper percentiles (L-shape)",
}
_MEASURE_TITLES: Final[Mapping[Measure, str]] = {
    "interval": "Frame time (interval)",
    "busy": "Busy time in callbacks",
    "delta": "Delta given to callbacks",
}
_THEME_TITLES: Final[Mapping[ThemeName, str]] = {"light": "Light", "dark": "Dark"}
_RESOLUTIONS: Final = (72.0, 96.0, 144.0, 192.0, 300.0, 600.0)


class FrameRange(Struct, frozen=True):
    id: str  # Internal name
    title: str
    start: int  # The first frame
    stop: int  # The frame after the last


class ExportSource(Struct, frozen=True):
    history: FrameHistory  # Every frame of the session
    ranges: tuple[FrameRange, ...]  # The ranges to choose from, all frames first
    provenance: Provenance  # Provenance of the frames
    interventions: tuple[Intervention, ...] = ()  # Interventions of the session
    markers: tuple[Marker, ...] = ()  # Bookmarks, notes, named ranges and marks
    # Events of the session, from which traces are written; None if there are none.
    events: Events | None = None
    samples: str = ""  # Why the frames are samples; empty if they are all
    facts: FrameFacts | None = None  # What a capture says of the frames besides; None for nothing
    # What is not known of frames: delta, busy, both or nothing.
    unknown: frozenset[str] = frozenset()
    beside: Beside | None = None  # The columns of a capture beside the frame times; None for none
    figures: tuple[Shown, ...] = ()  # What is drawn in one figure instead; empty for nothing


class ExportChoices(Struct, frozen=True):
    options: ExportOptions  # Options of the graph
    folder: Path  # Suggested folder
    format_name: str = "PNG"  # The format
    range_id: str = "all"  # The range, if it exists
    preset: str = ""  # The use that gives the size, empty for none
    is_side_by_side: bool = False  # Whether a figure of several has a column for each


class ExportDialog(QDialog):
    """Selects range, format and options, and writes the file.

    The frames are those at the time of opening, so preview and file agree even while the scene
    runs on.
    """

    exported = Signal(object)  # Path: a file was written; its path

    def __init__(
        self,
        source: ExportSource,
        choices: ExportChoices,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        frames = FrameTimes.from_history(source.history)
        self._frames = structs.replace(
            frames,
            interventions=source.interventions,
            markers=source.markers,
            samples=source.samples,
            facts=source.facts,
            beside=source.beside,
        )
        self._provenance = source.provenance
        self._events = source.events
        self._figures = source.figures
        if self._figures:
            self._exporters: tuple[AnyExporter, ...] = FIGURE_FORMATS
        else:
            self._exporters = exporters() if source.events else tuple(EXPORTERS)
        self._folder = choices.folder
        self._ranges = source.ranges
        self.problem = ""  # What is wrong with the choices, or why writing failed; otherwise empty
        self._inspector_budget_ms = choices.options.inspector_budget_ms
        self._make_fields(choices.options, source.unknown)
        self._range_box.setCurrentIndex(max(0, self._range_box.findData(choices.range_id)))
        self._use_box.setCurrentIndex(max(0, self._use_box.findData(choices.preset)))
        self._side_by_side_box.setChecked(choices.is_side_by_side)
        self._use_size()
        self._format_box.setCurrentIndex(max(0, self._format_box.findData(choices.format_name)))
        self.preview = ExportPreview()
        self._note = plain_label(wraps=True)
        self._problem_palette = QPalette(self._note.palette())
        self._problem_palette.setColor(QPalette.ColorRole.WindowText, theme.color(ColorRole.RED))
        button = QDialogButtonBox.StandardButton
        self._buttons = button_box(button.Save | button.Close)
        self.save_button = self._buttons.button(button.Save)
        self.save_button.setText("Export …")
        self._buttons.accepted.connect(self.ask_for_file)
        self._buttons.rejected.connect(self.reject)
        self._lay_out()
        self._pause = single_shot(self, self.refresh_preview, _PREVIEW_DELAY_MS)
        self._connect()
        self.resize(1020, 560)
        self.refresh_preview()

    # ---------------------------------------------------------------- what is chosen

    @property
    def format_name(self) -> str:
        return self._exporter.format

    @property
    def preset(self) -> str:
        """The use that gives the size, empty for none."""
        return str(self._use_box.currentData())

    @property
    def range_id(self) -> str:
        return str(self._range_box.currentData())

    @property
    def options(self) -> ExportOptions:
        """The options of the graph; raises ValueError, which says why, for an invalid input."""
        preset = PRESETS.get(self.preset)
        options = ExportOptions(
            title=self._title_line.text().strip(),
            measure=self._measure_box.currentData(),
            budgets_ms=parse_budgets_ms(self._budgets_line.text()),
            stacked=self._stacked_box.isChecked(),
            theme=self._theme_box.currentData(),
            width_pt=self._width_box.value(),
            height_pt=self._height_box.value(),
            dots_per_inch=self._resolution_box.currentData(),
            figure=self._figure_box.currentData(),
            interventions=self.interventions_box.isChecked(),
            markers=self.markers_box.isChecked(),
            inspector_budget_ms=self._inspector_budget_ms,
        )
        return preset.applied_to(options) if preset else options

    @property
    def is_side_by_side(self) -> bool:
        return self._side_by_side_box.isChecked()

    @property
    def chosen_frames(self) -> FrameTimes:
        return self._figures[0].frames if self._figures else self._part.of(self._frames)

    @property
    def _figure_data(self) -> FigureData:
        return FigureData(self._figures, self.is_side_by_side)

    @property
    def _part(self) -> SessionPart:
        """The selected range, by frames or by time; raises ExportError if none was typed."""
        first = int(self._frames.index[0]) if len(self._frames) else 0
        if self.range_id == _TYPED:
            part = parse_range(self.part_line.text() or "all")
            if part.is_time:
                return part
            start, stop = part.start, part.stop
        else:
            chosen = self._ranges[max(0, self._range_box.currentIndex())]
            start, stop = chosen.start, chosen.stop
        return SessionPart(max(0, start - first), None if stop is None else max(0, stop - first))

    @property
    def _exporter(self) -> AnyExporter:
        return self._exporters[max(0, self._format_box.currentIndex())]

    @property
    def _chosen_events(self) -> Events | None:
        if self._events is None:
            return None
        start_ns, end_ns = self._part.instants(self._frames)
        end_ns = self._events.end_ns if end_ns is None else end_ns
        return structs.replace(self._events, start_ns=start_ns, end_ns=end_ns)

    # ---------------------------------------------------------------- writing

    @Slot()
    def ask_for_file(self) -> None:
        exporter = self._exporter
        kinds = {exporter.suffix: f"{exporter.format}, {exporter.description}"}
        dialog = SaveDialog(self.windowTitle(), self._suggested_path(), kinds, self)
        dialog.file_given.connect(self.export_to)
        dialog.open()

    @Slot(object)
    def export_to(self, path: Path) -> bool:
        """Write the selected frames in the format of the name; return whether it succeeded.

        An error is shown in the dialog, which stays open.
        """
        try:
            options = self.options
        except ValueError as error:
            self._refuse_choice(str(error))
            return False
        try:
            if self._figures:
                write_file(self._figure_data, self._provenance, options, path, FIGURE_FORMATS)
            else:
                export_frames(
                    self.chosen_frames,
                    self._provenance,
                    options,
                    path,
                    events=self._chosen_events,
                    exporter=exporter_for(path, (self._exporter,)),
                )
        except (ExportError, ExtensionError, ValueError) as error:
            # Another file, or a second try, may succeed: the button stays enabled.
            self._show_problem(str(error))
            return False
        self._folder = path.parent
        self.accept()
        self.exported.emit(path)
        return True

    def _suggested_path(self) -> Path:
        about = self._provenance
        # What a capture has as its scene is the name of its file.
        name = Path(about.scene).stem if about.source == CAPTURED else about.scene
        scene = file_stem(name, "frame-times")
        what = "-frame-times" if self._contents == _FRAME_TIMES else ""
        return self._folder / f"{scene}{what}{self._exporter.suffix}"

    @property
    def _contents(self) -> str:
        exporter = self._exporter
        if self._figures:
            return "a figure"
        if exporter is PAGE:
            return "a page"
        if exporter in TIMELINE_EXPORTERS:
            return "the timeline"
        if exporter in TRACE_EXPORTERS:
            return "events"
        return "a report" if exporter.format in _REPORTS else _FRAME_TIMES

    # ---------------------------------------------------------------- preview

    @Slot()
    def refresh_preview(self) -> None:
        self._pause.stop()
        exporter = self._exporter
        self.setWindowTitle(f"Export {self._contents}")
        try:
            frames, about = self.chosen_frames, self._provenance
            self._enable_fields(frames, exporter)
            options = self.options
            more: list[DisplayList] = []
            if exporter is PAGE:
                self.preview.set_message(self._page_text(frames))
                self._show_note(f"{counted(len(frames), 'frame')}. It opens in any browser.")
                return
            if self._figures:
                picture = figure(self._figure_data, about, options)
            elif exporter in TIMELINE_EXPORTERS:
                picture = timeline_picture((frames, self._chosen_events), about, options)
            else:
                picture, *more = frame_pages(frames, about, options)
        except (ExportError, ValueError) as error:
            self.preview.set_message("No preview")
            self._refuse_choice(str(error))
            return
        self.preview.set_picture(picture)
        if exporter.missing:
            self._refuse_choice(exporter.missing)
        else:
            self._show_note(self._summary(exporter, picture, len(more)))

    def _page_text(self, frames: FrameTimes) -> str:
        """Return what an HTML page contains, as there is no preview of it."""
        events = self._chosen_events
        parts = [counted(len(frames), "frame")]
        if events is not None:
            parts.append("lanes of clocks, timers and machines on the same axis")
            if events.pictures is not None and len(frames):
                has_one = events.pictures.at(int(frames.index[-1])) is not None
                parts += ["pictures of the scene"] if has_one else []
            parts.append("what is pending at any instant, and why")
            parts.append("findings, late calls, marks and notes")
        listed = "\n".join(f"· {each}" for each in parts)
        head = "A page to explore: zoom, keys, search and links to an instant."
        return f"{head}\n\n{listed}\n\nOne HTML file, which loads nothing. There is no preview."

    def _summary(self, exporter: AnyExporter, picture: DisplayList, more: int) -> str:
        frames = counted(len(self.chosen_frames), "frame")
        if self._figures:
            frames = " and ".join(counted(len(each.frames), "frame") for each in self._figures)
        pages = ""
        if more:
            where = "in it" if exporter.format == "PDF" else "beside it"
            told = "a page of their own" if more == 1 else f"{more} pages of their own"
            pages = f" All interventions are on {told} {where}."
        if exporter in TRACE_EXPORTERS:
            return f"All events of {frames}. The picture shows the frames among them."
        if exporter.format in _REPORTS:
            return f"{frames}. The picture shows the graph in the report."
        if not exporter.is_picture:
            return f"{frames}. The picture shows the same data."
        size = f"{picture.width:,.0f} × {picture.height:,.0f} points"
        options = self.options
        if picture.height > options.height_pt:
            pages = f" Its lanes need more height than was chosen.{pages}"
        if exporter.suffix.endswith(_PNG):
            scale = options.dots_per_inch / _POINTS_PER_INCH
            width, height = round(picture.width * scale), round(picture.height * scale)
            return f"{frames}, {size}, {width:,} × {height:,} pixels.{pages}"
        return f"{frames}, {size}, vector graphics, sharp at any size.{pages}"

    def _show_note(self, text: str) -> None:
        self.problem = ""
        self._note.setPalette(self.palette())
        self._note.setText(text)
        self.save_button.setEnabled(bool(len(self.chosen_frames)))

    def _show_problem(self, text: str) -> None:
        self.problem = text
        self._note.setPalette(self._problem_palette)
        self._note.setText(f"✖ {text[:1].upper()}{text[1:]}")

    def _refuse_choice(self, text: str) -> None:
        self._show_problem(text)
        self.save_button.setEnabled(False)

    # ---------------------------------------------------------------- building

    def _make_fields(self, options: ExportOptions, unknown: frozenset[str]) -> None:
        self._range_box = _box(
            "Frames",
            [
                *((f"{each.title} ({_count(each)})", each.id) for each in self._ranges),
                ("Range …", _TYPED),
            ],
        )
        self.part_line = QLineEdit()
        self.part_line.setAccessibleName("Range")
        self.part_line.setPlaceholderText("120:600 or 2s:5.5s")
        self.part_line.setToolTip(
            "Numbers of frames, or session time: 120:600, 120:, 2s:5.5s, 1:00..1:30"
        )
        self._format_box = _box(
            "Format",
            [(f"{each.format}: {each.description}", each.format) for each in self._exporters],
        )
        measures: tuple[Measure, ...] = get_args(Measure)
        known = [each for each in measures if each not in unknown]
        self._measure_box = _box("Measure", [(_MEASURE_TITLES[each], each) for each in known])
        self._measure_box.setCurrentIndex(max(0, self._measure_box.findData(options.measure)))
        self._theme_box = _box("Colours", [(title, each) for each, title in _THEME_TITLES.items()])
        self._theme_box.setCurrentIndex(self._theme_box.findData(options.theme))
        self._figure_box = _box("Graph", [(_FIGURE_TITLES[each], each) for each in FIGURES])
        self._figure_box.setCurrentIndex(self._figure_box.findData(options.figure))
        uses = [
            (f"{each.title}, {each.width} × {each.height}", key) for key, each in PRESETS.items()
        ]
        self._use_box = _box("Use", [("Any, of this size", ""), *uses])
        self._use_box.setToolTip("The size in pixels, with text that can be read there")
        self._title_line = QLineEdit(options.title)
        self._title_line.setPlaceholderText(self._provenance.scene or "Frame times")
        self._title_line.setAccessibleName("Title")
        self._budgets_line = QLineEdit(budgets_to_text(options.budgets_ms))
        self._budgets_line.setAccessibleName("Budgets")
        self._budgets_line.setPlaceholderText("none")
        self._budgets_line.setToolTip(
            "Frame rates or milliseconds, separated by spaces: 120fps 16.7ms\n"
            "A number without a unit is milliseconds."
        )
        self._stacked_box = QCheckBox("Stack the phases of each frame")
        self._stacked_box.setChecked(options.stacked and not unknown)
        self._has_phases = not unknown
        self._side_by_side_box = QCheckBox("Side by side, instead of over each other")
        # Whether interventions are exported; disabled without any
        self.interventions_box = QCheckBox("Interventions and breakpoint hits")
        self.interventions_box.setToolTip(
            "Interventions: numbered markers and a list in the picture, a column in the CSV, a "
            "list in the JSON"
        )
        self.interventions_box.setChecked(options.interventions)
        # Whether annotations and marks are exported; disabled without any
        self.markers_box = QCheckBox("Bookmarks, notes, ranges and marks")
        self.markers_box.setToolTip("Your annotations of the session, and the marks of the scene")
        self.markers_box.setChecked(options.markers)
        self._width_box = _size_box("Width", SMALLEST_WIDTH_PT, options.width_pt)
        self._height_box = _size_box("Height", SMALLEST_HEIGHT_PT, options.height_pt)
        self._resolution_box = _box("Resolution", [(f"{dpi:g} dpi", dpi) for dpi in _RESOLUTIONS])
        self._choose_resolution(options.dots_per_inch)

    def _lay_out(self) -> None:
        size = in_row((self._width_box, 1), QLabel("×"), (self._height_box, 1))
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("&Frames", self._range_box)
        form.addRow("", self.part_line)
        form.setRowVisible(self.part_line, False)
        self._form = form
        form.addRow("F&ormat", self._format_box)
        form.addRow("&Graph", self._figure_box)
        form.addRow("&Measure", self._measure_box)
        form.addRow("&Title", self._title_line)
        form.addRow("&Budgets, fps or ms", self._budgets_line)
        form.addRow("", self._stacked_box)
        form.addRow("", self.interventions_box)
        form.addRow("", self.markers_box)
        form.addRow("", self._side_by_side_box)
        of_frames = (self._range_box, self._measure_box, self._stacked_box)
        for row in (*of_frames, self.interventions_box, self.markers_box):
            form.setRowVisible(row, not self._figures)
        form.setRowVisible(self._side_by_side_box, bool(self._figures))
        form.addRow("&Colours", self._theme_box)
        form.addRow("&Use", self._use_box)
        size_label = QLabel("&Size, points")
        size_label.setBuddy(self._width_box)
        form.addRow(size_label, size)
        form.addRow("&Resolution", self._resolution_box)
        side = QWidget()
        side.setFixedWidth(384)
        fill(side, form, self._note, REST)
        fill_dialog(self, (in_row(side, (self.preview, 1)), 1), self._buttons)

    def _connect(self) -> None:
        self._range_box.currentIndexChanged.connect(self._on_range_chosen)
        for box in (
            self._range_box,
            self._format_box,
            self._figure_box,
            self._measure_box,
            self._use_box,
            self._theme_box,
            self._resolution_box,
        ):
            box.currentIndexChanged.connect(self._preview_soon)
        for line in (self._title_line, self._budgets_line, self.part_line):
            line.textChanged.connect(self._preview_soon)
        for size_box in (self._width_box, self._height_box):
            size_box.valueChanged.connect(self._preview_soon)
        self._use_box.currentIndexChanged.connect(self._use_size)
        self._side_by_side_box.toggled.connect(self._preview_soon)
        self._stacked_box.toggled.connect(self._preview_soon)
        self.interventions_box.toggled.connect(self._preview_soon)
        self.markers_box.toggled.connect(self._preview_soon)

    @Slot()
    def _on_range_chosen(self) -> None:
        is_typed = self.range_id == _TYPED
        self._form.setRowVisible(self.part_line, is_typed)
        if is_typed:
            self.part_line.setFocus()

    @Slot()
    def _use_size(self) -> None:
        """Show the size of a preset; the size stays when no preset is chosen any more."""
        preset = PRESETS.get(self.preset)
        if preset is None:
            return
        for box, value in zip((self._width_box, self._height_box), preset.size_pt, strict=True):
            box.setValue(value)
        self._choose_resolution(preset.dots_per_inch)

    def _choose_resolution(self, dots: float) -> None:
        box = self._resolution_box
        if box.findData(dots) < 0:
            box.addItem(f"{dots:.4g} dpi", dots)
        box.setCurrentIndex(box.findData(dots))

    @Slot()
    def _preview_soon(self) -> None:
        self._pause.start()

    def _enable_fields(self, frames: FrameTimes, exporter: AnyExporter) -> None:
        is_picture = exporter.is_picture
        for widget in (self._title_line, self._budgets_line, self._theme_box):
            widget.setEnabled(is_picture or exporter is PAGE)
        self._use_box.setEnabled(is_picture)
        for size_box in (self._width_box, self._height_box):
            size_box.setEnabled(is_picture and not self.preset)
        self._figure_box.setEnabled(exporter.format in _GRAPHS)
        self._measure_box.setEnabled(exporter is not PAGE)
        is_of_frames = exporter.format not in _GRAPHS or self._figure_box.currentIndex() == 0
        self._stacked_box.setEnabled(is_picture and self._has_phases and is_of_frames)
        self._resolution_box.setEnabled(exporter.suffix.endswith(_PNG) and not self.preset)
        self.interventions_box.setEnabled(bool(frames.interventions))
        self.markers_box.setEnabled(bool(frames.markers))


def _count(chosen: FrameRange) -> str:
    return counted(chosen.stop - chosen.start, "frame")


def _box(name: str, choices: Sequence[tuple[str, object]]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    for title, data in choices:
        box.addItem(title, data)
    return box


def _size_box(name: str, smallest: float, value: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setAccessibleName(f"{name} in points")
    box.setRange(smallest, LARGEST_SIDE_PT)
    box.setDecimals(1)
    box.setSingleStep(24)
    box.setSuffix(" pt")
    box.setValue(value)
    RangeNote(box)
    return box
