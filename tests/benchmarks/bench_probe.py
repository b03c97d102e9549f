"""What the probe costs an attached program, and how fast it tells what happens there."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from select import select
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time_ns
from typing import TYPE_CHECKING, Any

from inspector.probe.adapters.asyncio import AsyncioAdapter
from inspector.probe.adapters.python_time import Replacement
from inspector.probe.program import Program
from inspector.probe.sink import Sink
from tests.benchmarks.measuring import Case, Effort, empty_call_ns, measure
from tests.benchmarks.report import FRAME_MS, Row, calls_row
from tests.probe.adapters.libraries import can_import, pythons
from tests.probe.receiver import LOADER, TOKEN, Receiver, dialled, inlet, program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.benchmarks.measuring import Work

_TIMERS = 2_000
#: In calls of an empty function: 1.5 µs on the machine on which the goal was set.
_EVENT_CALLS = 55
_EVENTS_PER_SECOND = 500_000
#: Of one timer: 10 µs, a second for a hundred thousand.
_TIMER_CALLS = 370


def _loop_case(name: str, state: str) -> Case:
    """Set timers on an event loop and run them, in programs with and without a probe."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        loop = asyncio.SelectorEventLoop()
        if state != "native":
            inside = Program("benchmark")
            adapter = AsyncioAdapter(inside)
            adapter.learn(asyncio.base_events)
            adapter.state, inside.adapters["asyncio"] = "active", adapter
            adapter.found(loop)
            if state == "attached":
                sink = Sink(inside.texts)
                inside.attach(sink.emit, sink.extend)

        def work() -> None:
            left = _TIMERS

            def fire() -> None:
                nonlocal left
                left -= 1
                if not left:
                    loop.stop()

            for _ in range(_TIMERS):
                loop.call_later(0, fire)
            loop.run_forever()

        try:
            yield work
        finally:
            loop.close()

    return Case(name, prepare, _TIMERS)


def probe_event(effort: Effort) -> Iterator[Row]:
    """Set and fire timers of asyncio: without a probe, with one that waits, attached."""
    states = ("native", "waiting", "attached")
    measured = measure([_loop_case(state, state) for state in states], effort.repeats(61))
    # Three when a timer is set, one when it fires.
    event_ns = measured.difference_ns("attached", "native") / 4
    empty_ns = empty_call_ns()
    yield calls_row("probe_event/attached", event_ns, empty_ns, _EVENT_CALLS, "one event")
    yield Row(
        "probe_event/nobody attached",
        measured.ratio("waiting", "native"),
        1.03,
        unit="x",
        detail="asyncio's timers with a probe that waits, to without one",
    )


#: Frames of 2 ms of work at 60 Hz, then turns that last, with the looks at them timed.
_SAMPLED = """
import asyncio, json, time, timeline_probe.sampler
spent_ns = empty_ns = 0
def timed(call):
    def measured(*given):
        global spent_ns
        began = time.thread_time_ns()
        try:
            return call(*given)
        finally:
            spent_ns += time.thread_time_ns() - began - empty_ns
    return measured
nothing = timed(int)
for _ in range(2000):
    nothing()
empty_ns, spent_ns = spent_ns // 2000, 0
for name in ("sample", "wait_ns"):
    call = getattr(timeline_probe.sampler.Sampler, name)
    setattr(timeline_probe.sampler.Sampler, name, timed(call))
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def share(began, before):
    return 100 * (spent_ns - before) / (time.process_time_ns() - began)
async def main():
    began, before = time.process_time_ns(), spent_ns
    for _ in range(240):
        await asyncio.sleep(0.0146)
        work(0.002)
    healthy = share(began, before)
    began, before = time.process_time_ns(), spent_ns
    for _ in range(4):
        work(0.5)
        await asyncio.sleep(0)
    print(json.dumps([healthy, share(began, before)]), flush=True)
asyncio.run(main())
time.sleep(30)
"""


