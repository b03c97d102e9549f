"""What a session can be told to do: immutable values, and the sentences for them.

A command never changes a display. It is submitted, applied by the session at a
frame boundary (at once while the scene is held), recorded as an event together
with its refusal, if any, and shown when that event comes back.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Final, TypeAlias

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.rate import rate_numerator
from inspector.events.timeline import Timeline
from inspector.sessions.breakpoints.breakpoints import Breakpoint
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import rate_text

#: More frames than this in one step is taken for a slip of the finger.
MAX_STEP_FRAMES = 1_000_000


class Capability(Enum):
    """What a session lets people do."""

    TRANSPORT = "run and hold"
    STEP = "step"
    PAUSE = "pause clocks"
    RATE = "change rates"
    TIMERS = "clear and fire timers"
    FRAME_RATE = "change the frame rate"
    MARK = "add marks"
    RELOAD = "reload the scene"
    FAILURE_POLICY = "choose what follows a failure"
    BREAKPOINTS = "set breakpoints"
    UNDO = "undo commands"
    REWIND = "go back in time"
    MEMBERS = "control schedulers and machines"
    RECORD = "record to a file"


@dataclass(frozen=True, slots=True)
class Run:
    """Let session time follow the time source."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Let no session time pass, until the next step or run."""


@dataclass(frozen=True, slots=True)
class StepFrames:
    """Let ``count`` frames run, one frame period of session time apart."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class StepBy:
    """Let ``duration_ns`` of session time pass."""

    duration_ns: int


@dataclass(frozen=True, slots=True)
class StepToNextTimer:
    """Let session time pass up to the instant at which the next timer fires."""


@dataclass(frozen=True, slots=True)
class StepTo:
    """Let session time pass up to ``at_ns``."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class PauseClock:
    """Pause a branch."""

    clock_id: int


@dataclass(frozen=True, slots=True)
class ResumeClock:
    """Undo a branch's own pause."""

    clock_id: int


@dataclass(frozen=True, slots=True)
class SetRate:
    """Give a branch another rate."""

    clock_id: int
    rate: Fraction


@dataclass(frozen=True, slots=True)
class ClearTimer:
    """Cancel a pending timer."""

    timer_id: int


@dataclass(frozen=True, slots=True)
class FireTimer:
    """Call a timer now; a one-shot is used up, a repeating one keeps its schedule."""

    timer_id: int


@dataclass(frozen=True, slots=True)
class SetFrameRate:
    """Change how many frames run per second of session time."""

    frames_per_second: Fraction


@dataclass(frozen=True, slots=True)
class AddMark:
    """Add a note at the present instant."""

    text: str


@dataclass(frozen=True, slots=True)
class Reload:
    """Rebuild the scene from its file."""


@dataclass(frozen=True, slots=True)
class StepBack:
    """Go back ``frames`` frames, to how everything was when that frame had ended."""

    frames: int = 1


@dataclass(frozen=True, slots=True)
class RewindTo:
    """Go back to the last frame that began at or before ``at_ns``."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class SetFailurePolicy:
    """Choose what follows when a callback raises."""

    policy: FailurePolicy


@dataclass(frozen=True, slots=True)
class AddBreakpoint:
    """Look out for something, from now on.

    Attributes:
        breakpoint: What to look out for.
        is_kept: It was looked out for in the session before, so nobody has asked for it now.
    """

    breakpoint: Breakpoint
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class ChangeBreakpoint:
    """Put another breakpoint in the place of one, which keeps its number and its hits."""

    number: int
    breakpoint: Breakpoint


@dataclass(frozen=True, slots=True)
class RemoveBreakpoint:
    """Look out for something no longer."""

    number: int


@dataclass(frozen=True, slots=True)
class PauseMember:
    """Let a target, a call, a ticker or a component director wait."""

    member_id: int


@dataclass(frozen=True, slots=True)
class ResumeMember:
    """Undo a member's own pause."""

    member_id: int


