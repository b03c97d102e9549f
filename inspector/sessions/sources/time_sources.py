"""The registry of time sources, with their names in recordings and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from inspector.clocks.sources.time_source import TimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.extensions import Registry
from inspector.foreign.numbers import shown

_METHODS: Final = ("now_ns", "set_wake", "attach", "close")


class TimeSourceKind(Struct, frozen=True):
    name: str  # Its name in recordings and on the command line
    summary: str  # Where its time comes from, in a few words
    # Makes a source that the host's source wakes: a QTimer in the window, a sleeping loop on the
    # command line. None for sources that only hosts make.
    make: Callable[[Any], Any] | None
    is_real: bool = True  # Whether time passes by itself


def _check(kind: TimeSourceKind) -> str:
    if kind.make is None or not kind.is_real:
        return "it has no make, or its is_real is False"
    return ""


VIRTUAL: Final = TimeSourceKind(
    "virtual",
    "as fast as the processor allows, timers exactly when they are due",
    lambda _host: VirtualTimeSource(),
    is_real=False,
)
SYSTEM: Final = TimeSourceKind("system", "the computer's clock", lambda host: host)

ATTACHED: Final = TimeSourceKind("attached", "programs in other processes", None)
ATTACHED_LOOP: Final = TimeSourceKind(
    "attached loop", "programs in other processes, of which a loop that waits is shown", None
)
TEST: Final = TimeSourceKind("test", "a test in virtual time", None, is_real=False)

TIME_SOURCES: Final = Registry(
    "time_sources",
    TimeSourceKind,
    (
        VIRTUAL,
        SYSTEM,
        TimeSourceKind("manual", "a test that advances it", None, is_real=False),
        ATTACHED,
        ATTACHED_LOOP,
        TEST,
        TimeSourceKind("qt", "the event loop of Qt", None),
        TimeSourceKind("asyncio", "an event loop of asyncio", None),
    ),
    names=lambda each: (each.name,),
    check=_check,
)


def is_of_waiting_loop(meta: Mapping[str, object]) -> bool:
    """Return whether the frames of a recording are turns of a loop that waits for events."""
    return meta.get("source") in {ATTACHED_LOOP.name, TEST.name}


def choosable_sources() -> tuple[TimeSourceKind, ...]:
    return tuple(each for each in TIME_SOURCES if each.make is not None)


def source_kind(name: str) -> TimeSourceKind:
    kinds = choosable_sources()
    for each in kinds:
        if each.name == name:
            return each
    message = f"no time source: {shown(name)} (there are {', '.join(each.name for each in kinds)})"
    raise ValueError(message)


def make_source(kind: TimeSourceKind, host: TimeSource) -> TimeSource:
    """Make a time source that is woken by the source of the host."""
    assert kind.make is not None, kind.name
    with TIME_SOURCES.guarding(kind):
        source: TimeSource = kind.make(host)
        for name in _METHODS:
            if not callable(getattr(source, name, None)):
                raise TypeError(f"{shown(source)} has no method {name}")
    return source


def source_name(source: TimeSource) -> str:
    """Return the name of a time source in recordings, such as ``qt``, ``system`` or ``virtual``."""
    return type(source).__name__.removesuffix("TimeSource").lower()


def source_text(name: str) -> str:
    """Return “real time” or “virtual time” for a :func:`source_name`, an unknown name as it is."""
    for each in TIME_SOURCES.own:
        if each.name == name:
            return "real time" if each.is_real else "virtual time"
    return name
