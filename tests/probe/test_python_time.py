"""What programs read from ``time`` and sleep by it follows a clock."""

from __future__ import annotations

from itertools import pairwise

import pytest

from inspector.probe.kinds import RATE_DENOMINATOR, TIMER_FIRED
from tests.interpreters import VERSIONS, interpreter
from tests.probe.receiver import Receiver, attached

D = RATE_DENOMINATOR

SLEEPS = """
import time
from time import sleep
while True:
    sleep(0.02)
    print(time.monotonic(), time.perf_counter_ns(), time.time(), flush=True)
"""


def sleeps_in(receiver: Receiver, seconds: float) -> int:
    before = receiver.firings()["time.sleep"]
    receiver.listen(seconds)
    return receiver.firings()["time.sleep"] - before


@pytest.mark.parametrize("version", VERSIONS)
def test_that_sleeps_are_timers_with_their_place(version: str) -> None:
    with attached(SLEEPS, python=interpreter(version)) as (receiver, _):
        receiver.wait_for(lambda: receiver.firings()["time.sleep"] > 2)

        assert "Python time" in receiver.clocks()
        sites = {receiver.texts[a] for _, kind, _, a, _ in receiver.events if kind == 17}
        assert any(site.endswith("in <module>") for site in sites)


def test_that_a_held_program_sleeps_on_and_its_time_stands_still() -> None:
    with attached(SLEEPS) as (receiver, process):
        receiver.wait_for(lambda: receiver.firings()["time.sleep"] > 2)
        top = receiver.clocks()["python -c"]
        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.1)

        assert sleeps_in(receiver, 0.3) == 0
        before = receiver.timeline().local_ns(top)
        receiver.ask("Program.step", to="next_timer")
        receiver.wait_until_held()
        receiver.listen(0.1)

        assert sleeps_in(receiver, 0.2) == 0
        assert 0 < receiver.timeline().local_ns(top) - before <= 20_000_000
        receiver.ask("Clock.resume", clock=top)
        receiver.wait_for(lambda: sleeps_in(receiver, 0.1) > 0)
        process.kill()
        assert process.stdout is not None
        readings = [tuple(map(float, line.split())) for line in process.stdout][:-1]
        gaps = [after[0] - before[0] for before, after in pairwise(readings)]
        # Held for more than half a second, of which the program saw nothing.
        assert all(0.02 <= gap < 0.25 for gap in gaps)
        for monotonic_s, perf_ns, wall_s in readings:
            assert abs(monotonic_s - perf_ns / 1e9) < 0.05
            assert abs((wall_s - monotonic_s) - (readings[0][2] - readings[0][0])) < 0.05


def test_that_a_rate_scales_sleeps_and_readings_alike() -> None:
    with attached(SLEEPS) as (receiver, process):
        receiver.wait_for(lambda: receiver.firings()["time.sleep"] > 2)
        receiver.ask("Clock.rate", clock=receiver.clocks()["Python time"], rate_n=D // 4)
        receiver.listen(0.1)
        at = len(receiver.events)
        receiver.listen(0.6)

        fired = [event[0] for event in receiver.events[at:] if event[1] == TIMER_FIRED]
        assert len(fired) >= 2
        assert all(after - before >= 80e6 for before, after in pairwise(fired))
        process.kill()
        assert process.stdout is not None
        readings = [float(line.split()[0]) for line in process.stdout][:-1]
        assert all(b - a < 0.07 for a, b in pairwise(readings[5:]))


def test_that_the_standard_library_keeps_the_time_of_the_machine() -> None:
    code = """
import threading, time, sched, queue
from concurrent.futures import ThreadPoolExecutor
print(threading._time is not time.monotonic, queue.time is not time.monotonic, flush=True)
print(sched.scheduler().timefunc is time.monotonic, flush=True)
while True:
    threading.Event().wait(0.01)
    print("waited", flush=True)
"""
    with attached(code) as (receiver, process):
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["True", "True"]
        assert process.stdout.readline().split() == ["True"]
        receiver.wait_until_complete()
        receiver.ask("Clock.pause", clock=receiver.clocks()["python -c"])
        for _ in range(20):
            assert process.stdout.readline() == "waited\n"


def test_that_wrong_sleeps_are_refused_as_ever() -> None:
    code = """
import time
for wrong in (-1, "1", None, float("nan"), 1e30):
    try:
        time.sleep(wrong)
    except (ValueError, TypeError, OverflowError) as error:
        print(type(error).__name__, flush=True)
time.sleep(0)
time.sleep(True * 0.001)
print("done", flush=True)
"""
    with attached(code) as (_, process):
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(6)]
        assert said == [
            "ValueError",
            "TypeError",
            "TypeError",
            "ValueError",
            "OverflowError",
            "done",
        ]


def test_that_an_interrupted_sleep_is_gone() -> None:
    code = """
import signal, time, os, threading
def wake(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGUSR2, wake)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR2)).start()
try:
    time.sleep(100)
except KeyboardInterrupt:
    print("woken", flush=True)
time.sleep(100)
"""
    with attached(code) as (receiver, process):
        assert process.stdout is not None
        assert process.stdout.readline() == "woken\n"
        receiver.wait_for(lambda: len(receiver.timer_names()) == 2)

        assert len(receiver.timeline().timers) == 1
