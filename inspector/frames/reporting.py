"""How a frame system says what it is and does: to the members of its clock's tree.

Without a clock, or while nobody records, every number is 0, nothing is said and nothing
is measured.
"""

from __future__ import annotations

from enum import Enum
from math import isnan
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from inspector.clocks.callbacks import label_of, refuse_unfinished
from inspector.clocks.failures import CALLBACK_ERRORS
from inspector.clocks.rate import D
from inspector.timebase import MAX_NS, NS_PER_MS
from inspector.vocabulary import NEVER, Field, MemberKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks.clock import Clock

#: Names are cut after so many characters.
_LONGEST_NAME: Final = 80

#: Time scales are reported up to this one.
_HIGHEST_RATE: Final = 1e9


class Reporter:
    """Says what happens to the members of one frame system.

    Attributes:
        clock: The clock it lives by, ``None`` for none.
    """

    __slots__ = ("_counts", "_members", "_naming", "clock")

    def __init__(self, clock: Clock | None, naming: Callable[[object], str] | None = None) -> None:
        """Begin with nobody.

        Args:
            clock: The clock it lives by, ``None`` for none.
            naming: Returns what a certain object is called; the empty text to leave that to
                :meth:`name_of`.
        """
        self.clock = clock
        self._naming = naming
        self._members = None if clock is None else clock.tree.members
        # How many of each class were named after it.
        self._counts: dict[str, int] = {}

    def add(self, owner: object, kind: MemberKind, name: str, parent: int = 0) -> int:
        """Report a new member; returns its number, 0 when nobody records.

        Args:
            owner: The object that is found by the number.
            kind: What it is.
            name: What people call it.
            parent: Number of the member it hangs under, 0 for the clock.
        """
        if self._members is None or self.clock is None:
            return 0
        return self._members.add(owner, kind, name, self.clock, parent)

    def set(self, number: int, field: Field, value: int) -> None:
        """Report what a field is from now on."""
        if number and self._members is not None:
            self._members.set(number, field, value)

    def introduce(self, thing: object, number: int) -> None:
        """Say which node or component a member stands for."""
        if self._members is not None:
            self._members.introduce(thing, number)

    def link(self, number: int, target: object) -> None:
        """Report which node or component a target is, if it is one that was introduced."""
        if number and self._members is not None and (owner := self._members.number_of(target)):
            self._members.set(number, Field.OWNER, owner)

    def set_text(self, number: int, field: Field, text: str) -> None:
        """Report what a field that is a text is from now on."""
        if number and self._members is not None:
            self._members.set_text(number, field, text)

    def set_seconds(self, number: int, field: Field, seconds: float) -> None:
        """Report a field that is an instant or a duration, given in seconds of a float."""
        if number:
            self.set(number, field, nanoseconds(seconds))

    def set_rate(self, number: int, scale: float) -> None:
        """Report a time scale that may be any number; what is not one is not reported."""
        if number and not isnan(scale):
            bounded = max(-_HIGHEST_RATE, min(scale, _HIGHEST_RATE))
            self.set(number, Field.RATE, round(bounded * D))

    def set_paused(self, number: int, *, paused: bool) -> None:
        """Report that a member is paused itself, or no longer."""
        if number and self._members is not None:
            self._members.set_paused(number, paused=paused)

    def move(self, number: int, parent: int) -> None:
        """Report that a member hangs under another one now."""
        if number and self._members is not None:
            self._members.move(number, parent)

    def remove(self, number: int) -> None:
        """Report that a member is gone with all below it."""
        if number and self._members is not None:
            self._members.remove(number)

    def call_ended(self, number: int, began_ns: int) -> None:
        """Report a call that is over.

        Args:
            number: Whose.
            began_ns: Reading of ``perf_counter_ns`` before it.
        """
        if number and self._members is not None:
            self._members.call_ended(number, began_ns)

    def state_entered(self, number: int, state: str, transition: str) -> None:
        """Report that a machine is in another state."""
        if number and self._members is not None:
            self._members.state_entered(number, state, transition)

    def transition_refused(self, number: int, transition: str, reason: str) -> None:
        """Report that a machine did not make a transition."""
        if number and self._members is not None:
            self._members.transition_refused(number, transition, reason)

    def metered(self, number: int, call: Callable[[float], object]) -> Callable[[float], object]:
        """Return a call that is reported, with how long it took, each time it is over.

        Args:
            number: Whose calls they are; for 0 the call itself is returned.
            call: What is called.
        """
        if not number or self._members is None:
            return call
        call_ended = self._members.call_ended

        def metered_call(argument: float) -> None:
            began_ns = perf_counter_ns()
            try:
                refuse_unfinished(call(argument))
            finally:
                call_ended(number, began_ns)

        return metered_call

    def name_of(self, thing: object) -> str:
        """Return what people would call an object that takes part.

        That is its ``name`` if it has one that is a text, for a function its own name, else
        its class with a number. Whatever the object thinks of being asked, nothing is raised.
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
    """Return what tells the time in milliseconds: a function, or else a clock's time.

    Raises:
        ValueError: There is neither.
        TypeError: What was given for the function cannot be called, as a clock cannot.
    """
    if now_ms is not None:
        if not callable(now_ms):
            message = (  # type: ignore[unreachable]
                f"now_ms is a function that tells milliseconds, not {now_ms!r}; "
                "a clock is given by name: clock=…"
            )
            raise TypeError(message)
        return now_ms
    if clock is None:
        message = "it needs a clock, or a function that tells the time in milliseconds"
        raise ValueError(message)
    return lambda: clock.time_ns / NS_PER_MS


def text_of(value: object) -> str:
    """Return a value such as a state as text; whatever it thinks of that, nothing is raised."""
    try:
        text = value.name if isinstance(value, Enum) else str(value)
        return str(text)[:_LONGEST_NAME]
    except KeyboardInterrupt:
        raise
    except CALLBACK_ERRORS:
        return type(value).__name__


def nanoseconds(seconds: float) -> int:
    """Return the nearest nanosecond; ``NEVER`` for what is too long, or not a number."""
    # As floats, so that nothing is raised for infinity.
    if not abs(seconds) * 1e9 < MAX_NS:
        return NEVER
    return round(seconds * 1e9)
