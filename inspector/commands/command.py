"""The base of all commands, the registry of them, and what they are applied to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

from typing_extensions import override

from inspector.commands.values import said_values, shown, value_kinds
from inspector.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.clocks.clock import Clock
    from inspector.clocks.failures import FailurePolicy
    from inspector.clocks.timer import Timer
    from inspector.clocks.transport import Transport
    from inspector.clocks.tree import ClockTree
    from inspector.events.conditions.breakpoint import Breakpoint
    from inspector.events.timeline import Timeline
    from inspector.frames.director import Director
    from inspector.vocabulary import RawEvent

_T = TypeVar("_T")
_V = TypeVar("_V")

#: What the values of a command raise that no journal has written.
UNREADABLE: Final = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    CommandError,
)

#: So many commands can be undone; older ones have passed.
MAX_UNDONE: Final = 1_000

#: Carries out a command; what returns a generator is done when that is exhausted.
Action: TypeAlias = Callable[[], object]


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
class ClockEffect:
    """What a command does to a clock.

    Attributes:
        text: The same in words, as ``Pausing “game”``.
        clock_id: The clock.
        event: What the clock would report; ``None`` when nothing changes.
    """

    text: str
    clock_id: int
    event: RawEvent | None


@dataclass(frozen=True, slots=True)
class MemberEffect:
    """What a command does to a scheduler, a target, a call, a component or a ticker.

    Attributes:
        text: The same in words, as ``Pausing “hero”``.
        member_id: The member.
        pauses: Whether the member is paused.
        resumes: Whether the member's own pause ends.
        min_priority: Its targets are paused from this priority on; ``None`` for none.
        time_scale: Its new time scale, ``None`` for the one it has.
    """

    text: str
    member_id: int
    pauses: bool = False
    resumes: bool = False
    min_priority: int | None = None
    time_scale: Fraction | None = None


class Command:
    """What a session can be told to do.

    A command is a frozen dataclass derived from this class. As soon as one says its words it
    is known: to journals, menus, tests. Its fields are its values, and their types say what
    is accepted, see :mod:`inspector.commands.values`.

    Attributes:
        words: What is asked for; ``{subject}`` is :meth:`subject`, ``{rate}`` a value.
        capability: What a session must be capable of to take it.
        lets_time_pass: Whether a stopped scene continues with it.
        waits_for_wake_end: Whether it holds or replaces the transport, which has to wait for
            the end of a wake-up.
        ends_step: Whether it ends a step that is still going on.
        asker: Who asks for it, if its values tell; else empty.
    """

    __slots__ = ()

    words: ClassVar[str]
    capability: ClassVar[Capability]
    lets_time_pass: ClassVar[bool] = False
    waits_for_wake_end: ClassVar[bool] = False
    ends_step: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "words" in vars(cls):
            COMMANDS[cls.__name__] = cls

    def sentence(self, timeline: Timeline) -> str:
        """Return what is asked for, in words, with names instead of numbers."""
        return self.words.format(subject=self.subject(timeline), **said_values(self))

    def subject(self, timeline: Timeline) -> str:  # noqa: ARG002 - for those that override it
        """Return what the command is about, by its name in quotes, or else completes its words."""
        return ""

    def clock_about(self, timeline: Timeline) -> int:  # noqa: ARG002 - likewise
        """Return the clock that the command is about, 0 for none."""
        return 0

    @property
    def asker(self) -> str:  # noqa: D102 - an attribute of the class
        return ""

    def prepare(self, target: Target, number: int) -> Action:  # noqa: ARG002 - likewise
        """Return what carries out the command; nothing has happened when it is refused.

        Args:
            target: What it is applied to.
            number: Number of the command, the cause in the events that follow from it.

        Raises:
            CommandError: It cannot be carried out; the message says why.
        """
        message = f"A hosted scene cannot {self.sentence(target.timeline)}."
        raise CommandError(message)

    def inverse(self, target: Target) -> Command | None:  # noqa: ARG002 - likewise
        """Return what would undo the command; ``None`` when nothing does, or it changes nothing."""
        return None

    def effect(self, timeline: Timeline) -> ClockEffect | MemberEffect | None:  # noqa: ARG002
        """Return what it would change about when timers fire; ``None`` for nothing.

        Raises:
            ValueError: A value is of the right kind, but cannot be used.
        """
        return None

    # ------------------------------------------------------------------ as values

    def problem(self) -> str:
        """Return a sentence on the first value that cannot be used, empty when all can be."""
        for name, kind in value_kinds(type(self)).items():
            value = getattr(self, name)
            if not kind.is_usable(value):
                return f"“{name.replace('_', ' ')}” must be {kind.text}, not {shown(value)}."
        return ""

    def as_values(self) -> dict[str, object]:
        """Return it as plain values, for a journal."""
        kinds = value_kinds(type(self))
        values = {name: kind.written(getattr(self, name)) for name, kind in kinds.items()}
        return {"command": type(self).__name__} | values

    @classmethod
    def from_values(cls, values: dict[str, object]) -> Self:
        """Return the command that :meth:`as_values` gave.

        What is missing is what an older version did not know, and has its default.
        """
        kinds = value_kinds(cls)
        found = {name: kind.read(values[name]) for name, kind in kinds.items() if name in values}
        return cls(**found)


#: Every command, by its name.
COMMANDS: Final[dict[str, type[Command]]] = {}


@dataclass(frozen=True, slots=True)
class BadCommand(Command):
    """What was submitted and cannot be used; it is refused, and recorded as that.

    Attributes:
        text: What was asked for, in words.
        refusal: Why it is refused.
        name: What it is called in a journal.
    """

    text: str
    refusal: str
    name: str = "BadCommand"

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
    """Return a command as it is, or a :class:`BadCommand` for what cannot be used.

    Commands come from the window, from scripts and from files, so anything may be in them.
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
    """Return the command in the values of a journal; raises what is :data:`UNREADABLE`."""
    return COMMANDS[str(values["command"])].from_values(values)


