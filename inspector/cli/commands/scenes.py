"""The command ``scenes``: lists the bundled scenes, and copies one."""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final, TextIO

from inspector.cli.command import Subcommand
from inspector.cli.terminal import add_json, write_json
from inspector.errors import ExportError
from inspector.exit_codes import ExitCode
from inspector.foreign.paths import is_folder, is_there
from inspector.formats.atomic_file import replacing
from inspector.sessions.scene import built_in_scenes, find_scene


def add_scenes_arguments(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    add_json(which)
    which.add_argument(
        "--copy",
        nargs=2,
        metavar=("SCENE", "TO"),
        help="copy a scene to a file or folder, as a starting point",
    )


def list_scenes(options: Namespace, out: TextIO, _errors: TextIO) -> int:
    """List the scenes, or copy one as ``--copy`` says; return the exit code."""
    if options.copy:
        return _copy_scene(find_scene(options.copy[0]), Path(options.copy[1]), out)
    scenes = built_in_scenes()
    if options.json:
        values = [
            {"path": str(scene.path), "title": scene.title, "summary": scene.summary}
            for scene in scenes
        ]
        write_json(out, values)
        return ExitCode.OK
    for scene in scenes:
        number, _, name = scene.path.stem.partition("_")
        out.write(f"{number.lstrip('0')}  {name}: {scene.title}\n")
        out.write(textwrap.indent(textwrap.fill(scene.summary, 80), "   ") + "\n")
        out.write(f"   {scene.path}\n\n")
    out.write(
        "Open one with “timeline-inspector 2”, run one with “timeline-inspector run 2 --seconds "
        "60”,\n"
        "begin your own with “timeline-inspector scenes --copy minimal my_scene.py”.\n"
    )
    return ExitCode.OK


def _copy_scene(scene: Path, target: Path, out: TextIO) -> int:
    path = target / scene.name if is_folder(target) else target
    if is_there(path):
        raise ExportError(f"{path} exists. Choose another name.")
    with replacing(path) as copy:
        copy.write(scene.read_bytes())
    out.write(f"{path}\n")
    return ExitCode.OK


SCENES: Final = Subcommand(add_scenes_arguments, list_scenes)
