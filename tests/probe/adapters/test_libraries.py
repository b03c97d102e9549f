"""Programs of each library, run with the probe inside: seen, held, slowed, stepped, let go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from inspector.events.timeline import Timeline
from inspector.probe.kinds import FRAME_ENDED, LOOP_ASKED, TIMER_FIRED
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.libraries import LIBRARIES, Library, python_with
from tests.probe.frame_tiles import SLACK_NS, check_frames_tile
from tests.probe.receiver import Receiver, attached

PERIOD_S = 0.05


class Watched:
    """A program of a library under the eyes of a receiver."""

    def __init__(
        self, library: Library, receiver: Receiver, process: subprocess.Popen[str]
    ) -> None:
        self.library = library
        self.receiver = receiver
        self.process = process
        receiver.wait_until_complete()
        self.wait_for_ticks()
        self.top = next(number for number, parent in receiver.parents().items() if parent == 0)
        clocks = receiver.clocks()
        self.clock = next(clocks[name] for name in clocks if name.startswith(library.clock))

    def ticks_ns(self) -> list[int]:
        """Return when the timer fired."""
        names = self.receiver.timer_names()
        return [
            at_ns
            for at_ns, kind, subject, _, _ in self.receiver.events
            if kind == TIMER_FIRED and "ticking" in names.get(subject, "")
        ]

    def frames(self) -> int:
        return sum(kind == FRAME_ENDED for _, kind, _, _, _ in self.receiver.events)

    def wait_for_ticks(self, more: int = 2) -> None:
        wanted = len(self.ticks_ns()) + more
        self.receiver.wait_for(lambda: len(self.ticks_ns()) >= wanted)

    def hold(self) -> None:
        told = len(self.receiver.said("Program.held"))
        self.receiver.ask("Clock.pause", clock=self.top)
        # On a busy machine it is told later, and would be taken for the end of a step.
        self.receiver.wait_until_held(told)
        self.receiver.listen(0.2)

    def step(self, **what: object) -> tuple[int, int]:
        """Step, and return how many ticks and frames there were."""
        receiver = self.receiver
        ticks, frames, told = (
            len(self.ticks_ns()),
            self.frames(),
            len(receiver.said("Program.held")),
        )
        if "message" in receiver.ask("Program.step", **what):
            # What is due already waits for a frame.
            return 0, 0
        receiver.wait_until_held(told)
        receiver.listen(0.2)
        return len(self.ticks_ns()) - ticks, self.frames() - frames

    def processor_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(library: Library, request: pytest.FixtureRequest) -> Iterator[Watched]:
    python = python_with(library.module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDL_AUDIODRIVER", "dummy")
        if library.needs_display:
            patch.setenv("DISPLAY", request.getfixturevalue("display_number"))
            patch.delenv("SDL_VIDEODRIVER", raising=False)
        else:
            patch.setenv("SDL_VIDEODRIVER", "dummy")
        with attached(library.code, python=python) as (receiver, process):
            yield Watched(library, receiver, process)
            # Whatever was done to it, its frames tile the time.
            timeline = Timeline(receiver.texts)
            checked = check_frames_tile(timeline, receiver.events, slack_ns=SLACK_NS)
            assert checked or not library.has_frames


@pytest.fixture(scope="module", params=LIBRARIES, ids=str)
def shared(request: pytest.FixtureRequest) -> Iterator[Watched]:
    with running(request.param, request) as found:
        yield found


@pytest.fixture
def watched(shared: Watched) -> Watched:
    """Let the program of the tests before go on as it began."""
    shared.receiver.ask("Link.release")
    shared.wait_for_ticks()
    return shared


def test_that_its_timers_have_names_call_sites_and_due_times(watched: Watched) -> None:
    timeline = watched.receiver.timeline()
    rows = [timeline.timers.row(number) for number in timeline.timers.ids()]
    row = next(row for row in rows if "ticking" in row.label)

    assert row.clock_id == watched.clock
    assert row.call_site.startswith("<string>:")
    if watched.library.module in {"trio", "uvloop"}:
        # A task that sleeps again and again.
        assert row.interval_ns == PERIOD_S * 1e9
    assert abs(row.due_ns - timeline.local_ns(watched.clock)) < 10e9
    adapters = watched.receiver.said("Program.changed")[-1]["adapters"]
    assert {"active"} == {each["state"] for each in adapters if each["state"] != "waiting"}
    if watched.library.has_frames:
        watched.receiver.wait_for(lambda: watched.frames() > 3)
        asked = [event[3] for event in watched.receiver.events if event[1] == LOOP_ASKED]
        assert asked == list(filter(None, [watched.library.asked_ns]))


def test_that_held_it_does_nothing_and_let_go_it_bursts_nothing(watched: Watched) -> None:
    watched.hold()
    before, frames, processor_s = len(watched.ticks_ns()), watched.frames(), watched.processor_s()

    watched.receiver.listen(0.5)

    assert (len(watched.ticks_ns()), watched.frames()) == (before, frames)
    if sys.platform == "linux":
        assert watched.processor_s() - processor_s < 0.15 * 0.5
    held_ns = watched.receiver.events[-1][0]
    watched.receiver.ask("Clock.resume", clock=watched.top)
    watched.wait_for_ticks(4)
    first, *_, last = watched.ticks_ns()[before : before + 4]
    assert first >= held_ns
    assert last - first > 2 * PERIOD_S * 1e9


@pytest.mark.parametrize(("rate_n", "factor"), [(D // 4, 4.0), (4 * D, 0.25)])
def test_that_it_follows_a_rate(watched: Watched, rate_n: int, factor: float) -> None:
    watched.receiver.ask("Clock.rate", clock=watched.top, rate_n=rate_n)
    watched.wait_for_ticks(2)
    before = len(watched.ticks_ns())
    watched.wait_for_ticks(8 if factor < 1 else 4)

    instants = watched.ticks_ns()[before:]
    gaps = [after - at for at, after in pairwise(instants)]
    # Frames of 20 ms are the grain of timers that frames look at.
    assert 0.6 * factor * PERIOD_S < median(gaps) / 1e9 < 1.6 * factor * PERIOD_S + 0.02


def test_that_the_longest_waits_at_the_lowest_rate_end_nothing(watched: Watched) -> None:
    watched.receiver.ask("Clock.rate", clock=watched.top, rate_n=1)
    watched.receiver.listen(0.2)
    watched.receiver.ask("Clock.rate", clock=watched.top, rate_n=D)
    watched.wait_for_ticks(2)

    assert watched.process.poll() is None
    adapters = watched.receiver.said("Program.changed")[-1]["adapters"]
    assert "failed" not in {each["state"] for each in adapters}


def test_that_it_steps_to_the_next_timer(watched: Watched) -> None:
    watched.hold()
    for _ in range(3):
        ticks, _ = watched.step(to="next_timer")
        if watched.library.due_in_frames:
            # The frame that looks at the timer is the next.
            ticks += watched.step(frames=1)[0]
        assert ticks <= 1
    assert watched.ticks_ns()


def test_that_it_steps_a_frame(watched: Watched) -> None:
    if not watched.library.has_frames:
        pytest.skip("a program without frames")
    watched.hold()
    for _ in range(3):
        assert watched.step(frames=1)[1] == 1


@pytest.mark.parametrize("library", LIBRARIES, ids=str)
def test_that_a_timer_is_cleared_by_command(
    library: Library, request: pytest.FixtureRequest
) -> None:
    with running(library, request) as watched:
        names = watched.receiver.timer_names()
        timeline = watched.receiver.timeline()
        pending = [number for number in timeline.timers.ids() if "ticking" in names[number]]
        answer = watched.receiver.ask("Timer.clear", timer=pending[-1], cause=1)
        if library.module == "trio":
            assert "wait for ever" in answer["message"]
            return
        watched.receiver.listen(0.3)
        before = len(watched.ticks_ns())

        watched.receiver.listen(0.3)

        assert len(watched.ticks_ns()) == before
