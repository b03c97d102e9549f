"""The event vocabulary: the numbers of event kinds, member kinds and fields.

This file is the contract between producers and readers of events; the numbers are the same in
memory, on the wire and on disk and are never reused. An event is a plain tuple of five integers,

    (at_ns, kind, subject, a, b)

``at_ns`` is session time: nanoseconds that the transport has let pass since the start of the
session. Texts are numbers too: an index into the string table of the log ("sid"; 0 is the empty
text). The engine appends such tuples directly, because a method call per event costs more than the
event.

:mod:`inspector.events.schema` and the help page *Events* define the three numbers of each kind.

``COMMAND_CONTEXT`` immediately follows ``COMMAND``: its clock, the time of day, and where it came
from. ``cause`` is the number of the command that made the change, 0 for the program. A rate
numerator is over :data:`RATE_DENOMINATOR`. ``TIMER_FIRED`` precedes its callback and has the next
due time; ``NEVER`` means that the timer is gone. A ``TIMER_CLEARED`` with call site 0 was made by a
command or the removal of a branch.

``READING`` is the external input of a scene: the readings of its time source, from the start of the
session. Together with ``COMMAND_FORM``, a command as JSON, it is all that a replay needs; the form
with number 0 is the start of the scene.

Members are what hangs under a clock besides child clocks and timers of the tree: schedulers, their
targets and calls, components, tickers, state machines. They form trees, have one number each,
and consist of a few fields. ``MEMBER_ORIGIN`` immediately follows ``MEMBER_ADDED``. Removing a
member removes everything below it. ``CALL_ENDED`` has the start of a call, relative to its
frame, and its duration; inner calls end first. Only measured values, here and in the frame's
events, differ between two runs of a scene with the same readings.

``FRAME_SHARES``, if there is one, follows ``FRAME_BEGAN``: where the time since the previous frame
went, measured. Four durations are two to a number, see :func:`two_durations`; what is left of the
interval is unknown.

Of attached programs, the frames of one loop are told by the events of frames, those of the others
by events with ``LOOP_`` before their names. ``LOOP_FOUND`` precedes the first frame of every loop;
the first loop found is the one, see :mod:`inspector.events.loop_frames`.

``SAMPLED`` is a look at the thread of a loop that has been busy for long, or was kept from running;
the numbers stand for the time since the look before. It ends the events that belong to it:
``STACK_FRAME`` replaces one frame of the stack that the sample before has told, the outermost being
number 0; ``RUNNING_CALL`` is told when it changes; ``OTHER_THREAD`` has run for a good part of the
time. The first sample of a turn, and every 32nd, tell everything.

Events of tasks are told while an inspector asks for the tasks of a program: what has changed since
they were told last, ended by ``TASKS_TOLD``. How many tasks there are is its first number; 0 says
that none are known from there on.
"""

from __future__ import annotations

from array import array
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from typing import Any, Final, Literal, NamedTuple, TypeAlias

#: Raised when the meaning of a number changes, or for numbers unknown to older readers; readers
#: refuse newer versions. Version 2 added :attr:`Field.OWNER`, version 3 loops, child clocks,
#: timeouts and hooks among the members, version 4 :data:`FRAME_SHARES`, version 5 the frames of
#: several loops, version 6 samples of loops, version 7 tasks.
VOCABULARY_VERSION: Final = 7

