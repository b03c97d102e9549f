"""Timeline Inspector: see, stop, slow, step, explain and prove time in a running program.

Importing this package loads nothing but this file: each public name is brought
in by its first use, so that a program that only hosts a clock pays for a clock.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.clocks import (
        Clock,
        ClockTree,
        FailurePolicy,
        ManualTimeSource,
        MissedTicks,
        Timer,
        TimeSource,
        Transport,
    )
    from inspector.clocks.asyncio_source import AsyncioTimeSource
    from inspector.clocks.system_source import SystemTimeSource
    from inspector.errors import InspectorError
    from inspector.frames import Director, start_loop
    from inspector.frames.components import Component
    from inspector.frames.creator_director import CreatorDirector
    from inspector.frames.dialect_scheduler import DialectScheduler
    from inspector.frames.scheduler import Scheduler
    from inspector.frames.state_machine import Edge, StateMachine
    from inspector.frames.ticker import Ticker, TickerTimer
    from inspector.sessions.stage import Stage
    from inspector.trace import EventLog, Timeline
    from inspector.vocabulary import Phase

__version__ = "0.1.0"

__all__ = [
    "AsyncioTimeSource",
    "Clock",
    "ClockTree",
    "Component",
    "CreatorDirector",
    "DialectScheduler",
    "Director",
    "Edge",
    "EventLog",
    "FailurePolicy",
    "InspectorError",
    "ManualTimeSource",
    "MissedTicks",
    "Phase",
    "Scheduler",
    "Stage",
    "StateMachine",
    "SystemTimeSource",
    "Ticker",
    "TickerTimer",
    "TimeSource",
    "Timeline",
    "Timer",
    "Transport",
    "__version__",
    "start_loop",
]

_HOMES = {
    "AsyncioTimeSource": "inspector.clocks.asyncio_source",
    "Clock": "inspector.clocks",
    "ClockTree": "inspector.clocks",
    "Component": "inspector.frames.components",
    "CreatorDirector": "inspector.frames.creator_director",
    "DialectScheduler": "inspector.frames.dialect_scheduler",
    "Director": "inspector.frames",
    "Edge": "inspector.frames.state_machine",
    "EventLog": "inspector.trace",
    "FailurePolicy": "inspector.clocks",
    "InspectorError": "inspector.errors",
    "ManualTimeSource": "inspector.clocks",
    "MissedTicks": "inspector.clocks",
    "Phase": "inspector.vocabulary",
    "Scheduler": "inspector.frames.scheduler",
    "Stage": "inspector.sessions.stage",
    "StateMachine": "inspector.frames.state_machine",
    "SystemTimeSource": "inspector.clocks.system_source",
    "Ticker": "inspector.frames.ticker",
    "TickerTimer": "inspector.frames.ticker",
    "TimeSource": "inspector.clocks",
    "Timeline": "inspector.trace",
    "Timer": "inspector.clocks",
    "Transport": "inspector.clocks",
    "start_loop": "inspector.frames",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
