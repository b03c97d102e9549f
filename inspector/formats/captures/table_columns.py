"""The columns of a table: frame times, instants, or values in another unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.formats.captures.text_table import Table, comparable, is_number
from inspector.formats.frame_times import Quantity

FRAME_TIME_COLUMNS: Final = (
    "intervalns",
    "msbetweenpresents",
    "frametime",
    "frametimems",
    "frametimens",
    "frametimeus",
    "frametimes",
    "msbetweenappstart",
    "msbetweensimulationstart",
    "intervalms",
    "msbetweendisplaychange",
    "ms",
    "milliseconds",
)
STREAM_COLUMNS: Final = ("application", "processid", "swapchainaddress")
#: Columns of differences, which may be negative.
ANIMATION_ERROR: Final = ("msanimationerror", "animationerror")
#: The column of the types of frames, and its values for frames rendered by the program; others were
#: generated between these by a driver or library, or displayed again.
FRAME_TYPE: Final = "frametype"
_RENDERED: Final = frozenset({"", "application", "notset", "unspecified", "na"})
_PER_SECOND: Final = re.compile(
    r"(?<![a-z])(fps|hz)(?![a-z])|per.?second|frame.?rate", re.IGNORECASE
)
#: Columns that hold instants, and columns that are likely to.
INSTANTS: Final = re.compile(
    r"timein(?:seconds|ms|qpc|datetime)|cpustart.*|animationtime|elapsed|at(?:ns|ms)"
)
_LIKELY_INSTANTS: Final = re.compile(r"time(?!s?$).*|frame|index|elapsed.*|.*stamp.*")
#: Columns that may be the clock of the rows, if their steps agree with the frame times.
_CLOCKS: Final = re.compile(
    r"timein(?:seconds|ms)|cpustart.*|.*qpc.*|elapsed.*|time(?:stamp.*|ns|us|µs|ms|s|sec|seconds)?"
)
_UNIT: Final = re.compile(r"(?:^|[^0-9A-Za-zµ])(ns|us|µs|msec|ms|s|sec|seconds)\W*$", re.IGNORECASE)
#: Units as powers of ten nanoseconds.
_DIGITS: Final = {
    **dict.fromkeys(("s", "sec", "seconds"), 9),
    **dict.fromkeys(("ms", "msec"), 6),
    **dict.fromkeys(("us", "µs"), 3),
    "ns": 0,
}
#: The units of instants whose names have none.
_DIGITS_OF_INSTANTS: Final = {"timeinseconds": 9, "timeinms": 6, "elapsed": 0}
MILLISECONDS: Final = 6
#: Seconds, milliseconds, microseconds and nanoseconds; for clocks also 100 ns, a usual QPC tick.
_TIME_DIGITS: Final = (9, 6, 3, 0)
_CLOCK_DIGITS: Final = (*_TIME_DIGITS, 2)
#: Rows are consecutive if the steps of the clock usually differ from frame times by at most this
#: share.
_LARGEST_ERROR: Final = 0.25
#: If a clock is too coarse for single frames, the total may differ by at most this share.
_LARGEST_DRIFT: Final = 0.1
#: Not by chance does every frame of so many take longer than the one before.
_LEAST_RISING: Final = 10
#: No program renders frames faster than this: shorter "milliseconds" are in another unit.
_SHORTEST_MS: Final = 0.1
_AFTERBURNER_CODES: Final = ("02", "2")
_TIME_UNITS: Final = {9: "s", 6: "ms", 3: "µs", 0: "ns"}
#: Units in brackets, in the name of a column, that are not units of time.
_OTHER_UNITS: Final = re.compile(
    r"[(\[]\s*(%|°?[cf]|[kmg]hz|m?[wva]|[kmgt]i?b|rpm|f/j|j)\s*[)\]]", re.IGNORECASE
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Words in names of columns that do not hold times.
_OTHER_QUANTITIES: Final = frozenset(
    {"util", "utilization", "usage", "load", "temp", "temperature", "power", "pwr", "voltage"}
    | {"clk", "clock", "fan", "battery", "memory", "mem", "vram", "ram", "swap", "rss"}
    | {"percent", "percentage"}
)
_INSTANTS_PROBLEM: Final = "holds instants, not frame times"
_NO_TIMES: Final = frozenset(
    {"dropped", "syncinterval", "presentflags", "allowstearing", "wasbatched", "dwmnotified"}
)


#: Units as they are written in brackets behind a name, and as they are shown.
_SHOWN: Final = {
    **{unit.lower(): unit for unit in ("%", "MHz", "GHz", "kHz", "Hz", "W", "mW", "V", "mV", "A")},
    **{unit.lower(): unit for unit in ("kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")},
    "c": "°C",
    "°c": "°C",
    "f": "°F",
    "°f": "°F",
    "rpm": "rpm",
    "j": "J",
    "f/j": "frames/J",
}
#: Units of columns that have none in their names, by what the programs document.
_UNITS: Final = {
    **dict.fromkeys(("cpuload", "gpuload"), "%"),
    **dict.fromkeys(("cpupower", "gpupower"), "W"),
    **dict.fromkeys(("cputemp", "gputemp"), "°C"),
    **dict.fromkeys(("cpumhz", "gpucoreclock", "gpumemclock"), "MHz"),
    **dict.fromkeys(("frametime", "cpubusy", "cpuwait", "gpulatency", "gputime", "gpubusy"), "ms"),
    **dict.fromkeys(("gpuwait", "videobusy", "displaylatency", "displayedtime"), "ms"),
    **dict.fromkeys(("animationerror", "allinputtophotonlatency"), "ms"),
    **dict.fromkeys(("clicktophotonlatency", "instrumentedlatency"), "ms"),
}


def unit_of(name: str) -> str:
    """Return the unit of a column as it is shown; empty if its name does not tell."""
    if unit := _OTHER_UNITS.search(name):
        return _SHOWN.get(unit[1].lower(), unit[1])
    if (digits := digits_in_name(name)) is not None:
        return _TIME_UNITS[digits]
    if _PER_SECOND.search(name):
        return "fps"
    return _UNITS.get(comparable(name), "")


def quantities_of(table: Table, at: int) -> tuple[Quantity, ...]:
    """Return the columns that measure something beside the frame times in a column."""
    return tuple(
        Quantity(place, table.name_of(place), unit_of(name))
        for place, name in enumerate(table.columns)
        if place != at and name and place in table.numeric
        if comparable(name) not in {*STREAM_COLUMNS, *_AFTERBURNER_CODES, *_NO_TIMES}
        if not INSTANTS.fullmatch(comparable(name)) and "qpc" not in comparable(name)
        if not _LIKELY_INSTANTS.fullmatch(comparable(name))
    )


class RowClock(Struct, frozen=True):
    at: int  # The column
    digits: int  # Its unit, as a power of ten nanoseconds
    # The column of frame times that begin at these instants; -1 if they end there.
    lengths_at: int = -1
    is_date: bool = False  # Whether it is written as date and time of day


class Timing(Struct, frozen=True):
    digits: int  # The unit of the column that is read, as a power of ten nanoseconds
    # The unit of the frame times that the clock was compared with, in the same form.
    length_digits: int = MILLISECONDS
    clock: RowClock | None = None  # The instants of the rows, None if no column has them
    # Whether rows are further apart than their frame times, so that frames are missing.
    is_sampled: bool = False


def is_rendered(frame_type: str) -> bool:
    """Return whether frames of a type were rendered by the program, as far as is known."""
    return comparable(frame_type) in _RENDERED


def digits_in_name(name: str) -> int | None:
    """Return the unit in the name of a column, as a power of ten nanoseconds."""
    if unit := _UNIT.search(name):
        return _DIGITS[unit[1].lower()]
    if re.match(r"[mM]s[A-Z_ ]", name) or comparable(name) in ("ms", "milliseconds"):
        return MILLISECONDS
    return None


def problem_of(table: Table, at: int) -> str:
    """Return what a column holds instead of frame times; empty if it may hold them."""
    if table.has_names and (problem := _problem_of_name(table.columns[at])):
        return problem
    numbers = table.numbers(at)
    is_rising = len(numbers) >= _LEAST_RISING and bool(np.all(np.diff(numbers) > 0))
    return _INSTANTS_PROBLEM if is_rising else ""


def _problem_of_name(name: str) -> str:
    loose = comparable(name)
    words = {word.lower() for word in _WORD.findall(name)}
    is_other = not _OTHER_QUANTITIES.isdisjoint(words) and "time" not in words
    unit = _OTHER_UNITS.search(name)
    reasons = {
        "counts ticks of the processor, not milliseconds": "qpc" in loose,
        "counts frames per second, not milliseconds": _PER_SECOND.search(name),
        _INSTANTS_PROBLEM: INSTANTS.fullmatch(loose),
        "holds differences, which may be negative, not frame times": loose in ANIMATION_ERROR,
        f"is in {unit and unit[1]}, not milliseconds": unit,
        "does not hold times": digits_in_name(name) is None
        and (is_other or loose in _NO_TIMES or loose in STREAM_COLUMNS),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def likely_columns(table: Table) -> list[int]:
    """Return the columns in milliseconds; without any, all that could be durations."""
    possible = [
        at
        for at, name in enumerate(table.columns)
        if at in table.numeric
        and not problem_of(table, at)
        and not _LIKELY_INSTANTS.fullmatch(comparable(name))
    ]
    in_ms = [
        at
        for at in possible
        if comparable(table.columns[at]) in FRAME_TIME_COLUMNS
        or digits_in_name(table.columns[at]) == MILLISECONDS
    ]
    return in_ms or possible


def timing_of(
    table: Table, at: int, keys: Sequence[int], *, is_frame_time: bool, types_at: int = -1
) -> Timing | str:
    """Return the clock and the units of a table, judged by its first rows, or what is wrong.

    ``at`` is the column that is read, of frame times or other durations. The columns ``keys``
    tell streams apart, and the one at ``types_at``, if not -1, tells which frames are generated.
    """
    loose = [comparable(name) for name in table.columns]
    lengths_at = at
    if not is_frame_time:
        lengths_at = next((loose.index(name) for name in FRAME_TIME_COLUMNS if name in loose), at)
    lengths = _numbers(table, lengths_at)
    digits = _digits_of_lengths(table, loose, lengths_at)
    rows = _rows_of_one_stream(table, keys)
    possible = _TIME_DIGITS if digits is None else (digits,)
    fits, is_sampled = _compared(table, lengths_at, lengths[rows], possible, rows)
    if types_at >= 0 and (is_sampled or not fits):
        # A generated frame may repeat the numbers of the present it was displayed with, so the
        # comparison is made again without generated frames.
        types = table.first_cells(types_at)
        rows = np.array([row for row in rows.tolist() if is_rendered(types[row])], dtype=np.intp)
        fits, is_sampled = _compared(table, lengths_at, lengths[rows], possible, rows)
    best = min(fits, key=lambda fit: fit.error, default=None)
    if best is not None and digits is None:
        digits = best.length_digits
    usual = float(np.nanmedian(lengths)) if np.isfinite(lengths).any() else 0.0
    if digits is None and is_frame_time and 0 < usual < _SHORTEST_MS:
        return (
            f"would be {1_000 / usual:,.0f} frames per second. If it is not in milliseconds, say "
            f"so in its name, as in “{table.columns[at]} (s)”"
        )
    length_digits = MILLISECONDS if digits is None else digits
    own = digits if lengths_at == at else digits_in_name(table.columns[at])
    return Timing(
        MILLISECONDS if own is None else own,
        length_digits,
        None if best is None else best.clock,
        is_sampled=is_sampled and is_frame_time,
    )


class _Fit(Struct, frozen=True):
    """A column of instants that agrees with the frame times."""

    error: float  # How far its steps are from the frame times, as a share
    clock: RowClock  # The instants
    length_digits: int  # The unit of the frame times, as a power of ten nanoseconds


def _compared(
    table: Table,
    lengths_at: int,
    lengths: NDArray[np.float64],
    length_digits: tuple[int, ...],
    rows: NDArray[np.intp],
) -> tuple[list[_Fit], bool]:
    """Return the columns of instants that agree with the frame times.

    If none does because rows are further apart than their frame times, the second value is true,
    and the first column whose unit is known is returned.
    """
    fits: list[_Fit] = []
    apart: list[_Fit] = []
    is_apart = False
    default = MILLISECONDS if MILLISECONDS in length_digits else length_digits[0]
    for at, unit in _clocks(table, lengths_at):
        name, instants = comparable(table.columns[at]), _numbers(table, at)[rows]
        steps = np.diff(instants)
        if not np.all(np.diff(instants[np.isfinite(instants)]) >= 0):
            continue
        is_total = False
        possible = (
            product(_CLOCK_DIGITS, (default,)) if unit is None else product((unit,), length_digits)
        )
        for digits, each in possible:
            back, ahead, drift = _errors(steps * 10.0 ** (digits - each), lengths)
            is_total = is_total or drift <= _LARGEST_DRIFT
            error = min(back, ahead)
            if error <= _LARGEST_ERROR:
                clock = RowClock(at, digits, lengths_at if ahead < back else -1)
                fits.append(_Fit(error, clock, each))
        # A QPC column proves nothing here, because ticks of a processor may have any length.
        if not is_total and "qpc" not in name and np.nanmedian(np.append(steps, 0)) > 0:
            is_apart = True
            if unit is not None:
                apart.append(_Fit(np.inf, RowClock(at, unit), default))
    return (fits, False) if fits else (apart[:1], is_apart)


def _clocks(table: Table, lengths_at: int) -> Iterator[tuple[int, int | None]]:
    """Yield the columns that may be clocks, with their units as powers of ten nanoseconds."""
    for at, column in enumerate(table.columns):
        name = comparable(column)
        if at != lengths_at and _CLOCKS.fullmatch(name) and at in table.numeric:
            yield at, _DIGITS_OF_INSTANTS.get(name, digits_in_name(column))


def _errors(steps: NDArray[np.float64], lengths: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return how far steps are from the lengths of the rows after them, before them, and in sum.

    As shares: of the usual length, and of the sum.
    """
    if not len(steps):
        return np.inf, np.inf, np.inf
    there = np.isfinite(steps)
    worst = (np.inf, np.inf, np.inf)
    after, before = there & np.isfinite(lengths[1:]), there & np.isfinite(lengths[:-1])
    if not after.any() or not before.any():
        return worst
    usual = float(np.median(lengths[1:][after]))
    total = float(lengths[1:][after].sum())
    if not usual > 0:
        return worst
    return (
        float(np.median(np.abs(steps - lengths[1:])[after])) / usual,
        float(np.median(np.abs(steps - lengths[:-1])[before])) / usual,
        abs(float(steps[after].sum()) - total) / total,
    )


