"""Which files can be annotated, and which annotations are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector.errors import RecordingError, RecordingWriteError
from inspector.events.log import EventLog
from inspector.events.recording import annotations as annotations_module
from inspector.events.recording.annotations import (
    Annotation,
    annotate,
    annotate_all,
    read_annotations,
)
from inspector.events.recording.reading.opening import annotations_of
from inspector.timebase import MAX_NS
from tests.events.recording.recorded_worlds import record


def read(*rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the instants, ends and numbers of what is read of some rows."""

    def found(_text: str) -> Iterable[tuple[Any, ...]]:
        return rows

    return [(each.at_ns, each.end_ns, each.id) for each in read_annotations(found)]


def row(at_ns: object = 5, end_ns: object = 9, number: object = 1, **words: object) -> Any:  # noqa: ANN401
    words = {"name": "a", "text": "b", "created": "c", **words}
    return ("range", at_ns, end_ns, words["name"], words["text"], number, words["created"])


def test_that_annotations_with_numbers_beyond_reach_or_without_words_are_not_read() -> None:
    last = MAX_NS - 1
    whole = [row(), row(0), row(5, last), row(number=last), row(name="")]
    broken = [
        *[row(MAX_NS), row(-MAX_NS), row(None), row("5"), row(5.0), row(5, MAX_NS), row(5, "9")],
        *[row(number=MAX_NS), row(number=None), row(name=None), row(text=b"b"), row(created=7)],
        *[row(9, 5), ("photo", *row()[1:])],
    ]

    assert read(*broken, *whole) == [(5, 9, 1), (0, 9, 1), (5, last, 1), (5, 9, last), (5, 9, 1)]
    assert read(("note", 5, None, "", "b", 3, "")) == [(5, None, 3)]


def test_that_no_more_annotations_are_read_than_are_made_by_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(annotations_module, "_MOST_READ", 2)

    assert read(row(), row(None), row(6), row(7)) == [(5, 9, 1), (6, 9, 1)]


@pytest.mark.parametrize(("field", "page"), [(4_096, 4_096), (512, 512), (1, 65_536)])
def test_that_a_file_with_fewer_bytes_than_pages_is_not_annotated(
    tmp_path: Path, field: int, page: int
) -> None:
    path = tmp_path / "a.tlrec"
    head = b"SQLite format 3\0" + field.to_bytes(2, "big") + bytes(10) + (2).to_bytes(4, "big")
    whole = head.ljust(2 * page, b"\0")
    is_cut = "it is truncated, and writing could damage the rest"

    path.write_bytes(whole[:-1])
    with pytest.raises(RecordingWriteError, match=is_cut):
        annotate(path, Annotation("note", 1))
    path.with_name("a.tlrec-wal").touch()
    with pytest.raises(RecordingWriteError, match=is_cut):
        annotate(path, Annotation("note", 1))
    # Only with what lies beside it, or with all of its bytes, can it be told what it is.
    for size, beside in ((-1, b"x"), (None, b"")):
        path.write_bytes(whole[:size])
        path.with_name("a.tlrec-wal").write_bytes(beside)
        with pytest.raises(RecordingError) as refused:
            annotate(path, Annotation("note", 1))
        assert is_cut not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("database is locked", "another program is writing it"),
        ("attempt to write a readonly database", "it is read-only here. Make it and its folder"),
        ("unable to open database file", "it is read-only here. Make it and its folder"),
        ("database or disk is full", "the disk is full"),
        ("disk I/O error", "disk I/O error"),
    ],
)
def test_that_why_a_file_cannot_be_annotated_is_said(error: str, reason: str) -> None:
    assert annotations_module._reason(sqlite3.OperationalError(error)).startswith(reason)


def test_that_an_annotation_that_is_gone_or_of_an_unknown_version_is_not_changed(
    tmp_path: Path,
) -> None:
    path = record(EventLog(), tmp_path / "a.tlrec")
    with pytest.raises(RecordingWriteError, match=r"Annotation 7 no longer exists\."):
        annotate(path, Annotation("note", 1, id=7))
    assert annotate(path, Annotation("note", 1)) == 1
    assert annotate(path, Annotation("note", 2, id=1)) == 1
    assert annotate_all(path, [Annotation("note", 3), 1, Annotation("note", 4)]) == [2, 1, 3]
    annotate(path, Annotation("note", 9, created="then"))
    found = [(each.id, each.at_ns, each.created[:2]) for each in annotations_of(path)]
    assert found == [(2, 3, "20"), (3, 4, "20"), (4, 9, "th")]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(RecordingError, match="it was written by another version of the inspector"):
        annotate(path, Annotation("note", 1))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 1")
    with pytest.raises(RecordingError, match=r"is not a recording that can be annotated\."):
        annotate(path, Annotation("note", 1))
