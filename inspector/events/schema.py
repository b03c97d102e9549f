"""The schema of events: one row per kind, from which every reader derives what it needs.

The engine knows only the numbers of :mod:`inspector.vocabulary`. Names of kinds, the meaning of
the three numbers, what is measured, the group, the sentence and the fold are declared here and
nowhere else.

Sentences are templates. ``{s}``, ``{a}`` and ``{b}`` stand for the three numbers, worded by their
:class:`Unit`; a part in brackets is omitted if its number is absent, and the text after a bar
replaces it.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto
from typing import Final

from msgspec import Struct

from inspector.events.members import TIMED_CALLS
from inspector.vocabulary import (
    RATE_DENOMINATOR,
    VOCABULARY_VERSION,
    CallKind,
    EventKind,
    Field,
    LifeCycle,
    LoopKind,
    MemberKind,
    Mode,
    NamedNumber,
    Phase,
    RawEvent,
    Reading,
    TaskWait,
    TimerKind,
)


class Unit(Enum):
    """What a number of an event, or the value of a member's field, is."""

    NOTHING = "always 0"
    CLOCK = "number of a clock, 0 for none"
    TIMER = "number of a timer"
    MEMBER = "number of a member, 0 for none"
    MACHINE = "number of a member that is a state machine"
    CLOCK_OR_NONE = "number of the clock it is about, 0 for none"
    TIMER_OR_NONE = "number of a timer, 0 for none"
    DIRECTOR = "number of a director"
    LOOP = "number of the clock of a loop of an attached program"
    LOOP_KIND = "a LoopKind"
    COMMAND = "number of a command"
    CAUSE = "number of the command that made the change, 0 for the program"
    CAUSE_PLUS_ONE = "0 for not, otherwise the number of the command that did it plus 1"
    BREAKPOINT = "number of a breakpoint"
    NAME = "index of a text: the name of the subject"
    TEXT = "index of a text, 0 for none"
    SITE = "index of a text: file and line"
    ASKER = "index of a text: where the command came from, 0 for the user"
    TRACEBACK = "index of a text: a traceback"
    JSON = "index of a text: JSON"
    SESSION_INSTANT = "nanoseconds of session time"
    LOCAL_INSTANT = "nanoseconds of a local time"
    LOCAL_DUE = "nanoseconds of a local time, NEVER for never"
    HOST_INSTANT = "milliseconds since 1970"
    DURATION = "nanoseconds"
    PERIOD = "nanoseconds from one call to the next, 0 for none"
    LATENESS = "nanoseconds after the due instant"
    COUNT = "how many"
    TICKS = "number of ticks"
    CALLS = "number of calls, -1 for no limit"
    FRAME = "index of a frame"
    FRAME_AND_PHASE = "index of a frame times 16, plus a Phase"
    GENERATION = "number of reloads of the scene"
    PLACE = "point within the frame at which it was applied"
    ORDER = "a place in an order, smaller comes first"
    RATE = "a rate, over RATE_DENOMINATOR"
    TIMER_KIND = "a TimerKind"
    MEMBER_KIND = "a MemberKind"
    FIELD = "a Field"
    FIELD_VALUE = "value of the field, see Field"
    PHASE = "a Phase"
    LIFE = "a LifeCycle"
    MODE = "a Mode"
    READING = "a Reading"
    CALLBACKS_AND_INSPECTOR = "microseconds in callbacks times 2**32, plus those of the inspector"
    COLLECTION_AND_LATE = (
        "microseconds of garbage collection times 2**32, plus those by which the host was late"
    )
    SAMPLED_CLOCK = "number of the clock whose loop or process was looked at"
    CALL_KIND = "a CallKind"
    TASK = "number of a task, 0 for none"
    TASK_WAIT = "a TaskWait"
    PLACE_IN_STACK = "place of a frame in the stack, 0 for the outermost"
    SAMPLE_FORM = (
        "other calls before times 2**32, plus samples before times 2**16, plus frames of the stack "
        "times 2**8, plus flags"
    )
    COLLECTION = "a generation, plus 2**16 times the line that calls gc.collect, plus a flag"
    READ_VALUE = "nanoseconds of the time source, or from frame to frame, see Reading"

    @property
    def is_text(self) -> bool:
        """Whether the number is an index into the string table."""
        return self in _TEXTS


