"""What is said of a frame, or of a range of frames, in words and numbers."""

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.events.frame_history import Frame, FrameHistory
from inspector.formats.frame_times import Measure
from inspector.formats.ticks import grouped
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import Phase

from ..plotting.budgets import budget_text

Lines = tuple[tuple[str, str], ...]


def frame_readout(
    frame: Frame, measure: Measure, shared_by: int, budgets_ns: tuple[int, ...]
) -> Lines:
    """Return label and value of each line; the first line is the heading.

    Args:
        frame: The frame.
        measure: Which of its times the plot shows; that comes first.
        shared_by: How many frames share its column of pixels.
        budgets_ns: Budgets; the time is compared with the first.
    """
    times_ns = {"interval": frame.interval_ns, "busy": frame.busy_ns, "delta": frame.delta_ns}
    lines = [(f"Frame {grouped(frame.index)}", format_instant(frame.at_ns))]
    if shared_by > 1:
        lines.append((f"slowest of {grouped(shared_by)} frames here", ""))
    lines.append((measure, format_duration(times_ns.pop(measure))))
    if budgets_ns:
        shown_ns = {"interval": frame.interval_ns, "busy": frame.busy_ns, "delta": frame.delta_ns}
        budget = FrameBudget(budgets_ns[0])
        over = ", over" if shown_ns[measure] > budget.longest_ns else ""
        share = f"{100 * shown_ns[measure] / budget.budget_ns:.0f} %{over}"
        lines.append((f"of {budget_text(budget.budget_ns)}", share))
    lines += [(name, format_duration(time_ns)) for name, time_ns in times_ns.items()]
    if frame.cut_ns:
        lines.append(("cut from delta", format_duration(frame.cut_ns)))
    lines += [
        (f"· {phase.text}", format_duration(frame.phases[phase]))
        for phase in Phase
        if frame.phases[phase]
    ]
    return tuple(lines)


def chosen_text(history: FrameHistory, start: int, stop: int) -> str:
    """Return how many frames a range has and how much session time passes in it."""
    first = history.at_ns[start - history.first]
    last = history.at_ns[stop - 1 - history.first]
    frames = "1 frame" if stop - start == 1 else f"{grouped(stop - start)} frames"
    if stop - start == 1:
        return f"{frames} · {format_instant(first)}"
    return f"{frames} · {format_duration(last - first)}"
