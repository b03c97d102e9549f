"""Parsers of arguments for ``argparse``: a text in, a value out.

Invalid values raise ``argparse.ArgumentTypeError`` with a sentence, which argparse prints after the
name of the argument.
"""

from __future__ import annotations

from argparse import (
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    _ArgumentGroup,
    _MutuallyExclusiveGroup,
)
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.rate import parse_rate
from inspector.foreign.numbers import count_in, number_in, refusal, shown
from inspector.formats.options import parse_budgets_ms
from inspector.sessions.sources.time_sources import SYSTEM, VIRTUAL, choosable_sources, source_kind
from inspector.timebase import MAX_NS, NS_PER_SECOND, parse_duration_ns

_ValueT = TypeVar("_ValueT")


def count(text: str) -> int:
    """Parse a whole number above 0, such as 1,000 or 1_000."""
    count = count_in(text.strip().replace("_", "").replace(",", ""))
    if not count:
        raise ArgumentTypeError(f"not a whole number above 0: {shown(text)}")
    return count


def add_without_inspector(parser: ArgumentParser | _ArgumentGroup) -> None:
    parser.add_argument(
        "--without-inspector",
        action="store_true",
        help="leave out of the numbers the frames over budget because of the inspector alone",
    )


def add_several(
    parser: ArgumentParser | _ArgumentGroup,
    *names: str,
    **about: Any,  # noqa: ANN401 - what argparse takes
) -> None:
    """Add an argument that may be repeated."""
    parser.add_argument(*names, action="append", default=[], **about)


def output_file(text: str) -> Path:
    if text == "-":
        raise ArgumentTypeError(
            "name a file; only “export … -o -” and --json write to standard output"
        )
    return Path(text)


def number_of_one(text: str) -> int:
    """Parse the number of an annotation, 0 or more."""
    number = count_in(text.strip())
    if number is None:
        raise ArgumentTypeError(f"not a number of an annotation: {shown(text)}")
    return number


def port(text: str) -> int:
    """Parse a port number; 0 for any port."""
    port = count_in(text.strip())
    if port is None or port >= 2**16:
        raise ArgumentTypeError(f"not a port: {shown(text)}")
    return port


def _typed(parse: Callable[[str], _ValueT]) -> Callable[[str], _ValueT]:
    """Make a parser that raises ``ValueError`` report that to ``argparse``."""

    def typed(text: str) -> _ValueT:
        try:
            return parse(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return typed


instant_ns = _typed(parse_duration_ns)
rate = _typed(parse_rate)  # Of a clock: 0.25, 1/3, 2x, 50%
time_source = _typed(source_kind)
_budgets_ms = _typed(parse_budgets_ms)


def duration_ns(text: str) -> int:
    duration_ns = instant_ns(text)
    if duration_ns <= 0:
        raise ArgumentTypeError(f"a duration must be above 0: {shown(text)}")
    return duration_ns


def step_ns(text: str) -> Fraction:
    """Parse a step exactly: sixty steps of 1/60 are one second."""
    try:
        step_ns = number_in(text.strip()) * NS_PER_SECOND
    except ValueError:
        step_ns = Fraction(duration_ns(text))
    if step_ns < 1:
        raise ArgumentTypeError(f"a step must be at least a nanosecond: {shown(text)}")
    if step_ns >= MAX_NS:
        raise ArgumentTypeError(f"a step must be shorter than 146 years: {shown(text)}")
    return step_ns


class _ChooseSource(Action):
    """Stores a time source, and which argument chose it.

    argparse does not see that ``--real-time --source virtual`` contradicts itself, because
    virtual is the default.
    """

    @override
    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        former = namespace.source_argument
        if former and former != option_string:
            raise ArgumentError(self, f"not allowed with argument {former}")
        namespace.source = self.const or values
        namespace.source_argument = option_string


def add_time_source(parser: ArgumentParser | _MutuallyExclusiveGroup, real_time: str) -> None:
    """Add the arguments that choose a time source, with the help of ``--real-time``.

    The argument that was given is in ``source_argument``, empty for the default.
    """
    names = ", ".join(each.name for each in choosable_sources())
    parser.set_defaults(source=VIRTUAL, source_argument="")
    parser.add_argument(
        "--real-time", dest="source", action=_ChooseSource, nargs=0, const=SYSTEM, help=real_time
    )
    parser.add_argument(
        "--source",
        metavar="NAME",
        type=time_source,
        action=_ChooseSource,
        help=f"time source: {names} (default virtual)",
    )


def add_stream(parser: ArgumentParser | _ArgumentGroup) -> None:
    parser.add_argument(
        "--stream",
        metavar="NAME",
        help="of a capture of several programs or swap chains: the one to read, by a part of its "
        "name; of a trace: the slice that stands for a frame (default: the one with most frames, "
        "or the most likely slice); of a recording of attached programs: the loop whose frames to "
        "take (default: the first that ran one)",
    )


def failure_policy(text: str) -> FailurePolicy:
    """Parse a failure policy: continue, pause-branch or stop."""
    wanted = text.lower().replace("-", " ").replace("_", " ")
    for policy in FailurePolicy:
        if policy.value == wanted:
            return policy
    message = f"no such policy: {shown(text)} (there are continue, pause-branch and stop)"
    raise ArgumentTypeError(message)


def budget_ms(text: str) -> float:
    """Parse a budget: 60fps, 16.7, 16.7ms."""
    budgets_ms = _budgets_ms(text)
    if len(budgets_ms) != 1:
        raise ArgumentTypeError(refusal("a budget", text, "write 60fps, or milliseconds"))
    return budgets_ms[0]


def dots_per_inch(text: str) -> float:
    return _float(text, "a resolution", "write 144")


def size(text: str) -> tuple[float, float]:
    """Parse a width and a height: 720x405."""
    width, cross, height = text.lower().replace("×", "x").partition("x")
    if not cross:
        raise ArgumentTypeError(refusal("a size", text, "write 720x405"))
    hint = "write 720x405"
    return _float(width, "a size", hint), _float(height, "a size", hint)


def _float(text: str, what: str, hint: str) -> float:
    try:
        return float(number_in(text.strip()))
    except (ValueError, OverflowError):
        raise ArgumentTypeError(refusal(what, text, hint)) from None