#: Rates are exact multiples of one over this: halves to sixteenths, thirds,
#: sevenths, elevenths, thirteenths, sixtieths and four decimals are exact.
RATE_DENOMINATOR: Final = 720_720_000
_SHORT_RATES: Final = {RATE_DENOMINATOR // 4: "¼", RATE_DENOMINATOR // 2: "½"}

#: The due time of something that will not happen: after every instant.
NEVER: Final = 2**63 - 1

RawEvent: TypeAlias = tuple[int, int, int, int, int]

#: Events one after another, five numbers each: an array where all fit into 64 bits.
Numbers: TypeAlias = "array[int] | list[int]"

#: Which time is plotted: source time between frame starts, time in callbacks, or local time
#: passed to the callbacks.
Measure = Literal["interval", "busy", "delta"]

CLOCK_ADDED: Final = 1
CLOCK_ANCHORED: Final = 2
CLOCK_RATE: Final = 3
CLOCK_PAUSED: Final = 4
CLOCK_RESUMED: Final = 5
CLOCK_MOVED: Final = 6
CLOCK_REMOVED: Final = 7
TIMER_ADDED: Final = 16
TIMER_ORIGIN: Final = 17
TIMER_ARMED: Final = 18
TIMER_FIRED: Final = 19
TIMER_CLEARED: Final = 20
TICKS_MISSED: Final = 21
FRAME_BEGAN: Final = 32
PHASE_ENDED: Final = 33
FRAME_ENDED: Final = 34
DELTA_CUT: Final = 35
FRAME_SHARES: Final = 36
LOOP_FOUND: Final = 37
LOOP_FRAME_BEGAN: Final = 38
LOOP_PHASE_ENDED: Final = 39
LOOP_FRAME_ENDED: Final = 40
LOOP_DELTA_CUT: Final = 41
LOOP_ASKED: Final = 42
CALLBACK_FAILED: Final = 48
MARK: Final = 49
COMMAND: Final = 50
TRANSPORT: Final = 51
SCENE: Final = 52
BREAKPOINT_HIT: Final = 53
READING: Final = 54
COMMAND_CONTEXT: Final = 55
COMMAND_FORM: Final = 56
THREAD_FAILED: Final = 57
MEMBER_ADDED: Final = 64
MEMBER_ORIGIN: Final = 65
MEMBER_SET: Final = 66
MEMBER_REMOVED: Final = 67
CALL_ENDED: Final = 68
STATE_ENTERED: Final = 69
TRANSITION_REFUSED: Final = 70
MEMBER_MOVED: Final = 71
STACK_FRAME: Final = 80
RUNNING_CALL: Final = 81
OTHER_THREAD: Final = 82
SAMPLE_TIMES: Final = 83
SAMPLED: Final = 84
COLLECTED: Final = 85
PROCESS_STOPPED: Final = 86
TASK_ADDED: Final = 96
TASK_ORIGIN: Final = 97
TASK_WAITS: Final = 98
TASK_AT: Final = 99
TASK_AWAITED: Final = 100
TASK_ENDED: Final = 101
TASKS_TOLD: Final = 102


class EventKind(IntEnum):
    """The kinds of events, for readers; the engine uses the plain numbers."""

    CLOCK_ADDED = CLOCK_ADDED
    CLOCK_ANCHORED = CLOCK_ANCHORED
    CLOCK_RATE = CLOCK_RATE
    CLOCK_PAUSED = CLOCK_PAUSED
    CLOCK_RESUMED = CLOCK_RESUMED
    CLOCK_MOVED = CLOCK_MOVED
    CLOCK_REMOVED = CLOCK_REMOVED
    TIMER_ADDED = TIMER_ADDED
    TIMER_ORIGIN = TIMER_ORIGIN
    TIMER_ARMED = TIMER_ARMED
    TIMER_FIRED = TIMER_FIRED
    TIMER_CLEARED = TIMER_CLEARED
    TICKS_MISSED = TICKS_MISSED
    FRAME_BEGAN = FRAME_BEGAN
    PHASE_ENDED = PHASE_ENDED
    FRAME_ENDED = FRAME_ENDED
    DELTA_CUT = DELTA_CUT
    FRAME_SHARES = FRAME_SHARES
    LOOP_FOUND = LOOP_FOUND
    LOOP_FRAME_BEGAN = LOOP_FRAME_BEGAN
    LOOP_PHASE_ENDED = LOOP_PHASE_ENDED
    LOOP_FRAME_ENDED = LOOP_FRAME_ENDED
    LOOP_DELTA_CUT = LOOP_DELTA_CUT
    LOOP_ASKED = LOOP_ASKED
    CALLBACK_FAILED = CALLBACK_FAILED
    MARK = MARK
    COMMAND = COMMAND
    TRANSPORT = TRANSPORT
    SCENE = SCENE
    BREAKPOINT_HIT = BREAKPOINT_HIT
    READING = READING
    COMMAND_CONTEXT = COMMAND_CONTEXT
    COMMAND_FORM = COMMAND_FORM
    THREAD_FAILED = THREAD_FAILED
    MEMBER_ADDED = MEMBER_ADDED
    MEMBER_ORIGIN = MEMBER_ORIGIN
    MEMBER_SET = MEMBER_SET
    MEMBER_REMOVED = MEMBER_REMOVED
    CALL_ENDED = CALL_ENDED
    STATE_ENTERED = STATE_ENTERED
    TRANSITION_REFUSED = TRANSITION_REFUSED
    MEMBER_MOVED = MEMBER_MOVED
    STACK_FRAME = STACK_FRAME
    RUNNING_CALL = RUNNING_CALL
    OTHER_THREAD = OTHER_THREAD
    SAMPLE_TIMES = SAMPLE_TIMES
    SAMPLED = SAMPLED
    COLLECTED = COLLECTED
    PROCESS_STOPPED = PROCESS_STOPPED
    TASK_ADDED = TASK_ADDED
    TASK_ORIGIN = TASK_ORIGIN
    TASK_WAITS = TASK_WAITS
    TASK_AT = TASK_AT
    TASK_AWAITED = TASK_AWAITED
    TASK_ENDED = TASK_ENDED
    TASKS_TOLD = TASKS_TOLD


class NamedNumber(IntEnum):
    """A number that is shown by its name."""

    @property
    def text(self) -> str:
        """The number as shown in the window."""
        return self.name.lower().replace("_", " ")


class TimerKind(IntEnum):
    """Kind of a timer: one-shot, or repeating with a policy for missed ticks."""

    TIMEOUT = 0
    INTERVAL_BURST = 1
    INTERVAL_DELAY = 2
    INTERVAL_SKIP = 3

    @property
    def text(self) -> str:
        """The kind as shown in the window."""
        return _TIMER_KIND_TEXTS[self]


class Phase(NamedNumber):
    """The phases of a frame, in the order in which they run."""

    TIMERS = 0
    BEFORE_UPDATE = 1
    START = 2
    UPDATE = 3
    LATE_UPDATE = 4
    AFTER_UPDATE = 5
    DRAW = 6


class LoopKind(NamedNumber):
    """What a loop of an attached program does between its frames."""

    DRAWS_FRAMES = 0
    #: Turns of a loop that waits for events, such as asyncio's.
    WAITS_FOR_EVENTS = 1


class CallKind(NamedNumber):
    """What a loop was calling when it was sampled."""

    CALLBACK = 0
    #: A step of a task.
    TASK = 1
    #: The program's own loop, a part of its frame.
    FRAME = 2


class TaskWait(NamedNumber):
    """What a task waits for."""

    UNKNOWN = 0
    RUNNING = 1
    #: It can go on as soon as its loop is free.
    READY = 2
    #: Another task.
    TASK = 3
    TIMER = 4
    LOCK = 5
    EVENT = 6
    QUEUE = 7
    SOCKET = 8
    THREAD = 9
    PROCESS = 10
    #: Something that a future stands for, which nothing more is known of.
    FUTURE = 11


#: Bits of :attr:`SampleForm.flags`: the interpreter was not free before, so the stack is that of
#: the first moment afterwards; the innermost frame calls what waits; times of threads are not
#: known here; the loop was between two turns; the rest of a turn after its last sample.
SAW_AFTERWARDS: Final = 1
SAW_WAIT: Final = 2
SAW_NO_TIMES: Final = 4
SAW_BETWEEN_TURNS: Final = 8
SAW_END: Final = 16
#: Of a scene, whose time stands still meanwhile: the sample stands for the time that follows what
#: those of the turn before it stand for, from the instant of the event on. Added to a generation, a
#: collection right behind the sample before.
SAW_FROM_HERE: Final = 32
#: For most of the time it stands for, nobody could look.
SAW_AFTER_GAP: Final = 64
#: Told when its turn was over: it stands for a time that ended as much earlier as the second number
#: of ``SAMPLE_TIMES`` says. The first is then the time without a processor; the rest of what the
#: sample stands for was used, or waited.
SAW_EARLIER: Final = 128
COLLECTED_HERE: Final = 256
#: From this bit of a generation on stands the line that calls ``gc.collect``, if one does.
COLLECTING_LINE_SHIFT: Final = 16


class SampleForm(NamedTuple):
    """The second number of ``SAMPLED``.

    Attributes:
        part: How many other calls the samples of this turn have seen before, at most 65,535.
        number: How many samples of this turn there were before, modulo 65,536.
        depth: Number of frames of the stack, 0 without one.
        flags: Bits that begin with ``SAW_``.
    """

    part: int
    number: int
    depth: int
    flags: int

    @property
    def packed(self) -> int:
        """The form as one number."""
        return self.part << 32 | self.number << 16 | self.depth << 8 | self.flags

    @staticmethod
    def of(number: int) -> SampleForm:
        """Return what a number stands for."""
        return SampleForm(number >> 32, number >> 16 & 0xFFFF, number >> 8 & 0xFF, number & 0xFF)


class Share(NamedNumber):
    """A share of the time between two frames; what is in none of them is unknown."""

    #: Callbacks of the program, without garbage collection.
    CALLBACKS = 0
    #: The inspector itself: its window, recording, breakpoints.
    INSPECTOR = 1
    GARBAGE_COLLECTION = 2
    #: The thread slept, or did not get the processor, although a wake-up was due.
    HOST_LATE = 3
    #: Nothing was due.
    IDLE = 4

    @property
    def column(self) -> str:
        """Its name as a column of frames in files."""
        return f"{self.name.lower()}_share_ns"


def two_durations(first_ns: int, second_ns: int) -> int:
    """Return two durations as one number: microseconds, the first times 2**32."""
    return min(first_ns // 1000, _MOST_US) << 32 | min(second_ns // 1000, _MOST_US)


def durations_of(number: Any) -> tuple[Any, Any]:  # noqa: ANN401 - an int, or an array of them
    """Return the two durations of :func:`two_durations`, in nanoseconds."""
    return (number >> 32) * 1000, (number & 0xFFFF_FFFF) * 1000


#: 35 minutes.
_MOST_US: Final = 2**31 - 1


def frame_and_phase(frame: Any, phase: Any) -> Any:  # noqa: ANN401 - ints, or arrays of them
    """Return the index of a frame and a phase as one number: the frame times 16."""
    return frame << _PHASE_BITS | phase


def frame_and_phase_in(number: Any) -> tuple[Any, Any]:  # noqa: ANN401 - an int, or an array
    """Return the two numbers of :func:`frame_and_phase`; the phase may be none."""
    return number >> _PHASE_BITS, number & (1 << _PHASE_BITS) - 1


_PHASE_BITS: Final = 4


class MemberKind(NamedNumber):
    """Kind of a member; possible children are in brackets."""

    #: A frame scheduler, ours or a dialect (targets).
    SCHEDULER = 1
    #: The owner of calls (updates and frame timers).
    TARGET = 2
    #: Called in every frame, in the order of priorities.
    UPDATE = 3
    #: A timer of a scheduler, in scheduler time.
    FRAME_TIMER = 4
    #: A component director (phases, nodes, a scheduler).
    COMPONENT_DIRECTOR = 5
    #: A phase of a component director's frame; has calls only.
    PHASE = 6
    #: A node of the scene graph (nodes, components).
    NODE = 7
    #: A component of a node.
    COMPONENT = 8
    #: A ticker (ticker timers).
    TICKER = 9
    #: A timer, timeout or interval of a ticker, in ticker time.
    TICKER_TIMER = 10
    #: A state machine (edges, hooks).
    MACHINE = 11
    #: An edge of a transition of a machine.
    EDGE = 12
    #: A callback that joined a phase of the frame.
    FRAME_CALLBACK = 13
    #: A fixed-rate loop, in the time of its clock; since version 3.
    LOOP = 14
    #: A clock of open-flash (child clocks, timeouts, loops); since version 3.
    CHILD_CLOCK = 15
    #: A timeout of a child clock, in the time of the clock of the tree; since version 3.
    TIMEOUT = 16
    #: A hook of a machine; has calls only; since version 3.
    HOOK = 17
    #: Slices of the same name on a thread of a captured trace; has calls only, whose events are
    #: at the instant at which they ended. Captures are never written, so no recording has it.
    SLICE = 18


class Field(NamedNumber):
    """A field of a member; a field that was never set is unknown."""

    #: 0: not paused itself; otherwise the number of the command that paused it, plus 1.
    PAUSED = 1
    #: Order among update callbacks; smaller comes first.
    PRIORITY = 2
    #: Nanoseconds between calls, 0 for every frame.
    INTERVAL = 3
    #: Time of the next call, in the time of its scheduler, of a loop or timeout in that of its
    #: clock; ``NEVER`` for no time, such as for calls of every frame. Without meaning while paused:
    #: see ``REMAINING``.
    DUE = 4
    #: Calls left, -1 for no limit.
    CALLS_LEFT = 5
    #: Scheduler or ticker time, at the end of its last frame.
    TIME = 6
    #: Time scale, over :data:`RATE_DENOMINATOR`.
    RATE = 7
    #: :class:`LifeCycle` of a component or node.
    LIFE = 8
    #: Its rules: a dialect, a way of counting (sid).
    RULES = 9
    #: Present state of a machine (sid); set once, then entered.
    STATE = 10
    #: State an edge leads from (sid); ``*`` for any.
    SOURCE = 11
    #: State an edge leads to (sid); empty if a function decides.
    TARGET = 12
    #: :class:`Phase` of the frame in which it is called.
    PHASE = 13
    #: Execution order of a component.
    ORDER = 14
    #: Calls skipped because of a limit.
    MISSED = 15
    #: Its new name (sid).
    NAME = 16
    #: Nanoseconds of its scheduler's time that remained when it was paused.
    REMAINING = 17
    #: Number of the node or component that is the target; since version 2. Set once, and kept when
    #: that member is removed, which shows whose timers outlive it. Not set for calls scheduled
    #: before the node or component was part of a scene.
    OWNER = 18


class LifeCycle(NamedNumber):
    """Life cycle of a component or node."""

    #: Made, its node was never active.
    NEW = 0
    #: Loaded; disabled, or its node is inactive.
    DISABLED = 1
    #: Enabled, waits for its start.
    ENABLED = 2
    #: Started, takes part in every frame.
    STARTED = 3
    #: Marked, destroyed at the end of the frame.
    DESTROYING = 4


class Reading(IntEnum):
    """External input of a scene: a reading of the time source, or a request of the host."""

    #: The engine read the time.
    ASKED = 0
    #: The source woke the engine, which read the time.
    WOKEN = 1
    #: Virtual time was advanced to this instant.
    ADVANCED = 2
    #: The host set the period of the frames, in nanoseconds.
    PERIOD = 3
    #: The host let session time catch up with the source.
    SYNCED = 4
    #: The host has held the scene.
    HELD = 5
    #: The host restored the scene's own frame rate.
    RATE = 6
    #: The host had session time begin only now.
    BEGUN = 7

    @property
    def text(self) -> str:
        """The input as shown in the window."""
        return _READING_TEXTS[self]


class Mode(NamedNumber):
    """What the transport does with the source's time."""

    HELD = 0
    RUNNING = 1


_READING_TEXTS: Final = {
    Reading.ASKED: "the source was asked:",
    Reading.WOKEN: "woken by the source at",
    Reading.ADVANCED: "time was advanced to",
    Reading.PERIOD: "the host wants frames every",
    Reading.SYNCED: "caught up with the source",
    Reading.HELD: "held by the host",
    Reading.RATE: "frames at the scene's own rate",
    Reading.BEGUN: "begun by the host",
}

_TIMER_KIND_TEXTS: Final = {
    TimerKind.TIMEOUT: "timeout",
    TimerKind.INTERVAL_BURST: "interval",
    TimerKind.INTERVAL_DELAY: "interval (delay)",
    TimerKind.INTERVAL_SKIP: "interval (skip)",
}


@lru_cache(maxsize=256)
def rate_text(rate_n: int) -> str:
    """Return a rate numerator as text: ``1``, ``0.25``, ``1/3``, ``1,440``."""
    return _grouped(typed_rate(rate_n))


def rate_chip(rate_n: int) -> str:
    """Return a rate numerator as briefly as can be: ``×¼``."""
    return f"×{_SHORT_RATES.get(rate_n) or rate_text(rate_n)}"


def typed_rate(rate_n: int) -> str:
    """Return a rate numerator as text that can be read again: ``1440``."""
    return _exact_text(Fraction(rate_n, RATE_DENOMINATOR))


def ratio_text(ratio: Fraction) -> str:
    """Return a rate as ``0.25`` or ``1/3``, or rounded as ``≈0.123457`` if that is long."""
    text = _exact_text(ratio)
    is_short = "/" not in text or len(text) <= len("1000/1001")
    return _grouped(text) if is_short else f"≈{float(ratio):.6g}"


def _grouped(text: str) -> str:
    """Return a decimal with commas between thousands, a fraction as it is."""
    whole, point, decimals = text.partition(".")
    return f"{int(whole):,}{point}{decimals}" if whole.isdecimal() else text


def _exact_text(ratio: Fraction) -> str:
    decimal = f"{float(ratio):.4f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == ratio else str(ratio)


def what_was_raised(traceback_text: str) -> str:
    """Return the line of a traceback with the exception, such as ``ValueError: no``.

    The first line of a message; of a group of exceptions, that of the group.
    """
    lines = traceback_text.strip("\n").splitlines()
    if lines and lines[0].lstrip().startswith(_GROUP_SIGNS):
        # Each line of a group follows a bar, and its members a line of dashes.
        lines = [line.partition("| ")[2] for line in takewhile(_is_before_members, lines)]
    behind_frames = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(_FRAME_SIGNS):
            behind_frames = number
    told = (line for line in lines[behind_frames:] if line.strip() and not line[0].isspace())
    line = next(told, lines[-1].strip() if lines else "")
    return line if len(line) <= _MOST_RAISED else f"{line[:_MOST_RAISED]}…"


#: Longest message of an exception, in characters.
_MOST_RAISED: Final = 400

#: Starts of the lines of a traceback that are followed by lines of the program.
_FRAME_SIGNS: Final = ('  File "', "Traceback (")
_GROUP_SIGNS: Final = ("+ Exception Group", "| ")


def _is_before_members(line: str) -> bool:
    return not line.lstrip().startswith("+-")
