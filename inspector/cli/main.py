"""The command line: the commands of ``timeline-inspector`` that need no window.

Nothing here needs Qt; only PNG and PDF are drawn by it, through the launcher.
"""

from __future__ import annotations

import argparse
import errno
import io
import logging
import os
import re
import signal
import sys
import textwrap
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

from typing_extensions import override

from inspector import __version__
from inspector.cli.command import CommandEntry, Subcommand
from inspector.cli.commands import COMMANDS
from inspector.cli.terminal import PROGRAM, write_error, write_notes
from inspector.clocks.failures import RequestedInterrupt
from inspector.environment import installed_version
from inspector.errors import InspectorError, SceneError
from inspector.exit_codes import ExitCode
from inspector.extensions import logger as extension_problems
from inspector.foreign.paths import is_file
from inspector.stop_signals import StopSignals, exit_code_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

#: Reasons why output cannot be written, and what to do about each.
_NOT_WRITTEN: Final = dict.fromkeys(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "Free some space"
) | {errno.EBADF: "The scene, or who started this command, has closed it"}

_DESCRIPTION: Final = (
    "See, stop, slow, step, explain and prove time in a running frame-driven program."
)

#: The ways to open the window: arguments and summary.
_WINDOW: Final = (
    ("", "open the window on a small game"),
    ("SCENE", "open the window on your own scene"),
    ("FILE.tlrec", "open the window on a recording"),
    ("FILE [FILE ...]", "open captures of other programs, each in its window"),
)
_SCENES: Final = """\
SCENE is a Python file with a function build(stage), or the number or name of a
scene that comes with the inspector.
"""
#: Column of the summaries in the overview, and its width.
_SUMMARY_COLUMN: Final = 36
_WIDTH: Final = 80

_EPILOG: Final = """\
“timeline-inspector --debug …” logs what any of these does, with times, on stderr and in a
file that it names; “timeline-inspector doctor” lists what works here.

examples:
  timeline-inspector my_scene.py
  timeline-inspector run my_scene.py --seconds 10 --export frames.svg
  timeline-inspector run 3 --seconds 3600 --dt 1/60
  timeline-inspector export capture.csv -o capture.png --budget 16.7

exit codes:
  0  done
  1  failed: a callback raised, lint or lab --check found something, a condition of
     stats --assert does not hold or one of compare --fail-if does, or something
     could not be written
  2  the arguments are not valid
  3  no display to open a window on (commands need none)
  4  the scene could not be loaded
  5  a library is missing, or its version is known not to work
  6  a replayed scene behaved differently (replay --verify)
  7  no program could be attached to (attach, which otherwise ends with the exit
     code of the program that it launched)
  8  cannot tell: what a condition needs is undefined or data is missing (stats
     --assert, compare --fail-if, late --fail-over), or a recording of which parts
     are missing was checked (lint, replay)
  9  something could not be read
  126  the program to be launched may not be executed
  127  the program to be launched was not found
  129  ended as its terminal was closed (SIGHUP), as by SIGTERM
  130  interrupted with Ctrl+C, the window too
  143  ended by the system (SIGTERM), likewise; the recording is complete up to
       that point. A second signal ends the process at once
"""


#: How alike a mistyped word and what it may be meant for are, from 0 to 1.
_ALIKE: Final = 0.6
#: Options that ask about the program instead of opening a window.
_ABOUT_ITSELF: Final = frozenset({"-h", "--help", "-V", "--version"})


