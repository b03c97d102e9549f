"""Registries: our own entries, those of installed packages, and what does not work."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from inspector.errors import CaptureError
from inspector.exit_codes import ExitCode
from inspector.extensions import ExtensionError, Registry, object_at
from inspector.formats.export import EXPORTERS
from tests.extension_packages import install, python_with, run_with


@dataclass(frozen=True, slots=True)
class Thing:
    name: str
    use: Callable[[], object]
    count: int = 1
    sizes: tuple[int, ...] = ()
    note: str | None = None


OWN = Thing("ours", list)


def registry() -> Registry[Thing]:
    return Registry("exporters", Thing, (OWN,), names=lambda each: (each.name,))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def add(site: Path, name: str, source: str, target: str = "THING") -> None:
    """Install a package with one entry point of its name."""
    head = "from tests.test_extensions import Thing\n"
    install(site, name, {f"{name}.py": head + source}, {"exporters": {name: f"{name}:{target}"}})


def test_that_entries_of_packages_come_after_our_own(site: Path) -> None:
    add(site, "ext_works", "THING = Thing('theirs', dict)")

    things = registry()

    assert [each.name for each in things] == ["ours", "theirs"]
    (extension,) = things.extensions
    assert str(extension) == "The exporter “ext_works” of ext_works 1.0 works."


def test_that_what_is_imported_finds_the_threads_of_numpy_at_rest(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    (site / "ext_looks.py").write_text("from os import environ\nSEEN = dict(environ)\n")

    assert object_at("ext_looks:SEEN")["OPENBLAS_THREAD_TIMEOUT"] == "20"
    # Programs that are started do not inherit it.
    assert "OPENBLAS_THREAD_TIMEOUT" not in os.environ


def test_that_nothing_is_loaded_before_packages_are_asked_for(site: Path) -> None:
    add(site, "ext_lazy", "raise SystemExit(7)")

    assert [each.name for each in registry().own] == ["ours"]


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("ext_missing", "import no_such_module", "ModuleNotFoundError: No module named 'no_such"),
        ("ext_raises", "raise ValueError('a\\nb')", "ValueError: a"),
        ("ext_leaves", "raise SystemExit(7)", "SystemExit: 7"),
        ("ext_without", "OTHER = 1", "AttributeError: module 'ext_without' has no attribute 'TH"),
        ("ext_type", "THING = {'name': 'x'}", "{'name': 'x'} is not of the type Thing"),
        ("ext_name", "THING = Thing(3, list)", "its name cannot be 3"),
        ("ext_use", "THING = Thing('x', 'list')", "its use cannot be “list”"),
        ("ext_count", "THING = Thing('x', list, True)", "its count cannot be True"),
        ("ext_sizes", "THING = Thing('x', list, 1, (1, 'b'))", "its sizes cannot be (1, 'b')"),
        ("ext_note", "THING = Thing('x', list, note=1)", "its note cannot be 1"),
        ("ext_long", "THING = Thing('x', list, note='y' * 20_000)", "its note is too long"),
        ("ext_escape", "THING = Thing('x', list, note='\\x1b[2J')", "its note holds characters th"),
        ("ext_blank", "THING = Thing(' ', list)", "“ ” is not a name of 1 to 60 characters"),
        ("ext_lines", "THING = Thing('a\\nb', list)", "“a\\nb” is not a name of 1 to 60 charact"),
        ("ext_taken", "THING = Thing('Ours', list)", "the name “Ours” is taken"),
    ],
)
def test_that_what_does_not_load_is_named_and_left_out(
    site: Path, caplog: pytest.LogCaptureFixture, name: str, source: str, reason: str
) -> None:
    add(site, name, source)
    add(site, f"{name}_sound", "THING = Thing('theirs', dict)")
    things = registry()

    with caplog.at_level(logging.WARNING, "inspector.extensions"):
        names = [each.name for each in things]

    assert names == ["ours", "theirs"]
    (message,) = caplog.messages
    assert message.startswith(f"The exporter “{name}” of {name} 1.0 does not work: {reason}")
    assert message.endswith(".")


def test_that_metadata_that_cannot_be_read_is_named(
    site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add(site, "ext_torn", "")
    points = site / "ext_torn-1.0.dist-info" / "entry_points.txt"
    points.write_text("[timeline_inspector.exporters]\nno equals sign\n")

    assert [each.name for each in registry()] == ["ours"]
    assert "entry points of ext_torn" in caplog.text


def test_that_what_an_entry_of_a_package_raises_becomes_a_sentence(site: Path) -> None:
    add(site, "ext_fails", "THING = Thing('theirs', lambda: 1 / 0)")
    things = registry()
    theirs = things[1]

    with pytest.raises(ExtensionError) as raised, things.guarding(theirs):
        theirs.use()

    assert str(raised.value) == (
        "The exporter “ext_fails” of ext_fails 1.0 does not work: "
        "ZeroDivisionError: division by zero."
    )
    assert "Traceback" in raised.value.detail
    assert things.extensions[0].problem == "ZeroDivisionError: division by zero"


def test_that_expected_failures_and_faults_of_our_own_pass(site: Path) -> None:
    add(site, "ext_sound", "THING = Thing('theirs', dict)")
    things = registry()

    with pytest.raises(CaptureError), things.guarding(things[1]):
        raise CaptureError("no such column")
    with pytest.raises(ZeroDivisionError), things.guarding(things[0]):
        raise ZeroDivisionError
    assert not things.extensions[0].problem


def test_that_the_first_of_two_installations_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("later", "first"):
        (tmp_path / place).mkdir()
        monkeypatch.syspath_prepend(tmp_path / place)
        add(tmp_path / place, "ext_twice", f"THING = Thing({place!r}, dict)")

    assert [each.name for each in registry()] == ["ours", "first"]


def test_that_without_extensions_no_metadata_is_parsed(tmp_path: Path) -> None:
    done = python_with(
        tmp_path,
        "-c",
        "import sys; from inspector.formats.export import EXPORTERS\n"
        f"assert len(EXPORTERS) == {len(EXPORTERS.own)}\n"
        "print('importlib.metadata' in sys.modules)",
    )

    assert done.stdout == "False\n", done.stderr


# -------------------------------------------------------------------- on the command line

_FRAMES = "frame_time\n16.6\n16.8\n"
_EXPORTER = """
from inspector.formats.export import Exporter

