"""What a frame costs: goals 5, 7, 11 and 13."""

from __future__ import annotations

import ast
import inspect
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

import inspector.clocks.tree
from inspector.events.log import EventLog
from tests.benchmarks.bench_queue import random_delays
from tests.benchmarks.measuring import (
    Case,
    Effort,
    Measurements,
    empty_call_ns,
    measure,
    powers_of_ten,
)
from tests.benchmarks.peers import ASYNCIO, KIVY, PANDA, PYGLET, SCHED, SIMPY, TWISTED, Peer
from tests.benchmarks.report import (
    Row,
    absent_row,
    calls_row,
    ratio_row,
)
from tests.benchmarks.schedulers import FRAME_NS, ClockTreeScheduler, Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from inspector.clocks import ClockTree, Sink
    from tests.benchmarks.measuring import Work


def _rival_rows(
    prefix: str, goals: Mapping[Peer, float | None], measured: Measurements, unit: str
) -> Iterator[Row]:
    """Say how many times our time each rival takes."""
    ours_ns = measured.median_ns("ours")
    for peer, goal in goals.items():
        name = f"{prefix} to {peer.name}"
        if not peer.is_installed:
            yield absent_row(name, peer.name)
            continue
        detail = f"{measured.median_ns(peer.name):,.0f} ns {unit}, ours {ours_ns:,.0f}"
        yield ratio_row(name, measured.ratio(peer.name, "ours"), goal, detail)


