"""Tests leave recordings, which open like those of programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inspector.analysis.lateness.attribution import Cause
from inspector.analysis.lateness.late_calls import late_calls
from inspector.events.recording import Recording
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.sources.time_sources import is_of_waiting_loop, source_text
from tests.pytest_plugin.running import run_source

SOURCE = """
    import asyncio, time, pytest

    @pytest.mark.timeline(autojump=True)
    def test_passing():
        async def tick():
            for _ in range(5):
                await asyncio.sleep(1)

        asyncio.run(tick())

    @pytest.mark.timeline(autojump=True)
    def test_failing():
        test_passing()
        assert False

    def test_unmarked():
        asyncio.run(asyncio.sleep(0))

    @pytest.mark.timeline(hold=True)
    def test_held(timeline):
        async def work():
            await asyncio.sleep(1)
            time.sleep(5)

        async def main():
            asyncio.get_running_loop().call_later(2, print)
            task = asyncio.create_task(work())
            await timeline.advance(7)
            await task

        asyncio.run(main())
"""


def run_leaving(folder: Path, kept: str) -> Path:
    """Run the tests; return the folder of recordings that are left."""
    outcome = run_source(folder, SOURCE, f"--timeline={kept}", "--timeline-folder=left")

    assert outcome.counts == {"failed": 1, "passed": 3}, outcome.output
    return folder / "left"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where each test has left a recording."""
    return run_leaving(tmp_path_factory.mktemp("left"), "on")


def assert_are_of(left: Path, tests: set[str]) -> None:
    assert {path.name for path in left.glob("*")} == {
        f"test_it.py-test_{name}{suffix}" for name in tests for suffix in (".tlrec", ".page.html")
    }


@pytest.mark.parametrize(("kept", "tests"), [("retain-on-failure", {"failing"}), ("off", set())])
def test_that_recordings_of_tests_are_left_as_asked(
    tmp_path: Path, left: Path, kept: str, tests: set[str]
) -> None:
    assert_are_of(run_leaving(tmp_path, kept), tests)
    assert_are_of(left, {"failing", "held", "passing", "unmarked"})


def test_that_a_recording_has_the_firings_of_the_test_at_their_virtual_times(left: Path) -> None:
    session = RecordedSession(left / "test_it.py-test_passing.tlrec")
    try:
        timers = session.timeline.timers
        labels = [timers.row(number).label for number in timers.ids()]
        first_ns, last_ns = session.history.first_ns, session.history.last_ns
    finally:
        session.close()
    assert 5 * 10**9 <= last_ns - first_ns < 5.1 * 10**9
    assert all("sleep" in label for label in labels)


def test_that_time_runs_in_a_recording_as_it_did_for_the_test(left: Path) -> None:
    session = RecordedSession(left / "test_it.py-test_held.tlrec")
    try:
        history = session.history
        within = history.state_at(history.first_ns + 2 * 10**9)
        late = {call.name: call for call in late_calls(history, 10**9)}
        assert isinstance(history, Recording)
        meta = dict(history.meta)
    finally:
        session.close()
    assert {float(within.effective_rate(clock)) for clock in within.clocks} == {1.0}
    assert late.keys() == {"print"}
    assert late["print"].lateness.late_ns // 10**6 == 4_000
    assert late["print"].lateness.cause is Cause.BLOCKING_CALL
    page = (left / "test_it.py-test_held.page.html").read_text()
    assert page.startswith("<!doctype html>")
    assert source_text(str(meta["source"])) == "virtual time"
    assert is_of_waiting_loop(meta)


def test_that_events_which_are_not_recorded_are_counted(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import time, pytest
        from inspector.pytest_plugin import run

        run._MOST_RECORDED = 100

        @pytest.mark.timeline(autojump=True)
        def test_it():
            for _ in range(1_000):
                time.sleep(1)
        """,
        "--timeline=on",
        "--timeline-folder=left",
        "-rA",
    )

    found = re.search(r"recorded .*test_it.tlrec, without the last ([\d,]+) events", outcome.output)
    assert found is not None, outcome.output
    assert int(found[1].replace(",", "")) > 1_000
