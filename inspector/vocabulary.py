"""The event vocabulary: every kind of event, its number and its fields.

This file is the contract between everything that produces events and
everything that reads them; the numbers are the same in memory, on the wire and
on disk and are never used twice. An event is a plain tuple of five integers,

    (at_ns, kind, subject, a, b)

``at_ns`` is session time: nanoseconds that the transport has let pass since the
session began. Texts are numbers too: an index into the string table of the log
("sid"; 0 is the empty text). The engine appends such tuples directly, because a
method call per event costs more than the event itself.

What the three numbers of each kind are is said in :mod:`inspector.events.schema`, and on the
help page *Events*.

``COMMAND_CONTEXT`` follows ``COMMAND`` at once: which clock it is about, when it was
in the host's own time, and who asked for it. ``cause`` is the number of the command
that made the change, 0 for the program's own doing. A rate numerator is over
:data:`RATE_DENOMINATOR`. ``TIMER_FIRED`` comes before its callback runs and already
says when the timer is due again;
``NEVER`` there means that it is gone. ``TIMER_CLEARED`` with a call site of 0
was cleared by a command, or because its branch was removed.

``READING`` is what came from outside and made the scene go on: what its time source said,
counted from the beginning of the session. Together with ``COMMAND_FORM``, a command as
JSON, that is all a scene needs to do the same again; number 0 says how the life of the
scene began.

Members are what lives by a clock and is neither clock nor timer of the tree:
schedulers, their targets and calls, components, tickers, state machines. They hang
under one another, have one number each, and what is known of one is a handful of
fields. ``MEMBER_ORIGIN`` follows ``MEMBER_ADDED`` at once. A member that goes takes
all below it along. ``CALL_ENDED`` says when a call began, counted from the beginning
of its frame, and how long it took; calls within it end before it does. Machines are
members as well. What was measured, here and in the frame's events, is the only thing
that differs between two runs of the same scene with the same readings.
"""

from enum import IntEnum
from fractions import Fraction
from itertools import takewhile
from typing import Final, TypeAlias

#: Raised when the meaning of a number changes, or one comes that older readers do not know;
#: readers refuse newer versions. Version 2 has come with :attr:`Field.OWNER`, version 3 with
#: loops, child clocks, timeouts and hooks among the members.
VOCABULARY_VERSION: Final = 3

#: Rates are exact multiples of one over this: halves to sixteenths, thirds,
#: sevenths, elevenths, thirteenths, sixtieths and four decimals are exact.
RATE_DENOMINATOR: Final = 720_720_000

#: The due time of what will not happen: above every instant.
NEVER: Final = 2**63 - 1

RawEvent: TypeAlias = tuple[int, int, int, int, int]

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
CALLBACK_FAILED: Final = 48
MARK: Final = 49
COMMAND: Final = 50
TRANSPORT: Final = 51
SCENE: Final = 52
BREAKPOINT_HIT: Final = 53
READING: Final = 54
COMMAND_CONTEXT: Final = 55
COMMAND_FORM: Final = 56
MEMBER_ADDED: Final = 64
MEMBER_ORIGIN: Final = 65
MEMBER_SET: Final = 66
MEMBER_REMOVED: Final = 67
CALL_ENDED: Final = 68
STATE_ENTERED: Final = 69
TRANSITION_REFUSED: Final = 70
MEMBER_MOVED: Final = 71


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
    CALLBACK_FAILED = CALLBACK_FAILED
    MARK = MARK
    COMMAND = COMMAND
    TRANSPORT = TRANSPORT
    SCENE = SCENE
    BREAKPOINT_HIT = BREAKPOINT_HIT
    READING = READING
    COMMAND_CONTEXT = COMMAND_CONTEXT
    COMMAND_FORM = COMMAND_FORM
    MEMBER_ADDED = MEMBER_ADDED
    MEMBER_ORIGIN = MEMBER_ORIGIN
    MEMBER_SET = MEMBER_SET
    MEMBER_REMOVED = MEMBER_REMOVED
    CALL_ENDED = CALL_ENDED
    STATE_ENTERED = STATE_ENTERED
    TRANSITION_REFUSED = TRANSITION_REFUSED
    MEMBER_MOVED = MEMBER_MOVED


class TimerKind(IntEnum):
    """What kind of timer: fires once, or repeats with a missed-tick policy."""

    TIMEOUT = 0
    INTERVAL_BURST = 1
    INTERVAL_DELAY = 2
    INTERVAL_SKIP = 3

    @property
    def text(self) -> str:
        """The kind in the words of the window."""
        return _TIMER_KIND_TEXTS[self]


class Phase(IntEnum):
    """The phases of a frame, in the order in which they run."""

    TIMERS = 0
    BEFORE_UPDATE = 1
    START = 2
    UPDATE = 3
    LATE_UPDATE = 4
    AFTER_UPDATE = 5
    DRAW = 6

    @property
    def text(self) -> str:
        """The phase in the words of the window."""
        return self.name.lower().replace("_", " ")


