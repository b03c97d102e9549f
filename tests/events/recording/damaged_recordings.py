"""Recordings that no user should ever meet: damaged at random, or made to do harm.

Which one it is follows from its number alone, so that any of them can be made again.
"""

# ruff: noqa: S608 - the names of the tables are our own

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np
import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.scene import AddMark
from inspector.events.annotations import Annotation
from inspector.events.blocks.packed_columns import EVENT_COLUMNS, pack, unpack
from inspector.events.recording import RecordingInfo
from inspector.events.recording.layout import FRAME_COLUMNS, TIMER_COLUMNS
from inspector.events.recording.writing import file as file_module
from inspector.events.recording.writing.file import RecordingFile
from inspector.events.timeline import Timeline
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import file_digest
from inspector.sessions.runs.virtual import run_virtual
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import (
    CALL_ENDED,
    COMMAND_CONTEXT,
    FRAME_ENDED,
    PHASE_ENDED,
    EventKind,
    Phase,
    RawEvent,
)

#: A scene with some of everything that can be recorded.
SCENE: Final = '''
"""Some of everything."""

from inspector.frames.state_machine import Edge


class Actor:
    """A target of calls."""

    def update(self, delta):
        """Do nothing."""


def build(stage):
    """Build it."""
    level = stage.root.child("level", rate=0.5)
    boss = level.child("boss")
    stage.root.set_interval(0.1, lambda: None, name="heart")
    boss.set_timeout(0.3, lambda: None, name="angry")
    boss.set_timeout(50, lambda: None, name="never")
    machine = stage.state_machine(
        "open", {"shut": Edge("open", "closed"), "open": Edge("closed", "open")}, name="door"
    )

    def fail():
        stage.mark("about to fail")
        raise ValueError("no")

    def swing():
        machine.go("shut" if machine.state == "open" else "open")

    level.set_interval(0.2, fail, name="fails")
    level.set_interval(0.15, swing, name="swings")
    scheduler = stage.scheduler(name="calls")
    actor = Actor()
    scheduler.schedule_update(actor, 3)
    scheduler.schedule(lambda delta: None, 0.25, target=actor)
'''

_WHEN: Final = "2026-01-01T00:00:00+00:00"
_STEP_NS: Final = NS_PER_SECOND // 60
_ABSURD: Final = (
    -1, 0, 1, 7, 255, 2**31, 2**62, 2**63 - 1, -(2**63), 10**15, -5_000, 1_000_000,
)  # fmt: skip
_ODD_VALUES: Final[tuple[Any, ...]] = (
    None, "", "x", "-1", b"\xff\xfe", 1.5, 1e300, "1e999999999", "<img src='x'>",
    "a\x00b", "\u2028", "9" * 5_000, *_ABSURD,
)  # fmt: skip


def whole_recording(folder: Path) -> Path:
    """Record the scene, with commands, annotations and several keyframes."""
    scene, path = folder / "scene.py", folder / "whole.tlrec"
    scene.write_text(SCENE, "utf-8")
    session = HostedSession(scene, VirtualTimeSource(), autorun=False)
    try:
        assert session.problem is None, session.problem
        for turn in range(4):
            run_virtual(session, frames=None, duration_ns=NS_PER_SECOND // 2, dt_ns=_STEP_NS)
            session.refresh()
            session.submit(
                (PauseClock(2), ResumeClock(2), SetRate(3, session.frame_rate / 50))[turn % 3]
            )
            session.submit(AddMark(f"turn {turn}"))
        session.refresh()
        log = session.log
        # Timers have a phase of their own only when they took a time that could be measured.
        events = [
            _unmeasured(event)
            for event in log.slice(log.first, log.end)
            if event[1:3] != (PHASE_ENDED, Phase.TIMERS)
        ]
        about = RecordingInfo(
            "/somewhere/scene.py", file_digest(scene), "damaged", "1.0", "60", "virtual"
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(file_module, "KEYFRAME_EVERY", 700)
            patch.setattr(file_module, "KEYFRAME_AT_MOST", 700)
            texts = [text.replace(str(folder), "/somewhere") for text in log.strings]
            file = RecordingFile(path, about, Timeline(texts), 0)
            file.add_strings(texts)
            for start in range(0, len(events), 350):
                file.add(events[start : start + 350])
                file.commit()
            for frame in range(120):
                file.pictures.add(frame, b"picture %d" % frame)
            file.annotate(
                [
                    Annotation("bookmark", 10_000_000, None, "here", created=_WHEN),
                    Annotation("range", 20_000_000, 900_000_000, "from", "to", created=_WHEN),
                ]
            )
            file.finish()
    finally:
        session.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE name LIKE '%ed_at'", (_WHEN,))
    return path


def _unmeasured(event: RawEvent) -> RawEvent:
    """Return an event without what was measured, which is something else every time."""
    at_ns, kind, subject, a, b = event
    if kind in {PHASE_ENDED, FRAME_ENDED, CALL_ENDED}:
        return at_ns, kind, subject, 0 if kind == CALL_ENDED else a, 1_000
    return (at_ns, kind, subject, 0, b) if kind == COMMAND_CONTEXT else event


def damage(whole: bytes, path: Path, number: int) -> str:
    """Write a damaged recording to a file; returns what was done to it."""
    chance = random.Random(number)
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if number % 2:
        way = chance.choice(_BYTE_WAYS)
        path.write_bytes(way(bytearray(whole), chance))
        return way.__name__
    path.write_bytes(whole)
    done = []
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            change = chance.choice(_TABLE_WAYS)
            try:
                change(connection, chance)
            except _DOES_NOT_APPLY as error:
                done.append(f"({change.__name__}: {error})")
            else:
                done.append(change.__name__)
    finally:
        connection.close()
    return ", ".join(done)


#: What a change stumbles over that earlier ones have left nothing for.
_DOES_NOT_APPLY = (
    sqlite3.Error,
    RecursionError,
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    MemoryError,
)

# ------------------------------------------------------------------ bytes


def _cut(data: bytearray, chance: random.Random) -> bytearray:
    return data[: chance.randrange(len(data))]


def _flip(data: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 8, 300))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data


def _overwrite(data: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 8, 300))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return data