def _numbers(table: Table, at: int) -> NDArray[np.float64]:
    """Return a column of the first rows, not a number where there is none."""
    cells = table.first_cells(at)
    return np.array([float(cell) if is_number(cell) else np.nan for cell in cells])


def _rows_of_one_stream(table: Table, keys: Sequence[int]) -> NDArray[np.intp]:
    if not table.first_rows:
        return np.zeros(0, dtype=np.intp)
    owners = list(zip(*map(table.first_cells, keys), strict=True)) or [()] * len(table.first_rows)
    most = Counter(owners).most_common(1)[0][0]
    return np.array([place for place, owner in enumerate(owners) if owner == most], dtype=np.intp)


def _digits_of_lengths(table: Table, loose: Sequence[str], at: int) -> int | None:
    """Return the unit of frame times, by their name or by the rates beside them.

    MangoHud logged microseconds in 2021, other programs log seconds.
    """
    if not table.has_names:
        return MILLISECONDS
    if (digits := digits_in_name(table.columns[at])) is not None or "fps" not in loose:
        return digits
    products = _numbers(table, loose.index("fps")) * _numbers(table, at)
    products = products[products > 0]
    if not len(products):
        return None
    of_a_second = float(np.log10(np.median(products)))
    return min(_TIME_DIGITS, key=lambda digits: abs(of_a_second + digits - 9))
