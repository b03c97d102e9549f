"""Sets up the export dialog from session, plot and settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from inspector.analysis.intervention_list import interventions_between
from inspector.analysis.landmarks import landmarks_between
from inspector.foreign.paths import is_folder
from inspector.formats.options import (
    FEWEST_DOTS_PER_INCH,
    FIGURES,
    LARGEST_SIDE_PT,
    MOST_DOTS_PER_INCH,
    SMALLEST_HEIGHT_PT,
    SMALLEST_WIDTH_PT,
    ExportOptions,
)
from inspector.formats.traces.session_trace import Events
from inspector.sessions.provenance import provenance_of
from inspector.sessions.session import ShowsCapture, pictures_of

from ...export.export_dialog import ExportChoices, ExportDialog, ExportSource, FrameRange

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.sessions.session import Session

    from ...frame_times.panel import FrameTimesPanel
    from ...kit.theme import Theme
    from ..settings import Settings


def export_dialog(  # noqa: PLR0913, PLR0917 - where everything is found
    session: Session,
    panel: FrameTimesPanel,
    settings: Settings,
    theme: Theme,
    parent: QWidget,
    format_name: str = "",
) -> ExportDialog:
    choices = settings.export_choices
    is_dark = choices.get("theme", "light") == "dark"
    usual = ExportOptions()
    options = ExportOptions(
        measure=panel.measure,
        budgets_ms=settings.budgets_ms,
        stacked=panel.is_stacked,
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
        landmarks=choices.get("landmarks", "yes") != "no",
        inspector_budget_ms=panel.inspector_budget_ms,
        figure=next((each for each in FIGURES if each == choices.get("figure")), "frames"),
    )
    ranges = _ranges(session, panel)
    dialog = ExportDialog(
        ExportSource(
            session.timeline.frames,
            ranges,
            provenance_of(session),
            interventions_between(session.timeline),
            landmarks_between(session.timeline, session.annotations),
            Events(session.history, 0, session.history.last_ns, pictures_of(session)),
            *(
                (session.samples, session.facts, session.unknown, session.beside)
                if isinstance(session, ShowsCapture)
                else ()
            ),
        ),
        ExportChoices(
            options,
            _folder(session, settings),
            format_name or choices.get("format", "PNG"),
            # What the user has gone to the trouble of choosing is what is meant.
            "chosen" if any(each.id == "chosen" for each in ranges) else "all",
            choices.get("preset", ""),
        ),
        theme,
        parent,
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


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
        **({"preset": dialog.preset} if dialog.preset else own_size),
        "interventions": "yes" if options.interventions else "no",
        "landmarks": "yes" if options.landmarks else "no",
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
