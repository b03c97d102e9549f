"""Reads CapFrameX JSON: one or more runs of a program, as columns of numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.time_series import FrameFacts, joined
from inspector.display_text import counted
from inspector.errors import CaptureError
from inspector.formats.captures.beside import KnownColumn, KnownColumns, damage_text, joined_columns
from inspector.formats.captures.capture import Capture, Stream, date_in, short_name
from inspector.formats.captures.source import CaptureSource
from inspector.formats.frame_times import NsColumn
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

#: Far more than a capture needs: an hour of frames takes some ten megabytes.
_MOST_BYTES: Final = 1 << 29
_LONGEST_NS: Final = 100 * NS_PER_SECOND
#: A year.
_LONGEST_S: Final = 31_557_600.0
#: Columns of a run that have a value for each frame, all in milliseconds.
_PER_FRAME: Final = (
    *("MsBetweenDisplayChange", "MsInPresentAPI", "MsUntilRenderComplete", "MsUntilDisplayed"),
    *("PcLatency", "AnimationError", "GpuActive", "CpuActive"),
)
_SENSOR_UNITS: Final = {
    "load": "%",
    "control": "%",
    "temperature": "°C",
    "power": "W",
    "clock": "MHz",
    "voltage": "V",
    "current": "A",
    "data": "GB",
    "smalldata": "MB",
    "fan": "rpm",
}
#: The sensors that older versions know: name and type of each.
_OLD_SENSORS: Final = {
    "CpuUsage": ("CPU Total", "Load"),
    "CpuMaxThreadUsage": ("CPU Max", "Load"),
    "CpuMaxClock": ("CPU Max", "Clock"),
    "CpuPower": ("CPU Package", "Power"),
    "CpuTemp": ("CPU Package", "Temperature"),
    "GpuUsage": ("GPU Core", "Load"),
    "GpuClock": ("GPU Core", "Clock"),
    "GpuPower": ("GPU", "Power"),
    "GpuTemp": ("GPU Core", "Temperature"),
    "RamUsage": ("Used Memory", "Data"),
    "VRamUsage": ("GPU Memory Dedicated", "SmallData"),
    "VRamUsageGB": ("GPU Memory Dedicated", "Data"),
}
_KEYS: Final = re.compile(rb'"(Runs|Info|CaptureData|PresentMonRuntime)"\s*:')


class _Data(msgspec.Struct):
    frame_times: list[Any] | None = msgspec.field(default=None, name="MsBetweenPresents")
    displayed: list[Any] | None = msgspec.field(default=None, name="MsBetweenDisplayChange")
    animation_error: list[Any] | None = msgspec.field(default=None, name="AnimationError")
    seconds: list[Any] | None = msgspec.field(default=None, name="TimeInSeconds")


class _Run(msgspec.Struct):
    columns: Any = msgspec.field(default=None, name="CaptureData")
    sensors: Any = msgspec.field(default=None, name="SensorData2")
    old_sensors: Any = msgspec.field(default=None, name="SensorData")

    @property
    def data(self) -> _Data | None:
        return None if self.columns is None else msgspec.convert(self.columns, _Data)


class _Info(msgspec.Struct):
    game: Any = msgspec.field(default="", name="GameName")
    process: Any = msgspec.field(default="", name="ProcessName")
    created: Any = msgspec.field(default="", name="CreationDate")


class _File(msgspec.Struct):
    info: _Info | None = msgspec.field(default=None, name="Info")
    runs: list[_Run] | None = msgspec.field(default=None, name="Runs")


def is_capframex(head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith(b"{") and _KEYS.search(head) is not None and b'"Info"' in head


class CapFrameXReader:
    """Reads the runs in a file at once: they have to be parsed as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source = CaptureSource(path)
        self._pieces = self._source.pieces()
        self._text = bytearray()
        self._file = _File()
        self._runs: list[tuple[_Run, _Data | None]] = []

    @property
    def done(self) -> float:
        return self._source.done

    def read_on(self) -> bool:
        piece = next(self._pieces, None)
        if piece is not None:
            self._text += piece
            if len(self._text) > _MOST_BYTES:
                message = f"{self._path} is too large for a capture of CapFrameX."
                raise CaptureError(message)
            return True
        try:
            text = bytes(self._text).removeprefix(b"\xef\xbb\xbf")
            self._file = msgspec.json.decode(text, type=_File)
            self._runs = [(each, each.data) for each in self._file.runs or ()]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            message = f"{self._path} is a damaged capture of CapFrameX: {error}."
            raise CaptureError(message) from None
        self._text.clear()
        return False

    def capture(self) -> Capture:
        """Return the runs, all together first if there are several."""
        info = self._file.info or _Info()
        # Files of old versions have the two swapped.
        names = sorted(map(str, filter(None, (info.game, info.process))))
        program = short_name(names[0]) if names else ""
        runs = [
            _stream(f"{program}, run {number}", run, data, data.frame_times)
            for number, (run, data) in enumerate(self._runs, 1)
            if data is not None and data.frame_times
        ]
        runs = [each for each in runs if len(each)]
        if not runs:
            message = f"{self._path} has no run with frame times. Choose another capture."
            raise CaptureError(message)
        if len(runs) == 1:
            streams = [_named(runs, program)]
        else:
            # As in CapFrameX, statistics of all runs are over all frames, not means of the runs.
            streams = [_named(runs, f"{program}, all {len(runs)} runs"), *runs]
        return Capture(
            *("CapFrameX", tuple(streams)),
            notes=tuple(self._source.notes),
            path=self._path,
            created=date_in(str(info.created)),
        )


