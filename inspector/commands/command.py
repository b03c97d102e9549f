"""The base class of all commands, their registry, their target, and what can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

from msgspec import Struct
from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.tree import ClockTree
from inspector.commands.values import said_values, shown, value_kinds
from inspector.errors import CommandError
from inspector.events.conditions.breakpoint import Breakpoint
from inspector.events.timeline import Timeline
from inspector.vocabulary import RawEvent

_T = TypeVar("_T")
_V = TypeVar("_V")

#: Errors from reading values that are not a command.
UNREADABLE: Final = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    CommandError,
)

MAX_UNDONE: Final = 1_000

#: Carries out a command; if it returns a generator, the command is done when that ends.
Action: TypeAlias = Callable[[], object]


class Capability(Enum):
    """What users can do with a session."""

    TRANSPORT = "run and hold"
    STEP = "step frames"
    STEP_TIME = "step by a time"
    STEP_TIMER = "step to the next timer"
    PAUSE = "pause clocks"
    RATE = "change rates"
    TIMERS = "clear timers"
    FIRE = "fire timers"
    FRAME_RATE = "change the frame rate"
    MARK = "add marks"
    RELOAD = "reload the scene"
    FAILURE_POLICY = "choose what follows a failure"
    BREAKPOINTS = "set breakpoints"
    UNDO = "undo commands"
    REWIND = "go back in time"
    MEMBERS = "control schedulers and machines"
    RECORD = "record to a file"
    PROGRAM = "detach from a program"


class ClockEffect(Struct, frozen=True):
    """The effect of a command on a clock."""

    text: str  # The effect in words, such as Pausing “game”
    clock_id: int
    event: RawEvent | None  # The event of the change; None when nothing changes


class MemberEffect(Struct, frozen=True):
    """The effect of a command on a scheduler, a target, a call, a component or a ticker."""

    text: str  # The effect in words, such as Pausing “hero”
    member_id: int  # The member
    pauses: bool = False  # Whether the member is paused
    resumes: bool = False  # Whether the member's own pause ends
    min_priority: int | None = None  # Its targets are paused from this priority on; None for none
    time_scale: Fraction | None = None  # Its new time scale, None if unchanged


class Command(Struct, frozen=True):
    """A request to change a session.

    A command is a frozen struct derived from this class. A subclass with ``words`` is
    registered for journals, menus and tests. Its fields are its values; their types decide
    which values are accepted, see :mod:`inspector.commands.values`.

    Attributes:
        asker: Who requests it, if its values tell; else empty.
    """

    words: ClassVar[str]  # The command in words; {subject} is subject, {rate} a value
    capability: ClassVar[Capability]  # The capability that a session needs for it
    lets_time_pass: ClassVar[bool] = False  # Whether a stopped scene continues with it
    # Whether it holds or replaces the transport, which has to wait for the end of a wake-up
    waits_for_wake_end: ClassVar[bool] = False
    ends_step: ClassVar[bool] = False  # Whether it ends a step in progress

    def __init_subclass__(cls) -> None:
        if "words" in vars(cls):
            # msgspec makes structs of abstract classes, too, so the class itself is checked here.
            for name in dir(cls):
                if getattr(getattr(cls, name, None), "__isabstractmethod__", False):
                    raise TypeError(f"The command {cls.__name__} has no {name}().")
            COMMANDS[cls.__name__] = cls

    def sentence(self, timeline: Timeline) -> str:
        """Return the command in words, with names instead of numbers."""
        return self.words.format(subject=self.subject(timeline), **said_values(self))

    def subject(self, timeline: Timeline) -> str:  # noqa: ARG002 - for subclasses
        """Return the name of its subject in quotes, or another text for ``{subject}``."""
        return ""

    def clock_about(self, timeline: Timeline) -> int:  # noqa: ARG002 - likewise
        """Return the clock that the command is about, 0 for none."""
        return 0

    @property
    def asker(self) -> str:
        return ""

    def prepare(self, target: Target, number: int) -> Action:  # noqa: ARG002 - likewise
        """Return what carries out the command; a refusal leaves the target unchanged.

        Its number is the cause in the events that follow from it. A :class:`CommandError` says why
        it cannot be carried out.
        """
        raise CommandError(f"A hosted scene cannot {self.sentence(target.timeline)}.")

    def inverse(self, target: Target) -> Command | None:  # noqa: ARG002 - likewise
        """Return the command that undoes it; ``None`` if it cannot be undone or changes nothing."""
        return None

    def effect(self, timeline: Timeline) -> ClockEffect | MemberEffect | None:  # noqa: ARG002
        """Return how it would change when timers fire; ``None`` if it would not.

        Raises:
            ValueError: A value has the right type, but is unusable.
        """
        return None

    def problem(self) -> str:
        """Return a sentence on the first unusable value, empty if there is none."""
        for name, kind in value_kinds(type(self)).items():
            value = getattr(self, name)
            if not kind.is_usable(value):
                return f"“{name.replace('_', ' ')}” must be {kind.text}, not {shown(value)}."
        return ""

    def as_values(self) -> dict[str, object]:
        """Return the command as plain values, for a journal."""
        kinds = value_kinds(type(self))
        values = {name: kind.written(getattr(self, name)) for name, kind in kinds.items()}
        return {"command": type(self).__name__} | values

    @classmethod
    def from_values(cls, values: dict[str, object]) -> Self:
        """Return the command from the result of :meth:`as_values`.

        Values missing from the journal of an older version have their defaults.
        """
        kinds = value_kinds(cls)
        found = {name: kind.read(values[name]) for name, kind in kinds.items() if name in values}
        return cls(**found)


COMMANDS: Final[dict[str, type[Command]]] = {}


class BadCommand(Command, frozen=True):
    """An unusable command, which is refused and recorded as such."""

    text: str  # The command in words
    refusal: str  # Why it is refused
    name: str = "BadCommand"  # Its name in a journal

    @override
    def sentence(self, timeline: Timeline) -> str:
        return self.text

    @override
    def prepare(self, target: Target, number: int) -> Action:
        raise CommandError(self.refusal)

    @override
    def problem(self) -> str:
        return ""

    @override
    def as_values(self) -> dict[str, object]:
        return {"command": self.name, "is_bad": True}


def usable(command: object) -> Command:
    """Return the command itself if it is usable, else a :class:`BadCommand`.

    Commands come from the window, scripts and files, so their values can be anything.
    """
    name = type(command).__name__
    if not isinstance(command, Command):
        problem = f"There is no such command: {shown(command)}."
        return BadCommand(f"unknown command ({_spaced(name)})", problem, name)
    if not (problem := command.problem()):
        return command
    values = ", ".join(shown(getattr(command, each)) for each in value_kinds(type(command)))
    return BadCommand(f"{_spaced(name)} {values}".strip(), problem, name)


def _spaced(name: str) -> str:
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def command_from_values(values: dict[str, object]) -> Command:
    """Return the command from the values of a journal; raises :data:`UNREADABLE` errors."""
    return COMMANDS[str(values["command"])].from_values(values)


def command_in(form: str) -> Command | None:
    """Return the command from its JSON form in a log, ``None`` if it is unreadable."""
    try:
        return command_from_values(json.loads(form))
    except UNREADABLE:
        return None


def checked(check: Callable[[_V], _T], value: _V) -> _T:
    try:
        return check(value)
    except ValueError as error:
        text = str(error)
        raise CommandError(f"{text[:1].upper()}{text[1:]}.") from None


class StageControl(Protocol):
    """The part of a scene's stage that commands use."""

    frame_rate: Fraction

    def mark(self, text: str) -> None: ...


