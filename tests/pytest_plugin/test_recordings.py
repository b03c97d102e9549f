"""Tests leave recordings, which open like those of programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.sessions.recorded import RecordedSession
from tests.pytest_plugin.running import run_source

SOURCE = """
    import asyncio, pytest

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
"""


@pytest.mark.parametrize(
    ("kept", "tests"),
    [
        ("on", {"failing", "passing", "unmarked"}),
        ("retain-on-failure", {"failing"}),
        ("off", set()),
    ],
)
def test_that_recordings_of_tests_are_left_as_asked(
    tmp_path: Path, kept: str, tests: set[str]
) -> None:
    outcome = run_source(tmp_path, SOURCE, f"--timeline={kept}", "--timeline-folder=left")

    assert outcome.counts == {"failed": 1, "passed": 2}, outcome.output
    left = {path.name for path in (tmp_path / "left").glob("*")}
    assert left == {f"test_it.py-test_{name}.tlrec" for name in tests}


def test_that_a_recording_has_the_firings_of_the_test_at_their_virtual_times(
    tmp_path: Path,
) -> None:
    run_source(tmp_path, SOURCE, "--timeline=on", "--timeline-folder=left")

    session = RecordedSession(tmp_path / "left" / "test_it.py-test_passing.tlrec")
    try:
        timers = session.timeline.timers
        labels = [timers.row(number).label for number in timers.ids()]
        first_ns, last_ns = session.history.first_ns, session.history.last_ns
    finally:
        session.close()
    assert 5 * 10**9 <= last_ns - first_ns < 60 * 10**9
    assert all("sleep" in label for label in labels)