def _named(runs: list[Stream], name: str) -> Stream:
    at_ns = [each.frames().at_ns for each in runs]
    ends_ns = np.cumsum([0, *(int(each[-1]) for each in at_ns)])
    return Stream(
        name=name,
        column=runs[0].column,
        interval_ns=np.concatenate([each.interval_ns for each in runs]),
        at_ns=np.concatenate([at + end for at, end in zip(at_ns, ends_ns, strict=False)]),
        skipped=sum(each.skipped for each in runs),
        notes=tuple(dict.fromkeys(note for each in runs for note in each.notes)),
        facts=joined([each.facts for each in runs], list(map(len, runs))),
        beside=joined_columns(
            [each.beside for each in runs if isinstance(each.beside, KnownColumns)]
        ),
    )


def _damage_in(name: str, values: list[Any]) -> str:
    """Return how many values of a column are neither numbers nor missing, as a sentence."""
    odd = [
        place
        for place, value in enumerate(values)
        if value is not None and value != "NaN" and type(value) not in {int, float, bool}
    ]
    return damage_text(name, len(odd), f"number {odd[0] + 1:,}" if odd else "")


def _numbers(values: list[Any] | None, missing: float, count: int) -> NDArray[np.float64] | None:
    """Return the numbers of a column, ``None`` for one that is missing or of another length."""
    if values is None or len(values) != count:
        return None
    return np.array(
        [value if type(value) in (int, float) else missing for value in values], dtype=np.float64
    )


def _stream(name: str, run: _Run, data: _Data, values: list[Any]) -> Stream:
    numbers = _numbers(values, -1, len(values))
    assert numbers is not None, "it is as long as itself"
    displayed = _numbers(data.displayed, np.nan, len(values))
    if displayed is not None:
        displayed[displayed <= 0] = np.nan
    facts = FrameFacts(_numbers(data.animation_error, np.nan, len(values)), displayed)
    with np.errstate(all="ignore"):
        is_usable = (numbers >= 0) & (numbers * NS_PER_MS <= _LONGEST_NS)
    interval_ns = np.rint(numbers[is_usable] * NS_PER_MS).astype(np.int64)
    seconds = _numbers(data.seconds, np.nan, len(values))
    skipped = int(len(numbers) - np.count_nonzero(is_usable))
    at_ns = None if seconds is None else _ends_ns(seconds[is_usable], interval_ns)
    ends_ns = np.cumsum(interval_ns) if at_ns is None else at_ns
    columns = (*_per_frame(run.columns, len(values), is_usable), *_sensors(run, ends_ns))
    are = counted(skipped, "value is", "values are")
    first = f"; the first is number {int(np.argmin(is_usable)) + 1:,} of the run"
    return Stream(
        name=name,
        column="MsBetweenPresents",
        interval_ns=interval_ns,
        at_ns=at_ns,
        skipped=skipped,
        notes=(f"{are} not a frame time and skipped{first}.",) if skipped else (),
        facts=facts.kept(is_usable),
        beside=KnownColumns(columns, 0, len(interval_ns)),
    )


