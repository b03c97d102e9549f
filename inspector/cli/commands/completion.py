"""The command ``completion``: prints what completes commands and options in a shell."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator
from typing import Final, TextIO

import shtab

from inspector.cli.command import Command
from inspector.exit_codes import ExitCode

_EPILOG: Final = """\
Load it where the shell starts:
  bash   timeline-inspector completion bash >> ~/.bash_completion
  zsh    timeline-inspector completion zsh > ~/.zfunc/_timeline-inspector
         (with “fpath+=~/.zfunc” before “compinit” in ~/.zshrc)
  fish   timeline-inspector completion fish > ~/.config/fish/completions/timeline-inspector.fish
"""
#: What is completed for an argument, by a word in how help names it.
_COMPLETED: Final = {"FILE": shtab.FILE, "SCENE": shtab.FILE, "DIR": shtab.DIRECTORY}


def add_completion_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def write_completion(options: Namespace, out: TextIO, _errors: TextIO) -> int:
    from inspector.cli.main import build_parser  # which loads this file

    parser = build_parser()
    for action in _actions(parser):
        for word, completed in _COMPLETED.items():
            if action.choices is None and word in str(action.metavar):
                action.complete = completed  # type: ignore[attr-defined] # read by shtab
    script = shtab.complete(parser, options.shell)
    # Files in place of a command, which the window opens.
    out.write(
        script.replace("complete -o bashdefault", "complete -o bashdefault -o default") + "\n"
    )
    return ExitCode.OK


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to them
        yield action
        if isinstance(action, _SubParsersAction):
            # Suppressed in the overview, which lists the commands itself.
            action.help = None
            for command in action.choices.values():
                yield from _actions(command)


COMPLETION: Final = Command(add_completion_arguments, write_completion, _EPILOG)
