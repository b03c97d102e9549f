"""Displays of the lab: the instants of their refreshes."""

import random
from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate
from typing import Final

from msgspec import Struct

from inspector.foreign.numbers import count_in, number_in, refusal, shown
from inspector.timebase import NS_PER_SECOND

#: Common display rates, in hertz.
DISPLAY_RATES: Final = (30, 48, 60, 72, 90, 120, 144, 165, 240)

#: A higher display rate, in hertz, is probably a typo.
HIGHEST_RATE: Final = 1_000

VARIABLE: Final = "variable"

#: The behaviour of a display with variable refresh, in a sentence.
VARIABLE_MODEL: Final = (
    "Frame times vary between those of 48 and 144 Hz, starting at 90 Hz, by up to 1.5 ms from one "
    "frame to the next; the same seed gives the same frames."
)

_WRITTEN_OUT: Final = 1_000_000
_SHORTEST_NS: Final = NS_PER_SECOND // 144
_LONGEST_NS: Final = NS_PER_SECOND // 48
_LARGEST_CHANGE_NS: Final = 1_500_000

#: More refreshes than this are refused: an hour at 240 Hz is less.
LARGEST_FRAME_COUNT: Final = 1_000_000


class Display(Struct, frozen=True):
    """The refreshes of one display, each a frame of the program."""

    name: str
    frames_ns: tuple[int, ...]  # The instants of the refreshes, ascending; the program begins at 0
    end_ns: int  # When the run ends; nothing is expected after it

    @property
    def mean_rate(self) -> float:
        """Mean refreshes per second; 60 without refreshes."""
        if not self.frames_ns:
            return 60.0
        return len(self.frames_ns) * NS_PER_SECOND / self.frames_ns[-1]

    @property
    def frame_times_ns(self) -> tuple[int, ...]:
        """The time from each refresh to the next; the first counts from the start."""
        return tuple(
            at_ns - before_ns
            for before_ns, at_ns in zip((0, *self.frames_ns), self.frames_ns, strict=False)
        )

    def frame_of(self, at_ns: int) -> int:
        """Return the number of the first refresh at or after an instant."""
        return bisect_left(self.frames_ns, at_ns)

    def neighbours_ns(self, at_ns: int) -> tuple[int, int | None]:
        """Return the refreshes before and after the one that shows an instant.

        The second is ``None`` if the run ends before it.
        """
        index = self.frame_of(at_ns)
        before_ns = self.frames_ns[index - 1] if index else 0
        after_ns = self.frames_ns[index + 1] if index + 1 < len(self.frames_ns) else None
        return before_ns, after_ns


def display_named(text: str, duration_ns: int) -> Display:
    """Return the display for a rate in hertz (``59.94``, ``60000/1001``) or ``variable``.

    ``variable:`` may be followed by a seed. Raises ``ValueError`` for anything else and for too
    many refreshes.
    """
    word = text.strip().lower().removesuffix("hz").strip()
    kind, colon, seed = word.partition(":")
    if kind.strip() == VARIABLE:
        if not colon:
            return variable_display(duration_ns)
        if (number := count_in(seed.strip())) is not None:
            return variable_display(duration_ns, number)
        raise ValueError(f"the seed of a variable display is a whole number: {shown(text.strip())}")
    try:
        rate = number_in(word)
    except ValueError:
        hint = f"write a rate such as 144, or {VARIABLE}"
        raise ValueError(refusal("a display", text.strip(), hint)) from None
    return steady_display(rate, duration_ns)


def steady_display(rate: Fraction | int, duration_ns: int) -> Display:
    """Return a display that refreshes at a rate, exact to the nanosecond at any length."""
    if not 1 <= rate <= HIGHEST_RATE:
        message = f"a display rate must be between 1 and {HIGHEST_RATE} Hz, not {_rate_text(rate)}"
        raise ValueError(message)
    count = int(Fraction(duration_ns) * rate / NS_PER_SECOND)
    _check_count(count)
    numerator, denominator = Fraction(rate).as_integer_ratio()
    frames_ns = tuple(
        number * NS_PER_SECOND * denominator // numerator for number in range(1, count + 1)
    )
    return Display(f"{_rate_text(rate)} Hz", frames_ns, duration_ns)


def variable_display(duration_ns: int, seed: int = 1) -> Display:
    """Return a display that waits for its frames; see :data:`VARIABLE_MODEL`."""
    _check_count(duration_ns // _SHORTEST_NS)
    dice = random.Random(seed)  # noqa: S311 - frame times must be reproducible
    name = VARIABLE if seed == 1 else f"{VARIABLE}:{seed}"
    frames_ns: list[int] = []
    frame_ns, at_ns = NS_PER_SECOND // 90, 0
    while True:
        change_ns = dice.randint(-_LARGEST_CHANGE_NS, _LARGEST_CHANGE_NS)
        frame_ns = min(max(frame_ns + change_ns, _SHORTEST_NS), _LONGEST_NS)
        at_ns += frame_ns
        if at_ns > duration_ns:
            return Display(name, tuple(frames_ns), duration_ns)
        frames_ns.append(at_ns)


def recorded_display(
    name: str, frame_times_ns: Iterable[int], duration_ns: int | None = None
) -> Display:
    """Return the frames of a recording as a display, for its length or a shorter duration."""
    # To a timer, two frames at the same instant are one.
    instants = sorted(set(accumulate(frame_times_ns)) - {0})
    end_ns = instants[-1] if instants else 0
    if duration_ns is not None:
        end_ns = min(end_ns, duration_ns)
    frames_ns = tuple(at_ns for at_ns in instants if at_ns <= end_ns)
    _check_count(len(frames_ns))
    return Display(name, frames_ns, end_ns)


def _check_count(count: int) -> None:
    if count > LARGEST_FRAME_COUNT:
        raise ValueError(
            f"{count:,} refreshes are too many (at most {LARGEST_FRAME_COUNT:,}); "
            "choose a shorter duration"
        )


def _rate_text(rate: Fraction | int) -> str:
    exact = Fraction(rate)
    if exact.denominator == 1 and abs(exact) <= _WRITTEN_OUT:
        return str(exact.numerator)
    try:
        return f"{float(exact):g}"
    except OverflowError:
        return "that many"
