"""Labels of long frames and budgets in a plot of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from inspector.analysis.statistics.frame_budget import fps_text
from inspector.formats.arrangement.frame_bars import Spikes
from inspector.timebase import format_duration

_LABELLED_SPIKES: Final = 8
#: Pixels from a bar to its value, and between two values.
_BESIDE: Final = 5
_BETWEEN: Final = 8
_NAME_PAD: Final = 5
_TOP: Final = 2
_BELOW_CUT: Final = 14


class Label(Struct, frozen=True):
    """A text with a rim of the background, in pixels."""

    left: float  # Its left edge
    top: float  # Its upper edge
    width: float
    text: str
    is_strong: bool = True  # Whether it is more than an explanation


def spike_labels(  # noqa: PLR0913, PLR0917 - bars and where they are
    spikes: Spikes,
    left: float,
    width: float,
    ratio: float,
    width_of: Callable[[str], float],
    is_free: Callable[[float, float], bool],
) -> list[Label]:
    """Return values in or beside the largest frames beyond a plot, where the upper edge is free."""
    order = (-spikes.times_ns).argsort(kind="stable")[: 4 * _LABELLED_SPIKES]
    taken: list[tuple[float, float]] = []
    found: list[Label] = []
    for place in order.tolist():
        text = format_duration(int(spikes.times_ns[place]))
        wide = width_of(text) + 4
        middle = left + float(spikes.places[place]) / ratio
        half = float(spikes.halves[place]) / ratio + _BESIDE
        # The part of the bar that is in the plot.
        first = max(middle - half + _BESIDE, left)
        last = min(middle + half - _BESIDE, left + width)
        is_within = last - first > wide + 2 * _BESIDE
        within = ((first + last - wide) / 2,)
        for begin in within if is_within else (middle + half, middle - half - wide):
            end = begin + wide
            if any(begin - _BETWEEN < high and end > low for low, high in taken):
                continue
            if is_within or (left <= begin and end < left + width and is_free(begin, end)):
                taken.append((begin - _BETWEEN, end + _BETWEEN))
                # A value within its bar is written below the zigzag that cuts the bar off.
                found.append(Label(begin, _BELOW_CUT if is_within else _TOP, wide, text))
                break
        if len(found) == _LABELLED_SPIKES:
            break
    return found


def below_values(top_ns: int, height: float, line: float) -> float:
    """Return the frame time from which a bar reaches up to the values at the upper edge."""
    return top_ns * (1 - (_TOP + line) / max(height, 1.0))


def budget_labels(  # noqa: PLR0913, PLR0917 - budgets and where they are
    budgets_ns: tuple[int, ...],
    top_ns: int,
    right: float,
    height: float,
    line: float,
    width_of: Callable[[str], float],
) -> Iterator[Label]:
    """Yield the rate of each budget above its line; of two that are close, the first budget's."""
    taken: list[float] = []
    for number, budget_ns in enumerate(budgets_ns):
        # Rounded to the pixel that the line of the budget is painted on; the name stands above it.
        y = float(round(height * (1 - budget_ns / top_ns)))
        name = fps_text(budget_ns)
        if y < 0:
            if number:
                continue
            name, y = f"↑ {name}", line
        elif y < line:
            y += line
        if any(abs(y - other) < line for other in taken):
            continue
        taken.append(y)
        wide = width_of(name)
        yield Label(right - _NAME_PAD - wide, y - line - 1, wide, name, number == 0)


def names_width(budgets_ns: tuple[int, ...], width_of: Callable[[str], float]) -> float:
    """Return how much room the names of budgets need at the right edge."""
    widths = [width_of(fps_text(each)) for each in budgets_ns]
    return max(widths) + 2 * _NAME_PAD if widths else 0.0


def apart_from(labels: list[Label], others: list[Label], line: float) -> list[Label]:
    """Return the labels that do not overlap any of ``others``; a text is ``line`` pixels high."""

    def covers(one: Label, other: Label) -> bool:
        is_beside = one.left >= other.left + other.width or other.left >= one.left + one.width
        return not is_beside and abs(one.top - other.top) < line

    return [label for label in labels if not any(covers(label, each) for each in others)]
