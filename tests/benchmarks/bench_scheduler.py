"""What a frame of our frame scheduler costs: goals 5, 6 and 8, for targets and callbacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.engines.cocos.dialects import CREATOR_2_4
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.frames.scheduler.scheduler import Scheduler as FrameScheduler
from tests.benchmarks.measuring import (
    Case,
    Effort,
    Measurements,
    empty_call_ns,
    measure,
    powers_of_ten,
)
from tests.benchmarks.peers import (
    ASYNCIO,
    KIVY,
    PANDA,
    PYGLET,
    KivyScheduler,
    Peer,
    PygletScheduler,
)
from tests.benchmarks.report import (
    Row,
    absent_row,
    calls_row,
    ratio_row,
)
from tests.benchmarks.schedulers import FRAME_NS, Scheduler, counter_of_one_argument, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from inspector.frames.scheduling import Callback
    from tests.benchmarks.measuring import Work

#: How many frames pass until everybody was due once, where it is sparse.
CYCLE = 100


class _Target:
    """Somebody with an identity."""


class OurScheduler:
    """Our scheduler; every call belongs to another target."""

    def __init__(self) -> None:
        self._scheduler = FrameScheduler()
        self.fire, self.fired = counter_of_one_argument()

    def once(self, delays_ns: Sequence[int]) -> Work:
        schedule_once, fire = self._scheduler.schedule_once, self.fire
        calls = [(delay, _Target()) for delay in seconds(delays_ns)]

        def work() -> None:
            for delay, target in calls:
                schedule_once(fire, delay, target=target)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        schedule, fire = self._scheduler.schedule, self.fire
        calls = [(interval, _Target()) for interval in seconds(intervals_ns)]

        def work() -> None:
            for interval, target in calls:
                schedule(fire, interval, target=target)

        return work

    def update_callbacks(self, callbacks: Iterable[Callback]) -> None:
        """Schedule update callbacks."""
        for callback in callbacks:
            self._scheduler.schedule_update(_Target(), callback=callback)

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        update, deltas = self._scheduler.update, seconds(deltas_ns)

        def work() -> None:
            for delta in deltas:
                update(delta)

        return work

    def close(self) -> None:
        """Hold nothing."""


class Creator24Scheduler:
    """Creator 2.4 as it is; every timer belongs to another target."""

    def __init__(self) -> None:
        self._scheduler = DialectScheduler(CREATOR_2_4)
        self.fire, self.fired = counter_of_one_argument()

    def once(self, delays_ns: Sequence[int]) -> Work:
        return self._schedule(delays_ns, 0)

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        return self._schedule(intervals_ns, None)

    def _schedule(self, intervals_ns: Sequence[int], repeat: int | None) -> Work:
        schedule, fire = self._scheduler.schedule, self.fire
        calls = [(interval, _Target()) for interval in seconds(intervals_ns)]

        def work() -> None:
            for interval, target in calls:
                schedule(fire, interval, target=target, repeat=repeat)

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        update, deltas = self._scheduler.update, seconds(deltas_ns)

        def work() -> None:
            for delta in deltas:
                update(delta)

        return work

    def close(self) -> None:
        """Hold nothing."""


CREATOR = Peer("Creator 2.4 dialect", "inspector", Creator24Scheduler)


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


def _cases(
    goals: Mapping[Peer, float | None], case: Callable[[str, Callable[[], Scheduler]], Case]
) -> list[Case]:
    installed = [case(peer.name, peer.make) for peer in goals if peer.is_installed]
    return [case("ours", OurScheduler), *installed]


def _sparse_case(name: str, make: Callable[[], Scheduler], pending: int, frames: int) -> Case:
    """Let a hundredth of all repeating timers be due in each frame."""
    # A little less than 100 frames, so that no rounding of seconds makes it 101.
    intervals_ns = [CYCLE * FRAME_NS - 1_000] * (pending // CYCLE)

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        for _ in range(CYCLE):
            scheduler.repeat(intervals_ns)()
            scheduler.frames([FRAME_NS])()
        # Everybody has settled after once round.
        scheduler.frames([FRAME_NS] * (CYCLE + 1))()
        before = scheduler.fired()
        try:
            yield scheduler.frames([FRAME_NS] * frames)
            share = (scheduler.fired() - before) / (frames * len(intervals_ns))
            assert 0.97 < share <= 1, f"{name} called {share:.2%} of what was due"
        finally:
            scheduler.close()

    return Case(name, prepare, frames)


def scheduler_sparse(effort: Effort) -> Iterator[Row]:
    """Run 10 000 repeating timers of as many targets, 100 of them due in each frame."""
    goals: dict[Peer, float | None] = {PYGLET: 3.5, PANDA: 2.0, KIVY: 40.0, CREATOR: 20.0}
    pending, frames = 10_000, CYCLE if effort.is_quick else 3 * CYCLE
    cases = _cases(goals, lambda name, make: _sparse_case(name, make, pending, frames))
    measured = measure(cases, effort.repeats(9))
    prefix = f"scheduler_sparse/{powers_of_ten(pending)}"
    yield from _rival_rows(prefix, goals, measured, "a frame")
    per_call_ns = measured.median_ns("ours") / (pending // CYCLE)
    yield calls_row(prefix, per_call_ns, empty_call_ns(), 12, "one call")


def scheduler_sparse_many(effort: Effort) -> Iterator[Row]:
    """Run 100 000 repeating timers of as many targets, 1 000 of them due in each frame."""
    goals: dict[Peer, float | None] = {PYGLET: 5.0, ASYNCIO: 8.0, KIVY: 25.0}
    if effort.is_quick:
        return
    pending = 100_000
    cases = _cases(goals, lambda name, make: _sparse_case(name, make, pending, CYCLE))
    measured = measure(cases, effort.repeats(5))
    prefix = f"scheduler_sparse/{powers_of_ten(pending)}"
    yield from _rival_rows(prefix, goals, measured, "a frame")
    per_call_ns = measured.median_ns("ours") / (pending // CYCLE)
    yield Row(prefix, per_call_ns, unit="ns", detail="one call")


def _dense_case(name: str, make: Callable[[], Scheduler], timers: int, frames: int) -> Case:
    """Let all repeating timers be due in every frame."""
    # Whatever delay it is given, Panda3D needs a frame to wake a task before it calls it.
    expected = 0.5 if name == PANDA.name else 1.0

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make()
        scheduler.repeat([FRAME_NS - 1_000] * timers)()
        scheduler.frames([FRAME_NS] * 3)()
        before = scheduler.fired()
        try:
            yield scheduler.frames([FRAME_NS] * frames)
            share = (scheduler.fired() - before) / (frames * timers) / expected
            assert 0.97 < share <= 1.01, f"{name} called {share:.2%} of what was due"
        finally:
            scheduler.close()

    return Case(name, prepare, round(frames * timers * expected))


def _raw_case(name: str, calls: int, frames: int) -> Case:
    """Call the same in a bare loop."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        fire, fired = counter_of_one_argument()
        callbacks = [fire] * calls

        def work() -> None:
            for _ in range(frames):
                for callback in callbacks:
                    callback(0.016)

        yield work
        assert fired() == frames * calls

    return Case(name, prepare, frames * calls)


