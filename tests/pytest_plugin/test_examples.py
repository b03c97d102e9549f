"""Tests of many libraries come to the same in virtual time as without it, and sooner."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.probe.adapters.libraries import display
from tests.pytest_plugin.running import Outcome, run_tests

_EXAMPLES: Final = Path(__file__).parent / "examples"
_PLUGINS: Final = {
    "asyncio": ("asyncio",),
    "anyio": ("anyio",),
    "threads": (),
    "trio": ("trio",),
    "twisted": ("twisted",),
    "qt": ("qt",),
    "games": (),
    "uvloop": (),
    "tkinter": (),
}


def _run(path: Path, *args: str) -> Outcome:
    library = path.stem.removeprefix("test_")
    return run_tests(path, args=args, plugins=_PLUGINS[library])


@pytest.mark.parametrize("library", _PLUGINS)
def test_that_examples_pass_with_and_without_virtual_time(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if library == "tkinter":
        stack = ExitStack()
        request.addfinalizer(stack.close)
        monkeypatch.setenv("DISPLAY", stack.enter_context(display()))
    source = (_EXAMPLES / f"example_{library}.py").read_text(encoding="utf-8")
    path = tmp_path / f"test_{library}.py"
    path.write_text(source)
    in_virtual_time = _run(path, "--timeline-autojump")
    if in_virtual_time.counts.keys() == {"skipped"}:
        pytest.skip(f"the libraries of {path.stem} are not installed")
    # In real time, a busy machine may be too slow for an example.
    tries = (_run(path, "-p", "no:inspector.pytest_plugin") for _ in range(3))
    is_good = {"passed", "skipped"}.issuperset
    as_it_is = next((each for each in tries if is_good(each.counts)), in_virtual_time)

    assert in_virtual_time.outcomes == as_it_is.outcomes, in_virtual_time.output
    assert as_it_is is not in_virtual_time, "none of three runs in real time has passed"
    assert sum(as_it_is.counts.values()) >= source.count("def test_"), as_it_is.output
