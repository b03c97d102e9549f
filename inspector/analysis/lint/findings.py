"""Findings: problems in a session, and their kinds."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.statistics.frame_budget import OVER_RULE


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of problem.

    Attributes:
        name: One or two words.
        summary: Its meaning, in a sentence.
        detail: Its definition, for the help of the command.
    """

    name: str
    summary: str
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem in a session.

    Attributes:
        kind: Its kind.
        text: The evidence and the remedy, in sentences.
        at_ns: Session instant of the evidence.
        cursor: The cursor of the evidence; ``None`` if it is the state as a whole.
        subject: Number of the timer it is about; 0 when it is about a clock.
        clock_id: The clock it is about.
        frame: Index of the frame that shows it, ``None`` for none.
        member_id: The timer of a scheduler or ticker it is about, 0 for none.
        site: The line of the program that it names, as ``file:line``, empty for none.
    """

    kind: FindingKind
    text: str
    at_ns: int
    cursor: int | None
    subject: int
    clock_id: int = 0
    frame: int | None = None
    member_id: int = 0
    site: str = ""


FAILS = FindingKind(
    "fails", "A callback raises an exception.", "a callback that raised an exception"
)
LEAK = FindingKind(
    "leak",
    "Timers from one place keep growing in number and are never cleared.",
    "repeating timers set at one place whose number keeps growing, or timeouts that pile up on a "
    "stopped clock",
)
ORPHAN = FindingKind(
    "owner gone",
    "A node or component was destroyed, but its timers keep running.",
    "timers and updates of a destroyed node or component that are still scheduled",
)
NEVER_FIRED = FindingKind(
    "never fired",
    "Timers wait on a clock that has been stopped since they were set.",
    "timers set on a clock that has been stopped ever since",
)
DEADLOCK = FindingKind(
    "deadlock",
    "A clock is paused, and what should resume it waits for its time.",
    "timers that wait for a clock that only they could resume",
)
SAME_NAME = FindingKind(
    "same name",
    "Clocks with the same parent have the same name.",
    "clocks that their names do not tell apart",
)
MILLISECONDS = FindingKind(
    "milliseconds",
    "A delay of many seconds was probably meant as milliseconds.",
    "a delay of 100 s or more in whole fifties, such as set_interval(500), after which nothing "
    "was called yet",
)
LATE_BOUND = FindingKind(
    "late binding",
    "Lambdas set in a loop all see the last value of its variables.",
    "timers set in a loop with a lambda that reads its variables when it is called",
)
STORM = FindingKind(
    "storm",
    "A timer fires far too often in one frame.",
    "a timer called more than 20 times in one frame",
)
HERD = FindingKind(
    "herd",
    "Many timers fire in one frame; spread them out to lower the peak.",
    "30 or more timers of one clock in one frame, with the stagger that spreads them out",
)
SUB_FRAME = FindingKind(
    "sub-frame interval",
    "An interval shorter than a frame fires several times per frame.",
    "an interval shorter than a frame",
)
BEAT = FindingKind(
    "beating",
    "An interval is not a multiple of the frame time: its ticks are uneven.",
    "an interval of a few frames that is not a whole number of frames",
)
DRIFT = FindingKind(
    "drift",
    "A timer fires slightly later each time.",
    "a timer that reschedules itself, or counts from its last call, and fires later each time",
)
SKIPPED_TICKS = FindingKind(
    "skipped ticks",
    "The timer's policy skipped late ticks.",
    "late ticks that the timer's policy skipped",
)
PACE = FindingKind(
    "wrong pace",
    "A timer always fires much sooner or later than its interval says.",
    "a timer that fires much sooner or later than its interval says",
)
OVER_BUDGET = FindingKind(
    "over budget",
    f"More than one frame in twenty is {OVER_RULE}.",
    "more than one frame in twenty longer than a frame at the scene's rate by more than 15 % (at "
    "least 1 ms)",
)
HOST_SLOW = FindingKind(
    "host slow",
    "The system woke the scene too late for its frames, although nothing else ran.",
    "frames over budget only because the system woke the scene late: one in twenty, or one that "
    "takes three",
)
COLLECTION = FindingKind(
    "garbage collection",
    "Python's garbage collector makes frames too long.",
    "frames over budget only because Python collected garbage: three, or one that takes three",
)
BLOCKING = FindingKind(
    "blocks others",
    "A callback takes longer than a frame and delays others.",
    "a callback that takes longer than a frame, and the timers that had to wait for it",
)
BLOCKED_LOOP = FindingKind(
    "blocked loop",
    "A function keeps the loop of a program from calling what is due.",
    "a function of an attached program because of which calls were more than 20 ms late",
)