def _swap(data: bytearray, chance: random.Random) -> bytearray:
    size = chance.choice((64, 1_024, 16_384))
    for _ in range(chance.choice((1, 4))):
        one, other = (chance.randrange(len(data) // size) * size for _ in range(2))
        data[one : one + size], data[other : other + size] = (
            data[other : other + size],
            data[one : one + size],
        )
    return data


def _zero(data: bytearray, chance: random.Random) -> bytearray:
    size = chance.choice((16, 512, 16_384))
    start = chance.randrange(len(data))
    data[start : start + size] = bytes(len(data[start : start + size]))
    return data


_BYTE_WAYS: Final = (_cut, _flip, _overwrite, _swap, _zero)

# ------------------------------------------------------------------ tables


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite%'"
    )
    return [name for (name,) in found]


def _loosen(connection: sqlite3.Connection, table: str) -> None:
    """Make a table that takes values of any kind."""
    # An endless query may stand in its place.
    connection.execute(f"CREATE TABLE loose AS SELECT * FROM {table} LIMIT 100000")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE loose RENAME TO {table}")


def _odd_value(connection: sqlite3.Connection, chance: random.Random) -> None:
    table = chance.choice(_tables(connection))
    if chance.random() < 0.7:
        _loosen(connection, table)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    for _ in range(chance.choice((1, 5))):
        column, place = chance.choice(columns), chance.randrange(max(1, rows))
        where = "" if chance.random() < 0.1 else f" LIMIT 1 OFFSET {place}"
        key = "rowid" if table != "meta" else f'"{columns[0]}"'
        connection.execute(
            f'UPDATE {table} SET "{column}" = ? WHERE {key} IN (SELECT {key} FROM {table}{where})',
            (chance.choice(_ODD_VALUES),),
        )


def _not_utf8(connection: sqlite3.Connection, chance: random.Random) -> None:
    table, column = chance.choice(
        (
            ("strings", "text"), ("annotations", "name"), ("annotations", "text"),
            ("meta", "value"), ("keyframes", "state"), ("annotations", "kind"),
        )
    )  # fmt: skip
    connection.execute(f"UPDATE {table} SET {column} = CAST(x'6162ff80c3' AS TEXT)")


def _other_meta(connection: sqlite3.Connection, chance: random.Random) -> None:
    names = (
        "title", "scene_path", "frame_rate", "lost_events", "first_cursor", "first_ns",
        "ended_at", "started_at", "schema_version", "vocabulary_version", "source",
        "scene_digest", "tool_version",
    )  # fmt: skip
    for _ in range(chance.choice((1, 3))):
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            (chance.choice(names), chance.choice(_ODD_VALUES)),
        )