def write(frames, provenance, options, stream):
    stream.write(f"{len(frames)} frames of {provenance.scene}".encode())

COUNT = Exporter("Count", ".count", "number of frames", write)
"""


def test_that_an_exporter_is_known_to_every_command(tmp_path: Path) -> None:
    install(
        tmp_path,
        "ext-count",
        {"ext_count.py": _EXPORTER},
        {"exporters": {"count": "ext_count:COUNT"}},
    )
    (tmp_path / "c.csv").write_text(_FRAMES)

    exported = run_with(tmp_path, "export", "c.csv", "--as", "count")
    ran = run_with(tmp_path, "run", "1", "--frames", "9", "--quiet", "--export", "r.count")

    assert exported.returncode == ran.returncode == 0, exported.stderr + ran.stderr
    assert (tmp_path / "c.count").read_text() == "2 frames of c.csv"
    assert (tmp_path / "r.count").read_text().startswith("9 frames of ")
    for command in ("run", "export"):
        told = " ".join(run_with(tmp_path, command, "--help").stdout.split())
        assert " .count " in told


def test_that_an_exporter_that_fails_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    source = _EXPORTER.replace("len(frames)", "frames.no_such")
    install(
        tmp_path, "ext-count", {"ext_count.py": source}, {"exporters": {"count": "ext_count:COUNT"}}
    )
    (tmp_path / "c.csv").write_text(_FRAMES)

    done = run_with(tmp_path, "export", "c.csv", "-o", "c.count", "-o", "c.svg")

    assert done.returncode == ExitCode.FAILED
    sentence = "The exporter “count” of ext-count 1.0 does not work: AttributeError: 'FrameTimes'"
    assert done.stderr.count(f"timeline-inspector: {sentence}") == 1
    assert not (tmp_path / "c.count").exists()


_COMMAND = """
from inspector.cli.command import Subcommand, CommandEntry

def add_arguments(parser):
    parser.add_argument("--times", type=int, default=1)

def run(options, out, err):
    out.write("hello\\n" * options.times)
    return 0