#: What the numbers of a unit stand for.
NUMBERS: Final[dict[Unit, type[NamedNumber | TimerKind | Reading]]] = {
    Unit.TIMER_KIND: TimerKind,
    Unit.MEMBER_KIND: MemberKind,
    Unit.FIELD: Field,
    Unit.PHASE: Phase,
    Unit.LIFE: LifeCycle,
    Unit.MODE: Mode,
    Unit.READING: Reading,
    Unit.LOOP_KIND: LoopKind,
    Unit.CALL_KIND: CallKind,
    Unit.TASK_WAIT: TaskWait,
}
_TEXTS: Final = frozenset({Unit.NAME, Unit.TEXT, Unit.SITE, Unit.ASKER, Unit.TRACEBACK, Unit.JSON})


class Fold(Enum):
    """Which events of a kind a state still depends on when others have followed."""

    #: Every event counts, and their order among one another.
    EACH = auto()
    #: Timers: only the final state and the number of firings count.
    TIMER = auto()
    #: Frames: the start of a frame, its parts, which count until the next start, and its end.
    FRAME_START = auto()
    FRAME_PART = auto()
    FRAME_END = auto()
    #: The same for each of the loops that are not shown.
    LOOP_START = auto()
    LOOP_PART = auto()
    LOOP_END = auto()
    #: Members: only the last value of a field counts, unless :attr:`FieldRow.each_counts`.
    FIELD = auto()
    #: Members: only the last call and the number of calls count.
    CALL = auto()
    NONE = auto()


class EventGroup(IntEnum):
    """Kinds of events that are shown or hidden together."""

    FAILURES = 0
    COMMANDS = 1
    BREAKPOINTS = 2
    MARKS = 3
    CLOCKS = 4
    MEMBERS = 5
    STATES = 6
    TIMERS = 7
    FIRINGS = 8
    CALLS = 9
    FRAMES = 10
    READINGS = 11
    SAMPLES = 12
    TASKS = 13

    @property
    def title(self) -> str:
        return self.name.capitalize()

    @property
    def word(self) -> str:
        return _GROUP_TEXTS[self][0]

    @property
    def explanation(self) -> str:
        return _GROUP_TEXTS[self][1]


_GROUP_TEXTS: Final = {
    EventGroup.FAILURES: ("✖ failure", "Callbacks and threads that raised"),
    EventGroup.COMMANDS: ("» command", "Interventions, running and holding"),
    EventGroup.BREAKPOINTS: ("◉ breakpoint", "Breakpoints that were hit"),
    EventGroup.MARKS: ("⚑ mark", "Marked instants and loaded scenes"),
    EventGroup.CLOCKS: ("◷ clock", "Clocks added, removed, paused, resumed, or with a new rate"),
    EventGroup.MEMBERS: (
        "◇ member",
        "Schedulers, targets, components, tickers and machines: added, removed, paused, resumed",
    ),
    EventGroup.STATES: ("◆ state", "States entered and transitions refused"),
    EventGroup.TIMERS: ("+ timer", "Timers set, armed or cleared"),
    EventGroup.FIRINGS: ("◔ firing", "Timers fired and ticks missed"),
    EventGroup.CALLS: (
        "• call",
        "Every call of a scheduler, component or ticker, and when it is due again",
    ),
    EventGroup.FRAMES: ("▭ frame", "Frames and their phases"),
    EventGroup.READINGS: (
        "∘ reading",
        "Readings of the time source and data of commands, for replays",
    ),
    EventGroup.SAMPLES: (
        "≡ sample",
        "What loops were at while they were busy for long, garbage collections, stops",
    ),
    EventGroup.TASKS: ("⋔ task", "Tasks of asyncio, uvloop and trio, while they are asked for"),
}


