"""The clock tree and its time sources: what time it is here, and what is due."""

from inspector.clocks.clock import Clock, PauseReason
from inspector.clocks.failures import CallbackFailure, FailurePolicy
from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.clocks.timer import Interval, MissedTicks, Timer
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree, Sink

__all__ = [
    "CallbackFailure",
    "Clock",
    "ClockTree",
    "FailurePolicy",
    "Interval",
    "ManualTimeSource",
    "MissedTicks",
    "PauseReason",
    "Sink",
    "TimeSource",
    "Timer",
    "Transport",
]