COMMAND = Subcommand(add_arguments, run)
HELLO = CommandEntry("hello", "", "say hello", "ext_hello:COMMAND")
"""


def test_that_a_command_of_a_package_is_listed_and_run(tmp_path: Path) -> None:
    install(
        tmp_path,
        "ext-hello",
        {"ext_hello.py": _COMMAND},
        {"commands": {"hello": "ext_hello:HELLO"}},
    )

    assert run_with(tmp_path, "hello", "--times", "2").stdout == "hello\nhello\n"
    assert "say hello" in run_with(tmp_path, "--help").stdout
    assert "--times" in run_with(tmp_path, "hello", "--help").stdout


def test_that_a_broken_package_is_named_and_harms_no_command(tmp_path: Path) -> None:
    files = {"ext_bad.py": "import no_such_module"}
    install(
        tmp_path,
        "ext-bad",
        files,
        {"commands": {"bad": "ext_bad:BAD"}, "exporters": {"bad": "ext_bad:BAD"}},
    )

    ran = run_with(tmp_path, "run", "1", "--frames", "3", "--export", "r.csv")
    listed = run_with(tmp_path, "extensions")
    as_json = run_with(tmp_path, "extensions", "--json")

    assert ran.returncode == 0
    assert (tmp_path / "r.csv").exists()
    assert ran.stderr == (
        "timeline-inspector: The exporter “bad” of ext-bad 1.0 does not work: "
        "ModuleNotFoundError: No module named 'no_such_module'. "
        "See “timeline-inspector extensions”.\n"
    )
    assert listed.returncode == as_json.returncode == ExitCode.FAILED
    assert "✖ bad, ext-bad 1.0" in listed.stdout
    assert '"problem": "ModuleNotFoundError: No module named \'no_such_module\'"' in as_json.stdout


def test_that_a_dialect_cannot_be_taken_for_another_subject_of_the_lab(tmp_path: Path) -> None:
    source = """
        from dataclasses import replace
        from inspector.engines.cocos.dialects import CREATOR_3_8
        CLOCK = replace(CREATOR_3_8, name="clock", title="A clock")
    """
    install(tmp_path, "ext-d", {"ext_d.py": source}, {"schedulers": {"clock": "ext_d:CLOCK"}})

    done = run_with(tmp_path, "lab", "--list")

    assert "A clock" not in done.stdout
    assert "its name “clock” does not end in a version, as in creator-2.4." in done.stderr


def test_that_a_command_without_a_summary_does_not_break_help(tmp_path: Path) -> None:
    source = _COMMAND.replace("say hello", " ")
    points = {"commands": {"hello": "ext_hello:HELLO"}}
    install(tmp_path, "ext-hello", {"ext_hello.py": source}, points)

    asked, typed = run_with(tmp_path, "--help"), run_with(tmp_path, "hello")

    sentence = (
        "timeline-inspector: The command “hello” of ext-hello 1.0 does not work: it has no su"
    )
    assert asked.returncode == ExitCode.OK
    assert typed.returncode == ExitCode.SCENE
    assert asked.stderr.count(sentence) == typed.stderr.count(sentence) == 1


def test_that_a_command_that_fails_is_named(tmp_path: Path) -> None:
    source = _COMMAND.replace("return 0", "return 1 / 0")
    install(
        tmp_path, "ext-hello", {"ext_hello.py": source}, {"commands": {"hello": "ext_hello:HELLO"}}
    )

    done = run_with(tmp_path, "hello")

    assert done.returncode == ExitCode.FAILED
    assert "The command “hello” of ext-hello 1.0 does not work: ZeroDivisionError" in done.stderr


_IMPORTER = """
from inspector.sessions.frame_files import Importer, captured

TIMES = Importer("times", lambda head: head.startswith(b"times"), lambda path: captured(path, [7]))
"""


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("captured(path, [7])", "TypeError: 3 is not a FrameFile"),
        ("head.startswith(b'times')", ""),
    ],
)
def test_that_an_importer_that_fails_is_named(tmp_path: Path, broken: str, reason: str) -> None:
    source = _IMPORTER.replace('"', "'").replace(broken, "3" if reason else "head.no_such")
    assert source != _IMPORTER.replace('"', "'")
    install(tmp_path, "ext-t", {"ext_t.py": source}, {"importers": {"times": "ext_t:TIMES"}})
    (tmp_path / "t.txt").write_text("times\n" if reason else "ms\n16.5\n")

    done = run_with(tmp_path, "export", "t.txt", "-o", "t.csv")

    sentence = "The importer “times” of ext-t 1.0 does not work: "
    assert sentence + (reason or "AttributeError: 'bytes' object has no attr") in done.stderr
    # What cannot recognise anything is passed over.
    assert (done.returncode == ExitCode.OK) == (not reason)


_RULE = """
from inspector.analysis.lint.findings import Finding, FindingKind
from inspector.analysis.lint.rules import LintRule

