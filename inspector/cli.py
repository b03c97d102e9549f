"""The command line: what ``timeline-inspector`` does without a window.

Nothing here needs Qt; only PNG and PDF are drawn by it, through the launcher.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, NoReturn

from typing_extensions import override

from inspector import __version__
from inspector.clocks.failures import FailurePolicy
from inspector.errors import ExportError, InspectorError, SceneError
from inspector.exit_codes import ExitCode
from inspector.timebase import NS_PER_SECOND, parse_duration_ns

PROGRAM: Final = "timeline-inspector"

_COMMANDS: Final = ("run", "export", "replay", "annotate", "scenes", "lab", "explain", "lint")

_DESCRIPTION: Final = """\
See, stop, slow, step, explain and prove time in a running frame-driven program.

  timeline-inspector                open the window on a small game
  timeline-inspector SCENE          open the window on a scene of yours
  timeline-inspector run SCENE      run a scene without a window, print what its
                                    timers and frames did, export graphs
  timeline-inspector FILE.tlrec     open the window on a recording
  timeline-inspector export FILE    draw the graph of frame times recorded before
  timeline-inspector replay FILE    run a recorded scene again
  timeline-inspector annotate FILE  leave bookmarks and notes in a recording
  timeline-inspector lab            run timers or a scene under display rates, side
                                    by side with other engines
  timeline-inspector explain SCENE TIMER
                                    say why a timer has not fired, or fired late
  timeline-inspector lint SCENE     say what looks wrong with the timers of a scene
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
  1  failed: a callback raised, or something could not be read or written
  2  the arguments make no sense
  3  no display to open a window on (commands need none)
  4  the scene could not be loaded
  5  a library is missing, or one is installed that is known not to work
  6  a recorded scene was run again and did something else (replay --verify)
  130  interrupted with Ctrl+C
"""

_RUN_EPILOG: Final = """\
what the ways in which time passes mean:
  --dt 1/60       virtual time, as fast as the processor can: frames that far
                  apart, timers exactly when they are due (the default)
  --real-time     the time of the computer, at the scene's frame rate
  --frame-times   frames as long as those of a capture, as in a program that
                  looks at its clocks once a frame: timers are as late as there

examples:
  timeline-inspector run 1 --frames 600
  timeline-inspector run game.py --seconds "1 min" --export game.svg --export game.csv
  timeline-inspector run game.py --frame-times PresentMon.csv:MsBetweenPresents
  timeline-inspector run game.py --seconds 10 --real-time --budget 8.3 --export game.png
  timeline-inspector run game.py --seconds 60 --record game.tlrec

Exit code 1 if a callback failed; 4 if the scene could not be loaded.
"""

_EXPORT_EPILOG: Final = """\
FILE is a recording (.tlrec), a CSV or JSON that was exported before, or any CSV with
a column of frame times: PresentMon, CapFrameX, FrameView, MangoHud, OCAT or your own.

examples:
  timeline-inspector export run.json -o run.svg -o run.pdf --stacked
  timeline-inspector export PresentMon.csv:MsBetweenPresents -o frames.png
  timeline-inspector export run.csv -o start.svg --range :600 --theme dark
  timeline-inspector export game.tlrec --as svg --as csv
  timeline-inspector export game.tlrec --as pytest -o test_game.py
"""


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """What the window should open with.

    Attributes:
        scene_path: The scene file.
    """

    scene_path: Path


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
    """Put a question mark in place of a character that the terminal does not have."""
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
        code = _run_command(options)
        sys.stdout.flush()
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        sys.stderr.write(f"{PROGRAM}: Interrupted.\n")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough; keep the exit from complaining too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except SceneError as error:
        detail = getattr(error, "detail", "")
        sys.stderr.write(f"{PROGRAM}: {error}\n" + (f"\n{detail}\n" if detail else ""))
        return ExitCode.SCENE
    except InspectorError as error:
        sys.stderr.write(f"{PROGRAM}: {error}\n")
        exit_code: ExitCode = getattr(error, "exit_code", ExitCode.FAILED)
        return exit_code
    return code


def _with_negative_values(arguments: list[str]) -> list[str]:
    """Join an option and a value such as ``-3:4``, which would be taken for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1].startswith("--") and re.match(r"-[\d.]", argument):
            joined[-1] = f"{joined[-1]}={argument}"
        else:
            joined.append(argument)
    return joined


