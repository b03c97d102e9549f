"""The command line: what ``timeline-inspector`` does without a window.

Nothing here needs Qt; only PNG and PDF are drawn by it, through the launcher.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Final, NoReturn, TextIO

from typing_extensions import override

from inspector import __version__
from inspector.cli.terminal import PROGRAM, say, say_error
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode
from inspector.stop_signals import StopSignals

_COMMANDS: Final = ("run", "export", "replay", "annotate", "scenes", "lab", "explain", "lint")

#: What writing to a full disk ends with.
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_DESCRIPTION: Final = """\
See, stop, slow, step, explain and prove time in a running frame-driven program.

  timeline-inspector                open the window on a small game
  timeline-inspector SCENE          open the window on your own scene
  timeline-inspector run SCENE      run a scene without a window, report on its
                                    timers and frames, export graphs
  timeline-inspector FILE.tlrec     open the window on a recording
  timeline-inspector export FILE    draw the graph of recorded frame times
  timeline-inspector replay FILE    run a recorded scene again
  timeline-inspector annotate FILE  add bookmarks and notes to a recording
  timeline-inspector lab            run timers or a scene at different display rates,
                                    side by side with other engines
  timeline-inspector explain SCENE TIMER
                                    explain why a timer has not fired, or fired late
  timeline-inspector lint SCENE     find problems in the timers of a scene
  timeline-inspector scenes         list the scenes that come with the inspector

SCENE is a Python file with a function build(stage), or the number or name of a
scene that comes with the inspector.
"""

_EPILOG: Final = """\
examples:
  timeline-inspector my_scene.py
  timeline-inspector run my_scene.py --seconds 10 --export frames.svg
  timeline-inspector run 3 --seconds 3600 --dt 1/60
  timeline-inspector export capture.csv -o capture.png --budget 16.7

exit codes:
  0  done
  1  failed: a callback raised, lint or lab --check found something, or something
     could not be read or written
  2  the arguments are not valid
  3  no display to open a window on (commands need none)
  4  the scene could not be loaded
  5  a library is missing, or its version is known not to work
  6  a replayed scene behaved differently (replay --verify)
  130  interrupted with Ctrl+C, the window too
  143  ended by the system (SIGTERM), likewise; the recording is complete up to
       that point. A second signal ends the process at once
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and where to read on."""

    @override
    def error(self, message: str) -> NoReturn:
        sentence = f"{message[:1].upper()}{message[1:]}".rstrip(".")
        self.exit(ExitCode.USAGE, f"{PROGRAM}: {sentence}. See “{self.prog} --help”.\n")


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
    """Cope with what the terminal does not have: a character, or being there at all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by the caller. Its number is taken too, else the next file would get it,
            # and with it what a library prints.
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command that needs no window; return its exit code.

    Args:
        argv: The arguments without the program's name; the process's own if left out.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _write_what_can_be_written()
    try:
        options = build_parser().parse_args(_with_negative_values(arguments))
        out = sys.stdout
        # What a scene prints is not part of the JSON.
        prints_to = sys.stderr if getattr(options, "json", False) else out
        with redirect_stdout(prints_to), _terminable():
            code = _run_command(options, out)
        out.flush()
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else ExitCode.OK
    except KeyboardInterrupt as stop:
        is_terminated = isinstance(stop, _Terminated)
        say(sys.stderr, "Terminated." if is_terminated else "Interrupted.")
        return ExitCode.TERMINATED if is_terminated else ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep the exit from complaining too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except OSError as error:
        if error.errno not in _FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(sys.stderr, f"The output could not be written: {error.strerror}. Free some space.")
        return ExitCode.FAILED
    except InspectorError as error:
        return say_error(error, sys.stderr)
    return code


class _Terminated(KeyboardInterrupt):
    """The system has asked the program to end; ends it as a key press does."""


@contextmanager
def _terminable() -> Iterator[None]:
    """Have Ctrl+C and SIGTERM end what is under way in good order, so that recordings are closed.

    The second of them ends the process, whatever it does then.
    """

    def end(number: int, _frame: object) -> NoReturn:
        raise _Terminated if number == signal.SIGTERM else KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = StopSignals(end)
    try:
        yield
    finally:
        signals.stop()


