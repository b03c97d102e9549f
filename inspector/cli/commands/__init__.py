"""The commands that need no window: one entry for each.

A new command is a file here with a :class:`~inspector.cli.command.Command`, and its entry in
:data:`COMMANDS`; the overview, ``--help`` and the window's own arguments follow from it.
"""

from __future__ import annotations

from typing import Final

from inspector.cli.commands.explain import EXPLAIN, LINT
from inspector.cli.commands.lab import LAB
from inspector.cli.commands.recordings import ANNOTATE, REPLAY
from inspector.cli.commands.run import EXPORT, RUN
from inspector.cli.commands.scenes import SCENES
from inspector.cli.commands.schema import SCHEMA

#: In the order in which help lists them.
COMMANDS: Final = (RUN, EXPORT, REPLAY, ANNOTATE, LAB, EXPLAIN, LINT, SCENES, SCHEMA)