def steady_dense(effort: Effort) -> Iterator[Row]:
    """Run 1 000 repeating timers of as many targets, all due in every frame."""
    goals: dict[Peer, float | None] = {PYGLET: 4.0, KIVY: 1.0, PANDA: 1.0, CREATOR: None}
    timers, frames = 1_000, 20 if effort.is_quick else 100
    cases = _cases(goals, lambda name, make: _dense_case(name, make, timers, frames))
    cases.append(_raw_case("raw", timers, frames))
    measured = measure(cases, effort.repeats(15))
    prefix = f"steady_dense/{powers_of_ten(timers)}"
    yield from _rival_rows(prefix, goals, measured, "a call")
    raw_ns = measured.median_ns("raw")
    detail = f"a raw call takes {raw_ns:,.0f} ns"
    yield Row(f"{prefix} to a raw call", measured.ratio("ours", "raw"), 7, unit="x", detail=detail)


def _updates_case(name: str, make: Callable[[int], Scheduler], count: int, frames: int) -> Case:
    """Let update callbacks be called in every frame; one of them counts the frames."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        scheduler = make(count)
        scheduler.frames([FRAME_NS] * 3)()
        before = scheduler.fired()
        try:
            yield scheduler.frames([FRAME_NS] * frames)
            assert scheduler.fired() - before == frames, name
        finally:
            scheduler.close()

    return Case(name, prepare, frames * count)


def _do_nothing(_: float) -> None:
    """Be called: the floor is what a call costs."""


def _our_updates(count: int) -> Scheduler:
    scheduler = OurScheduler()
    scheduler.update_callbacks([*[_do_nothing] * (count - 1), scheduler.fire])
    return scheduler


def _pyglet_updates(count: int) -> Scheduler:
    scheduler = PygletScheduler()
    for callback in (*[_do_nothing] * (count - 1), scheduler._fire):
        scheduler._clock.schedule(callback)
    return scheduler


def _kivy_updates(count: int) -> Scheduler:
    scheduler = KivyScheduler()
    # With an interval of 0, Kivy calls in every frame.
    for callback in (*[_do_nothing] * (count - 1), scheduler._fire):
        scheduler._clock.schedule_interval(callback, 0)
    return scheduler


def _bare_loop_case(name: str, calls: int, frames: int) -> Case:
    """Call the same in a bare loop."""

    @contextmanager
    def prepare() -> Iterator[Work]:
        callbacks = [_do_nothing] * calls

        def work() -> None:
            for _ in range(frames):
                for callback in callbacks:
                    callback(0.016)

        yield work

    return Case(name, prepare, frames * calls)


def update_callbacks(effort: Effort) -> Iterator[Row]:
    """Call 10 000 update callbacks in every frame."""
    count, frames = 10_000, 5 if effort.is_quick else 20
    goals: dict[Peer, float | None] = {PYGLET: 4.0, KIVY: 6.0}
    makers = {PYGLET: _pyglet_updates, KIVY: _kivy_updates}
    cases = [_updates_case("ours", _our_updates, count, frames)]
    cases += [
        _updates_case(peer.name, makers[peer], count, frames) for peer in goals if peer.is_installed
    ]
    cases.append(_bare_loop_case("raw", count, frames))
    measured = measure(cases, effort.repeats(15))
    prefix = f"update_callbacks/{powers_of_ten(count)}"
    yield from _rival_rows(prefix, goals, measured, "a call")
    detail = f"{measured.median_ns('raw'):,.1f} ns a call, ours {measured.median_ns('ours'):,.1f}"
    ratio = measured.ratio("ours", "raw")
    yield Row(f"{prefix} to a bare loop", ratio, 1.1, unit="x", detail=detail)


BENCHMARKS = (scheduler_sparse, scheduler_sparse_many, steady_dense, update_callbacks)