class _Parser(argparse.ArgumentParser):
    """Reports an error in one sentence, with a reference to the help."""

    @override
    def error(self, message: str) -> NoReturn:
        sentence = f"{message[:1].upper()}{message[1:]}".rstrip(".")
        end = "" if sentence.endswith("?") else "."
        self.exit(ExitCode.USAGE, f"{PROGRAM}: {sentence}{end} See “{self.prog} --help”.\n")

    def refuse_unknown(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse arguments, and name the option that the first of them may be meant for."""
        name = unknown[0].partition("=")[0]
        near = _nearest_option(name, self._option_string_actions)
        meant = f". Did you mean {near}?" if near else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")


def _nearest_option(name: str, options: Iterable[str]) -> str:
    if not name.startswith("--"):
        return ""
    near = get_close_matches(name[2:], [each[2:] for each in options], 1, _ALIKE)
    return f"--{near[0]}" if near else ""


class _ShowVersion(argparse.Action):
    """Prints the versions of everything that matters, and ends the program."""

    @override
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        sys.stdout.write(f"{_version_text()}\n")
        parser.exit()


def _write_what_can_be_written() -> None:
    """Keep output from failing: if closed, if its reader has gone, or if it lacks a character."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # The caller has closed it. Opening a file takes its descriptor too; otherwise the
            # next file to be opened would get it, and then whatever a library prints.
            output = io.BufferedWriter(_Closed(os.devnull, "w"))
            setattr(sys, name, io.TextIOWrapper(output, encoding="utf-8"))
        elif getattr(sys, name) is getattr(sys, f"__{name}__"):
            setattr(sys, name, _going_on_without_reader(getattr(sys, name)))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _going_on_without_reader(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    output = _Output(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        # As Python does for its own streams: with -u there is no buffer.
        output if stream.write_through else io.BufferedWriter(output),
        encoding=stream.encoding,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class _Closed(io.FileIO):
    """In place of an output that the caller has closed; the command goes on without."""

    has_lost = False

    @override
    def write(self, data: Buffer, /) -> int:
        self.has_lost = True
        return super().write(data)


def _check_written(stream: TextIO) -> None:
    """Flush an output; an ``OSError`` says if something could not be written to it."""
    stream.flush()
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if isinstance(raw, _Closed) and raw.has_lost:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


class _Output(io.FileIO):
    """Discards what is written once the reader (head, less) has closed the pipe.

    The command goes on: files are written, and conditions are checked.
    """

    @override
    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return super().write(data)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command that needs no window; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _write_what_can_be_written()
    try:
        try:
            with _reporting(extension_problems):
                code = _parse_and_run(arguments)
        except SystemExit as exit_:
            # From argparse, which has printed the reason.
            code = exit_.code if isinstance(exit_.code, int) else ExitCode.OK
        # Flushed here, where a failure to write the output is reported.
        _check_written(sys.stdout)
    except KeyboardInterrupt as stop:
        number = stop.number if isinstance(stop, _Terminated) else signal.SIGINT
        write_notes(sys.stderr, "Interrupted." if number == signal.SIGINT else "Terminated.")
        return exit_code_of(number)
    except OSError as error:
        if error.errno not in _NOT_WRITTEN:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        advice = _NOT_WRITTEN[error.errno]
        write_notes(sys.stderr, f"The output could not be written: {error.strerror}. {advice}.")
        return ExitCode.FAILED
    except InspectorError as error:
        return write_error(error, sys.stderr)
    return code


class _SayProblem(logging.Handler):
    """Says on stderr which extension does not work."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        write_notes(sys.stderr, f"{record.getMessage()} See “{PROGRAM} extensions”.")


@contextmanager
def _reporting(logger: logging.Logger) -> Iterator[None]:
    handler = _SayProblem(logging.WARNING)
    logger.addHandler(handler)
    was_handed_on, logger.propagate = logger.propagate, False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = was_handed_on


def _parse_and_run(arguments: list[str]) -> int:
    entry = next(iter(_own(arguments[0])), None) if arguments else None
    if entry is None or not entry.runs_another:
        arguments = _with_negative_values(arguments)
    options, unknown = build_parser(arguments[:1]).parse_known_args(arguments)
    if unknown:
        options.parser.refuse_unknown(unknown)
    out = sys.stdout
    # What a scene prints must not mix with JSON.
    prints_to = sys.stderr if getattr(options, "json", False) else out
    # Restores both streams at the end, even if a scene has replaced them.
    with redirect_stdout(prints_to), redirect_stderr(sys.stderr), _terminable():
        return _run_command(options, out)


class _Terminated(KeyboardInterrupt):
    """The system, or a closed terminal, has ended the program; handled like Ctrl+C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def _terminable() -> Iterator[None]:
    """Let Ctrl+C and SIGTERM end the work in good order, so that recordings are closed.

    A second signal ends the process at once.
    """

    def end(number: int, _frame: object) -> NoReturn:
        raise RequestedInterrupt if number == signal.SIGINT else _Terminated(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = StopSignals(end)
    try:
        yield
    finally:
        signals.stop()


def _with_negative_values(arguments: list[str]) -> list[str]:
    """Join an option with a value such as ``-3:4``, which looks like an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1].startswith("--") and re.match(r"-[\d.]", argument):
            joined[-1] = f"{joined[-1]}={argument}"
        else:
            joined.append(argument)
    return joined


def window_scene(argv: Sequence[str]) -> Path | None:
    """Return the file for the window, or ``None`` for a command without one."""
    if argv and (_own(argv[0]) or not _ABOUT_ITSELF.isdisjoint(argv)):
        return None
    from inspector.sessions.scene import find_scene  # noqa: PLC0415 - not for --version

    parser = _Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    parser.add_argument("scene", nargs="?", default="1")
    given, rest = parser.parse_known_args(list(argv))
    unknown = [each for each in rest if not is_file(Path(each))]
    try:
        scene = find_scene(given.scene)
    except SceneError as error:
        # Commands of other packages are only loaded now, so that opening a window does not
        # wait for them.
        with _reporting(extension_problems):
            names = [entry.name for entry in COMMANDS]
        if argv[0] in names:
            return None
        meant = get_close_matches(argv[0], names, 1, _ALIKE)
        if meant and not Path(argv[0]).suffix:
            parser.error(
                f"there is no command or scene {argv[0]}. Did you mean “{PROGRAM} {meant[0]}”?"
            )
        if not any(each.startswith("-") for each in unknown):
            if not argv[0].isalpha():
                raise
            commands = f"“{PROGRAM} --help” lists the commands."
            raise SceneError(f"{error} {commands}") from error
    if unknown:
        _refuse_for_window(parser, unknown)
    return scene


def _refuse_for_window(parser: _Parser, unknown: list[str]) -> NoReturn:
    """Refuse arguments, and name the commands that have an option like the first of them."""
    name = unknown[0].partition("=")[0]
    of_commands: dict[str, list[str]] = {}
    if name.startswith("--"):
        commands = build_parser()._subparsers  # noqa: SLF001 - argparse has no other way to them
        assert commands is not None
        (choices,) = (each.choices for each in commands._group_actions)  # noqa: SLF001
        assert isinstance(choices, dict)
        for command, each in choices.items():
            for option in each._option_string_actions:  # noqa: SLF001
                of_commands.setdefault(option, []).append(command)
    near = _nearest_option(name, of_commands)
    if not near:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    told = [f"“{PROGRAM} {command} {near}”" for command in of_commands[near][:3]]
    is_exact = near == name
    parser.error(
        f"{name} is not an option of the window. "
        + (
            f"It is one of commands: {', '.join(told)}"
            if is_exact
            else f"Did you mean {' or '.join(told)}?"
        )
    )


def files_beside(argv: Sequence[str]) -> list[Path]:
    return [Path(each) for each in argv[1:]]


def _own(name: str) -> tuple[CommandEntry, ...]:
    """Return the command of that name as a tuple, which is empty if it is not one of ours."""
    return tuple(entry for entry in COMMANDS.own if entry.name == name)


def build_parser(loaded: Sequence[str] | None = None) -> argparse.ArgumentParser:
    own = _own(loaded[0]) if loaded else ()
    entries = COMMANDS.own if own else tuple(COMMANDS)
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [SCENE] | {' | '.join(each.name for each in entries)}  [-h]",
        # The overview is not shown if one of our own commands was typed.
        description=None if own else _overview(entries),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-V", "--version", action=_ShowVersion, nargs=0, help="show the versions and exit"
    )
    commands = parser.add_subparsers(
        dest="command", required=True, help=argparse.SUPPRESS, metavar="COMMAND"
    )
    for entry in entries:
        if loaded is None or entry.name in loaded:
            with COMMANDS.guarding(entry):
                _add_command(commands, entry)
        elif not own:
            commands.add_parser(entry.name)
    return parser


def _add_command(commands: argparse._SubParsersAction[_Parser], entry: CommandEntry) -> None:
    command = entry.load()
    parser = commands.add_parser(
        entry.name,
        prog=f"{PROGRAM} {entry.name}",
        help=entry.summary,
        description=f"{entry.summary[:1].upper()}{entry.summary[1:]}.",
        epilog=command.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    parser.set_defaults(parser=parser, entry=entry, the_command=command)


def _overview(entries: Iterable[CommandEntry]) -> str:
    ways = [
        *((arguments, summary) for arguments, summary in _WINDOW),
        *((f"{each.name} {each.operands}".strip(), each.summary) for each in entries),
    ]
    lines = [_DESCRIPTION, ""]
    for arguments, summary in ways:
        call = f"  {PROGRAM} {arguments}".rstrip()
        if len(call) >= _SUMMARY_COLUMN:
            lines.append(call)
            call = ""
        told = textwrap.wrap(summary, _WIDTH - _SUMMARY_COLUMN)
        lines.append(f"{call:<{_SUMMARY_COLUMN}}{told[0]}")
        lines += [" " * _SUMMARY_COLUMN + line for line in told[1:]]
    return "\n".join([*lines, "", _SCENES])


def _run_command(options: argparse.Namespace, out: TextIO) -> int:
    command: Subcommand = options.the_command
    with COMMANDS.guarding(options.entry):
        command.check(options)
        return command.runner(options, out, sys.stderr)


def _version_text() -> str:
    parts = [f"Python {'.'.join(map(str, sys.version_info[:3]))} on {sys.platform}"]
    for package in ("PySide6-Essentials", "pyqtgraph", "numpy"):
        version = installed_version(package)
        parts.append(f"{package} {version}" if version else f"no {package}")
    return f"{PROGRAM} {__version__}\n{', '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())
