"""The originals' schedulers as data: the rules of each.

One implementation, :class:`~inspector.engines.cocos.scheduler.DialectScheduler`, follows
these rules. Each rule has a sentence and its source, for :meth:`Dialect.explain`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from inspector.display_text import counted
from inspector.extensions import Registry
from inspector.frames.scheduling import Callback, Overshoot

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


#: Priority of the originals' own systems; operations on "everything" start here.
PRIORITY_SYSTEM: Final = -(2**31)


class Lists(Enum):
    """The kind of lists that a frame iterates over."""

    ARRAYS = "arrays"
    LINKED = "linked lists"


class Rescheduling(Enum):
    """The effect of ``schedule`` on an existing timer."""

    INTERVAL_ONLY = "the interval is replaced"
    STARTS_AGAIN = "the timer starts again"


class CancelBy(Enum):
    """The timer that is removed after a last call."""

    CALLBACK = "the first with the same callback"
    IDENTITY = "the timer itself"


class PriorityChange(Enum):
    """The effect of ``scheduleUpdate`` with another priority inside a frame."""

    REFUSED = "refused"
    AT_ONCE = "at once"


def rule(sentence: str, source: str) -> Any:  # noqa: ANN401 - a field of any type
    """Return a field that is a rule; it has no default."""
    return field(metadata={"sentence": sentence, "source": source})


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """A rule in words."""

    name: str
    value: object  # Its value in the dialect
    sentence: str
    source: str  # The part of the original's behaviour


def explain_rules(dialect: DataclassInstance) -> list[ExplainedRule]:
    """Return every rule of a dialect with its value."""
    return [
        ExplainedRule(
            each.name.replace("_", " "),
            getattr(dialect, each.name),
            each.metadata["sentence"],
            each.metadata["source"],
        )
        for each in fields(dialect)
        if "sentence" in each.metadata
    ]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rules of one original."""

    name: str
    title: str
    overshoot: Overshoot = rule(
        "Creator, cocos2d-x before 3.8: a timer fires at most once per frame, with the time"
        " since its last call, and drops the excess; later cocos2d-x: it fires once for each"
        " interval that has passed, with the interval.",
        "timer arithmetic",
    )
    float32: bool = rule(
        "cocos2d-x computes in single precision, Creator in double.", "timer arithmetic"
    )
    counts_before_the_call: bool = rule(
        "cocos2d-x 3.15: a call is counted before it is made, so inside its last call a timer"
        " is no longer scheduled and scheduling it makes a new one.",
        "re-scheduling and changing",
    )
    rescheduling: Rescheduling = rule(
        "Creator, cocos2d-x before 3.15: rescheduling a timer replaces its interval and"
        " nothing else; cocos2d-x 3.15: it starts the timer again, which inside its own call"
        " delays it by a second, or never ends.",
        "re-scheduling and changing",
    )
    cancel_by: CancelBy = rule(
        "Creator 2.4, cocos2d-x: after a last call a timer with the same callback is removed,"
        " possibly one set inside that call; Creator 3.8: the timer itself.",
        "re-scheduling and changing",
    )
    lists: Lists = rule(
        "Creator iterates over arrays by index: removing an earlier target makes the next one"
        " miss the frame, inserting a smaller priority calls the current entry twice and drops"
        " the last; cocos2d-x iterates over linked lists.",
        "changing things while a frame runs",
    )
    removes_updates_at_once: bool = rule(
        "cocos2d-x from 3.14: an update entry removed inside a frame is gone at once; before,"
        " and in Creator, it is marked and removed at the end of the frame.",
        "changing things while a frame runs",
    )
    priority_change: PriorityChange = rule(
        "Creator, cocos2d-x before 3.14: a change of priority inside a frame is refused, with a"
        " message; later cocos2d-x: the entry moves at once and may run twice.",
        "changing things while a frame runs",
    )
    compares_priority_of_first_entry: bool = rule(
        "cocos2d-x before 3.14 asks the first entry of the list, not the target's own, whether"
        " the priority has changed.",
        "re-scheduling and changing",
    )
    same_priority_is_ignored: bool = rule(
        "cocos2d-x from 3.14: scheduling an update again with its priority does nothing, even"
        " with another paused flag.",
        "re-scheduling and changing",
    )
    priority_of_everything: int = rule(
        "Creator 3.8: the least priority lost its sign, so pausing or unscheduling everything"
        " skips update entries of targets without timers.",
        "peculiarities of Creator 3",
    )
    short_forms: tuple[int, ...] = rule(
        "Called with this many arguments, schedule takes the fourth as the paused flag, even"
        " if five are meant as repeat and delay.",
        "operations",
    )
    swaps_arguments: bool = rule(
        "Creator: target and callback may come in either order.", "operations"
    )
    reports_swapped_arguments: bool = rule(
        "Creator 3.8 warns about swapped arguments.", "operations"
    )
    pauses_as_set: bool = rule(
        "cocos2d-x: pausing everything returns a set of targets; Creator: an array with targets"
        " twice that have an update and timers.",
        "operations",
    )
    skips_missing_update: bool = rule(
        "Creator 3.8: a target without an update method is skipped; in Creator 2.4 it raises.",
        "operations",
    )
    runs_posted_functions: bool = rule(
        "cocos2d-x: functions performed from other threads run at the end of the frame.",
        "performed functions",
    )

    def explain(self) -> list[ExplainedRule]:
        """Return every rule with its value."""
        return explain_rules(self)


