"""Timers: callbacks that wait on a clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

from inspector.clocks.callbacks import label_of
from inspector.timebase import format_duration, format_local_time
from inspector.vocabulary import TimerKind

if TYPE_CHECKING:
    from inspector.clocks.clock import Clock


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place in the user's program.

    Attributes:
        text: ``file:line in function``.
        sid: The sink's number for the text.
    """

    text: str
    sid: int


class MissedTicks(Enum):
    """What a repeating timer does about ticks that it could not run on time.

    The names are tokio's. Ticks are missed only when the time source is late, such as after a
    blocking callback; rate and pause never cause missed ticks.

    * ``BURST``: run all of them at once; none is lost.
    * ``DELAY``: run one, then the next a whole interval later.
    * ``SKIP``: run one, then continue at the next multiple of the interval.
    """

    BURST = "burst"
    DELAY = "delay"
    SKIP = "skip"


#: Replaces the arguments of a timer that has fired, to tell it from a cleared one.
FIRED: Final = object()

#: Replace the arguments of a repeating timer, so that the drain loop recognises it:
#: ``REPEATS`` if it has no arguments and needs no policy for missed ticks, as most have not.
REPEATS: Final = object()
REPEATS_OTHERWISE: Final = object()

_KINDS = {
    MissedTicks.BURST: TimerKind.INTERVAL_BURST,
    MissedTicks.DELAY: TimerKind.INTERVAL_DELAY,
    MissedTicks.SKIP: TimerKind.INTERVAL_SKIP,
}


class Timer:
    """A one-shot callback that waits on a clock.

    Made by :meth:`Clock.set_timeout`; also the handle for :meth:`Clock.clear`.

    Attributes:
        clock: The clock it waits on.
        due_ns: Local time at which it should fire.
        order: Decides among timers due at the same instant.
        name: The user's name for it, or an empty text.
    """

    # One small object per timer, without a tuple, keeps a million of them cheap. Names, call
    # sites and counts are in subclasses.
    __slots__ = ("args", "callback", "clock", "due_ns", "order")

    name = ""
    wake = None
    site: CallSite | None = None
    is_clock: Literal[False] = False
    #: Whether events are made for it.
    is_listed = True
    interval_ns = 0
    kind = TimerKind.TIMEOUT

    # Set by the clock that makes the timer: calling __init__ would double the cost.
    clock: Clock
    due_ns: int
    order: int
    callback: Callable[..., object] | None
    #: See held_arguments(); None without any, and once the timer is cleared.
    args: Any

    def __repr__(self) -> str:
        state = "" if self.is_pending else ", fired" if self.fired else ", cleared"
        every = f", every {format_duration(self.interval_ns)}" if self.interval_ns else ""
        due = format_local_time(self.due_ns)
        return f"<{type(self).__name__} {self.id} {self.label!r} due {due}{every}{state}>"

    @property
    def id(self) -> int:
        """Number of the timer, unique in its tree and increasing."""
        return self.order

    @property
    def is_pending(self) -> bool:
        """Whether it waits to be called."""
        return self.callback is not None

    @property
    def fired(self) -> int:
        """Number of calls so far."""
        return int(self.args is FIRED)

    @property
    def label(self) -> str:
        """The name, or the qualified name of the callback."""
        if self.name or self.callback is None:
            return self.name or "(done)"
        return label_of(self.callback)

    @property
    def call_site(self) -> str:
        """Where it was set, as ``file:line in function``; empty outside a session."""
        return self.site.text if self.site is not None else ""

    @property
    def due(self) -> float:
        """Local seconds at which it should fire."""
        return self.due_ns / 1e9

    @property
    def remaining_ns(self) -> int:
        """Local nanoseconds until it is due; negative when late."""
        return self.due_ns - self.clock.time_ns


class LabelledTimer(Timer):
    """A one-shot timer with a name or call site."""

    __slots__ = ("name", "site")

    name: str
    site: CallSite | None


class UnlistedTimer(Timer):
    """A one-shot timer without events, for a subject that reports itself, such as a loop."""

    __slots__ = ("name",)

    is_listed = False


class Interval(Timer):
    """A repeating callback; made by :meth:`Clock.set_interval`.

    Attributes:
        interval_ns: Local nanoseconds from one due instant to the next.
        missed: What happens to ticks that could not run on time.
        arguments: See :func:`held_arguments`.
        origin_ns: Local time from which every interval up to the next due time is one
            call; cheaper than counting calls.
        ticks_missed: Ticks skipped by ``DELAY`` or ``SKIP``.
    """

    __slots__ = (
        "arguments",
        "interval_ns",
        "kind",
        "missed",
        "name",
        "number",
        "origin_ns",
        "site",
        "ticks_missed",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place only
        self,
        clock: Clock,
        due_ns: int,
        order: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        name: str,
        site: CallSite | None,
        interval_ns: int,
        missed: MissedTicks,
    ) -> None:
        self.clock = clock
        self.due_ns = due_ns
        self.order = order
        self.callback = callback
        is_plain = not args and missed is MissedTicks.BURST
        self.args = REPEATS if is_plain else REPEATS_OTHERWISE
        self.arguments = held_arguments(args)
        self.number = order
        self.name = name
        self.site = site
        self.interval_ns = interval_ns
        self.missed = missed
        self.kind = _KINDS[missed]
        self.ticks_missed = 0
        self.origin_ns = due_ns

    @property
    def id(self) -> int:
        """Number of the timer, unique in its tree and increasing."""
        return self.number

    @property
    def fired(self) -> int:
        """Number of calls so far."""
        return (self.due_ns - self.origin_ns) // self.interval_ns


def held_arguments(args: tuple[Any, ...]) -> Any:  # noqa: ANN401 - may be anything's argument
    """Return how a timer holds its arguments: a single one bare, several as a tuple.

    A tuple per timer would take 48 bytes. A single argument that is itself a tuple or
    ``None`` would be ambiguous and stays in a tuple.
    """
    if len(args) == 1 and args[0] is not None and type(args[0]) is not tuple:
        return args[0]
    return args
