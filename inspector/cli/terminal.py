"""Output that commands share: answers as JSON, problems and notes."""

from __future__ import annotations

import json
from argparse import _ActionsContainer
from typing import Final, TextIO

from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode

PROGRAM: Final = "timeline-inspector"


def write_notes(err: TextIO, *sentences: object) -> None:
    """Write sentences on lines of their own, each after the program's name."""
    err.writelines(f"{PROGRAM}: {sentence}\n" for sentence in sentences)


def add_json(parser: _ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")


def write_json(out: TextIO, values: object) -> None:
    out.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")


def write_error(error: InspectorError, err: TextIO) -> ExitCode:
    write_notes(err, error)
    if error.detail:
        err.write(f"\n{error.detail}\n")
    return error.exit_code
