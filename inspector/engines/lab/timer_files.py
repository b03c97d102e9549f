"""Reads timers for the refresh-rate lab: from an argument, or a small CSV or JSON file.

A CSV has a header line and one timer per row; a JSON is an array of objects, or an object with
such an array under ``timers``. Only ``interval`` is required:

* ``name``: name of the timer
* ``interval``: a duration: a number is seconds, otherwise ``250ms``, ``1/60``, ``3 min``
* ``repeat``: calls after the first, as in schedulers; empty for no limit
* ``delay``: duration before the first call; empty or 0 for one interval
"""

import csv
import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Final

from inspector.display_text import in_quotes
from inspector.engines.lab.timer import LabTimer
from inspector.errors import CaptureError
from inspector.foreign.files import read_whole
from inspector.foreign.numbers import count_in, shown
from inspector.formats.csv_cells import text_of_cell
from inspector.timebase import parse_duration_ns

_NAMES: Final = ("name", "interval", "repeat", "delay")
#: Far more than can be compared; a file with more is probably a capture.
_MOST_TIMERS: Final = 200
_LARGEST_FILE: Final = 1_000_000


def parse_timer(text: str) -> LabTimer:
    """Parse ``NAME=INTERVAL`` or ``INTERVAL``, perhaps with ``,repeat=N`` and ``,delay=D``."""
    head, *options = text.split(",")
    name, equals, interval = head.rpartition("=")
    values = {"name": name.strip() if equals else "", "interval": interval.strip()}
    for option in options:
        key, equals, value = option.partition("=")
        key = key.strip().lower()
        if not equals or key not in ("repeat", "delay"):
            raise ValueError(
                f"{in_quotes(option.strip())} is not understood "
                "(write NAME=INTERVAL, then ,repeat=N or ,delay=D)"
            )
        values[key] = value.strip()
    return _timer(values)


def read_timers(path: Path) -> tuple[LabTimer, ...]:
    """Return the timers of a file; the format is recognised by its contents."""
    text = _text(path)
    is_json = text.lstrip()[:1] in ("[", "{")
    timers = _from_json(path, text) if is_json else _from_csv(path, text)
    if not timers:
        raise CaptureError(
            f"{path} has no timers. Write one per row, below the column names {', '.join(_NAMES)}."
        )
    if len(timers) > _MOST_TIMERS:
        raise CaptureError(
            f"{path} has {len(timers):,} timers, more than the {_MOST_TIMERS} that can be compared."
        )
    return tuple(timers)


def _text(path: Path) -> str:
    try:
        return read_whole(path, _LARGEST_FILE, "a table of timers").decode("utf-8-sig")
    except UnicodeDecodeError:
        message = f"{path} is not text in UTF-8. Save it as such or choose another file."
        raise CaptureError(message) from None


def _from_json(path: Path, text: str) -> list[LabTimer]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{path} is not JSON: {error}. Correct it.") from None
    rows = value.get("timers") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise CaptureError(f"{path} has no array of timers. Put them under “timers”.")
    timers = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise CaptureError(
                f"{path}, timer {number}: {in_quotes(json.dumps(row))} is not an object with names."
            )
        timers.append(_checked(path, f"timer {number}", row))
    return timers


def _from_csv(path: Path, text: str) -> list[LabTimer]:
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=separator, strict=True)
    names = [name.strip().lower() for name in reader.fieldnames or ()]
    if "interval" not in names:
        raise CaptureError(
            f"{path} has no column “interval”. Its first line names the columns: "
            f"{', '.join(_NAMES)}."
        )
    reader.fieldnames = names
    timers = []
    try:
        for row in reader:
            if any(row.values()):
                if row.get("name"):
                    row["name"] = text_of_cell(row["name"])
                timers.append(_checked(path, f"line {reader.line_num}", row))
    except csv.Error as error:
        raise CaptureError(f"{path}, line {reader.line_num}: {error}. Correct it.") from None
    return timers


def _checked(path: Path, where: str, row: Mapping[str | None, object]) -> LabTimer:
    unknown = [str(name) for name in row if name not in _NAMES]
    if unknown:
        what = (
            "more cells than names" if None in row else f"an unknown name {in_quotes(unknown[0])}"
        )
        raise CaptureError(f"{path}, {where}: {what}. There are {', '.join(_NAMES)}.")
    values = {str(name): "" if value is None else str(value).strip() for name, value in row.items()}
    try:
        return _timer(values)
    except ValueError as error:
        raise CaptureError(f"{path}, {where}: {error}. Correct it.") from None


def _timer(values: Mapping[str, str]) -> LabTimer:
    interval, delay = values.get("interval", ""), values.get("delay", "")
    if not interval:
        raise ValueError("a timer needs an interval, such as 500ms")
    return LabTimer(
        parse_duration_ns(interval),
        _count(values.get("repeat", "")),
        parse_duration_ns(delay) if delay else 0,
        " ".join(values.get("name", "").split()),
    )


def _count(repeat: str) -> int | None:
    if not repeat:
        return None
    count = count_in(repeat)
    if count is None:
        message = f"repeat is the number of calls after the first, 0 or more: {shown(repeat)}"
        raise ValueError(message)
    return count + 1