def _with_negative_values(arguments: list[str]) -> list[str]:
    """Join an option and a value such as ``-3:4``, which would be taken for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1].startswith("--") and re.match(r"-[\d.]", argument):
            joined[-1] = f"{joined[-1]}={argument}"
        else:
            joined.append(argument)
    return joined


def window_scene(argv: Sequence[str]) -> Path | None:
    """Return the file that a window is asked for, or ``None`` for a command without one.

    Args:
        argv: The arguments without the program's name.

    Raises:
        SceneError: The scene that was named does not exist.
        SystemExit: The arguments make no sense; it was said on stderr.
    """
    if argv and (argv[0] in _COMMANDS or not {"-h", "--help", "--version"}.isdisjoint(argv)):
        return None
    from inspector.sessions.scene import find_scene  # noqa: PLC0415 - not for --version

    parser = _Parser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    parser.add_argument("scene", nargs="?", default="1")
    return find_scene(parser.parse_args(list(argv)).scene)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of every command that needs no window."""
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [SCENE] | {' | '.join(_COMMANDS)}  [-h]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action=_ShowVersion, nargs=0, help="show the versions and exit"
    )
    commands = parser.add_subparsers(
        dest="command", required=True, title="commands", metavar="COMMAND"
    )
    _add_run(commands)
    _add_replay(commands)
    _add_lab(commands)
    _add_explain(commands)
    _add_scenes(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.cli.arguments import run as arguments  # noqa: PLC0415

    summary = "run a scene without a window"
    arguments.add_run_arguments(_command(commands, "run", summary, arguments.RUN_EPILOG))
    summary = "draw the graph of recorded frame times"
    arguments.add_export_arguments(_command(commands, "export", summary, arguments.EXPORT_EPILOG))


def _add_replay(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.cli.arguments import recordings as arguments  # noqa: PLC0415

    summary = "run a recorded scene again and check that it does the same"
    arguments.add_replay_arguments(_command(commands, "replay", summary, arguments.REPLAY_EPILOG))
    summary = "list, add and remove bookmarks, notes and named ranges in a recording"
    arguments.add_annotate_arguments(
        _command(commands, "annotate", summary, arguments.ANNOTATE_EPILOG)
    )


def _add_lab(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.cli.arguments.argument_values import duration_ns  # noqa: PLC0415
    from inspector.cli.arguments.lab import LAB_EPILOG, add_lab_arguments  # noqa: PLC0415

    summary = "run timers or a scene at different display rates, side by side"
    add_lab_arguments(_command(commands, "lab", summary, LAB_EPILOG), duration_ns)


def _add_explain(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.cli.arguments import explain as arguments  # noqa: PLC0415
    from inspector.cli.arguments.argument_values import duration_ns  # noqa: PLC0415

    summary = "explain why a timer has not fired, or fired when it did"
    explain = _command(commands, "explain", summary, arguments.EXPLAIN_EPILOG)
    arguments.add_explain_arguments(explain, duration_ns)
    summary = "find problems in the timers of a session"
    lint = _command(commands, "lint", summary, arguments.LINT_EPILOG)
    arguments.add_lint_arguments(lint, duration_ns)


def _add_scenes(commands: argparse._SubParsersAction[_Parser]) -> None:
    scenes = _command(commands, "scenes", "list the scenes that come with the inspector", "")
    which = scenes.add_mutually_exclusive_group()
    which.add_argument("--json", action="store_true", help="as JSON, for programs")
    which.add_argument(
        "--copy",
        nargs=2,
        metavar=("SCENE", "TO"),
        help="copy a scene to a file or folder of yours, as a start",
    )


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, summary: str, epilog: str
) -> _Parser:
    return commands.add_parser(
        name,
        prog=f"{PROGRAM} {name}",
        help=summary,
        description=f"{summary[:1].upper()}{summary[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _run_command(options: argparse.Namespace, out: TextIO) -> int:
    # Each command brings in what it needs: --help and scenes should not wait for numpy.
    match options.command:
        case "run":
            if options.frames is options.seconds is options.frame_times is None:
                options.parser.error("give a length: --frames N or --seconds S")
            from inspector.cli.run import run_scene  # noqa: PLC0415

            return run_scene(options, out, sys.stderr)
        case "export":
            return _export(options, out)
        case "replay" | "annotate":
            return _run_with_recording(options, out)
        case "lab":
            from inspector.cli.lab import run_lab_command  # noqa: PLC0415

            return run_lab_command(options, out, sys.stderr)
        case "explain" | "lint":
            from inspector.cli.explain import (  # noqa: PLC0415
                explain_command,
                lint_command,
            )

            command = lint_command if options.command == "lint" else explain_command
            return command(options, out, sys.stderr)
        case _:
            from inspector.cli.scenes import list_scenes  # noqa: PLC0415

            return list_scenes(options, out)


def _run_with_recording(options: argparse.Namespace, out: TextIO) -> int:
    if options.command == "replay":
        from inspector.cli.recordings import replay_recording  # noqa: PLC0415

        return replay_recording(options, out, sys.stderr)
    from inspector.cli.arguments.recordings import check_annotate_arguments  # noqa: PLC0415

    check_annotate_arguments(options)
    from inspector.cli.annotate import annotate_recording  # noqa: PLC0415

    return annotate_recording(options, out, sys.stderr)


def _export(options: argparse.Namespace, out: TextIO) -> int:
    from inspector.cli.arguments.recordings import is_pytest  # noqa: PLC0415

    if is_pytest(options):
        from inspector.cli.recordings import export_as_pytest  # noqa: PLC0415

        return export_as_pytest(options, out, sys.stderr)
    from inspector.cli.run import export_file  # noqa: PLC0415

    return export_file(options, out, sys.stderr)


def _version_text() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - not else needed

    parts = [f"Python {'.'.join(map(str, sys.version_info[:3]))} on {sys.platform}"]
    for package in ("PySide6-Essentials", "pyqtgraph", "numpy"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            parts.append(f"no {package}")
    return f"{PROGRAM} {__version__}\n{', '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())
