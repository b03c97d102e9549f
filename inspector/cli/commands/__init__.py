"""The commands that need no window, one entry each.

A new command is a file here with a :class:`~inspector.cli.command.Subcommand`, and its entry in
:data:`COMMANDS`; the overview, ``--help`` and the window's own arguments follow from it. The
file is imported only when its command is typed.
"""

from __future__ import annotations

from typing import Final

from inspector.cli.command import CommandEntry
from inspector.extensions import Registry


def _check(entry: CommandEntry) -> str:
    """Return why a command of another package cannot be offered; empty if it can."""
    is_word = entry.name.replace("-", "").isalnum() and not entry.name.startswith("-")
    if not is_word:
        return f"“{entry.name}” is not one word"
    if not entry.summary.strip():
        return "it has no summary"
    return "its place begins with a dot" if entry.place.startswith(".") else ""


#: In the order in which help lists them.
COMMANDS: Final = Registry(
    "commands",
    CommandEntry,
    (
        CommandEntry(
            "run",
            "SCENE",
            "run a scene without a window, report on its timers and frames, export graphs",
            ".run:RUN",
        ),
        CommandEntry(
            "attach",
            "PROGRAM",
            "launch any program and see its time, or attach to one that runs (attach lists them)",
            ".attach:ATTACH",
            runs_another=True,
        ),
        CommandEntry(
            "export",
            "FILE …",
            "write frame times as graphs, tables and reports, recordings as traces and tests",
            ".export:EXPORT",
        ),
        CommandEntry(
            "replay",
            "FILE",
            "run a recorded scene again and check that it does the same",
            ".recordings:REPLAY",
        ),
        CommandEntry(
            "annotate",
            "FILE",
            "list, add and remove bookmarks, notes and named ranges in a recording",
            ".recordings:ANNOTATE",
        ),
        CommandEntry(
            "lab",
            "",
            "run timers or a scene at different display rates, side by side with other engines",
            "inspector.engines.lab.command:LAB",
        ),
        CommandEntry(
            "explain",
            "SCENE TIMER",
            "explain why a timer has not fired, or fired when it did",
            ".explain:EXPLAIN",
        ),
        CommandEntry(
            "late",
            "FILE | SCENE | -- PROGRAM",
            "list the calls that were late, each with what made it late",
            ".late:LATE",
            runs_another=True,
        ),
        CommandEntry(
            "lint", "SCENE", "find problems in the timers of a scene or recording", ".explain:LINT"
        ),
        CommandEntry(
            "stats",
            "FILE …",
            "statistics of frame times, as each tool defines them; conditions for CI",
            ".statistics:STATS",
        ),
        CommandEntry(
            "compare",
            "BEFORE AFTER",
            "how the frame times of two files differ, and how certain that is",
            ".statistics:COMPARE",
        ),
        CommandEntry(
            "query",
            "SQL FILE …",
            "select from the frames and statistics of files by SQL",
            ".query:QUERY",
        ),
        CommandEntry(
            "scenes", "", "list the scenes that come with the inspector", ".scenes:SCENES"
        ),
        CommandEntry(
            "schema", "", "list the kinds of events and what their numbers mean", ".schema:SCHEMA"
        ),
        CommandEntry(
            "serve",
            "[-- PROGRAM]",
            "answer requests of scripts, editors and other programs (JSON-RPC)",
            ".serve:SERVE",
            runs_another=True,
        ),
        CommandEntry(
            "mcp",
            "[-- PROGRAM]",
            "serve tools for assistants (Model Context Protocol)",
            ".serve:MCP",
            runs_another=True,
        ),
        CommandEntry(
            "extensions",
            "",
            "list what installed packages add to the inspector",
            ".extensions:EXTENSIONS",
        ),
        CommandEntry(
            "doctor",
            "",
            "list what the inspector finds on this machine, and what does not work",
            ".doctor:DOCTOR",
        ),
        CommandEntry(
            "completion",
            "SHELL",
            "print what completes commands and options in bash, zsh or fish",
            ".completion:COMPLETION",
        ),
    ),
    names=lambda each: (each.name,),
    check=_check,
)
