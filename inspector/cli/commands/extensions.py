"""The command ``extensions``: what installed packages add, and what of it does not work."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import Any, Final, TextIO

from inspector.cli.command import Subcommand
from inspector.cli.terminal import add_json, write_json
from inspector.environment import EnvironmentProblemError
from inspector.exit_codes import ExitCode
from inspector.extensions import GROUPS, Registry, extensions_text, registry_of
from inspector.window_loader import load_ui

_EPILOG: Final = """\
Packages add panels, importers, exporters and more by entry points. The help page
“Extending” explains how.

examples:
  timeline-inspector extensions
  timeline-inspector extensions --json

Exit code 0 if all extensions work, 1 if one of them does not.
"""


def _run(options: Namespace, out: TextIO, _errors: TextIO) -> int:
    registries = _registries()
    if options.json:
        values = {each.group: [asdict(one) for one in each.extensions] for each in registries}
        write_json(out, values)
    else:
        out.write(extensions_text(registries))
    is_sound = not any(one.problem for each in registries for one in each.extensions)
    return ExitCode.OK if is_sound else ExitCode.FAILED


def _registries() -> list[Registry[Any]]:
    found = [registry_of(group) for group in GROUPS if GROUPS[group]]
    try:
        return [load_ui("actions.panels").PANELS, *found]
    except EnvironmentProblemError:
        return found


EXTENSIONS: Final = Subcommand(add_json, _run, _EPILOG)
