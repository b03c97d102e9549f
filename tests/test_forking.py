"""Tests in processes that are forked once all are collected."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.forking import _portions
from tests.pytest_plugin.running import Outcome, run_source

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux")

_SOURCE: Final = """
import os, signal, pytest

@pytest.fixture(scope="session", autouse=True)
def whole(request):
    folder = request.config.rootpath
    (folder / f"begun.{os.getpid()}").touch()
    yield
    (folder / f"ended.{os.getpid()}").touch()

@pytest.fixture
def broken():
    yield
    raise ValueError("after the test")

@pytest.mark.parametrize("number", range(30))
def test_many(number, tmp_path):
    (tmp_path / "file").write_text("")

def test_that_dies():
    os.kill(os.getpid(), signal.SIGKILL)

def test_that_exits():
    os._exit(3)

def test_that_fails(tmp_path):
    assert tmp_path.name == "other"

def test_that_is_skipped():
    pytest.skip("for a reason")

def test_that_fails_after(broken):
    pass
"""


def run(tmp_path: Path, *args: str) -> Outcome:
    return run_source(tmp_path, _SOURCE, "-p", "tests.forking", *args)


def test_that_every_test_is_run_and_what_ends_its_process_has_failed(tmp_path: Path) -> None:
    outcome = run(tmp_path, "--forks=3")

    assert outcome.counts == {"failed": 3, "passed": 31, "skipped": 1, "error": 1}, outcome.output
    assert "test_that_dies ended with exit code -9" in outcome.output
    assert "test_that_exits ended with exit code 3" in outcome.output
    assert "ValueError: after the test" in outcome.output


def test_that_each_process_ends_what_it_has_begun(tmp_path: Path) -> None:
    outcome = run(tmp_path, "--forks=3", "-k", "many")

    assert outcome.counts == {"passed": 30, "deselected": 5}, outcome.output
    begun, ended = (
        sorted(path.suffix for path in tmp_path.glob(f"{word}.*")) for word in ("begun", "ended")
    )
    assert begun == ended
    assert 1 <= len(begun) <= 3


def test_that_a_run_stops_at_the_first_failure_where_that_is_asked_for(tmp_path: Path) -> None:
    outcome = run(tmp_path, "--forks=2", "-x")

    assert "stopping after 1 failures" in outcome.output
    assert outcome.counts["failed"] == 1


def test_that_without_processes_tests_are_run_as_ever(tmp_path: Path) -> None:
    outcome = run(tmp_path, "--forks=0", "-k", "many")

    assert outcome.counts == {"passed": 30, "deselected": 5}, outcome.output


@given(st.lists(st.integers(1, 90), max_size=20), st.integers(1, 16))
def test_that_portions_are_all_tests_in_their_order(files: list[int], count: int) -> None:
    items: list[Any] = [
        SimpleNamespace(path=path) for path, size in enumerate(files) for _ in range(size)
    ]

    portions = list(_portions(items, count))

    assert [place for begin, end in portions for place in range(begin, end)] == [*range(len(items))]
    assert all(0 < end - begin <= 40 for begin, end in portions)
    # Whoever is last has one test more than the others.
    assert all(begin + 1 == end for begin, end in portions[-min(count, len(portions)) :])
