"""The frames of a session: which one an instant belongs to, and what span a frame has."""

import numpy as np
import pytest

from inspector.events.frame_history import NO_PHASES, NO_SHARES, FrameHistory
from inspector.vocabulary import Phase, Share

MS = 1_000_000


@pytest.fixture
def frames() -> FrameHistory:
    """Three frames, at 10, 20 and 35 ms."""
    history = FrameHistory()
    for at_ms in (10, 20, 35):
        history.append(at_ms * MS, 10 * MS, 10 * MS, MS, 0, [0] * len(Phase))
    return history


@pytest.mark.parametrize(
    ("at_ns", "behind", "index"),
    [
        (0, 0, 0),
        (10 * MS, 1, 0),
        (10 * MS + 1, 1, 1),
        (20 * MS - 1, 1, 1),
        (20 * MS, 2, 1),
        (35 * MS, 3, 2),
        (35 * MS + 1, 3, None),
    ],
)
def test_that_an_instant_has_a_frame_before_it_and_one_from_it_on(
    frames: FrameHistory, at_ns: int, behind: int, index: int | None
) -> None:
    assert frames.index_at(at_ns) == behind
    assert frames.index_from(at_ns) == index
    assert frames.frame_at(at_ns) == (3 if index is None else index)


def test_that_a_frame_lasts_from_the_one_before_to_its_own_instant(frames: FrameHistory) -> None:
    assert [frames.span(index) for index in (0, 1, 2)] == [
        (-1, 10 * MS),
        (10 * MS, 20 * MS),
        (20 * MS, 35 * MS),
    ]
    assert frames.span(-1) is None
    assert frames.span(3) is None


def plain(history: FrameHistory, *at_ms: int) -> None:
    """Add frames without phases."""
    for each in at_ms:
        history.append(each * MS, 10 * MS, 10 * MS, MS, 0, NO_PHASES)


def test_that_frames_without_phases_keep_their_place_among_others(frames: FrameHistory) -> None:
    plain(frames, 40, 50)
    assert (len(frames), frames.end) == (5, 5)
    frames.append(60 * MS, 10 * MS, 10 * MS, MS, 0, [7] * len(Phase))
    plain(frames, 70)
    assert [each // MS for each in frames.at_ns] == [10, 20, 35, 40, 50, 60, 70]
    assert list(frames.phases[0]) == [0, 0, 0, 0, 0, 7, 0]
    assert len({len(each) for each in (frames.at_ns, *frames.phases, *frames.shares)}) == 1
    assert frames.frame(6).shares == NO_SHARES


def test_that_a_copy_goes_on_by_itself_after_frames_without_phases(frames: FrameHistory) -> None:
    plain(frames, 40)
    twin, earlier, later = frames.copy(), frames.until(3), frames.since(3)
    plain(frames, 50)
    plain(twin, 55, 60)
    plain(earlier, 45)
    assert [each // MS for each in frames.at_ns] == [10, 20, 35, 40, 50]
    assert [each // MS for each in twin.at_ns] == [10, 20, 35, 40, 55, 60]
    assert [each // MS for each in earlier.at_ns] == [10, 20, 35, 45]
    assert [each // MS for each in later.at_ns] == [40]


def test_that_many_frames_without_phases_are_kept_without_being_read() -> None:
    history = FrameHistory()
    plain(history, *range(10_000))
    assert len(history) == 10_000
    assert len(history._waiting) == 5 * (10_000 - 2 * 4_097)
    assert history.index_at(9_000 * MS) == 9_001
    assert history.numpy("at_ns", 9_998, 10_000).tolist() == [9_998 * MS, 9_999 * MS]


def test_that_columns_are_copied_only_while_frames_may_be_added(frames: FrameHistory) -> None:
    column = np.arange(10)
    complete = FrameHistory.holding(0, [column] * (5 + len(Phase) + len(Share)))

    found = complete.until(8).numpy("at_ns", 2, 9)

    assert found.tolist() == [2, 3, 4, 5, 6, 7]
    assert np.shares_memory(found, column)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0
    # Zeros take memory once.
    nothing = np.broadcast_to(np.int64(0), 10)
    columns = [column, nothing, None, *[column] * (2 + len(Phase) + len(Share))]
    sparse = FrameHistory.holding(3, columns)
    assert (sparse.first, sparse.end, sparse.frame(4).interval_ns) == (3, 13, 0)
    assert np.shares_memory(sparse.numpy("interval_ns", 3, 13), sparse.numpy("delta_ns", 3, 13))
    copied = frames.numpy("at_ns", 0, 3)
    copied[0] = 0
    assert frames.began_ns(0) == 10 * MS