def _sparse_case(name: str, make: Callable[[], Scheduler], pending: int, frames: int) -> Case:
    """Let a hundredth of all repeating timers be due in each frame."""
    cycle = 100
    # A little less than 100 frames, so that no rounding of seconds makes it 101.
    intervals_ns = [cycle * FRAME_NS - 1_000] * (pending // cycle)

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        for _ in range(cycle):
            scheduler.repeat(intervals_ns)()
            scheduler.frames([FRAME_NS])()
        # Everybody has settled after once round.
        scheduler.frames([FRAME_NS] * (cycle + 1))()
        before = scheduler.fired()
        try:
            yield scheduler.frames([FRAME_NS] * frames)
            share = (scheduler.fired() - before) / (frames * len(intervals_ns))
            assert 0.97 < share <= 1, f"{name} called {share:.2%} of what was due"
        finally:
            scheduler.close()

    return Case(name, prepare, frames)


def steady_sparse(effort: Effort) -> Iterator[Row]:
    """Run 10 000 repeating timers, 100 of them due in each frame."""
    pending = 10_000
    goals = {
        PYGLET: 3.5,
        PANDA: 2.0,
        KIVY: 40.0,
        SIMPY: None,
        SCHED: None,
        ASYNCIO: None,
        TWISTED: None,
    }
    frames = 100 if effort.is_quick else 300
    cases = [_sparse_case("ours", ClockTreeScheduler, pending, frames)]
    cases += [_sparse_case(p.name, p.make, pending, frames) for p in goals if p.is_installed]
    measured = measure(cases, effort.repeats(9))
    prefix = f"steady_sparse/{powers_of_ten(pending)}"
    yield from _rival_rows(prefix, goals, measured, "a frame")
    yield calls_row(prefix, measured.median_ns("ours") / 100, empty_call_ns(), 12, "one call")


def _idle_case(name: str, make: Callable[[], Scheduler], pending: int, frames: int) -> Case:
    """Let frames pass while everything that waits is far away."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        scheduler.once(random_delays(pending, 10_000 * 10**9))()
        scheduler.frames([FRAME_NS] * 2)()
        try:
            yield scheduler.frames([FRAME_NS] * frames)
            assert scheduler.fired() == 0
        finally:
            scheduler.close()

    return Case(name, prepare, frames)


def idle_frame(effort: Effort) -> Iterator[Row]:
    """Have nothing due in a frame, 16 clocks deep."""
    pending = 10_000 if effort.is_quick else 100_000
    prefix = f"idle_frame/{powers_of_ten(pending)} pending"
    rivals: dict[Peer, float | None] = {PYGLET: None, PANDA: None, ASYNCIO: None}
    cases = [_idle_case("ours", lambda: ClockTreeScheduler(depth=16), pending, 10_000)]
    cases += [_idle_case(p.name, p.make, pending, 10_000) for p in rivals if p.is_installed]
    if KIVY.is_installed:
        # It looks at everything in every frame: a few frames tell.
        cases.append(_idle_case(KIVY.name, KIVY.make, pending, 5))
    measured = measure(cases, effort.repeats(9))
    if PYGLET.is_installed:
        detail = f"pyglet {measured.median_ns('pyglet'):,.0f} ns a frame"
        yield Row(
            f"{prefix}, of pyglet's", measured.ratio("ours", "pyglet"), 1.2, detail=detail, unit="x"
        )
    yield calls_row(prefix, measured.median_ns("ours"), empty_call_ns(), 40, "one frame")
    yield from _rival_rows(prefix, rivals | {KIVY: None}, measured, "a frame")


def _hitch_case(
    name: str, make: Callable[[], Scheduler], intervals_ns: list[int], calls: int
) -> Case:
    """Time the frame after a stall of a second."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        scheduler.repeat(intervals_ns)()
        scheduler.frames([FRAME_NS] * 60)()
        try:
            yield scheduler.frames([10**9])
            if name.startswith("ours"):
                passed_ns = 60 * FRAME_NS + 10**9
                expected = sum(passed_ns // interval_ns for interval_ns in intervals_ns)
                assert scheduler.fired() == expected, "lost calls in a hitch"
        finally:
            scheduler.close()

    return Case(name, prepare, calls)


def hitch(effort: Effort) -> Iterator[Row]:
    """Recover from a stall of one second with 1 000 repeating timers."""
    intervals_ns = [100_000_000 + delay // 25 for delay in random_delays(1_000)]
    before_ns = 60 * FRAME_NS
    calls = sum((before_ns + 10**9) // ns - before_ns // ns for ns in intervals_ns)
    rivals: dict[Peer, float | None] = {
        PYGLET: 300,
        ASYNCIO: None,
        TWISTED: None,
        KIVY: None,
        PANDA: None,
    }
    cases = [
        _hitch_case("ours", _woken_late, intervals_ns, calls),
        _hitch_case("ours passing through", ClockTreeScheduler, intervals_ns, calls),
    ]
    cases += [_hitch_case(p.name, p.make, intervals_ns, calls) for p in rivals if p.is_installed]
    measured = measure(cases, effort.repeats(9))
    for peer, goal in rivals.items():
        name = f"hitch/1e3 to {peer.name}"
        if not peer.is_installed:
            yield absent_row(name, peer.name)
            continue
        frame_ms = measured.median_ns(peer.name) * calls / 1e6
        ours_ms = measured.median_ns("ours") * calls / 1e6
        detail = f"{frame_ms:,.2f} ms the frame, ours {ours_ms:,.2f}; it may leave out calls"
        yield ratio_row(name, measured.ratio(peer.name, "ours"), goal, detail)
    detail = f"one of {calls:,} calls, none lost"
    yield calls_row("hitch/1e3", measured.median_ns("ours"), empty_call_ns(), 14, detail)
    through_ns = measured.median_ns("ours passing through")
    yield calls_row("hitch/1e3 in virtual time", through_ns, empty_call_ns(), 14, detail)


def _woken_late() -> Scheduler:
    return ClockTreeScheduler(is_late=True)


def _dense_case(
    name: str,
    sink: Callable[[], Sink | None],
    make_tree: Callable[[Sink | None], ClockTree],
    frames: int,
) -> Case:
    """Let 1 000 repeating timers all be due in every frame."""
    timers = 1_000

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = ClockTreeScheduler(sink=sink(), make_tree=make_tree)
        scheduler.repeat([FRAME_NS] * timers)()
        scheduler.frames([FRAME_NS] * 2)()
        yield scheduler.frames([FRAME_NS] * frames)
        assert scheduler.fired() == (frames + 2) * timers

    return Case(name, prepare, frames * timers)


def _read_case(events: int) -> Case:
    """Give recorded events to a reader as tuples, a wake-up's worth at a time."""
    at_once = 1_000

    @contextmanager
    def prepare() -> Iterator[Work]:
        log = EventLog(2**40)
        for number in range(events):
            log.append((number, 1, number, 0, number))

        def work() -> None:
            for start in range(0, events, at_once):
                log.slice(start, start + at_once)

        yield work

    return Case("read", prepare, events)


def _append_case(events: int) -> Case:
    """Make and keep the same events with nothing around them."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        kept: list[tuple[int, int, int, int, int]] = []

        def work() -> None:
            append = kept.append
            for number in range(events):
                append((number, 1, number, 0, number))

        yield work

    return Case("append", prepare, events)


def record_overhead(effort: Effort) -> Iterator[Row]:
    """Compare recorded and unrecorded timers."""
    frames = 20 if effort.is_quick else 100
    tree_class = inspector.clocks.tree.ClockTree
    bare_class = without_recording(inspector.clocks.tree).ClockTree
    cases = [
        _dense_case("absent", lambda: None, bare_class, frames),
        _dense_case("off", lambda: None, tree_class, frames),
        _dense_case("on", lambda: EventLog(2**40), tree_class, frames),
        _append_case(frames * 1_000),
        _read_case(frames * 1_000),
    ]
    measured = measure(cases, effort.repeats(25))
    off_ns = measured.median_ns("off")
    recording_ns = measured.difference_ns("on", "off")
    append_ns = measured.median_ns("append")
    percent = 100 * (measured.ratio("off", "absent") - 1)
    yield Row(
        "record_overhead/off",
        percent,
        5,
        unit="%",
        detail=f"of a call, which takes {off_ns:,.0f} ns",
    )
    yield calls_row("record_overhead/on", recording_ns, empty_call_ns(), 3, "one event")
    yield Row(
        "record_overhead/on to off",
        measured.ratio("on", "off"),
        1.5,
        unit="x",
        detail=f"{measured.median_ns('on'):,.0f} ns a call",
    )
    yield Row(
        "record_overhead/on to bare append",
        recording_ns / append_ns,
        1.2,
        unit="x",
        detail=f"a bare append of a new event takes {append_ns:,.0f} ns",
    )
    detail = "one event, for the first who reads it; outside of frames"
    yield Row("record_overhead/reading", measured.median_ns("read"), unit="ns", detail=detail)


def without_recording(module: ModuleType) -> ModuleType:
    """Return the module compiled again with every ``if record is not None:`` taken out."""
    found = _RecordingRemoved()
    source = found.visit(ast.parse(inspect.getsource(module)))
    assert found.count, f"{module.__name__} does not record anything"
    stripped = ModuleType(f"{module.__name__}_without_recording")
    code = compile(ast.fix_missing_locations(source), f"<{stripped.__name__}>", "exec")
    exec(code, stripped.__dict__)  # noqa: S102 - the project's own source
    return stripped


class _RecordingRemoved(ast.NodeTransformer):
    """Takes out what runs only when there is a sink."""

    def __init__(self) -> None:
        self.count = 0

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if not _asks_for_record(node.test) or node.orelse:
            return node
        self.count += 1
        return ast.Pass()


def _asks_for_record(test: ast.expr) -> bool:
    match test:
        case ast.Compare(
            left=ast.Name(id="record") | ast.Attribute(attr="record"),
            ops=[ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            return True
    return False


BENCHMARKS = (steady_sparse, idle_frame, hitch, record_overhead)