class EventRow(Struct, frozen=True):
    kind: EventKind
    subject: Unit
    a: Unit
    b: Unit
    group: EventGroup
    sentence: str
    fold: Fold = Fold.EACH  # Its effect on the state of the session
    # Which of its numbers are measured, and so differ from run to run; "sab" if the event itself
    # need not occur in every run.
    measured: str = ""
    asked: str = ""  # What conditions call its numbers, such as s:phase b:took

    @property
    def name(self) -> str:
        """Name of the kind in conditions and exports, such as ``timer_fired``."""
        return self.kind.name.lower()

    @property
    def places_asked(self) -> dict[str, int]:
        """Places in an event by what conditions call them: 2 for the subject, 3, 4."""
        words = (word.split(":") for word in self.asked.split())
        return {name: "sab".index(place) + 2 for place, name in words}

    def unit(self, place: int) -> Unit:
        """Return the unit of a number of an event: 2 for the subject, 3 for ``a``, 4 for ``b``."""
        return (self.subject, self.a, self.b)[place - 2]


# Short names, so that a row is a line.
_K, _U, _G, _F = EventKind, Unit, EventGroup, Field

# fmt: off
_ROWS: Final = (
    EventRow(_K.CLOCK_ADDED, _U.CLOCK, _U.CLOCK, _U.NAME, _G.CLOCKS,
             "{s} added[ under {a}]"),
    EventRow(_K.CLOCK_ANCHORED, _U.CLOCK, _U.LOCAL_INSTANT, _U.RATE, _G.CLOCKS,
             "{s} starts at {a} with rate {b}"),
    EventRow(_K.CLOCK_RATE, _U.CLOCK, _U.RATE, _U.CAUSE, _G.CLOCKS,
             "{s} now runs at rate {a}[ by {b}]", asked="a:rate"),
    EventRow(_K.CLOCK_PAUSED, _U.CLOCK, _U.CAUSE, _U.NOTHING, _G.CLOCKS,
             "{s} paused[ by {a}]"),
    EventRow(_K.CLOCK_RESUMED, _U.CLOCK, _U.CAUSE, _U.NOTHING, _G.CLOCKS,
             "{s} resumed[ by {a}]"),
    EventRow(_K.CLOCK_MOVED, _U.CLOCK, _U.CLOCK, _U.NOTHING, _G.CLOCKS,
             "{s} moved under {a}"),
    EventRow(_K.CLOCK_REMOVED, _U.CLOCK, _U.NOTHING, _U.NOTHING, _G.CLOCKS,
             "{s} removed with everything below it"),
    EventRow(_K.TIMER_ADDED, _U.TIMER, _U.CLOCK, _U.NAME, _G.TIMERS,
             "{s} scheduled on {a}", Fold.TIMER),
    EventRow(_K.TIMER_ORIGIN, _U.TIMER, _U.SITE, _U.TIMER_KIND, _G.TIMERS,
             "{s} is a {b}[, set at {a}]", Fold.TIMER, asked="b:policy"),
    EventRow(_K.TIMER_ARMED, _U.TIMER, _U.LOCAL_INSTANT, _U.PERIOD, _G.TIMERS,
             "{s} is due at local {a}[, then every {b}]", Fold.TIMER),
    EventRow(_K.TIMER_FIRED, _U.TIMER, _U.LATENESS, _U.LOCAL_DUE, _G.FIRINGS,
             "{s} fired[ {a}][; due again at local {b}]", Fold.TIMER, asked="a:lateness"),
    EventRow(_K.TIMER_CLEARED, _U.TIMER, _U.SITE, _U.CAUSE, _G.TIMERS,
             "{s} cleared[ at {a}][ by {b}]", Fold.TIMER),
    EventRow(_K.TICKS_MISSED, _U.TIMER, _U.TICKS, _U.TIMER_KIND, _G.FIRINGS,
             "{s} skipped {a}", Fold.NONE, asked="a:missed"),
    EventRow(_K.FRAME_BEGAN, _U.DIRECTOR, _U.FRAME, _U.DURATION, _G.FRAMES,
             "frame {a} began, delta {b}", Fold.FRAME_START, asked="b:delta"),
    EventRow(_K.PHASE_ENDED, _U.PHASE, _U.FRAME, _U.DURATION, _G.FRAMES,
             "frame {a}: {s} took {b}", Fold.FRAME_PART, measured="b", asked="s:phase b:took"),
    EventRow(_K.FRAME_ENDED, _U.DIRECTOR, _U.DURATION, _U.DURATION, _G.FRAMES,
             "frame ended: {a} since the previous, {b} busy", Fold.FRAME_END, measured="b",
             asked="a:interval b:busy"),
    EventRow(_K.DELTA_CUT, _U.DIRECTOR, _U.DURATION, _U.NOTHING, _G.FRAMES,
             "{a} cut from the delta (longer than max_delta)", Fold.FRAME_PART, asked="a:cut"),
    EventRow(_K.FRAME_SHARES, _U.CALLBACKS_AND_INSPECTOR, _U.COLLECTION_AND_LATE, _U.DURATION,
             _G.FRAMES, "since the previous frame: {s}, {a}, idle {b}", Fold.FRAME_PART,
             measured="sab"),
    EventRow(_K.LOOP_FOUND, _U.LOOP, _U.TEXT, _U.LOOP_KIND, _G.CLOCKS,
             "{s} runs the loop “{a}”, which {b}"),
    EventRow(_K.LOOP_FRAME_BEGAN, _U.LOOP, _U.FRAME, _U.DURATION, _G.FRAMES,
             "{s}: frame {a} began, delta {b}", Fold.LOOP_START),
    EventRow(_K.LOOP_PHASE_ENDED, _U.LOOP, _U.FRAME_AND_PHASE, _U.DURATION, _G.FRAMES,
             "{s}: {a} took {b}", Fold.LOOP_PART, measured="b"),
    EventRow(_K.LOOP_FRAME_ENDED, _U.LOOP, _U.DURATION, _U.DURATION, _G.FRAMES,
             "{s}: frame ended: {a} since the previous, {b} busy", Fold.LOOP_END, measured="b"),
    EventRow(_K.LOOP_DELTA_CUT, _U.LOOP, _U.DURATION, _U.NOTHING, _G.FRAMES,
             "{s}: {a} cut from the delta", Fold.LOOP_PART),
    EventRow(_K.LOOP_ASKED, _U.LOOP, _U.DURATION, _U.NOTHING, _G.FRAMES,
             "{s} asks for frames of {a}"),
    EventRow(_K.CALLBACK_FAILED, _U.TIMER_OR_NONE, _U.TEXT, _U.TRACEBACK, _G.FAILURES,
             "“{a}” failed: {b}", asked="b:error"),
    EventRow(_K.MARK, _U.CLOCK_OR_NONE, _U.TEXT, _U.NOTHING, _G.MARKS,
             "mark: {a}", asked="a:text"),
    EventRow(_K.COMMAND, _U.COMMAND, _U.TEXT, _U.TEXT, _G.COMMANDS,
             "{s}: {a}[ - refused: {b}]", asked="a:text"),
    EventRow(_K.TRANSPORT, _U.MODE, _U.NOTHING, _U.NOTHING, _G.COMMANDS,
             "{s}"),
    EventRow(_K.SCENE, _U.GENERATION, _U.TEXT, _U.NOTHING, _G.MARKS,
             "scene loaded: {a}[ (reload {s})]"),
    EventRow(_K.BREAKPOINT_HIT, _U.BREAKPOINT, _U.TEXT, _U.FRAME, _G.BREAKPOINTS,
             "breakpoint {s} hit in frame {b}: {a}"),
    EventRow(_K.READING, _U.READING, _U.READ_VALUE, _U.COUNT, _G.READINGS,
             "{s}[ {a}]", Fold.NONE),
    EventRow(_K.COMMAND_CONTEXT, _U.CLOCK_OR_NONE, _U.HOST_INSTANT, _U.ASKER, _G.READINGS,
             "requested by {b}[ for {s}]", measured="a"),
    EventRow(_K.COMMAND_FORM, _U.COMMAND, _U.JSON, _U.PLACE, _G.READINGS,
             "[data of {s}|data of the scene's start]"),
    EventRow(_K.THREAD_FAILED, _U.NOTHING, _U.TEXT, _U.TRACEBACK, _G.FAILURES,
             "thread “{a}” failed: {b}", measured="sab", asked="b:error"),
    EventRow(_K.MEMBER_ADDED, _U.MEMBER, _U.MEMBER, _U.NAME, _G.MEMBERS,
             "{s} added[ under {a}]"),
    EventRow(_K.MEMBER_ORIGIN, _U.MEMBER, _U.CLOCK, _U.MEMBER_KIND, _G.MEMBERS,
             "{s} is a {b} on {a}"),
    EventRow(_K.MEMBER_SET, _U.MEMBER, _U.FIELD, _U.FIELD_VALUE, _G.MEMBERS,
             "{s}: {b}", Fold.FIELD, asked="b:rate"),
    EventRow(_K.MEMBER_REMOVED, _U.MEMBER, _U.NOTHING, _U.NOTHING, _G.MEMBERS,
             "{s} removed with everything below it"),
    EventRow(_K.CALL_ENDED, _U.MEMBER, _U.DURATION, _U.DURATION, _G.CALLS,
             "{s} was called, took {b}", Fold.CALL, measured="ab", asked="b:took"),
    EventRow(_K.STATE_ENTERED, _U.MACHINE, _U.TEXT, _U.TEXT, _G.STATES,
             "{s} entered “{a}” by “{b}”", asked="a:state b:transition"),
    EventRow(_K.TRANSITION_REFUSED, _U.MACHINE, _U.TEXT, _U.TEXT, _G.STATES,
             "{s} refused “{a}”: {b}", Fold.NONE, asked="a:transition"),
    EventRow(_K.MEMBER_MOVED, _U.MEMBER, _U.MEMBER, _U.NOTHING, _G.MEMBERS,
             "{s} moved under {a}"),
    EventRow(_K.STACK_FRAME, _U.SAMPLED_CLOCK, _U.PLACE_IN_STACK, _U.SITE, _G.SAMPLES,
             "{s}: frame {a} of the stack is [{b}|not known]", Fold.NONE, measured="sab"),
    EventRow(_K.RUNNING_CALL, _U.SAMPLED_CLOCK, _U.TEXT, _U.CALL_KIND, _G.SAMPLES,
             "{s} runs a {b}[, “{a}”]", Fold.NONE, measured="sab"),
    EventRow(_K.OTHER_THREAD, _U.SAMPLED_CLOCK, _U.DURATION, _U.TEXT, _G.SAMPLES,
             "{s}: another thread used {a} of processor time[, {b}]", Fold.NONE, measured="sab"),
    EventRow(_K.SAMPLE_TIMES, _U.SAMPLED_CLOCK, _U.DURATION, _U.DURATION, _G.SAMPLES,
             "{s}: {a} of processor time, {b} ready without a processor", Fold.NONE,
             measured="sab"),
    EventRow(_K.SAMPLED, _U.SAMPLED_CLOCK, _U.DURATION, _U.SAMPLE_FORM, _G.SAMPLES,
             "{s} sampled: {b}, for {a}", Fold.NONE, measured="sab"),
    EventRow(_K.COLLECTED, _U.SAMPLED_CLOCK, _U.DURATION, _U.COLLECTION, _G.SAMPLES,
             "garbage {b} collected in {a}", Fold.NONE, measured="sab"),
    EventRow(_K.PROCESS_STOPPED, _U.SAMPLED_CLOCK, _U.DURATION, _U.NOTHING, _G.SAMPLES,
             "the process was stopped for {a}", Fold.NONE, measured="sab"),
    EventRow(_K.TASK_ADDED, _U.TASK, _U.CLOCK, _U.TEXT, _G.TASKS,
             "{s} is on {a}[: “{b}”]", measured="sab"),
    EventRow(_K.TASK_ORIGIN, _U.TASK, _U.SITE, _U.SITE, _G.TASKS,
             "{s} was created at [{a}|a line that is not known][, its function is at {b}]",
             measured="sab"),
    EventRow(_K.TASK_WAITS, _U.TASK, _U.TASK_WAIT, _U.DURATION, _G.TASKS,
             "{s} waits for: {a}, at least for {b}", measured="sab"),
    EventRow(_K.TASK_AT, _U.TASK, _U.SITE, _U.TEXT, _G.TASKS,
             "{s} is at [{a}|a line that is not known][, in {b}]", measured="sab"),
    EventRow(_K.TASK_AWAITED, _U.TASK, _U.TASK, _U.COUNT, _G.TASKS,
             "{s} is waited for[ by {a}] ({b} in all)", measured="sab"),
    EventRow(_K.TASK_ENDED, _U.TASK, _U.NOTHING, _U.NOTHING, _G.TASKS,
             "{s} has ended", measured="sab"),
    EventRow(_K.TASKS_TOLD, _U.SAMPLED_CLOCK, _U.COUNT, _U.COUNT, _G.TASKS,
             "{s}: {a} tasks were told, {b} anew", measured="sab"),
)
# fmt: on

