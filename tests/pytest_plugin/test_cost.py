"""What virtual time costs: counted modules and calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from tests.pytest_plugin.running import PROJECT, run_source


def test_that_the_plugin_costs_little_where_it_is_not_used(tmp_path: Path) -> None:
    program = """
import os, sys
import pytest
before = set(sys.modules)
calls = 0
def count(frame, event, argument):
    global calls
    # How Python imports depends on whether it has compiled the module before.
    calls += event == "call" and not frame.f_code.co_filename.startswith("<frozen importlib")
sys.setprofile(count)
import inspector.pytest_plugin
sys.setprofile(None)
print(calls, *sorted(set(sys.modules) - before))
sys.exit(pytest.main(["-p", "inspector.pytest_plugin", "-c", os.devnull, sys.argv[1]]))
"""
    path = tmp_path / "test_it.py"
    path.write_text(
        dedent("""
        import sys

        def test_it(request):
            plugins = request.config.pluginmanager
            ours = [
                each
                for each in plugins.get_plugins()
                if getattr(each, "__name__", type(each).__module__).startswith("inspector")
            ]
            hooks = {hook.name for each in ours for hook in plugins.get_hookcallers(each)}
            assert hooks == {"pytest_addoption", "pytest_configure", "pytest_collection_finish"}
            loaded = {name for name in sys.modules if name.partition(".")[0] == "inspector"}
            assert loaded == {"inspector", "inspector.pytest_plugin"}
        """)
    )
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    run = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        check=False,
        text=True,
        env=environment,
        cwd=PROJECT,
    )

    assert run.returncode == 0, run.stdout
    calls, *modules = run.stdout.splitlines()[0].split()
    assert modules == ["inspector", "inspector.pytest_plugin"]
    # 15: the modules themselves, a decorator and what looks up lazy names.
    assert int(calls) < 25


def test_that_a_fixture_asked_for_too_late_is_refused(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        def test_it(request):
            request.getfixturevalue("timeline")
        """,
    )

    assert outcome.counts == {"failed": 1}, outcome.output
    assert "Name the fixture timeline among the arguments of the test" in outcome.output


def test_that_a_hundred_seconds_take_some_hundred_calls_for_each_firing(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import asyncio, sys, pytest

        @pytest.mark.timeline(autojump=True)
        def test_it(timeline):
            async def tick(period):
                while True:
                    await asyncio.sleep(period)

            async def main():
                ticking = [asyncio.create_task(tick(1 + number / 10)) for number in range(10)]
                await asyncio.sleep(100)
                for task in ticking:
                    task.cancel()

            calls = 0

            def count(frame, event, argument):
                nonlocal calls
                calls += event in {"call", "c_call"}

            sys.setprofile(count)
            try:
                asyncio.run(main())
            finally:
                sys.setprofile(None)
            firings = len(list(timeline.firings()))
            print(f"{calls / firings:.1f} calls a firing")
            assert timeline.now == pytest.approx(100)
            assert firings > 700
            # 340 to 360.
            assert calls < 425 * firings
        """,
    )

    assert outcome.counts == {"passed": 1}, outcome.output


def test_that_a_fixture_of_the_same_name_leaves_time_alone(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import sys, time, pytest

        sleep = time.sleep

        @pytest.fixture
        def timeline():
            return "a timeline of the suite's own"

        def test_it(timeline):
            assert timeline == "a timeline of the suite's own"
            assert time.sleep is sleep
            assert "inspector.pytest_plugin.run" not in sys.modules
        """,
    )

    assert outcome.counts == {"passed": 1}, outcome.output


def test_that_a_fixture_that_builds_on_ours_has_virtual_time(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import time, pytest

        @pytest.fixture
        def timeline(timeline):
            return timeline

        @pytest.mark.timeline(autojump=True)
        def test_it(timeline):
            time.sleep(3600)
            assert timeline.now >= 3600

        def test_that_only_asks_for_it(timeline):
            assert timeline.now < 60
        """,
    )

    assert outcome.counts == {"passed": 2}, outcome.output
