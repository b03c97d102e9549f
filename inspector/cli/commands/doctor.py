"""The command ``doctor``: what the inspector finds on this machine, and what does not work."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Final, TextIO

import platformdirs

from inspector import __version__
from inspector.cli.command import Subcommand
from inspector.cli.terminal import PROGRAM, add_json, write_json
from inspector.debug_log import debug_log_path
from inspector.display_text import counted
from inspector.environment import EnvironmentProblemError, check_display, installed_version
from inspector.exit_codes import ExitCode
from inspector.extensions import GROUPS, registry_of
from inspector.foreign.paths import is_there
from inspector.probe.places import folder, own_folder
from inspector.sessions.attached.doors.programs import running_programs

_EPILOG: Final = """\
Nothing is changed. A report of a fault is easiest to understand with this output, and with
the file that “timeline-inspector --debug …” writes.

examples:
  timeline-inspector doctor
  timeline-inspector doctor --json

Exit code 0 if all works, 1 if something does not.
"""

#: Longest time to wait for another process: Qt hangs if a display does not answer.
_PATIENCE_S: Final = 20
_OPENS_A_WINDOW: Final = """
import sys
from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QApplication
application = QApplication(sys.argv[:1])
screen = application.primaryScreen()
size = screen.size()
print(f"Qt {qVersion()} on {application.platformName()}, {size.width()}x{size.height()}, "
      f"{screen.devicePixelRatio():g}x, {screen.refreshRate():g} Hz")
"""
_DISPLAY: Final = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "QT_SCALE_FACTOR")
_WIDTH: Final = 100
#: Which features need each extra of the package.
_NEEDED_FOR: Final = {
    "arrow": "only Parquet and Arrow need it",
    "mcp": "only the command mcp needs it",
    "query": "only queries need it",
}


@dataclass(frozen=True, slots=True)
class Check:
    subject: str
    found: str
    problem: str = ""  # What does not work and what to do about it; empty if it works


def _diagnose(options: Namespace, out: TextIO, _errors: TextIO) -> int:
    checks = list(_checks())
    problems = sum(bool(each.problem) for each in checks)
    if options.json:
        write_json(out, [asdict(each) for each in checks])
    else:
        width = max(len(each.subject) for each in checks)
        out.writelines(_lines(each, width) for each in checks)
        verb = "does" if problems == 1 else "do"
        end = f"{problems} of these {verb} not work." if problems else "Everything works."
        out.write(f"\n{end}\n")
    return ExitCode.FAILED if problems else ExitCode.OK


def _lines(check: Check, width: int) -> str:
    sign = "✗" if check.problem else "✓"
    told = textwrap.wrap(check.found, _WIDTH) or [""]
    told += textwrap.wrap(check.problem, _WIDTH)
    return f"{sign} {check.subject:<{width}}  " + f"\n{'':{width + 4}}".join(told) + "\n"


def _checks() -> Iterator[Check]:
    yield Check(PROGRAM, f"{__version__} in {Path(__file__).resolve().parents[2]}")
    yield Check("Python", f"{platform.python_version()}, {sys.executable}")
    yield Check("system", f"{platform.platform()}, {counted(os.cpu_count() or 1, 'processor')}")
    yield from _packages()
    yield _display()
    yield from _files()
    yield from _extensions()
    yield from _attaching()


def _packages() -> Iterator[Check]:
    """Yield the required and optional packages; a missing optional one is no problem."""
    try:
        lines = requires(PROGRAM) or []
    except PackageNotFoundError:
        yield Check("packages", "not installed", f"Run: {sys.executable} -m pip install .")
        return
    for line in lines:
        requirement, _, marker = line.partition(";")
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]
        if "python_version" in marker and ("<" in marker) != (sys.version_info < (3, 12)):
            continue
        version = installed_version(name)
        if "extra" in marker:
            extra = re.split(r"[\"']", marker)[1]
            install = f"not installed; pip install '{PROGRAM}[{extra}]'"
            yield Check(name, version or f"{install}, {_NEEDED_FOR[extra]}")
        else:
            problem = "" if version else f"Run: {sys.executable} -m pip install {PROGRAM}"
            yield Check(name, version or "not installed", problem)


def _display() -> Check:
    given = ", ".join(f"{name}={os.environ[name]}" for name in _DISPLAY if name in os.environ)
    found = given or "no display is named"
    try:
        check_display(os.environ)
    except EnvironmentProblemError as error:
        return Check("display", found, str(error))
    code, printed = _answer([sys.executable, "-c", _OPENS_A_WINDOW])
    if code:
        return Check(
            "display", found, f"Qt opens no window here: {printed or f'it ended ({code})'}"
        )
    return Check("display", f"{printed} ({found})")


def _files() -> Iterator[Check]:
    for subject, path in (
        ("settings", Path(platformdirs.user_config_dir(PROGRAM, appauthor=False))),
        ("recordings", Path(platformdirs.user_data_dir(PROGRAM, appauthor=False))),
        ("log of --debug", debug_log_path().parent),
    ):
        there = next(each for each in (path, *path.parents) if is_there(each))
        problem = "" if os.access(there, os.W_OK) else f"{there} is not writable. Change its mode."
        yield Check(subject, str(path), problem)


def _extensions() -> Iterator[Check]:
    for group in GROUPS:
        for each in registry_of(group).extensions if GROUPS[group] else ():
            yield Check(f"extension {each.name}", f"{each.package}, {each.target}", each.problem)


def _attaching() -> Iterator[Check]:
    place = folder()
    try:
        own_folder(place)
    except OSError as error:
        yield Check("programs that listen", str(place), f"{error}. Remove it, or ask who owns it.")
    else:
        yield Check("programs that listen", str(place))
    for name, needed in (
        ("python3", "“attach python3 game.py” needs it"),
        ("node", "needed to attach to Node only"),
        ("chromium", "needed for “attach --browser” only"),
    ):
        path = shutil.which(name)
        version = _answer([path, "--version"])[1] if path else ""
        yield Check(name, f"{version}, {path}" if path else f"not on the path; {needed}")
    programs = list(running_programs())
    can = [each.process.title for each in programs if not each.reason]
    yours = counted(len(programs), "program")
    told = f"{len(can)} of {yours} of yours in Python and Node can be attached late"
    yield Check("running programs", f"{told}{': ' if can else ''}{', '.join(can)}")
    for reason in dict.fromkeys(each.reason for each in programs if each.reason):
        titles = [each.process.title for each in programs if each.reason == reason]
        yield Check("", f"not {', '.join(titles)}: {reason}")


def _answer(argv: Sequence[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(  # noqa: S603 - ourselves, or a runtime on the path
            argv, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return 1, f"no answer within {_PATIENCE_S} seconds"
    except OSError as error:
        return 1, str(error.strerror or error)
    return done.returncode, " ".join((done.stdout or done.stderr).split())


DOCTOR: Final = Subcommand(add_json, _diagnose, _EPILOG)