SCHEMA: Final = {row.kind: row for row in _ROWS}


class FieldRow(Struct, frozen=True):
    field: Field
    unit: Unit
    sentence: str  # Template with {b} for the value
    by_calls: bool = False  # Whether frames and calls change it, too
    each_counts: bool = False  # Whether a value still matters after the next one


# fmt: off
_FIELD_ROWS: Final = (
    FieldRow(_F.PAUSED, _U.CAUSE_PLUS_ONE, "[paused{b}|not paused]", each_counts=True),
    FieldRow(_F.PRIORITY, _U.ORDER, "priority {b}", by_calls=True, each_counts=True),
    FieldRow(_F.INTERVAL, _U.PERIOD, "[every {b}|every frame]", by_calls=True),
    FieldRow(_F.DUE, _U.LOCAL_DUE, "[due {b}|never due]", by_calls=True),
    FieldRow(_F.CALLS_LEFT, _U.CALLS, "[calls left {b}|no call limit]", by_calls=True),
    FieldRow(_F.TIME, _U.LOCAL_INSTANT, "time {b}", by_calls=True),
    FieldRow(_F.RATE, _U.RATE, "time scale {b}"),
    FieldRow(_F.LIFE, _U.LIFE, "{b}"),
    FieldRow(_F.RULES, _U.TEXT, "follows the rules of “{b}”"),
    FieldRow(_F.STATE, _U.TEXT, "state “{b}”", each_counts=True),
    FieldRow(_F.SOURCE, _U.TEXT, "source “{b}”"),
    FieldRow(_F.TARGET, _U.TEXT, "target “{b}”"),
    FieldRow(_F.PHASE, _U.PHASE, "called in {b}"),
    FieldRow(_F.ORDER, _U.ORDER, "order {b}"),
    FieldRow(_F.MISSED, _U.COUNT, "missed {b}", by_calls=True),
    FieldRow(_F.NAME, _U.TEXT, "name “{b}”", each_counts=True),
    FieldRow(_F.REMAINING, _U.DURATION, "{b} remaining", by_calls=True),
    FieldRow(_F.OWNER, _U.MEMBER, "belongs to {b}"),
)
# fmt: on

