"""What happened: the event log and the timeline folded from it."""

from inspector.trace.log import EventLog, LogBatch
from inspector.trace.timeline import Timeline

__all__ = ["EventLog", "LogBatch", "Timeline"]
