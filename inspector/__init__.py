"""Timeline Inspector: see, stop, slow, step, explain and prove time in a running program.

Importing this package loads only this file: each public name is imported on first use, so that a
program that only hosts a clock pays only for a clock.
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
    from inspector.clocks.sources.asyncio_source import AsyncioTimeSource
    from inspector.clocks.sources.system_source import SystemTimeSource
    from inspector.engines.cocos.scheduler import DialectScheduler
    from inspector.engines.creator.components import Component
    from inspector.engines.creator.director import CreatorDirector
    from inspector.engines.egret.ticker import Ticker
    from inspector.engines.egret.timer import TickerTimer
    from inspector.errors import InspectorError
    from inspector.events import EventLog, Timeline
    from inspector.frames import Director, start_loop
    from inspector.frames.scheduler.scheduler import Scheduler
    from inspector.frames.state_machine import Edge, StateMachine
    from inspector.sessions.stage import Stage
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

_MODULES = {
    "AsyncioTimeSource": "inspector.clocks.sources.asyncio_source",
    "Clock": "inspector.clocks",
    "ClockTree": "inspector.clocks",
    "Component": "inspector.engines.creator.components",
    "CreatorDirector": "inspector.engines.creator.director",
    "DialectScheduler": "inspector.engines.cocos.scheduler",
    "Director": "inspector.frames",
    "Edge": "inspector.frames.state_machine",
    "EventLog": "inspector.events",
    "FailurePolicy": "inspector.clocks",
    "InspectorError": "inspector.errors",
    "ManualTimeSource": "inspector.clocks",
    "MissedTicks": "inspector.clocks",
    "Phase": "inspector.vocabulary",
    "Scheduler": "inspector.frames.scheduler.scheduler",
    "Stage": "inspector.sessions.stage",
    "StateMachine": "inspector.frames.state_machine",
    "SystemTimeSource": "inspector.clocks.sources.system_source",
    "Ticker": "inspector.engines.egret.ticker",
    "TickerTimer": "inspector.engines.egret.timer",
    "TimeSource": "inspector.clocks",
    "Timeline": "inspector.events",
    "Timer": "inspector.clocks",
    "Transport": "inspector.clocks",
    "start_loop": "inspector.frames",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
