"""Records on lanes: what is laid out of them, one by one and many at once."""

from __future__ import annotations

from random import Random

import pytest

from inspector.analysis.lanes.lane_columns import Instants
from inspector.formats.arrangement import lane_layout
from inspector.formats.arrangement.lane_layout import LaneLayout
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.formats.arrangement.sheet import Row, Sheet
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
