"""Records on lanes: what is laid out of them, one by one and many at once."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from random import Random

import pytest

from inspector.analysis.lanes.lane_columns import Instants, Steps
from inspector.analysis.lanes.lanes import GONE_STATE
from inspector.formats.arrangement import lane_layout
from inspector.formats.arrangement.lane_layout import LaneLayout, state_color
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Kind, Row, Sheet
from inspector.tokens import COLORS


def laid_out(seed: int) -> list[tuple[int, int, str, list[list[int]]]]:
    """Return what is laid out of some lanes: layers, kinds, colours and rectangles."""
    random, sheet = Random(seed), Sheet(COLORS["light"])
    layout, window = LaneLayout(sheet), LaneWindow(1e9, 3e9, 40, 300, 2_900_000_000)
    late_ns = random.choice((0, 20_000_000))
    has_whiskers, ends_whiskers = random.random() < 0.7, random.random() < 0.5
    for number in range(random.randrange(1, 4)):
        instants = Instants()
        for at_ns in sorted(random.choices(range(10**9, 3 * 10**9, 10**7), k=3)):
            instants.append(at_ns, random.choice((0, 5_000_000, 60_000_000)), 1)
        row = Row(10 + 30 * number, random.randrange(14, 30))
        layout.instants(
            *(instants, window, row),
            kind="tick",
            late_ns=late_ns,
            has_whiskers=has_whiskers,
            ends_whiskers=ends_whiskers,
        )
    layout.finish()
    return [
        (layer, kind, color, sorted(rect for rects in entries for rect in rects.tolist()))
        for (layer, kind, color), entries in sorted(sheet._parts.items())
    ]


@pytest.mark.parametrize("seed", range(24))
def test_that_a_few_records_look_as_they_do_among_many(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    few = laid_out(seed)
    monkeypatch.setattr(lane_layout, "_FEW", 0)
    assert few == laid_out(seed)


@pytest.mark.parametrize("seed", range(4))
def test_that_dense_states_are_sampled_in_each_column(seed: int) -> None:
    random, steps, sheet = Random(seed), Steps(), Sheet(COLORS["light"])
    window = LaneWindow(1e9, 3e9, 40, 50, 2_900_000_000)
    states = {9: 1, 4: 0, GONE_STATE: 5}
    for at_ns in sorted(random.sample(range(1_100_000_000, 4 * 10**9), k=random.choice((40, 900)))):
        steps.append(at_ns, random.choice(list(states)), 0)
    row = Row(10, 30)
    LaneLayout(sheet).steps(
        *(steps, window, row), number_of=states.__getitem__, name_of=lambda _: "state"
    )

    def state_at(at_ns: int) -> float:
        began = [v for at, v in zip(steps.at_ns, steps.value, strict=True) if at <= at_ns]
        return began[-1] if began and at_ns <= window.present_ns else -inf

    def color_of(state: float) -> str:
        is_there = state not in {-inf, GONE_STATE}
        return state_color(states[int(state)], sheet.colors) if is_there else ""

    instants = window.instants(lane_layout._LOOKS).tolist()
    looks = [instants[at : at + lane_layout._LOOKS] for at in range(0, len(instants) - 1, 6)]
    (columns,) = sheet._parts[0, Kind.COLUMNS, ""]
    shown = [[columns.colors[cell] for cell in cells] for cells in columns.cells.T.tolist()]
    # In one order in all columns.
    assert shown == [[color_of(state) for state in sorted(map(state_at, each))] for each in looks]
    edges = [*(each[0] for each in looks), instants[-1]]
    crowded = [
        window.left + column
        for column, (low, high) in enumerate(pairwise(edges))
        if sum(low < at_ns <= high for at_ns in steps.at_ns) > 1
    ]
    marks = [rect for part in sheet._parts[1, Kind.RECTS, sheet.colors["text"]] for rect in part]
    assert [(left, right) for left, _, right, _ in marks] == [(x, x) for x in crowded]
