"""Sets up the export dialog from session, plot and settings."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

import inspector
from inspector.analysis.intervention_list import interventions_between
from inspector.analysis.landmarks import landmarks_between
from inspector.formats.frame_times import Provenance
from inspector.formats.options import ExportOptions

from .dialogs.export_dialog import ExportChoices, ExportDialog, ExportSource, FrameRange

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.sessions.session import Session

    from .panels.frame_times import FrameTimesPanel
    from .settings import Settings
    from .theme import Theme


def export_dialog(
    session: Session, panel: FrameTimesPanel, settings: Settings, theme: Theme, parent: QWidget
) -> ExportDialog:
    """Return a dialog that offers what the plot shows, the way it shows it."""
    choices = settings.export_choices
    is_dark = choices.get("theme", "light") == "dark"
    usual = ExportOptions()
    options = ExportOptions(
        measure=panel.measure,
        budgets_ms=settings.budgets_ms,
        stacked=panel.is_stacked,
        theme="dark" if is_dark else "light",
        width_pt=_number(choices.get("width_pt", ""), usual.width_pt, 400, 14_400),
        height_pt=_number(choices.get("height_pt", ""), usual.height_pt, 300, 14_400),
        dots_per_inch=_number(choices.get("dots_per_inch", ""), usual.dots_per_inch, 36, 1_200),
        interventions=choices.get("interventions", "yes") != "no",
        landmarks=choices.get("landmarks", "yes") != "no",
    )
    folder = Path(settings.export_folder) if settings.export_folder else Path.cwd()
    ranges = _ranges(session, panel)
    dialog = ExportDialog(
        ExportSource(
            session.timeline.frames,
            ranges,
            _provenance(session),
            interventions_between(session.timeline),
            landmarks_between(session.timeline, session.annotations),
        ),
        ExportChoices(
            options,
            folder if folder.is_dir() else Path.cwd(),
            choices.get("format", "PNG"),
            # What somebody has gone to the trouble of choosing is what they mean.
            "chosen" if any(each.id == "chosen" for each in ranges) else "all",
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
    return {
        "format": dialog.format_name,
        "theme": options.theme,
        "width_pt": f"{options.width_pt:g}",
        "height_pt": f"{options.height_pt:g}",
        "dots_per_inch": f"{options.dots_per_inch:g}",
        "interventions": "yes" if options.interventions else "no",
        "landmarks": "yes" if options.landmarks else "no",
    }


def _ranges(session: Session, panel: FrameTimesPanel) -> tuple[FrameRange, ...]:
    frames = session.timeline.frames
    ranges = [FrameRange("all", "All frames", frames.first, frames.end)]
    start, stop = panel.visible_range()
    if stop > start:
        ranges.append(FrameRange("visible", "Frames in view", start, stop))
    chosen = panel.selected_range()
    if chosen is not None and chosen[1] > chosen[0]:
        ranges.append(FrameRange("chosen", "Chosen frames", *chosen))
    return tuple(ranges)


def _provenance(session: Session) -> Provenance:
    return Provenance(
        scene=session.title,
        created=datetime.now().astimezone(),
        version=inspector.__version__,
        source="real time",
        frame_rate=session.frame_rate,
    )


def _number(text: str, otherwise: float, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        return otherwise
    return value if low <= value <= high else otherwise
