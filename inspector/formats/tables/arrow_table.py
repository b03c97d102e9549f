"""Frame times as a table of Apache Arrow: Parquet files and Arrow files, with pyarrow.

Columns are those of the JSON export, in whole nanoseconds. What it has besides is in the metadata
of the schema, as JSON.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from inspector.errors import CaptureError
from inspector.foreign.files import open_binary
from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_json import column_readers, head_of

PACKAGE: Final = "pyarrow"
_HEAD: Final = b"timeline-inspector"
_PARQUET, _ARROW = b"PAR1", b"ARROW1"
#: A table of more rows is refused: a few bytes of a Parquet file can stand for any number of rows.
_MOST_ROWS: Final = 100_000_000


def write_parquet(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    table = _table(frames, provenance, options)
    import_module("pyarrow.parquet").write_table(table, stream, compression="zstd")


def write_arrow(
    frames: FrameTimes, provenance: Provenance, options: ExportOptions, stream: BinaryIO
) -> None:
    """Write frames as an Arrow file, which programs map into memory as it is."""
    table = _table(frames, provenance, options)
    with import_module(PACKAGE).ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _table(frames: FrameTimes, provenance: Provenance, options: ExportOptions) -> Any:  # noqa: ANN401 - of pyarrow
    columns = {
        name: np.ascontiguousarray(read(frames)) for name, read in column_readers(frames).items()
    }
    head = json.dumps(head_of(frames, provenance, options))
    return import_module(PACKAGE).table(columns, metadata={_HEAD: head.encode()})


def is_arrow(head: bytes) -> bool:
    return head.startswith((_PARQUET, _ARROW))


def read_arrow(path: Path) -> tuple[dict[str, Any], dict[str, NsColumn]]:
    """Return what the JSON export has beside the columns, and the columns of whole numbers."""
    try:
        arrow = import_module(PACKAGE)
    except ImportError:
        message = f"{path} needs {PACKAGE} to be read. Install it: pip install {PACKAGE}"
        raise CaptureError(message) from None
    try:
        with open_binary(path) as file:
            table = _read(arrow, file)
        head = json.loads((table.schema.metadata or {}).get(_HEAD, b"null"))
        columns = {
            name: table.column(name).to_numpy()
            for name in table.column_names
            if table.schema.field(name).type == arrow.int64() and not table[name].null_count
        }
    except (arrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise CaptureError(f"{path} is damaged: {error}. Export it again.") from None
    if not isinstance(head, dict):
        message = f"{path} is a table, but not frame times of the inspector. Write it as CSV."
        raise CaptureError(message)
    return head, columns


def _read(arrow: Any, file: BinaryIO) -> Any:  # noqa: ANN401 - of pyarrow
    is_parquet = file.read(len(_PARQUET)) == _PARQUET
    file.seek(0)
    if not is_parquet:
        return arrow.ipc.open_file(file).read_all()
    parquet = import_module("pyarrow.parquet").ParquetFile(file)
    if parquet.metadata.num_rows > _MOST_ROWS:
        raise ValueError(f"it has more than {_MOST_ROWS:,} rows")
    return parquet.read()
