"""Recordings: what an event costs to record and to read back, and how far any instant is."""

from __future__ import annotations

import random
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import TYPE_CHECKING

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.recording import RecordingWriter, open_recording
from inspector.sessions.hosted import HostedSession
from inspector.sessions.runs.virtual import run_virtual
from inspector.sessions.scene import find_scene
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from tests.benchmarks.measuring import (
    Case,
    Effort,
    empty_call_ns,
    measure,
    powers_of_ten,
    say,
)
from tests.benchmarks.report import (
    Row,
    calls_row,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: In calls of an empty function: for an event recorded and read, and for an instant reached.
_RECORDED_CALLS = 8
_READ_CALLS = 0.4
_REACHED_CALLS = 4_000_000
_INSTANTS = 40
#: RecordingInfo what a wake-up of the scene hands over.
_WAKE_EVENTS = 13
_STEP_NS = NS_PER_SECOND // 60


@cache
def _scene_log(events: int) -> EventLog:
    """Return the log of the first built-in scene, with about so many events."""
    session = HostedSession(find_scene("1"), VirtualTimeSource(), autorun=False)
    session.log.budget_bytes = 2 * events * BYTES_PER_EVENT
    while session.log.end < events:
        run_virtual(session, duration_ns=10 * NS_PER_SECOND, dt_ns=_STEP_NS)
    session.close()
    return session.log


def record_sink(effort: Effort) -> Iterator[Row]:
    """Hand a log over, write it, and read it back into arrays."""
    log = _scene_log(20_000 if effort.is_quick else 500_000)
    fresh = EventLog()
    for event in log.slice(0, log.end):
        fresh.append(event)
    places = range(0, log.end, _WAKE_EVENTS)

    def hand_over() -> None:
        for start in places:
            fresh.pieces(start, min(start + _WAKE_EVENTS, log.end))

    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.tlrec"
        running = [_running_ns(log, path) for _ in range(effort.repeats(3))]
        writing = [_writing_ns(log, path) for _ in range(effort.repeats(5))]
        past = open_recording(path)

        def read_back() -> None:
            past._chunks.clear()
            past.columns(0, past.end)

        cases = [
            Case("hand over", lambda: nullcontext(hand_over), log.end),
            Case("read back", lambda: nullcontext(read_back), log.end),
        ]
        measured = measure(cases, effort.repeats(9))
        size = path.stat().st_size
        past.close()
    handed = measured.median_ns("hand over")
    written = median(writing)
    detail = f"from a log that is handed over at once, {size / log.end:.0f} bytes"
    empty_ns = empty_call_ns()
    yield calls_row("record_sink/scene's thread", handed, empty_ns, _RECORDED_CALLS, "one event")
    yield calls_row("record_sink/end to end", written, empty_ns, _RECORDED_CALLS, detail)
    yield Row(
        "record_sink/as fast as a scene can run",
        median(running),
        unit="ns",
        detail=f"one event, handed over after every {_WAKE_EVENTS} by a thread that never waits",
    )
    yield calls_row(
        "record_sink/read back",
        measured.median_ns("read back"),
        empty_ns,
        _READ_CALLS,
        "one event, into five columns of 64 bits",
    )


def _writing_ns(log: EventLog, path: Path) -> float:
    """Return what it takes to record an event, in both threads together."""
    path.unlink(missing_ok=True)
    began_ns = process_time_ns()
    recorder = RecordingWriter(path, log)
    recorder.start()
    recorder.stop()
    return (process_time_ns() - began_ns) / log.end


def _running_ns(log: EventLog, path: Path) -> float:
    """Return what recording adds to an event that comes while others are written."""
    events = log.slice(0, log.end)
    took_ns = []
    for is_recorded in (False, True):
        path.unlink(missing_ok=True)
        fresh = EventLog(2 * log.end * BYTES_PER_EVENT)
        fresh.strings.extend(log.strings[1:])
        recorder = RecordingWriter(path, fresh)
        began_ns = process_time_ns()
        if is_recorded:
            recorder.start()
        for start in range(0, log.end, _WAKE_EVENTS):
            for event in events[start : start + _WAKE_EVENTS]:
                fresh.append(event)
            recorder.pump(is_patient=True)
            fresh.settle()
        recorder.stop()
        took_ns.append((process_time_ns() - began_ns) / log.end)
    return took_ns[1] - took_ns[0]


def reach_instants(effort: Effort) -> Iterator[Row]:
    """Record a scene while it runs, then go to instants here and there."""
    events = 50_000 if effort.is_quick else 10_000_000
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.tlrec"
        lost = record_scene(path, events)
        began_ns = perf_counter_ns()
        past = open_recording(path)
        past.state_before(past.end)
        opened_ms = (perf_counter_ns() - began_ns) / NS_PER_MS
        chance = random.Random(1)
        jumps = [_took_ms(past.state_at, chance.randrange(past.last_ns)) for _ in range(_INSTANTS)]
        at_ns = past.last_ns // 2
        past.state_at(at_ns)
        moves = [_took_ms(past.state_at, at_ns + n * _STEP_NS) for n in range(1, _INSTANTS)]
        count = past.end
        past.close()
    name = f"reach_instants/{powers_of_ten(events)}"
    detail = f"the longest of {_INSTANTS} of {count:,} events, {lost:,} lost"
    reached_ns = max(jumps) * NS_PER_MS
    yield calls_row(f"{name} anywhere", reached_ns, empty_call_ns(), _REACHED_CALLS, detail)
    yield Row(f"{name} anywhere, median", median(jumps), unit="ms")
    yield Row(f"{name} next frame, median", median(moves), unit="ms")
    yield Row(f"{name} opened", opened_ms, unit="ms", detail="with its last state")


def _took_ms(work: Callable[[int], object], at_ns: int) -> float:
    began_ns = thread_time_ns()
    work(at_ns)
    return (thread_time_ns() - began_ns) / NS_PER_MS


def record_scene(path: Path, events: int) -> int:
    """Record the first built-in scene; returns how many events were lost."""
    session = HostedSession(find_scene("1"), VirtualTimeSource(), autorun=False)
    session.recorder.start(path)
    while session.log.end < events:
        say(f"recording, {session.log.end:,} events")
        run_virtual(session, duration_ns=10 * NS_PER_SECOND, dt_ns=_STEP_NS)
    session.close()
    return session.recorder.lost


BENCHMARKS = (record_sink, reach_instants)
