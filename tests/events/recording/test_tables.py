"""The plain tables of a recording tell what happened, row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from inspector.events.recording.layout import SCHEMA
from inspector.events.recording.writing.tables import PlainTables
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    CALLBACK_FAILED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    COMMAND,
    COMMAND_CONTEXT,
    LOOP_FOUND,
    MARK,
    MEMBER_ADDED,
    NEVER,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    THREAD_FAILED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    LoopKind,
    RawEvent,
    TimerKind,
)
from tests.events.event_blocks import block_of

TEXTS = ["", "root", "game", "fog", "one", "two"]
ROOT, GAME, FOG, BELOW = 1, 2, 3, 4
ONE, TWO = TEXTS.index("one"), TEXTS.index("two")

CLOCKS: list[RawEvent] = [
    (0, CLOCK_ADDED, ROOT, 0, ROOT),
    (0, CLOCK_ANCHORED, ROOT, 0, RATE_DENOMINATOR),
    (1, CLOCK_ADDED, GAME, ROOT, GAME),
    (1, CLOCK_ANCHORED, GAME, 0, RATE_DENOMINATOR // 2),
    (2, CLOCK_ADDED, FOG, ROOT, FOG),
    (2, CLOCK_ANCHORED, FOG, 0, RATE_DENOMINATOR),
]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        yield connection


def state_after(*events: RawEvent) -> Timeline:
    timeline = Timeline(TEXTS)
    timeline.apply_all(events)
    return timeline


def tables_of(
    connection: sqlite3.Connection, *pieces: list[RawEvent], before: Timeline | None = None
) -> PlainTables:
    """Write the rows of some pieces of events, the first of them at cursor 100."""
    tables, cursor = PlainTables(TEXTS), 100
    tables.begin(before or state_after())
    for events in pieces:
        tables.add(block_of(events), cursor)
        tables.flush(connection)
        cursor += len(events)
    return tables


def rows_in(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - our own names


def test_that_rare_events_are_rows_with_their_cursors(connection: sqlite3.Connection) -> None:
    tables_of(
        connection,
        [*CLOCKS, (3, MARK, GAME, ONE, 0), (4, COMMAND, 7, ONE, TWO)],
        # What is told of a command may come in the next piece.
        [(4, COMMAND_CONTEXT, FOG, 1_234, TWO), (5, COMMAND, 8, TWO, 0)],
        [(6, CALLBACK_FAILED, 9, ONE, TWO), (7, THREAD_FAILED, 0, TWO, ONE)],
        [(8, STATE_ENTERED, 5, ONE, TWO), (9, BREAKPOINT_HIT, 3, ONE, 44)],
    )

    assert rows_in(connection, "marks") == [(106, 3, GAME, "one")]
    assert rows_in(connection, "commands") == [
        (107, 4, 7, "one", "two", FOG, 1_234, "two"),
        (109, 5, 8, "two", "", None, None, ""),
    ]
    assert rows_in(connection, "errors") == [(110, 6, 9, "one", "two"), (111, 7, 0, "two", "one")]
    assert rows_in(connection, "states") == [(112, 8, 5, "one", "two")]
    assert rows_in(connection, "hits") == [(113, 9, 3, 44, "one")]


def test_that_clocks_are_rows_with_what_became_of_them(connection: sqlite3.Connection) -> None:
    tables_of(
        connection,
        [
            *CLOCKS,
            (3, CLOCK_ADDED, BELOW, FOG, 0),
            (10, CLOCK_RATE, ROOT, RATE_DENOMINATOR // 4, 0),
            (11, CLOCK_PAUSED, GAME, 6, 0),
        ],
        # The clock above was created later.
        [(12, CLOCK_MOVED, GAME, FOG, 0), (13, CLOCK_PAUSED, FOG, 7, 0)],
        [(14, CLOCK_RESUMED, FOG, 0, 0), (15, CLOCK_PAUSED, ROOT, 8, 0)],
        [(16, CLOCK_REMOVED, FOG, 0, 0), (18, CLOCK_REMOVED, ROOT, 0, 0)],
    )

    assert rows_in(connection, "clocks") == [
        (ROOT, "root", 0, 0.25, 0, 18),
        (GAME, "game", FOG, 0.5, 1, 16),
        (FOG, "fog", ROOT, 1.0, 2, 16),
        (BELOW, "", FOG, 1.0, 3, 16),
    ]
    pauses = [(GAME, 11, 16, 6), (FOG, 13, 14, 7), (ROOT, 15, 18, 8)]
    assert rows_in(connection, "pauses") == pauses


def test_that_the_first_loop_is_the_one_whose_frames_are_shown(
    connection: sqlite3.Connection,
) -> None:
    found: list[RawEvent] = [
        (1, LOOP_FOUND, GAME, ONE, LoopKind.WAITS_FOR_EVENTS),
        (2, LOOP_FOUND, FOG, TWO, LoopKind.DRAWS_FRAMES),
    ]
    told = [
        (GAME, "one", LoopKind.WAITS_FOR_EVENTS.text, 1),
        (FOG, "two", LoopKind.DRAWS_FRAMES.text, 0),
    ]

    tables_of(connection, [*CLOCKS, *found])
    assert rows_in(connection, "loops") == told

    connection.execute("DELETE FROM loops")
    tables_of(connection, [found[1]], before=state_after(*CLOCKS, found[0]))
    assert rows_in(connection, "loops") == told


def test_that_what_came_before_is_there_once_and_has_no_cursor(
    connection: sqlite3.Connection,
) -> None:
    before: list[RawEvent] = [
        *CLOCKS,
        (3, CLOCK_PAUSED, FOG, 4, 0),
        (4, MARK, GAME, ONE, 0),
        (5, COMMAND, 7, ONE, TWO),
        (5, COMMAND_CONTEXT, GAME, 1_234, TWO),
        (6, CALLBACK_FAILED, 9, ONE, TWO),
        (7, BREAKPOINT_HIT, 3, ONE, 44),
        (8, MEMBER_ADDED, 1, 0, 0),
    ]
    later: list[RawEvent] = [(20, MARK, 0, TWO, 0), (21, COMMAND, 8, TWO, 0)]
    missed: list[RawEvent] = [
        (30, CLOCK_RESUMED, FOG, 0, 0),
        (31, MARK, 0, ONE, 0),
        (32, CALLBACK_FAILED, 0, TWO, 0),
        (33, BREAKPOINT_HIT, 4, TWO, 45),
        (34, COMMAND, 9, TWO, 0),
    ]
    state = state_after(*before)
    tables = tables_of(connection, later, before=state)

    assert rows_in(connection, "pauses") == [(FOG, 3, None, 4)]

    # As after a gap, for which the state behind it is known.
    state.apply_all([*later, *missed])
    tables.begin(state)
    tables.flush(connection)

    assert rows_in(connection, "clocks")[1:] == [
        (GAME, "game", ROOT, 0.5, 1, None),
        (FOG, "fog", ROOT, 1.0, 2, None),
    ]
    # When it ended is not known.
    assert rows_in(connection, "pauses") == []
    marks = [(None, 4, GAME, "one"), (100, 20, 0, "two"), (None, 31, 0, "one")]
    assert rows_in(connection, "marks") == marks
    assert rows_in(connection, "commands") == [
        (None, 5, 7, "one", "two", GAME, 1_234, "two"),
        (101, 21, 8, "two", "", None, None, ""),
        (None, 34, 9, "two", "", 0, 0, ""),
    ]
    assert rows_in(connection, "errors") == [(None, 6, 9, "one", "two"), (None, 32, 0, "two", "")]
    assert rows_in(connection, "hits") == [(None, 7, 3, 44, "one"), (None, 33, 4, 45, "two")]


def test_that_a_timer_is_a_row_with_what_became_of_it(connection: sqlite3.Connection) -> None:
    kinds = TimerKind.INTERVAL_SKIP.text, TimerKind.TIMEOUT.text
    before: list[RawEvent] = [
        *CLOCKS,
        (3, TIMER_ADDED, 1, GAME, ONE),
        (3, TIMER_ORIGIN, 1, TWO, TimerKind.INTERVAL_SKIP),
        (3, TIMER_ARMED, 1, 50, 10),
        (4, TIMER_ADDED, 2, FOG, TWO),
        (5, TIMER_FIRED, 1, 6, 60),
    ]
    pieces: list[list[RawEvent]] = [
        # The first event of a piece, and those of timers that are not new in it
        [(10, TIMER_ORIGIN, 2, ONE, TimerKind.TIMEOUT), (11, TIMER_ARMED, 2, 70, 0)],
        [(12, TIMER_FIRED, 1, 2, 80), (12, TIMER_FIRED, 1, 3, 90), (13, TIMER_ADDED, 3, FOG, ONE)],
        [
            (14, TIMER_ADDED, 4, FOG, TWO),
            (15, TIMER_ARMED, 4, 16, 0),
            (16, TIMER_FIRED, 4, 1, NEVER),
        ],
        [(17, TIMER_ADDED, 5, FOG, 0), (17, TIMER_CLEARED, 5, 0, 0), (17, TIMER_FIRED, 99, 0, 1)],
        [(18, TIMER_FIRED, 2, 8, NEVER), (18, TIMER_ARMED, 1, 95, 11)],
        [(19, CLOCK_REMOVED, FOG, 0, 0)],
    ]
    tables = tables_of(connection, *pieces, before=state_after(*before))

    assert rows_in(connection, "timers") == [
        (1, "one", GAME, kinds[0], "two", None, 95, 11, 3, 3, None, None),
        (2, "two", FOG, kinds[1], "one", None, 70, 0, 1, 8, 18, "fired"),
        (3, "one", FOG, "", "", 13, None, 0, 0, 0, 19, "clock removed"),
        (4, "two", FOG, "", "", 14, 16, 0, 1, 1, 16, "fired"),
        (5, "", FOG, "", "", 17, None, 0, 0, 0, 17, "cleared"),
    ]

    # Behind a gap, one is still there and keeps the instant at which it was added.
    tables.add(block_of([(20, TIMER_ADDED, 6, GAME, ONE), (20, TIMER_ADDED, 7, GAME, ONE)]), 0)
    tables.begin(state_after(*CLOCKS, (20, TIMER_ADDED, 7, GAME, ONE)))
    tables.flush(connection)

    ends = connection.execute(
        "SELECT timer, added_ns, gone_by FROM timers WHERE timer NOT IN (3, 4, 5)"
    )
    assert ends.fetchall() == [(1, None, "not known"), (2, None, "fired"), (7, 20, None)]


@pytest.mark.parametrize("count", [0, 1, 32, 70])
def test_that_any_number_of_timers_is_written_once(
    connection: sqlite3.Connection, count: int
) -> None:
    came_and_went: list[RawEvent] = []
    for n in range(1, count + 1):
        came_and_went.append((n, TIMER_ADDED, n, GAME, ONE))
        came_and_went += [(n, TIMER_CLEARED, n, 0, 0)] * (n % 3 == 0)
    went: list[RawEvent] = [(99, TIMER_CLEARED, n, 0, 0) for n in range(1, count + 1, 3)]

    tables = tables_of(connection, [*CLOCKS, *came_and_went], went)

    ends = connection.execute("SELECT timer, gone_ns FROM timers ORDER BY timer").fetchall()
    assert ends == [(n, (n, 99, None)[n % 3]) for n in range(1, count + 1)]
    connection.execute("DELETE FROM timers")
    tables.flush(connection)
    assert rows_in(connection, "timers") == []
