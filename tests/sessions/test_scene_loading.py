"""Scene files are loaded in isolation, and their errors become sentences."""

import gc
import json
import linecache
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from inspector.cli import main as cli
from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.commands.scene import Reload, SetFailurePolicy
from inspector.commands.transport import Run, StepFrames
from inspector.errors import SceneError
from inspector.exit_codes import ExitCode
from inspector.sessions.scene import built_in_scenes, find_scene, load_scene
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session

if TYPE_CHECKING:
    from inspector.sessions.stage import Stage

GOOD = """
    def build(stage):
        stage.root.set_interval(1, lambda: None, name="tick")
"""


def failed(path: Path) -> SessionStatus:
    session = held_session(path)
    status = session.status
    session.close()
    assert status.phase is SessionPhase.FAILED
    return status


def test_that_a_syntax_error_names_file_line_and_text(tmp_path: Path) -> None:
    status = failed(scene_file(tmp_path, "def build(stage):\n    x = = 1\n"))

    assert status.message == "scene.py could not be imported (line 2): SyntaxError: invalid syntax."
    assert status.line == 2
    assert status.path == str(tmp_path / "scene.py")
    assert "> 2 │     x = = 1" in status.detail
    assert status.detail.endswith("    x = = 1\n        ^\nSyntaxError: invalid syntax")


@pytest.mark.parametrize(
    "build", ["async def build(stage): ...", "def build(stage):\n    yield stage"]
)
def test_that_a_build_that_would_do_nothing_is_refused(tmp_path: Path, build: str) -> None:
    status = failed(scene_file(tmp_path, build + "\n"))

    assert status.message == (
        "scene.py: calling build(stage) would do nothing (line 1): it is async or has a yield. "
        "Define it as a plain function."
    )
    assert status.line == 1


def test_that_a_table_is_no_scene(tmp_path: Path) -> None:
    path = tmp_path / "capture.csv"
    path.write_text("frame,ms\n1,16.6\n")

    assert failed(path).message.startswith(
        "capture.csv is not a Python file. Name the scene's .py file; frame times"
    )


def test_that_an_error_that_has_no_text_is_named(tmp_path: Path) -> None:
    status = failed(
        scene_file(
            tmp_path,
            """
            class OwnError(Exception):
                def __str__(self): raise ValueError

            def build(stage):
                raise OwnError
            """,
        )
    )

    assert status.message == (
        "scene.py failed in build(stage) (line 6): OwnError: <exception str() failed>."
    )


def test_that_a_missing_module_is_told_with_the_line_that_wants_it(tmp_path: Path) -> None:
    status = failed(scene_file(tmp_path, "\nimport no_such_module_anywhere\n"))

    assert "(line 2): ModuleNotFoundError: No module named 'no_such_module_anywhere'" in (
        status.message
    )
    assert status.message.endswith(
        " If it is a program, not a scene: “timeline-inspector attach python3 scene.py”."
    )


def test_that_a_scene_without_build_says_what_to_define(tmp_path: Path) -> None:
    status = failed(scene_file(tmp_path, "build = 3\n"))

    assert status.message == (
        "scene.py has no function build(stage). Define one that sets up clocks and timers on "
        "stage.root. If it is a program, not a scene: “timeline-inspector attach python3 scene.py”."
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("every_frame(1, spawn)", "write every_frame(spawn), or set_interval(1, spawn) of a clock"),
        ("every_frame(spawn, 1)", "every_frame(callback, clock): needs a clock, not an int"),
        ("root.set_interval('500ms', spawn)", "seconds: “500ms”; write 0.5"),
    ],
)
def test_that_a_call_with_the_wrong_arguments_is_answered_with_what_to_write(
    tmp_path: Path, call: str, sentence: str
) -> None:
    scene = f"def spawn(): ...\ndef build(stage):\n    stage.{call}\n"

    assert sentence in failed(scene_file(tmp_path, scene)).message


def test_that_an_exception_in_build_shows_only_the_users_frames(tmp_path: Path) -> None:
    status = failed(
        scene_file(
            tmp_path,
            """
            def build(stage):
                stage.root.set_interval(float("nan"), print)
            """,
        )
    )

    assert status.line == 3
    assert "the interval is not a usable number of seconds: nan" in status.message
    assert "clock.py" not in status.detail
    assert "hosted.py" not in status.detail


