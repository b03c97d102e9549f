"""The command ``schema``: the kinds of events, as a table or as JSON."""

from __future__ import annotations

from argparse import Namespace
from typing import Final, TextIO

from inspector.cli.command import Subcommand
from inspector.cli.terminal import add_json, write_json
from inspector.events.schema import schema_as_data, schema_as_table
from inspector.exit_codes import ExitCode

_EPILOG: Final = """\
Events are five integers: the instant in nanoseconds of session time, the kind, what it is
about (subject), and two numbers (a, b) whose meaning depends on the kind. The help page
“Events” explains the units.

examples:
  timeline-inspector schema
  timeline-inspector schema --json > events.json
"""


def _run(options: Namespace, out: TextIO, _errors: TextIO) -> int:
    if options.json:
        write_json(out, schema_as_data())
    else:
        out.write(schema_as_table())
    return ExitCode.OK


SCHEMA: Final = Subcommand(add_json, _run, _EPILOG)
