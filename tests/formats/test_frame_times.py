import pytest

from inspector.errors import ExportError
from inspector.events.frame_history import FrameHistory
from inspector.formats.frame_times import FrameTimes, SessionPart, parse_range
from inspector.timebase import NS_PER_SECOND as S
from inspector.vocabulary import Phase
from tests.formats.conftest import MakeFrames


@pytest.fixture
def history() -> FrameHistory:
    history = FrameHistory()
    for number in range(10):
        history.append(number * 100, 100 + number, 100, 50, 0, [number] * len(Phase))
    return history


def test_that_all_columns_of_a_history_are_taken(history: FrameHistory) -> None:
    frames = FrameTimes.from_history(history)
    assert len(frames) == 10
    assert frames.index.tolist() == list(range(10))
    assert frames.interval_ns.tolist() == list(range(100, 110))
    assert frames.phase(Phase.DRAW).tolist() == list(range(10))


def test_that_a_range_is_cut_to_the_frames_that_are_kept(history: FrameHistory) -> None:
    frames = FrameTimes.from_history(history)
    assert frames.between(3, 5).index.tolist() == [3, 4]
    assert frames.between(8, 99).index.tolist() == [8, 9]
    assert len(frames.between(20, 30)) == 0
    history.first = 100
    assert FrameTimes.from_history(history).between(0, 2).index.tolist() == [100, 101]


def test_that_frame_times_stay_when_the_history_grows(history: FrameHistory) -> None:
    frames = FrameTimes.from_history(history)
    history.append(1_000, 1, 1, 1, 0, [0] * len(Phase))
    assert len(frames) == 10


def test_that_an_empty_history_gives_no_frames() -> None:
    frames = FrameTimes.from_history(FrameHistory())
    assert len(frames) == 0
    assert all(not len(frames.phase(phase)) for phase in Phase)


def test_that_a_measure_names_its_column(history: FrameHistory) -> None:
    frames = FrameTimes.from_history(history)
    assert frames.measured("interval").tolist() == frames.interval_ns.tolist()
    assert frames.measured("busy").tolist() == frames.busy_ns.tolist()
    assert frames.measured("delta").tolist() == frames.delta_ns.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", SessionPart()),
        ("120:600", SessionPart(120, 600)),
        (" 5 : ", SessionPart(5)),
        (":60", SessionPart(0, 60)),
        (":", SessionPart()),
        ("2s:5.5s", SessionPart(2 * S, 5 * S + S // 2, is_time=True)),
        (":250ms", SessionPart(0, S // 4, is_time=True)),
        ("1:00..1:30", SessionPart(60 * S, 90 * S, is_time=True)),
        ("2..", SessionPart(2 * S, None, is_time=True)),
    ],
)
def test_that_ranges_are_read_as_people_write_them(text: str, expected: SessionPart) -> None:
    assert parse_range(text) == expected


@pytest.mark.parametrize("text", ["", "5", "a:b", "-3:4", "1:2:3", "9:9", "9:3", "5s:2s", "1..x"])
def test_that_other_ranges_are_refused_with_the_text(text: str) -> None:
    with pytest.raises(ExportError, match=text or "range"):
        parse_range(text)


def test_that_a_range_of_time_has_the_frames_that_begin_in_it(make_frames: MakeFrames) -> None:
    frames = make_frames([S, S, S, S])  # which begin at 1, 2, 3 and 4 s

    assert parse_range("2s:4s").of(frames).at_ns.tolist() == [2 * S, 3 * S]
    assert parse_range("1:3").instants(frames) == (S, 3 * S)
    assert parse_range("3.5s:").of(frames).index.tolist() == [3]
