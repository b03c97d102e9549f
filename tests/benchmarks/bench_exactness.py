"""Nothing is lost and nothing drifts: goals 1 and 12."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING

from inspector.clocks import Clock, ClockTree, ManualTimeSource, Transport
from inspector.clocks.rate import D
from inspector.events.log import EventLog
from inspector.vocabulary import CLOCK_PAUSED, CLOCK_RATE, CLOCK_RESUMED, RawEvent
from tests.benchmarks.measuring import Effort, say
from tests.benchmarks.peers import PEERS
from tests.benchmarks.report import Row, absent_row
from tests.benchmarks.schedulers import FRAME_NS, ClockTreeScheduler, Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HOUR_NS = 3600 * 10**9
INTERVALS_NS = (50_000_000, 100_000_000, 250_000_000)


def jittered_frames(total_ns: int, seed: int = 1) -> list[int]:
    """Return frames of 10 to 23.5 ms, 0.2 % of them 120 ms, that fill ``total_ns``."""
    dice = random.Random(seed)
    frames = []
    left_ns = total_ns
    while left_ns > 0:
        is_hitch = dice.random() < 0.002
        frame_ns = 120_000_000 if is_hitch else dice.randrange(10_000_000, 23_500_000)
        frames.append(min(frame_ns, left_ns))
        left_ns -= frame_ns
    return frames


def _missing(make: Callable[[], Scheduler], interval_ns: int, frames: Sequence[int]) -> int:
    scheduler = make()
    try:
        scheduler.repeat([interval_ns])()
        scheduler.frames(frames)()
        return sum(frames) // interval_ns - scheduler.fired()
    finally:
        scheduler.close()


def _woken_late() -> Scheduler:
    return ClockTreeScheduler(is_late=True)


def exact_interval(effort: Effort) -> Iterator[Row]:
    """Count the calls of repeating timers in an hour of frames."""
    total_ns = HOUR_NS // 60 if effort.is_quick else HOUR_NS
    span = "a minute" if effort.is_quick else "an hour"
    regular = [FRAME_NS] * (total_ns // FRAME_NS)
    patterns = {
        "regular": [*regular, total_ns - sum(regular)],
        "jittered": jittered_frames(total_ns),
    }
    for pattern, frames in patterns.items():
        for interval_ns in INTERVALS_NS:
            case = f"exact_interval/{interval_ns / 1e9:g} s, {pattern} frames"
            say(case)
            missing = {
                "passing through": abs(_missing(ClockTreeScheduler, interval_ns, frames)),
                "woken late": abs(_missing(_woken_late, interval_ns, frames)),
            }
            detail = f"calls missing or too many of {total_ns // interval_ns:,} in {span}"
            for how, number in missing.items():
                yield Row(f"{case}, {how}", number, 0, detail=detail)
        for peer in PEERS:
            case = f"exact_interval/{pattern} frames, {peer.name}"
            say(case)
            if not peer.is_installed:
                yield absent_row(case, peer.name)
                continue
            lost = [
                100 * _missing(peer.make, interval_ns, frames) * interval_ns / total_ns
                for interval_ns in INTERVALS_NS
            ]
            each = ", ".join(
                f"{percent:.1f} % at {interval_ns / 1e9:g} s"
                for interval_ns, percent in zip(INTERVALS_NS, lost, strict=True)
            )
            yield Row(case, max(lost), detail=f"worst loss; {each}", unit="%")


class _Change:
    """One change of a clock, at a time after the last: what both runs do."""

    __slots__ = ("apply", "at_ns", "level")

    def __init__(self, at_ns: int, level: int, apply: Callable[[Clock], object]) -> None:
        self.at_ns = at_ns
        self.level = level
        self.apply = apply


class _Recorded:
    """A chain of two clocks with repeating timers, everything recorded."""

    def __init__(self) -> None:
        self.log = EventLog(2**40)
        self.source = ManualTimeSource()
        self.tree = ClockTree(self.log)
        Transport(self.tree, self.source).run()
        outer = self.tree.root.child("outer")
        self.clocks = (outer, outer.child("inner"))
        for clock, interval_ns in zip(self.clocks, (700_000_000, 1_100_000_000), strict=True):
            clock.set_interval_ns(interval_ns, _nothing, name=clock.name)

    def go(self, change: _Change) -> None:
        """Let time pass until the change, then make it."""
        self.source.advance_ns(change.at_ns - self.source.now_ns())
        change.apply(self.clocks[change.level])

    def packed(self) -> bytes:
        """Return every event, as fixed-size integers."""
        batch = self.log.read()
        return b"".join(struct.pack("<5q", *event) for event in batch.events)


def _nothing() -> None: ...


def _random_changes(count: int, seed: int = 1) -> Iterator[_Change]:
    dice = random.Random(seed)
    at_ns = 0
    rates = [0, D // 4, D // 3, D // 2, D, 3 * D // 2, 2 * D, D // 7, D // 60]
    for _ in range(count):
        at_ns += dice.randrange(1, 33_000_000)
        level = dice.randrange(2)
        if dice.random() < 0.5:
            yield _Change(at_ns, level, lambda clock: clock.resume() or clock.pause())
        else:
            # Any numerator is an exact rate, tidy or not.
            numerator = dice.choice([*rates, dice.randrange(1, 3 * D)])
            yield _Change(at_ns, level, _rate_setter(numerator))


def _rate_setter(numerator: int) -> Callable[[Clock], object]:
    rate = f"{numerator}/{D}"
    return lambda clock: clock.set_rate(rate)


def _changes_of(log: EventLog, clock_ids: Sequence[int]) -> Iterator[_Change]:
    """Read the changes back out of a recording."""
    levels = {clock_id: level for level, clock_id in enumerate(clock_ids)}
    for event in log.read().events:
        apply = _applying(event)
        if apply is not None and event[2] in levels:
            yield _Change(event[0], levels[event[2]], apply)


def _applying(event: RawEvent) -> Callable[[Clock], object] | None:
    match event[1]:
        case int(kind) if kind == CLOCK_PAUSED:
            return Clock.pause
        case int(kind) if kind == CLOCK_RESUMED:
            return Clock.resume
        case int(kind) if kind == CLOCK_RATE:
            return _rate_setter(event[3])
    return None


def rate_change_exact(effort: Effort) -> Iterator[Row]:
    """Compare local time with sums of exact products, and a replay with its recording.

    The sum of (nanoseconds passed times rate) since the start is kept in whole
    numbers, with nothing rounded; the clock has to agree after every change.
    """
    count = 2_400 if effort.is_quick else 240_000
    run = _Recorded()
    exact = [0, 0]
    rates = [D, D]
    present = [0, 0]
    last_ns = worst_ns = 0
    for change in _random_changes(count):
        run.go(change)
        above_passed = change.at_ns - last_ns
        last_ns = change.at_ns
        for level, clock in enumerate(run.clocks):
            exact[level] += above_passed * rates[level]
            local_ns = exact[level] // D
            above_passed = local_ns - present[level]
            present[level] = local_ns
            worst_ns = max(worst_ns, abs(clock.time_ns - local_ns))
            rates[level] = 0 if clock.is_paused else int(clock.rate * D)
    yield Row(
        "rate_change_exact/error",
        worst_ns,
        0,
        unit="ns",
        detail=f"worst of {count:,} random pauses and rates on two levels, "
        f"{last_ns / HOUR_NS:.2f} h",
    )
    say("rate_change_exact/replay")
    again = _Recorded()
    for change in _changes_of(run.log, [clock.id for clock in run.clocks]):
        again.go(change)
    again.source.advance_ns(run.source.now_ns() - again.source.now_ns())
    first, second = run.packed(), again.packed()
    differing = sum(a != b for a, b in zip(first, second, strict=False))
    differing += abs(len(first) - len(second))
    yield Row(
        "rate_change_exact/replay",
        differing,
        0,
        detail=f"bytes that differ of {len(first):,} in the recording of the replay",
    )


BENCHMARKS = (exact_interval, rate_change_exact)
