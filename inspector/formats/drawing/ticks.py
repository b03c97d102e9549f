"""Round numbers for axes, and the text on them."""

import math
from functools import lru_cache
from typing import Final

from msgspec import Struct

from inspector.timebase import NS_PER_MS, NS_PER_SECOND, NS_PER_US

_CLOCK_STEPS_S: Final = (
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200, 86_400),
)

#: Up to this many times the wanted number of ticks is tried until two are on the axis.
_MOST_MORE: Final = 4


class Tick(Struct, frozen=True):
    value_ns: float
    label: str


class Ticks(Struct, frozen=True):
    """The ticks of an axis, in ascending order, and the unit of their labels."""

    ticks: tuple[Tick, ...]
    unit: str


def duration_ticks(high_ns: float, count: int, low_ns: float = 0) -> Ticks:
    """Return about ``count`` ticks from ``low_ns`` to ``high_ns``, for an axis of durations."""
    unit_ns, unit = _unit_of_durations(high_ns)
    return Ticks(_decimal_ticks(low_ns, high_ns, count, unit_ns), unit)


def instant_ticks(
    low_ns: float, high_ns: float, count: int, clock_from_ns: int = 120 * NS_PER_SECOND
) -> Ticks:
    """Return about ``count`` ticks within ``low_ns`` to ``high_ns``, for an axis of instants.

    Beyond two minutes, or ``clock_from_ns``, the labels are minutes and seconds, at whole minutes
    or simple fractions of them. Where more than one is asked for there are at least two: a single
    tick does not tell how long anything is.
    """
    ticks = _instant_ticks(low_ns, high_ns, count, clock_from_ns)
    most = _MOST_MORE * count if count > 1 else count
    while len(ticks.ticks) <= 1 and count < most:
        count += 1
        ticks = _instant_ticks(low_ns, high_ns, count, clock_from_ns)
    return ticks


def _instant_ticks(low_ns: float, high_ns: float, count: int, clock_from_ns: int) -> Ticks:
    span_ns = high_ns - low_ns
    if high_ns <= clock_from_ns:
        unit_ns, unit = _unit_of_instants(high_ns)
        return Ticks(_decimal_ticks(low_ns, high_ns, count, unit_ns), unit)
    step_ns, decimals = _clock_step(round(span_ns), count)
    has_hours = high_ns >= 3_600 * NS_PER_SECOND
    numbers = _multiples(low_ns, high_ns, step_ns)
    return _clock_ticks(numbers, step_ns, decimals, has_hours)


# In a view that moves, the same step is needed for many refreshes.
@lru_cache(maxsize=8)
def _clock_step(span_ns: int, count: int) -> tuple[float, int]:
    """Return how far apart ticks are, and how many decimals their labels have."""
    step_ns = rounded_step(span_ns / count)
    if step_ns >= NS_PER_SECOND:
        step_s = span_ns / count / NS_PER_SECOND
        step_ns = float(_clock_step_s(step_s) * NS_PER_SECOND)
    return step_ns, _decimals(step_ns / NS_PER_SECOND)


@lru_cache(maxsize=8)
def _clock_ticks(numbers: range, step_ns: float, decimals: int, has_hours: bool) -> Ticks:  # noqa: FBT001 - a key
    values = [number * step_ns for number in numbers]
    labels = [_clock_label(value, decimals, has_hours=has_hours) for value in values]
    return Ticks(tuple(map(Tick, values, labels)), "h:min:s" if has_hours else "min:s")


def count_ticks(low: int, high: int, count: int) -> tuple[Tick, ...]:
    """Return about ``count`` ticks at whole numbers, for an axis of frame numbers."""
    step = max(1.0, rounded_step((high - low) / count))
    values = [number * step for number in _multiples(low, high, step)]
    return tuple(Tick(value, f"{round(value):,}") for value in values)


def _unit_of_durations(high_ns: float) -> tuple[int, str]:
    if high_ns < 200 * NS_PER_US:
        return NS_PER_US, "µs"
    if high_ns < 10 * NS_PER_SECOND:
        return NS_PER_MS, "ms"
    return NS_PER_SECOND, "s"


def _unit_of_instants(high_ns: float) -> tuple[int, str]:
    if high_ns < NS_PER_MS:
        return NS_PER_US, "µs"
    if high_ns < NS_PER_SECOND / 10:
        return NS_PER_MS, "ms"
    return NS_PER_SECOND, "s"


def _decimal_ticks(low_ns: float, high_ns: float, count: int, unit_ns: int) -> tuple[Tick, ...]:
    step_ns = rounded_step((high_ns - low_ns) / count)
    if step_ns > high_ns - low_ns:
        step_ns = rounded_step((high_ns - low_ns) / (2 * count))
    decimals = _decimals(step_ns / unit_ns)
    values = [number * step_ns for number in _multiples(low_ns, high_ns, step_ns)]
    return tuple(Tick(value, f"{value / unit_ns:,.{decimals}f}") for value in values)


def rounded_step(step: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the smallest at least ``step``."""
    if not step > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(
        factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= step * (1 - 1e-9)
    )


def _clock_step_s(step_s: float) -> int:
    days = math.ceil(step_s / 86_400)
    return next((step for step in _CLOCK_STEPS_S if step >= step_s), days * 86_400)


def _multiples(low: float, high: float, step: float) -> range:
    """Return the factors of the multiples of a step that are on an axis."""
    slack = step * 1e-6
    first = math.ceil((low - slack) / step)
    last = math.floor((high + slack) / step)
    return range(first, last + 1)


def _decimals(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))


def _clock_label(value_ns: float, decimals: int, *, has_hours: bool) -> str:
    units = round(value_ns / NS_PER_SECOND * 10**decimals)
    whole_s, fraction = divmod(units, 10**decimals)
    minutes, seconds = divmod(whole_s, 60)
    tail = f".{fraction:0{decimals}d}" if decimals else ""
    if has_hours:
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02d}:{seconds:02d}{tail}"
    return f"{minutes}:{seconds:02d}{tail}"
