"""The command ``scenes``: its arguments and help."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final, TextIO

from inspector.cli.command import Command


def add_scenes_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of ``scenes`` to its parser."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--json", action="store_true", help="as JSON, for programs")
    which.add_argument(
        "--copy",
        nargs=2,
        metavar=("SCENE", "TO"),
        help="copy a scene to a file or folder of yours, as a start",
    )


def _run(options: Namespace, out: TextIO, _errors: TextIO) -> int:
    from inspector.cli.scenes import list_scenes  # noqa: PLC0415 - others need no scenes

    return list_scenes(options, out)


SCENES: Final = Command(
    "scenes", "", "list the scenes that come with the inspector", add_scenes_arguments, _run
)
