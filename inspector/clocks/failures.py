"""What happens when a user's callback raises."""

import re
import traceback
from dataclasses import dataclass
from enum import Enum

#: How the module of a scene is called in ``sys.modules``, before a number. Nobody wrote that
#: and another run has another number, so it is cut from what is shown and recorded.
SCENE_MODULE = "timeline_inspector_scene_"

#: Where a class of the scene's or of the engine's own is named in a traceback.
_MODULES = re.compile(rf"\b{SCENE_MODULE}\d+\.|^inspector(?:\.\w+)+\.(?=\w+Error\b)", re.MULTILINE)

#: Of a traceback, in characters.
_MOST_SHOWN = 20_000

#: What a callback may raise without taking the loop with it: everything, as in asyncio, an
#: exit and the result of a cancelled task included. Only a key press still ends the program;
#: ``KeyboardInterrupt`` has to be let through before these are caught.
CALLBACK_ERRORS = (BaseException,)


class FailurePolicy(Enum):
    """What a session does after a callback has raised and was recorded."""

    CONTINUE = "continue"
    PAUSE_BRANCH = "pause branch"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class CallbackFailure:
    """One callback that raised.

    Attributes:
        clock_id: The clock whose branch is concerned.
        timer_id: The timer that was called, 0 for a frame callback.
        label: What was called, in the words of the window.
        error: What it raised.
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
        report = traceback.TracebackException(type(error), error, below, compact=True)
        if isinstance(error, BrokenOffError):
            # Of whatever has ended it.
            del report.stack[-1:]
        return as_shown("".join(report.format()))


def as_shown(traceback_text: str) -> str:
    """Return a traceback without the names of modules that no user has written.

    What somebody raises may say megabytes; of those the middle is left out.
    """
    left_out = len(traceback_text) - _MOST_SHOWN
    if left_out > 0:
        half = _MOST_SHOWN // 2
        head, tail = traceback_text[:half], traceback_text[-half:]
        traceback_text = f"{head}\n… {left_out:,} characters are left out here …\n{tail}"
    return _MODULES.sub("", traceback_text)


class BrokenOffError(BaseException):
    """Somebody did not want to wait for a callback any longer.

    No ``Exception``, so that a callback that copes with its own errors ends all the same.
    """


class EndlessInstantError(RuntimeError):
    """Timers come again and again, so time stands still or all but stands still."""
