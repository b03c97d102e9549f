"""Random operations on a clock tree, for the property tests."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.clocks.pair import Operation

CLOCKS = 6

_clock = st.integers(0, CLOCKS - 1)
_rates = st.sampled_from(
    [Fraction(n) for n in (0, 1, 1, 2, 3, 7)]
    + [Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(3, 7), Fraction(13, 10)]
    + [Fraction(1, 60), Fraction(1, 1_000)]
)
# Small numbers make ties and sub-nanosecond effects; large ones cross many buckets.
_durations = st.one_of(st.integers(0, 12), st.integers(0, 5_000), st.integers(0, 40_000_000))
_delays = st.one_of(_durations, st.integers(-5, 0))
_intervals = st.one_of(st.just(0), st.just(0), st.integers(1_000_000, 20_000_000))
_timer = st.integers(0, 30)

_changes = st.one_of(
    st.tuples(st.just("pause"), _clock),
    st.tuples(st.just("resume"), _clock),
    st.tuples(st.just("rate"), _clock, _rates),
    st.tuples(st.just("move"), _clock, _clock),
    st.tuples(st.just("clear"), _clock, _timer),
    st.tuples(st.just("jump"), _durations),
    st.tuples(st.just("bounce"), _clock),
)
_children = st.tuples(
    st.just("child"),
    st.integers(0, 2),
    st.integers(1, CLOCKS - 1),
    _rates,
    st.none() | st.integers(0, 100),
)
_plain_sets = st.tuples(
    st.just("set"), _clock, st.integers(31, 99), _delays, st.just(0), st.just([])
)
_scripts = st.lists(
    st.one_of(_changes, _plain_sets, st.tuples(st.just("remove"), _clock)), max_size=3
)
_sets = st.tuples(st.just("set"), _clock, _timer, _delays, _intervals, _scripts)
_advances = st.tuples(st.just("advance"), st.one_of(_durations, st.integers(0, 100_000_000)))

_operations = st.one_of(
    _children,
    _sets,
    _sets,
    _sets,
    _advances,
    _advances,
    _changes,
    _changes,
    st.tuples(st.just("remove"), _clock),
)
# A few clocks to begin with, or most operations would have nothing to work on.
_beginnings = st.lists(_children, min_size=3, max_size=6)

#: Lists of operations as :class:`tests.clocks.pair.Pair` performs them.
operation_lists = st.tuples(_beginnings, st.lists(_operations, min_size=15, max_size=50)).map(
    lambda parts: [*parts[0], *parts[1]]
)

#: Rates at which an instant lasts one nanosecond of the time above or more.
SLOW_RATES = [*(Fraction(1, n) for n in (1, 2, 60, 60, 1_000)), Fraction(7, 60)]
_SHORT_DELAYS = (0, 0, 0, 1, 2, 60, 120)


def tied_operations(
    random: Random, rates: Sequence[Fraction] = SLOW_RATES, *, is_late: bool = False
) -> list[Operation]:
    """Return operations on a chain of clocks, several at each of a few instants.

    A slow clock's "now" lasts many nanoseconds of the time above it: what is set, resumed,
    moved and scaled in the middle of one ties with what is due elsewhere. Unless the time
    source is late, nothing is overdue. Drawn at random because hypothesis, which varies what
    it has seen, comes upon few ties.
    """
    operations: list[Operation] = [
        ("child", above, name, random.choice(rates), 0)
        for name, above in ((1, 0), (2, 1), (3, 2), (4, 1))
    ]
    for _ in range(random.randint(2, 8)):
        passes = random.choice(["advance", "jump", "jump"]) if is_late else "advance"
        operations.append((passes, random.randint(0, 130)))
        operations += (_tied(random, rates) for _ in range(random.randint(2, 6)))
    return operations


def _tied(random: Random, rates: Sequence[Fraction]) -> Operation:
    if random.random() < 1 / 2:
        return _tied_change(random, rates)
    script = [_tied_change(random, rates) for _ in range(random.randint(0, 3))]
    delay_ns = random.choice(_SHORT_DELAYS)
    return ("set", random.randint(0, 4), random.randint(0, 99), delay_ns, 0, script)


def _tied_change(random: Random, rates: Sequence[Fraction]) -> Operation:
    clock, branch = random.randint(0, 4), random.randint(1, 4)
    changes: list[Operation] = [
        ("bounce", branch),
        ("pause", branch),
        ("resume", branch),
        ("rate", branch, random.choice([Fraction(0), *rates])),
        ("move", branch, clock),
        ("clear", clock, random.randint(0, 99)),
    ]
    no_delay: Operation = ("set", clock, random.randint(0, 99), 0, 0, [])
    return random.choice([no_delay, no_delay, no_delay, *changes])


#: Rates at which several instants lie within one nanosecond of the time above.
FAST_RATES = [Fraction(n) for n in (1, 2, 3, 7, 11)]


def fast_operations(random: Random) -> list[Operation]:
    """Return operations on fast clocks with intervals of a few nanoseconds, full of ties."""
    operations: list[Operation] = [("rate", 0, Fraction(3))] if random.random() < 2 / 3 else []
    operations += [
        ("child", above, name, random.choice(FAST_RATES), 0)
        for name, above in ((1, 0), (2, 1), (3, 0))
    ]
    for _ in range(random.randint(2, 5)):
        operations += (_fast_timer(random) for _ in range(random.randint(1, 4)))
        if random.random() < 1 / 4:
            operations.append(("rate", random.randint(0, 3), random.choice(FAST_RATES)))
        operations.append(("advance", random.randint(0, 6)))
    return operations


def _fast_timer(random: Random) -> Operation:
    clock = random.randint(0, 3)
    script = random.choice(
        [
            [],
            [],
            [("set", clock, random.randint(100, 199), random.randint(0, 5), 0, [])],
            [(random.choice(["pause", "resume", "bounce"]), clock)],
            [("clear", clock, random.randint(0, 99))],
        ]
    )
    interval_ns = random.choice([0, random.randint(1, 10)])
    number = random.randint(0, 99)
    return ("set", random.randint(0, 3), number, random.randint(0, 12), interval_ns, script)
