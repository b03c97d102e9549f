"""The help page about recordings says what is true."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from inspector.events.blocks.packed_columns import pack
from inspector.events.recording.layout import APPLICATION_ID, CHUNK_EVENTS, TIMER_COLUMNS
from inspector.resources import resource_path
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import record, scene_log

PAGE = resource_path("help", "recordings.md").read_text(encoding="utf-8")


def test_that_every_question_has_an_answer(tmp_path: Path) -> None:
    path = record(scene_log("5", 2), tmp_path / "a.tlrec")
    connection = sqlite3.connect(path)
    questions = re.findall(r'^sqlite3 game\.tlrec "(.*)"$', PAGE, re.MULTILINE)
    assert len(questions) == 5
    for question in questions:
        connection.execute(question.replace('\\"', '"')).fetchall()
    connection.close()


def test_that_every_table_is_listed(tmp_path: Path) -> None:
    path = record(scene_log("4", 0.5), tmp_path / "a.tlrec")
    connection = sqlite3.connect(path)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    connection.close()
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == {
        name for name in tables if not name.startswith("sqlite_")
    }


def test_that_the_numbers_are_the_right_ones() -> None:
    assert f"`0x{APPLICATION_ID:08X}`" in PAGE
    assert f"{CHUNK_EVENTS:,}" in PAGE
    assert ", ".join(TIMER_COLUMNS) in PAGE


def test_that_the_way_to_unpack_works() -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {"np": np}
    exec(code[1], names)  # noqa: S102 - the page's own example
    # Steps, equal values, a column with odd entries, and entries of all widths.
    events = [
        (n // 9 * 10**11, 33, n * n - 60_000, 2**62 if n == 17 else -n, (n - 150) * 2**40)
        for n in range(300)
    ]
    block = block_of(events)
    head = np.frombuffer(pack(block), names["HEAD"], 5)
    assert head["steps"].tolist() == [1, 0, 0, 0, 1]
    assert head["odd"][0] > 0
    assert head["odd"][3] == 1
    assert (np.array(list(names["unpack"](pack(block), 5, 300))) == block).all()