CREATOR_2_4: Final = Dialect(
    name="creator-2.4",
    title="Cocos Creator 2.4",
    overshoot=Overshoot.DROP,
    float32=False,
    counts_before_the_call=False,
    rescheduling=Rescheduling.INTERVAL_ONLY,
    cancel_by=CancelBy.CALLBACK,
    lists=Lists.ARRAYS,
    removes_updates_at_once=False,
    priority_change=PriorityChange.REFUSED,
    compares_priority_of_first_entry=False,
    same_priority_is_ignored=False,
    priority_of_everything=PRIORITY_SYSTEM,
    short_forms=(4, 5),
    swaps_arguments=True,
    reports_swapped_arguments=False,
    pauses_as_set=False,
    skips_missing_update=False,
    runs_posted_functions=False,
)

CREATOR_3_8: Final = replace(
    CREATOR_2_4,
    name="creator-3.8",
    title="Cocos Creator 3.8",
    cancel_by=CancelBy.IDENTITY,
    priority_of_everything=-PRIORITY_SYSTEM,
    short_forms=(3, 4, 5),
    reports_swapped_arguments=True,
    skips_missing_update=True,
)

COCOS2DX_3_4: Final = Dialect(
    name="cocos2d-x-3.4",
    title="cocos2d-x 3.4",
    overshoot=Overshoot.DROP,
    float32=True,
    counts_before_the_call=False,
    rescheduling=Rescheduling.INTERVAL_ONLY,
    cancel_by=CancelBy.CALLBACK,
    lists=Lists.LINKED,
    removes_updates_at_once=False,
    priority_change=PriorityChange.REFUSED,
    compares_priority_of_first_entry=True,
    same_priority_is_ignored=False,
    priority_of_everything=PRIORITY_SYSTEM,
    short_forms=(4,),
    swaps_arguments=False,
    reports_swapped_arguments=False,
    pauses_as_set=True,
    skips_missing_update=False,
    runs_posted_functions=True,
)

COCOS2DX_3_15: Final = replace(
    COCOS2DX_3_4,
    name="cocos2d-x-3.15",
    title="cocos2d-x 3.15",
    overshoot=Overshoot.CARRY,
    counts_before_the_call=True,
    rescheduling=Rescheduling.STARTS_AGAIN,
    removes_updates_at_once=True,
    priority_change=PriorityChange.AT_ONCE,
    compares_priority_of_first_entry=False,
    same_priority_is_ignored=True,
)


def _check(dialect: Dialect) -> str:
    """Return what is wrong with a dialect's name, which has to differ from other lab subjects."""
    is_versioned = re.fullmatch(r"[a-z][\w.-]*-\d[\d.]*", dialect.name)
    hint = "does not end in a version, as in creator-2.4"
    return "" if is_versioned else f"its name “{dialect.name}” {hint}"


#: Every dialect, the oldest first; the refresh-rate lab offers them all.
DIALECTS: Final = Registry(
    "schedulers",
    Dialect,
    (CREATOR_2_4, CREATOR_3_8, COCOS2DX_3_4, COCOS2DX_3_15),
    names=lambda each: (each.name, each.title),
    check=_check,
)


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
    """One complaint."""

    complaint: Complaint
    target: object  # Whose timer or update it concerns
    old_interval: float = 0.0  # With RESCHEDULED, the interval so far
    new_interval: float = 0.0  # With RESCHEDULED, the interval from now on


#: Numbers of arguments of ``schedule``: all of them, and the fewest.
_ALL_ARGUMENTS: Final = 6
_THREE_ARGUMENTS: Final = 3


@dataclass(frozen=True, slots=True)
class WrittenArguments:
    """The arguments of one call of ``schedule``."""

    callback: Callback  # What is called; not checked yet
    target: object  # The owner of the timer
    interval: float  # Seconds
    repeat: int | None  # Calls after the first; None for no limit
    delay: float  # Seconds
    paused: bool | None  # None where JavaScript leaves it undefined
    is_swapped: bool  # Whether target and callback came in the other order


def as_written(dialect: Dialect, arguments: tuple[Any, ...]) -> WrittenArguments:
    """Return what arguments mean in a dialect; a ``TypeError`` if the original takes other ones."""
    forms = {_ALL_ARGUMENTS, *dialect.short_forms}
    if dialect.swaps_arguments:
        # In JavaScript, further arguments can be left out.
        forms.add(_THREE_ARGUMENTS)
    if len(arguments) not in forms:
        raise TypeError(
            f"{dialect.title} has no schedule with {counted(len(arguments), 'argument')}"
        )
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
