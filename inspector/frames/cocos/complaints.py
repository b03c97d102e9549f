"""What the originals' schedulers log, warn of or assert, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Complaint(Enum):
    """What the originals log, warn of or assert; and the loop that we cut off."""

    PRIORITY_LOCKED = "the priority cannot change inside a frame"
    RESCHEDULED = "a timer was scheduled that is scheduled"
    PAUSED_IGNORED = "the paused flag is ignored, the target has timers already"
    ARGUMENTS_SWAPPED = "target and callback are swapped"
    SAME_PRIORITY = "the update is scheduled already"
    ENDLESS = "a timer never stopped calling, the loop was cut off"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint.

    Attributes:
        complaint: What it is about.
        target: Whose timer or update it concerns.
        old_interval: With ``RESCHEDULED``, the interval so far.
        new_interval: With ``RESCHEDULED``, the interval from now on.
    """

    complaint: Complaint
    target: object
    old_interval: float = 0.0
    new_interval: float = 0.0