FIELDS: Final = {row.field: row for row in _FIELD_ROWS}


def kinds_with(**wanted: Unit | Fold | EventGroup) -> frozenset[int]:
    """Return the numbers of the kinds whose rows have the values given, by attribute."""
    return frozenset(
        int(row.kind)
        for row in _ROWS
        if all(getattr(row, name) is value for name, value in wanted.items())
    )


#: Numbers of the kinds whose ``a``, or ``b``, is an index into the string table.
TEXT_IN_A: Final = frozenset(int(row.kind) for row in _ROWS if row.a.is_text)
TEXT_IN_B: Final = frozenset(int(row.kind) for row in _ROWS if row.b.is_text)
#: Numbers of the kinds whose ``a``, or ``b``, is measured.
MEASURED_A: Final = frozenset(int(row.kind) for row in _ROWS if "a" in row.measured)
MEASURED_B: Final = frozenset(int(row.kind) for row in _ROWS if "b" in row.measured)
#: Numbers of the kinds of which everything is measured.
MEASURED: Final = frozenset(int(row.kind) for row in _ROWS if "s" in row.measured)
#: Numbers of the fields whose value is an index into the string table.
TEXT_FIELDS: Final = frozenset(int(row.field) for row in _FIELD_ROWS if row.unit.is_text)
#: Numbers of the fields that frames and calls change, too.
FIELDS_BY_CALLS: Final = frozenset(int(row.field) for row in _FIELD_ROWS if row.by_calls)
#: Numbers of the fields of which a value still matters after the next one.
FIELDS_THAT_COUNT: Final = frozenset(int(row.field) for row in _FIELD_ROWS if row.each_counts)
#: Numbers of the kinds about a timer, a clock, a member.
ABOUT_TIMERS: Final = kinds_with(subject=Unit.TIMER)
ABOUT_CLOCKS: Final = kinds_with(subject=Unit.CLOCK)
ABOUT_MEMBERS: Final = kinds_with(subject=Unit.MEMBER) | kinds_with(subject=Unit.MACHINE)
#: Numbers of the kinds that set a field of a member.
ABOUT_FIELDS: Final = kinds_with(a=Unit.FIELD)
#: Numbers of the kinds about a timer, if any.
MAY_BE_ABOUT_TIMERS: Final = ABOUT_TIMERS | kinds_with(subject=Unit.TIMER_OR_NONE)
#: Numbers of the kinds about a clock, if any.
MAY_BE_ABOUT_CLOCKS: Final = ABOUT_CLOCKS | kinds_with(
    subject=Unit.CLOCK_OR_NONE, group=EventGroup.MARKS
)
#: Numbers of the kinds that report calls of timers and members, the bounds of frames, the ends of
#: phases, cut time, and where the time between frames went.
FIRINGS: Final = kinds_with(a=Unit.LATENESS)
CALLS: Final = kinds_with(group=EventGroup.CALLS)
FRAME_STARTS: Final = kinds_with(fold=Fold.FRAME_START)
FRAME_ENDS: Final = kinds_with(fold=Fold.FRAME_END)
PHASE_ENDS: Final = kinds_with(subject=Unit.PHASE)
OF_FRAMES: Final = FRAME_STARTS | FRAME_ENDS | kinds_with(fold=Fold.FRAME_PART)
LOOP_ENDS: Final = kinds_with(fold=Fold.LOOP_END)
CUTS: Final = kinds_with(subject=Unit.DIRECTOR, fold=Fold.FRAME_PART)
SHARES: Final = kinds_with(subject=Unit.CALLBACKS_AND_INSPECTOR)
ABOUT_LOOPS: Final = kinds_with(subject=Unit.LOOP)
#: Numbers of the kinds that report what a callback raised.
FAILURES: Final = kinds_with(b=Unit.TRACEBACK)
#: Numbers of the kinds that add and name a clock, a timer or a member, by the unit of the subject.
ADDED: Final = {row.subject: int(row.kind) for row in _ROWS if row.b is Unit.NAME}
#: Numbers of the kinds of commands, and of the details that follow right after a command: where it
#: came from, and its data.
COMMANDS: Final = kinds_with(subject=Unit.COMMAND, group=EventGroup.COMMANDS)
COMMAND_CONTEXTS: Final = kinds_with(b=Unit.ASKER)
COMMAND_FORMS: Final = kinds_with(a=Unit.JSON)
COMMAND_DETAILS: Final = COMMAND_CONTEXTS | COMMAND_FORMS