def _other_events(connection: sqlite3.Connection, chance: random.Random) -> None:
    rows = connection.execute("SELECT first_cursor, count, data FROM chunks LIMIT 1000").fetchall()
    cursor, count, data = chance.choice(rows)
    block = unpack(data, EVENT_COLUMNS, count)
    for _ in range(chance.choice((1, 3, 50))):
        place, column = chance.randrange(count), chance.randrange(EVENT_COLUMNS)
        match chance.randrange(4):
            case 0:
                block[column, place] = chance.choice(_ABSURD)
            case 1:
                # Wraps, as flipped bits do.
                block[column, place : place + 1] += chance.choice((-1, 1, 2))
            case 2:
                block[column, place] = block[chance.randrange(2, EVENT_COLUMNS), place]
            case _:
                block[1:, place] = block[1:, chance.randrange(count)]
    if chance.random() < 0.5:
        block[0] = np.maximum.accumulate(np.clip(block[0], 0, None))
    _put_chunk(connection, cursor, block)


def _made_up_events(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Put events of every kind on a few subjects, each right by itself."""
    rows = connection.execute("SELECT first_cursor, count, data FROM chunks LIMIT 1000").fetchall()
    cursor, count, data = chance.choice(rows)
    block = unpack(data, EVENT_COLUMNS, count)
    for place in range(count):
        if chance.random() < 0.5:
            kind = chance.choice(list(EventKind))
            block[1:, place] = [kind, *(chance.randrange(6) for _ in range(3))]
    _put_chunk(connection, cursor, block)


def _put_chunk(connection: sqlite3.Connection, cursor: int, block: Any) -> None:  # noqa: ANN401
    data = pack(block)
    connection.execute(
        "UPDATE chunks SET data=?, crc=?, first_ns=?, last_ns=? WHERE first_cursor=?",
        (data, crc32(data), int(block[0, 0]), int(block[0, -1]), cursor),
    )


def _far_cursors(connection: sqlite3.Connection, chance: random.Random) -> None:
    far = chance.choice((10**6, 10**12, 2**60))
    table, column = chance.choice(
        (
            ("chunks", "first_cursor"),
            ("keyframes", "cursor"),
            ("frame_chunks", "first_frame"),
            ("pictures", "first_frame"),
        )
    )
    connection.execute(
        f"UPDATE {table} SET {column} = {column} + ? WHERE {column} >= "
        f"(SELECT {column} FROM {table} LIMIT 1 OFFSET ?)",
        (far, chance.randrange(3)),
    )


def _much_of_nothing(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Say with few bytes that there are very many entries."""
    match chance.randrange(3):
        case 0:
            data = np.zeros(len(FRAME_COLUMNS) * 16, np.uint8).tobytes()
            connection.execute("DELETE FROM frame_chunks")
            for number in range(chance.choice((1, 30))):
                connection.execute(
                    "INSERT INTO frame_chunks VALUES (?,?,?,?)",
                    (number * 2**24, 2**24, crc32(data), data),
                )
        case 1:
            data = bytes(16 * len(TIMER_COLUMNS))
            connection.execute("UPDATE keyframes SET timers=?, timer_count=?", (data, 2**24))
            _right_crcs(connection)
        case _:
            data = bytes(16 * EVENT_COLUMNS)
            values = (8_192, crc32(data), data)
            connection.execute("UPDATE chunks SET count=?, crc=?, data=?", values)
            connection.execute("UPDATE chunks SET first_cursor = first_cursor * 100")


def _other_state(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Change something inside of the states."""
    rows = connection.execute("SELECT cursor, state, news FROM keyframes LIMIT 1000").fetchall()
    for cursor, state, news in rows:
        if chance.random() < 0.3:
            continue
        texts = [state, news]
        which = chance.randrange(2)
        values = json.loads(texts[which])
        for _ in range(chance.choice((1, 4))):
            _change_within(values, chance)
        texts[which] = json.dumps(values)
        connection.execute("UPDATE keyframes SET state=?, news=? WHERE cursor=?", (*texts, cursor))
    _right_crcs(connection)


def _change_within(values: Any, chance: random.Random) -> None:  # noqa: ANN401 - any JSON
    """Change one value somewhere in a JSON value."""
    while isinstance(values, list | dict) and values:
        keys = list(values) if isinstance(values, dict) else list(range(len(values)))
        key = chance.choice(keys)
        inner = values[key]
        if isinstance(inner, list | dict) and inner and chance.random() < 0.85:
            values = inner
            continue
        odd = [each for each in _ODD_VALUES if not isinstance(each, bytes)]
        values[key] = chance.choice([*odd, [], {}, [[1]], chance.randrange(6), 10**40])
        return


def _nested(connection: sqlite3.Connection, chance: random.Random) -> None:
    depth = chance.choice((1_000, 100_000, 3_000_000))
    opening = chance.choice(("[", '{"a":', '{"command":"', "[[],"))
    text = opening * depth
    if chance.random() < 0.5:
        connection.execute("UPDATE keyframes SET state = ?", (text,))
        _right_crcs(connection)
    else:
        connection.execute("UPDATE strings SET text = ? WHERE text LIKE '{%'", (text,))


def _right_crcs(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT cursor, state, news, timers FROM keyframes LIMIT 1000"
    ).fetchall()
    for cursor, state, news, timers in rows:
        crc = crc32(timers, crc32(news.encode(), crc32(state.encode())))
        connection.execute("UPDATE keyframes SET crc=? WHERE cursor=?", (crc, cursor))


def _other_strings(connection: sqlite3.Connection, chance: random.Random) -> None:
    match chance.randrange(5):
        case 0:
            connection.execute("DELETE FROM strings WHERE number % 3 = 1")
        case 1:
            connection.execute("DELETE FROM strings")
        case 2:
            connection.execute("INSERT INTO strings VALUES (?, 'far')", (chance.choice(_ABSURD),))
        case 3:
            text = chance.choice(("<b>", "x\u2028", "\U0001f600")) * 3_000_000
            connection.execute("UPDATE strings SET text = ? WHERE number = 3", (text,))
        case _:
            forms = connection.execute("SELECT number, text FROM strings WHERE text LIKE '{%'")
            for number, text in forms.fetchall():
                values = json.loads(text)
                _change_within(values, chance)
                connection.execute(
                    "UPDATE strings SET text=? WHERE number=?", (json.dumps(values), number)
                )


def _other_annotations(connection: sqlite3.Connection, chance: random.Random) -> None:
    _loosen(connection, "annotations")
    connection.execute("BEGIN")
    for _ in range(chance.choice((1, 20, 20_000))):
        kind = chance.choice(("bookmark", "note", "range", "odd"))
        values = [kind, *(chance.choice(_ODD_VALUES) for _ in range(5))]
        if chance.random() < 0.5:
            values[1:3] = chance.choice(_ABSURD), chance.choice((None, *_ABSURD))
        connection.execute(
            "INSERT INTO annotations (kind, at_ns, end_ns, name, text, created) "
            "VALUES (?,?,?,?,?,?)",
            values,
        )
    connection.execute("COMMIT")


def _view(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Replace a table by an endless query."""
    table = chance.choice(_tables(connection))
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    connection.execute(f"DROP TABLE {table}")
    names = ", ".join(f'n AS "{column}"' for column in columns)
    connection.execute(
        f"CREATE VIEW {table} AS WITH RECURSIVE c(n) AS "
        f"(SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT {names} FROM c"
    )


def _trigger(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Have a query without end follow on every change of the annotations."""
    what = chance.choice(("INSERT", "DELETE", "UPDATE"))
    connection.execute(
        f"CREATE TRIGGER t AFTER {what} ON annotations BEGIN INSERT INTO marks "
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
        "SELECT n, n, n, n FROM c; END"
    )


def _generated(connection: sqlite3.Connection, chance: random.Random) -> None:
    """Have a column that is worked out, and is huge."""
    table, column = chance.choice((("strings", "text"), ("annotations", "text"), ("meta", "value")))
    rest = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != column]
    named = ", ".join(f'"{each}"' for each in rest)
    connection.execute(f"ALTER TABLE {table} RENAME TO former")
    made = f"{column} AS (hex(zeroblob(200000000)))"
    connection.execute(f"CREATE TABLE {table} ({named}, {made})")
    connection.execute(f"INSERT INTO {table} ({named}) SELECT {named} FROM former")
    connection.execute("DROP TABLE former")


def _without_table(connection: sqlite3.Connection, chance: random.Random) -> None:
    connection.execute(f"DROP TABLE {chance.choice(_tables(connection))}")


def _lost_rows(connection: sqlite3.Connection, chance: random.Random) -> None:
    table = chance.choice(("chunks", "keyframes", "frame_chunks", "strings", "pictures"))
    connection.execute(f"DELETE FROM {table} WHERE rowid % 3 = ?", (chance.randrange(3),))


def _damaged_chunk(connection: sqlite3.Connection, chance: random.Random) -> None:
    table = chance.choice(("chunks", "frame_chunks", "pictures"))
    where = chance.choice(("", f" WHERE rowid = (SELECT max(rowid) FROM {table})"))
    connection.execute(f"UPDATE {table} SET crc = crc + 1{where}")


_TABLE_WAYS: Final[tuple[Callable[[sqlite3.Connection, random.Random], None], ...]] = (
    _odd_value, _odd_value, _odd_value, _not_utf8, _other_meta, _other_events, _other_events,
    _other_events, _made_up_events, _far_cursors, _much_of_nothing, _other_state, _other_state,
    _nested, _other_strings, _other_annotations, _view, _trigger, _generated, _without_table,
    _lost_rows, _damaged_chunk,
)  # fmt: skip
