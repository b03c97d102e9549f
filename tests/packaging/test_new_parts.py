"""What a new part of the inspector costs: one file and one entry, tried on a copy."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.extension_packages import python_with

_PROJECT = Path(__file__).resolve().parents[2]
_SCENE = """
def build(stage):
    stage.root.set_interval(0.5, lambda: None, name="tick")
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A new part.

    Attributes:
        path: The one new file.
        source: What is in it.
        registry: The file of its registry.
        entry: What is added at the end of that.
        line: The command line that is run then; empty for a panel, which is shown.
        answer: What is said somewhere in the answer.
        imported: What the entry needs, if that is not found by its name.
    """

    path: str
    source: str
    registry: str
    entry: str
    line: str
    answer: str
    imported: str = ""


_END = "    ),\n    names="
_IMPORTS = "from inspector.extensions import"
#: Runs each command line, and then shows the panel.
_PROGRAM = """
import contextlib, io, json, sys
from inspector.launcher import main

said = {}
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        main(line.split())
    said[line] = out.getvalue()

from tests.ui.lone_window import finish, lone_shell

shell = lone_shell()
shell.trigger("panel-pulse")
finish(shell, said | {"": shell.window.panels.panel("pulse").text()})
"""
PARTS = {
    "panel": Part(
        path="ui/pulse.py",
        source="""
from PySide6.QtWidgets import QLabel

class PulsePanel(QLabel):
    def __init__(self, bridge, theme, parent=None):
        super().__init__(f"pulse of {bridge.session.title}", parent)
""",
        registry="ui/actions/panels.py",
        entry='Panel("pulse", "Pulse", PanelArea.BOTTOM, ".pulse:PulsePanel", "x"),',
        line="",
        answer="pulse of played & tested",
    ),
    "exporter": Part(
        path="inspector/formats/tables/count_frames.py",
        source="""
from inspector.formats.file_formats import FileFormat

def write_count(frames, provenance, options, stream):
    stream.write(str(len(frames)).encode())

COUNT = FileFormat("count", ".count", "number of frames", write_count)
""",
        registry="inspector/formats/export.py",
        imported="from inspector.formats.tables.count_frames import COUNT",
        entry="COUNT,",
        line="run ticking.py --frames 3 --export a.count",
        answer="wrote a.count (3 frames)",
    ),
    "command of the command line": Part(
        path="inspector/cli/commands/peak.py",
        source="""
from pathlib import Path

from inspector.cli.command import Subcommand

def run(options, out, errors):
    from inspector.sessions.frame_files import read_frame_file

    frames = read_frame_file(Path(options.file)).frames
    out.write(f"the longest frame takes {frames.interval_ns.max()} ns")
    return 0

PEAK = Subcommand(lambda parser: parser.add_argument("file"), run)
""",
        registry="inspector/cli/commands/__init__.py",
        entry='CommandEntry("peak", "FILE", "find the longest frame", ".peak:PEAK"),',
        line="peak two.csv",
        answer="the longest frame takes 20000000 ns",
    ),
    "time source": Part(
        path="inspector/clocks/sources/patient_source.py",
        source="""
class PatientTimeSource:
    def __init__(self, host):
        self.now_ns, self.set_wake = host.now_ns, host.set_wake
        self.attach, self.close = host.attach, host.close
""",
        registry="inspector/sessions/sources/time_sources.py",
        imported="from inspector.clocks.sources.patient_source import PatientTimeSource",
        entry='TimeSourceKind("patient", "the same", PatientTimeSource),',
        line="run ticking.py --frames 3 --source patient",
        answer="in real time, patient",
    ),
    "lint rule": Part(
        path="inspector/analysis/lint/busy.py",
        source="""
from inspector.analysis.lint.findings import Finding, FindingKind

BUSY = FindingKind("busy", "A timer was called.", "a timer that was called")

def busy(seen):
    for timer in seen.timers.values():
        if timer.calls:
            yield Finding(BUSY, f"{seen.name(timer)} was called.", 0, None, timer.number)
""",
        registry="inspector/analysis/lint/rules.py",
        imported="from inspector.analysis.lint.busy import BUSY, busy",
        entry="LintRule((BUSY,), busy),",
        line="lint ticking.py --seconds 3",
        answer="“tick” was called.",
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project to which all parts were added."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("inspector", "ui"):
        # With what is compiled, which holds for copies that are as old.
        leave_out = shutil.ignore_patterns("_resources")
        shutil.copytree(_PROJECT / folder, copy / folder, ignore=leave_out)
    (copy / "resources").symlink_to(_PROJECT / "resources")
    (copy / "ticking.py").write_text(_SCENE, encoding="utf-8")
    (copy / "two.csv").write_text("frame_time_ms\n16\n20\n", encoding="utf-8")
    for part in PARTS.values():
        (copy / part.path).parent.mkdir(exist_ok=True)
        (copy / part.path).write_text(part.source, encoding="utf-8")
        registry = copy / part.registry
        text = registry.read_text(encoding="utf-8")
        assert text.count(_END) == text.count(_IMPORTS) == 1
        text = text.replace(_END, f"        {part.entry}\n{_END}")
        text = text.replace(_IMPORTS, f"{part.imported}\n{_IMPORTS}")
        registry.write_text(text, encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def said(copy: Path) -> dict[str, str]:
    """Return the answers by command line, all from one process."""
    lines = [part.line for part in PARTS.values() if part.line]
    done = python_with(copy, "-c", _PROGRAM, json.dumps(lines))
    assert done.returncode == 0, done.stderr
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("name", PARTS)
def test_that_a_new_part_costs_one_file_and_one_entry(said: dict[str, str], name: str) -> None:
    assert PARTS[name].answer in said[PARTS[name].line]