def _per_frame(data: object, count: int, is_usable: NDArray[np.bool_]) -> Iterator[KnownColumn]:
    """Yield the columns that have a value for each frame, unless all are 0: not measured."""
    for name in _PER_FRAME:
        values = data.get(name) if isinstance(data, dict) else None
        numbers = _numbers(values, np.nan, count) if isinstance(values, list) else None
        if numbers is not None and np.nan_to_num(numbers).any():
            damage = _damage_in(name, values or [])
            yield KnownColumn(name, "ms", numbers[is_usable], damage=damage)
    flags = data.get("Dropped") if isinstance(data, dict) else None
    if isinstance(flags, list) and len(flags) == count:
        dropped = np.array([each is True or each == 1 for each in flags], dtype=np.float64)
        yield KnownColumn("Dropped", "", dropped[is_usable], is_flag=True)


def _sensors(run: _Run, ends_ns: NsColumn) -> Iterator[KnownColumn]:
    """Yield the sensors of a run: a reading is about the time since the reading before.

    CapFrameX weights its averages by this time too. Frames that end after the last reading have
    no value.
    """
    entries = dict(_sensor_entries(run))
    times = entries.pop(("MeasureTime", "Time"), None)
    read_at = None if times is None else _readings(times)
    if read_at is None or not len(read_at) or not (np.diff(read_at) >= 0).all():
        return
    places = np.searchsorted(read_at * NS_PER_SECOND, ends_ns)
    places[places == len(read_at)] = -1
    names = Counter(name for name, _ in entries)
    for (name, kind), values in entries.items():
        if kind == "Time" or len(values) != len(read_at):
            continue
        shown = name if names[name] == 1 and kind.lower() in name.lower() else f"{name} {kind}"
        unit, damage = _SENSOR_UNITS.get(kind.lower(), ""), _damage_in(shown, values)
        yield KnownColumn(shown, unit, _readings(values), places, damage=damage)


def _sensor_entries(run: _Run) -> Iterator[tuple[tuple[str, str], list[Any]]]:
    if isinstance(run.sensors, dict) and run.sensors:
        for each in run.sensors.values():
            values = each.get("Values") if isinstance(each, dict) else None
            if isinstance(values, list):
                yield ((str(each.get("Name", "")), str(each.get("Type", ""))), values)
    elif isinstance(run.old_sensors, dict):
        known = {"MeasureTime": ("MeasureTime", "Time"), **_OLD_SENSORS}
        for key, identity in known.items():
            values = run.old_sensors.get(key)
            if isinstance(values, list) and values:
                yield identity, values


def _readings(values: list[Any]) -> NDArray[np.float64]:
    numbers = _numbers(values, np.nan, len(values))
    assert numbers is not None, "it is as long as itself"
    return numbers


def _ends_ns(seconds: NDArray[np.float64], interval_ns: NsColumn) -> NsColumn | None:
    """Return when frame times end by the clock of the run, ``None`` if it has none for all."""
    if not len(seconds) or not (np.diff(seconds, prepend=-_LONGEST_S) >= 0).all():
        return None
    if not seconds[-1] < _LONGEST_S:
        return None
    at_ns: NsColumn = np.rint((seconds - seconds[0]) * NS_PER_SECOND).astype(np.int64)
    at_ns += interval_ns[0]
    return at_ns
