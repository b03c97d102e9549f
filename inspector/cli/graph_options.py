"""Options for the frames that a command exports, and for drawing them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Final

from inspector.analysis.statistics.frame_budget import DEFAULT_BUDGETS_MS
from inspector.display_text import counted
from inspector.errors import ArgumentError, ExportError
from inspector.foreign.paths import is_there
from inspector.formats.frame_times import FrameTimes, Provenance, SessionPart, parse_range
from inspector.formats.options import DEFAULT_DPI, DEFAULT_SIZE_PT, PRESETS, ExportOptions
from inspector.timebase import format_instant
from inspector.vocabulary import Measure

#: The arguments of options that are named differently on the command line.
_ARGUMENT_NAMES: Final = {
    "width_pt": "--size: the width",
    "height_pt": "--size: the height",
    "dots_per_inch": "--dpi: the resolution",
}


def refuse_existing(path: Path, options: Namespace) -> None:
    """Refuse to replace a file without ``--overwrite``."""
    if is_there(path) and not options.overwrite:
        raise ExportError(f"{path} exists. Add --overwrite to replace it.")


def worth_plotting(frames: FrameTimes) -> Measure:
    """Return “interval” if intervals vary, else “busy”: in virtual time they may be constant."""
    times_ns = frames.interval_ns
    varies = len(times_ns) == 0 or int(times_ns.max() - times_ns.min()) > 1
    return "interval" if varies else "busy"


def part_in(options: Namespace) -> SessionPart:
    try:
        return parse_range(options.range)
    except ExportError as error:
        raise ArgumentError(f"Argument --range: {error}") from None


def checked_part(frames: FrameTimes, part: SessionPart, text: str) -> FrameTimes:
    found = part.of(frames)
    count = len(frames)
    if count and not len(found):
        are = counted(count, "frame")
        first, last = (format_instant(int(frames.at_ns[place])) for place in (0, -1))
        where = (
            f"{are} from {first} to {last}"
            if part.is_time
            else f"{are} numbered from 0 to {count - 1:,}, as they come in the file"
        )
        raise ExportError(
            f"There is no frame in the range {text}: there are {where}. Choose another --range."
        )
    return found


def graph_options(
    options: Namespace, measure: Measure, about: Provenance | None = None
) -> ExportOptions:
    preset = PRESETS.get(options.preset)
    width_pt, height_pt = options.size or (preset.size_pt if preset else DEFAULT_SIZE_PT)
    usual_dpi = preset.dots_per_inch if preset else DEFAULT_DPI
    usual_ms = DEFAULT_BUDGETS_MS if about is None else about.budgets_ms
    budgets_ms = tuple(options.budget or usual_ms)
    inspector_ms = None
    if options.without_inspector:
        inspector_ms = budgets_ms[0]
    try:
        return ExportOptions(
            title=options.title,
            measure=options.measure or measure,
            budgets_ms=budgets_ms,
            # Other tools do not write it into their files.
            knows_refresh=bool(options.budget) or (about is not None and about.has_budget),
            stacked=options.stacked,
            theme=options.theme,
            width_pt=width_pt,
            height_pt=height_pt,
            dots_per_inch=usual_dpi if options.dpi is None else options.dpi,
            is_in_pixels=preset is not None,
            figure=options.figure or "frames",
            interventions="interventions" not in options.without,
            markers="bookmarks" not in options.without,
            inspector_budget_ms=inspector_ms,
        )
    except ValueError as error:
        text = str(error)
        for name, argument in _ARGUMENT_NAMES.items():
            text = text.replace(name, argument)
        raise ArgumentError(f"Argument {text}.") from None