def test_that_a_question_in_a_failure_ends_with_its_own_mark(tmp_path: Path) -> None:
    scene = scene_file(tmp_path, "def build(stage):\n    stage.root.setTimeout(1, print)\n")

    assert failed(scene).message.endswith("; did you mean 'set_timeout'?")


def test_that_leaving_by_exit_is_told_as_a_failure(tmp_path: Path) -> None:
    status = failed(scene_file(tmp_path, "import sys\nsys.exit(3)\n"))

    assert "it called exit (3)" in status.message
    assert status.line == 2


def test_that_bytes_that_are_no_source_are_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "scene.py"
    path.write_bytes(b"x = '\xff'\n")

    assert failed(path).message.startswith("scene.py could not be imported")


@pytest.mark.parametrize("content", [b"\x7fELF\x02\0\0\0", "x = 1".encode("utf-16")])
def test_that_a_binary_file_is_told_from_a_scene(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scene.py"
    path.write_bytes(content)

    message = failed(path).message

    assert message.startswith("scene.py is not a Python file: it contains bytes that are not text.")
    assert "saved as UTF-8" in message


@pytest.mark.parametrize(
    ("head", "shown"), [("def build():", "build()"), ("def build(a, b):", "build(a, b)")]
)
def test_that_a_build_that_takes_no_stage_is_told_what_to_write(
    tmp_path: Path, head: str, shown: str
) -> None:
    status = failed(scene_file(tmp_path, f"x = 1\n{head}\n    pass\n"))

    assert status.message == (
        f"scene.py: {shown} does not accept the stage as its only argument (line 2). Define it "
        "as build(stage)."
    )
    assert f"> 2 │ {head}" in status.detail
    assert "Traceback" not in status.detail


def test_that_a_missing_file_and_a_folder_are_sentences(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.py"
    assert failed(nowhere).message.startswith(f"There is no file {nowhere}. ")
    assert "is a folder" in failed(tmp_path).message


def test_that_an_error_in_a_neighbour_is_placed_there(tmp_path: Path) -> None:
    scene_file(tmp_path, "def go():\n    raise KeyError('x')\n", "neighbour_module.py")
    path = scene_file(
        tmp_path, "import neighbour_module\ndef build(stage):\n    neighbour_module.go()\n"
    )

    status = failed(path)

    assert status.path == str(tmp_path / "neighbour_module.py")
    assert status.line == 2
    assert "(neighbour_module.py, line 2)" in status.message


def test_that_neighbours_are_loaded_anew_on_reload_and_leave_no_trace(tmp_path: Path) -> None:
    scene_file(tmp_path, "NAME = 'first'\n", "names_beside.py")
    path = scene_file(
        tmp_path,
        """
        import names_beside
        def build(stage):
            stage.root.child(names_beside.NAME)
        """,
    )
    known_before, path_before = set(sys.modules), list(sys.path)
    session = held_session(path)

    # The same size within the same second: a cache by date and size would be stale.
    scene_file(tmp_path, "NAME = 'other'\n", "names_beside.py")
    session.submit(Reload())
    session.refresh()
    names = [clock.name for clock in session.timeline.clocks.values()]
    session.close()

    assert names == ["root", "other"]
    assert set(sys.modules) - known_before == set()
    assert sys.path == path_before
    assert not (tmp_path / "__pycache__").exists()


def test_that_a_neighbour_comes_before_a_module_of_its_name_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    scene_file(tmp_path / "elsewhere", "NAME = 'elsewhere'\n", "named_alike.py")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    scene_file(tmp_path, "NAME = 'beside'\n", "named_alike.py")
    path = scene_file(
        tmp_path,
        "import named_alike\ndef build(stage):\n    stage.root.child(named_alike.NAME)\n",
    )

    session = held_session(path)

    assert [clock.name for clock in session.timeline.clocks.values()] == ["root", "beside"]
    session.close()


def test_that_a_callback_may_import_a_neighbour_later(tmp_path: Path) -> None:
    scene_file(tmp_path, "NAME = 'late'\n", "imported_late.py")
    path = scene_file(
        tmp_path,
        """
        def later(stage):
            import imported_late
            stage.mark(imported_late.NAME)
        def build(stage):
            stage.root.set_timeout(1, later, stage)
        """,
    )
    source = ManualTimeSource()
    session = held_session(path, source)
    session.submit(Run())

    source.advance(2)
    session.refresh()
    session.close()

    assert [mark.text for mark in session.timeline.marks] == ["late"]
    assert "imported_late" not in sys.modules


def test_that_a_scene_of_dataclasses_can_be_loaded(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        from __future__ import annotations
        from dataclasses import dataclass

        @dataclass
        class Enemy:
            name: str

        def build(stage):
            stage.name(Enemy("orc").name)
        """,
    )

    session = held_session(path)

    assert session.title == "orc"
    session.close()


def test_that_the_module_name_is_used_once(tmp_path: Path) -> None:
    path = scene_file(tmp_path, GOOD)

    first, second = load_scene(path), load_scene(path)

    assert first.module.__name__ != second.module.__name__
    assert first.module.__file__ == str(path)
    first.unload()
    second.unload()


def test_that_a_failed_scene_can_be_mended_and_reloaded(tmp_path: Path) -> None:
    path = scene_file(tmp_path, "def build(stage):\n    raise RuntimeError\n")
    session = held_session(path)
    assert len(session.timeline.failures) == 1

    scene_file(tmp_path, GOOD)
    session.submit(Reload())
    session.refresh()

    assert session.status.phase is SessionPhase.HELD
    assert session.generation == 1
    assert session.timeline.scene_generation == 1
    assert [record.text for record in session.timeline.commands] == ["reload the scene"]
    assert session.timeline.failures == []
    assert len(session.timeline.timers) == 1
    session.close()


def test_that_a_failed_build_leaves_nothing_half_built(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.child("half").set_interval(1, print)
            raise RuntimeError("no further")
        """,
    )

    session = held_session(path)

    assert session.timeline.clocks == {}
    assert [failure.label for failure in session.timeline.failures] == ["scene.py"]
    assert session.timeline.failures[0].traceback.endswith("RuntimeError: no further")
    session.close()


@pytest.mark.parametrize("text", ["1", "01", "small_game", "small-game", "01_small_game.py"])
def test_that_built_in_scenes_are_found_by_number_and_name(text: str) -> None:
    assert find_scene(text).name == "01_small_game.py"


def test_that_an_unknown_scene_is_told_with_what_is_close() -> None:
    with pytest.raises(SceneError, match=r"no built-in scene “smal_gme”. Did you mean small_game"):
        find_scene("smal_gme")


def test_that_a_file_goes_before_a_built_in_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "minimal").write_text("def build(stage): pass\n")

    assert find_scene("minimal") == Path("minimal")


def test_that_every_built_in_scene_says_what_it_shows() -> None:
    scenes = built_in_scenes()

    numbers = [scene.path.name[:2] for scene in scenes]
    assert numbers == [f"{number:02}" for number in range(1, len(scenes) + 1)]
    for scene in scenes:
        assert 5 < len(scene.title) < 60
        assert len(scene.summary) > 60


def test_that_a_callback_imports_a_neighbour_after_another_scene_of_the_folder_has_gone(
    tmp_path: Path,
) -> None:
    scene_file(tmp_path, "NAME = 'found'\n", "late_neighbour.py")
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            def late():
                import late_neighbour
                stage.mark(late_neighbour.NAME)
            stage.root.set_timeout(1, late)
        """,
    )
    path_before = list(sys.path)
    session, other = virtual_session(path), held_session(path)
    other.close()
    pass_seconds(session, 2)
    session.refresh()

    assert [mark.text for mark in session.timeline.marks] == ["found"]
    session.close()
    assert sys.path == path_before


def test_that_a_folder_the_user_has_on_the_path_stays_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    path_before = list(sys.path)
    held_session(scene_file(tmp_path, "def build(stage): pass\n")).close()

    assert sys.path == path_before


@pytest.mark.parametrize(
    "line",
    [
        "from inspector import theirs",
        "import inspector.theirs",
        "from inspector.theirs import x",
        "import inspector; inspector.theirs()",
    ],
)
@pytest.mark.parametrize("beside", ["inspector.py", "inspector"])
def test_that_a_module_named_like_this_package_is_told_to_be_out_of_reach(
    tmp_path: Path, line: str, beside: str
) -> None:
    if beside.endswith(".py"):
        scene_file(tmp_path, "theirs = 1\n", beside)
    else:
        (tmp_path / beside).mkdir()
    scene = scene_file(tmp_path, f"{line}\ndef build(stage):\n    pass\n")

    status = failed(scene)

    assert status.message.endswith(
        f". “inspector” is the Timeline Inspector here, so {beside} beside the scene cannot be "
        "imported. Give it another name."
    )


def test_that_a_scene_beside_such_a_module_imports_this_package(tmp_path: Path) -> None:
    scene_file(tmp_path, "raise SystemExit\n", "inspector.py")
    path = scene_file(
        tmp_path,
        "from inspector.clocks import Clock\n"
        "def build(stage):\n    assert isinstance(stage.root, Clock)\n",
    )

    session = held_session(path)

    assert session.status.phase is SessionPhase.HELD
    session.close()


def test_that_any_other_missing_name_has_no_such_hint(tmp_path: Path) -> None:
    scene_file(tmp_path, "", "inspector.py")
    path = scene_file(tmp_path, "import json.nowhere\ndef build(stage):\n    pass\n")

    assert "Timeline Inspector" not in failed(path).message


@pytest.mark.parametrize(
    ("first", "in_build"),
    [
        ("import sys; sys.path.clear()", "pass"),
        ("import sys; sys.path = ['/nowhere']", "sys.path.clear()"),
        ("import sys; sys.path = None", "pass"),
        ("import sys; sys.path.remove(sys.path[0])", "sys.path.insert(0, '/nowhere')"),
    ],
)
def test_that_a_scene_that_changes_the_path_takes_nothing_from_others(
    tmp_path: Path, first: str, in_build: str
) -> None:
    before, entries = sys.path, list(sys.path)
    path = scene_file(tmp_path, f"{first}\ndef build(stage):\n    {in_build}\n")

    session = held_session(path)

    assert session.problem is None
    assert sys.path is before
    assert sys.path[: len(entries)] == entries
    session.close()
    assert sys.path == entries


def test_that_what_a_scene_puts_on_the_path_is_there_for_its_callbacks(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "of_the_test.py").write_text("count = 7\n")
    scene = f"""
        import sys
        sys.path.insert(0, {str(library)!r})

        def tell(stage):
            import of_the_test
            stage.mark(f"counts {{of_the_test.count}}")

        def build(stage):
            stage.root.set_timeout(1, tell, stage)
        """
    session = virtual_session(scene_file(tmp_path, scene))

    pass_seconds(session, 2)

    assert "counts 7" in session.log.strings
    session.close()
    assert str(library) not in sys.path
    del sys.modules["of_the_test"]


def test_that_a_scene_behind_a_link_finds_what_is_beside_the_file(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "beside_the_test.py").write_text("count = 7\n")
    scene = (
        "import beside_the_test\ndef build(stage):\n    stage.name(str(beside_the_test.count))\n"
    )
    link = tmp_path / "link.py"
    link.symlink_to(scene_file(real, scene))

    session = held_session(link)

    assert session.title == "7"
    assert session.scene_path == link
    session.close()
    assert "beside_the_test" not in sys.modules


@pytest.mark.parametrize(
    "raised",
    [
        "ValueError('x' * 5_000_000)",
        "SyntaxError('x' * 5_000_000)",
        "SystemExit('x' * 5_000_000)",
        "ExceptionGroup('x' * 5_000_000, [ValueError('y' * 5_000_000)])",
    ],
)
def test_that_an_error_of_megabytes_is_shown_in_parts(tmp_path: Path, raised: str) -> None:
    at_once = failed(scene_file(tmp_path, f"raise {raised}\n"))
    late = held_session(
        scene_file(
            tmp_path,
            f"""
            def build(stage):
                stage.root.set_timeout(0, fail)

            def fail():
                raise {raised}
            """,
        )
    )
    late.submit(SetFailurePolicy(FailurePolicy.STOP))
    late.submit(StepFrames(1))
    late.refresh()

    assert len(at_once.message) < 1_000
    assert len(at_once.detail) < 30_000
    assert late.status.message.startswith("Stopped at ")
    assert len(late.status.message) < 1_000
    assert len(late.status.detail) < 30_000
    assert max(map(len, late.log.strings)) < 30_000
    late.close()


@pytest.mark.parametrize("text", ["a" * 300, "b/" * 3_000, "~nouser/x.py", "~nouser", "a\0b"])
def test_that_a_name_that_no_file_can_have_is_none(text: str) -> None:
    with pytest.raises(SceneError, match="There is no file and no built-in scene"):
        find_scene(text)


def test_that_a_scene_names_its_panels_by_texts(tmp_path: Path) -> None:
    named = virtual_session(scene_file(tmp_path, "def build(stage): stage.front('A', 'B')"))
    wrong = virtual_session(scene_file(tmp_path, "def build(stage): stage.front(3)", "b.py"))

    assert named.front_panels == ("A", "B")
    assert wrong.problem is not None
    assert "a panel is named by its title: 3" in str(wrong.problem)


@pytest.mark.parametrize(
    "line",
    [
        "import builtins; builtins.len = builtins.isinstance = lambda *each: 1 / 0",
        "import json; json.dumps = None",
        "import traceback, linecache; traceback.TracebackException = linecache.getlines = None",
        "import time; time.time_ns = time.monotonic_ns = time.perf_counter_ns = lambda: 1 / 0",
        "import os; os.close(1)",
        "__doc__ = 5",
    ],
)
def test_that_a_scene_that_breaks_python_does_not_break_its_report(
    tmp_path: Path, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    at_import = f"{line}\ndef build(stage):\n    stage.root.set_timeout(1, lambda: 1 / 0)\n"
    in_build = f"def build(stage):\n    {line}\n    stage.root.set_timeout(1, lambda: 1 / 0)\n"
    for text in (at_import, in_build):
        path = tmp_path / "scene.py"
        path.write_text(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("time.time_ns", time.time_ns)
            patch.setattr("time.monotonic_ns", time.monotonic_ns)
            patch.setattr("time.perf_counter_ns", time.perf_counter_ns)
            code = cli.main(["run", str(path), "--seconds", "2", "--json"])

        printed = capfd.readouterr()
        assert "ZeroDivisionError: division by zero" in printed.err
        if code != ExitCode.SCENE:  # what it needed itself is broken
            assert code == ExitCode.FAILED
            assert json.loads(printed.out)["failures"]


@pytest.mark.parametrize("mode", ["", "--real-time"])
def test_that_a_scene_that_breaks_python_while_it_runs_ends_its_run_in_a_sentence(
    tmp_path: Path, mode: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scene.py"
    path.write_text(
        "import builtins, json, os\n"
        "def broken():\n"
        "    builtins.len = lambda *each: 1 / 0\n"
        "    json.dumps = builtins.Exception = builtins.vars = None\n"
        "    os.close(1)\n"
        "def build(stage):\n"
        "    stage.root.set_timeout(0.01, broken)\n"
    )

    code = cli.main(["run", str(path), "--seconds", "0.5", *mode.split()])

    printed = capfd.readouterr()
    assert (code, printed.out) == (ExitCode.FAILED, "")
    assert printed.err.startswith("timeline-inspector: The run has failed, as the scene has ")
    assert printed.err.count("\n") == 1
    os.fstat(1)


@pytest.mark.parametrize(
    "given",
    [
        ("'bad', (5, 1, 1, 'x')"),
        ("'bad', (b'x.py', 1, 1, 'x')"),
        ("'bad', ('/dev/zero', 1, 1, 'x')"),
        ("'bad', ('scene.py', 'one', 1.5, b'x')"),
    ],
)
def test_that_a_syntax_error_with_anything_in_it_becomes_a_sentence(
    tmp_path: Path, given: str
) -> None:
    status = failed(scene_file(tmp_path, f"raise SyntaxError({given})"))

    assert status.message.startswith("scene.py could not be imported (line 1): SyntaxError: bad.")


def test_that_an_expression_too_long_for_python_becomes_a_sentence(tmp_path: Path) -> None:
    path = scene_file(tmp_path, f"def build(stage): pass\nx = {'+'.join('1' * 200_000)}\n")

    with pytest.raises(SceneError, match="too long or too deeply nested"):
        load_scene(path)


def test_that_a_build_without_a_readable_signature_is_called(tmp_path: Path) -> None:
    scene = """
        class Build:
            @property
            def __signature__(self):
                raise RuntimeError
            def __call__(self, stage):
                stage.root.set_timeout(1, print)
        build = Build()
    """
    session = held_session(scene_file(tmp_path, scene))
    assert len(session.timeline.timers) == 1
    session.close()


def test_that_of_a_scene_that_ends_the_sources_are_forgotten_and_no_others_looked_at(
    tmp_path: Path,
) -> None:
    path, other = scene_file(tmp_path, "def build(stage): ..."), tmp_path / "other.py"
    other.write_text("print()")
    scene = load_scene(path)
    for file in (path, other):
        assert linecache.getlines(str(file))
        file.write_text("# changed in the meantime")

    scene.unload()

    assert str(path) not in linecache.cache
    assert linecache.cache.pop(str(other))


@pytest.fixture
def usual_threshold() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("usual_threshold")
@pytest.mark.parametrize(
    ("end", "raised"),
    [
        ("", None),
        ("raise ValueError", ValueError),
        ("raise KeyboardInterrupt", KeyboardInterrupt),
    ],
)
def test_that_garbage_is_collected_seldom_only_during_build(
    tmp_path: Path, end: str, raised: type[BaseException] | None
) -> None:
    counts = """
        import gc
        def build(stage):
            runs = sum(each["collections"] for each in gc.get_stats())
            kept = [[] for _ in range(20_000)]
            assert sum(each["collections"] for each in gc.get_stats()) == runs
    """
    inner = scene_file(tmp_path, counts, "inner.py")
    text = f"""
        {counts}
            from pathlib import Path
            from inspector.sessions.scene import load_scene
            inner = load_scene(Path({str(inner)!r}))
            inner.build(stage)
            inner.unload()
            assert gc.get_threshold()[0] > 50_000
            {end}
    """
    scene = load_scene(scene_file(tmp_path, text))

    problem: type[BaseException] | None = None
    try:
        scene.build(cast("Stage", None))
    except (SceneError, KeyboardInterrupt) as error:
        problem = type(error.__cause__ or error)

    assert problem is raised
    scene.unload()
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.usefixtures("usual_threshold")
@pytest.mark.parametrize(
    ("does", "kept"),
    [
        ("gc.set_threshold(5000)", (5000, 10, 10)),
        ("gc.set_threshold(0)", (0, 10, 10)),
        ("gc.set_threshold(5000, 3, 4); gc.get_threshold = gc.set_threshold = None", (5000, 3, 4)),
    ],
)
def test_that_a_scene_keeps_the_thresholds_it_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, kept: tuple[int, int, int]
) -> None:
    get = gc.get_threshold
    for name in ("get_threshold", "set_threshold"):
        monkeypatch.setattr(gc, name, getattr(gc, name))

    held_session(scene_file(tmp_path, f"import gc\ndef build(stage):\n    {does}\n")).close()

    assert get() == kept


@pytest.mark.usefixtures("usual_threshold")
@pytest.mark.parametrize("threshold", [0, 3_000_000])
def test_that_no_build_collects_more_garbage_than_was_asked_for(
    tmp_path: Path, threshold: int
) -> None:
    gc.set_threshold(threshold)
    path = scene_file(
        tmp_path,
        f"import gc\ndef build(stage):\n    assert gc.get_threshold()[0] == {threshold}\n",
    )

    session = held_session(path)

    assert session.status.phase is SessionPhase.HELD
    session.close()
    assert gc.get_threshold()[0] == threshold
