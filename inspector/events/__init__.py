"""Events: the log, and the timeline folded from it."""

from inspector.events.log import EventLog, LogBatch
from inspector.events.timeline import Timeline

__all__ = ["EventLog", "LogBatch", "Timeline"]
