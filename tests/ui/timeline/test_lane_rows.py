"""The rows of the timeline, in the order and depth of the clock tree."""

from __future__ import annotations

from pathlib import Path

from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lanes.rows import RowChoices, rows_of
from inspector.testing import held_session, scene_file

NESTED = """
    def build(stage):
        for name in ("first", "second"):
            clock = stage.root.child(name)
            for number in range(1_200):
                clock = clock.child(f"{name} {number}")
"""


def test_that_clocks_nested_deeper_than_calls_have_their_rows(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, NESTED))
    session.refresh()
    store = LaneStore()
    while store.read(session.history, session.timeline):
        pass

    _, rows = rows_of(store, RowChoices())

    chains = [
        [name, *(f"{name} {number}" for number in range(1_200))] for name in ("first", "second")
    ]
    shown = [(row.depth, row.key[2]) for row in rows]
    below = [(depth, name) for each in chains for depth, name in enumerate(each, 1)]
    assert shown[-len(below) :] == below
    session.close()