def command_in(form: str) -> Command | None:
    """Return the command that a timeline or a log tells of, ``None`` if it does not say.

    Args:
        form: A command as JSON, as journals write it.
    """
    try:
        return command_from_values(json.loads(form))
    except UNREADABLE:
        return None


def checked(check: Callable[[_V], _T], value: _V) -> _T:
    """Return a checked value.

    Raises:
        CommandError: It cannot be used; the message says why.
    """
    try:
        return check(value)
    except ValueError as error:
        text = str(error)
        message = f"{text[:1].upper()}{text[1:]}."
        raise CommandError(message) from None


class Stage(Protocol):
    """What a scene was built with, as far as commands know it."""

    frame_rate: Fraction

    def mark(self, text: str) -> None:
        """Mark the present instant."""


class Undoing:
    """What would undo each command, worked out before it is carried out.

    Time that has passed, timers that fired or were cleared and marks stay: nothing
    undoes them but going back in time.
    """

    def __init__(self) -> None:
        """Begin with nothing to undo."""
        self._inverses: dict[int, Command] = {}

    def note(self, number: int, inverse: Command | None) -> None:
        """Remember what would undo a command that is about to be carried out, if anything."""
        if inverse is None:
            return
        self._inverses[number] = inverse
        if len(self._inverses) > MAX_UNDONE:
            del self._inverses[next(iter(self._inverses))]

    def of(self, number: int) -> Command | None:
        """Return the command that undoes a command, ``None`` when nothing does."""
        return self._inverses.get(number)

    def done(self, number: int) -> None:
        """Note that a command was undone; once is enough."""
        self._inverses.pop(number, None)

    @property
    def newest(self) -> int:
        """Number of the newest command that can be undone, 0 for none."""
        return next(reversed(self._inverses), 0)


class BreakpointControl(Protocol):
    """The breakpoints of a session."""

    @property
    def next_number(self) -> int:
        """The number that the next one will have."""

    def get(self, number: int) -> Breakpoint | None:
        """Return a breakpoint by its number, ``None`` if it is gone."""

    def check_room(self) -> None:
        """Refuse one more when there are too many, with a :class:`BreakpointError`."""

    def add(self, breakpoint_: Breakpoint) -> int:
        """Look out for one more; returns its number."""

    def replace(self, number: int, breakpoint_: Breakpoint) -> bool:
        """Change a breakpoint, keeping its hits."""

    def remove(self, number: int) -> bool:
        """Forget a breakpoint."""


class RecorderControl(Protocol):
    """What writes recordings."""

    def start(self, path: Path | None) -> object:
        """Start recording to a file, a new one if none is named."""

    def stop(self) -> object:
        """End the recording."""

    def save_last(self, duration_ns: int, path: Path | None) -> object:
        """Write the last of the past to a file."""

    def note_problem(self, problem: str) -> None:
        """Take note of what the disk refused."""


class Target(Protocol):
    """One run of a scene: what commands are applied to.

    Attributes:
        timeline: Its state, for what clocks, timers and members are called.
        tree: Its clocks.
        transport: Between the time source and the clocks.
        director: Runs its frames.
        pauses: By scheduler: what undoes each pause of its targets by a command.
        failure_policy: What follows when a callback raises.
        undoing: What would undo each command.
        stage: What its ``build`` was given.
        frame_rate: Target frames per second.
        frames_run: How many frames have begun.
        breakpoints: What is looked out for.
        recorder: Writes recordings; ``None`` for a replay, in which nothing is new.
        scene: The run itself; raises a :class:`CommandError` when its scene was not built.
    """

    timeline: Timeline
    tree: ClockTree
    transport: Transport
    director: Director
    pauses: dict[int, list[Action]]
    failure_policy: FailurePolicy
    undoing: Undoing

    # ruff: disable[D102]
    @property
    def stage(self) -> Stage: ...
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

    # ruff: enable[D102]

    def clock(self, clock_id: int) -> Clock | None:
        """Return a clock by its number, ``None`` if it is gone."""

    def timer(self, clock_id: int, timer_id: int, due_ns: int) -> Timer | None:
        """Return a pending timer by its number, ``None`` if it is gone."""

    def check_journal(self) -> None:
        """Refuse to go back when what is needed for it was given up."""

    def watch(self) -> None:
        """Have the breakpoints look at what comes from now on."""
