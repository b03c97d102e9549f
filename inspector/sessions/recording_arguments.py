"""The arguments of the commands about recordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

REPLAY_EPILOG: Final = """\
The scene is built from its file and given the readings of its time source and the
commands that were recorded; what it does is compared event by event.

examples:
  timeline-inspector replay game.tlrec
  timeline-inspector replay game.tlrec --verify --scene moved/game.py

Exit code 6 with --verify if the scene did something else.
"""


def add_replay_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of ``replay``."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the recording (.tlrec)")
    parser.add_argument("--verify", action="store_true", help="exit with 6 if it does not")
    _add_scene(parser)


def add_formats(parser: ArgumentParser) -> None:
    """Add the arguments with which ``export`` chooses formats instead of names."""
    parser.add_argument(
        "--as",
        dest="formats",
        choices=("csv", "json", "svg", "png", "pdf", "pytest"),
        action="append",
        default=[],
        help="write it beside FILE; pytest: a test that runs a recorded scene again",
    )
    _add_scene(parser)


def is_pytest(options: Namespace) -> bool:
    """Return whether ``export`` is to write a test; else add the names of what it writes.

    Raises:
        SystemExit: The arguments make no sense; it was said on stderr.
    """
    if not options.output and not options.formats:
        options.parser.error("the following arguments are required: -o/--output, or --as")
    if "pytest" in options.formats:
        if len(options.formats) > 1:
            options.parser.error("--as pytest goes alone")
        return True
    named = {path.suffix for path in options.output}
    options.output += [
        Path(options.file).with_suffix(f".{each}")
        for each in options.formats
        if f".{each}" not in named
    ]
    return False


def _add_scene(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scene", metavar="FILE", type=Path, help="the recorded scene's file, if it has moved"
    )
