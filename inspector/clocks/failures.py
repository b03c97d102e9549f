"""Failures of callbacks, and the policies for them."""

import re
import traceback
from dataclasses import dataclass
from enum import Enum
from opcode import opmap

#: Prefix of the module names of scenes in ``sys.modules``, before a number that differs from
#: run to run; removed from shown and recorded texts.
SCENE_MODULE = "timeline_inspector_scene_"

#: Module prefixes of the scene's and the engine's own classes in a traceback.
_MODULES = re.compile(rf"\b{SCENE_MODULE}\d+\.|^inspector(?:\.\w+)+\.(?=\w+Error\b)", re.MULTILINE)

_RAISE = opmap["RAISE_VARARGS"]

#: Longest traceback, in characters.
_MOST_SHOWN = 20_000

#: Exceptions of a callback that do not end the loop: all, as in asyncio, including an exit
#: and the result of a cancelled task. Pass them to :func:`raise_interrupt` first.
CALLBACK_ERRORS = (BaseException,)


class FailurePolicy(Enum):
    """What a session does after the failure of a callback is recorded."""

    CONTINUE = "continue"
    PAUSE_BRANCH = "pause branch"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class CallbackFailure:
    """A callback that raised.

    Attributes:
        clock_id: The clock whose branch is affected.
        timer_id: The timer that was called, 0 for a frame callback.
        label: What was called, as the window names it.
        error: The exception.
    """

    clock_id: int
    timer_id: int
    label: str
    error: BaseException

    @property
    def traceback_text(self) -> str:
        """The traceback as Python prints it, without the engine's own frame."""
        error = self.error
        top = error.__traceback__
        below = top.tb_next if top is not None and top.tb_next is not None else top
        report = traceback.TracebackException(type(error), error, below)
        if isinstance(error, UserInterruptError):
            # Drops the frame of the signal handler that raised it.
            del report.stack[-1:]
        return as_shown("".join(report.format()))


def raise_interrupt(error: BaseException) -> None:
    """Raise an interrupt by the user again.

    A callback that raises ``KeyboardInterrupt`` itself has failed, no more. The user's Ctrl+C
    comes between two instructions, or as a subclass from a signal handler of ours.

    Raises:
        KeyboardInterrupt: It was the user.
    """
    if isinstance(error, KeyboardInterrupt) and not _is_of_callback(error):
        raise error


def _is_of_callback(error: KeyboardInterrupt) -> bool:
    """Return whether the innermost instruction that raised an error is a ``raise``."""
    place = error.__traceback__
    if type(error) is not KeyboardInterrupt or place is None:
        return False
    while place.tb_next is not None:
        place = place.tb_next
    return place.tb_frame.f_code.co_code[place.tb_lasti] == _RAISE


class RequestedInterrupt(KeyboardInterrupt):
    """An interrupt that a signal handler of ours raises for the user."""


def as_shown(traceback_text: str) -> str:
    """Return a traceback without generated module names; a very long one loses its middle."""
    left_out = len(traceback_text) - _MOST_SHOWN
    if left_out > 0:
        half = _MOST_SHOWN // 2
        head, tail = traceback_text[:half], traceback_text[-half:]
        traceback_text = f"{head}\n… {left_out:,} characters are left out here …\n{tail}"
    return _MODULES.sub("", traceback_text)


class UserInterruptError(BaseException):
    """A callback was interrupted by the user.

    Not an ``Exception``, so that a callback that catches its own errors ends all the same.
    """


class EndlessInstantError(RuntimeError):
    """Timers keep coming, so that time stands still or nearly so."""
