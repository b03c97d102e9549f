"""How cases are measured: thread CPU time, interleaved, compared in pairs.

Wall time on a shared machine tells more about the neighbours than about the code.
Every case is prepared, the garbage collected, then its work is timed by the CPU
time of this thread. All cases take turns in random order, and two cases are
compared by the median of the ratios of runs that were close to each other.
"""

from __future__ import annotations

import gc
import random
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from time import thread_time_ns
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Something to be timed; what it returns is ignored.
Work: TypeAlias = "Callable[[], object]"

#: Called instead of :func:`time.thread_time_ns`.
Stopwatch: TypeAlias = "Callable[[], int]"


_EMPTY_CALLS = 100_000
_EMPTY_ROUNDS = 15


@dataclass(frozen=True, slots=True)
class Effort:
    """How thorough a run of the benchmarks is.

    Attributes:
        is_quick: Small workloads and few repeats: whether everything works, not how fast.
    """

    is_quick: bool = False

    def sizes(self, *sizes: int) -> list[int]:
        """Return the workload sizes to measure: those up to 10 000 when quick."""
        return [size for size in sizes if not self.is_quick or size <= 10_000]

    def repeats(self, thorough: int) -> int:
        """Return how often to measure: at most three times when quick."""
        return min(thorough, 3) if self.is_quick else thorough


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to be measured.

    Attributes:
        name: Its name in :class:`Measurements`.
        prepare: Opens what the work needs and gives the work; closed after timing.
        operations: How many operations one run of the work is.
    """

    name: str
    prepare: Callable[[], AbstractContextManager[Work]]
    operations: int = 1


@dataclass
class Measurements:
    """CPU time per operation in nanoseconds: by case, one number for each repeat."""

    per_operation_ns: dict[str, list[float]] = field(default_factory=dict)

    def median_ns(self, name: str) -> float:
        """Return the median time of one operation."""
        return median(self.per_operation_ns[name])

    def ratio(self, name: str, to: str) -> float:
        """Return how many times the time of ``to`` the case ``name`` takes.

        The median of the ratios within each repeat, not the ratio of the medians.
        """
        numerators, denominators = self.per_operation_ns[name], self.per_operation_ns[to]
        return median(a / b for a, b in zip(numerators, denominators, strict=True))

    def difference_ns(self, name: str, to: str) -> float:
        """Return how many nanoseconds more ``name`` takes than ``to``, by pairs as well."""
        mine, theirs = self.per_operation_ns[name], self.per_operation_ns[to]
        return median(a - b for a, b in zip(mine, theirs, strict=True))


def measure(
    cases: Sequence[Case],
    repeats: int,
    *,
    seed: int = 1,
    stopwatch: Stopwatch = thread_time_ns,
) -> Measurements:
    """Measure all cases ``repeats`` times, in a new random order each time.

    Args:
        cases: What to measure; names must differ.
        repeats: How many pairs there will be to compare.
        seed: Of the random order.
        stopwatch: Nanoseconds on an arbitrary scale; replaced in tests.
    """
    order = random.Random(seed)
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    assert len(times) == len(cases), "two cases have the same name"
    for number in range(repeats):
        for case in order.sample(cases, len(cases)):
            say(f"{case.name}, {number + 1} of {repeats}")
            times[case.name].append(_took_ns(case, stopwatch) / case.operations)
    return Measurements(times)


def _took_ns(case: Case, stopwatch: Stopwatch) -> int:
    # A function, so that nothing of one case is alive when the next is prepared.
    with case.prepare() as work:
        gc.collect()
        began_ns = stopwatch()
        work()
        return stopwatch() - began_ns


@cache
def empty_call_ns() -> float:
    """Return what a call of a Python function that does nothing takes on this machine.

    What costs are held against that no peer has: the same number of such calls is the same
    goal on a machine that is three times slower.
    """

    def nothing() -> None:
        pass

    def work() -> None:
        for _ in range(_EMPTY_CALLS):
            nothing()

    took_ns = []
    for _ in range(_EMPTY_ROUNDS):
        began_ns = thread_time_ns()
        work()
        took_ns.append((thread_time_ns() - began_ns) / _EMPTY_CALLS)
    return median(took_ns)


def say(text: str) -> None:
    """Show what is being done: in place on a terminal, elsewhere on a line of its own."""
    is_terminal = sys.stderr.isatty()
    sys.stderr.write(f"\r\033[K  {text}" if is_terminal else f"{text}\n")
    sys.stderr.flush()


def powers_of_ten(size: int) -> str:
    """Write a workload size the way the goals do: ``1e5``."""
    digits = str(size)
    is_power = digits[0] == "1" and not digits[1:].strip("0")
    return f"1e{len(digits) - 1}" if is_power else digits
