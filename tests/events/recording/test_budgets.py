"""The memory, the room on a disk and the time that recordings take at most."""

from __future__ import annotations

from inspector.events.annotations import LONGEST_NAME, LONGEST_TEXT
from inspector.events.recording import annotations as annotated
from inspector.events.recording import pictures
from inspector.events.recording.layout import CHUNK_EVENTS
from inspector.events.recording.reading import frames, opening, recording
from inspector.events.recording.writing import file, writer
from inspector.timebase import NS_PER_SECOND

EVENT_BYTES = 8 * 5
FRAMES_A_MINUTE = 60 * 60


def test_that_recordings_take_no_more_megabytes_than_these() -> None:
    sizes = {
        "chunks that are kept": recording._KEPT_CHUNKS * CHUNK_EVENTS * EVENT_BYTES,
        "timers in states that are kept": 100 * recording._KEPT_TIMERS,
        "file that is looked through": recording._LOOKED_THROUGH_BYTES,
        "text or block of a file": opening._LONGEST_BYTES,
        "events that are folded without keeping a state": recording._FAR * EVENT_BYTES,
        "instants of frames that are missing": 8 * frames._MOST_MISSING,
        "annotations that are read": annotated._MOST_READ * (LONGEST_NAME + LONGEST_TEXT),
        "events that wait for a disk": writer.MOST_WAITING * EVENT_BYTES,
        "events that a patient caller lets wait": writer.PATIENT_WAITING * EVENT_BYTES,
        "pictures that wait for a disk": writer._PICTURES_WAITING,
        "events that are not left to wait": writer.ENOUGH * EVENT_BYTES,
        "events that are gathered": 8 * writer._GATHERED_NUMBERS,
        "events in a commit": writer._COMMITTED_AT_ONCE * EVENT_BYTES,
        "events that are added at once": file.ADDED_AT_ONCE * EVENT_BYTES,
        "events that are folded at once": file._FOLDED_AT_ONCE * EVENT_BYTES,
        "events of a file between keyframes": 16 * file.KEYFRAME_EVERY,
        "and between large ones": 16 * file.KEYFRAME_AT_MOST,
        "WAL": file._CHECKPOINT_PAGES * file._PAGE_BYTES,
        "room for moving the WAL": file._SPARE_BYTES,
        "block of pictures": pictures.BLOCK_BYTES,
        "picture": pictures.MOST_BYTES,
        "pictures in a minute": pictures.BYTES_A_FRAME * FRAMES_A_MINUTE,
        "pictures in a file": pictures.FILE_BYTES,
    }

    assert {name: round(size / 1_000_000, 1) for name, size in sizes.items()} == {
        "chunks that are kept": 21.0,
        "timers in states that are kept": 40.0,
        "file that is looked through": 67.1,
        "text or block of a file": 134.2,
        "events that are folded without keeping a state": 1.6,
        "instants of frames that are missing": 8.0,
        "annotations that are read": 102.0,
        "events that wait for a disk": 40.0,
        "events that a patient caller lets wait": 4.0,
        "pictures that wait for a disk": 67.1,
        "events that are not left to wait": 1.3,
        "events that are gathered": 0.3,
        "events in a commit": 5.2,
        "events that are added at once": 1.3,
        "events that are folded at once": 5.2,
        "events of a file between keyframes": 2.1,
        "and between large ones": 8.4,
        "WAL": 4.2,
        "room for moving the WAL": 5.2,
        "block of pictures": 2.1,
        "picture": 4.2,
        "pictures in a minute": 16.6,
        "pictures in a file": 1_073.7,
    }


def test_that_events_are_in_the_file_within_half_a_second() -> None:
    assert writer.COMMIT_NS / NS_PER_SECOND == 0.4


def test_that_damage_cannot_make_a_query_endless() -> None:
    """An instruction of SQLite's takes some 10 ns."""
    steps = opening._Patience(10_000_000)._most

    assert steps * opening._INSTRUCTIONS_A_STEP * 10 / NS_PER_SECOND == 5.2
