"""What the probe costs an attached program, and how fast it tells what happens there."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time_ns
from typing import TYPE_CHECKING, Any

from inspector.probe.adapters.asyncio import AsyncioAdapter
from inspector.probe.program import Program
from inspector.probe.sink import Sink
from tests.benchmarks.measuring import Case, Effort, empty_call_ns, measure
from tests.benchmarks.report import Row, calls_row
from tests.probe.receiver import TOKEN, Receiver, dialled, program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.measuring import Work

_TIMERS = 2_000
#: In calls of an empty function: 1.5 µs on the machine on which the goal was set.
_EVENT_CALLS = 55
_EVENTS_PER_SECOND = 500_000


def _loop_case(name: str, state: str) -> Case:
    """Set timers on an event loop and run them, in programs with and without a probe."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        loop = asyncio.SelectorEventLoop()
        if state != "native":
            inside = Program("benchmark")
            adapter = AsyncioAdapter(inside)
            adapter._learn(asyncio.base_events)
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


@contextmanager
def _served(code: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with TemporaryDirectory() as folder:
        address = f"unix:{Path(folder) / 'socket'}"
        head = (
            f"server = timeline_probe.serve({address!r}, token={TOKEN!r})\nprint(0, flush=True)\n"
        )
        with program(head + code) as process:
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
emit, now = timeline_probe._program.emit, time.monotonic_ns
began = now()
for batch in range(ROUNDS):
    for number in range(5000):
        emit((now(), 49, 1, 0, number))
    time.sleep(max(began + (batch + 1) * 10_000_000 - now(), 0) / 1e9)
print(json.dumps((now() - began) / 1e9), flush=True)
sys.stdin.readline()
"""


def probe_stream(effort: Effort) -> Iterator[Row]:
    """Tell half a million events per second, from one process to the other."""
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
        began, began_ns = monotonic(), process_time_ns()
        while len(receiver.events) - before + _lost(receiver) < rounds * 5_000:
            receiver.turn()
        took_s, received_ns = monotonic() - began, process_time_ns() - began_ns
        gc.enable()
        arrived = len(receiver.events) - before
        receiver.close()
    yield Row(
        "probe_stream/arrived",
        arrived / took_s,
        _EVENTS_PER_SECOND * 0.9,
        at_most=False,
        detail=f"events per second, of {_EVENTS_PER_SECOND:,} made; "
        f"reading one takes {received_ns / max(arrived, 1):.0f} ns",
    )
    yield Row("probe_stream/lost", _lost(receiver), 0, detail=f"of {rounds * 5_000:,}")


def _lost(receiver: Receiver) -> int:
    return sum(sum(said["counts"].values()) for said in receiver.said("Events.lost"))


_PENDING = """
import asyncio, gc, json, sys, threading, time
from timeline_probe.keyframe import Keyframe
slices = []
run = Keyframe._run
def measured(self):
    began = time.thread_time_ns()
    run(self)
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
    yield Row(
        "probe_keyframe/complete",
        median(took_s) * timers**-1 * 1e5,
        1.0,
        unit="s",
        detail="100,000 timers, from the first byte to the last",
    )
    yield Row(
        "probe_keyframe/slices",
        slices[len(slices) * 99 // 100] / 1e6,
        4.0,
        unit="ms",
        detail=f"99th percentile of {len(slices)}; longest {slices[-1] / 1e6:.1f} ms",
    )


_FRAMES = """
import json, sys, time
def work():
    total = 0
    for number in range(150_000):
        total += number
    return total
def frames(seconds):
    began, until, count = time.process_time_ns(), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        timeline_probe.frame()
        work()
        count += 1
    return (time.process_time_ns() - began) / count
for line in sys.stdin:
    print(json.dumps(frames(float(line))), flush=True)
"""


def probe_frame_rate(effort: Effort) -> Iterator[Row]:
    """Turn a loop with and without an inspector that only looks."""
    ratios = []
    with _served(_FRAMES) as (process, address):
        for _ in range(effort.repeats(25)):
            alone = _said(process, "0.3")
            receiver = dialled(address)
            receiver.wait_until_complete()
            assert process.stdin is not None
            process.stdin.write("0.3\n")
            process.stdin.flush()
            receiver.listen(0.32)
            ratios.append(_said(process) / alone)
            receiver.close()
    yield Row(
        "probe_frame_rate/idle attached",
        median(ratios),
        1.03,
        unit="x",
        detail="processor time per frame of the whole program, to the same alone",
    )


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


def probe_cost_meter(effort: Effort) -> Iterator[Row]:
    """Hold what the probe says of its cost against what an attached program takes more."""
    seconds = 1.0 if effort.is_quick else 3.0
    ratios = []
    with _served(_LOAD) as (process, address):
        _said(process, "0.5")
        for _ in range(effort.repeats(7)):
            alone_ns, alone_turns = _said(process, str(seconds))
            receiver = dialled(address)
            receiver.wait_until_complete()
            receiver.listen(1.2)
            told = len(receiver.said("Program.cost"))
            assert process.stdin is not None
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
            receiver.listen(seconds + 1.2)
            attached_ns, attached_turns = _said(process)
            spent = sum(each["cpu_ns"] for each in receiver.said("Program.cost")[told:])
            truth = attached_ns - alone_ns / alone_turns * attached_turns
            ratios.append(spent / truth)
            receiver.close()
    ratio = median(ratios)
    yield Row(
        "probe_cost_meter/off by",
        abs(ratio - 1),
        0.2,
        unit="x",
        detail=f"told {ratio:.2f} times the truth, between {min(ratios):.2f} and {max(ratios):.2f}",
    )


BENCHMARKS = (
    probe_event,
    probe_stream,
    probe_keyframe,
    probe_frame_rate,
    probe_cost_meter,
)
