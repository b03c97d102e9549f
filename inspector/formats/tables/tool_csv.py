"""Frame times in the columns of other capture tools, for programs that read these.

A session has less than these tools capture. A missing value is written as the tools do: ``NA`` for
PresentMon's durations, otherwise 0. A capture that has the columns of a tool keeps their values; as
PresentMon, its other columns follow.
Instants in these tools are a frame time apart, so those of a session are too, even if session time
stood still; a capture keeps its own instants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, Final

import numpy as np

from inspector.errors import ExportError
from inspector.formats.csv_cells import quoted, text_cell
from inspector.formats.drawing.font_metrics import plain
from inspector.formats.frame_times import CAPTURED, FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import DECIMALS_OF_MS
from inspector.formats.tables.number_cells import Cells, number_rows
from inspector.timebase import NS_PER_SECOND

_DECIMALS_OF_S: Final = 9
#: Columns of PresentMon 1.x, which all of its versions and readers know.
_PRESENTMON: Final = (
    "Application",
    "ProcessID",
    "SwapChainAddress",
    "Runtime",
    "SyncInterval",
    "PresentFlags",
    "AllowsTearing",
    "PresentMode",
    "Dropped",
    "TimeInSeconds",
    "MsBetweenPresents",
    "MsBetweenDisplayChange",
    "MsInPresentAPI",
    "MsUntilRenderComplete",
    "MsUntilDisplayed",
)
_MANGOHUD_SYSTEM: Final = ("os", "cpu", "gpu", "ram", "kernel", "driver", "cpuscheduler")
_MANGOHUD: Final = (
    "fps",
    "frametime",
    "cpu_load",
    "cpu_power",
    "gpu_load",
    "cpu_temp",
    "gpu_temp",
    "gpu_core_clock",
    "gpu_mem_clock",
    "gpu_vram_used",
    "gpu_power",
    "ram_used",
    "swap_used",
    "process_rss",
    "elapsed",
)


def write_presentmon(
    frames: FrameTimes, provenance: Provenance, _options: ExportOptions, stream: BinaryIO
) -> None:
    """Write frames in the columns of PresentMon: a frame is a present."""
    _refuse_samples(frames, "PresentMon")
    columns: dict[str, Cells] = {
        "Application": _text(provenance.scene or "session"),
        "SwapChainAddress": b"0x0",
        "Runtime": b"Other",
        "PresentMode": b"Other",
        "TimeInSeconds": (_instants_ns(frames, provenance), _DECIMALS_OF_S),
        **dict.fromkeys(_PRESENTMON[_PRESENTMON.index("MsBetweenDisplayChange") :], b"NA"),
        "MsBetweenPresents": (frames.interval_ns, DECIMALS_OF_MS),
    }
    others = () if frames.beside is None else frames.beside.names
    _write((*_PRESENTMON, *others), columns, frames, stream)


def write_mangohud(
    frames: FrameTimes, provenance: Provenance, _options: ExportOptions, stream: BinaryIO
) -> None:
    _refuse_samples(frames, "MangoHud")
    about = (
        _text(provenance.software),
        *[b""] * (len(_MANGOHUD_SYSTEM) - 1),
    )
    stream.write(",".join(_MANGOHUD_SYSTEM).encode() + b"\r\n" + b",".join(about) + b"\r\n")
    times_ns = frames.interval_ns
    milli_fps = np.divide(
        1_000 * NS_PER_SECOND, times_ns, where=times_ns > 0, out=np.zeros(len(frames))
    )
    columns: dict[str, Cells] = {
        "fps": (np.rint(milli_fps).astype(np.int64), 3),
        "frametime": (times_ns, DECIMALS_OF_MS),
        "elapsed": (_instants_ns(frames, provenance), 0),
    }
    _write(_MANGOHUD, columns, frames, stream)


def _instants_ns(frames: FrameTimes, provenance: Provenance) -> NsColumn:
    is_captured = provenance.source == CAPTURED
    return frames.at_ns if is_captured else np.cumsum(frames.interval_ns)


def _write(
    names: tuple[str, ...], columns: Mapping[str, Cells], frames: FrameTimes, stream: BinaryIO
) -> None:
    """Write columns: given numbers, else the capture's values, else a given text, else 0."""
    beside = frames.beside
    known = {} if beside is None else {name.lower(): at for at, name in enumerate(beside.names)}
    chosen = {name.lower(): name for name in reversed(names) if name}
    own = [name for name in dict.fromkeys(names) if chosen.get(name.lower()) == name]
    cells = [columns.get(name, b"0") for name in own]
    taken = [
        place
        for place, (name, cell) in enumerate(zip(own, cells, strict=True))
        if isinstance(cell, bytes) and name.lower() in known
    ]
    heading = ",".join(quoted(text_cell(plain(name))) for name in own)
    stream.write(heading.encode(errors="replace") + b"\r\n")
    if beside is None or not taken:
        stream.writelines(text for _rows, text in number_rows(cells, len(frames)))
        return
    start = 0
    for parts in beside.cells([known[own[place].lower()] for place in taken]):
        stop = start + len(parts[0].lengths)
        here = [
            (cell[0][start:stop], cell[1]) if isinstance(cell, tuple) else cell for cell in cells
        ]
        for place, part in zip(taken, parts, strict=True):
            here[place] = part
        stream.writelines(text for _rows, text in number_rows(here, stop - start))
        start = stop


def _text(text: str) -> bytes:
    return quoted(text_cell(plain(text))).encode(errors="replace")


def _refuse_samples(frames: FrameTimes, tool: str) -> None:
    if frames.samples:
        message = f"These are samples and not every frame, which a table of {tool} has to hold."
        raise ExportError(message)