@dataclass(frozen=True, slots=True)
class PauseFromPriority:
    """Let every target of a scheduler wait whose priority is not below a number."""

    member_id: int
    min_priority: int


@dataclass(frozen=True, slots=True)
class ResumeFromPriority:
    """Undo the last :class:`PauseFromPriority` of a scheduler, and nothing else."""

    member_id: int


@dataclass(frozen=True, slots=True)
class UnscheduleMember:
    """Take back a call, or everything of a target."""

    member_id: int


@dataclass(frozen=True, slots=True)
class SetTimeScale:
    """Give a scheduler another time scale."""

    member_id: int
    rate: Fraction


@dataclass(frozen=True, slots=True)
class MakeTransition:
    """Make a named transition of a state machine."""

    member_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo what a command has changed, where that has a meaning."""

    number: int


@dataclass(frozen=True, slots=True)
class StartRecording:
    """Record to a file from now on, with what is still known of the past."""

    path: str


@dataclass(frozen=True, slots=True)
class StopRecording:
    """End the recording."""


@dataclass(frozen=True, slots=True)
class SaveLast:
    """Write the last ``duration_ns`` of session time to a file."""

    path: str
    duration_ns: int


#: They let session time pass while it is held.
STEPS: Final = (StepFrames, StepBy, StepTo, StepToNextTimer)

MemberCommand: TypeAlias = (
    PauseMember
    | ResumeMember
    | PauseFromPriority
    | ResumeFromPriority
    | UnscheduleMember
    | SetTimeScale
    | MakeTransition
)

Command: TypeAlias = (
    Run
    | Hold
    | StepFrames
    | StepBy
    | StepToNextTimer
    | StepTo
    | PauseClock
    | ResumeClock
    | SetRate
    | ClearTimer
    | FireTimer
    | SetFrameRate
    | AddMark
    | Reload
    | StepBack
    | RewindTo
    | SetFailurePolicy
    | AddBreakpoint
    | ChangeBreakpoint
    | RemoveBreakpoint
    | Undo
    | StartRecording
    | StopRecording
    | SaveLast
    | MemberCommand
)


def required_capability(command: Command) -> Capability:  # noqa: C901, PLR0911, PLR0912
    """Return what a session must be capable of to take ``command``."""
    if isinstance(command, MemberCommand):
        return Capability.MEMBERS
    match command:
        case Run() | Hold():
            return Capability.TRANSPORT
        case StepFrames() | StepBy() | StepToNextTimer() | StepTo():
            return Capability.STEP
        case PauseClock() | ResumeClock():
            return Capability.PAUSE
        case SetRate():
            return Capability.RATE
        case ClearTimer() | FireTimer():
            return Capability.TIMERS
        case SetFrameRate():
            return Capability.FRAME_RATE
        case AddMark():
            return Capability.MARK
        case Reload():
            return Capability.RELOAD
        case StepBack() | RewindTo():
            return Capability.REWIND
        case SetFailurePolicy():
            return Capability.FAILURE_POLICY
        case AddBreakpoint() | ChangeBreakpoint() | RemoveBreakpoint():
            return Capability.BREAKPOINTS
        case Undo():
            return Capability.UNDO
        case StartRecording() | StopRecording() | SaveLast():
            return Capability.RECORD


def command_text(command: Command, timeline: Timeline) -> str:  # noqa: C901, PLR0911, PLR0912
    """Return what the command asks for, in words, with names instead of numbers."""
    match command:
        case Run():
            return "run"
        case Hold():
            return "hold"
        case StepFrames(count):
            return "step 1 frame" if count == 1 else f"step {count:,} frames"
        case StepBy(duration_ns):
            return f"step by {format_duration(duration_ns)}"
        case StepToNextTimer():
            return "step to the next timer"
        case StepTo(at_ns):
            return f"step to {format_instant(at_ns)}"
        case PauseClock(clock_id):
            return f"pause {clock_text(clock_id, timeline)}"
        case ResumeClock(clock_id):
            return f"resume {clock_text(clock_id, timeline)}"
        case SetRate(clock_id, rate):
            return f"set the rate of {clock_text(clock_id, timeline)} to {_rate_text(rate)}"
        case ClearTimer(timer_id):
            return f"clear {timer_text(timer_id, timeline)}"
        case FireTimer(timer_id):
            return f"fire {timer_text(timer_id, timeline)} now"
        case SetFrameRate(frames_per_second):
            return f"run {_number_text(frames_per_second)} frames per second"
        case AddMark(text):
            return f"mark “{text}”"
        case Reload():
            return "reload the scene"
        case StepBack(frames):
            return "go back 1 frame" if frames == 1 else f"go back {frames:,} frames"
        case RewindTo(at_ns):
            return f"go back to {format_instant(at_ns)}"
        case SetFailurePolicy(policy):
            return f"after a failure: {policy.value}"
        case AddBreakpoint(breakpoint_, _):
            return f"break when {breakpoint_.text}: {breakpoint_.action.value}"
        case ChangeBreakpoint(number, breakpoint_):
            verb = "set" if breakpoint_.is_enabled else "turn off"
            return f"{verb} breakpoint {number}: {breakpoint_.text}"
        case RemoveBreakpoint(number):
            return f"remove breakpoint {number}"
        case Undo(number):
            former = next((each for each in timeline.commands if each.number == number), None)
            return f"undo command {number}" + ("" if former is None else f": {former.text}")
        case StartRecording(path):
            return f"record to {path or 'a new file'}"
        case StopRecording():
            return "stop recording"
        case SaveLast(path, duration_ns):
            return f"save the last {format_duration(duration_ns)} to {path or 'a new file'}"
        case _:
            return _member_command_text(command, timeline)


def _member_command_text(command: MemberCommand, timeline: Timeline) -> str:  # noqa: PLR0911
    name = member_text(command.member_id, timeline)
    match command:
        case PauseMember():
            return f"pause {name}"
        case ResumeMember():
            return f"resume {name}"
        case PauseFromPriority(_, min_priority):
            return f"pause everything in {name} from priority {min_priority} on"
        case ResumeFromPriority():
            return f"resume what was paused by priority in {name}"
        case UnscheduleMember():
            return f"unschedule {name}"
        case SetTimeScale(_, rate):
            return f"set the time scale of {name} to {_rate_text(rate)}"
        case MakeTransition(_, transition):
            return f"make “{transition}” of {name}"


def command_clock_id(command: Command, timeline: Timeline) -> int:
    """Return the clock that a command is about, 0 for none."""
    match command:
        case PauseClock(clock_id) | ResumeClock(clock_id) | SetRate(clock_id, _):
            return clock_id if clock_id in timeline.clocks else 0
        case ClearTimer(timer_id) | FireTimer(timer_id) if timer_id in timeline.timers:
            return timeline.timers.row(timer_id).clock_id
        case _:
            member = timeline.members.by_id.get(getattr(command, "member_id", 0))
            return 0 if member is None else member.clock_id


def clock_text(clock_id: int, timeline: Timeline) -> str:
    """Return a clock's name in quotes, or its number when it is not known."""
    clock = timeline.clocks.get(clock_id)
    return f"clock {clock_id}" if clock is None else f"“{clock.name}”"


def timer_text(timer_id: int, timeline: Timeline) -> str:
    """Return a timer's label in quotes, or its number when it is not pending."""
    try:
        label = timeline.timers.row(timer_id).label
    except KeyError:
        return f"timer {timer_id}"
    return f"“{label}”"


def member_text(member_id: int, timeline: Timeline) -> str:
    """Return a member's name in quotes, or its number when it is not known."""
    member = timeline.members.by_id.get(member_id)
    return f"member {member_id}" if member is None else f"“{member.name}”"


def _rate_text(rate: Fraction) -> str:
    try:
        return rate_text(rate_numerator(rate))
    except ValueError:
        return str(rate)


def _number_text(number: Fraction) -> str:
    return f"{float(number):.10g}"