class ClockControl(Protocol):
    """What commands do with a clock; ``cause`` is the number of the command."""

    @property
    def rate(self) -> Fraction: ...
    def pause(self, *, cause: int) -> object: ...
    def resume(self, *, cause: int) -> object: ...
    def set_rate(self, rate: Fraction, /, *, cause: int) -> object: ...
    def clear(self, timer: Any, /, *, cause: int) -> object: ...  # noqa: ANN401 - its own kind
    def fire_now(self, timer: Any, /) -> object: ...  # noqa: ANN401 - likewise


class TimerControl(Protocol):
    """A pending timer, for its clock to clear or fire."""

    @property
    def clock(self) -> ClockControl | None:
        """The clock it waits on."""


class TransportControl(Protocol):
    """What commands do with the transport."""

    @property
    def is_running(self) -> bool: ...

    def run(self) -> object: ...

    def hold(self) -> object: ...


class StepControl(Protocol):
    """The steps that a session can take while it is held.

    Each raises a :class:`CommandError` if the step is not possible.
    """

    def frames(self, count: int) -> Action: ...

    def by(self, duration_ns: int) -> Action: ...

    def to(self, at_ns: int) -> Action: ...

    def to_next_timer(self) -> Action: ...


class Undoing:
    """The inverses of commands, worked out before each command is carried out.

    Passed time, timers that fired or were cleared, and marks can only be undone by going back
    in time.
    """

    def __init__(self) -> None:
        self._inverses: dict[int, Command] = {}

    def note(self, number: int, inverse: Command | None) -> None:
        """Remember the inverse of a command that is about to be carried out, if it has one."""
        if inverse is None:
            return
        self._inverses[number] = inverse
        if len(self._inverses) > MAX_UNDONE:
            del self._inverses[next(iter(self._inverses))]

    def of(self, number: int) -> Command | None:
        """Return the inverse of a command, ``None`` if it cannot be undone."""
        return self._inverses.get(number)

    def done(self, number: int) -> None:
        """Forget the inverse of a command that was undone."""
        self._inverses.pop(number, None)

    @property
    def newest(self) -> int:
        """Number of the newest command that can be undone, 0 for none."""
        return next(reversed(self._inverses), 0)


