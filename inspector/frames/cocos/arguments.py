"""What the arguments of ``schedule`` mean in a program of an original, by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from inspector.frames.cocos.dialects import Dialect
    from inspector.frames.scheduling import Callback

#: ``schedule`` with all its arguments, and with the fewest.
_ALL_ARGUMENTS: Final = 6
_THREE_ARGUMENTS: Final = 3


@dataclass(frozen=True, slots=True)
class WrittenArguments:
    """The arguments of one call of ``schedule``.

    Attributes:
        callback: What is called; not checked yet.
        target: Whom the timer belongs to.
        interval: Seconds.
        repeat: Calls after the first; ``None`` for no end.
        delay: Seconds.
        paused: ``None`` where JavaScript leaves it undefined.
        is_swapped: Whether target and callback came in the other order.
    """

    callback: Callback
    target: object
    interval: float
    repeat: int | None
    delay: float
    paused: bool | None
    is_swapped: bool


def as_written(dialect: Dialect, arguments: tuple[Any, ...]) -> WrittenArguments:
    """Return what the arguments mean in a dialect.

    Raises:
        TypeError: A number of arguments that the original does not take.
    """
    forms = {_ALL_ARGUMENTS, *dialect.short_forms}
    if dialect.swaps_arguments:
        # JavaScript leaves out what is not given.
        forms.add(_THREE_ARGUMENTS)
    if len(arguments) not in forms:
        message = f"{dialect.title} has no schedule with {len(arguments)} arguments"
        raise TypeError(message)
    callback, target, interval, *rest = arguments
    is_swapped = not callable(callback) and dialect.swaps_arguments
    if is_swapped:
        callback, target = target, callback
    repeat, delay, paused = None, 0.0, None
    if len(arguments) == _ALL_ARGUMENTS:
        repeat, delay, paused = rest
    elif len(arguments) in dialect.short_forms:
        paused = bool(rest and rest[0])
    return WrittenArguments(callback, target, interval, repeat, delay, paused, is_swapped)