ODD = FindingKind("odd", "Odd.", "what is odd")

def find(seen):
    return [Finding(ODD, "It\\nis odd.", 0, None, 0)]

RULE = LintRule((ODD,), find)
"""


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("", "", ""),
        ("seen)", "seen, more)", "TypeError: find() missing 1 required positional argument"),
        ("[Finding(", "[(", "TypeError: (FindingKind(name='odd'"),
        ("0, None", "'x', None", "is not a finding of this rule"),
        ("(ODD,)", "()", "it has no kinds"),
        ("'what is odd'", "7", "its detail cannot be 7"),
    ],
)
def test_that_a_lint_rule_that_fails_is_named_and_the_others_run(
    tmp_path: Path, before: str, after: str, reason: str
) -> None:
    source = _RULE.replace('"', "'").replace(before, after, 1)
    install(tmp_path, "ext-r", {"ext_r.py": source}, {"lint_rules": {"odd": "ext_r:RULE"}})

    done = run_with(tmp_path, "lint", "3", "--seconds", "5")

    assert "drift: " in done.stdout
    assert ("It⏎is odd." in done.stdout) == (not reason)
    sentence = "The lint rule “odd” of ext-r 1.0 does not work: "
    assert (sentence in done.stderr) == bool(reason)
    assert reason in done.stderr


_SOURCE = """
from inspector.sessions.sources.time_sources import TimeSourceKind

class Slow:
    def __init__(self, host):
        self.host = host
        self.set_wake, self.attach, self.close = host.set_wake, host.attach, host.close

    def now_ns(self):
        return self.host.now_ns()

SLOW = TimeSourceKind("slow", "a test", Slow)
"""


@pytest.mark.parametrize(
    ("command", "before", "after", "reason"),
    [
        ("run", "self.host.now_ns()", "self.no_such", "AttributeError: 'Slow' object"),
        ("lint", "self.host.now_ns()", "self.no_such", "AttributeError: 'Slow' object"),
        ("lint", "def now_ns", "def now", "has no method now_ns"),
        ("run", '"a test", Slow', '"a test", None', "it has no make, or its is_real is False"),
    ],
)
def test_that_a_time_source_that_fails_is_named(
    tmp_path: Path, command: str, before: str, after: str, reason: str
) -> None:
    source = _SOURCE.replace(before, after)
    install(tmp_path, "ext-s", {"ext_s.py": source}, {"time_sources": {"slow": "ext_s:SLOW"}})

    done = run_with(tmp_path, command, "1", "--seconds", "0.1", "--source", "slow")

    assert done.returncode in (ExitCode.FAILED, ExitCode.USAGE)
    assert "The time source “slow” of ext-s 1.0 does not work: " in done.stderr
    assert reason in done.stderr


def test_that_a_recording_does_not_take_a_time_source(tmp_path: Path) -> None:
    install(tmp_path, "ext-s", {"ext_s.py": _SOURCE}, {"time_sources": {"slow": "ext_s:SLOW"}})
    run_with(tmp_path, "run", "1", "--frames", "3", "--record", "a.tlrec")

    done = run_with(tmp_path, "lint", "a.tlrec", "--source", "slow")

    assert done.returncode == ExitCode.USAGE
    assert "Argument --source: a recording is not run. Omit it." in done.stderr


def test_that_without_extensions_the_list_says_so(tmp_path: Path) -> None:
    done = run_with(tmp_path, "extensions")

    assert done.returncode == ExitCode.OK, done.stderr
    assert re.search(r"^panels: \d+ built in, 0 installed$", done.stdout, re.MULTILINE)
    assert f"exporters: {len(EXPORTERS.own)} built in, 0 installed\n" in done.stdout
    assert re.search(r"^lint rules: \d+ built in, 0 installed$", done.stdout, re.MULTILINE)
