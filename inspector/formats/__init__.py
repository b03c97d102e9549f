"""Importers and exporters, one per file.

The names most callers need are found here without loading numpy before it is used.
"""

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from inspector.formats.captures import Capture, read_frame_times, split_column
    from inspector.formats.export import (
        EXPORTERS,
        Exporter,
        check_export,
        export_frames,
        exporter_for,
    )
    from inspector.formats.frame_times import (
        FrameTimes,
        Measure,
        Provenance,
        parse_frame_range,
    )
    from inspector.formats.options import DEFAULT_BUDGETS_MS, ExportOptions

_HOMES: Final = {
    "Capture": "captures",
    "read_frame_times": "captures",
    "split_column": "captures",
    "EXPORTERS": "export",
    "Exporter": "export",
    "check_export": "export",
    "export_frames": "export",
    "exporter_for": "export",
    "FrameTimes": "frame_times",
    "Measure": "frame_times",
    "Provenance": "frame_times",
    "parse_frame_range": "frame_times",
    "DEFAULT_BUDGETS_MS": "options",
    "ExportOptions": "options",
}

__all__ = [
    "DEFAULT_BUDGETS_MS",
    "EXPORTERS",
    "Capture",
    "ExportOptions",
    "Exporter",
    "FrameTimes",
    "Measure",
    "Provenance",
    "check_export",
    "export_frames",
    "exporter_for",
    "parse_frame_range",
    "read_frame_times",
    "split_column",
]


def __getattr__(name: str) -> object:
    """Return a public name from the module it lives in."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
