"""Reports of a frame system to the members of its clock's tree.

Without a clock, or while nothing records, every number is 0 and nothing is reported or
measured.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import isnan
from time import perf_counter_ns
from typing import Final

from inspector.clocks.callbacks import label_of, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.rate import D
from inspector.clocks.tree import ClockTree
from inspector.timebase import MAX_NS, NS_PER_MS
from inspector.vocabulary import NEVER, Field, MemberKind

#: Longest name, in characters.
_LONGEST_NAME: Final = 80

#: Largest time scale that is reported.
_HIGHEST_RATE: Final = 1e9

#: Used where there is no clock: every number is 0, and members ignore 0.
_NO_MEMBERS: Final = ClockTree().members


class Reporter:
    """Reports the members of one frame system.

    Attributes:
        clock: The clock that they hang under, ``None`` for none.
        set: Reports the value of a field, as those that follow does something of the members of
            the tree, see :class:`~inspector.clocks.members.Members`; ignored for number 0.
        set_text: Reports the value of a text field.
        set_paused: Reports that a member is paused itself, or no longer.
        introduce: Links a member to its node or component.
        move: Reports a member's new parent.
        remove: Reports that a member and everything below it is gone.
        call_ended: Reports the end of a call, of which ``perf_counter_ns`` before it is known.
        state_entered: Reports a machine's new state.
        transition_refused: Reports a transition that a machine refused.
    """

    def __init__(self, clock: Clock | None, naming: Callable[[object], str] | None = None) -> None:
        """Report under a clock.

        Args:
            clock: The clock that the members hang under, ``None`` for none.
            naming: Returns the name of certain objects; an empty text leaves the name to
                :meth:`name_of`.
        """
        self.clock = clock
        self._naming = naming
        self._members = members = _NO_MEMBERS if clock is None else clock.tree.members
        self.set, self.set_text = members.set, members.set_text
        self.set_paused, self.introduce = members.set_paused, members.introduce
        self.move, self.remove = members.move, members.remove
        self.call_ended = members.call_ended
        self.state_entered = members.state_entered
        self.transition_refused = members.transition_refused
        # How many objects are named after each class.
        self._counts: dict[str, int] = {}

    def check_thread(self) -> None:
        """Refuse a thread other than the one that drives the clock, with a ``RuntimeError``."""
        if self.clock is not None:
            self.clock.tree.check_thread()

    def add(self, owner: object, kind: MemberKind, name: str, parent: int = 0) -> int:
        """Report a new member below another, or 0 for the clock; returns its number.

        The owner is found by that; it is 0 while nothing records.
        """
        if self.clock is None:
            return 0
        return self._members.add(owner, kind, name, self.clock, parent)

    def link(self, number: int, target: object) -> None:
        """Report the node or component that is a target, if it is a known one."""
        if number and (owner := self._members.number_of(target)):
            self.set(number, Field.OWNER, owner)

    def set_seconds(self, number: int, field: Field, seconds: float) -> None:
        """Report an instant or a duration, given in seconds as a float."""
        if number:
            self.set(number, field, nanoseconds(seconds))

    def set_rate(self, number: int, scale: float) -> None:
        """Report a time scale; a value that is not a usable number is ignored."""
        if number and not isnan(scale):
            bounded = max(-_HIGHEST_RATE, min(scale, _HIGHEST_RATE))
            self.set(number, Field.RATE, round(bounded * D))

    def metered(self, number: int, call: Callable[[float], object]) -> Callable[[float], object]:
        """Return a callback that reports each call and its duration; for number 0 ``call``."""
        if not number:
            return call
        call_ended = self.call_ended

        def metered_call(argument: float) -> None:
            began_ns = perf_counter_ns()
            try:
                refuse_unfinished(call(argument))
            finally:
                call_ended(number, began_ns)

        return metered_call

    def name_of(self, thing: object) -> str:
        """Return a display name for an object.

        Its ``name`` if that is a text, for a function its own name, otherwise its class with a
        number. Never raises, whatever the object does when it is read.
        """
        try:
            given = "" if self._naming is None else self._naming(thing)
            if given:
                return given[:_LONGEST_NAME]
            name: object = getattr(thing, "name", None)
            if isinstance(name, str) and name:
                return str(name)[:_LONGEST_NAME]
            if hasattr(thing, "__qualname__"):
                return label_of(thing)[:_LONGEST_NAME]  # type: ignore[arg-type]
        except KeyboardInterrupt:
            raise
        except CALLBACK_ERRORS:
            pass
        kind = type(thing).__name__
        number = self._counts.get(kind, 0) + 1
        self._counts[kind] = number
        return f"{kind} {number}"[:_LONGEST_NAME]


def milliseconds_of(now_ms: Callable[[], float] | None, clock: Clock | None) -> Callable[[], float]:
    """Return a function that tells milliseconds: the given one, or by default a clock's time.

    Raises:
        ValueError: Neither is given.
        TypeError: ``now_ms`` cannot be called, such as a clock.
    """
    if now_ms is not None:
        if not callable(now_ms):
            message = (  # type: ignore[unreachable]
                f"now_ms must be a function that returns milliseconds, not {now_ms!r}; "
                "pass a clock by name: clock=…"
            )
            raise TypeError(message)
        return now_ms
    if clock is None:
        raise ValueError("needs a clock, or a function that returns the time in milliseconds")
    return lambda: clock.time_ns / NS_PER_MS


def text_of(value: object) -> str:
    """Return a value such as a state as text; never raises."""
    try:
        text = value.name if isinstance(value, Enum) else str(value)
        return str(text)[:_LONGEST_NAME]
    except KeyboardInterrupt:
        raise
    except CALLBACK_ERRORS:
        return type(value).__name__


def nanoseconds(seconds: float) -> int:
    """Return the nearest nanosecond; ``NEVER`` if it is too long or not a number."""
    # Compared as floats, because infinity cannot become an int.
    if not abs(seconds) * 1e9 < MAX_NS:
        return NEVER
    return round(seconds * 1e9)
