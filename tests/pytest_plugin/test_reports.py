"""What the report of a failure says of what was late."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.analysis.lateness.samples import Samples
from inspector.sessions.recorded import RecordedSession
from tests.pytest_plugin.running import run_source

SOURCE = """
import asyncio, time, pytest

def crunch():
    until = time.process_time() + 0.15
    while time.process_time() < until:
        sum(range(1000))

def doze():
    time.sleep(5)

async def working(block):
    await asyncio.sleep(0.12)
    block()

async def beating():
    for _ in range(6):
        await asyncio.sleep(0.05)

async def main(block):
    await asyncio.gather(working(block), beating())

@pytest.mark.timeline(autojump=True)
def test_dozing():
    asyncio.run(main(doze))
    assert False

@pytest.mark.timeline(rate=1)
def test_computing():
    asyncio.run(main(crunch))
    assert False

@pytest.mark.timeline(autojump=True)
def test_prompt():
    asyncio.run(main(print))
    assert False
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    outcome = run_source(tmp_path_factory.mktemp("late"), SOURCE)
    assert outcome.counts == {"failed": 3}, outcome.output
    _, *found = outcome.output.partition("= FAILURES =")[2].split("____ test_")
    return {text.partition(" ")[0]: text for text in found}


def test_that_what_waits_in_virtual_time_is_named(reports: dict[str, str]) -> None:
    _, _, late = reports["dozing"].partition("Late:\n")

    assert "at 5.12 s “sleep in beating” on “asyncio loop”: 4.97 s late" in late
    assert "task “working” waited for time.sleep in doze() (test_it.py:10) the whole time" in late
    assert "test_it.py:18 in beating" in late


def test_that_what_computes_by_the_clock_of_the_machine_is_named(reports: dict[str, str]) -> None:
    _, _, late = reports["computing"].partition("Late:\n")

    assert "“sleep in beating” on “asyncio loop”" in late
    assert "task “working” was in crunch() (test_it.py:" in late


def test_that_nothing_is_said_to_be_late_that_was_not(reports: dict[str, str]) -> None:
    assert "Late:" not in reports["prompt"]


def test_that_a_test_of_twisted_does_not_wait_for_itself(tmp_path: Path) -> None:
    outcome = run_source(
        tmp_path,
        """
        import pytest

        @pytest.mark.timeline(rate=1)
        def test_passing():
            pass

        @pytest.mark.timeline(rate=1)
        def test_failing(timeline):
            assert timeline.timers() == []
        """,
        plugins=("twisted",),
    )

    assert outcome.counts == {"passed": 2}, outcome.output


def test_that_a_loop_that_does_not_run_is_not_said_to_be_blocked(tmp_path: Path) -> None:
    source = SOURCE.replace("import asyncio,", "import PySide6.QtCore, asyncio,")
    run_source(tmp_path, source, "--timeline=on", "--timeline-folder=left", "-k", "dozing")

    session = RecordedSession(tmp_path / "left" / "test_it.py-test_dozing.tlrec")
    try:
        history = session.history
        samples = Samples(history.strings)
        samples.fold(history.events(history.first, history.end))
        within = history.state_at(history.first_ns + 10**9)
        names = {within.clocks[clock].name for clock in samples.by_clock}
    finally:
        session.close()
    assert names == {"asyncio loop"}
