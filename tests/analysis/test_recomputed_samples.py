"""Every statistic of real captures, computed once more from the raw file and the formulas alone.

Nothing here is the inspector's but what is compared: rows are read by the standard library, and
sums are exact. Frame times are whole nanoseconds, as everywhere; but for that, only rates are
rounded where they are added up, to thirty digits: their exact sums have thousands.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from inspector.analysis.statistics.metrics import metric_values
from inspector.analysis.statistics.time_series import TimeSeries
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.timebase import NS_PER_MS
from tests.formats.read_captures import whole
from tests.fuzz import rounds

REFRESH = Fraction(1000, 60)
FILES = (
    *(f"presentmon/test_case_{number}.csv" for number in range(3)),
    *(f"presentmon/test_case_{number}_v{version}.csv" for number in range(3) for version in (1, 2)),
    "presentmon/third_party_csgo.csv",
    "capframex_csv/CapFrameXFileWithHeader.csv",
    "capframex_csv/PresentMonTestOutputFilename.csv",
)
Numbers = dict[str, float | Fraction | None]
PARTS = 10**30
COLUMNS = ("msbetweenpresents", "frametime")


def milliseconds(cell: str) -> Fraction | None:
    """Return a cell in milliseconds, to the nanosecond."""
    try:
        return Fraction(round(Fraction(cell.strip()) * 1_000_000), 1_000_000)
    except (ValueError, ZeroDivisionError):
        return None


def streams(path: Path) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Return the rows of each stream that have a frame time."""
    text = path.read_text(encoding="utf-8-sig")
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    found: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(lines):
        cells = {name.lower(): cell or "" for name, cell in row.items() if name}
        time = milliseconds(cells[column_of(cells)])
        if time is not None and time >= 0:
            key = tuple(cells.get(each, "") for each in ("application", "processid"))
            found[*key, cells.get("swapchainaddress", "")].append(cells)
    return found


def column_of(cells: dict[str, str]) -> str:
    return next(each for each in COLUMNS if each in cells)


def in_parts(value: Fraction) -> int:
    return round(value * PARTS)


