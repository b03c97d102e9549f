"""Programs of other people, unmodified, launched by the inspector's door and recorded."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from shutil import which

import pytest

from inspector.commands.clocks import SetRate
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.transport import Hold, Run, Step, StepFrames, StepToNextTimer
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import SessionPhase
from tests.probe.adapters.libraries import python_with

PATIENCE_S = 30.0


@dataclass(frozen=True)
class Case:
    """A program.

    Attributes:
        argv: What follows the name of Python; ``{site}`` is where a module is installed.
        module: What has to be installed.
        clock: The name of its clock.
        timer: A part of the name of a timer that it always has, empty for none.
        click: Where to click to make it begin.
    """

    argv: tuple[str, ...]
    module: str
    clock: str
    timer: str = ""
    has_frames: bool = True
    click: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.argv[-1].rpartition("/")[2]


CASES = (
    Case(("-m", "pygame.examples.stars"), "pygame", "pygame-ce"),
    Case(("-m", "pygame.examples.testsprite"), "pygame", "pygame-ce"),
    Case(("-m", "arcade.examples.timer"), "arcade", "pyglet", "_dispatch_frame"),
    Case(
        ("{site}/widgets/widgets/tetrix/tetrix.py",),
        "PySide6.examples",
        "PySide6",
        "TetrixBoard.timer",
        has_frames=False,
        click=(97, 320),
    ),
    Case(
        ("{site}/widgets/graphicsview/collidingmice/collidingmice.py",),
        "PySide6.examples",
        "PySide6",
        "timer",
        has_frames=False,
    ),
)


class Running:
    """A program in a session."""

    def __init__(self, case: Case, session: AttachedSession) -> None:
        self.case = case
        self.session = session
        self.wait_for(lambda: case.clock in self._clocks())
        if case.click is not None:
            self._click(*case.click)
        self.wait_for(lambda: self.events() > 3)

    def _clocks(self) -> dict[str, int]:
        return {clock.name: number for number, clock in self.session.timeline.clocks.items()}

    @staticmethod
    def _click(x: int, y: int) -> None:
        xdotool = which("xdotool")
        if xdotool is None:
            pytest.skip("there is no xdotool to click with")
        time.sleep(1)  # The window is shown some time after its program begins.
        subprocess.run([xdotool, "mousemove", str(x), str(y), "click", "1"], check=True)

    def wait_for(self, found: Callable[[], object]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not found():
            assert time.monotonic() < until, self.session.status
            self.pass_time(0.02)

    def pass_time(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.session.refresh()
            time.sleep(0.01)

    def events(self) -> int:
        """Return how many frames have ended, or timers fired in a program without frames."""
        timeline = self.session.timeline
        if self.case.has_frames:
            return timeline.frames.end
        return sum(timeline.timers.row(number).fired for number in timeline.timers.ids())

    def events_in(self, seconds: float) -> int:
        before = self.events()
        self.pass_time(seconds)
        return self.events() - before

    def set_rate(self, rate: Fraction) -> None:
        self.session.submit(SetRate(self.session.own_clocks()[0][1], rate))
        self.pass_time(0.2)

    def step(self, step: Step) -> int:
        before = self.events()
        self.session.submit(step)
        self.wait_for(lambda: self.session.status.phase is SessionPhase.HELD)
        self.pass_time(0.2)
        return self.events() - before


@pytest.fixture(params=CASES, ids=str)
def running(
    request: pytest.FixtureRequest, display_number: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Running]:
    case: Case = request.param
    python = python_with(case.module)
    argv = [each.format(site=site_of(python, case.module)) for each in case.argv]
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    monkeypatch.setenv("DISPLAY", display_number)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    session = AttachedSession(Launch((python, *argv), output_to_errors=True))
    try:
        yield Running(case, session)
    finally:
        session.close()
        session.end_program()


def site_of(python: str, module: str) -> str:
    code = f"import importlib.util as u; print(*u.find_spec({module!r}).submodule_search_locations)"
    return subprocess.run(
        [python, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.slow
def test_that_it_is_seen_held_stepped_slowed_and_recorded(running: Running, tmp_path: Path) -> None:
    session, case, path = running.session, running.case, tmp_path / "program.tlrec"
    session.submit(StartRecording(str(path)))
    running.wait_for(lambda: running.events_in(0.1))
    labels = [session.timeline.timers.row(each).label for each in session.timeline.timers.ids()]
    assert not case.timer or any(case.timer in label for label in labels)
    if case.module == "arcade":
        assert {loop.asked_ns for loop in session.timeline.loops.values()} == {16_666_667}

    session.submit(Hold())
    running.wait_for(lambda: session.status.phase is SessionPhase.HELD)
    running.pass_time(0.2)
    assert running.events_in(0.5) == 0

    if case.has_frames:
        assert running.step(StepFrames(1)) == 1
        assert running.step(StepFrames(3)) == 3
    else:
        assert running.step(StepToNextTimer()) >= 1

    session.submit(Run())
    running.set_rate(Fraction(1, 10))
    slow = running.events_in(2.0)
    running.set_rate(Fraction(1))
    normal = running.events_in(2.0)
    assert slow < normal / 2

    session.submit(StopRecording())
    running.pass_time(0.2)
    recorded = RecordedSession(path)
    assert case.clock in {clock.name for clock in recorded.timeline.clocks.values()}
    recorded.close()
