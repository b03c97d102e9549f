"""What children of a program are given, with functions that start none."""

# ruff: noqa: ANN401 - an environment may be anything

from __future__ import annotations

import _thread
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.bootstrap import children as module

FOLDER, PRELOAD = module._FOLDER, module._PRELOAD
HANDED_ON = {
    "TIMELINE_PROBE_CONNECT": "unix:/x",
    "TIMELINE_PROBE_TOKEN": "t",
    "TIMELINE_PROBE_GRANT": "step",
}


@pytest.fixture(autouse=True)
def handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_handed_on", dict(HANDED_ON))
    monkeypatch.setattr(os, "environ", {})


# ------------------------------------------------------------------------------ what a program gets


def test_that_a_program_starts_with_what_it_was_given_and_hides_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {**HANDED_ON, "TIMELINE_PROBE_HOLD": "1", "OTHER": "x"}
    monkeypatch.setattr(os, "environ", environment := dict(given))
    assert module.pop_start_arguments() == {
        "connect": "unix:/x",
        "token": "t",
        "hold": True,
        "grant": "step",
    }
    assert environment.keys() == {"TIMELINE_PROBE_CONNECT", "TIMELINE_PROBE_GRANT", "OTHER"}
    assert module.pop_start_arguments() is None
    environment |= {"TIMELINE_PROBE_TOKEN": "t", "TIMELINE_PROBE_HOLD": "0"}
    del environment["TIMELINE_PROBE_GRANT"]
    again = module.pop_start_arguments()
    assert again is not None
    assert (again["hold"], again["grant"]) == (False, "full")


@pytest.mark.parametrize("is_main", [True, False])
def test_that_an_interpreter_within_the_program_starts_no_probe(
    monkeypatch: pytest.MonkeyPatch, *, is_main: bool
) -> None:
    monkeypatch.setattr(os, "environ", dict(HANDED_ON))
    monkeypatch.setattr(_thread, "_is_main_interpreter", lambda: int(is_main), raising=False)
    assert (module.pop_start_arguments() is not None) is is_main
    # Before Python 3.12.
    monkeypatch.delattr(_thread, "_is_main_interpreter")
    within = SimpleNamespace(get_current=lambda: 1, get_main=lambda: 1 if is_main else 0)
    monkeypatch.setitem(sys.modules, "_xxsubinterpreters", within)
    assert module.is_main_interpreter() is is_main
    monkeypatch.setitem(sys.modules, "_xxsubinterpreters", None)
    assert module.is_main_interpreter()


# ------------------------------------------------------------------------------ what children get


def test_that_a_process_hands_its_inspector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    put: dict[str, str] = {}
    wrapped: list[str] = []
    monkeypatch.setattr(module, "_handed_on", {})
    monkeypatch.setattr(os, "putenv", put.__setitem__)
    monkeypatch.setattr(os, "environ", environment := {"PYTHONPATH": f"/a{os.pathsep}/b"})
    monkeypatch.setattr(module, "when_imported", lambda name, _call: wrapped.append(name))
    started: list[tuple[Any, ...]] = []
    for name in ("execve", "posix_spawn"):
        monkeypatch.setattr(os, name, _starter(started))
    monkeypatch.delattr(os, "posix_spawnp", raising=False)
    module.hand_on("unix:/x", "t", "step")
    spawn = os.posix_spawn
    module.hand_on("unix:/y", "t", "step")

    path = os.pathsep.join([FOLDER, "/a", "/b"])
    assert put == {**HANDED_ON, "TIMELINE_PROBE_CONNECT": "unix:/y", "PYTHONPATH": path}
    # The token is nowhere that programs print.
    assert environment == {"PYTHONPATH": f"/a{os.pathsep}/b", "TIMELINE_PROBE_CONNECT": "unix:/y"}
    assert wrapped == ["subprocess"]
    # They are wrapped once.
    assert os.posix_spawn is spawn
    replace: Any = os.execve
    replace("/bin/x", ["x"], dict(environment))
    assert started[0][:2] == ("/bin/x", ["x"])
    assert started[0][2].keys() >= HANDED_ON.keys()
    assert not hasattr(os, "posix_spawnp")


def _starter(started: list[tuple[Any, ...]]) -> Any:
    def start(*args: Any, **kwargs: Any) -> int:
        started.append((*args, kwargs) if kwargs else args)
        return 7

    return start


@pytest.mark.parametrize("way", ["by name", "by place"])
def test_that_an_environment_is_given_the_probe_where_it_stands(way: str) -> None:
    started: list[tuple[Any, ...]] = []
    start = module._giving(_starter(started), 2)
    given = dict(HANDED_ON, PYTHONPATH="/a")
    if way == "by name":
        assert start("/bin/x", ["x"], env=given) == 7
        found = started[0][-1]["env"]
    else:
        assert start("/bin/x", ["x"], given, "more") == 7
        found = started[0][2]
        assert started[0][3] == "more"

    assert found == {**HANDED_ON, "PYTHONPATH": f"{FOLDER}{os.pathsep}/a"}
    assert given["PYTHONPATH"] == "/a"
    # What it replaces is known by its name.
    assert (start.__name__, start.__wrapped__.__name__) == ("start", "start")


def test_that_a_child_that_inherits_all_is_given_an_environment_only_where_node_would_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[tuple[Any, ...]] = []
    start = module._giving(_starter(started), 2)
    for environment, command in (
        ({}, ["docker", "run"]),
        (HANDED_ON, ["docker", "run"]),
        ({**HANDED_ON, "NODE_OPTIONS": f"-x {PRELOAD}"}, ["node"]),
        ({**HANDED_ON, "NODE_OPTIONS": f"-x {PRELOAD}"}, ["docker", "run"]),
    ):
        monkeypatch.setattr(os, "environ", dict(environment))
        start("popen", command)
    start("popen", args=["docker"], cwd="/tmp", env=None)  # noqa: S108 - nothing is written there

    assert [len(each) for each in started] == [2, 2, 2, 3, 2]
    assert started[3][-1]["env"]["NODE_OPTIONS"] == "-x"
    assert started[4][-1]["env"]["NODE_OPTIONS"] == "-x"


