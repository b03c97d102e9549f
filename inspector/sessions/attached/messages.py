"""Messages of probes as types: everything from outside is decoded into these first."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from inspector.probe.wire import BAD_PARAMS, WireError

_T = TypeVar("_T")

_MOST: Final = 10_000

Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
#: Up to 36 years, so that the sum of two instants fits into 64 bits.
Instant = Annotated[int, msgspec.Meta(ge=-(2**60), le=2**60)]
#: Numbers of clocks and timers: see :data:`~inspector.sessions.attached.translation.NUMBER_BITS`.
Number = Annotated[int, msgspec.Meta(ge=1, lt=2**40)]
Text = Annotated[str, msgspec.Meta(max_length=2**16)]
Name = Annotated[str, msgspec.Meta(max_length=1_000)]
#: Numbers of pages and workers, above those of processes.
FIRST_PAGE_PID: Final = 1 << 31
Grant = Literal["read-only", "step", "full"]
GRANT_TEXTS: Final[dict[Grant, str]] = {
    "full": "full control",
    "step": "pause and step",
    "read-only": "read only",
}


class Message(msgspec.Struct, frozen=True):
    """The parameters of a message that are read here; others are ignored."""


class RuntimeMessage(Message, frozen=True):
    language: Name = ""
    version: Name = ""
    implementation: Name = ""


class AdapterMessage(Message, frozen=True):
    """An adapter of a program: what it reads, and whether it works."""

    name: Name
    library: Name = ""
    version: Name = ""
    state: Literal["active", "waiting", "failed"] = "waiting"
    message: Text = ""


class HelloMessage(Message, frozen=True):
    """The first message of a program."""

    protocol: Whole
    pid: Whole
    name: Name
    role: Literal["probe"] = "probe"
    parent_pid: Whole = 0
    argv: Annotated[list[Text], msgspec.Meta(max_length=_MOST)] = []
    runtime: RuntimeMessage = RuntimeMessage()
    clock_ns: Instant = 0
    grant: Grant = "full"
    adapters: Annotated[list[AdapterMessage], msgspec.Meta(max_length=_MOST)] = []


class UnableMessage(Message, frozen=True):
    """The first message of a program that cannot have a probe inside."""

    pid: Whole
    name: Name
    unable: Text


class TimeMessage(Message, frozen=True):
    clock_ns: Instant


class TextsMessage(Message, frozen=True):
    first: Whole
    texts: Annotated[list[Text], msgspec.Meta(max_length=2**20)]


class BusyThreadMessage(Message, frozen=True):
    """A thread that does not answer, and the clock whose timers only this thread can list."""

    clock: Number
    since_ns: Instant
    thread: Name = ""


class KeyframeMessage(Message, frozen=True):
    """Progress of the description of the present state."""

    state: Literal["begun", "partial", "complete"]
    waits_for: Annotated[list[Number], msgspec.Meta(max_length=_MOST)] = []
    threads: Annotated[list[BusyThreadMessage], msgspec.Meta(max_length=_MOST)] = []


class LostMessage(Message, frozen=True):
    """How many events were lost, by kind."""

    counts: Annotated[dict[Name, Whole], msgspec.Meta(max_length=_MOST)]


class ClockMessage(Message, frozen=True):
    """A clock of a program, and for each capability whether it is possible, or why not."""

    clock: Number
    adapter: Name | None = None
    title: Name = ""
    capabilities: Annotated[dict[Name, bool | Text], msgspec.Meta(max_length=100)] = {}


class ChangedMessage(Message, frozen=True):
    clocks: Annotated[list[ClockMessage], msgspec.Meta(max_length=_MOST)] | None = None
    adapters: Annotated[list[AdapterMessage], msgspec.Meta(max_length=_MOST)] | None = None
    grant: Grant | None = None


class CostMessage(Message, frozen=True):
    """What a probe costs: processor time in an interval."""

    cpu_ns: Whole
    interval_ns: Whole


class HeldMessage(Message, frozen=True):
    """Whether a program is held now."""

    held: bool


class ByeMessage(Message, frozen=True):
    reason: Text = ""


def decoded(params: dict[str, Any], kind: type[_T]) -> _T:
    """Return parameters as a message type; a ``WireError`` if they do not fit it."""
    try:
        return msgspec.convert(params, kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireError(BAD_PARAMS, str(error)) from None