def probe_sampling(effort: Effort) -> Iterator[Row]:
    """Look at the loop of a healthy program, and of one that is busy for long."""
    shares = []
    for _ in range(effort.repeats(3)):
        with inlet() as opened, program(_SAMPLED, opened.address) as process:
            receiver = opened.accepted()
            assert process.stdout is not None
            while not select([process.stdout], [], [], 0)[0]:
                receiver.turn()
            shares.append(json.loads(process.stdout.readline()))
            receiver.close()
    what = "looks, of the program's processor time"
    for name, place, goal in (("healthy", 0, 1.0), ("busy", 1, 2.0)):
        percent = min(share[place] for share in shares)
        yield Row(f"probe_sampling/{name}", percent, goal, unit="%", detail=what)


#: In calls of an empty function: 20 ms on the machine on which the goal was set.
_IMPORT_CALLS = 730_000

_IMPORT = f"""
import time
began = time.process_time_ns()
{LOADER}
import timeline_probe.starting
print(time.process_time_ns() - began)
"""


def probe_import(effort: Effort) -> Iterator[Row]:
    """Import the probe and what it needs to dial, into programs that have imported nothing."""
    took_ns = []
    for _ in range(effort.repeats(7)):
        command = [sys.executable, "-I", "-S", "-c", _IMPORT]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        took_ns.append(int(done.stdout))
    yield calls_row("probe_import", min(took_ns), empty_call_ns(), _IMPORT_CALLS, "processor time")


@contextmanager
def _served(code: str, python: str = sys.executable) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with TemporaryDirectory() as folder:
        address = f"unix:{Path(folder) / 'socket'}"
        head = (
            f"server = timeline_probe.serve({address!r}, token={TOKEN!r})\nprint(0, flush=True)\n"
        )
        with program(head + code, python=python) as process:
            _said(process)
            yield process, address


def _said(process: subprocess.Popen[str], ask: str = "") -> Any:  # noqa: ANN401 - JSON
    if ask:
        assert process.stdin is not None
        process.stdin.write(ask + "\n")
        process.stdin.flush()
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


_STREAM = """
import json, sys, time
sys.stdin.readline()
emit, now = timeline_probe.starting._program.emit, time.monotonic_ns
sink = timeline_probe.starting._link._attachment.sink
# Sleeps that make no events.
sleep = timeline_probe.starting._program.adapters["python_time"]._real.sleep
began_ns = time.process_time_ns()
for batch in range(ROUNDS):
    while sink.unacknowledged > 100_000:
        sleep(0.001)
    for number in range(5000):
        emit((now(), 49, 1, 0, number))
    sleep(0.002)
print(json.dumps(time.process_time_ns() - began_ns), flush=True)
sys.stdin.readline()
"""


def probe_stream(effort: Effort) -> Iterator[Row]:
    """Tell events from one process to the other as fast as the slower of the two can.

    The program waits for the inspector, so that a busy machine loses nothing; what counts is the
    processor time that each of them takes.
    """
    rounds = 50 if effort.is_quick else 400
    with _served(_STREAM.replace("ROUNDS", str(rounds))) as (process, address):
        receiver = dialled(address)
        receiver.wait_until_complete()
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        before = len(receiver.events)
        # Two million tuples: a reader that keeps them in columns has nothing to collect.
        gc.disable()
        began_ns = process_time_ns()
        while len(receiver.events) - before + _lost(receiver) < rounds * 5_000:
            receiver.turn()
        reading_ns = (process_time_ns() - began_ns) / rounds / 5_000
        gc.enable()
        receiver.listen(0.1)
        telling_ns = _said(process) / rounds / 5_000
        lost = _lost(receiver)
        receiver.close()
    yield Row(
        "probe_stream/in a second",
        1e9 / max(telling_ns, reading_ns),
        _EVENTS_PER_SECOND,
        at_most=False,
        detail=f"events; one takes {telling_ns:.0f} ns to tell and {reading_ns:.0f} ns to read",
    )
    yield Row("probe_stream/lost", lost, 0, detail=f"of {rounds * 5_000:,}")


def _lost(receiver: Receiver) -> int:
    return sum(sum(said["counts"].values()) for said in receiver.said("Events.lost"))


