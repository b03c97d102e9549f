"""Tests of when Python looks for garbage while the window is open."""

from __future__ import annotations

import gc
import linecache
import os
import sys
from pathlib import Path

import pytest

from tests.benchmarks import bench_playhead
from tests.forked.python import WINDOW, run_python
from ui.session.bridge import SessionBridge
from ui.window.garbage import give_back_memory


def full_collections(objects: int) -> int:
    """Return how many collections of all objects the making of so many objects starts."""
    before: int = gc.get_stats()[2]["collections"]
    kept: list[list[int]] = [[] for _ in range(objects)]
    kept.clear()
    after: int = gc.get_stats()[2]["collections"]
    return after - before


@pytest.mark.usefixtures("qapp")
def test_that_the_benchmark_of_drags_looks_for_garbage_as_the_program_does() -> None:
    usual = gc.get_threshold()
    gc.set_threshold(100, 2, 2)
    try:
        window = bench_playhead._shown(SessionBridge())
        before = full_collections(20_000)
        window.bridge.refresh_timer.note_move()
        meanwhile = full_collections(20_000)
        bench_playhead._close(window)
        kept = gc.get_threshold()
    finally:
        gc.set_threshold(*usual)

    assert before
    assert not meanwhile
    assert kept == (100, 2, 2), "as it was, also if it ends within a move"
    assert not gc.get_freeze_count()


def test_that_sources_that_were_read_are_not_kept() -> None:
    linecache.getlines(__file__)
    assert __file__ in linecache.cache

    give_back_memory()

    assert linecache.cache == {}


@pytest.mark.skipif(sys.platform != "linux", reason="not available elsewhere")
def test_that_memory_between_things_that_stay_is_given_back(tmp_path: Path) -> None:
    code = """
import ctypes, os, sys
from inspector.window_loader import load_ui
give_back_memory = load_ui("window.garbage").give_back_memory
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
if not hasattr(ctypes.CDLL(None), "malloc_trim"):
    sys.exit(0)
blocks = [b"x" * 60_000 for _ in range(2_000)]
kept = blocks[::50]
del blocks
before = resident()
give_back_memory()
sys.exit(before - resident() < 80_000_000)
"""
    assert run_python(WINDOW, ["-c", code], os.environ, tmp_path).returncode == 0
