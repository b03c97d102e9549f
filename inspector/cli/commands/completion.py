"""The command ``completion``: prints what completes commands and options in a shell."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator
from typing import Final, TextIO

import shtab

from inspector.cli.command import Subcommand
from inspector.exit_codes import ExitCode

_EPILOG: Final = """\
Load it where the shell starts:
  bash   timeline-inspector completion bash >> ~/.bash_completion
  zsh    timeline-inspector completion zsh > ~/.zfunc/_timeline-inspector
         (with “fpath+=~/.zfunc” before “compinit” in ~/.zshrc)
  fish   timeline-inspector completion fish > ~/.config/fish/completions/timeline-inspector.fish
"""
#: What an argument completes to, by a word in its ``metavar``.
_COMPLETED: Final = {
    "PROGRAM": {
        "bash": "_timeline_inspector_program",
        "zsh": "_timeline_inspector_program",
        "fish": "(__fish_complete_command; __fish_complete_path (commandline -ct))",
        "preamble": {
            "bash": '_timeline_inspector_program() { compgen -c -- "$1"; compgen -f -- "$1"; }',
            "zsh": "_timeline_inspector_program() {"
            " [[ $words[1] == -- ]] && { shift words; (( CURRENT-- )) }; _normal; }",
        },
    },
    "FILE": shtab.FILE,
    "SCENE": shtab.FILE,
    "BEFORE": shtab.FILE,
    "AFTER": shtab.FILE,
    "DIR": shtab.DIRECTORY,
}

#: Replacements in shtab's script, by shell. In place of a command, files complete too, because the
#: window opens them; and zsh can also load the script with “source”.
_REPLACED: Final = {
    "bash": [("complete -o bashdefault", "complete -o bashdefault -o default")],
    "zsh": [
        ("inspector commands' _commands\n", "inspector commands' _commands\n  _files\n"),
        ("$zsh_eval_context[-1] == eval", "$zsh_eval_context[-1] != loadautofunc"),
    ],
    "fish": [
        (
            "timeline-inspector -f\n",
            """timeline-inspector -f
complete -c timeline-inspector -n '_shtab_timeline_inspector_using; \
and test $_shtab_timeline_inspector_npos -eq 0' -ka "(__fish_complete_path (commandline -ct))"
""",
        )
    ],
}


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
    for written, wanted in _REPLACED[options.shell]:
        script = script.replace(written, wanted)
    out.write(script + "\n")
    return ExitCode.OK


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to them
        yield action
        if isinstance(action, _SubParsersAction):
            # Undo SUPPRESS, which is for the overview: shtab would leave out the commands.
            action.help = None
            for command in action.choices.values():
                yield from _actions(command)


COMPLETION: Final = Subcommand(add_completion_arguments, write_completion, _EPILOG)
