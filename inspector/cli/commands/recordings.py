"""The commands ``replay`` and ``annotate``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from inspector.cli.command import Subcommand
from inspector.cli.commands.values import number_of_one

REPLAY_EPILOG: Final = """\
The scene is built from its file and fed the recorded readings of its time source and
the recorded commands; its events are compared one by one.

examples:
  timeline-inspector replay game.tlrec
  timeline-inspector replay game.tlrec --verify --scene moved/game.py

A file that has changed since the recording is not run without --anyway.

Exit code 6 with --verify if the scene behaved differently; 8 if the recording lacks what is
needed to run it again.
"""

ANNOTATE_EPILOG: Final = """\
T is session time (12.5, 02:10.5), a frame (“frame 812”), an offset from the end (-1s),
or, after --until, an offset from the beginning (+1.5s). With a name, the annotation is a
bookmark; with --until, a named range; with a text only, a note. Nothing else in the file
changes.

examples:
  timeline-inspector annotate game.tlrec
  timeline-inspector annotate game.tlrec --at 02:10.5 --name "boss arrives"
  timeline-inspector annotate game.tlrec --at "frame 812" --until +1.5s --name "boss fight"
  timeline-inspector annotate game.tlrec --at 95 --text "Why is the boss late here?"
  timeline-inspector annotate game.tlrec --change 3 --name "boss is late"
  timeline-inspector annotate game.tlrec --remove 3

Exit code 1 if the file cannot be written, 9 if it cannot be read; 2 if there is no such
instant or number.
"""


def add_replay_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the recording (.tlrec)")
    parser.add_argument(
        "--verify", action="store_true", help="exit with code 6 if it behaves differently"
    )
    parser.add_argument(
        "--anyway", action="store_true", help="run the scene even if its file has changed since"
    )
    add_scene(parser)


def add_annotate_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="RECORDING", type=Path, help="the recording (.tlrec)")
    what = parser.add_argument_group("action (default: list)")
    acts = what.add_mutually_exclusive_group()
    acts.add_argument("--list", action="store_true", help="list the annotations")
    acts.add_argument(
        "--remove",
        metavar="N",
        type=number_of_one,
        action="append",
        help="remove an annotation; may be repeated",
    )
    acts.add_argument("--change", metavar="N", type=number_of_one, help="change an annotation")
    what.add_argument("--json", action="store_true", help="list as JSON")
    words = parser.add_argument_group("what to add or change")
    words.add_argument("--at", metavar="T", help="instant, or where the range begins")
    words.add_argument("--until", metavar="T", help="where the range ends; makes a named range")
    words.add_argument("--name", metavar="TEXT", help="name")
    words.add_argument("--text", metavar="TEXT", help="text of the note")
    kinds = words.add_mutually_exclusive_group()
    kinds.add_argument("--note", action="store_true", help="make a note, although it has a name")
    kinds.add_argument("--bookmark", action="store_true", help="make a bookmark")
    parser.set_defaults(parser=parser)


def check_annotate_arguments(options: Namespace) -> None:
    words = (options.at, options.until, options.name, options.text)
    has_words = any(each is not None for each in words) or options.note or options.bookmark
    if has_words and (options.list or options.remove):
        options.parser.error("--list and --remove take no --at, --until, --name or --text")
    if options.until is not None and (options.note or options.bookmark):
        options.parser.error("a note or a bookmark has no --until")
    if options.change is not None and not has_words:
        options.parser.error("name what --change should change: --at, --until, --name or --text")
    if options.json and (has_words or options.remove):
        options.parser.error("--json only lists; omit it to add, change or remove")


def add_scene(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scene", metavar="FILE", type=Path, help="the recorded scene's file, if it has moved"
    )


REPLAY: Final = Subcommand(
    add_replay_arguments, "inspector.cli.recordings:replay_recording", REPLAY_EPILOG
)
ANNOTATE: Final = Subcommand(
    add_annotate_arguments,
    "inspector.cli.recordings:annotate_recording",
    ANNOTATE_EPILOG,
    check_annotate_arguments,
)