class MemberKind(IntEnum):
    """What a member is; what may hang under it is told in brackets."""

    #: A frame scheduler, ours or a dialect (targets).
    SCHEDULER = 1
    #: Whom calls belong to (updates and frame timers).
    TARGET = 2
    #: Called in every frame, in the order of priorities.
    UPDATE = 3
    #: A timer of a scheduler, in scheduler time.
    FRAME_TIMER = 4
    #: A component director (phases, nodes, a scheduler).
    COMPONENT_DIRECTOR = 5
    #: A part of a component director's frame; carries calls only.
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
    #: One way in which a transition of a machine can be made.
    EDGE = 12
    #: A callback that joined a phase of the frame.
    FRAME_CALLBACK = 13
    #: A fixed-rate loop, in the time of its clock; since version 3.
    LOOP = 14
    #: A clock of open-flash's (child clocks, timeouts, loops); since version 3.
    CHILD_CLOCK = 15
    #: A timeout of a child clock, in the time of the clock of the tree; since version 3.
    TIMEOUT = 16
    #: What a machine calls around its transitions; carries calls only; since version 3.
    HOOK = 17

    @property
    def text(self) -> str:
        """The kind in the words of the window."""
        return self.name.lower().replace("_", " ")


class Field(IntEnum):
    """What can be known of a member; a field that was never set is not known."""

    #: 0: not paused itself; else 1 more than the number of the command that did it.
    PAUSED = 1
    #: Order among update callbacks, the smaller the earlier.
    PRIORITY = 2
    #: Nanoseconds between calls, 0 for every frame.
    INTERVAL = 3
    #: When it is called next, in the time of its scheduler, of a loop or timeout in that of
    #: its clock; ``NEVER`` for at no instant, as what is called every frame. Means nothing
    #: while it is paused: see ``REMAINING``.
    DUE = 4
    #: How many calls are left, -1 for no end.
    CALLS_LEFT = 5
    #: Scheduler or ticker time, at the end of its last frame.
    TIME = 6
    #: Time scale, over :data:`RATE_DENOMINATOR`.
    RATE = 7
    #: :class:`Life` of a component or node.
    LIFE = 8
    #: The rules it goes by: a dialect, a way of counting (sid).
    RULES = 9
    #: Present state of a machine (sid); set once, then entered.
    STATE = 10
    #: State an edge leads away from (sid); ``*`` for any.
    SOURCE = 11
    #: State an edge leads to (sid); the empty text when a function says so.
    TARGET = 12
    #: :class:`Phase` of the frame in which it is called.
    PHASE = 13
    #: Execution order of a component.
    ORDER = 14
    #: Calls that were left out because of a limit, or thrown away.
    MISSED = 15
    #: What it is called from now on (sid).
    NAME = 16
    #: Nanoseconds of its scheduler's time that were left to wait when it was paused.
    REMAINING = 17
    #: Number of the node or component that a target is; since version 2. It is said once,
    #: and stays when that member is removed: so one sees whose timers outlive it. It is not
    #: said of what was scheduled before the node or component was part of a scene.
    OWNER = 18

    @property
    def text(self) -> str:
        """The field in the words of the window."""
        return self.name.lower().replace("_", " ")


class Life(IntEnum):
    """Where a component or node is in its life."""

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

    @property
    def text(self) -> str:
        """The state in the words of the window."""
        return self.name.lower()


class Reading(IntEnum):
    """What came from outside: why the time source was read, or what the host wanted."""

    #: The engine asked what time it is.
    ASKED = 0
    #: The source woke the engine, which then asked.
    WOKEN = 1
    #: Virtual time was advanced up to there.
    ADVANCED = 2
    #: The host has set the period of the frames, in nanoseconds.
    PERIOD = 3
    #: The host let session time catch up with the source.
    SYNCED = 4
    #: The host has held the scene.
    HELD = 5
    #: The host went back to the scene's own frame rate.
    RATE = 6

    @property
    def text(self) -> str:
        """What came, in the words of the window."""
        return _READING_TEXTS[self]


class Mode(IntEnum):
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
}

_TIMER_KIND_TEXTS: Final = {
    TimerKind.TIMEOUT: "timeout",
    TimerKind.INTERVAL_BURST: "interval",
    TimerKind.INTERVAL_DELAY: "interval (delay)",
    TimerKind.INTERVAL_SKIP: "interval (skip)",
}


def rate_text(rate_n: int) -> str:
    """Return a rate numerator as people write rates: ``1``, ``0.25``, ``1/3``."""
    rate = Fraction(rate_n, RATE_DENOMINATOR)
    decimal = f"{float(rate):.4f}".rstrip("0").rstrip(".")
    return decimal if Fraction(decimal) == rate else str(rate)


def what_was_raised(traceback_text: str) -> str:
    """Return the line of a traceback that tells what was raised, as ``ValueError: no``.

    Of a message of several lines it is the first; of a group of exceptions, the group's.
    """
    lines = traceback_text.strip("\n").splitlines()
    if lines and lines[0].lstrip().startswith(_GROUP_SIGNS):
        # Each line of a group stands behind a bar, and its members below a line of dashes.
        lines = [line.partition("| ")[2] for line in takewhile(_is_before_members, lines)]
    behind_frames = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(_FRAME_SIGNS):
            behind_frames = number
    told = (line for line in lines[behind_frames:] if line.strip() and not line[0].isspace())
    line = next(told, lines[-1].strip() if lines else "")
    return line if len(line) <= _MOST_RAISED else f"{line[:_MOST_RAISED]}…"


#: Of the sentence of an exception, in characters.
_MOST_RAISED: Final = 400

#: How the lines of a traceback begin that are followed by lines of the user's program.
_FRAME_SIGNS: Final = ('  File "', "Traceback (")
_GROUP_SIGNS: Final = ("+ Exception Group", "| ")


def _is_before_members(line: str) -> bool:
    return not line.lstrip().startswith("+-")