class BreakpointControl(Protocol):
    """The breakpoints of a session."""

    @property
    def next_number(self) -> int: ...

    def get(self, number: int) -> Breakpoint | None:
        """Return a breakpoint by its number, ``None`` if it was removed."""

    def check_room(self) -> None:
        """Raise a :class:`BreakpointError` if there are too many breakpoints to add another."""

    def add(self, breakpoint_: Breakpoint) -> int:
        """Add a breakpoint; returns its number."""

    def replace(self, number: int, breakpoint_: Breakpoint) -> bool:
        """Change a breakpoint, keeping its hits."""

    def remove(self, number: int) -> bool: ...


class RecorderControl(Protocol):
    """What writes recordings."""

    def start(self, path: Path | None) -> object:
        """Start recording to a file, by default a new one."""

    def stop(self) -> object: ...

    def save_last(self, duration_ns: int, path: Path | None) -> object: ...

    def note_problem(self, problem: str) -> None:
        """Report an error of the disk."""


class Target(Protocol):
    """The target of commands: one run of a scene, or attached programs.

    Attributes:
        timeline: Its state, for the names of clocks, timers and members.
        pauses: By scheduler: callables that undo each pause from a priority on.
        stage: The argument of its ``build``.
        recorder: Writes recordings; ``None`` for a replay, in which nothing is new.
        scene: The target itself; raises a :class:`CommandError` if nothing runs.
    """

    @property
    def timeline(self) -> Timeline: ...
    @property
    def tree(self) -> ClockTree: ...
    @property
    def transport(self) -> TransportControl: ...
    @property
    def steps(self) -> StepControl: ...
    @property
    def pauses(self) -> dict[int, list[Action]]: ...
    @property
    def failure_policy(self) -> FailurePolicy: ...
    @property
    def undoing(self) -> Undoing: ...
    @property
    def stage(self) -> StageControl: ...
    @property
    def frame_rate(self) -> Fraction: ...
    @property
    def frames_run(self) -> int: ...
    @property
    def breakpoints(self) -> BreakpointControl: ...
    @property
    def recorder(self) -> RecorderControl | None: ...
    @property
    def scene(self) -> Target: ...

    def clock(self, clock_id: int) -> ClockControl | None:
        """Return a clock by its number, ``None`` if it was removed."""

    def timer(self, clock_id: int, timer_id: int, due_ns: int) -> TimerControl | None:
        """Return a pending timer by its number, ``None`` if it has fired or was cleared."""

    def check_journal(self) -> None:
        """Refuse to go back if the journal needed for it was given up."""

    def watch(self) -> None:
        """Check the breakpoints against all events from now on."""


class Prepared(Struct, frozen=True):
    """A command made ready for its target."""

    text: str  # The command in words
    clock_id: int  # The clock it is about, 0 for none
    action: Action | None  # Carries it out; None if it is refused
    refusal: str = ""  # Why it is refused, else empty


def prepared(command: Command, target: Target, number: int) -> Prepared:
    """Return a command in words, with what carries it out or why it is refused."""
    timeline = target.timeline
    text, clock_id = command.sentence(timeline), command.clock_about(timeline)
    try:
        return Prepared(text, clock_id, command.prepare(target, number))
    except CommandError as error:
        return Prepared(text, clock_id, None, str(error))