#: Events about members are in the group of members or of calls, see :func:`group_of`.
_OF_MEMBERS: Final = kinds_with(group=EventGroup.MEMBERS)
_CALLED: Final = TIMED_CALLS | {MemberKind.UPDATE, MemberKind.PHASE, MemberKind.HOOK}
#: Shown at first: everything except what comes with every frame.
QUIET_GROUPS: Final = frozenset(EventGroup) - {
    EventGroup.TIMERS,
    EventGroup.FIRINGS,
    EventGroup.CALLS,
    EventGroup.FRAMES,
    EventGroup.READINGS,
    EventGroup.SAMPLES,
    EventGroup.TASKS,
}


def kinds_of(groups: frozenset[EventGroup]) -> frozenset[int]:
    shown = groups | {EventGroup.MEMBERS} if EventGroup.CALLS in groups else groups
    return frozenset(int(kind) for kind, row in SCHEMA.items() if row.group in shown)


def group_of(event: RawEvent, member_kind: MemberKind | None = None) -> EventGroup:
    """Return the group of an event; a ``ValueError`` for an unknown kind."""
    _, kind, _, a, _ = event
    if kind in _OF_MEMBERS:
        is_set = kind == EventKind.MEMBER_SET
        is_call = a in FIELDS_BY_CALLS if is_set else member_kind in _CALLED
        return EventGroup.CALLS if is_call else EventGroup.MEMBERS
    return SCHEMA[EventKind(kind)].group


