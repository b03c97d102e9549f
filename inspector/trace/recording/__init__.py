"""Recordings: a session in one file that survives crashes and opens at any instant."""

from inspector.trace.recording.annotations import Annotation, annotate, annotations_of, remove
from inspector.trace.recording.file import About
from inspector.trace.recording.layout import RecordingError
from inspector.trace.recording.recording import (
    Recording,
    as_far_as_it_goes,
    open_recording,
)
from inspector.trace.recording.saving import save_last
from inspector.trace.recording.writer import RecordingWriter

__all__ = [
    "About",
    "Annotation",
    "Recording",
    "RecordingError",
    "RecordingWriter",
    "annotate",
    "annotations_of",
    "as_far_as_it_goes",
    "open_recording",
    "remove",
    "save_last",
]