def wants_window(argv: Sequence[str]) -> WindowRequest | None:
    """Return what to open a window with, or ``None`` for a command without one.

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
    return WindowRequest(find_scene(parser.parse_args(list(argv)).scene))


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
    _add_export(commands)
    _add_replay(commands)
    _add_lab(commands)
    _add_explain(commands)
    _add_scenes(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[_Parser]) -> None:
    run = _command(commands, "run", "run a scene without a window", _RUN_EPILOG)
    run.set_defaults(parser=run)
    run.add_argument("scene", metavar="SCENE", help="a scene file, or a number or name")
    length = run.add_argument_group("how long (one of them, unless --frame-times is given)")
    lengths = length.add_mutually_exclusive_group()
    lengths.add_argument("--frames", metavar="N", type=_count, help="so many frames, exactly")
    lengths.add_argument(
        "--seconds",
        metavar="S",
        type=_duration_ns,
        help="so much session time: 10, 1.5, 90s, “3 min”, 1:00:00",
    )
    time = run.add_argument_group("how time passes")
    times = time.add_mutually_exclusive_group()
    times.add_argument(
        "--dt", metavar="T", type=_step_ns, help="from frame to frame: 1/60 (default), 10ms"
    )
    times.add_argument("--real-time", action="store_true", help="by the computer's clock")
    times.add_argument(
        "--frame-times", metavar="FILE[:COLUMN]", help="as in a capture of another program"
    )
    time.add_argument(
        "--rate", metavar="R", type=_rate, help="rate of the root clock: 0.25, 1/3, 2x, 50%%"
    )
    run.add_argument(
        "--failure-policy",
        type=_failure_policy,
        default=FailurePolicy.CONTINUE,
        metavar="POLICY",
        help="after a callback raised: continue (default), pause-branch or stop",
    )
    run.add_argument(
        "--export",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="write the frame times: .svg .png .pdf .csv .json; may be repeated",
    )
    run.add_argument(
        "--record", metavar="FILE", type=Path, help="record everything to a new file (.tlrec)"
    )
    _add_graph_options(run)
    output = run.add_argument_group("what is printed")
    output.add_argument(
        "--timers", metavar="N", type=_count, default=20, help="lines of timers (default 20)"
    )
    outputs = output.add_mutually_exclusive_group()
    outputs.add_argument("--json", action="store_true", help="everything, as JSON")
    outputs.add_argument("--quiet", action="store_true", help="nothing but what went wrong")


def _add_export(commands: argparse._SubParsersAction[_Parser]) -> None:
    export = _command(
        commands, "export", "draw the graph of frame times recorded before", _EXPORT_EPILOG
    )
    export.add_argument("file", metavar="FILE[:COLUMN]", help="where the frame times are")
    export.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="what to write: .svg .png .pdf .csv .json; may be repeated",
    )
    export.set_defaults(parser=export)
    from inspector.sessions.recording_arguments import add_formats  # noqa: PLC0415

    add_formats(export)
    _add_graph_options(export)


def _add_replay(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.sessions import recording_arguments as arguments  # noqa: PLC0415

    summary = "run a recorded scene again, and see whether it does the same"
    arguments.add_replay_arguments(_command(commands, "replay", summary, arguments.REPLAY_EPILOG))
    summary = "list, leave and remove bookmarks, notes and named ranges in a recording"
    arguments.add_annotate_arguments(
        _command(commands, "annotate", summary, arguments.ANNOTATE_EPILOG)
    )


def _add_lab(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.sessions.lab_arguments import LAB_EPILOG, add_lab_arguments  # noqa: PLC0415

    summary = "run timers or a scene under display rates, side by side"
    add_lab_arguments(_command(commands, "lab", summary, LAB_EPILOG), _duration_ns)


def _add_explain(commands: argparse._SubParsersAction[_Parser]) -> None:
    from inspector.sessions import explain_arguments as arguments  # noqa: PLC0415

    summary = "say why a timer has not fired, or why it fired when it did"
    explain = _command(commands, "explain", summary, arguments.EXPLAIN_EPILOG)
    arguments.add_explain_arguments(explain, _duration_ns)
    summary = "say what looks wrong with the timers of a session"
    lint = _command(commands, "lint", summary, arguments.LINT_EPILOG)
    arguments.add_lint_arguments(lint, _duration_ns)


def _add_scenes(commands: argparse._SubParsersAction[_Parser]) -> None:
    scenes = _command(commands, "scenes", "list the scenes that come with the inspector", "")
    which = scenes.add_mutually_exclusive_group()
    which.add_argument("--json", action="store_true", help="as JSON, for programs")
    which.add_argument(
        "--copy",
        nargs=2,
        metavar=("SCENE", "TO"),
        help="copy one to a file or folder of yours, to begin with",
    )


def _add_graph_options(parser: argparse.ArgumentParser) -> None:
    graph = parser.add_argument_group("what is exported, and how")
    graph.add_argument("--title", metavar="TEXT", default="", help="heading of the graph")
    graph.add_argument(
        "--measure",
        choices=("interval", "busy", "delta"),
        help="time from frame to frame, time spent in callbacks, or local time given to "
        "them (default: interval, or busy when all intervals are alike)",
    )
    graph.add_argument(
        "--budget",
        metavar="MS",
        type=_milliseconds,
        action="append",
        help="a budget line at so many milliseconds; may be repeated (default 8.3 16.7 33.3)",
    )
    graph.add_argument("--stacked", action="store_true", help="the phases of each frame as areas")
    graph.add_argument("--theme", choices=("light", "dark"), default="light")
    graph.add_argument(
        "--size", metavar="WxH", type=_size, default=(720.0, 405.0), help="in points (720x405)"
    )
    graph.add_argument(
        "--dpi", metavar="N", type=float, default=144.0, help="resolution of a PNG (144)"
    )
    graph.add_argument(
        "--range", metavar="A:B", default="all", help="frames A up to B, without B (default all)"
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


def _run_command(options: argparse.Namespace) -> int:
    # Each command brings in what it needs: --help and scenes should not wait for numpy.
    match options.command:
        case "run":
            if options.frames is options.seconds is options.frame_times is None:
                options.parser.error("say how long to run: --frames N or --seconds S")
            from inspector.sessions.cli_run import run_scene  # noqa: PLC0415

            return run_scene(options, sys.stdout, sys.stderr)
        case "export":
            return _export(options)
        case "replay" | "annotate":
            return _run_with_recording(options)
        case "lab":
            from inspector.sessions.cli_lab import run_lab_command  # noqa: PLC0415

            return run_lab_command(options, sys.stdout, sys.stderr)
        case "explain" | "lint":
            from inspector.sessions import cli_explain  # noqa: PLC0415

            is_lint = options.command == "lint"
            command = cli_explain.lint_command if is_lint else cli_explain.explain_command
            return command(options, sys.stdout, sys.stderr)
        case _:
            return _list_scenes(options)


def _run_with_recording(options: argparse.Namespace) -> int:
    if options.command == "replay":
        from inspector.sessions.cli_recordings import replay_recording  # noqa: PLC0415

        return replay_recording(options, sys.stdout, sys.stderr)
    from inspector.sessions.recording_arguments import check_annotate_arguments  # noqa: PLC0415

    check_annotate_arguments(options)
    from inspector.sessions.cli_annotate import annotate_recording  # noqa: PLC0415

    return annotate_recording(options, sys.stdout, sys.stderr)


def _export(options: argparse.Namespace) -> int:
    from inspector.sessions.recording_arguments import is_pytest  # noqa: PLC0415

    if is_pytest(options):
        from inspector.sessions.cli_recordings import export_as_pytest  # noqa: PLC0415

        return export_as_pytest(options, sys.stdout, sys.stderr)
    from inspector.sessions.cli_run import export_file  # noqa: PLC0415

    return export_file(options, sys.stdout, sys.stderr)


def _list_scenes(options: argparse.Namespace) -> int:
    from inspector.sessions.scene import built_in_scenes, find_scene  # noqa: PLC0415

    if options.copy:
        return _copy_scene(find_scene(options.copy[0]), Path(options.copy[1]))
    scenes = built_in_scenes()
    if options.json:
        values = [
            {"path": str(scene.path), "title": scene.title, "summary": scene.summary}
            for scene in scenes
        ]
        sys.stdout.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")
        return ExitCode.OK
    for scene in scenes:
        number, _, name = scene.path.stem.partition("_")
        sys.stdout.write(f"{number.lstrip('0')}  {name}: {scene.title}\n")
        sys.stdout.write(textwrap.indent(textwrap.fill(scene.summary, 80), "   ") + "\n")
        sys.stdout.write(f"   {scene.path}\n\n")
    sys.stdout.write(
        f"Open one with “{PROGRAM} 2”, run one with “{PROGRAM} run 2 --seconds 60”,\n"
        f"begin your own with “{PROGRAM} scenes --copy minimal my_scene.py”.\n"
    )
    return ExitCode.OK


def _copy_scene(scene: Path, target: Path) -> int:
    path = target / scene.name if target.is_dir() else target
    try:
        # Exclusive, so that nobody's file is replaced.
        with path.open("xb") as copy, scene.open("rb") as original:
            shutil.copyfileobj(original, copy)
    except FileExistsError:
        message = f"{path} exists. Choose another name."
        raise ExportError(message) from None
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}."
        raise ExportError(message) from None
    sys.stdout.write(f"{path}\n")
    return ExitCode.OK


def _version_text() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - not else needed

    parts = [f"Python {'.'.join(map(str, sys.version_info[:3]))} on {sys.platform}"]
    for package in ("PySide6-Essentials", "pyqtgraph", "numpy"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            parts.append(f"no {package}")
    return f"{PROGRAM} {__version__}\n{', '.join(parts)}"


def _count(text: str) -> int:
    try:
        count = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        count = 0
    if count < 1:
        message = f"not a whole number above 0: {text!r}"
        raise argparse.ArgumentTypeError(message)
    return count


def _duration_ns(text: str) -> int:
    try:
        duration_ns = parse_duration_ns(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if duration_ns <= 0:
        message = f"a duration must be above 0: {text!r}"
        raise argparse.ArgumentTypeError(message)
    return duration_ns


def _step_ns(text: str) -> Fraction:
    """Return a step exactly: sixty steps of 1/60 are one second."""
    try:
        step_ns = Fraction(text.strip()) * NS_PER_SECOND
    except (ValueError, ZeroDivisionError):
        step_ns = Fraction(_duration_ns(text))
    if step_ns < 1:
        message = f"a step must be at least a nanosecond: {text!r}"
        raise argparse.ArgumentTypeError(message)
    return step_ns


def _rate(text: str) -> Fraction:
    from inspector.clocks.rate import D, rate_numerator  # noqa: PLC0415

    try:
        return Fraction(rate_numerator(text), D)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _failure_policy(text: str) -> FailurePolicy:
    wanted = text.lower().replace("-", " ").replace("_", " ")
    for policy in FailurePolicy:
        if policy.value == wanted:
            return policy
    message = f"no such policy: {text!r} (there are continue, pause-branch and stop)"
    raise argparse.ArgumentTypeError(message)


def _milliseconds(text: str) -> float:
    try:
        milliseconds = float(text.removesuffix("ms"))
    except ValueError:
        milliseconds = 0.0
    if not 0 < milliseconds < float("inf"):
        message = f"not a number of milliseconds: {text!r}"
        raise argparse.ArgumentTypeError(message)
    return milliseconds


def _size(text: str) -> tuple[float, float]:
    try:
        width, height = (float(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        message = f"not a size: {text!r} (write 720x405)"
        raise argparse.ArgumentTypeError(message) from None
    return width, height


if __name__ == "__main__":
    sys.exit(main())
