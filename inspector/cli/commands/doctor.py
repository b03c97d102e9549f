"""The command ``doctor``: what the inspector finds on this machine, and what does not work."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Final

from inspector.cli.command import Command

_EPILOG: Final = """\
Nothing is changed. A report of a fault is easiest to understand with this output, and with
the file that “timeline-inspector --debug …” writes.

examples:
  timeline-inspector doctor
  timeline-inspector doctor --json

Exit code 0 if all works, 1 if something does not.
"""


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")


DOCTOR: Final = Command(_add_arguments, "inspector.cli.doctor:diagnose", _EPILOG)
