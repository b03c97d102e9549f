"""What the tree costs: pausing a branch and reading its time, goals 2 and 10."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import repeat
from typing import TYPE_CHECKING

from tests.benchmarks.bench_queue import random_delays
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
    ratio_row,
)
from tests.benchmarks.schedulers import FRAME_NS, ClockTreeScheduler, RedistributingScheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.benchmarks.measuring import Work

#: Times faster than the redistributing algorithm, by number of timers.
PAUSE_GOALS = {100: None, 1_000: None, 10_000: None, 100_000: 1_000.0, 1_000_000: 10_000.0}

_WARM_ROUNDS = 1_000


def pause_branch(effort: Effort) -> Iterator[Row]:
    """Pause a branch, let a frame pass, resume it, let another pass."""
    sizes = effort.sizes(*PAUSE_GOALS)
    ours, theirs, cases = {}, {}, []
    for size in sizes:
        say(f"pause_branch, making {size:,} timers")
        delays_ns = random_delays(size, 1_000 * 10**9)
        ours[size] = ClockTreeScheduler()
        theirs[size] = RedistributingScheduler()
        for name, scheduler in (("ours", ours[size]), ("redistributing", theirs[size])):
            scheduler.once(delays_ns)()
            cases.append(Case(f"{name} {size}", _ready(scheduler.pause_and_resume())))
            # What the first frame sorts is not what a pause costs.
            scheduler.frames([FRAME_NS])()
    measured = measure(cases, effort.repeats(7))
    for size in sizes:
        name = f"redistributing {size}"
        detail = (
            f"{measured.median_ns(name) / 1e3:,.0f} us, ours "
            f"{measured.median_ns(f'ours {size}') / 1e3:,.1f} cold"
        )
        row_name = f"pause_branch/{powers_of_ten(size)} to redistributing"
        yield ratio_row(row_name, measured.ratio(name, f"ours {size}"), PAUSE_GOALS[size], detail)
    least, most = sizes[0], sizes[-1]
    yield Row(
        f"pause_branch/{powers_of_ten(most)} to {powers_of_ten(least)}",
        measured.ratio(f"ours {most}", f"ours {least}"),
        20,
        unit="x",
        detail="both cold",
    )
    round_trip = ours[most].pause_and_resume()
    warm = Case(
        "warm", _ready(lambda: [round_trip() for _ in repeat(None, _WARM_ROUNDS)]), _WARM_ROUNDS
    )
    yield calls_row(
        f"pause_branch/{powers_of_ten(most)} warm",
        measure([warm], effort.repeats(7)).median_ns("warm"),
        empty_call_ns(),
        400,
        f"one of {_WARM_ROUNDS:,} in a row",
    )


def _ready(work: Work) -> Callable[[], AbstractContextManager[Work]]:
    return lambda: nullcontext(work)


class _Plain:
    """What reading an attribute through a property costs at least."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value = 1

    @property
    def value(self) -> int:
        return self._value


def read_now(effort: Effort) -> Iterator[Row]:
    """Read the time of a clock 64 levels deep, again and again within one frame."""
    # So many that getting into a branch 64 levels deep does not count.
    depth, reads = 64, 20_000
    deep = ClockTreeScheduler(depth=depth, is_late=True)
    shallow = ClockTreeScheduler(depth=1, is_late=True)
    recursive = RedistributingScheduler(depth=depth)
    plain = _Plain()

    def read(scheduler: ClockTreeScheduler) -> Work:
        clock = scheduler.clock

        def work() -> None:
            for _ in repeat(None, reads):
                clock.time_ns  # noqa: B018 - reading it is what is measured

        return work

    def recurse() -> None:
        time_ns = recursive.clock.time_ns
        for _ in repeat(None, reads):
            time_ns()

    def read_plain() -> None:
        for _ in repeat(None, reads):
            plain.value  # noqa: B018

    works = {
        "in a frame": _in_a_frame(deep, read(deep)),
        "in a frame, depth 1": _in_a_frame(shallow, read(shallow)),
        "in a callback": _in_a_callback(deep, read(deep)),
        "between frames": read(deep),
        "recursive": recurse,
        "property": read_plain,
    }
    cases = [Case(name, _ready(work), reads) for name, work in works.items()]
    measured = measure(cases, effort.repeats(15))
    recursive_ns = measured.median_ns("recursive")
    for where in ("in a frame", "in a callback"):
        detail = f"{measured.median_ns(where):,.0f} ns"
        yield ratio_row(
            f"read_now/{where} to recursion",
            measured.ratio("recursive", where),
            20,
            f"recursion takes {recursive_ns:,.0f} ns, ours {detail}",
        )
        yield Row(
            f"read_now/{where} of a property read",
            measured.ratio(where, "property"),
            2.5,
            unit="x",
            detail=f"{detail}, the property {measured.median_ns('property'):,.0f} ns",
        )
    for where in ("in a frame, depth 1", "between frames"):
        yield Row(f"read_now/{where}", measured.median_ns(where), unit="ns", detail="one read")


def _in_a_frame(scheduler: ClockTreeScheduler, work: Work) -> Work:
    """Do the work inside a frame of the transport."""

    def on_frame(_interval_ns: int, _cut_ns: int) -> None:
        work()

    def run() -> None:
        scheduler.transport.on_frame = on_frame
        scheduler.transport.frame_period_ns = FRAME_NS
        scheduler.source.advance_ns(FRAME_NS)
        scheduler.transport.frame_period_ns = None

    return run


def _in_a_callback(scheduler: ClockTreeScheduler, work: Work) -> Work:
    """Do the work when a timer of the clock is called."""

    def run() -> None:
        scheduler.clock.set_timeout_ns(FRAME_NS, work)
        scheduler.source.advance_ns(FRAME_NS)

    return run


BENCHMARKS = (pause_branch, read_now)
