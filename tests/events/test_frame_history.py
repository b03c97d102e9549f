"""The frames of a session: which one an instant belongs to, and what span a frame has."""

import pytest

from inspector.events.frame_history import FrameHistory
from inspector.vocabulary import Phase

MS = 1_000_000


@pytest.fixture
def frames() -> FrameHistory:
    """Three frames, at 10, 20 and 35 ms."""
    history = FrameHistory()
    for at_ms in (10, 20, 35):
        history.append(at_ms * MS, 10 * MS, 10 * MS, MS, 0, [0] * len(Phase))
    return history


@pytest.mark.parametrize(
    ("at_ms", "behind", "index"),
    [(0, 0, 0), (10, 1, 0), (11, 1, 1), (20, 2, 1), (35, 3, 2), (36, 3, None)],
)
def test_that_an_instant_has_a_frame_before_it_and_one_from_it_on(
    frames: FrameHistory, at_ms: int, behind: int, index: int | None
) -> None:
    assert frames.index_at(at_ms * MS) == behind
    assert frames.index_from(at_ms * MS) == index


def test_that_a_frame_lasts_from_the_one_before_to_its_own_instant(frames: FrameHistory) -> None:
    assert [frames.span(index) for index in (0, 1, 2)] == [
        (-1, 10 * MS),
        (10 * MS, 20 * MS),
        (20 * MS, 35 * MS),
    ]
    assert frames.span(-1) is None
    assert frames.span(3) is None
