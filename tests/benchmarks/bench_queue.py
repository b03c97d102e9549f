"""What a pending timer costs: goals 3, 4, 9 and 16."""

from __future__ import annotations

import gc
import random
import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.clocks.timer import Timer
from inspector.events.log import EventLog
from tests.benchmarks.measuring import (
    Case,
    Effort,
    Measurements,
    empty_call_ns,
    measure,
    powers_of_ten,
    say,
)
from tests.benchmarks.peers import ASYNCIO, KIVY, PANDA, PYGLET, SCHED, SIMPY, TWISTED, Peer
from tests.benchmarks.report import (
    Row,
    absent_row,
    calls_row,
    ratio_row,
)
from tests.benchmarks.schedulers import (
    FRAME_NS,
    CancellingScheduler,
    ClockTreeScheduler,
    RedistributingScheduler,
    Scheduler,
    counter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.benchmarks.measuring import Work

SPAN_NS = 10 * 10**9
FRAMES = 600

#: Some schedulers run what is due one or two frames later.
_SETTLING_FRAMES = 3

#: Times faster than the best of sched, pyglet and simpy, and than asyncio, by size.
DRAIN_GOALS = {10_000: (1.7, 2.2), 100_000: (2.3, 3.3), 1_000_000: (2.7, 4.0)}


def random_delays(count: int, least_ns: int = 0, seed: int = 1) -> list[int]:
    """Return delays spread over ten seconds."""
    dice = random.Random(seed)
    return [least_ns + dice.randrange(SPAN_NS) for _ in range(count)]


def _drain_case(name: str, make: Callable[[], Scheduler], delays_ns: Sequence[int]) -> Case:
    """Schedule one-shots with random due times, then run them all in 600 frames."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        schedule = scheduler.once(delays_ns)
        run = scheduler.frames([FRAME_NS] * FRAMES)

        def work() -> None:
            schedule()
            run()

        try:
            yield work
            scheduler.frames([FRAME_NS] * _SETTLING_FRAMES)()
            assert scheduler.fired() == len(delays_ns), f"{name} lost timers"
        finally:
            scheduler.close()

    return Case(name, prepare, len(delays_ns))


def _floor_case(delays_ns: Sequence[int]) -> Case:
    """Make a timer for each delay and call it, in no order: the least it could cost."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        fire, fired = counter()
        clock = ClockTreeScheduler().clock
        no_arguments = ()

        def work() -> None:
            timers = []
            for number, delay_ns in enumerate(delays_ns):
                timer = Timer()
                timer.clock = clock
                timer.due_ns = delay_ns
                timer.order = number
                timer.callback = fire
                timer.args = no_arguments
                timers.append(timer)
            for timer in timers:
                callback = timer.callback
                if callback is not None:
                    callback()

        yield work
        assert fired() == len(delays_ns)

    return Case("floor", prepare, len(delays_ns))


def _drain_repeats(effort: Effort, size: int) -> int:
    return effort.repeats({10_000: 15, 100_000: 7}.get(size, 3))


def oneshot_drain(effort: Effort) -> Iterator[Row]:
    """Schedule and run N one-shots on a child of the root."""
    for size in effort.sizes(*DRAIN_GOALS):
        delays_ns = random_delays(size)
        rivals = [SCHED, PYGLET, SIMPY, ASYNCIO]
        if size == 10_000:
            rivals += [TWISTED, PANDA]
            if not effort.is_quick:
                rivals.append(KIVY)
        cases = [
            _drain_case("ours", ClockTreeScheduler, delays_ns),
            _drain_case("redistributing", RedistributingScheduler, delays_ns),
            _drain_case("recorded", _recorded, delays_ns),
            _floor_case(delays_ns),
        ]
        cases += [_drain_case(peer.name, peer.make, delays_ns) for peer in _installed(rivals)]
        yield from _drain_rows(size, rivals, measure(cases, _drain_repeats(effort, size)))


def _recorded() -> Scheduler:
    return ClockTreeScheduler(sink=EventLog(2**40))


def _installed(peers: Sequence[Peer]) -> list[Peer]:
    return [peer for peer in peers if peer.is_installed]


def _drain_rows(size: int, rivals: Sequence[Peer], measured: Measurements) -> Iterator[Row]:
    prefix = f"oneshot_drain/{powers_of_ten(size)}"
    best_goal, asyncio_goal = DRAIN_GOALS[size]
    ours_ns = measured.median_ns("ours")

    def per_timer(name: str) -> str:
        return f"{measured.median_ns(name):,.0f} ns a timer, ours {ours_ns:,.0f}"

    ordered = _installed([SCHED, PYGLET, SIMPY])
    ratios = {peer.name: measured.ratio(peer.name, "ours") for peer in ordered}
    best = min(ratios, key=lambda name: ratios[name])
    yield ratio_row(
        f"{prefix} to the best in Python", ratios[best], best_goal, f"{best}: {per_timer(best)}"
    )
    for peer in rivals:
        if not peer.is_installed:
            yield absent_row(f"{prefix} to {peer.name}", peer.name)
            continue
        goal = asyncio_goal if peer is ASYNCIO else None
        ratio = measured.ratio(peer.name, "ours")
        yield ratio_row(f"{prefix} to {peer.name}", ratio, goal, per_timer(peer.name))
    name = "redistributing"
    yield ratio_row(f"{prefix} to {name}", measured.ratio(name, "ours"), None, per_timer(name))
    floor_ns = measured.median_ns("floor")
    yield Row(
        f"{prefix} over the floor",
        measured.ratio("ours", "floor"),
        4,
        unit="x",
        detail=f"making and calling alone: {floor_ns:,.0f} ns",
    )
    yield Row(
        f"{prefix} recorded",
        measured.ratio("recorded", "ours"),
        unit="x",
        detail=f"four events and a call site each: {per_timer('recorded')}",
    )


def depth_tax(effort: Effort) -> Iterator[Row]:
    """Do the same three clocks below the root."""
    for size in effort.sizes(*DRAIN_GOALS):
        delays_ns = random_delays(size)
        cases = [
            _drain_case("one", ClockTreeScheduler, delays_ns),
            _drain_case("three", lambda: ClockTreeScheduler(depth=3), delays_ns),
        ]
        measured = measure(cases, 2 * _drain_repeats(effort, size))
        yield Row(
            f"depth_tax/{powers_of_ten(size)}",
            measured.ratio("three", "one"),
            1.15,
            unit="x",
            detail=f"{measured.median_ns('three'):,.0f} ns a timer at depth 3, "
            f"{measured.median_ns('one'):,.0f} at depth 1",
        )


_PAIRS_PER_FRAME = 100


def _churn_case(
    name: str,
    make: Callable[[], Scheduler],
    pending: int,
    pairs: int,
    look: Callable[[Scheduler], None] = lambda _: None,
) -> Case:
    """Schedule and cancel, a hundred pairs a frame, while others wait."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        assert isinstance(scheduler, CancellingScheduler)
        scheduler.once(random_delays(pending, 100 * 10**9))()
        scheduler.frames([FRAME_NS])()
        delays_ns = random_delays(pairs, 100 * 10**9, seed=2)
        steps = [
            (
                scheduler.churn(delays_ns[start : start + _PAIRS_PER_FRAME]),
                scheduler.frames([FRAME_NS // 100]),
            )
            for start in range(0, pairs, _PAIRS_PER_FRAME)
        ]

        def work() -> None:
            for churn, frame in steps:
                churn()
                frame()
                look(scheduler)

        try:
            yield work
            assert scheduler.fired() == 0
        finally:
            scheduler.close()

    return Case(name, prepare, pairs)


def cancel_churn(effort: Effort) -> Iterator[Row]:
    """Schedule and cancel pairs with many pending."""
    pending = 10_000 if effort.is_quick else 100_000
    pairs = pending + pending // 2
    prefix = f"cancel_churn/{powers_of_ten(pending)} pending"
    goals = {ASYNCIO: 3.0, TWISTED: 1.5}
    cases = [_churn_case("ours", ClockTreeScheduler, pending, pairs)]
    cases += [_churn_case(p.name, p.make, pending, pairs) for p in _installed(list(goals))]
    measured = measure(cases, effort.repeats(9))
    ours_ns = measured.median_ns("ours")
    for peer, goal in goals.items():
        name = f"{prefix} to {peer.name}"
        if peer.is_installed:
            detail = f"{measured.median_ns(peer.name):,.0f} ns a pair, ours {ours_ns:,.0f}"
            yield ratio_row(name, measured.ratio(peer.name, "ours"), goal, detail)
        else:
            yield absent_row(name, peer.name)
    yield calls_row(prefix, ours_ns, empty_call_ns(), 32, "one pair")
    most = 0.0

    def look(scheduler: Scheduler) -> None:
        nonlocal most
        assert isinstance(scheduler, ClockTreeScheduler)
        most = max(most, scheduler.clock.queue.stored() / pending)

    with _churn_case("ours", ClockTreeScheduler, pending, pairs, look).prepare() as work:
        work()
    yield Row(f"{prefix}, held to live", most, 2, unit="x", detail="most entries in the queue")
    for peer in (KIVY, PYGLET, SCHED, PANDA):
        name = f"{prefix} to {peer.name}"
        if not peer.is_installed:
            yield absent_row(name, peer.name)
            continue
        # They look through everything for each: a few pairs tell.
        few = [
            _churn_case("ours", ClockTreeScheduler, pending, _PAIRS_PER_FRAME),
            _churn_case(peer.name, peer.make, pending, _PAIRS_PER_FRAME),
        ]
        found = measure(few, 1)
        detail = f"{found.median_ns(peer.name):,.0f} ns a pair"
        yield ratio_row(name, found.ratio(peer.name, "ours"), None, detail)


def _bytes_each(prepare: Callable[[], tuple[Work, Callable[[], object]]], count: int) -> float:
    """Return what stays allocated for each of ``count`` timers."""
    work, close = prepare()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        work()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        close()
    return (after - before) / count


def memory(effort: Effort) -> Iterator[Row]:
    """Ask what one pending one-shot takes."""
    count = 10_000 if effort.is_quick else 100_000
    delays_ns = random_delays(count, 10**9)

    def plain(make: Callable[[], Scheduler]) -> float:
        def prepare() -> tuple[Work, Callable[[], object]]:
            scheduler = make()
            return scheduler.once(delays_ns), scheduler.close

        return _bytes_each(prepare, count)

    say("memory")
    ours = plain(ClockTreeScheduler)
    rivals = (ASYNCIO, PYGLET, KIVY, SCHED, SIMPY, TWISTED)
    taken = {peer.name: plain(peer.make) for peer in rivals if peer.is_installed}
    others = ", ".join(f"{name} {size:,.0f}" for name, size in taken.items())
    yield Row(
        "memory/to asyncio",
        ours / taken["asyncio"],
        1,
        unit="x",
        detail=f"{ours:,.0f} B a timer, asyncio {taken['asyncio']:,.0f}",
    )
    yield Row("memory/one-shot", ours, unit="B", detail=others)
    for peer in rivals:
        if not peer.is_installed:
            yield absent_row("memory", peer.name)
    named = _bytes_each(lambda: _with_argument_and_name(delays_ns, "name"), count)
    yield Row(
        "memory/with argument and name to asyncio",
        named / taken["asyncio"],
        1,
        unit="x",
        detail=f"{named:,.0f} B, one argument",
    )


def _with_argument_and_name(
    delays_ns: Sequence[int], name: str
) -> tuple[Work, Callable[[], object]]:
    scheduler = ClockTreeScheduler()
    set_timeout_ns = scheduler.clock.set_timeout_ns

    def work() -> None:
        for delay_ns in delays_ns:
            set_timeout_ns(delay_ns, _take, delays_ns, name=name)

    return work, scheduler.close


def _take(_: object) -> None: ...


BENCHMARKS = (oneshot_drain, depth_tax, cancel_churn, memory)