def quantile(ordered: list[Fraction], place: Fraction) -> Fraction:
    """Return the value at a place from 0, between two of them if it is."""
    place = min(max(place, Fraction(0)), Fraction(len(ordered) - 1))
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def deviation(values: list[Fraction]) -> float:
    """Return the deviation from the mean of the values up to each, back until they are 500."""
    exact, squares = [in_parts(value) for value in values], 0
    for end in range(1, len(values) + 1):
        begin, total = end, 0
        while begin > 0 and total < 500 * PARTS:
            begin -= 1
            total += exact[begin]
        squares += (exact[end - 1] - total // (end - begin)) ** 2
    if len(values) < 2:
        return 0.0
    return math.sqrt(Fraction(squares, PARTS**2 * (len(values) - 1)))


def trailing_means(f: list[Fraction]) -> list[Fraction]:
    calm = [
        before if number and time > 3 * before else time
        for number, (before, time) in enumerate(zip([f[0], *f], f, strict=False))
    ]
    window = max(1, round(10 * math.sqrt(sum(f) / len(f))))
    sums = [Fraction(0), *accumulate(calm)]
    return [
        (sums[end] - sums[max(0, end - window)]) / min(end, window) for end in range(1, len(sums))
    ]


def recomputed(rows: list[dict[str, str]]) -> dict[str, float | None]:
    """Return all statistics of a stream by the formulas of ``stats --formulas``."""
    f = [time for row in rows if (time := milliseconds(row[column_of(row)])) is not None]
    n, total, up = len(f), sum(f), sorted(f)
    rates = [1000 / time for time in f]
    means, usual = trailing_means(f), Fraction(5, 2) * total / n
    result: Numbers = {
        "frames": n, "duration": total / 1000, "fps": 1000 * n / total, "mean": total / n,
        "min": up[0], "max": up[-1], "frameview.time": (total - f[0]) / 1000,
        "mangohud.mean-of-rates": Fraction(sum(in_parts(each) for each in rates), PARTS * n),
        "capframex.stutters": 100 * Fraction(sum(t > usual for t in f), n),
        "capframex.stuttering-live": 100 * sum(t for t in f if t > usual) / total,
        "capframex.stuttering": 100 * sum(
            t for t, mean in zip(f, means, strict=True) if t > Fraction(5, 2) * mean) / total,
        "capframex.low-fps": 100 * sum(
            t for t, mean in zip(f, means, strict=True)
            if t <= Fraction(5, 2) * mean and 1000 / t < 25) / total,
        "capframex.deviation": Fraction(deviation(f)),
        "capframex.fps-deviation": Fraction(deviation([1000 / t for t in f])),
        "apple.hitches": 1000 * sum(max(Fraction(0), t - REFRESH) for t in f) / total,
        "flutter.jank": sum(t > REFRESH for t in f),
        "android.jank": sum(t > 2 * REFRESH for t in f),
        "android.slow": sum(16 < t <= 700 for t in f),
        "android.frozen": sum(700 < t <= 5000 for t in f),
        "android.not-responding": sum(t > 5000 for t in f),
    }  # fmt: skip
    result |= percentiles(f) | lows(f) | classes(f)
    return {name: None if value is None else float(value) for name, value in result.items()}


def percentiles(f: list[Fraction]) -> Numbers:
    n, total, up = len(f), sum(f), sorted(f)
    down, rates = up[::-1], sorted(1000 / time for time in f)
    result: Numbers = {}
    for percent in ("50", "90", "95", "99", "99.9"):
        result[f"p{percent}"] = up[max(math.ceil(Fraction(percent) / 100 * n) - 1, 0)]
    for tool in ("frameview", "presentmon", "capframex"):
        result |= {f"{tool}.min": 1000 / up[-1], f"{tool}.max": 1000 / up[0]}
    for tool in ("frameview", "presentmon", "capframex", "mangohud"):
        result[f"{tool}.average"] = 1000 * n / total
    for name in ("0.1", "1", "5", "10"):
        result[f"frameview.fps-{name}"] = 1000 / down[math.floor(Fraction(name) / 100 * n)]
    for name, share in (
        *((f"p{each}", Fraction(each) / 100) for each in ("0.1", "0.2", "1", "5", "95", "99")),
        ("median", Fraction(1, 2)),
    ):
        place = (n + Fraction(1, 3)) * share - Fraction(2, 3)
        result[f"capframex.{name}"] = quantile(rates, place)
    for name, share in (("1st", Fraction(99, 100)), ("5th", Fraction(95, 100))):
        result[f"presentmon.{name}"] = 1000 / quantile(up, share * (n - 1))
    result["capframex-linux.low-1"] = result["presentmon.1st"]
    for name in ("0.1", "1", "97"):
        rank = math.floor(Fraction(name) / 100 * n)
        result[f"mangohud.{name}"] = 1000 / down[rank - 1] if rank > 0 else None
    return result


def lows(f: list[Fraction]) -> Numbers:
    """Return the averages of the longest frames, of all the definitions."""
    total, down = sum(f), sorted(f, reverse=True)
    n = len(f)
    result: Numbers = {}
    for name in ("1", "0.2", "0.1"):
        share = Fraction(name) / 100
        longest = down[: math.floor(share * n) + 1]
        result[f"frameview.low-{name}"] = 1000 / (sum(longest) / len(longest))
        limit = quantile(down[::-1], (n + Fraction(1, 3)) * (1 - share) - Fraction(2, 3))
        slow = [t for t in f if t >= limit]
        result[f"capframex.low-{name}"] = 1000 / (sum(slow) / len(slow))
        added = Fraction(0)
        for time in down:
            added += time
            if added >= share * total:
                result[f"capframex.integral-{name}"] = 1000 / time
                break
    return result


def classes(f: list[Fraction]) -> Numbers:
    """Return how many frames, or how much time, is in classes of times and changes."""
    n, total = len(f), sum(f)
    result: Numbers = {}
    changes = [abs(after - before) for before, after in pairwise(f)]
    edges = [0, 2, 4, 8, 12, math.inf]
    for number, (low, high) in enumerate(pairwise(edges), 1):
        inside = sum(low <= change < high for change in changes)
        share = 100 * Fraction(inside, len(changes)) if changes else Fraction(0)
        result[f"capframex.variance-{number}"] = share
    for rate in (10, 15, 30, 45, 60, 75, 90, 120, 144, 240):
        longest = Fraction(1000, rate)
        below = [t for t in f if t > longest]
        result[f"capframex.below-{rate}"] = 100 * sum(below) / total
        result[f"capframex.count-{rate}"] = len(below)
    tolerance = max(REFRESH * Fraction(15, 100), Fraction(1))
    missed = sum(max(0, math.ceil((t - tolerance) / REFRESH) - 1) for t in f)
    result["missed"], result["missed-share"] = missed, 100 * Fraction(missed, n + missed)
    return result


@pytest.mark.parametrize("name", FILES)
def test_that_every_statistic_follows_from_the_raw_file(
    name: str, sample_file: Callable[[str], Path], tmp_path: Path
) -> None:
    # Of the longest only the beginning, unless there is time.
    lines = sample_file(name).read_bytes().splitlines(keepends=True)[: len(rounds(4_000))]
    path = tmp_path / "beginning.csv"
    path.write_bytes(b"".join(lines))
    raw = {key: rows for key, rows in streams(path).items() if any(recomputable(rows))}
    read = {each.name: each.stream() for each in whole(FrameTableReader(path)).streams}
    assert sorted(map(len, raw.values())) == sorted(map(len, read.values()))
    compared = 0
    for (application, process, swap_chain), rows in raw.items():
        words = {"", application, process, swap_chain}
        (stream,) = (each for title, each in read.items() if words <= words_of(title))
        series = TimeSeries(stream.interval_ns / NS_PER_MS, float(REFRESH))
        wanted = recomputed(rows)
        for value in metric_values(series):
            if value.metric.id in wanted:
                compared += 1
                expected = wanted[value.metric.id]
                near = expected if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9)
                assert value.value == near, value.metric.id
    # All that need only frame times.
    assert compared >= 70 * len(raw)


def words_of(title: str) -> set[str]:
    """Return the words of the name of a stream, and nothing, for what a file does not have."""
    return {"", *title.translate(str.maketrans("(),", "   ")).split()}


def recomputable(rows: list[dict[str, str]]) -> list[bool]:
    return [bool(milliseconds(row[column_of(row)])) for row in rows]