@pytest.mark.parametrize("environment", [None, 5, {}, {"A": "b"}, {b"A": b"b"}])
def test_that_an_environment_that_the_program_has_made_is_left_alone(environment: Any) -> None:
    assert module._with_probe(environment, ["x"], None) is environment


def test_that_an_environment_of_bytes_stays_one() -> None:
    given = {
        b"TIMELINE_PROBE_CONNECT": b"unix:/old",
        b"NODE_OPTIONS": os.fsencode(f"{PRELOAD} -x"),
        # Both kinds of names may be there.
        "PYTHONPATH": "/a",
    }
    found = module._with_probe(given, ["podman"], None)

    assert found == {
        **{os.fsencode(name): os.fsencode(value) for name, value in HANDED_ON.items()},
        b"PYTHONPATH": os.fsencode(f"{FOLDER}{os.pathsep}/a"),
        b"NODE_OPTIONS": b"-x",
    }


def test_that_options_of_node_without_the_probe_stay_as_they_are() -> None:
    given = {**HANDED_ON, "NODE_OPTIONS": "-x"}

    assert module._with_probe(given, ["docker"], None)["NODE_OPTIONS"] == "-x"


@pytest.mark.parametrize(
    ("path", "with_probe"),
    [
        ("", [FOLDER]),
        ("/a", [FOLDER, "/a"]),
        (f"{FOLDER}{os.pathsep}/a", [FOLDER, "/a"]),
        (f"/a{os.pathsep}", [FOLDER, "/a", ""]),
    ],
)
def test_that_the_probe_is_first_on_the_path_once(path: str, with_probe: list[str]) -> None:
    assert module.path_with_probe(path) == os.pathsep.join(with_probe)


def test_that_the_threads_that_start_processes_are_known() -> None:
    seen: list[tuple[bool, dict[str, Any]]] = []

    class Popen:
        def __init__(self, args: list[str], *places: Any, **more: Any) -> None:
            """Start nothing."""
            seen.append((module.is_starting(), more or {"env": places[-1]}))
            if args == ["none"]:
                raise FileNotFoundError

    stand_in: Any = SimpleNamespace(Popen=Popen)
    module._wrap_popen(stand_in)
    Popen(["x"], env=dict(HANDED_ON))
    Popen(["x"], *[None] * 9, dict(HANDED_ON))
    with pytest.raises(FileNotFoundError):
        Popen(["none"], env=None)

    assert [each for each, _ in seen] == [True] * 3
    assert [more["env"]["PYTHONPATH"] for _, more in seen[:2]] == [FOLDER] * 2
    assert not module.is_starting()
    assert Popen.__init__.__doc__ == "Start nothing."
    # The place of the environment among the arguments of the real one.
    code: Any = subprocess.Popen.__init__
    while hasattr(code, "__wrapped__"):
        code = code.__wrapped__
    assert code.__code__.co_varnames[module._POPEN_ENV + 1] == "env"


def test_that_a_process_that_leaves_at_once_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[object] = []
    monkeypatch.setattr(os, "_exit", left.append)
    module.when_left(lambda: left.append("closed"))
    leave: Any = os._exit
    leave(3)
    assert left == ["closed", 3]

    monkeypatch.setattr(os, "_exit", left.append)
    module.when_left(lambda: 1 // 0)
    leave = os._exit
    with pytest.raises(ZeroDivisionError):
        leave(4)
    assert left[2:] == [4]


# ------------------------------------------------------------------------ whether Node can load it


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("a b", ["a", "b"]),
        (b"a b", ["a", "b"]),
        (Path("a"), ["a"]),
        (["sh", b"-c", "a b"], ["sh", "-c", "a", "b"]),
        (None, []),
        ([5], []),
    ],
)
def test_that_a_command_line_may_be_given_in_several_ways(command: Any, words: list[str]) -> None:
    assert module._words(command) == words


@pytest.mark.parametrize(
    ("command", "may"),
    [
        (["node", "a.js"], True),
        (["node", "--permission"], False),
        (["/usr/bin/docker", "run"], False),
        (["sh", "runs"], False),
        (["bash", "-e", "runs"], False),
        # An argument of the script.
        (["sh", "other", "runs"], True),
        (["./script"], False),
        (["./plain"], True),
        (["node", "runs"], True),
        (["sh", "missing"], True),
        (["sh", "a\0b"], True),
    ],
)
def test_that_node_may_load_the_probe_unless_it_runs_elsewhere(
    command: list[str], tmp_path: Path, *, may: bool
) -> None:
    (tmp_path / "runs").write_text("exec docker run x")
    (tmp_path / "other").write_text("exec node x")
    (tmp_path / "script").write_text("#!/usr/bin/env bash\npodman run x")
    (tmp_path / "plain").write_text("#!/usr/bin/python\npodman run x")

    assert module._may_preload(command, tmp_path) is may
    assert module.node_options(f"-x {PRELOAD}", command, tmp_path) == f"-x {PRELOAD}" * may + (
        "-x" * (not may)
    )


def test_that_only_the_beginning_of_a_script_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SCRIPT_BYTES", 10)
    (tmp_path / "runs").write_text("x" * 12 + " docker")

    assert module._may_preload(["sh", "runs"], tmp_path)


def test_that_node_loads_nothing_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PROBE_JS", "/none")

    assert module.node_options("", ["node"]) == ""
