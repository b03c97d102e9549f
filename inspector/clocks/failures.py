"""What happens when a user's callback raises."""

import traceback
from dataclasses import dataclass
from enum import Enum

#: What a callback may raise without taking the loop with it. A key press
#: (``KeyboardInterrupt``) still ends the program.
CALLBACK_ERRORS = (Exception, SystemExit)


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
        return "".join(traceback.format_exception(type(error), error, below))


class EndlessInstantError(RuntimeError):
    """Timers keep scheduling each other with no delay, so time stands still."""