def clock_at_parent_time(at_ns: int, number: int, parent: int, name: int) -> list[RawEvent]:
    """Return what adds a clock with its parent's local time; parent 0 for none."""
    return [
        (at_ns, int(_K.CLOCK_ADDED), number, parent, name),
        (at_ns, int(_K.CLOCK_ANCHORED), number, 0, RATE_DENOMINATOR),
    ]


def schema_as_data() -> dict[str, object]:
    """Return the schema as JSON-compatible data, for programs in other languages."""

    def numbers(kinds: type[IntEnum]) -> dict[str, int]:
        return {kind.name.lower(): int(kind) for kind in kinds}

    return {
        "version": VOCABULARY_VERSION,
        "event": ["at_ns", "kind", "subject", "a", "b"],
        "units": {unit.name.lower(): unit.value for unit in Unit},
        "kinds": [
            {
                "number": int(row.kind),
                "name": row.name,
                "subject": row.subject.name.lower(),
                "a": row.a.name.lower(),
                "b": row.b.name.lower(),
                "measured": list(row.measured),
                "group": row.group.name.lower(),
                "sentence": row.sentence,
            }
            for row in _ROWS
        ],
        "fields": [
            {
                "number": int(row.field),
                "name": row.field.name.lower(),
                "unit": row.unit.name.lower(),
                "sentence": row.sentence,
            }
            for row in FIELDS.values()
        ],
        "numbers": {
            unit.name.lower(): numbers(kinds)
            for unit, kinds in NUMBERS.items()
            if unit is not Unit.FIELD
        },
    }


def schema_as_table() -> str:
    lines = [
        "| number | kind | subject | a | b | as a sentence |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in _ROWS:
        units = [
            unit.name.lower().replace("_", " ") + (" (measured)" if place in row.measured else "")
            for place, unit in zip("sab", (row.subject, row.a, row.b), strict=True)
        ]
        sentence = row.sentence.replace("|", "\\|")
        lines.append(f"| {int(row.kind)} | {row.name} | {' | '.join(units)} | {sentence} |")
    return "\n".join(lines) + "\n"
