"""Breakpoints in a file: JSON with a version, which is read in full or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from inspector.errors import UnreadableFileError
from inspector.events.conditions.breakpoint import Breakpoint, BreakpointError
from inspector.foreign.files import read_whole
from inspector.formats.atomic_file import replacing
from inspector.sessions.breakpoints.breakpoints import MAX_BREAKPOINTS

_VERSION: Final = 1
_FORMAT: Final = "timeline-inspector breakpoints"
#: Larger files are not read, as 200 breakpoints never need as much.
_MAX_BYTES: Final = 1_000_000


def breakpoints_to_json(breakpoints: Sequence[Breakpoint]) -> str:
    values = [breakpoint_.as_values() for breakpoint_ in breakpoints]
    whole = {"format": _FORMAT, "version": _VERSION, "breakpoints": values}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def breakpoints_from_json(text: str) -> list[Breakpoint]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BreakpointError(f"This is not JSON: {error}.") from error
    if not isinstance(whole, dict) or whole.get("format") != _FORMAT:
        raise BreakpointError("This file holds no breakpoints of Timeline Inspector.")
    version = whole.get("version")
    if version != _VERSION:
        raise BreakpointError(
            f"These breakpoints have version {version!r}; this program reads version {_VERSION}. A "
            "newer Timeline Inspector may have written them."
        )
    values = whole.get("breakpoints")
    if not isinstance(values, list) or len(values) > MAX_BREAKPOINTS:
        raise BreakpointError(f"A file holds a list of at most {MAX_BREAKPOINTS} breakpoints.")
    found = []
    for number, each in enumerate(values, 1):
        try:
            found.append(Breakpoint.from_values(each))
        except BreakpointError as error:
            raise BreakpointError(f"Breakpoint {number} of the file: {error}") from error
    return found


def read_breakpoints(path: Path) -> list[Breakpoint]:
    try:
        text = read_whole(path, _MAX_BYTES, "a file of breakpoints").decode()
    except UnreadableFileError as error:
        raise BreakpointError(str(error)) from error
    except UnicodeDecodeError as error:
        raise BreakpointError(f"{path} is not text in UTF-8: {error}.") from error
    try:
        return breakpoints_from_json(text)
    except BreakpointError as error:
        raise BreakpointError(f"{path}: {error}") from error


def write_breakpoints(path: Path, breakpoints: Sequence[Breakpoint]) -> None:
    """Write breakpoints to a file, in full or not at all."""
    with replacing(path) as file:
        file.write(breakpoints_to_json(breakpoints).encode())
