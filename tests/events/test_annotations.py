"""What bookmarks, notes and named ranges may say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from inspector.events.annotations import (
    LONGEST_NAME,
    LONGEST_TEXT,
    Annotation,
    AnnotationError,
    checked,
)
from inspector.events.recording.annotations import read_annotations
from inspector.timebase import MAX_NS


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"kind": "mark", "at_ns": 1}, "“mark” is not one of note, bookmark, range."),
        ({"kind": "range", "at_ns": 1, "name": "a"}, "A range has an end; bookmarks and notes"),
        ({"kind": "note", "at_ns": 1, "end_ns": 2, "text": "a"}, "A range has an end"),
        ({"kind": "range", "at_ns": 2_000_000, "end_ns": 1}, "not at 0:00.000 before 0:00.002"),
        ({"kind": "range", "at_ns": 5, "end_ns": 5, "name": "a"}, "The range is empty"),
        ({"kind": "bookmark", "at_ns": 5}, "The bookmark is empty: give it a name"),
        ({"kind": "range", "at_ns": 5, "end_ns": 6, "text": "a"}, "give it a name"),
        ({"kind": "note", "at_ns": 5, "text": " \n\t "}, "The note is empty: give it a text"),
        ({"kind": "bookmark", "at_ns": 5, "name": "\0\x1b\u202e"}, "give it a name"),
        ({"kind": "bookmark", "at_ns": -1, "name": "a"}, "is before that"),
        ({"kind": "bookmark", "at_ns": MAX_NS, "name": "a"}, "146 years"),
        (
            {"kind": "bookmark", "at_ns": 1, "name": "x" * (LONGEST_NAME + 1)},
            "The name has 201 characters; at most 200 are allowed",
        ),
        (
            {"kind": "note", "at_ns": 1, "text": "x" * (LONGEST_TEXT + 1)},
            "The text has 10,001 characters",
        ),
    ],
)
def test_that_what_makes_no_sense_is_refused_in_a_sentence(
    values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(AnnotationError, match=sentence):
        checked(Annotation(**values))


def test_that_what_cannot_be_seen_is_taken_out_of_the_words() -> None:
    found = checked(
        Annotation("note", 1, name=" a\r\nb\x1b[31m \u202ec\ud800", text=" one\r\ntwo\0\tthree ")
    )
    assert found.name == "a b [31m c"
    assert found.text == "one\ntwo  three"


def test_that_a_session_may_be_annotated_from_its_begin_to_its_end_at_any_allowed_length() -> None:
    name, text = "n" * LONGEST_NAME, "t" * LONGEST_TEXT

    for annotation in (
        Annotation("bookmark", 0, name=name),
        Annotation("note", MAX_NS - 1, text=text),
        Annotation("range", 0, MAX_NS - 1, name, text),
    ):
        assert checked(annotation) == annotation


def test_that_the_words_of_the_world_stay_as_they_are() -> None:
    for name in ("Ärger", "ボス戦", "معركة", "👩‍🚀 start", "e\u0301"):
        assert checked(Annotation("bookmark", 1, name=name)).name == name


def test_that_a_title_is_the_name_else_how_the_text_begins() -> None:
    assert Annotation("note", 1, name="a", text="b").title == "a"
    assert Annotation("note", 1, text="\nfirst\nsecond").title == "first"
    assert Annotation("bookmark", 1).title == "unnamed bookmark"


def test_that_a_line_tells_when_and_what() -> None:
    assert Annotation("bookmark", 1_500_000_000, name="a").line == "0:01.500  bookmark: a"
    line = Annotation("range", 0, 1_500_000_000, "fight").line
    assert line == "0:00.000 to 0:01.500  range: fight"


def test_that_no_longer_text_is_read_than_can_be_shown() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE TABLE annotations (id, kind, at_ns, end_ns, name, text, created)"
        )
        row = (1, "note", 5, None, "n" * 1_000_000, "t" * 3_000_000, "2026-01-01T00:00:00+00:00")
        connection.execute("INSERT INTO annotations VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        read: list[tuple[object, ...]] = []

        def rows(text: str) -> list[tuple[object, ...]]:
            read.extend(connection.execute(text).fetchall())
            return read

        (found,) = read_annotations(rows)

    assert max(len(str(value)) for value in read[0]) == LONGEST_TEXT
    assert (found.name, found.text) == ("n" * LONGEST_NAME, "t" * LONGEST_TEXT)
