"""Recordings: a session in one file that survives crashes and opens at any instant."""

from inspector.events.recording.annotations import Annotation, annotate, remove
from inspector.events.recording.layout import RecordingError, RecordingWriteError
from inspector.events.recording.reading.opening import annotations_of
from inspector.events.recording.reading.recording import (
    Recording,
    as_far_as_it_goes,
    open_recording,
)
from inspector.events.recording.writing.file import About
from inspector.events.recording.writing.writer import RecordingWriter, save_last

__all__ = [
    "About",
    "Annotation",
    "Recording",
    "RecordingError",
    "RecordingWriteError",
    "RecordingWriter",
    "annotate",
    "annotations_of",
    "as_far_as_it_goes",
    "open_recording",
    "remove",
    "save_last",
]