_PENDING = """
import asyncio, gc, json, sys, threading, time
from timeline_probe.keyframe import Keyframe
slices = []
run = Keyframe._run
def measured(self, *which):
    began = time.thread_time_ns()
    run(self, *which)
    slices.append(time.thread_time_ns() - began)
Keyframe._run = measured
async def main():
    loop = asyncio.get_running_loop()
    for number in range(TIMERS):
        loop.call_later(1000 + number % 977, print)
    # What the program has made is the program's to look through.
    gc.collect()
    print(json.dumps("set"), flush=True)
    threading.Thread(target=answer, daemon=True).start()
    while True:
        await asyncio.sleep(0.01)
def answer():
    for line in sys.stdin:
        print(json.dumps(slices), flush=True)
asyncio.run(main())
"""


def probe_keyframe(effort: Effort) -> Iterator[Row]:
    """Describe a hundred thousand pending timers, in slices of the program's thread."""
    timers = 10_000 if effort.is_quick else 100_000
    took_s, slices = [], []
    for _ in range(effort.repeats(3)):
        with _served(_PENDING.replace("TIMERS", str(timers))) as (process, address):
            assert _said(process) == "set"
            began = monotonic()
            receiver = dialled(address)
            receiver.wait_until_complete()
            took_s.append(monotonic() - began)
            slices += _said(process, "slices")
            receiver.close()
    slices.sort()
    slice_ms, longest_ms = slices[len(slices) * 95 // 100] / 1e6, slices[-1] / 1e6
    timer_ns = median(took_s) * 1e9 / timers
    yield calls_row(
        "probe_keyframe/complete",
        timer_ns,
        empty_call_ns(),
        _TIMER_CALLS,
        f"one of {timers:,} timers, {median(took_s):.2f} s from the first byte to the last",
    )
    yield Row(
        "probe_keyframe/slices",
        slice_ms / FRAME_MS,
        0.24,
        unit="x",
        detail=f"of a frame at 60 Hz: {slice_ms:.1f} ms, 95th percentile of {len(slices)}; the "
        f"longest, in which a table grows, takes {longest_ms:.1f} ms",
    )


_FRAMES = """
import json, sys, time
def work():
    total = 0
    for number in range(150_000):
        total += number
    return total
def frames(seconds, every_s):
    began, cpu_ns, count = time.monotonic(), time.process_time_ns(), 0
    while time.monotonic() - began < seconds:
        timeline_probe.frame()
        work()
        count += 1
        time.sleep(max(began + count * every_s - time.monotonic(), 0))
    return count / (time.monotonic() - began), (time.process_time_ns() - cpu_ns) / count
"""
_SERVE_FRAMES = """
for line in sys.stdin:
    print(json.dumps(frames(*map(float, line.split()))), flush=True)
"""
#: How programs of libraries run frames for some seconds; what they need; the same work in each.
_LIBRARY_FRAMES = {
    "asyncio": """
import asyncio
def frames(seconds, every_s):
    async def run():
        began, count = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            work()
            count += 1
            await asyncio.sleep(max(began + count * every_s - time.monotonic(), 0))
        return count / (time.monotonic() - began), 0
    return asyncio.run(run())
""",
    "PySide6": """
from PySide6.QtCore import QCoreApplication, Qt, QTimer
app = QCoreApplication([])
def frames(seconds, every_s):
    count = 0
    def frame():
        nonlocal count
        work()
        count += 1
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(frame)
    timer.start(16)
    QTimer.singleShot(int(seconds * 1000), app.quit)
    began = time.monotonic()
    app.exec()
    return count / (time.monotonic() - began), 0
""",
    "pygame": """
import os
os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame
pygame.init()
screen = pygame.display.set_mode((200, 200))
clock = pygame.time.Clock()
def frames(seconds, every_s):
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        pygame.event.get()
        work()
        pygame.display.flip()
        count += 1
        clock.tick(1 / every_s)
    return count / (time.monotonic() - began), 0
""",
}


def _library_frame_rates(effort: Effort) -> Iterator[Row]:
    """Run frames of programs of libraries at 60 Hz with and without an inspector."""
    work = _FRAMES.partition("def frames")[0]
    for library, code in _LIBRARY_FRAMES.items():
        python = next((each for each in pythons() if can_import(each, library)), "")
        if not python:
            continue
        alone, watched = [], []
        with _served(work + code + _SERVE_FRAMES, python) as (process, address):
            _said(process, "0.2 0.0166667")
            for _ in range(effort.repeats(9)):
                alone.append(_said(process, "0.7 0.0166667")[0])
                receiver = dialled(address)
                # Complete with the first frame only: a loop that does not run cannot be asked.
                receiver.listen(0.05)
                assert process.stdin is not None
                process.stdin.write("0.7 0.0166667\n")
                process.stdin.flush()
                receiver.listen(0.72)
                watched.append(_said(process)[0])
                receiver.close()
        yield Row(
            f"probe_frame_rate/{library}",
            median(watched) / median(alone),
            0.97,
            at_most=False,
            unit="x",
            detail=f"frames at 60 Hz with {library}, to the same alone",
        )


def probe_frame_rate(effort: Effort) -> Iterator[Row]:
    """Turn a loop at 60 Hz, and as fast as it can, with and without an inspector that looks on."""
    found: dict[str, list[list[float]]] = {}
    with _served(_FRAMES + _SERVE_FRAMES) as (process, address):
        for _ in range(effort.repeats(15)):
            for asked in ("0.5 0.0166667", "0.3 0"):
                found.setdefault(asked, []).append(_said(process, asked))
                receiver = dialled(address)
                receiver.wait_until_complete()
                assert process.stdin is not None
                process.stdin.write(f"{asked}\n")
                process.stdin.flush()
                receiver.listen(float(asked.split()[0]) + 0.02)
                found.setdefault(f"{asked} attached", []).append(_said(process))
                receiver.close()
    (alone, watched, alone_fast, watched_fast) = found.values()
    yield Row(
        "probe_frame_rate/idle attached",
        median(rate for rate, _ in watched) / median(rate for rate, _ in alone),
        0.97,
        at_most=False,
        unit="x",
        detail="frames of a loop at 60 Hz, to the same alone",
    )
    yield Row(
        "probe_frame_rate/without a pause",
        # The quickest of each: what else runs on the machine only adds.
        min(cost for _, cost in watched_fast) / min(cost for _, cost in alone_fast),
        unit="x",
        detail="processor time per frame of a loop that never waits, to the same alone",
    )
    yield from _library_frame_rates(effort)


_LOAD = """
import asyncio, json, sys, time
async def worker(count):
    loop = asyncio.get_running_loop()
    for _ in range(count):
        loop.call_later(5, print).cancel()
        await asyncio.sleep(0.001)
async def load(seconds):
    began, turns = time.process_time_ns(), 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await asyncio.gather(*(worker(10) for _ in range(50)))
        turns += 500
    return time.process_time_ns() - began, turns
async def main():
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        print(json.dumps(await load(float(line))), flush=True)
asyncio.run(main())
"""


def _runs(
    code: str, asked: float, repeats: int
) -> tuple[list[list[float]], list[list[float]], list[tuple[float, float]]]:
    """Run the same in a program that was never attached and in one that is, in turn.

    Returns:
        What each of the two says, and for each run the processor time that the probe has told,
        and its share of a processor at the end.
    """
    alone, watched, told = [], [], []
    with _served(code) as (process, _), _served(code) as (watched_process, address):
        for each in (process, watched_process):
            _said(each, "0.5")
        for _ in range(repeats):
            alone.append(_said(process, str(asked)))
            receiver = dialled(address)
            receiver.wait_until_complete()
            # What hooks cost is measured first, and what is too much is thinned out then.
            receiver.wait_for(lambda: receiver.said("Program.cost"))  # noqa: B023 - called now
            receiver.listen(0.2)
            told_before = len(receiver.said("Program.cost"))
            assert watched_process.stdin is not None
            watched_process.stdin.write(f"{asked}\n")
            watched_process.stdin.flush()
            receiver.listen(asked)
            newest = receiver.said("Program.cost")[-1]
            watched.append(_said(watched_process))
            receiver.listen(1.1)
            spent_ns = sum(each["cpu_ns"] for each in receiver.said("Program.cost")[told_before:])
            told.append((spent_ns, newest["cpu_ns"] / newest["interval_ns"]))
            receiver.close()
    return alone, watched, told


def probe_cost_meter(effort: Effort) -> Iterator[Row]:
    """Hold what the probe says of its cost against what an attached program takes more."""
    seconds = 1.0 if effort.is_quick else 3.0
    alone, watched, told = _runs(_LOAD, seconds, effort.repeats(7))
    alone_ns = min(took_ns / turns for took_ns, turns in alone)
    more_ns = min(took_ns / turns for took_ns, turns in watched) - alone_ns
    ratios = [
        spent_ns / (more_ns * turns)
        for (_, turns), (spent_ns, _) in zip(watched, told, strict=True)
    ]
    ratio = median(ratios)
    yield Row(
        "probe_cost_meter/off by",
        abs(ratio - 1),
        0.2,
        unit="x",
        detail=f"told {ratio:.2f} times the truth, between {min(ratios):.2f} and {max(ratios):.2f}"
        f"; a turn takes {alone_ns / 1e3:.1f} µs alone and {more_ns / 1e3:.1f} µs more attached",
    )


_MANY = """
import asyncio, json, sys, time
slept = 0
async def sleeping():
    global slept
    while True:
        await asyncio.sleep(0.01)
        slept += 1
async def main():
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        tasks = [asyncio.create_task(sleeping()) for _ in range(TASKS)]
        # The probe thins out what costs too much in the first seconds.
        await asyncio.sleep(float(line) / 2)
        before, began_s, cpu_ns = slept, time.perf_counter(), time.process_time_ns()
        await asyncio.sleep(float(line) / 2)
        count, took_s = slept - before, time.perf_counter() - began_s
        for task in tasks:
            task.cancel()
        print(json.dumps([count / took_s, (time.process_time_ns() - cpu_ns) / count]), flush=True)
asyncio.run(main())
"""


def _cheapest_ns(runs: list[list[float]]) -> float:
    # What else runs on the machine only adds.
    return min(cost for _, cost in runs)


def probe_many_timers(effort: Effort) -> Iterator[Row]:
    """Have tasks sleep for 10 ms again and again, with and without an inspector."""
    seconds, repeats = 5.0 if effort.is_quick else 8.0, effort.repeats(7)
    alone, watched, costs = _runs(_MANY.replace("TASKS", "500"), seconds, repeats)
    told = [share for _, share in costs]
    alone_ns, watched_ns = _cheapest_ns(alone), _cheapest_ns(watched)
    rate = median(rate for rate, _ in watched)
    yield Row(
        "probe_many_timers/sleeps",
        rate / median(rate for rate, _ in alone),
        0.85,
        at_most=False,
        unit="x",
        detail=f"of 500 tasks, {rate:,.0f} a second, to the same alone",
    )
    yield Row(
        "probe_many_timers/meter off by",
        abs(median(told) / ((watched_ns - alone_ns) * rate / 1e9) - 1),
        0.2,
        unit="x",
        detail=f"told {median(told):.1%} of a processor; a sleep takes {alone_ns / 1e3:.1f} µs "
        f"alone and {watched_ns / 1e3:.1f} µs attached",
    )
    alone, watched, _ = _runs(_MANY.replace("TASKS", "50"), seconds, repeats)
    alone_ns, watched_ns = _cheapest_ns(alone), _cheapest_ns(watched)
    yield Row(
        "probe_many_timers/processor time of 50 tasks",
        watched_ns / alone_ns,
        2.0,
        unit="x",
        detail=f"{alone_ns / 1e3:.1f} µs a sleep alone and {watched_ns / 1e3:.1f} µs attached",
    )


def probe_reading(effort: Effort) -> Iterator[Row]:
    """Read what replaces ``time.monotonic`` before anything was held or slowed."""

    def case(name: str, read: Callable[[], float]) -> Case:
        @contextmanager
        def prepare() -> Iterator[Work]:
            def work() -> None:
                for _ in range(_TIMERS):
                    read()

            yield work

        return Case(name, prepare, _TIMERS)

    cases = [case("machine's", monotonic), case("replaced", Replacement(monotonic))]
    yield Row(
        "probe_reading/before a change",
        measure(cases, effort.repeats(31)).ratio("replaced", "machine's"),
        1.2,
        unit="x",
        detail="time.monotonic in a program with a probe, to the machine's own",
    )


BENCHMARKS = (
    probe_import,
    probe_event,
    probe_sampling,
    probe_stream,
    probe_keyframe,
    probe_frame_rate,
    probe_cost_meter,
    probe_many_timers,
    probe_reading,
)
