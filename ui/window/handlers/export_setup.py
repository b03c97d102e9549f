"""Sets up the export dialog from session, plot and settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

import inspector
from inspector.analysis.intervention_list import interventions_of
from inspector.analysis.markers import markers_of
from inspector.analysis.statistics.runs import ComparedRun
from inspector.events.frame_history import FrameHistory
from inspector.foreign.paths import is_folder
from inspector.formats.frame_times import Provenance
from inspector.formats.options import (
    FEWEST_DOTS_PER_INCH,
    FIGURES,
    LARGEST_SIDE_PT,
    MOST_DOTS_PER_INCH,
    SMALLEST_HEIGHT_PT,
    SMALLEST_WIDTH_PT,
    ExportOptions,
)
from inspector.formats.report.comparison import shown_of
from inspector.formats.traces.session_trace import Events
from inspector.sessions.provenance import provenance_of
from inspector.sessions.session import Session, ShowsCapture, pictures_of

from ...export.export_dialog import ExportChoices, ExportDialog, ExportSource, FrameRange
from ...kit.theme import Theme
from ..settings import Settings

if TYPE_CHECKING:
    from ...frame_times.panel import FrameTimesPanel


def export_dialog(  # noqa: PLR0913, PLR0917 - where everything is found
    session: Session,
    panel: FrameTimesPanel,
    settings: Settings,
    theme: Theme,
    parent: QWidget,
    format_name: str = "",
) -> ExportDialog:
    options = structs.replace(
        _kept_options(settings),
        measure=panel.measure,
        budgets_ms=panel.budgets_ms,
        stacked=panel.is_stacked,
        inspector_budget_ms=panel.inspector_budget_ms,
    )
    ranges = _ranges(session, panel)
    source = ExportSource(
        session.timeline.frames,
        ranges,
        provenance_of(session),
        interventions_of(session.timeline),
        markers_of(session.timeline, session.annotations),
        Events(session.history, 0, session.history.last_ns, pictures_of(session)),
        *(
            (session.samples, session.facts, session.unknown, session.beside)
            if isinstance(session, ShowsCapture)
            else ()
        ),
    )
    choices = _kept_choices(
        *(options, _folder(session, settings), settings),
        # If the user has gone to the trouble of choosing frames, those are meant.
        range_id="chosen" if any(each.id == "chosen" for each in ranges) else "all",
        format_name=format_name,
    )
    return _dialog(source, choices, theme, parent)


def figure_dialog(
    runs: Sequence[ComparedRun], folder: Path, settings: Settings, theme: Theme, parent: QWidget
) -> ExportDialog:
    about = Provenance("", datetime.now(UTC), inspector.__version__)
    source = ExportSource(
        FrameHistory(), (), about, figures=tuple(shown_of(each, about) for each in runs)
    )
    choices = _kept_choices(_kept_options(settings), folder, settings)
    return _dialog(source, choices, theme, parent)


def _dialog(
    source: ExportSource, choices: ExportChoices, theme: Theme, parent: QWidget
) -> ExportDialog:
    dialog = ExportDialog(source, choices, theme, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def _kept_choices(
    options: ExportOptions,
    folder: Path,
    settings: Settings,
    *,
    range_id: str = "all",
    format_name: str = "",
) -> ExportChoices:
    kept = settings.export_choices
    return ExportChoices(
        *(options, folder, format_name or kept.get("format", "PNG"), range_id),
        preset=kept.get("preset", ""),
        is_side_by_side=kept.get("side_by_side") == "yes",
    )


def _kept_options(settings: Settings) -> ExportOptions:
    choices = settings.export_choices
    is_dark = choices.get("theme", "light") == "dark"
    usual = ExportOptions()
    return ExportOptions(
        budgets_ms=settings.budgets_ms,
        theme="dark" if is_dark else "light",
        width_pt=_number(
            choices.get("width_pt"), usual.width_pt, SMALLEST_WIDTH_PT, LARGEST_SIDE_PT
        ),
        height_pt=_number(
            choices.get("height_pt"), usual.height_pt, SMALLEST_HEIGHT_PT, LARGEST_SIDE_PT
        ),
        dots_per_inch=_number(
            choices.get("dots_per_inch"),
            usual.dots_per_inch,
            FEWEST_DOTS_PER_INCH,
            MOST_DOTS_PER_INCH,
        ),
        interventions=choices.get("interventions", "yes") != "no",
        markers=choices.get("landmarks", "yes") != "no",
        figure=next((each for each in FIGURES if each == choices.get("figure")), "frames"),
    )


def choices_of(dialog: ExportDialog) -> dict[str, str]:
    """Return what is worth remembering of a dialog's choices."""
    try:
        options = dialog.options
    except ValueError:
        return {"format": dialog.format_name}
    own_size = {
        "width_pt": f"{options.width_pt:g}",
        "height_pt": f"{options.height_pt:g}",
        "dots_per_inch": f"{options.dots_per_inch:g}",
    }
    return {
        "format": dialog.format_name,
        "theme": options.theme,
        "figure": options.figure,
        "preset": dialog.preset,
        "side_by_side": "yes" if dialog.is_side_by_side else "no",
        **own_size,
        "interventions": "yes" if options.interventions else "no",
        "landmarks": "yes" if options.markers else "no",
    }


def _folder(session: Session, settings: Settings) -> Path:
    """Return where to propose a file: the folder used last, else that of the file that is open."""
    last = Path(settings.export_folder)
    if settings.export_folder and is_folder(last):
        return last
    path = session.status.path
    return Path(path).parent if session.is_recorded and path else Path.cwd()


def _ranges(session: Session, panel: FrameTimesPanel) -> tuple[FrameRange, ...]:
    frames = session.timeline.frames
    ranges = [FrameRange("all", "All frames", frames.first, frames.end)]
    start, stop = panel.visible_range()
    if stop > start:
        ranges.append(FrameRange("visible", "Frames in view", start, stop))
    chosen = panel.selected_range()
    if chosen is not None and chosen[1] > chosen[0]:
        ranges.append(FrameRange("chosen", "Selected frames", *chosen))
    return tuple(ranges)


def _number(text: str | None, otherwise: float, low: float, high: float) -> float:
    try:
        value = float(text or "")
    except ValueError:
        return otherwise
    return value if low <= value <= high else otherwise
