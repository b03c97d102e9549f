"""Recordings: a session in one file that survives crashes and opens at any instant."""

from inspector.errors import RecordingError, RecordingWriteError
from inspector.events.recording.annotations import Annotation, annotate, remove
from inspector.events.recording.reading.opening import annotations_of
from inspector.events.recording.reading.recording import (
    Recording,
    as_far_as_it_goes,
    open_recording,
)
from inspector.events.recording.writing.file import RecordingInfo
from inspector.events.recording.writing.writer import RecordingWriter, save_last

__all__ = [
    "Annotation",
    "Recording",
    "RecordingError",
    "RecordingInfo",
    "RecordingWriteError",
    "RecordingWriter",
    "annotate",
    "annotations_of",
    "as_far_as_it_goes",
    "open_recording",
    "remove",
    "save_last",
]
