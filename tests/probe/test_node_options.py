"""When the probe is put into Node's options, by what a program starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.probe.bootstrap import children
from inspector.probe.bootstrap.children import node_options

_WITH = children._PRELOAD


@pytest.mark.parametrize(
    "command",
    [
        ["node", "x.js"],
        "node x.js",
        b"node x.js",
        Path("node"),
        ["true"],
        # An error that is the program's.
        None,
        [3],
    ],
)
def test_that_the_probe_is_given_once_beside_other_options(command: object) -> None:
    assert node_options("", command) == _WITH
    assert node_options("--no-warnings", command) == f"--no-warnings {_WITH}"
    assert node_options(f"--no-warnings {_WITH}", command) == f"--no-warnings {_WITH}"


@pytest.mark.parametrize(
    "command",
    [
        ["node", "--permission", "x.js"],
        "true; node --experimental-permission x.js",
        ["/usr/sbin/chroot", "/x", "node"],
        [b"chroot", "/x"],
    ],
)
def test_that_node_is_not_given_what_it_could_not_load(command: object) -> None:
    assert node_options("", command) == ""
    assert node_options(f"--no-warnings {_WITH}", command) == "--no-warnings"


def test_that_no_probe_is_given_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(children, "_PROBE_JS", str(tmp_path / "none.js"))

    assert node_options("--no-warnings", ["node", "x.js"]) == "--no-warnings"


@pytest.mark.parametrize(
    ("command", "text", "is_given"),
    [
        # What a shell runs is read,
        (["./run"], "#!/bin/sh\nnode --permission x.js\n", False),
        (["./run"], "#!/usr/bin/env bash\nnode --permission x.js\n", False),
        (["./run"], "#!/bin/sh\nnode x.js\n", True),
        # once, though it names itself,
        (["./run"], "#!/bin/sh\n# Usage: ./run\nnode x.js\n", True),
        (["sh", "run"], "node --permission x.js\n", False),
        (["/bin/sh", "-e", "run"], "node --permission x.js\n", False),
        (["bash", "other", "run"], "node --permission x.js\n", True),
        (["./run"], "#!/bin/sh\n" + "# long\n" * 10_000 + "node --permission x.js\n", True),
        # and nothing else.
        (["./run"], "#!/usr/bin/python3\n'--permission'\n", True),
        (["./run"], "node --permission x.js\n", True),
        (["cat", "run"], "node --permission x.js\n", True),
        (["sh", "."], "", True),
        (["sh", "none"], "", True),
        (["sh", "\0"], "", True),
    ],
)
def test_that_what_a_script_runs_counts(
    tmp_path: Path, command: list[str], text: str, *, is_given: bool
) -> None:
    (tmp_path / "run").write_text(text)

    assert (node_options("", command, tmp_path) == _WITH) is is_given
    assert (node_options("", command, str(tmp_path).encode()) == _WITH) is is_given


def test_that_scripts_are_looked_for_where_the_program_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").write_text("#!/bin/sh\nnode --permission x.js\n")
    assert node_options("", ["./run"]) == _WITH
    monkeypatch.chdir(tmp_path)
    assert node_options("", ["./run"]) == ""
